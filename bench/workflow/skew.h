// Computes the propagation and the cost of skew in task times ([BOE] section 6), and the end of a
// workflow with skew (Algorithm 2).
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "master/forecast/durations/task_times.h"
#include "master/forecast/placement/allocation.h"
#include "master/forecast/placement/placing.h"

namespace tidemark::papers {

using durations::Moments;  // moments of a task time

// Returns the moments of a + b x selectivity ([BOE] eq. 9 to 13).
Moments LinearInSelectivity(double a, double b, const Moments& selectivity);

// Returns the moments of the larger of two independent normal variables (Clark 1961). With d^2 =
// s1^2 + s2^2 and z = (m1 - m2) / d:
//   mean        = m1 F(z) + m2 F(-z) + d f(z)
//   mean square = (m1^2 + s1^2) F(z) + (m2^2 + s2^2) F(-z) + (m1 + m2) d f(z)
// If both variances are zero, returns the larger mean.
Moments MaxOfNormals(const Moments& x, const Moments& y);

// Returns the moments of [BOE] eq. 14: a x map selectivity + max(b x map selectivity, c x reduce
// selectivity). Eq. 15 and 16 of the paper leave two constants open and add two means instead of
// taking the larger one. This function is exact, including the covariance of both terms that
// results from the common map selectivity: Cov(X, max(X, Y)) = Var(X) P(X > Y).
Moments ReduceTaskMoments(double a, double b, double c, const Moments& map_selectivity,
                          const Moments& reduce_selectivity);

// The end of a workflow with skewed tasks ([BOE] section 6, Algorithm 2).
//
// The paper does not define t_state for tasks of different times. Read as "which container is free
// next", the algorithm is list scheduling of drawn task times, repeated for several draws.
struct SkewEstimate {
  double seconds = 0;        // mean over the draws
  std::vector<double> ends;  // mean end of each stage
};

// Returns the estimate. `times`: the distribution of each stage, normal or empirical.
// Deterministic. Errors: see Check(); no draws; different numbers of distributions and stages.
// O(draws x tasks x log containers).
absl::StatusOr<SkewEstimate> EstimateWithSkew(const std::vector<placement::StageWork>& stages,
                                              std::span<const durations::TimeDistribution> times,
                                              const placement::Resourcing& on, std::size_t draws);

}  // namespace tidemark::papers
