#include "master/workflow/unseen_stages.h"

#include <cmath>

#include "master/cost/opinions.h"

namespace tidemark::workflow {
namespace {

// Of d. Where both kinds are taken for one TPC-H without history has an error of 20.9 points at 12
// looks, with this 12.7, and TPC-DS one of 4.49 and 4.48; with -0.5 and 1.5, 14.0 and 4.97.
constexpr double kDifference = -1;
constexpr double kDifferenceDeviation = 0.7;

}  // namespace

void UnseenStages::Add(bool fetches, double task_seconds) {
  Seen& seen = fetches ? fetching_ : reading_;
  seen.count += 1;
  seen.log_sum += std::log(task_seconds);
}

double UnseenStages::LogSecondsOf(bool fetches) const {
  const double count = fetching_.count + reading_.count;
  const double mean = (fetching_.log_sum + reading_.log_sum) / count;
  const double part = fetching_.count / count;
  // Least squares with a prior, around the means of the time and of the part that fetches.
  const double squares = count * part * (1 - part);
  const double products = fetching_.log_sum - part * (fetching_.log_sum + reading_.log_sum);
  const double prior = std::pow(cost::kUnknownDeviation / kDifferenceDeviation, 2);
  const double difference = (prior * kDifference + products) / (prior + squares);
  return mean + difference * ((fetches ? 1 : 0) - part);
}

}  // namespace tidemark::workflow
