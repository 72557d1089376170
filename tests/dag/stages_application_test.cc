#include "master/forecast/dag/stages_application.h"

#include "tests/placement/some_stages.h"
#include "tests/test.h"

namespace tidemark::dag::stages_application_test {
namespace {

using placement::Slots;

double Median(durations::Draws draws) {
  std::sort(draws.begin(), draws.end());
  return draws[draws.size() / 2];
}

durations::Draws Growth(const Submissions& submissions, double elapsed) {
  return GrowthOf(submissions, elapsed, /*worked=*/elapsed, durations::FixedDraws::For(100));
}

TEST(Growth, ASingleJobMayBeTheOnlyOne) {
  EXPECT_DOUBLE_EQ(ChanceOfMore({}, 1), 0.5);
  const durations::Draws growth = Growth({}, 100);
  EXPECT_DOUBLE_EQ(*std::min_element(growth.begin(), growth.end()), 0);
  EXPECT_GT(*std::max_element(growth.begin(), growth.end()), 600);
}

// A probability of one half falls to 1/8 at 100 s, since it falls with the square of 100 / (100 +
// t).
TEST(Growth, FallsWithTheSquareOfTheElapsedPart) {
  durations::Draws growth = Growth({}, 100);
  EXPECT_NEAR(durations::QuantileOf(growth, 1 - 1.0 / 8), 100, 10);
}

// More work follows with a probability of 2/3, and exceeds t with a probability of 2/3 x 100 / (100
// + t), which is one half at 33 s.
TEST(Growth, ARepeatingApplicationContinuesUntilSomethingNewFollows) {
  const Submissions loop = {.count = 9, .kinds = 2, .is_newest_repeated = true};
  EXPECT_DOUBLE_EQ(ChanceOfMore(loop, 1), 2.0 / 3);
  EXPECT_NEAR(Median(Growth(loop, 100)), 33, 5);
  const Submissions query = {.count = 25, .kinds = 2, .is_newest_repeated = false};
  EXPECT_DOUBLE_EQ(ChanceOfMore(query, 1), 0.25);
  EXPECT_DOUBLE_EQ(Median(Growth(query, 100)), 0);
  const Submissions all_new = {.count = 4, .kinds = 4, .is_newest_repeated = false};
  EXPECT_DOUBLE_EQ(ChanceOfMore(all_new, 1), 2.0 / 3) << "all submissions were new";
}

// The work took 20 s of 100 s. The chance is 1/2 + 1/4 (1 - 0.2 / 0.8), and the median is
// 100 s (2 x chance - 1).
TEST(Growth, AnApplicationThatHasHardlyWorkedContinues) {
  EXPECT_DOUBLE_EQ(ChanceOfMore({}, 0.2), 0.6875);
  EXPECT_NEAR(Median(GrowthOf({}, 100, 20, durations::FixedDraws::For(100))), 37.5, 5);
  const Submissions query = {.count = 25, .kinds = 2, .is_newest_repeated = false};
  EXPECT_DOUBLE_EQ(ChanceOfMore(query, 0.2), 0.6875);
  EXPECT_DOUBLE_EQ(ChanceOfMore(query, 0.8), 0.25);
}

TEST(Growth, IsFiniteAndNeverNegative) {
  for (const double elapsed : {0.0, 1e-9, 1.0, 1e12}) {
    for (const double growth :
         Growth({.count = 3, .kinds = 1, .is_newest_repeated = true}, elapsed)) {
      EXPECT_TRUE(std::isfinite(growth));
      EXPECT_GE(growth, 0);
    }
  }
}

constexpr StagesOptions kOptions;

dag::ApplicationForecast Estimate(WorkflowNow now, const std::vector<const PastRun*>& history,
                                  double slots) {
  AddExpectedStages(history, now);
  return dag::ForecastApplication(ApplicationOfStages(now, history, Slots(slots), kOptions))
      .value();
}

PastStage Profile(std::string name, std::uint64_t tasks, double seconds,
                  std::vector<std::size_t> parents = {}) {
  PastStage profile = {.name = std::move(name), .parents = std::move(parents), .tasks = tasks};
  for (auto& kind : profile.seconds) kind = {seconds};
  return profile;
}

StageNow Shape(const PastStage& profile) {
  return {.name = profile.name, .parents = profile.parents, .tasks = profile.tasks};
}

// Returns a run on 4 slots that scans (8 tasks of 10 s) for 20 s and joins (4 tasks of 5 s) for 5
// s.
PastRun ScanAndJoin() {
  return {.slots = 4, .stages = {Profile("scan", 8, 10), Profile("join", 4, 5, {0})}};
}

TEST(ApplicationOfStages, FollowsThePastRun) {
  const PastRun run = ScanAndJoin();
  WorkflowNow now = {.stages = {Shape(run.stages[0]), Shape(run.stages[1])}};
  const dag::ApplicationForecast estimate = Estimate(now, {&run}, 4);
  EXPECT_NEAR(estimate.end.median, 25, 2.5);
  EXPECT_LT(estimate.end.lower, estimate.end.median);
  EXPECT_LT(estimate.end.median, estimate.end.upper);
  EXPECT_THAT(estimate.critical_path, ElementsAre(0, 1));
  EXPECT_DOUBLE_EQ(estimate.known_share, 1);
  EXPECT_EQ(Estimate(now, {&run}, 4).end.median, estimate.end.median) << "it is deterministic";
  now.planned = {{.tasks = 100, .parents = {1}}};
  EXPECT_NEAR(Estimate(now, {&run}, 4).end.median, 25, 2.5) << "the plan counts less";
  const WorkflowNow unopened = {.stages = {Shape(run.stages[0])}};
  ASSERT_EQ(Estimate(unopened, {&run}, 4).stages.size(), 2u);
  EXPECT_NEAR(Estimate(unopened, {&run}, 4).end.median, 25, 2.5);
}

TEST(ApplicationOfStages, CountsDownAsTasksEnd) {
  const PastRun run = ScanAndJoin();
  WorkflowNow now = {.stages = {Shape(run.stages[0]), Shape(run.stages[1])}, .elapsed = 10};
  now.stages[0].finished.assign(4, {.seconds = 10, .warmth = Warmth::kRest});
  now.stages[0].running.assign(4, {.elapsed = 0, .warmth = Warmth::kRest});
  EXPECT_NEAR(Estimate(now, {&run}, 4).end.median, 15, 1.5);
  now.stages[0].finished.assign(8, {.seconds = 10, .warmth = Warmth::kRest});
  now.stages[0].running.clear();
  now.stages[1].finished.assign(4, {.seconds = 5, .warmth = Warmth::kRest});
  EXPECT_EQ(Estimate(now, {&run}, 4).end.median, 0);
}

TEST(ApplicationOfStages, IsWideWithoutHistoryAndNarrowsWithTasks) {
  WorkflowNow now = {.stages = {{.name = "scan", .tasks = 100}}, .elapsed = 10};
  now.stages[0].running.assign(4, {.elapsed = 10, .warmth = Warmth::kFresh});
  const dag::ApplicationForecast blind = Estimate(now, {}, 4);
  EXPECT_DOUBLE_EQ(blind.known_share, 0);
  now.stages[0].finished.assign(50, {.seconds = 10, .warmth = Warmth::kRest});
  now.stages[0].running.clear();
  const dag::ApplicationForecast half = Estimate(now, {}, 4);
  EXPECT_GT(blind.end.upper / blind.end.lower, 4);
  EXPECT_LT(half.end.upper / half.end.lower, 2);
  EXPECT_NEAR(half.end.median, 50 * 10 / 4, 20);
}

TEST(ApplicationOfStages, AllowsForUnknownFutureStages) {
  WorkflowNow now = {.stages = {{.name = "scan", .tasks = 4}}, .elapsed = 100};
  now.stages[0].finished.assign(4, {.seconds = 10, .warmth = Warmth::kRest});
  now.may_grow = true;
  EXPECT_GT(Estimate(now, {}, 4).end.upper, 100);
}

// Two tasks of the stage with 10 s each remain. A planned stage has four similar tasks.
TEST(ApplicationOfStages, ExpectsPlannedStages) {
  WorkflowNow now = {.stages = {{.name = "scan", .tasks = 4}}, .elapsed = 10};
  now.stages[0].finished.assign(2, {.seconds = 10, .warmth = Warmth::kRest});
  now.stages[0].running.assign(2, {.elapsed = 0, .warmth = Warmth::kRest});
  const double without = Estimate(now, {}, 2).end.median;
  now.planned = {{.tasks = 4, .parents = {0}}};
  const dag::ApplicationForecast with = Estimate(now, {}, 2);
  ASSERT_EQ(with.stages.size(), 2u);
  EXPECT_NEAR(with.end.median, without + 20 / std::exp(1), 3) << "tasks that fetch take less";
  EXPECT_LT(with.known_share, 0.7) << "unknown task times";
}

// The first tasks of an application are usually the short ones.
TEST(ApplicationOfStages, AnUnknownStageOfAGrowingApplicationTakesLonger) {
  WorkflowNow now = {.stages = {{.name = "scan", .tasks = 4}}, .elapsed = 20};
  now.stages[0].finished.assign(4, {.seconds = 10, .warmth = Warmth::kRest});
  now.planned = {{.tasks = 4, .parents = {0}}};
  const auto end_of_planned = [&now] { return Estimate(now, {}, 2).stages.back().end; };
  const double known = end_of_planned();
  now.may_grow = true;
  EXPECT_NEAR(end_of_planned() / known, 2.5, 0.1);
}

// A task of the scan reads 9 MB in 10 s, so its fixed part takes 1 s. A task of the planned stage
// reads 19 MB, and takes 20 / e times as long. Its four tasks run on two slots.
TEST(ApplicationOfStages, AStageWithMoreInputTakesLonger) {
  WorkflowNow now = {.stages = {{.name = "scan", .tasks = 4}}, .elapsed = 20};
  now.stages[0].finished.assign(4, {.seconds = 10, .warmth = Warmth::kRest});
  now.stages[0].read_bytes = 4 * 9e6;
  now.planned = {{.tasks = 4, .parents = {0}, .input_bytes = 4 * 19e6}};
  EXPECT_NEAR(Estimate(now, {}, 2).end.median, 2 * 20 / std::exp(1), 3);
}

// The stages form a loop, whose first iteration took 40 s on two slots.
TEST(ApplicationOfStages, AStageOfRepeatedWorkTakesAsLong) {
  WorkflowNow now = {.stages = {{.name = "load", .tasks = 8},
                                {.name = "round 1", .parents = {0}, .tasks = 8},
                                {.name = "round 2", .parents = {1}, .tasks = 8}},
                     .elapsed = 500,
                     .warm_slots = 2};
  now.stages[0].finished.assign(8, {.seconds = 100, .warmth = Warmth::kRest});
  now.stages[1].finished.assign(8, {.seconds = 10, .warmth = Warmth::kRest});
  const dag::ApplicationForecast blind = Estimate(now, {}, 2);
  EXPECT_GT(blind.end.median, 50) << "by the mean of the other stages";
  now.stages[1].work = now.stages[2].work = 7;
  const dag::ApplicationForecast repeated = Estimate(now, {}, 2);
  EXPECT_NEAR(repeated.end.median, 43, 5) << "the first tasks of a stage take longer";
  EXPECT_LT(repeated.end.upper - repeated.end.lower, blind.end.upper - blind.end.lower);
  EXPECT_DOUBLE_EQ(repeated.known_share, 1);
}

// All other tasks took 1 s. A task that is 20 s late will be late by another 20 s with a
// probability of one half.
TEST(ApplicationOfStages, ALateTaskIsLateByAsMuchAgain) {
  WorkflowNow now = {.stages = {{.name = "join", .tasks = 8}}, .elapsed = 30};
  now.stages[0].finished.assign(7, {.seconds = 1, .warmth = Warmth::kRest});
  now.stages[0].running = {{.elapsed = 21, .warmth = Warmth::kRest}};
  const dag::ApplicationForecast late = Estimate(now, {}, 4);
  EXPECT_GT(late.end.median, 12);
  EXPECT_LT(late.end.median, 21);
  EXPECT_GT(late.end.upper, 100);
}

// The stage has eight tasks on two slots. Two of them have run for 20 s, whereas the tasks of the
// previous stage took 1 s.
TEST(ApplicationOfStages, TasksThatExceedAGuessLengthenLaterTasks) {
  WorkflowNow now = {.stages = {{.name = "map", .tasks = 8}, {.name = "group", .parents = {0}}},
                     .elapsed = 30,
                     .warm_slots = 2};
  now.stages[0].finished.assign(8, {.seconds = 1, .warmth = Warmth::kRest});
  now.stages[1].tasks = 8;
  now.stages[1].running.assign(2, {.elapsed = 20, .warmth = Warmth::kFirst});
  const dag::ApplicationForecast estimate = Estimate(now, {}, 2);
  EXPECT_GT(estimate.end.median, 40);
  EXPECT_LT(estimate.known_share, 0.1) << "no task has ended";
}

TEST(ApplicationOfStages, ManyLateTasksHaveACommonReason) {
  WorkflowNow now = {.stages = {{.name = "join", .tasks = 48}}, .elapsed = 30};
  now.stages[0].finished.assign(8, {.seconds = 1, .warmth = Warmth::kRest});
  now.stages[0].running.assign(40, {.elapsed = 21, .warmth = Warmth::kRest});
  EXPECT_LT(Estimate(now, {}, 40).end.median, 21) << "not the latest of 40 independent tasks";
}

TEST(ApplicationOfStages, PrefersKeyGroupsToTasks) {
  WorkflowNow now = {.stages = {{.name = "group", .tasks = 2, .number = kReduceStage}}};
  now.stages[0].running.assign(2, {.elapsed = 5, .warmth = Warmth::kRest});
  durations::RemainingStage by_key_groups = {.work = {.running = {5, 5}}, .number = kReduceStage};
  by_key_groups.times.of_task = {{3, 4, 5}, {30, 40, 50}};
  by_key_groups.times.is_known = true;
  const auto end = [&] {
    const auto estimate = dag::ForecastApplication(ApplicationOfStages(
        now, {}, Slots(2), {.common_deviation = 0, .by_key_groups = &by_key_groups}));
    return estimate.ok() ? estimate->end : dag::SecondsRange{};
  };
  EXPECT_NEAR(end().median, 40, 1e-9);
  EXPECT_NEAR(end().upper, 50, 1e-9);
  by_key_groups.work.running = {5};  // This belongs to another time.
  EXPECT_LT(end().median, 30);
}

TEST(ApplicationOfStages, RejectsInvalidInput) {
  WorkflowNow now = {.stages = {{.name = "a", .parents = {0}, .tasks = 1}}};
  const auto estimate = dag::ForecastApplication(ApplicationOfStages(now, {}, Slots(1), kOptions));
  EXPECT_THAT(estimate.status().message(), HasSubstr("cycle"));
}

TEST(ApplicationOfStages, IsZeroWithoutStages) { EXPECT_EQ(Estimate({}, {}, 1).end.median, 0); }

// For any state of a workflow, the forecast is finite, ordered and not negative.
TEST(ApplicationOfStages, IsFiniteAndOrderedInAnyState) {
  std::mt19937_64 random(21);
  const PastRun run = ScanAndJoin();
  for (int round = 0; round < 300; ++round) {
    WorkflowNow now = {.elapsed = static_cast<double>(random() % 100)};
    for (std::size_t i = 0; i < 1 + random() % 6; ++i) {
      StageNow stage = {.name = random() % 2 == 0 ? "scan" : "other", .tasks = random() % 9};
      if (i > 0 && random() % 2 == 0) stage.parents = {random() % i};
      for (std::size_t k = 0; k < random() % 4; ++k) {
        stage.finished.push_back(
            {static_cast<double>(random() % 3) * 1e6, static_cast<Warmth>(random() % kWarmths)});
      }
      for (std::size_t k = 0; k < random() % 3; ++k) {
        stage.running.push_back(
            {static_cast<double>(random() % 50), static_cast<Warmth>(random() % kWarmths)});
      }
      now.stages.push_back(std::move(stage));
    }
    now.may_grow = random() % 2 == 0;
    const dag::ApplicationForecast estimate =
        random() % 2 == 0 ? Estimate(now, {&run}, 3) : Estimate(now, {}, 3);
    EXPECT_TRUE(std::isfinite(estimate.end.upper)) << round;
    EXPECT_GE(estimate.end.lower, 0) << round;
    EXPECT_LE(estimate.end.lower, estimate.end.median) << round;
    EXPECT_LE(estimate.end.median, estimate.end.upper) << round;
  }
}

// The engine numbers children before their parents.
TEST(AddExpectedStages, KeepsParentsWithHigherNumbers) {
  const PastRun run = {.slots = 4, .stages = {Profile("join", 4, 5, {1}), Profile("scan", 8, 10)}};
  WorkflowNow now;
  AddExpectedStages(std::vector<const PastRun*>{&run}, now);
  ASSERT_EQ(now.stages.size(), 2u);
  EXPECT_THAT(now.stages[0].parents, ElementsAre(1));
  EXPECT_NEAR(Estimate({}, {&run}, 4).end.median, 25, 2.5);
}

// 20 of the 30 s between the scan and the join have passed.
TEST(AddExpectedStages, SubtractsTheElapsedPartOfALag) {
  PastRun run = {.slots = 4, .stages = {Profile("scan", 8, 10), Profile("join", 4, 5, {0})}};
  run.stages[1].lag = 30;
  WorkflowNow now = {.stages = {{.name = "scan", .tasks = 8, .done_since = 20}}, .elapsed = 40};
  now.stages[0].finished.assign(8, {.seconds = 10, .warmth = Warmth::kRest});
  AddExpectedStages(std::vector<const PastRun*>{&run}, now);
  ASSERT_EQ(now.stages.size(), 2u);
  EXPECT_DOUBLE_EQ(now.stages[1].waited, 20);
  EXPECT_NEAR(Estimate(now, {&run}, 4).end.median, 10 + 5, 1);
  now.stages.resize(1);
  now.stages[0].finished.pop_back();
  AddExpectedStages(std::vector<const PastRun*>{&run}, now);
  EXPECT_DOUBLE_EQ(now.stages[1].waited, 0) << "the scan has not ended";
}

TEST(AddExpectedStages, UsesTheTaskCountOfTheNewestRunIfUnknown) {
  const PastRun newest = {.stages = {Profile("other", 3, 1)}};
  const PastRun before = {.stages = {Profile("scan", 8, 10)}};
  WorkflowNow now = {.stages = {{.name = "scan", .is_task_count_known = false}}};
  AddExpectedStages(std::vector<const PastRun*>{&newest, &before}, now);
  ASSERT_EQ(now.stages.size(), 2u);
  EXPECT_TRUE(now.stages[0].is_task_count_known);
  EXPECT_EQ(now.stages[0].tasks, 8u);
}

}  // namespace
}  // namespace tidemark::dag::stages_application_test
