// How far a source's wall clock is behind the master's, learnt from its events.
//
// offset = least (arrival - sending) seen: the true difference plus the fastest trip. Instants told
// by the source become instants of the master's clock by adding it, and never lie after the arrival
// of the event that told them, so a skewed clock cannot bend an estimate. What is told without a
// usable instant (an infinite one) counts as told of its arrival.
//
// A source's clock that is set forward makes the least offset smaller; one that is set back shows
// in an event sent before the one before it, and the offset is learnt anew.
#pragma once

#include <algorithm>

#include "absl/time/time.h"

namespace tidemark::model {

class ClockOffset {
 public:
  void Observe(absl::Time sent_at, absl::Time arrived_at) {
    if (sent_at == absl::InfinitePast() || sent_at == absl::InfiniteFuture()) return;
    if (sent_at < last_sent_at_ - kSetBack) offset_ = absl::InfiniteDuration();
    last_sent_at_ = sent_at;
    offset_ = std::min(offset_, arrived_at - sent_at);
  }
  absl::Time ToMasterClock(absl::Time by_source, absl::Time arrived_at) const {
    const absl::Time at = by_source + offset_;
    return at == absl::InfinitePast() ? arrived_at : std::min(at, arrived_at);
  }

 private:
  // Threads of a source may look at its clock in one order and send in the other; taste.
  static constexpr absl::Duration kSetBack = absl::Seconds(1);

  absl::Duration offset_ = absl::InfiniteDuration();
  absl::Time last_sent_at_ = absl::InfinitePast();
};

}  // namespace tidemark::model
