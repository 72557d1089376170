#include "spark/task_slots.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>

#include "absl/strings/numbers.h"
#include "spark/event_json.h"
#include "whatif/phases/settings.h"

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

std::uint32_t TaskSlots::Of(const json& executor) const {
  constexpr std::uint64_t kCoresMax = 65'536;
  const std::uint64_t cores = std::min(Count(executor, "Total Cores").value_or(0), kCoresMax);
  const auto known = profiles_.find(Count(executor, "Resource Profile Id").value_or(0));
  const Profile profile = known == profiles_.end() ? Profile() : known->second;
  double slots =
      std::floor(static_cast<double>(cores) / static_cast<double>(profile.cores_of_task));
  for (const auto& [resource, of_task] : profile.of_task) {
    const json& addresses =
        Member(Member(Member(executor, "Resources"), resource.c_str()), "addresses");
    const auto requested = profile.of_executor.find(resource);
    double amount = addresses.is_array() ? static_cast<double>(addresses.size()) : 0;
    if (amount == 0 && requested != profile.of_executor.end()) amount = requested->second;
    if (amount > 0) slots = std::min(slots, phases::TasksByResource(amount, of_task));
  }
  return static_cast<std::uint32_t>(slots);
}

}  // namespace tidemark::spark
