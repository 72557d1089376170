// Writes history files of MapReduce jobs for tests.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

namespace tidemark::test {

// Times are milliseconds since the submission. Values of counters are by name. Names of file
// format counters begin with INPUT_ or OUTPUT_.
class SomeHistory {
 public:
  static constexpr std::int64_t kSubmitted = 1'700'000'000'000;
  using Counters = std::map<std::string, std::int64_t>;

  explicit SomeHistory(std::string number = "0007") : id_("1700000000000_" + number) {}

  std::string job_id() const { return "job_" + id_; }
  const std::string& text() const { return text_; }

  SomeHistory& Line(const std::string& line) {
    text_ += line + "\n";
    return *this;
  }
  SomeHistory& Write(const std::string& type, const nlohmann::json& fields) {
    const nlohmann::json event = {
        {"type", type}, {"event", {{"org.apache.hadoop.mapreduce.jobhistory.Some", fields}}}};
    return Line(event.dump());
  }
  SomeHistory& Submit(const std::string& name = "word count") {
    Write("AM_STARTED", {{"applicationAttemptId", "appattempt_" + id_ + "_000001"},
                         {"startTime", kSubmitted + 500}});
    return Write("JOB_SUBMITTED", {{"jobid", job_id()},
                                   {"jobName", name},
                                   {"userName", "ada"},
                                   {"submitTime", kSubmitted},
                                   {"jobQueueName", "etl"},
                                   {"workflowId", {{"string", ""}}}});
  }
  SomeHistory& Init(std::int64_t at, std::uint32_t maps, std::uint32_t reduces) {
    return Write("JOB_INITED", {{"jobid", job_id()},
                                {"launchTime", kSubmitted + at},
                                {"totalMaps", maps},
                                {"totalReduces", reduces}});
  }
  SomeHistory& Start(char kind, int index, int attempt, std::int64_t at, const std::string& host,
                     bool is_speculative = false) {
    return Write(TypeOf(kind, "STARTED"),
                 {{"attemptId", AttemptId(kind, index, attempt)},
                  {"startTime", kSubmitted + at},
                  {"trackerName", host},
                  {"avataar", {{"string", is_speculative ? "SPECULATIVE" : "VIRGIN"}}}});
  }
  SomeHistory& FinishMap(int index, std::int64_t at, const Counters& counters = {},
                         int attempt = 0) {
    return Write("MAP_ATTEMPT_FINISHED", {{"attemptId", AttemptId('m', index, attempt)},
                                          {"mapFinishTime", kSubmitted + at},
                                          {"finishTime", kSubmitted + at},
                                          {"counters", JsonOf(counters)}});
  }
  SomeHistory& FinishReduce(int index, std::int64_t fetched, std::int64_t sorted, std::int64_t at,
                            const Counters& counters = {}) {
    return Write("REDUCE_ATTEMPT_FINISHED", {{"attemptId", AttemptId('r', index, 0)},
                                             {"shuffleFinishTime", kSubmitted + fetched},
                                             {"sortFinishTime", kSubmitted + sorted},
                                             {"finishTime", kSubmitted + at},
                                             {"counters", JsonOf(counters)}});
  }
  // `how` is "FAILED" or "KILLED".
  SomeHistory& Stop(char kind, int index, int attempt, std::int64_t at, const std::string& how,
                    const std::string& error) {
    return Write(TypeOf(kind, how), {{"attemptId", AttemptId(kind, index, attempt)},
                                     {"finishTime", kSubmitted + at},
                                     {"status", how},
                                     {"error", error}});
  }
  SomeHistory& FailTask(char kind, int index, int attempt, std::int64_t at) {
    return Write("TASK_FAILED",
                 {{"taskid", "task_" + TaskOf(kind, index)},
                  {"finishTime", kSubmitted + at},
                  {"failedDueToAttempt", {{"string", AttemptId(kind, index, attempt)}}}});
  }
  SomeHistory& FinishJob(std::int64_t at) {
    return Write("JOB_FINISHED", {{"jobid", job_id()}, {"finishTime", kSubmitted + at}});
  }
  SomeHistory& FailJob(std::int64_t at, const std::string& status, const std::string& diagnostics) {
    return Write("JOB_" + status, {{"jobid", job_id()},
                                   {"finishTime", kSubmitted + at},
                                   {"jobStatus", status},
                                   {"diagnostics", {{"string", diagnostics}}}});
  }

  // Three map tasks of 4, 3 and 4 s on two slots, and two reduce tasks of which one starts before
  // the last map task has ended:
  //
  //   host a  map 0 2-6 s   reduce 0 6-12 s, fetched at 9.5 s, sorted at 9.7 s
  //   host b  map 1 2-5 s   map 2 5-9 s   reduce 1 9-13 s, fetched at 9.6 s, sorted at 9.8 s
  static SomeHistory WordCount(const std::string& number = "0007",
                               const std::string& name = "word count") {
    SomeHistory history(number);
    const auto map = [](std::int64_t read, std::int64_t emitted) {
      return Counters{{"INPUT_BYTES_READ", read},    {"MAP_INPUT_RECORDS", read / 10},
                      {"MAP_OUTPUT_BYTES", emitted}, {"MAP_OUTPUT_MATERIALIZED_BYTES", 2 * emitted},
                      {"CPU_MILLISECONDS", 2000},    {"GC_TIME_MILLIS", 100}};
    };
    const auto reduce = [](std::int64_t fetched, std::int64_t written) {
      return Counters{{"REDUCE_SHUFFLE_BYTES", fetched},
                      {"REDUCE_INPUT_RECORDS", 9},
                      {"REDUCE_INPUT_GROUPS", 4},
                      {"OUTPUT_BYTES_WRITTEN", written}};
    };
    history.Submit(name).Init(2000, 3, 2);
    history.Start('m', 0, 0, 2000, "a").Start('m', 1, 0, 2000, "b");
    history.FinishMap(1, 5000, map(80, 40)).Start('m', 2, 0, 5000, "b");
    history.FinishMap(0, 6000, map(100, 60)).Start('r', 0, 0, 6000, "a");
    history.FinishMap(2, 9000, map(120, 100)).Start('r', 1, 0, 9000, "b");
    history.FinishReduce(0, 9500, 9700, 12000, reduce(150, 30));
    history.FinishReduce(1, 9600, 9800, 13000, reduce(250, 50));
    return history.FinishJob(13100);
  }

 private:
  static std::string TypeOf(char kind, const std::string& what) {
    return (kind == 'm' ? "MAP_ATTEMPT_" : "REDUCE_ATTEMPT_") + what;
  }
  std::string TaskOf(char kind, int index) const {
    std::string number = std::to_string(index);
    number.insert(0, 6 - number.size(), '0');
    return id_ + "_" + kind + "_" + number;
  }
  std::string AttemptId(char kind, int index, int attempt) const {
    return "attempt_" + TaskOf(kind, index) + "_" + std::to_string(attempt);
  }
  static nlohmann::json JsonOf(const Counters& counters) {
    nlohmann::json tasks = nlohmann::json::array();
    nlohmann::json input = nlohmann::json::array();
    nlohmann::json output = nlohmann::json::array();
    for (const auto& [name, value] : counters) {
      if (name.starts_with("INPUT_")) {
        input.push_back({{"name", name.substr(6)}, {"value", value}});
      } else if (name.starts_with("OUTPUT_")) {
        output.push_back({{"name", name.substr(7)}, {"value", value}});
      } else {
        tasks.push_back({{"name", name}, {"value", value}});
      }
    }
    const std::string library = "org.apache.hadoop.mapreduce.lib.";
    return {{"name", "COUNTERS"},
            {"groups",
             {{{"name", "org.apache.hadoop.mapreduce.TaskCounter"}, {"counts", tasks}},
              {{"name", library + "input.FileInputFormatCounter"}, {"counts", input}},
              {{"name", library + "output.FileOutputFormatCounter"}, {"counts", output}}}}};
  }

  std::string id_;
  std::string text_ = "Avro-Json\n{\"type\":\"record\"}\n";
};

}  // namespace tidemark::test
