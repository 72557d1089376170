#include "master/forecast/dag/task_factors.h"

#include "tests/matchers.h"
#include "tests/test.h"

namespace tidemark::dag::task_factors_test {
namespace {

const durations::FixedDraws& kDraws = durations::FixedDraws::For(10);
constexpr EstimateConstants kConstants;

// Returns one finished task for each time. The first task has index 0.
StageNow Finished(const std::vector<double>& seconds) {
  StageNow stage = {.tasks = seconds.size()};
  for (std::size_t i = 0; i < seconds.size(); ++i) {
    stage.finished.push_back({.seconds = seconds[i], .index = static_cast<std::uint32_t>(i)});
  }
  return stage;
}

PastStage ProfileOf(const std::vector<double>& seconds) {
  PastStage profile = {.parents = {0}, .tasks = seconds.size()};
  profile.seconds[static_cast<std::size_t>(Warmth::kRest)] = seconds;
  profile.long_tasks = LongTasksOf(Finished(seconds));
  return profile;
}

TaskEstimate OfTwoSeconds(std::vector<LongTask> long_tasks) {
  TaskEstimate expected = {.is_known = true, .long_tasks = std::move(long_tasks)};
  expected.times.fill(durations::TimeDistribution::Empirical({2}));
  return expected;
}

TEST(LongTasks, AreThreeTimesTheMedianOfTheirKind) {
  EXPECT_THAT(LongTasksOf(Finished({10, 12, 8, 40, 10})), ElementsAre(LongTask{3, 30}));
  EXPECT_THAT(LongTasksOf(Finished({10, 12, 8, 29, 10})), IsEmpty());
  EXPECT_THAT(LongTasksOf(Finished({5})), IsEmpty()) << "the only task of its kind";
  EXPECT_THAT(LongTasksOf(Finished({})), IsEmpty());
  EXPECT_THAT(LongTasksOf(Finished({0, 0, 0})), IsEmpty()) << "tasks without a time";
  EXPECT_THAT(UsualTimes(std::vector<double>{0, 0}), SizeIs(2));
  StageNow fresh = Finished({30, 10, 10, 10});
  fresh.finished[0].warmth = Warmth::kFresh;
  EXPECT_THAT(LongTasksOf(fresh), IsEmpty()) << "the kinds differ";
}

TEST(LongTasks, TooManyAreNotHotPartitions) {
  std::vector<double> seconds(1000, 1);
  for (std::size_t i = 0; i <= PastStage::kLongTasksMax; ++i) seconds[i] = 10;
  EXPECT_THAT(LongTasksOf(Finished(seconds)), IsEmpty());
  seconds[0] = 1;
  EXPECT_THAT(LongTasksOf(Finished(seconds)), SizeIs(PastStage::kLongTasksMax));
}

TEST(LongTasks, TheLongestTimeOfARepeatedTaskCounts) {
  StageNow stage = Finished({1, 1, 1, 5});
  stage.finished.push_back({.seconds = 9, .index = 3});
  EXPECT_THAT(LongTasksOf(stage), ElementsAre(LongTask{3, 8}));
}

// The hot task takes 30 s longer than the other tasks in one run. In another run, it takes 80 s
// longer, and tasks take twice their present estimate.
TEST(LongTasks, AreEstimatedByTheMeanOfTheRuns) {
  const std::vector<LongTask> newest = {{1, 30}};
  const std::vector<LongTask> older = {{1, 80}};
  const std::vector<LongTasksOfRun> runs = {{newest}, {older, 0.5}};
  EXPECT_THAT(EstimateLongTasks(runs), ElementsAre(LongTask{1, 35}));
  EXPECT_THAT(EstimateLongTasks({}), IsEmpty());
}

// A node was slow in one run. The two other runs had no long tasks.
TEST(LongTasks, OneLongTimeInThreeRunsCountsAThird) {
  const std::vector<LongTask> slow = {{1, 30}};
  const std::vector<LongTasksOfRun> runs = {{}, {slow}, {}};
  EXPECT_NEAR(MoreSeconds(EstimateLongTasks(runs), 1), 10, 1e-9);
  EXPECT_EQ(MoreSeconds(EstimateLongTasks(runs), 2), 0);
}

TEST(LongTasks, OtherTasksKeepTheirTimes) {
  const PastStage run = ProfileOf({10, 40, 10, 10});
  const auto expected = EstimateTasks(std::vector<PastStageRun>{{2, &run}}, 4, 2, kConstants);
  EXPECT_NEAR(expected.Of(Warmth::kRest).mean(), 10, 1e-9);
  const auto of_other_count = EstimateTasks(std::vector<PastStageRun>{{2, &run}}, 5, 2, kConstants);
  EXPECT_NEAR(of_other_count.Of(Warmth::kRest).mean(), 17.5, 1e-9);
}

// A run may have no indexes of long tasks, or too many of them.
TEST(LongTasks, AllTimesOfARunWithoutIndexesCount) {
  PastStage untold = ProfileOf({10, 40, 10, 10});
  untold.long_tasks.clear();
  const PastStage run = ProfileOf({10, 40, 10, 10});
  const TaskEstimate expected =
      EstimateTasks(std::vector<PastStageRun>{{2, &run}, {2, &untold}}, 4, 2, kConstants);
  EXPECT_THAT(expected.long_tasks, SizeIs(1));
  EXPECT_NEAR(expected.long_tasks[0].more_seconds / expected.Of(Warmth::kRest).mean(), 3, 1e-9);
  EXPECT_NEAR(expected.Of(Warmth::kRest).mean(), std::sqrt(10 * 17.5), 1e-9);
}

// The short tasks took as long as in the past run, so the hot task is expected to do so, too.
TEST(LongTasks, ShortTasksThatEndFirstDoNotShortenTheStage) {
  const PastStage run = ProfileOf({10, 10, 10, 40});
  const TaskEstimate before = EstimateTasks(std::vector<PastStageRun>{{2, &run}}, 4, 2, kConstants);
  StageNow stage = Finished({10, 10, 10});
  stage.tasks = 4;
  stage.running.push_back({.elapsed = 15, .id = {.index = 3}});
  const TaskEstimate now = EstimateTasksNow(before, stage, kConstants);
  EXPECT_NEAR(now.Of(Warmth::kRest).mean(), 10, 1e-9);
  const TaskFactors factors = FactorsOfLongTasks(stage, now, kDraws);
  EXPECT_NEAR(Only(factors.of_running)[0], 4, 1e-9);
}

TEST(LongTasks, WaitingTasksHaveFactorsInTheOrderOfTheirIndexes) {
  StageNow stage = {.tasks = 5};
  stage.finished.push_back({.seconds = 1, .index = 1});
  stage.running.push_back({.elapsed = 1, .id = {.index = 2}});
  const TaskFactors factors = FactorsOfLongTasks(stage, OfTwoSeconds({{1, 7}, {3, 6}}), kDraws);
  EXPECT_EQ(Only(factors.of_running)[0], 1);
  ASSERT_THAT(factors.of_waiting, SizeIs(3)) << "0, 3 and 4";
  EXPECT_EQ(factors.of_waiting[0][0], 1);
  EXPECT_EQ(factors.of_waiting[1][0], 4);
  EXPECT_EQ(factors.of_waiting[2][0], 1);
  EXPECT_THAT(factors.of_others, IsEmpty());
}

// A hot task of 1,802 s waits among 1,000 tasks of 2 s each: 1 + 1,800 / 1,000 / 2.
TEST(LongTasks, ManyWaitingTasksShareTheMean) {
  StageNow stage = {.tasks = 1'000};
  const TaskFactors factors = FactorsOfLongTasks(stage, OfTwoSeconds({{500, 1800}}), kDraws);
  EXPECT_THAT(factors.of_waiting, IsEmpty());
  ASSERT_THAT(factors.of_others, SizeIs(kDraws.count()));
  EXPECT_NEAR(factors.of_others[0], 1.9, 1e-9);
}

TEST(LongTasks, EndedLongTasksDoNotChangeTheOthers) {
  StageNow stage = {.tasks = 3};
  stage.finished.push_back({.seconds = 1, .index = 1});
  EXPECT_THAT(FactorsOfLongTasks(stage, OfTwoSeconds({{1, 7}}), kDraws).of_waiting, IsEmpty());
}

const durations::FixedDraws& kSizeDraws = durations::FixedDraws::For(10);
constexpr TaskEstimate kOfThisRun = {.is_known = true};

// Returns a stage in which eight tasks of 10 MB ended after 10 s each and one task is running.
StageNow WithPending(const std::vector<double>& sizes) {
  StageNow stage = {.tasks = 9 + sizes.size(), .pending_sizes = sizes};
  stage.finished.assign(8, {.seconds = 10, .size = 1e7});
  stage.running.push_back({.elapsed = 5, .size = 1e7});
  return stage;
}

double Median(durations::Draws draws) { return durations::QuantileOf(draws, 0.5); }

TEST(SizeFactors, UsualOrIncompleteSizesHaveNoFactors) {
  const TaskFactors usual = FactorsBySize(WithPending({1e7, 1e7}), kOfThisRun, kSizeDraws);
  EXPECT_THAT(usual.of_waiting, IsEmpty());
  EXPECT_THAT(usual.of_others, IsEmpty());
  StageNow scattered = WithPending({4e7, 2e7});
  for (std::size_t i = 0; i < 8; ++i) scattered.finished[i].size = i % 2 == 0 ? 1e7 : 4e7;
  EXPECT_THAT(FactorsBySize(scattered, kOfThisRun, kSizeDraws).of_waiting, IsEmpty());
  StageNow some = WithPending({1e8});
  const TaskEstimate of_runs = {.is_known = true, .is_of_runs = true};
  EXPECT_THAT(FactorsBySize(some, of_runs, kSizeDraws).of_waiting, IsEmpty())
      << "past runs with all sizes replace the factors";
  ++some.tasks;
  EXPECT_THAT(FactorsBySize(some, kOfThisRun, kSizeDraws).of_waiting, IsEmpty())
      << "the sizes of only some tasks are known";
}

TEST(SizeFactors, LargerTasksTakeLongerAndSmallerOnesLess) {
  const TaskFactors factors = FactorsBySize(WithPending({1e8, 1e6, 1e7}), kOfThisRun, kSizeDraws);
  EXPECT_EQ(Median(Only(factors.of_running)), 1);
  ASSERT_THAT(factors.of_waiting, SizeIs(3));
  EXPECT_GT(Median(factors.of_waiting[0]), 4);
  EXPECT_LT(Median(factors.of_waiting[0]), 15);
  EXPECT_LT(Median(factors.of_waiting[1]), 0.7);
  EXPECT_EQ(Median(factors.of_waiting[2]), 1);
}

// If the observed times do not grow with the sizes, no size has a large factor.
TEST(SizeFactors, SizesWithoutInfluenceHaveNoFactors) {
  StageNow stage = WithPending({1e9});
  for (std::size_t i = 0; i < 8; ++i) stage.finished[i].size = 1e6 * static_cast<double>(1 << i);
  EXPECT_LT(Median(FactorsBySize(stage, kOfThisRun, kSizeDraws).of_waiting[0]), 2);
}

TEST(SizeFactors, TooManyTasksShareTheMeanFactor) {
  const TaskFactors factors =
      FactorsBySize(WithPending(std::vector<double>(1000, 1e8)), kOfThisRun, kSizeDraws);
  EXPECT_THAT(factors.of_running, SizeIs(1));
  EXPECT_THAT(factors.of_waiting, IsEmpty());
  EXPECT_GT(Median(factors.of_others), 4);
}

}  // namespace
}  // namespace tidemark::dag::task_factors_test
