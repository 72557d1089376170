#include "proto/wire/parse_event.h"

#include <fmt/format.h>
#include <google/protobuf/unknown_field_set.h>

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "proto/wire/checks.h"
#include "proto/wire/count_fields.h"
#include "proto/wire/task_codec.h"
#include "proto/wire/time_use_codec.h"
#include "tidemark/v1/event.pb.h"

namespace tidemark::wire {
namespace {

// Parsers check only the structure of a message. CheckBody() checks its values.

using Numbers = google::protobuf::RepeatedField<std::uint64_t>;

absl::Duration SaturatingNanoseconds(std::uint64_t nanos) {
  constexpr std::uint64_t kMax = std::numeric_limits<std::int64_t>::max();
  return absl::Nanoseconds(static_cast<std::int64_t>(std::min(nanos, kMax)));
}

// Returns an element of an optional array, or 0.
std::uint64_t At(const Numbers& numbers, int i) { return numbers.empty() ? 0 : numbers[i]; }

std::vector<ExplicitKey> ZipKeys(const Numbers& hashes, const Numbers& bytes,
                                 const Numbers& values) {
  std::vector<ExplicitKey> keys;
  keys.reserve(static_cast<std::size_t>(hashes.size()));
  for (int i = 0; i < hashes.size(); ++i) {
    keys.push_back({KeyHash{hashes[i]}, bytes[i], At(values, i)});
  }
  return keys;
}

// Returns the attempt of `event`. Stores a fault in `check`.
template <typename Message>
AttemptId ParseAttempt(const Message& event, Checks& check) {
  if (!event.has_attempt()) check.RefuseWithoutAttempt();
  return DecodeAttemptId(event.attempt());
}

std::optional<absl::Time> ParseInstant(bool is_set, std::int64_t unix_nanos) {
  return is_set ? std::optional(absl::FromUnixNanos(unix_nanos)) : std::nullopt;
}

StageOpened ParseStage(const v1::StageOpened& untrusted) {
  static_assert(static_cast<int>(StageKind::kGeneric) == v1::STAGE_KIND_GENERIC);
  static_assert(static_cast<int>(SizePrecision::kEstimated) == v1::SIZE_PRECISION_ESTIMATED);
  StageOpened stage;
  stage.stage = untrusted.stage();
  stage.attempt = untrusted.attempt();
  stage.name = untrusted.name();
  stage.signature = untrusted.signature();
  stage.parents.assign(untrusted.parents().begin(), untrusted.parents().end());
  stage.group = untrusted.group();
  stage.kind = v1::StageKind_IsValid(untrusted.kind()) ? static_cast<StageKind>(untrusted.kind())
                                                       : StageKind::kGeneric;
  if (untrusted.has_task_count()) stage.task_count = untrusted.task_count();
  stage.skipped = untrusted.skipped();
  stage.pool = untrusted.pool();
  stage.task_bytes.assign(untrusted.task_bytes().begin(), untrusted.task_bytes().end());
  stage.task_records.assign(untrusted.task_records().begin(), untrusted.task_records().end());
  if (v1::SizePrecision_IsValid(untrusted.size_precision())) {
    stage.size_precision = static_cast<SizePrecision>(untrusted.size_precision());
  }
  if (untrusted.has_slots()) stage.slots = untrusted.slots();
  if (untrusted.has_partition_count()) stage.partition_count = untrusted.partition_count();
  if (untrusted.has_has_combiner()) stage.has_combiner = untrusted.has_combiner();
  if (untrusted.has_is_grouping_opaque()) stage.is_grouping_opaque = untrusted.is_grouping_opaque();
  stage.opened_at = ParseInstant(untrusted.has_opened_at(), untrusted.opened_at());
  if (untrusted.has_index_count()) stage.index_count = untrusted.index_count();
  stage.work = untrusted.work();
  return stage;
}

}  // namespace

JobWorkflow ParseJobWorkflow(const v1::JobWorkflow& untrusted) {
  JobWorkflow workflow = {
      .id = untrusted.id(),
      .name = untrusted.name(),
      .node = untrusted.node(),
      .parent_job_ids = {untrusted.parent_job_ids().begin(), untrusted.parent_job_ids().end()},
      .quiet = absl::Seconds(untrusted.quiet_seconds())};
  for (const v1::WorkflowNode& node : untrusted.nodes()) {
    workflow.nodes.push_back({node.name(), {node.after().begin(), node.after().end()}});
  }
  return workflow;
}

namespace {

JobOpened ParseJobOpened(const v1::JobOpened& untrusted, const EventLimits& limits) {
  JobOpened job;
  job.name = untrusted.name();
  job.engine = untrusted.engine();
  job.application_id = untrusted.application_id();
  job.user = untrusted.user();
  job.queue = untrusted.queue();
  job.submitted_at = ParseInstant(untrusted.has_submitted_at(), untrusted.submitted_at());
  job.deadline = ParseInstant(untrusted.has_deadline_at(), untrusted.deadline_at());
  job.replaces_deadline = untrusted.replaces_deadline();
  job.application_master_attempt = untrusted.application_master_attempt();
  for (const v1::Parameter& parameter : untrusted.parameters()) {
    if (job.parameters.size() == limits.parameters_max) break;
    if (parameter.name().empty()) continue;
    job.parameters.try_emplace(parameter.name(), parameter.value());
  }
  if (untrusted.has_workflow()) job.workflow = ParseJobWorkflow(untrusted.workflow());
  job.stages.reserve(static_cast<std::size_t>(untrusted.stages_size()));
  for (const v1::StageOpened& stage : untrusted.stages()) job.stages.push_back(ParseStage(stage));
  return job;
}

// Parses the fields that the events for the end of a job, stage or group have in common.
template <typename Message, typename Closed>
absl::StatusOr<EventBody> ParseEnd(const char* what, const Message& untrusted, Closed closed) {
  if (untrusted.outcome() == v1::JOB_OUTCOME_UNSPECIFIED) {
    return absl::InvalidArgumentError(
        fmt::format("{} closed: outcome is missing; send how the {} ended", what, what));
  }
  const std::optional<JobOutcome> outcome = DecodeOutcome(untrusted.outcome());
  closed.outcome = outcome.value_or(JobOutcome::kUnknown);
  closed.message = untrusted.message();
  if (!outcome && closed.message.empty()) {
    closed.message = fmt::format(
        "a newer version of Tidemark reports outcome {}, which this master does not support; "
        "update the master",
        static_cast<int>(untrusted.outcome()));
  }
  closed.at = ParseInstant(untrusted.has_closed_at(), untrusted.closed_at());
  return closed;
}

GroupOpened ParseGroupOpened(const v1::GroupOpened& untrusted) {
  return {.group = untrusted.group(),
          .name = untrusted.name(),
          .opened_at = ParseInstant(untrusted.has_opened_at(), untrusted.opened_at()),
          .planned_task_counts = {untrusted.planned_task_counts().begin(),
                                  untrusted.planned_task_counts().end()}};
}

ExecutorOpened ParseExecutor(const v1::ExecutorOpened& untrusted) {
  return {.executor = untrusted.executor(),
          .host = untrusted.host(),
          .rack = untrusted.rack(),
          .container = untrusted.container(),
          .slots = untrusted.slots()};
}

absl::StatusOr<EventBody> ParseAttemptChanged(const v1::AttemptChanged& untrusted) {
  AttemptChanged changed;
  Checks check("attempt changed", &changed.attempt);
  changed.attempt = ParseAttempt(untrusted, check);
  if (untrusted.state() == v1::ATTEMPT_STATE_UNSPECIFIED) {
    check.Refuse("state is missing; send the state that the attempt entered");
  }
  if (!check.ok()) return check.status();
  const std::optional<AttemptState> state = DecodeAttemptState(untrusted.state());
  if (!state) return UnknownEvent{};
  changed.state = *state;
  changed.at = ParseInstant(untrusted.has_changed_at(), untrusted.changed_at());
  if (untrusted.has_executor()) changed.executor = untrusted.executor();
  changed.speculative = untrusted.speculative();
  if (untrusted.has_input_bytes()) changed.input_bytes = untrusted.input_bytes();
  if (untrusted.has_input_records()) changed.input_records = untrusted.input_records();
  changed.input_name = untrusted.input_name();
  changed.failure = untrusted.failure();
  changed.task_failed = untrusted.task_failed();
  return changed;
}

absl::StatusOr<EventBody> ParseHeartbeat(const v1::TaskHeartbeat& untrusted) {
  TaskHeartbeat heartbeat;
  Checks check("task heartbeat", &heartbeat.attempt);
  heartbeat.attempt = ParseAttempt(untrusted, check);
  if (!check.ok()) return check.status();
  heartbeat.bytes_done = untrusted.bytes_done();
  heartbeat.records_done = untrusted.records_done();
  heartbeat.bytes_emitted = untrusted.bytes_emitted();
  heartbeat.time = ParseTimes(untrusted);
  heartbeat.input_is_read_first = untrusted.input_is_read_first();
  return heartbeat;
}

void CheckLengths(const v1::PartitionProfile& untrusted, Checks& check) {
  const int keys = untrusted.explicit_key_hashes_size();
  check.SameLength("explicit_key_hashes", keys, "explicit_key_bytes",
                   untrusted.explicit_key_bytes_size());
  check.SameLengthOrNone("explicit_key_hashes", keys, "explicit_key_values",
                         untrusted.explicit_key_values_size());
  const int sampled = untrusted.sampled_key_hashes_size();
  check.SameLength("sampled_key_hashes", sampled, "sampled_key_bytes",
                   untrusted.sampled_key_bytes_size());
  check.SameLengthOrNone("sampled_key_hashes", sampled, "sampled_key_values",
                         untrusted.sampled_key_values_size());
}

PartitionProfile ZipPartition(const v1::PartitionProfile& checked) {
  PartitionProfile partition;
  partition.partition = checked.partition();
  partition.total_bytes = checked.total_bytes();
  partition.explicit_keys = ZipKeys(checked.explicit_key_hashes(), checked.explicit_key_bytes(),
                                    checked.explicit_key_values());
  partition.implicit_key_count = checked.implicit_key_count();
  partition.implicit_bytes = checked.implicit_bytes();
  if (checked.has_scanned_bytes()) partition.scanned_bytes = checked.scanned_bytes();
  partition.sampled_keys = ZipKeys(checked.sampled_key_hashes(), checked.sampled_key_bytes(),
                                   checked.sampled_key_values());
  return partition;
}

absl::StatusOr<EventBody> ParseMapProfile(const v1::MapProfile& untrusted,
                                          const EventLimits& limits) {
  MapProfile profile;
  Checks check("map profile", &profile.attempt);
  profile.attempt = ParseAttempt(untrusted, check);
  // A partition takes two bytes in the message, but far more in memory.
  const auto partitions = static_cast<std::size_t>(untrusted.partitions_size());
  check.ItemsAtMost("partitions", partitions, limits.partitions_max);
  for (const auto& partition : untrusted.partitions()) CheckLengths(partition, check);
  if (!check.ok()) return check.status();
  profile.partitions.reserve(partitions);
  for (const v1::PartitionProfile& partition : untrusted.partitions()) {
    profile.partitions.push_back(ZipPartition(partition));
  }
  profile.sampled_below = untrusted.sampled_below();
  profile.sampled_below_per_byte = untrusted.sampled_below_per_byte();
  return profile;
}

void CheckLengths(const v1::ReduceProfile& untrusted, Checks& check) {
  const int points = untrusted.point_bytes_size();
  check.SameLength("point_bytes", points, "point_counts", untrusted.point_counts_size());
  check.SameLength("point_bytes", points, "point_nanos", untrusted.point_nanos_size());
  const int bins = untrusted.bin_indexes_size();
  check.SameLength("bin_indexes", bins, "bin_counts", untrusted.bin_counts_size());
  check.SameLength("bin_indexes", bins, "bin_bytes", untrusted.bin_bytes_size());
  check.SameLength("bin_indexes", bins, "bin_seconds", untrusted.bin_seconds_size());
  check.SameLength("bin_indexes", bins, "bin_seconds_squared",
                   untrusted.bin_seconds_squared_size());
  check.SameLengthOrNone("bin_indexes", bins, "bin_emitted_bytes",
                         untrusted.bin_emitted_bytes_size());
  const int keys = untrusted.finished_key_hashes_size();
  check.SameLength("finished_key_hashes", keys, "finished_key_bytes",
                   untrusted.finished_key_bytes_size());
  check.SameLengthOrNone("finished_key_hashes", keys, "finished_key_nanos",
                         untrusted.finished_key_nanos_size());
  check.SameLengthOrNone("finished_key_hashes", keys, "finished_key_emitted_bytes",
                         untrusted.finished_key_emitted_bytes_size());
}

std::vector<GroupPoint> ZipPoints(const v1::ReduceProfile& checked) {
  std::vector<GroupPoint> points;
  points.reserve(static_cast<std::size_t>(checked.point_bytes_size()));
  for (int i = 0; i < checked.point_bytes_size(); ++i) {
    points.push_back({checked.point_bytes(i), checked.point_counts(i),
                      SaturatingNanoseconds(checked.point_nanos(i))});
  }
  return points;
}

std::vector<GroupBin> ZipBins(const v1::ReduceProfile& checked) {
  std::vector<GroupBin> bins;
  bins.reserve(static_cast<std::size_t>(checked.bin_indexes_size()));
  for (int i = 0; i < checked.bin_indexes_size(); ++i) {
    bins.push_back({checked.bin_indexes(i), checked.bin_counts(i), checked.bin_bytes(i),
                    checked.bin_seconds(i), checked.bin_seconds_squared(i),
                    At(checked.bin_emitted_bytes(), i)});
  }
  return bins;
}

std::vector<FinishedKey> ZipFinishedKeys(const v1::ReduceProfile& checked) {
  std::vector<FinishedKey> keys;
  keys.reserve(static_cast<std::size_t>(checked.finished_key_hashes_size()));
  for (int i = 0; i < checked.finished_key_hashes_size(); ++i) {
    keys.push_back({KeyHash{checked.finished_key_hashes(i)}, checked.finished_key_bytes(i),
                    SaturatingNanoseconds(At(checked.finished_key_nanos(), i)),
                    At(checked.finished_key_emitted_bytes(), i)});
  }
  return keys;
}

RunningGroup ParseRunningGroup(const v1::RunningGroup& untrusted) {
  RunningGroup group;
  if (untrusted.has_key_hash()) group.key = KeyHash{untrusted.key_hash()};
  group.elapsed = SaturatingNanoseconds(untrusted.elapsed_nanos());
  group.bytes_read = untrusted.bytes_read();
  group.values_read = untrusted.values_read();
  group.bytes_emitted = untrusted.bytes_emitted();
  return group;
}

absl::StatusOr<EventBody> ParseReduceProfile(const v1::ReduceProfile& untrusted) {
  ReduceProfile profile;
  Checks check("reduce profile", &profile.attempt);
  profile.attempt = ParseAttempt(untrusted, check);
  CheckLengths(untrusted, check);
  if (!check.ok()) return check.status();
  profile.last_group_finished_at =
      ParseInstant(untrusted.has_last_group_finished_at(), untrusted.last_group_finished_at());
  profile.groups_done = untrusted.groups_done();
  profile.bytes_done = untrusted.bytes_done();
  profile.reduce_time = SaturatingNanoseconds(untrusted.reduce_nanos());
  profile.points = ZipPoints(untrusted);
  profile.bins = ZipBins(untrusted);
  profile.keys_named = untrusted.keys_named();
  profile.named_group_bytes_min = untrusted.named_group_bytes_min();
  profile.finished_keys = ZipFinishedKeys(untrusted);
  if (untrusted.has_running_group()) {
    profile.running_group = ParseRunningGroup(untrusted.running_group());
  }
  profile.dropped_points = untrusted.dropped_points();
  if (untrusted.has_processor_use()) {
    const v1::ProcessorUse& use = untrusted.processor_use();
    profile.processor_use =
        ProcessorUse{SaturatingNanoseconds(use.watched_nanos()),
                     SaturatingNanoseconds(use.waited_nanos()), use.processors()};
  }
  if (untrusted.has_time_use()) profile.time = ParseTimes(untrusted.time_use());
  return profile;
}

absl::StatusOr<EventBody> ParseShape(const v1::Event& untrusted, const EventLimits& limits) {
  switch (untrusted.event_case()) {
    case v1::Event::kJobOpened:
      return ParseJobOpened(untrusted.job_opened(), limits);
    case v1::Event::kJobClosed:
      return ParseEnd("job", untrusted.job_closed(), JobClosed{});
    case v1::Event::kStageOpened:
      return ParseStage(untrusted.stage_opened());
    case v1::Event::kExecutorOpened:
      return ParseExecutor(untrusted.executor_opened());
    case v1::Event::kAttemptChanged:
      return ParseAttemptChanged(untrusted.attempt_changed());
    case v1::Event::kTaskHeartbeat:
      return ParseHeartbeat(untrusted.task_heartbeat());
    case v1::Event::kMapProfile:
      return ParseMapProfile(untrusted.map_profile(), limits);
    case v1::Event::kReduceProfile:
      return ParseReduceProfile(untrusted.reduce_profile());
    case v1::Event::kStageClosed:
      return ParseEnd("stage", untrusted.stage_closed(),
                      StageClosed{.stage = untrusted.stage_closed().stage(),
                                  .attempt = untrusted.stage_closed().attempt()});
    case v1::Event::kGroupOpened:
      return ParseGroupOpened(untrusted.group_opened());
    case v1::Event::kGroupClosed:
      return ParseEnd("group", untrusted.group_closed(),
                      GroupClosed{.group = untrusted.group_closed().group()});
    case v1::Event::kExecutorClosed:
      return ExecutorClosed{.executor = untrusted.executor_closed().executor()};
    case v1::Event::EVENT_NOT_SET:
      break;
  }
  if (untrusted.GetReflection()->GetUnknownFields(untrusted).empty()) {
    return absl::InvalidArgumentError("it is empty; set one of its fields");
  }
  return UnknownEvent{};
}

}  // namespace

absl::StatusOr<EventBody> ParseBody(const v1::Event& untrusted, const EventLimits& limits) {
  absl::StatusOr<EventBody> body = ParseShape(untrusted, limits);
  if (!body.ok()) return body;
  if (absl::Status checked = CheckBody(limits, *body); !checked.ok()) return checked;
  return body;
}

absl::StatusOr<Event> ParseEvent(const ReceivedEvent& received, absl::Time arrived_at,
                                 const EventLimits& limits) {
  if (absl::Status place = CheckPlace(received, limits); !place.ok()) return place;
  const auto refused = [&](const std::string& why) {
    return RefusedEvent(received.sequence, received.source_id, why);
  };
  // A sender that sets the field without a time reports 0.
  if (!received.sent_at || *received.sent_at <= absl::UnixEpoch()) {
    return refused("sent_at is missing or 0; set it to the time at which you send the message");
  }
  // A stage takes at least two bytes.
  if (received.body.size() > 2 * limits.stages_max) {
    const std::size_t stages = CountFields(
        received.body, {v1::Event::kJobOpenedFieldNumber, v1::JobOpened::kStagesFieldNumber});
    if (absl::Status few = CheckStageCount(stages, limits); !few.ok()) {
      return refused(std::string(few.message()));
    }
  }
  ReusedMessage<v1::Event> message;
  if (!message.Parse(received.body)) return refused("is not a tidemark.v1.Event");
  absl::StatusOr<EventBody> body = ParseBody(*message, limits);
  if (!body.ok()) return refused(std::string(body.status().message()));

  Event event;
  event.job_id = received.job_id;
  event.run_uid = received.run_uid;
  event.source_id = received.source_id;
  event.sequence = received.sequence;
  event.sent_at = *received.sent_at;
  event.arrived_at = arrived_at;
  event.dropped_events = received.dropped_events;
  event.body = *std::move(body);
  return event;
}

}  // namespace tidemark::wire
