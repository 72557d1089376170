#include "proto/wire/encode_event.h"

#include <google/protobuf/unknown_field_set.h>

#include <algorithm>
#include <cstdint>
#include <variant>

#include "proto/wire/task_codec.h"
#include "proto/wire/time_use_codec.h"
#include "proto/wire/valid_text.h"
#include "tidemark/v1/event.pb.h"

namespace tidemark::wire {
namespace {

std::uint64_t Nanos(absl::Duration duration) {
  return static_cast<std::uint64_t>(
      absl::ToInt64Nanoseconds(std::max(duration, absl::ZeroDuration())));
}

void EncodeRunningGroup(const RunningGroup& group, v1::RunningGroup& message) {
  if (group.key) message.set_key_hash(static_cast<std::uint64_t>(*group.key));
  message.set_elapsed_nanos(Nanos(group.elapsed));
  message.set_bytes_read(group.bytes_read);
  message.set_values_read(group.values_read);
  message.set_bytes_emitted(group.bytes_emitted);
}

bool ValuesKnown(const std::vector<ExplicitKey>& keys) {
  return std::any_of(keys.begin(), keys.end(),
                     [](const ExplicitKey& key) { return key.values > 0; });
}

void EncodePartition(const PartitionProfile& partition, v1::PartitionProfile& message) {
  message.set_partition(partition.partition);
  message.set_total_bytes(partition.total_bytes);
  const int keys = static_cast<int>(partition.explicit_keys.size());
  message.mutable_explicit_key_hashes()->Reserve(keys);
  message.mutable_explicit_key_bytes()->Reserve(keys);
  for (const ExplicitKey& key : partition.explicit_keys) {
    message.add_explicit_key_hashes(static_cast<std::uint64_t>(key.key));
    message.add_explicit_key_bytes(key.size_bytes);
  }
  if (ValuesKnown(partition.explicit_keys)) {
    for (const ExplicitKey& key : partition.explicit_keys) {
      message.add_explicit_key_values(key.values);
    }
  }
  message.set_implicit_key_count(partition.implicit_key_count);
  message.set_implicit_bytes(partition.implicit_bytes);
  if (partition.scanned_bytes) message.set_scanned_bytes(*partition.scanned_bytes);
  for (const ExplicitKey& key : partition.sampled_keys) {
    message.add_sampled_key_hashes(static_cast<std::uint64_t>(key.key));
    message.add_sampled_key_bytes(key.size_bytes);
  }
  if (ValuesKnown(partition.sampled_keys)) {
    for (const ExplicitKey& key : partition.sampled_keys) {
      message.add_sampled_key_values(key.values);
    }
  }
}

// The Encode functions below reserve the exact sizes of arrays. This halves the memory of messages,
// which senders keep until they are acknowledged.

void EncodePoints(const ReduceProfile& profile, v1::ReduceProfile& message) {
  const int points = static_cast<int>(profile.points.size());
  message.mutable_point_bytes()->Reserve(points);
  message.mutable_point_counts()->Reserve(points);
  message.mutable_point_nanos()->Reserve(points);
  for (const GroupPoint& point : profile.points) {
    message.add_point_bytes(point.size_bytes);
    message.add_point_counts(point.count);
    message.add_point_nanos(Nanos(point.total_time));
  }
}

void EncodeBins(const ReduceProfile& profile, v1::ReduceProfile& message) {
  for (const GroupBin& bin : profile.bins) {
    message.add_bin_indexes(bin.bin);
    message.add_bin_counts(bin.count);
    message.add_bin_bytes(bin.size_bytes);
    message.add_bin_seconds(bin.seconds);
    message.add_bin_seconds_squared(bin.seconds_squared);
    message.add_bin_emitted_bytes(bin.emitted_bytes);
  }
}

void EncodeFinishedKeys(const ReduceProfile& profile, v1::ReduceProfile& message) {
  message.set_keys_named(profile.keys_named);
  message.set_named_group_bytes_min(profile.named_group_bytes_min);
  const int keys = static_cast<int>(profile.finished_keys.size());
  message.mutable_finished_key_hashes()->Reserve(keys);
  message.mutable_finished_key_bytes()->Reserve(keys);
  message.mutable_finished_key_nanos()->Reserve(keys);
  message.mutable_finished_key_emitted_bytes()->Reserve(keys);
  for (const FinishedKey& key : profile.finished_keys) {
    message.add_finished_key_hashes(static_cast<std::uint64_t>(key.key));
    message.add_finished_key_bytes(key.size_bytes);
    message.add_finished_key_nanos(Nanos(key.time));
    message.add_finished_key_emitted_bytes(key.emitted_bytes);
  }
}

void EncodeStage(const StageOpened& stage, v1::StageOpened& message) {
  message.set_stage(stage.stage);
  message.set_attempt(stage.attempt);
  message.set_name(ValidText(stage.name));
  message.set_signature(ValidText(stage.signature));
  message.mutable_parents()->Add(stage.parents.begin(), stage.parents.end());
  message.set_group(ValidText(stage.group));
  message.set_kind(static_cast<v1::StageKind>(stage.kind));
  if (stage.task_count) message.set_task_count(*stage.task_count);
  message.set_skipped(stage.skipped);
  message.set_pool(ValidText(stage.pool));
  message.mutable_task_bytes()->Add(stage.task_bytes.begin(), stage.task_bytes.end());
  message.mutable_task_records()->Add(stage.task_records.begin(), stage.task_records.end());
  message.set_size_precision(static_cast<v1::SizePrecision>(stage.size_precision));
  if (stage.slots) message.set_slots(*stage.slots);
  if (stage.partition_count) message.set_partition_count(*stage.partition_count);
  if (stage.has_combiner) message.set_has_combiner(*stage.has_combiner);
  if (stage.is_grouping_opaque) message.set_is_grouping_opaque(*stage.is_grouping_opaque);
  if (stage.opened_at) message.set_opened_at(absl::ToUnixNanos(*stage.opened_at));
  if (stage.index_count) message.set_index_count(*stage.index_count);
  message.set_work(stage.work);
}

// Encodes the fields that the events for the end of a job, stage or group have in common.
template <typename Closed, typename Message>
void EncodeEnd(const Closed& closed, Message& message) {
  message.set_outcome(EncodeOutcome(closed.outcome));
  message.set_message(ValidText(closed.message));
  if (closed.at) message.set_closed_at(absl::ToUnixNanos(*closed.at));
}

}  // namespace

void EncodeJobWorkflow(const JobWorkflow& workflow, v1::JobWorkflow& message) {
  message.set_id(ValidText(workflow.id));
  message.set_name(ValidText(workflow.name));
  message.set_node(ValidText(workflow.node));
  for (const WorkflowNode& node : workflow.nodes) {
    v1::WorkflowNode& added = *message.add_nodes();
    added.set_name(ValidText(node.name));
    for (const std::string& name : node.after) added.add_after(ValidText(name));
  }
  for (const std::string& id : workflow.parent_job_ids) message.add_parent_job_ids(ValidText(id));
  message.set_quiet_seconds(static_cast<std::uint32_t>(
      std::clamp<std::int64_t>(absl::ToInt64Seconds(workflow.quiet), 0, UINT32_MAX)));
}

namespace {

// Has one overload for each event, which sets the matching member of the oneof.
struct BodyEncoder {
  v1::Event& event;

  // Writes a field that no version will define, so the event is not empty.
  void operator()(const UnknownEvent&) const {
    constexpr int kFieldNumberMax = (1 << 29) - 1;
    event.clear_event();
    event.GetReflection()->MutableUnknownFields(&event)->AddVarint(kFieldNumberMax, 1);
  }

  void operator()(const JobOpened& job) const {
    v1::JobOpened& message = *event.mutable_job_opened();
    message.set_name(ValidText(job.name));
    message.set_engine(ValidText(job.engine));
    message.set_application_id(ValidText(job.application_id));
    message.set_user(ValidText(job.user));
    message.set_queue(ValidText(job.queue));
    if (job.submitted_at) message.set_submitted_at(absl::ToUnixNanos(*job.submitted_at));
    message.set_application_master_attempt(job.application_master_attempt);
    if (job.deadline) message.set_deadline_at(absl::ToUnixNanos(*job.deadline));
    for (const StageOpened& stage : job.stages) EncodeStage(stage, *message.add_stages());
    for (const auto& [name, value] : job.parameters) {
      v1::Parameter& parameter = *message.add_parameters();
      parameter.set_name(ValidText(name));
      parameter.set_value(ValidText(value));
    }
    if (job.workflow) EncodeJobWorkflow(*job.workflow, *message.mutable_workflow());
    message.set_replaces_deadline(job.replaces_deadline);
  }

  void operator()(const StageOpened& stage) const {
    EncodeStage(stage, *event.mutable_stage_opened());
  }

  void operator()(const ExecutorOpened& executor) const {
    v1::ExecutorOpened& message = *event.mutable_executor_opened();
    message.set_executor(executor.executor);
    message.set_host(ValidText(executor.host));
    message.set_rack(ValidText(executor.rack));
    message.set_container(ValidText(executor.container));
    message.set_slots(executor.slots);
  }

  void operator()(const JobClosed& closed) const { EncodeEnd(closed, *event.mutable_job_closed()); }

  void operator()(const StageClosed& closed) const {
    v1::StageClosed& message = *event.mutable_stage_closed();
    message.set_stage(closed.stage);
    message.set_attempt(closed.attempt);
    EncodeEnd(closed, message);
  }

  void operator()(const GroupOpened& group) const {
    v1::GroupOpened& message = *event.mutable_group_opened();
    message.set_group(ValidText(group.group));
    message.set_name(ValidText(group.name));
    if (group.opened_at) message.set_opened_at(absl::ToUnixNanos(*group.opened_at));
    message.mutable_planned_task_counts()->Add(group.planned_task_counts.begin(),
                                               group.planned_task_counts.end());
  }

  void operator()(const GroupClosed& closed) const {
    v1::GroupClosed& message = *event.mutable_group_closed();
    message.set_group(ValidText(closed.group));
    EncodeEnd(closed, message);
  }

  void operator()(const ExecutorClosed& closed) const {
    event.mutable_executor_closed()->set_executor(closed.executor);
  }

  void operator()(const AttemptChanged& changed) const {
    v1::AttemptChanged& message = *event.mutable_attempt_changed();
    EncodeAttemptId(changed.attempt, *message.mutable_attempt());
    message.set_state(EncodeAttemptState(changed.state));
    if (changed.at) message.set_changed_at(absl::ToUnixNanos(*changed.at));
    if (changed.executor) message.set_executor(*changed.executor);
    message.set_speculative(changed.speculative);
    if (changed.input_bytes) message.set_input_bytes(*changed.input_bytes);
    if (changed.input_records) message.set_input_records(*changed.input_records);
    message.set_input_name(ValidText(changed.input_name));
    message.set_failure(ValidText(changed.failure));
    message.set_task_failed(changed.task_failed);
  }

  void operator()(const TaskHeartbeat& heartbeat) const {
    v1::TaskHeartbeat& message = *event.mutable_task_heartbeat();
    EncodeAttemptId(heartbeat.attempt, *message.mutable_attempt());
    message.set_bytes_done(heartbeat.bytes_done);
    message.set_records_done(heartbeat.records_done);
    message.set_bytes_emitted(heartbeat.bytes_emitted);
    EncodeTimes(heartbeat.time, message);
    message.set_input_is_read_first(heartbeat.input_is_read_first);
  }

  void operator()(const MapProfile& profile) const {
    v1::MapProfile& message = *event.mutable_map_profile();
    EncodeAttemptId(profile.attempt, *message.mutable_attempt());
    for (const PartitionProfile& partition : profile.partitions) {
      EncodePartition(partition, *message.add_partitions());
    }
    message.set_sampled_below(profile.sampled_below);
    message.set_sampled_below_per_byte(profile.sampled_below_per_byte);
  }

  void operator()(const ReduceProfile& profile) const {
    v1::ReduceProfile& message = *event.mutable_reduce_profile();
    EncodeAttemptId(profile.attempt, *message.mutable_attempt());
    if (profile.last_group_finished_at) {
      message.set_last_group_finished_at(absl::ToUnixNanos(*profile.last_group_finished_at));
    }
    message.set_groups_done(profile.groups_done);
    message.set_bytes_done(profile.bytes_done);
    message.set_reduce_nanos(Nanos(profile.reduce_time));
    EncodePoints(profile, message);
    EncodeBins(profile, message);
    EncodeFinishedKeys(profile, message);
    if (profile.running_group) {
      EncodeRunningGroup(*profile.running_group, *message.mutable_running_group());
    }
    message.set_dropped_points(profile.dropped_points);
    if (profile.processor_use) {
      v1::ProcessorUse& use = *message.mutable_processor_use();
      use.set_watched_nanos(Nanos(profile.processor_use->watched));
      use.set_waited_nanos(Nanos(profile.processor_use->waited));
      use.set_processors(profile.processor_use->processors);
    }
    if (profile.time != TimeUse{}) EncodeTimes(profile.time, *message.mutable_time_use());
  }
};

}  // namespace

void EncodeBody(const EventBody& body, v1::Event& message) {
  message.Clear();
  std::visit(BodyEncoder{message}, body);
}

ReceivedEvent EncodeEvent(const Event& event) {
  v1::Event body;
  EncodeBody(event.body, body);
  return {.job_id = ValidText(event.job_id),
          .run_uid = ValidText(event.run_uid),
          .source_id = ValidText(event.source_id),
          .sequence = event.sequence,
          .sent_at = event.sent_at,
          .dropped_events = event.dropped_events,
          .body = body.SerializeAsString()};
}

}  // namespace tidemark::wire
