#include "proto/wire/encode_event.h"

#include <algorithm>
#include <variant>

#include "proto/wire/message_time.h"
#include "proto/wire/valid_text.h"
#include "tidemark/v1/event.pb.h"

namespace tidemark::wire {
namespace {

v1::Phase Encode(Phase phase) {
  switch (phase) {
    case Phase::kMap:
      return v1::PHASE_MAP;
    case Phase::kShuffle:
      return v1::PHASE_SHUFFLE;
    case Phase::kReduce:
      return v1::PHASE_REDUCE;
  }
  return v1::PHASE_UNSPECIFIED;
}

v1::JobOutcome Encode(JobOutcome outcome) {
  switch (outcome) {
    case JobOutcome::kSucceeded:
      return v1::JOB_OUTCOME_SUCCEEDED;
    case JobOutcome::kFailed:
      return v1::JOB_OUTCOME_FAILED;
    case JobOutcome::kKilled:
      return v1::JOB_OUTCOME_KILLED;
  }
  return v1::JOB_OUTCOME_UNSPECIFIED;
}

v1::AttemptState Encode(AttemptState state) {
  switch (state) {
    case AttemptState::kQueued:
      return v1::ATTEMPT_STATE_QUEUED;
    case AttemptState::kStarted:
      return v1::ATTEMPT_STATE_STARTED;
    case AttemptState::kShuffled:
      return v1::ATTEMPT_STATE_SHUFFLED;
    case AttemptState::kFinished:
      return v1::ATTEMPT_STATE_FINISHED;
    case AttemptState::kFailed:
      return v1::ATTEMPT_STATE_FAILED;
    case AttemptState::kKilled:
      return v1::ATTEMPT_STATE_KILLED;
    case AttemptState::kObsolete:
      return v1::ATTEMPT_STATE_OBSOLETE;
  }
  return v1::ATTEMPT_STATE_UNSPECIFIED;
}

void Encode(const AttemptId& id, v1::TaskAttemptId& message) {
  message.set_kind(id.kind == TaskKind::kMap ? v1::TASK_KIND_MAP : v1::TASK_KIND_REDUCE);
  message.set_index(id.index);
  message.set_attempt(id.attempt);
}

std::uint64_t Nanos(absl::Duration duration) {
  return static_cast<std::uint64_t>(
      absl::ToInt64Nanoseconds(std::max(duration, absl::ZeroDuration())));
}

void EncodeRunningGroup(const RunningGroup& group, v1::RunningGroup& message) {
  if (group.key) message.set_key_hash(static_cast<std::uint64_t>(*group.key));
  EncodeDuration(group.elapsed, *message.mutable_elapsed());
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

// Reserving halves what a message takes in memory: senders keep it until it is acknowledged.

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

// One overload for each event: sets the matching member of the envelope's oneof.
struct BodyEncoder {
  v1::Envelope& envelope;

  void operator()(const JobOpened& job) const {
    v1::JobOpened& message = *envelope.mutable_job_opened();
    message.set_name(ValidText(job.name));
    message.set_engine(ValidText(job.engine));
    if (job.submitted_at) EncodeTime(*job.submitted_at, *message.mutable_submitted_at());
    for (const Phase phase : job.phases) message.add_phases(Encode(phase));
    if (job.map_task_count) message.set_map_task_count(*job.map_task_count);
    if (job.reduce_task_count) message.set_reduce_task_count(*job.reduce_task_count);
    if (job.partition_count) message.set_partition_count(*job.partition_count);
    if (job.map_slots) message.set_map_slots(*job.map_slots);
    if (job.reduce_slots) message.set_reduce_slots(*job.reduce_slots);
    message.set_has_combiner(job.has_combiner);
    if (job.is_grouping_opaque) message.mutable_grouping()->set_opaque(true);
  }

  void operator()(const JobClosed& closed) const {
    v1::JobClosed& message = *envelope.mutable_job_closed();
    message.set_outcome(Encode(closed.outcome));
    message.set_message(ValidText(closed.message));
    if (closed.at) EncodeTime(*closed.at, *message.mutable_at());
  }

  void operator()(const AttemptChanged& changed) const {
    v1::AttemptChanged& message = *envelope.mutable_attempt_changed();
    Encode(changed.attempt, *message.mutable_attempt());
    message.set_state(Encode(changed.state));
    if (changed.at) EncodeTime(*changed.at, *message.mutable_at());
    message.set_host(ValidText(changed.host));
    message.set_speculative(changed.speculative);
    if (changed.input_bytes) message.set_input_bytes(*changed.input_bytes);
    message.set_input_name(ValidText(changed.input_name));
    message.set_failure(ValidText(changed.failure));
  }

  void operator()(const TaskHeartbeat& heartbeat) const {
    v1::TaskHeartbeat& message = *envelope.mutable_task_heartbeat();
    Encode(heartbeat.attempt, *message.mutable_attempt());
    message.set_bytes_done(heartbeat.bytes_done);
    message.set_records_done(heartbeat.records_done);
    message.set_bytes_emitted(heartbeat.bytes_emitted);
  }

  void operator()(const MapProfile& profile) const {
    v1::MapProfile& message = *envelope.mutable_map_profile();
    Encode(profile.attempt, *message.mutable_attempt());
    for (const PartitionProfile& partition : profile.partitions) {
      EncodePartition(partition, *message.add_partitions());
    }
    message.set_sampled_below(profile.sampled_below);
  }

  void operator()(const ReduceProfile& profile) const {
    v1::ReduceProfile& message = *envelope.mutable_reduce_profile();
    Encode(profile.attempt, *message.mutable_attempt());
    if (profile.last_group_finished_at) {
      EncodeTime(*profile.last_group_finished_at, *message.mutable_last_group_finished_at());
    }
    message.set_groups_done(profile.groups_done);
    message.set_bytes_done(profile.bytes_done);
    EncodeDuration(profile.reduce_time, *message.mutable_reduce_time());
    EncodePoints(profile, message);
    EncodeBins(profile, message);
    EncodeFinishedKeys(profile, message);
    if (profile.running_group) {
      EncodeRunningGroup(*profile.running_group, *message.mutable_running_group());
    }
    message.set_dropped_points(profile.dropped_points);
    if (profile.processor_use) {
      v1::ProcessorUse& use = *message.mutable_processor_use();
      EncodeDuration(profile.processor_use->watched, *use.mutable_watched());
      EncodeDuration(profile.processor_use->waited, *use.mutable_waited());
      use.set_processors(profile.processor_use->processors);
    }
  }
};

}  // namespace

void EncodeEvent(const Event& event, v1::Envelope& envelope) {
  envelope.Clear();
  envelope.set_source_id(ValidText(event.source_id));
  envelope.set_sequence(event.sequence);
  EncodeTime(event.sent_at, *envelope.mutable_sent_at());
  envelope.set_job_id(ValidText(event.job_id));
  envelope.set_run_uid(ValidText(event.run_uid));
  envelope.set_dropped_events(event.dropped_events);
  std::visit(BodyEncoder{envelope}, event.body);
}

}  // namespace tidemark::wire
