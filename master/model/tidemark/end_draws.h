// The end of the reduce phase as a distribution: many possible futures, each scheduled.
//
// A draw picks one curve of the cost model, a time left for every task, lets tasks that wait start
// where a slot is free first, and those on one host share its processors, and ends with the last
// of them. All draws use the same numbers at
// every update.
//
// Cost: O(draws x tasks), with a logarithm of the tasks where they wait for slots or processors.
// Source: docs/references.md [TM].
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "master/model/tidemark/group_times.h"
#include "master/model/tidemark/host_sharing.h"
#include "master/model/tidemark/running_group.h"
#include "master/model/tidemark/task_speed.h"

namespace tidemark::model {

// A second attempt that runs at the same time.
struct TwinOutlook {
  double seconds = 0;    // left, the shuffle included
  double deviation = 0;  // of its logarithm
};

// What one unfinished reduce task still has to do; times of reduce functions: alone.
struct TaskOutlook {
  std::size_t index = 0;
  GroupTimes waiting;                     // groups not begun
  std::optional<RunningOutlook> running;  // the group it is inside of
  SpeedFactor speed;
  double unheard = 0;               // seconds since all this was known, in which it has gone on
  double delay = 0;                 // seconds until its first reduce function can begin (shuffle)
  bool is_running = false;          // holds a slot
  std::optional<TwinOutlook> twin;  // the task ends with the first of the two
};

struct EndDraws {
  double median = 0;  // seconds from now
  double lower = 0;   // 5 % and 95 % quantiles
  double upper = 0;
  std::vector<double> task_medians;  // by position in the outlooks: end, seconds from now
};

// `slots` in all; those that no running task holds are free now. `weights` of the curves.
// A task that waits runs on the host of the task whose slot it takes.
EndDraws DrawEnds(std::span<const TaskOutlook> tasks, std::span<const double> weights,
                  std::size_t slots, const HostSharing& sharing = {});

}  // namespace tidemark::model
