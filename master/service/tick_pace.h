// When a job or workflow is ticked. Pure.
#pragma once

#include "absl/time/time.h"

namespace tidemark::service {

struct TickPace {
  absl::Duration interval = absl::Seconds(1);             // without news
  absl::Duration interval_min = absl::Milliseconds(200);  // with news

  // Whether it is time for a tick, `since` the one before. A tenth of a round early is in time: a
  // pause that ends a little early must not cost a whole round.
  bool IsDue(absl::Duration since, bool has_news) const;

  // How long to pause after a round of ticks that took so long, and so much processor time, so that
  // rounds begin interval_min apart but take half of a processor at most.
  absl::Duration PauseAfter(absl::Duration took, absl::Duration cpu_time) const;
};

}  // namespace tidemark::service
