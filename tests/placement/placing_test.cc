#include "master/forecast/placement/placing.h"

#include <array>

#include "master/forecast/placement/greedy_list.h"
#include "tests/placement/some_stages.h"
#include "tests/test.h"

namespace tidemark::placement::placing_test {
namespace {

Placing Simulation(const std::vector<StageWork>& stages, const Resourcing& on,
                   std::size_t warm = 0) {
  auto simulation = Placing::Create(stages, on, {.warm_slots = warm});
  EXPECT_TRUE(simulation.ok()) << simulation.status();
  return std::move(*simulation);
}

std::vector<double> Ends(const Placed& future) {
  std::vector<double> ends;
  for (const PlacedStage& stage : future.stages) ends.push_back(stage.end);
  return ends;
}

// On two slots, stage 0 has tasks of 3, 1 and 2 s (its last pending task first), which run from 0
// to 3, from 0 to 1 and from 1 to 3. Stage 1 starts at 3.
TEST(Placing, AssignsTheNextTaskToTheFirstFreeSlot) {
  Placing simulation = Simulation({Stage(3), Stage(1, {0})}, Slots(2));
  const double seconds[] = {2, 1, 3};
  const Placed& future = simulation.Run(
      [&](const TaskStart& start) { return start.stage == 0 ? seconds[start.left] : 4; });
  EXPECT_THAT(Ends(future), ElementsAre(3, 7));
  EXPECT_DOUBLE_EQ(future.stages[1].start, 3);
  EXPECT_DOUBLE_EQ(future.seconds, 7);
}

TEST(Placing, StartsFromTheRunningTasks) {
  Placing simulation = Simulation({Stage(1, {}, {5, 6})}, Slots(2));
  const Placed& future = simulation.Run([](const TaskStart& start) {
    return std::array{4.0, 1.0, 10.0}[start.task];
  });
  EXPECT_DOUBLE_EQ(future.seconds, 11);
}

// Two stages run on one slot. In order, the tasks have the times of the application's first task,
// of other tasks, of the first task of stage 1, and of other tasks. A single slot has no last wave.
TEST(Placing, TracksTheWarmthOfSlots) {
  const std::vector stages = {Stage(2), Stage(2, {0})};
  const auto seconds = [](const TaskStart& start) {
    return start.warmth == Warmth::kFresh ? 100.0 : start.warmth == Warmth::kFirst ? 10.0 : 1.0;
  };
  EXPECT_DOUBLE_EQ(Simulation(stages, Slots(1)).Run(seconds).seconds, 112);
  EXPECT_DOUBLE_EQ(Simulation(stages, Slots(1), 1).Run(seconds).seconds, 22);
}

// Owner 0 arrives first with 4 tasks, and owner 1 has 2. Tasks of 1 s run on two slots.
TEST(Placing, ServesOwnersByPolicy) {
  const std::vector stages = {OwnedBy(0, Stage(4)), OwnedBy(1, Stage(2))};
  const auto one = [](const TaskStart&) { return 1.0; };
  EXPECT_THAT(Ends(Simulation(stages, Slots(2)).Run(one)), ElementsAre(2, 3));
  EXPECT_THAT(Ends(Simulation(stages, Slots(2, Policy::kFair)).Run(one)), ElementsAre(3, 2));
}

// Reduce tasks that started before the end of the last map task continue, and so do the tasks after
// them.
TEST(Placing, ContinuesARunningStageDuringItsParent) {
  Placing simulation = Simulation({Stage(0, {}, {1}), Stage(1, {0}, {1})}, Slots(2));
  const Placed& future = simulation.Run([](const TaskStart& start) {
    return std::array{10.0, start.task == 0 ? 2.0 : 1.0}[start.stage];
  });
  EXPECT_THAT(Ends(future), ElementsAre(10, 3));
}

// The reduce tasks wait in their slots for the end of the map task at 10 s. A reduce task of 2 s is
// running, and one of 1 s takes the slot of the map task.
TEST(Placing, HoldsTasksInTheirSlotsUntilTheirParentsEnd) {
  StageWork reduces = Stage(1, {0}, {1});
  reduces.waits_in_slots = true;
  Placing simulation = Simulation({Stage(0, {}, {1}), reduces}, Slots(2));
  const Placed& future = simulation.Run([](const TaskStart& start) {
    return std::array{10.0, start.task == 0 ? 2.0 : 1.0}[start.stage];
  });
  EXPECT_THAT(Ends(future), ElementsAre(10, 12));
}

// A reduce task has the only slot and waits for a map task without a slot.
TEST(Placing, StartsHeldTasksThatBlockTheirParents) {
  StageWork reduces = Stage(0, {0}, {1});
  reduces.waits_in_slots = true;
  Placing simulation = Simulation({Stage(1), reduces}, Slots(1));
  const Placed& future = simulation.Run([](const TaskStart& start) {
    return std::array{3.0, 5.0}[start.stage];
  });
  EXPECT_THAT(Ends(future), ElementsAre(8, 5));
  EXPECT_EQ(future.seconds, 8);
}

// Two owners have stages of one application on a cluster with enough capacity. There are two map
// slots and one reduce slot.
TEST(Placing, LimitsTheTasksOfAStageAtOnce) {
  StageWork maps = Stage(4);
  maps.at_once_max = 2;
  StageWork reduces = Stage(3, {0});
  reduces.at_once_max = 1;
  Placing simulation = Simulation({maps, reduces}, Slots(100));
  EXPECT_THAT(Ends(simulation.Run([](const TaskStart&) { return 5.0; })), ElementsAre(10, 25));
}

TEST(Placing, AFullStageLetsTheNextOneStart) {
  StageWork narrow = Stage(3);
  narrow.at_once_max = 1;
  Placing simulation = Simulation({narrow, Stage(2)}, Slots(3));
  EXPECT_THAT(Ends(simulation.Run([](const TaskStart&) { return 5.0; })), ElementsAre(15, 5));
}

// Two tasks of 1 and 2 s share one processor. At 2 s, the third task takes the slot of the first
// and fetches for 1 s. The second task ends at 3 s, so the third then has the processor to itself.
TEST(Placing, AFreedSlotKeepsItsHost) {
  auto simulation = Placing::Create({Stage(1, {}, {0, 0})}, Slots(2),
                                    {.hosts = {{.processors = 1}}, .host_of_running = {{0, 0}}});
  ASSERT_TRUE(simulation.ok());
  std::vector<double> ends(3);
  simulation->Run(
      [](const TaskStart& start) -> TaskSeconds {
        if (start.task == 2) return {2, 1};
        return 1.0 + static_cast<double>(start.task);
      },
      [](std::size_t) { return 0; },
      [&](std::size_t, std::uint64_t task, double at) { ends[task] = at; });
  EXPECT_THAT(ends, ElementsAre(2, 3, 4));
}

TEST(Placing, NewSlotsAreOnTheEmptiestHost) {
  auto simulation = Placing::Create(
      {Stage(1, {}, {0, 0, 0})}, Slots(4),
      {.hosts = {{.processors = 1}, {.processors = 1}}, .host_of_running = {{0, 0, 1}}});
  ASSERT_TRUE(simulation.ok());
  EXPECT_DOUBLE_EQ(simulation->Run([](const TaskStart&) { return 2.0; }).seconds, 4);
}

TEST(Placing, ClampsInvalidTimes) {
  Placing simulation = Simulation({Stage(2)}, Slots(2));
  const double seconds =
      simulation.Run([](const TaskStart& start) { return start.task == 0 ? std::nan("") : -1.0; })
          .seconds;
  EXPECT_DOUBLE_EQ(seconds, kForever);
}

// A million tasks of 3 s run on 1,000 slots, some of them individually and some in bunches of a
// hundred.
TEST(Placing, BunchesTakeAboutAsLongAsTheirTasks) {
  for (const double slots : {2, 1000, 100'000}) {
    auto simulation = Placing::Create({Stage(1'000'000)}, Slots(slots), {.bunch = 100});
    ASSERT_TRUE(simulation.ok());
    std::size_t bunches = 0;
    const double seconds = simulation
                               ->Run([&](const TaskStart&) {
                                 ++bunches;
                                 return 3.0;
                               })
                               .seconds;
    EXPECT_NEAR(seconds, 3e6 / slots, 0.01 * 3e6 / slots) << slots;
    EXPECT_LE(bunches, 20'000u) << slots;
  }
}

TEST(Placing, RestartsForEachRun) {
  Placing simulation = Simulation({Stage(3), Stage(2, {0})}, Slots(2));
  const auto two = [](const TaskStart&) { return 2.0; };
  const double first = simulation.Run(two).seconds;
  EXPECT_EQ(simulation.Run(two).seconds, first);
}

TEST(Placing, RejectsContainersThatNeverFit) {
  StageWork large = Stage(1);
  large.container = {.cores = 3};
  EXPECT_THAT(Placing::Create({large}, Slots(2)).status().message(),
              HasSubstr("larger than the cluster"));
}

// A container that represents ten tasks counts ten times under the fair policy. The other owner
// starts ten tasks before the first owner gets a second container.
TEST(Placing, AFairPolicyCountsTheTasksOfAWideContainer) {
  StageWork wide = OwnedBy(0, Stage(1, {}, {5}));
  wide.container = {.cores = 10};
  wide.tasks_per_container = 10;
  const StageWork narrow = OwnedBy(1, Stage(10));
  Placing simulation = Simulation({wide, narrow}, Slots(20, Policy::kFair));
  const Placed& future = simulation.Run([](const TaskStart&) { return 5.0; });
  EXPECT_THAT(Ends(future), ElementsAre(10, 5));
}

// A bunch decreases the number of remaining tasks by its width. With gaps of this size, the numbers
// would not cover a sequence evenly.
TEST(Placing, NumbersTheBunchesOfAStageConsecutively) {
  auto simulation = Placing::Create({Stage(1'000)}, Slots(10), {.bunch = 5});
  ASSERT_TRUE(simulation.ok());
  std::vector<std::uint64_t> places;
  simulation->Run([&](const TaskStart& start) {
    places.push_back(start.place);
    return 1.0;
  });
  for (std::uint64_t n = 0; n < places.size(); ++n) ASSERT_EQ(places[n], n);
}

// One slot is idle for 1 s before each of 400 tasks, which then compute for 1 s, also in bunches.
TEST(Placing, ASlotIsIdleBeforeEachTaskOfABunch) {
  StageWork stage = Stage(400);
  stage.demand = {{.seconds = 1}};
  stage.demand[0].needs[static_cast<std::size_t>(Resource::kCpu)] = 1;
  auto simulation =
      Placing::Create({stage}, Slots(1), {.hosts = {{.processors = 1, .nodes = 1}}, .bunch = 8});
  ASSERT_TRUE(simulation.ok()) << simulation.status();
  std::uint64_t starts = 0;
  const Placed& future = simulation->Run([&](const TaskStart&) {
    ++starts;
    return TaskSeconds(2, 1);
  });
  EXPECT_LT(starts, 400u);
  EXPECT_NEAR(future.seconds, 800, 1e-6);
  EXPECT_NEAR(future.stages[0].use.seconds, 400, 1e-6);
}

TEST(Placing, EqualsGreedyListSchedulingForOneStage) {
  std::mt19937_64 random(12);
  for (int round = 0; round < 100; ++round) {
    const std::size_t tasks = random() % 30;
    const std::size_t slots = 1 + random() % 6;
    std::vector<double> seconds(tasks);
    std::vector<absl::Duration> durations;
    for (double& time : seconds) {
      time = static_cast<double>(1 + random() % 50);
      durations.push_back(absl::Seconds(time));
    }
    Placing simulation = Simulation({Stage(tasks)}, Slots(static_cast<double>(slots)));
    const double end =
        simulation.Run([&](const TaskStart& start) { return seconds[tasks - 1 - start.left]; })
            .seconds;
    double expected = 0;
    const std::vector<absl::Time> free(slots, absl::UnixEpoch());
    for (const auto& task : ScheduleGreedily(free, durations)) {
      expected = std::max(expected, absl::ToDoubleSeconds(task.ends_at - absl::UnixEpoch()));
    }
    EXPECT_NEAR(end, expected, 1e-6) << round;
  }
}

TEST(Placing, PassesThroughALongChainWithoutTasks) {
  std::vector<StageWork> chain(50'000);
  for (std::size_t i = 1; i < chain.size(); ++i) chain[i].parents = {i - 1};
  chain.back().pending = 1;
  EXPECT_DOUBLE_EQ(Simulation(chain, Slots(1)).Run([](const TaskStart&) { return 3.0; }).seconds,
                   3);
}

// Two tasks of 10 s and two of 5 s compute on two cores. All run at half speed until 10 s. Then the
// long tasks have 5 s left and a core each.
TEST(Placing, RecordsTheStatesOfASharedNode) {
  std::vector<StageWork> stages = {Stage(2), Stage(2)};
  for (StageWork& stage : stages) {
    stage.demand = {{.seconds = 1}};
    stage.demand[0].needs[static_cast<std::size_t>(Resource::kCpu)] = 1;
  }
  auto simulation = Placing::Create(
      stages, Slots(4), {.hosts = {{.processors = 2, .nodes = 1}}, .records_states = true});
  ASSERT_TRUE(simulation.ok()) << simulation.status();
  for (int again = 0; again < 2; ++again) {
    const Placed& future =
        simulation->Run([](const TaskStart& start) { return start.stage == 0 ? 10.0 : 5.0; });
    EXPECT_THAT(Ends(future), ElementsAre(15, 10));
    EXPECT_DOUBLE_EQ(future.stages[0].busy, 30);
    EXPECT_DOUBLE_EQ(future.stages[1].busy, 20);
    ASSERT_EQ(future.states.size(), 2u);
    ASSERT_EQ(future.states[0].stages.size(), 2u);
    EXPECT_DOUBLE_EQ(future.states[0].end, 10);
    EXPECT_DOUBLE_EQ(future.states[0].stages[0].use.work, 10);
    EXPECT_DOUBLE_EQ(future.states[0].stages[0].use.seconds, 20);
    ASSERT_EQ(future.states[1].stages.size(), 1u);
    EXPECT_DOUBLE_EQ(future.states[1].end, 15);
    EXPECT_DOUBLE_EQ(future.states[1].stages[0].use.work, 10);
    EXPECT_DOUBLE_EQ(future.states[1].stages[0].use.seconds, 10);
  }
}

// Four running tasks are placed on two nodes with one core each, two on each node.
TEST(Placing, SpreadsRunningTasksOverNodes) {
  StageWork stage = Stage(0, {}, {0, 0, 0, 0});
  stage.demand = {{.seconds = 1}};
  stage.demand[0].needs[static_cast<std::size_t>(Resource::kCpu)] = 1;
  const SharedHost node = {.processors = 1, .nodes = 1};
  auto simulation = Placing::Create({stage}, Slots(4), {.hosts = {node, node}});
  ASSERT_TRUE(simulation.ok()) << simulation.status();
  EXPECT_DOUBLE_EQ(simulation->Run([](const TaskStart&) { return 3.0; }).seconds, 6);
}

}  // namespace
}  // namespace tidemark::placement::placing_test
