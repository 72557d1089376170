// The map and shuffle phases, which are taken as linear ([NF] 3.6), and where each phase stands.
//
// Phases as in [NF] section 2: map from the first map function to the end of the last map task,
// reduce from the first reduce function to the end of the last reduce task, shuffle between.
#pragma once

#include <optional>
#include <vector>

#include "absl/time/time.h"
#include "master/facts/job_record.h"
#include "tidemark/job.h"

namespace tidemark::model {

// The map or reduce stage of a MapReduce job: stage 0 of kind kMap, stage 1 of kind kReduce; null:
// `snapshot` has none. Stages of these kinds with other numbers are those of another engine.
// REQUIRES: its stages and their infos are in one order.
const StageProgress* PhaseOf(const Snapshot& snapshot, StageKind phase);

// From this part of its bytes on, what a task or a phase has done so far is a pace.
// Ablation: +0.13, -0.19 (two-path speculation).
inline constexpr double kPaceFrom = 0.02;

// Guards divisions: a part of a time, of a processor or of a key group, below this is what a broken
// clock or counter says.
inline constexpr double kShareMin = 1e-3;

// Returns the part of a map task's input that is read, in 0..1; 1 if the task is over.
double MapTaskFraction(const Task& task);
// Returns the weight of each map task in the phase: its input bytes if those of all are known, else
// one. A weight is at least 1.
std::vector<double> MapTaskWeights(const JobRecord& state);

// The map stage: counts, instants and the part of the input bytes that is read; by tasks where
// sizes are unknown.
StageProgress MapProgress(const JobRecord& state);
// The part of the reduce tasks' input that was fetched.
ShuffleProgress FetchProgress(const JobRecord& state);
// The reduce stage, from the first reduce function on: counts and instants; until it is done,
// fraction_done is left to an indicator.
StageProgress ReduceProgress(const JobRecord& state);

// Seconds to fetch and sort one byte, learnt from the reduce tasks that have; 0 when a reduce
// function ran although no shuffle was reported; empty when there is nothing to learn from.
std::optional<double> ShuffleSecondsPerByte(const JobRecord& state);

// Start of the first reduce function: t_start ([NF] 3.2). Empty before.
std::optional<absl::Time> ReducePhaseStart(const JobRecord& state);
// End of the last reduce task. Empty before.
std::optional<absl::Time> ReducePhaseEnd(const JobRecord& state);

// Whether the sizes of the reduce tasks' input were reported.
bool ReduceSizesKnown(const JobRecord& state);

}  // namespace tidemark::model
