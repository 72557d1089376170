// Maps fields of job.proto to members of tidemark/job.h, for Encode() and Parse().
#pragma once

#include "proto/wire/fields.h"
#include "tidemark/job.h"

namespace tidemark {

template <class Io, wire::ConstOrNot<AttemptId> V>
void Fields(Io& io, V& attempt) {
  io("stage", attempt.stage);
  io("stage_attempt", attempt.stage_attempt);
  io("index", attempt.index);
  io("attempt", attempt.attempt);
}

}  // namespace tidemark

namespace tidemark {

template <class Io, wire::ConstOrNot<Range> V>
void Fields(Io& io, V& range) {
  io("median", range.median);
  io("lower", range.lower);
  io("upper", range.upper);
}
inline const char* Invalid(const Range& range) {
  const bool is_sorted = range.lower.value_or(range.median) <= range.median &&
                         range.median <= range.upper.value_or(range.median);
  return is_sorted ? nullptr : "the median must be within the bounds";
}

template <class Io, wire::ConstOrNot<Estimate> V>
void Fields(Io& io, V& estimate) {
  io("state", estimate.state);
  io.Fraction("fraction_done", estimate.fraction_done);
  io.Fraction("fraction_done_lower", estimate.fraction_done_lower);
  io.Fraction("fraction_done_upper", estimate.fraction_done_upper);
  io("remaining", estimate.remaining);
  io("basis", estimate.basis);
  io.Fraction("known_share", estimate.known_share);
  io("indicator", estimate.indicator);
  io("method", estimate.method);
}

template <class Io, wire::ConstOrNot<EstimateRaised> V>
void Fields(Io& io, V& raised) {
  io("cause", raised.cause);
  io("stage_count", raised.stages);
  io.Fraction("fraction_done_before", raised.fraction_done_before);
}

template <class Io, wire::ConstOrNot<JobInfo> V>
void Fields(Io& io, V& info) {
  io("name", info.name);
  io("kind", info.kind);
  io("engine", info.engine);
  io("application_id", info.application_id);
  io("user", info.user);
  io("queue", info.queue);
  io("workflow_id", info.workflow_id);
}

template <class Io, wire::ConstOrNot<Counts> V>
void Fields(Io& io, V& counts) {
  io("stage_count", counts.stages);
  io("finished_stage_count", counts.finished_stages);
  io("task_count", counts.tasks);
  io("running_task_count", counts.running_tasks);
  io("finished_task_count", counts.finished_tasks);
  io("failed_attempt_count", counts.failed_attempts);
  io("child_count", counts.children);
  io("finished_child_count", counts.finished_children);
  io("finished_group_count", counts.finished_groups);
}

template <class Io, wire::ConstOrNot<StageId> V>
void Fields(Io& io, V& id) {
  io("child", id.child);
  io("stage", id.stage);
}

template <class Io, wire::ConstOrNot<StageInfo> V>
void Fields(Io& io, V& stage) {
  io("id", stage.id);
  io("attempt", stage.attempt);
  io("name", stage.name);
  io("kind", stage.kind);
  io("parents", stage.parents);
  io("group", stage.group);
  io("pool", stage.pool);
}

template <class Io, wire::ConstOrNot<ShuffleProgress> V>
void Fields(Io& io, V& shuffle) {
  io.Fraction("fraction_done", shuffle.fraction_done);
  io("running_task_count", shuffle.running_tasks);
  io("finished_task_count", shuffle.finished_tasks);
}

template <class Io, wire::ConstOrNot<Throughput> V>
void Fields(Io& io, V& throughput) {
  io("bytes_done", throughput.bytes_done);
  io("records_done", throughput.records_done);
  io.Amount("bytes_per_second", throughput.bytes_per_second);
  io.Amount("records_per_second", throughput.records_per_second);
}

template <class Io, wire::ConstOrNot<StageProgress> V>
void Fields(Io& io, V& stage) {
  io("id", stage.id);
  io("state", stage.state);
  io.Fraction("fraction_done", stage.fraction_done);
  io("task_count", stage.tasks);
  io("running_task_count", stage.running_tasks);
  io("finished_task_count", stage.finished_tasks);
  io("failed_attempt_count", stage.failed_attempts);
  io("started_at", stage.started_at);
  io("ended_at", stage.ended_at);
  io("starts_in", stage.starts_in);
  io("ends_in", stage.ends_in);
  io("task_time", stage.task_time);
  io("bottleneck", stage.bottleneck);
  io("is_critical", stage.is_critical);
  io("shuffle", stage.shuffle);
  io("failure", stage.failure);
  io("throughput", stage.throughput);
}

template <class Io, wire::ConstOrNot<Group> V>
void Fields(Io& io, V& group) {
  io("group", group.group);
  io("name", group.name);
  io("state", group.state);
  io("message", group.message);
  io.Fraction("fraction_done", group.fraction_done);
  io("started_at", group.started_at);
  io("ended_at", group.ended_at);
  io("ends_in", group.ends_in);
  io("basis", group.basis);
  io("estimate_state", group.estimate_state);
}

template <class Io, wire::ConstOrNot<Child> V>
void Fields(Io& io, V& child) {
  io("number", child.number);
  io("name", child.name);
  io("job_id", child.job_id);
  io("state", child.state);
  io("estimate", child.estimate);
  io("started_at", child.started_at);
  io("ended_at", child.ended_at);
  io("starts_in", child.starts_in);
  io("is_critical", child.is_critical);
  io("failed_attempt_count", child.failed_attempts);
  io("message", child.message);
  io("after", child.after);
}

template <class Io, wire::ConstOrNot<NamedTask> V>
void Fields(Io& io, V& task) {
  io("attempt", task.attempt);
  io("child", task.child);
  io("host", task.host);
  io("remaining", task.remaining);
  io("explicit_groups_left", task.explicit_groups_left);
  io("heaviest_group_bytes", task.heaviest_group_bytes);
  io.Fraction("heaviest_group_share", task.heaviest_group_share);
  io("in_heaviest_group", task.in_heaviest_group);
  io("reason", task.reason);
  io("waits_for_slot", task.waits_for_slot);
}

template <class Io, wire::ConstOrNot<Evidence> V>
void Fields(Io& io, V& evidence) {
  io.Fraction("own_neighbours", evidence.own_neighbours);
  io.Fraction("own_fit", evidence.own_fit);
  io.Fraction("other_neighbours", evidence.other_neighbours);
  io.Fraction("other_fit", evidence.other_fit);
  io.Fraction("ratio", evidence.ratio);
}

template <class Io, wire::ConstOrNot<Indicator> V>
void Fields(Io& io, V& indicator) {
  io("estimate", indicator.estimate);
  io.Fraction("last_stage_fraction_done", indicator.last_stage_fraction_done);
  io("evidence", indicator.evidence);
}

template <class Io, wire::ConstOrNot<Coverage> V>
void Fields(Io& io, V& coverage) {
  io("newest_event_at", coverage.newest_event_at);
  io("lost_events", coverage.lost_events);
  io("dropped_events", coverage.dropped_events);
  io("dropped_points", coverage.dropped_points);
  io("anomalies", coverage.anomalies);
  io("rejected_events", coverage.rejected_events);
  io.Fraction("map_profiles", coverage.map_profiles);
  io("silent_tasks", coverage.silent_tasks);
  io("missing_task_ends", coverage.missing_task_ends);
  io("tasks_beyond_slots", coverage.tasks_beyond_slots);
}

template <class Io, wire::ConstOrNot<IndicatorError> V>
void Fields(Io& io, V& error) {
  io("indicator", error.indicator);
  io.Amount("last_stage_avg_points", error.last_stage_avg_points);
  io.Amount("last_stage_max_points", error.last_stage_max_points);
  io.Amount("job_avg_points", error.job_avg_points);
  io.Amount("job_max_points", error.job_max_points);
  io.Fraction("interval_coverage", error.interval_coverage);
  io.Amount("interval_width", error.interval_width);
  io("first_forecast", error.first_forecast);
  io("first_forecast_after", error.first_forecast_after);
}

template <class Io, wire::ConstOrNot<Snapshot> V>
void Fields(Io& io, V& snapshot) {
  io("job_id", snapshot.job_id);
  io("run_uid", snapshot.run_uid);
  io("sequence", snapshot.sequence);
  io("base_sequence", snapshot.base_sequence);
  io("at", snapshot.at);
  io("state", snapshot.state);
  io("final", snapshot.is_final);
  io("message", snapshot.message);
  io("info", snapshot.info);
  io("started_at", snapshot.started_at);
  io("ended_at", snapshot.ended_at);
  io("estimate", snapshot.estimate);
  io("counts", snapshot.counts);
  io("silent_since", snapshot.silent_since);
  io("notes", snapshot.notes);
  io("deadline_at", snapshot.deadline);
  io.Fraction("late_probability", snapshot.late_probability);
  io("estimate_raised", snapshot.estimate_raised);
  io("idle_since", snapshot.idle_since);
  io("headline_group", snapshot.headline_group);
  io("may_grow", snapshot.may_grow);
  io("throughput", snapshot.throughput);
  io("stage_infos", snapshot.stage_infos);
  io("stages", snapshot.stages);
  io("children", snapshot.children);
  io("removed_stages", snapshot.removed_stages);
  io("groups", snapshot.groups);
  io("named_tasks", snapshot.named_tasks);
  io("indicators", snapshot.indicators);
  io("coverage", snapshot.coverage);
  io("errors", snapshot.errors);
}

}  // namespace tidemark
