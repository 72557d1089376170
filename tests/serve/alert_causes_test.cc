#include "serve/alerts/alert_causes.h"

#include "tests/console/some_jobs.h"
#include "tests/test.h"

namespace tidemark::serve::alert_causes_test {
namespace {

const std::set<AlertKind> kAll = {AlertKind::kLate, AlertKind::kStraggler, AlertKind::kEnded,
                                  AlertKind::kFailed, AlertKind::kSilent};

// Successive snapshots of one job.
class Story {
 public:
  Snapshot Next(std::optional<double> late = {}, std::uint32_t straggler = 2) {
    job_.sequence += 1;
    job_.at += absl::Seconds(1);
    job_.deadline = job_.at + absl::Minutes(9);
    job_.late_probability = late;
    job_.named_tasks[0].attempt.index = straggler;
    return job_;
  }
  Snapshot Ended(JobState state) {
    Snapshot ended = Next();
    ended.is_final = true;
    ended.state = state;
    ended.ended_at = ended.at;
    return ended;
  }

 private:
  Snapshot job_ = console::SomeSnapshot();
};

std::vector<AlertKind> Kinds(const std::vector<Alert>& alerts) {
  std::vector<AlertKind> kinds;
  for (const Alert& alert : alerts) kinds.push_back(alert.kind);
  return kinds;
}

class AlertCausesTest : public ::testing::Test {
 protected:
  // Returns the alerts that a snapshot of the only job causes.
  std::vector<AlertKind> Update(const Snapshot& job) { return Kinds(causes_.Update({job})); }

  AlertCauses causes_{{.kinds = kAll}};
  Story job_;
};

TEST_F(AlertCausesTest, ReportALateJobAfterTwoUpdatesInARow) {
  EXPECT_THAT(Update(job_.Next(0.9)), IsEmpty());
  EXPECT_THAT(Update(job_.Next(0.7)), IsEmpty());
  EXPECT_THAT(Update(job_.Next(0.8)), IsEmpty());
  EXPECT_THAT(Update(job_.Next(0.8)), ElementsAre(AlertKind::kLate));
}

// The probability refers to the application, whose end is not shown.
TEST_F(AlertCausesTest, IgnoreTheProbabilityWhileAQueryIsTheHeadline) {
  for (int i = 0; i < 3; ++i) {
    Snapshot job = job_.Next(0.9);
    job.headline_group = "sql/1";
    EXPECT_THAT(Update(job), IsEmpty());
  }
  Snapshot late = job_.Next(0.9);
  late.headline_group = "sql/1";
  late.deadline = late.at;
  EXPECT_THAT(Update(late), ElementsAre(AlertKind::kLate)) << "the deadline has passed";
}

TEST_F(AlertCausesTest, CountTheSameSnapshotOnce) {
  const Snapshot late = job_.Next(0.9);
  EXPECT_THAT(Update(late), IsEmpty());
  EXPECT_THAT(Update(late), IsEmpty());
  EXPECT_THAT(Update(job_.Next(0.9)), ElementsAre(AlertKind::kLate));
}

TEST_F(AlertCausesTest, IgnoreAnUnknownProbability) {
  Update(job_.Next(0.9));
  EXPECT_THAT(Update(job_.Next()), IsEmpty());
  EXPECT_THAT(Update(job_.Next(0.9)), IsEmpty());
}

TEST(AlertCauses, IgnoreAGuess) {
  for (const Basis basis : {Basis::kGuess, Basis::kUnknown}) {
    AlertCauses causes({.kinds = kAll});
    Story job;
    for (int i = 0; i < 5; ++i) {
      Snapshot guess = job.Next(0.99);
      guess.estimate.basis = basis;
      EXPECT_THAT(causes.Update({guess}), IsEmpty());
    }
    EXPECT_THAT(causes.Update({job.Next(0.9)}), IsEmpty()) << "the first evidence";
    EXPECT_THAT(Kinds(causes.Update({job.Next(0.9)})), ElementsAre(AlertKind::kLate));
  }
}

TEST_F(AlertCausesTest, IgnoreAForecastThatReadersSeeAsAGuess) {
  Snapshot wide;
  for (int i = 0; i < 5; ++i) {
    wide = job_.Next(0.99);
    wide.estimate.remaining = Range{absl::Seconds(90), absl::ZeroDuration(), absl::Minutes(20)};
    EXPECT_THAT(Update(wide), IsEmpty());
  }
  wide.sequence += 1;
  wide.at = *wide.deadline;
  EXPECT_THAT(Update(wide), ElementsAre(AlertKind::kLate)) << "the deadline has passed";
}

TEST_F(AlertCausesTest, AcceptPastRunsAsEvidence) {
  Snapshot before = job_.Next(0.9);
  before.estimate.basis = Basis::kEarlierRuns;
  EXPECT_THAT(Update(before), IsEmpty());
  before.sequence += 1;
  EXPECT_THAT(Update(before), ElementsAre(AlertKind::kLate));
}

TEST_F(AlertCausesTest, ReportAPassedDeadlineAtOnceAndOnce) {
  Snapshot due = job_.Next();
  due.estimate.basis = Basis::kGuess;
  due.deadline = due.at + absl::Seconds(1);
  EXPECT_THAT(Update(due), IsEmpty());
  due.sequence += 1;
  due.at = *due.deadline;
  due.late_probability = 1;
  EXPECT_THAT(Update(due), ElementsAre(AlertKind::kLate));
  due.sequence += 1;
  due.at += absl::Seconds(1);
  EXPECT_THAT(Update(due), IsEmpty());
}

TEST_F(AlertCausesTest, ReportAJobThatEndsLateBeforeItsNextSnapshot) {
  for (const bool wants_ended : {false, true}) {
    Story job;
    std::set<AlertKind> kinds = {AlertKind::kLate};
    if (wants_ended) kinds.insert(AlertKind::kEnded);
    AlertCauses causes({.kinds = kinds});
    EXPECT_THAT(causes.Update({job.Next()}), IsEmpty());
    Snapshot ended = job.Ended(JobState::kSucceeded);
    ended.deadline = *ended.ended_at - absl::Milliseconds(100);
    ended.late_probability = 1;
    EXPECT_THAT(Kinds(causes.Update({ended})),
                ElementsAre(wants_ended ? AlertKind::kEnded : AlertKind::kLate));
    EXPECT_THAT(causes.Update({ended}), IsEmpty());
  }
}

TEST_F(AlertCausesTest, ReportOneCauseOnce) {
  std::mt19937_64 random(5);
  int sent = 0;
  for (int i = 0; i < 500; ++i) {
    sent += static_cast<int>(Update(job_.Next(random() % 4 == 0 ? 0.1 : 0.95)).size());
  }
  EXPECT_EQ(sent, 1);
}

TEST(AlertCauses, ReportOneCauseOnceDespiteARestart) {
  Story job;
  AlertCauses before({.kinds = kAll});
  before.Update({job.Next(0.9)});
  const std::vector<Alert> sent = before.Update({job.Next(0.9)});
  ASSERT_EQ(sent.size(), 1U);
  AlertCauses after({.kinds = kAll}, {sent[0].id});
  after.Update({job.Next(0.9)});
  EXPECT_THAT(after.Update({job.Next(0.9)}), IsEmpty());
}

TEST_F(AlertCausesTest, DoNotRepeatAlertsOfAJobThatWasAbsent) {
  Update(job_.Next(0.9));
  EXPECT_EQ(Update(job_.Next(0.9)).size(), 1U);
  causes_.Update({});
  Update(job_.Next(0.9));
  EXPECT_THAT(Update(job_.Next(0.9)), IsEmpty());
  const Snapshot failed = job_.Ended(JobState::kFailed);
  EXPECT_EQ(Update(failed).size(), 1U);
  causes_.Update({});
  EXPECT_THAT(Update(failed), IsEmpty());
}

TEST_F(AlertCausesTest, TreatAnotherRunAsAnotherCause) {
  Update(job_.Next(0.9));
  const std::vector<Alert> first = causes_.Update({job_.Next(0.9)});
  Snapshot again = job_.Next(0.9);
  again.run_uid = "second";
  EXPECT_THAT(Update(again), IsEmpty());
  again.sequence += 1;
  const std::vector<Alert> second = causes_.Update({again});
  ASSERT_EQ(first.size(), 1U);
  ASSERT_EQ(second.size(), 1U);
  EXPECT_NE(first[0].id, second[0].id);
  EXPECT_NE(first[0].run_id, second[0].run_id);
}

TEST_F(AlertCausesTest, ReportAStragglerThatReplacesAnother) {
  Update(job_.Next({}, 2));
  EXPECT_THAT(Update(job_.Next({}, 2)), IsEmpty()) << "the first straggler replaces none";
  EXPECT_THAT(Update(job_.Next({}, 3)), IsEmpty()) << "the change may be temporary";
  EXPECT_THAT(Update(job_.Next({}, 3)), ElementsAre(AlertKind::kStraggler));
}

TEST_F(AlertCausesTest, DoNotReportATaskThatWaitsForASlot) {
  for (int i = 0; i < 3; ++i) Update(job_.Next({}, 2));
  for (int i = 0; i < 4; ++i) {
    Snapshot waiting = job_.Next({}, 3);
    waiting.named_tasks[0].waits_for_slot = true;
    EXPECT_THAT(Update(waiting), IsEmpty());
  }
  EXPECT_THAT(Update(job_.Next({}, 3)), IsEmpty()) << "the task has just started";
  EXPECT_THAT(Update(job_.Next({}, 3)), ElementsAre(AlertKind::kStraggler));
}

TEST_F(AlertCausesTest, LimitAlertsOfAlternatingStragglers) {
  std::size_t sent = 0;
  for (std::uint32_t i = 0; i < 200; ++i) sent += Update(job_.Next({}, i / 2 % 50)).size();
  EXPECT_EQ(sent, static_cast<std::size_t>(AlertCauses::kStragglersMax));
}

TEST(AlertCauses, ReportAnEndInOneAlert) {
  for (const auto& [state, kind] : {std::pair(JobState::kSucceeded, AlertKind::kEnded),
                                    std::pair(JobState::kFailed, AlertKind::kFailed),
                                    std::pair(JobState::kAbandoned, AlertKind::kFailed)}) {
    AlertCauses causes({.kinds = kAll});
    Story job;
    causes.Update({job.Next()});
    const Snapshot ended = job.Ended(state);
    EXPECT_THAT(Kinds(causes.Update({ended})), ElementsAre(kind));
    EXPECT_THAT(causes.Update({ended}), IsEmpty());
  }
}

TEST(AlertCauses, ReportOnlySelectedKinds) {
  AlertCauses causes({.kinds = {AlertKind::kFailed}});
  Story job;
  causes.Update({job.Next(0.9)});
  causes.Update({job.Next(0.9)});
  EXPECT_THAT(causes.Update({job.Ended(JobState::kSucceeded)}), IsEmpty());
}

TEST(AlertCauses, IgnoreJobsThatEndedBeforeTheFirstUpdate) {
  AlertCauses causes({.kinds = kAll});
  Story old;
  const Snapshot ended = old.Ended(JobState::kFailed);
  EXPECT_THAT(causes.Update({ended}), IsEmpty());
  Snapshot quick = ended;  // The job started and ended between two updates.
  quick.job_id = "quick";
  EXPECT_THAT(Kinds(causes.Update({ended, quick})), ElementsAre(AlertKind::kFailed));
}

TEST(AlertCauses, ReportEachLongSilenceOnce) {
  AlertCauses causes({.kinds = kAll, .silent_for = absl::Minutes(5)});
  Story job;
  Snapshot silent = job.Next();
  silent.silent_since = silent.at;
  causes.Update({silent});
  silent.at += absl::Minutes(4);
  EXPECT_THAT(causes.Update({silent}), IsEmpty());
  silent.at += absl::Minutes(1);
  EXPECT_THAT(Kinds(causes.Update({silent})), ElementsAre(AlertKind::kSilent));
  silent.at += absl::Minutes(1);
  EXPECT_THAT(causes.Update({silent}), IsEmpty());
  Snapshot reporting = silent;
  reporting.silent_since.reset();
  causes.Update({reporting});
  silent.silent_since = silent.at + absl::Minutes(1);
  silent.at += absl::Minutes(7);
  EXPECT_THAT(Kinds(causes.Update({silent})), ElementsAre(AlertKind::kSilent));
}

TEST(AlertCauses, ReportASilenceOnceDespiteARestart) {
  const AlertRules rules = {.kinds = {AlertKind::kSilent}, .silent_for = absl::Minutes(5)};
  Story job;
  Snapshot silent = job.Next();
  silent.coverage->newest_event_at = silent.at - absl::Minutes(6);
  silent.silent_since = silent.coverage->newest_event_at;
  AlertCauses before(rules);
  const std::vector<Alert> sent = before.Update({silent});
  EXPECT_THAT(Kinds(sent), ElementsAre(AlertKind::kSilent));
  silent.silent_since = silent.at + absl::Hours(1);
  silent.at = *silent.silent_since + absl::Minutes(4);
  AlertCauses fresh(rules);
  EXPECT_THAT(fresh.Update({silent}), IsEmpty()) << "the master was down, not the job";
  AlertCauses after(rules, {sent.at(0).id});
  silent.at += absl::Minutes(1);
  EXPECT_THAT(after.Update({silent}), IsEmpty()) << "the same silence";
  EXPECT_THAT(Kinds(fresh.Update({silent})), ElementsAre(AlertKind::kSilent));
}

TEST(AlertCauses, SelectJobsByName) {
  AlertCauses causes({.kinds = kAll, .jobs = {"nightly-*", "two-p*h"}});
  Story job;
  Snapshot other = job.Ended(JobState::kFailed);
  causes.Update({});
  EXPECT_EQ(causes.Update({other}).size(), 1U);
  other.job_id = "other";
  other.info->name = "daily";
  EXPECT_THAT(causes.Update({other}), IsEmpty());
}

TEST(AlertCauses, IgnoreAJobWithoutASnapshot) {
  AlertCauses causes({.kinds = kAll});
  EXPECT_THAT(causes.Update({Snapshot{.job_id = "new"}}), IsEmpty());
}

// A workflow and its running job "load".
struct WorkflowAndJob {
  Snapshot workflow = console::Visits();
  Snapshot job = console::SomeSnapshot();

  WorkflowAndJob() {
    workflow.job_id = "wf";
    workflow.estimate.basis = Basis::kThisRun;
    Child load = {.number = 1, .name = "load", .job_id = "load-1", .state = ChildState::kRunning};
    load.is_critical = true;
    const Child report = {.number = 2, .name = "report", .state = ChildState::kPending};
    workflow.children = {load, report};
    job.job_id = "load-1";
    job.info->workflow_id = "wf";
  }
  std::vector<Snapshot> After(absl::Duration time) {
    for (Snapshot* each : {&workflow, &job}) {
      each->sequence += 1;
      each->at += time;
    }
    return {workflow, job};
  }
};

std::vector<std::string> JobsOf(const std::vector<Alert>& alerts) {
  std::vector<std::string> jobs;
  for (const Alert& alert : alerts) jobs.push_back(alert.job.job_id);
  return jobs;
}

struct LateCase {
  const char* name;
  std::optional<int> workflow_due_minutes;
  double workflow_late;
  std::optional<int> job_due_minutes;
  double job_late;
  std::vector<std::string> sent;
};

class LatenessOfAWorkflow : public ::testing::TestWithParam<LateCase> {};

TEST_P(LatenessOfAWorkflow, IsReportedOncePerCause) {
  const LateCase& row = GetParam();
  WorkflowAndJob pair;
  const auto set_due = [](std::optional<int> minutes, double late, Snapshot& of) {
    if (!minutes) return;
    of.deadline = of.at + absl::Minutes(*minutes);
    of.late_probability = late;
  };
  set_due(row.workflow_due_minutes, row.workflow_late, pair.workflow);
  set_due(row.job_due_minutes, row.job_late, pair.job);
  for (const bool is_workflow_first : {true, false}) {
    AlertCauses causes({.kinds = {AlertKind::kLate}});
    std::vector<std::string> sent;
    for (int update = 0; update < 4; ++update) {
      std::vector<Snapshot> jobs = pair.After(absl::Seconds(1));
      if (!is_workflow_first) std::swap(jobs[0], jobs[1]);
      for (std::string& job : JobsOf(causes.Update(jobs))) sent.push_back(std::move(job));
    }
    EXPECT_THAT(sent, ::testing::UnorderedElementsAreArray(row.sent)) << is_workflow_first;
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, LatenessOfAWorkflow,
                         ::testing::ValuesIn(std::vector<LateCase>{
                             {"NoneIsLikelyLate", 60, 0.7, 60, 0.7, {}},
                             {"OnlyTheWorkflowIsDue", 60, 0.9, {}, 0, {"wf"}},
                             {"OnlyTheJobIsDue", {}, 0, 30, 0.9, {"load-1"}},
                             {"BothAreDueAtOnce", 60, 0.9, 60, 0.9, {"wf"}},
                             {"TheJobIsDueLater", 60, 0.9, 90, 0.9, {"wf"}},
                             {"TheJobAloneMakesTheWorkflowLate", 60, 0.7, 60, 0.9, {"wf"}},
                             {"TheJobIsDueEarlierAndLate", 60, 0.1, 30, 0.9, {"load-1"}},
                             {"TheJobIsDueEarlierAndInTime", 60, 0.9, 30, 0.1, {"wf"}},
                             {"EachMissesItsOwnDeadline", 60, 0.9, 30, 0.9, {"wf", "load-1"}},
                         }),
                         [](const auto& row) { return std::string(row.param.name); });

TEST(AlertCauses, NameTheJobThatALateWorkflowWaitsFor) {
  AlertCauses causes({.kinds = {AlertKind::kLate}});
  WorkflowAndJob pair;
  pair.workflow.deadline = pair.job.deadline = pair.job.at + absl::Minutes(9);
  pair.workflow.late_probability = pair.job.late_probability = 0.9;
  causes.Update(pair.After(absl::Seconds(1)));
  const std::vector<Alert> sent = causes.Update(pair.After(absl::Seconds(1)));
  ASSERT_THAT(JobsOf(sent), ElementsAre("wf"));
  EXPECT_THAT(sent[0].waits_for, ElementsAre("load"));
  pair.workflow.is_final = true;  // The workflow was cancelled, but its job is still running.
  causes.Update(pair.After(absl::Seconds(1)));
  causes.Update(pair.After(absl::Seconds(1)));
  EXPECT_THAT(causes.Update(pair.After(absl::Seconds(1))), IsEmpty()) << "the same cause";
}

TEST(AlertCauses, ReportAJobWhoseWorkflowIsNotSelected) {
  AlertCauses causes({.kinds = kAll, .jobs = {"two-path"}});
  WorkflowAndJob pair;
  pair.workflow.deadline = pair.job.deadline = pair.job.at + absl::Minutes(9);
  pair.workflow.late_probability = pair.job.late_probability = 0.9;
  causes.Update(pair.After(absl::Seconds(1)));
  EXPECT_THAT(JobsOf(causes.Update(pair.After(absl::Seconds(1)))), ElementsAre("load-1"));
  pair.job.is_final = true;
  pair.job.state = JobState::kFailed;
  EXPECT_THAT(Kinds(causes.Update(pair.After(absl::Seconds(1)))), ElementsAre(AlertKind::kFailed));
}

// Returns a job that has been silent for 4 s. Its workflow has been silent for 2 s, since another
// job ended then.
WorkflowAndJob Silent() {
  WorkflowAndJob pair;
  pair.job.silent_since = pair.job.at - absl::Seconds(4);
  pair.job.coverage->newest_event_at = pair.job.silent_since;
  pair.workflow.silent_since = pair.workflow.at - absl::Seconds(2);
  return pair;
}

const AlertRules kSilentRules = {.kinds = {AlertKind::kSilent}, .silent_for = absl::Minutes(5)};

TEST(AlertCauses, ReportTheSilenceOfJobsForTheirWorkflow) {
  AlertCauses causes(kSilentRules);
  WorkflowAndJob pair = Silent();
  EXPECT_THAT(causes.Update(pair.After(absl::Seconds(297))), IsEmpty())
      << "the workflow is not silent for long enough";
  const std::vector<Alert> sent = causes.Update(pair.After(absl::Seconds(1)));
  ASSERT_THAT(JobsOf(sent), ElementsAre("wf"));
  EXPECT_THAT(sent[0].waits_for, ElementsAre("load"));
  pair.workflow.silent_since.reset();  // Another job of the workflow is running.
  EXPECT_THAT(causes.Update(pair.After(absl::Minutes(1))), IsEmpty()) << "the same silence";
  AlertCauses restarted(kSilentRules, {sent[0].id});
  EXPECT_THAT(restarted.Update(pair.After(absl::Minutes(1))), IsEmpty());
}

TEST(AlertCauses, DoNotRepeatTheSilenceOfAJobForItsWorkflow) {
  AlertCauses causes(kSilentRules);
  WorkflowAndJob pair = Silent();
  pair.workflow.silent_since.reset();
  EXPECT_THAT(JobsOf(causes.Update(pair.After(absl::Minutes(6)))), ElementsAre("load-1"));
  pair.workflow.silent_since = pair.workflow.at;  // All other jobs have ended.
  EXPECT_THAT(causes.Update(pair.After(absl::Minutes(6))), IsEmpty());
}

TEST(AlertCauses, ReportTheSilenceOfManyJobsInOneAlert) {
  AlertCauses causes(kSilentRules);
  WorkflowAndJob pair = Silent();
  Snapshot join = pair.job;
  join.job_id = "join-1";
  Child child = pair.workflow.children[0];
  child.number = 3;
  child.name = "join";
  child.job_id = join.job_id;
  pair.workflow.children.push_back(child);
  std::vector<Snapshot> jobs = pair.After(absl::Minutes(6));
  join.at = pair.job.at;
  jobs.push_back(join);
  const std::vector<Alert> sent = causes.Update(jobs);
  ASSERT_THAT(JobsOf(sent), ElementsAre("wf"));
  EXPECT_THAT(sent[0].waits_for, ElementsAre("load", "join"));
  EXPECT_EQ(sent[0].same_cause.size(), 1U);
}

TEST(AlertCauses, NameTheJobThatASilentWorkflowShouldStart) {
  WorkflowAndJob pair = Silent();
  pair.workflow.children[0].state = ChildState::kSucceeded;
  pair.workflow.children[0].ended_at = pair.workflow.silent_since;
  pair.workflow.children[1].state = ChildState::kAwaited;
  pair.After(absl::Minutes(6));
  AlertCauses causes(kSilentRules);
  const std::vector<Alert> sent = causes.Update({pair.workflow});
  ASSERT_THAT(JobsOf(sent), ElementsAre("wf"));
  EXPECT_THAT(sent[0].waits_for, ElementsAre("report"));
  AlertCauses restarted(kSilentRules, {sent[0].id});
  pair.workflow.silent_since = pair.workflow.at;  // The silence counts from the restart.
  pair.After(absl::Minutes(6));
  EXPECT_THAT(restarted.Update({pair.workflow}), IsEmpty()) << "the same silence";
}

TEST(AlertCauses, ReportARetryThatDoesNotStart) {
  WorkflowAndJob pair = Silent();
  Child& load = pair.workflow.children[0];
  load.state = ChildState::kAwaited;
  AlertCauses causes(kSilentRules);
  pair.After(absl::Minutes(6));
  EXPECT_THAT(JobsOf(causes.Update({pair.workflow})), ElementsAre("wf"));
  pair.workflow.silent_since.reset();  // The job started and failed.
  pair.After(absl::Seconds(1));
  EXPECT_THAT(causes.Update({pair.workflow}), IsEmpty());
  load.failed_attempts = 1;
  pair.workflow.silent_since = pair.workflow.at;  // A retry was attached.
  pair.After(absl::Minutes(6));
  EXPECT_THAT(JobsOf(causes.Update({pair.workflow})), ElementsAre("wf"));
}

TEST(AlertCauses, ReportAFailedJobForItsWorkflow) {
  AlertCauses causes({.kinds = kAll});
  WorkflowAndJob pair;
  causes.Update(pair.After(absl::Seconds(1)));
  pair.job.is_final = true;
  pair.job.state = JobState::kFailed;
  EXPECT_THAT(causes.Update(pair.After(absl::Seconds(1))), IsEmpty())
      << "the workflow may retry it";
  pair.workflow.is_final = true;
  pair.workflow.state = JobState::kFailed;
  const std::vector<Alert> sent = causes.Update(pair.After(absl::Seconds(1)));
  EXPECT_THAT(JobsOf(sent), ElementsAre("wf"));
  EXPECT_THAT(Kinds(sent), ElementsAre(AlertKind::kFailed));
}

TEST(AlertCauses, ReportAJobThatOutlivesItsWorkflow) {
  AlertCauses causes({.kinds = {AlertKind::kFailed}});
  WorkflowAndJob pair;
  causes.Update(pair.After(absl::Seconds(1)));
  pair.workflow.is_final = true;
  pair.workflow.state = JobState::kKilled;
  EXPECT_THAT(JobsOf(causes.Update(pair.After(absl::Seconds(1)))), ElementsAre("wf"));
  pair.job.is_final = true;
  pair.job.state = JobState::kFailed;
  EXPECT_THAT(JobsOf(causes.Update(pair.After(absl::Seconds(1)))), ElementsAre("load-1"));
}

TEST(AlertCauses, ReportASucceededJobOfAWorkflow) {
  AlertCauses causes({.kinds = {AlertKind::kEnded}});
  WorkflowAndJob pair;
  causes.Update(pair.After(absl::Seconds(1)));
  pair.job.is_final = true;
  pair.job.state = JobState::kSucceeded;
  EXPECT_THAT(JobsOf(causes.Update(pair.After(absl::Seconds(1)))), ElementsAre("load-1"));
}

}  // namespace
}  // namespace tidemark::serve::alert_causes_test
