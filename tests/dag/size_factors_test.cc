#include "master/forecast/dag/size_factors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <vector>

namespace tidemark::workflow {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

const cost::FixedDraws& kDraws = cost::FixedDraws::For(10);
constexpr ExpectedTasks kOfThisRun = {.is_known = true};

// Eight tasks of 10 MB that took 10 s each have ended, and one runs.
StageNow WithPending(const std::vector<double>& sizes) {
  StageNow stage = {.tasks = 9 + sizes.size(), .pending_sizes = sizes};
  stage.finished.assign(8, {.seconds = 10, .size = 1e7});
  stage.running.push_back({.elapsed = 5, .size = 1e7});
  return stage;
}

double Median(cost::Draws draws) { return cost::QuantileOf(draws, 0.5); }

TEST(SizeFactors, OfTasksAsUsualTheMeanIsTheOnlyOpinion) {
  const TaskFactors factors = FactorsBySize(WithPending({1e7, 1e7}), kOfThisRun, kDraws);
  EXPECT_THAT(factors.of_waiting, IsEmpty());
  EXPECT_THAT(factors.of_others, IsEmpty());
}

TEST(SizeFactors, SizesThatScatterAsThoseThatHaveEndedAreUsual) {
  StageNow stage = WithPending({4e7, 2e7});
  for (std::size_t i = 0; i < 8; ++i) stage.finished[i].size = i % 2 == 0 ? 1e7 : 4e7;
  EXPECT_THAT(FactorsBySize(stage, kOfThisRun, kDraws).of_waiting, IsEmpty());
}

TEST(SizeFactors, ALargerTaskTakesLongerAndASmallerOneLessLong) {
  const TaskFactors factors = FactorsBySize(WithPending({1e8, 1e6, 1e7}), kOfThisRun, kDraws);
  ASSERT_THAT(factors.of_running, SizeIs(1));
  EXPECT_EQ(Median(factors.of_running[0]), 1);
  ASSERT_THAT(factors.of_waiting, SizeIs(3));
  EXPECT_GT(Median(factors.of_waiting[0]), 4);
  EXPECT_LT(Median(factors.of_waiting[0]), 15);
  EXPECT_LT(Median(factors.of_waiting[1]), 0.7);
  EXPECT_EQ(Median(factors.of_waiting[2]), 1);
}

// Where the times that have been seen do not grow with the sizes, no size makes much of one.
TEST(SizeFactors, SizesThatHaveNotMatteredDoNotMatter) {
  StageNow stage = WithPending({1e9});
  for (std::size_t i = 0; i < 8; ++i) stage.finished[i].size = 1e6 * static_cast<double>(1 << i);
  EXPECT_LT(Median(FactorsBySize(stage, kOfThisRun, kDraws).of_waiting[0]), 2);
}

TEST(SizeFactors, WhereEarlierRunsHadTasksOfAllSizesTheyDecide) {
  const ExpectedTasks of_runs = {.is_known = true, .is_of_runs = true};
  EXPECT_THAT(FactorsBySize(WithPending({1e8}), of_runs, kDraws).of_waiting, IsEmpty());
}

TEST(SizeFactors, SizesOfSomeTasksAloneSayNothing) {
  StageNow stage = WithPending({1e8});
  ++stage.tasks;
  EXPECT_THAT(FactorsBySize(stage, kOfThisRun, kDraws).of_waiting, IsEmpty());
}

TEST(SizeFactors, OfTooManyTasksTheMeanOfTheirFactorsCounts) {
  const TaskFactors factors =
      FactorsBySize(WithPending(std::vector<double>(1000, 1e8)), kOfThisRun, kDraws);
  EXPECT_THAT(factors.of_running, SizeIs(1));
  EXPECT_THAT(factors.of_waiting, IsEmpty());
  EXPECT_GT(Median(factors.of_others), 4);
}

}  // namespace
}  // namespace tidemark::workflow
