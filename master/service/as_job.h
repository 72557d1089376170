// Snapshots of 0.1 and plans in the form that replaces them. Goes when JobMonitor and LiveWorkflow
// make the new ones themselves.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "master/workflow/live_workflow.h"
#include "proto/wire/field_error.h"
#include "proto/wire/job_request.h"
#include "proto/wire/job_view.h"
#include "tidemark/job.h"
#include "tidemark/plan.h"
#include "tidemark/snapshot.h"
#include "tidemark/workflow.h"

namespace tidemark::next::service {

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

inline Child AsChild(const WorkflowJobProgress& old, std::uint32_t number) {
  constexpr ChildState kStates[] = {
      ChildState::kPending,   ChildState::kAwaited, ChildState::kRunning,  ChildState::kSucceeded,
      ChildState::kRetryable, ChildState::kFailed,  ChildState::kCancelled};
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
  for (const std::size_t before : old.after) {
    child.after.push_back(static_cast<std::uint32_t>(before) + 1);
  }
  const bool is_over = child.estimate.basis == Basis::kDone;
  child.estimate.state = is_over                    ? EstimateState::kFinal
                         : child.estimate.remaining ? EstimateState::kValid
                                                    : EstimateState::kWarmingUp;
  child.estimate.fraction_done_lower = child.estimate.fraction_done_upper =
      child.estimate.fraction_done;
  return child;
}

// Stages of a job that does not run yet are only expected.
inline void AddStages(const WorkflowJobProgress& old, std::uint32_t child, Snapshot& job) {
  const bool is_expected = old.state != WorkflowJobState::kRunning;
  for (const WorkflowStage& from : old.stages) {
    const bool is_map = from.phase == Phase::kMap;
    const std::uint32_t base = is_expected ? kExpectedStages : 0;
    const StageId id = {child, base + (is_map ? 0 : 1)};
    StageInfo info = {.id = id,
                      .name = is_map ? "map" : "reduce",
                      .kind = is_map ? StageKind::kMap : StageKind::kReduce};
    if (!is_map && old.stages.size() > 1) info.parents = {base};
    job.stage_infos.push_back(std::move(info));
    StageProgress stage = {.id = id,
                           .tasks = from.tasks,
                           .running_tasks = from.running,
                           .finished_tasks = from.tasks - from.pending - from.running,
                           .starts_in = RangeOf(from.starts_in, {}, {}),
                           .ends_in = RangeOf(from.ends_in, {}, {}),
                           .task_time = from.task_time,
                           .bottleneck = from.bottleneck,
                           .is_critical = from.is_critical};
    stage.state = is_expected                           ? StageState::kExpected
                  : stage.finished_tasks == stage.tasks ? StageState::kDone
                  : from.pending == from.tasks          ? StageState::kPending
                                                        : StageState::kRunning;
    if (!is_expected && from.tasks > 0) {
      stage.fraction_done =
          static_cast<double>(stage.finished_tasks) / static_cast<double>(stage.tasks);
    }
    job.stages.push_back(std::move(stage));
  }
}

inline Snapshot AsJob(const WorkflowSnapshot& old) {
  Snapshot job = {.job_id = old.workflow_id, .sequence = old.sequence, .at = old.at};
  job.state = StateOf(old.state);
  job.is_final = old.is_final();
  job.message = old.message;
  job.info = JobInfo{.name = old.name, .kind = JobKind::kWorkflow};
  job.started_at = old.started_at;
  if (old.is_final()) job.ended_at = old.started_at + old.elapsed;
  job.estimate = {.state = old.is_final() ? EstimateState::kFinal : EstimateState::kValid,
                  .fraction_done = old.fraction_done,
                  .fraction_done_lower = old.fraction_done_lower,
                  .fraction_done_upper = old.fraction_done_upper,
                  .remaining = RangeOf(old.remaining, old.remaining_lower, old.remaining_upper),
                  .known_share = old.known_share};
  for (const WorkflowJobProgress& child : old.jobs) {
    const auto number = static_cast<std::uint32_t>(job.children.size()) + 1;
    job.children.push_back(AsChild(child, number));
    AddStages(child, number, job);
  }
  job.counts = wire::CountParts(job);
  if (old.is_final()) job.estimate.basis = Basis::kDone;
  if (!job.estimate.remaining && !old.is_final()) job.estimate.state = EstimateState::kWarmingUp;
  job.notes = old.notes;
  return job;
}

// InvalidArgument (FieldError): stages, which no running plan can have yet.
inline absl::StatusOr<WorkflowSpec> AsWorkflow(const Plan& plan) {
  WorkflowSpec workflow = {.id = plan.id, .name = plan.name, .retry_within = plan.retry_within};
  const Cluster& cluster = plan.cluster;
  workflow.cluster = {.slots = cluster.slots, .nodes = cluster.nodes, .node = cluster.node};
  workflow.cluster.policy =
      static_cast<tidemark::SchedulingPolicy>(std::max(static_cast<int>(cluster.policy) - 1, 0));
  for (const Queue& queue : cluster.queues) {
    workflow.cluster.queues.push_back({queue.name, queue.share});
  }
  for (std::size_t i = 0; i < plan.jobs.size(); ++i) {
    const PlannedJob& job = plan.jobs[i];
    if (!job.stages.empty()) {
      return wire::FieldError(fmt::format("jobs[{}].stages", i),
                              "must be empty: a master estimates jobs by their task counts; "
                              "estimate a file of stages without one");
    }
    workflow.jobs.push_back({.name = job.name.empty() ? plan.id : job.name,
                             .job_id = job.job_id,
                             .history_name = job.history_name,
                             .after = job.after,
                             .map_tasks = job.map_task_count.value_or(0),
                             .reduce_tasks = job.reduce_task_count.value_or(0),
                             .input_bytes = job.input_bytes.value_or(0),
                             .profile = job.profile,
                             .queue = job.queue});
  }
  return workflow;
}

inline workflow::WhatIf AsWhatIf(const Scenario& scenario) {
  workflow::WhatIf what_if = {.slots = scenario.slots.value_or(0),
                              .data_factor = scenario.data_factor.value_or(1)};
  if (scenario.policy) {
    what_if.policy =
        static_cast<tidemark::SchedulingPolicy>(static_cast<int>(*scenario.policy) - 1);
  }
  return what_if;
}

}  // namespace tidemark::next::service
