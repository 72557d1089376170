// What happens to a job, as values.
//
// Everything the master learns about a job arrives as an ordered stream of events; the state of the
// job is a fold over them (tidemark/job_monitor.h). These are the plain counterparts of
// proto/tidemark/v1/event.proto, whose field comments hold here too. No event is trusted beyond its
// type: a fold ignores and counts what contradicts what it already knows.
//
//   tidemark::Event event{.job_id = "job-1", .source_id = "app-master", .sequence = 1};
//   event.sent_at = event.arrived_at = absl::Now();
//   event.body = tidemark::JobOpened{.name = "my job", .stages = tidemark::MapReduceStages(8, 2)};
//   const absl::Status applied = monitor.Apply(event);   // a tidemark::JobMonitor
//
// Who reports from a task does not make events but calls an agent (tidemark/agent.h).
//
// Conventions: sizes are bytes; indexes and attempts count from 0; counters are totals since the
// start of their attempt, so that the next event makes up for one that was lost; an empty optional
// means "not known", which is not 0. Nothing here is checked: what comes off the network has passed
// through ParseEvent (proto/wire/parse_event.h), which refuses sums that are negative or not
// finite.
//
// Values: copyable, comparable, no invariants, safe to share between threads when const. Copying
// costs what the vectors of a profile hold, about 50 bytes for each bin and key.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "absl/time/time.h"

namespace tidemark {

// Stable hash of a serialized intermediate key (streaming/key_hash.h). All sources of a job must
// hash alike: by it the key group that map tasks announced is recognised in a reduce task. Two keys
// with one hash count as one.
enum class KeyHash : std::uint64_t {};

// The stages of a MapReduce job. Other engines number theirs as they like.
inline constexpr std::uint32_t kMapStage = 0;
inline constexpr std::uint32_t kReduceStage = 1;

// One attempt at one task.
struct AttemptId {
  std::uint32_t stage = kMapStage;
  // Among the tasks of the stage; the number of its partition, if it has one.
  std::uint32_t index = 0;
  // A retry or a speculative attempt has the next number.
  std::uint32_t attempt = 0;
  // Of the stage. A higher one replaces what earlier ones reported.
  std::uint32_t stage_attempt = 0;
  friend bool operator==(const AttemptId&, const AttemptId&) = default;
};

// "task 17 of stage 0", with ", attempt 2" or ", stage attempt 1" where they are not the first.
std::string ToString(const AttemptId& id);

// In the order of an attempt's life. States may be skipped or reported late; one that the attempt
// has already passed changes nothing.
enum class AttemptState : std::uint8_t {
  // Wants a slot.
  kQueued,
  // Has one and runs; a reduce task fetches its input first.
  kStarted,
  // A reduce task has all its input, sorted: its first reduce function starts.
  kShuffled,
  // Its output is committed.
  kFinished,
  // It broke; the engine may try again.
  kFailed,
  // Preempted, lost with its node, or overtaken by another attempt.
  kKilled,
  // It had finished, but its output was lost: the task must run again.
  kObsolete,
  // The report of its end was lost: it may have ended at any time since. A state of an end that is
  // reported after all replaces it.
  kLost,
};

// How a job, a stage or a group ended: with all its output, by giving up, because somebody stopped
// it, or in a way that the engine did not report or that only a newer version knows.
enum class JobOutcome : std::uint8_t { kSucceeded, kFailed, kKilled, kUnknown };

// What the tasks of a stage do, as far as estimates depend on it. A kMap task reads a split and
// emits pairs; a kReduce task fetches one partition of the map output, then reduces one key group
// after the other; kGeneric is anything else, kUnknown not reported. Numbered as in job.proto.
enum class StageKind : std::uint8_t { kUnknown, kMap, kReduce, kGeneric };

// How good the sizes of tasks are: counted, counted and rounded to within about 10 %, or an average
// of several.
enum class SizePrecision : std::uint8_t { kUnknown, kExact, kRounded, kEstimated };

// A stage of a job: tasks that do the same to different data. The event may come after the stages
// that read its output, and again: a later one fills in what earlier ones left empty.
struct StageOpened {
  // Its number within the job.
  std::uint32_t stage = 0;
  // At the stage; a higher one may have fewer tasks.
  std::uint32_t attempt = 0;
  // For people; never interpreted.
  std::string name;
  // By which the stage of an earlier run is recognised: the same in every run of the job, and
  // different for its other stages.
  std::string signature;
  // Stages whose output it reads. They may never be opened, and a cycle is not refused here.
  std::vector<std::uint32_t> parents;
  // As GroupOpened names it; empty: none.
  std::string group;
  StageKind kind = StageKind::kUnknown;
  // Tasks of this attempt.
  std::optional<std::uint32_t> task_count;
  // One above the highest index of a task; empty: as task_count.
  std::optional<std::uint32_t> index_count;
  // Its output was there already: none of its tasks runs.
  bool skipped = false;
  // Of the engine's scheduler; empty: the job's.
  std::string pool;
  // Equal for stages that do the same to other data; 0: not known.
  std::uint64_t work = 0;
  // Input of each task, by index; empty: not known.
  std::vector<std::uint64_t> task_bytes;
  // Likewise, in records.
  std::vector<std::uint64_t> task_records;
  // Of both. Kept, but no estimate uses it yet.
  SizePrecision size_precision = SizePrecision::kUnknown;
  // Tasks that can run at once; empty: as many as were seen.
  std::optional<std::uint32_t> slots;
  // Of a map stage: partitions of its output.
  std::optional<std::uint32_t> partition_count;
  // Of a map stage: reduce tasks may find smaller key groups than map tasks reported. Kept, but no
  // estimate uses it yet.
  std::optional<bool> has_combiner;
  // Of a reduce stage: a comparator decides which keys are one key group, so hashes of keys mean
  // nothing.
  std::optional<bool> is_grouping_opaque;
  std::optional<absl::Time> opened_at;
  friend bool operator==(const StageOpened&, const StageOpened&) = default;
};

// The stages of a MapReduce job; of one without reduce tasks (0) the first alone.
std::vector<StageOpened> MapReduceStages(std::optional<std::uint32_t> map_task_count,
                                         std::optional<std::uint32_t> reduce_task_count);

// An attempt at a stage has ended: none of its tasks that has not begun will. What is reported of
// an attempt that a later one has replaced is ignored, and so is a second end.
struct StageClosed {
  std::uint32_t stage = 0;
  std::uint32_t attempt = 0;
  JobOutcome outcome = JobOutcome::kSucceeded;
  // Why it failed, for a person.
  std::string message;
  // By the sender's wall clock.
  std::optional<absl::Time> at;
  friend bool operator==(const StageClosed&, const StageClosed&) = default;
};

// A name for stages of the job that people wait for together, such as those of a SQL execution. May
// come again and after the stages: a later one fills in what earlier ones left empty.
struct GroupOpened {
  // As in StageOpened.
  std::string group;
  // For people; never interpreted.
  std::string name;
  std::optional<absl::Time> opened_at;
  // Tasks of each stage that is planned, in order and with those that are opened; 0: not known.
  // Empty: nothing is said of a plan. A later one that is not empty replaces it.
  std::vector<std::uint32_t> planned_task_counts;
  friend bool operator==(const GroupOpened&, const GroupOpened&) = default;
};

// A group has ended. The first one counts.
struct GroupClosed {
  std::string group;
  JobOutcome outcome = JobOutcome::kSucceeded;
  // Why it failed, for a person.
  std::string message;
  // By the sender's wall clock.
  std::optional<absl::Time> at;
  friend bool operator==(const GroupClosed&, const GroupClosed&) = default;
};

// The job exists. Any source may report it, and again; a run_uid that is new begins the job anew
// once the run before has ended. Without anything in it, the event is a sign of life.
struct JobOpened {
  // For people, and by which earlier runs of the job are found.
  std::string name;
  // "hadoop", "spark", "local_mapreduce", ...; never interpreted.
  std::string engine;
  // The engine's own id of the job.
  std::string application_id;
  std::string user;
  std::string queue;
  std::optional<absl::Time> submitted_at;
  // From 1; 0: not reported.
  std::uint32_t application_master_attempt = 0;
  // Those that are known already.
  std::vector<StageOpened> stages;
  // When it has to have succeeded: an instant of the world, whatever the sender's clock says.
  std::optional<absl::Time> deadline;
  // What its program was told to do, by name: what makes this run another than earlier ones.
  std::map<std::string, std::string> parameters;
  friend bool operator==(const JobOpened&, const JobOpened&) = default;
};

// A process that runs tasks.
struct ExecutorOpened {
  // Its number among those of the source.
  std::uint32_t executor = 0;
  std::string host;
  // These two are kept, but nothing uses them yet.
  std::string rack;
  std::string container;
  // Tasks that it can run at once; 0: not known.
  std::uint32_t slots = 0;
  friend bool operator==(const ExecutorOpened&, const ExecutorOpened&) = default;
};

// An executor is gone, and its slots with it. Its attempts end by events of their own.
struct ExecutorClosed {
  // That the same source has opened.
  std::uint32_t executor = 0;
  friend bool operator==(const ExecutorClosed&, const ExecutorClosed&) = default;
};

// The job has ended. The first one counts; all later events of the job are ignored.
struct JobClosed {
  JobOutcome outcome = JobOutcome::kSucceeded;
  // Why, for a person; empty when all is well.
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
  // It runs beside another attempt at the task. Kept, but nothing uses it yet.
  bool speculative = false;
  // Size of its input: a map task's split, a reduce task's partition.
  std::optional<std::uint64_t> input_bytes;
  std::optional<std::uint64_t> input_records;
  // Name of the input that a map task reads.
  std::string input_name;
  // Why it failed or was killed.
  std::string failure;
  // With kFailed or kKilled: the engine gives up the task. No other attempt follows; the job ends,
  // or continues without the output of the task.
  bool task_failed = false;
  friend bool operator==(const AttemptChanged&, const AttemptChanged&) = default;
};

// For what an attempt used a processor, and for what it waited, since its start. Empty: not
// measured.
struct TimeUse {
  std::optional<absl::Duration> cpu;
  // Before it could start.
  std::optional<absl::Duration> scheduler_wait;
  std::optional<absl::Duration> processor_wait;
  // Garbage collection, spilling, paging.
  std::optional<absl::Duration> memory_wait;
  std::optional<absl::Duration> network_wait;
  // A disk or a file system.
  std::optional<absl::Duration> io_wait;
  // What was moved in these two times.
  std::optional<std::uint64_t> network_bytes;
  std::optional<std::uint64_t> io_bytes;
  friend bool operator==(const TimeUse&, const TimeUse&) = default;
};

// How far a task is, or the shuffle of a reduce task. Totals since the start of the attempt.
struct TaskHeartbeat {
  AttemptId attempt;
  // Input processed; of a shuffle, fetched.
  std::uint64_t bytes_done = 0;
  // Input records processed.
  std::uint64_t records_done = 0;
  // Output so far. A master does not keep it yet.
  std::uint64_t bytes_emitted = 0;
  TimeUse time;
  // All input is read before the work begins, to be sorted or put into groups: what has been read
  // says nothing of how much time has passed. Once true, it stays true.
  bool input_is_read_first = false;
  friend bool operator==(const TaskHeartbeat&, const TaskHeartbeat&) = default;
};

// A key that a map task names, with the size of its key group in that task.
struct ExplicitKey {
  KeyHash key{};
  std::uint64_t size_bytes = 0;
  // Records of the key group; 0: not known.
  std::uint64_t values = 0;
  friend bool operator==(const ExplicitKey&, const ExplicitKey&) = default;
};

// What one map task emitted into one partition, after its combiner. Explicit keys are those among
// the heaviest of the task, each with its size; of all others only the sums are known.
struct PartitionProfile {
  std::uint32_t partition = 0;
  // Exact, of all keys.
  std::uint64_t total_bytes = 0;
  std::vector<ExplicitKey> explicit_keys;
  std::uint64_t implicit_key_count = 0;
  std::uint64_t implicit_bytes = 0;
  // How much of total_bytes was searched for explicit keys; empty: all of it.
  std::optional<std::uint64_t> scanned_bytes;
  // Implicit keys of a rank below MapProfile::sampled_below.
  std::vector<ExplicitKey> sampled_keys;
  friend bool operator==(const PartitionProfile&, const PartitionProfile&) = default;
};

// The sizes of the key groups that one map task emitted: once, when its output is final. Only the
// profile of the attempt that finishes first counts. Memory: O(partitions + keys).
struct MapProfile {
  AttemptId attempt;
  // Those that have data.
  std::vector<PartitionProfile> partitions;
  // No key of a rank (streaming/key_sample.h) below it is missing from the explicit and the sampled
  // keys; 0: nothing is promised.
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
// count, and sums over them.
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
  // Zero: it was timed together with others.
  absl::Duration time;
  std::uint64_t emitted_bytes = 0;
  friend bool operator==(const FinishedKey&, const FinishedKey&) = default;
};

// Which finished key groups the master wants to have named: those of at least this size, and those
// of a rank below this.
struct NamedGroups {
  std::uint64_t bytes_min = 0;
  std::uint64_t sampled_below = 0;
  friend bool operator==(const NamedGroups&, const NamedGroups&) = default;
};

// The reduce function call in progress, from inside: how far it has come, by three counters.
struct RunningGroup {
  std::optional<KeyHash> key;
  // At the moment the event was sent.
  absl::Duration elapsed;
  std::uint64_t bytes_read = 0;
  // No estimate uses it yet.
  std::uint64_t values_read = 0;
  std::uint64_t bytes_emitted = 0;
  friend bool operator==(const RunningGroup&, const RunningGroup&) = default;
};

// Of the thread that runs a task's functions, since it was first observed.
struct ProcessorUse {
  absl::Duration watched;
  // The part of `watched` in which it could have run but had no processor.
  absl::Duration waited;
  // That the task's process may use; 0: not known.
  std::uint32_t processors = 0;
  friend bool operator==(const ProcessorUse&, const ProcessorUse&) = default;
};

// What a reduce task has done since its last profile: exact totals, and the key groups that have
// finished since as moments by size (bins), the largest of them by name. Memory: O(points + bins +
// finished keys).
struct ReduceProfile {
  AttemptId attempt;
  // p_i(t), by the sender's wall clock.
  std::optional<absl::Time> last_group_finished_at;
  // Totals since the start of the attempt.
  std::uint64_t groups_done = 0;
  std::uint64_t bytes_done = 0;
  absl::Duration reduce_time;
  // Since the last profile, where the master asks for them.
  std::vector<GroupPoint> points;
  // The same key groups.
  std::vector<GroupBin> bins;
  // Whether every finished key group that the master asked for (NamedGroups) and that has at least
  // this many bytes is among the finished keys. If not, the master guesses which have finished.
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

// What a newer sender reports and this version does not understand: counted, and otherwise ignored.
struct UnknownEvent {
  friend bool operator==(const UnknownEvent&, const UnknownEvent&) = default;
};

// What happened. A fold handles each with std::visit; new kinds are added at the end.
using EventBody = std::variant<JobOpened, JobClosed, StageOpened, ExecutorOpened, AttemptChanged,
                               TaskHeartbeat, MapProfile, ReduceProfile, UnknownEvent, StageClosed,
                               GroupOpened, GroupClosed, ExecutorClosed>;

// One event with its origin.
struct Event {
  std::string job_id;
  // Which run of the job; empty: not reported.
  std::string run_uid;
  // The process that reports.
  std::string source_id;
  // 1, 2, 3, ... within a source.
  std::uint64_t sequence = 0;
  // By the sender's wall clock.
  absl::Time sent_at;
  // By the master's clock; it never decreases within a job.
  absl::Time arrived_at;
  // By the source so far, for want of room.
  std::uint64_t dropped_events = 0;
  EventBody body;
  friend bool operator==(const Event&, const Event&) = default;
};

}  // namespace tidemark
