#include "console/job_table.h"

#include "tests/console/some_jobs.h"
#include "tests/test.h"

namespace tidemark::console::job_table_test {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::StartsWith;

constexpr TableOptions kWide = {.width = 120};

std::vector<std::string> EstimateLines(const Outcome& outcome) {
  return RenderEstimate(outcome, kWide);
}
std::vector<std::string> ScenarioLines(const std::vector<ScenarioRow>& rows) {
  return RenderScenarios(rows, kWide);
}

TEST(JobTable, HasARowForEachJob) {
  Snapshot failed = Failed();
  failed.job_id = "job-20";
  EXPECT_THAT(RenderJobTable({SomeSnapshot(), failed}, {.width = 110}),
              ElementsAre("JOB     STATE    DONE            ELAPSED     STAGE             END",
                          "job-1   running  ~ 41 % (35-50)  1 min 12 s  reduce 1/4 tasks  ~ 3 min "
                          "20 s left (2 min 50 s - 4 min 10 s)",
                          "job-20  failed   ~ 41 %          1 min 12 s                    r-1 "
                          "failed four times: out of memory"));
}

TEST(JobTable, ShortensIdsBeforeColumnsVanish) {
  Snapshot job = SomeSnapshot();
  job.job_id = "application_1700000000000_0042";
  EXPECT_THAT(RenderJobTable({job}, {.width = 110})[1], StartsWith(job.job_id + "  running"));
  const std::string row = RenderJobTable({job}, {.width = 90})[1];
  EXPECT_THAT(row, StartsWith("appli..._0042  running  "));
  EXPECT_THAT(row, HasSubstr("  reduce 1/4 tasks  ~ 3 min 20 s left"));
}

TEST(JobTable, MarksASilentJob) {
  Snapshot silent = SomeSnapshot();
  silent.silent_since = silent.at - absl::Seconds(131);
  EXPECT_THAT(
      RenderJobTable({silent}, kWide)[1],
      AllOf(HasSubstr("  silent  "), HasSubstr("  no reports for 2 min 11 s; ~ 3 min 20 s left")));
  silent.state = JobState::kAbandoned;
  silent.is_final = true;
  EXPECT_THAT(RenderJobTable({silent}, kWide)[1], Not(HasSubstr("no reports")));
}

TEST(JobTable, HasOneLineWithoutRows) {
  EXPECT_THAT(RenderJobTable({}, {.width = 80}), ElementsAre("no jobs"));
}

TEST(JobTable, ShowsTheProgressOfAWorkflowAndOfASmallView) {
  Snapshot basic = Visits();
  basic.children.clear();
  const auto lines = RenderJobTable({basic, Query()}, kWide);
  EXPECT_THAT(lines[1], HasSubstr("  1 of 3 jobs done "));
  EXPECT_THAT(lines[2], HasSubstr("  4 of 14 stages done "));
  Snapshot small = Query();
  small.stages.clear();
  EXPECT_THAT(RenderJobTable({small}, kWide)[1], HasSubstr("  4 of 14 stages done or skipped  "));
}

TEST(JobTable, HasOneNumberForAnUnknownApplication) {
  EXPECT_THAT(
      RenderJobTable({UnknownQuery()}, kWide)[1],
      HasSubstr("  running  ~ 50 % (9-91)  1 min 12 s  4 of 14 stages done, more may come  "));
}

TEST(JobTable, NamesTheRunningQueryOfAnUnknownApplication) {
  const std::string row = RenderJobTable({SecondQuery()}, kWide)[1];
  EXPECT_THAT(row, HasSubstr("  ~ 25 % (20-33)  1 min 12 s  1 query done, more may come  "));
  EXPECT_THAT(row, EndsWith("  sql/1 load: ~ 1 min left (40 s - 1 min 20 s)"));
}

TEST(JobTable, IsWideWhenAsked) {
  Snapshot job = SomeSnapshot();
  job.info->user = "ada";
  job.estimate.method = EstimateMethod::kKeyGroups;
  EXPECT_THAT(
      RenderJobTable({job}, {.width = 200, .is_wide = true}),
      ElementsAre(HasSubstr("STAGE             METHOD      THROUGHPUT  PREDICTED  NAME      KIND  "
                            "     USER  QUEUE  END"),
                  HasSubstr("key groups  -           -          two-path  mapreduce  ada   -      "
                            "~ 3 min 20 s left")));
}

TEST(JobTable, ShowsTheThroughputAndTheFirstForecastOfAnEndedJob) {
  Snapshot job = Succeeded();
  job.throughput = Throughput{.bytes_per_second = 1'200'000, .records_per_second = 45.2};
  job.errors = {{.indicator = "tidemark", .first_forecast = absl::Seconds(250)}};
  EXPECT_THAT(RenderJobTable({job}, {.width = 200, .is_wide = true})[1],
              HasSubstr("  1.2 MB/s, 45 records/s  4 min 10 s  two-path  "));
}

TEST(Throughput, ShowsKnownRatesOnly) {
  EXPECT_EQ(ThroughputText({}), "");
  EXPECT_EQ(ThroughputText(Throughput{.bytes_done = 5}), "");
  EXPECT_EQ(ThroughputText(Throughput{.bytes_per_second = 900}), "900 B/s");
  EXPECT_EQ(ThroughputText(Throughput{.records_per_second = 0.25}), "0.25 records/s");
}

TEST(TaskTable, ShowsTheOutcomeOfEachEndedTask) {
  const absl::Time start = absl::FromUnixSeconds(1'700'000'000);
  JobTasks tasks;
  tasks.tasks = {
      {.attempt = {.stage = 1, .index = 2},
       .state = AttemptState::kFinished,
       .host = "a",
       .started_at = start,
       .ended_at = start + absl::Seconds(20),
       .throughput = Throughput{.bytes_per_second = 2000}},
      {.attempt = {.stage = 0, .index = 1},
       .state = AttemptState::kFailed,
       .started_at = start,
       .ended_at = start + absl::Seconds(4.5),
       .failure = "disk full"},
      {.attempt = {.stage = 0, .index = 1, .attempt = 1},
       .state = AttemptState::kLost,
       .is_speculative = true},
      {.attempt = {.stage = 0, .index = 3}, .state = AttemptState::kLost, .started_at = start}};
  tasks.at = start + absl::Seconds(3);
  tasks.tasks_left_out = 2;
  EXPECT_THAT(
      RenderEndedTasks(Succeeded(), tasks, kWide),
      ElementsAre(
          "TASK                                HOST  TOOK     THROUGHPUT  STATE",
          "reduce task 2                       a     20 s     2.0 kB/s    finished",
          "map task 1                          -     4.5 s    -           failed: disk full",
          "map task 1, attempt 1, speculative  -     -        -           unknown (no end "
          "reported)",
          "map task 3                          -     > 3.0 s  -           unknown (no end "
          "reported)",
          "2 more attempts took less time; -o json lists up to 2,000 attempts"));
  EXPECT_THAT(RenderEndedTasks(Succeeded(), {}, kWide), ElementsAre("no task was reported"));
}

TEST(TaskTable, ShowsTheThroughputIfWide) {
  JobTasks running;
  running.tasks = {
      {.attempt = {.stage = 1, .index = 2}, .throughput = Throughput{.records_per_second = 12}}};
  const auto lines = RenderTaskTable(SomeSnapshot(), {.width = 200, .is_wide = true}, running);
  EXPECT_THAT(lines[0], HasSubstr("LEFT  THROUGHPUT    WHY"));
  EXPECT_THAT(lines[1], HasSubstr("  12 records/s  Reduce task 2 will end last"));
}

TEST(StageTable, HasARowForEachStage) {
  const auto lines = RenderStageTable(SomeSnapshot(), kWide);
  ASSERT_THAT(lines, SizeIs(3));
  EXPECT_THAT(lines[0], StartsWith("STAGE   DONE"));
  EXPECT_THAT(lines[1], StartsWith("map"));
  EXPECT_THAT(lines[2], AllOf(StartsWith("reduce"), HasSubstr("1/4")));
}

TEST(StageTable, NamesTheJobsOfAWorkflow) {
  Snapshot snapshot = Visits();
  snapshot.stage_infos = {{.id = {1, 0}, .name = "map", .kind = StageKind::kMap}};
  snapshot.stages = {{.id = {1, 0}, .state = StageState::kDone, .tasks = 4, .finished_tasks = 4}};
  EXPECT_THAT(RenderStageTable(snapshot, kWide)[1],
              AllOf(StartsWith("parse  map"), HasSubstr("100 %"), HasSubstr("done")));
}

TEST(StageTable, NumbersStagesOfOneName) {
  Snapshot query = Query();
  query.stages.resize(3);
  query.stages.push_back({.id = {0, kExpectedStages + 1}, .state = StageState::kExpected});
  query.stage_infos = {{.id = {0, 0}, .name = "scan"},
                       {.id = {0, 1}, .name = "join"},
                       {.id = {0, 2}, .name = "scan"},
                       {.id = {0, kExpectedStages + 1}, .name = "scan"}};
  const auto lines = RenderStageTable(query, kWide);
  ASSERT_THAT(lines, SizeIs(5));
  EXPECT_THAT(lines[1], StartsWith("scan (stage 0) "));
  EXPECT_THAT(lines[2], StartsWith("join  "));
  EXPECT_THAT(lines[3], StartsWith("scan (stage 2) "));
  EXPECT_THAT(lines[4], StartsWith("scan (expected stage 1) "));
}

TEST(StageTable, NumbersStagesWhoseNamesLookNumbered) {
  Snapshot query = Query();
  query.stages.resize(3);
  query.stage_infos = {{.id = {0, 0}, .name = "scan"},
                       {.id = {0, 1}, .name = "scan (stage 2)"},
                       {.id = {0, 2}, .name = "scan"}};
  const auto lines = RenderStageTable(query, kWide);
  ASSERT_THAT(lines, SizeIs(4));
  EXPECT_THAT(lines[2], StartsWith("scan (stage 2) (stage 1) "));
  EXPECT_THAT(lines[3], StartsWith("scan (stage 2) "));
}

TEST(StageTable, DoesNotNumberStagesOfDifferentJobs) {
  Snapshot snapshot = Visits();
  snapshot.stage_infos = {{.id = {1, 0}, .name = "map"}, {.id = {2, 0}, .name = "map"}};
  snapshot.stages = {{.id = {1, 0}}, {.id = {2, 0}}};
  const auto lines = RenderStageTable(snapshot, kWide);
  EXPECT_THAT(lines[1], StartsWith("parse  map    0 %"));
  EXPECT_THAT(lines[2], StartsWith("count  map    0 %"));
}

TEST(StageTable, HasOneLineWithoutRows) {
  EXPECT_THAT(RenderStageTable({}, {}), ElementsAre("no stages"));
}

TEST(TaskTable, ListsTheTasksThatEndLast) {
  const auto lines = RenderTaskTable(SomeSnapshot(), kWide);
  ASSERT_THAT(lines, SizeIs(2));
  EXPECT_THAT(lines[1],
              AllOf(StartsWith("reduce task 2"), HasSubstr("will end last: a key of 1.2 MB")));
}

TEST(TaskTable, ExplainsAnEmptyTable) {
  Snapshot job = {.state = JobState::kRunning};
  job.estimate.state = EstimateState::kWarmingUp;
  EXPECT_THAT(RenderTaskTable(job, {}),
              ElementsAre("the task that delays the job is unknown: there is no estimate yet"));
  job.estimate.state = EstimateState::kValid;
  job.info = JobInfo{.kind = JobKind::kMapReduce};
  EXPECT_THAT(RenderTaskTable(job, {}),
              ElementsAre("the task that will end last is still unknown"));
  job.info->kind = JobKind::kApplication;
  EXPECT_THAT(RenderTaskTable(job, {}),
              ElementsAre("no running task is late or the last of its stage"));
  job.is_final = true;
  EXPECT_THAT(RenderTaskTable(job, {}), ElementsAre("the job has ended"));
}

TEST(JobList, ShowsRunningAndNewJobsFirst) {
  const auto job = [](const std::string& id, int started, bool is_final) {
    Snapshot snapshot = {.job_id = id, .state = JobState::kRunning};
    snapshot.started_at = absl::FromUnixSeconds(started);
    snapshot.at = *snapshot.started_at;
    snapshot.is_final = is_final;
    return snapshot;
  };
  const std::vector<Snapshot> jobs = {job("a", 1, true), job("b", 2, true), job("c", 3, false),
                                      job("d", 4, true)};
  EXPECT_THAT(RenderJobList(jobs, 5, {}),
              ElementsAre(StartsWith("JOB"), StartsWith("c "), StartsWith("d "), StartsWith("b "),
                          StartsWith("a ")));
  EXPECT_THAT(RenderJobList(jobs, 4, {}), ElementsAre(StartsWith("JOB"), StartsWith("c "),
                                                      StartsWith("d "), "and 2 more jobs"));
  EXPECT_THAT(RenderJobList({}, 3, {}), ElementsAre("no jobs"));
}

TEST(Tables, ContainOnlyPrintableText) {
  Snapshot job = SomeSnapshot();
  job.job_id = "a\x1b[2J";
  job.stage_infos[0].name = "b\x1b[2J";
  job.named_tasks[0].host = "c\x1b[2J";
  for (const auto& lines : {RenderJobTable({job}, {.is_wide = true}), RenderStageTable(job, {}),
                            RenderTaskTable(job, {})}) {
    for (const std::string& line : lines) EXPECT_THAT(line, Not(HasSubstr("\x1b")));
  }
}

Outcome Planned(absl::Duration end) {
  Outcome outcome = {.busy_share = 0.5};
  outcome.snapshot.info = JobInfo{.name = "visits"};
  outcome.snapshot.estimate = {.state = EstimateState::kValid, .remaining = Range{.median = end}};
  outcome.snapshot.stage_infos = {{.id = {0, 0}, .name = "parse"}};
  outcome.snapshot.stages = {{.id = {0, 0},
                              .starts_in = Range{},
                              .ends_in = Range{.median = end},
                              .bottleneck = "network",
                              .is_critical = true}};
  return outcome;
}

TEST(EstimateTable, ShowsTheEndAndEachStage) {
  EXPECT_THAT(
      EstimateLines(Planned(absl::Seconds(20))),
      ElementsAre("visits: ~ 20 s left, 50 % of the slots' time used", "STAGE  STARTS  ENDS",
                  "parse  0 s     20 s  critical path, bound by network",
                  "critical path: each entry waits for the previous entry; other jobs may occupy "
                  "the slots it needs"));
}

TEST(EstimateTable, ShowsTheTimeOfATaskInEachStateOfAPlan) {
  Outcome outcome = Planned(absl::Seconds(81));
  const PlanState::Stage parse = {
      .id = {0, 0}, .tasks = 2, .task_time = absl::Seconds(26.9), .bottleneck = "cpu"};
  const PlanState::Stage other = {.id = {0, 7}, .tasks = 0.4};
  outcome.states = {
      {.starts_in = {}, .ends_in = absl::Seconds(54), .stages = {parse, other}},
      {.starts_in = absl::Seconds(54), .ends_in = absl::Seconds(81), .stages = {parse}}};
  const auto lines = EstimateLines(outcome);
  ASSERT_THAT(lines, SizeIs(10));
  EXPECT_EQ(lines[9],
            "STATE has mean task times; STARTS and ENDS are medians over varying task times");
  EXPECT_EQ(lines[5], "STATE               STAGE  TASKS  TASK TIME");
  EXPECT_EQ(lines[6], "1: 0 s-54 s         parse  2      27 s       bound by cpu");
  EXPECT_EQ(lines[7], "                    -      1      -");
  EXPECT_EQ(lines[8], "2: 54 s-1 min 21 s  parse  2      27 s       bound by cpu");
  outcome.states.assign(25, outcome.states[1]);
  EXPECT_EQ(EstimateLines(outcome)[EstimateLines(outcome).size() - 2],
            "5 more states; -o json lists all");
}

TEST(EstimateTable, ShowsStagesToTheSecondIfThereAreStates) {
  Outcome outcome = Planned(absl::Seconds(154));
  outcome.snapshot.estimate.remaining =
      Range{absl::Seconds(159), absl::Seconds(119), absl::Seconds(204)};
  const std::string rounded = EstimateLines(outcome)[2];
  EXPECT_THAT(rounded, HasSubstr("2 min 30 s"));
  outcome.states = {{.starts_in = {}, .ends_in = absl::Seconds(154), .stages = {}}};
  EXPECT_THAT(EstimateLines(outcome)[2], HasSubstr("2 min 34 s"));
}

// If the headline is 15 min, the last end must not be "13 min 15 s".
TEST(EstimateTable, RoundsEveryInstantLikeTheEndOfTheWhole) {
  Outcome outcome;
  const absl::Duration end = absl::Minutes(13) + absl::Seconds(15);
  outcome.snapshot = {.job_id = "chain", .state = JobState::kQueued};
  outcome.snapshot.estimate = {.state = EstimateState::kValid,
                               .remaining = Range{end, absl::Minutes(2), absl::Minutes(50)}};
  outcome.snapshot.children = {
      {.number = 1, .name = "a", .estimate = {.remaining = Range{absl::Seconds(288)}}},
      {.number = 2,
       .name = "b",
       .estimate = {.remaining = Range{end}},
       .starts_in = Range{absl::Seconds(288)},
       .after = {1}}};
  EXPECT_THAT(EstimateLines(outcome),
              ElementsAre("chain: takes ~ 15 min (2-50 min)", "JOB  STARTS  ENDS",
                          "a    -       5 min", "b    5 min   15 min"));
}

TEST(EstimateTable, OmitsAMissingCriticalPath) {
  Outcome outcome = Planned(absl::Seconds(20));
  outcome.snapshot.stages[0].is_critical = false;
  EXPECT_THAT(EstimateLines(outcome), SizeIs(3));
}

// A plan that has not started "takes" a time, and no time is "left".
TEST(EstimateTable, ShowsTheDurationOfAPlan) {
  Outcome outcome = Planned(absl::Seconds(20));
  outcome.busy_share.reset();
  outcome.snapshot.state = JobState::kQueued;
  EXPECT_EQ(EstimateLines(outcome).front(), "visits: takes ~ 20 s");
  outcome.snapshot.estimate.remaining =
      Range{absl::Seconds(20), absl::Seconds(10), absl::Seconds(30)};
  EXPECT_EQ(EstimateLines(outcome).front(), "visits: takes ~ 20 s (10-30 s)");
}

TEST(EstimateTable, ShowsJobsBesideTheStagesOfOthers) {
  Outcome outcome = Planned(absl::Seconds(20));
  outcome.snapshot.stages[0].id = outcome.snapshot.stage_infos[0].id = {2, 0};
  outcome.snapshot.children = {
      {.number = 1, .name = "load", .estimate = {.remaining = Range{.median = absl::Seconds(5)}}},
      {.number = 2, .name = "report"}};
  const auto lines = EstimateLines(outcome);
  ASSERT_EQ(lines.size(), 5u);
  EXPECT_THAT(lines[2], HasSubstr("report/parse"));
  EXPECT_THAT(lines[3], HasSubstr("load          -       5 s"));
}

TEST(EstimateTable, ShowsTheOutcomeOfAnEndedJob) {
  Outcome outcome = {.snapshot = Visits()};
  outcome.snapshot.state = JobState::kKilled;
  outcome.snapshot.is_final = true;
  outcome.snapshot.message = "the workflow was cancelled";
  EXPECT_THAT(
      EstimateLines(outcome),
      ElementsAre(
          "page visits: killed (the workflow was cancelled); there is nothing to estimate"));
  outcome.snapshot = Succeeded();
  EXPECT_THAT(EstimateLines(outcome),
              ElementsAre("two-path: succeeded; there is nothing to estimate"));
}

TEST(EstimateTable, MarksGuesses) {
  Outcome outcome = {.snapshot = Visits()};
  outcome.snapshot.children[1].estimate.basis = Basis::kGuess;
  EXPECT_EQ(EstimateLines(outcome)[3], "count    -       1 min       critical path, a guess");
  outcome.snapshot = Query();
  outcome.snapshot.estimate.basis = Basis::kGuess;
  const auto lines = EstimateLines(outcome);
  EXPECT_THAT(lines[6], AllOf(HasSubstr("scan"), EndsWith("a guess")));
  EXPECT_THAT(lines[2], Not(HasSubstr("a guess"))) << "it is done";
}

TEST(EstimateTable, ShowsEndedJobsOfAWorkflow) {
  Outcome outcome = {.snapshot = Visits()};
  outcome.snapshot.children[2].state = ChildState::kCancelled;
  outcome.snapshot.children[2].starts_in.reset();
  outcome.snapshot.children[2].estimate.remaining.reset();
  const auto lines = EstimateLines(outcome);
  ASSERT_THAT(lines, SizeIs(6));
  EXPECT_EQ(lines[2], "parse    -       -      done");
  EXPECT_EQ(lines[3], "count    -       1 min  critical path");
  EXPECT_EQ(lines[4], "revenue  -       -      cancelled");
}

// The use of the slots is unknown for jobs outside plans.
TEST(EstimateTable, OmitsUnknownValues) {
  Outcome outcome = Planned(absl::Seconds(20));
  outcome.busy_share.reset();
  EXPECT_EQ(EstimateLines(outcome).front(), "visits: ~ 20 s left");
  Outcome endless = outcome;
  endless.snapshot.estimate.remaining.reset();
  EXPECT_THAT(ScenarioLines({{"4 slots", endless}, {"8 slots", outcome}}),
              ElementsAre("SCENARIO  ENDS IN  5 %  95 %  BUSY  SPEED-UP",
                          "4 slots   -        -    -     -     -",
                          "8 slots   20 s     -    -     -     -"));
}

TEST(EstimateTable, ComparesScenarios) {
  EXPECT_THAT(ScenarioLines({{"4 slots", Planned(absl::Seconds(20))},
                             {"8 slots", Planned(absl::Seconds(10))}}),
              ElementsAre("SCENARIO  ENDS IN  5 %  95 %  BUSY  SPEED-UP",
                          "4 slots   20 s     -    -     50 %  1.00x",
                          "8 slots   10 s     -    -     50 %  2.00x"));
}

TEST(EstimateTable, ComparesWithTheSameMethodForTheUnchangedRun) {
  ScenarioRow modelled = {.name = "2 executors", .outcome = Planned(absl::Seconds(10))};
  modelled.as_it_is = absl::Seconds(15);
  const ScenarioRow measured = {.name = "as it is", .outcome = Planned(absl::Seconds(20))};
  EXPECT_THAT(ScenarioLines({measured, modelled}),
              ElementsAre("SCENARIO     ENDS IN  5 %  95 %  BUSY  SPEED-UP",
                          "as it is     20 s     -    -     50 %  1.00x",
                          "2 executors  10 s     -    -     50 %  1.50x"));
}

TEST(EstimateTable, RoundsNoLoadToZero) {
  Outcome outcome = Planned(absl::Seconds(20));
  outcome.busy_share = 0.004;
  EXPECT_THAT(ScenarioLines({{"as it is", outcome}}).back(), HasSubstr("  < 1 %  "));
  outcome.busy_share = 0;
  EXPECT_THAT(ScenarioLines({{"as it is", outcome}}).back(), HasSubstr("  0 %  "));
}

TEST(EstimateTable, RoundsToTheNearest) {
  Outcome outcome = Planned(absl::Seconds(57));
  outcome.snapshot.estimate.remaining =
      Range{absl::Milliseconds(56'600), absl::Milliseconds(50'900), absl::Milliseconds(64'010)};
  EXPECT_THAT(ScenarioLines({{"as it is", outcome}}).back(),
              StartsWith("as it is  57 s     50 s  1 min 05 s  50 %"));
  EXPECT_THAT(EstimateLines(outcome).front(),
              StartsWith("visits: ~ 57 s left (50 s - 1 min 05 s)"));
  outcome.snapshot.estimate.remaining =
      Range{absl::Minutes(100), absl::Minutes(90), absl::Minutes(100) + absl::Seconds(1)};
  EXPECT_THAT(ScenarioLines({{"as it is", outcome}}).back(),
              StartsWith("as it is  1 h 40 min  1 h 30 min  1 h 41 min  50 %"));
}

TEST(EstimateTable, ShowsDurationsBeforeTheStartAndAfterTheEnd) {
  Outcome plan = Planned(absl::Seconds(20));
  plan.snapshot.state = JobState::kQueued;
  const Outcome running = Planned(absl::Seconds(20));
  EXPECT_THAT(ScenarioLines({{"4 slots", plan}, {"8 slots", plan}}).front(),
              StartsWith("SCENARIO  TAKES  5 %"));
  EXPECT_THAT(ScenarioLines({{"4 slots", running}, {"8 slots", running}}).front(),
              StartsWith("SCENARIO  ENDS IN  5 %"));
}

TEST(EstimateTable, ShowsKnownCostsAndBottlenecks) {
  EXPECT_THAT(ScenarioLines({{"as it is", Planned(absl::Seconds(20)), 0.5},
                             {"8 cores", Planned(absl::Seconds(10)), 0.25, "disk"}}),
              ElementsAre("SCENARIO  ENDS IN  5 %  95 %  BUSY  SPEED-UP  CORE-HOURS  BOUND BY",
                          "as it is  20 s     -    -     50 %  1.00x     0.5         -",
                          "8 cores   10 s     -    -     50 %  2.00x     0.25        disk"));
}

TEST(ScenarioRemarks, NameTheirRows) {
  const auto row = [](const char* name, std::vector<std::string> remarks) {
    return ScenarioRow{.name = name,
                       .outcome = {},
                       .core_hours = {},
                       .binding = {},
                       .remarks = std::move(remarks)};
  };
  EXPECT_THAT(RenderRemarks({row("as it is", {}), row("2 cores", {"wide", "beyond"}),
                             row("4 cores", {"beyond"}), row("8 cores", {"wide"})},
                            {}),
              ElementsAre("2 cores and 1 more row: wide", "2 cores and 1 more row: beyond"));
  EXPECT_THAT(RenderRemarks({row("as it is", {}), row("2 cores", {"wide"})}, {}),
              ElementsAre("2 cores: wide"));
  EXPECT_THAT(
      RenderRemarks({row("as it is", {}), row("2 cores, spark.a=1", {"spark.a=1: wide"})}, {}),
      ElementsAre("2 cores, spark.a=1: wide"));
}

TEST(ScenarioRemarks, AbbreviateManyRows) {
  std::vector<ScenarioRow> rows(7);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows[i].name = std::to_string(i);
    if (i > 0) rows[i].remarks.emplace_back("other");
    if (i > 1) rows[i].remarks.emplace_back("more");
    rows[i].remarks.emplace_back("every");
  }
  EXPECT_THAT(RenderRemarks(rows, {}),
              ElementsAre("all: every", "all but the first: other", "2 and 4 more rows: more"));
}

TEST(ScenarioRemarks, ArePrintableAndOmitTheNameOfASingleRow) {
  ScenarioRow row;
  row.name = "as it is";
  row.remarks = {"parameters outside the range of all runs: k\x1b[2J"};
  EXPECT_THAT(RenderRemarks({row}, {}),
              ElementsAre("parameters outside the range of all runs: k [2J"));
  EXPECT_THAT(RenderRemarks({}, {}), IsEmpty());
}

}  // namespace
}  // namespace tidemark::console::job_table_test
