#include "master/forecast/dag/job_estimate.h"

#include "master/forecast/dag/task_model.h"
#include "tests/dag/some_workflows.h"
#include "tests/test.h"

namespace tidemark::dag::job_estimate_test {
namespace {

using test::OneNode;
using test::Profile;

TEST(JobEstimate, HasOnlyTheNumbersOfTasksWithoutRuns) {
  const JobEstimate expected = EstimateJobTasks(
      {.name = "j", .map_task_count = 10, .reduce_task_count = 3}, {}, {.slots = 4}, 2);
  EXPECT_FALSE(expected.is_known);
  EXPECT_EQ(expected.map.tasks, 20u);
  EXPECT_EQ(expected.reduce.tasks, 3u);
}

TEST(JobEstimate, KeepsASingleRun) {
  const std::vector<JobProfile> runs = {Profile(10, 4, 2, 30)};
  const JobEstimate expected = EstimateJobTasks({.name = "j"}, runs, {.slots = 5}, 1);
  EXPECT_TRUE(expected.is_known);
  EXPECT_EQ(expected.map.tasks, 10u);
  EXPECT_DOUBLE_EQ(expected.map.times.mean(), 4);
  EXPECT_DOUBLE_EQ(expected.reduce.times.mean(), 30);
  EXPECT_EQ(SecondsAlone(expected, 5), 2 * 4 + 30);
}

TEST(JobEstimate, AveragesLogarithmsAndWidensByTheirScatter) {
  const std::vector<JobProfile> one = {Profile(1, 10, 1, 10)};
  const std::vector<JobProfile> apart = {Profile(1, 5, 1, 5), Profile(1, 20, 1, 20)};
  const JobEstimate expected = EstimateJobTasks({.name = "j"}, apart, {.slots = 1}, 1);
  EXPECT_NEAR(expected.map.times.mean(), 10, 1e-9);
  EXPECT_GT(expected.deviation, EstimateJobTasks({.name = "j"}, one, {.slots = 1}, 1).deviation);
}

TEST(JobEstimate, PrefersTheJobsProfile) {
  PlannedJob job = {.name = "j", .profile = Profile(7, 3, 1, 1)};
  const std::vector<JobProfile> runs = {Profile(10, 3, 2, 1)};
  EXPECT_EQ(EstimateJobTasks(job, runs, {.slots = 5}, 1).map.tasks, 7u);
}

TEST(JobEstimate, MoreInputMeansMoreMapTasksAndLongerReduceTasks) {
  JobProfile run = Profile(10, 4, 2, 30);
  run.split_bytes = 100;
  PlannedJob job = {.name = "j", .input_bytes = 2000};
  const JobEstimate expected = EstimateJobTasks(job, std::vector<JobProfile>{run}, {.slots = 5}, 1);
  EXPECT_EQ(expected.map.tasks, 20u);
  EXPECT_NEAR(expected.map.times.mean(), 4, 1e-9);
  EXPECT_NEAR(expected.reduce.times.mean(), 60, 1e-6);
}

// Each reduce task reads the output of more map tasks, regardless of the number of bytes.
TEST(JobEstimate, TenTimesTheDataMakesReduceTasksTenTimesAsLong) {
  for (const double split_bytes : {0.0, 100.0}) {
    JobProfile run = Profile(10, 4, 2, 30);
    run.split_bytes = split_bytes;
    const std::vector<JobProfile> runs = {run};
    const JobEstimate expected = EstimateJobTasks({.name = "j"}, runs, {.slots = 5}, 10);
    EXPECT_EQ(expected.map.tasks, 100u);
    EXPECT_NEAR(expected.map.times.mean(), 4, 1e-6) << split_bytes;
    EXPECT_NEAR(expected.reduce.times.mean(), 300, 1e-6) << split_bytes;
  }
}

TEST(JobEstimate, ARunWithUnknownBytesCountsLikeOneWithKnownBytes) {
  JobProfile known = Profile(10, 4, 2, 30);
  known.split_bytes = 100;
  const JobProfile unknown = Profile(10, 4, 2, 30);
  for (const auto& runs : {std::vector{known, unknown}, std::vector{unknown, known}}) {
    const JobEstimate expected = EstimateJobTasks({.name = "j"}, runs, {.slots = 5}, 2);
    EXPECT_NEAR(expected.map.times.mean(), 4, 1e-6);
    EXPECT_NEAR(expected.reduce.times.mean(), 60, 1e-6);
  }
}

// The numbers are from [BOE] 4.2. A core maps a split of 100 MB in 1 s, and the file system
// reads 100 MB/s. With one task per node, reading and computing take 1 s each. With four tasks,
// each task has 25 MB/s and waits 4 s for its data. A task then takes four times as long, and the
// file system is the bottleneck. The fitted components explain the measured time only to within 0.1
// %, here and below.
TEST(JobEstimate, MoreTasksOnANodeShareItsFileSystem) {
  JobProfile run = Profile(4, 1, 0, 0);
  run.slots = 1;
  run.split_bytes = 1e8;
  run.map_selectivity = 1e-6;
  Cluster cluster = OneNode(4, 8, 1e12);
  cluster.node->dfs_read = 1e8;
  const auto expected = EstimateJobTasks({.name = "j"}, std::vector<JobProfile>{run}, cluster, 1);
  EXPECT_NEAR(expected.map.times.mean(), 4, 5e-3);
  EXPECT_EQ(expected.map.bottleneck, NameOf(Resource::kDfsRead));
}

// Returns a run of map tasks that read `split_bytes` each and emit almost nothing.
JobProfile ReadingRun(std::uint32_t tasks, double seconds, std::uint32_t slots,
                      double split_bytes) {
  JobProfile run = Profile(tasks, seconds, 0, 0);
  run.slots = slots;
  run.split_bytes = split_bytes;
  run.map_selectivity = 0.001;
  return run;
}

// Returns a node that is fast except for its file system (120 MB/s) and its network (100 MB/s).
Cluster SlowNode(std::uint32_t slots) {
  Cluster cluster = OneNode(slots, 6, 1e10);
  cluster.node->dfs_read = 1.2e8;
  cluster.node->network = 1e8;
  return cluster;
}

// 12 tasks that read 128 MB each at 120 MB/s take 12.8 s, which is the measured time. Two tasks
// take 2.13 s. One task takes 1.07 s, which is a twelfth.
TEST(JobEstimate, ReadsThatExplainTheMeasuredTimeAreTheBottleneck) {
  const PlannedJob job = {.name = "ts", .profile = ReadingRun(60, 12.8, 12, 1.28e8)};
  const PhaseEstimate on_12 = EstimateJobTasks(job, {}, SlowNode(12), 1).map;
  const PhaseEstimate on_2 = EstimateJobTasks(job, {}, SlowNode(2), 1).map;
  EXPECT_NEAR(on_12.times.mean(), 12.8, 1e-9);
  EXPECT_EQ(on_12.bottleneck, "file system read");
  EXPECT_NEAR(on_12.alone, 1.0 / 12, 1e-3);
  EXPECT_NEAR(on_2.times.mean(), 2.133, 2e-3);
  EXPECT_EQ(on_2.bottleneck, "file system read");
  EXPECT_NEAR(on_2.alone, 1.0 / 2, 1e-3);
}

// 16 tasks that fetch 300 MB each at 100 MB/s take 48 s. No resource explains the remaining 2 s of
// the measured 50 s. Half as many tasks therefore take 24 + 2 s.
TEST(JobEstimate, TransfersThatExplainMostOfTheMeasuredTimeAreTheBottleneck) {
  JobProfile run = Profile(16, 5, 16, 50);
  run.slots = 16;
  run.split_bytes = 3e8;
  run.map_selectivity = 1;
  run.reduce_selectivity = 0.01;
  const PlannedJob job = {.name = "net", .profile = run};
  EXPECT_EQ(EstimateJobTasks(job, {}, SlowNode(16), 1).reduce.bottleneck, "network");
  const PhaseEstimate on_8 = EstimateJobTasks(job, {}, SlowNode(8), 1).reduce;
  EXPECT_EQ(on_8.bottleneck, "network");
  EXPECT_NEAR(on_8.times.mean(), 26, 0.05);
}

// Six tasks on six cores read 12.8 MB each, which takes 0.1 s alone. Computing takes nearly all of
// the measured 10 s, so 12 tasks take nearly 20 s.
TEST(JobEstimate, TheProcessorTakesTheTimeThatBytesDoNotExplain) {
  const PlannedJob job = {.name = "wc", .profile = ReadingRun(60, 10, 6, 1.28e7)};
  const PhaseEstimate on_12 = EstimateJobTasks(job, {}, SlowNode(12), 1).map;
  EXPECT_EQ(on_12.bottleneck, "cpu");
  EXPECT_NEAR(on_12.times.mean(), 20, 0.15);
}

// The measured processor time is 3 s, and 12 tasks on six cores take twice that time. No resource
// explains the remaining 7 s. 12 tasks therefore take 13 s, and no resource is the bottleneck.
TEST(JobEstimate, TheMeasuredProcessorTimeLeavesTimeThatNoResourceExplains) {
  JobProfile run = ReadingRun(60, 10, 6, 1.28e7);
  run.map_cpu_time = absl::Seconds(3);
  const PlannedJob job = {.name = "wc", .profile = run};
  EXPECT_NEAR(EstimateJobTasks(job, {}, SlowNode(6), 1).map.times.mean(), 10, 1e-6);
  const PhaseEstimate on_12 = EstimateJobTasks(job, {}, SlowNode(12), 1).map;
  EXPECT_NEAR(on_12.times.mean(), 13, 0.1);
  EXPECT_EQ(on_12.bottleneck, "");
}

// A task starts for 1.5 s on the only core. It then reads for 3 s and computes for 2.7 s, of
// which 70 % overlaps. Four tasks on the node start for 6 s and then read for 12 s.
TEST(JobEstimate, TasksStartOnTheProcessorBeforeTheyRead) {
  JobProfile run = Profile(4, 5.31, 0, 0);
  run.slots = 1;
  run.split_bytes = 1.2e7;
  run.map_selectivity = 1e-6;
  run.map_cpu_time = absl::Seconds(4.2);
  run.map_start_cpu_time = absl::Seconds(1.5);
  Cluster cluster = SlowNode(4);
  cluster.node->dfs_read = 4e6;
  cluster.node->cores = 1;
  const PhaseEstimate map = EstimateJobTasks({.name = "wc", .profile = run}, {}, cluster, 1).map;
  EXPECT_NEAR(map.times.mean(), 18, 0.03);
  EXPECT_EQ(map.bottleneck, "file system read");
  EXPECT_NEAR(map.alone, 5.31 / 18, 1e-3);
}

// Tasks whose times vary do not start and fetch in step. Two tasks at once took 9.6 s, although 3 s
// of starts and 8.2 s of fetches in step take longer. A task alone takes about 1.5 + 4.1 + 0.5 s.
TEST(JobEstimate, VaryingTasksNeedNotBeInStep) {
  JobProfile run = Profile(8, 1, 8, 9.6);
  run.slots = 2;
  run.split_bytes = 1.6e7;
  run.map_selectivity = 1.02;
  run.reduce_selectivity = 0.01;
  run.reduce_task_variation = 0.15;
  run.reduce_cpu_time = absl::Seconds(2);
  run.reduce_start_cpu_time = absl::Seconds(1.5);
  Cluster cluster = SlowNode(2);
  cluster.node->network = 4e6;
  cluster.node->cores = 1;
  const auto reduce = EstimateJobTasks({.name = "sort", .profile = run}, {}, cluster, 1).reduce;
  EXPECT_EQ(reduce.bottleneck, "network");
  EXPECT_NEAR(reduce.times.mean(), 9.6, 1e-9);
  EXPECT_GT(reduce.alone * 9.6, 5.8);
  EXPECT_LT(reduce.alone * 9.6, 7);
}

// Four reduce tasks on one node fetch 640 MB each. The disk writes 128 MB/s, so the shuffle takes
// 640 x 4 / 128 = 20 s. The sort took 5 s, in which the disk writes 5 x 128 / 4 = 160 MB, so
// alpha_s is 0.25 and theta_sort is 160 / 5 = 32 MB/s ([BOE] eq. 5). The reduce functions took the
// other 10 of 15 s of processor time.
JobProfile SortingRun() {
  JobProfile run = Profile(4, 1, 4, 35);
  run.slots = 4;
  run.split_bytes = 6.4e8;
  run.map_selectivity = 1;
  run.reduce_selectivity = 1e-9;
  run.reduce_cpu_time = absl::Seconds(15);
  run.reduce_sort_time = absl::Seconds(5);
  return run;
}

// With eight slots, the shuffle takes 640 x 8 / 128 = 40 s, the sort max(160 x 8 / 128, 160 / 32) =
// 10 s, and the reduce functions 10 s.
TEST(JobEstimate, TheMeasuredSortSharesTheDisk) {
  const auto cluster = [](std::uint32_t slots) {
    Cluster node = OneNode(slots, 16, 1e12);
    node.node->disk_write = 1.28e8;
    return node;
  };
  JobProfile run = SortingRun();
  const PlannedJob job = {.name = "sort", .map_task_count = 8, .reduce_task_count = 8};
  for (const double fraction : {0.0, 0.25}) {
    run.second_sort_fraction = fraction;
    const std::vector<JobProfile> runs = {run};
    const auto seconds = [&](std::uint32_t slots) {
      return EstimateJobTasks(job, runs, cluster(slots), 1).reduce.times.mean();
    };
    EXPECT_NEAR(seconds(4), 35, 0.01) << fraction;
    EXPECT_NEAR(seconds(8), 60, 0.01) << fraction;
    EXPECT_EQ(EstimateJobTasks(job, runs, cluster(8), 1).reduce.bottleneck, "disk write");
  }
  run.reduce_sort_time = absl::ZeroDuration();
  run.second_sort_fraction = 0;
  EXPECT_NEAR(EstimateJobTasks(job, std::vector{run}, cluster(8), 1).reduce.times.mean(), 55, 0.01)
      << "without the sort, all processor time is independent of the disk";
}

// On a node of unknown speed, the sort takes processor time.
TEST(JobEstimate, AMeasuredSortNeedsNoNode) {
  const std::vector<JobProfile> runs = {SortingRun()};
  const JobEstimate same = EstimateJobTasks({.name = "sort"}, runs, {.slots = 4}, 1);
  EXPECT_NEAR(same.reduce.times.mean(), 35, 1e-6);
  const JobEstimate twice = EstimateJobTasks({.name = "sort"}, runs, {.slots = 4}, 2);
  EXPECT_NEAR(twice.reduce.times.mean(), 50, 1e-6) << "20 s that no resource explains are constant";
}

TEST(JobEstimate, NamesNoBottleneckWithoutANode) {
  JobProfile run = Profile(4, 1, 1, 1);
  run.split_bytes = 1e8;
  const JobEstimate expected =
      EstimateJobTasks({.name = "j"}, std::vector<JobProfile>{run}, {.slots = 4}, 1);
  EXPECT_EQ(expected.map.bottleneck, "");
}

}  // namespace
}  // namespace tidemark::dag::job_estimate_test
