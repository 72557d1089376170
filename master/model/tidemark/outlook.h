// What is left of a job, as a log-normal distribution of seconds.
#pragma once

namespace tidemark::model {

struct Outlook {
  double log_seconds = 0;  // of the median
  double deviation = 0;    // of the logarithm
};

// So many standard deviations on both sides of the mean hold 90 % of a normal distribution.
inline constexpr double kDeviationsOf90Percent = 1.645;

// Of the logarithm of what the same work takes when it is done again, by another attempt or in
// another run.
// Ablation: half or twice changes nothing.
inline constexpr double kAgainDeviation = 0.3;

// Whether two opinions that are `off` from each other cannot both be right: by more than three
// standard deviations of their difference.
inline bool Contradict(double off, double variance) { return off * off > 9 * variance; }

}  // namespace tidemark::model
