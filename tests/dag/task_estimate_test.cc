#include "master/forecast/dag/task_estimate.h"

#include "master/forecast/dag/workflow_state.h"
#include "tests/test.h"

namespace tidemark::dag::task_estimate_test {
namespace {

constexpr EstimateConstants kConstants;

PastStage Profile(std::vector<double> rest) {
  PastStage profile = {.name = "scan", .parents = {0}, .tasks = rest.size()};
  profile.seconds[static_cast<std::size_t>(Warmth::kRest)] = std::move(rest);
  return profile;
}

// Returns the estimate on ten slots after a run on ten slots.
TaskEstimate AfterARun(std::vector<double> seconds) {
  const PastStage run = Profile(std::move(seconds));
  return EstimateTasks(std::vector<PastStageRun>{{10, &run}}, run.tasks, 10, kConstants);
}

double RestMean(const TaskEstimate& expected) { return expected.Of(Warmth::kRest).mean(); }

StageNow Finished(std::size_t tasks, std::size_t finished, double seconds) {
  StageNow stage = {.name = "scan", .tasks = tasks};
  stage.finished.assign(finished, {.seconds = seconds, .warmth = Warmth::kRest});
  return stage;
}

TEST(TaskEstimate, EqualsThePastRunWithTheSameSlots) {
  const TaskEstimate expected = AfterARun({8, 12});
  EXPECT_TRUE(expected.is_known);
  EXPECT_NEAR(RestMean(expected), 10, 1e-9);
}

// With ten times as many slots, contention increases the time, and the deviation is wider. A long
// task depends less on other tasks.
TEST(TaskEstimate, GrowsByCrowdingAfterOneRun) {
  const PastStage run = Profile({10});
  const std::vector<PastStageRun> runs = {{10, &run}};
  const TaskEstimate same = EstimateTasks(runs, 1, 10, kConstants);
  const TaskEstimate more = EstimateTasks(runs, 1, 100, kConstants);
  const double crowd = 200 * std::pow(10, 0.7);
  EXPECT_NEAR(RestMean(more), 10 * (1 + 100 / crowd) / (1 + 10 / crowd), 1e-9);
  EXPECT_GT(more.deviation, same.deviation);
  const PastStage brief = Profile({0.1});
  const std::vector<PastStageRun> brief_runs = {{10, &brief}};
  EXPECT_GT(RestMean(EstimateTasks(brief_runs, 1, 100, kConstants)) / 0.1, RestMean(more) / 10);
  EXPECT_NEAR(RestMean(EstimateTasks(runs, 1, 100'000, kConstants)), RestMean(more), 1e-9)
      << "limited to the measured range";
}

TEST(TaskEstimate, LimitsCrowdingToTasksAtOnceIfIdleSlotsDoNotCrowd) {
  EstimateConstants constants;
  constants.idle_slots_crowd = false;
  const PastStage few = Profile(std::vector<double>(20, 10));
  EXPECT_NEAR(RestMean(EstimateTasks(std::vector<PastStageRun>{{20, &few}}, 20, 1000, constants)),
              10, 1e-9)
      << "980 slots are idle";
  const PastStage many = Profile(std::vector<double>(1'000'000, 10));
  const std::vector<PastStageRun> runs = {{10, &many}};
  EXPECT_NEAR(RestMean(EstimateTasks(runs, 1'000'000, 100'000, constants)),
              RestMean(EstimateTasks(runs, 1'000'000, 100, constants)), 1e-9);
}

TEST(TasksAtOnce, AreSpreadEvenlyOverTheWaves) {
  EXPECT_EQ(TasksAtOnce(20, 1000), 20);
  EXPECT_EQ(TasksAtOnce(1000, 500), 500);
  EXPECT_EQ(TasksAtOnce(1000, 999), 500);
  EXPECT_EQ(TasksAtOnce(0, 8), 8);
}

// Tasks take 10 s on 10 slots and 20 s on 40 slots. In between, the time is near the geometric
// mean. At 160 slots, the line alone would give 40 s, but the prior reduces this time.
TEST(TaskEstimate, InterpolatesBetweenRunsAndDampsExtrapolation) {
  const PastStage few = Profile({10});
  const PastStage many = Profile({20});
  const std::vector<PastStageRun> runs = {{10, &few}, {40, &many}};
  EXPECT_NEAR(RestMean(EstimateTasks(runs, 1, 20, kConstants)), std::sqrt(200.0), 0.5);
  EXPECT_LT(RestMean(EstimateTasks(runs, 1, 160, kConstants)), 39);
}

// Tasks took 10 s on 10 slots and 40 s on 80. On 10 slots, the first run counts for more than the
// second, and its time is nearer.
TEST(TaskEstimate, ARunWithSimilarSlotsCountsMore) {
  const PastStage near = Profile({10});
  const PastStage far = Profile({40});
  const std::vector<PastStageRun> runs = {{10, &near}, {80, &far}};
  EXPECT_LT(RestMean(EstimateTasks(runs, 1, 10, kConstants)), 17);
  EXPECT_GT(RestMean(EstimateTasks(runs, 1, 80, kConstants)), 24);
}

// The prior variance 0.2^2 of the run with four times the bytes grows by (0.5 ln 4)^2, to thirteen
// times its amount.
TEST(TaskEstimate, ARunWithDataOfSimilarSizeCountsMore) {
  const PastStage alike = Profile({10});
  const PastStage larger = Profile({40});
  const std::vector<PastStageRun> runs = {{10, &alike}, {10, &larger, std::log(4)}};
  const std::vector<PastStageRun> equal = {{10, &alike}, {10, &larger}};
  EXPECT_NEAR(RestMean(EstimateTasks(equal, 1, 10, kConstants)), 20, 1e-6);
  EXPECT_LT(RestMean(EstimateTasks(runs, 1, 10, kConstants)), 17);
}

// With three fifths of the time in fetches: hypot(0.2 x 0.4, 0.6 x 0.6) = 0.369, and one run in
// addition has sqrt(2) times as much.
TEST(TaskEstimate, FetchWaitsWidenTheDeviation) {
  PastStage run = Profile({10});
  EXPECT_NEAR(EstimateTasks(std::vector<PastStageRun>{{10, &run}}, 1, 10, kConstants).deviation,
              std::sqrt(2) * 0.2, 1e-6);
  run.fetch_seconds = 6;
  EXPECT_NEAR(EstimateTasks(std::vector<PastStageRun>{{10, &run}}, 1, 10, kConstants).deviation,
              std::sqrt(2) * 0.3688, 1e-3);
  run.fetch_seconds = 600;
  EXPECT_NEAR(EstimateTasks(std::vector<PastStageRun>{{10, &run}}, 1, 10, kConstants).deviation,
              std::sqrt(2) * 0.6, 1e-6);
}

TEST(TaskEstimate, GivesEveryKindOfTaskATime) {
  const TaskEstimate expected = AfterARun({10});
  for (const durations::TimeDistribution& times : expected.times) EXPECT_GT(times.mean(), 0);
  EXPECT_GT(expected.Of(Warmth::kFresh).mean(), expected.Of(Warmth::kFirst).mean());
}

TEST(TaskEstimate, IsUnknownWithoutRunsOrTasks) {
  const TaskEstimate expected = EstimateTasks({}, 1, 10, kConstants);
  EXPECT_FALSE(expected.is_known);
  EXPECT_FALSE(EstimateTasksNow(expected, {.name = "scan", .tasks = 4}, kConstants).is_known);
  EXPECT_NEAR(RestMean(EstimateTasksNow(expected, Finished(9, 3, 7), kConstants)), 7, 1e-6);
}

// Tasks took 10 s in the past run, and take 20 s in this run. More tasks move the estimate to 20 s
// and narrow it.
TEST(TaskEstimate, MovesToThisRunInProportionToTheEvidence) {
  const TaskEstimate before = AfterARun({10});
  const TaskEstimate few = EstimateTasksNow(before, Finished(1000, 2, 20), kConstants);
  const TaskEstimate many = EstimateTasksNow(before, Finished(1000, 900, 20), kConstants);
  EXPECT_GT(RestMean(few), 10);
  EXPECT_LT(RestMean(few), RestMean(many));
  EXPECT_NEAR(RestMean(many), 20, 1);
  EXPECT_LT(many.deviation, few.deviation);
  EXPECT_LT(few.deviation, before.deviation);
}

TEST(TaskEstimate, RunningTasksLongerThanTheirMeanCountAsAtLeastThatLong) {
  const TaskEstimate before = AfterARun({10});
  StageNow young = {.name = "scan", .tasks = 4, .running = {{5, Warmth::kRest}}};
  StageNow old = {.name = "scan", .tasks = 4, .running = {{40, Warmth::kRest}}};
  EXPECT_DOUBLE_EQ(RestMean(EstimateTasksNow(before, young, kConstants)), 10);
  EXPECT_GT(RestMean(EstimateTasksNow(before, old, kConstants)), 10);
}

// The task took 4 s for a quarter of its input, so it takes 16 s in total. No task has ended yet.
TEST(TaskEstimate, ThePaceOfTheFirstTaskEstimatesTheOthers) {
  StageNow stage = {.name = "scan", .tasks = 10};
  stage.running.push_back({.elapsed = 4, .warmth = Warmth::kRest, .fraction = 0.25});
  const TaskEstimate expected = EstimateTasksNow({}, stage, kConstants);
  EXPECT_TRUE(expected.is_known);
  EXPECT_NEAR(RestMean(expected), 16, 1e-9);
  stage.running[0].fraction = 0.01;
  EXPECT_FALSE(EstimateTasksNow({}, stage, kConstants).is_known) << "just started";
}

TEST(TaskEstimate, APartOfATaskIsLessEvidenceThanAWholeOne) {
  const TaskEstimate before = AfterARun({10});
  StageNow stage = {.name = "scan", .tasks = 10};
  stage.running.push_back({.elapsed = 4, .warmth = Warmth::kRest, .fraction = 0.2});
  const double by_part = RestMean(EstimateTasksNow(before, stage, kConstants));
  EXPECT_GT(by_part, 10);
  EXPECT_LT(by_part, RestMean(EstimateTasksNow(before, Finished(10, 1, 20), kConstants)));
}

TEST(MatchStages, PrefersTheNameThenTheTasksThenThePlace) {
  PastRun run;
  run.stages = {{.name = "a", .tasks = 5}, {.name = "b", .tasks = 9}, {.name = "a", .tasks = 7}};
  const std::vector<StageNow> now = {{.name = "a", .tasks = 7},
                                     {.name = "a", .tasks = 6},
                                     {.name = "a", .tasks = 6},
                                     {.name = "c", .tasks = 9}};
  EXPECT_THAT(MatchStages(now, run), ElementsAre(Optional(std::size_t{2}), Optional(std::size_t{0}),
                                                 std::nullopt, std::nullopt));
}

// Returns four tasks of 5 s each, adjusted with a deviation of 0.3. Runs of one stage differ by
// 0.1.
StageNow Turn() { return {.name = "turn", .work = 7, .tasks = 4, .adjusted_deviation = 0.3}; }

TaskEstimate FiveSeconds() {
  TaskEstimate expected = {.deviation = 0.1, .is_known = true, .is_of_runs = true};
  for (auto& times : expected.times) times = durations::TimeDistribution::Empirical({5.0});
  expected.long_tasks = {{1, 10}};
  return expected;
}

StageNow Done(double seconds) {
  StageNow stage = Turn();
  stage.finished.assign(4, {.seconds = seconds, .index = 3});
  return stage;
}

// The first iteration took 10 s instead of 5 s, and ln 2 = 0.693. The mean of four tasks has a
// variance of 0.04 / 4, and runs differ by 0.1^2. The precision is therefore 50, compared with 1 /
// 0.09 = 11.1 for the adjusted times. The correction is 0.693 x 50 / 61.1 = 0.567, and the
// remaining deviation is 1 / sqrt(61.1) = 0.128.
TEST(CorrectAdjusted, FinishedStagesCorrectOthersOfTheirWork) {
  std::vector<TaskEstimate> before = {FiveSeconds(), FiveSeconds()};
  CorrectAdjusted({Done(10), Turn()}, {}, before);
  EXPECT_NEAR(before[1].Of(Warmth::kRest).mean(), 5 * std::exp(0.5671), 0.01);
  EXPECT_NEAR(before[1].long_tasks[0].more_seconds, 10 * std::exp(0.5671), 0.02);
  EXPECT_NEAR(before[1].shared_deviation, 0.1279, 1e-3);
  EXPECT_NEAR(before[1].deviation, 0.1, 1e-9);
  EXPECT_NEAR(before[0].Of(Warmth::kRest).mean(), 5, 1e-9) << "the stage has evidence of its own";
}

TEST(CorrectAdjusted, ManyStagesLeaveLittleUncertainty) {
  std::vector<StageNow> stages(20, Done(10));
  stages.push_back(Turn());
  std::vector<TaskEstimate> before(21, FiveSeconds());
  CorrectAdjusted(stages, {}, before);
  EXPECT_NEAR(before[20].Of(Warmth::kRest).mean(), 10, 0.2);
  EXPECT_LT(before[20].shared_deviation, 0.04);
}

TEST(CorrectAdjusted, WaitingStagesShareTheUncertaintyAndRunningOnesAddIt) {
  StageNow running = Turn();
  running.running = {{.elapsed = 1}};
  std::vector<TaskEstimate> before(3, FiveSeconds());
  CorrectAdjusted({Turn(), Turn(), running}, {}, before);
  EXPECT_NEAR(before[0].shared_deviation, 0.3, 1e-9);
  EXPECT_EQ(before[0].shared_by, before[1].shared_by);
  EXPECT_EQ(before[2].shared_deviation, 0);
  EXPECT_NEAR(before[2].deviation, std::hypot(0.1, 0.3), 1e-9);
}

TEST(CorrectAdjusted, KeepsOtherWorksAndUnadjustedStages) {
  StageNow other = Turn();
  other.work = 8;
  StageNow known = Turn();
  known.adjusted_deviation = 0;
  std::vector<TaskEstimate> before(3, FiveSeconds());
  CorrectAdjusted({Done(10), other, known}, {}, before);
  for (const std::size_t i : {1, 2}) EXPECT_NEAR(before[i].Of(Warmth::kRest).mean(), 5, 1e-9);
  EXPECT_NE(before[1].shared_by, before[0].shared_by);
  EXPECT_EQ(before[2].shared_deviation, 0);
}

}  // namespace
}  // namespace tidemark::dag::task_estimate_test
