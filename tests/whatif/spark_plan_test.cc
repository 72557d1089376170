#include "whatif/spark_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "spark/log_parser.h"
#include "tests/master/written_log.h"
#include "tests/scratch_directory.h"
#include "tests/spark/some_log.h"
#include "whatif/plan_estimate.h"

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
  EXPECT_THAT(run->remarks, ElementsAre(HasSubstr("at least 1 event is missing"),  // its job
                                        HasSubstr("skipped 1 event: incomplete"),
                                        HasSubstr("the log ends before the application")));
}

// The same events, once from the log of Spark and once from the log of a master that received them.
TEST(SparkPlan, IsReadFromTheLogOfAMasterToo) {
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
  auto written = store::WrittenLog::Create(kept, "app-1", {});
  ASSERT_TRUE(written.ok()) << written.status();
  spark::LogParser parser({});
  parser.Feed(log.text(), [&](const Event& event) { EXPECT_TRUE((*written)->Append(event).ok()); });
  parser.Finish([&](const Event& event) { EXPECT_TRUE((*written)->Append(event).ok()); });
  EXPECT_TRUE((*written)->Flush().ok());
  EXPECT_TRUE(IsEventLog(kept));
  const auto of_master = ReadSparkRun(kept);
  const auto of_spark = ReadSparkRun(directory.Write("log.json", log.text()));
  ASSERT_TRUE(of_master.ok()) << of_master.status();
  ASSERT_TRUE(of_spark.ok()) << of_spark.status();
  EXPECT_EQ(of_master->plan, of_spark->plan);
  EXPECT_EQ(of_master->took, of_spark->took);
}

// Returns the text of a log whose last `unions` stages each wait for all of the first `inputs`.
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

TEST(SparkPlan, KeepsAStageThatWaitsForMoreThan256Others) {
  const test::ScratchDirectory directory;
  const auto run = ReadSparkRun(directory.Write("union", UnionLog(300, 1)));
  ASSERT_TRUE(run.ok()) << run.status();
  const std::vector<PlannedStage>& stages = run->plan.jobs[0].stages;
  ASSERT_EQ(stages.size(), 301u);
  EXPECT_EQ(stages.back().after.size(), 300u);
  EXPECT_TRUE(EndOf(run->plan).has_value());
}

TEST(SparkPlan, RejectsTooManyDependenciesWithTheReason) {
  const test::ScratchDirectory directory;
  const absl::Status rejected =
      ReadSparkRun(directory.Write("unions", UnionLog(320, 320))).status();
  EXPECT_EQ(rejected.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(rejected.message()), HasSubstr("more than 100000 dependencies"));
}

TEST(SparkPlan, OfMapReduceIsRejected) {
  const auto run =
      ReadSparkRun(std::string(TIDEMARK_RECORDINGS) + "/two-path-on-yarn.tidemark-log");
  EXPECT_EQ(run.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(run.status().message()), HasSubstr("MapReduce"));
}

// The reason differs from the one for a plan file.
TEST(SparkPlan, OfALogThatIsRefusedGivesTheReason) {
  const test::ScratchDirectory directory;
  const std::string path =
      directory.Write("late", R"({"Event":"SparkListenerApplicationEnd","Timestamp":1000000})");
  EXPECT_TRUE(IsEventLog(path));
  EXPECT_THAT(std::string(ReadSparkRun(path).status().message()),
              HasSubstr("the start of the application"));
}

TEST(SparkPlan, NamesTheCompressionOfALogThatIsNotRead) {
  const test::ScratchDirectory directory;
  using namespace std::string_literals;
  const std::string xz = directory.Write("app.xz", "\xfd\x37\x7a\x58\x5a\0 rest of it"s);
  const std::string bzip2 = directory.Write("app.bz2", "BZh91AY rest of it");
  for (const auto& [path, name] : {std::pair(xz, "xz"), std::pair(bzip2, "bzip2")}) {
    EXPECT_TRUE(IsEventLog(path));
    EXPECT_THAT(std::string(ReadSparkRun(path).status().message()),
                HasSubstr("compressed with "s + name + ", which is not read"));
  }
  EXPECT_FALSE(IsEventLog(directory.Write("plan", "stages: [{name: scan, tasks: 4}]\n")));
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

// Two executors of 16 cores, each with one GPU: 20 tasks of 10 s, one at a time in each executor.
std::string LogOfTwoGpus() {
  std::string log =
      R"({"Event":"SparkListenerLogStart","Spark Version":"3.5.1"})"
      "\n"
      R"({"Event":"SparkListenerApplicationStart","App Name":"training","Timestamp":1000000})";
  for (const int executor : {1, 2}) {
    absl::StrAppendFormat(
        &log,
        "\n"
        R"({"Event":"SparkListenerExecutorAdded","Timestamp":1000500,"Executor ID":"%d",)"
        R"("Executor Info":{"Host":"h%d","Total Cores":16}})",
        executor, executor);
  }
  constexpr absl::string_view kStage =
      R"({"Stage ID":0,"Stage Name":"train","Number of Tasks":20,"Submission Time":1001000})";
  absl::StrAppend(&log,
                  "\n"
                  R"({"Event":"SparkListenerJobStart","Job ID":0,"Submission Time":1001000,)",
                  R"("Stage IDs":[0],"Stage Infos":[)", kStage,
                  "]}\n"
                  R"({"Event":"SparkListenerStageSubmitted","Stage Info":)",
                  kStage, "}");
  for (int task = 0; task < 20; ++task) {
    const int start = 1001000 + 10'000 * (task / 2);
    absl::StrAppendFormat(
        &log,
        "\n"
        R"({"Event":"SparkListenerTaskEnd","Stage ID":0,"Task End Reason":{"Reason":"Success"},)"
        R"("Task Info":{"Task ID":%d,"Index":%d,"Launch Time":%d,"Finish Time":%d,)"
        R"("Executor ID":"%d"},"Task Metrics":{"Executor Run Time":9900,)"
        R"("Executor CPU Time":9000000000}})",
        task, task, start, start + 10'000, 1 + task % 2);
  }
  absl::StrAppend(&log,
                  "\n"
                  R"({"Event":"SparkListenerStageCompleted","Stage Info":)",
                  kStage,
                  "}\n"
                  R"({"Event":"SparkListenerJobEnd","Job ID":0,"Completion Time":1101000,)",
                  R"("Job Result":{"Result":"JobSucceeded"}})",
                  "\n"
                  R"({"Event":"SparkListenerApplicationEnd","Timestamp":1101500})");
  return log;
}

TEST(SparkRunModels, ExecutorsRunAsManyTasksAsTheyDidInTheRun) {
  const test::ScratchDirectory directory;
  const auto run = ReadSparkRun(directory.Write("gpus", LogOfTwoGpus()));
  ASSERT_TRUE(run.ok()) << run.status();
  EXPECT_EQ(run->plan.cluster.slots, 2u);
  EXPECT_NEAR(absl::ToDoubleSeconds(*EndOf(run->plan)), 101, 1);
  const auto models = SparkRunModels::Learn(*run);
  ASSERT_TRUE(models.ok()) << models.status();
  const auto more = models->With({{"spark.executor.instances", "4"}});
  ASSERT_TRUE(more.ok()) << more.status();
  EXPECT_EQ(more->slots, 4u);
  EXPECT_DOUBLE_EQ(more->cores, 64);
  const auto larger = models->With({{"spark.executor.cores", "32"}});
  ASSERT_TRUE(larger.ok()) << larger.status();
  EXPECT_EQ(larger->slots, 2u);
}

TEST(SparkRunModels, NamesTheSettingThatIsWrong) {
  const auto message = [](const std::map<std::string, std::string>& changes) {
    return std::string(With(RunAgain(), changes).status().message());
  };
  EXPECT_THAT(message({{"spark.executor.memory", "4x"}}),
              HasSubstr("spark.executor.memory: \"4x\""));
  EXPECT_THAT(message({{"executor.memory", "4g"}}),
              HasSubstr("executor.memory: it is no setting of Spark"));
  EXPECT_THAT(message({{"spark.", "4g"}}), HasSubstr("it is no setting of Spark"));
  EXPECT_THAT(message({{"spark.speculation", "maybe"}}),
              HasSubstr("spark.speculation: \"maybe\" is not true or false"));
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
  EXPECT_TRUE(IsEventLog(path));
  EXPECT_EQ(ReadSparkRun(path).status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_FALSE(IsEventLog(Log("")));
}

}  // namespace
}  // namespace tidemark::cli
