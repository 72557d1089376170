// Builds event logs of Spark for tests.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace tidemark::test {

// The text of a log, event by event, of an application that has one executor. Instants are
// milliseconds since the application began.
class SomeLog {
 public:
  static constexpr std::uint64_t kBeginMs = 1'700'000'000'000;

  explicit SomeLog(const std::string& application_id = "app-1") {
    Add({{"Event", "SparkListenerLogStart"}, {"Spark Version", "3.5.1"}});
    Add({{"Event", "SparkListenerApplicationStart"},
         {"App Name", "nightly report"},
         {"App ID", application_id},
         {"Timestamp", kBeginMs}});
    Add({{"Event", "SparkListenerExecutorAdded"},
         {"Timestamp", kBeginMs},
         {"Executor ID", "1"},
         {"Executor Info", {{"Host", "h"}, {"Total Cores", 4u}}}});
  }

  static nlohmann::json StageInfo(std::uint32_t number, std::uint32_t tasks,
                                  const std::vector<std::uint32_t>& parents = {}) {
    return {{"Stage ID", number},
            {"Stage Attempt ID", 0u},
            {"Stage Name", "stage " + std::to_string(number)},
            {"Number of Tasks", tasks},
            {"Parent IDs", parents}};
  }

  SomeLog& StartJob(std::uint64_t at, std::uint32_t job,
                    const std::vector<nlohmann::json>& stages) {
    return Add({{"Event", "SparkListenerJobStart"},
                {"Job ID", job},
                {"Submission Time", kBeginMs + at},
                {"Stage Infos", stages}});
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
                {"Task Info", TaskInfo(stage, index, at, 0)}});
  }
  SomeLog& EndTask(std::uint64_t started, std::uint64_t at, std::uint32_t stage,
                   std::uint32_t index) {
    return Add({{"Event", "SparkListenerTaskEnd"},
                {"Stage ID", stage},
                {"Stage Attempt ID", 0u},
                {"Task End Reason", {{"Reason", "Success"}}},
                {"Task Info", TaskInfo(stage, index, started, kBeginMs + at)},
                {"Task Metrics", {{"Executor Run Time", at - started}}}});
  }
  // Submits the stage, runs its tasks one after the other, `seconds` each, and completes it.
  // Returns when it ends.
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
                                 std::uint64_t finished) {
    return {{"Task ID", std::uint64_t{stage} * 1'000'000 + index},
            {"Index", index},
            {"Attempt", 0u},
            {"Executor ID", "1"},
            {"Host", "h"},
            {"Launch Time", kBeginMs + launched},
            {"Finish Time", finished}};
  }

  std::string text_;
};

}  // namespace tidemark::test
