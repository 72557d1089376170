#include "cli/spark_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "cli/plan_estimate.h"

namespace tidemark::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string Log(const std::string& name) { return std::string(TIDEMARK_SPARK_LOGS) + "/" + name; }

TEST(SparkPlan, HasTheStagesThatRanAndTheSlotsThatThereWere) {
  const auto plan = PlanOfSparkLog(Log("local-1795466322781.zst"));
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_EQ(plan->plan.name, "sales by region");
  EXPECT_EQ(plan->plan.cluster.slots, 2u);
  EXPECT_THAT(plan->remarks, IsEmpty());
  ASSERT_EQ(plan->plan.jobs.size(), 1u);
  const auto& stages = plan->plan.jobs[0].stages;
  ASSERT_EQ(stages.size(), 10u);  // one of the eleven failed
  EXPECT_EQ(stages[0].name, "0 collect at job.py:10");
  EXPECT_EQ(stages[6].name, "10 count at job.py:12");
  EXPECT_THAT(stages[6].after, ElementsAre("9 groupByKey at job.py:11"));
  EXPECT_EQ(stages[6].task_count, 4u);
}

// 57 s.
TEST(SparkPlan, AgainOnTheSameSlotsItTakesAsLong) {
  const auto plan = PlanOfSparkLog(Log("local-1795466322781.zst"));
  ASSERT_TRUE(plan.ok()) << plan.status();
  const auto outcome = cli::EstimateStages(plan->plan, {}, absl::UnixEpoch());
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  EXPECT_NEAR(absl::ToDoubleSeconds(outcome->snapshot.estimate.remaining->median), 57, 6);
}

TEST(SparkPlan, SaysThatItsLogBreaksOffAndWhatWasLeftOut) {
  const std::string path = ::testing::TempDir() + "/cut";
  std::ofstream(path)
      << R"({"Event":"SparkListenerApplicationStart","App Name":"cut","Timestamp":1000000})" << '\n'
      << R"({"Event":"SparkListenerStageSubmitted","Stage Info":{"Stage ID":0,"Number of Tasks":2,)"
      << R"("Submission Time":1001000}})"
      << "\n{\"Event\":\n"
      << R"({"Event":"SparkListenerTaskEnd","Stage ID":0,"Task Info":{"Task ID":1,"Index":0,)"
      << R"("Launch Time":1001000,"Finish Time":1009000}})"
      << "\n{\"Event";
  const auto plan = PlanOfSparkLog(path);
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_THAT(plan->remarks, ElementsAre(HasSubstr("skipped 1 event: incomplete"),
                                         HasSubstr("the log ends before the application")));
}

// Which is not what a plan file would be told.
TEST(SparkPlan, OfALogThatIsRefusedGivesTheReason) {
  const std::string path = ::testing::TempDir() + "/late";
  std::ofstream(path) << R"({"Event":"SparkListenerApplicationEnd","Timestamp":1000000})";
  EXPECT_TRUE(IsSparkLog(path));
  EXPECT_THAT(std::string(PlanOfSparkLog(path).status().message()),
              HasSubstr("the start of the application"));
}

TEST(SparkPlan, NeedsATaskThatHasEnded) {
  const std::string path = ::testing::TempDir() + "/idle";
  std::ofstream(path)
      << R"({"Event":"SparkListenerApplicationStart","App Name":"idle","Timestamp":1000000})";
  EXPECT_TRUE(IsSparkLog(path));
  EXPECT_EQ(PlanOfSparkLog(path).status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_FALSE(IsSparkLog(Log("")));
}

}  // namespace
}  // namespace tidemark::cli
