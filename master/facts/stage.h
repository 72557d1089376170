// All that is known of one stage of a job, and of its tasks.
//
// A MapReduce job has two stages, which know more of their tasks than others: map tasks bring map
// profiles, reduce tasks work through key groups. What only they have hangs on the task or on the
// attempt, and is null elsewhere.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/time/time.h"
#include "master/facts/attempt_life.h"
#include "streaming/size_histogram.h"
#include "streaming/smoothed_points.h"
#include "tidemark/event.h"

namespace tidemark::model {

// What the reduce functions of one attempt have done. A time "alone" leaves out what the attempt
// waited for a processor, where its source tells that: it is what the same would take with nobody
// to share with.
struct ReduceWork {
  std::uint64_t fetched_bytes = 0;
  std::uint64_t groups_done = 0;
  absl::Duration reduce_time;
  absl::Duration reduce_time_alone;
  std::optional<absl::Time> reduce_started_at;       // its first reduce function
  std::optional<absl::Time> last_group_finished_at;  // p_i(t)
  std::optional<RunningGroup> running_group;         // its time: alone
  absl::Duration running_group_elapsed;              // its time as told
  absl::Time running_group_seen_at;
  std::optional<ProcessorUse> processor_use;  // as told last
  double processor_share = 1;      // of its recent time: in which it did not wait for a processor
  double alone_share_at_last = 1;  // the same between the last two looks
  double alone_share_of_finished = 1;  // of the time of what finished between them
  std::uint64_t dropped_points = 0;
  double told_bytes = 0;  // of bytes_done, those whose bins or points came; the rest was lost
  bool sends_bins = false;

  // Explicit keys it has finished: by identity, or, where its source does not name them, by
  // closeness of size.
  absl::flat_hash_set<KeyHash> finished_explicit;
  absl::flat_hash_set<KeyHash> finished_sampled;  // implicit ones of the sample
  // The same in the order they became known; their times: alone.
  std::vector<FinishedKey> finished_explicit_groups;
  std::multimap<std::uint64_t, KeyHash> unmatched_explicit;  // by size; made when needed
  std::size_t unmatched_as_of = 0;                           // map profiles it was made from

  // Whether it has just begun to work, as far as its source tells how much it worked.
  bool is_cold() const;
};

struct TaskAttempt {
  AttemptLife life;
  std::uint64_t bytes_done = 0;           // that its functions have read
  std::uint64_t records_done = 0;         // of a stage of another kind than map and reduce
  std::optional<std::uint32_t> executor;  // where it runs: its place in JobRecord::executors
  std::unique_ptr<MapProfile> profile;    // until it counts or the attempt turns out useless
  std::unique_ptr<ReduceWork> reduce;     // of every attempt at a reduce task
  bool input_is_read_first = false;       // bytes that it has read are not progress
  // The instant of the last report that it had read more of its input; InfinitePast() before it.
  absl::Time progressed_at = absl::InfinitePast();
  // Time of the last report that it runs or does anything. A heartbeat alone does not count.
  absl::Time proven_at = absl::InfinitePast();
  bool is_counted = false;  // in Executor::running
};

// The key groups that all attempts at a reduce task have finished.
struct FinishedGroups {
  streaming::SmoothedPoints points;    // D_i(t)
  std::uint64_t points_version = 0;    // grows with every change of `points`
  streaming::SizeHistogram bins;       // the same key groups as moments of their times alone ...
  streaming::SizeHistogram cold_bins;  // ... but for what an attempt did while it was cold
};

struct Task {
  // By attempt at the stage and attempt at the task.
  std::map<std::pair<std::uint32_t, std::uint32_t>, TaskAttempt> attempts;
  std::optional<std::uint64_t> input_bytes;  // as first reported by its stage or an attempt
  std::unique_ptr<FinishedGroups> groups;    // null if none was reported
  std::uint32_t index = 0;
  bool profile_counted = false;  // the profile of its first finished attempt is in JobRecord::keys
  bool profile_missing = false;  // it is over and its profile is not
  bool has_failed = false;       // the engine reported that no attempt will follow

  const TaskAttempt* finished_attempt() const;
  // The running attempt that has read most, which counts as the task's progress; null when none
  // runs, or one has finished.
  const TaskAttempt* leading_attempt() const;
  bool is_finished() const { return finished_attempt() != nullptr; }
  // Returns true if no work remains: an attempt has finished, or the task has failed for good.
  bool is_over() const { return is_finished() || is_given_up(); }
  bool is_given_up() const;
  bool is_running() const;
  const FinishedGroups& finished_groups() const;
};

struct Stage {
  StageOpened opened;  // as its newest attempt has it
  // Of that attempt, or of a later one without an opening event. Its instant is of the master's
  // clock.
  std::optional<StageClosed> closed;
  // A map or a reduce stage has all tasks, by index; at least the opened count. Other stages have
  // the reported tasks, in the order of their reports: an index that is merely named takes no room
  // for lower ones.
  std::vector<Task> tasks;
  // Places in `tasks` of the tasks that are not at their index, by index.
  absl::flat_hash_map<std::uint32_t, std::uint32_t> places;
  std::uint32_t finished_tasks = 0;     // the tasks that have finished
  absl::Time announced_at;              // when it was first reported
  std::uint64_t revision = 0;           // grows with every event that is about it or its tasks
  std::uint32_t tasks_running_max = 0;  // most seen running at once, while its slots are unknown

  // The first stage of a MapReduce job, and the second.
  bool is_map() const { return opened.stage == kMapStage && opened.kind == StageKind::kMap; }
  bool is_reduce() const {
    return opened.stage == kReduceStage && opened.kind == StageKind::kReduce;
  }
  // Returns whether it has its own slots instead of the executors' slots.
  bool has_own_slots() const { return (is_map() || is_reduce()) && opened.group.empty(); }
  // The task of that index; null: not in `tasks`.
  Task* task(std::uint32_t index);
  // Whether none of its tasks runs. One whose output was there and is lost runs after all, maybe as
  // the attempt that was said to be skipped. O(tasks).
  bool is_skipped() const;
  // Indexes of its tasks are below it; empty: not known.
  std::optional<std::uint32_t> index_count() const {
    return opened.index_count ? opened.index_count : opened.task_count;
  }
  // What the task has to read, as the stage or an attempt told first; empty: not known. bytes
  std::optional<std::uint64_t> input_bytes(const Task& task) const;
  // Of the tasks that have finished; 0: not known. O(tasks).
  double RecordsPerByte() const;
  // The part of its input that the functions of an attempt at `task` are done with; empty: not
  // known. By records where it is known how many there are: bytes are fetched ahead of what is
  // done with them, and come in blocks. `records_per_byte`: as above. 0..1
  std::optional<double> FractionDone(const Task& task, const TaskAttempt& attempt,
                                     double records_per_byte) const;
  // How many of its tasks can run at once; at least 1.
  std::size_t slots() const;
  // O(tasks).
  std::size_t finished_task_count() const;
  std::size_t given_up_task_count() const;
  std::size_t running_task_count() const;
};

// Fills in what `said` adds to the same attempt at the stage, or replaces it by a later attempt; a
// kind that is known stays. False if `said` contradicts what is known; of an earlier attempt, it
// changes nothing.
bool FillIn(const StageOpened& said, StageOpened& known);

// What a stage takes in memory beyond its struct and its tasks. bytes
std::size_t StateBytesOf(const StageOpened& stage);

}  // namespace tidemark::model
