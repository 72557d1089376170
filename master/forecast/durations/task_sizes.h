// Estimates task times by size with the method of NearestFit, applied to tasks instead of key
// groups.
//
// Curves are fitted to (bytes, seconds) of the finished tasks, with the curve family, probabilities
// and extrapolation error of key groups (regression/cost_model.h). The pace of a running task is a
// second estimate. The two estimates are weighted by precision. The method is used for map tasks,
// and for reduce tasks of engines that do not report key groups. If the bytes of any task are
// unknown, all tasks count as equal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "absl/time/time.h"
#include "master/facts/job_record.h"
#include "master/forecast/durations/draws.h"
#include "master/forecast/durations/task_times.h"

namespace tidemark::durations {

struct SizedTask {
  std::uint64_t index = 0;      // index in its stage; selects the task's random numbers
  std::optional<double> bytes;  // input; empty if unknown
  double seconds = 0;           // duration, or elapsed time of a running task
  double fraction = 0;          // share of its bytes that a running task has read, 0..1
  double fetches = 0;           // for an unfinished task, seconds of fetching before `seconds`
  // Part of `seconds` until the last report of progress or, for a finished task, until it had read
  // its input. Empty if unknown.
  std::optional<double> read_for;
  double start_up = 0;  // part of `read_for` before its first input
};

// Fills `times` with the running tasks in order, then the pending tasks in the order of their
// starts. Ignores invalid times and sizes. If no task has finished or reported progress, returns
// false and changes nothing. Fits the finished tasks' sizes, in bins of streaming/size_histogram.h,
// and takes O(draws x curves x (running + min(pending, 256)) + tasks log tasks) time in addition.
bool TimesBySize(std::span<const SizedTask> finished, std::span<const SizedTask> running,
                 std::span<const SizedTask> pending, const FixedDraws& draws, TaskTimes& times);

// Returns ln(time of a task of that size / time of a task of size `usual`), for each of `sizes` and
// by draw. Returns an empty vector if no task with a known size has finished. Costs as much as
// TimesBySize().
std::vector<Draws> LogRatiosBySize(std::span<const SizedTask> finished, double usual,
                                   std::span<const double> sizes, const FixedDraws& draws);

// The remaining map tasks of a job, or the remaining reduce tasks of a job without key groups, with
// times by size.
struct SizedStage {
  RemainingStage stage;
  std::vector<std::size_t> tasks;  // indexes in the job, in the order of the stage's tasks
};

// Returns the remaining map tasks, or nullopt if no map task has finished or reported progress.
// O(map tasks log map tasks).
std::optional<SizedStage> MapStageBySize(const facts::JobRecord& state, absl::Time now,
                                         const FixedDraws& draws);

// Returns the remaining reduce tasks, or nullopt if no reduce task has finished or if all have
// finished. O(reduce tasks log reduce tasks).
std::optional<SizedStage> ReduceStageBySize(const facts::JobRecord& state, absl::Time now,
                                            double shuffle_seconds_per_byte,
                                            const FixedDraws& draws);

}  // namespace tidemark::durations
