#include "master/facts/stage.h"

#include <algorithm>
#include <optional>
#include <vector>

namespace tidemark::model {
namespace {

// What a process does first is slow: classes are loaded, code is not compiled, caches are empty.
// Taste, after task processes of Hadoop, whose first tenth of a second is hundreds of times slower.
constexpr absl::Duration kColdFor = absl::Milliseconds(300);

// Each sets what was not said before; false if something else was said.

template <typename T>
bool FillIn(const std::optional<T>& said, std::optional<T>& known) {
  if (!said) return true;
  if (!known) known = said;
  return *known == *said;
}

template <typename List>
bool FillInList(const List& said, List& known) {
  if (said.empty()) return true;
  if (known.empty()) known = said;
  return known == said;
}

// Sizes, one for each index.
bool FillInSizes(const std::vector<std::uint64_t>& said, const StageOpened& stage,
                 std::vector<std::uint64_t>& known) {
  const bool fits =
      said.empty() || said.size() == (stage.index_count ? stage.index_count : stage.task_count);
  return fits && FillInList(said, known);
}

}  // namespace

bool ReduceWork::is_cold() const {
  if (!processor_use) return false;
  return reduce_time_alone + (running_group ? running_group->elapsed : absl::ZeroDuration()) <
         kColdFor;
}

const TaskAttempt* Task::finished_attempt() const {
  for (const auto& [number, attempt] : attempts) {
    if (attempt.life.is_finished()) return &attempt;
  }
  return nullptr;
}

const TaskAttempt* Task::leading_attempt() const {
  const TaskAttempt* leading = nullptr;
  for (const auto& [number, attempt] : attempts) {
    if (attempt.life.is_finished()) return nullptr;
    if (!attempt.life.is_running()) continue;
    if (leading == nullptr || attempt.bytes_done > leading->bytes_done) leading = &attempt;
  }
  return leading;
}

bool Task::is_running() const { return leading_attempt() != nullptr; }

// An engine that starts the task again after all, such as a new application master, has not given
// it up.
bool Task::is_given_up() const { return has_failed && !is_finished() && !is_running(); }

const FinishedGroups& Task::finished_groups() const {
  static const FinishedGroups* const kNone = new FinishedGroups;
  return groups == nullptr ? *kNone : *groups;
}

double Stage::RecordsPerByte() const {
  double records = 0;
  double bytes = 0;
  for (const Task& task : tasks) {
    const TaskAttempt* const finished = task.finished_attempt();
    const std::uint64_t read = input_bytes(task).value_or(0);
    if (finished == nullptr || !finished->life.input_records || read == 0) continue;
    records += static_cast<double>(*finished->life.input_records);
    bytes += static_cast<double>(read);
  }
  return bytes > 0 ? records / bytes : 0;
}

std::optional<double> Stage::FractionDone(const Task& task, const TaskAttempt& attempt,
                                          double records_per_byte) const {
  if (attempt.input_is_read_first) return std::nullopt;
  const auto bytes = static_cast<double>(input_bytes(task).value_or(0));
  double records = bytes * records_per_byte;
  if (task.index < opened.task_records.size()) {
    records = static_cast<double>(opened.task_records[task.index]);
  }
  if (records > 0 && attempt.records_done > 0) {
    return std::min(static_cast<double>(attempt.records_done) / records, 1.0);
  }
  if (bytes <= 0) return std::nullopt;
  return std::min(static_cast<double>(attempt.bytes_done) / bytes, 1.0);
}

Task* Stage::task(std::uint32_t index) {
  if (index < tasks.size() && tasks[index].index == index) return &tasks[index];
  const auto place = places.find(index);
  return place == places.end() ? nullptr : &tasks[place->second];
}

bool Stage::is_skipped() const {
  return opened.skipped && std::none_of(tasks.begin(), tasks.end(), [this](const Task& task) {
           return task.attempts.lower_bound({opened.attempt, 0}) != task.attempts.end();
         });
}

std::optional<std::uint64_t> Stage::input_bytes(const Task& task) const {
  if (task.input_bytes || task.index >= opened.task_bytes.size()) return task.input_bytes;
  return opened.task_bytes[task.index];
}

std::size_t Stage::slots() const {
  return std::max<std::size_t>({opened.slots.value_or(0), tasks_running_max, 1});
}

std::size_t Stage::finished_task_count() const {
  return static_cast<std::size_t>(std::count_if(
      tasks.begin(), tasks.end(), [](const Task& task) { return task.is_finished(); }));
}

std::size_t Stage::given_up_task_count() const {
  return static_cast<std::size_t>(std::count_if(
      tasks.begin(), tasks.end(), [](const Task& task) { return task.is_given_up(); }));
}

std::size_t Stage::running_task_count() const {
  return static_cast<std::size_t>(std::count_if(
      tasks.begin(), tasks.end(), [](const Task& task) { return task.is_running(); }));
}

bool FillIn(const StageOpened& said, StageOpened& known) {
  if (said.attempt < known.attempt) return false;
  if (known.kind == StageKind::kUnknown) known.kind = said.kind;
  const bool is_of_kind = said.kind == StageKind::kUnknown || said.kind == known.kind;
  if (said.attempt > known.attempt) {
    const StageKind kind = known.kind;
    known = said;
    known.kind = kind;
    return is_of_kind;
  }
  if (known.size_precision == SizePrecision::kUnknown) known.size_precision = said.size_precision;
  if (!known.opened_at) known.opened_at = said.opened_at;
  if (known.work == 0) known.work = said.work;
  known.skipped |= said.skipped;
  // Each is filled in, whether or not the one before agrees.
  const bool agree[] = {is_of_kind,
                        FillIn(said.task_count, known.task_count),
                        FillInList(said.name, known.name),
                        FillInList(said.signature, known.signature),
                        FillInList(said.parents, known.parents),
                        FillInList(said.group, known.group),
                        FillInList(said.pool, known.pool),
                        FillIn(said.index_count, known.index_count),
                        FillInSizes(said.task_bytes, known, known.task_bytes),
                        FillInSizes(said.task_records, known, known.task_records),
                        FillIn(said.slots, known.slots),
                        FillIn(said.partition_count, known.partition_count),
                        FillIn(said.has_combiner, known.has_combiner),
                        FillIn(said.is_grouping_opaque, known.is_grouping_opaque)};
  return std::count(std::begin(agree), std::end(agree), false) == 0;
}

std::size_t StateBytesOf(const StageOpened& stage) {
  return stage.name.size() + stage.signature.size() + stage.group.size() + stage.pool.size() +
         sizeof(std::uint32_t) * stage.parents.size() +
         sizeof(std::uint64_t) * (stage.task_bytes.size() + stage.task_records.size());
}

}  // namespace tidemark::model
