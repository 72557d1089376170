// The end of a job as its earlier runs let expect it.
//
// Each earlier run r says how much is left: of the map phase what the job's own pace says once
// there is one, else the run's map time; then the run's shuffle and reduce time; all times the
// ratio of the inputs. With l_r = ln(what is left by run r), n runs, nu = kPriorCount and s0 =
// kAgainDeviation (opinions.h):
//   l   = mean of l_r
//   s^2 = (1 + 1/n) (nu s0^2 + sum (l_r - l)^2) / (nu + n - 1)
// which is the predictive variance of the next run under a mild prior: jobs of one name differ by
// some 30 % where nothing else is known.
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
// `runs` that are absurd (no time at all, negative) are left out.
std::optional<Draws> SecondsByPastRuns(const model::JobRecord& state, absl::Time now,
                                       std::span<const PastRun> runs, const FixedDraws& draws);

}  // namespace tidemark::cost
