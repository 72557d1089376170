#include "master/forecast/dag/expected_tasks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "master/forecast/dag/match_stages.h"

namespace tidemark::workflow {
namespace {

using ::testing::ElementsAre;
using ::testing::Optional;

constexpr ExpectationConstants kConstants;

StageProfile Profile(std::vector<double> rest) {
  StageProfile profile = {.name = "scan", .parents = {0}, .tasks = rest.size()};
  profile.seconds[static_cast<std::size_t>(Warmth::kRest)] = std::move(rest);
  return profile;
}

double RestMean(const ExpectedTasks& expected) { return expected.Of(Warmth::kRest).mean(); }

StageNow Finished(std::size_t tasks, std::size_t finished, double seconds) {
  StageNow stage = {.name = "scan", .tasks = tasks};
  stage.finished.assign(finished, {.seconds = seconds, .warmth = Warmth::kRest});
  return stage;
}

TEST(ExpectedTasks, IsTheEarlierRunAtTheSameNumberOfSlots) {
  const StageProfile run = Profile({8, 12});
  const ExpectedTasks expected =
      ExpectTasks(std::vector<EarlierStage>{{10, &run}}, run.tasks, 10, kConstants);
  EXPECT_TRUE(expected.is_known);
  EXPECT_NEAR(RestMean(expected), 10, 1e-9);
}

// At ten times the slots: crowding, and less certain. A long task minds other tasks less.
TEST(ExpectedTasks, GrowsByCrowdingAfterOneRun) {
  const StageProfile run = Profile({10});
  const std::vector<EarlierStage> runs = {{10, &run}};
  const ExpectedTasks same = ExpectTasks(runs, 1, 10, kConstants);
  const ExpectedTasks more = ExpectTasks(runs, 1, 100, kConstants);
  const double crowd = 200 * std::pow(10, 0.7);
  EXPECT_NEAR(RestMean(more), 10 * (1 + 100 / crowd) / (1 + 10 / crowd), 1e-9);
  EXPECT_GT(more.deviation, same.deviation);
  const StageProfile brief = Profile({0.1});
  const std::vector<EarlierStage> brief_runs = {{10, &brief}};
  EXPECT_GT(RestMean(ExpectTasks(brief_runs, 1, 100, kConstants)) / 0.1, RestMean(more) / 10);
}

TEST(ExpectedTasks, CrowdsNoFurtherThanCrowdingWasMeasured) {
  const StageProfile run = Profile({10});
  const std::vector<EarlierStage> runs = {{10, &run}};
  EXPECT_NEAR(RestMean(ExpectTasks(runs, 1, 100'000, kConstants)),
              RestMean(ExpectTasks(runs, 1, 100, kConstants)), 1e-9);
}

TEST(ExpectedTasks, CrowdsNoMoreThanThereAreTasksAtOnceWhereIdleSlotsDoNot) {
  ExpectationConstants constants;
  constants.idle_slots_crowd = false;
  const StageProfile few = Profile(std::vector<double>(20, 10));
  EXPECT_NEAR(RestMean(ExpectTasks(std::vector<EarlierStage>{{20, &few}}, 20, 1000, constants)), 10,
              1e-9)
      << "980 slots are idle";
  const StageProfile many = Profile(std::vector<double>(1'000'000, 10));
  const std::vector<EarlierStage> runs = {{10, &many}};
  EXPECT_NEAR(RestMean(ExpectTasks(runs, 1'000'000, 100'000, constants)),
              RestMean(ExpectTasks(runs, 1'000'000, 100, constants)), 1e-9);
}

TEST(TasksAtOnce, AreSpreadEvenlyOverTheWaves) {
  EXPECT_EQ(TasksAtOnce(20, 1000), 20);
  EXPECT_EQ(TasksAtOnce(1000, 500), 500);
  EXPECT_EQ(TasksAtOnce(1000, 999), 500);
  EXPECT_EQ(TasksAtOnce(0, 8), 8);
}

// 10 s on 10 and 20 s on 40 slots: between them near the geometric mean; at 160 slots the line
// alone would say 40 s, the prior holds it back.
TEST(ExpectedTasks, InterpolatesBetweenRunsAndHoldsBackBeyondThem) {
  const StageProfile few = Profile({10});
  const StageProfile many = Profile({20});
  const std::vector<EarlierStage> runs = {{10, &few}, {40, &many}};
  EXPECT_NEAR(RestMean(ExpectTasks(runs, 1, 20, kConstants)), std::sqrt(200.0), 0.5);
  EXPECT_LT(RestMean(ExpectTasks(runs, 1, 160, kConstants)), 39);
}

TEST(ExpectedTasks, GivesEveryKindOfTaskATime) {
  const StageProfile run = Profile({10});
  const ExpectedTasks expected =
      ExpectTasks(std::vector<EarlierStage>{{10, &run}}, run.tasks, 10, kConstants);
  for (const cost::TimeDistribution& times : expected.times) EXPECT_GT(times.mean(), 0);
  EXPECT_GT(expected.Of(Warmth::kFresh).mean(), expected.Of(Warmth::kFirst).mean());
}

TEST(ExpectedTasks, IsUnknownWithoutRunsOrTasks) {
  const ExpectedTasks expected = ExpectTasks({}, 1, 10, kConstants);
  EXPECT_FALSE(expected.is_known);
  EXPECT_FALSE(ExpectTasksNow(expected, {.name = "scan", .tasks = 4}, kConstants).is_known);
  EXPECT_NEAR(RestMean(ExpectTasksNow(expected, Finished(9, 3, 7), kConstants)), 7, 1e-6);
}

// The earlier run said 10 s; this one shows 20 s: the more tasks, the nearer to 20 s and the surer.
TEST(ExpectedTasks, MovesToWhatThisRunShowsInProportionToTheEvidence) {
  const StageProfile run = Profile({10});
  const ExpectedTasks before =
      ExpectTasks(std::vector<EarlierStage>{{10, &run}}, run.tasks, 10, kConstants);
  const ExpectedTasks few = ExpectTasksNow(before, Finished(1000, 2, 20), kConstants);
  const ExpectedTasks many = ExpectTasksNow(before, Finished(1000, 900, 20), kConstants);
  EXPECT_GT(RestMean(few), 10);
  EXPECT_LT(RestMean(few), RestMean(many));
  EXPECT_NEAR(RestMean(many), 20, 1);
  EXPECT_LT(many.deviation, few.deviation);
  EXPECT_LT(few.deviation, before.deviation);
}

TEST(ExpectedTasks, RunningTasksBeyondTheirMeanCountAsAtLeastThatLong) {
  const StageProfile run = Profile({10});
  const ExpectedTasks before =
      ExpectTasks(std::vector<EarlierStage>{{10, &run}}, run.tasks, 10, kConstants);
  StageNow young = {.name = "scan", .tasks = 4, .running = {{5, Warmth::kRest}}};
  StageNow old = {.name = "scan", .tasks = 4, .running = {{40, Warmth::kRest}}};
  EXPECT_DOUBLE_EQ(RestMean(ExpectTasksNow(before, young, kConstants)), 10);
  EXPECT_GT(RestMean(ExpectTasksNow(before, old, kConstants)), 10);
}

// 4 s for a quarter of its input: 16 s, before any task has ended.
TEST(ExpectedTasks, TheFirstTaskTellsByItsPaceHowLongTheOthersTake) {
  StageNow stage = {.name = "scan", .tasks = 10};
  stage.running.push_back({.elapsed = 4, .warmth = Warmth::kRest, .fraction = 0.25});
  const ExpectedTasks expected = ExpectTasksNow({}, stage, kConstants);
  EXPECT_TRUE(expected.is_known);
  EXPECT_NEAR(RestMean(expected), 16, 1e-9);
  stage.running[0].fraction = 0.01;
  EXPECT_FALSE(ExpectTasksNow({}, stage, kConstants).is_known) << "hardly begun";
}

TEST(ExpectedTasks, APartOfATaskIsLessEvidenceThanAWholeOne) {
  const StageProfile run = Profile({10});
  const ExpectedTasks before =
      ExpectTasks(std::vector<EarlierStage>{{10, &run}}, run.tasks, 10, kConstants);
  StageNow stage = {.name = "scan", .tasks = 10};
  stage.running.push_back({.elapsed = 4, .warmth = Warmth::kRest, .fraction = 0.2});
  const double by_part = RestMean(ExpectTasksNow(before, stage, kConstants));
  EXPECT_GT(by_part, 10);
  EXPECT_LT(by_part, RestMean(ExpectTasksNow(before, Finished(10, 1, 20), kConstants)));
}

TEST(MatchStages, PrefersTheNameThenTheTasksThenThePlace) {
  RunProfile run;
  run.stages = {{.name = "a", .tasks = 5}, {.name = "b", .tasks = 9}, {.name = "a", .tasks = 7}};
  const std::vector<StageNow> now = {{.name = "a", .tasks = 7},
                                     {.name = "a", .tasks = 6},
                                     {.name = "a", .tasks = 6},
                                     {.name = "c", .tasks = 9}};
  EXPECT_THAT(MatchStages(now, run), ElementsAre(Optional(std::size_t{2}), Optional(std::size_t{0}),
                                                 std::nullopt, std::nullopt));
}

}  // namespace
}  // namespace tidemark::workflow
