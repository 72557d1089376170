#include "absl/time/clock.h"
#include "master/store/workflow_log.h"
#include "tests/barrier.h"
#include "tests/dag/some_workflows.h"
#include "tests/monitor/virtual_job.h"
#include "tests/service/workflow_tables.h"
#include "tests/test.h"
#include "tidemark/limit.h"
#include "tidemark/master.h"
#include "tidemark/v1/event.pb.h"

namespace tidemark::service::workflow_table_test {
namespace {

using test::JobNamed;

class WorkflowTableTest : public test::WorkflowTables {
 protected:
  void SetUp() override { Start(0); }
  void Start(double seconds) { StartTables(seconds, {}, options_); }

  void Submit(const Plan& plan, double seconds = 0) {
    const auto mark = workflows_->Submit(plan, {}, At(seconds));
    ASSERT_TRUE(mark.ok()) << mark.status();
  }
  // Submits the plan. Keeps no mark of the log, since a mark would keep its lock.
  void SubmitDurably(const Plan& plan) {
    const auto position = workflows_->Submit(plan, {}, At(0)).value();
    ASSERT_TRUE(jobs_->journal().WaitUntilDurable(position));
  }
  // Reports a job that opened at `opened` and, unless `closed` is 0, ended at `closed`.
  Source RunJob(const std::string& id, double opened, double closed = 0,
                const JobClosed& end = Closed()) {
    Source source("master", id);
    Report(source, opened, Opened(1, 1));
    if (closed != 0) Report(source, closed, end);
    return source;
  }
  // Runs one round of the master.
  std::vector<Snapshot> Tick(double seconds) {
    TickJobs(seconds);
    std::vector<Snapshot> ticked;
    for (const auto& plan : workflows_->TickDue(At(seconds))) ticked.push_back(*plan.newest);
    return ticked;
  }
  std::string log() const { return store::WorkflowLogPath(directory_.path(), "wf"); }

  WorkflowTableOptions options_;
};

// Returns a plan of a, followed by b.
Plan Chain(const std::string& id = "wf") {
  return {.id = id, .jobs = {JobNamed("a"), JobNamed("b", {"a"})}, .cluster = {.slots = 2}};
}

// The plan Chain() is submitted at 0 s.
class SubmittedChain : public WorkflowTableTest {
 protected:
  void SetUp() override {
    WorkflowTableTest::SetUp();
    Submit(Chain());
  }
};

Plan ChainRetriedWithin(absl::Duration time) {
  Plan plan = Chain();
  plan.retry_within = time;
  return plan;
}

TEST_F(WorkflowTableTest, AWorkflowIsKnownOnceItIsSubmitted) {
  EXPECT_FALSE(IsKnown("wf"));
  Submit(Chain());
  EXPECT_EQ(Newest("wf").sequence, 0u);
  EXPECT_THAT(Tick(1), SizeIs(1));
  EXPECT_EQ(Newest("wf").sequence, 1u);
}

TEST(WorkflowTable, WithoutADataDirectoryASubmissionIsAnsweredAtOnce) {
  JobTable jobs({});
  WorkflowTable workflows({}, jobs);
  const auto mark = workflows.Submit(Chain(), {}, At(0)).value();
  EXPECT_TRUE(jobs.journal().IsDurable(mark));
}

TEST_F(SubmittedChain, TheSameSubmissionAgainIsHarmlessAndAnotherIsRefused) {
  EXPECT_TRUE(workflows_->Submit(Chain(), {}, At(5)).ok());
  Plan other = Chain();
  other.cluster.slots = 3;
  EXPECT_TRUE(absl::IsAlreadyExists(workflows_->Submit(other, {}, At(5)).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(workflows_->Submit({.id = "x"}, {}, At(5)).status()));
}

TEST_F(SubmittedChain, RejectsThePlanOfAnEndedWorkflowUntilItIsForgotten) {
  RunJob("a-1", 1, 2, Closed(JobOutcome::kKilled));
  Tick(3);
  const Snapshot final = Newest("wf");
  ASSERT_TRUE(final.is_final);
  Plan other = Chain();
  other.jobs[1].job_id = "b-2";
  for (const bool is_restarted : {false, true}) {
    if (is_restarted) Start(10);
    for (const Plan& plan : {Chain(), other}) {
      const absl::Status refused = workflows_->Submit(plan, {}, At(11)).status();
      EXPECT_TRUE(absl::IsAlreadyExists(refused)) << refused;
      EXPECT_THAT(std::string(refused.message()),
                  "workflow wf has ended, so nothing would run; submit the plan under another id, "
                  "or remove the ended workflow first with `tidemark forget wf`");
    }
    EXPECT_THAT(Tick(13), IsEmpty());
    EXPECT_EQ(Newest("wf"), final) << "a refused submission changes nothing";
  }
  ASSERT_TRUE(workflows_->Forget("wf", "").ok());
  EXPECT_TRUE(workflows_->Submit(Chain(), {}, At(14)).ok());
}

TEST_F(SubmittedChain, RejectsThePlanOfACancelledWorkflowBeforeItsLastTick) {
  ASSERT_THAT(Tick(1), SizeIs(1));
  ASSERT_TRUE(workflows_->Update("wf", {.cancel = true}, At(2)).ok());
  ASSERT_FALSE(Newest("wf").is_final);
  for (const bool is_restarted : {false, true}) {
    if (is_restarted) Start(3);
    const absl::Status refused = workflows_->Submit(Chain(), {}, At(3)).status();
    EXPECT_TRUE(absl::IsAlreadyExists(refused)) << refused;
    EXPECT_THAT(std::string(refused.message()), HasSubstr("so nothing would run"));
  }
  Tick(4);
  ASSERT_TRUE(Newest("wf").is_final);
  ASSERT_TRUE(workflows_->Forget("wf", "").ok());
  EXPECT_TRUE(workflows_->Submit(Chain(), {}, At(5)).ok());
}

TEST_F(SubmittedChain, AJobThatIsSilentKeepsItsWorkflowStillOverARestart) {
  Source a("master", "a-1");
  Report(a, 1, Opened(2, 1));
  Report(a, 1, test::Started(test::M(0), 100));
  for (int at = 2; at <= 20; ++at) {
    Report(a, at, test::Read(test::M(0), 5 * at));
    Tick(at);
  }
  const Snapshot heard = Newest("wf");
  ASSERT_GT(heard.estimate.fraction_done, 0);
  Start(120);
  const Snapshot restarted = Newest("wf");
  EXPECT_EQ(restarted.at, heard.at);
  EXPECT_NEAR(restarted.estimate.fraction_done, heard.estimate.fraction_done, 0.02);
  EXPECT_NEAR(restarted.children[0].estimate.fraction_done,
              heard.children[0].estimate.fraction_done, 0.02);
  const Snapshot silent = Tick(121).at(0);
  EXPECT_EQ(silent.estimate.fraction_done, restarted.estimate.fraction_done);
  EXPECT_EQ(silent.children[0].estimate.fraction_done,
            restarted.children[0].estimate.fraction_done);
  EXPECT_THAT(silent.notes, ElementsAre("job a: no report for 1 s"));
  EXPECT_EQ(silent.silent_since, At(120));
  Start(200);
  EXPECT_EQ(Newest("wf").estimate.fraction_done, silent.estimate.fraction_done);
  EXPECT_GT(Newest("wf").children[0].estimate.fraction_done, 0) << "its own bar";
}

TEST_F(WorkflowTableTest, ChangesBetweenTwoTicksSurviveARestart) {
  Submit(ChainRetriedWithin(absl::Hours(1)));
  Source a("master", "a-1");
  Source c("master", "c-1");
  Report(a, 1, Opened(1, 1));
  Tick(2);
  Report(a, 3, Closed(JobOutcome::kFailed));
  Report(c, 3, Opened(1, 1));
  // The job was observed, but no snapshot of the plan contains the job yet.
  TickJobs(4);
  ASSERT_TRUE(workflows_->Attach("wf", "a", "a-2", At(5)).ok());
  ASSERT_TRUE(
      workflows_->Update("wf", {.add_jobs = {JobNamed("c")}, .cancel_jobs = {"a"}}, At(5)).ok());
  ASSERT_TRUE(workflows_->Attach("wf", "b", "b-2", At(6)).ok());
  Start(7);
  EXPECT_THAT(recovery_.damages, IsEmpty());
  const Snapshot plan = Newest("wf");
  ASSERT_THAT(plan.children, SizeIs(3));
  EXPECT_EQ(plan.children[0].job_id, "a-2");
  EXPECT_EQ(plan.children[0].state, ChildState::kCancelled);
  EXPECT_EQ(plan.children[0].failed_attempts, 1u);
  EXPECT_EQ(plan.children[1].job_id, "b-2");
  EXPECT_THAT(plan.children[1].after, IsEmpty());
  EXPECT_EQ(plan.children[2].state, ChildState::kRunning);
}

// Returns a plan with more than 50 jobs, which makes its workflow heavy.
Plan Heavy() {
  Plan plan = {.id = "heavy"};
  for (int i = 0; i < 51; ++i) plan.jobs.push_back(JobNamed("job" + std::to_string(i)));
  return plan;
}

TEST_F(WorkflowTableTest, OtherWorkflowsArePublishedBeforeAHeavyOneIsEstimated) {
  std::uint64_t shown = 0;
  options_.estimate = [&](const dag::JobsNow& question) {
    if (question.jobs.size() > 50) shown = Newest("wf").sequence;
    return dag::ForecastJobs(question);
  };
  Start(0);
  Submit(Heavy());
  Submit(Chain());
  EXPECT_THAT(Tick(1), SizeIs(2));
  EXPECT_EQ(shown, 1u);
}

TEST_F(WorkflowTableTest, ACancelledWorkflowIsNotEstimated) {
  int estimates = 0;
  options_.estimate = [&](const dag::JobsNow& question) {
    ++estimates;
    return dag::ForecastJobs(question);
  };
  Start(0);
  Submit(Chain());
  ASSERT_TRUE(workflows_->Update("wf", {.cancel = true}, At(1)).ok());
  ASSERT_THAT(Tick(2), SizeIs(1));
  EXPECT_EQ(Newest("wf").state, JobState::kKilled);
  EXPECT_EQ(estimates, 0);
}

TEST_F(WorkflowTableTest, ARecordThatCannotBeAppliedAgainIsDamage) {
  std::string records;
  const store::LogKey key = store::NewLogKey();
  store::EncodeSubmission(Chain(), "", "", At(0), key, records);
  store::EncodeAttachment("no such job", "a-2", At(1), key, records);
  std::ofstream(log(), std::ios::binary) << records;
  Start(2);
  EXPECT_THAT(recovery_.damages, ElementsAre(HasSubstr("1 record was probably lost")));
  EXPECT_THAT(Newest("wf").notes, Contains(HasSubstr("log of this workflow was damaged")));
}

TEST_F(WorkflowTableTest, AJobThatIsLoggedWithoutAStateHasNotBegun) {
  std::string records;
  const store::LogKey key = store::NewLogKey();
  store::EncodeSubmission(Chain(), "", "", At(0), key, records);
  store::EncodeWorkflowTick({.sequence = 1, .at = At(1)}, {{"a", {.state = ChildState::kUnknown}}},
                            key, records);
  std::ofstream(log(), std::ios::binary) << records;
  Start(2);
  EXPECT_EQ(Newest("wf").children[0].state, ChildState::kAwaited);
}

TEST_F(WorkflowTableTest, AKilledJobWhoseRetryDoesNotComeAfterARestartKillsIt) {
  Submit(ChainRetriedWithin(absl::Seconds(60)));
  Source a = RunJob("a-1", 1);
  Tick(2);
  Report(a, 3, Closed(JobOutcome::kKilled));
  ASSERT_EQ(Tick(4).at(0).children[0].state, ChildState::kRetryable);
  Start(10);
  Tick(100);
  EXPECT_EQ(Newest("wf").state, JobState::kKilled);
  EXPECT_THAT(Newest("wf").message, HasSubstr("job a was killed"));
}

// During the restart, its jobs could not report, and no client could retry.
TEST_F(WorkflowTableTest, AWorkflowIsNotEndedByTheTimeOfARestart) {
  Submit(ChainRetriedWithin(absl::Seconds(60)));
  Source a = RunJob("a-1", 1);
  Tick(2);
  Report(a, 3, Closed(JobOutcome::kFailed));
  Tick(4);
  Start(10'000);
  Tick(10'060);
  EXPECT_EQ(Newest("wf").at, At(10'060));
  EXPECT_EQ(Newest("wf").children[0].state, ChildState::kRetryable);
  Tick(10'062);
  EXPECT_EQ(Newest("wf").state, JobState::kFailed);
}

TEST_F(SubmittedChain, SilenceBeforeAWorkflowIsAbandonedCountsFromTheRestart) {
  Tick(1);
  Start(10'000);
  Tick(10'000 + 15 * 60);
  EXPECT_EQ(Newest("wf").at, At(10'000 + 15 * 60));
  EXPECT_EQ(Newest("wf").state, JobState::kRunning);
  Tick(10'000 + 15 * 60 + 2);
  EXPECT_EQ(Newest("wf").state, JobState::kAbandoned);
  EXPECT_EQ(Newest("wf").message, "no report from any job for 15 min 02 s");
}

TEST_F(WorkflowTableTest, AJobThatIsSeenBeforeItsFirstTickShowsItsStages) {
  JobOpened opened = Opened(2, 1);
  opened.submitted_at = At(0);
  Source a("master", "a-1");
  Report(a, 5, opened);
  Submit(Chain(), 6);
  ASSERT_TRUE(workflows_->Attach("wf", "a", "a-1", At(6)).ok());
  Tick(7);
  EXPECT_EQ(Newest("wf").children[0].started_at, At(0));
  EXPECT_THAT(Newest("wf").stages, SizeIs(2));
}

TEST_F(SubmittedChain, TheEndOfAPlanIsTheSameAfterARestartAlsoWithoutItsJobs) {
  double at = 0;
  for (const std::string id : {"a-1", "b-1"}) {
    Source job("master", id);
    Report(job, ++at, Opened(1, 1));
    Tick(++at);
    Report(job, ++at, Closed());
    Tick(++at);
    ASSERT_TRUE(jobs_->Forget(id, "").ok());
  }
  const Snapshot end = Newest("wf");
  ASSERT_TRUE(end.is_final);
  EXPECT_THAT(end.stages, SizeIs(4));
  Start(10);
  EXPECT_EQ(Newest("wf"), end);
}

TEST_F(SubmittedChain, StagesOfAJobThatHasEndedAreShownAfterARestart) {
  Source a = RunJob("a-1", 1);
  Tick(2);
  Report(a, 3, Closed());
  const Snapshot before = Tick(4).at(0);
  ASSERT_THAT(before.stages, SizeIs(2));
  Start(10);
  EXPECT_EQ(Newest("wf").stages, before.stages);
  EXPECT_EQ(Newest("wf").stage_infos, before.stage_infos);
}

TEST_F(SubmittedChain, AWorkflowFollowsItsJobsToTheirEnd) {
  Source a("master", "a-1");
  Source b("master", "b-1");
  Report(a, 1, Opened(1, 1));
  EXPECT_EQ(Tick(2).front().children[0].state, ChildState::kRunning);
  Report(a, 3, Closed());
  Report(b, 4, Opened(1, 1));
  EXPECT_EQ(Tick(5).front().children[1].state, ChildState::kRunning);
  Report(b, 6, Closed());
  const auto last = Tick(7);
  ASSERT_THAT(last, SizeIs(1));
  EXPECT_EQ(last.front().state, JobState::kSucceeded);
  EXPECT_THAT(Tick(9), IsEmpty());
}

// One reduce task takes 475 s. The other takes 75 s, and then its slot is free.
TEST_F(WorkflowTableTest, TheTasksOfARunningJobReachItsWorkflow) {
  Plan submitted = {.id = "wf", .jobs = {JobNamed("a"), JobNamed("b")}, .cluster = {.slots = 2}};
  submitted.jobs[0].job_id = "job-1";
  submitted.jobs[1].profile = test::Profile(2, 10, 0, 0);
  Submit(submitted);
  for (const Event& event : test::Tell(test::QuadraticJob()).events) {
    if (event.arrived_at > At(50)) break;
    ASSERT_TRUE(jobs_->Ingest(wire::EncodeEvent(event), event.arrived_at).status.ok());
  }
  Tick(50);
  const std::optional<Range> starts_in = Newest("wf").children[1].starts_in;
  ASSERT_TRUE(starts_in.has_value());
  EXPECT_NEAR(absl::ToDoubleSeconds(starts_in->median), 12 + 75 - 50, 20);
}

TEST_F(WorkflowTableTest, AJobThatRunsAtTheSubmissionCounts) {
  Source a = RunJob("a-1", 1);
  Tick(4);
  Submit(Chain(), 5);
  Report(a, 6, Closed());
  const auto snapshots = Tick(7);
  ASSERT_THAT(snapshots, SizeIs(1));
  EXPECT_EQ(snapshots.front().children[0].state, ChildState::kSucceeded);
  EXPECT_EQ(snapshots.front().started_at, At(1));
}

// The id is used every night, and last night's run exists.
TEST_F(WorkflowTableTest, ARunThatEndedBeforeTheSubmissionDoesNotCountButTheNextOneDoes) {
  RunJob("a-1", 1, 3, Closed(JobOutcome::kFailed));
  Tick(4);
  Submit(Chain(), 5);
  for (const bool is_restarted : {false, true}) {
    if (is_restarted) Start(40);
    const auto snapshots = Tick(is_restarted ? 41 : 39);
    ASSERT_THAT(snapshots, SizeIs(1)) << is_restarted;
    EXPECT_EQ(snapshots.front().children[0].state, ChildState::kAwaited) << is_restarted;
    if (is_restarted) continue;
    EXPECT_THAT(snapshots.front().notes,
                Contains(HasSubstr("a-1 had ended before the workflow was submitted; attach it")));
  }
  Source tonight("master", "a-1", "tonight");
  Report(tonight, 42, Opened(1, 1));
  EXPECT_EQ(Tick(43).front().children[0].state, ChildState::kRunning);
  Report(tonight, 44, Closed());
  EXPECT_EQ(Tick(45).front().children[0].state, ChildState::kSucceeded);
}

TEST_F(WorkflowTableTest, ARunThatEndedBeforeTheSubmissionCountsOnceItIsAttached) {
  RunJob("a-1", 1, 3);
  Tick(4);
  Submit(Chain(), 5);
  Tick(6);
  ASSERT_TRUE(workflows_->Attach("wf", "a", "a-1", At(7)).ok());
  EXPECT_EQ(Tick(8).front().children[0].state, ChildState::kSucceeded);
  Start(9);
  EXPECT_EQ(Tick(11).front().children[0].state, ChildState::kSucceeded);
}

TEST_F(SubmittedChain, AWorkflowContinuesAfterAKillWithoutRepeatingASequenceOrGoingBack) {
  Source a = RunJob("a-1", 1);
  Tick(2);
  Report(a, 3, Closed());
  Tick(40);
  const Snapshot before = Newest("wf");
  const std::uint64_t run = hub_->Find("wf")->run;
  Start(50);
  EXPECT_EQ(recovery_.restored, 1u);
  const Snapshot after = Newest("wf");
  EXPECT_EQ(after.sequence, before.sequence + 1);
  EXPECT_GE(after.estimate.fraction_done, before.estimate.fraction_done);
  EXPECT_EQ(after.children[0].state, ChildState::kSucceeded);
  EXPECT_EQ(after.children[0].ended_at, before.children[0].ended_at);
  EXPECT_EQ(hub_->Find("wf")->run, run);
  RunJob("b-1", 51, 52);
  EXPECT_EQ(Tick(53).front().state, JobState::kSucceeded);
}

TEST_F(WorkflowTableTest, AWorkflowWithManyJobsCountsAsHeavyBeforeItsFirstTick) {
  Plan many = Chain("many-0");
  while (many.jobs.size() < 100) many.jobs.push_back(JobNamed(std::to_string(many.jobs.size())));
  for (const char* id : {"many-0", "many-1", "many-2", "many-3", "many-4"}) {
    many.id = id;
    Submit(many);
  }
  Submit(Chain("light"));
  EXPECT_THAT(Tick(1), SizeIs(2)) << "the light one, and one of the others at a time";
}

TEST_F(WorkflowTableTest, OneReporterLeavesRoomForTheWorkflowsOfOthers) {
  options_.workflows_max = 3;
  Start(0);
  for (const char* id : {"evil-1", "evil-2"}) {
    ASSERT_TRUE(workflows_->Submit(Chain(id), {.reporter = "evil"}, At(0)).ok());
  }
  ASSERT_TRUE(workflows_->Submit(Chain("good"), {.reporter = "good"}, At(0)).ok());
  const absl::Status refused =
      workflows_->Submit(Chain("evil-3"), {.reporter = "evil"}, At(0)).status();
  EXPECT_TRUE(absl::IsResourceExhausted(refused)) << refused;
}

TEST_F(WorkflowTableTest, AWorkflowContinuesAtOnceIfTheClockOfItsMasterIsSetBack) {
  const double later = absl::ToDoubleSeconds(absl::Now() + absl::Hours(1) - test::kBegin);
  Submit(Chain(), later);
  ASSERT_THAT(Tick(later), SizeIs(1));
  Stop();
  MasterOptions options;
  options.data_dir = directory_.path();
  options.tick_interval = options.tick_interval_min = absl::Milliseconds(10);
  const auto master = Master::Start(options).value();
  const absl::Time deadline = absl::Now() + absl::Seconds(60);
  const auto passed = [&] { return master->ListJobs().at(0).at - At(later); };
  while (passed() <= absl::ZeroDuration() && absl::Now() < deadline) {
    absl::SleepFor(absl::Milliseconds(1));
  }
  EXPECT_GT(passed(), absl::ZeroDuration());
}

TEST_F(SubmittedChain, TheFinalSnapshotStaysTheSameAfterAKill) {
  RunJob("a-1", 1, 3, Closed(JobOutcome::kFailed, "out of disk"));
  Tick(4);
  const Snapshot final = Newest("wf");
  ASSERT_EQ(final.state, JobState::kFailed);
  Start(50);
  EXPECT_EQ(Newest("wf"), final);
  EXPECT_THAT(Tick(60), IsEmpty());
}

TEST_F(WorkflowTableTest, AnAttachmentSurvivesAKill) {
  Plan submitted = Chain();
  submitted.jobs[0].job_id.clear();
  Submit(submitted);
  ASSERT_TRUE(workflows_->Attach("wf", "a", "late", At(1)).ok());
  EXPECT_TRUE(workflows_->Attach("wf", "a", "late", At(2)).ok());
  EXPECT_TRUE(absl::IsNotFound(workflows_->Attach("no", "a", "late", At(2)).status()));
  Start(5);
  EXPECT_EQ(Newest("wf").children[0].job_id, "late");
  Source late = RunJob("late", 6);
  EXPECT_EQ(Tick(7).front().children[0].state, ChildState::kRunning);
}

TEST_F(SubmittedChain, ATornEndIsCutOffAndReported) {
  Tick(1);
  const std::uint64_t sequence = Newest("wf").sequence;
  Stop();
  std::ofstream(log(), std::ios::binary | std::ios::app) << "torn";
  Start(5);
  EXPECT_THAT(recovery_.damages, ElementsAre(HasSubstr("the rest was moved to")));
  EXPECT_EQ(Newest("wf").sequence, sequence + 1);
  Start(6);
  EXPECT_THAT(recovery_.damages, IsEmpty());
  EXPECT_EQ(Newest("wf").sequence, sequence + 2);
}

TEST_F(WorkflowTableTest, DamageInALogCostsOneRecordAndIsReported) {
  Plan submitted = Chain();
  submitted.jobs[0].job_id.clear();
  SubmitDurably(submitted);
  const std::size_t submitted_bytes = std::filesystem::file_size(log());
  for (int second = 1; second < 20; ++second) Tick(second);
  const std::size_t ticked = std::filesystem::file_size(log());
  ASSERT_TRUE(workflows_->Attach("wf", "a", "late", At(20)).ok());
  Tick(21);
  const Snapshot newest = Newest("wf");
  Stop();
  for (const std::size_t place :
       {std::size_t{3}, submitted_bytes - 1, (submitted_bytes + ticked) / 2}) {
    std::fstream file(log(), std::ios::binary | std::ios::in | std::ios::out);
    file.seekg(static_cast<std::streamoff>(place));
    const int byte = file.get();
    file.seekp(static_cast<std::streamoff>(place)).put(static_cast<char>(byte ^ 1));
  }
  for (int restart = 0; restart < 2; ++restart) {
    Start(30 + restart);
    EXPECT_EQ(recovery_.restored, 1u);
    EXPECT_THAT(recovery_.damages, SizeIs(3));
    EXPECT_EQ(Newest("wf").children[0].job_id, "late") << "it is behind the damage";
    EXPECT_GT(Newest("wf").sequence, newest.sequence);
    EXPECT_THAT(Newest("wf").notes, Contains(HasSubstr("log of this workflow")));
  }
}

TEST_F(WorkflowTableTest, DamageToACopyOfTheSubmissionLosesNoRecord) {
  SubmitDurably(Chain());
  const std::size_t submitted = std::filesystem::file_size(log());
  Tick(1);
  Stop();
  std::fstream(log(), std::ios::binary | std::ios::in | std::ios::out)
      .seekp(static_cast<std::streamoff>(submitted - 1))
      .put('!');
  Start(5);
  EXPECT_THAT(recovery_.damages, ElementsAre(HasSubstr("no record was lost")));
  EXPECT_THAT(Newest("wf").notes, IsEmpty());
}

TEST_F(WorkflowTableTest, ALogOrDirectoryWithoutUseIsRenamed) {
  for (const bool is_directory : {false, true}) {
    Stop();
    if (is_directory) {
      std::filesystem::create_directory(log());
    } else {
      std::ofstream(log(), std::ios::binary) << "nonsense";
    }
    Start(5);
    EXPECT_THAT(recovery_.damages, ElementsAre(HasSubstr("it was renamed to")));
    EXPECT_EQ(recovery_.restored, 0u);
  }
}

TEST_F(WorkflowTableTest, ALogOfAnEarlierLayoutKeepsTheMasterFromStarting) {
  for (const char* magic : {"TIDEWFL2", "TIDEWFL4"}) {
    std::ofstream(log(), std::ios::binary) << magic << std::string(100, 'x');
    const absl::Status status = workflows_->Recover(At(0)).status();
    EXPECT_THAT(std::string(status.message()), HasSubstr("was written by an earlier version"));
    EXPECT_TRUE(std::filesystem::exists(log())) << "it is left as it is";
  }
}

TEST_F(WorkflowTableTest, TheOldestEndedWorkflowIsEvicted) {
  options_.workflows_max = 1;
  Start(0);
  Submit(Chain("one"));
  EXPECT_EQ(ExceededLimit(workflows_->Submit(Chain("two"), {}, At(1)).status()), "workflows");
  RunJob("a-1", 1, 2, Closed(JobOutcome::kKilled));
  Tick(3);
  EXPECT_TRUE(workflows_->Submit(Chain("two"), {}, At(4)).ok());
  EXPECT_FALSE(IsKnown("one"));
  Start(9);
  EXPECT_FALSE(IsKnown("one"));
  EXPECT_EQ(Newest("two").state, JobState::kRunning) << "a-1 had ended before";
}

TEST_F(WorkflowTableTest, PastRunsAreFoundByTheNameOfTheJob) {
  std::vector<std::string> asked;
  options_.runs = [&](const std::string& name, const store::Reported&) {
    asked.push_back(name);
    return std::vector<JobProfile>{test::Profile(2, 10, 2, 10)};
  };
  Start(0);
  Plan submitted = Chain();
  submitted.jobs[1].history_name = "nightly";
  Submit(submitted);
  const auto snapshots = Tick(1);
  EXPECT_THAT(asked, ElementsAre("a", "nightly"));
  EXPECT_EQ(snapshots.front().children[1].estimate.basis, Basis::kEarlierRuns);
  const auto fresh = workflows_->MakeHypothetical(Chain("other"), store::kAllIds, At(1));
  ASSERT_TRUE(fresh.ok());
  EXPECT_NEAR(
      absl::ToDoubleSeconds(fresh->Estimate(At(1), {})->snapshot.estimate.remaining->median), 40,
      4);
}

TEST_F(WorkflowTableTest, PastRunsOfApplicationsAreFoundByTheNameOfTheJob) {
  options_.runs = [](const std::string&, const store::Reported&) {
    return std::vector<JobProfile>();
  };
  options_.stage_runs = [](const std::string& name, const store::Reported&) {
    dag::StageRuns runs;
    if (name != "a") return runs;
    runs.push_back({.slots = 4});
    runs[0].stages.push_back({.name = "scan", .tasks = 4, .seconds = {{{10}, {10}, {10}, {10}}}});
    return runs;
  };
  Start(0);
  Submit(Chain());
  const auto snapshots = Tick(1);
  EXPECT_EQ(snapshots.front().children[0].estimate.basis, Basis::kEarlierRuns);
  EXPECT_EQ(snapshots.front().stage_infos[0].name, "scan");
}

// Waits until the barrier opens, and returns no runs.
std::vector<JobProfile> RunsBehind(test::Barrier& barrier) {
  barrier.Pass();
  return {};
}

constexpr std::chrono::seconds kDeadline(60);

// Waits for `call` while another call is blocked. Returns whether `call` has finished.
template <typename Call>
std::future_status Returns(std::future<Call>& call) {
  return call.wait_for(kDeadline);
}

TEST_F(WorkflowTableTest, ABlockedWorkflowBlocksNoOther) {
  test::Barrier held;
  options_.workflows_max = 2;
  options_.runs = [&](const std::string& name, const store::Reported&) {
    return name == "slow" ? RunsBehind(held) : std::vector<JobProfile>();
  };
  Start(0);
  Submit(Chain("ended"));
  RunJob("a-1", 1, 2, Closed(JobOutcome::kKilled));
  Tick(3);
  Plan slow = {.id = "slow", .jobs = {JobNamed("slow")}, .cluster = {.slots = 2}};
  Submit(slow, 4);
  auto ticked = std::async(std::launch::async, [&] { return Tick(5); });
  held.AwaitReached();
  auto submitted = std::async(std::launch::async, [&] {
    return workflows_->Submit(Chain("new"), {}, At(5)).ok() && IsKnown("new");
  });
  auto attached = std::async(
      std::launch::async, [&] { return workflows_->Attach("slow", "slow", "slow-2", At(5)).ok(); });
  EXPECT_EQ(Returns(submitted), std::future_status::ready);
  EXPECT_EQ(Returns(attached), std::future_status::ready);
  held.Open();
  EXPECT_TRUE(submitted.get());
  EXPECT_TRUE(attached.get());
  EXPECT_THAT(ticked.get(), SizeIs(1));
  EXPECT_FALSE(IsKnown("ended"));
}

TEST_F(WorkflowTableTest, AnEstimateBlocksNoCaller) {
  test::Barrier held;
  options_.estimate = [&](const dag::JobsNow& question) {
    if (!held.is_reached()) held.Pass();
    return dag::ForecastJobs(question);
  };
  Start(0);
  Submit(Chain());
  auto ticked = std::async(std::launch::async, [&] { return Tick(1); });
  held.AwaitReached();
  auto attached = std::async(std::launch::async,
                             [&] { return workflows_->Attach("wf", "a", "a-2", At(1)).ok(); });
  auto looked = std::async(std::launch::async, [&] { return IsKnown("wf"); });
  auto submitted =
      std::async(std::launch::async, [&] { return workflows_->Submit(Chain(), {}, At(1)).ok(); });
  EXPECT_EQ(Returns(attached), std::future_status::ready);
  EXPECT_EQ(Returns(looked), std::future_status::ready);
  EXPECT_EQ(Returns(submitted), std::future_status::ready);
  held.Open();
  EXPECT_TRUE(attached.get() && looked.get() && submitted.get());
  const auto snapshots = ticked.get();
  ASSERT_THAT(snapshots, SizeIs(1));
  EXPECT_EQ(snapshots.front().children[0].job_id, "a-2");
  EXPECT_TRUE(snapshots.front().estimate.remaining.has_value());
}

TEST_F(WorkflowTableTest, AHypotheticalEstimateBlocksNoCaller) {
  test::Barrier held;
  options_.runs = [&](const std::string&, const store::Reported&) { return RunsBehind(held); };
  Start(0);
  Plan one = {.id = "wf", .jobs = {JobNamed("a")}, .cluster = {.slots = 2}};
  Submit(one);
  auto asked = std::async(std::launch::async,
                          [&] { return workflows_->Copy("wf")->Estimate(At(1), {}).ok(); });
  held.AwaitReached();
  auto attached = std::async(std::launch::async,
                             [&] { return workflows_->Attach("wf", "a", "a-2", At(1)).ok(); });
  EXPECT_EQ(Returns(attached), std::future_status::ready);
  held.Open();
  EXPECT_TRUE(asked.get());
  EXPECT_TRUE(attached.get());
}

TEST_F(SubmittedChain, JobsThatNeverReportAreForgottenWithTheirWorkflow) {
  EXPECT_EQ(workflows_->followed_jobs(), 2u);
  // The workflow does not wait for an id that was replaced.
  ASSERT_TRUE(workflows_->Attach("wf", "b", "b-2", At(1)).ok());
  EXPECT_EQ(workflows_->followed_jobs(), 2u);
  const double long_after = absl::ToDoubleSeconds(options_.live.abandon_after) + 10;
  Tick(1);
  Tick(long_after);
  ASSERT_EQ(Newest("wf").state, JobState::kAbandoned);
  EXPECT_EQ(workflows_->followed_jobs(), 0u);
}

TEST_F(WorkflowTableTest, AForgottenIdStartsANewLog) {
  options_.workflows_max = 1;
  Start(0);
  double now = 0;
  for (const char* id : {"one", "two", "one"}) {
    Tick(now += 5000);  // The previous job is abandoned.
    Submit(Chain(id), now);
  }
  Start(now + 1);
  EXPECT_EQ(recovery_.restored, 1u);
  EXPECT_THAT(recovery_.damages, IsEmpty());
  EXPECT_FALSE(Newest("one").is_final);
}

TEST_F(WorkflowTableTest, TheHistoryIsAskedInTheNameOfTheSubmitter) {
  std::vector<std::string> asked;
  options_.runs = [&](const std::string& name, const store::Reported& job) {
    asked.push_back(name + " for " + job.id + " within " + job.name_space);
    return std::vector<JobProfile>();
  };
  Start(0);
  Plan submitted = Chain();
  submitted.jobs[1].job_id.clear();
  ASSERT_TRUE(workflows_->Submit(submitted, {.name_space = "a-* wf"}, At(0)).ok());
  Tick(1);
  const std::vector<std::string> expected = {"a for a-1 within a-* wf", "b for wf within a-* wf"};
  EXPECT_EQ(asked, expected);
  asked.clear();
  Start(5);
  EXPECT_EQ(asked, expected);
}

}  // namespace
}  // namespace tidemark::service::workflow_table_test
