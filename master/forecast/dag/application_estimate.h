// When an application will end, from what is left of its stages: one function for the reduce phase
// of a job, a file of stages, and jobs that share a cluster.
//
// In every draw each task takes what the task times of its stage say, and the scheduler's policy
// places them (master/forecast/placement/placing.h); the median and the interval are those of the
// ends. The same application gives the same estimate, to the last bit.
//
//   Application application;                       // master/forecast/durations/ fills it in
//   application.stages.push_back({.work = {.pending = 8}, .times = times});
//   const absl::StatusOr<Estimate> estimate = EstimateApplication(application);
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "master/forecast/durations/fixed_draws.h"
#include "master/forecast/durations/task_times.h"
#include "master/forecast/placement/placing.h"

namespace tidemark::estimate {

struct Application {
  std::vector<cost::StageLeft> stages;
  schedule::Resourcing on;
  const cost::FixedDraws* draws = nullptr;  // what the task times were drawn with
  std::size_t warm_slots = 0;               // idle containers that have run a task
  // Where tasks wait for processors, and where each running task of a stage is; empty: nowhere.
  std::vector<schedule::SharedHost> hosts;
  std::vector<std::vector<std::uint32_t>> host_of_running;
  // By stage, the number of its group (job.h); empty: nobody asks when groups end.
  std::vector<std::size_t> group_of_stage;
  // Of the log of a factor on the whole of what is left, which widens the bounds: on each task it
  // would, with few draws, move the median, too.
  double common_deviation = 0;
  // By draw, work that may still come; empty: none. Seconds. Its median is added to that of the
  // end: what comes less often than not moves the bounds alone.
  cost::Draws growth;
};

// Seconds from now. Numbers of kForever (placing.h) and more mean that nothing can be said.
struct Range {
  double median = 0;
  double lower = 0;  // 5 % and 95 % quantiles
  double upper = 0;
};

struct StageEstimate {
  std::size_t owner = 0;     // as its work says
  std::uint32_t number = 0;  // in its job (event.h)
  double start = 0;          // median; 0 when it runs or is done
  double end = 0;            // median; 0 when nothing of it is left
  Range starts;              // the same with the bounds; all 0 when it runs or is done
  Range ends;
  // Mean of those that are left, with what running ones have run so far as far as its work says;
  // 0 when nothing of it is left.
  double task_time = 0;
  bool is_critical = false;
  std::vector<double> task_ends;  // medians, of the tasks known one by one
};

struct Estimate {
  Range end;
  cost::Draws ends;  // by draw, without `common_deviation` and `growth`
  std::vector<StageEstimate> stages;
  std::vector<Range> owner_ends;           // by owner of stages: when the last of its stages ends
  std::vector<Range> group_ends;           // likewise by number of a group
  std::vector<std::size_t> critical_path;  // stages with work left, first to last
  double known_share = 1;                  // the share of the remaining work that is backed
  std::size_t stages_placed = 0;           // by each draw; all others are over
};

// Of seconds by draw; at least one.
Range RangeOf(cost::Draws seconds);

// A cluster that is never the limit: of a job whose stages have slots of their own.
schedule::Resourcing RoomForAll();

// Errors: those of schedule::Check(); InvalidArgument without draws. Cost: O(draws x n (log
// containers + owners)) for n tasks left, or, of more that are alike, about min(20,000, 1,000,000 /
// owners); twice that with factor_of_bounds.
absl::StatusOr<Estimate> EstimateApplication(const Application& application);

}  // namespace tidemark::estimate
