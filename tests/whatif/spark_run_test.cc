#include "whatif/spark_run.h"

#include <nlohmann/json.hpp>

#include "spark/log_reader.h"
#include "tests/matchers.h"
#include "tests/scratch_directory.h"
#include "tests/spark/some_log.h"
#include "tests/store/written_log.h"
#include "tests/test.h"
#include "whatif/plan_estimate.h"

namespace tidemark::whatif::spark_run_test {
namespace {

std::string Log(const std::string& name) { return std::string(TIDEMARK_SPARK_LOGS) + "/" + name; }

TEST(SparkRun, HasTheStagesAndTheSlotsOfTheRun) {
  const auto run = ReadSparkRun(Log("local-1795466322781.zst")).value();
  const Plan* const plan = &run.plan;
  EXPECT_EQ(plan->name, "sales by region");
  EXPECT_EQ(plan->cluster.slots, 2u);
  EXPECT_THAT(run.remarks, IsEmpty());
  const auto stages = Only(plan->jobs).stages;
  ASSERT_EQ(stages.size(), 10u);  // One of the eleven stages failed.
  EXPECT_EQ(stages[0].name, "0 collect at job.py:10");
  EXPECT_EQ(stages[6].name, "10 count at job.py:12");
  EXPECT_THAT(stages[6].after, ElementsAre("9 groupByKey at job.py:11"));
  EXPECT_EQ(stages[6].task_count, 4u);
}

TEST(SparkRun, OnTheSameSlotsItTakesAsLong) {
  const auto run = ReadSparkRun(Log("local-1795466322781.zst")).value();
  const Plan* const plan = &run.plan;
  const auto outcome = EstimateStages(*plan, {}, absl::UnixEpoch()).value();
  // 57.2 s passed from the start of the run to the end of its last stage.
  EXPECT_NEAR(absl::ToDoubleSeconds(outcome.snapshot.estimate.remaining->median), 57.2, 0.2);
}

// Stages of two SQL executions whose start events are missing cannot be distinguished.
TEST(SparkRun, NamesIndistinguishableStagesByTheirPlaces) {
  test::SomeLog log;
  std::uint64_t at = 1000;
  for (const std::uint32_t number : {0u, 1u}) {
    nlohmann::json stage = test::SomeLog::StageInfo(number, 1);
    stage["Stage Name"] = "count";
    log.StartJob(at, number, {stage}, {{"spark.sql.execution.id", std::to_string(number)}});
    at = log.RunStage(at, stage, 5);
    log.EndJob(at, number);
  }
  const test::ScratchDirectory directory;
  const auto run = ReadSparkRun(directory.Write("twice", log.text())).value();
  ASSERT_EQ(run.plan.jobs[0].stages.size(), 2u);
  EXPECT_EQ(run.plan.jobs[0].stages[0].name, "0 count");
  EXPECT_EQ(run.plan.jobs[0].stages[1].name, "0 count (stage 2 of the log)");
}

TEST(SparkRun, RemarksThatTheLogBreaksOffAndWhatIsMissing) {
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
  const auto run = ReadSparkRun(path).value();
  // the job of the stage
  EXPECT_THAT(run.remarks, Each(::testing::StartsWith(path + ": ")));
  EXPECT_THAT(run.remarks, ElementsAre(HasSubstr("at least 1 event is missing"),
                                       HasSubstr("skipped 1 event with incomplete"),
                                       HasSubstr("the log ends before the application")));
  EXPECT_TRUE(run.is_damaged);
}

// Reads the same events from the log of Spark and from the log of a master that received them.
TEST(SparkRun, IsReadFromTheLogOfAMasterToo) {
  const test::ScratchDirectory directory;
  test::SomeLog log;
  std::uint64_t at = 1000;
  for (std::uint32_t number = 0; number < 3; ++number) {
    const auto stage = test::SomeLog::StageInfo(number, 3);
    log.StartJob(at, number, {stage});
    at = log.RunStage(at, stage, 2 + number);
    log.EndJob(at, number);
  }
  log.End(at);
  const std::string kept = directory / "kept.yaml";
  auto written = store::WrittenLog::Create(kept, "app-1", {}).value();
  spark::LogParser parser({});
  parser.Feed(log.text(), [&](const Event& event) { EXPECT_TRUE(written->Append(event).ok()); });
  parser.Finish([&](const Event& event) { EXPECT_TRUE(written->Append(event).ok()); });
  EXPECT_TRUE(written->Flush().ok());
  EXPECT_TRUE(IsEventLog(kept));
  const auto of_master = ReadSparkRun(kept);
  const auto of_spark = ReadSparkRun(directory.Write("log.json", log.text()));
  ASSERT_TRUE(of_master.ok()) << of_master.status();
  ASSERT_TRUE(of_spark.ok()) << of_spark.status();
  EXPECT_EQ(of_master->plan, of_spark->plan);
  EXPECT_EQ(of_master->took, of_spark->took);
  std::filesystem::resize_file(kept, 30);
  EXPECT_TRUE(IsEventLog(kept)) << "within its first record";
}

// Returns the text of a log whose last `unions` stages each wait for all of the first `inputs`
// stages.
std::string UnionLog(std::uint32_t inputs, std::uint32_t unions) {
  test::SomeLog log;
  std::vector<std::uint32_t> parents;
  std::vector<nlohmann::json> stages;
  for (std::uint32_t number = 0; number < inputs + unions; ++number) {
    if (number < inputs) {
      stages.push_back(test::SomeLog::StageInfo(number, 1));
      parents.push_back(number);
    } else {
      stages.push_back(test::SomeLog::StageInfo(number, 1, parents));
    }
  }
  log.StartJob(1000, 0, stages);
  std::uint64_t at = 1000;
  for (const nlohmann::json& stage : stages) at = log.RunStage(at, stage);
  log.EndJob(at, 0);
  log.End(at);
  return log.text();
}

TEST(SparkRun, KeepsAStageThatWaitsForMoreThan256Others) {
  const test::ScratchDirectory directory;
  const auto run = ReadSparkRun(directory.Write("union", UnionLog(300, 1))).value();
  const std::vector<PlannedStage>& stages = run.plan.jobs[0].stages;
  ASSERT_EQ(stages.size(), 301u);
  EXPECT_EQ(stages.back().after.size(), 300u);
  EXPECT_TRUE(EndOf(run.plan).has_value());
}

TEST(SparkRun, RejectsTooManyDependenciesWithTheReason) {
  const test::ScratchDirectory directory;
  const absl::Status rejected =
      ReadSparkRun(directory.Write("unions", UnionLog(320, 320))).status();
  EXPECT_EQ(rejected.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(rejected.message(), HasSubstr("more than 100000 dependencies"));
}

// Four map tasks and eight reduce tasks in one wave.
TEST(SparkRun, OfMapReduceHasItsTwoStages) {
  const auto run =
      ReadSparkRun(std::string(TIDEMARK_RECORDINGS) + "/two-path-on-yarn.tidemark-log");
  ASSERT_TRUE(run.ok()) << run.status();
  const std::vector<PlannedStage>& stages = run->plan.jobs[0].stages;
  ASSERT_EQ(stages.size(), 2u);
  EXPECT_EQ(stages[0].task_count, 4u);
  EXPECT_EQ(stages[1].task_count, 8u);
  EXPECT_TRUE(run->reduce_fixed_share.has_value());
  ASSERT_TRUE(run->took && EndOf(run->plan));
  EXPECT_NEAR(absl::FDivDuration(*EndOf(run->plan), *run->took), 1, 0.05);
}

// The reason differs from that for a plan file.
TEST(SparkRun, ReportsWhyALogIsRejected) {
  const test::ScratchDirectory directory;
  const std::string path =
      directory.Write("late", R"({"Event":"SparkListenerApplicationEnd","Timestamp":1000000})");
  EXPECT_TRUE(IsEventLog(path));
  EXPECT_THAT(ReadSparkRun(path).status().message(),
              HasSubstr("the log has no SparkListenerApplicationStart"));
}

TEST(SparkRun, NamesAnUnsupportedCompression) {
  const test::ScratchDirectory directory;
  using namespace std::string_literals;
  const std::string xz = directory.Write("app.xz", "\xfd\x37\x7a\x58\x5a\0 rest of it"s);
  const std::string bzip2 = directory.Write("app.bz2", "BZh91AY rest of it");
  for (const auto& [path, name] : {std::pair(xz, "xz"), std::pair(bzip2, "bzip2")}) {
    EXPECT_TRUE(IsEventLog(path));
    EXPECT_THAT(ReadSparkRun(path).status().message(),
                HasSubstr("compressed with "s + name + ", which is not supported"));
  }
  EXPECT_FALSE(IsEventLog(directory.Write("plan", "stages: [{name: scan, tasks: 4}]\n")));
}

TEST(SparkRun, NeedsAnEndedTask) {
  const test::ScratchDirectory directory;
  const std::string path = directory.Write(
      "idle", R"({"Event":"SparkListenerApplicationStart","App Name":"idle","Timestamp":1000000})");
  EXPECT_TRUE(IsEventLog(path));
  EXPECT_EQ(ReadSparkRun(path).status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_FALSE(IsEventLog(Log("")));
}

TEST(SparkRun, WithoutAnEndedTaskTheErrorHasTheRemarksOnTheLog) {
  const test::ScratchDirectory directory;
  test::SomeLog log;
  const nlohmann::json stage = test::SomeLog::StageInfo(0, 4);
  log.StartJob(1000, 0, {stage}).Submit(1000, stage).StartTask(1000, 0, 0);
  EXPECT_THAT(std::string(ReadSparkRun(directory.Write("cut", log.text())).status().message()),
              ::testing::AllOf(HasSubstr("no task has ended; "),
                               HasSubstr("cut: the log ends before the application")));
}

}  // namespace
}  // namespace tidemark::whatif::spark_run_test
