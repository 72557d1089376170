#include "spark/measured_stages.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"

namespace tidemark::spark {
namespace {

using nlohmann::json;

// Returns the amount if it is a finite number that Spark could grant.
std::optional<double> AmountIn(const json& value) {
  double amount = 0;
  if (value.is_number()) amount = value.get<double>();
  if (value.is_string() && !absl::SimpleAtod(value.get<std::string>(), &amount)) amount = 0;
  if (!std::isfinite(amount) || !(amount >= phases::kAmountLeast)) return std::nullopt;
  return amount;
}

void AddAmount(const std::string& resource, const json& value,
               std::map<std::string, double>& amounts) {
  const auto amount = AmountIn(value);
  if (amount && amounts.size() < TaskSlots::kResourcesMax) amounts[resource] = *amount;
}

// Returns the amounts of a "Task Resource Requests" or an "Executor Resource Requests".
std::map<std::string, double> RequestsIn(const json& requests) {
  std::map<std::string, double> amounts;
  if (!requests.is_object()) return amounts;
  for (const auto& [resource, request] : requests.items()) {
    AddAmount(resource, Member(request, "Amount"), amounts);
  }
  return amounts;
}

}  // namespace

void TaskSlots::OnEnvironment(const json& properties) {
  if (!properties.is_object()) return;
  Profile& profile = profiles_[0];
  if (const auto cores = NumberIn(Text(properties, "spark.task.cpus")); cores && *cores > 0) {
    profile.cores_of_task = *cores;
  }
  for (const auto& [name, value] : properties.items()) {
    const auto resource = phases::ResourceIn(name);
    if (!resource) continue;
    AddAmount(resource->name, value, resource->is_of_task ? profile.of_task : profile.of_executor);
  }
}

void TaskSlots::OnProfile(const json& event) {
  const auto id = Count(event, "Resource Profile Id");
  if (!id || (profiles_.size() >= kProfilesMax && !profiles_.contains(*id))) return;
  const auto by_default = profiles_.find(0);
  Profile profile = {
      .cores_of_task = by_default == profiles_.end() ? 1 : by_default->second.cores_of_task,
      .of_task = RequestsIn(Member(event, "Task Resource Requests")),
      .of_executor = RequestsIn(Member(event, "Executor Resource Requests"))};
  if (const auto cores = profile.of_task.extract("cpus"); !cores.empty()) {
    profile.cores_of_task = static_cast<std::uint64_t>(std::clamp(cores.mapped(), 1.0, 1e6));
  }
  profiles_[*id] = profile;
}

phases::Properties TaskSlots::WithProfile(std::uint64_t id, phases::Properties properties) const {
  const auto known = profiles_.find(id);
  if (id == 0 || known == profiles_.end()) return properties;
  const Profile& profile = known->second;
  std::erase_if(properties,
                [](const auto& each) { return phases::ResourceIn(each.first).has_value(); });
  properties["spark.task.cpus"] = fmt::format("{}", profile.cores_of_task);
  if (const auto mebibytes = profile.of_executor.find("memory");
      mebibytes != profile.of_executor.end()) {
    properties["spark.executor.memory"] = fmt::format("{:.0f}m", mebibytes->second);
  }
  for (const auto& [resource, amount] : profile.of_task) {
    const auto of_executor = profile.of_executor.find(resource);
    if (of_executor == profile.of_executor.end()) continue;
    properties[fmt::format("spark.task.resource.{}.amount", resource)] = fmt::format("{}", amount);
    properties[fmt::format("spark.executor.resource.{}.amount", resource)] =
        fmt::format("{}", of_executor->second);
  }
  return properties;
}

ExecutorSize ExecutorSizeIn(const json& executor) {
  constexpr std::uint64_t kCoresMax = 65'536;
  ExecutorSize size = {.cores = std::min(Count(executor, "Total Cores").value_or(0), kCoresMax),
                       .profile = Count(executor, "Resource Profile Id").value_or(0)};
  const json& resources = Member(executor, "Resources");
  if (!resources.is_object()) return size;
  for (const auto& [name, resource] : resources.items()) {
    const json& addresses = Member(resource, "addresses");
    if (!addresses.is_array() || size.resources.size() >= TaskSlots::kResourcesMax) continue;
    size.resources[name] = static_cast<double>(addresses.size());
  }
  return size;
}

std::uint32_t TaskSlots::OfStage(std::uint64_t profile, const ExecutorSize& executor) const {
  if (profile == executor.profile) return Of(executor);
  const auto known = profiles_.find(profile);
  const bool is_of_tasks = known != profiles_.end() && known->second.of_executor.empty();
  return is_of_tasks && executor.profile == 0 ? For(profile, executor) : 0;
}

std::uint32_t TaskSlots::For(std::uint64_t id, const ExecutorSize& executor) const {
  const auto known = profiles_.find(id);
  const Profile profile = known == profiles_.end() ? Profile() : known->second;
  double slots =
      std::floor(static_cast<double>(executor.cores) / static_cast<double>(profile.cores_of_task));
  for (const auto& [resource, of_task] : profile.of_task) {
    const auto requested = profile.of_executor.find(resource);
    const auto present = executor.resources.find(resource);
    double amount = present == executor.resources.end() ? 0 : present->second;
    if (amount == 0 && requested != profile.of_executor.end()) amount = requested->second;
    if (amount > 0) slots = std::min(slots, phases::TasksByResource(amount, of_task));
  }
  return static_cast<std::uint32_t>(slots);
}

namespace {

using phases::TaskCounters;

// Largest plausible values of one task: 1e15 bytes or records, and three years in seconds. A single
// larger value would outweigh all other tasks of its stage.
constexpr double kAmountMax = 1e15;
constexpr double kSecondsMax = 1e8;

constexpr double kOne = 1;
// Spark logs some times in milliseconds, others in nanoseconds.
constexpr double kMillisecond = 1e-3;
constexpr double kNanosecond = 1e-9;

// Reads counters, and counts impossible values.
class CounterReader {
 public:
  explicit CounterReader(ImpossibleValues& impossible) : impossible_(impossible) {}

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
    if (impossible_.counters++ == 0) impossible_.first_counter = name;
    return std::nullopt;
  }

  ImpossibleValues& impossible_;
};

TaskCounters CountersIn(const json& metrics, double seconds, ImpossibleValues& impossible) {
  CounterReader reader(impossible);
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

std::string LowerCase(const std::string& text) {
  return absl::AsciiStrToLower(absl::StripAsciiWhitespace(text));
}

}  // namespace

void MeasuredStages::Observe(const SparkEvent& event) {
  const json& fields = event.fields();
  switch (event.kind()) {
    case EventKind::kTaskEnd:
      return OnTaskEnd(event.task_end());
    case EventKind::kJobStart:
      return OnJobStart(fields);
    case EventKind::kExecutorAdded:
      return OnExecutorAdded(fields);
    case EventKind::kProfileAdded:
      return task_slots_.OnProfile(fields);
    case EventKind::kExecutorRemoved:
      executors_.erase(Text(fields, "Executor ID"));
      return;
    case EventKind::kStageSubmitted:
    case EventKind::kStageCompleted:
      return OnStage(Member(fields, "Stage Info"));
    case EventKind::kLogStart:
      version_ = Text(fields, "Spark Version");
      return;
    case EventKind::kEnvironmentUpdate:
      return OnEnvironment(Member(fields, "Spark Properties"));
    default:
      return;
  }
}

bool MeasuredStages::WasSetTo(const std::string& name, const std::string& value) const {
  const auto known = all_properties_.find(name);
  return known != all_properties_.end() && known->second == LowerCase(value);
}

void MeasuredStages::OnEnvironment(const json& properties) {
  for (const char* name : phases::ModelledProperties()) {
    const std::string value = Text(properties, name);
    if (!value.empty()) properties_[name] = value;
  }
  for (auto& [name, value] : ParametersIn(properties)) parameters_[name] = value;
  task_slots_.OnEnvironment(properties);
  if (!properties.is_object()) return;
  for (const auto& [name, value] : properties.items()) {
    if (phases::ResourceIn(name) && value.is_string() && properties_.size() < kPropertiesMax) {
      properties_[name] = value.get<std::string>();
    }
    if (!value.is_string() || all_properties_.size() >= kPropertiesMax) continue;
    all_properties_[name] = LowerCase(value.get<std::string>());
  }
}

void MeasuredStages::OnTaskEnd(const TaskEnd& task) {
  const std::optional<double> seconds = task.seconds();
  if (!task.has_counters() || !seconds) return;
  if (*seconds > kSecondsMax) {
    ++impossible_.tasks;
    return;
  }
  if (tasks_ >= kTasksMax) return;
  MeasuredStage& stage = stages_[*task.stage];
  stage.is_of_sql = sql_stages_.contains(*task.stage);
  if (stage.tasks.size() >= kTasksOfStageMax) return;
  ++tasks_;
  TaskCounters& counters =
      stage.tasks.emplace_back(CountersIn(task.metrics, *seconds, impossible_));
  const auto executor = executors_.find(task.executor);
  const std::uint32_t slots =
      executor == executors_.end() ? 1 : std::max(task_slots_.Of(executor->second), 1u);
  counters.is_fresh = ended_[{*task.stage, task.executor}]++ < slots;
}

void MeasuredStages::OnJobStart(const json& event) {
  if (Text(Member(event, "Properties"), "spark.sql.execution.id").empty()) return;
  const json& infos = Member(event, "Stage Infos");
  if (!infos.is_array()) return;
  for (const json& info : infos) {
    const auto number = Number(info, "Stage ID");
    if (number && sql_stages_.size() < kSqlStagesMax) sql_stages_.insert(*number);
  }
}

void MeasuredStages::OnExecutorAdded(const json& event) {
  if (executors_.size() >= kExecutorsMax) return;
  const json& info = Member(event, "Executor Info");
  const auto cores = Number(info, "Total Cores");
  const ExecutorSize size = ExecutorSizeIn(info);
  AddProfile(size.profile, task_slots_.Of(size));
  executors_[Text(event, "Executor ID")] = size;
  seen_.count = std::max(seen_.count, static_cast<std::uint32_t>(executors_.size()));
  if (seen_.cores == 0 && cores) seen_.cores = *cores;
}

void MeasuredStages::AddProfile(std::uint64_t profile, std::uint32_t slots) {
  if (profiles_.size() < TaskSlots::kProfilesMax) profiles_.insert(profile);
  ++executors_added_;
  slots_added_ += slots;
  if (has_mixed_profiles()) seen_.at_once_max = std::max(slots_added_ / executors_added_, 1.0);
}

// Executors may come and go while the stage runs, so its submission and its end count.
void MeasuredStages::OnStage(const json& info) {
  const auto number = Number(info, "Stage ID");
  const auto profile = Count(info, "Resource Profile Id");
  if (!number || !profile) return;
  if (slots_of_stages_.size() >= kSqlStagesMax && !slots_of_stages_.contains(*number)) return;
  if (*profile == 0 && !has_mixed_profiles()) return;
  std::uint64_t slots = 0;
  for (const auto& [id, executor] : executors_) slots += task_slots_.OfStage(*profile, executor);
  std::uint64_t& most = slots_of_stages_[*number];
  most = std::max(most, slots);
}

std::optional<std::uint64_t> MeasuredStages::SlotsOf(std::uint32_t stage) const {
  const auto known = slots_of_stages_.find(stage);
  if (known == slots_of_stages_.end() || known->second == 0) return std::nullopt;
  return known->second;
}

phases::Properties MeasuredStages::properties() const {
  return profiles_.size() == 1 ? task_slots_.WithProfile(*profiles_.begin(), properties_)
                               : properties_;
}

}  // namespace tidemark::spark
