#include "console/job_summary.h"
#include "console/waits_table.h"
#include "tests/console/some_jobs.h"
#include "tests/test.h"

namespace tidemark::console::time_spent_test {
namespace {

constexpr TextOptions kAscii = {};
const absl::StatusOr<Explanation> kNone = absl::UnknownError("no master reported them");

// Returns a job of 100 s. Its map stage ran from 0 to 20 s, and its reduce stage ran from 10 s to
// the end.
Snapshot Long() {
  Snapshot job = Ended(JobState::kSucceeded);
  const absl::Time start = *job.started_at;
  job.at = start + absl::Seconds(100);
  job.ended_at = job.at;
  job.stages[0].started_at = start;
  job.stages[0].ended_at = start + absl::Seconds(20);
  job.stages[1].started_at = start + absl::Seconds(10);
  job.stages[1].ended_at = job.at;
  return job;
}

// Returns the same job at a time when one reduce task is running and the other tasks have ended.
Snapshot Alone(double seconds, std::uint64_t group_bytes = 0) {
  Snapshot job = SomeSnapshot();
  job.at = *job.started_at + absl::Seconds(seconds);
  job.counts.running_tasks = 1;
  job.counts.finished_tasks = 11;
  job.stages[1].running_tasks = 1;
  job.stages[1].finished_tasks = 3;
  job.named_tasks[0].in_heaviest_group = group_bytes > 0;
  job.named_tasks[0].heaviest_group_bytes = group_bytes;
  return job;
}

std::optional<LoneTask> After(const std::vector<Snapshot>& snapshots) {
  LoneTaskWatch watch;
  for (const Snapshot& snapshot : snapshots) watch.Add(snapshot);
  return watch.task();
}

Explanation Waits(double late_seconds, double skew_seconds = 0) {
  QueryWaits query = {.query = "sql/3", .seconds = 100, .skew_seconds = skew_seconds};
  query.culprits = {{.job_id = "app-7",
                     .query = "sql/1",
                     .resource = WaitReason::kProcessor,
                     .host = "node-3",
                     .seconds = late_seconds}};
  return {.job_id = "app-6", .queries = {query}};
}

Snapshot WithoutStages() {
  Snapshot job = Long();
  job.stages.clear();
  job.stage_infos.clear();
  return job;
}

// Returns the paragraph about a job of 100 s.
std::string Spent(const absl::StatusOr<Explanation>& waits,
                  const std::optional<LoneTask>& lone = {}) {
  return TimeSpentText(Long(), lone, waits, kAscii);
}

TEST(LoneTask, RunsAfterAllOthers) {
  EXPECT_EQ(After({SomeSnapshot()}), std::nullopt) << "two run";
  const auto lone = After({SomeSnapshot(), Alone(60), Alone(80)});
  ASSERT_TRUE(lone);
  EXPECT_EQ(lone->attempt.index, 2U);
  EXPECT_EQ(lone->since, Alone(60).at);
  EXPECT_EQ(After({Alone(60), SomeSnapshot()}), std::nullopt) << "another started";
}

TEST(LoneTask, IsMissingWhileOthersWaitForItsSlot) {
  Snapshot one_slot = Alone(60);
  one_slot.counts.finished_tasks = 7;
  EXPECT_EQ(After({one_slot}), std::nullopt);
}

// From 30 to 50 s, one of four reduce tasks runs, and the other tasks wait for its slot.
TEST(LoneTask, IsMissingIfItMayHaveWaitedForASlot) {
  Snapshot one_slot = SomeSnapshot();
  one_slot.stages[1].running_tasks = 1;
  one_slot.counts.running_tasks = 1;
  Snapshot later = one_slot;
  one_slot.at = *one_slot.started_at + absl::Seconds(30);
  later.at = *later.started_at + absl::Seconds(50);
  EXPECT_EQ(After({one_slot, later, Alone(60), Alone(259)}), std::nullopt) << "20 s of 199 s";
  EXPECT_TRUE(After({one_slot, later, Alone(60), Alone(261)})) << "hardly later";
}

TEST(LoneTask, RecordsOneKeyGroupAtATime) {
  const auto lone = After({Alone(50, 7), Alone(60, 1'200'000), Alone(75, 1'200'000), Alone(80)});
  ASSERT_TRUE(lone);
  EXPECT_EQ(lone->group_bytes, 1'200'000U);
  EXPECT_EQ(lone->group_until - lone->group_since, absl::Seconds(15));
}

TEST(LoneTask, IgnoresTheFinalSnapshot) {
  EXPECT_EQ(After({Alone(60), Long()}), After({Alone(60)}));
}

// The stages ran from 30 to 50 s, from 40 to 60 s, and from 70 to 80 s of 100 s.
TEST(TimeSpent, StatesHowLongAnApplicationRanNoTask) {
  Snapshot job = Long();
  const auto text = [&] { return TimeSpentText(job, {}, kNone, kAscii); };
  job.info->kind = JobKind::kApplication;
  job.info->engine = "spark";
  job.stages.push_back(job.stages[1]);
  job.stages[2].id.stage = 2;
  const absl::Time start = *job.started_at;
  const double times[][2] = {{30, 50}, {40, 60}, {70, 80}};
  for (std::size_t i = 0; i < 3; ++i) {
    job.stages[i].started_at = start + absl::Seconds(times[i][0]);
    job.stages[i].ended_at = start + absl::Seconds(times[i][1]);
  }
  EXPECT_THAT(text(), HasSubstr("No task ran for 1 min of 1 min 40 s: the driver, or the wait for "
                                "executors, took this time."));
  job.stages[2].ended_at.reset();
  EXPECT_THAT(text(), HasSubstr("No task ran for 40 s of 1 min 40 s: "));
  job.info->engine = "tez";
  EXPECT_THAT(text(), HasSubstr("40 s: the application, or the wait for resources, took"));
  job.info->engine = "spark";
  job.stages[2].started_at = start + absl::Seconds(60);
  EXPECT_THAT(text(), HasSubstr("30 s of 1 min 40 s passed before the first task: the driver"));
  job.stages[0].started_at = start + absl::Seconds(9);
  EXPECT_THAT(text(), Not(HasSubstr("first task")));
}

// The first map task started after 38 of 100 s.
TEST(TimeSpent, StatesTheTimeBeforeTheFirstTaskOfAMapReduceJob) {
  Snapshot job = Long();
  job.stages[0].started_at = *job.started_at + absl::Seconds(38);
  job.stages[0].ended_at = *job.started_at + absl::Seconds(60);
  job.stages[1].started_at = job.stages[0].ended_at;
  const std::string text = TimeSpentText(job, {}, Waits(9), kAscii);
  EXPECT_THAT(text, HasSubstr("38 s of 1 min 40 s passed before the first task: the start of the "
                              "job, or its wait for slots, took this time."));
  EXPECT_THAT(text, Not(HasSubstr("No known wait")));
  job.stages[0].started_at = *job.started_at + absl::Seconds(9);
  EXPECT_THAT(TimeSpentText(job, {}, Waits(9), kAscii), HasSubstr("No known wait"));
}

TEST(TimeSpent, NamesTheLongestStage) {
  EXPECT_EQ(
      Spent(kNone),
      "The longest stage, reduce, took 1 min 30 s of 1 min 40 s. The job's waits are unknown: no "
      "master reported them.");
}

TEST(TimeSpent, ShowsTenthsOfShortTimes) {
  Snapshot job = Long();
  job.ended_at = *job.started_at + absl::Seconds(10.4);
  job.at = *job.ended_at;
  job.stages[0].ended_at = *job.started_at + absl::Seconds(4.1);
  job.stages[1].started_at = *job.started_at + absl::Seconds(4.6);
  job.stages[1].ended_at = job.ended_at;
  EXPECT_THAT(TimeSpentText(job, {}, kNone, kAscii),
              HasSubstr("The longest stage, reduce, took 5.8 s of 10 s."));
}

TEST(TimeSpent, NamesTheTaskThatRanAlone) {
  EXPECT_THAT(
      Spent(kNone, After({Alone(60), Alone(99)})),
      HasSubstr(
          "Reduce task 2 ran alone for at least the last 40 s: more slots would not have helped; "
          "tasks of equal length would, or a speculative attempt if its host was slow."));
}

TEST(TimeSpent, NamesTheKeyGroupOfTheTask) {
  EXPECT_THAT(
      Spent(kNone, After({Alone(60, 1'200'000), Alone(99, 1'200'000)})),
      HasSubstr("at least 39 s of that in one key group of 1.2 MB: more slots would not have "
                "helped; a combiner, or splitting the key (salting), might help."));
}

// The task ran alone for 40 of 100 s, and spent 70 s in one key group.
TEST(TimeSpent, UsesTheKeyGroupAndHostOfTheMaster) {
  Explanation waits = Waits(0);
  waits.queries[0].longest_task = LongestTask{.attempt = {.stage = 1, .index = 2},
                                              .kind = StageKind::kReduce,
                                              .host = "node-3",
                                              .seconds = 80,
                                              .mean_seconds = 30,
                                              .group_bytes = 1'200'000,
                                              .group_seconds = 70};
  EXPECT_THAT(
      Spent(waits, After({Alone(60), Alone(99)})),
      HasSubstr(
          "Reduce task 2 on node-3 ran alone for at least the last 40 s; it took 1 min 20 s (mean "
          "of its stage: 30 s), 1 min 10 s of that in one key group of 1.2 MB: more slots would "
          "not have helped; a combiner, or splitting the key (salting), might help."));
  EXPECT_THAT(Spent(waits),
              HasSubstr("Reduce task 2 on node-3 took 1 min 20 s (mean of its stage: 30 s), 1 min "
                        "10 s of that in one key group of 1.2 MB: a combiner, or splitting"))
      << "it may have waited for a slot";
  waits.queries[0].longest_task->group_bytes = 0;
  EXPECT_THAT(
      Spent(waits),
      HasSubstr("(mean of its stage: 30 s): if it read more data than the others, more even "
                "partitions would help; if its host was slow, a speculative attempt would."));
}

TEST(TimeSpent, OmitsSmallCosts) {
  EXPECT_EQ(
      Spent(kNone, After({Alone(90), Alone(99)})),
      "The longest stage, reduce, took 1 min 30 s of 1 min 40 s. The job's waits are unknown: no "
      "master reported them.");
  EXPECT_EQ(Spent(Waits(9, 9)),
            "The longest stage, reduce, took 1 min 30 s of 1 min 40 s. No known wait took 10 % or "
            "more of the job's time.");
}

// The finding is 12 of 100 s, as in the table.
TEST(TimeSpent, ContainsTheFindingsOfWhy) {
  Explanation waits = Waits(0);
  waits.queries[0].culprits.clear();
  waits.queries[0].waits[WaitReason::kMemory] = {12, true};
  EXPECT_THAT(Spent(waits), HasSubstr("sql/3 waited at least 12 s of 1 min 40 s for garbage "
                                      "collection; the cause is unknown. More memory might help."));
  waits.queries[0].data_growth = DataGrowth{
      .task_seconds = 40, .read_bytes = 20e9, .earlier_read_bytes = 10e9, .all_task_seconds = 80};
  EXPECT_THAT(Spent(waits), HasSubstr("Stages of sql/3 read 20.0 GB (past runs: 10.0 GB); the "
                                      "additional data cost their tasks about 40 s in total."));
}

TEST(TimeSpent, NamesTheCauseOfAWait) {
  const Explanation waits = Waits(40);
  EXPECT_THAT(Spent(waits),
              HasSubstr("sql/3 waited 40 s of 1 min 40 s for CPU on node-3 behind app-7/sql/1. "
                        "More CPUs, or running the jobs at different times, might help."));
}

TEST(TimeSpent, SuggestsNoOtherTimeWithoutAJob) {
  Explanation waits = Waits(40);
  waits.queries[0].culprits[0].job_id.clear();
  waits.queries[0].culprits[0].query.clear();
  waits.queries[0].culprits[0].jobs = 0;
  EXPECT_THAT(Spent(waits), HasSubstr("sql/3 waited 40 s of 1 min 40 s for CPU on node-3 behind "
                                      "processes outside Tidemark. More CPUs might help."));
}

// Processes outside Tidemark caused the larger part of the wait, and a job the smaller part.
TEST(TimeSpent, NamesEachJobOfWhy) {
  Explanation waits = Waits(12);
  QueryWaits& query = waits.queries[0];
  query.waits[WaitReason::kProcessor] = {30, true};
  ContendingQuery unreported = query.culprits[0];
  unreported.job_id.clear();
  unreported.query.clear();
  unreported.jobs = 0;
  unreported.seconds = 13;
  query.culprits.insert(query.culprits.begin(), unreported);
  const std::string spent = Spent(waits);
  EXPECT_THAT(spent,
              HasSubstr("sql/3 waited at least 30 s of 1 min 40 s for CPU on node-3: at least 13 s "
                        "behind processes outside Tidemark, at least 12 s behind app-7/sql/1. More "
                        "CPUs, or running the jobs at different times, might help."));
  for (const std::string& sentence : DescribeWaits(waits, {}, kAscii).sentences) {
    EXPECT_THAT(spent, HasSubstr(sentence)) << "one wording for both";
  }
}

TEST(TimeSpent, ShowsTheLimitsOfACause) {
  Explanation waits = Waits(40);
  ContendingQuery& culprit = waits.queries[0].culprits[0];
  culprit.seconds_lower = 30.9;
  culprit.seconds_upper = 52.1;
  EXPECT_THAT(
      Spent(waits),
      HasSubstr("sql/3 waited 40 s (30-53 s) of 1 min 40 s for CPU on node-3 behind app-7"));
  culprit.jobs = 0;
  culprit.job_id.clear();
  culprit.seconds_lower = 0;
  EXPECT_THAT(Spent(waits),
              HasSubstr("sql/3 waited 40 s (0-53 s) of 1 min 40 s for CPU on node-3 behind proc"));
  culprit.seconds_lower = 39.5;
  culprit.seconds_upper = 40.2;
  EXPECT_THAT(Spent(waits), HasSubstr("waited 40 s of"));
}

TEST(TimeSpent, ShowsLowerBoundsOfAnIncompleteAnswer) {
  Explanation waits = Waits(40);
  waits.queries[0].culprits[0].seconds_lower = 30;
  waits.queries[0].culprits[0].seconds_upper = 52;
  waits.more_to_come = true;
  waits.at = *Long().ended_at - absl::Seconds(3);
  EXPECT_THAT(Spent(waits),
              HasSubstr("sql/3 waited at least 40 s of 1 min 40 s for CPU on node-3 behind app-7"));
}

// The master was restarted while the job ran.
TEST(TimeSpent, ComparesWaitsWithTheObservedTime) {
  Explanation waits = Waits(40);
  waits.queries[0].seconds = 60;
  waits.is_partial = true;
  waits.since = *Long().started_at + absl::Seconds(40);
  EXPECT_THAT(Spent(waits), HasSubstr("sql/3 waited 40 s of the observed 1 min for CPU on node-3"));
}

TEST(TimeSpent, NamesTheKindOfATaskAfterARestart) {
  Explanation waits = Waits(0);
  waits.queries[0].longest_task =
      LongestTask{.attempt = {.stage = 1, .index = 2}, .seconds = 80, .mean_seconds = 30};
  EXPECT_THAT(Spent(waits), HasSubstr("Reduce task 2 took 1 min 20 s"));
}

// The first report of the stage arrived late.
TEST(TimeSpent, ShowsNoStageThatIsShorterThanItsTask) {
  Explanation waits = Waits(0);
  waits.queries[0].longest_task =
      LongestTask{.attempt = {.stage = 1, .index = 2}, .seconds = 95, .mean_seconds = 94};
  EXPECT_THAT(Spent(waits), HasSubstr("The longest stage, reduce, took at least 1 min 35 s of"));
  waits.queries[0].longest_task->seconds = 101;
  EXPECT_THAT(Spent(waits), HasSubstr("The longest stage, reduce, took 1 min 30 s of"))
      << "clocks differ";
}

TEST(TimeSpent, ReportsSkew) {
  const Explanation waits = Waits(0, 30);
  EXPECT_THAT(Spent(waits),
              HasSubstr("Excluding waits, the longest tasks of sql/3 took 30 s longer than the "
                        "average task of their stages. If they read more data than the others, "
                        "more even partitions would help."));
}

TEST(TimeSpent, ReportsWhyWaitsAreUnknown) {
  const Snapshot bare = WithoutStages();
  EXPECT_EQ(
      TimeSpentText(bare, {}, absl::UnimplementedError("this master does not report them"), kAscii),
      "The job's waits are unknown: this master does not report them.");
  Explanation waits = {.job_id = "app-6"};
  EXPECT_EQ(TimeSpentText(bare, {}, waits, kAscii),
            "The job's waits are unknown: the master has no reports of its running tasks.");
  waits.more_to_come = true;
  EXPECT_EQ(TimeSpentText(bare, {}, waits, kAscii),
            "The job's waits are unknown: reports of other tasks were missing when it ended.");
  waits.queries = {{.query = "sql/3", .seconds = 100}};
  EXPECT_EQ(TimeSpentText(bare, {}, waits, kAscii),
            "The job's waits are unknown: its tasks reported none.");
  waits.queries[0].waits[WaitReason::kProcessor] = {0.0, false};
  waits.is_partial = true;
  waits.at = *bare.ended_at - absl::Seconds(12);
  EXPECT_EQ(
      TimeSpentText(bare, {}, waits, kAscii),
      "No known wait took 10 % or more of the job's time. The job's waits are incomplete: the job "
      "exceeded the master's limits. The waits of the job's last 12 s are unknown: reports of "
      "other tasks were missing when it ended.");
  waits.more_to_come = false;
  waits.since = *bare.started_at + absl::Seconds(9);
  EXPECT_EQ(
      TimeSpentText(bare, {}, waits, kAscii),
      "No known wait took 10 % or more of the job's time. The waits of the job's first 9.0 s are "
      "unknown: the master was restarted, or the job began before its first report.");
  waits.more_to_come = true;
  waits.is_partial = false;
  waits.at = *bare.ended_at - absl::Seconds(9);
  EXPECT_EQ(TimeSpentText(bare, {}, waits, kAscii),
            "No known wait took 10 % or more of the job's time.");
}

TEST(TimeSpent, IgnoresNaN) {
  const Snapshot bare = WithoutStages();
  Explanation odd =
      Waits(std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::quiet_NaN());
  EXPECT_EQ(TimeSpentText(bare, {}, odd, kAscii),
            "No known wait took 10 % or more of the job's time.");
  odd.queries[0].seconds.reset();
  EXPECT_EQ(TimeSpentText(bare, {}, odd, kAscii),
            "No known wait took 10 % or more of the job's time.");
}

TEST(TimeSpent, IsEmptyForFailedRunningAndShortJobs) {
  Snapshot job = Long();
  job.state = JobState::kFailed;
  EXPECT_EQ(TimeSpentText(job, After({Alone(60)}), kNone, kAscii), "");
  EXPECT_EQ(TimeSpentText(Alone(60), After({Alone(60)}), kNone, kAscii), "");
  job = Long();
  job.ended_at = *job.started_at + absl::Seconds(9);
  EXPECT_EQ(TimeSpentText(job, {}, kNone, kAscii), "");
}

TEST(TimeSpent, NamesTheLongestJobOfAWorkflow) {
  Snapshot workflow = Visits();
  workflow.is_final = true;
  workflow.state = JobState::kSucceeded;
  workflow.at = *workflow.started_at + absl::Seconds(100);
  workflow.ended_at = workflow.at;
  workflow.children[1].ended_at = *workflow.started_at + absl::Seconds(95);
  EXPECT_EQ(TimeSpentText(workflow, {}, kNone, kAscii),
            "The longest job, count, took 55 s of 1 min 40 s. `tidemark why JOB` shows the waits "
            "of each job.");
}

}  // namespace
}  // namespace tidemark::console::time_spent_test
