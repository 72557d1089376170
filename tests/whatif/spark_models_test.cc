#include "whatif/spark_models.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "spark/log_reader.h"
#include "tests/scratch_directory.h"
#include "tests/spark/some_log.h"
#include "whatif/spark_run.h"

namespace tidemark::whatif::spark_models_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

std::string Log(const std::string& name) { return std::string(TIDEMARK_SPARK_LOGS) + "/" + name; }

SparkRun RunAgain() {
  auto run = ReadSparkRun(Log("local-1795466322781.zst"));
  EXPECT_TRUE(run.ok()) << run.status();
  return run.ok() ? *std::move(run) : SparkRun{};
}

absl::StatusOr<ModelledRun> With(const SparkRun& run,
                                 const std::map<std::string, std::string>& changes) {
  const auto models = SparkRunModels::Learn(run);
  if (!models.ok()) return models.status();
  return models->With(changes);
}

TEST(SparkRunModels, WithoutChangesTheRunStaysTheSame) {
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

// Returns the log of two executors with 16 cores and one GPU each. They run 20 tasks of 10 s, one
// at a time in each executor.
std::string LogOfTwoGpus() {
  test::SomeLog log({.executors = 2, .cores = 16});
  const nlohmann::json stage = test::SomeLog::StageInfo(0, 20);
  log.StartJob(1000, 0, {stage}).Submit(1000, stage);
  for (std::uint32_t task = 0; task < 20; ++task) {
    const std::uint64_t start = 1000 + 10'000 * (task / 2);
    log.EndTask(start, start + 10'000, 0, task,
                {.executor = 1 + task % 2,
                 .metrics = nlohmann::json{{"Executor Run Time", 9900u},
                                           {"Executor CPU Time", 9'000'000'000u}}});
  }
  return log.Complete(101'000, stage).EndJob(101'000, 0).End(101'500).text();
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
  const auto outcome = EstimateRun(*more, {.slots = more->slots}, absl::UnixEpoch());
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  EXPECT_NEAR(absl::ToDoubleSeconds(outcome->snapshot.estimate.remaining->median), 51, 1.5)
      << "half of the waves of 10 s";
  const auto larger = models->With({{"spark.executor.cores", "32"}});
  ASSERT_TRUE(larger.ok()) << larger.status();
  EXPECT_EQ(larger->slots, 2u);
}

// Returns the log of executors with four cores and these resource profiles. Profile 1 has four
// cores per task. The executors run 16 tasks of 10 s, one at a time in each executor.
std::string LogOfProfiles(const std::vector<std::uint32_t>& profiles,
                          const nlohmann::json& properties) {
  test::SomeLog log({.properties = properties, .executors = 0});
  log.Add({{"Event", "SparkListenerResourceProfileAdded"},
           {"Resource Profile Id", 1u},
           {"Executor Resource Requests", nlohmann::json::object()},
           {"Task Resource Requests", {{"cpus", {{"Amount", 4.0}}}}}});
  for (std::uint32_t i = 0; i < profiles.size(); ++i) {
    log.Add({{"Event", "SparkListenerExecutorAdded"},
             {"Timestamp", test::SomeLog::kBeginMs},
             {"Executor ID", std::to_string(i + 1)},
             {"Executor Info",
              {{"Host", "h"}, {"Total Cores", 4u}, {"Resource Profile Id", profiles[i]}}}});
  }
  const nlohmann::json stage = test::SomeLog::StageInfo(0, 16);
  log.StartJob(1000, 0, {stage}).Submit(1000, stage);
  const auto executors = static_cast<std::uint32_t>(profiles.size());
  for (std::uint32_t task = 0; task < 16; ++task) {
    const std::uint64_t start = 1000 + 10'000 * (task / executors);
    log.EndTask(start, start + 10'000, 0, task,
                {.executor = 1 + task % executors,
                 .metrics = nlohmann::json{{"Executor Run Time", 9900u},
                                           {"Executor CPU Time", 9'000'000'000u}}});
  }
  return log.Complete(41'000, stage).EndJob(41'000, 0).End(41'500).text();
}

TEST(SparkRunModels, AResourceProfileIsPredictedLikeEqualSettings) {
  const test::ScratchDirectory directory;
  const auto profile = ReadSparkRun(
      directory.Write("profile", LogOfProfiles({1, 1, 1, 1}, nlohmann::json::object())));
  const auto settings = ReadSparkRun(
      directory.Write("settings", LogOfProfiles({0, 0, 0, 0}, {{"spark.task.cpus", "4"}})));
  ASSERT_TRUE(profile.ok() && settings.ok()) << profile.status() << settings.status();
  for (const SparkRun* const run : {&*profile, &*settings}) {
    EXPECT_EQ(run->plan.cluster.slots, 4u);
    const auto fewer = With(*run, {{"spark.executor.instances", "2"}});
    ASSERT_TRUE(fewer.ok()) << fewer.status();
    EXPECT_EQ(fewer->slots, 2u);
    const auto outcome = EstimateRun(*fewer, {.slots = fewer->slots}, absl::UnixEpoch());
    ASSERT_TRUE(outcome.ok()) << outcome.status();
    EXPECT_NEAR(absl::ToDoubleSeconds(outcome->snapshot.estimate.remaining->median), 81, 3)
        << "twice the waves of 10 s";
  }
}

// Two executors run four tasks at a time, and two run one, which is 2.5 on average.
TEST(SparkRunModels, MixedResourceProfilesHaveTheirMeanSlotsAndARemark) {
  spark::MeasuredStages measured;
  spark::LogParser parser({.measured = &measured});
  parser.Feed(LogOfProfiles({0, 0, 1, 1}, nlohmann::json::object()), [](const Event&) {});
  const auto settings = SettingsOf(measured, {});
  ASSERT_TRUE(settings.ok()) << settings.status();
  EXPECT_DOUBLE_EQ(settings->ran.slots(), 10);
  EXPECT_THAT(settings->of_run, ElementsAre(HasSubstr("resource profiles differ")));
}

TEST(SparkRunModels, NamesAWrongSetting) {
  const auto message = [](const std::map<std::string, std::string>& changes) {
    return std::string(With(RunAgain(), changes).status().message());
  };
  EXPECT_THAT(message({{"spark.executor.memory", "4x"}}),
              HasSubstr("spark.executor.memory: \"4x\""));
  EXPECT_THAT(message({{"executor.memory", "4g"}}),
              HasSubstr("executor.memory: not a Spark setting"));
  EXPECT_THAT(message({{"spark.", "4g"}}), HasSubstr("not a Spark setting"));
  EXPECT_THAT(message({{"spark.speculation", "maybe"}}),
              HasSubstr("spark.speculation: \"maybe\" is not true or false"));
}

TEST(SparkRunModels, RejectsALogWithoutAVersionOfSpark) {
  const auto run = ReadSparkRun(Log("local-1430917381534.zst"));
  ASSERT_TRUE(run.ok()) << run.status();
  SparkRun without = *run;
  without.measured = {};
  EXPECT_FALSE(With(without, {{"spark.executor.instances", "4"}}).ok());
}

PlannedStage Named(const std::string& name, std::vector<std::string> after = {}) {
  return {.name = name, .after = std::move(after), .task_count = 1};
}

std::vector<std::string> Lines(const std::vector<PlannedStage>& stages) {
  std::vector<std::string> lines;
  for (const PlannedStage& stage : stages) {
    std::string line = stage.name + ":";
    for (const std::string& parent : stage.after) line += " " + parent;
    lines.push_back(line);
  }
  return lines;
}

// Returns the stages of PageRank: links, iterations that each read the previous one, and the
// result.
std::vector<PlannedStage> Chain() {
  return {Named("links"), Named("turn 1", {"links"}), Named("turn 2", {"links", "turn 1"}),
          Named("result", {"turn 2"})};
}
const std::vector<std::uint64_t> kChainWorks = {1, 2, 2, 3};

TEST(Repeated, AddsTurnsAtTheEndOfTheirChain) {
  EXPECT_THAT(Lines(Repeated(Chain(), kChainWorks, {{2, 4}})),
              UnorderedElementsAre("links:", "turn 1: links", "turn 2: links turn 1",
                                   "turn 2 (+1): links turn 2", "turn 2 (+2): links turn 2 (+1)",
                                   "result: turn 2 (+2)"));
}

TEST(Repeated, RemovesTurns) {
  EXPECT_THAT(Lines(Repeated(Chain(), kChainWorks, {{2, 1}})),
              ElementsAre("links:", "turn 1: links", "result: turn 1"));
}

TEST(Repeated, KeepsAtLeastOneTurnAndOtherStages) {
  EXPECT_EQ(Lines(Repeated(Chain(), kChainWorks, {{2, 0}})),
            Lines(Repeated(Chain(), kChainWorks, {{2, 1}})));
  EXPECT_EQ(Lines(Repeated(Chain(), kChainWorks, {{77, 5}})), Lines(Chain()));
  EXPECT_EQ(Lines(Repeated(Chain(), kChainWorks, {{2, 1'000'000}})), Lines(Chain()));
}

// K-Means has sequential jobs of two stages each.
TEST(Repeated, AddsTurnsOfSeveralStages) {
  const std::vector<PlannedStage> jobs = {Named("map 1"), Named("sum 1", {"map 1"}),
                                          Named("map 2", {"sum 1"}), Named("sum 2", {"map 2"})};
  EXPECT_THAT(Lines(Repeated(jobs, {1, 2, 1, 2}, {{1, 3}, {2, 3}})),
              UnorderedElementsAre("map 1:", "sum 1: map 1", "map 2: sum 1", "sum 2: map 2",
                                   "map 2 (+1): sum 2", "sum 2 (+1): map 2 (+1)"));
}

}  // namespace
}  // namespace tidemark::whatif::spark_models_test
