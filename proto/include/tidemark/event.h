// The events of a job, as values.
//
// A master receives all information about a job as an ordered stream of events. The state of the
// job is a fold over this stream (tidemark/job_monitor.h). These types are the plain counterparts
// of proto/tidemark/v1/event.proto, whose field comments also apply here. A fold ignores and counts
// events that contradict earlier ones.
//
//   tidemark::Event event{.job_id = "job-1", .source_id = "app-master", .sequence = 1};
//   event.sent_at = event.arrived_at = absl::Now();
//   event.body = tidemark::JobOpened{.name = "my job", .stages = tidemark::MapReduceStages(8, 2)};
//   const absl::Status applied = monitor.Apply(event);   // a tidemark::JobMonitor
//
// Code within a task does not create events, but reports through an agent (tidemark/agent.h).
//
// Sizes are bytes. Indexes and attempts count from 0. Counters are totals since the start of their
// attempt, so the next event replaces a lost one. An empty optional means "unknown", which differs
// from 0. These types do not check their values. Events from the network have passed ParseEvent()
// (proto/wire/parse_event.h), which rejects negative and infinite sums.
//
// Values are copyable, comparable, and safe to share between threads when const. They have no
// invariants. A copy takes about 50 bytes for each bin and key of a profile.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "absl/time/time.h"
#include "tidemark/wait_reason.h"

namespace tidemark {

// Stable hash of a serialized intermediate key (streaming/key_sample.h). All sources of a job must
// use the same hash, because it connects a key group of a reduce task with the sizes that map tasks
// reported. Two keys with the same hash count as one key.
enum class KeyHash : std::uint64_t {};

// The stages of a MapReduce job. Other engines number their stages freely.
inline constexpr std::uint32_t kMapStage = 0;
inline constexpr std::uint32_t kReduceStage = 1;

// The value of JobOpened::engine for Spark. It identifies an application, which has a driver,
// before its first stage.
inline constexpr char kSparkEngine[] = "spark";

// One attempt at one task.
struct AttemptId {
  std::uint32_t stage = kMapStage;
  // Index among the tasks of the stage. If the task has a partition, this is also the number of the
  // partition.
  std::uint32_t index = 0;
  // Counts from 0. A retry or a speculative attempt has the next number.
  std::uint32_t attempt = 0;
  // Attempt at the stage. A report with a higher number replaces reports with lower numbers.
  std::uint32_t stage_attempt = 0;
  friend bool operator==(const AttemptId&, const AttemptId&) = default;
};

// Returns "task 17 of stage 0", followed by ", attempt 2" or ", stage attempt 1" unless the attempt
// is the first.
std::string ToString(const AttemptId& id);

// The states of an attempt, in order. States may be skipped or reported late. A report of a state
// that the attempt has already passed has no effect.
enum class AttemptState : std::uint8_t {
  // The attempt waits for a slot.
  kQueued,
  // The attempt runs. A reduce task first fetches its input.
  kStarted,
  // The reduce task has fetched and sorted all of its input, and starts its first reduce function.
  kShuffled,
  // The output of the attempt is committed.
  kFinished,
  // The attempt failed; the engine may retry the task.
  kFailed,
  // The attempt was preempted, lost with its node, or replaced by another attempt.
  kKilled,
  // The attempt had finished, but its output was lost. The task must run again.
  kObsolete,
  // The report of the attempt's end was lost. The attempt may have ended at any time after its last
  // report. A later report of an end replaces this state.
  kLost,
};

// The outcome of a job, a stage or a group: complete output, a failure, or a stop by a user or
// program. kUnknown if the engine did not report the outcome or if only a newer version defines it.
enum class JobOutcome : std::uint8_t { kSucceeded, kFailed, kKilled, kUnknown };

// The kind of work of a stage. Kinds are distinguished only as far as estimates depend on them. A
// kMap task reads a split and emits pairs. A kReduce task fetches one partition of the map output,
// and then reduces its key groups sequentially. Any other kind is kGeneric. A kind that was not
// reported is kUnknown. The values equal the values in job.proto.
enum class StageKind : std::uint8_t { kUnknown, kMap, kReduce, kGeneric };

// Precision of task sizes. Sizes are counted (kExact), counted and rounded to about 10 %
// (kRounded), or estimated (kEstimated), for example as an average.
enum class SizePrecision : std::uint8_t { kUnknown, kExact, kRounded, kEstimated };

// A stage of a job, which consists of tasks that perform the same work on different data. The event
// may repeat, and may arrive after the stages that read the output of this stage. A later event
// sets fields that earlier events left empty.
struct StageOpened {
  // Number of the stage within its job.
  std::uint32_t stage = 0;
  // Attempt at the stage. A later attempt may have fewer tasks.
  std::uint32_t attempt = 0;
  // For display; never interpreted.
  std::string name;
  // Identifies the stage in past runs. A signature is the same in every run of the job, and unique
  // among the stages of the job.
  std::string signature;
  // Stages whose output this stage reads. They may never be opened. The parser accepts cycles.
  std::vector<std::uint32_t> parents;
  // The group of the stage (GroupOpened). Empty if the stage belongs to no group.
  std::string group;
  StageKind kind = StageKind::kUnknown;
  // Number of tasks of this attempt.
  std::optional<std::uint32_t> task_count;
  // The highest task index plus one. If unset, equals task_count.
  std::optional<std::uint32_t> index_count;
  // True if the output of the stage already existed, so none of its tasks runs.
  bool skipped = false;
  // Pool of the engine's scheduler. If empty, the pool of the job.
  std::string pool;
  // Equal for stages that perform the same work on different data. 0 if unknown.
  std::uint64_t work = 0;
  // Input bytes of each task, by index. Empty if unknown.
  std::vector<std::uint64_t> task_bytes;
  // Input records of each task, by index. Empty if unknown.
  std::vector<std::uint64_t> task_records;
  // Precision of task_bytes and task_records. No estimate uses this field yet.
  SizePrecision size_precision = SizePrecision::kUnknown;
  // Number of tasks that can run at the same time. If unset, the highest observed number.
  std::optional<std::uint32_t> slots;
  // Number of partitions of the output of a map stage.
  std::optional<std::uint32_t> partition_count;
  // True if reduce tasks may receive smaller key groups than the tasks of this map stage reported.
  // No estimate uses this field yet.
  std::optional<bool> has_combiner;
  // True if a comparator defines the key groups of this reduce stage, so that hashes of keys do not
  // identify them.
  std::optional<bool> is_grouping_opaque;
  std::optional<absl::Time> opened_at;
  friend bool operator==(const StageOpened&, const StageOpened&) = default;
};

// Returns the stages of a MapReduce job. If the number of reduce tasks is 0, returns only the map
// stage.
std::vector<StageOpened> MapReduceStages(std::optional<std::uint32_t> map_task_count,
                                         std::optional<std::uint32_t> reduce_task_count);

// An attempt at a stage has ended. Tasks that have not started will not run. Reports about a
// replaced attempt and about a second end are ignored.
struct StageClosed {
  std::uint32_t stage = 0;
  std::uint32_t attempt = 0;
  JobOutcome outcome = JobOutcome::kSucceeded;
  // The cause of a failure, for display.
  std::string message;
  // By the sender's wall clock.
  std::optional<absl::Time> at;
  friend bool operator==(const StageClosed&, const StageClosed&) = default;
};

// Names a group of stages for which users wait as a whole, such as the stages of an SQL execution.
// The event may repeat, and may arrive after the stages. A later event sets fields that earlier
// events left empty.
struct GroupOpened {
  // The name that StageOpened::group contains.
  std::string group;
  // For display; never interpreted.
  std::string name;
  std::optional<absl::Time> opened_at;
  // Numbers of tasks of all planned stages, in order, including the stages that were opened. 0
  // means that a number is unknown. An empty list means that no plan was reported. A later list
  // replaces an earlier one unless it is empty.
  std::vector<std::uint32_t> planned_task_counts;
  friend bool operator==(const GroupOpened&, const GroupOpened&) = default;
};

// A group has ended. Only the first of these events counts.
struct GroupClosed {
  std::string group;
  JobOutcome outcome = JobOutcome::kSucceeded;
  // The cause of a failure, for display.
  std::string message;
  // By the sender's wall clock.
  std::optional<absl::Time> at;
  friend bool operator==(const GroupClosed&, const GroupClosed&) = default;
};

// A job of a workflow, which may not have been submitted.
struct WorkflowNode {
  std::string name;
  // Names of the nodes that it waits for.
  std::vector<std::string> after;
  friend bool operator==(const WorkflowNode&, const WorkflowNode&) = default;
};

// The workflow to which a job belongs.
struct JobWorkflow {
  // Identifies this run of the workflow.
  std::string id;
  // Identifies the workflow in every run.
  std::string name;
  // Identifies the job within the workflow in every run.
  std::string node;
  // The whole graph. Empty if unknown.
  std::vector<WorkflowNode> nodes;
  // Ids of the jobs for which this job has waited.
  std::vector<std::string> parent_job_ids;
  // Time without a running job after which the workflow ends. 0 leaves the choice to the master.
  absl::Duration quiet;
  // Why a reported graph or id was ignored. Empty if it was accepted. Not on the wire: CheckEvent()
  // sets it.
  std::string rejected;
  friend bool operator==(const JobWorkflow&, const JobWorkflow&) = default;
};

// A job exists. Any source may report it, and more than once. After the end of a run, a new run_uid
// starts the job again. An event without other fields serves as a heartbeat.
struct JobOpened {
  // For display. The name also identifies past runs of the job.
  std::string name;
  // "hadoop", "spark", "local_mapreduce", ...; never interpreted.
  std::string engine;
  // The engine's own ID for the job.
  std::string application_id;
  std::string user;
  std::string queue;
  std::optional<absl::Time> submitted_at;
  // Counts from 1. 0 if unknown.
  std::uint32_t application_master_attempt = 0;
  // The stages that are known so far.
  std::vector<StageOpened> stages;
  // Deadline by which the job must have succeeded, independent of the sender's clock.
  std::optional<absl::Time> deadline;
  // Parameters of the program by name, which distinguish this run from past runs.
  std::map<std::string, std::string> parameters;
  std::optional<JobWorkflow> workflow;
  // True if a user set `deadline`, which replaces an earlier one. A silence of the job continues.
  bool replaces_deadline = false;
  friend bool operator==(const JobOpened&, const JobOpened&) = default;
};

// A process that runs tasks.
struct ExecutorOpened {
  // Number of the executor within its source.
  std::uint32_t executor = 0;
  std::string host;
  // No code uses these fields yet.
  std::string rack;
  std::string container;
  // Number of tasks that the executor can run at the same time. 0 if unknown.
  std::uint32_t slots = 0;
  friend bool operator==(const ExecutorOpened&, const ExecutorOpened&) = default;
};

// An executor and its slots were removed. Separate events report the ends of its attempts.
struct ExecutorClosed {
  // The number with which the same source opened the executor.
  std::uint32_t executor = 0;
  friend bool operator==(const ExecutorClosed&, const ExecutorClosed&) = default;
};

// The job has ended. Only the first of these events counts. All later events of the job are
// ignored.
struct JobClosed {
  JobOutcome outcome = JobOutcome::kSucceeded;
  // The cause of a failure, for display. Empty after success.
  std::string message;
  // By the sender's wall clock.
  std::optional<absl::Time> at;
  friend bool operator==(const JobClosed&, const JobClosed&) = default;
};

// A task attempt has entered a state.
struct AttemptChanged {
  AttemptId attempt;
  AttemptState state = AttemptState::kQueued;
  // By the sender's wall clock.
  std::optional<absl::Time> at;
  // The executor on which the attempt runs, opened by the same source.
  std::optional<std::uint32_t> executor;
  // True for a speculative attempt, which runs in addition to another attempt at the task.
  bool speculative = false;
  // Size of the input, which is the split of a map task or the partition of a reduce task.
  std::optional<std::uint64_t> input_bytes;
  std::optional<std::uint64_t> input_records;
  // Name of the input that a map task reads.
  std::string input_name;
  // The cause of a failure, or the reason why the attempt was killed.
  std::string failure;
  // True if the state is kFailed or kKilled and the engine does not retry the task. Then the job
  // either ends, or continues without the output of the task.
  bool task_failed = false;
  friend bool operator==(const AttemptChanged&, const AttemptChanged&) = default;
};

// The times that an attempt has used and waited, as totals since its start. Unset values were not
// measured.
struct TimeUse {
  // Processor time.
  std::optional<absl::Duration> cpu;
  // Waits by reason. The wait for slots precedes the start of the attempt.
  PerWaitReason<std::optional<absl::Duration>> waits;
  // Bytes that were moved during waits that include service (WaitReasonInfo).
  PerWaitReason<std::optional<std::uint64_t>> moved_bytes;
  friend bool operator==(const TimeUse&, const TimeUse&) = default;
};

// Progress of a task, or of the shuffle of a reduce task, as totals since the start of the
// attempt.
struct TaskHeartbeat {
  AttemptId attempt;
  // Processed input bytes or, during a shuffle, fetched bytes.
  std::uint64_t bytes_done = 0;
  // Processed input records.
  std::uint64_t records_done = 0;
  // Bytes emitted so far.
  std::uint64_t bytes_emitted = 0;
  TimeUse time;
  // True if the task reads all of its input before it processes the input, for example to sort or
  // group it. The amount of input read then does not indicate how much time has passed. Must not
  // change back to false.
  bool input_is_read_first = false;
  friend bool operator==(const TaskHeartbeat&, const TaskHeartbeat&) = default;
};

// A key that a map task reports individually, with the size of its key group in that task.
struct ExplicitKey {
  KeyHash key{};
  std::uint64_t size_bytes = 0;
  // Number of records of the key group. 0 if unknown.
  std::uint64_t values = 0;
  friend bool operator==(const ExplicitKey&, const ExplicitKey&) = default;
};

// The output of one map task for one partition, after its combiner. The explicit keys are among the
// keys with most bytes of the task, each with its size. Only the sums of all other keys are known.
struct PartitionProfile {
  std::uint32_t partition = 0;
  // The exact sum over all keys.
  std::uint64_t total_bytes = 0;
  std::vector<ExplicitKey> explicit_keys;
  std::uint64_t implicit_key_count = 0;
  std::uint64_t implicit_bytes = 0;
  // The part of total_bytes that was searched for explicit keys. If unset, all of total_bytes.
  std::optional<std::uint64_t> scanned_bytes;
  // Implicit keys with a rank below MapProfile::sampled_below, or with a rank per byte below
  // MapProfile::sampled_below_per_byte.
  std::vector<ExplicitKey> sampled_keys;
  friend bool operator==(const PartitionProfile&, const PartitionProfile&) = default;
};

// The sizes of the key groups of one map task, which are sent once, after its output is final. Only
// the profile of the attempt that finishes first counts. Memory: O(partitions + keys).
struct MapProfile {
  AttemptId attempt;
  // Partitions with data.
  std::vector<PartitionProfile> partitions;
  // All keys whose rank (streaming/key_sample.h) is below this value are among the explicit and
  // sampled keys. 0 means that no keys are guaranteed.
  std::uint64_t sampled_below = 0;
  // All implicit keys with a rank below 8 sampled_below whose rank, divided by their size in this
  // map task, is below this value are among the sampled keys. 0 means that no keys are guaranteed.
  std::uint64_t sampled_below_per_byte = 0;
  friend bool operator==(const MapProfile&, const MapProfile&) = default;
};

// A number of key groups with `size_bytes` bytes each, which took `total_time` together.
struct GroupPoint {
  std::uint64_t size_bytes = 0;
  std::uint64_t count = 0;
  absl::Duration total_time;
  absl::Duration mean_time() const {
    return count == 0 ? absl::ZeroDuration() : total_time / static_cast<double>(count);
  }
  friend bool operator==(const GroupPoint&, const GroupPoint&) = default;
};

// Sums over the key groups whose size falls into one bin of streaming/size_histogram.h.
struct GroupBin {
  std::uint32_t bin = 0;
  std::uint64_t count = 0;
  std::uint64_t size_bytes = 0;
  double seconds = 0;
  // Sum of the squares of the seconds of each key group.
  double seconds_squared = 0;
  std::uint64_t emitted_bytes = 0;
  friend bool operator==(const GroupBin&, const GroupBin&) = default;
};

// A finished key group, named by its key.
struct FinishedKey {
  KeyHash key{};
  std::uint64_t size_bytes = 0;
  // Zero if the key group was not timed separately.
  absl::Duration time;
  std::uint64_t emitted_bytes = 0;
  friend bool operator==(const FinishedKey&, const FinishedKey&) = default;
};

// The finished key groups that the master requests by key. These are the groups of at least
// bytes_min bytes, groups with a rank below sampled_below, and groups with a rank per byte below
// sampled_below_per_byte.
struct NamedGroups {
  std::uint64_t bytes_min = 0;
  std::uint64_t sampled_below = 0;
  std::uint64_t sampled_below_per_byte = 0;
  friend bool operator==(const NamedGroups&, const NamedGroups&) = default;
};

// The reduce call in progress, and its counters.
struct RunningGroup {
  std::optional<KeyHash> key;
  // Time from the start of the call until the event was sent.
  absl::Duration elapsed;
  std::uint64_t bytes_read = 0;
  // No estimate uses this field yet.
  std::uint64_t values_read = 0;
  std::uint64_t bytes_emitted = 0;
  friend bool operator==(const RunningGroup&, const RunningGroup&) = default;
};

// Processor use of the thread that runs the functions of a task, since the agent first observed the
// thread.
struct ProcessorUse {
  absl::Duration watched;
  // The part of `watched` in which the thread was runnable but had no processor.
  absl::Duration waited;
  // Number of processors that the task's process may use. 0 if unknown.
  std::uint32_t processors = 0;
  friend bool operator==(const ProcessorUse&, const ProcessorUse&) = default;
};

// The work of a reduce task since its last profile: exact totals, sums over the finished key groups
// by size (bins), and the largest of these groups with their keys. Memory: O(points + bins +
// finished keys).
struct ReduceProfile {
  AttemptId attempt;
  // p_i(t), by the sender's wall clock.
  std::optional<absl::Time> last_group_finished_at;
  // Totals since the start of the attempt.
  std::uint64_t groups_done = 0;
  std::uint64_t bytes_done = 0;
  absl::Duration reduce_time;
  // Key groups finished since the last profile, if the master requests points.
  std::vector<GroupPoint> points;
  // All key groups that finished since the last profile.
  std::vector<GroupBin> bins;
  // True if the finished keys include every finished key group of at least named_group_bytes_min
  // bytes that the master requested (NamedGroups). Otherwise the master estimates which groups have
  // finished.
  bool keys_named = false;
  std::uint64_t named_group_bytes_min = 0;
  // Groups finished since the last profile.
  std::vector<FinishedKey> finished_keys;
  std::optional<RunningGroup> running_group;
  // Total since the start of the attempt.
  std::uint64_t dropped_points = 0;
  std::optional<ProcessorUse> processor_use;
  // Totals since the start of the attempt, unlike processor_use.
  TimeUse time;
  friend bool operator==(const ReduceProfile&, const ReduceProfile&) = default;
};

// An event that only a newer version defines. The master counts the event and otherwise ignores it.
struct UnknownEvent {
  friend bool operator==(const UnknownEvent&, const UnknownEvent&) = default;
};

// The kinds of events. New kinds are appended.
using EventBody = std::variant<JobOpened, JobClosed, StageOpened, ExecutorOpened, AttemptChanged,
                               TaskHeartbeat, MapProfile, ReduceProfile, UnknownEvent, StageClosed,
                               GroupOpened, GroupClosed, ExecutorClosed>;

// An event with its origin.
struct Event {
  std::string job_id;
  // The run of the job. Empty if unknown.
  std::string run_uid;
  // The process that reports the event.
  std::string source_id;
  // Counts from 1 within a source.
  std::uint64_t sequence = 0;
  // By the sender's wall clock.
  absl::Time sent_at;
  // By the master's clock. Never decreases within a job.
  absl::Time arrived_at;
  // Number of events that the source has dropped so far because its buffer was full.
  std::uint64_t dropped_events = 0;
  EventBody body;
  friend bool operator==(const Event&, const Event&) = default;
};

}  // namespace tidemark
