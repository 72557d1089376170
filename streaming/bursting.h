// Splits the time of many short reduce calls that were measured together ([NF] section 6,
// bursting). Each key group gets a share proportional to its size. An empty key group counts as one
// byte. O(groups in the burst).
#pragma once

#include <cstdint>
#include <vector>

#include "absl/time/time.h"
#include "tidemark/event.h"

namespace tidemark::streaming {

// Splits the duration of a burst. Returns one point of count 1 per key group, in order. The times
// of the points add up to `elapsed`; each is exact to a nanosecond. A negative time counts as zero.
std::vector<GroupPoint> SplitBurst(const std::vector<std::uint64_t>& sizes_bytes,
                                   absl::Duration elapsed);

}  // namespace tidemark::streaming
