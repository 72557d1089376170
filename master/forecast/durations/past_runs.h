// Predicts the end of a job from its past runs or, where there are none, from other jobs of its
// cluster.
//
// Each past run r predicts the remaining time of the running phase and of the next ones: its own
// times, multiplied by the ratio q_r of the inputs, without the time that has passed. With l_r
// the logarithm of that prediction, nu = kPriorCount, s0 = kAgainDeviation (opinions.h) and the
// weights w_r = 1 / (1 + (0.5 ln q_r / s0)^2), whose sum is n:
//   l   = sum of w_r l_r / n
//   s^2 = (1 + 1/n) (nu s0^2 + sum w_r (l_r - l)^2) / (nu + max(n - 1, 0))
// which is, for runs of the same input, the predictive variance of the next run under a mild prior:
// jobs of one name differ by some 30 % where nothing else is known. Once the map tasks of this run
// have shown their pace, that pace and the past runs are combined (opinions.h) for the map phase.
//
// For other jobs, the growth of their times with their inputs x is estimated, too: the logs of
// their whole times lie on a line over ln x with slope b (log_line.h), whose predictive deviation
// is s, and times are scaled by q_r^b. Times of less than a second or more than 30 days are left
// out.
//
// Pure functions, thread-safe. Cost: O(runs + map tasks).
#pragma once

#include <optional>
#include <span>

#include "absl/time/time.h"
#include "master/facts/job_record.h"
#include "master/forecast/durations/fixed_draws.h"
#include "master/forecast/durations/task_times.h"
#include "tidemark/past_run.h"

namespace tidemark::cost {

// Returns seconds until the job ends, by draw. Ignores absurd runs (without any time, negative),
// runs of other jobs and runs of another shape (other numbers of tasks than the inputs explain).
// Empty without usable runs. `own_maps`: seconds until the map phase ends, by draw, as the map
// tasks of this run predict; empty before they predict anything.
std::optional<Draws> SecondsByPastRuns(const model::JobRecord& state, absl::Time now,
                                       std::span<const PastRun> runs, const FixedDraws& draws,
                                       const std::optional<Draws>& own_maps = {});

// Returns `own`, the seconds that this run predicts, combined with the seconds that past runs
// predict. A past run that contradicts this one counts only if forecasts missed the ends of past
// runs, too. `runs`: of the job.
Draws WithPastRuns(Draws own, const Draws& past, std::span<const PastRun> runs);

// The same by those of `runs` that are of other jobs.
std::optional<Draws> SecondsByOtherJobs(const model::JobRecord& state, absl::Time now,
                                        std::span<const PastRun> runs, const FixedDraws& draws);

}  // namespace tidemark::cost
