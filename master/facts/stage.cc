#include "master/facts/stage.h"

#include <algorithm>
#include <optional>
#include <vector>

namespace tidemark::facts {
namespace {

// How long a new process counts as cold: it loads classes, its code is not compiled, and its caches
// are empty. Chosen by hand. The first 100 ms of Hadoop task processes are hundreds of times
// slower.
constexpr absl::Duration kColdFor = absl::Milliseconds(300);

int Rank(AttemptState state) {
  switch (state) {
    case AttemptState::kQueued:
      return 0;
    case AttemptState::kStarted:
      return 1;
    case AttemptState::kShuffled:
      return 2;
    case AttemptState::kLost:
      return 3;
    case AttemptState::kFinished:
    case AttemptState::kFailed:
    case AttemptState::kKilled:
      return 4;
    case AttemptState::kObsolete:
      return 5;
  }
  return 0;
}

// Sets an unknown value. Returns false if a known value differs.
template <typename T>
bool FillIn(const std::optional<T>& reported, std::optional<T>& known) {
  if (!reported) return true;
  if (!known) known = reported;
  return *known == *reported;
}

template <typename List>
bool FillInList(const List& reported, List& known) {
  if (reported.empty()) return true;
  if (known.empty()) known = reported;
  return known == reported;
}

// Sets unknown sizes, one per index. Returns false if the number of sizes is wrong or known sizes
// differ.
bool FillInSizes(const std::vector<std::uint64_t>& reported, const StageOpened& stage,
                 std::vector<std::uint64_t>& known) {
  const bool fits = reported.empty() ||
                    reported.size() == (stage.index_count ? stage.index_count : stage.task_count);
  return fits && FillInList(reported, known);
}

}  // namespace

bool AttemptLife::has_ended() const { return Rank(state_) >= 3; }

bool AttemptLife::Enter(AttemptState state, absl::Time at) {
  // Events of two sources may cross, so a late timestamp is still useful.
  const bool is_late =
      (state == AttemptState::kStarted && at < started_at_.value_or(absl::InfiniteFuture())) ||
      (state == AttemptState::kShuffled && !shuffled_at_);
  // Clock steps and differences must not make an attempt end before its start.
  if (state == AttemptState::kStarted && is_late)
    started_at_ = std::min(at, ended_at_.value_or(at));
  if (state == AttemptState::kShuffled && is_late) shuffled_at_ = at;
  if (Rank(state) <= Rank(state_)) return is_late || state == state_ || Rank(state) == 0;
  if (state == AttemptState::kObsolete && state_ != AttemptState::kFinished) return false;
  state_ = state;
  if (Rank(state) == 3 || Rank(state) == 4) ended_at_ = std::max(at, started_at_.value_or(at));
  return true;
}

void SlotLoad::Count(bool runs, std::uint32_t slots, absl::Time now) {
  if (HasBeenOverFor(kOverlap, now)) over_until = std::max(over_until, now);
  running += runs ? 1 : -1;
  if (slots == 0 || running <= slots) {
    over_since.reset();
  } else if (!over_since) {
    over_since = now;
  }
}

bool ReduceWork::is_cold() const {
  if (!processor_use) return false;
  return reduce_time_alone + (running_group ? running_group->elapsed : absl::ZeroDuration()) <
         kColdFor;
}

absl::Duration TaskAttempt::start_up() const {
  // Without a report of input, the time of the first input is unknown.
  if (bytes_done == 0 && records_done == 0) return absl::ZeroDuration();
  return std::max(idle_until - life.started_at().value_or(idle_until), absl::ZeroDuration());
}

InputDone TaskAttempt::input_done() const {
  InputDone done = {.bytes = bytes_done, .records = records_done};
  if (!life.is_finished()) return done;
  done.bytes = std::max(done.bytes, life.input_bytes.value_or(0));
  done.records = std::max(done.records, life.input_records.value_or(0));
  return done;
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

InputDone Task::input_done() const {
  const TaskAttempt* attempt = finished_attempt();
  if (attempt == nullptr) attempt = leading_attempt();
  return attempt == nullptr ? InputDone() : attempt->input_done();
}

bool Task::is_running() const { return leading_attempt() != nullptr; }

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

std::size_t Stage::running_task_count() const {
  return static_cast<std::size_t>(std::count_if(
      tasks.begin(), tasks.end(), [](const Task& task) { return task.is_running(); }));
}

bool FillIn(const StageOpened& reported, StageOpened& known) {
  if (reported.attempt < known.attempt) return false;
  if (known.kind == StageKind::kUnknown) known.kind = reported.kind;
  const bool is_of_kind = reported.kind == StageKind::kUnknown || reported.kind == known.kind;
  if (reported.attempt > known.attempt) {
    const StageKind kind = known.kind;
    known = reported;
    known.kind = kind;
    return is_of_kind;
  }
  if (known.size_precision == SizePrecision::kUnknown)
    known.size_precision = reported.size_precision;
  if (!known.opened_at) known.opened_at = reported.opened_at;
  if (known.work == 0) known.work = reported.work;
  known.skipped |= reported.skipped;
  // An array evaluates all merges, even after one has failed.
  const bool agree[] = {is_of_kind,
                        FillIn(reported.task_count, known.task_count),
                        FillInList(reported.name, known.name),
                        FillInList(reported.signature, known.signature),
                        FillInList(reported.parents, known.parents),
                        FillInList(reported.group, known.group),
                        FillInList(reported.pool, known.pool),
                        FillIn(reported.index_count, known.index_count),
                        FillInSizes(reported.task_bytes, known, known.task_bytes),
                        FillInSizes(reported.task_records, known, known.task_records),
                        FillIn(reported.slots, known.slots),
                        FillIn(reported.partition_count, known.partition_count),
                        FillIn(reported.has_combiner, known.has_combiner),
                        FillIn(reported.is_grouping_opaque, known.is_grouping_opaque)};
  return std::count(std::begin(agree), std::end(agree), false) == 0;
}

std::size_t StateBytesOf(const StageOpened& stage) {
  return stage.name.size() + stage.signature.size() + stage.group.size() + stage.pool.size() +
         sizeof(std::uint32_t) * stage.parents.size() +
         sizeof(std::uint64_t) * (stage.task_bytes.size() + stage.task_records.size());
}

}  // namespace tidemark::facts
