#include "master/cost/sized_stages.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "master/cost/task_sizes.h"
#include "master/model/leading_attempt.h"

namespace tidemark::cost {
namespace {

double SecondsUntil(absl::Time end, const model::MapAttempt& attempt) {
  if (!attempt.life.started_at()) return 0;
  return std::max(absl::ToDoubleSeconds(end - *attempt.life.started_at()), 0.0);
}

// Whether the engine says when an attempt begins to reduce. If not, its times are of the whole.
bool TellsOfShuffles(const model::JobState& state) {
  return std::any_of(state.reduce_tasks.begin(), state.reduce_tasks.end(), [](const auto& task) {
    const model::ReduceAttempt* const done = task.finished_attempt();
    return done != nullptr && done->reduce_started_at;
  });
}

// The seconds of its reduce functions, or of the whole of an attempt whose shuffle is not told.
double ReduceSeconds(absl::Time end, const model::ReduceAttempt& attempt) {
  const std::optional<absl::Time> start =
      attempt.reduce_started_at ? attempt.reduce_started_at : attempt.life.started_at();
  return start ? std::max(absl::ToDoubleSeconds(end - *start), 0.0) : 0;
}

}  // namespace

std::optional<StageLeft> MapStageBySize(const model::JobState& state, absl::Time now,
                                        const FixedDraws& draws) {
  std::vector<SizedTask> finished;
  std::vector<SizedTask> running;
  std::vector<SizedTask> pending;
  for (std::size_t i = 0; i < state.map_tasks.size(); ++i) {
    const model::MapTask& task = state.map_tasks[i];
    SizedTask sized = {.index = i};
    if (task.input_bytes) sized.bytes = static_cast<double>(*task.input_bytes);
    if (const model::MapAttempt* const done = task.finished_attempt()) {
      sized.seconds = SecondsUntil(done->life.ended_at().value_or(now), *done);
      finished.push_back(sized);
    } else if (const model::MapAttempt* const attempt = model::LeadingAttempt(task)) {
      sized.seconds = SecondsUntil(now, *attempt);
      const double bytes = sized.bytes.value_or(0);
      if (bytes > 0) sized.fraction = static_cast<double>(attempt->bytes_done) / bytes;
      running.push_back(sized);
    } else {
      pending.push_back(sized);
    }
  }
  StageLeft stage;
  if (!TimesBySize(finished, running, pending, draws, stage.times)) return std::nullopt;
  stage.work.pending = pending.size();
  stage.work.running.resize(running.size());
  stage.work.at_once_max = std::max(state.map_slots(), running.size());
  return stage;
}

std::optional<SizedStage> ReduceStageBySize(const model::JobState& state, absl::Time now,
                                            double shuffle_seconds_per_byte,
                                            const FixedDraws& draws) {
  std::vector<SizedTask> finished;
  std::vector<SizedTask> running;
  std::vector<SizedTask> pending;
  SizedStage sized;
  std::vector<std::size_t> waiting;
  const bool tells_shuffles = TellsOfShuffles(state);
  const bool has_profiles = state.keys.profile_count() > 0;
  for (std::size_t i = 0; i < state.reduce_tasks.size(); ++i) {
    const model::ReduceTask& task = state.reduce_tasks[i];
    const auto bytes = static_cast<double>(state.reduce_input_bytes(i));
    SizedTask of_task = {.index = i};
    if (bytes > 0 || has_profiles) of_task.bytes = bytes;
    if (tells_shuffles) of_task.fetches = shuffle_seconds_per_byte * bytes;
    if (const model::ReduceAttempt* const done = task.finished_attempt()) {
      of_task.seconds = ReduceSeconds(done->life.ended_at().value_or(now), *done);
      finished.push_back(of_task);
    } else if (const model::ReduceAttempt* const attempt = model::LeadingAttempt(task)) {
      const bool has_begun = attempt->reduce_started_at || !tells_shuffles;
      if (has_begun) {
        of_task.fetches = 0;
        of_task.seconds = ReduceSeconds(now, *attempt);
        if (bytes > 0) of_task.fraction = static_cast<double>(attempt->bytes_done) / bytes;
      }
      running.push_back(of_task);
      sized.tasks.push_back(i);
    } else {
      pending.push_back(of_task);
      waiting.push_back(i);
    }
  }
  if (finished.empty() || running.size() + pending.size() == 0) return std::nullopt;
  if (!TimesBySize(finished, running, pending, draws, sized.stage.times)) return std::nullopt;
  sized.tasks.insert(sized.tasks.end(), waiting.begin(), waiting.end());
  sized.stage.work.pending = pending.size();
  sized.stage.work.running.resize(running.size());
  sized.stage.work.at_once_max = std::max(state.reduce_slots(), running.size());
  return sized;
}

}  // namespace tidemark::cost
