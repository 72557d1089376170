#include "master/workflow/live_workflow.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "master/workflow/check_workflow.h"
#include "tests/master/virtual_job.h"
#include "tests/workflow/some_workflows.h"
#include "tidemark/job_monitor.h"
#include "tidemark/limit.h"

namespace tidemark::workflow {
namespace {

using test::Diamond;
using test::Ended;
using test::Profile;
using test::Running;
using test::Second;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

LiveWorkflow Live(WorkflowSpec spec, const LiveWorkflowOptions& options = {}) {
  EXPECT_TRUE(CheckWorkflow(spec, {}).ok());
  return LiveWorkflow(std::move(spec), Second(0), options);
}

// All jobs of one wave of 10 s maps and one of 10 s reduces.
LiveWorkflow WithRuns(WorkflowSpec spec) {
  LiveWorkflow live = Live(std::move(spec));
  for (std::size_t i = 0; i < live.spec().jobs.size(); ++i) {
    live.SetRuns(i, {Profile(2, 10, 2, 10)});
  }
  return live;
}

std::vector<WorkflowJobState> StatesOf(const WorkflowSnapshot& snapshot) {
  std::vector<WorkflowJobState> states;
  for (const WorkflowJobProgress& job : snapshot.jobs) states.push_back(job.state);
  return states;
}

TEST(LiveWorkflow, BeforeAnythingRanItSaysWhatEarlierRunsSay) {
  LiveWorkflow live = WithRuns(Diamond());
  const WorkflowSnapshot snapshot = live.Tick(Second(0));
  EXPECT_EQ(snapshot.sequence, 1u);
  EXPECT_EQ(snapshot.state, JobState::kRunning);
  EXPECT_EQ(snapshot.fraction_done, 0);
  // a, then b and c side by side, then d: 20 s each.
  EXPECT_NEAR(absl::ToDoubleSeconds(*snapshot.remaining), 60, 6);
  EXPECT_LT(*snapshot.remaining_lower, *snapshot.remaining);
  EXPECT_GT(*snapshot.remaining_upper, *snapshot.remaining);
  EXPECT_EQ(snapshot.jobs[0].state, WorkflowJobState::kAwaited);
  EXPECT_EQ(snapshot.jobs[3].state, WorkflowJobState::kPending);
  EXPECT_EQ(snapshot.jobs[3].basis, WorkflowBasis::kProfile);
  EXPECT_THAT(snapshot.jobs[3].stages, SizeIs(2));
  EXPECT_EQ(snapshot.known_share, 1);
}

TEST(LiveWorkflow, ARunningJobsForecastLeadsToTheEndOfTheWhole) {
  LiveWorkflow live = WithRuns(Diamond());
  live.Observe(Running("a-1", 0, 5, 100));
  const WorkflowSnapshot snapshot = live.Tick(Second(5));
  EXPECT_EQ(snapshot.jobs[0].state, WorkflowJobState::kRunning);
  EXPECT_EQ(snapshot.jobs[0].basis, WorkflowBasis::kForecast);
  EXPECT_NEAR(absl::ToDoubleSeconds(*snapshot.jobs[0].ends_in), 100, 10);
  EXPECT_NEAR(absl::ToDoubleSeconds(*snapshot.remaining), 140, 14);
  EXPECT_THAT(snapshot.critical_path.front(), "a");
  EXPECT_THAT(snapshot.critical_path.back(), "d");
}

// One of the two reduce tasks has a giant among its key groups: it takes 475 s, the other 75. The
// next job gets the slot of the other when that ends, not when half of the job's time is over.
TEST(LiveWorkflow, TheNextJobStartsWhenATaskOfTheRunningOneEndsBesideItsStraggler) {
  JobMonitor monitor("job-1", {});
  const test::Story story = test::Tell(test::QuadraticJob());
  constexpr double kNow = 50;  // the reduce functions began at 12
  for (const Event& event : story.events) {
    if (event.arrived_at > test::At(kNow)) break;
    ASSERT_TRUE(monitor.Apply(event).ok());
  }
  const next::Snapshot snapshot = monitor.Tick(test::At(kNow));
  WorkflowSpec spec = {
      .id = "wf", .jobs = {test::JobNamed("a"), test::JobNamed("b")}, .cluster = {.slots = 2}};
  spec.jobs[0].job_id = "job-1";
  const auto starts_in = [&](std::shared_ptr<const cost::RunningStage> stage) {
    LiveWorkflow live(spec, test::At(0), {});
    live.SetRuns(1, {Profile(2, 10, 0, 0)});
    live.Observe(snapshot, std::move(stage));
    const WorkflowSnapshot seen = live.Tick(test::At(kNow));
    EXPECT_NEAR(absl::ToDoubleSeconds(*seen.jobs[0].ends_in),
                absl::ToDoubleSeconds(snapshot.estimate.remaining->median), 20);
    return absl::ToDoubleSeconds(*seen.jobs[1].starts_in);
  };
  EXPECT_NEAR(starts_in(monitor.running_stage()), 12 + 75 - kNow, 20);
  EXPECT_GT(starts_in(nullptr), 100);
}

TEST(LiveWorkflow, OfAJobThatHasFallenSilentTheTasksAreNotKnown) {
  LiveWorkflow live = WithRuns(
      {.id = "wf", .jobs = {test::JobNamed("a"), test::JobNamed("b")}, .cluster = {.slots = 4}});
  cost::RunningStage stage = {.index = kReduceStage, .ends = {100}};
  stage.left.work.running.resize(4);
  stage.left.times.of_task = {{1}, {1}, {1}, {100}};
  const auto tasks = std::make_shared<const cost::RunningStage>(std::move(stage));
  next::Snapshot a = Running("a-1", 0, 50, 100);
  live.Observe(a, tasks);
  EXPECT_LT(*live.Tick(Second(50)).jobs[1].starts_in, absl::Seconds(2));
  a.silent_since = a.at - absl::Seconds(30);
  live.Observe(a, tasks);
  EXPECT_GT(*live.Tick(Second(50)).jobs[1].starts_in, absl::Seconds(15));
}

TEST(LiveWorkflow, AForecastThatIsOlderThanTheTickHasRunOn) {
  LiveWorkflow live = WithRuns(Diamond());
  live.Observe(Running("a-1", 0, 5, 100));
  EXPECT_NEAR(absl::ToDoubleSeconds(*live.Tick(Second(25)).jobs[0].ends_in), 80, 8);
}

TEST(LiveWorkflow, ProgressNeverGoesBackAlthoughTheEstimateDoes) {
  LiveWorkflow live = WithRuns(Diamond());
  live.Observe(Running("a-1", 0, 50, 5));
  const double before = live.Tick(Second(50)).fraction_done;
  live.Observe(Running("a-1", 0, 51, 5000));
  const WorkflowSnapshot after = live.Tick(Second(51));
  EXPECT_EQ(after.fraction_done, before);
  EXPECT_LT(after.fraction_done_lower, before);
  EXPECT_GE(after.fraction_done_upper, after.fraction_done);
  EXPECT_GT(*after.remaining, absl::Seconds(4000));
}

TEST(LiveWorkflow, WaitingForTheFirstJobIsNoProgress) {
  LiveWorkflow live = WithRuns(Diamond());
  for (const double at : {0.0, 30.0, 300.0}) {
    const WorkflowSnapshot snapshot = live.Tick(Second(at));
    EXPECT_EQ(snapshot.fraction_done, 0) << at;
    EXPECT_EQ(snapshot.fraction_done_upper, 0) << at;
    for (const WorkflowJobProgress& job : snapshot.jobs) EXPECT_EQ(job.fraction_done, 0) << at;
  }
}

TEST(LiveWorkflow, ShowsItsMedianWithinItsBounds) {
  LiveWorkflow live = WithRuns(Diamond());
  live.Observe(Running("a-1", 0, 5, 100));
  const WorkflowSnapshot snapshot = live.Tick(Second(5));
  const double by_median = 5 / (5 + absl::ToDoubleSeconds(*snapshot.remaining));
  EXPECT_DOUBLE_EQ(snapshot.fraction_done, by_median);
  EXPECT_LT(snapshot.fraction_done, snapshot.fraction_done_upper);
  EXPECT_GT(snapshot.fraction_done, snapshot.fraction_done_lower);
}

TEST(LiveWorkflow, StandsStillWhileItsRunningJobsAreSilent) {
  LiveWorkflow live = WithRuns(Diamond());
  next::Snapshot a = Running("a-1", 0, 50, 100);
  live.Observe(a);
  const WorkflowSnapshot heard = live.Tick(Second(50));
  for (const double at : {60.0, 300.0, 600.0}) {
    a.at = Second(at);
    a.silent_since = Second(50);
    live.Observe(a);
    const WorkflowSnapshot silent = live.Tick(a.at);
    EXPECT_EQ(silent.fraction_done, heard.fraction_done) << at;
    EXPECT_LE(silent.fraction_done_lower, silent.fraction_done) << at;
    EXPECT_EQ(silent.jobs[0].fraction_done, heard.jobs[0].fraction_done) << at;
  }
  EXPECT_EQ(live.newest().state, JobState::kRunning);
  live.Observe(Running("a-1", 0, 601, 10));
  const WorkflowSnapshot again = live.Tick(Second(601));
  EXPECT_GT(again.fraction_done, heard.fraction_done);
  EXPECT_GT(again.jobs[0].fraction_done, heard.jobs[0].fraction_done);
}

TEST(LiveWorkflow, AJobThatFellSilentBeforeIsShownWithItsOwnBar) {
  LiveWorkflow live = WithRuns(Diamond());
  next::Snapshot a = Running("a-1", 0, 50, 100);
  a.silent_since = a.at - absl::Seconds(30);
  a.estimate.fraction_done = 0.25;
  live.Observe(a);
  EXPECT_EQ(live.Tick(Second(50)).jobs[0].fraction_done, 0.25);
}

TEST(LiveWorkflow, SaysSinceWhenARunningJobHasBeenSilent) {
  LiveWorkflow live = WithRuns(Diamond());
  next::Snapshot a = Running("a-1", 0, 50, 100);
  live.Observe(a);
  EXPECT_THAT(live.Tick(Second(50)).notes, IsEmpty());
  a.at = Second(181.6);
  a.silent_since = a.at - absl::Seconds(131.6);
  live.Observe(a);
  EXPECT_THAT(live.Tick(a.at).notes, ElementsAre("job a: no news for 2m11s"));
  live.Observe(Running("a-1", 0, 182, 10));
  EXPECT_THAT(live.Tick(Second(182)).notes, IsEmpty());
}

TEST(LiveWorkflow, EndsOnceWhenAllJobsHaveSucceeded) {
  LiveWorkflow live = WithRuns(Diamond());
  for (const char* id : {"a-1", "b-1", "c-1"}) live.Observe(Ended(id, 0, 10));
  EXPECT_FALSE(live.Tick(Second(10)).is_final());
  live.Observe(Ended("d-1", 10, 20));
  const WorkflowSnapshot final = live.Tick(Second(21));
  EXPECT_EQ(final.state, JobState::kSucceeded);
  EXPECT_EQ(final.fraction_done, 1);
  EXPECT_FALSE(final.remaining.has_value());
  EXPECT_THAT(StatesOf(final), ::testing::Each(WorkflowJobState::kSucceeded));
  EXPECT_EQ(live.Tick(Second(99)), final);
  live.Observe(Running("d-1", 10, 30, 5));
  EXPECT_EQ(live.Tick(Second(100)), final);
}

TEST(LiveWorkflow, ARunThatEndedBeforeTheSubmissionIsNotItsJob) {
  LiveWorkflow live = WithRuns(Diamond());
  live.Observe(Ended("a-1", -100, -1));
  EXPECT_EQ(live.Tick(Second(1)).jobs[0].state, WorkflowJobState::kAwaited);
  EXPECT_THAT(live.wanted_jobs(), Contains("a-1"));
  live.Observe(Running("a-1", 2, 5, 100));
  EXPECT_EQ(live.Tick(Second(5)).jobs[0].state, WorkflowJobState::kRunning);
}

TEST(LiveWorkflow, ARunThatEndedBeforeTheSubmissionCountsOnceItIsAttached) {
  LiveWorkflow live = WithRuns(Diamond());
  live.Observe(Ended("a-1", -100, -1));
  EXPECT_EQ(live.Attach("a", "a-1").value_or(false), true);
  live.Observe(Ended("a-1", -100, -1));
  EXPECT_EQ(live.Tick(Second(1)).jobs[0].state, WorkflowJobState::kSucceeded);
}

TEST(LiveWorkflow, AFailedJobEndsAWorkflowWithoutRetries) {
  LiveWorkflow live = WithRuns(Diamond());
  live.Observe(Ended("a-1", 0, 10, next::JobState::kFailed, "out of disk"));
  const WorkflowSnapshot final = live.Tick(Second(10));
  EXPECT_EQ(final.state, JobState::kFailed);
  EXPECT_EQ(final.message, "job a failed: out of disk");
  EXPECT_EQ(final.jobs[0].failed_attempts, 1u);
  EXPECT_LT(final.fraction_done, 1);
}

TEST(LiveWorkflow, AKilledJobKillsIt) {
  LiveWorkflow live = WithRuns(Diamond());
  live.Observe(Ended("a-1", 0, 10, next::JobState::kKilled));
  EXPECT_EQ(live.Tick(Second(10)).state, JobState::kKilled);
}

TEST(LiveWorkflow, AFailedJobMayBeRetriedUnderAnotherId) {
  WorkflowSpec spec = Diamond();
  spec.retry_within = absl::Seconds(60);
  LiveWorkflow live = WithRuns(spec);
  live.Observe(Ended("a-1", 0, 10, next::JobState::kFailed, "out of disk"));
  WorkflowSnapshot snapshot = live.Tick(Second(50));
  EXPECT_EQ(snapshot.state, JobState::kRunning);
  EXPECT_EQ(snapshot.jobs[0].state, WorkflowJobState::kRetried);
  EXPECT_EQ(snapshot.jobs[0].message, "out of disk");
  EXPECT_THAT(snapshot.notes, ElementsAre(HasSubstr("job a failed 40s ago")));
  ASSERT_TRUE(live.Attach("a", "a-2").value_or(false));
  EXPECT_THAT(live.wanted_jobs(), ElementsAre("a-2", "b-1", "c-1", "d-1"));
  live.Observe(Running("a-2", 50, 55, 30));
  live.Observe(Ended("a-1", 0, 56));  // of the one before: no news
  snapshot = live.Tick(Second(56));
  EXPECT_EQ(snapshot.jobs[0].state, WorkflowJobState::kRunning);
  EXPECT_EQ(snapshot.jobs[0].failed_attempts, 1u);
  EXPECT_THAT(snapshot.notes, IsEmpty());
}

TEST(LiveWorkflow, ARetryThatDoesNotComeInTimeFailsIt) {
  WorkflowSpec spec = Diamond();
  spec.retry_within = absl::Seconds(60);
  LiveWorkflow live = WithRuns(spec);
  live.Observe(Ended("a-1", 0, 10, next::JobState::kFailed, "out of disk"));
  EXPECT_FALSE(live.Tick(Second(70)).is_final());
  EXPECT_EQ(live.Tick(Second(71)).state, JobState::kFailed);
}

TEST(LiveWorkflow, RefusesAnAttachmentThatContradicts) {
  LiveWorkflow live = WithRuns(Diamond());
  EXPECT_TRUE(absl::IsNotFound(live.Attach("x", "j").status()));
  EXPECT_FALSE(*live.Attach("a", "a-1"));  // the same again
  EXPECT_TRUE(absl::IsAlreadyExists(live.Attach("a", "b-1").status()));
  live.Observe(Running("a-1", 0, 5, 100));
  EXPECT_TRUE(absl::IsFailedPrecondition(live.Attach("a", "a-2").status()));
}

TEST(LiveWorkflow, AnIdThatWasReplacedUnheardIsFreeAgain) {
  LiveWorkflow live = WithRuns(Diamond());
  ASSERT_TRUE(*live.Attach("a", "typo"));
  ASSERT_TRUE(*live.Attach("a", "a-1"));
  EXPECT_TRUE(*live.Attach("b", "typo"));
  EXPECT_TRUE(absl::IsAlreadyExists(live.Attach("c", "a-1").status()));
}

TEST(LiveWorkflow, TakesSoManyRetriesOfAJob) {
  WorkflowSpec spec = Diamond();
  spec.retry_within = absl::Seconds(60);
  LiveWorkflow live = Live(spec, {.retries_max = 1});
  live.Observe(Ended("a-1", 0, 1, next::JobState::kFailed));
  ASSERT_TRUE(live.Attach("a", "a-2").ok());
  live.Observe(Ended("a-2", 1, 2, next::JobState::kFailed));
  EXPECT_EQ(ExceededLimit(live.Attach("a", "a-3").status()), "retries_per_job");
}

TEST(LiveWorkflow, AJobThatNeverReportsIsStatedAndThenGivenUp) {
  LiveWorkflow live = Live(Diamond(), {.abandon_after = absl::Minutes(15)});
  WorkflowSnapshot snapshot = live.Tick(Second(120));
  EXPECT_EQ(snapshot.state, JobState::kRunning);
  EXPECT_THAT(snapshot.notes,
              ElementsAre("job a could have started 2m ago, but a-1 has not reported"));
  EXPECT_GT(*snapshot.remaining_upper, absl::Minutes(10));
  snapshot = live.Tick(Second(901));
  EXPECT_EQ(snapshot.state, JobState::kAbandoned);
  EXPECT_EQ(snapshot.message, "no news of any job for 15m1s");
}

TEST(LiveWorkflow, ARunningJobThatIsForgottenDoesNotHoldItForEver) {
  LiveWorkflow live = WithRuns(Diamond());
  live.Observe(Running("a-1", 0, 5, 100));
  EXPECT_FALSE(live.Tick(Second(900)).is_final());
  EXPECT_EQ(live.Tick(Second(906)).state, JobState::kAbandoned);
}

TEST(LiveWorkflow, NothingKnownIsWideAndFinite) {
  LiveWorkflow live = Live(Diamond());
  const WorkflowSnapshot snapshot = live.Tick(Second(0));
  EXPECT_EQ(snapshot.known_share, 0);
  EXPECT_EQ(snapshot.jobs[0].basis, WorkflowBasis::kGuess);
  EXPECT_GT(*snapshot.remaining_upper, 3 * *snapshot.remaining_lower);
  EXPECT_LT(*snapshot.remaining_upper, absl::Hours(24));
}

TEST(LiveWorkflow, JobsThatTookLongerThanTheyWereToMakeTheRestLonger) {
  const auto remaining_when_a_took = [](double seconds) {
    LiveWorkflow live = WithRuns(Diamond());
    live.Tick(Second(0));
    live.Observe(Running("a-1", 0, 1, seconds));
    live.Tick(Second(1));
    live.Observe(Ended("a-1", 0, seconds));
    return absl::ToDoubleSeconds(*live.Tick(Second(seconds)).remaining);
  };
  EXPECT_GT(remaining_when_a_took(60), 1.1 * remaining_when_a_took(20));
}

TEST(LiveWorkflow, AWhatIfChangesNothing) {
  LiveWorkflow live = WithRuns(Diamond());
  live.SetRuns(0, {Profile(40, 10, 4, 10)});
  const WorkflowSnapshot before = live.Tick(Second(0));
  const auto wide = live.Estimate(Second(0), {.slots = 40});
  const auto more = live.Estimate(Second(0), {.data_factor = 3});
  ASSERT_TRUE(wide.ok() && more.ok());
  EXPECT_EQ(wide->sequence, 0u);
  EXPECT_LT(*wide->remaining, *before.remaining);
  EXPECT_GT(*more->remaining, *before.remaining);
  EXPECT_EQ(live.newest(), before);
  EXPECT_TRUE(absl::IsInvalidArgument(live.Estimate(Second(0), {.data_factor = NAN}).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(
      live.Estimate(Second(0), {.policy = SchedulingPolicy::kCapacity}).status()));
}

TEST(LiveWorkflow, CapacityQueuesShareTheClusterAsTheyShould) {
  WorkflowSpec spec = {.id = "w", .jobs = {test::JobNamed("a"), test::JobNamed("b")}};
  spec.jobs[0].queue = "small";
  spec.jobs[1].queue = "large";
  spec.cluster = {
      .slots = 4, .policy = SchedulingPolicy::kCapacity, .queues = {{"small", 1}, {"large", 3}}};
  LiveWorkflow live = Live(spec);
  for (std::size_t i = 0; i < 2; ++i) live.SetRuns(i, {Profile(30, 10, 0, 0)});
  const WorkflowSnapshot snapshot = live.Tick(Second(0));
  // b has three of the four slots until its 30 tasks are done.
  EXPECT_NEAR(absl::ToDoubleSeconds(*snapshot.jobs[1].ends_in), 100, 15);
  EXPECT_NEAR(absl::ToDoubleSeconds(*snapshot.jobs[0].ends_in), 150, 25);
}

TEST(LiveWorkflow, AMeasuredNodeNamesBottlenecksUnlessTheWorkflowSaysItself) {
  JobProfile run = Profile(2, 10, 2, 10);
  run.split_bytes = 1e8;
  const ResourceProfile slow_disk = {.disk_read = 1e9,
                                     .disk_write = 1e6,
                                     .dfs_read = 1e9,
                                     .dfs_write = 1e9,
                                     .network = 1e9,
                                     .cores = 4};
  LiveWorkflow live = WithRuns(Diamond());
  live.SetRuns(0, {run});
  EXPECT_EQ(live.Tick(Second(0)).jobs[0].stages[0].bottleneck, "");
  live.SetNode(slow_disk);
  EXPECT_EQ(live.Tick(Second(1)).jobs[0].stages[0].bottleneck, "disk write");
  WorkflowSpec spec = Diamond();
  spec.cluster.node = slow_disk;
  spec.cluster.node->disk_write = 1e9;
  LiveWorkflow own = WithRuns(spec);
  own.SetRuns(0, {run});
  own.SetNode(slow_disk);
  EXPECT_EQ(own.Tick(Second(0)).jobs[0].stages[0].bottleneck, "cpu");
}

TEST(LiveWorkflow, WhatMustOutliveAJobIsHandedOutOnceAndTakenBack) {
  LiveWorkflow live = WithRuns(Diamond());
  live.Observe(Ended("a-1", 0, 10));
  const WorkflowSnapshot last = live.Tick(Second(12));
  const auto facts = live.TakeNewFacts();
  EXPECT_THAT(live.TakeNewFacts(), IsEmpty());
  LiveWorkflow again = WithRuns(Diamond());
  for (const auto& [name, of_job] : facts) again.RestoreFacts(name, of_job);
  again.RestoreTick(last.sequence, last.at, last.fraction_done);
  const WorkflowSnapshot next = again.Tick(Second(13));
  EXPECT_EQ(next.sequence, last.sequence + 1);
  EXPECT_EQ(next.jobs[0].state, WorkflowJobState::kSucceeded);
  EXPECT_EQ(next.jobs[0].ended_at, Second(10));
  EXPECT_GE(next.fraction_done, last.fraction_done);
  EXPECT_THAT(again.wanted_jobs(), ElementsAre("b-1", "c-1", "d-1"));
}

TEST(LiveWorkflow, AClockThatGoesBackDoesNot) {
  LiveWorkflow live = WithRuns(Diamond());
  live.Tick(Second(50));
  const WorkflowSnapshot snapshot = live.Tick(Second(-1000));
  EXPECT_EQ(snapshot.at, Second(50));
  EXPECT_GE(snapshot.elapsed, absl::ZeroDuration());
}

}  // namespace
}  // namespace tidemark::workflow
