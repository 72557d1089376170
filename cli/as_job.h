// Snapshots of 0.1 in the form that replaces them, as master/service/as_job.h makes them. Goes when
// JobMonitor and Master give that themselves.
#pragma once

#include <utility>

#include "proto/wire/job_view.h"
#include "tidemark/job.h"
#include "tidemark/snapshot.h"

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

inline double PartOf(absl::Duration passed, absl::Duration left) {
  const double whole = absl::ToDoubleSeconds(passed + left);
  return whole > 0 ? absl::ToDoubleSeconds(passed) / whole : 0;
}

inline Estimate AsEstimate(const Forecast& forecast, absl::Duration elapsed) {
  Estimate estimate = {
      .state = static_cast<EstimateState>(static_cast<int>(forecast.state) + 1),
      .fraction_done = forecast.fraction_done,
      .fraction_done_lower = forecast.fraction_done,
      .fraction_done_upper = forecast.fraction_done,
      .remaining = RangeOf(forecast.remaining, forecast.remaining_lower, forecast.remaining_upper),
      .indicator = forecast.indicator};
  if (forecast.remaining_lower) {
    estimate.fraction_done_upper = PartOf(elapsed, *forecast.remaining_lower);
  }
  if (forecast.remaining_upper) {
    estimate.fraction_done_lower = PartOf(elapsed, *forecast.remaining_upper);
  }
  if (estimate.state == EstimateState::kFinal) estimate.basis = Basis::kDone;
  if (estimate.state == EstimateState::kValid) estimate.basis = Basis::kThisRun;
  return estimate;
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
  if (old.is_final()) job.ended_at = old.started_at + old.elapsed;
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
      if (job.stages.size() == 1) job.stage_infos.back().parents = {0};
      StageProgress stage = AsStage(phase, 1);
      stage.shuffle = shuffle;
      const bool fetches = shuffle && (shuffle->running_tasks > 0 || shuffle->fraction_done > 0);
      if (stage.state == StageState::kPending && fetches) stage.state = StageState::kRunning;
      job.stages.push_back(stage);
    }
  }
  job.counts = wire::CountParts(job);
  if (!old.forecasts.empty()) {
    job.estimate = AsEstimate(old.forecasts.front(), old.elapsed);
  }
  for (std::size_t i = 1; i < old.forecasts.size(); ++i) {
    const Forecast& forecast = old.forecasts[i];
    Indicator indicator = {.estimate = AsEstimate(forecast, old.elapsed),
                           .last_stage_fraction_done = forecast.reduce_fraction_done};
    if (const auto& from = forecast.evidence) {
      indicator.evidence = {from->own_neighbours, from->own_fit, from->other_neighbours,
                            from->other_fit, from->ratio};
    }
    job.indicators.push_back(std::move(indicator));
  }
  if (old.straggler) {
    const AttemptId& attempt = old.straggler->attempt;
    const std::uint32_t stage = attempt.stage;
    job.named_tasks = {{.attempt = {stage, 0, attempt.index, attempt.attempt},
                        .host = old.straggler->host,
                        .remaining = RangeOf(old.straggler->remaining, {}, {}),
                        .explicit_groups_left = old.straggler->explicit_groups_left,
                        .heaviest_group_bytes = old.straggler->heaviest_group_bytes,
                        .heaviest_group_share = old.straggler->heaviest_group_share,
                        .in_heaviest_group = old.straggler->in_heaviest_group,
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

}  // namespace tidemark::next
