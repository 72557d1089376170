// The known facts about one stage of a job, its tasks and their attempts.
//
// A MapReduce job has two stages with additional facts: map tasks report map profiles, and reduce
// tasks report key groups. The task or the attempt holds pointers to these facts, which are null in
// other stages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/time/time.h"
#include "streaming/size_histogram.h"
#include "streaming/smoothed_points.h"
#include "tidemark/event.h"
#include "tidemark/job.h"

namespace tidemark::facts {

// The life of one task attempt: its states, when it entered them, and where it ran.
class AttemptLife {
 public:
  // Enters `state` at `at`. States only advance: queued, started, shuffled, lost, then one of
  // finished, failed, killed; finished may become obsolete. A state that the attempt has already
  // passed only sets its time, if unknown; the earliest start counts. Returns false if the state
  // contradicts earlier states.
  bool Enter(AttemptState state, absl::Time at);

  AttemptState state() const { return state_; }
  bool is_running() const {
    return state_ == AttemptState::kStarted || state_ == AttemptState::kShuffled;
  }
  bool is_finished() const { return state_ == AttemptState::kFinished; }
  bool has_ended() const;

  std::optional<absl::Time> started_at() const { return started_at_; }
  std::optional<absl::Time> shuffled_at() const { return shuffled_at_; }
  // Returns the end of the attempt. For a lost attempt, returns the last time at which it is known
  // to have run.
  std::optional<absl::Time> ended_at() const { return ended_at_; }

  std::string host;
  std::string input_name;
  std::string failure;  // reason of a failure or a kill
  bool speculative = false;
  std::optional<std::uint64_t> input_bytes;
  std::optional<std::uint64_t> input_records;
  absl::Time last_report_at = absl::InfinitePast();

 private:
  AttemptState state_ = AttemptState::kQueued;
  std::optional<absl::Time> started_at_;
  std::optional<absl::Time> shuffled_at_;
  std::optional<absl::Time> ended_at_;
};

// Compares the reported running attempts with the slots of an executor or of a stage.
struct SlotLoad {
  // The end of an attempt may be reported after the start of the next attempt in its slot, since
  // Spark first fetches the result.
  static constexpr absl::Duration kOverlap = absl::Seconds(1);

  std::uint32_t running = 0;
  std::optional<absl::Time> over_since;  // time since which attempts have exceeded slots
  // last time at which the surplus had lasted for kOverlap
  absl::Time over_until = absl::InfinitePast();

  // Adds an attempt that runs, or removes an attempt that does not. `slots` is 0 if unknown.
  void Count(bool runs, std::uint32_t slots, absl::Time now);
  // Returns true if more attempts than slots have been running for at least `time`.
  bool HasBeenOverFor(absl::Duration time, absl::Time now) const {
    return over_since && now - *over_since >= time;
  }
};

// The SlotLoad that an attempt counts in.
enum class SlotPool : std::uint8_t { kNone, kExecutor, kStage };

// The work of the reduce functions of one attempt. Times "alone" exclude waits for a processor, if
// the source reports these waits. They are the times that the same work takes without contention.
struct ReduceWork {
  std::uint64_t fetched_bytes = 0;
  // Time of the last report of additional fetched bytes, or InfinitePast() without one.
  absl::Time fetched_at = absl::InfinitePast();
  std::uint64_t groups_done = 0;
  absl::Duration reduce_time;
  absl::Duration reduce_time_alone;
  std::optional<absl::Time> reduce_started_at;       // start of the first reduce function
  std::optional<absl::Time> last_group_finished_at;  // p_i(t)
  std::optional<RunningGroup> running_group;         // its time is the time alone
  absl::Duration running_group_elapsed;              // reported time of running_group
  absl::Time running_group_seen_at;
  std::optional<ProcessorUse> processor_use;  // newest report
  double processor_share = 1;      // share of the recent time without waiting for a processor
  double alone_share_at_last = 1;  // processor share between the last two reports
  // processor share of the key groups finished between the last two reports
  double alone_share_of_finished = 1;
  std::uint64_t dropped_points = 0;
  double reported_bytes = 0;  // bytes of bytes_done that are in bins or points; the rest was lost
  bool sends_bins = false;

  // Explicit keys that the attempt has finished. If the source does not name them, they are matched
  // by closeness of size.
  absl::flat_hash_set<KeyHash> finished_explicit;
  absl::flat_hash_set<KeyHash> finished_sampled;  // finished implicit keys in the sample
  // The keys of finished_explicit in the order in which they became known, with their times alone.
  std::vector<FinishedKey> finished_explicit_groups;
  // unfinished explicit keys by size; built when needed
  std::multimap<std::uint64_t, KeyHash> unmatched_explicit;
  std::size_t unmatched_as_of = 0;  // number of map profiles from which it was built

  // Returns true if the attempt has only just begun to work. Returns false if its source does not
  // report its processor use.
  bool is_cold() const;
};

// Input that tasks have processed.
struct InputDone {
  std::uint64_t bytes = 0;
  std::uint64_t records = 0;
};

struct TaskAttempt {
  // Returns the processed input, which is the whole input after the attempt has finished.
  InputDone input_done() const;
  // Returns the time between the start and the first input, as far as heartbeats show it.
  absl::Duration start_up() const;

  AttemptLife life;
  std::uint64_t bytes_done = 0;           // bytes read by its functions
  std::uint64_t records_done = 0;         // only in stages other than map and reduce
  std::uint64_t bytes_emitted = 0;        // 0 if unknown
  std::optional<std::uint32_t> executor;  // index into JobRecord::executors
  std::unique_ptr<MapProfile> profile;    // null after it was counted or proved useless
  std::unique_ptr<ReduceWork> reduce;     // not null for attempts at reduce tasks
  // True if the bytes that the attempt has read do not show its progress.
  bool input_is_read_first = false;
  absl::Duration cpu;           // processor time; 0 if unknown
  absl::Duration start_cpu;     // at its first report, if it had read no input by then; otherwise 0
  absl::Duration network_wait;  // such as for a fetch of the shuffle; 0 if unknown
  // Time of the last report of additional input, or InfinitePast() without one.
  absl::Time progressed_at = absl::InfinitePast();
  // Time of the last heartbeat before it had processed any input, or InfinitePast() without one.
  absl::Time idle_until = absl::InfinitePast();
  // Time of the last report of a state or of any work. An empty heartbeat does not count.
  absl::Time active_at = absl::InfinitePast();
  SlotPool counted_in = SlotPool::kNone;
};

// The key groups that all attempts at a reduce task have finished.
struct FinishedGroups {
  streaming::SmoothedPoints points;  // D_i(t)
  std::uint64_t points_version = 0;  // grows with every change of `points`
  streaming::SizeHistogram bins;     // moments of the times alone, without cold_bins
  // like `bins`, for key groups that cold attempts have finished
  streaming::SizeHistogram cold_bins;
};

struct Task {
  // Keyed by (stage attempt, task attempt).
  std::map<std::pair<std::uint32_t, std::uint32_t>, TaskAttempt> attempts;
  std::optional<std::uint64_t> input_bytes;  // as first reported by the stage or an attempt
  std::unique_ptr<FinishedGroups> groups;    // null if none was reported
  std::uint32_t index = 0;
  // true if JobRecord::keys contains the profile of the first finished attempt
  bool profile_counted = false;
  bool profile_missing = false;  // true if the task is over and its profile is unknown
  bool has_failed = false;       // true if the engine reported that no attempt will follow

  const TaskAttempt* finished_attempt() const;
  // Returns the running attempt that has read most, which determines the task's progress. Returns
  // null if no attempt runs or one has finished.
  const TaskAttempt* leading_attempt() const;
  bool is_finished() const { return finished_attempt() != nullptr; }
  // Returns true if no work remains, because an attempt has finished or the task has failed
  // permanently.
  bool is_over() const { return is_finished() || is_given_up(); }
  // Returns true if the task has failed permanently. A task that an engine starts again, for
  // example from a new application master, has not failed.
  bool is_given_up() const;
  bool is_running() const;
  // Returns the input that the finished attempt or, before the end, the leading attempt has read.
  InputDone input_done() const;
  const FinishedGroups& finished_groups() const;
};

// Facts about the map phase of a MapReduce job.
struct MapPhase {
  StageProgress progress;
  double input_bytes = 0;  // of all tasks; 0 if the size of any is unknown
};

// Counts of the tasks of a stage and of their attempts (TallyOf() in phases.h).
struct StageTally {
  std::uint64_t revision = 0;  // of the counted stage
  std::size_t given_up_tasks = 0;
  std::size_t lost_tasks = 0;  // with a lost attempt, and neither running nor finished
  std::size_t running_attempts = 0;
  std::uint64_t failed_attempts = 0;
  InputDone input_done;                       // of all tasks
  std::string failure;                        // reason of the attempt that failed last
  std::shared_ptr<const MapPhase> map_phase;  // null for other stages
};

struct Stage {
  StageOpened opened;  // as reported for the newest attempt at the stage
  // End of the newest attempt, or of a later attempt that was not opened. Its time uses the
  // master's clock.
  std::optional<StageClosed> closed;
  // A map or reduce stage has all tasks, by index, and at least as many as opened. Other stages
  // have only the reported tasks, in the order of their reports, so that a high index costs no
  // memory for lower ones.
  std::vector<Task> tasks;
  // Positions in `tasks`, by task index, of the tasks that are not at their own index.
  absl::flat_hash_map<std::uint32_t, std::uint32_t> places;
  std::uint32_t finished_tasks = 0;
  std::uint32_t running_tasks = 0;
  std::optional<StageTally> tally;  // of this or of an earlier revision
  absl::Time announced_at;          // time of the stage's first report
  std::uint64_t revision = 0;       // grows with every event about the stage or its tasks
  // largest number of concurrent tasks while the slots were unknown
  std::uint32_t tasks_running_max = 0;
  SlotLoad load;  // load of attempts with SlotPool::kStage

  // These functions return true for the map or reduce stage of a MapReduce job.
  bool is_map() const { return opened.stage == kMapStage && opened.kind == StageKind::kMap; }
  bool is_reduce() const {
    return opened.stage == kReduceStage && opened.kind == StageKind::kReduce;
  }
  // Returns true if the stage's reported slots take precedence over its executors' slots.
  bool has_own_slots() const { return (is_map() || is_reduce()) && opened.group.empty(); }
  // Returns the task with that index, or null if it is not in `tasks`.
  Task* task(std::uint32_t index);
  // Returns true if the stage was reported as skipped and no task of that attempt has been
  // reported. A skipped stage runs if its output is lost, possibly as the same attempt. O(tasks).
  bool is_skipped() const;
  // Returns an exclusive upper bound of the stage's task indexes, or nullopt if unknown.
  std::optional<std::uint32_t> index_count() const {
    return opened.index_count ? opened.index_count : opened.task_count;
  }
  // Returns the input bytes of the task, as first reported by the stage or an attempt, or nullopt
  // if unknown.
  std::optional<std::uint64_t> input_bytes(const Task& task) const;
  // Returns the number of records per input byte of the finished tasks, or 0 if unknown. O(tasks).
  double RecordsPerByte() const;
  // Returns the share of the input that an attempt at `task` has processed, in 0..1, or nullopt if
  // unknown. The share is measured in records if their number is known, since bytes are fetched in
  // blocks ahead of the work. `records_per_byte` is the result of RecordsPerByte().
  std::optional<double> FractionDone(const Task& task, const TaskAttempt& attempt,
                                     double records_per_byte) const;
  // Returns the number of tasks of the stage that can run at once; at least 1.
  std::size_t slots() const;
  // O(tasks).
  std::size_t finished_task_count() const;
  std::size_t running_task_count() const;
};

// Merges a report into the known facts of a stage. A report of the same attempt at the stage sets
// fields that were unknown. A report of a later attempt replaces all fields except a known kind. A
// report of an earlier attempt changes nothing. Returns false if the report contradicts the known
// facts.
bool FillIn(const StageOpened& reported, StageOpened& known);

// Returns the memory of a stage beyond its struct and its tasks, in bytes.
std::size_t StateBytesOf(const StageOpened& stage);

}  // namespace tidemark::facts
