#include "master/facts/job_record.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

namespace tidemark::facts {
namespace {

const Stage* Find(const JobRecord& state, std::uint32_t number, bool (Stage::*is_it)() const) {
  const auto stage = state.stages.find(number);
  return stage != state.stages.end() && (stage->second.*is_it)() ? &stage->second : nullptr;
}

std::span<const Task> TasksOf(const Stage* stage) {
  return stage == nullptr ? std::span<const Task>() : stage->tasks;
}

std::size_t SlotsOf(const Stage* stage) { return stage == nullptr ? 1 : stage->slots(); }

}  // namespace

const Stage* JobRecord::map_stage() const { return Find(*this, kMapStage, &Stage::is_map); }
const Stage* JobRecord::reduce_stage() const {
  return Find(*this, kReduceStage, &Stage::is_reduce);
}

std::span<const Task> JobRecord::map_tasks() const { return TasksOf(map_stage()); }
std::span<const Task> JobRecord::reduce_tasks() const { return TasksOf(reduce_stage()); }

std::size_t JobRecord::map_slots() const { return SlotsOf(map_stage()); }
std::size_t JobRecord::reduce_slots() const { return SlotsOf(reduce_stage()); }

bool JobRecord::has_map_stage() const {
  return stages.empty() ? opened.has_value() : map_stage() != nullptr;
}

bool JobRecord::has_reduce_stage() const {
  return stages.empty() ? opened.has_value() : reduce_stage() != nullptr;
}

double JobRecord::missing_profiles_factor() const {
  const auto seen = static_cast<double>(keys.profile_count());
  return seen > 0 ? (seen + static_cast<double>(map_profiles_missing)) / seen : 1;
}

std::uint64_t JobRecord::reduce_input_bytes(std::size_t index) const {
  std::uint64_t read = 0;
  for (const auto& [number, attempt] : reduce_tasks()[index].attempts) {
    if (attempt.life.input_bytes) return std::max(*attempt.life.input_bytes, attempt.bytes_done);
    read = std::max(read, attempt.bytes_done);
  }
  const double bytes =
      missing_profiles_factor() * static_cast<double>(keys.partition(index).total_bytes);
  return std::max(read, bytes < 1.8e19 ? static_cast<std::uint64_t>(bytes) : ~std::uint64_t{0});
}

std::size_t BytesOf(const std::map<std::string, std::string>& parameters) {
  std::size_t bytes = 0;
  for (const auto& [name, value] : parameters) bytes += name.size() + value.size();
  return bytes;
}

std::size_t BytesOf(const JobWorkflow& workflow) {
  std::size_t bytes =
      workflow.id.size() + workflow.name.size() + workflow.node.size() + workflow.rejected.size();
  for (const WorkflowNode& node : workflow.nodes) {
    bytes += sizeof(node) + node.name.size() + sizeof(std::string) * node.after.size();
    for (const std::string& name : node.after) bytes += name.size();
  }
  for (const std::string& id : workflow.parent_job_ids) bytes += sizeof(id) + id.size();
  return bytes;
}

std::string ShapeOf(const JobWorkflow& workflow) {
  if (workflow.nodes.empty()) return "";
  std::vector<std::string> lines;
  for (const WorkflowNode& node : workflow.nodes) {
    std::vector<std::string> after = node.after;
    std::sort(after.begin(), after.end());
    lines.push_back(fmt::format("{}\n{}\n", node.name, fmt::join(after, "\t")));
  }
  std::sort(lines.begin(), lines.end());
  std::uint32_t hash = 2'166'136'261;  // FNV-1a
  for (const std::string& line : lines) {
    for (const char c : line) hash = (hash ^ static_cast<unsigned char>(c)) * 16'777'619;
  }
  return fmt::format(" #{:08x}", hash);
}

std::string NodeHistoryName(const JobWorkflow& workflow, const std::string& shape,
                            const std::string& node) {
  return fmt::format("{} / {}{}", workflow.name, node, shape);
}

std::string WorkflowHistoryName(const JobWorkflow& workflow, const std::string& shape) {
  return fmt::format("workflow {}{}", workflow.name, shape);
}

std::string HistoryNameOf(const JobOpened& opened) {
  // Unnamed sessions run unrelated queries.
  static constexpr std::array<std::string_view, 4> kUnnamedSessions = {
      "PySparkShell", "Spark shell", "SparkR", "pyspark-shell"};
  if (std::ranges::count(kUnnamedSessions, opened.name) > 0) {
    return fmt::format("{} {}", opened.name, opened.application_id);
  }
  if (!opened.workflow || opened.workflow->node.empty()) return opened.name;
  if (opened.workflow->nodes.empty() && opened.workflow->node == opened.name) return opened.name;
  return NodeHistoryName(*opened.workflow, ShapeOf(*opened.workflow), opened.workflow->node);
}

}  // namespace tidemark::facts
