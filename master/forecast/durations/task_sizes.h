// What tasks take by their sizes: NearestFit read with "task" for "key group".
//
// Curves are fitted to (bytes of a task, its seconds) of those that have ended, with the same
// family, probabilities and honesty beyond the data as those of key groups
// (regression/cost_model.h). A task that runs has an opinion of its own, by the part of its bytes
// it has read and the time that took; the two count by their precision. It serves map tasks, and
// reduce tasks of engines that show no key groups. Where the bytes of any task are not known all
// are taken to be alike.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "master/forecast/durations/fixed_draws.h"
#include "master/forecast/durations/task_times.h"

namespace tidemark::cost {

struct SizedTask {
  std::uint64_t index = 0;      // in its stage: it draws the same numbers at every update
  std::optional<double> bytes;  // to read, known before it starts; empty: not known
  double seconds = 0;           // it took, or has taken so far
  double fraction = 0;          // of its bytes that a running one has read, 0..1
  double fetches = 0;           // seconds before `seconds` begin, of one that has not ended
  // The part of `seconds` until it last reported progress, or had read its input if it has ended;
  // empty if that is unknown.
  std::optional<double> read_for;
};

// Fills `stage`'s task times: `running` in the order of its running tasks, `pending` in that of its
// start. Numbers that are no times or sizes are left out. False, and nothing is filled in: no task
// has ended or told of progress. Cost: that of a fit of the finished tasks' sizes, in bins of
// streaming/size_histogram.h, and O(draws x curves x (running + min(pending, 256)) + tasks log
// tasks).
bool TimesBySize(std::span<const SizedTask> finished, std::span<const SizedTask> running,
                 std::span<const SizedTask> pending, const FixedDraws& draws, TaskTimes& times);

// How sizes scale times: by draw, the logarithm of what a task of `size` takes over what one of
// `usual` does, for each of `sizes`. Empty: no task has ended whose size is known. Cost: as above.
std::vector<Draws> LogRatiosBySize(std::span<const SizedTask> finished, double usual,
                                   std::span<const double> sizes, const FixedDraws& draws);

}  // namespace tidemark::cost
