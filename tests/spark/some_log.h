// Builds Spark event logs for tests.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace tidemark::test {

struct LoggedApplication {
  std::string version = "3.5.1";        // version of Spark; empty if not in the log
  nlohmann::json properties = nullptr;  // properties of Spark; null if the log has no such event
  std::uint32_t executors = 1;          // number of executors, which are named 1, 2 and so on
  std::uint32_t cores = 4;              // cores of each executor
};

struct LoggedTask {
  std::optional<std::uint64_t> id = {};  // if unset, depends on stage and index
  std::uint32_t executor = 1;
  // if unset, the run time; if null, there are no metrics
  std::optional<nlohmann::json> metrics = {};
};

// Builds the text of a log, event by event. Times are milliseconds since the start of the
// application.
class SomeLog {
 public:
  static constexpr std::uint64_t kBeginMs = 1'700'000'000'000;

  explicit SomeLog(const LoggedApplication& application = {}) {
    if (!application.version.empty()) {
      Add({{"Event", "SparkListenerLogStart"}, {"Spark Version", application.version}});
    }
    Add({{"Event", "SparkListenerApplicationStart"},
         {"App Name", "nightly report"},
         {"App ID", "app-1"},
         {"Timestamp", kBeginMs}});
    if (!application.properties.is_null()) {
      Add({{"Event", "SparkListenerEnvironmentUpdate"},
           {"Spark Properties", application.properties}});
    }
    for (std::uint32_t executor = 1; executor <= application.executors; ++executor) {
      Add({{"Event", "SparkListenerExecutorAdded"},
           {"Timestamp", kBeginMs},
           {"Executor ID", std::to_string(executor)},
           {"Executor Info", {{"Host", "h"}, {"Total Cores", application.cores}}}});
    }
  }

  static nlohmann::json StageInfo(std::uint32_t number, std::uint32_t tasks,
                                  const std::vector<std::uint32_t>& parents = {}) {
    return {{"Stage ID", number},
            {"Stage Attempt ID", 0u},
            {"Stage Name", "stage " + std::to_string(number)},
            {"Number of Tasks", tasks},
            {"Parent IDs", parents}};
  }

  SomeLog& StartJob(std::uint64_t at, std::uint32_t job, const std::vector<nlohmann::json>& stages,
                    const nlohmann::json& properties = nlohmann::json::object()) {
    return Add({{"Event", "SparkListenerJobStart"},
                {"Job ID", job},
                {"Submission Time", kBeginMs + at},
                {"Stage Infos", stages},
                {"Properties", properties}});
  }
  SomeLog& EndJob(std::uint64_t at, std::uint32_t job) {
    return Add({{"Event", "SparkListenerJobEnd"},
                {"Job ID", job},
                {"Completion Time", kBeginMs + at},
                {"Job Result", {{"Result", "JobSucceeded"}}}});
  }
  SomeLog& Submit(std::uint64_t at, nlohmann::json stage) {
    stage["Submission Time"] = kBeginMs + at;
    return Add({{"Event", "SparkListenerStageSubmitted"}, {"Stage Info", stage}});
  }
  SomeLog& Complete(std::uint64_t at, nlohmann::json stage) {
    stage["Completion Time"] = kBeginMs + at;
    return Add({{"Event", "SparkListenerStageCompleted"}, {"Stage Info", stage}});
  }
  SomeLog& StartTask(std::uint64_t at, std::uint32_t stage, std::uint32_t index) {
    return Add({{"Event", "SparkListenerTaskStart"},
                {"Stage ID", stage},
                {"Stage Attempt ID", 0u},
                {"Task Info", TaskInfo(stage, index, at, 0, {})}});
  }
  SomeLog& EndTask(std::uint64_t started, std::uint64_t at, std::uint32_t stage,
                   std::uint32_t index, const LoggedTask& task = {}) {
    nlohmann::json event = {{"Event", "SparkListenerTaskEnd"},
                            {"Stage ID", stage},
                            {"Stage Attempt ID", 0u},
                            {"Task End Reason", {{"Reason", "Success"}}},
                            {"Task Info", TaskInfo(stage, index, started, kBeginMs + at, task)}};
    const nlohmann::json run_time = {{"Executor Run Time", at - started}};
    const nlohmann::json& metrics = task.metrics ? *task.metrics : run_time;
    if (!metrics.is_null()) event["Task Metrics"] = metrics;
    return Add(event);
  }
  // Submits the stage, runs its tasks sequentially for `seconds` each, and completes the stage.
  // Returns its end.
  std::uint64_t RunStage(std::uint64_t at, const nlohmann::json& stage, std::uint64_t seconds = 1) {
    const auto number = stage["Stage ID"].get<std::uint32_t>();
    Submit(at, stage);
    for (std::uint32_t index = 0; index < stage["Number of Tasks"].get<std::uint32_t>(); ++index) {
      StartTask(at, number, index);
      EndTask(at, at + 1000 * seconds, number, index);
      at += 1000 * seconds;
    }
    Complete(at, stage);
    return at;
  }
  SomeLog& End(std::uint64_t at) {
    return Add({{"Event", "SparkListenerApplicationEnd"}, {"Timestamp", kBeginMs + at}});
  }
  SomeLog& Add(const nlohmann::json& event) {
    text_ += event.dump() + "\n";
    return *this;
  }

  const std::string& text() const { return text_; }

 private:
  static nlohmann::json TaskInfo(std::uint32_t stage, std::uint32_t index, std::uint64_t launched,
                                 std::uint64_t finished, const LoggedTask& task) {
    return {{"Task ID", task.id.value_or(std::uint64_t{stage} * 1'000'000 + index)},
            {"Index", index},
            {"Attempt", 0u},
            {"Executor ID", std::to_string(task.executor)},
            {"Host", "h"},
            {"Launch Time", kBeginMs + launched},
            {"Finish Time", finished}};
  }

  std::string text_;
};

}  // namespace tidemark::test
