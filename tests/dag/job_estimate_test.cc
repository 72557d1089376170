#include "master/forecast/dag/job_estimate.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "master/forecast/dag/task_model.h"
#include "tests/dag/some_workflows.h"

namespace tidemark::dag {
namespace {

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

// Each reduce task has the output of more map tasks, regardless of their bytes.
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

// [BOE] 4.2 by hand: a core maps a split of 100 MB in 1 s, and the file system reads 100 MB/s. With
// one task per node, reading and computing take 1 s each. With four, each task has 25 MB/s and
// waits 4 s for its data: the task takes four times as long, and the file system is the bottleneck.
TEST(JobEstimate, MoreTasksOnANodeShareItsFileSystem) {
  JobProfile run = Profile(4, 1, 0, 0);
  run.slots = 1;
  run.split_bytes = 1e8;
  run.map_selectivity = 1e-6;
  const Cluster cluster = {.slots = 4,
                           .nodes = 1,
                           .node = ResourceProfile{.disk_read = 1e12,
                                                   .disk_write = 1e12,
                                                   .dfs_read = 1e8,
                                                   .dfs_write = 1e12,
                                                   .network = 1e12,
                                                   .cores = 8}};
  const JobEstimate expected =
      EstimateJobTasks({.name = "j"}, std::vector<JobProfile>{run}, cluster, 1);
  EXPECT_NEAR(expected.map.times.mean(), 4, 1e-3);
  EXPECT_EQ(expected.map.bottleneck, NameOf(Resource::kDfsRead));
}

TEST(JobEstimate, NamesNoBottleneckWithoutANode) {
  JobProfile run = Profile(4, 1, 1, 1);
  run.split_bytes = 1e8;
  const JobEstimate expected =
      EstimateJobTasks({.name = "j"}, std::vector<JobProfile>{run}, {.slots = 4}, 1);
  EXPECT_EQ(expected.map.bottleneck, "");
}

}  // namespace
}  // namespace tidemark::dag
