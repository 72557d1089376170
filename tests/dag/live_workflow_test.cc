#include "master/forecast/dag/live_workflow.h"

#include "master/facts/evidence_loss.h"
#include "tests/dag/some_workflows.h"
#include "tests/facts/events.h"
#include "tests/monitor/virtual_job.h"
#include "tests/test.h"
#include "tidemark/field_error.h"
#include "tidemark/job_monitor.h"
#include "tidemark/late_probability.h"
#include "tidemark/limit.h"

namespace tidemark::dag::live_workflow_test {
namespace {

using test::Diamond;
using test::Ended;
using test::JobNamed;
using test::Profile;
using test::Running;
using test::Second;
using test::SecondsOf;

TEST(CheckWorkflow, AcceptsADiamond) {
  EXPECT_TRUE(CheckWorkflow(Diamond(), 4).ok());
  EXPECT_THAT(ParentsOf(Diamond()),
              ElementsAre(IsEmpty(), ElementsAre(0), ElementsAre(0), ElementsAre(1, 2)));
}

TEST(CheckWorkflow, RejectsAnInvalidPlan) {
  Plan plan = Diamond();
  plan.jobs[0].after = {"d"};
  EXPECT_EQ(CheckWorkflow(plan, 4).message(),
            "jobs[0].after: is part of a cycle: a waits for d waits for c waits for a");
  plan = Diamond();
  plan.cluster.policy = SchedulingPolicy::kCapacity;
  EXPECT_EQ(WrongFieldOf(CheckWorkflow(plan, 4)).path, "cluster.queues");
}

TEST(CheckWorkflow, RejectsAPlanWithoutAnId) {
  Plan plan = Diamond();
  plan.id.clear();
  EXPECT_EQ(CheckWorkflow(plan, 4).message(), "id: is missing");
}

TEST(CheckWorkflow, RejectsJobsDescribedByStages) {
  Plan plan = Diamond();
  plan.jobs[1].stages = {{.name = "scan", .task_count = 1, .task_times = {absl::Seconds(1)}}};
  EXPECT_TRUE(CheckPlan(plan).ok());
  EXPECT_EQ(WrongFieldOf(CheckWorkflow(plan, 4)).path, "jobs[1].stages");
}

TEST(CheckWorkflow, RejectsMoreJobsThanTheLimit) {
  EXPECT_EQ(ExceededLimit(CheckWorkflow(Diamond(), 3)), "jobs_per_workflow");
}

TEST(CheckWorkflow, ALongChainIsCheckedInLinearTime) {
  Plan plan = {.id = "w", .cluster = {.slots = 1}};
  plan.jobs.push_back(JobNamed("0"));
  for (int i = 1; i < 50'000; ++i) {
    plan.jobs.push_back(JobNamed(std::to_string(i), {std::to_string(i - 1)}));
  }
  EXPECT_TRUE(CheckWorkflow(plan, 50'000).ok());
}

LiveWorkflow Live(Plan plan, const LiveWorkflowOptions& options = {}) {
  EXPECT_TRUE(CheckWorkflow(plan, 1000).ok());
  return LiveWorkflow(std::move(plan), Second(0), options);
}

void Observe(LiveWorkflow& live, Snapshot job,
             std::shared_ptr<const durations::RemainingStages> left = nullptr) {
  live.Observe(std::make_shared<const Snapshot>(std::move(job)), std::move(left));
}

// Observes a job and returns the workflow at the time of the job's snapshot.
Snapshot Seen(LiveWorkflow& live, Snapshot job) {
  const absl::Time at = job.at;
  Observe(live, std::move(job));
  return live.Tick(at);
}

// Returns a run with `map_tasks` tasks of 100 MB that take `map_seconds`, without reduce tasks.
JobProfile MapRun(std::uint32_t map_tasks, double map_seconds, double selectivity) {
  JobProfile run = Profile(map_tasks, map_seconds, 0, 0);
  run.split_bytes = 1e8;
  run.map_selectivity = selectivity;
  return run;
}

// Returns the first stage of child `number`.
const StageProgress& FirstStageOf(const Snapshot& snapshot, std::uint32_t number) {
  return *std::find_if(snapshot.stages.begin(), snapshot.stages.end(),
                       [&](const StageProgress& stage) { return stage.id.child == number; });
}

// Job b reads 100 MB in the past run: 50 MB of a, and 50 MB of a table. In this run, a writes 150
// MB, so b reads twice as much. Job c reads the output of b.
TEST(LiveWorkflow, ALaterJobGrowsWithTheOutputOfItsParents) {
  Plan plan = {.id = "w", .cluster = {.slots = 2}};
  plan.jobs = {JobNamed("a"), JobNamed("b", {"a"}), JobNamed("c", {"b"})};
  plan.jobs[0].job_id = "a-1";
  for (const bool is_profile_known : {false, true}) {
    LiveWorkflow live = Live(plan);
    live.SetRuns(0, {MapRun(1, 10, 0.5)});
    live.SetRuns(1, {MapRun(1, 10, 1)});
    live.SetRuns(2, {MapRun(1, 10, 1)});
    live.Observe(
        std::make_shared<const Snapshot>(Ended("a-1", 0, 10)), nullptr,
        is_profile_known ? std::make_shared<const JobProfile>(MapRun(1, 10, 1.5)) : nullptr);
    const JobsNow question = live.QuestionAt(Second(10));
    const double expected = is_profile_known ? 20 : 10;
    EXPECT_EQ(question.jobs[1].expected.map.tasks, 1u);
    EXPECT_NEAR(question.jobs[1].expected.map.times.mean(), expected, 0.01);
    EXPECT_NEAR(question.jobs[2].expected.map.times.mean(), expected, 0.01);
    const Snapshot& snapshot = live.Tick(Second(10));
    EXPECT_NEAR(absl::ToDoubleSeconds(*FirstStageOf(snapshot, 2).task_time), expected, 0.01);
  }
}

// Returns a workflow of jobs "0", "1", ... that has no past run of the jobs after the first.
LiveWorkflow WithUnknownRuns(int jobs) {
  Plan plan = {.id = "w", .cluster = {.slots = 2}};
  for (int i = 0; i < jobs; ++i) {
    plan.jobs.push_back(JobNamed(std::to_string(i)));
    plan.jobs.back().history_name = "word count";
  }
  LiveWorkflow live = Live(std::move(plan));
  live.SetRuns(0, {MapRun(1, 10, 1)});
  for (std::size_t i = 1; i < live.plan().jobs.size(); ++i) live.SetRuns(i, {});
  return live;
}

TEST(LiveWorkflow, AnEstimateNamesJobsWhosePastRunsAreUnknown) {
  EXPECT_THAT(WithUnknownRuns(2).Estimate(Second(0), {})->snapshot.notes,
              ElementsAre("job 1: no past run of word count is stored, so its times are a guess"));
  EXPECT_THAT(WithUnknownRuns(31).Estimate(Second(0), {})->snapshot.notes,
              ElementsAre("jobs 1, 2, 3, 4, 5 and 25 more: no past run is stored, so their times "
                          "are a guess"));
}

TEST(LiveWorkflow, AnEstimateNeedsNoPastRunsOfJobsThatHaveStarted) {
  LiveWorkflow live = WithUnknownRuns(3);
  Observe(live, Ended("1-1", 0, 10));
  Observe(live, Running("2-1", 0, 10, 20));
  EXPECT_THAT(live.Estimate(Second(10), {})->snapshot.notes, IsEmpty());
}

TEST(LiveWorkflow, CountsEachJobOutsideOnce) {
  LiveWorkflow live = Live({.id = "w", .jobs = {JobNamed("a")}, .cluster = {.slots = 2}});
  for (const char* job_id : {"x", "y", "x"}) {
    live.NoteJobOutside(job_id, absl::NotFoundError("no such node"));
  }
  EXPECT_THAT(live.Tick(Second(0)).notes,
              Contains("2 jobs report this workflow, but are not part of it: no such node"));
}

// An estimate is computed again only if its input changes.
TEST(FollowedJob, KeepsItsEstimate) {
  FollowedJob job;
  job.runs = {Profile(4, 10, 0, 0)};
  const PlannedJob planned = JobNamed("a");
  const auto tasks = [&](std::uint32_t slots, double data_factor) {
    return job.Expected(planned, {.slots = slots}, data_factor).map.tasks;
  };
  EXPECT_EQ(tasks(2, 1), 4u);
  job.runs = {Profile(6, 10, 0, 0)};
  EXPECT_EQ(tasks(2, 1), 4u);
  EXPECT_EQ(tasks(2, 2), 12u);
  EXPECT_EQ(tasks(2, 1), 6u);
  job.runs = {Profile(8, 10, 0, 0)};
  EXPECT_EQ(tasks(3, 1), 8u);
}

TEST(LiveWorkflow, NewPastRunsChangeTheForecast) {
  LiveWorkflow live = Live({.id = "w", .jobs = {JobNamed("a")}, .cluster = {.slots = 1}});
  live.SetRuns(0, {MapRun(1, 10, 1)});
  EXPECT_NEAR(SecondsOf(live.Tick(Second(0)).estimate.remaining), 10, 1);
  live.SetRuns(0, {MapRun(1, 100, 1)});
  EXPECT_NEAR(SecondsOf(live.Tick(Second(0)).estimate.remaining), 100, 10);
}

std::vector<std::string> CriticalJobs(const Snapshot& snapshot) {
  std::vector<std::string> names;
  for (const Child& job : snapshot.children) {
    if (job.is_critical) names.push_back(job.name);
  }
  return names;
}

// Returns a workflow whose jobs have past runs, each with a wave of 10 s for map tasks and one of
// 10 s for reduce tasks.
LiveWorkflow WithRuns(Plan plan) {
  LiveWorkflow live = Live(std::move(plan));
  for (std::size_t i = 0; i < live.plan().jobs.size(); ++i) {
    live.SetRuns(i, {Profile(2, 10, 2, 10)});
  }
  return live;
}

Plan TwoJobs() {
  return {.id = "wf", .jobs = {JobNamed("a"), JobNamed("b")}, .cluster = {.slots = 4}};
}

// Returns a diamond whose jobs may be retried within the given time.
LiveWorkflow RetriedWithin(absl::Duration time) {
  Plan plan = Diamond();
  plan.retry_within = time;
  return WithRuns(plan);
}

// Returns four running reduce tasks, of which three end after 1 s and the last after 100 s.
std::shared_ptr<const durations::RemainingStages> OneLongTask() {
  durations::RemainingStages left = {.stages = {{.work = {}, .times = {}, .number = kReduceStage}},
                                     .ends = {100}};
  left.stages[0].work.running.resize(4);
  left.stages[0].times.of_task = {{1}, {1}, {1}, {100}};
  return std::make_shared<const durations::RemainingStages>(std::move(left));
}

class LiveDiamond : public ::testing::Test {
 protected:
  LiveWorkflow live_ = WithRuns(Diamond());
};

std::vector<ChildState> StatesOf(const Snapshot& snapshot) {
  std::vector<ChildState> states;
  for (const Child& job : snapshot.children) states.push_back(job.state);
  return states;
}

TEST(LiveWorkflow, ReportsTheProbabilityToBeLate) {
  Plan plan = Diamond();
  plan.deadline = Second(600);
  LiveWorkflow live = WithRuns(plan);
  const Snapshot now = live.Tick(Second(0));
  EXPECT_EQ(now.deadline, Second(600));
  ASSERT_TRUE(now.estimate.remaining.has_value());
  EXPECT_EQ(now.late_probability, LateProbability(now, Second(600)));
  EXPECT_EQ(live.Tick(Second(600)).late_probability, 1);
}

TEST(LiveWorkflow, EqualsThePlanWithoutTheDeadlineOfTheSettings) {
  Plan plan = Diamond();
  plan.deadline = Second(3600);
  const LiveWorkflow live = Live(plan);
  EXPECT_TRUE(live.WasSubmittedAs(Diamond()));
  plan.deadline = Second(7200);
  EXPECT_FALSE(live.WasSubmittedAs(plan));
}

TEST(LiveWorkflow, EqualsThePlanWithoutTheDeadlineThatAUserSet) {
  Plan plan = Diamond();
  plan.deadline = Second(3600);
  LiveWorkflow live = Live(plan);
  EXPECT_EQ(*live.Update({.deadline = Second(3600)}, 100), false);
  EXPECT_EQ(*live.Update({.deadline = Second(900)}, 100), true);
  EXPECT_EQ(live.Tick(Second(1)).deadline, Second(900));
  EXPECT_TRUE(live.WasSubmittedAs(plan));
  plan.deadline = Second(900);
  EXPECT_FALSE(live.WasSubmittedAs(plan));
}

TEST_F(LiveDiamond, KeepsABoundedNumberOfPastForecasts) {
  const Snapshot first = live_.Tick(Second(0));
  ASSERT_EQ(live_.past_forecasts().size(), 1u);
  EXPECT_EQ(live_.past_forecasts()[0].at, Second(0));
  EXPECT_EQ(live_.past_forecasts()[0].ends_at, Second(0) + first.estimate.remaining->median);
  for (int i = 1; i < 500; ++i) live_.Tick(Second(0) + i * absl::Milliseconds(10));
  const std::vector<PastForecast>& kept = live_.past_forecasts();
  EXPECT_LT(kept.size(), LiveWorkflow::kPastForecastsMax);
  EXPECT_GE(kept.size(), LiveWorkflow::kPastForecastsMax / 2);
  EXPECT_TRUE(std::ranges::is_sorted(kept, {}, &PastForecast::at));
}

TEST_F(LiveDiamond, ForecastsFromPastRunsBeforeItsStart) {
  const Snapshot snapshot = live_.Tick(Second(0));
  EXPECT_EQ(snapshot.sequence, 1u);
  EXPECT_EQ(snapshot.state, JobState::kRunning);
  EXPECT_EQ(snapshot.estimate.fraction_done, 0);
  // a runs first, then b and c run in parallel, then d. Each takes 20 s.
  EXPECT_NEAR(SecondsOf(snapshot.estimate.remaining), 60, 6);
  EXPECT_LT(*snapshot.estimate.remaining->lower, snapshot.estimate.remaining->median);
  EXPECT_GT(*snapshot.estimate.remaining->upper, snapshot.estimate.remaining->median);
  EXPECT_EQ(snapshot.children[0].state, ChildState::kAwaited);
  EXPECT_EQ(snapshot.children[3].state, ChildState::kPending);
  EXPECT_EQ(snapshot.children[3].estimate.basis, Basis::kEarlierRuns);
  EXPECT_EQ(FirstStageOf(snapshot, 4).state, StageState::kExpected);
  EXPECT_THAT(snapshot.stages, SizeIs(8));
  EXPECT_EQ(snapshot.estimate.known_share, 1);
}

// Checks that the forecasts of all parts agree with each other and with the end of the workflow.
void ExpectCoherent(const Snapshot& snapshot) {
  ASSERT_TRUE(snapshot.estimate.remaining.has_value());
  const Range& whole = *snapshot.estimate.remaining;
  Range last;
  for (const Child& job : snapshot.children) {
    ASSERT_TRUE(job.estimate.remaining.has_value()) << job.name;
    const Range& end = *job.estimate.remaining;
    const absl::Duration start = job.starts_in ? job.starts_in->median : end.median;
    EXPECT_LE(start, end.median) << job.name;
    for (const std::uint32_t number : job.after) {
      const Range& before = *snapshot.children[number - 1].estimate.remaining;
      EXPECT_GE(start, before.median) << job.name;
      EXPECT_GE(end.lower, before.lower) << job.name;
      EXPECT_GE(end.upper, before.upper) << job.name;
    }
    last = {.median = std::max(last.median, end.median),
            .lower = std::max(last.lower, end.lower),
            .upper = std::max(last.upper, end.upper)};
  }
  EXPECT_EQ(last, whole);
  absl::Duration last_stage;
  for (const StageProgress& stage : snapshot.stages) {
    if (stage.starts_in && stage.ends_in) {
      EXPECT_LE(stage.starts_in->median, stage.ends_in->median) << stage.id.child;
    }
    if (stage.ends_in) last_stage = std::max(last_stage, stage.ends_in->median);
  }
  if (last_stage > absl::ZeroDuration()) {
    EXPECT_EQ(last_stage, whole.median);
  }
}

// Tests two former errors of a new master. A job appeared to end before its start, and the last job
// before the workflow.
TEST(LiveWorkflow, ForecastsOfJobsAgreeWithEachOtherAndWithTheWhole) {
  Plan chain = {.id = "chain", .cluster = {.slots = 4}};
  for (const char* name : {"a", "b", "c", "d", "e"}) {
    chain.jobs.push_back({.name = name});
    if (chain.jobs.size() > 1) chain.jobs.back().after = {chain.jobs[chain.jobs.size() - 2].name};
  }
  Plan wide = Diamond();
  wide.jobs[3].after = {"a"};
  for (const Plan& plan : {chain, Diamond(), wide}) {
    for (const double now : {0.0, 1.037, 77.7}) {
      LiveWorkflow unknown = Live(plan);
      ExpectCoherent(unknown.Tick(Second(now)));
      ExpectCoherent(unknown.Estimate(Second(now), {})->snapshot);
      ExpectCoherent(unknown.Estimate(Second(now), {.slots = 64})->snapshot);
      LiveWorkflow known = WithRuns(plan);
      ExpectCoherent(known.Tick(Second(now)));
      ExpectCoherent(known.Estimate(Second(now), {.data_factor = 3})->snapshot);
      Observe(known, Running(plan.jobs[0].name + "-1", 0, now, 100));
      ExpectCoherent(known.Tick(Second(now)));
    }
  }
}

// Tests a former error. A chain of unknown jobs appeared to take 13 min 42 s on 20 slots, and 16
// min 27 s on 1,000.
TEST(LiveWorkflow, IsNeverSlowerWithMoreSlots) {
  Plan chain = Diamond();
  chain.jobs[2].after = {"b"};
  chain.jobs[3].after = {"c"};
  for (const Plan& plan : {Diamond(), chain}) {
    for (const bool is_known : {false, true}) {
      const LiveWorkflow live = is_known ? WithRuns(plan) : Live(plan);
      double before = 1e9;
      for (const std::uint32_t slots : {1, 4, 20, 39, 40, 999, 1000, 100'000}) {
        const auto outcome = live.Estimate(Second(1), {.slots = slots}).value();
        const double end = SecondsOf(outcome.snapshot.estimate.remaining);
        EXPECT_LE(end, before + 1e-6) << slots;
        before = end;
      }
    }
  }
}

TEST_F(LiveDiamond, EndsByTheForecastOfItsRunningJob) {
  const Snapshot snapshot = Seen(live_, Running("a-1", 0, 5, 100));
  EXPECT_EQ(snapshot.children[0].state, ChildState::kRunning);
  EXPECT_EQ(snapshot.children[0].estimate.basis, Basis::kThisRun);
  EXPECT_NEAR(SecondsOf(snapshot.children[0].estimate.remaining), 100, 10);
  EXPECT_NEAR(SecondsOf(snapshot.estimate.remaining), 140, 14);
  EXPECT_THAT(CriticalJobs(snapshot).front(), "a");
  EXPECT_THAT(CriticalJobs(snapshot).back(), "d");
}

TEST(LiveWorkflow, AGuessOfARunningJobIsNotEvidence) {
  LiveWorkflow live = Live(Diamond());
  Snapshot a = Running("a-1", 0, 5, 100);
  Observe(live, a);
  EXPECT_EQ(live.Tick(Second(5)).estimate.basis, Basis::kThisRun);
  EXPECT_GT(live.Tick(Second(5)).estimate.known_share, 0);
  a.estimate.basis = Basis::kGuess;
  a.estimate.known_share = 0;
  Observe(live, a);
  const Snapshot guess = live.Tick(Second(5));
  EXPECT_EQ(guess.children[0].estimate.basis, Basis::kGuess);
  EXPECT_EQ(guess.estimate.basis, Basis::kGuess);
  EXPECT_EQ(guess.estimate.known_share, 0);
}

// The job took 20 s in a past run, and 5 s have passed. Its own guess is 100 s.
TEST_F(LiveDiamond, PrefersPastRunsToAGuessOfARunningJob) {
  Snapshot a = Running("a-1", 0, 5, 100);
  a.estimate.basis = Basis::kGuess;
  a.estimate.known_share = 0;
  Observe(live_, a);
  const Snapshot snapshot = live_.Tick(Second(5));
  EXPECT_EQ(snapshot.children[0].estimate.basis, Basis::kEarlierRuns);
  EXPECT_NEAR(SecondsOf(snapshot.children[0].estimate.remaining), 15, 3);
  EXPECT_EQ(snapshot.estimate.known_share, 1);
}

// One of the two reduce tasks has a huge key group and takes 475 s. The other task takes 75 s. The
// next job gets the slot of the other task when that task ends, not after half of the job's time.
TEST(LiveWorkflow, StartsTheNextJobBesideAStraggler) {
  JobMonitor monitor("job-1", {});
  const test::Story story = test::Tell(test::QuadraticJob());
  constexpr double kNow = 50;  // The reduce functions started at 12.
  for (const Event& event : story.events) {
    if (event.arrived_at > test::At(kNow)) break;
    ASSERT_TRUE(monitor.Apply(event).ok());
  }
  monitor.Tick(test::At(kNow));
  const Snapshot snapshot = monitor.job();
  Plan plan = TwoJobs();
  plan.cluster.slots = 2;
  plan.jobs[0].job_id = "job-1";
  const auto starts_in = [&](std::shared_ptr<const durations::RemainingStages> left) {
    LiveWorkflow live(plan, test::At(0), {});
    live.SetRuns(1, {Profile(2, 10, 0, 0)});
    Observe(live, snapshot, std::move(left));
    const Snapshot seen = live.Tick(test::At(kNow));
    EXPECT_NEAR(SecondsOf(seen.children[0].estimate.remaining),
                SecondsOf(snapshot.estimate.remaining), 20);
    return SecondsOf(seen.children[1].starts_in);
  };
  EXPECT_NEAR(starts_in(monitor.stages_left()), 12 + 75 - kNow, 20);
  EXPECT_GT(starts_in(nullptr), 100);
}

// Returns an application with 40 tasks of 10 s on 4 slots, of which 8 tasks have ended and 4 are
// running. `behind` tasks of another stage follow. An ended task has used `cpu` of processor time.
JobMonitor RunningApplication(std::uint32_t behind, absl::Duration cpu = absl::ZeroDuration()) {
  JobMonitor monitor("app-1", {});
  test::Source driver("driver", "app-1");
  const auto say = [&](double seconds, EventBody body) {
    const absl::Status applied = monitor.Apply(driver.At(seconds, std::move(body)));
    EXPECT_TRUE(applied.ok()) << applied;
  };
  JobOpened opened = {.name = "app", .submitted_at = test::At(0)};
  opened.stages.push_back(
      {.stage = 0, .name = "scan", .kind = StageKind::kGeneric, .task_count = 40, .slots = 4});
  if (behind > 0) {
    StageOpened& join = opened.stages.emplace_back(opened.stages[0]);
    join.stage = 1;
    join.name = "join";
    join.parents = {0};
    join.task_count = behind;
  }
  say(0, opened);
  for (std::uint32_t index = 0; index < 12; ++index) {
    const double start = 10 * (index / 4);
    say(start, test::Started({.stage = 0, .index = index}));
  }
  for (std::uint32_t index = 0; index < 8; ++index) {
    const double end = 10 * (index / 4) + 10;
    if (cpu > absl::ZeroDuration()) {
      say(end, TaskHeartbeat{.attempt = {.stage = 0, .index = index}, .time = {.cpu = cpu}});
    }
    say(end, test::Finished({.stage = 0, .index = index}));
  }
  monitor.Tick(test::At(20));
  return monitor;
}

Plan ApplicationAndJob() {
  Plan plan = {.id = "wf", .jobs = {JobNamed("app"), JobNamed("job")}, .cluster = {.slots = 4}};
  plan.cluster.policy = SchedulingPolicy::kFair;
  return plan;
}

// 32 tasks of 10 s and 40 tasks of the other job remain, which take 180 s on 4 slots.
TEST(LiveWorkflow, AnApplicationOfStagesUsesSlotsLikeAnyJob) {
  const JobMonitor monitor = RunningApplication(0);
  LiveWorkflow live(ApplicationAndJob(), test::At(0), {});
  live.SetRuns(1, {Profile(40, 10, 0, 0)});
  Observe(live, monitor.job(), monitor.stages_left());
  const Snapshot snapshot = live.Tick(test::At(20));
  EXPECT_NEAR(SecondsOf(snapshot.estimate.remaining), 180, 12);
  EXPECT_GT(SecondsOf(snapshot.children[0].estimate.remaining), 140) << "80 alone";
  EXPECT_NEAR(SecondsOf(FirstStageOf(snapshot, 1).ends_in),
              SecondsOf(snapshot.children[0].estimate.remaining), 10);
}

// Each of 32 remaining tasks of the running application and of 32 tasks of the other application
// uses a processor for 10 s. Four processors need 160 s, although eight slots need 80 s.
TEST(LiveWorkflow, ARunningApplicationSharesTheMeasuredNode) {
  const JobMonitor monitor = RunningApplication(0, absl::Seconds(10));
  PastStage count = {.name = "count", .tasks = 32, .cpu_seconds = 10};
  for (std::vector<double>& seconds : count.seconds) seconds = {10};
  const auto remaining = [&](const std::optional<ResourceProfile>& node) {
    Plan plan = ApplicationAndJob();
    plan.cluster.slots = 8;
    LiveWorkflow live(plan, test::At(0), {});
    live.SetRuns(1, {}, {PastRun{.slots = 4, .stages = {count}}});
    if (node) live.SetNode(*node);
    Observe(live, monitor.job(), monitor.stages_left());
    const Outcome same = live.Estimate(test::At(20), {.slots = 8}).value_or(Outcome());
    const double seconds = SecondsOf(live.Tick(test::At(20)).estimate.remaining);
    EXPECT_NEAR(SecondsOf(same.snapshot.estimate.remaining), seconds, 5);
    return seconds;
  };
  EXPECT_NEAR(remaining({}), 80, 12);
  EXPECT_NEAR(remaining(ResourceProfile{.cores = 4}), 160, 16);
}

TEST(LiveWorkflow, ASilentApplicationOfStagesUsesSlotsLikeAnyJob) {
  Snapshot silent = RunningApplication(0).job();
  silent.silent_since = silent.at - absl::Seconds(1);
  LiveWorkflow live(ApplicationAndJob(), test::At(0), {});
  live.SetRuns(1, {Profile(40, 10, 0, 0)});
  Observe(live, silent);
  EXPECT_NEAR(SecondsOf(live.Tick(test::At(20)).estimate.remaining), 180, 30);
}

TEST(LiveWorkflow, StagesOfAnApplicationWaitForEachOther) {
  const JobMonitor monitor = RunningApplication(4);
  LiveWorkflow live({.id = "wf", .jobs = {JobNamed("app")}, .cluster = {.slots = 4}}, test::At(0),
                    {});
  Observe(live, monitor.job(), monitor.stages_left());
  const Snapshot snapshot = live.Tick(test::At(20));
  EXPECT_NEAR(SecondsOf(snapshot.estimate.remaining), SecondsOf(monitor.job().estimate.remaining),
              5);
  ASSERT_THAT(snapshot.stages, SizeIs(2));
  EXPECT_NEAR(SecondsOf(snapshot.stages[0].ends_in), 80, 10);
  EXPECT_GE(SecondsOf(snapshot.stages[1].starts_in), SecondsOf(snapshot.stages[0].ends_in) - 1);
  EXPECT_TRUE(snapshot.stages[1].is_critical);
}

PastRun RunOfStages() {
  PastRun run = {.slots = 4};
  run.stages.push_back({.name = "scan", .tasks = 8, .seconds = {{{10}, {10}, {10}, {10}}}});
  run.stages.push_back(
      {.name = "join", .parents = {0}, .tasks = 4, .seconds = {{{5}, {5}, {5}, {5}}}});
  return run;
}

TEST(LiveWorkflow, AnUnstartedApplicationHasTheStagesOfItsPastRuns) {
  Plan plan = {
      .id = "wf", .jobs = {JobNamed("app"), JobNamed("after", {"app"})}, .cluster = {.slots = 4}};
  LiveWorkflow live(plan, Second(0), {});
  live.SetRuns(0, {}, {RunOfStages()});
  live.SetRuns(1, {Profile(4, 10, 0, 0)});
  const Snapshot snapshot = live.Tick(Second(0));
  EXPECT_NEAR(SecondsOf(snapshot.children[0].estimate.remaining), 25, 5);
  EXPECT_NEAR(SecondsOf(snapshot.estimate.remaining), 35, 6);
  EXPECT_EQ(snapshot.children[0].estimate.basis, Basis::kEarlierRuns);
  EXPECT_EQ(snapshot.estimate.known_share, 1);
  ASSERT_THAT(snapshot.stages, SizeIs(3));
  EXPECT_EQ(snapshot.stage_infos[0].name, "scan");
  EXPECT_EQ(snapshot.stage_infos[0].kind, StageKind::kGeneric);
  EXPECT_EQ(snapshot.stages[0].state, StageState::kExpected);
  EXPECT_EQ(snapshot.stages[0].tasks, 8u);
  EXPECT_EQ(snapshot.stage_infos[1].name, "join");
  EXPECT_THAT(snapshot.stage_infos[1].parents, ElementsAre(snapshot.stages[0].id.stage));
  EXPECT_NEAR(SecondsOf(snapshot.stages[1].starts_in), 20, 4);
  EXPECT_EQ(snapshot.stages[1].task_time, absl::Seconds(5));
  const auto twice = live.Estimate(Second(0), {.data_factor = 2}).value();
  EXPECT_NEAR(SecondsOf(twice.snapshot.children[0].estimate.remaining), 50, 10);
}

// Eight runs with thousands of stages each, in a thousand jobs, would take gigabytes.
TEST(LiveWorkflow, CountsOnlyTheTasksOfTooLargeRuns) {
  PastRun big = {.slots = 4};
  for (std::size_t i = 0; i < PastRun::kStagesMax; ++i) {
    big.stages.push_back({.name = "s", .tasks = 4, .seconds = {{{1, 1, 1, 1}, {}, {}, {}}}});
  }
  Plan plan = {.id = "wf", .cluster = {.slots = 4}};
  for (int i = 0; i < 20; ++i) plan.jobs.push_back(JobNamed("j" + std::to_string(i)));
  LiveWorkflow live(plan, Second(0), {});
  for (std::size_t i = 0; i < plan.jobs.size(); ++i) live.SetRuns(i, {}, {big});
  const Snapshot snapshot = live.Tick(Second(0));
  EXPECT_NEAR(SecondsOf(snapshot.estimate.remaining), 20 * 10'000, 40'000);
  EXPECT_LE(snapshot.stages.size(), 20'000u);
}

TEST(LiveWorkflow, TasksOfASilentJobAreUnknown) {
  LiveWorkflow live = WithRuns(TwoJobs());
  const auto tasks = OneLongTask();
  Snapshot a = Running("a-1", 0, 50, 100);
  Observe(live, a, tasks);
  EXPECT_LT(SecondsOf(live.Tick(Second(50)).children[1].starts_in), 2);
  a.silent_since = a.at - absl::Seconds(30);
  Observe(live, a, tasks);
  EXPECT_GT(SecondsOf(live.Tick(Second(50)).children[1].starts_in), 15);
}

TEST_F(LiveDiamond, SubtractsTheAgeOfAForecast) {
  Observe(live_, Running("a-1", 0, 5, 100));
  EXPECT_NEAR(SecondsOf(live_.Tick(Second(25)).children[0].estimate.remaining), 80, 8);
}

// In 1 of 50 s, the fraction falls by at most 3 x ln 1.02 = 0.0594.
TEST_F(LiveDiamond, ProgressMovesBackSlowlyIfTheEstimateIsRaised) {
  const double before = Seen(live_, Running("a-1", 0, 50, 5)).estimate.fraction_done;
  const Snapshot after = Seen(live_, Running("a-1", 0, 51, 5000));
  EXPECT_NEAR(after.estimate.fraction_done, before - 0.0594, 1e-4);
  EXPECT_TRUE(after.estimate_raised);
  EXPECT_LT(after.estimate.fraction_done_lower, before);
  EXPECT_GE(after.estimate.fraction_done_upper, after.estimate.fraction_done);
  EXPECT_GT(SecondsOf(after.estimate.remaining), 4000);
}

TEST_F(LiveDiamond, WaitingForTheFirstJobIsNotProgress) {
  for (const double at : {0.0, 30.0, 300.0}) {
    const Snapshot snapshot = live_.Tick(Second(at));
    EXPECT_EQ(snapshot.estimate.fraction_done, 0) << at;
    EXPECT_EQ(snapshot.estimate.fraction_done_upper, 0) << at;
    for (const Child& job : snapshot.children) EXPECT_EQ(job.estimate.fraction_done, 0) << at;
  }
}

TEST_F(LiveDiamond, ShowsItsMedianWithinItsBounds) {
  const Snapshot snapshot = Seen(live_, Running("a-1", 0, 5, 100));
  const double by_median = 5 / (5 + SecondsOf(snapshot.estimate.remaining));
  EXPECT_DOUBLE_EQ(snapshot.estimate.fraction_done, by_median);
  EXPECT_LT(snapshot.estimate.fraction_done, snapshot.estimate.fraction_done_upper);
  EXPECT_GT(snapshot.estimate.fraction_done, snapshot.estimate.fraction_done_lower);
}

// Returns the snapshot at `at` of a running job that has been silent since `running`.
Snapshot Silent(const Snapshot& running, double at) {
  Snapshot silent = running;
  silent.at = Second(at);
  silent.silent_since = running.at;
  const absl::Duration silence = silent.at - running.at;
  silent.estimate.remaining =
      facts::WidenForSilence(*running.estimate.remaining, silence, silence, silence);
  return silent;
}

// A silence of t lasts as long again. Two silent jobs are not expected to last four times as long.
TEST_F(LiveDiamond, GrowsWithTheSilenceOfItsJobsButNotFaster) {
  Observe(live_, Ended("a-1", 0, 10));
  const Snapshot b = Running("b-1", 10, 50, 5);
  const Snapshot c = Running("c-1", 10, 50, 5);
  Observe(live_, b);
  Observe(live_, c);
  const Snapshot reported = live_.Tick(Second(50));
  const Range before = *reported.estimate.remaining;
  double shown = reported.estimate.fraction_done;
  for (const double silence : {100.0, 1000.0}) {
    Observe(live_, Silent(b, 50 + silence));
    Observe(live_, Silent(c, 50 + silence));
    const Snapshot silent = live_.Tick(Second(50 + silence));
    EXPECT_EQ(silent.silent_since, Second(50)) << silence;
    EXPECT_LE(silent.estimate.fraction_done, shown) << silence;
    shown = silent.estimate.fraction_done;
    const Range& remaining = *silent.estimate.remaining;
    EXPECT_LT(remaining.median, before.median + 1.1 * absl::Seconds(silence)) << silence;
    EXPECT_GE(remaining.median, absl::Seconds(silence)) << silence;
    EXPECT_GT(*remaining.upper, 19 * absl::Seconds(silence)) << silence;
    EXPECT_GT(*silent.children[1].estimate.remaining->upper, 19 * absl::Seconds(silence));
  }
}

// The silence of one job does not open the interval of another job that reports.
TEST_F(LiveDiamond, OpensOnlyTheIntervalsOfSilentAndWaitingJobs) {
  Observe(live_, Ended("a-1", 0, 10));
  Observe(live_, Silent(Running("b-1", 10, 50, 100), 80));
  Observe(live_, Running("c-1", 10, 80, 70));
  const Snapshot snapshot = live_.Tick(Second(80));
  ASSERT_FALSE(snapshot.silent_since);
  EXPECT_GT(*snapshot.estimate.remaining->upper, 19 * absl::Seconds(30));
  EXPECT_GT(*snapshot.children[1].estimate.remaining->upper, 19 * absl::Seconds(30));
  EXPECT_LT(*snapshot.children[2].estimate.remaining->upper, absl::Seconds(200));
  EXPECT_GT(*snapshot.children[3].estimate.remaining->upper, 19 * absl::Seconds(30));
}

TEST_F(LiveDiamond, KeepsItsProgressWhileItsRunningJobsAreSilent) {
  const Snapshot a = Running("a-1", 0, 50, 100);
  Observe(live_, a);
  const Snapshot before = live_.Tick(Second(50));
  for (const double at : {60.0, 80.0, 100.0}) {
    Observe(live_, Silent(a, at));
    const Snapshot silent = live_.Tick(Second(at));
    EXPECT_EQ(silent.silent_since, Second(50));
    EXPECT_NEAR(SecondsOf(silent.estimate.remaining), SecondsOf(before.estimate.remaining), 6)
        << "forecast of its job, " << at;
    EXPECT_EQ(silent.estimate.fraction_done, before.estimate.fraction_done) << at;
    EXPECT_LE(silent.estimate.fraction_done_lower, silent.estimate.fraction_done) << at;
    EXPECT_EQ(silent.children[0].estimate.fraction_done, before.children[0].estimate.fraction_done)
        << at;
  }
  EXPECT_EQ(live_.newest()->state, JobState::kRunning);
  const Snapshot again = Seen(live_, Running("a-1", 0, 601, 10));
  EXPECT_FALSE(again.silent_since.has_value());
  EXPECT_GT(again.estimate.fraction_done, before.estimate.fraction_done);
  EXPECT_GT(again.children[0].estimate.fraction_done, before.children[0].estimate.fraction_done);
}

TEST_F(LiveDiamond, TheBarOfAJobMovesBackSlowly) {
  const double before = Seen(live_, Running("a-1", 0, 50, 50)).children[0].estimate.fraction_done;
  EXPECT_NEAR(before, 0.5, 0.05);
  const Estimate after = Seen(live_, Running("a-1", 0, 51, 459)).children[0].estimate;
  EXPECT_NEAR(after.fraction_done, before - 3 * std::log(51.0 / 50), 1e-9);
  EXPECT_EQ(after.fraction_done_lower, after.fraction_done);
  EXPECT_EQ(after.fraction_done_upper, after.fraction_done);
}

TEST_F(LiveDiamond, IsNotSilentWhileARunningJobReports) {
  Snapshot b = Running("b-1", 0, 60, 100);
  b.silent_since = Second(20);
  Observe(live_, b);
  EXPECT_FALSE(Seen(live_, Running("c-1", 0, 60, 100)).silent_since.has_value());
  Observe(live_, Ended("c-1", 0, 62));
  EXPECT_FALSE(live_.Tick(Second(65)).silent_since.has_value()) << "an end is a report";
  EXPECT_EQ(live_.Tick(Second(66)).silent_since, Second(62));
}

TEST(LiveWorkflow, AnAbandonedJobDoesNotEndTheSilence) {
  LiveWorkflow live = RetriedWithin(absl::Minutes(10));
  Snapshot a = Running("a-1", 0, 60, 100);
  a.coverage = Coverage{.newest_event_at = Second(50)};
  a.silent_since = Second(50);
  Observe(live, a);
  EXPECT_EQ(live.Tick(Second(60)).silent_since, Second(50));
  Snapshot given_up = Ended("a-1", 0, 950, JobState::kAbandoned, "no reports for 15m");
  given_up.coverage = a.coverage;
  Observe(live, given_up);
  const Snapshot waiting = live.Tick(Second(951));
  EXPECT_EQ(waiting.children[0].state, ChildState::kRetryable);
  EXPECT_EQ(waiting.silent_since, Second(50));
}

TEST_F(LiveDiamond, IsSilentIfNoJobRunsAndTheNextDoesNotStart) {
  Observe(live_, Ended("a-1", 0, 10));
  EXPECT_FALSE(live_.Tick(Second(20)).silent_since.has_value());
  EXPECT_EQ(live_.Tick(Second(21)).silent_since, Second(10));
  EXPECT_FALSE(Seen(live_, Running("b-1", 30, 31, 100)).silent_since.has_value());
}

TEST_F(LiveDiamond, IsSilentIfItsFirstJobDoesNotStart) {
  EXPECT_FALSE(live_.Tick(Second(10)).silent_since.has_value());
  EXPECT_EQ(live_.Tick(Second(11)).silent_since, Second(0));
}

TEST(LiveWorkflow, AnAttachedRetryEndsTheSilence) {
  LiveWorkflow live = RetriedWithin(absl::Minutes(10));
  Observe(live, Ended("a-1", 0, 10, JobState::kFailed, "out of disk"));
  EXPECT_EQ(live.Tick(Second(30)).silent_since, Second(10));
  ASSERT_TRUE(live.Attach("a", "a-2").value_or(false));
  EXPECT_FALSE(live.Tick(Second(35)).silent_since.has_value());
  EXPECT_EQ(live.Tick(Second(41)).silent_since, Second(30));
}

TEST_F(LiveDiamond, RaisesTheForecastToTheLengthOfTheSilence) {
  Observe(live_, Ended("a-1", 0, 10));
  const Snapshot before = live_.Tick(Second(20));
  const Snapshot silent = live_.Tick(Second(100));
  EXPECT_LE(silent.estimate.fraction_done, before.estimate.fraction_done);
  EXPECT_GT(silent.estimate.fraction_done, 0);
  ASSERT_TRUE(silent.estimate.remaining.has_value());
  const absl::Duration median = before.estimate.remaining->median;
  EXPECT_EQ(silent.estimate.remaining->median, std::max(median, absl::Seconds(90)));
  EXPECT_EQ(silent.estimate.remaining->lower, absl::ZeroDuration());
  EXPECT_EQ(*silent.estimate.remaining->upper - *before.estimate.remaining->upper,
            19 * absl::Seconds(90));
  EXPECT_GT(*silent.children[1].estimate.remaining->upper, absl::Minutes(25));
  const auto outcome = live_.Estimate(Second(100), {}).value();
  EXPECT_EQ(outcome.snapshot.silent_since, Second(10));
  EXPECT_GT(*outcome.snapshot.estimate.remaining->upper, absl::Minutes(25));
  EXPECT_EQ(live_.Tick(Second(300)).estimate.remaining->median,
            std::max(median, absl::Seconds(290)));
}

TEST_F(LiveDiamond, ShowsTheSilenceSinceARestartAndOpensByAllOfIt) {
  live_.RestoreFacts(
      "a", {.state = ChildState::kSucceeded, .started_at = Second(0), .ended_at = Second(10)});
  live_.RestoreTick(7, Second(12), 0.3);
  live_.NoteRestart(Second(1000));
  const Snapshot silent = live_.Tick(Second(1005));
  EXPECT_EQ(silent.silent_since, Second(1000));
  EXPECT_EQ(silent.estimate.fraction_done, 0.3);
  EXPECT_LT(SecondsOf(silent.estimate.remaining), 100) << "less than twice the time";
  EXPECT_GT(*silent.estimate.remaining->upper, 19 * absl::Seconds(995));
}

TEST_F(LiveDiamond, ShowsTheOwnProgressOfAJobThatWasSilentBefore) {
  Snapshot a = Running("a-1", 0, 50, 100);
  a.silent_since = a.at - absl::Seconds(30);
  a.estimate.fraction_done = 0.25;
  Observe(live_, a);
  EXPECT_EQ(live_.Tick(Second(50)).children[0].estimate.fraction_done, 0.25);
}

TEST_F(LiveDiamond, ReportsTheSilenceOfARunningJob) {
  Snapshot a = Running("a-1", 0, 50, 100);
  Observe(live_, a);
  EXPECT_THAT(live_.Tick(Second(50)).notes, IsEmpty());
  a.at = Second(181.6);
  a.silent_since = Second(50);
  Observe(live_, a);
  EXPECT_THAT(live_.Tick(a.at).notes, ElementsAre("job a: no report for 2 min 11 s"));
  EXPECT_THAT(Seen(live_, Running("a-1", 0, 182, 10)).notes, IsEmpty());
}

TEST_F(LiveDiamond, EndsAtTheEndOfItsLastJob) {
  for (const char* id : {"a-1", "b-1", "c-1"}) Observe(live_, Ended(id, 0, 10));
  Snapshot last = Running("d-1", 11, 12, 5);
  Observe(live_, last);
  EXPECT_FALSE(live_.Tick(Second(12)).is_final);
  last = Ended("d-1", 10, 20);  // Its start was corrected.
  last.sequence = 3;
  last.at = Second(20.2);
  Observe(live_, last);
  const Snapshot final = live_.Tick(Second(20.4));
  EXPECT_EQ(final.ended_at, Second(20));
  EXPECT_EQ(final.children[3].started_at, Second(10));
  EXPECT_EQ(final.children[3].ended_at, Second(20));
}

TEST_F(LiveDiamond, KeepsItsStartWhenThatOfAJobIsCorrected) {
  Observe(live_, Running("a-1", -1, 5, 10));  // Started before the submission of the workflow.
  EXPECT_EQ(live_.Tick(Second(5)).started_at, Second(-1));
  Observe(live_, Ended("a-1", -2, 20));
  const Snapshot after = live_.Tick(Second(21));
  EXPECT_EQ(after.children[0].started_at, Second(-2));
  EXPECT_EQ(after.started_at, Second(-1));
  LiveWorkflow restarted = WithRuns(Diamond());
  restarted.RestoreFacts("a", {.state = ChildState::kRunning, .started_at = Second(-1)});
  restarted.RestoreFacts(
      "a", {.state = ChildState::kSucceeded, .started_at = Second(-2), .ended_at = Second(20)});
  EXPECT_EQ(restarted.Tick(Second(22)).started_at, Second(-1));
}

TEST(LiveWorkflow, EndsNoSoonerThanTheCancellationOfItsLastJob) {
  LiveWorkflow live = Live(TwoJobs());
  Observe(live, Ended("a-1", 0, 10));
  EXPECT_FALSE(live.Tick(Second(50)).is_final);
  ASSERT_TRUE(live.Update({.cancel_jobs = {"b"}}, 100).value_or(false));
  const Snapshot final = live.Tick(Second(51));
  EXPECT_EQ(final.state, JobState::kSucceeded);
  EXPECT_EQ(final.ended_at, Second(50));
}

TEST_F(LiveDiamond, EndsOnceAfterAllJobsSucceeded) {
  for (const char* id : {"a-1", "b-1", "c-1"}) Observe(live_, Ended(id, 0, 10));
  EXPECT_FALSE(live_.Tick(Second(10)).is_final);
  Observe(live_, Ended("d-1", 10, 20));
  const Snapshot final = live_.Tick(Second(21));
  EXPECT_EQ(final.state, JobState::kSucceeded);
  EXPECT_EQ(final.estimate.fraction_done, 1);
  EXPECT_FALSE(final.estimate.remaining.has_value());
  EXPECT_THAT(StatesOf(final), Each(ChildState::kSucceeded));
  EXPECT_EQ(live_.Tick(Second(99)), final);
  Observe(live_, Running("d-1", 10, 30, 5));
  EXPECT_EQ(live_.Tick(Second(100)), final);
}

TEST_F(LiveDiamond, IgnoresARunThatEndedBeforeTheSubmission) {
  Observe(live_, Ended("a-1", -100, -1));
  EXPECT_EQ(live_.Tick(Second(1)).children[0].state, ChildState::kAwaited);
  EXPECT_THAT(live_.wanted_jobs(), Contains("a-1"));
  EXPECT_EQ(Seen(live_, Running("a-1", 2, 5, 100)).children[0].state, ChildState::kRunning);
}

TEST_F(LiveDiamond, CountsAnAttachedRunThatEndedBeforeTheSubmission) {
  Observe(live_, Ended("a-1", -100, -1));
  EXPECT_EQ(live_.Attach("a", "a-1").value_or(false), true);
  Observe(live_, Ended("a-1", -100, -1));
  EXPECT_EQ(live_.Tick(Second(1)).children[0].state, ChildState::kSucceeded);
}

TEST_F(LiveDiamond, FailsOrIsKilledWithAJobWithoutRetries) {
  const Snapshot final = Seen(live_, Ended("a-1", 0, 10, JobState::kFailed, "out of disk"));
  EXPECT_EQ(final.state, JobState::kFailed);
  EXPECT_EQ(final.message, "job a failed: out of disk");
  EXPECT_EQ(final.children[0].failed_attempts, 1u);
  EXPECT_LT(final.estimate.fraction_done, 1);
  LiveWorkflow killed = WithRuns(Diamond());
  EXPECT_EQ(Seen(killed, Ended("a-1", 0, 10, JobState::kKilled)).state, JobState::kKilled);
}

TEST_F(LiveDiamond, AFailedJobKeepsItsProgress) {
  Snapshot failed = Ended("a-1", 0, 10, JobState::kFailed, "out of disk");
  failed.estimate.fraction_done = 0.4;
  Observe(live_, failed);
  const Child job = live_.Tick(Second(10)).children[0];
  EXPECT_EQ(job.state, ChildState::kFailed);
  EXPECT_EQ(job.estimate.fraction_done, 0.4);
}

TEST(LiveWorkflow, RetriesAFailedJobUnderAnotherId) {
  LiveWorkflow live = RetriedWithin(absl::Seconds(60));
  Observe(live, Ended("a-1", 0, 10, JobState::kFailed, "out of disk"));
  Snapshot snapshot = live.Tick(Second(50));
  EXPECT_EQ(snapshot.state, JobState::kRunning);
  EXPECT_EQ(snapshot.children[0].state, ChildState::kRetryable);
  EXPECT_EQ(snapshot.children[0].message, "out of disk");
  EXPECT_THAT(snapshot.notes, ElementsAre(HasSubstr("job a failed 40 s ago")));
  ASSERT_TRUE(live.Attach("a", "a-2").value_or(false));
  EXPECT_THAT(live.wanted_jobs(), ElementsAre("a-2", "b-1", "c-1", "d-1"));
  Observe(live, Running("a-2", 50, 55, 30));
  Observe(live, Ended("a-1", 0, 56));  // This event belongs to the past run, so it is ignored.
  snapshot = live.Tick(Second(56));
  EXPECT_EQ(snapshot.children[0].state, ChildState::kRunning);
  EXPECT_EQ(snapshot.children[0].failed_attempts, 1u);
  EXPECT_THAT(snapshot.notes, IsEmpty());
}

TEST(LiveWorkflow, FailsWithoutARetryInTime) {
  LiveWorkflow live = RetriedWithin(absl::Seconds(60));
  Observe(live, Ended("a-1", 0, 10, JobState::kFailed, "out of disk"));
  EXPECT_FALSE(live.Tick(Second(70)).is_final);
  EXPECT_EQ(live.Tick(Second(71)).state, JobState::kFailed);
}

TEST_F(LiveDiamond, RejectsAContradictingAttachment) {
  EXPECT_TRUE(absl::IsNotFound(live_.Attach("x", "j").status()));
  EXPECT_FALSE(*live_.Attach("a", "a-1"));  // The job is attached again.
  EXPECT_TRUE(absl::IsAlreadyExists(live_.Attach("a", "b-1").status()));
  Observe(live_, Running("a-1", 0, 5, 100));
  EXPECT_TRUE(absl::IsFailedPrecondition(live_.Attach("a", "a-2").status()));
}

TEST_F(LiveDiamond, RejectsItselfAsAJob) {
  EXPECT_TRUE(absl::IsInvalidArgument(live_.Attach("a", "wf").status()));
}

TEST_F(LiveDiamond, FreesAReplacedIdThatNeverReported) {
  ASSERT_TRUE(*live_.Attach("a", "typo"));
  ASSERT_TRUE(*live_.Attach("a", "a-1"));
  EXPECT_TRUE(*live_.Attach("b", "typo"));
  EXPECT_TRUE(absl::IsAlreadyExists(live_.Attach("c", "a-1").status()));
}

TEST(LiveWorkflow, LimitsTheRetriesOfAJob) {
  Plan plan = Diamond();
  plan.retry_within = absl::Seconds(60);
  LiveWorkflow live = Live(plan, {.retries_max = 1});
  Observe(live, Ended("a-1", 0, 1, JobState::kFailed));
  ASSERT_TRUE(live.Attach("a", "a-2").ok());
  Observe(live, Ended("a-2", 1, 2, JobState::kFailed));
  EXPECT_EQ(ExceededLimit(live.Attach("a", "a-3").status()), "retries_per_job");
}

TEST(LiveWorkflow, NotesAJobThatNeverReportsAndThenAbandonsIt) {
  LiveWorkflow live = Live(Diamond(), {.abandon_after = absl::Minutes(15)});
  Snapshot snapshot = live.Tick(Second(120));
  EXPECT_EQ(snapshot.state, JobState::kRunning);
  EXPECT_THAT(snapshot.notes,
              ElementsAre("job a should have started 2 min ago, but a-1 has not reported"));
  EXPECT_EQ(snapshot.silent_since, Second(0));
  EXPECT_GT(*snapshot.estimate.remaining->upper, absl::Minutes(10));
  snapshot = live.Tick(Second(901));
  EXPECT_EQ(snapshot.state, JobState::kAbandoned);
  EXPECT_EQ(snapshot.message, "no report from any job for 15 min 01 s");
  EXPECT_FALSE(snapshot.silent_since.has_value());
}

TEST_F(LiveDiamond, IsAbandonedIfARunningJobIsForgotten) {
  Observe(live_, Running("a-1", 0, 5, 100));
  EXPECT_FALSE(live_.Tick(Second(900)).is_final);
  EXPECT_EQ(live_.Tick(Second(906)).state, JobState::kAbandoned);
}

TEST(LiveWorkflow, IsWideAndFiniteWithoutEvidence) {
  LiveWorkflow live = Live(Diamond());
  const Snapshot snapshot = live.Tick(Second(0));
  EXPECT_EQ(snapshot.estimate.known_share, 0);
  EXPECT_EQ(snapshot.estimate.basis, Basis::kGuess);
  EXPECT_EQ(snapshot.children[0].estimate.basis, Basis::kGuess);
  EXPECT_GT(*snapshot.estimate.remaining->upper, 100 * *snapshot.estimate.remaining->lower);
  EXPECT_LT(*snapshot.estimate.remaining->upper, absl::Hours(24));
}

TEST(LiveWorkflow, NotesAnEndAfterTheLongestShownTime) {
  LiveWorkflow live = Live({.id = "wf", .jobs = {JobNamed("a")}, .cluster = {.slots = 4}});
  live.SetRuns(0, {Profile(100, 1e10, 1, 1)});
  const auto outcome = live.Estimate(Second(0), {}).value();
  EXPECT_THAT(outcome.snapshot.notes,
              ElementsAre(HasSubstr("the longest time that a snapshot shows")));
  EXPECT_THAT(live.Tick(Second(0)).notes,
              Contains(HasSubstr("the longest time that a snapshot shows")));
}

TEST(LiveWorkflow, LateJobsLengthenTheOthers) {
  const auto remaining_when_a_took = [](double seconds) {
    LiveWorkflow live = WithRuns(Diamond());
    live.Tick(Second(0));
    Seen(live, Running("a-1", 0, 1, seconds));
    return SecondsOf(Seen(live, Ended("a-1", 0, seconds)).estimate.remaining);
  };
  EXPECT_GT(remaining_when_a_took(60), 1.1 * remaining_when_a_took(20));
}

TEST_F(LiveDiamond, NamesTheFieldOfAnInvalidChange) {
  const auto path = [&](const PlanChange& change) {
    return WrongFieldOf(live_.Update(change, 100).status()).path;
  };
  const PlannedJob known = JobNamed("a");
  EXPECT_EQ(path({.add_jobs = {known, JobNamed("e", {"x"})}}), "add_jobs[1].after[0]");
  EXPECT_EQ(path({.add_jobs = {{}}}), "add_jobs[0].name");
  EXPECT_EQ(path({.add_jobs = {JobNamed("a", {"b"})}}), "add_jobs[0].name");
  EXPECT_EQ(path({.add_jobs = {{.name = "e", .job_id = "a-1"}}}), "add_jobs[0].job_id");
  EXPECT_EQ(path({.cancel_jobs = {"a", "bb"}}), "cancel_jobs[1]");
  EXPECT_EQ(ExceededLimit(live_.Update({.add_jobs = {JobNamed("e")}}, 4).status()),
            "jobs_per_workflow");
  EXPECT_EQ(live_.plan(), Diamond());
}

TEST(LiveWorkflow, ASingleUnnamedJobHasTheNameOfTheWorkflow) {
  const Plan plan = {.id = "nightly", .jobs = {{.job_id = "job-1"}}, .cluster = {.slots = 4}};
  LiveWorkflow live = Live(plan);
  EXPECT_EQ(live.Tick(Second(0)).children[0].name, "nightly");
  EXPECT_TRUE(live.WasSubmittedAs(plan));
}

TEST_F(LiveDiamond, AScenarioChangesNothing) {
  live_.SetRuns(0, {Profile(40, 10, 4, 10)});
  const Snapshot before = live_.Tick(Second(0));
  const auto wide = live_.Estimate(Second(0), {.slots = 40});
  const auto more = live_.Estimate(Second(0), {.data_factor = 3});
  ASSERT_TRUE(wide.ok() && more.ok());
  EXPECT_EQ(wide->snapshot.sequence, 0u);
  EXPECT_LT(SecondsOf(wide->snapshot.estimate.remaining), SecondsOf(before.estimate.remaining));
  EXPECT_GT(SecondsOf(more->snapshot.estimate.remaining), SecondsOf(before.estimate.remaining));
  EXPECT_EQ(*live_.newest(), before);
  EXPECT_TRUE(absl::IsInvalidArgument(live_.Estimate(Second(0), {.data_factor = NAN}).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(
      live_.Estimate(Second(0), {.policy = SchedulingPolicy::kCapacity}).status()));
}

TEST(LiveWorkflow, CapacityQueuesShareTheCluster) {
  Plan plan = TwoJobs();
  plan.jobs[0].queue = "small";
  plan.jobs[1].queue = "large";
  plan.cluster = {
      .slots = 4, .policy = SchedulingPolicy::kCapacity, .queues = {{"small", 1}, {"large", 3}}};
  LiveWorkflow live = Live(plan);
  for (std::size_t i = 0; i < 2; ++i) live.SetRuns(i, {Profile(30, 10, 0, 0)});
  const Snapshot snapshot = live.Tick(Second(0));
  // b has three of the four slots until its 30 tasks have ended.
  EXPECT_NEAR(SecondsOf(snapshot.children[1].estimate.remaining), 100, 15);
  EXPECT_NEAR(SecondsOf(snapshot.children[0].estimate.remaining), 150, 25);
}

TEST(LiveWorkflow, UsesTheMeasuredNodeUnlessThePlanHasOne) {
  JobProfile run = Profile(2, 10, 2, 10);
  run.split_bytes = 1e8;
  ResourceProfile slow_disk = *test::OneNode(4, 4, 1e9).node;
  slow_disk.disk_write = 1e6;
  LiveWorkflow live = WithRuns(Diamond());
  live.SetRuns(0, {run});
  EXPECT_EQ(FirstStageOf(live.Tick(Second(0)), 1).bottleneck, "");
  live.SetNode(slow_disk);
  EXPECT_EQ(FirstStageOf(live.Tick(Second(1)), 1).bottleneck, "disk write");
  Plan plan = Diamond();
  plan.cluster.node = slow_disk;
  plan.cluster.node->disk_write = 1e9;
  LiveWorkflow own = WithRuns(plan);
  own.SetRuns(0, {run});
  own.SetNode(slow_disk);
  EXPECT_EQ(FirstStageOf(own.Tick(Second(0)), 1).bottleneck, "cpu");
}

TEST_F(LiveDiamond, ReturnsChangedFactsOnceAndRestoresThem) {
  Observe(live_, Ended("a-1", 0, 10));
  const Snapshot last = live_.Tick(Second(12));
  const auto facts = live_.TakeNewFacts();
  EXPECT_THAT(live_.TakeNewFacts(), IsEmpty());
  LiveWorkflow again = WithRuns(Diamond());
  for (const auto& [name, of_job] : facts) again.RestoreFacts(name, of_job);
  again.RestoreTick(last.sequence, last.at, last.estimate.fraction_done);
  const Snapshot next = again.Tick(Second(13));
  EXPECT_EQ(next.sequence, last.sequence + 1);
  EXPECT_EQ(next.children[0].state, ChildState::kSucceeded);
  EXPECT_EQ(next.children[0].ended_at, Second(10));
  EXPECT_GE(next.estimate.fraction_done, last.estimate.fraction_done);
  EXPECT_THAT(again.wanted_jobs(), ElementsAre("b-1", "c-1", "d-1"));
}

TEST_F(LiveDiamond, RestoresManyTicksWithoutCopies) {
  const std::weak_ptr<const Snapshot> before = live_.newest();
  live_.RestoreTick(7, Second(12), 0.5);
  live_.NoteDamage({.records = 1, .ticks_max = 2});
  EXPECT_EQ(before.lock(), live_.newest());
  EXPECT_EQ(live_.newest()->sequence, 9u);
  EXPECT_EQ(live_.newest()->at, Second(12));
  EXPECT_EQ(live_.newest()->estimate.fraction_done, 0.5);
}

TEST_F(LiveDiamond, ReleasesSnapshotsOfJobsAtItsEnd) {
  const auto failed =
      std::make_shared<const Snapshot>(Ended("a-1", 0, 10, JobState::kFailed, "out of disk"));
  const auto running = std::make_shared<const Snapshot>(Running("b-1", 0, 9, 100));
  const auto tasks = OneLongTask();
  live_.Observe(failed);
  live_.Observe(running, tasks);
  const Snapshot final = live_.Tick(Second(10));
  ASSERT_TRUE(final.is_final);
  EXPECT_EQ(final.message, "job a failed: out of disk");
  EXPECT_EQ(FirstStageOf(final, 2).state, StageState::kRunning);
  EXPECT_EQ(failed.use_count(), 1);
  EXPECT_EQ(running.use_count(), 1);
  EXPECT_EQ(tasks.use_count(), 1);
  EXPECT_EQ(live_.Tick(Second(99)), final);
}

TEST_F(LiveDiamond, TakesOnlyTheSameRunOfAnEndedJobAfterARestart) {
  live_.RestoreFacts(
      "a", {.state = ChildState::kSucceeded, .started_at = Second(0), .ended_at = Second(10)});
  const auto own_stages = [&] {
    std::vector<StageState> states;
    for (const StageProgress& stage : live_.Tick(Second(20)).stages) {
      if (stage.id.child == 1) states.push_back(stage.state);
    }
    return states;
  };
  Observe(live_, Running("a-1", 0, 9, 100));  // The log does not contain the end of the job.
  EXPECT_THAT(own_stages(), IsEmpty());
  Snapshot ended = Running("a-1", 0, 10, 0);
  ended.is_final = true;
  ended.state = JobState::kSucceeded;
  ended.stages[0].state = StageState::kDone;
  Observe(live_, ended);
  EXPECT_THAT(own_stages(), ElementsAre(StageState::kDone));
}

TEST_F(LiveDiamond, NeverSucceedsWithAFailedJobAfterARestart) {
  live_.RestoreFacts("a", {.state = ChildState::kFailed,
                           .started_at = Second(0),
                           .ended_at = Second(10),
                           .message = "out of disk"});
  Observe(live_, Ended("a-1", 0, 10));  // The end comes from a damaged log of the job.
  const Snapshot final = live_.Tick(Second(11));
  EXPECT_EQ(final.state, JobState::kFailed);
  EXPECT_EQ(final.message, "job a failed: out of disk");
}

TEST(LiveWorkflow, ACancelledJobIsNotEvidence) {
  LiveWorkflow live = Live(TwoJobs());
  live.SetRuns(1, {Profile(2, 10, 2, 10)});
  EXPECT_EQ(live.Tick(Second(0)).estimate.basis, Basis::kEarlierRuns);
  ASSERT_TRUE(live.Update({.cancel_jobs = {"b"}}, 100).value_or(false));
  EXPECT_EQ(live.Tick(Second(1)).estimate.basis, Basis::kGuess);
}

TEST_F(LiveDiamond, RejectsAddingACancelledJobAgain) {
  const PlanChange add = {.add_jobs = {JobNamed("e")}};
  ASSERT_TRUE(live_.Update(add, 100).value_or(false));
  EXPECT_TRUE(live_.Update(add, 100).ok()) << "the request may be repeated";
  ASSERT_TRUE(live_.Update({.cancel_jobs = {"e"}}, 100).value_or(false));
  const absl::Status refused = live_.Update(add, 100).status();
  EXPECT_TRUE(absl::IsFailedPrecondition(refused));
  EXPECT_EQ(refused.message(), "job e of workflow wf was cancelled; add it under another name");
  const PlanChange both = {.add_jobs = {JobNamed("e")}, .cancel_jobs = {"e"}};
  EXPECT_TRUE(live_.Update(both, 100).ok()) << "nothing remains to do";
}

TEST_F(LiveDiamond, RejectsChangesAfterItsCancellation) {
  ASSERT_TRUE(live_.Update({.add_jobs = {JobNamed("e")}}, 100).value_or(false));
  ASSERT_TRUE(live_.Update({.cancel = true}, 100).value_or(false));
  const auto update = [&](const PlanChange& change) { return live_.Update(change, 100).status(); };
  EXPECT_EQ(update({.add_jobs = {JobNamed("f")}}).message(), "workflow wf was cancelled");
  EXPECT_TRUE(absl::IsFailedPrecondition(update({.cancel_jobs = {"a"}})));
  EXPECT_TRUE(absl::IsFailedPrecondition(live_.Attach("a", "a-2").status()));
  EXPECT_EQ(live_.Estimate(Second(1), {}).status().message(),
            "workflow wf was cancelled; no work remains to estimate");
  EXPECT_TRUE(update({.cancel = true}).ok()) << "the request may be repeated";
  EXPECT_TRUE(update({.add_jobs = {JobNamed("e")}}).ok())
      << "the earlier request may be repeated, too";
}

TEST_F(LiveDiamond, RejectsACancellationThatAddsJobs) {
  const absl::Status refused =
      live_.Update({.add_jobs = {JobNamed("e")}, .cancel = true}, 100).status();
  EXPECT_EQ(WrongFieldOf(refused).path, "add_jobs") << refused;
  EXPECT_EQ(live_.Tick(Second(1)).state, JobState::kRunning);
}

TEST(LiveWorkflow, AnOpenPlanWaitsForItsFirstJobUntilItIsAbandoned) {
  LiveWorkflow live({.id = "etl", .jobs = {{.name = "load"}, {.name = "count"}}, .is_open = true},
                    Second(0), {});
  EXPECT_FALSE(live.Tick(Second(890)).is_final);
  EXPECT_EQ(live.Tick(Second(901)).state, JobState::kAbandoned);
}

// Returns a workflow whose jobs ran one after the other for 60 s. The last job has 15 s left.
LiveWorkflow Growing(const std::vector<std::string>& names) {
  const auto id = [](std::size_t job) { return "job_" + std::to_string(job); };
  const Plan plan = {.id = "etl",
                     .jobs = {{.name = names.front(), .job_id = id(0)}},
                     .cluster = {.slots = 4},
                     .is_open = true};
  LiveWorkflow live(plan, Second(0), {});
  PlanChange change;
  for (std::size_t i = 1; i < names.size(); ++i) {
    change.add_jobs.push_back({.name = names[i], .job_id = id(i), .after = {names[i - 1]}});
  }
  EXPECT_TRUE(live.Update(change, 100).ok());
  const double each = 60 / static_cast<double>(names.size());
  for (std::size_t i = 0; i + 1 < names.size(); ++i) {
    const double start = each * static_cast<double>(i);
    Observe(live, Ended(id(i), start, start + each));
  }
  Observe(live, Running(id(names.size() - 1), 60 - each, 60, 15));
  return live;
}

// After three different jobs, another follows with probability 2/3. Half of the futures add more
// than (2/3) / (1/2) - 1 = 1/3 of the 60 s so far, and 5 % add more than 3.2 times as much.
TEST(LiveWorkflow, WithoutAGraphOrAPastRunFurtherJobsAreExpected) {
  LiveWorkflow live = Growing({"load", "count", "mean"});
  const Snapshot growing = live.Tick(Second(60));
  EXPECT_TRUE(growing.may_grow);
  EXPECT_NEAR(SecondsOf(growing.estimate.remaining), 15 + 20, 3);
  EXPECT_GT(*growing.estimate.remaining->upper, absl::Seconds(150));
  EXPECT_NEAR(SecondsOf(growing.children[2].estimate.remaining), 15, 1);
  ASSERT_TRUE(live.Update({.close = true}, 100).ok());
  const Snapshot closed = live.Tick(Second(60));
  EXPECT_FALSE(closed.may_grow);
  EXPECT_NEAR(SecondsOf(closed.estimate.remaining), 15, 1);
}

// The first job has not shown a pace. Another unknown job at most doubles the work.
TEST(LiveWorkflow, AnotherUnknownJobIsAssumedToBeLikeTheRunningOne) {
  const Plan plan = {.id = "etl",
                     .jobs = {{.name = "load", .job_id = "load-1"}},
                     .cluster = {.slots = 4},
                     .is_open = true};
  LiveWorkflow live(plan, Second(0), {});
  const auto begun = [](const std::string& id, double start, double at) {
    Snapshot job = Running(id, start, at, 0);
    job.estimate = {.state = EstimateState::kWarmingUp};
    return job;
  };
  Observe(live, begun("load-1", 0, 4));
  const double alone = live.Tick(Second(4)).estimate.fraction_done;
  EXPECT_LT(alone, 0.1) << "nothing is known";
  ASSERT_TRUE(live.Update({.add_jobs = {JobNamed("count")}}, 100).ok());
  EXPECT_GT(live.Tick(Second(4.1)).estimate.fraction_done, alone / 2.5);
  Observe(live, begun("count-1", 4.2, 4.2));
  EXPECT_LT(live.Tick(Second(4.2)).estimate.fraction_done, 2 * alone);
}

TEST(LiveWorkflow, AJobWhoseNameEndsInBracketsIsNoRepetition) {
  EXPECT_NEAR(
      SecondsOf(Growing({"load", "count", "load (raw)"}).Tick(Second(60)).estimate.remaining),
      15 + 20, 3);
}

TEST(LiveWorkflow, FurtherJobsAreNotNotedWhileItIsIdle) {
  LiveWorkflow live = Growing({"load", "count"});
  const std::string note =
      "jobs that have not been submitted are unknown; the estimate allows for them in proportion "
      "to the elapsed time";
  EXPECT_THAT(live.Tick(Second(60)).notes, Contains(note));
  Observe(live, Ended("job_1", 30, 61));
  const Snapshot idle = live.Tick(Second(62));
  EXPECT_TRUE(idle.idle_since.has_value());
  EXPECT_THAT(idle.notes, Not(Contains(note)));
}

// Two of ten jobs are new. The probability of another one is below one half.
TEST(LiveWorkflow, ANewJobAfterManyRepetitionsIsExpectedToBeTheLast) {
  std::vector<std::string> names = {"step"};
  for (int i = 2; i < 10; ++i) names.push_back("step (" + std::to_string(i) + ")");
  names.emplace_back("report");
  EXPECT_NEAR(SecondsOf(Growing(names).Tick(Second(60)).estimate.remaining), 15, 1);
  names.back() = "step (10)";
  EXPECT_NEAR(SecondsOf(Growing(names).Tick(Second(60)).estimate.remaining), 15 + 20, 3);
}

TEST(LiveWorkflow, ANameThatAClientChoseIsNoShapeOfAGraph) {
  const auto history_name = [](const std::string& of_job) {
    const Plan plan = {.id = "e",
                       .name = "etl",
                       .jobs = {{.name = "load", .history_name = of_job}},
                       .is_open = true};
    return LiveWorkflow(plan, Second(0), {}).history_name();
  };
  EXPECT_EQ(history_name("etl / load #0123abcd"), "workflow etl #0123abcd");
  EXPECT_EQ(history_name("etl / load"), "workflow etl");
  EXPECT_EQ(history_name("the name of an old job"), "workflow etl");
}

TEST_F(LiveDiamond, CancelsUnstartedJobsWithTheWorkflow) {
  Observe(live_, Running("a-1", 0, 5, 10));
  ASSERT_TRUE(live_.Update({.cancel_jobs = {"b"}}, 100).ok());
  EXPECT_EQ(live_.Tick(Second(5)).counts.children, 3u);
  ASSERT_TRUE(live_.Update({.cancel = true}, 100).ok());
  const Snapshot final = live_.Tick(Second(6));
  EXPECT_EQ(final.state, JobState::kKilled);
  EXPECT_EQ(final.counts.children, 3u) << "a number of jobs does not change at the end";
  EXPECT_THAT(StatesOf(final), ElementsAre(ChildState::kRunning, ChildState::kCancelled,
                                           ChildState::kCancelled, ChildState::kCancelled));
}

TEST_F(LiveDiamond, NeverTicksBackwards) {
  live_.Tick(Second(50));
  const Snapshot snapshot = live_.Tick(Second(-1000));
  EXPECT_EQ(snapshot.at, Second(50));
  EXPECT_GE(snapshot.elapsed(), absl::ZeroDuration());
}

}  // namespace
}  // namespace tidemark::dag::live_workflow_test
