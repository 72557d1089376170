#include "master/forecast/dag/workflow_forecast.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "master/facts/evidence_loss.h"
#include "master/forecast/dag/shown_progress.h"
#include "master/forecast/dag/task_model.h"
#include "text/duration_text.h"
#include "tidemark/event.h"

namespace tidemark::dag {
namespace {

absl::Duration Length(double seconds) {
  const double longest = absl::ToDoubleSeconds(kLongestShown);
  return absl::Seconds(std::isfinite(seconds) ? std::clamp(seconds, 0.0, longest) : longest);
}

Range RangeOf(const SecondsRange& end) {
  return {.median = Length(end.median),
          .lower = Length(std::min(end.lower, end.median)),
          .upper = Length(std::max(end.upper, end.median))};
}

ChildStageForecast ForecastOfPhase(StageKind kind, const FollowedJob& job, const LiveJob& live,
                                   const StageEnds& estimate) {
  const bool is_map = kind == StageKind::kMap;
  const PhaseEstimate& expected = is_map ? live.expected.map : live.expected.reduce;
  ChildStageForecast stage = {.number = is_map ? kMapStage : kReduceStage,
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
  if (estimate.shares_nodes) {
    stage.bottleneck = NameOr(estimate.bottleneck);
    stage.task_time = Length(estimate.task_time);
  }
  if (stage.left.pending + stage.left.running == 0) return stage;
  if (!has_begun) stage.starts_in = Length(estimate.start);
  stage.ends_in = Length(estimate.end);
  stage.is_critical = estimate.is_critical;
  return stage;
}

// Returns the forecast of a stage of an application. Omits values that later reports have made
// unknown.
ChildStageForecast ForecastOfOwnStage(const LiveJob& live, const StageEnds& estimate) {
  ChildStageForecast stage = {.number = estimate.number};
  if (estimate.end > 0) {
    if (estimate.start > 0) stage.starts_in = Length(estimate.start);
    stage.ends_in = Length(estimate.end);
    stage.is_critical = estimate.is_critical;
  }
  if (live.is_running) {
    if (live.left == nullptr) return stage;
    const std::vector<durations::RemainingStage>& left = live.left->stages;
    const auto at =
        std::ranges::lower_bound(left, stage.number, {}, &durations::RemainingStage::number);
    if (at == left.end() || at->number != stage.number) return stage;
    stage.left = {.pending = at->work.pending, .running = at->work.running.size()};
    const double mean = at->times.Of(placement::Warmth::kRest).mean();
    if (mean > 0) stage.task_time = Length(mean);
    return stage;
  }
  const std::size_t place = stage.number - kExpectedStages;
  if (live.expected.stages == nullptr || stage.number < kExpectedStages ||
      place >= live.expected.stages->front().stages.size()) {
    return stage;
  }
  const PastStage& before = live.expected.stages->front().stages[place];
  stage.name = before.title.empty() ? before.name : before.title;
  for (const std::size_t parent : before.parents) {
    stage.parents.push_back(kExpectedStages + static_cast<std::uint32_t>(parent));
  }
  stage.tasks = stage.left.pending = before.tasks;
  stage.task_time = Length(MeanTaskSeconds(before));
  return stage;
}

}  // namespace

std::vector<std::vector<std::size_t>> OwnStages(const ApplicationForecast& estimate) {
  const std::size_t jobs = estimate.owner_ends.size();
  std::vector<std::vector<std::size_t>> own(jobs);
  for (std::size_t i = MapStageOf(jobs); i < estimate.stages.size(); ++i) {
    own[estimate.stages[i].owner].push_back(i);
  }
  return own;
}

ChildForecast ForecastOfChild(const FollowedJob& job, const LiveJob& live,
                              const ApplicationForecast& estimate, std::size_t index,
                              std::span<const std::size_t> own) {
  ChildForecast prediction;
  if (live.is_over) return prediction;
  // Returns the stage of MapReduce with this number, or the job's start or end stage if its stages
  // are unknown.
  const auto stage_at = [&](std::uint32_t number, std::size_t otherwise) -> const auto& {
    for (const std::size_t place : own) {
      if (estimate.stages[place].number == number) return estimate.stages[place];
    }
    return estimate.stages[otherwise];
  };
  prediction.ends_in = RangeOf(estimate.owner_ends[index]);
  if (live.is_running && !job.is_silent()) {
    prediction.fraction_done =
        FractionDone(absl::Seconds(live.elapsed), prediction.ends_in->median);
  }
  std::optional<double> start;  // start of its first task
  const auto take = [&](const StageEnds& stage) {
    prediction.is_critical |= stage.is_critical;
    if (stage.end > 0) start = std::min(start.value_or(stage.start), stage.start);
  };
  if (live.is_of_stages) {
    take(estimate.stages[MapStageOf(index)]);
    for (const std::size_t place : own) {
      take(estimate.stages[place]);
      prediction.stages.push_back(ForecastOfOwnStage(live, estimate.stages[place]));
    }
  } else {
    for (const StageKind kind : {StageKind::kMap, StageKind::kReduce}) {
      const bool is_map = kind == StageKind::kMap;
      const StageEnds& of_phase = stage_at(is_map ? kMapStage : kReduceStage,
                                           is_map ? MapStageOf(index) : ReduceStageOf(index));
      take(of_phase);
      ChildStageForecast stage = ForecastOfPhase(kind, job, live, of_phase);
      if (stage.tasks > 0) prediction.stages.push_back(std::move(stage));
    }
  }
  if (!live.is_running) prediction.starts_in = Length(start.value_or(0));
  return prediction;
}

WorkflowForecast PredictionOf(const ApplicationForecast& estimate) {
  return {.remaining = RangeOf(estimate.end), .known_share = estimate.known_share};
}

void OpenBySilence(absl::Duration unreported, absl::Duration silence, absl::Duration listened,
                   WorkflowForecast& prediction) {
  const auto open = [&](Range& left, absl::Duration least) {
    left = facts::WidenForSilence(left, unreported, silence, least);
    left.upper = std::min(*left.upper, kLongestShown);
  };
  open(prediction.remaining, listened);
  for (ChildForecast& job : prediction.jobs) {
    if (job.ends_in && !job.fraction_done) open(*job.ends_in, absl::ZeroDuration());
  }
}

std::vector<PlanState> PlanStatesOf(const ApplicationForecast& forecast,
                                    std::span<const StageId> ids) {
  std::vector<PlanState> states;
  for (const ForecastState& state : forecast.states) {
    PlanState& shown = states.emplace_back(
        PlanState{.starts_in = Length(state.start), .ends_in = Length(state.end), .stages = {}});
    for (const ForecastState::Running& running : state.stages) {
      shown.stages.push_back({.id = ids[running.stage],
                              .tasks = running.tasks,
                              .task_time = Length(running.task_seconds),
                              .bottleneck = NameOr(running.bottleneck)});
    }
  }
  return states;
}

std::vector<StageId> StageIdsOf(const ApplicationForecast& forecast, const Snapshot& workflow) {
  std::vector<StageId> ids;
  const auto is_shown = [&](const StageId& id) {
    return std::ranges::find(workflow.stages, id, &StageProgress::id) != workflow.stages.end();
  };
  for (std::size_t i = 0; i < forecast.stages.size(); ++i) {
    const StageEnds& stage = forecast.stages[i];
    StageId& id = ids.emplace_back(StageId{static_cast<std::uint32_t>(stage.owner) + 1,
                                           i == MapStageOf(stage.owner)      ? kMapStage
                                           : i == ReduceStageOf(stage.owner) ? kReduceStage
                                                                             : stage.number});
    // A job that has not started has expected stages.
    if (id.stage < kExpectedStages && !is_shown(id)) id.stage += kExpectedStages;
  }
  return ids;
}

std::optional<double> BusyShare(const WorkflowForecast& prediction, std::uint32_t slots) {
  // On average, half of a running task remains.
  double work = 0;
  for (const ChildForecast& job : prediction.jobs) {
    if (job.stages.empty() && job.ends_in) return std::nullopt;
    for (const ChildStageForecast& stage : job.stages) {
      const double tasks =
          static_cast<double>(stage.left.pending) + static_cast<double>(stage.left.running) / 2;
      work += tasks * absl::ToDoubleSeconds(stage.task_time.value_or(absl::ZeroDuration()));
    }
  }
  const double room = slots * absl::ToDoubleSeconds(prediction.remaining.median);
  return room > 0 ? std::min(work / room, 1.0) : 0;
}

namespace {

// A note reports a job that has been silent for this long.
constexpr absl::Duration kMissedAfter = absl::Seconds(30);

std::optional<Range> RangeOf(const std::optional<absl::Duration>& median) {
  return median ? std::optional(Range{.median = *median}) : std::nullopt;
}

void AddPrediction(const ChildStageForecast& prediction, StageProgress& stage) {
  if (!stage.started_at) stage.starts_in = RangeOf(prediction.starts_in);
  if (!stage.ended_at) stage.ends_in = RangeOf(prediction.ends_in);
  stage.task_time = prediction.task_time;
  stage.bottleneck = prediction.bottleneck;
  stage.is_critical = prediction.is_critical;
}

// Copies the job's own stages, with the workflow's forecasts instead of the job's.
void AddOwnStages(const Snapshot& job, std::uint32_t child, const ChildForecast& prediction,
                  Snapshot& workflow) {
  for (std::size_t i = 0; i < job.stages.size(); ++i) {
    if (job.stages[i].id.stage >= kExpectedStages) continue;
    StageInfo& info = workflow.stage_infos.emplace_back(job.stage_infos[i]);
    StageProgress& stage = workflow.stages.emplace_back(job.stages[i]);
    info.id.child = stage.id.child = child;
    const auto predicted = std::ranges::lower_bound(prediction.stages, stage.id.stage, {},
                                                    &ChildStageForecast::number);
    const bool is_predicted =
        predicted != prediction.stages.end() && predicted->number == stage.id.stage &&
        (predicted->kind == StageKind::kUnknown || predicted->kind == info.kind);
    if (is_predicted) {
      AddPrediction(*predicted, stage);
    } else {
      stage.ends_in.reset();
      stage.is_critical = false;
    }
  }
}

// Adds the expected stages of a job that has not started.
void AddFutureStages(const ChildForecast& prediction, std::uint32_t child, Snapshot& workflow) {
  for (const ChildStageForecast& predicted : prediction.stages) {
    const bool is_map = predicted.kind == StageKind::kMap;
    StageInfo info = {.id = {child, predicted.number}, .kind = predicted.kind};
    if (predicted.kind == StageKind::kUnknown) {
      info.kind = StageKind::kGeneric;
      info.name = predicted.name;
      info.parents = predicted.parents;
    } else {
      info.id.stage += kExpectedStages;
      info.name = is_map ? "map" : "reduce";
      if (!is_map && prediction.stages.size() > 1) info.parents = {kExpectedStages + kMapStage};
    }
    StageProgress stage = {.id = info.id, .state = StageState::kExpected, .tasks = predicted.tasks};
    AddPrediction(predicted, stage);
    workflow.stage_infos.push_back(std::move(info));
    workflow.stages.push_back(std::move(stage));
  }
}

Estimate EstimateOf(const FollowedJob& job, const PlannedJob& planned,
                    const ChildForecast& prediction) {
  // A silent or failed job keeps its own fraction.
  const bool has_ended = job.newest != nullptr && job.newest->is_final;
  const double own = job.newest != nullptr ? job.newest->estimate.fraction_done : 0;
  double fraction = prediction.fraction_done.value_or(own);
  if (job.facts.state == ChildState::kSucceeded) fraction = 1;
  const bool has_failed = has_ended && job.facts.state != ChildState::kSucceeded;
  const Estimate* const at_end = has_failed ? &job.newest->estimate : nullptr;
  Estimate estimate = {.fraction_done = fraction,
                       .fraction_done_lower = at_end ? at_end->fraction_done_lower : fraction,
                       .fraction_done_upper = at_end ? at_end->fraction_done_upper : fraction,
                       .remaining = prediction.ends_in,
                       .basis = job.BasisOf(planned)};
  estimate.state = estimate.basis == Basis::kDone ? EstimateState::kFinal
                   : estimate.remaining           ? EstimateState::kValid
                                                  : EstimateState::kWarmingUp;
  return estimate;
}

}  // namespace

void DescribeJob(const FollowedJob& job, const PlannedJob& planned,
                 const std::vector<std::size_t>& parents, const ChildForecast& prediction,
                 Snapshot& workflow) {
  Child& child = workflow.children.emplace_back();
  child = {.number = static_cast<std::uint32_t>(workflow.children.size()),
           .name = planned.name,
           .job_id = job.job_id,
           .state = job.facts.state,
           .estimate = EstimateOf(job, planned, prediction),
           .started_at = job.facts.started_at,
           .ended_at = job.facts.ended_at,
           .starts_in = RangeOf(prediction.starts_in),
           .is_critical = prediction.is_critical,
           .failed_attempts = job.facts.failed_attempts,
           .message = job.facts.message};
  for (const std::size_t parent : parents) {
    child.after.push_back(static_cast<std::uint32_t>(parent) + 1);
  }
  if (!job.facts.started_at) {
    AddFutureStages(prediction, child.number, workflow);
  } else if (job.newest != nullptr) {
    AddOwnStages(*job.newest, child.number, prediction, workflow);
  }
}

std::string NoteOnJob(const FollowedJob& job, const std::string& name, absl::Time now) {
  if (job.is_running() && job.is_silent()) {
    return absl::StrCat("job ", name, ": no report for ",
                        text::DurationText(job.newest->at - *job.newest->silent_since));
  }
  if (!job.awaited_since || now - *job.awaited_since < kMissedAfter) return "";
  const std::string since = text::DurationText(now - *job.awaited_since);
  if (job.facts.state == ChildState::kRetryable) {
    return absl::StrCat("job ", name, " failed ", since,
                        " ago and no retry is attached: ", job.facts.message);
  }
  const std::string missed = absl::StrCat("job ", name, " should have started ", since, " ago");
  if (job.job_id.empty()) return missed + ", but no job is attached to it";
  if (job.ended_before) {
    return absl::StrCat(
        missed, "; a run of ", job.job_id,
        " had ended before the workflow was submitted; attach it if it belongs to the workflow");
  }
  return absl::StrCat(missed, ", but ", job.job_id, " has not reported");
}

}  // namespace tidemark::dag
