#include "tidemark/past_run.h"

#include <algorithm>

#include "master/model/job_record.h"
#include "master/model/phases.h"

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
  if (!final.started_at || reduce == nullptr) return std::nullopt;
  if (!reduce->started_at || !reduce->ended_at) return std::nullopt;
  absl::Time maps_ended = *reduce->started_at;
  if (map != nullptr && map->ended_at) maps_ended = std::min(maps_ended, *map->ended_at);
  return PastRun{.map_time = maps_ended - *final.started_at,
                 .shuffle_time = *reduce->started_at - maps_ended,
                 .reduce_time = *reduce->ended_at - *reduce->started_at,
                 .map_input_bytes = summary.map_input_bytes,
                 .interval_score = summary.interval_score};
}

}  // namespace tidemark
