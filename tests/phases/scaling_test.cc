

#include "tests/test.h"
#include "whatif/phases/whole_runs.h"

namespace tidemark::phases::scaling_test {
namespace {

// Returns 200 s of work in tasks of at most 10 s, and 40 s in tasks of at most 20 s. On 4 slots
// they take 50 + 20 s, so 30 s are outside tasks.
SlotLoad OnFourSlots() {
  return {.slots = 4, .seconds = 100, .stages = {{200, 10}, {40, 20}}, .waiting_share = 0};
}

// Returns a run with 20 s outside tasks, and `work` seconds of short tasks.
SlotLoad RunOf(double slots, double seconds, double work) {
  return {.slots = slots, .seconds = seconds, .stages = {{work, 1}}};
}

SlotLoad ByAmdahl(double slots) { return RunOf(slots, 20 + 400 / slots, 400); }

ScalingModel Learnt(const std::vector<SlotLoad>& runs) { return ScalingModel::Learn(runs); }

TEST(SlotLoad, TakesItsLongestTaskOrItsWorkOverSlotsInEachStage) {
  const SlotLoad load = OnFourSlots();
  EXPECT_DOUBLE_EQ(load.OtherSeconds(), 30);
  EXPECT_DOUBLE_EQ(load.SecondsOn(4), 100);
  EXPECT_DOUBLE_EQ(load.SecondsOn(2), 30 + 100 + 20);
  EXPECT_DOUBLE_EQ(load.SecondsOn(8), 30 + 25 + 20);
  EXPECT_DOUBLE_EQ(load.SecondsOn(std::numeric_limits<double>::infinity()), 30 + 10 + 20);
}

TEST(SlotLoad, ConcurrentStagesLeaveNoTimeOutsideOfTasks) {
  SlotLoad load = OnFourSlots();
  load.seconds = 60;
  EXPECT_EQ(load.OtherSeconds(), 0);
}

TEST(SlotLoad, IsReadFromTheTasksOfARun) {
  PastApplication run = {.settings = {.executors = 3, .executor_cores = 2},
                         .stages = std::vector<PastStage>(3),
                         .seconds = 50};
  run.stages[0].tasks = {{.seconds = 4, .running = 4, .processor = 1},
                         {.seconds = 6, .running = 6, .processor = 4}};
  run.stages[0].tasks_for_each = 3;
  run.stages[1].tasks.push_back({.seconds = 10, .running = 8, .processor = 2, .remote_bytes = 1});
  const SlotLoad load = LoadOf(run);  // The third stage has no counted tasks.
  EXPECT_EQ(load.slots, 6);
  EXPECT_EQ(load.seconds, 50);
  ASSERT_EQ(load.stages.size(), 2u);
  EXPECT_EQ(load.stages[0].work_seconds, 30);
  EXPECT_EQ(load.stages[0].longest_seconds, 6);
  // 30 s of work wait for half of their time. 10 s of work that includes fetching wait for three
  // quarters.
  EXPECT_DOUBLE_EQ(load.waiting_share, (15 + 7.5) / 40);
  EXPECT_DOUBLE_EQ(load.fetching_share, 7.5 / 40);
}

// Tasks of 10 s of work that may use a quarter of 8 slots take 5 s on 2 slots.
TEST(SlotLoad, AStageThatMayUseAShareOfTheSlotsTakesLonger) {
  PastApplication run = {.settings = {.executors = 8, .executor_cores = 1},
                         .stages = std::vector<PastStage>(1),
                         .seconds = 50};
  run.stages[0].tasks.assign(10, {.seconds = 1});
  run.stages[0].slot_share = 0.25;
  EXPECT_DOUBLE_EQ(LoadOf(run).TaskSeconds(8), 5);
}

TEST(SlotLoad, AllWorkWaitsIfTheProcessorTimeIsUnknown) {
  PastApplication run = {.stages = std::vector<PastStage>(1), .seconds = 50};
  run.stages[0].tasks.push_back({.seconds = 10, .running = 8, .local_bytes = 1});
  EXPECT_EQ(LoadOf(run).waiting_share, 1);
  EXPECT_EQ(LoadOf(run).fetching_share, 1);
}

// Sparklens' rule gives 150 and 75 s. Work divided by slots, plus the remaining 30 s, gives 170 and
// 65 s.
TEST(ScalingModel, OneRunIsScaledByTheRules) {
  const ScalingModel learnt = Learnt({OnFourSlots()});
  EXPECT_NEAR(learnt.At(4).seconds, 100, 1e-6);
  EXPECT_NEAR(learnt.At(2).seconds, 152.9, 0.1);
  EXPECT_NEAR(learnt.At(8).seconds, 73.3, 0.1);
  EXPECT_NEAR(learnt.At(4).deviation, 0.058, 0.001);
  EXPECT_NEAR(learnt.At(8).deviation, 0.078, 0.001);
}

TEST(ScalingModel, TheTimeOutsideOfTasksRemainsOnAnySlots) {
  const WholeEstimate far = Learnt({OnFourSlots()}).At(1e6);
  EXPECT_GT(far.seconds, 30);
  EXPECT_LT(far.seconds, 60);
}

TEST(ScalingModel, MoreSlotsNeverTakeLongerWithoutARunThatShowsIt) {
  const std::vector<SlotLoad> noisy = {RunOf(18, 1100, 17'000), RunOf(20, 1080, 19'000),
                                       RunOf(22, 1010, 18'000)};
  for (const auto& runs : {std::vector<SlotLoad>{OnFourSlots()}, noisy}) {
    const ScalingModel learnt = Learnt(runs);
    double before = std::numeric_limits<double>::infinity();
    for (double slots = 1; slots < 1e6; slots *= 1.3) {
      const double seconds = learnt.At(slots).seconds;
      EXPECT_LE(seconds, before) << slots;
      EXPECT_GT(seconds, 0) << slots;
      before = seconds;
    }
  }
}

// 4, 8 and 16 slots took 120, 70 and 45 s, so 2 and 64 slots take 220 and 26.25 s.
TEST(ScalingModel, RunsByAmdahlsLawAreExtrapolated) {
  const ScalingModel learnt = Learnt({ByAmdahl(4), ByAmdahl(8), ByAmdahl(16)});
  EXPECT_NEAR(learnt.At(2).seconds, 217.94, 0.1);
  EXPECT_NEAR(learnt.At(8).seconds, 70.03, 0.1);
  EXPECT_NEAR(learnt.At(64).seconds, 26.40, 0.1);
}

// TPC-DS query 26 took 2,610 s on 3 executors with 2 cores each.
TEST(ScalingModel, AFewNeighbouringRunsDoNotRunAway) {
  const auto run = [](double slots, double seconds, double busy) {
    SlotLoad load = {.slots = slots, .seconds = seconds, .stages = {{slots * busy, 40}}};
    load.fetching_share = 0.3;
    return load;
  };
  const ScalingModel learnt = Learnt({run(18, 1100, 990), run(20, 1080, 970), run(22, 1010, 900)});
  EXPECT_NEAR(learnt.At(6).seconds, 2875, 1);
  EXPECT_NEAR(learnt.At(46).seconds, 564.9, 1);
  EXPECT_LT(learnt.At(20).deviation, learnt.At(46).deviation);
  EXPECT_LT(learnt.At(46).deviation, learnt.At(6).deviation);
}

// Two executors on one machine slow each other down.
TEST(ScalingModel, RunsCanShowThatMoreSlotsTakeLonger) {
  const ScalingModel learnt = Learnt({RunOf(1, 100, 100), RunOf(2, 130, 260), RunOf(4, 170, 680)});
  EXPECT_NEAR(learnt.At(2).seconds, 130.3, 0.1);
  EXPECT_NEAR(learnt.At(8).seconds, 217.3, 0.1);
}

TEST(ScalingModel, RunsThatAgreeNarrowTheInterval) {
  const double of_one = Learnt({ByAmdahl(8)}).At(32).deviation;
  const double of_two = Learnt({ByAmdahl(8), ByAmdahl(16)}).At(32).deviation;
  const double of_three = Learnt({ByAmdahl(4), ByAmdahl(8), ByAmdahl(16)}).At(32).deviation;
  EXPECT_LT(of_two, of_one);
  EXPECT_LT(of_three, of_two);
}

TEST(ScalingModel, WorkThatFetchesIsLessCertain) {
  SlotLoad fetching = OnFourSlots();
  fetching.fetching_share = 1;
  EXPECT_GT(Learnt({fetching}).At(8).deviation, 2 * Learnt({OnFourSlots()}).At(8).deviation);
}

TEST(ScalingModel, WorkThatWaitsGrowsWithSlots) {
  SlotLoad waiting = OnFourSlots();
  waiting.waiting_share = 1;
  EXPECT_GT(Learnt({waiting}).At(8).seconds, Learnt({OnFourSlots()}).At(8).seconds);
}

TEST(ScalingModel, RunsOnTheSameSlotsCountAsOne) {
  const ScalingModel once = Learnt({ByAmdahl(4), ByAmdahl(16)});
  const ScalingModel often = Learnt({ByAmdahl(4), ByAmdahl(4), ByAmdahl(4), ByAmdahl(16)});
  EXPECT_DOUBLE_EQ(often.At(64).seconds, once.At(64).seconds);
  EXPECT_DOUBLE_EQ(often.At(64).deviation, once.At(64).deviation);
}

TEST(ScalingModel, RunsWithoutADurationOrWorkAreExcluded) {
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  EXPECT_TRUE(Learnt({}).is_empty());
  for (const SlotLoad& unusable :
       {RunOf(4, 0, 100), RunOf(4, std::nan(""), 100), RunOf(4, kInfinite, 100), RunOf(0, 10, 100),
        RunOf(4, 10, kInfinite), SlotLoad{.slots = 4, .seconds = 10}}) {
    EXPECT_TRUE(Learnt({unusable}).is_empty());
    EXPECT_EQ(Learnt({unusable, ByAmdahl(8)}).At(16).seconds, Learnt({ByAmdahl(8)}).At(16).seconds);
  }
}

TEST(ScalingModel, ExtremeRunsGiveFiniteEstimates) {
  const std::vector<SlotLoad> extreme = {RunOf(1, 1e-3, 1e-9), RunOf(1e6, 1e8, 1e12)};
  const ScalingModel learnt = Learnt(extreme);
  for (const double slots : {1.0, 1e3, 1e6}) {
    EXPECT_TRUE(std::isfinite(learnt.At(slots).seconds)) << slots;
    EXPECT_GT(learnt.At(slots).seconds, 0) << slots;
    EXPECT_TRUE(std::isfinite(learnt.At(slots).deviation)) << slots;
  }
}

}  // namespace
}  // namespace tidemark::phases::scaling_test
