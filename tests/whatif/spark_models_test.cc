#include "whatif/spark_models.h"

#include <nlohmann/json.hpp>

#include "spark/log_reader.h"
#include "tests/scratch_directory.h"
#include "tests/spark/some_log.h"
#include "tests/test.h"
#include "whatif/spark_run.h"

namespace tidemark::whatif::spark_models_test {
namespace {

std::string Log(const std::string& name) { return std::string(TIDEMARK_SPARK_LOGS) + "/" + name; }

SparkRun RunAgain() { return ReadSparkRun(Log("local-1795466322781.zst")).value(); }

SparkRun RunOf(const std::string& log) {
  const test::ScratchDirectory directory;
  return ReadSparkRun(directory.Write("log", log)).value();
}

double SecondsOf(const ModelledRun& run) {
  const auto outcome = EstimateRun(run, {.slots = run.slots}, absl::UnixEpoch()).value();
  return absl::ToDoubleSeconds(outcome.snapshot.estimate.remaining->median);
}

absl::StatusOr<ModelledRun> With(const SparkRun& run,
                                 const std::map<std::string, std::string>& changes) {
  const auto models = SparkRunModels::Learn(run);
  if (!models.ok()) return models.status();
  return models->With(changes);
}

TEST(SparkRunModels, WithoutChangesTheRunStaysTheSame) {
  const SparkRun run = RunAgain();
  const auto same = With(run, {}).value();
  EXPECT_EQ(same.plan, run.plan);
  EXPECT_EQ(same.slots, 2u);
  EXPECT_EQ(same.deviation, 0);
  EXPECT_THAT(same.remarks, IsEmpty());
}

TEST(SparkRunModels, MoreExecutorsAreMoreSlots) {
  const auto other = With(RunAgain(), {{"spark.executor.instances", "4"}}).value();
  EXPECT_EQ(other.slots, 8u);
  EXPECT_GT(other.deviation, 0);
}

// Adds a job with one stage, whose tasks take 10 s and run on `slots` slots of the executors from
// `first` on. Returns its end.
std::uint64_t RunJob(test::SomeLog& log, std::uint64_t at, nlohmann::json stage,
                     std::uint32_t slots, std::uint32_t first, std::uint32_t executors) {
  const auto number = stage["Stage ID"].get<std::uint32_t>();
  const auto tasks = stage["Number of Tasks"].get<std::uint32_t>();
  log.StartJob(at, number, {stage}).Submit(at, stage);
  for (std::uint32_t task = 0; task < tasks; ++task) {
    const std::uint64_t start = at + 10'000 * (task / slots);
    log.EndTask(start, start + 10'000, number, task,
                {.executor = first + task % executors,
                 .metrics = nlohmann::json{{"Executor Run Time", 9900u},
                                           {"Executor CPU Time", 9'000'000'000u}}});
  }
  at += 10'000 * (tasks / slots);
  log.Complete(at, stage).EndJob(at, number);
  return at;
}

// Returns the log of two executors with 16 cores and one GPU each. They run 20 tasks of 10 s, one
// at a time in each executor.
std::string LogOfTwoGpus() {
  test::SomeLog log({.executors = 2, .cores = 16});
  const std::uint64_t end = RunJob(log, 1000, test::SomeLog::StageInfo(0, 20), 2, 1, 2);
  return log.End(end + 500).text();
}

TEST(SparkRunModels, ExecutorsRunAsManyTasksAsTheyDidInTheRun) {
  const SparkRun run = RunOf(LogOfTwoGpus());
  EXPECT_EQ(run.plan.cluster.slots, 2u);
  EXPECT_NEAR(absl::ToDoubleSeconds(*EndOf(run.plan)), 101, 1);
  const auto models = SparkRunModels::Learn(run).value();
  const auto more = models.With({{"spark.executor.instances", "4"}}).value();
  EXPECT_EQ(more.slots, 4u);
  EXPECT_DOUBLE_EQ(more.cores, 64);
  EXPECT_NEAR(SecondsOf(more), 51, 1.5) << "half of the waves of 10 s";
  EXPECT_EQ(models.With({{"spark.executor.cores", "32"}}).value().slots, 2u);
}

// Adds executors with four cores and these resource profiles. Profile 1 has four cores per task.
void AddExecutors(test::SomeLog& log, const std::vector<std::uint32_t>& profiles,
                  const nlohmann::json& requests) {
  log.Add({{"Event", "SparkListenerResourceProfileAdded"},
           {"Resource Profile Id", 1u},
           {"Executor Resource Requests", requests},
           {"Task Resource Requests", {{"cpus", {{"Amount", 4.0}}}}}});
  for (std::uint32_t i = 0; i < profiles.size(); ++i) {
    log.Add({{"Event", "SparkListenerExecutorAdded"},
             {"Timestamp", test::SomeLog::kBeginMs},
             {"Executor ID", std::to_string(i + 1)},
             {"Executor Info",
              {{"Host", "h"}, {"Total Cores", 4u}, {"Resource Profile Id", profiles[i]}}}});
  }
}

// Returns the log of such executors. They run 16 tasks of 10 s, one at a time in each executor.
std::string LogOfProfiles(const std::vector<std::uint32_t>& profiles,
                          const nlohmann::json& properties = nlohmann::json::object()) {
  test::SomeLog log({.properties = properties, .executors = 0});
  AddExecutors(log, profiles, nlohmann::json::object());
  const auto executors = static_cast<std::uint32_t>(profiles.size());
  const nlohmann::json stage = test::SomeLog::StageInfo(0, 16);
  return log.End(RunJob(log, 1000, stage, executors, 1, executors) + 500).text();
}

TEST(SparkRunModels, AResourceProfileIsPredictedLikeEqualSettings) {
  for (const std::string& log :
       {LogOfProfiles({1, 1, 1, 1}), LogOfProfiles({0, 0, 0, 0}, {{"spark.task.cpus", "4"}})}) {
    const SparkRun run = RunOf(log);
    EXPECT_EQ(run.plan.cluster.slots, 4u);
    const auto fewer = With(run, {{"spark.executor.instances", "2"}}).value();
    EXPECT_EQ(fewer.slots, 2u);
    EXPECT_NEAR(SecondsOf(fewer), 81, 3) << "twice the waves of 10 s";
  }
}

// Two executors run four tasks at a time, and two run one, which is 2.5 on average.
TEST(SparkRunModels, MixedResourceProfilesHaveTheirMeanSlotsAndARemark) {
  spark::MeasuredStages measured;
  spark::LogParser parser({.measured = &measured});
  parser.Feed(LogOfProfiles({0, 0, 1, 1}), [](const Event&) {});
  const auto settings = SettingsOf(measured, {}).value();
  EXPECT_DOUBLE_EQ(settings.ran.slots(), 10);
  EXPECT_THAT(settings.of_run, ElementsAre(HasSubstr("resource profiles differ")));
}

// Returns a log of two executors of the default profile with four slots each, and two of profile 1
// with one slot each. A stage of each profile has tasks of 10 s: 16 tasks on 8 slots, then 8 tasks
// on 2 slots.
std::string LogOfTwoPools() {
  test::SomeLog log({.executors = 0});
  AddExecutors(log, {0, 0, 1, 1}, {{"cores", {{"Amount", 4}}}});
  nlohmann::json first = test::SomeLog::StageInfo(0, 16);
  nlohmann::json second = test::SomeLog::StageInfo(1, 8, {0});
  first["Resource Profile Id"] = 0u;
  second["Resource Profile Id"] = 1u;
  const std::uint64_t middle = RunJob(log, 1000, first, 8, 1, 2);
  return log.End(RunJob(log, middle, second, 2, 3, 2) + 100).text();
}

// The stages take two waves on 8 slots and four waves on 2 slots, as in the run. In one pool of 10
// slots, they would take two waves and one.
TEST(SparkRunModels, EachStageUsesTheSlotsOfItsProfile) {
  const SparkRun run = RunOf(LogOfTwoPools());
  const double slots = run.plan.cluster.slots;
  ASSERT_EQ(run.plan.jobs[0].stages.size(), 2u);
  EXPECT_NEAR(run.plan.jobs[0].stages[0].slot_share * slots, 8, 0.5);
  EXPECT_NEAR(run.plan.jobs[0].stages[1].slot_share * slots, 2, 0.5);
  EXPECT_NEAR(absl::ToDoubleSeconds(*EndOf(run.plan)), 61, 2);
  const auto twice = With(run, {{"spark.executor.instances", "8"}}).value();
  EXPECT_NEAR(SecondsOf(twice), 31, 3) << "half of the waves of both stages";
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
  const auto run = ReadSparkRun(Log("local-1430917381534.zst")).value();
  SparkRun without = run;
  without.measured = {};
  EXPECT_FALSE(With(without, {{"spark.executor.instances", "4"}}).ok());
}

// With no left-out runs, the usual share applies. Four runs with the expected errors give
// sqrt((4 x 0.36 + 4 x 1) / 8).
TEST(LeftOutErrors, ScaleTheBounds) {
  EXPECT_DOUBLE_EQ(BoundsShareOf({}), 0.6);
  EXPECT_NEAR(BoundsShareOf({.runs = 4, .scaled_square = 1}), 0.82462, 1e-5);
  EXPECT_LT(BoundsShareOf({.runs = 16, .scaled_square = 0.04}), 0.4);
}

// 20 s are twice the predicted 10 s: ln 2 = 0.693 is two deviations.
TEST(LeftOutErrors, AreMeansOverRuns) {
  LeftOutErrors errors;
  errors.Add(20, 10, std::log(2) / 2);
  EXPECT_DOUBLE_EQ(errors.error, 0.5);
  EXPECT_DOUBLE_EQ(errors.scaled_square, 4);
  errors.Add(10, 10, 1);
  EXPECT_DOUBLE_EQ(errors.runs, 2);
  EXPECT_DOUBLE_EQ(errors.error, 0.25);
  EXPECT_DOUBLE_EQ(errors.scaled_square, 2);
  errors.Add(10, 0, 1);
  errors.Add(10, 10, std::numeric_limits<double>::infinity());
  EXPECT_DOUBLE_EQ(errors.runs, 2) << "an impossible prediction does not count";
}

// Four tasks read 128 MB each, and shuffle them into `partitions` partitions.
struct ShufflingRun {
  std::uint32_t partitions = 4;
  std::uint32_t cores = 1;
  int start_ms = 1000;
};

// Returns the log of the run on one executor. A task takes `start_ms` plus 20 ms for each MB and
// core, since the tasks share the disk.
std::string LogOf(const ShufflingRun& run, int application) {
  test::SomeLog log(
      {.properties = {{"spark.executor.cores", std::to_string(run.cores)},
                      {"spark.executor.memory", "2g"},
                      {"spark.sql.shuffle.partitions", std::to_string(run.partitions)}},
       .executors = 1,
       .cores = run.cores});
  const std::vector<nlohmann::json> stages = {test::SomeLog::StageInfo(0, 4),
                                              test::SomeLog::StageInfo(1, run.partitions, {0})};
  log.StartJob(0, 0, stages);
  std::uint64_t at = 0;
  for (const std::uint32_t number : {0u, 1u}) {
    const std::uint32_t tasks = number == 0 ? 4 : run.partitions;
    const std::uint64_t megabytes = 512 / tasks;
    const auto task_ms = static_cast<std::uint64_t>(
        run.start_ms + 20 * static_cast<std::int64_t>(megabytes * run.cores));
    const nlohmann::json moved = {{"Bytes Read", megabytes << 20},
                                  {"Records Read", 1000 * megabytes}};
    const nlohmann::json fetched = {{"Local Bytes Read", megabytes << 20},
                                    {"Total Records Read", 1000 * megabytes}};
    const nlohmann::json written = {{"Shuffle Bytes Written", megabytes << 20},
                                    {"Shuffle Records Written", 1000 * megabytes}};
    nlohmann::json metrics = {{"Executor Run Time", task_ms},
                              {"Executor CPU Time", task_ms * 1'000'000},
                              {"Result Size", 1000u}};
    if (number == 0) metrics["Input Metrics"] = moved;
    if (number == 0) metrics["Shuffle Write Metrics"] = written;
    if (number == 1) metrics["Shuffle Read Metrics"] = fetched;
    log.Submit(at, stages[number]);
    std::uint64_t end = at;
    for (std::uint32_t task = 0; task < tasks; ++task) {
      const std::uint64_t start = at + task / run.cores * task_ms;
      end = start + task_ms;
      log.EndTask(start, end, number, task, {.metrics = metrics});
    }
    log.Complete(end, stages[number]);
    at = end;
  }
  std::string text = log.EndJob(at, 0).End(at).text();
  const std::string id = "\"app-1\"";
  text.replace(text.find(id), id.size(), "\"app-" + std::to_string(application) + "\"");
  return text;
}

SparkRuns LearntFrom(const std::vector<ShufflingRun>& some) {
  const test::ScratchDirectory directory;
  std::vector<SparkRun> runs;
  std::vector<std::string> paths;
  for (const ShufflingRun& each : some) {
    const int number = static_cast<int>(runs.size()) + 1;
    paths.push_back(directory.Write("log" + std::to_string(number), LogOf(each, number)));
    runs.push_back(ReadSparkRun(paths.back()).value());
  }
  return SparkRuns::Learn(std::move(runs), paths).value();
}

// Nine runs follow the law of the black box exactly. With 12 partitions of 42.7 MB, a task on one
// of 4 cores takes 1 + 42.7 x 4 x 0.02 = 4.41 s.
TEST(SparkRuns, TheModelWithTheSmallerLeftOutErrorIsChosenAndNamed) {
  SparkRuns runs =
      LearntFrom({{4, 1}, {4, 2}, {4, 4}, {8, 1}, {8, 2}, {8, 4}, {16, 1}, {16, 2}, {16, 4}});
  const Settings changes = {{"spark.executor.cores", "4"}, {"spark.sql.shuffle.partitions", "12"}};
  EXPECT_THAT(runs.With(changes, 1, {}).value().model, HasSubstr("phase models"));
  runs.CompareModels();
  const auto asked = runs.With(changes, 1, {}).value();
  EXPECT_EQ(asked.model, "black box");
  EXPECT_THAT(asked.remarks,
              Contains(HasSubstr("the statistical model (black box) predicts the task times")));
  EXPECT_NEAR(absl::ToDoubleSeconds(asked.plan.jobs[0].stages[1].task_times[0]), 4.41, 0.1);
}

// Tasks of 2.56 MB would take 51 ms minus 500 ms, so the black box has no prediction.
TEST(SparkRuns, AChosenBlackBoxThatCannotPredictHasNoRemark) {
  std::vector<ShufflingRun> some;
  for (const std::uint32_t partitions : {4u, 8u, 16u}) {
    for (const std::uint32_t cores : {1u, 2u, 4u}) some.push_back({partitions, cores, -500});
  }
  SparkRuns runs = LearntFrom(some);
  runs.CompareModels();
  EXPECT_EQ(runs.With({{"spark.sql.shuffle.partitions", "12"}}, 1, {}).value().model, "black box");
  const auto far = runs.With({{"spark.sql.shuffle.partitions", "200"}}, 1, {}).value();
  EXPECT_THAT(far.model, HasSubstr("phase models"));
  EXPECT_THAT(far.remarks, Not(Contains(HasSubstr("black box"))));
}

TEST(SparkRuns, FewSettingsLeaveTheModelsUncompared) {
  SparkRuns runs = LearntFrom({{4, 1}, {8, 1}});
  runs.CompareModels();
  const auto asked = runs.With({{"spark.executor.cores", "2"}}, 1, {}).value();
  EXPECT_THAT(asked.model, HasSubstr("phase models"));
  EXPECT_THAT(asked.remarks, Not(Contains(HasSubstr("black box"))));
  EXPECT_DOUBLE_EQ(asked.bounds_share, BoundsShareOf({}));
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
