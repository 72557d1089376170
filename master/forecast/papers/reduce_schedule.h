// From the reduce time left in each task to the end of the reduce phase ([NF] 3.2, 3.3, 3.6).
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

// r~_i of one task, with a bound on its end that may be later than p_i + r~_i.
struct ReduceTimeLeft {
  absl::Duration left;
  absl::Time ends_no_earlier = absl::InfinitePast();
};

// e~_i for each task by index, with p_i(t) the end of the last finished key group, or the start of
// the first reduce function, or, while the attempt still shuffles, when that is expected; finished
// ones have none. `left` has one entry for each task.
std::vector<std::optional<absl::Time>> ReduceTaskEnds(const model::JobRecord& state, absl::Time now,
                                                      const std::vector<ReduceTimeLeft>& left);
// The latest of `ends`; empty if there is none.
std::optional<absl::Time> LatestEnd(const std::vector<std::optional<absl::Time>>& ends);

}  // namespace tidemark::papers
