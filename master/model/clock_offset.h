// How far a source's wall clock is behind the master's, learnt from its envelopes.
//
// offset = least (arrival - sending) seen: the true difference plus the fastest trip. Instants told
// by the source become instants of the master's clock by adding it, and never lie after the arrival
// of the envelope that told them, so a skewed clock cannot bend an estimate.
#pragma once

#include <algorithm>

#include "absl/time/time.h"

namespace tidemark::model {

class ClockOffset {
 public:
  void Observe(absl::Time sent_at, absl::Time arrived_at) {
    offset_ = std::min(offset_, arrived_at - sent_at);
  }
  // REQUIRES: Observe() was called.
  absl::Time ToMasterClock(absl::Time by_source, absl::Time arrived_at) const {
    return std::min(by_source + offset_, arrived_at);
  }

 private:
  absl::Duration offset_ = absl::InfiniteDuration();
};

}  // namespace tidemark::model
