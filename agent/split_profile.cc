#include "agent/split_profile.h"

#include <algorithm>
#include <utility>

namespace tidemark::agent {
namespace {

// The most one item can take on the wire: varints of 64 bits have ten bytes, hashes eight.
constexpr std::size_t kPointBytes = 30;
constexpr std::size_t kKeyBytes = 38;

template <typename T>
std::vector<T> TakeFront(std::vector<T>& items, std::size_t& taken, std::size_t count) {
  const std::size_t end = std::min(items.size(), taken + count);
  std::vector<T> front(items.begin() + static_cast<std::ptrdiff_t>(taken),
                       items.begin() + static_cast<std::ptrdiff_t>(end));
  taken = end;
  return front;
}

}  // namespace

std::vector<ReduceProfile> SplitProfile(ReduceProfile profile, std::size_t bytes_max) {
  const std::size_t points_max = std::max<std::size_t>(1, bytes_max / 2 / kPointBytes);
  const std::size_t keys_max = std::max<std::size_t>(1, bytes_max / 2 / kKeyBytes);
  if (profile.points.size() <= points_max && profile.finished_keys.size() <= keys_max) {
    return {std::move(profile)};
  }
  std::vector<GroupPoint> points = std::exchange(profile.points, {});
  std::vector<FinishedKey> keys = std::exchange(profile.finished_keys, {});
  std::vector<GroupBin> bins = std::exchange(profile.bins, {});
  std::optional<RunningGroup> running = std::exchange(profile.running_group, std::nullopt);

  std::vector<ReduceProfile> parts;
  std::size_t points_taken = 0;
  std::size_t keys_taken = 0;
  do {
    ReduceProfile& part = parts.emplace_back(profile);
    part.points = TakeFront(points, points_taken, points_max);
    part.finished_keys = TakeFront(keys, keys_taken, keys_max);
  } while (points_taken < points.size() || keys_taken < keys.size());
  parts.front().bins = std::move(bins);
  parts.back().running_group = running;
  return parts;
}

}  // namespace tidemark::agent
