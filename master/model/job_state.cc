#include "master/model/job_state.h"

#include <algorithm>

namespace tidemark::model {
namespace {

// What a process does first is slow: classes are loaded, code is not compiled, caches are empty.
// Taste, after task processes of Hadoop, whose first tenth of a second is hundreds of times slower.
constexpr absl::Duration kColdFor = absl::Milliseconds(300);

template <typename Task>
auto FinishedAttempt(const Task& task) -> decltype(&task.attempts.begin()->second) {
  for (const auto& [number, attempt] : task.attempts) {
    if (attempt.life.is_finished()) return &attempt;
  }
  return nullptr;
}

template <typename Task>
bool IsRunning(const Task& task) {
  if (task.is_finished()) return false;
  return std::any_of(task.attempts.begin(), task.attempts.end(),
                     [](const auto& entry) { return entry.second.life.is_running(); });
}

std::size_t Slots(const StageOpened* stage, std::uint32_t seen) {
  const std::uint32_t said = stage == nullptr ? 0 : stage->slots.value_or(0);
  return std::max<std::size_t>({said, seen, 1});
}

}  // namespace

const MapAttempt* MapTask::finished_attempt() const { return FinishedAttempt(*this); }
bool MapTask::is_running() const { return IsRunning(*this); }
const ReduceAttempt* ReduceTask::finished_attempt() const { return FinishedAttempt(*this); }
bool ReduceTask::is_running() const { return IsRunning(*this); }

bool ReduceAttempt::is_cold() const {
  if (!processor_use) return false;
  return reduce_time_alone + (running_group ? running_group->elapsed : absl::ZeroDuration()) <
         kColdFor;
}

const StageOpened* JobState::map_stage() const {
  const auto stage = stages.find(kMapStage);
  return stage != stages.end() && stage->second.is_map() ? &stage->second.opened : nullptr;
}

const StageOpened* JobState::reduce_stage() const {
  const auto stage = stages.find(kReduceStage);
  return stage != stages.end() && stage->second.is_reduce() ? &stage->second.opened : nullptr;
}

bool JobState::has_map_stage() const {
  return stages.empty() ? opened.has_value() : map_stage() != nullptr;
}

bool JobState::has_reduce_stage() const {
  return stages.empty() ? opened.has_value() : reduce_stage() != nullptr;
}

double JobState::missing_profiles_factor() const {
  const auto seen = static_cast<double>(keys.profile_count());
  return seen > 0 ? (seen + static_cast<double>(map_profiles_missing)) / seen : 1;
}

std::uint64_t JobState::reduce_input_bytes(std::size_t index) const {
  std::uint64_t read = 0;
  for (const auto& [number, attempt] : reduce_tasks[index].attempts) {
    if (attempt.life.input_bytes) return std::max(*attempt.life.input_bytes, attempt.bytes_done);
    read = std::max(read, attempt.bytes_done);
  }
  const double bytes =
      missing_profiles_factor() * static_cast<double>(keys.partition(index).total_bytes);
  return std::max(read, bytes < 1.8e19 ? static_cast<std::uint64_t>(bytes) : ~std::uint64_t{0});
}

std::size_t JobState::map_slots() const { return Slots(map_stage(), map_tasks_running_max); }

std::size_t JobState::reduce_slots() const {
  return Slots(reduce_stage(), reduce_tasks_running_max);
}

}  // namespace tidemark::model
