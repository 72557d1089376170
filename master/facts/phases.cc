#include "master/facts/phases.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace tidemark::facts {
namespace {

template <typename T>
void KeepLeast(std::optional<T>& least, const std::optional<T>& value) {
  if (value && (!least || *value < *least)) least = value;
}

template <typename T>
void KeepLargest(std::optional<T>& largest, const std::optional<T>& value) {
  if (value && (!largest || *value > *largest)) largest = value;
}

// Counts the tasks of a map or reduce stage, and finds its start and end.
class PhaseCounts {
 public:
  explicit PhaseCounts(std::uint32_t stage) { progress_.id.stage = stage; }

  void Add(const Task& task) {
    const TaskAttempt* const finished = task.finished_attempt();
    const bool is_given_up = task.is_given_up();
    ++progress_.tasks;
    over_ += finished != nullptr || is_given_up ? 1 : 0;
    progress_.finished_tasks += finished != nullptr ? 1 : 0;
    progress_.running_tasks += task.is_running() ? 1 : 0;
    for (const auto& [number, attempt] : task.attempts) {
      KeepLeast(progress_.started_at, attempt.life.started_at());
      if (is_given_up) KeepLargest(progress_.ended_at, attempt.life.ended_at());
    }
    if (finished != nullptr) KeepLargest(progress_.ended_at, finished->life.ended_at());
  }

  StageProgress Finish() const {
    StageProgress progress = progress_;
    const bool done = over_ == progress.tasks && progress.tasks > 0;
    if (!done) progress.ended_at.reset();
    progress.state = done                  ? StageState::kDone
                     : progress.started_at ? StageState::kRunning
                                           : StageState::kPending;
    return progress;
  }

 private:
  StageProgress progress_;
  std::size_t over_ = 0;
};

StageProgress CountsOfReduce(const JobRecord& state) {
  PhaseCounts counts(kReduceStage);
  for (const Task& task : state.reduce_tasks()) counts.Add(task);
  return counts.Finish();
}

// Returns the earliest start of an attempt's shuffle. With slow start, the attempt begins during
// the map phase, so its wait in that phase does not show its speed.
absl::Time ShuffleStart(const TaskAttempt& attempt, std::optional<absl::Time> maps_finished_at) {
  return std::max(*attempt.life.started_at(), maps_finished_at.value_or(absl::InfinitePast()));
}

double Ratio(double done, double total) {
  return total > 0 ? std::clamp(done / total, 0.0, 1.0) : 0;
}

// Counts the map tasks, and sums their input.
class MapSums {
 public:
  void Add(const Task& task) {
    counts_.Add(task);
    const double fraction = MapTaskFraction(task);
    const auto bytes = static_cast<double>(task.input_bytes.value_or(0));
    const double weight = std::max(1.0, bytes);
    are_bytes_known_ &= task.input_bytes.has_value();
    bytes_ += bytes;
    tasks_done_ += fraction;
    weight_done_ += weight * fraction;
    weight_ += weight;
  }

  MapPhase Finish() const {
    MapPhase phase{.progress = counts_.Finish(), .input_bytes = are_bytes_known_ ? bytes_ : 0};
    StageProgress& progress = phase.progress;
    progress.fraction_done = progress.state == StageState::kDone ? 1
                             : are_bytes_known_
                                 ? Ratio(weight_done_, weight_)
                                 : Ratio(tasks_done_, static_cast<double>(progress.tasks));
    return phase;
  }

 private:
  PhaseCounts counts_{kMapStage};
  bool are_bytes_known_ = true;
  double bytes_ = 0;
  double tasks_done_ = 0;
  double weight_done_ = 0;
  double weight_ = 0;
};

}  // namespace

StageTally TallyOf(const Stage& stage) {
  if (stage.tally && stage.tally->revision == stage.revision) return *stage.tally;
  StageTally tally{.revision = stage.revision};
  MapSums sums;
  // If several attempts failed at the same time, the highest index counts, regardless of the order
  // of the reports.
  std::pair<absl::Time, std::uint32_t> failed_at = {absl::InfinitePast(), 0};
  const std::string* failure = nullptr;
  for (const Task& task : stage.tasks) {
    bool is_any_lost = false;
    std::size_t running = 0;
    for (const auto& [number, attempt] : task.attempts) {
      const AttemptLife& life = attempt.life;
      running += life.is_running() ? 1 : 0;
      is_any_lost |= life.state() == AttemptState::kLost;
      if (life.state() != AttemptState::kFailed) continue;
      ++tally.failed_attempts;
      const std::pair at(life.ended_at().value_or(absl::InfinitePast()), task.index);
      if (life.failure.empty() || at < failed_at) continue;
      failed_at = at;
      failure = &life.failure;
    }
    tally.running_attempts += running;
    if (is_any_lost && running == 0 && !task.is_finished()) ++tally.lost_tasks;
    tally.given_up_tasks += task.is_given_up() ? 1 : 0;
    const InputDone done = task.input_done();
    tally.input_done.bytes = SaturatingAdd(tally.input_done.bytes, done.bytes);
    tally.input_done.records = SaturatingAdd(tally.input_done.records, done.records);
    if (stage.is_map()) sums.Add(task);
  }
  if (failure != nullptr) tally.failure = *failure;
  if (stage.is_map()) tally.map_phase = std::make_shared<const MapPhase>(sums.Finish());
  return tally;
}

void CountTasks(JobRecord& state) {
  for (auto& [number, stage] : state.stages) {
    if (!stage.tally || stage.tally->revision != stage.revision) stage.tally = TallyOf(stage);
  }
}

double MapTaskFraction(const Task& task) {
  if (task.is_over()) return 1;
  if (!task.input_bytes || *task.input_bytes == 0) return 0;
  const TaskAttempt* const attempt = task.leading_attempt();
  const std::uint64_t read = attempt == nullptr ? 0 : attempt->bytes_done;
  return Ratio(static_cast<double>(read), static_cast<double>(*task.input_bytes));
}

std::vector<double> MapTaskWeights(const JobRecord& state) {
  std::vector<double> weights;
  weights.reserve(state.map_tasks().size());
  for (const Task& task : state.map_tasks()) {
    if (!task.input_bytes) return std::vector<double>(state.map_tasks().size(), 1.0);
    weights.push_back(std::max(1.0, static_cast<double>(*task.input_bytes)));
  }
  return weights;
}

const StageProgress* PhaseOf(const Snapshot& snapshot, StageKind phase) {
  const std::uint32_t number = phase == StageKind::kMap ? kMapStage : kReduceStage;
  for (std::size_t i = 0; i < snapshot.stages.size(); ++i) {
    const bool is_phase =
        snapshot.stage_infos[i].kind == phase && snapshot.stages[i].id == StageId{0, number};
    if (is_phase) return &snapshot.stages[i];
  }
  return nullptr;
}

StageProgress MapProgress(const JobRecord& state) {
  const Stage* const stage = state.map_stage();
  return stage == nullptr ? MapSums().Finish().progress : TallyOf(*stage).map_phase->progress;
}

double MapInputBytes(const JobRecord& state) {
  const Stage* const stage = state.map_stage();
  return stage == nullptr ? 0 : TallyOf(*stage).map_phase->input_bytes;
}

ShuffleProgress FetchProgress(const JobRecord& state) {
  ShuffleProgress progress;
  double done = 0;
  double total = 0;
  const std::span<const Task> tasks = state.reduce_tasks();
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    const double bytes = std::max(1.0, static_cast<double>(state.reduce_input_bytes(i)));
    double fetched = 0;
    bool is_shuffled = tasks[i].is_given_up();
    bool is_shuffling = false;
    for (const auto& [number, attempt] : tasks[i].attempts) {
      is_shuffled |= attempt.reduce->reduce_started_at.has_value() || attempt.life.is_finished();
      if (attempt.life.state() == AttemptState::kStarted) {
        is_shuffling = true;
        fetched = std::max(fetched, static_cast<double>(attempt.reduce->fetched_bytes));
      }
    }
    progress.finished_tasks += is_shuffled ? 1 : 0;
    progress.running_tasks += is_shuffling && !is_shuffled ? 1 : 0;
    done += is_shuffled ? bytes : std::min(fetched, bytes);
    total += bytes;
  }
  const bool done_all = progress.finished_tasks == tasks.size() && !tasks.empty();
  progress.fraction_done = done_all ? 1 : Ratio(done, total);
  return progress;
}

StageProgress ReduceProgress(const JobRecord& state) {
  StageProgress progress = CountsOfReduce(state);
  progress.started_at = ReducePhaseStart(state);
  if (progress.state == StageState::kDone) {
    progress.fraction_done = 1;
  } else {
    progress.state = progress.started_at ? StageState::kRunning : StageState::kPending;
  }
  return progress;
}

std::optional<double> ShuffleSecondsPerByte(const JobRecord& state) {
  const StageProgress maps = MapProgress(state);
  double seconds = 0;
  double bytes = 0;
  bool reduced = false;
  const std::span<const Task> tasks = state.reduce_tasks();
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    for (const auto& [number, attempt] : tasks[i].attempts) {
      reduced |= attempt.reduce->groups_done > 0;
      if (!attempt.life.started_at() || !attempt.life.shuffled_at()) continue;
      const absl::Duration took =
          *attempt.life.shuffled_at() - ShuffleStart(attempt, maps.ended_at);
      seconds += absl::ToDoubleSeconds(std::max(took, absl::ZeroDuration()));
      bytes += static_cast<double>(state.reduce_input_bytes(i));
    }
  }
  if (bytes > 0) return seconds / bytes;
  return reduced ? std::optional<double>(0) : std::nullopt;
}

std::optional<absl::Time> ReducePhaseStart(const JobRecord& state) {
  std::optional<absl::Time> start;
  for (const Task& task : state.reduce_tasks()) {
    for (const auto& [number, attempt] : task.attempts) {
      KeepLeast(start, attempt.reduce->reduce_started_at);
    }
  }
  return start;
}

std::optional<absl::Time> ReducePhaseEnd(const JobRecord& state) {
  return CountsOfReduce(state).ended_at;
}

bool ReduceSizesKnown(const JobRecord& state) {
  if (state.keys.profile_count() > 0) return true;
  return std::ranges::any_of(state.reduce_tasks(), [](const Task& task) {
    return std::any_of(task.attempts.begin(), task.attempts.end(),
                       [](const auto& entry) { return entry.second.life.input_bytes.has_value(); });
  });
}

}  // namespace tidemark::facts
