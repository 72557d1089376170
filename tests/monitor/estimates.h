// Functions that read single numbers of snapshots.
#pragma once

#include <cmath>
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

// Returns NaN if there is no forecast.
inline double SecondsLeft(const Estimate& estimate) {
  return Left(estimate) ? absl::ToDoubleSeconds(*Left(estimate)) : std::nan("");
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

// Returns the state and the counts of a stage, such as "running 1/3, 2 running, 25 %, 1 failed
// (disk full)". Counts of 0 are left out.
inline std::string Words(const StageProgress& stage) {
  static constexpr const char* kStates[] = {"unknown", "pending",  "running", "done",
                                            "skipped", "expected", "failed",  "unknown end"};
  std::string text = kStates[static_cast<std::size_t>(stage.state)];
  text += " " + std::to_string(stage.finished_tasks) + "/" + std::to_string(stage.tasks);
  if (stage.running_tasks > 0) text += ", " + std::to_string(stage.running_tasks) + " running";
  text += ", " + std::to_string(std::lround(100 * stage.fraction_done)) + " %";
  if (stage.failed_attempts > 0) text += ", " + std::to_string(stage.failed_attempts) + " failed";
  return stage.failure.empty() ? text : text + " (" + stage.failure + ")";
}

inline absl::Duration SilentFor(const Snapshot& snapshot) {
  return snapshot.at - snapshot.silent_since.value_or(snapshot.at);
}

}  // namespace tidemark::test

namespace tidemark {

using test::Left;
using test::Lower;
using test::SecondsLeft;
using test::Upper;
using test::Words;

}  // namespace tidemark
