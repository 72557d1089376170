// What the tasks of one stage take, in draws: all that lies between those who have an opinion on it
// (key groups, task sizes, earlier runs, the rest of the run) and the one simulation that places
// tasks (master/forecast/placement/placing.h).
//
// A draw is one possible truth; all numbers of one draw belong together, and all stages of an
// estimate have as many.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "master/forecast/durations/time_distribution.h"
#include "master/forecast/placement/placing.h"

namespace tidemark::cost {

// Seconds of one task by draw.
using Draws = std::vector<double>;

struct TaskTimes {
  // Tasks known one by one: what those that run still take, in the stage's order, then what those
  // take that start first. Others are alike.
  std::vector<Draws> of_task;
  // Of them, for how long they do not use a processor before they work (they fetch); shorter: 0.
  std::vector<double> delay;
  // The others, by schedule::Warmth, and by draw a factor on all of them; empty: 1.
  std::array<TimeDistribution, schedule::kWarmths> alike;
  Draws factor;
  // Of those of them that start first: seconds that they take more than their kind, by draw, before
  // `factor`. Negative: less.
  std::vector<Draws> more_of_first;
  // `factor` for the bounds of the estimate alone, where a factor as wide in the draws themselves
  // would move the median, too; empty: as `factor`.
  Draws factor_of_bounds;
  std::vector<Draws> running_in_bounds;  // of running tasks, in the place of `of_task`
  // By draw, from the end of the last parent to the first task; empty: as the stage's work says.
  Draws lag;
  bool is_known = false;  // something backs it: a run, or a finished task

  const TimeDistribution& Of(schedule::Warmth warmth) const {
    return alike[static_cast<std::size_t>(warmth)];
  }
};

// A stage from now on.
struct StageLeft {
  schedule::StageWork work;
  TaskTimes times;
  std::uint32_t number = 0;  // in its job (event.h)
};

// The stages of a job that runs, as its own estimate has them: what the job brings to an estimate
// of several that share a cluster.
struct StagesLeft {
  std::vector<StageLeft> stages;  // by number; those that are done are left out or have no work
  Draws ends;                     // by draw, of all of them on the slots the job has; seconds
  std::size_t warm_slots = 0;     // idle containers that have run a task
  // Its slots as its executors, or else its stages, tell them, or at its beginning as many as the
  // run before had; 0: they do not.
  std::uint64_t slots = 0;
  double slots_per_executor = 0;  // 0: executors are not told
};

}  // namespace tidemark::cost
