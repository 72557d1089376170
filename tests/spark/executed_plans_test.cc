#include "spark/executed_plans.h"

#include <nlohmann/json.hpp>

#include "spark/log_reader.h"
#include "tests/matchers.h"
#include "tests/scratch_directory.h"
#include "tests/test.h"
#include "whatif/advise/past_plan.h"

namespace tidemark::spark::executed_plans_test {
namespace {

using advise::PastPlan;
using nlohmann::json;

constexpr char kSql[] = "org.apache.spark.sql.execution.ui.SparkListener";

json Node(const char* name, const char* text, std::vector<json> children,
          json metrics = json::array()) {
  return {{"nodeName", name},
          {"simpleString", text},
          {"children", std::move(children)},
          {"metrics", metrics}};
}

json Metric(const char* name, std::uint64_t accumulator) {
  return {{"name", name}, {"accumulatorId", accumulator}, {"metricType", "sum"}};
}

// Returns a plan that scans in stage 0 and aggregates in stage 1.
json Plan() {
  json scan = Node("Scan csv ", "FileScan csv [a#1] Batched: false, DataFilters: []", {},
                   {Metric("number of output rows", 10), Metric("size of files read", 11)});
  scan["metadata"] = {{"Location", "InMemoryFileIndex(1 paths)[file:/data/a]"},
                      {"ReadSchema", "struct<a:int>"}};
  return Node("HashAggregate", "HashAggregate(keys=[a#1], functions=[])",
              {Node("Exchange", "Exchange hashpartitioning(a#1, 200)", {scan},
                    {Metric("records read", 20), Metric("shuffle records written", 21),
                     Metric("data size", 22)})},
              json::array({Metric("number of output rows", 30)}));
}

class ALog {
 public:
  ALog& Start(json plan = Plan(), std::uint64_t id = 3) {
    return With(
        {{"Event", std::string(kSql) + "SQLExecutionStart"},
         {"executionId", id},
         {"description", "count at Main.scala:7"},
         {"details",
          "org.apache.spark.sql.Dataset.count(Dataset.scala:1)\norg.me.Main$.main(Main.scala:7)\n"},
         {"time", 1000u},
         {"sparkPlanInfo", std::move(plan)}});
  }
  ALog& StartText(const std::string& plan) {
    Start("the plan");
    text_.replace(text_.find("\"the plan\""), 10, plan);
    return *this;
  }
  ALog& Job(const char* execution = "3") {
    return With({{"Event", "SparkListenerJobStart"},
                 {"Job ID", 0u},
                 {"Submission Time", 1000u},
                 {"Properties", {{"spark.sql.execution.id", execution}}},
                 {"Stage Infos", json::array({{{"Stage ID", 0u}, {"Stage Name", ""}},
                                              {{"Stage ID", 1u}, {"Stage Name", ""}}})}});
  }
  ALog& Task(std::uint32_t stage, std::uint64_t from, std::uint64_t to, const char* executor = "1",
             std::uint64_t loading = 0) {
    return With(
        {{"Event", "SparkListenerTaskEnd"},
         {"Stage ID", stage},
         {"Task End Reason", {{"Reason", "Success"}}},
         {"Task Info", {{"Launch Time", from}, {"Finish Time", to}, {"Executor ID", executor}}},
         {"Task Metrics",
          {{"Executor Run Time", to - from},
           {"Executor Deserialize Time", loading},
           {"Input Metrics", {{"Bytes Read", 500u}, {"Records Read", 50u}}},
           {"Shuffle Write Metrics", {{"Shuffle Write Time", 2'000'000'000u}}}}}});
  }
  ALog& Stage(std::uint32_t number, std::uint64_t from, std::uint64_t to, json counts) {
    for (json& count : counts) count["Metadata"] = "sql";
    return With({{"Event", "SparkListenerStageCompleted"},
                 {"Stage Info",
                  {{"Stage ID", number},
                   {"Submission Time", from},
                   {"Completion Time", to},
                   {"Accumulables", counts}}}});
  }
  ALog& End(const char* error = "", std::uint64_t id = 3) {
    json event = {
        {"Event", std::string(kSql) + "SQLExecutionEnd"}, {"executionId", id}, {"time", 9000u}};
    if (*error != 0) event["errorMessage"] = error;
    return With(event);
  }
  ALog& With(const json& event) {
    text_ += event.dump() + "\n";
    return *this;
  }
  const std::string& text() const { return text_; }
  void Parse(ExecutedPlans& plans) const {
    LogParser({.plans = &plans}).Feed(text_, [](const Event&) {});
  }
  std::vector<PastPlan> Read() const {
    ExecutedPlans plans;
    Parse(plans);
    return plans.Finish();
  }

 private:
  std::string text_ =
      R"({"Event":"SparkListenerApplicationStart","App Name":"main","App ID":"app-1","Timestamp":900})"
      "\n";
};

json Counts(std::initializer_list<std::pair<std::uint64_t, const char*>> counts) {
  json list = json::array();
  for (const auto& [id, value] : counts) list.push_back({{"ID", id}, {"Value", value}});
  return list;
}

ALog Whole() {
  ALog log;
  log.Start().Job().Task(0, 1000, 5000).Task(0, 4990, 6990);
  log.Stage(0, 1000, 7000, Counts({{10, "100"}, {21, "40"}, {22, "640"}}));
  log.With({{"Event", std::string(kSql) + "DriverAccumUpdates"},
            {"executionId", 3u},
            {"accumUpdates", json::array({json::array({11, 1000})})}});
  log.Task(1, 7000, 8000).Stage(1, 7000, 8000, Counts({{20, "40"}, {30, "7"}}));
  return log.End();
}

TEST(ExecutedPlans, HaveOperatorsWithTheirCountersAndStages) {
  const PastPlan plan = Only(Whole().Read());
  EXPECT_EQ(plan.application, "app-1");
  EXPECT_EQ(plan.program, "main");
  EXPECT_EQ(plan.execution, "sql/3");
  EXPECT_EQ(plan.line, "org.me.Main$.main(Main.scala:7)");
  EXPECT_DOUBLE_EQ(plan.begin, 1);
  ASSERT_THAT(plan.operators, SizeIs(3));
  EXPECT_EQ(plan.operators[0].name, "HashAggregate");
  EXPECT_EQ(plan.operators[0].records, 7);
  EXPECT_THAT(plan.operators[0].stages, ElementsAre(1));
  EXPECT_THAT(plan.operators[0].inputs, ElementsAre(1));
  EXPECT_EQ(plan.operators[1].records, 40);
  EXPECT_EQ(plan.operators[1].bytes, 640);
  EXPECT_THAT(plan.operators[1].stages,
              ElementsAre(0));  // the stage that writes, not the stage that reads
  EXPECT_EQ(plan.operators[2].table, "file:/data/a");
  EXPECT_EQ(plan.operators[2].records, 100);
  EXPECT_EQ(plan.operators[2].bytes, 1000);  // size of the files, as reported by the driver
  const advise::PastPlanStage& stage = plan.stages.at(0);
  EXPECT_DOUBLE_EQ(stage.end - stage.begin, 6);
  EXPECT_DOUBLE_EQ(stage.task_seconds, 6);
  EXPECT_DOUBLE_EQ(stage.shuffle_write_seconds, 4);
  EXPECT_DOUBLE_EQ(stage.read_bytes, 1000);
  // The first task took 4 s, and the other 2 s. The start-up therefore took at most 2 s, excluding
  // the time to load code.
  EXPECT_DOUBLE_EQ(stage.start_up.lower, 0);
  EXPECT_DOUBLE_EQ(stage.start_up.expected, 1);
  EXPECT_DOUBLE_EQ(stage.start_up.upper, 2);
  EXPECT_DOUBLE_EQ(plan.stages.at(1).start_up.expected, 0);
}

// The first task takes 10 s, and the others take 2, 3 and 5 s. It is 7 s longer than the median and
// 8 s longer than the shortest task. It loads code for 1 s, which is the lower bound.
TEST(ExecutedPlans, BoundTheStartUpByTheOtherTasks) {
  ALog log;
  log.Start().Job().Task(0, 1000, 11000, "1", 1000).Task(0, 11000, 13000).Task(0, 13000, 16000);
  log.Task(0, 16000, 21000).Stage(0, 1000, 21000, Counts({{10, "100"}})).End();
  const auto plan = Only(log.Read());
  const advise::Bounds& start_up = plan.stages.at(0).start_up;
  EXPECT_DOUBLE_EQ(start_up.lower, 1);
  EXPECT_DOUBLE_EQ(start_up.expected, 4);
  EXPECT_DOUBLE_EQ(start_up.upper, 8);
}

// Without another task for comparison, all of the first task's time may have been start-up.
TEST(ExecutedPlans, BoundTheStartUpOfSingleTasksByTheirTimes) {
  ALog log;
  log.Start().Job().Task(0, 1000, 5000).Stage(0, 1000, 5000, Counts({{10, "100"}})).End();
  const auto plan = Only(log.Read());
  EXPECT_DOUBLE_EQ(plan.stages.at(0).start_up.expected, 2);
  EXPECT_DOUBLE_EQ(plan.stages.at(0).start_up.upper, 4);
}

TEST(ExecutedPlans, TakeTheLastPlanOfAnAdaptiveOne) {
  json update = {{"Event", std::string(kSql) + "SQLAdaptiveExecutionUpdate"},
                 {"executionId", 3u},
                 {"sparkPlanInfo", Node("LocalTableScan", "LocalTableScan [a#1]", {})}};
  const auto plan = Only(ALog().Start().With(update).End().Read());
  EXPECT_THAT(plan.operators, SizeIs(1));
}

TEST(ExecutedPlans, LeaveOutFailuresAndMissingEnds) {
  for (const ALog& log : {ALog().Start().End("no"), ALog().Start(),
                          ALog()
                              .Start()
                              .Job()
                              .With({{"Event", "SparkListenerJobEnd"},
                                     {"Job ID", 0u},
                                     {"Job Result", {{"Result", "JobFailed"}}}})
                              .End()}) {
    ExecutedPlans plans;
    log.Parse(plans);
    EXPECT_THAT(plans.Finish(), IsEmpty());
    EXPECT_EQ(plans.left_out(), 1);
  }
}

json JobFailed(const char* why) {
  return {{"Event", "SparkListenerJobEnd"},
          {"Job ID", 0u},
          {"Job Result", {{"Result", "JobFailed"}, {"Exception", {{"Message", why}}}}}};
}

// Adaptive execution abandons and cancels jobs.
TEST(ExecutedPlans, KeepAQueryThatSucceededWithoutAllOfItsJobs) {
  const json reported = {{"Event", std::string(kSql) + "SQLExecutionEnd"},
                         {"executionId", 3u},
                         {"time", 9000u},
                         {"errorMessage", ""}};
  for (const ALog& log : {ALog().Start().Job().With(JobFailed("boom")).With(reported),
                          ALog().Start().Job().With(reported).With(JobFailed("boom")),
                          ALog().Start().Job().With(JobFailed("Job 0 cancelled")).End()}) {
    EXPECT_THAT(log.Read(), SizeIs(1));
  }
}

json Rdd(std::uint64_t id, const char* name, const char* scope, const char* line,
         std::vector<std::uint64_t> parents) {
  return {{"RDD ID", id},
          {"Name", name},
          {"Scope", json{{"id", "1"}, {"name", scope}}.dump()},
          {"Callsite", line},
          {"Parent IDs", parents}};
}

json RddJob(std::uint32_t number, std::vector<json> rdds) {
  return {{"Event", "SparkListenerJobStart"},
          {"Job ID", number},
          {"Submission Time", 1000u},
          {"Properties", json::object()},
          {"Stage Infos",
           {{{"Stage ID", number}, {"Stage Name", "count at M.scala:9"}, {"RDD Info", rdds}}}}};
}

json JobEnd(std::uint32_t number) {
  return {{"Event", "SparkListenerJobEnd"},
          {"Job ID", number},
          {"Job Result", {{"Result", "JobSucceeded"}}}};
}

TEST(ExecutedPlans, HaveTheLineageOfJobsOutsideOfSql) {
  const std::vector<json> rdds = {Rdd(0, "hdfs:/words", "textFile", "textFile at M.scala:5", {}),
                                  Rdd(1, "MapPartitionsRDD", "map", "map at M.scala:6", {0}),
                                  Rdd(2, "MapPartitionsRDD", "filter", "filter at M.scala:7", {1})};
  ALog log;
  log.With(RddJob(0, rdds)).Task(0, 1000, 3000).Stage(0, 1000, 3000, json::array()).With(JobEnd(0));
  const auto plan = Only(log.Read());
  EXPECT_TRUE(plan.is_lineage);
  EXPECT_EQ(plan.line, "count at M.scala:9");
  ASSERT_THAT(plan.operators, SizeIs(3));
  EXPECT_EQ(plan.operators[0].table, "hdfs:/words");
  EXPECT_EQ(plan.operators[0].bytes, 500);
  EXPECT_EQ(plan.operators[2].name, "filter");
  EXPECT_THAT(plan.operators[2].inputs, ElementsAre(1));
}

// In a loop, one line of code creates several RDDs with different data.
TEST(ExecutedPlans, DistinguishRddsOfOneLine) {
  ALog log;
  std::uint32_t job = 0;
  for (const std::uint64_t rdd : {0, 1, 0}) {
    log.With(RddJob(job, {Rdd(rdd, "RDD", "map", "map at M.scala:6", {})}));
    log.Stage(job, job + 1, job + 2, json::array()).With(JobEnd(job));
    ++job;
  }
  const auto plans = log.Read();
  ASSERT_THAT(plans, SizeIs(3));
  EXPECT_NE(plans[0].operators[0].text, plans[1].operators[0].text);
  EXPECT_EQ(plans[0].operators[0].text, plans[2].operators[0].text);
}

TEST(ExecutedPlans, LeaveCyclesToTheComparison) {
  const auto plan =
      Only(ALog()
               .With(RddJob(0, {Rdd(0, "RDD", "map", "a", {1}), Rdd(1, "RDD", "map", "b", {0})}))
               .Stage(0, 1, 2, json::array())
               .With(JobEnd(0))
               .Read());
  EXPECT_THAT(advise::NormalPlan(plan).status().message(), HasSubstr("cycle"));
}

// Returns the plan as text, since serializing a deep document would require a deep stack.
std::string Chain(std::size_t operators) {
  std::string text = Node("Scan csv ", "FileScan csv [a#1]", {}).dump();
  std::string before;
  for (std::size_t i = 1; i < operators; ++i) {
    before += R"-({"nodeName":"Filter","metrics":[],"simpleString":"Filter (a#1 > )-" +
              std::to_string(operators - i) + R"-()","children":[)-";
    text += "]}";
  }
  return before + text;
}

TEST(ExecutedPlans, AcceptPlansOf5000OperatorsAndRejectDeeperOnes) {
  const auto whole = Only(ALog().StartText(Chain(5000)).End().Read());
  EXPECT_THAT(whole.operators, SizeIs(5000));
  EXPECT_TRUE(advise::NormalPlan(whole).ok());
  const auto deeper = Only(ALog().StartText(Chain(7000)).End().Read());
  EXPECT_THAT(advise::NormalPlan(deeper).status().message(), HasSubstr("at most 5000"));
}

TEST(ExecutedPlans, TolerateImpossibleEvents) {
  ExecutedPlans plans;
  for (const json& event :
       {json(), json(7), json{{"Event", 7}}, json{{"Event", "SparkListenerTaskEnd"}},
        json{{"Event", "SparkListenerJobStart"}, {"Job ID", -1}, {"Stage Infos", 7}},
        json{{"Event", "SparkListenerStageCompleted"}, {"Stage Info", {{"Accumulables", {1, 2}}}}},
        json{{"Event", std::string(kSql) + "SQLExecutionStart"},
             {"executionId", 1u},
             {"time", 1u},
             {"sparkPlanInfo", {{"children", {7, nullptr}}}}},
        json{{"Event", std::string(kSql) + "DriverAccumUpdates"},
             {"accumUpdates", {7, {1}, {1, "x"}}}}}) {
    plans.Observe(SparkEvent(event));
  }
  plans.Finish();
}

TEST(ReadPlans, RejectsFilesThatAreNotLogs) {
  EXPECT_EQ(ReadPlans("/nowhere").status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(ReadPlans("/").status().code(), absl::StatusCode::kInvalidArgument);
  const std::string vectors = TIDEMARK_VECTORS;
  EXPECT_FALSE(ReadPlans(vectors).ok());
}

// Plans require neither the times of their application nor a limited number of stages.
TEST(ReadPlans, ReadsLogsThatShowNoProgress) {
  const test::ScratchDirectory directory;
  std::string text = Whole().text();
  const std::string dated = ",\"Timestamp\":900";
  text.replace(text.find(dated), dated.size(), "");
  EXPECT_THAT(ReadPlans(directory.Write("undated", text)).value().plans, SizeIs(1));
  ALog large = Whole();
  for (std::uint32_t job = 1; job <= 8; ++job) {
    std::vector<json> stages;
    for (std::uint32_t stage = 0; stage < 10'000; ++stage) {
      stages.push_back({{"Stage ID", 10'000 * job + stage}, {"Stage Name", ""}});
    }
    large.With({{"Event", "SparkListenerJobStart"},
                {"Job ID", job},
                {"Submission Time", 9000u},
                {"Stage Infos", stages}});
  }
  EXPECT_THAT(ReadPlans(directory.Write("large", large.text())).value().plans, SizeIs(1));
}

TEST(ReadPlans, ContinuesAfterAFileThatEndsWithinAnEvent) {
  const test::ScratchDirectory directory;
  const auto folder = std::filesystem::path(directory.path()) / "eventlog_v2_app-1";
  std::filesystem::create_directories(folder);
  const std::string text = Whole().text();
  const std::size_t last = text.rfind('\n', text.size() - 2) + 1;  // the end of the execution
  std::ofstream(folder / "events_1_app-1") << text.substr(0, last) << R"({"Event":"x","ID":")";
  std::ofstream(folder / "events_2_app-1") << text.substr(last);
  const auto read = ReadPlans(folder.string()).value();
  EXPECT_THAT(read.plans, SizeIs(1));
  EXPECT_THAT(read.remarks, Contains(HasSubstr("ends within an event")));
}

TEST(ReadPlans, ReadsPackedLogsOfApplications) {
  const auto read =
      ReadPlans(std::string(TIDEMARK_SPARK_LOGS) + "/local-1795466322781.zst").value();
  EXPECT_FALSE(read.plans.empty());
  for (const PastPlan& plan : read.plans) EXPECT_FALSE(plan.operators.empty());
}

}  // namespace
}  // namespace tidemark::spark::executed_plans_test
