// How far apart the times of a stage's tasks lie ([BOE] section 6), and what that costs.
#pragma once

#include "master/forecast/durations/time_distribution.h"

namespace tidemark::papers {

using cost::Moments;  // of a task's time

// Eq. 9 to 13: a time that is a + b x selectivity.
Moments LinearInSelectivity(double a, double b, const Moments& selectivity);

// The larger of two independent normal variables (Clark 1961): with d^2 = s1^2 + s2^2 and
// z = (m1 - m2) / d, the mean is m1 F(z) + m2 F(-z) + d f(z), and the mean square is
// (m1^2 + s1^2) F(z) + (m2^2 + s2^2) F(-z) + (m1 + m2) d f(z). Without variance: the larger mean.
Moments MaxOfNormals(const Moments& x, const Moments& y);

// Eq. 14: a x map selectivity + max(b x map selectivity, c x reduce selectivity). Eq. 15 and 16
// leave two constants open and add two means where the larger is meant; MaxOfNormals() is exact,
// and so is what both terms owe to the same map selectivity: Cov(X, max(X, Y)) = Var(X) P(X > Y).
Moments ReduceTaskMoments(double a, double b, double c, const Moments& map_selectivity,
                          const Moments& reduce_selectivity);

// Theorem 1 (eq. 17): what the slowest of `degree` task tracks, each of `tasks` / `degree` tasks,
// takes beyond the mean of a track, if task times are normal with this deviation (the theorem calls
// it a variance; its proof uses a deviation). Zero for a single track or fewer tasks than tracks
// make sense of (tasks or degree below 1, a deviation below zero).
struct GainBounds {
  double lower_seconds = 0;  // 0.23 sqrt(N/D) s sqrt(log D)
  double upper_seconds = 0;  // sqrt(2 N/D) s sqrt(log D)
};
GainBounds SkewGainBounds(double tasks, double degree, double deviation_seconds);

}  // namespace tidemark::papers
