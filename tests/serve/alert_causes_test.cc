#include "serve/alerts/alert_causes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "tests/console/some_jobs.h"

namespace tidemark::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

const std::set<AlertKind> kAll = {AlertKind::kLate, AlertKind::kStraggler, AlertKind::kEnded,
                                  AlertKind::kFailed, AlertKind::kSilent};

// Snapshots of one job, each later than the one before.
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

TEST(AlertCauses, AJobIsLateWhenItIsSoTwiceInARow) {
  AlertCauses causes({.kinds = kAll});
  Story job;
  EXPECT_THAT(causes.Look({job.Next(0.9)}), IsEmpty());
  EXPECT_THAT(causes.Look({job.Next(0.7)}), IsEmpty());
  EXPECT_THAT(causes.Look({job.Next(0.8)}), IsEmpty());
  EXPECT_THAT(Kinds(causes.Look({job.Next(0.8)})), ElementsAre(AlertKind::kLate));
}

TEST(AlertCauses, TheSameSnapshotAgainIsNoSecondSign) {
  AlertCauses causes({.kinds = kAll});
  Story job;
  const Snapshot late = job.Next(0.9);
  EXPECT_THAT(causes.Look({late}), IsEmpty());
  EXPECT_THAT(causes.Look({late}), IsEmpty());
  EXPECT_THAT(Kinds(causes.Look({job.Next(0.9)})), ElementsAre(AlertKind::kLate));
}

TEST(AlertCauses, WhatIsNotKnownIsNoSign) {
  AlertCauses causes({.kinds = kAll});
  Story job;
  causes.Look({job.Next(0.9)});
  EXPECT_THAT(causes.Look({job.Next()}), IsEmpty());
  EXPECT_THAT(causes.Look({job.Next(0.9)}), IsEmpty());
}

TEST(AlertCauses, AGuessIsNoSign) {
  for (const Basis basis : {Basis::kGuess, Basis::kUnknown}) {
    AlertCauses causes({.kinds = kAll});
    Story job;
    for (int i = 0; i < 5; ++i) {
      Snapshot guess = job.Next(0.99);
      guess.estimate.basis = basis;
      EXPECT_THAT(causes.Look({guess}), IsEmpty());
    }
    EXPECT_THAT(causes.Look({job.Next(0.9)}), IsEmpty()) << "evidence, for the first time";
    EXPECT_THAT(Kinds(causes.Look({job.Next(0.9)})), ElementsAre(AlertKind::kLate));
  }
}

TEST(AlertCauses, EarlierRunsAreASign) {
  AlertCauses causes({.kinds = kAll});
  Story job;
  Snapshot before = job.Next(0.9);
  before.estimate.basis = Basis::kEarlierRuns;
  EXPECT_THAT(causes.Look({before}), IsEmpty());
  before.sequence += 1;
  EXPECT_THAT(Kinds(causes.Look({before})), ElementsAre(AlertKind::kLate));
}

TEST(AlertCauses, ADeadlineThatHasPassedIsToldAtOnceAndOnce) {
  AlertCauses causes({.kinds = kAll});
  Story job;
  Snapshot due = job.Next();
  due.estimate.basis = Basis::kGuess;
  due.deadline = due.at + absl::Seconds(1);
  EXPECT_THAT(causes.Look({due}), IsEmpty());
  due.sequence += 1;
  due.at = *due.deadline;
  due.late_probability = 1;
  EXPECT_THAT(Kinds(causes.Look({due})), ElementsAre(AlertKind::kLate));
  due.sequence += 1;
  due.at += absl::Seconds(1);
  EXPECT_THAT(causes.Look({due}), IsEmpty());
}

TEST(AlertCauses, OneCauseIsToldOnce) {
  AlertCauses causes({.kinds = kAll});
  Story job;
  std::mt19937_64 random(5);
  int told = 0;
  for (int i = 0; i < 500; ++i) {
    told += static_cast<int>(causes.Look({job.Next(random() % 4 == 0 ? 0.1 : 0.95)}).size());
  }
  EXPECT_EQ(told, 1);
}

TEST(AlertCauses, IsToldOnceAcrossARestart) {
  Story job;
  AlertCauses before({.kinds = kAll});
  before.Look({job.Next(0.9)});
  const std::vector<Alert> told = before.Look({job.Next(0.9)});
  ASSERT_EQ(told.size(), 1U);
  AlertCauses after({.kinds = kAll}, {told[0].id});
  after.Look({job.Next(0.9)});
  EXPECT_THAT(after.Look({job.Next(0.9)}), IsEmpty());
}

TEST(AlertCauses, AJobThatIsGoneForAWhileIsNotToldTwice) {
  AlertCauses causes({.kinds = kAll});
  Story job;
  causes.Look({job.Next(0.9)});
  EXPECT_EQ(causes.Look({job.Next(0.9)}).size(), 1U);
  causes.Look({});
  causes.Look({job.Next(0.9)});
  EXPECT_THAT(causes.Look({job.Next(0.9)}), IsEmpty());
  const Snapshot failed = job.Ended(JobState::kFailed);
  EXPECT_EQ(causes.Look({failed}).size(), 1U);
  causes.Look({});
  EXPECT_THAT(causes.Look({failed}), IsEmpty());
}

TEST(AlertCauses, AnotherRunIsAnotherCause) {
  AlertCauses causes({.kinds = kAll});
  Story job;
  causes.Look({job.Next(0.9)});
  const std::vector<Alert> first = causes.Look({job.Next(0.9)});
  Snapshot again = job.Next(0.9);
  again.run_uid = "second";
  EXPECT_THAT(causes.Look({again}), IsEmpty());
  again.sequence += 1;
  const std::vector<Alert> second = causes.Look({again});
  ASSERT_EQ(first.size(), 1U);
  ASSERT_EQ(second.size(), 1U);
  EXPECT_NE(first[0].id, second[0].id);
  EXPECT_NE(first[0].run_id, second[0].run_id);
}

TEST(AlertCauses, AStragglerIsToldWhenAnotherHasTakenItsPlace) {
  AlertCauses causes({.kinds = kAll});
  Story job;
  causes.Look({job.Next({}, 2)});
  EXPECT_THAT(causes.Look({job.Next({}, 2)}), IsEmpty()) << "the first is no change";
  EXPECT_THAT(causes.Look({job.Next({}, 3)}), IsEmpty()) << "it may be back at once";
  EXPECT_THAT(Kinds(causes.Look({job.Next({}, 3)})), ElementsAre(AlertKind::kStraggler));
}

TEST(AlertCauses, ATaskThatWaitsForASlotIsNoStraggler) {
  AlertCauses causes({.kinds = kAll});
  Story job;
  for (int i = 0; i < 3; ++i) causes.Look({job.Next({}, 2)});
  for (int i = 0; i < 4; ++i) {
    Snapshot waiting = job.Next({}, 3);
    waiting.named_tasks[0].waits_for_slot = true;
    EXPECT_THAT(causes.Look({waiting}), IsEmpty());
  }
  EXPECT_THAT(causes.Look({job.Next({}, 3)}), IsEmpty()) << "it has just begun";
  EXPECT_THAT(Kinds(causes.Look({job.Next({}, 3)})), ElementsAre(AlertKind::kStraggler));
}

TEST(AlertCauses, StragglersThatTakeTurnsAreNotToldForEver) {
  AlertCauses causes({.kinds = kAll});
  Story job;
  std::size_t told = 0;
  for (std::uint32_t i = 0; i < 200; ++i) told += causes.Look({job.Next({}, i / 2 % 50)}).size();
  EXPECT_EQ(told, static_cast<std::size_t>(AlertCauses::kStragglersMax));
}

TEST(AlertCauses, AnEndIsOneAlertHoweverManyKindsItIs) {
  for (const auto& [state, kind] : {std::pair(JobState::kSucceeded, AlertKind::kEnded),
                                    std::pair(JobState::kFailed, AlertKind::kFailed),
                                    std::pair(JobState::kAbandoned, AlertKind::kFailed)}) {
    AlertCauses causes({.kinds = kAll});
    Story job;
    causes.Look({job.Next()});
    const Snapshot ended = job.Ended(state);
    EXPECT_THAT(Kinds(causes.Look({ended})), ElementsAre(kind));
    EXPECT_THAT(causes.Look({ended}), IsEmpty());
  }
}

TEST(AlertCauses, OnlyWhatIsAskedForIsTold) {
  AlertCauses causes({.kinds = {AlertKind::kFailed}});
  Story job;
  causes.Look({job.Next(0.9)});
  causes.Look({job.Next(0.9)});
  EXPECT_THAT(causes.Look({job.Ended(JobState::kSucceeded)}), IsEmpty());
}

TEST(AlertCauses, WhatHadEndedBeforeTheFirstLookIsOldNews) {
  AlertCauses causes({.kinds = kAll});
  Story old;
  const Snapshot ended = old.Ended(JobState::kFailed);
  EXPECT_THAT(causes.Look({ended}), IsEmpty());
  Snapshot quick = ended;  // began and ended between two looks
  quick.job_id = "quick";
  EXPECT_THAT(Kinds(causes.Look({ended, quick})), ElementsAre(AlertKind::kFailed));
}

TEST(AlertCauses, ASilenceIsToldOnceItIsLongAndOncePerSilence) {
  AlertCauses causes({.kinds = kAll, .silent_for = absl::Minutes(5)});
  Story job;
  Snapshot silent = job.Next();
  silent.silent_since = silent.at;
  causes.Look({silent});
  silent.at += absl::Minutes(4);
  EXPECT_THAT(causes.Look({silent}), IsEmpty());
  silent.at += absl::Minutes(1);
  EXPECT_THAT(Kinds(causes.Look({silent})), ElementsAre(AlertKind::kSilent));
  silent.at += absl::Minutes(1);
  EXPECT_THAT(causes.Look({silent}), IsEmpty());
  Snapshot heard = silent;
  heard.silent_since.reset();
  causes.Look({heard});
  silent.silent_since = silent.at + absl::Minutes(1);
  silent.at += absl::Minutes(7);
  EXPECT_THAT(Kinds(causes.Look({silent})), ElementsAre(AlertKind::kSilent));
}

TEST(AlertCauses, ASilenceIsToldOnceAlsoOverARestartFromWhichItCounts) {
  const AlertRules rules = {.kinds = {AlertKind::kSilent}, .silent_for = absl::Minutes(5)};
  Story job;
  Snapshot silent = job.Next();
  silent.coverage->newest_event_at = silent.at - absl::Minutes(6);
  silent.silent_since = silent.coverage->newest_event_at;
  AlertCauses before(rules);
  const std::vector<Alert> told = before.Look({silent});
  EXPECT_THAT(Kinds(told), ElementsAre(AlertKind::kSilent));
  silent.silent_since = silent.at + absl::Hours(1);
  silent.at = *silent.silent_since + absl::Minutes(4);
  AlertCauses fresh(rules);
  EXPECT_THAT(fresh.Look({silent}), IsEmpty()) << "the master was away, not the job";
  AlertCauses after(rules, {told.at(0).id});
  silent.at += absl::Minutes(1);
  EXPECT_THAT(after.Look({silent}), IsEmpty()) << "the same silence";
  EXPECT_THAT(Kinds(fresh.Look({silent})), ElementsAre(AlertKind::kSilent));
}

TEST(AlertCauses, LooksAtJobsByTheirNames) {
  AlertCauses causes({.kinds = kAll, .jobs = {"nightly-*", "two-p*h"}});
  Story job;
  Snapshot other = job.Ended(JobState::kFailed);
  causes.Look({});
  EXPECT_EQ(causes.Look({other}).size(), 1U);
  other.job_id = "other";
  other.info->name = "daily";
  EXPECT_THAT(causes.Look({other}), IsEmpty());
}

TEST(AlertCauses, AJobThatIsKnownAndNotTickedSaysNothing) {
  AlertCauses causes({.kinds = kAll});
  EXPECT_THAT(causes.Look({Snapshot{.job_id = "new"}}), IsEmpty());
}

// A workflow and its job "load", which runs.
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
  std::vector<std::string> told;
};

class LatenessOfAWorkflow : public ::testing::TestWithParam<LateCase> {};

TEST_P(LatenessOfAWorkflow, IsToldOnceForWhatMakesItLate) {
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
    std::vector<std::string> told;
    for (int look = 0; look < 4; ++look) {
      std::vector<Snapshot> jobs = pair.After(absl::Seconds(1));
      if (!is_workflow_first) std::swap(jobs[0], jobs[1]);
      for (std::string& job : JobsOf(causes.Look(jobs))) told.push_back(std::move(job));
    }
    EXPECT_THAT(told, ::testing::UnorderedElementsAreArray(row.told)) << is_workflow_first;
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, LatenessOfAWorkflow,
                         ::testing::ValuesIn(std::vector<LateCase>{
                             {"NobodyIsLikelyLate", 60, 0.7, 60, 0.7, {}},
                             {"OnlyTheWorkflowIsDue", 60, 0.9, {}, 0, {"wf"}},
                             {"OnlyTheJobIsDue", {}, 0, 30, 0.9, {"load-1"}},
                             {"BothAreDueAtOnce", 60, 0.9, 60, 0.9, {"wf"}},
                             {"TheJobIsDueLater", 60, 0.9, 90, 0.9, {"wf"}},
                             {"TheJobAloneMakesTheWorkflowLate", 60, 0.7, 60, 0.9, {"wf"}},
                             {"TheJobIsDueEarlierAndLate", 60, 0.1, 30, 0.9, {"load-1"}},
                             {"TheJobIsDueEarlierAndInTime", 60, 0.9, 30, 0.1, {"wf"}},
                             {"EachMissesADeadlineOfItsOwn", 60, 0.9, 30, 0.9, {"wf", "load-1"}},
                         }),
                         [](const auto& row) { return std::string(row.param.name); });

TEST(AlertCauses, ALateWorkflowNamesTheJobThatItWaitsFor) {
  AlertCauses causes({.kinds = {AlertKind::kLate}});
  WorkflowAndJob pair;
  pair.workflow.deadline = pair.job.deadline = pair.job.at + absl::Minutes(9);
  pair.workflow.late_probability = pair.job.late_probability = 0.9;
  causes.Look(pair.After(absl::Seconds(1)));
  const std::vector<Alert> told = causes.Look(pair.After(absl::Seconds(1)));
  ASSERT_THAT(JobsOf(told), ElementsAre("wf"));
  EXPECT_THAT(told[0].waits_for, ElementsAre("load"));
  pair.workflow.is_final = true;  // was cancelled; its job goes on
  causes.Look(pair.After(absl::Seconds(1)));
  causes.Look(pair.After(absl::Seconds(1)));
  EXPECT_THAT(causes.Look(pair.After(absl::Seconds(1))), IsEmpty()) << "the same cause";
}

TEST(AlertCauses, AJobTellsOfItselfWhereItsWorkflowIsNotLookedAt) {
  AlertCauses causes({.kinds = kAll, .jobs = {"two-path"}});
  WorkflowAndJob pair;
  pair.workflow.deadline = pair.job.deadline = pair.job.at + absl::Minutes(9);
  pair.workflow.late_probability = pair.job.late_probability = 0.9;
  causes.Look(pair.After(absl::Seconds(1)));
  EXPECT_THAT(JobsOf(causes.Look(pair.After(absl::Seconds(1)))), ElementsAre("load-1"));
  pair.job.is_final = true;
  pair.job.state = JobState::kFailed;
  EXPECT_THAT(Kinds(causes.Look(pair.After(absl::Seconds(1)))), ElementsAre(AlertKind::kFailed));
}

// The job for 4 s, the workflow, of which another job has ended since, for 2 s.
WorkflowAndJob Silent() {
  WorkflowAndJob pair;
  pair.job.silent_since = pair.job.at - absl::Seconds(4);
  pair.job.coverage->newest_event_at = pair.job.silent_since;
  pair.workflow.silent_since = pair.workflow.at - absl::Seconds(2);
  return pair;
}

const AlertRules kSilentRules = {.kinds = {AlertKind::kSilent}, .silent_for = absl::Minutes(5)};

TEST(AlertCauses, ASilentWorkflowTellsTheSilenceOfItsJobs) {
  AlertCauses causes(kSilentRules);
  WorkflowAndJob pair = Silent();
  EXPECT_THAT(causes.Look(pair.After(absl::Seconds(297))), IsEmpty()) << "the workflow is not yet";
  const std::vector<Alert> told = causes.Look(pair.After(absl::Seconds(1)));
  ASSERT_THAT(JobsOf(told), ElementsAre("wf"));
  EXPECT_THAT(told[0].waits_for, ElementsAre("load"));
  pair.workflow.silent_since.reset();  // another of its jobs runs
  EXPECT_THAT(causes.Look(pair.After(absl::Minutes(1))), IsEmpty()) << "the same silence";
  AlertCauses restarted(kSilentRules, {told[0].id});
  EXPECT_THAT(restarted.Look(pair.After(absl::Minutes(1))), IsEmpty());
}

TEST(AlertCauses, ASilenceThatWasToldOfAJobIsNotToldOfItsWorkflow) {
  AlertCauses causes(kSilentRules);
  WorkflowAndJob pair = Silent();
  pair.workflow.silent_since.reset();
  EXPECT_THAT(JobsOf(causes.Look(pair.After(absl::Minutes(6)))), ElementsAre("load-1"));
  pair.workflow.silent_since = pair.workflow.at;  // the others have ended
  EXPECT_THAT(causes.Look(pair.After(absl::Minutes(6))), IsEmpty());
}

TEST(AlertCauses, TheSilenceOfManyJobsIsOneAlert) {
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
  const std::vector<Alert> told = causes.Look(jobs);
  ASSERT_THAT(JobsOf(told), ElementsAre("wf"));
  EXPECT_THAT(told[0].waits_for, ElementsAre("load", "join"));
  EXPECT_EQ(told[0].same_cause.size(), 1U);
}

TEST(AlertCauses, AWorkflowThatFallsSilentBetweenTwoJobsSaysWhichDoesNotBegin) {
  WorkflowAndJob pair = Silent();
  pair.workflow.children[0].state = ChildState::kSucceeded;
  pair.workflow.children[0].ended_at = pair.workflow.silent_since;
  pair.workflow.children[1].state = ChildState::kAwaited;
  pair.After(absl::Minutes(6));
  AlertCauses causes(kSilentRules);
  const std::vector<Alert> told = causes.Look({pair.workflow});
  ASSERT_THAT(JobsOf(told), ElementsAre("wf"));
  EXPECT_THAT(told[0].waits_for, ElementsAre("report"));
  AlertCauses restarted(kSilentRules, {told[0].id});
  pair.workflow.silent_since = pair.workflow.at;  // from which it counts
  pair.After(absl::Minutes(6));
  EXPECT_THAT(restarted.Look({pair.workflow}), IsEmpty()) << "the same silence";
}

TEST(AlertCauses, ARetryThatDoesNotBeginIsAnotherSilence) {
  WorkflowAndJob pair = Silent();
  Child& load = pair.workflow.children[0];
  load.state = ChildState::kAwaited;
  AlertCauses causes(kSilentRules);
  pair.After(absl::Minutes(6));
  EXPECT_THAT(JobsOf(causes.Look({pair.workflow})), ElementsAre("wf"));
  pair.workflow.silent_since.reset();  // it began, and failed
  pair.After(absl::Seconds(1));
  EXPECT_THAT(causes.Look({pair.workflow}), IsEmpty());
  load.failed_attempts = 1;
  pair.workflow.silent_since = pair.workflow.at;  // a retry was attached
  pair.After(absl::Minutes(6));
  EXPECT_THAT(JobsOf(causes.Look({pair.workflow})), ElementsAre("wf"));
}

TEST(AlertCauses, AJobThatEndsBadlyIsToldOfItsWorkflow) {
  AlertCauses causes({.kinds = kAll});
  WorkflowAndJob pair;
  causes.Look(pair.After(absl::Seconds(1)));
  pair.job.is_final = true;
  pair.job.state = JobState::kFailed;
  EXPECT_THAT(causes.Look(pair.After(absl::Seconds(1))), IsEmpty()) << "it may be tried again";
  pair.workflow.is_final = true;
  pair.workflow.state = JobState::kFailed;
  const std::vector<Alert> told = causes.Look(pair.After(absl::Seconds(1)));
  EXPECT_THAT(JobsOf(told), ElementsAre("wf"));
  EXPECT_THAT(Kinds(told), ElementsAre(AlertKind::kFailed));
}

TEST(AlertCauses, AJobThatOutlivesItsWorkflowTellsOfItself) {
  AlertCauses causes({.kinds = {AlertKind::kFailed}});
  WorkflowAndJob pair;
  causes.Look(pair.After(absl::Seconds(1)));
  pair.workflow.is_final = true;
  pair.workflow.state = JobState::kKilled;
  EXPECT_THAT(JobsOf(causes.Look(pair.After(absl::Seconds(1)))), ElementsAre("wf"));
  pair.job.is_final = true;
  pair.job.state = JobState::kFailed;
  EXPECT_THAT(JobsOf(causes.Look(pair.After(absl::Seconds(1)))), ElementsAre("load-1"));
}

TEST(AlertCauses, AJobOfAWorkflowThatEndsWellIsToldLikeAnyOther) {
  AlertCauses causes({.kinds = {AlertKind::kEnded}});
  WorkflowAndJob pair;
  causes.Look(pair.After(absl::Seconds(1)));
  pair.job.is_final = true;
  pair.job.state = JobState::kSucceeded;
  EXPECT_THAT(JobsOf(causes.Look(pair.After(absl::Seconds(1)))), ElementsAre("load-1"));
}

}  // namespace
}  // namespace tidemark::cli
