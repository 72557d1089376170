// What happens to a job, as values.
//
// Everything the master learns about a job arrives as an ordered stream of events; the state of the
// job is a fold over them (tidemark/job_monitor.h). These are the plain counterparts of
// proto/tidemark/v1/event.proto, whose field comments hold here too. No event is trusted beyond its
// type: a fold ignores and counts what contradicts what it already knows.
//
// Values: copyable, comparable, no invariants, safe to share between threads when const.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "absl/time/time.h"

namespace tidemark {

// Stable hash of a serialized intermediate key (streaming/key_hash.h).
enum class KeyHash : std::uint64_t {};

// The stages of a MapReduce job. Other engines number theirs as they like.
inline constexpr std::uint32_t kMapStage = 0;
inline constexpr std::uint32_t kReduceStage = 1;

// One attempt at one task. A reduce task's index is its partition.
struct AttemptId {
  std::uint32_t stage = kMapStage;
  std::uint32_t index = 0;
  std::uint32_t attempt = 0;
  std::uint32_t stage_attempt = 0;
  friend bool operator==(const AttemptId&, const AttemptId&) = default;
};

// "task 17 of stage 0", with ", attempt 2" or ", stage attempt 1" where they are not the first.
std::string ToString(const AttemptId& id);

enum class AttemptState : std::uint8_t {
  kQueued,
  kStarted,
  kShuffled,
  kFinished,
  kFailed,
  kKilled,
  kObsolete,
};

// kUnknown: one that only a newer version knows.
enum class JobOutcome : std::uint8_t { kSucceeded, kFailed, kKilled, kUnknown };

enum class StageKind : std::uint8_t { kUnknown, kGeneric, kMap, kReduce };

enum class SizePrecision : std::uint8_t { kUnknown, kExact, kRounded, kEstimated };

// A stage of a job. An empty optional means "not known yet".
struct StageOpened {
  std::uint32_t stage = 0;
  std::uint32_t attempt = 0;
  std::string name;
  std::string signature;  // by which an earlier run's stage is recognised
  std::vector<std::uint32_t> parents;
  std::string group;
  StageKind kind = StageKind::kUnknown;
  std::optional<std::uint32_t> task_count;
  bool skipped = false;
  std::string pool;
  std::vector<std::uint64_t> task_bytes;    // by index of the task; empty: not known
  std::vector<std::uint64_t> task_records;  // likewise
  SizePrecision size_precision = SizePrecision::kUnknown;
  std::optional<std::uint32_t> slots;
  std::optional<std::uint32_t> partition_count;  // of a map stage
  std::optional<bool> has_combiner;              // of a map stage
  // Of a reduce stage: a comparator decides which keys are one key group, so hashes of keys mean
  // nothing.
  std::optional<bool> is_grouping_opaque;
  std::optional<absl::Time> opened_at;
  friend bool operator==(const StageOpened&, const StageOpened&) = default;
};

// The stages of a MapReduce job; of one without reduce tasks (0) the first alone.
std::vector<StageOpened> MapReduceStages(std::optional<std::uint32_t> map_task_count,
                                         std::optional<std::uint32_t> reduce_task_count);

struct JobOpened {
  std::string name;
  std::string engine;
  std::string application_id;
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

struct JobClosed {
  JobOutcome outcome = JobOutcome::kSucceeded;
  std::string message;
  std::optional<absl::Time> at;  // by the sender's wall clock
  friend bool operator==(const JobClosed&, const JobClosed&) = default;
};

struct AttemptChanged {
  AttemptId attempt;
  AttemptState state = AttemptState::kQueued;
  std::optional<absl::Time> at;           // by the sender's wall clock
  std::optional<std::uint32_t> executor;  // that the same source has opened
  bool speculative = false;
  std::optional<std::uint64_t> input_bytes;
  std::optional<std::uint64_t> input_records;
  std::string input_name;  // of a map task: which of the job's inputs it reads
  std::string failure;
  friend bool operator==(const AttemptChanged&, const AttemptChanged&) = default;
};

// For what an attempt used a processor, and for what it waited. Empty: not measured.
struct TimeUse {
  std::optional<absl::Duration> cpu;
  std::optional<absl::Duration> scheduler_wait;
  std::optional<absl::Duration> processor_wait;
  std::optional<absl::Duration> memory_wait;
  std::optional<absl::Duration> network_wait;
  std::optional<absl::Duration> io_wait;
  friend bool operator==(const TimeUse&, const TimeUse&) = default;
};

// Totals since the start of the attempt.
struct TaskHeartbeat {
  AttemptId attempt;
  std::uint64_t bytes_done = 0;
  std::uint64_t records_done = 0;
  std::uint64_t bytes_emitted = 0;
  TimeUse time;
  friend bool operator==(const TaskHeartbeat&, const TaskHeartbeat&) = default;
};

struct ExplicitKey {
  KeyHash key{};
  std::uint64_t size_bytes = 0;
  std::uint64_t values = 0;  // records of the key group; 0: not known
  friend bool operator==(const ExplicitKey&, const ExplicitKey&) = default;
};

struct PartitionProfile {
  std::uint32_t partition = 0;
  std::uint64_t total_bytes = 0;
  std::vector<ExplicitKey> explicit_keys;
  std::uint64_t implicit_key_count = 0;
  std::uint64_t implicit_bytes = 0;
  std::optional<std::uint64_t> scanned_bytes;  // empty: all of total_bytes
  std::vector<ExplicitKey> sampled_keys;       // implicit ones of a rank below sampled_below
  friend bool operator==(const PartitionProfile&, const PartitionProfile&) = default;
};

struct MapProfile {
  AttemptId attempt;
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

struct ReduceProfile {
  AttemptId attempt;
  std::optional<absl::Time> last_group_finished_at;  // p_i(t), by the sender's wall clock
  std::uint64_t groups_done = 0;                     // totals since the start of the attempt
  std::uint64_t bytes_done = 0;
  absl::Duration reduce_time;
  std::vector<GroupPoint> points;  // since the last profile, where the master asks for them
  std::vector<GroupBin> bins;      // the same key groups
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

using EventBody = std::variant<JobOpened, JobClosed, StageOpened, ExecutorOpened, AttemptChanged,
                               TaskHeartbeat, MapProfile, ReduceProfile, UnknownEvent>;

// One event with its origin. `arrived_at` is the master's clock; it never decreases within a job.
struct Event {
  std::string job_id;
  std::string run_uid;  // which run of the job; empty: not said
  std::string source_id;
  std::uint64_t sequence = 0;  // 1, 2, 3, ... within a source
  absl::Time sent_at;          // the sender's wall clock
  absl::Time arrived_at;       // the master's clock
  std::uint64_t dropped_events = 0;
  EventBody body;
  friend bool operator==(const Event&, const Event&) = default;
};

}  // namespace tidemark
