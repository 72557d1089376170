#include "master/forecast/dag/workflow_prediction.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "master/facts/silence.h"
#include "master/forecast/dag/shown_progress.h"

namespace tidemark::workflow {
namespace {

absl::Duration Length(double seconds) {
  const double longest = absl::ToDoubleSeconds(kLongestShown);
  return absl::Seconds(std::isfinite(seconds) ? std::clamp(seconds, 0.0, longest) : longest);
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
  StagePrediction stage = {.number = is_map ? kMapStage : kReduceStage,
                           .kind = kind,
                           .tasks = expected.tasks,
                           .bottleneck = expected.bottleneck};
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

// Of an application of stages. What is not known of it any more, since more was heard of it after
// the estimate was asked for, is left out.
StagePrediction PredictionOfOwn(const LiveJob& live, const estimate::StageEstimate& estimate) {
  StagePrediction stage = {.number = estimate.number};
  if (estimate.end > 0) {
    if (estimate.start > 0) stage.starts_in = Length(estimate.start);
    stage.ends_in = Length(estimate.end);
    stage.is_critical = estimate.is_critical;
  }
  if (live.is_running) {
    if (live.left == nullptr) return stage;
    const std::vector<cost::StageLeft>& left = live.left->stages;
    const auto at = std::ranges::lower_bound(left, stage.number, {}, &cost::StageLeft::number);
    if (at == left.end() || at->number != stage.number) return stage;
    stage.left = {.pending = at->work.pending, .running = at->work.running.size()};
    const double mean = at->times.Of(schedule::Warmth::kRest).mean();
    if (mean > 0) stage.task_time = Length(mean);
    return stage;
  }
  const std::size_t place = stage.number - kExpectedStages;
  if (live.expected.stages == nullptr || stage.number < kExpectedStages ||
      place >= live.expected.stages->front().stages.size()) {
    return stage;
  }
  const StageProfile& before = live.expected.stages->front().stages[place];
  stage.name = before.title.empty() ? before.name : before.title;
  for (const std::size_t parent : before.parents) {
    stage.parents.push_back(kExpectedStages + static_cast<std::uint32_t>(parent));
  }
  stage.tasks = stage.left.pending = before.tasks;
  stage.task_time = Length(MeanTaskSeconds(before));
  return stage;
}

}  // namespace

std::vector<std::vector<std::size_t>> OwnStages(const estimate::Estimate& estimate) {
  const std::size_t jobs = estimate.owner_ends.size();
  std::vector<std::vector<std::size_t>> own(jobs);
  for (std::size_t i = MapStageOf(jobs); i < estimate.stages.size(); ++i) {
    own[estimate.stages[i].owner].push_back(i);
  }
  return own;
}

JobPrediction PredictionOfJob(const FollowedJob& job, const LiveJob& live,
                              const estimate::Estimate& estimate, std::size_t index,
                              std::span<const std::size_t> own) {
  JobPrediction prediction;
  if (live.is_over) return prediction;
  // Where a stage of MapReduce is, be it known by its tasks or by their number.
  const auto stage_at = [&](std::uint32_t number, std::size_t otherwise) -> const auto& {
    for (const std::size_t place : own) {
      if (estimate.stages[place].number == number) return estimate.stages[place];
    }
    return estimate.stages[otherwise];
  };
  prediction.ends_in = RangeOf(estimate.owner_ends[index]);
  if (live.is_running && !job.is_silent()) {
    prediction.fraction_done = model::FractionDone(
        absl::Seconds(live.elapsed),
        model::FlooredRemaining(prediction.ends_in->median, prediction.ends_in->upper));
  }
  std::optional<double> start;  // of its first task
  const auto take = [&](const estimate::StageEstimate& stage) {
    prediction.is_critical |= stage.is_critical;
    if (stage.end > 0) start = std::min(start.value_or(stage.start), stage.start);
  };
  if (live.is_of_stages) {
    take(estimate.stages[MapStageOf(index)]);
    for (const std::size_t place : own) {
      take(estimate.stages[place]);
      prediction.stages.push_back(PredictionOfOwn(live, estimate.stages[place]));
    }
  } else {
    for (const StageKind kind : {StageKind::kMap, StageKind::kReduce}) {
      const bool is_map = kind == StageKind::kMap;
      const estimate::StageEstimate& of_phase = stage_at(
          is_map ? kMapStage : kReduceStage, is_map ? MapStageOf(index) : ReduceStageOf(index));
      take(of_phase);
      StagePrediction stage = PredictionOfStage(kind, job, live, of_phase);
      if (stage.tasks > 0) prediction.stages.push_back(std::move(stage));
    }
  }
  if (!live.is_running) prediction.starts_in = Length(start.value_or(0));
  return prediction;
}

WorkflowPrediction PredictionOf(const estimate::Estimate& estimate) {
  return {.remaining = RangeOf(estimate.end), .known_share = estimate.known_share};
}

void OpenBySilence(absl::Duration unheard, absl::Duration silence, WorkflowPrediction& prediction) {
  const auto open = [&](Range& left) {
    left = model::OpenedBySilence(left, unheard, silence);
    left.upper = std::min(*left.upper, kLongestShown);
  };
  open(prediction.remaining);
  for (JobPrediction& job : prediction.jobs) {
    if (job.ends_in) open(*job.ends_in);
  }
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
