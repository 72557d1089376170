#include "spark/translator.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "spark/connector_parity.h"
#include "spark/log_reader.h"
#include "tests/matchers.h"
#include "tests/test.h"
#include "tests/vectors/vectors.h"

namespace tidemark::spark::translator_test {
namespace {

constexpr char kStart[] =
    R"({"Event":"SparkListenerApplicationStart","App Name":"sales","App ID":"app-1","Timestamp":1000000,"User":"ann"})";

// Returns an event of Spark with these fields, which are JSON.
std::string Listener(const std::string& kind, const std::string& fields) {
  return R"({"Event":"SparkListener)" + kind + "\"," + fields + "}";
}

std::string AppStart(std::int64_t at) {
  return Listener("ApplicationStart", fmt::format(R"("App ID":"a","Timestamp":{})", at));
}

std::string AppEnd(const std::string& rest = "", std::int64_t at = 1'010'000) {
  return Listener("ApplicationEnd", fmt::format(R"("Timestamp":{}{})", at, rest));
}

std::string Added(int executor, std::int64_t at) {
  return Listener(
      "ExecutorAdded",
      fmt::format(
          R"("Timestamp":{},"Executor ID":"e{}","Executor Info":{{"Host":"h","Total Cores":4}})",
          at, executor));
}

std::string Stage(int id, int tasks, const std::string& parents = "", int attempt = 0,
                  const std::string& rest = "") {
  return fmt::format(
      R"({{"Stage ID":{},"Stage Attempt ID":{},"Stage Name":"count at a.py:1","Number of Tasks":{},"Parent IDs":[{}]{}}})",
      id, attempt, tasks, parents, rest);
}

// Returns a stage that states the time of its submission.
std::string StageAt(int id, int tasks, std::int64_t at = 1'001'500, const std::string& rest = "") {
  return Stage(id, tasks, "", 0, fmt::format(R"(,"Submission Time":{}{})", at, rest));
}

std::string Job(int id, const std::string& stages, const std::string& properties = "") {
  return Listener(
      "JobStart",
      fmt::format(R"("Job ID":{},"Submission Time":1001000,"Stage Infos":[{}],"Properties":{{{}}})",
                  id, stages, properties));
}

std::string JobEnd(int id, const std::string& result = R"({"Result":"JobSucceeded"})",
                   std::int64_t at = 1'009'000) {
  return Listener(
      "JobEnd", fmt::format(R"("Job ID":{},"Completion Time":{},"Job Result":{})", id, at, result));
}

std::string Failed(int job, const std::string& why) {
  return JobEnd(job, R"({"Result":"JobFailed","Exception":{"Message":")" + why + R"("}})");
}

std::string Submitted(const std::string& stage) {
  return Listener("StageSubmitted", R"("Stage Info":)" + stage);
}

std::string Completed(const std::string& stage) {
  return Listener("StageCompleted", R"("Stage Info":)" + stage);
}

std::string Task(const std::string& kind, int stage, int id, int index,
                 const std::string& rest = "", int stage_attempt = 0) {
  return Listener(
      "Task" + kind,
      fmt::format(
          R"("Stage ID":{},"Stage Attempt ID":{},"Task Info":{{"Task ID":{},"Index":{},"Attempt":0,"Launch Time":1002000,"Finish Time":1003500,"Executor ID":"e1"}}{})",
          stage, stage_attempt, id, index, rest));
}

// Returns the start or the end of a task of stage 0 with these times.
std::string TimedTask(const std::string& kind, int id, std::int64_t launch, std::int64_t finish,
                      const std::string& rest = "") {
  return Listener(
      "Task" + kind,
      fmt::format(
          R"("Stage ID":0,"Stage Attempt ID":0,"Task Info":{{"Task ID":{0},"Index":{0},"Attempt":0,"Launch Time":{1},"Finish Time":{2}}}{3})",
          id, launch, finish, rest));
}

// Returns the metrics of a task that ran for `seconds`.
std::string Ran(int seconds) {
  return fmt::format(R"(,"Task Metrics":{{"Executor Run Time":{}}})", 1000 * seconds);
}

std::string Sql(const std::string& kind, int id, const std::string& rest,
                std::int64_t at = 1'000'500) {
  return fmt::format(
      R"({{"Event":"org.apache.spark.sql.execution.ui.SparkListenerSQL{}","time":{},"executionId":{}{}}})",
      kind, at, id, rest);
}

std::string SqlStart(int id, const std::string& rest = R"(,"description":"q")") {
  return Sql("ExecutionStart", id, rest);
}

// `error` is quoted JSON. It is empty for versions before Spark 3.4, which report no error.
std::string SqlEnd(int id, const std::string& error = R"("")", std::int64_t at = 1'009'100) {
  return Sql("ExecutionEnd", id, error.empty() ? "" : R"(,"errorMessage":)" + error, at);
}

std::string OfExecution(int execution) {
  return fmt::format(R"("spark.sql.execution.id":"{}")", execution);
}

std::string OfSql(int job, int execution) {
  return Job(job, Stage(job, 2), OfExecution(execution));
}

constexpr char kWell[] = R"(,"Task End Reason":{"Reason":"Success"})";

std::vector<Event> Read(const std::vector<std::string>& log, LogCounts* counts = nullptr) {
  LogParser parser({});
  std::vector<Event> events;
  for (const std::string& line : log) {
    parser.Feed(line + "\n", [&](Event event) { events.push_back(std::move(event)); });
  }
  parser.Finish([&](Event event) { events.push_back(std::move(event)); });
  if (counts != nullptr) *counts = parser.counts();
  return events;
}

template <typename Body>
std::vector<Body> Of(const std::vector<Event>& events) {
  std::vector<Body> bodies;
  for (const Event& event : events) {
    if (const Body* body = std::get_if<Body>(&event.body)) bodies.push_back(*body);
  }
  return bodies;
}

std::vector<std::uint32_t> Skipped(const std::vector<Event>& events) {
  std::vector<std::uint32_t> skipped;
  for (const StageOpened& stage : Of<StageOpened>(events)) {
    if (stage.skipped) skipped.push_back(stage.stage);
  }
  return skipped;
}

absl::Time At(std::int64_t millis) { return absl::FromUnixMillis(millis); }

std::vector<std::uint32_t> IndexesOfTasks(const std::vector<Event>& events) {
  std::vector<std::uint32_t> indexes;
  for (const AttemptChanged& changed : Of<AttemptChanged>(events)) {
    indexes.push_back(changed.attempt.index);
  }
  return indexes;
}

std::vector<absl::Time> EndsOfTasks(const std::vector<Event>& events) {
  std::vector<absl::Time> ends;
  for (const AttemptChanged& changed : Of<AttemptChanged>(events)) {
    if (changed.state == AttemptState::kFinished) ends.push_back(*changed.at);
  }
  return ends;
}

void ExpectOrderedArrivals(const std::vector<Event>& events) {
  EXPECT_TRUE(std::ranges::is_sorted(events, {}, &Event::arrived_at));
}

TEST(Translator, ReportsTheParametersOfTheProgram) {
  const Event event = Only(
      Read({R"({"Event":"SparkListenerEnvironmentUpdate","Spark Properties":{"spark.app.name":"x",)"
            R"("spark.tidemark.param.k":"80","spark.tidemark.param.letters":"a,f",)"
            R"("spark.tidemark.param.":"nameless","spark.tidemark.param.odd":7}})",
            kStart}));
  EXPECT_THAT(std::get<JobOpened>(event.body).parameters,
              ElementsAre(testing::Pair("k", "80"), testing::Pair("letters", "a,f")));
}

TEST(Translator, ExecutorsFromBeforeTheStartFollowIt) {
  const auto events = Read(
      {R"({"Event":"SparkListenerEnvironmentUpdate","Spark Properties":{"spark.task.cpus":"2","spark.yarn.queue":"etl"}})",
       Added(1, 999'000), kStart});
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[0].job_id, "app-1");
  EXPECT_EQ(events[0].body, EventBody(JobOpened{.name = "sales",
                                                .engine = "spark",
                                                .application_id = "app-1",
                                                .user = "ann",
                                                .queue = "etl",
                                                .submitted_at = At(1'000'000)}));
  EXPECT_EQ(events[1].body,
            EventBody(ExecutorOpened{.executor = 0, .host = "h", .container = "e1", .slots = 2}));
}

TEST(Translator, AnInvalidMetricLeavesTheOthersKnown) {
  LogCounts counts;
  const auto events = Read(
      {kStart, Job(0, Stage(0, 2)), Submitted(Stage(0, 2)), Task("Start", 0, 0, 1),
       Task(
           "End", 0, 0, 1,
           std::string(kWell) +
               R"(,"Task Metrics":{"Executor CPU Time":NaN,"JVM GC Time":"NaN","Input Metrics":{"Bytes Read":-Infinity,"Records Read":5},"Shuffle Read Metrics":{"Remote Bytes Read":20,"Fetch Wait Time":4}})")},
      &counts);
  EXPECT_EQ(counts, (LogCounts{.events = 5}));
  const auto total = Only(Of<TaskHeartbeat>(events));
  EXPECT_EQ(total.time.waits[WaitReason::kNetwork], absl::Milliseconds(4));
  EXPECT_FALSE(total.time.cpu || total.time.waits[WaitReason::kMemory]);
  const auto changes = Of<AttemptChanged>(events);
  ASSERT_EQ(changes.size(), 2u);
  EXPECT_EQ(changes[1].state, AttemptState::kFinished);
  EXPECT_FALSE(changes[1].input_bytes);  // the sum of 20 and an unknown number
  EXPECT_EQ(changes[1].input_records, 5u);
}

TEST(Translator, ATaskReportsItsTotalsBeforeItsEnd) {
  const auto events = Read(
      {kStart, Job(0, Stage(0, 2)), Submitted(StageAt(0, 2)), Task("Start", 0, 7, 1),
       Task(
           "End", 0, 7, 1,
           std::string(kWell) +
               R"(,"Task Metrics":{"Executor CPU Time":1200000000,"JVM GC Time":30,"Input Metrics":{"Bytes Read":100,"Records Read":5},"Shuffle Read Metrics":{"Remote Bytes Read":20,"Local Bytes Read":3,"Total Records Read":2,"Fetch Wait Time":4},"Shuffle Write Metrics":{"Shuffle Bytes Written":50,"Shuffle Write Time":6000000}})")});
  const auto stages = Of<StageOpened>(events);
  ASSERT_EQ(stages.size(), 2u);
  EXPECT_FALSE(stages[0].opened_at);
  EXPECT_EQ(stages[1].opened_at, At(1'001'500));
  const auto total = Only(Of<TaskHeartbeat>(events));
  EXPECT_EQ(total.bytes_done, 123u);
  EXPECT_EQ(total.records_done, 7u);
  EXPECT_EQ(total.bytes_emitted, 50u);
  EXPECT_EQ(total.time,
            (TimeUse{.cpu = absl::Milliseconds(1200),
                     .waits = {{WaitReason::kSlots, absl::Milliseconds(500)},
                               {WaitReason::kMemory, absl::Milliseconds(30)},
                               {WaitReason::kNetwork, absl::Milliseconds(4)},
                               {WaitReason::kIo, absl::Milliseconds(6)}},
                     .moved_bytes = {{WaitReason::kNetwork, 20}, {WaitReason::kIo, 50}}}));
  const auto changes = Of<AttemptChanged>(events);
  ASSERT_EQ(changes.size(), 2u);
  EXPECT_EQ(changes[0].state, AttemptState::kStarted);
  EXPECT_EQ(changes[0].at, At(1'002'000));
  EXPECT_EQ(changes[1].state, AttemptState::kFinished);
  EXPECT_EQ(changes[1].at, At(1'003'500));
  EXPECT_EQ(changes[1].input_bytes, 123u);
  EXPECT_EQ(changes[1].attempt, (AttemptId{.stage = 0, .index = 1}));
}

TEST(Translator, TheEndOfAStageMayStateItsSubmission) {
  const auto stages = Of<StageOpened>(
      Read({kStart, Job(0, Stage(0, 2)), Submitted(Stage(0, 2)), Completed(StageAt(0, 2))}));
  ASSERT_EQ(stages.size(), 3u);
  EXPECT_FALSE(stages[1].opened_at);
  EXPECT_EQ(stages[2].opened_at, At(1'001'500));
}

TEST(Translator, ATaskWithoutALoggedStartStarts) {
  const auto changes =
      Of<AttemptChanged>(Read({kStart, Job(0, Stage(0, 2)), Task("End", 0, 7, 1, kWell)}));
  ASSERT_EQ(changes.size(), 2u);
  EXPECT_EQ(changes[0].state, AttemptState::kStarted);
  EXPECT_EQ(changes[0].at, At(1'002'000));
}

TEST(Translator, ReportsTheOutcomeOfATask) {
  const auto state_of = [](const std::string& reason) {
    return Of<AttemptChanged>(Read({kStart, Job(0, Stage(0, 2)), Task("Start", 0, 7, 1),
                                    Task("End", 0, 7, 1, ",\"Task End Reason\":" + reason)}))
        .back();
  };
  EXPECT_EQ(state_of(R"({"Reason":"TaskKilled","Kill Reason":"another attempt succeeded"})").state,
            AttemptState::kKilled);
  EXPECT_EQ(state_of(R"({"Reason":"ExecutorLostFailure","Loss Reason":"gone"})").failure,
            "ExecutorLostFailure: gone");
  EXPECT_EQ(state_of(R"({"Reason":"Resubmitted"})").state, AttemptState::kObsolete);
  const AttemptChanged failed = state_of(
      R"({"Reason":"ExceptionFailure","Class Name":"a.B","Description":"bad","Stack Trace":[]})");
  EXPECT_EQ(failed.state, AttemptState::kFailed);
  EXPECT_EQ(failed.failure, "ExceptionFailure: a.B: bad");
  EXPECT_EQ(
      state_of(
          R"({"Reason":"ExceptionFailure","Class Name":"a.PythonException",)"
          R"("Description":"Traceback (most recent call last):\n  File 1\nValueError: bad\n"})")
          .failure,
      "ValueError: bad");
}

TEST(Translator, ExecutionsOfSqlAndOtherJobsAreGroups) {
  const auto stages = Of<StageOpened>(Read(
      {kStart,
       SqlStart(
           3,
           R"(,"sparkPlanInfo":{"nodeName":"Sort","simpleString":"Sort [x]","children":[{"nodeName":"Scan","children":[]}]})"),
       Job(4, Stage(0, 2) + "," + Stage(1, 1, "0"),
           OfExecution(3) + R"(,"spark.scheduler.pool":"fast")"),
       Job(5, Stage(2, 2), OfExecution(3)), Job(6, Stage(3, 9))}));
  ASSERT_EQ(stages.size(), 4u);
  EXPECT_EQ(stages[0].group, "sql/3");
  EXPECT_EQ(stages[0].pool, "fast");
  EXPECT_THAT(stages[1].parents, ElementsAre(0));
  EXPECT_EQ(stages[2].group, "sql/3");
  EXPECT_EQ(stages[3].group, "job/6");
}

TEST(Translator, ReportsPlannedStagesWhenAPlanChanges) {
  const auto event = [](const char* kind, const std::string& plan) {
    return Sql(kind, 3, R"(,"sparkPlanInfo":)" + plan);
  };
  const std::string scan = R"({"nodeName":"Scan","children":[]})";
  const auto exchange = [](const std::string& from) {
    return R"({"nodeName":"Exchange","simpleString":"Exchange SinglePartition","children":[)" +
           from + "]}";
  };
  const auto adaptive = [](const std::string& from) {
    return R"({"nodeName":"AdaptiveSparkPlan","children":[)" + from + "]}";
  };
  const auto plan = adaptive(exchange(scan));
  const auto groups = Of<GroupOpened>(
      Read({kStart, event("ExecutionStart", plan), event("AdaptiveExecutionUpdate", plan),
            event("AdaptiveExecutionUpdate", adaptive(exchange(exchange(scan)))),
            event("AdaptiveExecutionUpdate", scan), event("ExecutionEnd", "0"),
            event("AdaptiveExecutionUpdate", plan)}));
  ASSERT_EQ(groups.size(), 3u) << "reports no repetition, and no update of an ended execution";
  EXPECT_THAT(groups[0].planned_task_counts, ElementsAre(0, 1));
  EXPECT_EQ(groups[1].group, "sql/3");
  EXPECT_THAT(groups[1].planned_task_counts, ElementsAre(0, 1, 1));
  EXPECT_THAT(groups[2].planned_task_counts, IsEmpty());
}

TEST(Translator, StagesWithTheSameStepsHaveTheSameWork) {
  const auto stages = Of<StageOpened>(
      Read({kStart, Job(0, Stage(0, 2)), Job(1, Stage(1, 9)),
            Job(2, R"({"Stage ID":2,"Stage Name":"save at a.py:7","Number of Tasks":2})")}));
  ASSERT_EQ(stages.size(), 3u);
  EXPECT_NE(stages[0].work, 0u);
  EXPECT_EQ(stages[0].work, stages[1].work);
  EXPECT_NE(stages[0].work, stages[2].work);
}

// The connector for Spark computes the same signatures (docs/internals/spark-logs.md).
TEST(Translator, SignaturesDependOnThePlanOrFinalStageAndOnTheWork) {
  const std::string plan =
      R"("sparkPlanInfo":{"nodeName":"Sort","children":[{"nodeName":"Scan t\u00e4\ud83d\ude00","children":[]},{"nodeName":"Range","children":[]}]})";
  EXPECT_EQ(NameOfPlan(nlohmann::json::parse("{" + plan + "}")["sparkPlanInfo"]),
            "e7b4e718.24");  // hash and length of the names in UTF-16
  const std::string scan_plan = R"(,"sparkPlanInfo":{"nodeName":"Scan"})";
  const auto stages = Of<StageOpened>(Read(
      {kStart, SqlStart(0, scan_plan), SqlStart(1, scan_plan),
       Job(0, Stage(0, 2) + "," + Stage(1, 1), OfExecution(0)), Job(1, Stage(2, 1), OfExecution(1)),
       Job(2, Stage(4, 1) + "," + Stage(3, 1)), Job(3, Stage(5, 1))}));
  const nlohmann::json count = {{"Stage Name", "count at a.py:1"}};
  const std::uint64_t of_sql = WorkOfStage(count, /*is_of_sql=*/true);
  const std::uint64_t work = WorkOfStage(count, /*is_of_sql=*/false);
  std::vector<std::string> signatures;
  for (const StageOpened& stage : stages) signatures.push_back(stage.signature);
  const std::string scan = "sql " + NameOfPlan({{"nodeName", "Scan"}});
  const std::string job = "job count at a.py:1";
  EXPECT_THAT(signatures,
              ElementsAre(SignatureOf(scan + " 1", of_sql, 1), SignatureOf(scan + " 1", of_sql, 2),
                          SignatureOf(scan + " 2", of_sql, 1), SignatureOf(job + " 1", work, 1),
                          SignatureOf(job + " 1", work, 2), SignatureOf(job + " 2", work, 1)));
  EXPECT_EQ(SignatureOf("job count 1", 0xabc, 2), "fdc1a19d972658e9-0000000000000abc-2");
}

// The vectors contain real applications, and text beyond ASCII. The connector's tests use the same
// vectors.
TEST(Translator, SignaturesMatchTheVectors) {
  for (const nlohmann::json& vector : vectors::Read("spark_signatures.json")) {
    SCOPED_TRACE(vector["what"]);
    std::map<int, std::string> expected;
    std::string final_name;
    for (const nlohmann::json& stage : vector["stages"]) {
      expected[stage["number"]] = stage["signature"];
      if (expected.rbegin()->first == stage["number"]) final_name = stage["name"];
    }
    const bool is_sql = vector.contains("plan");
    if (is_sql) {
      EXPECT_EQ(NameOfPlan(vector["plan"]), vector["plan_name"]);
    }
    const std::string group =
        fmt::format("{} {} {}", is_sql ? "sql" : "job",
                    is_sql ? NameOfPlan(vector["plan"]) : final_name, vector["nth"].get<int>());
    EXPECT_EQ(group, vector["group"]);
    std::map<int, nlohmann::json> stages;
    for (const nlohmann::json& stage : vector["stages"]) stages[stage["number"]] = stage;
    std::map<std::uint64_t, std::uint32_t> alike;
    for (const auto& [number, stage] : stages) {
      nlohmann::json info = {{"Stage Name", stage["name"]}};
      for (const nlohmann::json& rdd : stage["rdds"]) {
        info["RDD Info"].push_back(
            {{"Name", rdd["name"]}, {"Scope", nlohmann::json{{"name", rdd["scope"]}}.dump()}});
      }
      const std::uint64_t work = WorkOfStage(info, is_sql);
      EXPECT_EQ(SignatureOf(group, work, ++alike[work]), expected[number]);
    }
  }
}

TEST(Translator, SignaturesIgnoreTheOrderOfRdds) {
  const auto work_of = [](const std::string& rdds) {
    return WorkOfStage(nlohmann::json::parse(R"({"Stage Name":"count","RDD Info":[)" + rdds + "]}"),
                       false);
  };
  const std::string scan = R"({"Name":"FileScanRDD","Scope":"{\"id\":\"1\",\"name\":\"Scan\"}"})";
  const std::string map = R"({"Name":"MapPartitionsRDD"})";
  EXPECT_EQ(work_of(scan + "," + map), 0xcf321bafbd948d2cu);
  EXPECT_EQ(work_of(map + "," + scan), 0xcf321bafbd948d2cu);
  EXPECT_NE(work_of(map), 0xcf321bafbd948d2cu);
}

TEST(Translator, SkipsAtTheFirstTaskStagesThatNeitherRunNorWait) {
  // The output of stages 0 and 1 already exists. Stage 2 runs, and stage 3 waits for stages 1 and
  // 2.
  const std::vector<std::string> log = {
      kStart,
      Job(0, Stage(0, 2) + "," + Stage(1, 2, "0") + "," + Stage(2, 2) + "," + Stage(3, 1, "1,2")),
      Submitted(Stage(2, 2))};
  EXPECT_THAT(Skipped(Read(log)), IsEmpty());
  auto more = log;
  more.push_back(Task("Start", 2, 1, 0));
  EXPECT_THAT(Skipped(Read(more)), ElementsAre(0, 1));
  more.insert(more.end(), {Task("Start", 2, 2, 1), Completed(Stage(2, 2)), Submitted(Stage(3, 1)),
                           Task("Start", 3, 3, 0)});
  EXPECT_THAT(Skipped(Read(more)), ElementsAre(0, 1));
}

// Spark logs parents since version 1.4.
TEST(Translator, SkipsNoWaitingStageIfItsParentsAreUnknown) {
  const std::string running = R"({"Stage ID":0,"Stage Name":"map","Number of Tasks":2})";
  const std::string waiting = R"({"Stage ID":1,"Stage Name":"collect","Number of Tasks":1})";
  std::vector<std::string> log = {kStart, Job(0, running + "," + waiting), Submitted(running),
                                  Task("Start", 0, 1, 0)};
  EXPECT_THAT(Skipped(Read(log)), IsEmpty());
  log.insert(log.end(), {Completed(running), JobEnd(0)});
  EXPECT_THAT(Skipped(Read(log)), ElementsAre(1));
}

TEST(Translator, FindsSkippedStagesInStepsInProportionToTheLog) {
  for (const int stages : {500, 1000, 2000}) {
    LogParser parser({});
    std::uint64_t events = 0;
    const auto feed = [&](const std::string& line) {
      ++events;
      parser.Feed(line + "\n", [](const Event&) {});
    };
    const auto stage = [](int id) { return Stage(id, 1, id > 0 ? std::to_string(id - 1) : ""); };
    std::string all;
    for (int id = 0; id < stages; ++id) all += (id > 0 ? "," : "") + stage(id);
    feed(kStart);
    feed(Job(0, all));
    for (int id = 0; id < stages; ++id) {
      feed(Submitted(stage(id)));
      feed(Task("Start", id, id, 0));
      feed(Task("End", id, id, 0, kWell));
      feed(Completed(stage(id)));
    }
    const auto count = static_cast<std::uint64_t>(stages);
    EXPECT_LE(parser.application().steps(), 20'000 + 20 * events + 4 * count);
    EXPECT_GE(parser.application().steps(), 2 * count - 1) << "at least once";
  }
}

TEST(Translator, ASkippedStageThatRunsLaterHasAnotherAttempt) {
  const auto events = Read({kStart, Job(0, Stage(0, 2) + "," + Stage(1, 2, "0")),
                            Submitted(Stage(1, 2)), Task("Start", 1, 1, 0),
                            Completed(Stage(1, 2, "", 0, R"(,"Failure Reason":"FetchFailed")")),
                            Submitted(Stage(0, 1)), Task("Start", 0, 2, 0)});
  const auto stages = Of<StageOpened>(events);
  EXPECT_THAT(Skipped(events), ElementsAre(0));
  EXPECT_EQ(stages.back().stage, 0u);
  EXPECT_EQ(stages.back().attempt, 1u);
  EXPECT_FALSE(stages.back().skipped);
  EXPECT_EQ(Of<AttemptChanged>(events).back().attempt.stage_attempt, 1u);
}

TEST(Translator, AResubmittedStageHasItsMissingTasks) {
  const auto events =
      Read({kStart, Job(0, Stage(0, 4)), Submitted(Stage(0, 4)), Task("Start", 0, 1, 3),
            Submitted(Stage(0, 1, "", 1)), Task("Start", 0, 2, 0, "", 1)});
  EXPECT_EQ(Of<StageOpened>(events).back().attempt, 1u);
  EXPECT_EQ(Of<StageOpened>(events).back().task_count, 1u);
  EXPECT_EQ(Of<AttemptChanged>(events).back().attempt,
            (AttemptId{.stage = 0, .index = 0, .stage_attempt = 1}));
}

TEST(Translator, SkipsThePlannedStagesOfAnEndedJob) {
  const auto events =
      Read({kStart, Job(0, Stage(0, 4) + "," + Stage(1, 2, "0")), Job(1, Stage(1, 2, "0")),
            Submitted(Stage(0, 4)), Failed(0, "cancelled")});
  EXPECT_THAT(Skipped(events), IsEmpty());  // Stage 1 may still run.
  EXPECT_THAT(Of<StageClosed>(events), ElementsAre(StageClosed{.stage = 0,
                                                               .outcome = JobOutcome::kKilled,
                                                               .message = "its job has ended",
                                                               .at = At(1'009'000)}));
}

TEST(Translator, AStageEndsRegardlessOfItsTasks) {
  const auto events =
      Read({kStart, Job(0, Stage(0, 4) + "," + Stage(1, 2, "0")), Submitted(Stage(0, 4)),
            Completed(Stage(0, 4, "", 0, R"(,"Completion Time":1004000)")), Submitted(Stage(1, 2)),
            Completed(
                Stage(1, 2, "", 0, R"(,"Completion Time":1005000,"Failure Reason":"FetchFailed")")),
            JobEnd(0)});
  EXPECT_THAT(Of<StageClosed>(events), ElementsAre(StageClosed{.stage = 0, .at = At(1'004'000)},
                                                   StageClosed{.stage = 1,
                                                               .outcome = JobOutcome::kFailed,
                                                               .message = "FetchFailed",
                                                               .at = At(1'005'000)}));
}

std::string StartOfPartition(int id, int index, int partition) {
  return Listener(
      "TaskStart",
      fmt::format(
          R"("Stage ID":0,"Stage Attempt ID":0,"Task Info":{{"Task ID":{},"Index":{},"Partition ID":{},"Attempt":0,"Launch Time":1002000}})",
          id, index, partition));
}

// take() runs the first partition, and then the next four.
TEST(Translator, ATaskOfSomePartitionsHasTheIndexOfItsPartition) {
  const std::string rdds =
      R"(,"RDD Info":[{"Name":"a","Number of Partitions":34},{"Name":"b","Number of Partitions":9}])";
  const auto events =
      Read({kStart, Job(0, Stage(0, 4)), Submitted(Stage(0, 4, "", 0, rdds)),
            StartOfPartition(1, 0, 1), StartOfPartition(2, 3, 4), StartOfPartition(3, 2, -1)});
  EXPECT_EQ(Of<StageOpened>(events).back().task_count, 4u);
  EXPECT_EQ(Of<StageOpened>(events).back().index_count, 34u);
  // The last one is Spark's own index, because the partition is unknown.
  EXPECT_THAT(IndexesOfTasks(events), ElementsAre(1, 4, 2));
}

// Partition 4 would exceed the four tasks, and its index 3 would collide with partition 3.
TEST(Translator, TasksKeepTheirIndexIfPartitionsAreNotCounted) {
  std::vector<std::string> log = {kStart, Job(0, Stage(0, 4)), Submitted(Stage(0, 4))};
  for (const int index : {0, 1, 2, 3}) log.push_back(StartOfPartition(index, index, index + 1));
  EXPECT_THAT(IndexesOfTasks(Read(log)), ElementsAre(0, 1, 2, 3));
}

TEST(Translator, ExecutionsAndJobsAreGroups) {
  const auto events =
      Read({kStart,
            SqlStart(3, R"(,"description":"the sales of May","sparkPlanInfo":{"nodeName":"Scan"})"),
            OfSql(0, 3), JobEnd(0), SqlEnd(3, R"("")", 1'009'500), OfSql(1, 4), Failed(1, "boom"),
            SqlEnd(4, "", 1'009'500), Job(2, Stage(2, 1)), JobEnd(2),
            Job(3, Stage(3, 1), R"("spark.job.description":"count")"), Failed(3, "boom"),
            SqlEnd(9, "", 1'009'500)});
  EXPECT_THAT(Of<GroupOpened>(events),
              ElementsAre(GroupOpened{"sql/3", "the sales of May", At(1'000'500)},
                          GroupOpened{"sql/4", "", At(1'001'000)},
                          GroupOpened{"job/2", "count at a.py:1", At(1'001'000)},
                          GroupOpened{"job/3", "count", At(1'001'000)}));
  EXPECT_THAT(
      Of<GroupClosed>(events),
      ElementsAre(GroupClosed{.group = "sql/3", .at = At(1'009'500)},
                  GroupClosed{"sql/4", JobOutcome::kFailed, "job 1 failed: boom", At(1'009'500)},
                  GroupClosed{.group = "job/2", .at = At(1'009'000)},
                  GroupClosed{"job/3", JobOutcome::kFailed, "job 3 failed: boom", At(1'009'000)}));
}

TEST(Translator, AGroupIsNamedByTheFirstLineOfItsDescription) {
  const std::string stage =
      R"({"Stage ID":1,"Stage Name":"\n count at a.py:1\nat b.py:2","Number of Tasks":1})";
  const auto events =
      Read({kStart, SqlStart(0, R"(,"description":" \r\n\tselect a\r\nfrom b")"),
            Job(0, Stage(0, 1), R"("spark.job.description":"load\nat Main.java:7")"),
            Job(1, stage, R"("spark.job.description":" \n")")});
  EXPECT_THAT(Of<GroupOpened>(events),
              ElementsAre(GroupOpened{"sql/0", "select a", At(1'000'500)},
                          GroupOpened{"job/0", "load", At(1'001'000)},
                          GroupOpened{"job/1", "count at a.py:1", At(1'001'000)}));
}

TEST(Translator, ReportsARemovedExecutor) {
  const std::string removed =
      Listener("ExecutorRemoved", R"("Timestamp":1000500,"Executor ID":"e1")");
  EXPECT_THAT(Of<ExecutorClosed>(Read({kStart, Added(1, 1'000'000), removed})),
              ElementsAre(ExecutorClosed{0}));
  const auto before = Read({Added(1, 1'000'000), removed, kStart});  // This case needs no report.
  EXPECT_THAT(Of<ExecutorOpened>(before), IsEmpty());
  EXPECT_THAT(Of<ExecutorClosed>(before), IsEmpty());
}

TEST(Translator, AnApplicationEndsLikeItsDriverOrLastJob) {
  const auto outcome = [](const std::string& job_end, const std::string& end) {
    return Of<JobClosed>(Read({kStart, Job(0, Stage(0, 1)), job_end, AppEnd(end)}));
  };
  const std::string well = JobEnd(0);
  const std::string ill = Failed(0, "boom");
  EXPECT_EQ(outcome(well, "")[0], (JobClosed{.at = At(1'010'000)}));
  EXPECT_EQ(outcome(ill, "")[0], (JobClosed{.outcome = JobOutcome::kFailed,
                                            .message = "job 0 failed: boom",
                                            .at = At(1'010'000)}));
  EXPECT_EQ(outcome(ill, R"(,"ExitCode":0)")[0].outcome, JobOutcome::kSucceeded);
  EXPECT_EQ(outcome(well, R"(,"ExitCode":3)")[0].message, "the driver exited with status 3");
  EXPECT_EQ(outcome(ill, R"(,"ExitCode":3)")[0].message,
            "job 0 failed: boom; the driver exited with status 3");
}

TEST(Translator, AJobFailsForTheExceptionOfPython) {
  const std::string python =
      R"(most recent failure: Lost task 0.0 in stage 0.0 (TID 0) (host executor driver): )"
      R"(a.PythonException: Traceback (most recent call last):\n  File 1\nValueError: bad\n)";
  const auto events = Read({kStart, Job(0, Stage(0, 1)), Failed(0, python)});
  EXPECT_EQ(Of<GroupClosed>(events)[0].message, "job 0 failed: ValueError: bad");
}

constexpr char kShutDown[] = "Job 1 cancelled because SparkContext was shut down";

TEST(Translator, AQueryEndsAsReportedRegardlessOfItsJobs) {
  struct Case {
    const char* what;
    std::vector<std::string> log;
  };
  const Case cases[] = {
      {"cancelled", {Failed(1, "Job 1 cancelled"), SqlEnd(0), AppEnd()}},
      {"failed", {Failed(1, "Job aborted due to stage failure"), SqlEnd(0), AppEnd()}},
      {"left behind until the driver stops", {SqlEnd(0), AppEnd(), Failed(1, kShutDown)}},
      {"left behind without an end", {SqlEnd(0), AppEnd()}},
      {"left behind, on Spark 4", {SqlEnd(0), AppEnd(R"(,"ExitCode":0)"), Failed(1, kShutDown)}},
      {"begun behind its query", {JobEnd(1), SqlEnd(0), OfSql(2, 0), AppEnd()}},
      {"cancelled, before Spark 3.4", {Failed(1, "Job 1 cancelled "), SqlEnd(0, ""), AppEnd()}},
      {"cancelled with its stage, before Spark 3.4",
       {Failed(1, "Job 1 cancelled The corresponding broadcast query stage is cancelled"),
        SqlEnd(0, ""), AppEnd()}}};
  for (const Case& one : cases) {
    SCOPED_TRACE(one.what);
    std::vector<std::string> log = {kStart, SqlStart(0), OfSql(0, 0), OfSql(1, 0), JobEnd(0)};
    log.insert(log.end(), one.log.begin(), one.log.end());
    const auto events = Read(log);
    EXPECT_THAT(Of<GroupClosed>(events),
                ElementsAre(GroupClosed{.group = "sql/0", .at = At(1'009'100)}));
    EXPECT_THAT(Of<JobClosed>(events), ElementsAre(JobClosed{.at = At(1'010'000)}));
  }
}

TEST(Translator, AFailedQueryIsReportedRegardlessOfItsJobs) {
  const auto events = Read(
      {kStart, SqlStart(0), OfSql(0, 0), JobEnd(0), SqlEnd(0, R"("no such table")"), AppEnd()});
  EXPECT_THAT(Of<GroupClosed>(events), ElementsAre(GroupClosed{"sql/0", JobOutcome::kFailed,
                                                               "no such table", At(1'009'100)}));
  EXPECT_THAT(
      Of<JobClosed>(events),
      ElementsAre(JobClosed{JobOutcome::kFailed, "sql/0 failed: no such table", At(1'010'000)}));
  // If a job is cancelled by anything except its own query, the query fails.
  const auto cancelled =
      Read({kStart, SqlStart(0), OfSql(1, 0),
            Failed(1, "Job 1 cancelled because killed via the Web UI"), SqlEnd(0, "")});
  EXPECT_EQ(Of<GroupClosed>(cancelled)[0].outcome, JobOutcome::kFailed);
}

TEST(Translator, AnApplicationWithAnOpenQueryHasAnUnknownOutcome) {
  const std::string query = "the application ended, but Spark did not report the end of sql/0";
  for (const char* code : {"", R"(,"ExitCode":0)"}) {
    for (const std::vector<std::string>& running : std::vector<std::vector<std::string>>{
             {}, {OfSql(0, 0)}, {OfSql(0, 0), JobEnd(0)}, {OfSql(0, 0), Failed(0, "boom")}}) {
      std::vector<std::string> log = {kStart, SqlStart(0)};
      log.insert(log.end(), running.begin(), running.end());
      log.push_back(AppEnd(code));
      const auto events = Read(log);
      EXPECT_THAT(Of<GroupClosed>(events), IsEmpty());
      EXPECT_THAT(Of<JobClosed>(events),
                  ElementsAre(JobClosed{JobOutcome::kUnknown, query, At(1'010'000)}));
    }
  }
  const auto jobs = Read({kStart, Job(0, Stage(0, 1)), SqlStart(7), AppEnd()});
  EXPECT_EQ(Of<JobClosed>(jobs)[0].message,
            "the application ended, but Spark did not report the end of job/0 and 1 more");
  EXPECT_EQ(Of<JobClosed>(Read({kStart, SqlStart(0), AppEnd(R"(,"ExitCode":3)")}))[0].outcome,
            JobOutcome::kFailed);
}

// The application's shutdown hook cancels running jobs, which Spark logs after the end of the
// application.
TEST(Translator, AnApplicationStoppedByASignalIsKilled) {
  const auto of_query = Read({kStart, SqlStart(0), OfSql(1, 0), AppEnd(), Failed(1, kShutDown),
                              SqlEnd(0, fmt::format("\"{}\"", kShutDown), 1'010'400)});
  EXPECT_THAT(Of<GroupClosed>(of_query),
              ElementsAre(GroupClosed{"sql/0", JobOutcome::kFailed, kShutDown, At(1'010'000)}));
  const auto of_job =
      Read({kStart, Job(1, Stage(1, 2)), AppEnd(R"(,"ExitCode":0)"), Failed(1, kShutDown)});
  for (const auto& [events, group] : {std::pair(of_query, "sql/0"), std::pair(of_job, "job/1")}) {
    EXPECT_THAT(Of<JobClosed>(events),
                ElementsAre(JobClosed{
                    JobOutcome::kKilled,
                    fmt::format("the application was stopped while {} was running", group),
                    At(1'010'000)}));
    EXPECT_TRUE(std::holds_alternative<JobClosed>(events.back().body));
  }
}

// Task 1 starts together with task 0, but its start is logged after the end of task 0.
TEST(Translator, AStartThatIsLoggedLateKeepsItsTime) {
  std::vector<std::string> log = {kStart, Job(0, Stage(0, 2)), Submitted(Stage(0, 2))};
  for (const int id : {0, 1}) {
    log.push_back(TimedTask("Start", id, 1'002'000, 0));
    log.push_back(TimedTask("End", id, 1'002'000, 1'022'000, kWell));
  }
  const auto events = Read(log);
  for (const AttemptChanged& changed : Of<AttemptChanged>(events)) {
    EXPECT_EQ(changed.at, At(changed.state == AttemptState::kStarted ? 1'002'000 : 1'022'000));
  }
}

// Two tasks run while the clock is set back by one hour. The executor of the first task measured 10
// s.
TEST(Translator, TimesNeverDecreaseIfTheClockIsSetBack) {
  const auto at = [](int seconds) { return std::int64_t{9'000'000} + 1000 * seconds; };
  const auto back = [&](int seconds) { return at(seconds) - 3'600'000; };
  const std::string completion = fmt::format(R"(,"Completion Time":{})", back(16));
  const auto events = Read(
      {AppStart(at(0)), Job(0, Stage(0, 3)), Submitted(StageAt(0, 3, at(1))),
       TimedTask("Start", 0, at(2), 0), TimedTask("Start", 1, at(2), 0),
       TimedTask("End", 0, at(2), back(12), kWell + Ran(10)),
       TimedTask("End", 1, at(2), back(13), kWell), TimedTask("Start", 2, back(13), 0),
       TimedTask("End", 2, back(13), back(15), kWell), Completed(StageAt(0, 3, at(1), completion)),
       JobEnd(0, R"({"Result":"JobSucceeded"})", back(17)), AppEnd("", back(20))});
  ExpectOrderedArrivals(events);
  std::vector<absl::Duration> times;
  std::map<std::uint32_t, absl::Time> starts;
  for (const AttemptChanged& changed : Of<AttemptChanged>(events)) {
    if (changed.state == AttemptState::kStarted) starts[changed.attempt.index] = *changed.at;
    if (changed.state == AttemptState::kFinished) {
      times.push_back(*changed.at - starts[changed.attempt.index]);
    }
  }
  EXPECT_THAT(times, ElementsAre(absl::Seconds(10), absl::Seconds(11), absl::Seconds(2)));
  EXPECT_EQ(Of<StageClosed>(events).back().at, At(at(16)));
  EXPECT_EQ(Of<JobClosed>(events).back().at, At(at(20)));
}

// The clock is set back by 6 s while two tasks of 2 s and 9 s run. The first task ends 4 s before
// its start.
TEST(Translator, ATaskThatEndsBeforeItsStartShowsASmallStepBack) {
  const auto task = [](const char* kind, int id, int finish, int seconds) {
    return TimedTask(kind, id, 1'020'000, 1'000'000 + 1000 * finish, kWell + Ran(seconds));
  };
  const auto events =
      Read({kStart, Job(0, Stage(0, 2)), Submitted(Stage(0, 2)), task("Start", 0, 0, 0),
            task("Start", 1, 0, 0), task("End", 0, 22 - 6, 2), task("End", 1, 29 - 6, 9),
            AppEnd("", 1'024'000)});
  EXPECT_THAT(EndsOfTasks(events), ElementsAre(At(1'022'000), At(1'029'000)));
  EXPECT_EQ(Of<JobClosed>(events).back().at, At(1'030'000));
}

// The driver computed the run time with the clock that was set back.
TEST(Translator, ATaskAcrossASetBackEndsAtTheLatestKnownInstant) {
  for (const std::string& metrics : {std::string(), Ran(-3600)}) {
    const auto changes = Of<AttemptChanged>(
        Read({kStart, Job(0, Stage(0, 1)), Submitted(Stage(0, 1)), Task("Start", 0, 0, 0),
              Added(1, 1'030'000), TimedTask("End", 0, 1'002'000, 900'000, kWell + metrics)}));
    EXPECT_EQ(changes.back().state, AttemptState::kFinished) << "the end is reported";
    EXPECT_EQ(changes.back().at, At(1'030'000));
  }
}

TEST(Translator, IgnoresOneInstantFarBehind) {
  const auto events = Read({AppStart(9'000'000), Added(1, 9'060'000), Added(2, 1'000'000),
                            Added(3, 9'061'000), Added(4, 1'000'000), Added(5, 9'062'000)});
  EXPECT_EQ(events.back().arrived_at, At(9'062'000));
}

std::uint64_t Missing(const std::vector<std::string>& log) {
  LogCounts counts;
  const auto events = Read(log, &counts);
  // Missing events are gaps in the sequence numbers, up to the last event.
  EXPECT_LE(events.back().sequence - events.size(), counts.missing_events);
  return counts.missing_events;
}

TEST(Translator, CountsEventsThatOthersShowToBeMissing) {
  const std::vector<std::string> begin = {kStart, Job(0, Stage(0, 9)), Submitted(Stage(0, 9))};
  const auto with = [&](std::initializer_list<std::string> events) {
    std::vector<std::string> log = begin;
    log.insert(log.end(), events);
    return log;
  };
  EXPECT_EQ(Missing(with({Task("Start", 0, 0, 0), Task("Start", 0, 1, 1),
                          Task("End", 0, 0, 0, kWell), Task("Start", 0, 2, 2)})),
            0u);
  // Spark numbers task attempts consecutively.
  EXPECT_EQ(Missing(with({Task("Start", 0, 2, 2), Task("Start", 0, 5, 5)})), 2u);
  EXPECT_EQ(Missing(with({Task("End", 0, 0, 0, kWell), Task("Start", 0, 1, 1),
                          Task("End", 0, 4, 4, kWell), Task("End", 0, 3, 3, kWell)})),
            3u);
  EXPECT_EQ(Missing(with({Task("Start", 0, 0, 0), Task("Start", 0, 1'999'999'999, 0),
                          Task("Start", 0, 1, 1)})),
            0u)
      << "the number is impossible";
  // The start of a job, the submission of a stage and the end of the stage are missing.
  EXPECT_EQ(Missing({kStart, Submitted(Stage(0, 1)), Submitted(Stage(1, 1))}), 1u);
  EXPECT_EQ(Missing({kStart, Job(0, Stage(0, 9)), Task("Start", 0, 0, 0)}), 1u);
  EXPECT_EQ(Missing(with({JobEnd(0)})), 1u);
  EXPECT_EQ(Missing(with({Completed(Stage(0, 9)), JobEnd(0)})), 0u);
  // An executor is missing in a log that contains executors.
  EXPECT_EQ(Missing({kStart, Added(2, 1'000'000), Job(0, Stage(0, 9)), Submitted(Stage(0, 9)),
                     Task("Start", 0, 0, 0), Task("Start", 0, 1, 1)}),
            1u);
}

TEST(Translator, AMissingEventIsAGapInTheSequence) {
  const auto events = Read({kStart, Job(0, Stage(0, 9)), Submitted(Stage(0, 9)),
                            Task("Start", 0, 0, 0), Task("Start", 0, 3, 3)});
  EXPECT_EQ(events.back().sequence, events.size() + 2);
}

TEST(Translator, AStageWithoutAnEndInASucceededJobHasAnUnknownOutcome) {
  const auto events = Read({kStart, Job(0, Stage(0, 4) + "," + Stage(1, 2, "0")),
                            Submitted(Stage(0, 4)), Task("Start", 0, 0, 0), JobEnd(0)});
  EXPECT_THAT(Skipped(events), IsEmpty()) << "its events may also be missing";
  std::vector<JobOutcome> outcomes;
  for (const StageClosed& closed : Of<StageClosed>(events)) outcomes.push_back(closed.outcome);
  EXPECT_THAT(outcomes, ElementsAre(JobOutcome::kUnknown, JobOutcome::kUnknown));
}

TEST(Translator, AStageWithoutAnEndEndsWhenTheNextIsSubmitted) {
  const auto events = Read({kStart, Job(0, Stage(0, 4) + "," + Stage(1, 2, "0")),
                            Submitted(Stage(0, 4)), Submitted(Stage(1, 2, "0"))});
  const auto closed = Only(Of<StageClosed>(events));
  EXPECT_EQ(closed.stage, 0u);
  EXPECT_EQ(closed.outcome, JobOutcome::kUnknown);
}

TEST(Translator, SkipsNoStageIfEventsAreMissing) {
  const auto events = Read({kStart, Job(7, Stage(7, 1)), Submitted(Stage(7, 1)),
                            Task("Start", 7, 0, 0), Job(0, Stage(0, 4) + "," + Stage(1, 2, "0")),
                            Submitted(Stage(1, 2, "0")), Task("Start", 1, 5, 0)});
  EXPECT_THAT(Skipped(events), IsEmpty()) << "stage 0 may have had tasks 1 to 4";
}

TEST(Translator, AStageRunsOnceItsTasksStart) {
  const std::vector<std::string> log = {kStart, Job(0, Stage(0, 4) + "," + Stage(1, 2, "0")),
                                        Submitted(Stage(1, 2, "0")),
                                        Task("Start", 1, 0, 0),  // Stage 0 is skipped.
                                        Task("Start", 0, 1, 0)};
  const auto events = Read(log);
  EXPECT_THAT(Skipped(events), ElementsAre(0));
  const StageOpened again = Of<StageOpened>(events).back();
  EXPECT_EQ(again.stage, 0u);
  EXPECT_FALSE(again.skipped);
  EXPECT_EQ(Of<AttemptChanged>(events).back().attempt.stage_attempt, again.attempt);
}

TEST(Translator, RunningAttemptsAreLostInAGap) {
  LogParser parser({});
  std::vector<Event> events;
  const auto take = [&](Event event) { events.push_back(std::move(event)); };
  const auto feed = [&](const std::string& line) { parser.Feed(line + "\n", take); };
  for (const std::string& line :
       {std::string(kStart), Job(0, Stage(0, 4)), Submitted(Stage(0, 4)), Task("Start", 0, 0, 0),
        Task("Start", 0, 1, 1), Task("End", 0, 0, 0, kWell)}) {
    feed(line);
  }
  parser.EndFile();
  parser.Gap(take);
  const AttemptChanged lost = Of<AttemptChanged>(events).back();
  EXPECT_EQ(lost.state, AttemptState::kLost);
  EXPECT_EQ(lost.attempt.index, 1u);
  EXPECT_EQ(lost.at, At(1'003'500)) << "the time when it last ran for certain";
  feed(Task("End", 0, 1, 1, kWell));
  EXPECT_EQ(Of<AttemptChanged>(events).back().state, AttemptState::kFinished);
  EXPECT_EQ(Of<AttemptChanged>(events).size(), 5u) << "it starts once";
  EXPECT_EQ(parser.counts().missing_events, 1u);
}

TEST(Translator, CompactedTasksAreNotMissing) {
  LogParser parser({});
  const auto feed = [&](const std::string& line) { parser.Feed(line + "\n", [](const Event&) {}); };
  parser.SetCompacted(true);
  for (const std::string& line : {std::string(kStart), Job(0, Stage(0, 9)), Submitted(Stage(0, 9)),
                                  Task("Start", 0, 5, 0), Task("Start", 0, 9, 1)}) {
    feed(line);
  }
  parser.SetCompacted(false);
  feed(Task("End", 0, 5, 0, kWell));
  feed(Task("Start", 0, 20, 2));
  EXPECT_EQ(parser.counts().missing_events, 0u);
  feed(Task("Start", 0, 22, 3));
  EXPECT_EQ(parser.counts().missing_events, 1u);
}

TEST(Translator, InstantsNeverDecrease) {
  const auto events = Read({kStart, Job(0, Stage(0, 2)), Added(1, 5'000'000),
                            Task("Start", 0, 1, 0), Task("End", 0, 1, 0, kWell)});
  ExpectOrderedArrivals(events);
  EXPECT_EQ(events.back().arrived_at, At(5'000'000));
  EXPECT_EQ(Of<AttemptChanged>(events).back().at, At(1'003'500));
}

TEST(Translator, AcceptsAnInstantFarAheadIfTheNextAgrees) {
  // 100 days are 8.64e9 ms.
  const auto events = Read({kStart, Added(1, 8'640'000'000), Added(2, 1'002'000),
                            Added(3, 8'640'000'000), Added(4, 8'640'001'000)});
  EXPECT_EQ(events[1].arrived_at, At(1'000'000));
  EXPECT_EQ(events[2].arrived_at, At(1'002'000));
  EXPECT_EQ(events[3].arrived_at, At(1'002'000));
  EXPECT_EQ(events[4].arrived_at, At(8'640'001'000));
}

TEST(Translator, ReportsNothingAfterAnAbsurdClock) {
  // The job and the stage begin at 1970-01-01 00:16:41.
  const std::string stage = StageAt(0, 2);
  for (const std::int64_t start : {1'600'000'000'000, 30'000'000'000'000}) {
    const auto events =
        Read({AppStart(start), Job(0, stage), Submitted(stage), Task("Start", 0, 7, 0), JobEnd(0)});
    ASSERT_FALSE(events.empty());
    for (const Event& event : events) EXPECT_EQ(event.arrived_at, events[0].arrived_at);
    EXPECT_THAT(Of<AttemptChanged>(events), IsEmpty());
  }
  LogParser parser({});
  const std::string late = Added(1, 1'600'000'000'000);
  parser.Feed(std::string(kStart) + late + Job(0, stage) + late, [](const Event&) {});
  EXPECT_EQ(parser.application().fault(), "");  // Only consecutive times confirm each other.
  parser.Feed(late, [](const Event&) {});
  EXPECT_EQ(
      parser.application().fault(),
      "its clock jumps from 1970-01-01 to 2020-09-13, so the times of its events are unknown");
}

TEST(Translator, IgnoresOneInstantLongBefore) {
  const auto stages =
      Of<StageOpened>(Read({AppStart(1'600'000'000'000), Submitted(StageAt(0, 2))}));
  ASSERT_EQ(stages.size(), 2u);
  EXPECT_EQ(stages[1].opened_at, At(1'600'000'000'000));
}

TEST(Translator, RejectsALogWithoutTheStartOfItsApplication) {
  for (const std::string& first : {Job(0, Stage(0, 2)), Submitted(Stage(0, 2)), AppEnd()}) {
    LogParser parser({});
    const auto fail = [](const Event&) { ADD_FAILURE(); };
    parser.Feed(Task("End", 0, 7, 1, kWell) + first + kStart + AppEnd(), fail);
    EXPECT_THAT(parser.application().fault(),
                HasSubstr("no SparkListenerApplicationStart before the first job"));
  }
}

TEST(Translator, ReportsNothingBeforeAnEventHasATime) {
  const auto events = Read({R"({"Event":"SparkListenerApplicationStart","App Name":"sales"})",
                            R"({"Event":"SparkListenerJobStart","Job ID":7,"Stage Infos":[]})",
                            Job(0, Stage(0, 2))});
  ASSERT_EQ(events.size(), 3u);
  EXPECT_EQ(events[0].body, EventBody(JobOpened{.name = "sales", .engine = "spark"}));
  for (const Event& event : events) EXPECT_EQ(event.arrived_at, At(1'001'000));
}

TEST(Translator, ATaskWaitsForTheSchedulerSinceItsStageWasSubmitted) {
  constexpr std::int64_t kAt = 1'600'000'000'000;
  const auto total = Only(Of<TaskHeartbeat>(
      Read({AppStart(kAt), Submitted(StageAt(0, 2, kAt + 1000)),
            TimedTask("End", 1, kAt + 1250, kAt + 9000, R"(,"Task Metrics":{})")})));
  EXPECT_EQ(total.time.waits[WaitReason::kSlots], absl::Milliseconds(250));
}

TEST(Translator, DropsImpossibleEvents) {
  LogCounts counts;
  const auto events =
      Read({kStart, kStart, Task("Start", 9, 1, 0), Task("End", 9, 1, 0, kWell), JobEnd(5),
            Completed(Stage(8, 1)), R"({"Event":"SparkListenerJobStart"})",
            R"({"Event":"SparkListenerTaskEnd","Stage ID":-1,"Task Info":[]})",
            R"({"Event":"SparkListenerNew","Job ID":{}})", R"({"Event":7})", R"([1])", "nonsense"},
           &counts);
  EXPECT_EQ(events.size(), 1u);
  EXPECT_EQ(counts.contradictions, 7u);
  EXPECT_EQ(counts.unused_events, 2u);
  EXPECT_EQ(counts.broken_events, 1u);
}

TEST(Translator, TextIsAlwaysUtf8) {
  const auto events =
      Read({"{\"Event\":\"SparkListenerApplicationStart\",\"App Name\":\"a\xff\x01 \xc3\xa9\","
            "\"Timestamp\":1000000,\"App ID\":\"x\",\"User\":\"half \\ud83d \\\\ud83d\"}"});
  const auto opened = Only(Of<JobOpened>(events));
  EXPECT_EQ(opened.name, "a?  \xc3\xa9");
  EXPECT_EQ(opened.user, "half ? \\ud83d");
}

TEST(Translator, MemoryIsBoundedInAnEndlessLog) {
  LogParser parser({});
  std::uint64_t reported = 0;
  const auto feed = [&](const std::string& line) { parser.Feed(line, [&](Event) { ++reported; }); };
  feed(kStart);
  for (int i = 0; i < 20'000; ++i) feed(Job(i, Stage(i, 1)) + Task("Start", i, i, 0));
  EXPECT_EQ(reported, 60'001u);  // Jobs beyond kJobsMax replace older jobs.
}

// Two tasks of ten and eleven seconds are running when the clock is set forward by one hour.
TEST(Translator, TimesExcludeAStepForwardOfTheClock) {
  const auto at = [](int seconds) { return std::int64_t{9'000'000} + 1000 * seconds; };
  const auto forward = [&](int seconds) { return at(seconds) + 3'600'000; };
  const std::string completion = fmt::format(R"(,"Completion Time":{})", forward(14));
  const auto events = Read({AppStart(at(0)), Job(0, Stage(0, 2)), Submitted(StageAt(0, 2, at(1))),
                            TimedTask("Start", 0, at(2), 0), TimedTask("Start", 1, at(2), 0),
                            TimedTask("End", 0, at(2), forward(12), kWell + Ran(10)),
                            TimedTask("End", 1, at(2), forward(13), kWell + Ran(11)),
                            Completed(StageAt(0, 2, at(1), completion)), AppEnd("", forward(20))});
  EXPECT_THAT(EndsOfTasks(events), ElementsAre(At(at(2) + 10'000), At(at(2) + 11'000)));
  EXPECT_EQ(Of<JobClosed>(events).back().at, At(at(20)));
}

}  // namespace
}  // namespace tidemark::spark::translator_test
