// The events of a job, as values.
//
// A master receives everything about a job as an ordered stream of events. The state of the job is
// a fold over them (tidemark/job_monitor.h). These types are the plain counterparts of
// proto/tidemark/v1/event.proto, whose field comments also apply here. A fold ignores and counts
// events that contradict earlier ones.
//
//   tidemark::Event event{.job_id = "job-1", .source_id = "app-master", .sequence = 1};
//   event.sent_at = event.arrived_at = absl::Now();
//   event.body = tidemark::JobOpened{.name = "my job", .stages = tidemark::MapReduceStages(8, 2)};
//   const absl::Status applied = monitor.Apply(event);   // a tidemark::JobMonitor
//
// Code within a task reports through an agent (tidemark/agent.h) instead of making events.
//
// Sizes are bytes. Indexes and attempts count from 0. Counters are totals since the start of their
// attempt, so the next event makes up for a lost one. An empty optional means "unknown", which is
// not 0. These types check nothing. Events from the network have passed ParseEvent()
// (proto/wire/parse_event.h), which rejects negative and infinite sums.
//
// Values: copyable, comparable, no invariants, safe to share between threads when const. A copy
// takes about 50 bytes for each bin and key of a profile.
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
// use the same hash, since it matches a key group of a reduce task to the sizes that map tasks
// reported. Two keys with one hash count as one.
enum class KeyHash : std::uint64_t {};

// The stages of a MapReduce job. Other engines number their stages freely.
inline constexpr std::uint32_t kMapStage = 0;
inline constexpr std::uint32_t kReduceStage = 1;

// One attempt at one task.
struct AttemptId {
  std::uint32_t stage = kMapStage;
  // Index among the tasks of the stage. If the task has a partition, this is its number.
  std::uint32_t index = 0;
  // A retry or a speculative attempt has the next number.
  std::uint32_t attempt = 0;
  // Attempt of the stage. A higher number replaces reports of lower ones.
  std::uint32_t stage_attempt = 0;
  friend bool operator==(const AttemptId&, const AttemptId&) = default;
};

// Returns "task 17 of stage 0", with ", attempt 2" or ", stage attempt 1" after a first attempt.
std::string ToString(const AttemptId& id);

// The states of an attempt, in order. States may be skipped or reported late. A state that the
// attempt has already passed changes nothing.
enum class AttemptState : std::uint8_t {
  // Waits for a slot.
  kQueued,
  // Runs. A reduce task first fetches its input.
  kStarted,
  // A reduce task has all its input, sorted, and starts its first reduce function.
  kShuffled,
  // Its output is committed.
  kFinished,
  // It failed; the engine may retry.
  kFailed,
  // Preempted, lost with its node, or replaced by another attempt.
  kKilled,
  // It had finished, but its output was lost. The task must run again.
  kObsolete,
  // The report of its end was lost. The attempt may have ended at any time after its last report.
  // A later report of an end replaces this state.
  kLost,
};

// The outcome of a job, a stage or a group: complete output, a failure, or stopped by someone.
// kUnknown if the engine did not report it or if only a newer version defines it.
enum class JobOutcome : std::uint8_t { kSucceeded, kFailed, kKilled, kUnknown };

// The kind of work of a stage. It distinguishes only kinds on which estimates depend. A kMap task
// reads a split and emits pairs. A kReduce task fetches one partition of the map output, then
// reduces one key group after the other. Any other kind is kGeneric. A kind that was not reported
// is kUnknown. Numbered as in job.proto.
enum class StageKind : std::uint8_t { kUnknown, kMap, kReduce, kGeneric };

// Precision of task sizes. Sizes are counted (kExact), counted and rounded to about 10 %
// (kRounded), or estimated, for example as an average of several (kEstimated).
enum class SizePrecision : std::uint8_t { kUnknown, kExact, kRounded, kEstimated };

// A stage of a job consists of tasks that perform the same work on different data. The event may
// arrive after the stages that read its output, and more than once. A later event fills fields
// that earlier ones left empty.
struct StageOpened {
  // Its number within the job.
  std::uint32_t stage = 0;
  // Attempt at the stage. A higher one may have fewer tasks.
  std::uint32_t attempt = 0;
  // For display; never interpreted.
  std::string name;
  // Identifies the stage in past runs. It is the same in every run of the job and unique among the
  // job's stages.
  std::string signature;
  // Stages whose output it reads. They may never be opened, and the parser accepts cycles.
  std::vector<std::uint32_t> parents;
  // The name in GroupOpened. Empty if it has no group.
  std::string group;
  StageKind kind = StageKind::kUnknown;
  // Number of tasks of this attempt.
  std::optional<std::uint32_t> task_count;
  // The highest task index plus one. Unset means task_count.
  std::optional<std::uint32_t> index_count;
  // True if its output already existed, so none of its tasks runs.
  bool skipped = false;
  // Pool of the engine's scheduler. Empty means the pool of the job.
  std::string pool;
  // Equal for stages that perform the same work on other data. 0 if unknown.
  std::uint64_t work = 0;
  // Input bytes of each task, by index. Empty if unknown.
  std::vector<std::uint64_t> task_bytes;
  // Input records of each task, by index. Empty if unknown.
  std::vector<std::uint64_t> task_records;
  // Precision of task_bytes and task_records. Stored, but no estimate uses it yet.
  SizePrecision size_precision = SizePrecision::kUnknown;
  // Tasks that can run at once. Unset means the highest number that was observed.
  std::optional<std::uint32_t> slots;
  // Number of partitions of a map stage's output.
  std::optional<std::uint32_t> partition_count;
  // True if reduce tasks may find smaller key groups than the tasks of this map stage reported.
  // Stored, but no estimate uses it yet.
  std::optional<bool> has_combiner;
  // True if a comparator defines the key groups of this reduce stage, so hashes of keys do not
  // identify them.
  std::optional<bool> is_grouping_opaque;
  std::optional<absl::Time> opened_at;
  friend bool operator==(const StageOpened&, const StageOpened&) = default;
};

// Returns the stages of a MapReduce job. If the number of reduce tasks is 0, it has only the map
// stage.
std::vector<StageOpened> MapReduceStages(std::optional<std::uint32_t> map_task_count,
                                         std::optional<std::uint32_t> reduce_task_count);

// An attempt at a stage has ended. Its unstarted tasks will not run. The fold ignores reports about
// a replaced attempt and about a second end.
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

// A name for stages that people wait for together, such as the stages of a SQL execution. The
// event may repeat, and may arrive after the stages. A later event fills fields that earlier ones
// left empty.
struct GroupOpened {
  // The group in StageOpened.
  std::string group;
  // For display; never interpreted.
  std::string name;
  std::optional<absl::Time> opened_at;
  // Task counts of all planned stages, in order, including the opened ones. 0 is an unknown count.
  // An empty list means that no plan was reported. A later list that is not empty replaces it.
  std::vector<std::uint32_t> planned_task_counts;
  friend bool operator==(const GroupOpened&, const GroupOpened&) = default;
};

// A group has ended. The first such event counts.
struct GroupClosed {
  std::string group;
  JobOutcome outcome = JobOutcome::kSucceeded;
  // The cause of a failure, for display.
  std::string message;
  // By the sender's wall clock.
  std::optional<absl::Time> at;
  friend bool operator==(const GroupClosed&, const GroupClosed&) = default;
};

// The job exists. Any source may report it, more than once. A new run_uid starts the job again
// after the previous run has ended. An empty event serves as a heartbeat.
struct JobOpened {
  // For display. It also identifies past runs of the job.
  std::string name;
  // "hadoop", "spark", "local_mapreduce", ...; never interpreted.
  std::string engine;
  // The engine's own ID of the job.
  std::string application_id;
  std::string user;
  std::string queue;
  std::optional<absl::Time> submitted_at;
  // Counts from 1. 0 if not reported.
  std::uint32_t application_master_attempt = 0;
  // The stages that are known so far.
  std::vector<StageOpened> stages;
  // Time by which the job must have succeeded. Independent of the sender's clock.
  std::optional<absl::Time> deadline;
  // Parameters of the program by name, which distinguish this run from past runs.
  std::map<std::string, std::string> parameters;
  friend bool operator==(const JobOpened&, const JobOpened&) = default;
};

// A process that runs tasks.
struct ExecutorOpened {
  // Its number within the source.
  std::uint32_t executor = 0;
  std::string host;
  // Both are stored, but nothing uses them yet.
  std::string rack;
  std::string container;
  // Tasks that it can run at once. 0 if unknown.
  std::uint32_t slots = 0;
  friend bool operator==(const ExecutorOpened&, const ExecutorOpened&) = default;
};

// An executor and its slots were removed. Separate events report the ends of its attempts.
struct ExecutorClosed {
  // The number under which the same source opened it.
  std::uint32_t executor = 0;
  friend bool operator==(const ExecutorClosed&, const ExecutorClosed&) = default;
};

// The job has ended. The first such event counts. The fold ignores all later events of the job.
struct JobClosed {
  JobOutcome outcome = JobOutcome::kSucceeded;
  // The cause of a failure, for display. Empty after success.
  std::string message;
  // By the sender's wall clock.
  std::optional<absl::Time> at;
  friend bool operator==(const JobClosed&, const JobClosed&) = default;
};

// A task attempt entered a state.
struct AttemptChanged {
  AttemptId attempt;
  AttemptState state = AttemptState::kQueued;
  // By the sender's wall clock.
  std::optional<absl::Time> at;
  // The executor on which it runs, opened by the same source.
  std::optional<std::uint32_t> executor;
  // True if it runs while another attempt at the task runs.
  bool speculative = false;
  // Size of its input: the split of a map task, or the partition of a reduce task.
  std::optional<std::uint64_t> input_bytes;
  std::optional<std::uint64_t> input_records;
  // Name of the input that a map task reads.
  std::string input_name;
  // Why it failed or was killed.
  std::string failure;
  // True if the state is kFailed or kKilled and the engine does not retry the task. The job ends,
  // or continues without the output of the task.
  bool task_failed = false;
  friend bool operator==(const AttemptChanged&, const AttemptChanged&) = default;
};

// The time that an attempt used and waited, as totals since its start. Unset values were not
// measured.
struct TimeUse {
  // Processor time.
  std::optional<absl::Duration> cpu;
  // The wait for slots is the time before the attempt could start.
  PerWaitReason<std::optional<absl::Duration>> waits;
  // Bytes that were moved during a wait that includes service (WaitReasonInfo).
  PerWaitReason<std::optional<std::uint64_t>> moved_bytes;
  friend bool operator==(const TimeUse&, const TimeUse&) = default;
};

// Progress of a task, or of the shuffle of a reduce task, as totals since the start of the
// attempt.
struct TaskHeartbeat {
  AttemptId attempt;
  // Input bytes processed. During a shuffle: bytes fetched.
  std::uint64_t bytes_done = 0;
  // Input records processed.
  std::uint64_t records_done = 0;
  // Output so far. The master does not store it yet.
  std::uint64_t bytes_emitted = 0;
  TimeUse time;
  // True if the task reads all input before it works, to sort or group it. The input read then
  // does not show how much time has passed. Once true, it stays true.
  bool input_is_read_first = false;
  friend bool operator==(const TaskHeartbeat&, const TaskHeartbeat&) = default;
};

// A key that a map task names, with the size of its key group in that task.
struct ExplicitKey {
  KeyHash key{};
  std::uint64_t size_bytes = 0;
  // Records of the key group. 0 if unknown.
  std::uint64_t values = 0;
  friend bool operator==(const ExplicitKey&, const ExplicitKey&) = default;
};

// The output of one map task for one partition, after its combiner. Explicit keys are among the
// heaviest of the task, each with its size. Only sums are known of all other keys.
struct PartitionProfile {
  std::uint32_t partition = 0;
  // Exact, over all keys.
  std::uint64_t total_bytes = 0;
  std::vector<ExplicitKey> explicit_keys;
  std::uint64_t implicit_key_count = 0;
  std::uint64_t implicit_bytes = 0;
  // The part of total_bytes that was searched for explicit keys. Unset means all of it.
  std::optional<std::uint64_t> scanned_bytes;
  // Implicit keys with a rank below MapProfile::sampled_below.
  std::vector<ExplicitKey> sampled_keys;
  friend bool operator==(const PartitionProfile&, const PartitionProfile&) = default;
};

// The key group sizes of one map task, sent once, when its output is final. Only the profile of
// the attempt that finishes first counts. Memory: O(partitions + keys).
struct MapProfile {
  AttemptId attempt;
  // Partitions with data.
  std::vector<PartitionProfile> partitions;
  // All keys whose rank (streaming/key_sample.h) is below this are among the explicit and the
  // sampled keys. 0 promises none.
  std::uint64_t sampled_below = 0;
  friend bool operator==(const MapProfile&, const MapProfile&) = default;
};

// `count` key groups of `size_bytes` each that took `total_time` together.
struct GroupPoint {
  std::uint64_t size_bytes = 0;
  std::uint64_t count = 0;
  absl::Duration total_time;
  absl::Duration mean_time() const {
    return count == 0 ? absl::ZeroDuration() : total_time / static_cast<double>(count);
  }
  friend bool operator==(const GroupPoint&, const GroupPoint&) = default;
};

// Moments of the key groups whose size falls into one bin of streaming/size_histogram.h: their
// number, and sums over them.
struct GroupBin {
  std::uint32_t bin = 0;
  std::uint64_t count = 0;
  std::uint64_t size_bytes = 0;
  double seconds = 0;
  // Sum of the squares.
  double seconds_squared = 0;
  std::uint64_t emitted_bytes = 0;
  friend bool operator==(const GroupBin&, const GroupBin&) = default;
};

// A finished key group, named by its key.
struct FinishedKey {
  KeyHash key{};
  std::uint64_t size_bytes = 0;
  // Zero if it was timed together with others.
  absl::Duration time;
  std::uint64_t emitted_bytes = 0;
  friend bool operator==(const FinishedKey&, const FinishedKey&) = default;
};

// The finished key groups that the master requests by name. These are groups of at least bytes_min
// bytes and groups with a rank below sampled_below.
struct NamedGroups {
  std::uint64_t bytes_min = 0;
  std::uint64_t sampled_below = 0;
  friend bool operator==(const NamedGroups&, const NamedGroups&) = default;
};

// The reduce call in progress, with three counters of its progress.
struct RunningGroup {
  std::optional<KeyHash> key;
  // Time from the start of the call until the event was sent.
  absl::Duration elapsed;
  std::uint64_t bytes_read = 0;
  // No estimate uses it yet.
  std::uint64_t values_read = 0;
  std::uint64_t bytes_emitted = 0;
  friend bool operator==(const RunningGroup&, const RunningGroup&) = default;
};

// Processor use of the thread that runs a task's functions, since it was first observed.
struct ProcessorUse {
  absl::Duration watched;
  // The part of `watched` in which it was runnable but had no processor.
  absl::Duration waited;
  // Processors that the task's process may use. 0 if unknown.
  std::uint32_t processors = 0;
  friend bool operator==(const ProcessorUse&, const ProcessorUse&) = default;
};

// The work of a reduce task since its last profile: exact totals, the finished key groups as
// moments by size (bins), and the largest of these groups by name. Memory: O(points + bins +
// finished keys).
struct ReduceProfile {
  AttemptId attempt;
  // p_i(t), by the sender's wall clock.
  std::optional<absl::Time> last_group_finished_at;
  // Totals since the start of the attempt.
  std::uint64_t groups_done = 0;
  std::uint64_t bytes_done = 0;
  absl::Duration reduce_time;
  // Since the last profile, if the master requests points.
  std::vector<GroupPoint> points;
  // All key groups that finished since the last profile.
  std::vector<GroupBin> bins;
  // True if the finished keys include every finished key group that the master requested
  // (NamedGroups) and that has at least named_group_bytes_min bytes. Otherwise the master
  // estimates which groups have finished.
  bool keys_named = false;
  std::uint64_t named_group_bytes_min = 0;
  // Since the last profile.
  std::vector<FinishedKey> finished_keys;
  std::optional<RunningGroup> running_group;
  // Total since the start of the attempt.
  std::uint64_t dropped_points = 0;
  std::optional<ProcessorUse> processor_use;
  // Since the start of the attempt, unlike processor_use.
  TimeUse time;
  friend bool operator==(const ReduceProfile&, const ReduceProfile&) = default;
};

// An event of a newer version. The master counts it and otherwise ignores it.
struct UnknownEvent {
  friend bool operator==(const UnknownEvent&, const UnknownEvent&) = default;
};

// The kinds of events. A fold handles each with std::visit. New kinds are appended.
using EventBody = std::variant<JobOpened, JobClosed, StageOpened, ExecutorOpened, AttemptChanged,
                               TaskHeartbeat, MapProfile, ReduceProfile, UnknownEvent, StageClosed,
                               GroupOpened, GroupClosed, ExecutorClosed>;

// One event with its origin.
struct Event {
  std::string job_id;
  // The run of the job. Empty if not reported.
  std::string run_uid;
  // The process that reports.
  std::string source_id;
  // Counts from 1 within a source.
  std::uint64_t sequence = 0;
  // By the sender's wall clock.
  absl::Time sent_at;
  // By the master's clock; it never decreases within a job.
  absl::Time arrived_at;
  // Number of events that the source has dropped so far because its buffer was full.
  std::uint64_t dropped_events = 0;
  EventBody body;
  friend bool operator==(const Event&, const Event&) = default;
};

}  // namespace tidemark
