#include "master/waits/longest_group.h"

namespace tidemark::blame {

LongestGroup LongestGroupOf(const ReduceProfile& profile) {
  LongestGroup longest;
  const auto see = [&](std::uint64_t size_bytes, absl::Duration time) {
    if (time > longest.time && time != absl::InfiniteDuration()) longest = {size_bytes, time};
  };
  for (const FinishedKey& key : profile.finished_keys) see(key.size_bytes, key.time);
  for (const GroupPoint& point : profile.points) {
    if (point.count == 1) see(point.size_bytes, point.total_time);
  }
  return longest;
}

}  // namespace tidemark::blame
