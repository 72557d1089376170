// The end of a job as its earlier runs let expect it, or, where there are none, other jobs of its
// cluster.
//
// Each earlier run r says how much is left: of the map phase what the job's own pace says once
// there is one, else the run's map time; then the run's shuffle and reduce time; of its own runs
// all times the ratio q_r of the inputs. With l_r = ln(what is left by run r), nu = kPriorCount, s0
// = kAgainDeviation (opinions.h) and the weights w_r = 1 / (1 + (0.5 ln q_r / s0)^2), whose sum is
// n:
//   l   = sum of w_r l_r / n
//   s^2 = (1 + 1/n) (nu s0^2 + sum w_r (l_r - l)^2) / (nu + max(n - 1, 0))
// which is, for runs of the same input, the predictive variance of the next run under a mild prior:
// jobs of one name differ by some 30 % where nothing else is known.
//
// Of other jobs, how much their times grow with their inputs x is to be learnt, too: the logs of
// their whole times lie on a line over ln x with slope b (log_line.h), whose predictive deviation
// is s, and times are scaled by q_r^b. Those of less than a second or more than 30 days are left
// out.
//
// Pure functions, thread-safe. Cost: O(runs + map tasks).
#pragma once

#include <optional>
#include <span>

#include "absl/time/time.h"
#include "master/cost/fixed_draws.h"
#include "master/cost/task_times.h"
#include "master/model/job_record.h"
#include "tidemark/past_run.h"

namespace tidemark::cost {

// Seconds until the job ends, by draw. Empty without runs, or when none of them is of any use:
// `runs` that are absurd (no time at all, negative) or of other jobs are left out.
std::optional<Draws> SecondsByPastRuns(const model::JobRecord& state, absl::Time now,
                                       std::span<const PastRun> runs, const FixedDraws& draws);

// The same by those of `runs` that are of other jobs.
std::optional<Draws> SecondsByOtherJobs(const model::JobRecord& state, absl::Time now,
                                        std::span<const PastRun> runs, const FixedDraws& draws);

}  // namespace tidemark::cost
