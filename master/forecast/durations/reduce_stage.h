// What the reduce tasks that are left take, by draw, from the key groups they have left.
//
// A draw picks one curve of the cost model, a time for the key group that each task is inside of,
// and how far the rest of its groups are off. Source: docs/references.md [TM].
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "master/forecast/durations/fixed_draws.h"
#include "master/forecast/durations/group_times.h"
#include "master/forecast/durations/running_group.h"
#include "master/forecast/durations/task_speed.h"
#include "master/forecast/durations/task_times.h"

namespace tidemark::cost {

// Another attempt at a task that runs at the same time, a speculative one.
struct OtherAttempt {
  double seconds = 0;    // left, the shuffle included
  double deviation = 0;  // of its logarithm
};

// What one unfinished reduce task still has to do; times of reduce functions: alone.
struct ReduceTaskLeft {
  std::size_t index = 0;
  GroupTimes waiting;                       // groups not begun
  std::optional<RunningGroupTime> running;  // the group it is inside of
  SpeedFactor speed;
  double unheard = 0;                 // seconds since all this was known, in which it has gone on
  double delay = 0;                   // seconds until its first reduce function can begin (shuffle)
  double after = 0;                   // seconds from the end of its last key group to its end
  bool is_running = false;            // holds a slot
  std::optional<OtherAttempt> other;  // the task ends with the first of the two
};

// `tasks`: those that run first. `weights` of the curves. `slots` in all; more tasks may run.
// Cost: O(draws x tasks).
StageLeft ReduceStage(std::span<const ReduceTaskLeft> tasks, std::span<const double> weights,
                      std::size_t slots, const FixedDraws& draws);

}  // namespace tidemark::cost
