// Draws of the reduce stage, computed from the key groups of its tasks, and the hosts of its
// running tasks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "master/facts/job_record.h"
#include "master/forecast/durations/draws.h"
#include "master/forecast/durations/finished_groups.h"
#include "master/forecast/durations/group_times.h"
#include "master/forecast/durations/running_group.h"
#include "master/forecast/durations/task_times.h"
#include "master/forecast/placement/running_tasks.h"

namespace tidemark::durations {

// The remaining times of the reduce tasks, by draw, from their remaining key groups.
//
// A draw selects one curve of the cost model, a time for each task's running key group, and the
// error of its other groups. Source: docs/internals/references.md [TM].

// A second attempt that runs at the same time as the leading attempt (speculative execution).
struct OtherAttempt {
  double seconds = 0;    // remaining, including the shuffle
  double deviation = 0;  // deviation of ln(seconds)
};

// The remaining work of one unfinished reduce task. Times of reduce functions assume that the task
// runs alone.
struct ReduceTaskLeft {
  std::size_t index = 0;
  GroupTimes waiting;  // groups that have not started
  std::optional<RunningGroupTime> running;
  SpeedFactor speed;
  double since_report = 0;  // seconds since the task's last report
  double delay = 0;         // seconds until the first reduce function can start (shuffle)
  double after = 0;         // seconds from the end of the last key group to the end of the task
  bool is_running = false;  // If set, the task ends with the first of the two attempts.
  // Returns the stage. `tasks` lists the running tasks first. `weights` contains the weight of each
  // curve. `slots` is the number of slots of the stage; more tasks may run. O(draws x tasks).
  std::optional<OtherAttempt> other;
};

// Returns the stage. `tasks` has the running tasks first. `weights` has the weight of each curve.
// `slots` is the number of slots of the stage; more tasks may run. O(draws x tasks).
RemainingStage ReduceStage(std::span<const ReduceTaskLeft> tasks, std::span<const double> weights,
                           std::size_t slots, const FixedDraws& draws);

// The processors that the running reduce tasks of a host share, derived from the reports of their
// attempts.
//
// A task that waits for a processor for a share 1 - x of its time competes with processors / x
// tasks. Competitors outside the job are assumed to remain, so they share the processors that ended
// tasks release.
struct HostSharing {
  std::vector<placement::SharedHost> hosts;
  std::vector<std::uint32_t>
      host_of_task;           // index into `hosts`, by reduce task; valid only for running tasks
  bool is_contended = false;  // whether any task waits for a processor
};

// Returns the hosts of the running reduce tasks. O(reduce tasks).
HostSharing ObserveHosts(const facts::JobRecord& state);

}  // namespace tidemark::durations
