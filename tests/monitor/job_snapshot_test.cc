#include "master/monitor/job_snapshot.h"

#include "tests/monitor/monitored_job.h"
#include "tests/test.h"

namespace tidemark::job_snapshot_test {
namespace {

// Returns the second attempt at a stage.
StageOpened Again(StageOpened stage, std::optional<std::uint32_t> index_count = {}) {
  stage.attempt = 1;
  stage.index_count = index_count;
  return stage;
}

class JobSnapshotTest : public ::testing::Test, protected test::MonitoredJob {};

AttemptId Task(std::uint32_t stage, std::uint32_t index, std::uint32_t stage_attempt = 0) {
  return {.stage = stage, .index = index, .stage_attempt = stage_attempt};
}

AttemptChanged FailedBecause(AttemptId id, std::string why) {
  return {.attempt = id, .state = AttemptState::kFailed, .failure = std::move(why)};
}

StageOpened Generic(std::uint32_t stage, std::uint32_t tasks, std::vector<std::uint32_t> parents) {
  return {.stage = stage,
          .name = "stage " + std::to_string(stage),
          .parents = std::move(parents),
          .group = "query 7",
          .task_count = tasks,
          .pool = "fast"};
}

TEST_F(JobSnapshotTest, AMapReduceJobHasTwoStagesWithTheirFailures) {
  JobOpened opened = Opened(2, 1);
  opened.engine = "hadoop";
  opened.application_id = "application_1";
  opened.user = "ada";
  opened.queue = "nightly";
  Say(0, opened).Say(1, Started(M(0))).Say(2, FailedBecause(M(0), "disk full"));
  Say(3, Started(M(0, 1))).Say(4, FailedBecause(M(0, 1), "disk still full")).Say(5, Started(M(1)));
  const Snapshot& job = Tick(6);
  EXPECT_EQ(job.info->kind, JobKind::kMapReduce);
  EXPECT_EQ(job.info->engine, "hadoop");
  EXPECT_EQ(job.info->application_id, "application_1");
  EXPECT_EQ(job.info->user, "ada");
  EXPECT_EQ(job.info->queue, "nightly");
  ASSERT_THAT(job.stages, SizeIs(2));
  EXPECT_EQ(job.stage_infos[0].name, "map");
  EXPECT_EQ(Words(job.stages[0]), "running 0/2, 1 running, 0 %, 2 failed (disk still full)");
  EXPECT_THAT(job.stage_infos[1].parents, ElementsAre(0));
  EXPECT_EQ(job.stages[1].state, StageState::kPending);
  EXPECT_TRUE(job.stages[1].shuffle.has_value());
  EXPECT_EQ(job.counts, CountParts(job));
}

TEST_F(JobSnapshotTest, AReduceStageThatHasFetchedStaysRunningWhenItsAttemptFails) {
  Say(0, Opened(1, 1)).Say(1, Started(M(0))).Say(2, Emitted(M(0), {Partition(0, 1000)}));
  Say(2, Finished(M(0))).Say(3, Started(R(0)));
  Say(4, TaskHeartbeat{.attempt = R(0), .bytes_done = 500});
  EXPECT_EQ(Tick(5).stages[1].state, StageState::kRunning);
  EXPECT_EQ(Tick(5).stages[1].shuffle->fraction_done, 0.5);
  Say(6, FailedBecause(R(0), "disk full"));
  const Snapshot& job = Tick(7);
  EXPECT_EQ(job.stages[1].shuffle->running_tasks, 0u);
  EXPECT_EQ(job.stages[1].shuffle->fraction_done, 0) << "its input is lost";
  EXPECT_EQ(job.stages[1].state, StageState::kRunning);
}

// A finished task has processed all of its 600 bytes. The running task has read 300 of its bytes
// in 4 s. The stage has run for 8 s, and the job for 10 s.
TEST_F(JobSnapshotTest, ThroughputIsTheProcessedInputOverTheTime) {
  Say(0, JobOpened{.name = "query"}, Generic(4, 2, {})).Say(2, Started(Task(4, 0)));
  Say(3, TaskHeartbeat{.attempt = Task(4, 0), .bytes_done = 500, .records_done = 5});
  Say(5, AttemptChanged{.attempt = Task(4, 0),
                        .state = AttemptState::kFinished,
                        .at = At(5),
                        .input_bytes = 600,
                        .input_records = 6});
  Say(6, Started(Task(4, 1)));
  Say(10, TaskHeartbeat{.attempt = Task(4, 1), .bytes_done = 300, .records_done = 2});
  const Snapshot job = Tick(10);
  EXPECT_EQ(job.stages[0].throughput, (Throughput{900, 8, 112.5, 1}));
  EXPECT_EQ(job.throughput, (Throughput{900, 8, 90, 0.8}));
  const std::vector<TaskProgress> tasks = monitor.ListTasks({}, At(10)).tasks;
  ASSERT_THAT(tasks, SizeIs(2));
  EXPECT_EQ(tasks[0].throughput, (Throughput{600, 6, 200, 2}));
  EXPECT_EQ(tasks[1].throughput, (Throughput{300, 2, 75, 0.5}));
}

TEST_F(JobSnapshotTest, ThroughputIsUnknownWithoutReportsOfInput) {
  Say(0, JobOpened{.name = "query"}, Generic(4, 2, {})).Say(2, Started(Task(4, 0)));
  const Snapshot job = Tick(10);
  EXPECT_FALSE(job.stages[0].throughput);
  EXPECT_FALSE(job.throughput);
}

// Earlier attempts continue while the stage is repeated.
TEST_F(JobSnapshotTest, AtMostTheRemainingTasksRun) {
  Say(0, JobOpened{.name = "query"}, Generic(4, 4, {}));
  for (std::uint32_t i = 0; i < 4; ++i) Say(1, Started(Task(4, i)));
  EXPECT_EQ(Tick(2).stages[0].running_tasks, 4u);
  Say(3, Again(Generic(4, 2, {}), 4));
  for (std::uint32_t i = 0; i < 4; ++i) Say(4, Started(Task(4, i, 1)));
  EXPECT_EQ(Words(Tick(4).stages[0]), "running 0/2, 2 running, 0 %");
}

TEST_F(JobSnapshotTest, AStageThatRunsAgainHasTheTasksOfThatAttempt) {
  Say(0, JobOpened{.name = "query"}, Generic(4, 4, {}));
  for (std::uint32_t i = 0; i < 4; ++i) Say(1, Started(Task(4, i))).Say(2, Finished(Task(4, i)));
  EXPECT_EQ(Tick(2).stages[0].state, StageState::kDone);
  Say(3, Again(Generic(4, 2, {}), 4)).Say(4, Finished(Task(4, 3, 1)));
  EXPECT_EQ(Words(Tick(5).stages[0]), "running 1/2, 50 %");
}

TEST_F(JobSnapshotTest, AnEndedStageIsOverDespiteItsTasks) {
  Say(0, JobOpened{.name = "query"});
  Say(0, StageOpened{.stage = 4});  // The number of tasks is unknown.
  Say(0, Generic(5, 3, {}), Generic(6, 3, {}));
  for (const std::uint32_t stage : {4U, 5U, 6U}) Say(1, Started(Task(stage, 1)));
  Say(2, Finished(Task(4, 1))).Say(3, StageClosed{.stage = 4});
  Say(4, StageClosed{.stage = 5});
  Say(5, StageClosed{.stage = 6, .outcome = JobOutcome::kFailed, .message = "fetch failed"});
  const Snapshot& job = Tick(6);
  EXPECT_EQ(Words(job.stages[0]), "done 1/1, 100 %");
  EXPECT_EQ(job.stages[0].ended_at, At(3));
  EXPECT_EQ(Words(job.stages[1]), "done 3/3, 100 %");
  EXPECT_EQ(Words(job.stages[2]), "failed 0/3, 0 % (fetch failed)");
  Say(7, Again(Generic(6, 2, {})));
  EXPECT_EQ(Tick(8).stages[2].state, StageState::kRunning);
}

TEST_F(JobSnapshotTest, InputReadIsProgressUnlessItIsReadFirst) {
  Say(0, JobOpened{.name = "query"});
  StageOpened stage = Generic(4, 2, {});
  stage.task_bytes = {1000, 1000};
  Say(0, stage).Say(1, Started(Task(4, 0)), Started(Task(4, 1)));
  Say(2, TaskHeartbeat{.attempt = Task(4, 0), .bytes_done = 500});
  Say(2, TaskHeartbeat{.attempt = Task(4, 1), .bytes_done = 1000, .input_is_read_first = true});
  EXPECT_EQ(Tick(3).stages[0].fraction_done, 0.25);
}

TEST_F(JobSnapshotTest, AJobWithoutKnownStagesHasNone) {
  Say(0, JobOpened{.name = "query", .engine = "spark"});
  const Snapshot& job = Tick(1);
  EXPECT_THAT(job.stages, IsEmpty());
  EXPECT_EQ(job.info->kind, JobKind::kUnknown);
  EXPECT_EQ(job.estimate.state, EstimateState::kWarmingUp);
}

TEST_F(JobSnapshotTest, AnApplicationThatFailsBeforeItsFirstTaskShowsNoProgress) {
  Say(0, JobOpened{.name = "query", .engine = "spark"});
  EXPECT_EQ(Tick(200).estimate.fraction_done, 0);
  Say(210, JobClosed{.outcome = JobOutcome::kFailed, .at = At(210)});
  const Estimate& estimate = Tick(210).estimate;
  EXPECT_EQ(estimate.state, EstimateState::kFinal);
  EXPECT_EQ(estimate.fraction_done, 0);
  EXPECT_EQ(estimate.fraction_done_upper, 0);
}

TEST_F(JobSnapshotTest, GroupsHaveTheirEnd) {
  Say(0, JobOpened{.name = "query"}).Say(1, GroupOpened{"query 7", "the sales of May", At(1)});
  Say(1, GroupOpened{"query 8", "", At(1)}).Say(2, Generic(4, 4, {}));
  Say(2, Started(Task(4, 0)));
  for (std::uint32_t i = 1; i < 4; ++i) Say(2, Started(Task(4, i))).Say(4, Finished(Task(4, i)));
  Snapshot job = Tick(5);
  ASSERT_THAT(job.groups, SizeIs(2));
  const Group running = job.groups[0];
  EXPECT_EQ(running.group, "query 7");
  EXPECT_EQ(running.name, "the sales of May");
  EXPECT_EQ(running.state, JobState::kRunning);
  EXPECT_EQ(running.started_at, At(1));
  ASSERT_TRUE(running.ends_in);
  EXPECT_GT(running.fraction_done, 0.5);
  EXPECT_LT(running.fraction_done, 1);
  EXPECT_EQ(job.groups[1].fraction_done, 0);
  Say(6, GroupClosed{"query 7", JobOutcome::kFailed, "no such table", At(6)});
  Say(7, GroupClosed{"query 7", JobOutcome::kSucceeded, "", At(7)});  // The first end counts.
  Say(7, GroupClosed{.group = "query 8"});
  job = Tick(8);
  EXPECT_EQ(job.groups[0].state, JobState::kFailed);
  EXPECT_EQ(job.groups[0].message, "no such table");
  EXPECT_EQ(job.groups[0].ended_at, At(6));
  EXPECT_GE(job.groups[0].fraction_done, running.fraction_done);
  EXPECT_LT(job.groups[0].fraction_done, 1);
  EXPECT_EQ(job.groups[1].state, JobState::kSucceeded);
  EXPECT_EQ(job.groups[1].fraction_done, 1);
}

// Its known stages ended 55 s ago, so it is predicted to take 55 s more.
TEST_F(JobSnapshotTest, BetweenItsJobsAGroupIsPredictedToTakeAsLongAgain) {
  Say(0, JobOpened{.name = "query"}, GroupOpened{"query 7", "", At(0)}, Generic(4, 2, {}));
  for (std::uint32_t i = 0; i < 2; ++i) Say(0, Started(Task(4, i)));
  Say(4, Finished(Task(4, 0)));
  Tick(4);
  Say(5, Finished(Task(4, 1)));
  Say(60, ExecutorOpened{.executor = 0, .host = "h", .slots = 2});  // The job is not silent.
  const Group waiting = Tick(60).groups[0];
  EXPECT_NEAR(waiting.fraction_done, 60.0 / 115, 0.001);
  EXPECT_EQ(waiting.estimate_state, EstimateState::kOverdue);
}

StageOpened OfQuery(std::string query, std::uint32_t stage, std::uint32_t tasks) {
  StageOpened opened = Generic(stage, tasks, {});
  opened.group = std::move(query);
  return opened;
}

TEST_F(JobSnapshotTest, TheRunningQueryIsTheHeadlineOfAnUnknownApplication) {
  Say(0, JobOpened{.name = "sales", .engine = "spark"}, GroupOpened{"sql/0", "", At(0)});
  EXPECT_EQ(Tick(1).headline_group, "") << "no stage is known";
  Say(2, OfQuery("sql/0", 1, 4));
  for (std::uint32_t i = 0; i < 4; ++i) Say(2, Started(Task(1, i)));
  Say(6, Finished(Task(1, 0)));
  Snapshot job = Tick(7);
  EXPECT_EQ(job.headline_group, "sql/0");
  EXPECT_EQ(job.groups[0].basis, Basis::kThisRun);
  EXPECT_EQ(job.groups[0].estimate_state, EstimateState::kValid);
  ASSERT_TRUE(job.groups[0].ends_in);
  EXPECT_LT(job.groups[0].ends_in->median, job.estimate.remaining->median)
      << "the application may submit more";
  for (std::uint32_t i = 1; i < 4; ++i) Say(8, Finished(Task(1, i)));
  Say(8, GroupClosed{"sql/0", JobOutcome::kSucceeded, "", At(8)});
  job = Tick(9);
  EXPECT_EQ(job.headline_group, "sql/0") << "it ended last";
  EXPECT_EQ(job.counts.finished_groups, 1u);
  Say(10, GroupOpened{"sql/1", "", At(10)});
  EXPECT_EQ(Tick(11).headline_group, "sql/1");
  Say(12, GroupClosed{"sql/1", JobOutcome::kSucceeded, "", At(12)});
  EXPECT_EQ(Tick(18).headline_group, "") << "the application is idle";
  Say(19, Closed(JobOutcome::kSucceeded));
  EXPECT_EQ(Tick(20).headline_group, "");
}

// A connector for Tez announces the vertices with the job, and describes them later.
TEST_F(JobSnapshotTest, AJobGrowsOnlyByStagesThatItHasNotAnnounced) {
  Say(0,
      JobOpened{
          .name = "words", .engine = "tez", .stages = {{.stage = 0, .kind = StageKind::kGeneric}}});
  Say(0, Generic(0, 4, {})).Say(2, Started(Task(0, 0)));
  EXPECT_FALSE(Tick(3).may_grow);
  Say(4, Generic(1, 4, {0}));
  EXPECT_TRUE(Tick(5).may_grow);
  Say(6, Closed(JobOutcome::kSucceeded));
  EXPECT_FALSE(Tick(7).may_grow);
}

TEST_F(JobSnapshotTest, OfTwoRunningQueriesTheHeadlineIsTheOlderOneWithStages) {
  Say(0, JobOpened{.name = "sales", .engine = "spark"});
  Say(0, GroupOpened{"sql/7", "", At(0)});  // It contains the others, and has no stage.
  Say(1, GroupOpened{"sql/9", "", At(1)}).Say(2, GroupOpened{"sql/8", "", At(2)});
  for (std::uint32_t i = 0; i < 2; ++i) {
    Say(2, OfQuery(i == 0 ? "sql/8" : "sql/9", i + 1, 2), Started(Task(i + 1, 0)));
  }
  EXPECT_EQ(Tick(4).headline_group, "sql/9");
  Say(5, GroupClosed{"sql/9", JobOutcome::kFailed, "no such table", At(5)});
  EXPECT_EQ(Tick(6).headline_group, "sql/8");
}

// Opens sql/0 with a stage of `tasks` tasks, of which `started` start at once.
struct OneQuery : test::MonitoredJob {
  OneQuery(std::uint32_t tasks, std::uint32_t started) {
    Say(0, JobOpened{.name = "sales", .engine = "spark"}, GroupOpened{"sql/0", "", At(0)});
    Say(0, OfQuery("sql/0", 1, tasks));
    for (std::uint32_t i = 0; i < started; ++i) Say(0, Started(Task(1, i)));
  }
  void Finish(double seconds, std::uint32_t tasks) {
    for (std::uint32_t i = 0; i < tasks; ++i) Say(seconds, Finished(Task(1, i)));
  }
};

TEST(JobSnapshot, TheIntervalOfTheHeadlineWidensDuringASilence) {
  OneQuery job(40, 4);
  job.Finish(6, 4);
  const Snapshot before = job.Tick(7);
  const Snapshot silent = job.Tick(100);
  EXPECT_EQ(silent.headline_group, "sql/0");
  ASSERT_TRUE(silent.silent_since);
  ASSERT_TRUE(before.groups[0].ends_in);
  ASSERT_TRUE(silent.groups[0].ends_in);
  EXPECT_GT(*silent.groups[0].ends_in->upper, *before.groups[0].ends_in->upper + absl::Seconds(60));
  EXPECT_GE(silent.groups[0].ends_in->median, silent.at - *silent.silent_since);
  EXPECT_GE(*silent.groups[0].ends_in->upper, silent.groups[0].ends_in->median);
  EXPECT_LE(silent.groups[0].fraction_done, before.groups[0].fraction_done);
}

TEST(JobSnapshot, AQueryWithoutResultsIsAGuess) {
  EXPECT_EQ(OneQuery(2, 2).Tick(3).groups[0].basis, Basis::kGuess);
}

TEST(JobSnapshot, AQueryThatWaitsForExecutorsHasNoProgress) {
  const Group group = OneQuery(2, 0).Tick(8).groups[0];
  EXPECT_DOUBLE_EQ(group.fraction_done, 0);
  EXPECT_FALSE(group.ends_in);
}

TEST(JobSnapshot, AQueryThatOutlastsItsForecastIsOverdue) {
  OneQuery job(8, 8);
  job.Finish(10, 7);
  bool is_overdue = false;
  for (int second = 11; second < 60; ++second) {
    const Group group = job.Tick(second).groups[0];
    is_overdue |= group.estimate_state == EstimateState::kOverdue;
    ASSERT_TRUE(group.ends_in);
    EXPECT_GT(*group.ends_in->upper, absl::ZeroDuration());
  }
  EXPECT_TRUE(is_overdue);
}

TEST_F(JobSnapshotTest, AnApplicationWithoutWorkIsIdleAndHasNoEnd) {
  Say(0, JobOpened{.name = "notebook", .engine = "spark"});
  EXPECT_FALSE(Tick(4).idle_since);
  EXPECT_EQ(Tick(5).idle_since, At(0)) << "no stage has been opened";
  Say(6, GroupOpened{"query 7", "", At(6)}, Generic(4, 1, {}), Started(Task(4, 0)));
  EXPECT_FALSE(Tick(12).idle_since);
  Say(20, Finished(Task(4, 0)));
  const Snapshot between = Tick(26);
  EXPECT_FALSE(between.idle_since) << "its query continues";
  EXPECT_TRUE(between.estimate.remaining);
  Say(27, GroupClosed{.group = "query 7", .at = At(27)});
  const Snapshot idle = Tick(32);
  EXPECT_EQ(idle.idle_since, At(27));
  EXPECT_FALSE(idle.estimate.remaining);
  EXPECT_EQ(idle.estimate.fraction_done, between.estimate.fraction_done);
  Say(40, Generic(5, 1, {}));
  EXPECT_FALSE(Tick(50).idle_since);
}

TEST_F(JobSnapshotTest, ASilenceIsNoIdleness) {
  Say(0, JobOpened{.name = "notebook", .engine = "spark"}).Say(6, Generic(4, 1, {}));
  Say(6, Started(Task(4, 0))).Say(20, Finished(Task(4, 0)));
  const Snapshot silent = Tick(60);
  EXPECT_TRUE(silent.silent_since);
  EXPECT_FALSE(silent.idle_since) << "another stage may have begun";
  Say(70, ExecutorOpened{.executor = 0, .host = "h", .slots = 1});
  EXPECT_EQ(Tick(70).idle_since, At(20));
  EXPECT_TRUE(Tick(100).silent_since);
  EXPECT_EQ(Tick(100).idle_since, At(20)) << "it was idle before the silence";
}

TEST_F(JobSnapshotTest, AGroupCanBePublishedAsAJob) {
  Say(0, JobOpened{.name = "nightly", .engine = "spark"});
  Say(1, GroupOpened{"query 7", "the sales of May", At(1)}).Say(2, Generic(4, 2, {}));
  Say(2, StageOpened{.stage = 5, .group = "query 8", .task_count = 2});
  Say(2, Started(Task(4, 0))).Say(4, Finished(Task(4, 0)));
  Snapshot job = Tick(5);
  EXPECT_FALSE(SnapshotOfGroup(job, "query 8").has_value());  // The group is unknown.
  Snapshot group = SnapshotOfGroup(job, "query 7").value();
  EXPECT_EQ(group.job_id, "job-1/query 7");
  EXPECT_EQ(group.info->name, "the sales of May");
  EXPECT_EQ(group.info->kind, JobKind::kApplication);
  EXPECT_EQ(group.started_at, At(1));
  EXPECT_FALSE(group.is_final);
  EXPECT_EQ(group.estimate.state, EstimateState::kValid);
  EXPECT_EQ(group.estimate.remaining, job.groups[0].ends_in);
  EXPECT_EQ(group.counts.stages, 1u);
  EXPECT_EQ(group.counts.tasks, 2u);
  EXPECT_EQ(group.stages.at(0).id, (StageId{0, 4}));
  Say(6, GroupClosed{.group = "query 7", .at = At(6)});
  group = SnapshotOfGroup(Tick(7), "query 7").value();
  EXPECT_TRUE(group.is_final);
  EXPECT_EQ(group.state, JobState::kSucceeded);
  EXPECT_EQ(group.estimate.fraction_done, 1);
  EXPECT_EQ(group.ended_at, At(6));
}

TEST_F(JobSnapshotTest, StagesOfEveryEngineAppearWithCountsAndStates) {
  Say(0, JobOpened{.name = "query", .engine = "spark"}, Generic(4, 2, {}), Generic(9, 3, {4}));
  StageOpened skipped = Generic(2, 5, {});
  skipped.skipped = true;
  Say(0, skipped).Say(1, Started(Task(4, 0)), Started(Task(4, 1)));
  Say(5, Finished(Task(4, 0))).Say(6, FailedBecause(Task(4, 1), "fetch failed"));
  const Snapshot& job = Tick(7);
  EXPECT_EQ(job.info->kind, JobKind::kApplication);
  ASSERT_THAT(job.stages, SizeIs(3));
  EXPECT_EQ(job.stages[0].id, (StageId{0, 2}));
  EXPECT_EQ(job.stages[0].state, StageState::kSkipped);
  const StageProgress& first = job.stages[1];
  EXPECT_EQ(Words(first), "running 1/2, 50 %, 1 failed (fetch failed)");
  EXPECT_EQ(first.started_at, At(1));
  EXPECT_EQ(job.stages[2].state, StageState::kPending);
  EXPECT_EQ(job.stage_infos[2].name, "stage 9");
  EXPECT_EQ(job.stage_infos[2].group, "query 7");
  EXPECT_EQ(job.stage_infos[2].pool, "fast");
  EXPECT_THAT(job.stage_infos[2].parents, ElementsAre(4));
  EXPECT_EQ(job.counts.stages, 3u);
  EXPECT_EQ(job.counts.finished_stages, 1u);
}

TEST_F(JobSnapshotTest, ASkippedStageWithRunningTasksRuns) {
  Say(0, JobOpened{.name = "query"});
  StageOpened skipped = Generic(4, 2, {});
  skipped.skipped = true;
  Say(0, skipped);
  EXPECT_EQ(Tick(1).stages[0].state, StageState::kSkipped);
  Say(2, Generic(4, 2, {}), Started(Task(4, 0)));
  EXPECT_EQ(Words(Tick(3).stages[0]), "running 0/2, 1 running, 0 %");
}

TEST_F(JobSnapshotTest, AStageFallsBackWhenItLosesAnOutput) {
  Say(0, JobOpened{.name = "query"}, Generic(4, 2, {})).Say(1, Started(Task(4, 0)));
  Say(2, Finished(Task(4, 0)));
  EXPECT_EQ(Tick(3).stages[0].fraction_done, 0.5);
  Say(4, AttemptChanged{.attempt = Task(4, 0), .state = AttemptState::kObsolete});
  EXPECT_EQ(Tick(5).stages[0].fraction_done, 0);
  Say(7, Again(Generic(4, 4, {})));
  EXPECT_EQ(Tick(8).stages[0].fraction_done, 0);
}

TEST_F(JobSnapshotTest, AStageWithoutACountHasTheReportedTasks) {
  Say(0, JobOpened{.name = "query"}).Say(1, Started(Task(4, 5)));
  EXPECT_EQ(Tick(2).stages.at(0).tasks, 1u);
}

TEST_F(JobSnapshotTest, OfFailuresAtOneInstantTheLastTaskCounts) {
  Say(0, JobOpened{.name = "query"});
  for (const std::uint32_t index : {2U, 7U, 1U}) Say(1, Started(Task(4, index)));
  for (const std::uint32_t index : {2U, 7U, 1U}) {
    Say(3, FailedBecause(Task(4, index), "task " + std::to_string(index)));
  }
  EXPECT_EQ(Tick(4).stages.at(0).failure, "task 7");
}

// Adaptive execution may have abandoned the stage, or the report of its end was lost.
TEST_F(JobSnapshotTest, AStageWithoutAnEndHasAnUnknownOutcome) {
  Say(0, JobOpened{.name = "query", .engine = "spark"}, GroupOpened{"query 7", "", At(0)});
  Say(0, Generic(4, 3, {}), Generic(9, 3, {4})).Say(1, Started(Task(4, 0)));
  Say(1, Started(Task(4, 1))).Say(2, Finished(Task(4, 0)));
  Say(4, Closed());
  const Snapshot end = Tick(5);
  EXPECT_EQ(end.state, JobState::kSucceeded);
  ASSERT_THAT(end.stages, SizeIs(2));
  EXPECT_EQ(Words(end.stages[0]), "unknown end 1/3, 33 %");
  EXPECT_EQ(end.counts.running_tasks, 0u);
  ASSERT_THAT(end.groups, SizeIs(1));
  EXPECT_EQ(end.groups[0].state, JobState::kUnknownEnd);
  EXPECT_LT(end.groups[0].fraction_done, 1);
}

// A MapReduce job consists of its two stages.
TEST_F(JobSnapshotTest, BothStagesOfAMapReduceJobEndAsItDoes) {
  Say(0, Opened(2, 0)).Say(1, Started(M(0))).Say(4, Closed());
  EXPECT_EQ(Words(Tick(5).stages[0]), "done 2/2, 100 %");
}

TEST_F(JobSnapshotTest, AStageMayEndWithAnUnknownOutcome) {
  Say(0, JobOpened{.name = "query", .engine = "spark"}, Generic(4, 3, {}));
  Say(1, Started(Task(4, 0)));
  Say(2, StageClosed{.stage = 4, .outcome = JobOutcome::kUnknown, .at = At(2)});
  const Snapshot job = Tick(3);
  EXPECT_EQ(Words(job.stages[0]), "unknown end 0/3, 0 %");
  EXPECT_FALSE(job.stages[0].ended_at) << "nobody reported when";
}

TEST_F(JobSnapshotTest, AStageThatRanWhenItsJobWasKilledHasFailed) {
  Say(0, Opened(2, 1)).Say(1, Started(M(0))).Say(2, Finished(M(0)), Started(M(1)), Started(R(0)));
  Say(4, JobClosed{.outcome = JobOutcome::kKilled});
  const Snapshot end = Tick(5);
  ASSERT_THAT(end.stages, SizeIs(2));
  EXPECT_EQ(Words(end.stages[0]), "failed 1/2, 50 %");
  EXPECT_EQ(end.counts.running_tasks, 0u);
  EXPECT_EQ(end.stages[1].shuffle->running_tasks, 0u);
}

// Returns the published range of the only stage of a job. `stage` is the forecast of the stage.
// `drawn` is the range of the job in its draws, and `shown` is its published range.
Range Forecast(const dag::SecondsRange& drawn, const Range& shown, const Range& stage) {
  monitor::StagesEstimate estimate;
  estimate.end = drawn;
  estimate.predictions.push_back({.id = {0, 1}, .ends_in = stage});
  Snapshot job;
  job.stages.push_back({.id = {0, 1}, .state = StageState::kRunning, .started_at = At(0)});
  job.stage_infos.push_back({.id = {0, 1}});
  job.estimate.remaining = shown;
  monitor::AddForecasts(estimate, job);
  return *job.stages[0].ends_in;
}

Range Seconds(double median, double lower, double upper) {
  return {absl::Seconds(median), absl::Seconds(lower), absl::Seconds(upper)};
}

TEST(AddForecasts, StagesAreWidenedLikeTheirJob) {
  EXPECT_EQ(Forecast({100, 90, 120}, Seconds(100, 80, 140), Seconds(20, 15, 26)),
            Seconds(20, 10, 32));
}

// According to the draws, the end of the job is almost certain.
TEST(AddForecasts, NoStageIsWidenedBeyondItsJob) {
  EXPECT_EQ(Forecast({100, 100 - 1e-12, 100 + 1e-12}, Seconds(100, 90, 110), Seconds(20, 15, 25)),
            Seconds(20, 0, 110));
}

}  // namespace
}  // namespace tidemark::job_snapshot_test
