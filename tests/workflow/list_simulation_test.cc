#include "master/workflow/list_simulation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "master/schedule/greedy_list.h"
#include "tests/workflow/some_stages.h"

namespace tidemark::workflow {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

double NothingRuns(std::size_t, std::size_t) { return 0; }

ListSimulation Simulation(const std::vector<StageWork>& stages, const Resourcing& on,
                          std::size_t warm = 0) {
  auto simulation = ListSimulation::Create(stages, on, warm);
  EXPECT_TRUE(simulation.ok()) << simulation.status();
  return std::move(*simulation);
}

std::vector<double> Ends(const Simulated& future) {
  std::vector<double> ends;
  for (const SimulatedStage& stage : future.stages) ends.push_back(stage.end);
  return ends;
}

// Two slots; stage 0 has tasks of 3, 1 and 2 s (its last pending task first): 0-3, 0-1, 1-3. Stage
// 1 follows at 3.
TEST(ListSimulation, GivesTheNextTaskToTheSlotThatIsFreeFirst) {
  ListSimulation simulation = Simulation({Stage(3), Stage(1, {0})}, Slots(2));
  const double seconds[] = {2, 1, 3};
  const Simulated& future = simulation.Run(
      [&](const TaskStart& start) { return start.stage == 0 ? seconds[start.left] : 4; },
      NothingRuns);
  EXPECT_THAT(Ends(future), ElementsAre(3, 7));
  EXPECT_DOUBLE_EQ(future.stages[1].start, 3);
  EXPECT_DOUBLE_EQ(future.seconds, 7);
}

TEST(ListSimulation, StartsFromTheTasksThatRun) {
  ListSimulation simulation = Simulation({Stage(1, {}, {5, 6})}, Slots(2));
  const Simulated& future =
      simulation.Run([](const TaskStart&) { return 10.0; },
                     [](std::size_t, std::size_t nth) { return nth == 0 ? 4.0 : 1.0; });
  EXPECT_DOUBLE_EQ(future.seconds, 11);
}

// One slot, two stages: fresh; rest; first of stage 1; rest. With nobody else on a slot there is no
// last wave.
TEST(ListSimulation, KnowsHowWarmASlotIs) {
  const std::vector stages = {Stage(2), Stage(2, {0})};
  const auto seconds = [](const TaskStart& start) {
    return start.warmth == Warmth::kFresh ? 100.0 : start.warmth == Warmth::kFirst ? 10.0 : 1.0;
  };
  EXPECT_DOUBLE_EQ(Simulation(stages, Slots(1)).Run(seconds, NothingRuns).seconds, 112);
  EXPECT_DOUBLE_EQ(Simulation(stages, Slots(1), 1).Run(seconds, NothingRuns).seconds, 22);
}

// Owner 0 arrives first with 4 tasks, owner 1 has 2; two slots; tasks of 1 s.
TEST(ListSimulation, ServesOwnersByPolicy) {
  const std::vector stages = {OwnedBy(0, Stage(4)), OwnedBy(1, Stage(2))};
  const auto one = [](const TaskStart&) { return 1.0; };
  EXPECT_THAT(Ends(Simulation(stages, Slots(2)).Run(one, NothingRuns)), ElementsAre(2, 3));
  EXPECT_THAT(Ends(Simulation(stages, Slots(2, schedule::Policy::kFair)).Run(one, NothingRuns)),
              ElementsAre(3, 2));
}

// Reduce tasks that began before the last map task ended go on, and so do their followers.
TEST(ListSimulation, LetsAStageThatRunsAlreadyGoOnBesideItsParent) {
  ListSimulation simulation = Simulation({Stage(0, {}, {1}), Stage(1, {0}, {1})}, Slots(2));
  const Simulated& future =
      simulation.Run([](const TaskStart&) { return 1.0; },
                     [](std::size_t stage, std::size_t) { return stage == 0 ? 10.0 : 2.0; });
  EXPECT_THAT(Ends(future), ElementsAre(10, 3));
}

TEST(ListSimulation, RunsAgainFromTheStart) {
  ListSimulation simulation = Simulation({Stage(3), Stage(2, {0})}, Slots(2));
  const auto two = [](const TaskStart&) { return 2.0; };
  const double first = simulation.Run(two, NothingRuns).seconds;
  EXPECT_EQ(simulation.Run(two, NothingRuns).seconds, first);
}

TEST(ListSimulation, ObjectsToContainersThatNeverFit) {
  StageWork large = Stage(1);
  large.container = {.cores = 3};
  EXPECT_THAT(ListSimulation::Create({large}, Slots(2), 0).status().message(),
              HasSubstr("larger than the cluster"));
}

TEST(ListSimulation, DoesWhatGreedyListSchedulingDoesForOneStage) {
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
    ListSimulation simulation = Simulation({Stage(tasks)}, Slots(static_cast<double>(slots)));
    const double end =
        simulation
            .Run([&](const TaskStart& start) { return seconds[tasks - 1 - start.left]; },
                 NothingRuns)
            .seconds;
    double expected = 0;
    const std::vector<absl::Time> free(slots, absl::UnixEpoch());
    for (const auto& task : schedule::ScheduleGreedily(free, durations)) {
      expected = std::max(expected, absl::ToDoubleSeconds(task.ends_at - absl::UnixEpoch()));
    }
    EXPECT_NEAR(end, expected, 1e-6) << round;
  }
}

TEST(ListSimulation, PassesThroughALongChainWithoutTasks) {
  std::vector<StageWork> chain(50'000);
  for (std::size_t i = 1; i < chain.size(); ++i) chain[i].parents = {i - 1};
  chain.back().pending = 1;
  EXPECT_DOUBLE_EQ(
      Simulation(chain, Slots(1)).Run([](const TaskStart&) { return 3.0; }, NothingRuns).seconds,
      3);
}

}  // namespace
}  // namespace tidemark::workflow
