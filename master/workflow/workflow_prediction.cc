#include "master/workflow/workflow_prediction.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "master/model/shown_progress.h"

namespace tidemark::workflow {
namespace {

absl::Duration Length(double seconds) {
  return absl::Seconds(std::isfinite(seconds) ? std::clamp(seconds, 0.0, 1e10) : 1e10);
}

Range RangeOf(const estimate::Range& end) {
  return {.median = Length(end.median),
          .lower = Length(std::min(end.lower, end.median)),
          .upper = Length(std::max(end.upper, end.median))};
}

StagePrediction PredictionOfStage(StageKind kind, const FollowedJob& job, const LiveJob& live,
                                  const estimate::StageEstimate& estimate) {
  const bool is_map = kind == StageKind::kMap;
  const ExpectedPhase& expected = is_map ? live.expected.map : live.expected.reduce;
  StagePrediction stage = {
      .kind = kind, .tasks = expected.tasks, .bottleneck = expected.bottleneck};
  stage.left = {.pending = expected.tasks};
  bool has_begun = false;
  if (live.is_running) {
    stage.left = is_map ? live.map : live.reduce;
    if (job.newest != nullptr) {
      const StageProgress* const seen = PhaseOf(*job.newest, kind);
      stage.tasks = seen == nullptr ? 0 : seen->tasks;
      has_begun = seen != nullptr && seen->started_at.has_value();
    }
  }
  if (!expected.times.empty()) stage.task_time = Length(expected.times.mean());
  if (stage.left.pending + stage.left.running == 0) return stage;
  if (!has_begun) stage.starts_in = Length(estimate.start);
  stage.ends_in = Length(estimate.end);
  stage.is_critical = estimate.is_critical;
  return stage;
}

}  // namespace

JobPrediction PredictionOfJob(const FollowedJob& job, const LiveJob& live,
                              const estimate::Estimate& estimate, std::size_t index) {
  JobPrediction prediction;
  if (live.is_over) return prediction;
  const estimate::StageEstimate& map = estimate.stages[MapStageOf(index)];
  const estimate::StageEstimate& reduce = estimate.stages[ReduceStageOf(index)];
  prediction.is_critical = map.is_critical || reduce.is_critical;
  if (!live.is_running) prediction.starts_in = Length(map.end > 0 ? map.start : reduce.start);
  prediction.ends_in = RangeOf(estimate.owner_ends[index]);
  if (live.is_running && !job.is_silent()) {
    prediction.fraction_done = model::FractionDone(
        absl::Seconds(live.elapsed),
        model::FlooredRemaining(prediction.ends_in->median, prediction.ends_in->upper));
  }
  for (const StageKind kind : {StageKind::kMap, StageKind::kReduce}) {
    StagePrediction stage =
        PredictionOfStage(kind, job, live, kind == StageKind::kMap ? map : reduce);
    if (stage.tasks > 0) prediction.stages.push_back(std::move(stage));
  }
  return prediction;
}

WorkflowPrediction PredictionOf(const estimate::Estimate& estimate) {
  return {.remaining = RangeOf(estimate.end), .known_share = estimate.known_share};
}

double BusyShare(const WorkflowPrediction& prediction, std::uint32_t slots) {
  // Of a running task, half is left on average.
  double work = 0;
  for (const JobPrediction& job : prediction.jobs) {
    for (const StagePrediction& stage : job.stages) {
      const double tasks =
          static_cast<double>(stage.left.pending) + static_cast<double>(stage.left.running) / 2;
      work += tasks * absl::ToDoubleSeconds(stage.task_time.value_or(absl::ZeroDuration()));
    }
  }
  const double room = slots * absl::ToDoubleSeconds(prediction.remaining.median);
  return room > 0 ? std::min(work / room, 1.0) : 0;
}

}  // namespace tidemark::workflow
