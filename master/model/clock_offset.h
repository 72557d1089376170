// How far a source's wall clock is behind the master's, learnt from its envelopes.
//
// offset = least (arrival - sending) seen: the true difference plus the fastest trip. Instants told
// by the source become instants of the master's clock by adding it, and never lie after the arrival
// of the envelope that told them, so a skewed clock cannot bend an estimate. What is told without a
// usable instant (an infinite one) counts as told of its arrival.
#pragma once

#include <algorithm>

#include "absl/time/time.h"

namespace tidemark::model {

class ClockOffset {
 public:
  void Observe(absl::Time sent_at, absl::Time arrived_at) {
    const absl::Duration offset = arrived_at - sent_at;
    if (offset != -absl::InfiniteDuration()) offset_ = std::min(offset_, offset);
  }
  absl::Time ToMasterClock(absl::Time by_source, absl::Time arrived_at) const {
    const absl::Time at = by_source + offset_;
    return at == absl::InfinitePast() ? arrived_at : std::min(at, arrived_at);
  }

 private:
  absl::Duration offset_ = absl::InfiniteDuration();
};

}  // namespace tidemark::model
