#include "cli/spark_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "absl/strings/str_format.h"
#include "cli/plan_estimate.h"
#include "tests/scratch_directory.h"

namespace tidemark::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string Log(const std::string& name) { return std::string(TIDEMARK_SPARK_LOGS) + "/" + name; }

TEST(SparkPlan, HasTheStagesThatRanAndTheSlotsThatThereWere) {
  const auto run = ReadSparkRun(Log("local-1795466322781.zst"));
  ASSERT_TRUE(run.ok()) << run.status();
  const Plan* const plan = &run->plan;
  EXPECT_EQ(plan->name, "sales by region");
  EXPECT_EQ(plan->cluster.slots, 2u);
  EXPECT_THAT(run->remarks, IsEmpty());
  ASSERT_EQ(plan->jobs.size(), 1u);
  const auto& stages = plan->jobs[0].stages;
  ASSERT_EQ(stages.size(), 10u);  // one of the eleven failed
  EXPECT_EQ(stages[0].name, "0 collect at job.py:10");
  EXPECT_EQ(stages[6].name, "10 count at job.py:12");
  EXPECT_THAT(stages[6].after, ElementsAre("9 groupByKey at job.py:11"));
  EXPECT_EQ(stages[6].task_count, 4u);
}

TEST(SparkPlan, AgainOnTheSameSlotsItTakesAsLong) {
  const auto run = ReadSparkRun(Log("local-1795466322781.zst"));
  ASSERT_TRUE(run.ok()) << run.status();
  const Plan* const plan = &run->plan;
  const auto outcome = cli::EstimateStages(*plan, {}, absl::UnixEpoch());
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  // From its start to the end of its last stage 57.2 s went by.
  EXPECT_NEAR(absl::ToDoubleSeconds(outcome->snapshot.estimate.remaining->median), 57.2, 0.2);
}

// Of two SQL executions whose starts the log has not, nothing tells the stages apart.
TEST(SparkPlan, NamesStagesThatAreTheSameByTheirPlaces) {
  std::string log =
      R"({"Event":"SparkListenerApplicationStart","App Name":"twice","Timestamp":1000000})";
  for (const int number : {0, 1}) {
    const int begin = 1001000 + 5000 * number;
    const std::string stage = absl::StrFormat(
        R"({"Stage ID":%d,"Stage Name":"count","Number of Tasks":1,"Submission Time":%d})", number,
        begin);
    absl::StrAppendFormat(
        &log,
        "\n"
        R"({"Event":"SparkListenerJobStart","Job ID":%d,"Submission Time":%d,"Stage IDs":[%d],)"
        R"("Stage Infos":[%s],"Properties":{"spark.sql.execution.id":"%d"}})"
        "\n"
        R"({"Event":"SparkListenerStageSubmitted","Stage Info":%s})"
        "\n"
        R"({"Event":"SparkListenerTaskEnd","Stage ID":%d,"Task Info":{"Task ID":%d,"Index":0,)"
        R"("Launch Time":%d,"Finish Time":%d}})"
        "\n"
        R"({"Event":"SparkListenerStageCompleted","Stage Info":%s})"
        "\n"
        R"({"Event":"SparkListenerJobEnd","Job ID":%d,"Completion Time":%d})",
        number, begin, number, stage, number, stage, number, number, begin, begin + 5000, stage,
        number, begin + 5000);
  }
  const test::ScratchDirectory directory;
  const auto run = ReadSparkRun(directory.Write("twice", log));
  ASSERT_TRUE(run.ok()) << run.status();
  ASSERT_EQ(run->plan.jobs[0].stages.size(), 2u);
  EXPECT_EQ(run->plan.jobs[0].stages[0].name, "0 count");
  EXPECT_EQ(run->plan.jobs[0].stages[1].name, "0 count (stage 2 of the log)");
}

TEST(SparkPlan, SaysThatItsLogBreaksOffAndWhatWasLeftOut) {
  const test::ScratchDirectory directory;
  const std::string path = directory.Write(
      "cut",
      R"({"Event":"SparkListenerApplicationStart","App Name":"cut","Timestamp":1000000})"
      "\n"
      R"({"Event":"SparkListenerStageSubmitted","Stage Info":{"Stage ID":0,"Number of Tasks":2,)"
      R"("Submission Time":1001000}})"
      "\n{\"Event\":\n"
      R"({"Event":"SparkListenerTaskEnd","Stage ID":0,"Task Info":{"Task ID":1,"Index":0,)"
      R"("Launch Time":1001000,"Finish Time":1009000}})"
      "\n{\"Event");
  const auto run = ReadSparkRun(path);
  ASSERT_TRUE(run.ok()) << run.status();
  EXPECT_THAT(run->remarks, ElementsAre(HasSubstr("skipped 1 event: incomplete"),
                                        HasSubstr("the log ends before the application")));
}

// Which is not what a plan file would be told.
TEST(SparkPlan, OfALogThatIsRefusedGivesTheReason) {
  const test::ScratchDirectory directory;
  const std::string path =
      directory.Write("late", R"({"Event":"SparkListenerApplicationEnd","Timestamp":1000000})");
  EXPECT_TRUE(IsSparkLog(path));
  EXPECT_THAT(std::string(ReadSparkRun(path).status().message()),
              HasSubstr("the start of the application"));
}

SparkRun RunAgain() {
  auto run = ReadSparkRun(Log("local-1795466322781.zst"));
  EXPECT_TRUE(run.ok()) << run.status();
  return run.ok() ? *std::move(run) : SparkRun{};
}

absl::StatusOr<OtherRun> With(const SparkRun& run,
                              const std::map<std::string, std::string>& changes) {
  const auto models = SparkRunModels::Learn(run);
  if (!models.ok()) return models.status();
  return models->With(changes);
}

TEST(SparkRunModels, OfNoChangeTheRunIsAsItWas) {
  const SparkRun run = RunAgain();
  const auto same = With(run, {});
  ASSERT_TRUE(same.ok()) << same.status();
  EXPECT_EQ(same->plan, run.plan);
  EXPECT_EQ(same->slots, 2u);
  EXPECT_EQ(same->deviation, 0);
  EXPECT_THAT(same->remarks, IsEmpty());
}

TEST(SparkRunModels, MoreExecutorsAreMoreSlots) {
  const auto other = With(RunAgain(), {{"spark.executor.instances", "4"}});
  ASSERT_TRUE(other.ok()) << other.status();
  EXPECT_EQ(other->slots, 8u);
  EXPECT_GT(other->deviation, 0);
}

TEST(SparkRunModels, NamesTheSettingThatIsWrong) {
  const auto message = [](const std::map<std::string, std::string>& changes) {
    return std::string(With(RunAgain(), changes).status().message());
  };
  EXPECT_THAT(message({{"spark.executor.memory", "4x"}}),
              HasSubstr("spark.executor.memory: \"4x\""));
  EXPECT_THAT(message({{"spark.sql.ansi.enabled", "true"}}),
              HasSubstr("spark.sql.ansi.enabled: what it does to tasks is not modelled"));
}

TEST(SparkRunModels, AsksForWhatTheLogDoesNotTell) {
  const auto run = ReadSparkRun(Log("local-1430917381534.zst"));
  ASSERT_TRUE(run.ok()) << run.status();
  SparkRun without = *run;
  without.measured = {};
  EXPECT_FALSE(With(without, {{"spark.executor.instances", "4"}}).ok());
}

TEST(SparkPlan, NeedsATaskThatHasEnded) {
  const test::ScratchDirectory directory;
  const std::string path = directory.Write(
      "idle", R"({"Event":"SparkListenerApplicationStart","App Name":"idle","Timestamp":1000000})");
  EXPECT_TRUE(IsSparkLog(path));
  EXPECT_EQ(ReadSparkRun(path).status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_FALSE(IsSparkLog(Log("")));
}

}  // namespace
}  // namespace tidemark::cli
