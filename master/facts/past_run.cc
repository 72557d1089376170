#include "tidemark/past_run.h"

#include <algorithm>

#include "master/facts/job_record.h"
#include "master/facts/phases.h"

namespace tidemark {

bool CanBeKept(const RunProfile& run) {
  std::size_t edges = 0;
  std::size_t name_bytes = 0;
  std::size_t times = 0;
  std::size_t long_tasks = 0;
  for (const StageProfile& stage : run.stages) {
    edges += stage.parents.size();
    name_bytes += stage.name.size() + stage.title.size();
    for (const auto& seconds : stage.seconds) times += seconds.size();
    long_tasks += stage.long_tasks.size();
  }
  return run.stages.size() <= RunProfile::kStagesMax && edges <= RunProfile::kEdgesMax &&
         name_bytes <= RunProfile::kNameBytesMax && times <= RunProfile::kTaskTimesMax &&
         long_tasks <= RunProfile::kLongTasksMax &&
         run.parameters.size() <= RunProfile::kParametersMax &&
         model::BytesOf(run.parameters) <= RunProfile::kParameterBytesMax;
}

std::optional<PastRun> PastRunOf(const Snapshot& final, const JobSummary& summary) {
  if (final.state != JobState::kSucceeded) return std::nullopt;
  if (!summary.stages.stages.empty()) {
    return PastRun{.stages = summary.stages, .interval_score = summary.interval_score};
  }
  const StageProgress* const map = model::PhaseOf(final, StageKind::kMap);
  const StageProgress* const reduce = model::PhaseOf(final, StageKind::kReduce);
  if (!final.started_at || (map == nullptr && reduce == nullptr)) return std::nullopt;
  // A task without a reported end leaves its phase without one; the run has an end all the same.
  std::optional<absl::Time> ended = final.ended_at;
  for (const StageProgress* const phase : {map, reduce}) {
    if (phase != nullptr && phase->ended_at) ended = std::max(ended, phase->ended_at);
  }
  if (!ended) return std::nullopt;
  PastRun run = {.map_input_bytes = summary.map_input_bytes,
                 .interval_score = summary.interval_score,
                 .map_tasks = summary.map_tasks,
                 .reduce_tasks = summary.reduce_tasks};
  if (reduce == nullptr) {
    run.map_time = *ended - *final.started_at;
    return run;
  }
  std::optional<absl::Time> maps_ended = map == nullptr ? std::nullopt : map->ended_at;
  if (!maps_ended && !reduce->started_at) return std::nullopt;
  // An engine that reports neither shuffles nor key groups starts to reduce when the maps end.
  const absl::Time reduces = reduce->started_at.value_or(maps_ended.value_or(*ended));
  maps_ended = std::min(maps_ended.value_or(reduces), reduces);
  run.map_time = *maps_ended - *final.started_at;
  run.shuffle_time = reduces - *maps_ended;
  run.reduce_time = *ended - reduces;
  return run;
}

}  // namespace tidemark
