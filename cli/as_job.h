// Snapshots of 0.1 in the form that replaces them, until JobMonitor and Master give that
// themselves.
#pragma once

#include "tidemark/job.h"
#include "tidemark/snapshot.h"
#include "tidemark/workflow.h"

namespace tidemark::next {

inline std::optional<Range> RangeOf(const std::optional<absl::Duration>& median,
                                    const std::optional<absl::Duration>& lower,
                                    const std::optional<absl::Duration>& upper) {
  if (!median) return std::nullopt;
  return Range{*median, lower, upper};
}

inline JobState StateOf(tidemark::JobState state) {
  return static_cast<JobState>(static_cast<int>(state) + 2);  // unknown and queued come first
}

inline Estimate AsEstimate(const Forecast& forecast) {
  return {
      .state = static_cast<EstimateState>(static_cast<int>(forecast.state) + 1),
      .fraction_done = forecast.fraction_done,
      .remaining = RangeOf(forecast.remaining, forecast.remaining_lower, forecast.remaining_upper),
      .indicator = forecast.indicator};
}

inline StageProgress AsStage(const PhaseProgress& phase, std::uint32_t number) {
  return {.id = {0, number},
          .state = static_cast<StageState>(static_cast<int>(phase.state) + 1),
          .fraction_done = phase.fraction_done,
          .tasks = phase.task_count,
          .running_tasks = phase.running_task_count,
          .finished_tasks = phase.finished_task_count,
          .started_at = phase.started_at,
          .ended_at = phase.finished_at};
}

inline Snapshot AsJob(const tidemark::Snapshot& old) {
  Snapshot job = {.job_id = old.job_id, .run_uid = old.run_uid, .sequence = old.sequence};
  job.at = old.at;
  job.state = StateOf(old.state);
  job.is_final = old.is_final();
  job.message = old.message;
  job.info = JobInfo{.name = old.job_name, .kind = JobKind::kMapReduce};
  job.started_at = old.started_at;
  job.ended_at = old.started_at + old.elapsed;
  bool any_map_finished = false;
  std::optional<ShuffleProgress> shuffle;
  for (const PhaseProgress& phase : old.phases) {
    if (phase.phase == Phase::kMap) {
      job.stage_infos.push_back({.id = {0, 0}, .name = "map", .kind = StageKind::kMap});
      job.stages.push_back(AsStage(phase, 0));
      any_map_finished = phase.finished_task_count > 0;
    } else if (phase.phase == Phase::kShuffle) {
      shuffle =
          ShuffleProgress{phase.fraction_done, phase.running_task_count, phase.finished_task_count};
    } else {
      job.stage_infos.push_back({.id = {0, 1}, .name = "reduce", .kind = StageKind::kReduce});
      StageProgress stage = AsStage(phase, 1);
      stage.shuffle = shuffle;
      const bool fetches = shuffle && (shuffle->running_tasks > 0 || shuffle->fraction_done > 0);
      if (stage.state == StageState::kPending && fetches) stage.state = StageState::kRunning;
      job.stages.push_back(stage);
    }
  }
  for (const StageProgress& stage : job.stages) {
    job.counts.tasks += stage.tasks;
    job.counts.running_tasks += stage.running_tasks;
  }
  if (!old.forecasts.empty()) job.estimate = AsEstimate(old.forecasts.front());
  for (std::size_t i = 1; i < old.forecasts.size(); ++i) {
    job.indicators.push_back({.estimate = AsEstimate(old.forecasts[i])});
  }
  if (old.straggler) {
    const AttemptId& attempt = old.straggler->attempt;
    const std::uint32_t stage = attempt.stage;
    job.named_tasks = {{.attempt = {stage, 0, attempt.index, attempt.attempt},
                        .host = old.straggler->host,
                        .remaining = RangeOf(old.straggler->remaining, {}, {}),
                        .reason = old.straggler->reason}};
  }
  const tidemark::Coverage& coverage = old.coverage;
  job.coverage = Coverage{.newest_event_at = old.at - coverage.data_age,
                          .lost_envelopes = coverage.lost_envelopes,
                          .dropped_events = coverage.dropped_events,
                          .dropped_points = coverage.dropped_points,
                          .anomalies = coverage.anomalies,
                          .rejected_envelopes = coverage.rejected_envelopes,
                          .silent_tasks = coverage.silent_tasks};
  if (any_map_finished && job.stages.size() > 1) {
    job.coverage->map_profiles = coverage.map_profiles;
  }
  if (coverage.silent_for > absl::ZeroDuration()) job.silent_since = old.at - coverage.silent_for;
  job.notes = coverage.notes;
  for (const tidemark::IndicatorError& error : old.errors) {
    IndicatorError as = {.indicator = error.indicator,
                         .job_avg_points = error.job_avg_error_points,
                         .job_max_points = error.job_max_error_points,
                         .interval_coverage = error.interval_coverage};
    // A reduce phase without an update had errors of exactly zero.
    if (error.reduce_max_error_points != 0 || error.interval_coverage) {
      as.last_stage_avg_points = error.reduce_avg_error_points;
      as.last_stage_max_points = error.reduce_max_error_points;
    }
    job.errors.push_back(as);
  }
  return job;
}

inline Child AsChild(const WorkflowJobProgress& old, std::uint32_t number) {
  constexpr ChildState kStates[] = {ChildState::kPending,   ChildState::kAwaited,
                                    ChildState::kRunning,   ChildState::kSucceeded,
                                    ChildState::kRetryable, ChildState::kFailed};
  Child child = {.number = number, .name = old.name, .job_id = old.job_id};
  child.state = kStates[static_cast<std::size_t>(old.state)];
  child.estimate = {.fraction_done = old.fraction_done,
                    .remaining = RangeOf(old.ends_in, old.ends_in_lower, old.ends_in_upper),
                    .basis = static_cast<Basis>(static_cast<int>(old.basis) + 1)};
  child.started_at = old.started_at;
  child.ended_at = old.ended_at;
  child.starts_in = RangeOf(old.starts_in, {}, {});
  child.is_critical = old.is_critical;
  child.failed_attempts = old.failed_attempts;
  child.message = old.message;
  return child;
}

inline Snapshot AsJob(const WorkflowSnapshot& old) {
  Snapshot job = {.job_id = old.workflow_id, .sequence = old.sequence, .at = old.at};
  job.state = StateOf(old.state);
  job.is_final = old.is_final();
  job.message = old.message;
  job.info = JobInfo{.name = old.name, .kind = JobKind::kWorkflow};
  job.started_at = old.started_at;
  job.ended_at = old.started_at + old.elapsed;
  job.estimate = {.state = old.is_final() ? EstimateState::kFinal : EstimateState::kValid,
                  .fraction_done = old.fraction_done,
                  .fraction_done_lower = old.fraction_done_lower,
                  .fraction_done_upper = old.fraction_done_upper,
                  .remaining = RangeOf(old.remaining, old.remaining_lower, old.remaining_upper),
                  .known_share = old.known_share};
  for (const WorkflowJobProgress& child : old.jobs) {
    job.children.push_back(AsChild(child, static_cast<std::uint32_t>(job.children.size()) + 1));
    if (child.state == WorkflowJobState::kSucceeded) ++job.counts.finished_children;
  }
  job.counts.children = static_cast<std::uint32_t>(job.children.size());
  job.notes = old.notes;
  return job;
}

}  // namespace tidemark::next
