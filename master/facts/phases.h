// Computes the progress of the phases of a MapReduce job ([NF] section 2). Map and shuffle phases
// are assumed to be linear ([NF] 3.6).
//
// The map phase lasts from the first map function to the end of the last map task. The reduce phase
// lasts from the first reduce function to the end of the last reduce task. The shuffle phase lies
// between the two.
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "absl/time/time.h"
#include "master/facts/job_record.h"
#include "tidemark/job.h"

namespace tidemark::facts {

// Returns the map or reduce stage of a MapReduce job (stage 0 of kind kMap, stage 1 of kind
// kReduce), or null if `snapshot` has none. Stages of these kinds with other numbers belong to
// another engine. REQUIRES: stages and stage infos are in the same order.
const StageProgress* PhaseOf(const Snapshot& snapshot, StageKind phase);

// A task or phase that has read this share of its bytes shows its pace. Ablation: +0.13, -0.19
// (two-path speculation).
inline constexpr double kPaceFrom = 0.02;

// Guards divisions. A smaller share of a time, a processor or a key group results from a broken
// clock or counter.
inline constexpr double kShareMin = 1e-3;

// If a slot is free, the first map task starts within this time after the application master.
// Chosen by hand.
inline constexpr absl::Duration kStartsWithin = absl::Seconds(10);
// Returns the start of a job without its wait for slots, before its first map task started.
inline absl::Time MapSideStart(absl::Time job_start, absl::Time first_map_start) {
  return std::max(job_start, first_map_start - kStartsWithin);
}

// Counts the tasks of a stage. O(1) if CountTasks() has counted this revision of the stage,
// otherwise O(tasks).
StageTally TallyOf(const Stage& stage);
// Keeps the counts of all stages until they change. O(stages + tasks of changed stages).
void CountTasks(JobRecord& state);

// Returns the share of a map task's input that has been read, in 0..1, or 1 if the task is over.
double MapTaskFraction(const Task& task);
// Returns the weight of each map task in the phase: its input bytes (at least 1) if the bytes of
// all tasks are known, otherwise 1.
std::vector<double> MapTaskWeights(const JobRecord& state);

// Returns the map stage with its counts, times and fraction_done, the share of its input that has
// been read. If sizes are unknown, all tasks count equally. Costs as much as TallyOf().
StageProgress MapProgress(const JobRecord& state);
// Returns the input of all map tasks in bytes, or 0 if the size of any is unknown. Costs as much as
// TallyOf().
double MapInputBytes(const JobRecord& state);
// Returns the share of the reduce tasks' input that has been fetched.
ShuffleProgress FetchProgress(const JobRecord& state);
// Returns the counts and times of the reduce stage, which starts with the first reduce function. An
// indicator sets fraction_done while the stage runs.
StageProgress ReduceProgress(const JobRecord& state);

// Returns the time in seconds to fetch and sort one byte, measured on the reduce tasks that have
// done so. Returns 0 if a reduce function ran although no shuffle was reported, and nullopt if
// there is no evidence.
std::optional<double> ShuffleSecondsPerByte(const JobRecord& state);

// Returns the start of the first reduce function, t_start ([NF] 3.2), or nullopt if none has
// started.
std::optional<absl::Time> ReducePhaseStart(const JobRecord& state);
// Returns the end of the last reduce task, or nullopt if not all have ended.
std::optional<absl::Time> ReducePhaseEnd(const JobRecord& state);

// Returns true if the sizes of the reduce tasks' input were reported.
bool ReduceSizesKnown(const JobRecord& state);

}  // namespace tidemark::facts
