// What is left of a job, as a log-normal distribution of seconds.
#pragma once

namespace tidemark::model {

struct Outlook {
  double log_seconds = 0;  // of the median
  double deviation = 0;    // of the logarithm
};

// So many standard deviations on both sides of the mean hold 90 % of a normal distribution.
inline constexpr double kDeviationsOf90Percent = 1.645;

}  // namespace tidemark::model
