// Factors on the times of single tasks of a stage, relative to their kind.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "master/forecast/dag/task_estimate.h"
#include "master/forecast/dag/workflow_state.h"
#include "master/forecast/durations/draws.h"
#include "master/forecast/durations/task_times.h"

namespace tidemark::dag {

// Beyond this number, waiting tasks have a common factor, which limits the cost of placing them.
inline constexpr std::size_t kDistinctTasksMax = 256;

// Factors by draw. Empty means 1.
struct TaskFactors {
  std::vector<durations::Draws> of_running;
  std::vector<durations::Draws> of_waiting;  // in the order of the tasks' starts, relative to kRest
  durations::Draws of_others;                // for all waiting tasks, if there are too many
};

// Long tasks. A hot partition of past runs is recognised by the index of its task, even before that
// task starts and although short tasks end first.

// Returns the long tasks among the finished tasks, by index, or none if there are more than
// PastStage::kLongTasksMax. O(tasks log tasks).
std::vector<LongTask> LongTasksOf(const StageNow& stage);

// Returns the times of one kind of task, excluding long tasks. Empty only if `seconds` is empty.
// O(times log times).
std::vector<double> UsualTimes(std::span<const double> seconds);

// Returns true if the indexes of all long tasks are known. O(times log times).
bool AreLongTasksKnown(const PastStage& stage);

// The long tasks of one run. `scale` is the ratio of the estimated task time now to the task time
// in that run.
struct LongTasksOfRun {
  std::span<const LongTask> long_tasks;
  double scale = 1;
};

// Returns the long tasks, by index: the mean over runs with the same number of tasks.
std::vector<LongTask> EstimateLongTasks(std::span<const LongTasksOfRun> runs);

// Returns the additional seconds of one task, or 0 if it is not long. `long_tasks` is ordered by
// index. O(log long tasks).
double MoreSeconds(std::span<const LongTask> long_tasks, std::uint32_t index);

// Returns the factors of the remaining tasks. Factors of running tasks are relative to their kind;
// factors of waiting tasks are relative to kRest. Empty if no remaining task is long. REQUIRES:
// `expected` has times. O(tasks log tasks + draws x tasks with individual factors).
TaskFactors FactorsOfLongTasks(const StageNow& stage, const TaskEstimate& expected,
                               const durations::FixedDraws& draws);

// Task sizes. If the remaining tasks have other sizes than the finished tasks, their times differ.
//
// There are two estimates for the remaining tasks: the mean of the finished tasks, and the curve of
// their times by size (master/forecast/durations/task_sizes.h). The two agree for a task of a usual
// size. For other sizes, they are weighted by precision. The error of the mean is the possible
// growth of times with sizes. The error of the curve is the scatter of its draws.

// Returns factors on the mean. Empty if the sizes are unknown or usual or if past runs give the
// times. O(tasks), plus the cost of durations::LogRatiosBySize() for unusual sizes.
TaskFactors FactorsBySize(const StageNow& stage, const TaskEstimate& expected,
                          const durations::FixedDraws& draws);

}  // namespace tidemark::dag
