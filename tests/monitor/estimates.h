// Functions that read single numbers of snapshots.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "tidemark/job.h"

namespace tidemark::test {

inline std::optional<absl::Duration> Left(const Estimate& estimate) {
  if (!estimate.remaining) return std::nullopt;
  return estimate.remaining->median;
}

inline std::optional<absl::Duration> Lower(const Estimate& estimate) {
  return estimate.remaining ? estimate.remaining->lower : std::nullopt;
}

inline std::optional<absl::Duration> Upper(const Estimate& estimate) {
  return estimate.remaining ? estimate.remaining->upper : std::nullopt;
}

// Returns the estimates of all indicators, with the job's own estimate first.
inline std::vector<Estimate> EstimatesOf(const Snapshot& snapshot) {
  std::vector<Estimate> estimates = {snapshot.estimate};
  for (const Indicator& other : snapshot.indicators) estimates.push_back(other.estimate);
  return estimates;
}

// Returns an empty estimate if the indicator does not exist.
inline Estimate EstimateOf(const Snapshot& snapshot, const std::string& indicator) {
  for (const Estimate& estimate : EstimatesOf(snapshot)) {
    if (estimate.indicator == indicator) return estimate;
  }
  return {};
}

// Returns the progress of the last stage according to each indicator, with the job's own estimate
// first.
inline std::vector<double> LastStagesOf(const Snapshot& snapshot) {
  std::vector<double> fractions;
  if (!snapshot.stages.empty()) fractions.push_back(snapshot.stages.back().fraction_done);
  for (const Indicator& other : snapshot.indicators) {
    fractions.push_back(other.last_stage_fraction_done);
  }
  return fractions;
}

inline absl::Duration SilentFor(const Snapshot& snapshot) {
  return snapshot.at - snapshot.silent_since.value_or(snapshot.at);
}

}  // namespace tidemark::test

namespace tidemark {

using test::Left;
using test::Lower;
using test::Upper;

}  // namespace tidemark
