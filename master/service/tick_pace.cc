#include "master/service/tick_pace.h"

#include <algorithm>

namespace tidemark::service {

bool TickPace::IsDue(absl::Duration since, bool has_news) const {
  return since >= (has_news ? interval_min : interval) - interval_min / 10;
}

absl::Duration TickPace::PauseAfter(absl::Duration took, absl::Duration cpu_time) const {
  return std::max({interval_min - took, cpu_time, absl::ZeroDuration()});
}

}  // namespace tidemark::service
