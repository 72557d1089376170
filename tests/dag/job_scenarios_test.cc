#include "master/forecast/dag/job_scenarios.h"

#include <span>

#include "master/facts/lost_time.h"
#include "tests/facts/events.h"
#include "tests/test.h"
#include "tidemark/event.h"
#include "tidemark/job_monitor.h"

namespace tidemark::dag::job_scenarios_test {
namespace {

const absl::Time kNow = absl::FromUnixSeconds(1'700'000'000);

Range Exactly(double seconds) {
  return {absl::Seconds(seconds), absl::Seconds(seconds), absl::Seconds(seconds)};
}

// Returns a stage with two running and eight waiting tasks of ten seconds each. It takes 10 + 4
// * 10 s on two slots.
std::shared_ptr<Snapshot> Job(const Range& remaining = Exactly(50)) {
  Snapshot job = {.job_id = "job-1", .sequence = 7, .at = kNow, .state = JobState::kRunning};
  job.started_at = kNow - absl::Seconds(50);
  job.estimate = {.state = EstimateState::kValid, .fraction_done = 0.5, .remaining = remaining};
  job.stage_infos = {{.id = {.stage = 3}, .kind = StageKind::kGeneric}};
  job.stages = {{.id = {.stage = 3},
                 .state = StageState::kRunning,
                 .tasks = 10,
                 .running_tasks = 2,
                 .ends_in = Range{.median = remaining.median}}};
  return std::make_shared<Snapshot>(job);
}

std::shared_ptr<const durations::RemainingStages> Tasks(
    std::uint64_t at_once_max = placement::kNoLimit) {
  durations::RemainingStage stage = {.number = 3};
  stage.work.pending = 8;
  stage.work.at_once_max = at_once_max;
  stage.work.running.resize(2);
  stage.times.of_task = {{10}, {10}};
  stage.times.alike.fill(durations::TimeDistribution::Empirical({10}));
  return std::make_shared<const durations::RemainingStages>(
      durations::RemainingStages{.stages = {stage}, .ends = {50}});
}

// Returns the same stage with one executor.
std::shared_ptr<durations::RemainingStages> TasksOfExecutor() {
  auto left = std::make_shared<durations::RemainingStages>(*Tasks(/*at_once_max=*/2));
  left->slots = 2;
  left->slots_per_executor = 2;
  return left;
}

Scenario OnSlots(std::uint32_t slots) { return {.slots = slots}; }
Scenario OnExecutors(std::uint32_t executors) { return {.executors = executors}; }

double SecondsIn(const Scenario& scenario, std::shared_ptr<const durations::RemainingStages> left) {
  const auto job = ForecastJobOnSlots(Job(), std::move(left), scenario, kNow);
  EXPECT_TRUE(job.ok()) << job.status();
  return job.ok() ? absl::ToDoubleSeconds(job->snapshot.estimate.remaining->median) : -1;
}

double SecondsOn(std::uint32_t slots, std::shared_ptr<const durations::RemainingStages> left) {
  return SecondsIn(OnSlots(slots), std::move(left));
}

TEST(ForecastJobOnSlots, PlacesTheRemainingTasks) {
  EXPECT_NEAR(SecondsOn(2, Tasks()), 50, 1e-6);   // The number of slots is unchanged.
  EXPECT_NEAR(SecondsOn(5, Tasks()), 20, 1e-6);   // 2 + 3 tasks, and then 5
  EXPECT_NEAR(SecondsOn(10, Tasks()), 10, 1e-6);  // all tasks at the same time
  EXPECT_NEAR(SecondsOn(1, Tasks()), 90, 1e-6);   // The running tasks continue.
  EXPECT_NEAR(SecondsOn(10, Tasks(/*at_once_max=*/2)), 10, 1e-6) << "not limited to its executors";
}

// Eight pending tasks take 7 or 13 s, with a deviation of 3 s. On two slots, the bounds are
// sqrt(8 / 2) x 3 x sqrt(log 2) = 4.9953 s, times 0.23 and times sqrt(2) ([BOE] Theorem 1).
TEST(SkewGainOf, FollowsFromTheSpreadOfPendingTasks) {
  durations::RemainingStages left = *Tasks();
  durations::RemainingStage& stage = left.stages[0];
  for (int i = 0; i < 8; ++i) stage.times.of_task.push_back({i % 2 == 0 ? 7.0 : 13.0});
  const auto gain = SkewGainOf(left, 2);
  ASSERT_TRUE(gain.has_value());
  EXPECT_EQ(gain->stage, 3u);
  EXPECT_NEAR(absl::ToDoubleSeconds(gain->lower), 1.14893, 1e-4);
  EXPECT_NEAR(absl::ToDoubleSeconds(gain->upper), 7.06448, 1e-4);
  EXPECT_EQ(SkewGainOf(left, 1), std::nullopt) << "one slot runs the tasks one by one";
  EXPECT_EQ(SkewGainOf(*Tasks(), 2), std::nullopt) << "the sizes of pending tasks are unknown";
}

// The two running tasks end at equal intervals, 5 and 10 s from now.
TEST(ForecastJobOnSlots, TreatsTasksAsEqualIfOnlyTheirNumberIsKnown) {
  EXPECT_NEAR(SecondsOn(2, nullptr), 50, 6);
  EXPECT_NEAR(SecondsOn(10, nullptr), 10, 3);
}

// Tasks that share processors take longer than single tasks. They therefore end later than in their
// placement.
TEST(ForecastJobOnSlots, KeepsTheForecastOnItsOwnSlots) {
  auto tasks = std::make_shared<durations::RemainingStages>(*Tasks());
  tasks->ends = {500};
  EXPECT_NEAR(SecondsOn(2, tasks), 50, 1e-6);
  EXPECT_NEAR(SecondsOn(5, tasks), 20, 1e-6);
}

TEST(ForecastJobOnSlots, ReturnsASnapshotWithoutStagesAndTasks) {
  auto job = Job();
  job->deadline = kNow + absl::Seconds(30);
  job->late_probability = 0.99;
  job->named_tasks = {{.host = "h"}};
  const auto outcome = ForecastJobOnSlots(job, Tasks(), OnSlots(5), kNow).value();
  EXPECT_EQ(outcome.slots, 5u);
  EXPECT_EQ(outcome.executors, 0u);
  const Snapshot& would_be = outcome.snapshot;
  EXPECT_EQ(would_be.job_id, "job-1");
  EXPECT_EQ(would_be.sequence, 0u);
  EXPECT_NEAR(would_be.estimate.fraction_done, 50. / 70, 1e-6);
  EXPECT_LT(would_be.late_probability.value_or(1), 0.1);
  EXPECT_THAT(would_be.stages, IsEmpty());
  EXPECT_THAT(would_be.named_tasks, IsEmpty());
}

TEST(ForecastJobOnSlots, AssumesExecutorsOfThePresentSize) {
  EXPECT_NEAR(SecondsIn(OnExecutors(1), TasksOfExecutor()), 50, 1e-6);
  // 2 + 2 tasks, then 4, then 2
  EXPECT_NEAR(SecondsIn(OnExecutors(2), TasksOfExecutor()), 30, 1e-6);
  EXPECT_NEAR(SecondsIn(OnExecutors(5), TasksOfExecutor()), 10, 1e-6);
  const auto outcome = ForecastJobOnSlots(Job(), TasksOfExecutor(), OnExecutors(5), kNow).value();
  EXPECT_EQ(outcome.slots, 10u);
  EXPECT_EQ(outcome.executors, 5u);
}

// An application has 12 tasks on an executor with two slots. Two tasks, the first on their slots,
// ended after 20 s. Later tasks are assumed to take half of that time. Two tasks have just started,
// so 10 + 4 * 10 s remain. On four slots, two more tasks start now and take 20 s, so 30 s remain.
// On ten slots, all tasks start now, so 20 s remain.
TEST(ForecastJobOnSlots, ForecastsAnApplicationFromItsEvents) {
  test::Source driver;
  JobMonitor monitor("job-1", {});
  const auto say = [&](double seconds, EventBody body) {
    EXPECT_TRUE(monitor.Apply(driver.At(seconds, std::move(body))).ok());
  };
  say(0, JobOpened{.name = "app",
                   .submitted_at = test::At(0),
                   .stages = {{.stage = 7, .signature = "s", .task_count = 12}}});
  say(0, ExecutorOpened{.executor = 0, .host = "h", .slots = 2});
  for (std::uint32_t task = 0; task < 4; ++task) {
    if (task >= 2) say(20, test::Finished({.stage = 7, .index = task - 2}));
    AttemptChanged started = test::Started({.stage = 7, .index = task});
    started.executor = 0;
    say(task < 2 ? 0 : 20, started);
  }
  const auto newest = std::make_shared<const Snapshot>(monitor.Tick(test::At(20)));
  const auto median = [&](std::uint32_t executors) {
    const auto outcome =
        ForecastJobOnSlots(newest, monitor.stages_left(), OnExecutors(executors), test::At(20));
    EXPECT_TRUE(outcome.ok()) << outcome.status();
    if (!outcome.ok()) return -1.;
    EXPECT_EQ(outcome->slots, 2 * executors);
    return absl::ToDoubleSeconds(outcome->snapshot.estimate.remaining->median);
  };
  EXPECT_NEAR(median(1), absl::ToDoubleSeconds(newest->estimate.remaining->median), 1e-3);
  EXPECT_NEAR(median(1), 50, 5);
  EXPECT_NEAR(median(2), 30, 4);
  EXPECT_NEAR(median(5), 20, 4);
}

TEST(ForecastJobOnSlots, ReportsItsSlotsAndExecutors) {
  const HeldSlots reported = SlotsHeld(Job(), TasksOfExecutor(), kNow);
  EXPECT_EQ(reported.slots, 2u);
  EXPECT_EQ(reported.executors, 1u);
  const HeldSlots seen = SlotsHeld(Job(), Tasks(), kNow);
  EXPECT_EQ(seen.slots, 2u);
  EXPECT_EQ(seen.executors, 0u);
}

// Slots of executors also exist while no task runs on them, such as between two stages.
TEST(ForecastJobOnSlots, ReportedSlotsCountWhileNoTaskRuns) {
  auto job = Job();
  job->stages[0].running_tasks = 0;
  auto left = TasksOfExecutor();
  left->stages[0].work.running.clear();
  left->stages[0].times.of_task.clear();
  left->ends = {40};
  job->estimate.remaining = Exactly(40);
  const auto outcome = ForecastJobOnSlots(job, left, OnExecutors(2), kNow).value();
  EXPECT_NEAR(absl::ToDoubleSeconds(outcome.snapshot.estimate.remaining->median), 20, 1e-6);
}

// On a warm slot, the next task takes 10 s. On a new slot, the first task takes 30 s.
TEST(ForecastJobOnSlots, OnlyItsOwnSlotsAreWarm) {
  auto left = TasksOfExecutor();
  left->slots = 4;
  left->slots_per_executor = 4;
  left->warm_slots = 2;
  durations::RemainingStage& stage = left->stages[0];
  stage.work.at_once_max = 4;
  stage.work.pending = 2;  // in addition to two running tasks
  stage.times.alike[static_cast<std::size_t>(placement::Warmth::kFresh)] =
      durations::TimeDistribution::Empirical({30});
  left->ends = {10};
  auto job = Job();
  job->estimate.remaining = Exactly(10);
  const auto median = [&](const Scenario& scenario) {
    return absl::ToDoubleSeconds(
        ForecastJobOnSlots(job, left, scenario, kNow)->snapshot.estimate.remaining->median);
  };
  EXPECT_NEAR(median(OnExecutors(1)), 10, 1e-6);
  stage.work.pending = 6;
  left->ends = {20};
  job->estimate.remaining = Exactly(20);
  EXPECT_NEAR(median(OnExecutors(1)), 20, 1e-6);
  EXPECT_NEAR(median(OnExecutors(2)), 30, 1e-6);  // four of them on new slots
}

// In two of ten draws, the running task has 40 s left, and in the other draws 10 s. Nine tasks of
// 10 s wait. The running task may delay the end on any number of slots.
TEST(ForecastJobOnSlots, ALongTaskKeepsTheUpperBoundHigh) {
  durations::RemainingStage stage = {.number = 3};
  stage.work.pending = 9;
  stage.work.running.resize(1);
  stage.times.of_task = {{10, 10, 10, 10, 10, 10, 10, 10, 40, 40}};
  stage.times.alike.fill(durations::TimeDistribution::Empirical({10}));
  const auto left = std::make_shared<const durations::RemainingStages>(durations::RemainingStages{
      .stages = {stage}, .ends = durations::Draws(10, 100), .slots = 1, .slots_per_executor = 1});
  auto job = Job();
  job->stages[0].running_tasks = 1;
  job->estimate.remaining = Range{absl::Seconds(100), absl::Seconds(100), absl::Seconds(130)};
  const auto outcome = ForecastJobOnSlots(job, left, OnExecutors(10), kNow).value();
  const Range& remaining = *outcome.snapshot.estimate.remaining;
  EXPECT_NEAR(absl::ToDoubleSeconds(remaining.median), 10, 1);
  EXPECT_GT(*remaining.upper, absl::Seconds(30));
}

TEST(ForecastJobOnSlots, RejectsAJobWithoutAForecastOrKnownSlots) {
  auto job = Job();
  job->estimate.remaining.reset();
  EXPECT_THAT(ForecastJobOnSlots(job, Tasks(), OnSlots(5), kNow).status().message(),
              HasSubstr("has no forecast yet"));
  job = Job();
  job->silent_since = kNow - absl::Minutes(3);
  EXPECT_EQ(ForecastJobOnSlots(job, Tasks(), OnSlots(5), kNow).status().code(),
            absl::StatusCode::kFailedPrecondition);
  job = Job();
  job->stages[0].running_tasks = 0;
  EXPECT_THAT(ForecastJobOnSlots(job, Tasks(), OnSlots(5), kNow).status().message(),
              HasSubstr("its number of slots is unknown"));
  EXPECT_THAT(ForecastJobOnSlots(Job(), Tasks(), OnExecutors(5), kNow).status().message(),
              HasSubstr("its number of executors is unknown"));
}

TEST(ForecastJobOnSlots, RejectsMoreSlotsThanTheLimit) {
  const auto most =
      ForecastJobOnSlots(Job(), TasksOfExecutor(), OnExecutors(500'000), kNow).value();
  EXPECT_EQ(most.slots, 1'000'000u);
  const absl::Status more =
      ForecastJobOnSlots(Job(), TasksOfExecutor(), OnExecutors(500'001), kNow).status();
  EXPECT_EQ(more.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(
      std::string(more.message()),
      "executors: must be at most 500000, not 500001: the job's executors have 2 slots each, and "
      "the limit is 1000000 slots");
  auto large = TasksOfExecutor();
  large->slots = 3'000'000;
  large->slots_per_executor = 3e6;
  EXPECT_EQ(
      std::string(ForecastJobOnSlots(Job(), large, OnExecutors(1), kNow).status().message()),
      "executors: the job's executors have 3000000 slots each, and the limit is 1000000 slots; "
      "pass slots instead");
  EXPECT_EQ(SlotsHeld(Job(), large, kNow).slots, 3'000'000u) << "reported slots have no limit";
}

// Between the jobs of an application, only its forecast includes future work.
TEST(ForecastJobOnSlots, RejectsAJobWithoutKnownRemainingWork) {
  auto job = Job();
  job->stages[0].state = StageState::kDone;
  auto left = TasksOfExecutor();
  left->stages = {{.number = 3}};
  EXPECT_FALSE(ForecastJobOnSlots(job, left, OnExecutors(2), kNow).ok());
  EXPECT_EQ(SlotsHeld(job, left, kNow).executors, 0u);
}

TEST(ForecastJobOnSlots, TasksThatWaitForAStageDoNotShowTheSlots) {
  durations::RemainingStage last = {.number = 3};
  last.work.running.resize(1);
  last.times.of_task = {{10}};
  durations::RemainingStage next = {.number = 4};
  next.work.pending = 8;
  next.work.parents = {0};
  next.times.alike.fill(durations::TimeDistribution::Empirical({10}));
  auto two = std::make_shared<durations::RemainingStages>(
      durations::RemainingStages{.stages = {last, next}, .ends = {50}});
  EXPECT_FALSE(ForecastJobOnSlots(Job(), two, OnSlots(5), kNow).ok());
  two->stages[1].work.at_once_max = 2;  // as reported by its executors
  EXPECT_TRUE(ForecastJobOnSlots(Job(), two, OnSlots(5), kNow).ok());
}

constexpr facts::LostShare kFifth = {.share = 0.2, .lower = 0.1, .upper = 0.5};

dag::SecondsRange SoonerOf(const Range& remaining, const facts::LostTime& lost) {
  return TimeSavedWithout(Job(remaining), Tasks(), std::span(&lost, 1), kNow).value().at(0);
}

TEST(JobWithout, ShortensTasksByTheLossOfTheirStage) {
  const Range wide = {absl::Seconds(50), absl::Seconds(40), absl::Seconds(60)};
  constexpr facts::LostShare kSure = {.share = 0.2, .lower = 0.2, .upper = 0.2};
  constexpr facts::LostShare kAll = {.share = 1, .lower = 1, .upper = 1.5};
  const struct {
    const char* name;
    Range remaining;
    facts::LostTime lost;
    dag::SecondsRange sooner;
    double tolerance = 1e-6;
  } rows[] = {
      {"five waves of 8, 9 or 5 s", Exactly(50), {{{3, kFifth}}, kFifth}, {10, 5, 25}},
      {"a fifth of 40 to 60 s, or of the bounds", wide, {{{3, kSure}}, kSure}, {10, 8, 12}, 0.5},
      {"an unstarted stage is limited to the share of the others",
       Exactly(50),
       {{{1, kFifth}}, kFifth},
       {0, 0, 25}},
      {"no loss of the stage", Exactly(50), {{{3, {}}}, kFifth}, {0, 0, 0}},
      {"the loss is limited to the whole time", Exactly(50), {{{3, kAll}}, kAll}, {50, 50, 50}}};
  for (const auto& row : rows) {
    const dag::SecondsRange sooner = SoonerOf(row.remaining, row.lost);
    EXPECT_NEAR(sooner.median, row.sooner.median, row.tolerance) << row.name;
    EXPECT_NEAR(sooner.lower, row.sooner.lower, row.tolerance) << row.name;
    EXPECT_NEAR(sooner.upper, row.sooner.upper, row.tolerance) << row.name;
  }
}

TEST(JobWithout, TreatsSeveralQueriesIndividually) {
  const std::vector<facts::LostTime> lost = {{.by_stage = {{3, kFifth}}, .of_all = kFifth},
                                             {.by_stage = {{3, {}}}, .of_all = {}}};
  const auto sooner = TimeSavedWithout(Job(Exactly(50)), Tasks(), lost, kNow).value();
  ASSERT_EQ(sooner.size(), 2U);
  EXPECT_EQ(sooner.at(0).median, SoonerOf(Exactly(50), lost[0]).median);
  EXPECT_EQ(sooner.at(0).upper, SoonerOf(Exactly(50), lost[0]).upper);
  EXPECT_EQ(sooner.at(1).median, 0);
}

TEST(JobWithout, FailsWithoutAForecast) {
  const std::vector<facts::LostTime> lost = {{.by_stage = {{3, kFifth}}, .of_all = kFifth}};
  auto job = Job(Exactly(50));
  job->estimate.remaining.reset();
  EXPECT_TRUE(absl::IsFailedPrecondition(TimeSavedWithout(job, Tasks(), lost, kNow).status()));
  job = Job(Exactly(50));
  EXPECT_TRUE(absl::IsFailedPrecondition(TimeSavedWithout(job, nullptr, lost, kNow).status()))
      << "only its task count is known";
}

}  // namespace
}  // namespace tidemark::dag::job_scenarios_test
