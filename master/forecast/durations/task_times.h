// Distributions of task times, and the task times of a stage in draws.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "master/forecast/durations/draws.h"
#include "master/forecast/placement/placing.h"

namespace tidemark::durations {

// The moments of a time, in seconds and seconds squared.
struct Moments {
  double mean = 0;
  double variance = 0;
};

// The times of a stage's tasks. Times are in seconds; probabilities p and u are in (0, 1). A
// default-constructed distribution is empty, and all its times are zero.
class TimeDistribution {
 public:
  TimeDistribution() = default;
  // Returns the distribution of measured times, in any order. Ignores negative and non-finite
  // times.
  static TimeDistribution Empirical(std::vector<double> seconds);
  // Returns the normal distribution of [BOE] section 6. Negative times count as zero. An invalid
  // mean or variance (negative or not finite) counts as zero.
  static TimeDistribution Normal(const Moments& moments);

  bool empty() const { return sorted_.empty() && !is_normal_; }
  std::size_t size() const { return sorted_.size(); }
  double mean() const { return moments_.mean; }
  double variance() const { return moments_.variance; }
  double median() const { return Quantile(0.5); }

  // Returns the quantile at `p` in O(1) time. Inline, since each placed task calls it.
  double Quantile(double p) const {
    if (is_normal_) {
      return std::max(moments_.mean + std::sqrt(moments_.variance) * NormalQuantile(p), 0.0);
    }
    if (sorted_.empty()) return 0;
    const double at = p * static_cast<double>(sorted_.size());
    return sorted_[std::min(static_cast<std::size_t>(at), sorted_.size() - 1)];
  }
  // Returns true if every known task took less than `elapsed`. O(log tasks).
  bool IsOutlastedBy(double elapsed) const;
  // Returns the quantile at `u` of the remaining time of a task that has run for `elapsed`. The
  // remaining time has a Pareto tail if the task has run for longer than all known tasks. O(log
  // tasks).
  double Remaining(double elapsed, double u) const;
  // Returns the distribution with all times multiplied by `factor`, which is positive.
  TimeDistribution Scaled(double factor) const;

 private:
  double Below(double seconds) const;

  std::vector<double> sorted_;
  Moments moments_;
  bool is_normal_ = false;
};

// Returns at most `most` of the values, evenly spaced by rank. If there are no more than `most`,
// returns all of them in their order. O(values log values).
std::vector<double> EvenlyChosen(std::vector<double> values, std::size_t most);

// The task times of one stage in draws. They connect the sources of estimates (key groups, task
// sizes, past runs, finished tasks) to the simulation that places tasks
// (master/forecast/placement/placing.h).
//
// A draw is one possible outcome. The values of one draw belong together, and all stages of an
// estimate have the same number of draws.

// The seconds of one task, by draw.
using Draws = std::vector<double>;

struct TaskTimes {
  // The tasks with individual times: the remaining time of each running task in the stage's order,
  // then the time of each pending task in the order of starts. All other tasks share one
  // distribution.
  std::vector<Draws> of_task;
  // For each task in `of_task`, the seconds of fetching before it uses a processor. Missing entries
  // are zero.
  std::vector<double> delay;
  // The times of all other tasks by placement::Warmth, and a factor on these times by draw. An
  // empty factor is 1.
  std::array<TimeDistribution, placement::kWarmths> alike;
  Draws factor;
  double slot_idle = 0;  // seconds before each of these tasks, in which its slot is idle
  // Seconds in addition to `alike`, by draw, before `factor` applies. Entry i is for the i-th of
  // these tasks to start. Negative values shorten the task.
  std::vector<Draws> more_of_first;
  // The factor for the bounds of the forecast. It is wider than `factor`, which would also move the
  // median if it were that wide. Empty if it equals `factor`.
  Draws factor_of_bounds;
  // Seconds from the end of the last parent to the first task, by draw. If empty, `lag` of the
  // stage's work applies.
  Draws lag;
  bool is_known = false;  // whether the times are backed by a past run or a finished task

  const TimeDistribution& Of(placement::Warmth warmth) const {
    return alike[static_cast<std::size_t>(warmth)];
  }
};

// The mean measured use of resources by a task of a stage. Unknown values are 0.
struct MeasuredTask {
  double seconds = 0;
  double cpu_seconds = 0;  // processor time
  double read_bytes = 0;
  bool fetches = false;
  bool is_of_this_run = false;  // true if measured in this run, false if in a past run
};

// The remaining work of a stage.
struct RemainingStage {
  placement::StageWork work;
  TaskTimes times;
  std::uint32_t number = 0;  // number in its job (event.h)
  MeasuredTask measured;     // from this run, or from its newest past run
};

// The remaining stages of a running job according to its own estimate, for a forecast of several
// jobs that share a cluster.
struct RemainingStages {
  // ordered by number; completed stages are missing or have no work
  std::vector<RemainingStage> stages;
  Draws ends;                  // seconds until all end on the job's slots, by draw
  std::size_t warm_slots = 0;  // idle containers that have run a task
  // The slots that the job's executors, or else its stages, report. At the beginning of the job,
  // the slots of the past run. 0 if unknown.
  std::uint64_t slots = 0;
  double slots_per_executor = 0;  // 0 if executors do not report slots
};

}  // namespace tidemark::durations
