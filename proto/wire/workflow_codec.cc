#include "proto/wire/workflow_codec.h"

#include <fmt/format.h>

#include <optional>
#include <string>

#include "proto/wire/message_time.h"
#include "proto/wire/valid_text.h"
#include "tidemark/v1/workflow.pb.h"

namespace tidemark::wire {
namespace {

// The enums of messages are those of the values, in the same order, after a zero for "not said".
static_assert(static_cast<int>(JobState::kAbandoned) + 1 == v1::JOB_STATE_ABANDONED);
static_assert(static_cast<int>(SchedulingPolicy::kCapacity) + 1 == v1::SCHEDULING_POLICY_CAPACITY);
static_assert(static_cast<int>(WorkflowJobState::kCancelled) + 1 ==
              v1::WORKFLOW_JOB_STATE_CANCELLED);
static_assert(static_cast<int>(WorkflowBasis::kDone) + 1 == v1::WORKFLOW_BASIS_DONE);

template <typename Message, typename Value>
Message EncodeEnum(Value value) {
  return static_cast<Message>(static_cast<int>(value) + 1);
}

template <typename Value, typename Message>
Value ParseEnum(Message message, Value last) {
  const int value = static_cast<int>(message) - 1;
  return value >= 0 && value <= static_cast<int>(last) ? static_cast<Value>(value) : Value{};
}

v1::Phase Encode(Phase phase) { return phase == Phase::kReduce ? v1::PHASE_REDUCE : v1::PHASE_MAP; }

// Reads the parts of one message and keeps the first thing that was wrong.
class Reader {
 public:
  explicit Reader(const char* subject) : subject_(subject) {}
  const absl::Status& status() const { return status_; }

  double Fraction(const char* field, double value) {
    if (!(value >= 0 && value <= 1) && status_.ok()) {
      status_ = absl::InvalidArgumentError(
          fmt::format("{}: {} is {}; send 0..1", subject_, field, value));
    }
    return value;
  }

  absl::Duration Length(const char* field, const google::protobuf::Duration& message) {
    return Keep(ParseElapsed(message, fmt::format("{}: {}", subject_, field)));
  }

  absl::Time Instant(const char* field, const google::protobuf::Timestamp& message) {
    return Keep(ParseTime(message, fmt::format("{}: {}", subject_, field)));
  }

 private:
  template <typename T>
  T Keep(const absl::StatusOr<T>& value) {
    if (value.ok()) return *value;
    if (status_.ok()) status_ = value.status();
    return T{};
  }

  const char* const subject_;
  absl::Status status_;
};

void EncodeProfile(const JobProfile& profile, v1::JobProfile& message) {
  message.set_slots(profile.slots);
  message.set_map_task_count(profile.map_tasks);
  message.set_reduce_task_count(profile.reduce_tasks);
  message.set_split_bytes(profile.split_bytes);
  message.set_map_selectivity(profile.map_selectivity);
  message.set_reduce_selectivity(profile.reduce_selectivity);
  EncodeDuration(profile.map_task_time, *message.mutable_map_task_time());
  EncodeDuration(profile.reduce_task_time, *message.mutable_reduce_task_time());
  message.set_map_task_variation(profile.map_task_variation);
  message.set_reduce_task_variation(profile.reduce_task_variation);
}

JobProfile ParseProfile(const v1::JobProfile& message, Reader& reader) {
  return {.slots = message.slots(),
          .map_tasks = message.map_task_count(),
          .reduce_tasks = message.reduce_task_count(),
          .split_bytes = message.split_bytes(),
          .map_selectivity = message.map_selectivity(),
          .reduce_selectivity = message.reduce_selectivity(),
          .map_task_time = reader.Length("profile.map_task_time", message.map_task_time()),
          .reduce_task_time = reader.Length("profile.reduce_task_time", message.reduce_task_time()),
          .map_task_variation = message.map_task_variation(),
          .reduce_task_variation = message.reduce_task_variation()};
}

void EncodeCluster(const WorkflowCluster& cluster, v1::WorkflowCluster& message) {
  message.set_slots(cluster.slots);
  message.set_nodes(cluster.nodes);
  message.set_policy(EncodeEnum<v1::SchedulingPolicy>(cluster.policy));
  for (const WorkflowQueue& queue : cluster.queues) {
    v1::WorkflowQueue& added = *message.add_queues();
    added.set_name(ValidText(queue.name));
    added.set_share(queue.share);
  }
  if (!cluster.node) return;
  v1::ResourceProfile& node = *message.mutable_node();
  node.set_disk_read_bytes_per_second(cluster.node->disk_read);
  node.set_disk_write_bytes_per_second(cluster.node->disk_write);
  node.set_file_system_read_bytes_per_second(cluster.node->dfs_read);
  node.set_file_system_write_bytes_per_second(cluster.node->dfs_write);
  node.set_network_bytes_per_second(cluster.node->network);
  node.set_cores(cluster.node->cores);
}

WorkflowCluster ParseCluster(const v1::WorkflowCluster& message) {
  WorkflowCluster cluster = {.slots = message.slots(),
                             .nodes = message.nodes() == 0 ? 1 : message.nodes(),
                             .policy = ParseEnum(message.policy(), SchedulingPolicy::kCapacity)};
  for (const v1::WorkflowQueue& queue : message.queues()) {
    cluster.queues.push_back({queue.name(), queue.share()});
  }
  if (!message.has_node()) return cluster;
  const v1::ResourceProfile& node = message.node();
  cluster.node = ResourceProfile{.disk_read = node.disk_read_bytes_per_second(),
                                 .disk_write = node.disk_write_bytes_per_second(),
                                 .dfs_read = node.file_system_read_bytes_per_second(),
                                 .dfs_write = node.file_system_write_bytes_per_second(),
                                 .network = node.network_bytes_per_second(),
                                 .cores = node.cores()};
  return cluster;
}

void EncodeOptional(const std::optional<absl::Duration>& duration, auto mutable_message) {
  if (duration) EncodeDuration(*duration, *mutable_message());
}

void EncodeStage(const WorkflowStage& stage, v1::WorkflowStage& message) {
  message.set_phase(Encode(stage.phase));
  message.set_task_count(stage.tasks);
  message.set_pending_task_count(stage.pending);
  message.set_running_task_count(stage.running);
  EncodeOptional(stage.starts_in, [&] { return message.mutable_starts_in(); });
  EncodeOptional(stage.ends_in, [&] { return message.mutable_ends_in(); });
  EncodeOptional(stage.task_time, [&] { return message.mutable_task_time(); });
  message.set_bottleneck(ValidText(stage.bottleneck));
  message.set_is_critical(stage.is_critical);
}

WorkflowStage ParseStage(const v1::WorkflowStage& message, Reader& reader) {
  WorkflowStage stage = {
      .phase = message.phase() == v1::PHASE_REDUCE ? Phase::kReduce : Phase::kMap,
      .tasks = message.task_count(),
      .pending = message.pending_task_count(),
      .running = message.running_task_count(),
      .bottleneck = message.bottleneck(),
      .is_critical = message.is_critical()};
  if (message.has_starts_in()) stage.starts_in = reader.Length("starts_in", message.starts_in());
  if (message.has_ends_in()) stage.ends_in = reader.Length("ends_in", message.ends_in());
  if (message.has_task_time()) stage.task_time = reader.Length("task_time", message.task_time());
  return stage;
}

void EncodeJob(const WorkflowJobProgress& job, v1::WorkflowJobProgress& message) {
  message.set_name(ValidText(job.name));
  message.set_job_id(ValidText(job.job_id));
  message.set_state(EncodeEnum<v1::WorkflowJobState>(job.state));
  message.set_fraction_done(job.fraction_done);
  if (job.started_at) EncodeTime(*job.started_at, *message.mutable_started_at());
  if (job.ended_at) EncodeTime(*job.ended_at, *message.mutable_ended_at());
  EncodeOptional(job.starts_in, [&] { return message.mutable_starts_in(); });
  EncodeOptional(job.ends_in, [&] { return message.mutable_ends_in(); });
  EncodeOptional(job.ends_in_lower, [&] { return message.mutable_ends_in_lower(); });
  EncodeOptional(job.ends_in_upper, [&] { return message.mutable_ends_in_upper(); });
  message.set_is_critical(job.is_critical);
  message.set_basis(EncodeEnum<v1::WorkflowBasis>(job.basis));
  message.set_failed_attempts(job.failed_attempts);
  message.set_message(ValidText(job.message));
  for (const WorkflowStage& stage : job.stages) EncodeStage(stage, *message.add_stages());
}

WorkflowJobProgress ParseJob(const v1::WorkflowJobProgress& message, Reader& reader) {
  WorkflowJobProgress job = {
      .name = message.name(),
      .job_id = message.job_id(),
      .state = ParseEnum(message.state(), WorkflowJobState::kCancelled),
      .fraction_done = reader.Fraction("jobs.fraction_done", message.fraction_done()),
      .is_critical = message.is_critical(),
      .basis = ParseEnum(message.basis(), WorkflowBasis::kDone),
      .failed_attempts = message.failed_attempts(),
      .message = message.message()};
  if (message.has_started_at()) job.started_at = reader.Instant("started_at", message.started_at());
  if (message.has_ended_at()) job.ended_at = reader.Instant("ended_at", message.ended_at());
  if (message.has_starts_in()) job.starts_in = reader.Length("starts_in", message.starts_in());
  if (message.has_ends_in()) job.ends_in = reader.Length("ends_in", message.ends_in());
  if (message.has_ends_in_lower()) {
    job.ends_in_lower = reader.Length("ends_in_lower", message.ends_in_lower());
  }
  if (message.has_ends_in_upper()) {
    job.ends_in_upper = reader.Length("ends_in_upper", message.ends_in_upper());
  }
  for (const v1::WorkflowStage& stage : message.stages()) {
    job.stages.push_back(ParseStage(stage, reader));
  }
  return job;
}

}  // namespace

void EncodeWorkflow(const WorkflowSpec& workflow, v1::Workflow& message) {
  message.Clear();
  message.set_id(ValidText(workflow.id));
  message.set_name(ValidText(workflow.name));
  for (const WorkflowJob& job : workflow.jobs) {
    v1::WorkflowJob& added = *message.add_jobs();
    added.set_name(ValidText(job.name));
    added.set_job_id(ValidText(job.job_id));
    added.set_history_name(ValidText(job.history_name));
    for (const std::string& parent : job.after) added.add_after(ValidText(parent));
    added.set_map_task_count(job.map_tasks);
    added.set_reduce_task_count(job.reduce_tasks);
    added.set_input_bytes(job.input_bytes);
    if (job.profile) EncodeProfile(*job.profile, *added.mutable_profile());
    added.set_queue(ValidText(job.queue));
    added.set_map_only(job.is_map_only);
  }
  EncodeCluster(workflow.cluster, *message.mutable_cluster());
  EncodeDuration(workflow.retry_within, *message.mutable_retry_within());
}

absl::StatusOr<WorkflowSpec> ParseWorkflow(const v1::Workflow& untrusted) {
  Reader reader("workflow");
  WorkflowSpec workflow = {.id = untrusted.id(), .name = untrusted.name()};
  for (const v1::WorkflowJob& message : untrusted.jobs()) {
    WorkflowJob job = {.name = message.name(),
                       .job_id = message.job_id(),
                       .history_name = message.history_name(),
                       .after = {message.after().begin(), message.after().end()},
                       .map_tasks = message.map_task_count(),
                       .reduce_tasks = message.reduce_task_count(),
                       .input_bytes = message.input_bytes(),
                       .queue = message.queue(),
                       .is_map_only = message.map_only()};
    if (message.has_profile()) job.profile = ParseProfile(message.profile(), reader);
    workflow.jobs.push_back(std::move(job));
  }
  workflow.cluster = ParseCluster(untrusted.cluster());
  workflow.retry_within = reader.Length("retry_within", untrusted.retry_within());
  if (!reader.status().ok()) return reader.status();
  return workflow;
}

void EncodeWorkflowSnapshot(const WorkflowSnapshot& snapshot, v1::WorkflowSnapshot& message) {
  message.Clear();
  message.set_workflow_id(ValidText(snapshot.workflow_id));
  message.set_name(ValidText(snapshot.name));
  message.set_sequence(snapshot.sequence);
  EncodeTime(snapshot.at, *message.mutable_at());
  message.set_state(EncodeEnum<v1::JobState>(snapshot.state));
  message.set_message(ValidText(snapshot.message));
  EncodeTime(snapshot.started_at, *message.mutable_started_at());
  EncodeDuration(snapshot.elapsed, *message.mutable_elapsed());
  message.set_fraction_done(snapshot.fraction_done);
  message.set_fraction_done_lower(snapshot.fraction_done_lower);
  message.set_fraction_done_upper(snapshot.fraction_done_upper);
  EncodeOptional(snapshot.remaining, [&] { return message.mutable_remaining(); });
  EncodeOptional(snapshot.remaining_lower, [&] { return message.mutable_remaining_lower(); });
  EncodeOptional(snapshot.remaining_upper, [&] { return message.mutable_remaining_upper(); });
  for (const WorkflowJobProgress& job : snapshot.jobs) EncodeJob(job, *message.add_jobs());
  for (const std::string& name : snapshot.critical_path) {
    message.add_critical_path(ValidText(name));
  }
  message.set_known_share(snapshot.known_share);
  for (const std::string& note : snapshot.notes) message.add_notes(ValidText(note));
}

absl::StatusOr<WorkflowSnapshot> ParseWorkflowSnapshot(const v1::WorkflowSnapshot& message) {
  Reader reader("workflow snapshot");
  WorkflowSnapshot snapshot = {
      .workflow_id = message.workflow_id(),
      .name = message.name(),
      .sequence = message.sequence(),
      .at = reader.Instant("at", message.at()),
      .state = ParseEnum(message.state(), JobState::kAbandoned),
      .message = message.message(),
      .started_at = reader.Instant("started_at", message.started_at()),
      .elapsed = reader.Length("elapsed", message.elapsed()),
      .fraction_done = reader.Fraction("fraction_done", message.fraction_done()),
      .fraction_done_lower = reader.Fraction("fraction_done_lower", message.fraction_done_lower()),
      .fraction_done_upper = reader.Fraction("fraction_done_upper", message.fraction_done_upper()),
      .critical_path = {message.critical_path().begin(), message.critical_path().end()},
      .known_share = reader.Fraction("known_share", message.known_share()),
      .notes = {message.notes().begin(), message.notes().end()}};
  if (message.has_remaining()) snapshot.remaining = reader.Length("remaining", message.remaining());
  if (message.has_remaining_lower()) {
    snapshot.remaining_lower = reader.Length("remaining_lower", message.remaining_lower());
  }
  if (message.has_remaining_upper()) {
    snapshot.remaining_upper = reader.Length("remaining_upper", message.remaining_upper());
  }
  for (const v1::WorkflowJobProgress& job : message.jobs()) {
    snapshot.jobs.push_back(ParseJob(job, reader));
  }
  if (!reader.status().ok()) return reader.status();
  return snapshot;
}

}  // namespace tidemark::wire
