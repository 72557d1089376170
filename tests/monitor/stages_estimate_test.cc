// Tests the estimates of JobMonitor for jobs with stages of any kind.
#include "master/monitor/stages_estimate.h"

#include "tests/monitor/monitored_job.h"
#include "tests/test.h"

namespace tidemark::stages_estimate_test {
namespace {

StageOpened Stage(std::uint32_t number, std::uint32_t tasks,
                  std::vector<std::uint32_t> parents = {}) {
  return {.stage = number,
          .signature = "s" + std::to_string(number),
          .parents = std::move(parents),
          .task_count = tasks};
}

AttemptId Task(std::uint32_t stage, std::uint32_t index, std::uint32_t stage_attempt = 0) {
  return {.stage = stage, .index = index, .stage_attempt = stage_attempt};
}

// A job on two slots. Stage 0 scans (4 tasks of 10 s), and stage 1 joins (2 tasks of 5 s), which
// takes 25 s.
struct Query : test::MonitoredJob {
  explicit Query(std::vector<StageOpened> stages = {Stage(0, 4), Stage(1, 2, {0})}) {
    Say(0, JobOpened{.name = "query", .submitted_at = At(0), .stages = std::move(stages)});
    Say(0, ExecutorOpened{.executor = 0, .host = "h", .slots = 2});
  }
  template <typename... Bodies>
  Query& Say(double seconds, Bodies... bodies) {
    MonitoredJob::Say(seconds, std::move(bodies)...);
    return *this;
  }
  Query& Start(double seconds, AttemptId task) {
    AttemptChanged started = Started(task);
    started.executor = 0;
    return Say(seconds, started);
  }
  void RunUntil(double seconds) {
    const auto both = [&](std::uint32_t stage, std::uint32_t first, double from, double to) {
      for (const std::uint32_t index : {first, first + 1}) {
        if (from <= seconds) Start(from, Task(stage, index));
      }
      for (const std::uint32_t index : {first, first + 1}) {
        if (to <= seconds) Say(to, Finished(Task(stage, index)));
      }
    };
    both(0, 0, 0, 10);
    both(0, 2, 10, 20);
    both(1, 0, 20, 25);
  }
};

PastRun OnePastRun() {
  Query query;
  query.RunUntil(25);
  query.Say(25, test::Closed());
  const auto run = PastRunOf(query.Tick(25), query.monitor.Summary());
  EXPECT_TRUE(run.has_value());
  return run.value_or(PastRun{});
}

// Expects estimates that are finite, ordered and not negative.
void ExpectSane(const Snapshot& snapshot) {
  const Estimate& said = snapshot.estimate;
  ASSERT_TRUE(Left(said).has_value());
  EXPECT_GE(*Left(said), absl::ZeroDuration());
  EXPECT_LE(*Lower(said), *Left(said));
  EXPECT_GE(*Upper(said), *Left(said));
  EXPECT_LT(*Upper(said), absl::InfiniteDuration());
}

TEST(JobOfStages, IsEstimatedLive) {
  Query query;
  query.RunUntil(15);
  const Snapshot snapshot = query.Tick(15);
  ExpectSane(snapshot);
  // The remaining time includes the running tasks, whose predecessors took 10 s on fresh slots. Two
  // parallel tasks of unknown length follow. In the past run, they took 5 s.
  EXPECT_GT(*Left(snapshot.estimate), absl::Seconds(2));
  EXPECT_LT(*Left(snapshot.estimate), absl::Seconds(30));
}

TEST(JobOfStages, IsAGuessOrForecastByPastRunsUntilATaskHasEnded) {
  for (const bool has_run : {false, true}) {
    Query query;
    if (has_run) query.monitor.SetPastRuns({OnePastRun()});
    query.RunUntil(5);
    EXPECT_EQ(query.Tick(5).estimate.basis, has_run ? Basis::kEarlierRuns : Basis::kGuess);
    query.RunUntil(15);
    EXPECT_EQ(query.Tick(15).estimate.basis, Basis::kThisRun);
  }
}

TEST(JobOfStages, IsNoGuessAgainWhenAStageWithoutResultsBegins) {
  Query query;
  query.RunUntil(20);
  for (const double at : {20.0, 21.0, 24.0}) {
    EXPECT_EQ(query.Tick(at).estimate.basis, Basis::kThisRun) << at;
  }
}

TEST(JobOfStages, TheSecondRunIsForecastByTheFirst) {
  Query query{std::vector<StageOpened>{}};
  query.monitor.SetPastRuns({OnePastRun()});
  const Snapshot snapshot = query.Tick(0);
  ExpectSane(snapshot);
  EXPECT_NEAR(SecondsLeft(snapshot.estimate), 25, 3);
  ASSERT_THAT(query.monitor.stage_forecasts(), SizeIs(2));
  EXPECT_EQ(query.monitor.stage_forecasts()[0].stage, std::nullopt) << "it is only expected";
  EXPECT_EQ(query.monitor.stage_forecasts()[0].name, "s0");
  EXPECT_EQ(query.monitor.stage_forecasts()[1].name, "s1");
}

TEST(JobOfStages, NamesNoMethodAfterItsLastStage) {
  Query query;
  query.RunUntil(15);
  EXPECT_EQ(query.Tick(15).estimate.method, EstimateMethod::kTaskTimes);
  query.RunUntil(25);
  const Estimate estimate = query.Tick(26).estimate;
  EXPECT_TRUE(Left(estimate));
  EXPECT_EQ(estimate.method, EstimateMethod::kUnknown);
}

// Ends the last stage of the job at 25 s, and reports about the job at 60 s.
void OutlastItsStages(Query& query) {
  query.RunUntil(25);
  query.Tick(26);
  query.Say(60, ExecutorOpened{.executor = 1, .host = "h", .slots = 2});
}

TEST(JobOfStages, AnIdleApplicationIsNotOverdue) {
  Query query;
  OutlastItsStages(query);
  const Snapshot idle = query.Tick(60);
  EXPECT_EQ(idle.idle_since, At(25));
  EXPECT_EQ(idle.estimate.state, EstimateState::kWarmingUp);
  EXPECT_FALSE(Left(idle.estimate));
}

TEST(JobOfStages, RisesAfterItsLastStageSinceItHasNotEnded) {
  Query query;
  query.Say(0, GroupOpened{.group = "sql/0", .opened_at = At(0)});  // It is not idle.
  OutlastItsStages(query);
  const Snapshot late = query.Tick(60);
  ASSERT_TRUE(late.estimate_raised);
  EXPECT_EQ(late.estimate_raised->cause, RaiseCause::kNotEnded);
}

TEST(JobOfStages, DoesNotCountASkippedStageAsAppeared) {
  Query query;
  query.RunUntil(15);
  query.Tick(15);
  StageOpened skipped = Stage(3, 40, {1});
  skipped.skipped = true;
  query.Say(15, Stage(2, 40, {1}), skipped);
  const Snapshot raised = query.Tick(16);
  ASSERT_TRUE(raised.estimate_raised);
  EXPECT_EQ(raised.estimate_raised->cause, RaiseCause::kMoreStages);
  EXPECT_EQ(raised.estimate_raised->stages, 1u);
}

// More groups may come to the job, but no more stages to the group.
TEST(JobOfStages, AGroupHasANarrowerIntervalThanAJobThatMayGrow) {
  Query query{std::vector<StageOpened>{}};
  query.Say(0, GroupOpened{.group = "sql/0", .opened_at = At(0)});
  StageOpened scan = Stage(0, 4);
  scan.group = "sql/0";
  query.Say(0, scan);
  query.RunUntil(15);
  const Snapshot snapshot = query.Tick(15);
  ASSERT_THAT(snapshot.groups, SizeIs(1));
  ASSERT_TRUE(snapshot.groups[0].ends_in && snapshot.groups[0].ends_in->lower);
  EXPECT_LE(*snapshot.groups[0].ends_in->lower, snapshot.groups[0].ends_in->median);
  EXPECT_LT(snapshot.groups[0].ends_in->upper, Upper(snapshot.estimate));
}

// If key groups are reported, the first job of a Spark application has the stages of MapReduce.
TEST(JobOfStages, MoreStagesMayFollowAGroup) {
  Query query{std::vector<StageOpened>{}};
  for (StageOpened& stage : MapReduceStages(2, 1)) {
    stage.group = "job/0";
    query.Say(0, stage);
  }
  for (const std::uint32_t index : {0u, 1u}) query.Start(0, Task(kMapStage, index));
  for (const std::uint32_t index : {0u, 1u}) query.Say(10, Finished(Task(kMapStage, index)));
  query.Start(10, Task(kReduceStage, 0)).Say(20, Finished(Task(kReduceStage, 0)));
  const Snapshot snapshot = query.Tick(21);
  ExpectSane(snapshot);
  EXPECT_GT(*Upper(snapshot.estimate), absl::Seconds(40)) << "another job may come";
  query.Say(22, test::Closed());
  const auto run = PastRunOf(query.Tick(22), query.monitor.Summary());
  ASSERT_TRUE(run.has_value());
  EXPECT_THAT(run->stages, SizeIs(2)) << "the next run knows them";
}

// The reduce task has two key groups of 10 and 30 s, of which the first has ended. An unknown stage
// follows.
TEST(JobOfStages, ItsReduceStageIsForecastByKeyGroups) {
  Query query{std::vector<StageOpened>{}};
  for (StageOpened& stage : MapReduceStages(1, 1)) {
    stage.group = "job/0";
    query.Say(0, stage);
  }
  StageOpened next = Stage(2, 2, {kReduceStage});
  next.group = "job/0";
  query.Say(0, next).Start(0, Task(kMapStage, 0));
  const ExplicitKey small = test::Key(1, 1'000'000);
  const ExplicitKey large = test::Key(2, 3'000'000);
  query.Say(9, test::Emitted(Task(kMapStage, 0), {test::Partition(0, 4'000'000, {small, large})}));
  query.Say(10, Finished(Task(kMapStage, 0))).Start(10, Task(kReduceStage, 0));
  query.Say(10, test::Shuffled(Task(kReduceStage, 0)));
  query.Say(20, test::ReducedNamed(Task(kReduceStage, 0), At(20), {small}, 10));
  const Snapshot snapshot = query.Tick(20);
  ExpectSane(snapshot);
  const auto reduce = std::ranges::find(snapshot.stages, StageId{0, kReduceStage},
                                        [](const StageProgress& stage) { return stage.id; });
  ASSERT_NE(reduce, snapshot.stages.end());
  EXPECT_GT(reduce->fraction_done, 0.1) << "its own end, not that of what follows";
  ASSERT_FALSE(snapshot.named_tasks.empty());
  EXPECT_EQ(snapshot.named_tasks[0].attempt.stage, kReduceStage);
}

TEST(JobOfStages, APlannedStageBelongsToItsGroup) {
  Query query{std::vector<StageOpened>{}};
  query.Say(0, GroupOpened{.group = "sql/0", .opened_at = At(0), .planned_task_counts = {0, 1}});
  StageOpened scan = Stage(0, 4);
  scan.group = "sql/0";
  query.Say(0, scan);
  query.RunUntil(15);
  const Snapshot snapshot = query.Tick(15);
  ASSERT_THAT(snapshot.stage_infos, SizeIs(2));
  EXPECT_EQ(snapshot.stage_infos[1].group, "sql/0");
  EXPECT_EQ(snapshot.stages[1].state, StageState::kExpected);
  ASSERT_THAT(snapshot.groups, SizeIs(1));
  ASSERT_TRUE(snapshot.groups[0].ends_in.has_value());
  EXPECT_EQ(snapshot.groups[0].ends_in->median, *Left(snapshot.estimate)) << "all of it is left";
}

TEST(JobOfStages, WhileTheFirstTasksRunTheSlotsOfThePastRunCount) {
  Query query;
  query.monitor.SetPastRuns({OnePastRun()});
  query.Say(1, ExecutorClosed{.executor = 0});
  query.Say(1, ExecutorOpened{.executor = 1, .host = "h", .slots = 1});
  EXPECT_GT(*Left(query.Tick(1).estimate), absl::Seconds(40)) << "one slot is all there is";
  AttemptChanged started = Started(Task(0, 0));
  started.executor = 1;
  query.Say(2, started);
  EXPECT_NEAR(SecondsLeft(query.Tick(2).estimate), 25, 4)
      << "the other executor is about to register";
}

TEST(JobOfStages, ItsSummaryHasTheTimesOfItsTasks) {
  const PastRun run = OnePastRun();
  EXPECT_DOUBLE_EQ(run.slots, 2);
  ASSERT_THAT(run.stages, SizeIs(2));
  EXPECT_EQ(run.stages[0].name, "s0");
  EXPECT_THAT(run.stages[0].seconds[0], ElementsAre(10, 10)) << "the first on their slots";
  EXPECT_THAT(run.stages[1].parents, ElementsAre(0));
}

TEST(JobOfStages, ACycleOfStagesIsNotedAndEstimated) {
  Query query({Stage(0, 1, {1}), Stage(1, 1, {0})});
  const Snapshot snapshot = query.Tick(1);
  ExpectSane(snapshot);
  EXPECT_THAT(snapshot.notes, ElementsAre(HasSubstr("stages 0, 1, 0 wait for each other")));
  std::vector<StageOpened> stages;
  for (std::uint32_t i = 0; i < 100; ++i) stages.push_back(Stage(i, 1, {(i + 1) % 100}));
  EXPECT_THAT(Query(stages).Tick(1).notes, ElementsAre(HasSubstr(" and 93 others wait")));
}

TEST(JobOfStages, AStageThatAppearsAfterItsChildrenIsEstimated) {
  Query query({Stage(9, 2, {3})});
  ExpectSane(query.Tick(1));
  query.Say(2, Stage(3, 5)).Start(2, Task(3, 0)).Say(8, Finished(Task(3, 0)));
  ExpectSane(query.Tick(9));
  EXPECT_GT(query.monitor.stage_forecasts()[1].starts_in, absl::ZeroDuration());
}

TEST(JobOfStages, AResubmittedStageWithFewerTasksIsEstimated) {
  Query query({Stage(2, 10)});
  query.Start(0, Task(2, 8)).Say(4, Finished(Task(2, 8)));
  StageOpened again = Stage(2, 3);
  again.attempt = 1;
  query.Say(6, again);
  ExpectSane(query.Tick(6));
  // Three tasks of about 4 s remain on two slots.
  EXPECT_LT(*Left(query.Tick(6).estimate), absl::Seconds(15));
}

// Returns a stage of 40 tasks on 4 slots. 8 small tasks have ended in 10 s, and 4 tasks have begun.
// The remaining tasks have ten times the data, so they take 700 s if times grow with the data.
Snapshot WithLargeOnesLeft(bool by_bytes, std::uint32_t tasks = 40) {
  StageOpened sized = Stage(0, tasks);
  sized.slots = 4;
  std::vector<std::uint64_t>& sizes = by_bytes ? sized.task_bytes : sized.task_records;
  for (std::uint32_t i = 0; i < tasks; ++i) {
    sizes.push_back(i < 12 ? 10'000'000 + 100'000 * (i % 4) : 100'000'000);
  }
  test::MonitoredJob job;
  job.Say(0, JobOpened{.name = "query", .submitted_at = At(0), .stages = {sized}});
  for (std::uint32_t i = 0; i < 12; ++i) job.Say(10 * (i / 4), Started(Task(0, i)));
  for (std::uint32_t i = 0; i < 8; ++i) job.Say(10 + 10 * (i / 4), Finished(Task(0, i)));
  return job.Tick(20);
}

TEST(JobOfStages, TasksOfNewSizesAreForecastByTheirSizes) {
  for (const bool by_bytes : {true, false}) {
    const Snapshot snapshot = WithLargeOnesLeft(by_bytes);
    ExpectSane(snapshot);
    EXPECT_GT(*Left(snapshot.estimate), absl::Seconds(400)) << by_bytes;
    EXPECT_LT(*Left(snapshot.estimate), absl::Seconds(1100)) << by_bytes;
    EXPECT_LT(*Lower(snapshot.estimate), absl::Seconds(700)) << by_bytes;
    EXPECT_GT(*Upper(snapshot.estimate), absl::Seconds(700)) << by_bytes;
  }
}

// 12,000 more tasks of 100 s on 4 slots are too many for individual forecasts.
TEST(JobOfStages, ManyTasksOfNewSizesAreForecastByTheirSizes) {
  const Snapshot snapshot = WithLargeOnesLeft(true, 12'012);
  ExpectSane(snapshot);
  EXPECT_GT(*Left(snapshot.estimate), absl::Seconds(120'000));
  EXPECT_GT(*Upper(snapshot.estimate), absl::Seconds(300'000));
}

// The sizes are too small or too large by a factor of a thousand.
TEST(JobOfStages, ImplausibleSizesGiveAFiniteEstimate) {
  for (const std::uint64_t said : {std::uint64_t{1'000}, std::uint64_t{1'000'000'000}}) {
    StageOpened sized = Stage(0, 6);
    sized.task_bytes.assign(6, 1'000'000);
    sized.task_bytes[5] = said;
    Query query({sized});
    query.RunUntil(12);
    query.Say(12, test::Read(Task(0, 2), 1'000'000'000));
    ExpectSane(query.Tick(12));
  }
}

TEST(JobOfStages, ATaskThatReportsEveryTenSecondsIsNotSilent) {
  Query never;
  never.Start(0, Task(0, 0));
  EXPECT_EQ(never.Tick(11).coverage->silent_tasks, 1u);
  Query query;
  query.Start(0, Task(0, 0));
  for (double at = 10; at <= 60; at += 10) {
    query.Say(at, TaskHeartbeat{.attempt = Task(0, 0)});
    EXPECT_EQ(query.Tick(at + 9.5).coverage->silent_tasks, 0u);
  }
  EXPECT_EQ(query.Tick(90).coverage->silent_tasks, 0u);
  EXPECT_EQ(query.Tick(91).coverage->silent_tasks, 1u) << "three reports are missing";
}

TEST(JobOfStages, TooManyStagesAreNoted) {
  Query query{std::vector<StageOpened>{}};
  for (std::uint32_t i = 0; i < 60'000; ++i) {
    query.Say(1, i < 100 ? Stage(i, 1) : Stage(i, 1, {i - 100, i - 50}));
  }
  const Snapshot snapshot = query.Tick(2);
  EXPECT_EQ(Left(snapshot.estimate), std::nullopt);
  EXPECT_THAT(
      snapshot.notes,
      ElementsAre(HasSubstr("the job has 60000 stages; a forecast supports at most 50000")));
}

TEST(JobOfStages, EndedStagesDoNotCountTowardsTheLimit) {
  Query query{std::vector<StageOpened>{}};
  for (std::uint32_t i = 0; i < 20'000; ++i) {
    query.Say(1, Stage(i, 1));
    if (i < 100) continue;
    query.Start(1, Task(i, 0)).Say(2, Finished(Task(i, 0)));
  }
  ExpectSane(query.Tick(3));
}

TEST(JobOfStages, TooManyOpenStagesAreNoted) {
  Query query{std::vector<StageOpened>{}};
  for (std::uint32_t i = 0; i < 10'001; ++i) query.Say(1, Stage(i, 1));
  EXPECT_THAT(query.Tick(2).notes, ElementsAre(HasSubstr("10001 stages with remaining tasks")));
  Query one({Stage(7, 600'000)});
  one.Start(1, Task(7, 599'999));
  EXPECT_THAT(one.Tick(2).notes, IsEmpty()) << "only reported tasks count";
}

// There are 300 stages, each with 4,000 parents that are never opened.
TEST(JobOfStages, TooManyDependenciesAreNoted) {
  Query query{std::vector<StageOpened>{}};
  std::vector<std::uint32_t> parents(4'000);
  for (std::uint32_t i = 0; i < 4'000; ++i) parents[i] = 1'000 + i;
  for (std::uint32_t i = 0; i < 300; ++i) query.Say(1, Stage(i, 1, parents));
  const Snapshot snapshot = query.Tick(2);
  EXPECT_EQ(Left(snapshot.estimate), std::nullopt);
  EXPECT_THAT(snapshot.notes, ElementsAre(HasSubstr("1200000 dependencies")));
  std::size_t edges = 0;
  for (const StageInfo& info : snapshot.stage_infos) edges += info.parents.size();
  EXPECT_EQ(edges, 1'000'000u) << "of the first 250 stages";
}

TEST(JobOfStages, ATickVisitsTheTasksOfEndedStagesOnce) {
  std::vector<std::size_t> steps;
  for (const std::uint32_t tasks : {1u, 100u}) {
    Query query{std::vector<StageOpened>{}};
    for (std::uint32_t number = 0; number < 50; ++number) {
      query.Say(1 + number, Stage(number, tasks));
      for (std::uint32_t index = 0; index < tasks; ++index) {
        query.Start(1 + number, Task(number, index)).Say(2 + number, Finished(Task(number, index)));
      }
      query.Say(2 + number, StageClosed{.stage = number});
    }
    query.Say(60, Stage(50, 1));
    query.Tick(60);
    query.Tick(61);
    steps.push_back(query.monitor.tick_steps());
  }
  EXPECT_EQ(steps[0], steps[1]);
}

TEST(JobOfStages, ExpectedStagesCountTowardsTheirLimit) {
  PastRun large;
  for (int i = 0; i < 10'001; ++i) {
    large.stages.push_back({.name = "s", .tasks = 1, .seconds = {{{1}, {}, {}, {}}}});
  }
  Query query{std::vector<StageOpened>{}};
  query.monitor.SetPastRuns({large});
  const Snapshot snapshot = query.Tick(1);
  EXPECT_EQ(Left(snapshot.estimate), std::nullopt);
  EXPECT_THAT(snapshot.notes, ElementsAre(HasSubstr("10001 stages with remaining tasks")));
}

TEST(JobOfStages, PastRunsCountAsMemory) {
  Query query;
  const std::size_t before = query.monitor.state_bytes();
  query.monitor.SetPastRuns({OnePastRun()});
  EXPECT_GT(query.monitor.state_bytes(), before);
  query.monitor.SetPastRuns({});
  EXPECT_EQ(query.monitor.state_bytes(), before);
  PastRun run;
  run.groups.resize(100);
  run.timed_groups[1].resize(50);
  query.monitor.SetPastRuns({run});
  EXPECT_GE(query.monitor.state_bytes() - before,
            100 * sizeof(GroupBin) + 50 * sizeof(TimedGroups));
}

TEST(JobOfStages, WithoutATaskCountNoEndIsPredictedAndANoteGivesTheReason) {
  StageOpened unknown = Stage(3, 0);
  unknown.task_count.reset();
  Query query({Stage(0, 4), unknown});
  query.RunUntil(15);
  const Snapshot snapshot = query.Tick(15);
  EXPECT_EQ(Left(snapshot.estimate), std::nullopt);
  EXPECT_THAT(snapshot.notes, ElementsAre(HasSubstr("the number of tasks in stage 3")));
}

TEST(JobOfStages, APastRunHasTheTaskCountOfAStage) {
  StageOpened unknown = Stage(1, 0, {0});
  unknown.task_count.reset();
  Query query({Stage(0, 4), unknown});
  query.monitor.SetPastRuns({OnePastRun()});
  query.RunUntil(15);
  EXPECT_NEAR(SecondsLeft(query.Tick(15).estimate), 10, 3);
}

// Slots are not reported. The past run had 40 slots.
TEST(JobOfStages, SlotsOfAPastRunAreKeptWhenTheFirstTaskStarts) {
  const PastRun before = {
      .slots = 40, .stages = {{.name = "s0", .tasks = 400, .seconds = {{{}, {}, {10}, {}}}}}};
  test::MonitoredJob job;
  job.monitor.SetPastRuns({before});
  job.Say(0, JobOpened{.stages = {Stage(0, 400)}});
  const auto left = [&](double at) { return SecondsLeft(job.Tick(at).estimate); };
  EXPECT_NEAR(left(0), 100, 20);
  job.Say(1, Started(Task(0, 0)));
  EXPECT_NEAR(left(1), 100, 20);
}

// --- waiting for executors, and work after the last byte

struct Application : test::MonitoredJob {
  // If `slots` is 0, no executor has registered.
  Application(std::uint32_t tasks, std::uint32_t slots) {
    Say(0, JobOpened{.name = "query", .submitted_at = At(0), .stages = {Stage(0, tasks)}});
    if (slots > 0) Say(0, ExecutorOpened{.executor = 0, .host = "h", .slots = slots});
  }
  MonitoredJob& Start(double seconds, std::uint32_t index) {
    AttemptChanged started = Started(Task(0, index), 100);
    started.executor = 0;
    return Say(seconds, started);
  }
  void Read(double seconds, std::uint32_t index, double bytes) {
    Say(seconds, test::Read(Task(0, index), static_cast<std::uint64_t>(bytes)));
  }
};

TEST(JobOfStages, WithoutAnExecutorNoEndIsPredictedAndANoteGivesTheReason) {
  Application job(4, 0);
  for (const double seconds : {1.0, 9.0, 35.0}) {
    const Snapshot snapshot = job.Tick(seconds);
    EXPECT_FALSE(Left(snapshot.estimate)) << seconds;
    EXPECT_EQ(snapshot.estimate.fraction_done, 0) << seconds;
    EXPECT_THAT(
        snapshot.notes,
        ElementsAre("cannot predict the end: 4 tasks wait for executors, and none has registered"));
  }
  job.Say(40, ExecutorOpened{.executor = 0, .host = "h", .slots = 4});
  for (std::uint32_t i = 0; i < 4; ++i) job.Start(40, i);
  EXPECT_THAT(job.Tick(41).notes, IsEmpty());
}

TEST(JobOfStages, WithoutItsExecutorsNoEndIsPredictedAndANoteGivesTheReason) {
  Application job(4, 2);
  for (std::uint32_t i = 0; i < 2; ++i) job.Start(1, i);
  for (std::uint32_t i = 0; i < 2; ++i) job.Say(11, Finished(Task(0, i)));
  for (std::uint32_t i = 2; i < 4; ++i) job.Start(11, i);
  EXPECT_TRUE(Left(job.Tick(12).estimate));
  job.Say(15, ExecutorClosed{0});
  const Snapshot snapshot = job.Tick(16);
  EXPECT_FALSE(Left(snapshot.estimate));
  EXPECT_THAT(
      snapshot.notes,
      ElementsAre(
          "cannot predict the end: 2 tasks wait for executors, and the only executor has exited"));
}

TEST(JobOfStages, TheForecastGrowsWhileNoTaskRuns) {
  Application job(4, 2);
  job.Start(0, 0).Say(10, Finished(Task(0, 0)));
  const absl::Duration soon = *Upper(job.Tick(11).estimate);
  EXPECT_GT(*Upper(job.Tick(60).estimate), soon + absl::Minutes(5));
}

// Four tasks read all of their input in 10 s and continue for 80 s.
TEST(JobOfStages, TasksThatContinueAfterTheirLastByteOpenTheInterval) {
  Application job(4, 4);
  for (std::uint32_t i = 0; i < 4; ++i) job.Start(0, i);
  int looks = 0;
  int held = 0;
  for (double at = 1; at < 90; ++at) {
    for (std::uint32_t i = 0; i < 4; ++i) job.Read(at, i, 10 * std::min(at, 10.0));
    const Estimate estimate = job.Tick(at).estimate;
    if (at >= 14) {
      EXPECT_EQ(estimate.state, EstimateState::kOverdue) << at;
      EXPECT_GT(*Upper(estimate), absl::Seconds(10)) << at;
    }
    ++looks;
    held +=
        *Lower(estimate) <= absl::Seconds(90 - at) && absl::Seconds(90 - at) <= *Upper(estimate);
  }
  EXPECT_GE(held, 0.87 * looks);
}

// The first wave shows how long tasks work after they have read their input.
TEST(JobOfStages, TheSecondWaveIsForecastByTheWorkAfterReadingOfTheFirst) {
  Application job(8, 4);
  for (const double start : {0.0, 90.0}) {
    const std::uint32_t first = start > 0 ? 4 : 0;
    for (std::uint32_t i = first; i < first + 4; ++i) job.Start(start, i);
    for (double read = 1; read <= (start > 0 ? 40 : 89); ++read) {
      for (std::uint32_t i = first; i < first + 4; ++i) {
        job.Read(start + read, i, 10 * std::min(read, 10.0));
      }
      job.Tick(start + read);
    }
    if (start > 0) break;
    for (std::uint32_t i = first; i < first + 4; ++i) job.Say(90, Finished(Task(0, i)));
  }
  const Estimate estimate = job.Tick(130).estimate;
  EXPECT_EQ(estimate.state, EstimateState::kValid);
  EXPECT_NEAR(SecondsLeft(estimate), 50, 15);
}

TEST(JobOfStages, PublishesTheStartsAndEndsOfStages) {
  Query query;
  query.monitor.SetPastRuns({OnePastRun()});
  query.RunUntil(15);
  const Snapshot job = query.Tick(15);
  ASSERT_THAT(query.monitor.stage_forecasts(), SizeIs(2));
  const StageForecast& scan = query.monitor.stage_forecasts()[0];
  const StageForecast& join = query.monitor.stage_forecasts()[1];
  EXPECT_EQ(scan.stage, 0u);
  EXPECT_EQ(scan.starts_in, absl::ZeroDuration());
  EXPECT_NEAR(absl::ToDoubleSeconds(scan.ends_in), 5, 2);
  EXPECT_NEAR(absl::ToDoubleSeconds(join.ends_in), 10, 3);
  EXPECT_GT(join.starts_in, absl::ZeroDuration());
  EXPECT_TRUE(join.is_critical);
  ASSERT_THAT(job.stages, SizeIs(2));
  EXPECT_EQ(job.stages[0].starts_in, std::nullopt) << "it has begun";
  ASSERT_TRUE(job.stages[0].ends_in && job.stages[1].starts_in && job.stages[1].ends_in);
  EXPECT_EQ(job.stages[1].starts_in->median, join.starts_in);
  EXPECT_EQ(job.stages[1].ends_in->median, join.ends_in);
  EXPECT_TRUE(job.stages[1].is_critical);
  for (const auto& range :
       {job.stages[0].ends_in, job.stages[1].starts_in, job.stages[1].ends_in}) {
    ASSERT_TRUE(range->lower && range->upper);
    EXPECT_LE(*range->lower, range->median);
    EXPECT_LT(range->median, *range->upper);
  }
  ASSERT_TRUE(job.stages[0].task_time && job.stages[1].task_time);
  EXPECT_NEAR(absl::ToDoubleSeconds(*job.stages[0].task_time), 10, 2) << "with what it has run";
  EXPECT_NEAR(absl::ToDoubleSeconds(*job.stages[1].task_time), 5, 2);
  EXPECT_EQ(job.estimate.known_share, 1);
  query.RunUntil(25);
  query.Say(25, test::Closed());
  query.Tick(25);
  EXPECT_EQ(query.monitor.job().stages[1].ends_in, std::nullopt);
}

TEST(JobOfStages, TheLastStageHasTheBoundsOfTheJob) {
  Query query;
  query.RunUntil(15);
  const Snapshot job = query.Tick(15);
  ASSERT_TRUE(job.stages[1].ends_in && Upper(job.estimate));
  EXPECT_NEAR(absl::FDivDuration(*job.stages[1].ends_in->upper, *Upper(job.estimate)), 1, 0.1);
}

TEST(JobOfStages, StagesOfAPastRunAreExpectedUntilTheyExist) {
  Query query{{Stage(0, 4)}};
  PastRun run = OnePastRun();
  run.stages[1].title = "join at a.py:7";
  query.monitor.SetPastRuns({run});
  query.RunUntil(15);
  Snapshot job = query.Tick(15);
  ASSERT_THAT(job.stages, SizeIs(2));
  ASSERT_THAT(job.stage_infos, SizeIs(2));
  const StageProgress& join = job.stages[1];
  EXPECT_EQ(join.id.stage, kExpectedStages + 1) << "its place in that run";
  EXPECT_EQ(job.stage_infos[1].id, join.id);
  EXPECT_EQ(job.stage_infos[1].name, "join at a.py:7");
  EXPECT_THAT(job.stage_infos[1].parents, ElementsAre(0));
  EXPECT_EQ(join.state, StageState::kExpected);
  EXPECT_EQ(join.tasks, 2u);
  EXPECT_TRUE(join.starts_in && join.ends_in && join.task_time);
  EXPECT_EQ(job.counts.stages, 1u);
  query.Say(15, Stage(1, 2, {0}));
  job = query.Tick(16);
  ASSERT_THAT(job.stages, SizeIs(2));
  EXPECT_EQ(job.stages[1].id.stage, 1u);
  EXPECT_EQ(job.stages[1].state, StageState::kPending);
}

TEST(JobOfStages, NamesALateTask) {
  Query query{{Stage(0, 100), Stage(1, 2, {0})}};
  query.Start(0, Task(0, 0));
  for (std::uint32_t i = 1; i <= 4; ++i) {
    query.Start(10 * (i - 1), Task(0, i)).Say(10 * i, Finished(Task(0, i)));
  }
  const Snapshot job = query.Tick(42);
  ASSERT_THAT(job.named_tasks, SizeIs(1));
  EXPECT_EQ(job.named_tasks[0].attempt, Task(0, 0));
  EXPECT_EQ(job.named_tasks[0].host, "h");
  EXPECT_EQ(job.named_tasks[0].reason,
            "Task 0 of stage 0 has run 4.2 times as long as the median of the finished tasks");
}

TEST(JobOfStages, NamesTheLastTaskOnceAllTasksOfItsStageHaveBegun) {
  Query query;
  query.RunUntil(15);
  const Snapshot job = query.Tick(15);
  ASSERT_THAT(job.named_tasks, SizeIs(1));
  EXPECT_EQ(job.named_tasks[0].attempt.stage, 0u);
  EXPECT_THAT(job.named_tasks[0].reason,
              HasSubstr("is predicted to be the last of stage 0 to end"));
  EXPECT_TRUE(job.named_tasks[0].remaining.has_value());
}

TEST(JobOfStages, NamesAtMostTwentyTasksTheLastToEndFirst) {
  Query query{{Stage(0, 40)}};
  // The executors of these tasks are not reported. An executor with two slots cannot run 40 tasks.
  for (std::uint32_t i = 0; i < 40; ++i) query.Say(0.1 * i, Started(Task(0, i)));
  for (std::uint32_t i = 0; i < 5; ++i) query.Say(5, Finished(Task(0, i)));
  const Snapshot job = query.Tick(40);
  ASSERT_THAT(job.named_tasks, SizeIs(20));
  for (std::size_t i = 1; i < job.named_tasks.size(); ++i) {
    EXPECT_GE(job.named_tasks[i - 1].remaining->median, job.named_tasks[i].remaining->median);
  }
}

// A forecast that changes little is repeated.
TEST(JobOfStages, AForecastThatHoldsIsRepeated) {
  Query query{{Stage(0, 100), Stage(1, 50, {0})}};
  PastRun run = OnePastRun();
  run.stages[0].tasks = 100;
  run.stages[1].tasks = 50;
  query.monitor.SetPastRuns({run});
  query.RunUntil(15);
  const Snapshot before = query.Tick(15);
  const Snapshot after = query.Tick(16);
  ASSERT_TRUE(before.stages[1].ends_in && after.stages[1].ends_in);
  EXPECT_EQ(after.stages[1].ends_in->median, before.stages[1].ends_in->median - absl::Seconds(1));
  EXPECT_EQ(after.stages[1].task_time, before.stages[1].task_time);
}

TEST(JobOfStages, AWrongForecastIsReplacedAtOnce) {
  Query query{{Stage(0, 100), Stage(1, 50, {0})}};
  query.monitor.SetPastRuns({OnePastRun()});
  query.RunUntil(15);
  const Snapshot before = query.Tick(15);
  query.Say(15, ExecutorOpened{.executor = 1, .host = "h2", .slots = 2});
  EXPECT_LT(query.Tick(16).stages[1].ends_in->median, 0.7 * before.stages[1].ends_in->median);
}

TEST(JobOfStages, ForecastsResumeFromACheckpointToTheLastBit) {
  Query query{{Stage(0, 100), Stage(1, 50, {0})}};
  query.RunUntil(15);
  query.Tick(15);
  Query again{{Stage(0, 100), Stage(1, 50, {0})}};
  again.RunUntil(15);
  ASSERT_TRUE(again.monitor.Resume(query.monitor.Checkpoint()).ok());
  EXPECT_EQ(again.Tick(17), query.Tick(17));
}

TEST(JobOfStages, PublishesTheKnownShareOfTheWork) {
  Query query;
  query.RunUntil(15);
  query.Tick(15);
  EXPECT_GT(query.monitor.job().estimate.known_share, 0);
  EXPECT_LT(query.monitor.job().estimate.known_share, 1);
}

}  // namespace
}  // namespace tidemark::stages_estimate_test
