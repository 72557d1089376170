// The end of the reduce phase, computed from the remaining reduce time of each task ([NF] 3.2, 3.3,
// 3.6).
//
//   running task i:      e~_i = p_i + r~_i                                             eq. 3
//   unscheduled task i:  starts when the greedy scheduler has a slot for it, then shuffles, then
//                        reduces for r~_i
//   phase:               e~ = max e~_i                                                 eq. 2
#pragma once

#include <optional>
#include <vector>

#include "absl/time/time.h"
#include "master/facts/job_record.h"

namespace tidemark::papers {

// r~_i of one task, and a lower bound of its end, which may exceed p_i + r~_i.
struct ReduceTimeLeft {
  absl::Duration left;
  absl::Time ends_no_earlier = absl::InfinitePast();
};

// Returns e~_i of each task by index; nullopt for a finished task. p_i(t) is the end of the last
// finished key group, or else the start of the first reduce function, or else the estimated end of
// the shuffle. `left` has one entry per task.
std::vector<std::optional<absl::Time>> ReduceTaskEnds(const facts::JobRecord& state, absl::Time now,
                                                      const std::vector<ReduceTimeLeft>& left);
// Returns the latest of the known `ends`, or nullopt if none is known.
std::optional<absl::Time> LatestEnd(const std::vector<std::optional<absl::Time>>& ends);

}  // namespace tidemark::papers
