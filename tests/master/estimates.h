// What snapshots say, for tests that ask about one number of them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "tidemark/job.h"

namespace tidemark::test {

inline std::optional<absl::Duration> Left(const next::Estimate& estimate) {
  if (!estimate.remaining) return std::nullopt;
  return estimate.remaining->median;
}

inline std::optional<absl::Duration> Lower(const next::Estimate& estimate) {
  return estimate.remaining ? estimate.remaining->lower : std::nullopt;
}

inline std::optional<absl::Duration> Upper(const next::Estimate& estimate) {
  return estimate.remaining ? estimate.remaining->upper : std::nullopt;
}

// Of all indicators, the first for the job itself.
inline std::vector<next::Estimate> EstimatesOf(const next::Snapshot& snapshot) {
  std::vector<next::Estimate> estimates = {snapshot.estimate};
  for (const next::Indicator& other : snapshot.indicators) estimates.push_back(other.estimate);
  return estimates;
}

// Empty if there is no such indicator.
inline next::Estimate EstimateOf(const next::Snapshot& snapshot, const std::string& indicator) {
  for (const next::Estimate& estimate : EstimatesOf(snapshot)) {
    if (estimate.indicator == indicator) return estimate;
  }
  return {};
}

// How far the last stage is, as the same indicators say.
inline std::vector<double> LastStagesOf(const next::Snapshot& snapshot) {
  std::vector<double> fractions;
  if (!snapshot.stages.empty()) fractions.push_back(snapshot.stages.back().fraction_done);
  for (const next::Indicator& other : snapshot.indicators) {
    fractions.push_back(other.last_stage_fraction_done);
  }
  return fractions;
}

inline absl::Duration SilentFor(const next::Snapshot& snapshot) {
  return snapshot.at - snapshot.silent_since.value_or(snapshot.at);
}

}  // namespace tidemark::test
