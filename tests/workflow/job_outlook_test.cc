#include "master/workflow/job_outlook.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "master/workflow/task_model.h"
#include "tests/workflow/some_workflows.h"

namespace tidemark::workflow {
namespace {

using test::Profile;

TEST(JobOutlook, WithoutRunsOnlyTheNumbersOfTasksAreKnown) {
  const JobOutlook outlook = OutlookOfJob(
      {.name = "j", .map_task_count = 10, .reduce_task_count = 3}, {}, {.slots = 4}, 2);
  EXPECT_FALSE(outlook.is_known);
  EXPECT_EQ(outlook.map.tasks, 20u);
  EXPECT_EQ(outlook.reduce.tasks, 3u);
}

TEST(JobOutlook, ARunIsTakenAsItWas) {
  const std::vector<JobProfile> runs = {Profile(10, 4, 2, 30)};
  const JobOutlook outlook = OutlookOfJob({.name = "j"}, runs, {.slots = 5}, 1);
  EXPECT_TRUE(outlook.is_known);
  EXPECT_EQ(outlook.map.tasks, 10u);
  EXPECT_DOUBLE_EQ(outlook.map.times.mean(), 4);
  EXPECT_DOUBLE_EQ(outlook.reduce.times.mean(), 30);
  EXPECT_EQ(SecondsAlone(outlook, 5), 2 * 4 + 30);
}

TEST(JobOutlook, RunsAreAveragedAsLogarithmsAndTheirScatterWidens) {
  const std::vector<JobProfile> one = {Profile(1, 10, 1, 10)};
  const std::vector<JobProfile> apart = {Profile(1, 5, 1, 5), Profile(1, 20, 1, 20)};
  const JobOutlook outlook = OutlookOfJob({.name = "j"}, apart, {.slots = 1}, 1);
  EXPECT_NEAR(outlook.map.times.mean(), 10, 1e-9);
  EXPECT_GT(outlook.deviation, OutlookOfJob({.name = "j"}, one, {.slots = 1}, 1).deviation);
}

TEST(JobOutlook, TheJobsOwnProfileComesFirst) {
  next::PlannedJob job = {.name = "j", .profile = Profile(7, 3, 1, 1)};
  const std::vector<JobProfile> runs = {Profile(10, 3, 2, 1)};
  EXPECT_EQ(OutlookOfJob(job, runs, {.slots = 5}, 1).map.tasks, 7u);
}

TEST(JobOutlook, MoreInputIsMoreMapTasksOfTheSameLengthAndLongerReduceTasks) {
  JobProfile run = Profile(10, 4, 2, 30);
  run.split_bytes = 100;
  next::PlannedJob job = {.name = "j", .input_bytes = 2000};
  const JobOutlook outlook = OutlookOfJob(job, std::vector<JobProfile>{run}, {.slots = 5}, 1);
  EXPECT_EQ(outlook.map.tasks, 20u);
  EXPECT_NEAR(outlook.map.times.mean(), 4, 1e-9);
  EXPECT_NEAR(outlook.reduce.times.mean(), 60, 1e-6);
}

// [BOE] 4.2 by hand: a split of 100 MB that one core maps in 1 s is read from a file system of
// 100 MB/s. With one task a node reading and computing take 1 s each; with four, each task has
// 25 MB/s and waits 4 s for its data: four times as long, and the file system is the bottleneck.
TEST(JobOutlook, MoreTasksOnANodeShareItsFileSystem) {
  JobProfile run = Profile(4, 1, 0, 0);
  run.slots = 1;
  run.split_bytes = 1e8;
  run.map_selectivity = 1e-6;
  const next::Cluster cluster = {.slots = 4,
                                 .nodes = 1,
                                 .node = ResourceProfile{.disk_read = 1e12,
                                                         .disk_write = 1e12,
                                                         .dfs_read = 1e8,
                                                         .dfs_write = 1e12,
                                                         .network = 1e12,
                                                         .cores = 8}};
  const JobOutlook outlook = OutlookOfJob({.name = "j"}, std::vector<JobProfile>{run}, cluster, 1);
  EXPECT_NEAR(outlook.map.times.mean(), 4, 1e-3);
  EXPECT_EQ(outlook.map.bottleneck, NameOf(Resource::kDfsRead));
}

TEST(JobOutlook, WithoutANodeNoBottleneckIsNamed) {
  JobProfile run = Profile(4, 1, 1, 1);
  run.split_bytes = 1e8;
  const JobOutlook outlook =
      OutlookOfJob({.name = "j"}, std::vector<JobProfile>{run}, {.slots = 4}, 1);
  EXPECT_EQ(outlook.map.bottleneck, "");
}

}  // namespace
}  // namespace tidemark::workflow
