#include "cli/spark_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "cli/plan_estimate.h"

namespace tidemark::cli {
namespace {

using ::testing::ElementsAre;

std::string Log(const std::string& name) { return std::string(TIDEMARK_SPARK_LOGS) + "/" + name; }

TEST(SparkPlan, HasTheStagesThatRanAndTheSlotsThatThereWere) {
  const auto run = ReadSparkRun(Log("local-1795466322781.zst"));
  ASSERT_TRUE(run.ok()) << run.status();
  const Plan* const plan = &run->plan;
  EXPECT_EQ(plan->name, "sales by region");
  EXPECT_EQ(plan->cluster.slots, 2u);
  ASSERT_EQ(plan->jobs.size(), 1u);
  const auto& stages = plan->jobs[0].stages;
  ASSERT_EQ(stages.size(), 10u);  // one of the eleven failed
  EXPECT_EQ(stages[0].name, "0 collect at job.py:10");
  EXPECT_EQ(stages[6].name, "10 count at job.py:12");
  EXPECT_THAT(stages[6].after, ElementsAre("9 groupByKey at job.py:11"));
  EXPECT_EQ(stages[6].task_count, 4u);
}

// 57 s.
TEST(SparkPlan, AgainOnTheSameSlotsItTakesAsLong) {
  const auto run = ReadSparkRun(Log("local-1795466322781.zst"));
  ASSERT_TRUE(run.ok()) << run.status();
  const Plan* const plan = &run->plan;
  const auto outcome = cli::EstimateStages(*plan, {}, absl::UnixEpoch());
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  EXPECT_NEAR(absl::ToDoubleSeconds(outcome->snapshot.estimate.remaining->median), 57, 6);
}

TEST(SparkPlan, NeedsATaskThatHasEnded) {
  const std::string path = ::testing::TempDir() + "/idle";
  std::ofstream(path) << R"({"Event":"SparkListenerApplicationStart","App Name":"idle"})";
  EXPECT_TRUE(IsSparkLog(path));
  EXPECT_EQ(ReadSparkRun(path).status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_FALSE(IsSparkLog(Log("")));
}

}  // namespace
}  // namespace tidemark::cli
