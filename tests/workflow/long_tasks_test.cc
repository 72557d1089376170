#include "master/workflow/long_tasks.h"

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

TEST(LongTasks, TakeThreeTimesTheMedianOfTheirKind) {
  EXPECT_THAT(LongTasksOf(Finished({10, 12, 8, 40, 10})), ElementsAre(LongTask{3, 4}));
  EXPECT_THAT(LongTasksOf(Finished({10, 12, 8, 29, 10})), IsEmpty());
  EXPECT_THAT(LongTasksOf(Finished({5})), IsEmpty()) << "of a kind of its own";
  EXPECT_THAT(LongTasksOf(Finished({})), IsEmpty());
}

TEST(LongTasks, AreThoseOfTheirKindAlone) {
  StageNow stage = Finished({30, 10, 10, 10});
  stage.finished[0].warmth = Warmth::kFresh;
  EXPECT_THAT(LongTasksOf(stage), IsEmpty());
}

TEST(LongTasks, OfTooManyTheLongestAreKeptInOrderOfTheirIndexes) {
  std::vector<double> seconds(300, 1);
  for (std::size_t i = 0; i < 100; ++i) seconds[i] = 10 + static_cast<double>(i);
  const std::vector<LongTask> long_tasks = LongTasksOf(Finished(seconds));
  ASSERT_THAT(long_tasks, SizeIs(StageProfile::kLongTasksMax));
  EXPECT_EQ(long_tasks.front().index, 100 - StageProfile::kLongTasksMax);
  EXPECT_EQ(long_tasks.back(), (LongTask{99, 109}));
}

TEST(LongTasks, OfTasksWithoutATimeNoneIsLong) {
  EXPECT_THAT(LongTasksOf(Finished({0, 0, 0})), IsEmpty());
  EXPECT_THAT(UsualTimes(std::vector<double>{0, 0}), SizeIs(2));
}

TEST(LongTasks, AreExpectedToBeAsLongAgainByTheRunsThatHadAsManyTasks) {
  const StageProfile newest = ProfileOf({10, 40, 10, 10});
  const StageProfile older = ProfileOf({10, 90, 10, 10});
  const StageProfile other = ProfileOf({10, 10, 500, 10, 10});
  const std::vector<EarlierStage> runs = {{2, &newest}, {2, &older}, {2, &other}};
  const std::vector<LongTask> expected = ExpectLongTasks(runs, 4);
  ASSERT_THAT(expected, SizeIs(1));
  EXPECT_EQ(expected[0].index, 1);
  EXPECT_NEAR(expected[0].over_usual, std::sqrt(4 * 9), 1e-9);
  EXPECT_THAT(ExpectLongTasks(runs, 7), IsEmpty()) << "of other partitions";
}

// A node was slow in one run: in two more nothing was. 4^(1/3) = 1.587.
TEST(LongTasks, WhatWasLongOnceInThreeRunsIsExpectedToBeLittleLonger) {
  const StageProfile slow = ProfileOf({10, 40, 10, 10});
  const StageProfile usual = ProfileOf({10, 10, 10, 10});
  const std::vector<EarlierStage> runs = {{2, &usual}, {2, &slow}, {2, &usual}};
  EXPECT_NEAR(OverUsual(ExpectLongTasks(runs, 4), 1), 1.587, 1e-3);
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

// The small ones have ended in the time they took before: so will the hot one.
TEST(LongTasks, SmallTasksThatEndFirstDoNotSayThatTheStageIsFaster) {
  const StageProfile run = ProfileOf({10, 10, 10, 40});
  const ExpectedTasks before = ExpectTasks(std::vector<EarlierStage>{{2, &run}}, 4, 2, kConstants);
  StageNow stage = Finished({10, 10, 10});
  stage.tasks = 4;
  stage.running.push_back({.elapsed = 15, .id = {.index = 3}});
  const ExpectedTasks now = ExpectTasksNow(before, stage, kConstants);
  EXPECT_NEAR(now.Of(Warmth::kRest).mean(), 10, 1e-9);
  const TaskFactors factors = FactorsOfLongTasks(stage, now.long_tasks, kDraws);
  ASSERT_THAT(factors.of_task, SizeIs(1));
  EXPECT_NEAR(factors.of_task[0][0], 4, 1e-9);
}

TEST(LongTasks, ThoseThatWaitAreToldApartInTheOrderOfTheirIndexes) {
  StageNow stage = {.tasks = 5};
  stage.finished.push_back({.seconds = 1, .index = 1});
  stage.running.push_back({.elapsed = 1, .id = {.index = 2}});
  const std::vector<LongTask> long_tasks = {{1, 7}, {3, 4}};
  const TaskFactors factors = FactorsOfLongTasks(stage, long_tasks, kDraws);
  ASSERT_THAT(factors.of_task, SizeIs(4));  // task 2, which runs, then 0, 3 and 4
  EXPECT_EQ(factors.of_task[0][0], 1);
  EXPECT_EQ(factors.of_task[1][0], 1);
  EXPECT_EQ(factors.of_task[2][0], 4);
  EXPECT_EQ(factors.of_task[3][0], 1);
  EXPECT_THAT(factors.of_others, IsEmpty());
}

// A hot task of 901 among 1,000 that wait: 1 + 900 / 1,000.
TEST(LongTasks, OfManyThatWaitTheMeanIsExpected) {
  StageNow stage = {.tasks = 1'000};
  const std::vector<LongTask> long_tasks = {{500, 901}};
  const TaskFactors factors = FactorsOfLongTasks(stage, long_tasks, kDraws);
  EXPECT_THAT(factors.of_task, IsEmpty());
  ASSERT_THAT(factors.of_others, SizeIs(kDraws.count()));
  EXPECT_NEAR(factors.of_others[0], 1.9, 1e-9);
}

TEST(LongTasks, ThatHaveEndedLeaveTheOthersAsTheyAre) {
  StageNow stage = {.tasks = 3};
  stage.finished.push_back({.seconds = 1, .index = 1});
  const std::vector<LongTask> long_tasks = {{1, 7}};
  EXPECT_THAT(FactorsOfLongTasks(stage, long_tasks, kDraws).of_task, IsEmpty());
}

}  // namespace
}  // namespace tidemark::workflow
