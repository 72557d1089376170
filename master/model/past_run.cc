#include "tidemark/past_run.h"

#include <algorithm>

namespace tidemark {

bool CanBeKept(const RunProfile& run) {
  std::size_t edges = 0;
  std::size_t name_bytes = 0;
  std::size_t times = 0;
  for (const StageProfile& stage : run.stages) {
    edges += stage.parents.size();
    name_bytes += stage.name.size();
    for (const auto& seconds : stage.seconds) times += seconds.size();
  }
  return run.stages.size() <= RunProfile::kStagesMax && edges <= RunProfile::kEdgesMax &&
         name_bytes <= RunProfile::kNameBytesMax && times <= RunProfile::kTaskTimesMax;
}

std::optional<PastRun> PastRunOf(const next::Snapshot& final, const JobSummary& summary) {
  if (final.state != next::JobState::kSucceeded) return std::nullopt;
  if (!summary.stages.stages.empty()) return PastRun{.stages = summary.stages};
  std::optional<absl::Time> maps_end;
  std::optional<absl::Time> reduce_start;
  std::optional<absl::Time> reduce_end;
  for (std::size_t i = 0; i < final.stages.size(); ++i) {
    const StageKind kind = final.stage_infos[i].kind;
    if (kind == StageKind::kMap) maps_end = final.stages[i].ended_at;
    if (kind != StageKind::kReduce) continue;
    reduce_start = final.stages[i].started_at;
    reduce_end = final.stages[i].ended_at;
  }
  if (!final.started_at || !reduce_start || !reduce_end) return std::nullopt;
  const absl::Time maps_ended = std::min(maps_end.value_or(*reduce_start), *reduce_start);
  return PastRun{.map_time = maps_ended - *final.started_at,
                 .shuffle_time = *reduce_start - maps_ended,
                 .reduce_time = *reduce_end - *reduce_start,
                 .map_input_bytes = summary.map_input_bytes};
}

}  // namespace tidemark
