// Detects that a job has outlived its own forecast.
//
// A forecast that predicts the end for now, while nothing ends, is wrong about something that it
// cannot see: a commit, a clean-up, an input whose size was wrong. The rest of that work has an
// unknown length. By Laplace's rule the remaining time exceeds the lateness with probability 1/2,
// and 19 times the lateness with probability 1/20, as for a silence (silence.h).
#pragma once

#include <cstdint>

#include "absl/time/time.h"
#include "master/facts/accuracy.h"
#include "master/facts/checkpoint.h"

namespace tidemark::model {

// Follows the forecasts of one job. Not thread-safe. Memory: O(1).
class Overdue {
 public:
  // Returns by how much the job is past the end that was predicted, or zero. `ended` counts
  // everything in the job that has ended. When it changes, the forecast gets a new chance. The same
  // happens when the forecast moves on by much more than the lateness. `grace` is the precision
  // with which ends are known. Forecasts without an interval are ignored. REQUIRES: the instants of
  // the forecasts never decrease.
  absl::Duration LateBy(const EndPrediction& forecast, std::uint64_t ended, absl::Duration grace);

  // For checkpoints (master/facts/checkpoint.h).
  template <class Archive>
  void serialize(Archive& archive) {
    archive(due_, ended_);
  }

 private:
  // The first end that was forecast as near since something ended.
  absl::Time due_ = absl::InfiniteFuture();
  std::uint64_t ended_ = 0;
};

// Returns the forecast with the interval of a job that is late by `late`: it begins now, and its
// upper bound is open.
EndPrediction OpenedByLateness(EndPrediction forecast, absl::Duration late, absl::Duration grace);

}  // namespace tidemark::model
