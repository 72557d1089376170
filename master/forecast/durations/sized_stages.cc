#include "master/forecast/durations/sized_stages.h"

#include <algorithm>
#include <vector>

#include "master/forecast/durations/task_sizes.h"

namespace tidemark::cost {
namespace {

using model::Task;
using model::TaskAttempt;

// The tasks of a stage by how far they are.
class SortedTasks {
 public:
  // `begun_at`: when an attempt began to read its bytes; empty if it has not.
  template <typename BegunAt>
  void Add(const Task& task, SizedTask sized, absl::Time now, BegunAt begun_at) {
    const auto seconds_until = [](std::optional<absl::Time> start, absl::Time end) {
      return start ? std::max(absl::ToDoubleSeconds(end - *start), 0.0) : 0;
    };
    const auto read_for = [&](const TaskAttempt& attempt) -> std::optional<double> {
      if (attempt.progressed_at == absl::InfinitePast()) return std::nullopt;
      return seconds_until(begun_at(attempt), attempt.progressed_at);
    };
    if (const TaskAttempt* const done = task.finished_attempt()) {
      sized.seconds = seconds_until(begun_at(*done), done->life.ended_at().value_or(now));
      const bool was_seen_to_read_all =
          sized.bytes && static_cast<double>(done->bytes_done) >= *sized.bytes;
      if (was_seen_to_read_all) sized.read_for = read_for(*done);
      finished_.push_back(sized);
    } else if (const TaskAttempt* const attempt = task.leading_attempt()) {
      const std::optional<absl::Time> start = begun_at(*attempt);
      const double bytes = sized.bytes.value_or(0);
      sized.seconds = seconds_until(start, now);
      if (start) sized.fetches = 0;
      if (start && bytes > 0 && !attempt->input_is_read_first) {
        sized.fraction = static_cast<double>(attempt->bytes_done) / bytes;
        sized.read_for = read_for(*attempt);
      }
      running_.push_back(sized);
    } else {
      pending_.push_back(sized);
    }
  }

  std::size_t size() const { return finished_.size() + running_.size() + pending_.size(); }
  bool any_has_ended() const { return !finished_.empty(); }
  bool any_is_left() const { return size() > finished_.size(); }

  std::optional<SizedStage> Left(std::size_t slots, const FixedDraws& draws) const {
    SizedStage sized;
    StageLeft& stage = sized.stage;
    if (!TimesBySize(finished_, running_, pending_, draws, stage.times)) return std::nullopt;
    stage.work.pending = pending_.size();
    stage.work.running.resize(running_.size());
    stage.work.at_once_max = std::max(slots, running_.size());
    for (const SizedTask& task : running_) sized.tasks.push_back(task.index);
    for (const SizedTask& task : pending_) sized.tasks.push_back(task.index);
    return sized;
  }

 private:
  std::vector<SizedTask> finished_;
  std::vector<SizedTask> running_;
  std::vector<SizedTask> pending_;
};

}  // namespace

std::optional<SizedStage> MapStageBySize(const model::JobRecord& state, absl::Time now,
                                         const FixedDraws& draws) {
  SortedTasks tasks;
  for (std::size_t index = 0; index < state.map_tasks().size(); ++index) {
    const Task& task = state.map_tasks()[index];
    if (task.is_given_up()) continue;
    SizedTask sized = {.index = index};
    if (task.input_bytes) sized.bytes = static_cast<double>(*task.input_bytes);
    tasks.Add(task, sized, now, [](const TaskAttempt& a) { return a.life.started_at(); });
  }
  return tasks.Left(state.map_slots(), draws);
}

std::optional<SizedStage> ReduceStageBySize(const model::JobRecord& state, absl::Time now,
                                            double shuffle_seconds_per_byte,
                                            const FixedDraws& draws) {
  // Whether the engine says when an attempt begins to reduce. If not, its times are of the whole.
  const bool tells_shuffles = std::ranges::any_of(state.reduce_tasks(), [](const Task& task) {
    const TaskAttempt* const done = task.finished_attempt();
    return done != nullptr && done->reduce->reduce_started_at;
  });
  const bool has_profiles = state.keys.profile_count() > 0;
  const auto begun_at = [&](const TaskAttempt& attempt) -> std::optional<absl::Time> {
    if (attempt.reduce->reduce_started_at) return attempt.reduce->reduce_started_at;
    return attempt.life.is_finished() || !tells_shuffles ? attempt.life.started_at() : std::nullopt;
  };
  SortedTasks tasks;
  for (std::size_t index = 0; index < state.reduce_tasks().size(); ++index) {
    const Task& task = state.reduce_tasks()[index];
    if (task.is_given_up()) continue;
    const auto bytes = static_cast<double>(state.reduce_input_bytes(index));
    SizedTask sized = {.index = index};
    if (bytes > 0 || has_profiles) sized.bytes = bytes;
    if (tells_shuffles) sized.fetches = shuffle_seconds_per_byte * bytes;
    tasks.Add(task, sized, now, begun_at);
  }
  if (!tasks.any_has_ended() || !tasks.any_is_left()) return std::nullopt;
  return tasks.Left(state.reduce_slots(), draws);
}

}  // namespace tidemark::cost
