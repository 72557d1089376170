// Forecasts the end of an application from its remaining stages. An application is the reduce phase
// of a job, a plan of stages, or jobs that share a cluster.
//
// In every draw, each task gets a time from the task times of its stage, and the scheduler's policy
// places the tasks (master/forecast/placement/placing.h). The median and the interval are computed
// from the ends. The result is deterministic, to the last bit.
//
//   Application application;                       // master/forecast/durations/ fills it in
//   application.stages.push_back({.work = {.pending = 8}, .times = times});
//   const absl::StatusOr<ApplicationForecast> forecast = ForecastApplication(application);
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "master/forecast/durations/draws.h"
#include "master/forecast/durations/task_times.h"
#include "master/forecast/placement/placing.h"
#include "tidemark/plan.h"

namespace tidemark::dag {

struct Application {
  std::vector<durations::RemainingStage> stages;
  placement::Resourcing on;
  const durations::FixedDraws* draws = nullptr;  // the draws of the task times
  std::size_t warm_slots = 0;                    // idle containers that have run a task
  // The hosts whose resources tasks share, and the host of each running task by stage. May be
  // empty. If a host has nodes, the times of tasks with a demand are times alone on a node.
  std::vector<placement::SharedHost> hosts;
  std::vector<std::vector<std::uint32_t>> host_of_running;
  // True if the typical value of a factor on task times is its median, false if it is its mean.
  bool is_median_typical = false;
  // The number of each stage's group (job.h); empty if the ends of groups are not needed.
  std::vector<std::size_t> group_of_stage;
  // Deviation of the logarithm of a factor on all remaining work. It widens only the bounds; a
  // factor on each task would also move the median, since there are few draws.
  double common_deviation = 0;
  // Seconds of future work, by draw; empty if no work may come. Its median is added to the median
  // of the end, so work with a probability below one half moves only the bounds.
  durations::Draws growth;
};

// Seconds from now. Values of at least kForever (placing.h) mean that the end is unknown.
struct SecondsRange {
  double median = 0;
  double lower = 0;  // `lower` and `upper` are the 5 % and 95 % quantiles
  double upper = 0;
};

// A period of the median future in which the same stages run ([BOE] 5.1.1).
struct ForecastState {
  double start = 0;  // seconds from now
  double end = 0;
  struct Running {
    std::size_t stage = 0;
    double tasks = 0;         // mean number of concurrent tasks
    double task_seconds = 0;  // time of a whole task at the rate of this state
    std::optional<placement::Resource> bottleneck;  // unset for tasks without a demand
  };
  std::vector<Running> stages;
};

struct StageEnds {
  std::size_t owner = 0;     // owner of the stage's work
  std::uint32_t number = 0;  // number in its job (event.h)
  double start = 0;          // median; 0 if the stage is running or over
  double end = 0;            // median; 0 if the stage is over
  SecondsRange starts;       // like `start`, with bounds
  SecondsRange ends;
  // Mean time of the remaining tasks, including the known elapsed time of running tasks; 0 if no
  // task remains.
  double task_time = 0;
  double busy = 0;  // Mean time for which the remaining tasks hold containers, summed over tasks.
  bool shares_nodes = false;
  // The resource that limits its tasks for the longest time, if they share nodes.
  std::optional<placement::Resource> bottleneck;
  bool is_critical = false;
  std::vector<double> task_ends;  // medians of the tasks with individual times
};

struct ApplicationForecast {
  SecondsRange end;
  durations::Draws ends;  // by draw, without `common_deviation` and `growth`
  std::vector<StageEnds> stages;
  std::vector<SecondsRange> owner_ends;    // the end of the last stage of each owner
  std::vector<SecondsRange> group_ends;    // the end of the last stage of each group, by number
  std::vector<double> group_known_shares;  // like `known_share`, for each group
  std::vector<std::size_t> critical_path;  // stages with remaining work, first to last
  double known_share = 1;                  // the share of the remaining work with known task times
  std::size_t stages_placed = 0;           // stages simulated in each draw; all others are over
  std::vector<ForecastState> states;       // in order, if stages share nodes
};

// Returns the nodes of a cluster as hosts that tasks share, or an empty list if its node is
// unknown. If there are more than 100 nodes, one host represents all of them. Unknown cores are
// never scarce.
std::vector<placement::SharedHost> HostsOf(const Cluster& cluster);

// Returns the median and the 90 % interval. REQUIRES: at least one draw.
SecondsRange RangeOf(durations::Draws seconds);

// Returns a cluster that never limits the work, for a job with slots per stage.
placement::Resourcing RoomForAll();

// Returns the forecast. Fails with InvalidArgument if there are no draws, or like
// placement::Check(). O(draws x n (log containers + owners)) for n remaining tasks; for similar
// tasks, n is at most about min(20,000, 1,000,000 / owners). factor_of_bounds doubles the cost.
absl::StatusOr<ApplicationForecast> ForecastApplication(const Application& application);

}  // namespace tidemark::dag
