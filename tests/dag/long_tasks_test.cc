#include "master/forecast/dag/long_tasks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tidemark::workflow {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const cost::FixedDraws& kDraws = cost::FixedDraws::For(10);
constexpr ExpectationConstants kConstants;

// One task for each time, the first of index 0.
StageNow Finished(const std::vector<double>& seconds) {
  StageNow stage = {.tasks = seconds.size()};
  for (std::size_t i = 0; i < seconds.size(); ++i) {
    stage.finished.push_back({.seconds = seconds[i], .index = static_cast<std::uint32_t>(i)});
  }
  return stage;
}

StageProfile ProfileOf(const std::vector<double>& seconds) {
  StageProfile profile = {.parents = {0}, .tasks = seconds.size()};
  profile.seconds[static_cast<std::size_t>(Warmth::kRest)] = seconds;
  profile.long_tasks = LongTasksOf(Finished(seconds));
  return profile;
}

ExpectedTasks OfTwoSeconds(std::vector<LongTask> long_tasks) {
  ExpectedTasks expected = {.is_known = true, .long_tasks = std::move(long_tasks)};
  expected.times.fill(cost::TimeDistribution::Empirical({2}));
  return expected;
}

TEST(LongTasks, TakeThreeTimesTheMedianOfTheirKind) {
  EXPECT_THAT(LongTasksOf(Finished({10, 12, 8, 40, 10})), ElementsAre(LongTask{3, 30}));
  EXPECT_THAT(LongTasksOf(Finished({10, 12, 8, 29, 10})), IsEmpty());
  EXPECT_THAT(LongTasksOf(Finished({5})), IsEmpty()) << "of a kind of its own";
  EXPECT_THAT(LongTasksOf(Finished({})), IsEmpty());
}

TEST(LongTasks, AreThoseOfTheirKindAlone) {
  StageNow stage = Finished({30, 10, 10, 10});
  stage.finished[0].warmth = Warmth::kFresh;
  EXPECT_THAT(LongTasksOf(stage), IsEmpty());
}

TEST(LongTasks, SoManyThatTheyAreAKindOfTheirOwnAreNoHotPartitions) {
  std::vector<double> seconds(1000, 1);
  for (std::size_t i = 0; i <= StageProfile::kLongTasksMax; ++i) seconds[i] = 10;
  EXPECT_THAT(LongTasksOf(Finished(seconds)), IsEmpty());
  seconds[0] = 1;
  EXPECT_THAT(LongTasksOf(Finished(seconds)), SizeIs(StageProfile::kLongTasksMax));
}

TEST(LongTasks, OfOneThatRanAgainTheLongestCounts) {
  StageNow stage = Finished({1, 1, 1, 5});
  stage.finished.push_back({.seconds = 9, .index = 3});
  EXPECT_THAT(LongTasksOf(stage), ElementsAre(LongTask{3, 8}));
}

TEST(LongTasks, OfTasksWithoutATimeNoneIsLong) {
  EXPECT_THAT(LongTasksOf(Finished({0, 0, 0})), IsEmpty());
  EXPECT_THAT(UsualTimes(std::vector<double>{0, 0}), SizeIs(2));
}

// 30 s more, and 80 s in a run whose tasks took twice as long as they are expected to.
TEST(LongTasks, AreExpectedToBeAsLongAgainInTheMeanOfTheRuns) {
  const std::vector<LongTask> newest = {{1, 30}};
  const std::vector<LongTask> older = {{1, 80}};
  const std::vector<LongTasksOfRun> runs = {{newest}, {older, 0.5}};
  EXPECT_THAT(ExpectLongTasks(runs), ElementsAre(LongTask{1, 35}));
  EXPECT_THAT(ExpectLongTasks({}), IsEmpty());
}

// A node was slow in one run: in two more nothing was.
TEST(LongTasks, WhatWasLongOnceInThreeRunsIsExpectedToBeAThirdOfThatLonger) {
  const std::vector<LongTask> slow = {{1, 30}};
  const std::vector<LongTasksOfRun> runs = {{}, {slow}, {}};
  EXPECT_NEAR(MoreSeconds(ExpectLongTasks(runs), 1), 10, 1e-9);
  EXPECT_EQ(MoreSeconds(ExpectLongTasks(runs), 2), 0);
}

TEST(LongTasks, OthersAreExpectedToTakeWhatOthersTook) {
  const StageProfile run = ProfileOf({10, 40, 10, 10});
  const ExpectedTasks expected =
      ExpectTasks(std::vector<EarlierStage>{{2, &run}}, 4, 2, kConstants);
  EXPECT_NEAR(expected.Of(Warmth::kRest).mean(), 10, 1e-9);
  const ExpectedTasks of_other_count =
      ExpectTasks(std::vector<EarlierStage>{{2, &run}}, 5, 2, kConstants);
  EXPECT_NEAR(of_other_count.Of(Warmth::kRest).mean(), 17.5, 1e-9);
}

// A history of before they were told, or whose long tasks were too many.
TEST(LongTasks, OfARunThatDoesNotTellThemAllTimesCount) {
  StageProfile untold = ProfileOf({10, 40, 10, 10});
  untold.long_tasks.clear();
  const StageProfile run = ProfileOf({10, 40, 10, 10});
  const ExpectedTasks expected =
      ExpectTasks(std::vector<EarlierStage>{{2, &run}, {2, &untold}}, 4, 2, kConstants);
  EXPECT_THAT(expected.long_tasks, SizeIs(1));
  EXPECT_NEAR(expected.long_tasks[0].more_seconds / expected.Of(Warmth::kRest).mean(), 3, 1e-9);
  EXPECT_NEAR(expected.Of(Warmth::kRest).mean(), std::sqrt(10 * 17.5), 1e-9);
}

// The small ones have ended in the time they took before: so will the hot one.
TEST(LongTasks, SmallTasksThatEndFirstDoNotSayThatTheStageIsFaster) {
  const StageProfile run = ProfileOf({10, 10, 10, 40});
  const ExpectedTasks before = ExpectTasks(std::vector<EarlierStage>{{2, &run}}, 4, 2, kConstants);
  StageNow stage = Finished({10, 10, 10});
  stage.tasks = 4;
  stage.running.push_back({.elapsed = 15, .id = {.index = 3}});
  const ExpectedTasks now = ExpectTasksNow(before, stage, kConstants);
  EXPECT_NEAR(now.Of(Warmth::kRest).mean(), 10, 1e-9);
  const TaskFactors factors = FactorsOfLongTasks(stage, now, kDraws);
  ASSERT_THAT(factors.of_running, SizeIs(1));
  EXPECT_NEAR(factors.of_running[0][0], 4, 1e-9);
}

TEST(LongTasks, ThoseThatWaitAreToldApartInTheOrderOfTheirIndexes) {
  StageNow stage = {.tasks = 5};
  stage.finished.push_back({.seconds = 1, .index = 1});
  stage.running.push_back({.elapsed = 1, .id = {.index = 2}});
  const TaskFactors factors = FactorsOfLongTasks(stage, OfTwoSeconds({{1, 7}, {3, 6}}), kDraws);
  ASSERT_THAT(factors.of_running, SizeIs(1));
  EXPECT_EQ(factors.of_running[0][0], 1);
  ASSERT_THAT(factors.of_waiting, SizeIs(3)) << "0, 3 and 4";
  EXPECT_EQ(factors.of_waiting[0][0], 1);
  EXPECT_EQ(factors.of_waiting[1][0], 4);
  EXPECT_EQ(factors.of_waiting[2][0], 1);
  EXPECT_THAT(factors.of_others, IsEmpty());
}

// A hot task of 1,802 s among 1,000 that wait, of 2 s each: 1 + 1,800 / 1,000 / 2.
TEST(LongTasks, OfManyThatWaitTheMeanIsExpected) {
  StageNow stage = {.tasks = 1'000};
  const TaskFactors factors = FactorsOfLongTasks(stage, OfTwoSeconds({{500, 1800}}), kDraws);
  EXPECT_THAT(factors.of_waiting, IsEmpty());
  ASSERT_THAT(factors.of_others, SizeIs(kDraws.count()));
  EXPECT_NEAR(factors.of_others[0], 1.9, 1e-9);
}

TEST(LongTasks, ThatHaveEndedLeaveTheOthersAsTheyAre) {
  StageNow stage = {.tasks = 3};
  stage.finished.push_back({.seconds = 1, .index = 1});
  EXPECT_THAT(FactorsOfLongTasks(stage, OfTwoSeconds({{1, 7}}), kDraws).of_waiting, IsEmpty());
}

}  // namespace
}  // namespace tidemark::workflow
