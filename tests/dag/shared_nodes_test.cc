// Tests jobs whose tasks share the resources of nodes, from plans and profiles to the end of a
// workflow.

#include "master/forecast/dag/jobs_application.h"
#include "master/forecast/dag/live_workflow.h"
#include "master/forecast/dag/task_model.h"
#include "tests/dag/some_workflows.h"
#include "tests/matchers.h"
#include "tests/placement/some_stages.h"
#include "tests/test.h"

namespace tidemark::dag::shared_nodes_test {
namespace {

using placement::Slots;
using test::Second;

// Returns a node of six cores whose file system reads 120 MB/s and whose network transfers 100
// MB/s.
Cluster SixCores(std::uint32_t slots) {
  Cluster cluster = test::OneNode(slots, 6, 1e9);
  cluster.policy = SchedulingPolicy::kFair;
  cluster.node->dfs_read = 1.2e8;
  cluster.node->network = 1e8;
  return cluster;
}

double EndOf(const Outcome& outcome) {
  return absl::ToDoubleSeconds(outcome.snapshot.estimate.remaining->median);
}

Outcome Estimated(const Plan& plan, std::uint32_t slots) {
  return LiveWorkflow(plan, Second(0), {}).Estimate(Second(0), {.slots = slots}).value();
}

// 60 tasks that read 128 MB each at a total of 120 MB/s take 64 s on any number of slots.
TEST(SharedNodes, SlotsDoNotShortenAJobThatWaitsForItsDisk) {
  JobProfile run = {.slots = 12,
                    .map_tasks = 60,
                    .split_bytes = 1.28e8,
                    .map_selectivity = 0.001,
                    .map_task_time = absl::Seconds(12.8),
                    .map_task_variation = 0.05};
  Plan plan = {.id = "ts-disk", .cluster = SixCores(12)};
  plan.jobs = {{.name = "ts", .job_id = "ts-1", .profile = run}};
  for (const std::uint32_t slots : {2, 4, 12, 60}) {
    const Outcome outcome = Estimated(plan, slots);
    EXPECT_NEAR(EndOf(outcome), 64, 3) << slots;
    ASSERT_EQ(outcome.snapshot.stages.size(), 1u);
    EXPECT_EQ(outcome.snapshot.stages[0].bottleneck, "file system read") << slots;
    EXPECT_EQ(Only(outcome.states).stages[0].id, outcome.snapshot.stages[0].id);
  }
}

// Each of 20 tasks takes 10 s on one of two slots, which is idle for 1 s before it.
TEST(SharedNodes, ASlotIsIdleBeforeEachTask) {
  for (const bool knows_node : {false, true}) {
    Plan plan = {.id = "idle", .cluster = SixCores(2)};
    if (!knows_node) plan.cluster.node.reset();
    plan.jobs = {{.name = "a",
                  .job_id = "a-1",
                  .profile = JobProfile{.slots = 2,
                                        .map_tasks = 20,
                                        .split_bytes = 1e3,
                                        .map_selectivity = 0.001,
                                        .map_task_time = absl::Seconds(10),
                                        .slot_idle_time = absl::Seconds(1)}}};
    const Outcome outcome = Estimated(plan, 2);
    EXPECT_NEAR(EndOf(outcome), 110, 3);
    if (!knows_node) continue;
    EXPECT_NEAR(absl::ToDoubleSeconds(Only(outcome.states).stages[0].task_time), 10, 0.3);
  }
}

// 36 map tasks that use a core for 10 s each take 60 s on six cores. With a second job of the same
// kind on six more slots, 72 tasks take 120 s. With a second job that only reads, the map tasks
// take 60 s.
TEST(SharedNodes, AJobIsSlowedOnlyByJobsThatNeedItsResource) {
  const JobProfile computes = {.slots = 6,
                               .map_tasks = 36,
                               .split_bytes = 1e3,
                               .map_selectivity = 0.001,
                               .map_task_time = absl::Seconds(10)};
  const JobProfile reads = {.slots = 6,
                            .map_tasks = 30,
                            .split_bytes = 2.4e8,
                            .map_selectivity = 0.001,
                            .map_task_time = absl::Seconds(12)};
  const auto end_with = [&](const JobProfile& other) {
    Plan plan = {.id = "pair", .cluster = SixCores(12)};
    plan.jobs = {{.name = "a", .job_id = "a-1", .profile = computes},
                 {.name = "b", .job_id = "b-1", .profile = other}};
    const Outcome outcome = Estimated(plan, 12);
    return absl::ToDoubleSeconds(outcome.snapshot.children[0].estimate.remaining->median);
  };
  EXPECT_NEAR(end_with(computes), 120, 8);
  EXPECT_NEAR(end_with(reads), 60, 5);
}

PastRun OneStage(double cpu_seconds) {
  PastStage stage = {.name = "scan", .tasks = 12, .cpu_seconds = cpu_seconds};
  for (std::vector<double>& seconds : stage.seconds) seconds = {10};
  return {.slots = 12, .stages = {stage}};
}

// 12 tasks of 10 s on six cores use a core for 3 s each. If all of them compute at the same time,
// they compute for 6 s and wait for 4 s, and a single task takes 7 s. Otherwise, they share cores
// for less time, so a single task takes slightly longer.
TEST(SharedNodes, AStageOfAPastRunHasTheDemandOfItsProcessorTime) {
  const StageDemand demand = DemandOf(MeasuredTaskOf(OneStage(3).stages[0]), 12, 12, SixCores(12));
  EXPECT_GT(demand.alone, 0.7);
  EXPECT_LT(demand.alone, 0.8);
  ASSERT_EQ(demand.parts.size(), 2u);
  EXPECT_NEAR(demand.parts[0].seconds, 4.0 / 7, 0.03);
  EXPECT_NEAR(demand.parts[1].needs[static_cast<std::size_t>(Resource::kCpu)], 3.0 / 7, 0.03);
  EXPECT_TRUE(DemandOf(MeasuredTaskOf(OneStage(0).stages[0]), 12, 12, SixCores(12)).parts.empty());
  EXPECT_TRUE(DemandOf(MeasuredTaskOf(OneStage(3).stages[0]), 12, 12, {.slots = 12}).parts.empty());
}

// The stage takes 10 s, as in its past run. If a second application of this kind runs on 24 slots,
// 24 tasks on six cores compute for 12 s and wait for 4 s. The demand is fitted to tasks that do
// not all compute at the same time. These tasks do, so they take up to a tenth longer.
TEST(SharedNodes, WaitingApplicationsShareTheNodesOfTheirPastRuns) {
  LiveJob job;
  job.expected = {.map = {.tasks = 12},
                  .stages = std::make_shared<const StageRuns>(StageRuns{OneStage(3)}),
                  .is_known = true};
  const auto end_of = [](const std::vector<LiveJob>& jobs) {
    const auto forecast = ForecastApplication(ApplicationOfJobs(
        jobs, placement::Parents(jobs.size()), Slots(24, placement::Policy::kFair),
        {.common_deviation = 0}, SixCores(24)));
    EXPECT_TRUE(forecast.ok()) << forecast.status();
    return forecast.value_or(ApplicationForecast()).end.median;
  };
  EXPECT_NEAR(end_of({job}), 10, 1.1);
  EXPECT_NEAR(end_of({job, job}), 16, 1.6);
}

LiveJob RunningMap(double remaining) {
  LiveJob job = {.is_running = true};
  placement::TaskPart computes = {.seconds = 1};
  computes.needs[static_cast<std::size_t>(Resource::kCpu)] = 1;
  job.expected = {.map = {.tasks = 1,
                          .times = durations::TimeDistribution::Empirical({20}),
                          .demand = {computes}},
                  .is_known = true};
  job.elapsed = 10;
  job.map = {.running = 1};
  job.forecast = RunningForecast{.remaining = remaining, .lower = remaining, .upper = remaining};
  return job;
}

// Returns an application with one running task. Its finished tasks took 20 s, and used a core for
// `cpu_seconds`.
LiveJob RunningStage(double remaining, double cpu_seconds = 10) {
  durations::RemainingStage stage = {.work = {.running = {10}}, .number = 3};
  stage.times.of_task = {{remaining}};
  stage.measured = {.seconds = 20, .cpu_seconds = cpu_seconds, .is_of_this_run = true};
  LiveJob job = {.is_running = true, .elapsed = 10, .is_of_stages = true, .map = {.running = 1}};
  job.forecast = RunningForecast{.remaining = remaining, .lower = remaining, .upper = remaining};
  job.left = std::make_shared<const durations::RemainingStages>(
      durations::RemainingStages{.stages = {stage}, .ends = {remaining}, .slots = 1});
  return job;
}

// Returns the ends of two running jobs on a node with one core.
std::pair<double, double> EndsOnOneCore(const LiveJob& first, const LiveJob& second) {
  const Cluster cluster = {.slots = 2, .node = ResourceProfile{.cores = 1}};
  const auto forecast = ForecastApplication(ApplicationOfJobs(
      std::vector{first, second}, {{}, {}}, Slots(2), {.common_deviation = 0}, cluster));
  EXPECT_TRUE(forecast.ok()) << forecast.status();
  if (!forecast.ok()) return {};
  return {forecast->owner_ends[0].median, forecast->owner_ends[1].median};
}

// Two running tasks share a core, each at half speed, according to their forecasts of 10 s and 20
// s. After 10 s, the second task has 5 s of work left and no longer shares the core.
TEST(SharedNodes, ARunningJobGainsWhenAnotherEnds) {
  for (const auto& [first, second] :
       {std::pair(RunningMap(10), RunningMap(20)), std::pair(RunningStage(10), RunningStage(20))}) {
    const auto [one, other] = EndsOnOneCore(first, second);
    EXPECT_NEAR(one, 10, 0.4) << first.is_of_stages;
    EXPECT_NEAR(other, 15, 0.6) << first.is_of_stages;
  }
}

// The other application uses no processor, so the half of the time in which the task waits has
// another cause.
TEST(SharedNodes, ARunningApplicationGainsNothingWhenAnotherThatWaitsEnds) {
  const auto [one, other] = EndsOnOneCore(RunningStage(10, 0.1), RunningStage(20));
  EXPECT_NEAR(one, 10, 0.4);
  EXPECT_NEAR(other, 20, 0.8);
}

}  // namespace
}  // namespace tidemark::dag::shared_nodes_test
