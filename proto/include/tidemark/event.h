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
  std::uint32_t index = 0;          // among the tasks of the stage; its partition, if it has one
  std::uint32_t attempt = 0;        // a retry or a speculative attempt has the next number
  std::uint32_t stage_attempt = 0;  // a higher one replaces what earlier ones said
  friend bool operator==(const AttemptId&, const AttemptId&) = default;
};

// "task 17 of stage 0", with ", attempt 2" or ", stage attempt 1" where they are not the first.
std::string ToString(const AttemptId& id);

// In the order of an attempt's life. States may be skipped or told late; one that the attempt has
// already passed changes nothing.
enum class AttemptState : std::uint8_t {
  kQueued,    // wants a slot
  kStarted,   // has one and runs; a reduce task fetches its input first
  kShuffled,  // a reduce task has all its input, sorted: its first reduce function starts
  kFinished,  // its output is committed
  kFailed,    // it broke; the engine may try again
  kKilled,    // preempted, lost with its node, or overtaken by another attempt
  kObsolete,  // it had finished, but its output was lost: the task must run again
};

// How a job, a stage or a group ended: with all its output, by giving up, because somebody stopped
// it, or in a way that only a newer version knows.
enum class JobOutcome : std::uint8_t { kSucceeded, kFailed, kKilled, kUnknown };

// What the tasks of a stage do, as far as estimates depend on it. A kMap task reads a split and
// emits pairs; a kReduce task fetches one partition of the map output, then reduces one key group
// after the other; kGeneric is anything else, kUnknown not said. Numbered as in job.proto.
enum class StageKind : std::uint8_t { kUnknown, kMap, kReduce, kGeneric };

// How good the sizes of tasks are: counted, counted and rounded to within about 10 %, or an average
// of several.
enum class SizePrecision : std::uint8_t { kUnknown, kExact, kRounded, kEstimated };

// A stage of a job: tasks that do the same to different data. It may come after the stages that
// read its output, and again: a later one fills in what earlier ones left empty.
struct StageOpened {
  std::uint32_t stage = 0;    // its number within the job
  std::uint32_t attempt = 0;  // at the stage; a higher one may have fewer tasks
  std::string name;           // for people; never interpreted
  std::string signature;      // by which an earlier run's stage is recognised
  // Stages whose output it reads. They may never be opened, and a cycle is not refused here.
  std::vector<std::uint32_t> parents;
  std::string group;  // as GroupOpened names it; empty: none
  StageKind kind = StageKind::kUnknown;
  std::optional<std::uint32_t> task_count;   // of this attempt
  std::optional<std::uint32_t> index_count;  // above all indexes; empty: as many as tasks
  bool skipped = false;                      // its output was there already: none of its tasks runs
  std::string pool;                          // of the scheduler; empty: the job's
  std::vector<std::uint64_t> task_bytes;     // by index of the task; empty: not known
  std::vector<std::uint64_t> task_records;   // likewise
  SizePrecision size_precision = SizePrecision::kUnknown;
  std::optional<std::uint32_t> slots;            // tasks at once; empty: as many as were seen
  std::optional<std::uint32_t> partition_count;  // of a map stage
  // Of a map stage: reduce tasks may find smaller key groups than map tasks told.
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

// An attempt at a stage has ended: none of its tasks that has not begun will. What is said of an
// attempt that a later one has replaced is ignored, and so is a second end.
struct StageClosed {
  std::uint32_t stage = 0;
  std::uint32_t attempt = 0;
  JobOutcome outcome = JobOutcome::kSucceeded;
  std::string message;           // why it failed, for a person
  std::optional<absl::Time> at;  // by the sender's wall clock
  friend bool operator==(const StageClosed&, const StageClosed&) = default;
};

// Stages of the job that people wait for together, such as those of a SQL execution, have a name.
// May come again and after the stages: a later one fills in what earlier ones left empty.
struct GroupOpened {
  std::string group;  // as in StageOpened
  std::string name;   // for people; never interpreted
  std::optional<absl::Time> opened_at;
  friend bool operator==(const GroupOpened&, const GroupOpened&) = default;
};

// A group has ended. The first one counts.
struct GroupClosed {
  std::string group;
  JobOutcome outcome = JobOutcome::kSucceeded;
  std::string message;           // why it failed, for a person
  std::optional<absl::Time> at;  // by the sender's wall clock
  friend bool operator==(const GroupClosed&, const GroupClosed&) = default;
};

// The job exists. Any source may say so, and again; a run that is named and new begins the job anew
// once the run before has ended. Without anything in it, it is a sign of life.
struct JobOpened {
  std::string name;            // for people, and by which earlier runs of the job are found
  std::string engine;          // "hadoop", "spark", "local", ...; never interpreted
  std::string application_id;  // the engine's own
  std::string user;
  std::string queue;
  std::optional<absl::Time> submitted_at;
  std::uint32_t application_master_attempt = 0;  // from 1; 0: not said
  std::vector<StageOpened> stages;               // that are known already
  friend bool operator==(const JobOpened&, const JobOpened&) = default;
};

// A process that runs tasks, by its number among those of the source.
struct ExecutorOpened {
  std::uint32_t executor = 0;
  std::string host;
  std::string rack;
  std::string container;
  std::uint32_t slots = 0;  // 0: not known
  friend bool operator==(const ExecutorOpened&, const ExecutorOpened&) = default;
};

// An executor is gone, and its slots with it. Its attempts end by events of their own.
struct ExecutorClosed {
  std::uint32_t executor = 0;  // that the same source has opened
  friend bool operator==(const ExecutorClosed&, const ExecutorClosed&) = default;
};

// The job has ended. The first one counts; all later events of the job are ignored.
struct JobClosed {
  JobOutcome outcome = JobOutcome::kSucceeded;
  std::string message;           // why, for a person; empty when all is well
  std::optional<absl::Time> at;  // by the sender's wall clock
  friend bool operator==(const JobClosed&, const JobClosed&) = default;
};

// A task attempt entered a state.
struct AttemptChanged {
  AttemptId attempt;
  AttemptState state = AttemptState::kQueued;
  std::optional<absl::Time> at;           // by the sender's wall clock
  std::optional<std::uint32_t> executor;  // that the same source has opened
  bool speculative = false;               // it runs beside another attempt at the task
  // What it has to read: a map task's split, a reduce task's partition.
  std::optional<std::uint64_t> input_bytes;
  std::optional<std::uint64_t> input_records;
  std::string input_name;  // of a map task: which of the job's inputs it reads
  std::string failure;     // why it failed or was killed
  friend bool operator==(const AttemptChanged&, const AttemptChanged&) = default;
};

// For what an attempt used a processor, and for what it waited. Empty: not measured.
struct TimeUse {
  std::optional<absl::Duration> cpu;
  std::optional<absl::Duration> scheduler_wait;  // before it could start
  std::optional<absl::Duration> processor_wait;
  std::optional<absl::Duration> memory_wait;  // garbage collection, spilling, paging
  std::optional<absl::Duration> network_wait;
  std::optional<absl::Duration> io_wait;  // a disk or a file system
  friend bool operator==(const TimeUse&, const TimeUse&) = default;
};

// How far a task is, or the shuffle of a reduce task. Totals since the start of the attempt.
struct TaskHeartbeat {
  AttemptId attempt;
  std::uint64_t bytes_done = 0;  // input processed; of a shuffle, fetched
  std::uint64_t records_done = 0;
  std::uint64_t bytes_emitted = 0;  // output so far
  TimeUse time;
  // All input is read before the work begins, to be sorted or put into groups: what has been read
  // says nothing of how much time has passed. Stays true once said.
  bool input_is_read_first = false;
  friend bool operator==(const TaskHeartbeat&, const TaskHeartbeat&) = default;
};

// A key that a map task names, with the size of its key group in that task.
struct ExplicitKey {
  KeyHash key{};
  std::uint64_t size_bytes = 0;
  std::uint64_t values = 0;  // records of the key group; 0: not known
  friend bool operator==(const ExplicitKey&, const ExplicitKey&) = default;
};

// What one map task emitted into one partition, after its combiner. Explicit keys are those among
// the heaviest of the task, each with its size; of all others only the sums are known.
struct PartitionProfile {
  std::uint32_t partition = 0;
  std::uint64_t total_bytes = 0;  // exact
  std::vector<ExplicitKey> explicit_keys;
  std::uint64_t implicit_key_count = 0;
  std::uint64_t implicit_bytes = 0;
  std::optional<std::uint64_t> scanned_bytes;  // empty: all of total_bytes
  std::vector<ExplicitKey> sampled_keys;       // implicit ones of a rank below sampled_below
  friend bool operator==(const PartitionProfile&, const PartitionProfile&) = default;
};

// The sizes of the key groups that one map task emitted: once, when its output is final. Only the
// profile of the attempt that finishes first counts.
struct MapProfile {
  AttemptId attempt;
  std::vector<PartitionProfile> partitions;  // those that have data
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

// Moments of the key groups whose size falls into one bin of streaming/size_histogram.h.
struct GroupBin {
  std::uint32_t bin = 0;
  std::uint64_t count = 0;
  std::uint64_t size_bytes = 0;     // sum
  double seconds = 0;               // sum
  double seconds_squared = 0;       // sum of squares
  std::uint64_t emitted_bytes = 0;  // sum
  friend bool operator==(const GroupBin&, const GroupBin&) = default;
};

// A finished key group that is told by its key.
struct FinishedKey {
  KeyHash key{};
  std::uint64_t size_bytes = 0;
  absl::Duration time;  // zero: it was timed together with others
  std::uint64_t emitted_bytes = 0;
  friend bool operator==(const FinishedKey&, const FinishedKey&) = default;
};

// Which finished key groups the master wants to have named.
struct NamedGroups {
  std::uint64_t bytes_min = 0;      // those of at least this size,
  std::uint64_t sampled_below = 0;  // and those of a rank below this
  friend bool operator==(const NamedGroups&, const NamedGroups&) = default;
};

// The reduce function call in progress, from inside: how far it has come, by three counters.
struct RunningGroup {
  std::optional<KeyHash> key;
  absl::Duration elapsed;  // at the moment the event was sent
  std::uint64_t bytes_read = 0;
  std::uint64_t values_read = 0;
  std::uint64_t bytes_emitted = 0;
  friend bool operator==(const RunningGroup&, const RunningGroup&) = default;
};

// Of the thread that runs a task's functions, since it was first looked at.
struct ProcessorUse {
  absl::Duration watched;
  absl::Duration waited;         // of that: it could have run but had no processor
  std::uint32_t processors = 0;  // that the task's process may use; 0: not known
  friend bool operator==(const ProcessorUse&, const ProcessorUse&) = default;
};

// What a reduce task has done since its last profile: exact totals, and the key groups that have
// finished since as moments by size (bins), the largest of them by name.
struct ReduceProfile {
  AttemptId attempt;
  std::optional<absl::Time> last_group_finished_at;  // p_i(t), by the sender's wall clock
  std::uint64_t groups_done = 0;                     // totals since the start of the attempt
  std::uint64_t bytes_done = 0;
  absl::Duration reduce_time;
  std::vector<GroupPoint> points;  // since the last profile, where the master asks for them
  std::vector<GroupBin> bins;      // the same key groups
  // Whether every finished key group that the master asked for (NamedGroups) and that has at least
  // so many bytes is among the finished keys. If not, the master guesses which have finished.
  bool keys_named = false;
  std::uint64_t named_group_bytes_min = 0;
  std::vector<FinishedKey> finished_keys;  // since the last profile
  std::optional<RunningGroup> running_group;
  std::uint64_t dropped_points = 0;  // total since the start of the attempt
  std::optional<ProcessorUse> processor_use;
  friend bool operator==(const ReduceProfile&, const ReduceProfile&) = default;
};

// What a newer sender says and this version does not understand: counted, and otherwise ignored.
struct UnknownEvent {
  friend bool operator==(const UnknownEvent&, const UnknownEvent&) = default;
};

// What happened. A fold handles each with std::visit; new kinds are added at the end.
using EventBody = std::variant<JobOpened, JobClosed, StageOpened, ExecutorOpened, AttemptChanged,
                               TaskHeartbeat, MapProfile, ReduceProfile, UnknownEvent, StageClosed,
                               GroupOpened, GroupClosed, ExecutorClosed>;

// One event with its origin. `arrived_at` is the master's clock; it never decreases within a job.
struct Event {
  std::string job_id;
  std::string run_uid;  // which run of the job; empty: not said
  std::string source_id;
  std::uint64_t sequence = 0;        // 1, 2, 3, ... within a source
  absl::Time sent_at;                // the sender's wall clock
  absl::Time arrived_at;             // the master's clock
  std::uint64_t dropped_events = 0;  // by the source so far, for want of room
  EventBody body;
  friend bool operator==(const Event&, const Event&) = default;
};

}  // namespace tidemark
