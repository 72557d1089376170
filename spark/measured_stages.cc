#include "spark/measured_stages.h"

#include <algorithm>
#include <optional>

#include "spark/json_fields.h"
#include "spark/parameters.h"

namespace tidemark::spark {
namespace {

using nlohmann::json;
using phases::Flow;
using phases::TaskCounters;

// Of one task: a petabyte, as many records, three years. More cannot be, and one such would be all
// that is learnt of its stage.
constexpr double kAmountMax = 1e15;
constexpr double kSecondsMax = 1e8;

constexpr double kOne = 1;
// Spark writes some times in milliseconds, others in nanoseconds.
constexpr double kMillisecond = 1e-3;
constexpr double kNanosecond = 1e-9;

// Reads counters, and notes those that cannot be.
class CounterReader {
 public:
  explicit CounterReader(Unbelievable& unbelievable) : unbelievable_(unbelievable) {}

  double Amount(const json& object, const char* name) {
    return Read(object, name, kOne, kAmountMax).value_or(0);
  }
  std::optional<double> Seconds(const json& object, const char* name, double unit) {
    return Read(object, name, unit, kSecondsMax);
  }

 private:
  std::optional<double> Read(const json& object, const char* name, double unit, double most) {
    if (Member(object, name).is_null()) return std::nullopt;
    const auto count = Count(object, name);
    if (count && static_cast<double>(*count) * unit <= most) {
      return static_cast<double>(*count) * unit;
    }
    if (unbelievable_.counters++ == 0) unbelievable_.first_counter = name;
    return std::nullopt;
  }

  Unbelievable& unbelievable_;
};

TaskCounters CountersIn(const json& metrics, double seconds, Unbelievable& unbelievable) {
  CounterReader reader(unbelievable);
  const json& input = Member(metrics, "Input Metrics");
  const json& read = Member(metrics, "Shuffle Read Metrics");
  const json& written = Member(metrics, "Shuffle Write Metrics");
  const json& output = Member(metrics, "Output Metrics");
  return {
      .seconds = seconds,
      .running = reader.Seconds(metrics, "Executor Run Time", kMillisecond),
      .processor = reader.Seconds(metrics, "Executor CPU Time", kNanosecond),
      .fetch_wait = reader.Seconds(read, "Fetch Wait Time", kMillisecond),
      .shuffle_write = reader.Seconds(written, "Shuffle Write Time", kNanosecond),
      .deserialize = reader.Seconds(metrics, "Executor Deserialize Time", kMillisecond),
      .input = {reader.Amount(input, "Records Read"), reader.Amount(input, "Bytes Read")},
      .local_bytes = reader.Amount(read, "Local Bytes Read"),
      .remote_bytes = reader.Amount(read, "Remote Bytes Read"),
      .shuffle_records = reader.Amount(read, "Total Records Read"),
      .written = {reader.Amount(written, "Shuffle Records Written"),
                  reader.Amount(written, "Shuffle Bytes Written")},
      .output = {reader.Amount(output, "Records Written"), reader.Amount(output, "Bytes Written")},
      .result_bytes = reader.Amount(metrics, "Result Size"),
      .spilled_memory_bytes = reader.Amount(metrics, "Memory Bytes Spilled"),
      .spilled_disk_bytes = reader.Amount(metrics, "Disk Bytes Spilled"),
      .peak_memory_bytes = reader.Amount(metrics, "Peak Execution Memory")};
}

}  // namespace

void MeasuredStages::Take(const json& event) {
  const std::string kind = Text(event, "Event");
  if (kind == "SparkListenerTaskEnd") {
    TaskEnd(event);
  } else if (kind == "SparkListenerJobStart") {
    JobStart(event);
  } else if (kind == "SparkListenerExecutorAdded") {
    ExecutorAdded(event);
  } else if (kind == "SparkListenerExecutorRemoved") {
    executors_.erase(Text(event, "Executor ID"));
  } else if (kind == "SparkListenerLogStart") {
    version_ = Text(event, "Spark Version");
  } else if (kind == "SparkListenerEnvironmentUpdate") {
    const json& properties = Member(event, "Spark Properties");
    for (const char* name : phases::PropertiesOfUse()) {
      const std::string value = Text(properties, name);
      if (!value.empty()) properties_[name] = value;
    }
    for (auto& [name, value] : ParametersIn(properties)) parameters_[name] = value;
    if (const auto cores = NumberIn(Text(properties, "spark.task.cpus")); cores && *cores > 0) {
      cores_of_task_ = *cores;
    }
  }
}

void MeasuredStages::TaskEnd(const json& event) {
  const json& task = Member(event, "Task Info");
  const json& metrics = Member(event, "Task Metrics");
  const auto number = Number(event, "Stage ID");
  const auto launched = Count(task, "Launch Time");
  const auto ended = Count(task, "Finish Time");
  if (!number || !launched || !ended || *ended < *launched || !metrics.is_object()) return;
  if (Text(Member(event, "Task End Reason"), "Reason") != "Success") return;
  const double seconds = static_cast<double>(*ended - *launched) * kMillisecond;
  if (seconds > kSecondsMax) {
    ++unbelievable_.tasks;
    return;
  }
  if (tasks_ >= kTasksMax) return;
  MeasuredStage& stage = stages_[*number];
  stage.is_of_sql = sql_stages_.contains(*number);
  if (stage.tasks.size() >= kTasksOfStageMax) return;
  ++tasks_;
  TaskCounters& counters = stage.tasks.emplace_back(CountersIn(metrics, seconds, unbelievable_));
  const std::string executor = Text(task, "Executor ID");
  const auto known = executors_.find(executor);
  const std::uint64_t cores = known == executors_.end() ? 1 : known->second;
  const std::uint64_t slots = std::max<std::uint64_t>(cores / cores_of_task_, 1);
  counters.is_fresh = ended_[{*number, executor}]++ < slots;
}

void MeasuredStages::JobStart(const json& event) {
  if (Text(Member(event, "Properties"), "spark.sql.execution.id").empty()) return;
  const json& infos = Member(event, "Stage Infos");
  if (!infos.is_array()) return;
  for (const json& info : infos) {
    const auto number = Number(info, "Stage ID");
    if (number && sql_stages_.size() < kSqlStagesMax) sql_stages_.insert(*number);
  }
}

void MeasuredStages::ExecutorAdded(const json& event) {
  if (executors_.size() >= kExecutorsMax) return;
  const auto cores = Number(Member(event, "Executor Info"), "Total Cores");
  executors_[Text(event, "Executor ID")] = cores.value_or(1);
  seen_.count = std::max(seen_.count, static_cast<std::uint32_t>(executors_.size()));
  if (seen_.cores == 0 && cores) seen_.cores = *cores;
}

}  // namespace tidemark::spark
