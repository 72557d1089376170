#include "agent/profiles.h"

#include <algorithm>
#include <functional>
#include <utility>

namespace tidemark::agent {
namespace {

// Maximum encoded size: tags, lengths, and 64-bit varints.
constexpr std::size_t kMapKeyBytes = 28;
constexpr std::size_t kPartitionBytes = 64;

// The size of the `keys_max`-th heaviest key, and how many keys of that size to keep.
struct Cut {
  std::uint64_t size_bytes = 0;
  std::size_t equal_kept = 0;
};

Cut FindCut(std::size_t keys_max, const std::vector<PartitionProfile>& partitions) {
  std::vector<std::uint64_t> sizes;
  for (const PartitionProfile& partition : partitions) {
    for (const ExplicitKey& key : partition.explicit_keys) sizes.push_back(key.size_bytes);
  }
  if (sizes.size() <= keys_max) return {0, sizes.size()};
  const auto first_out = sizes.begin() + static_cast<std::ptrdiff_t>(keys_max);
  std::nth_element(sizes.begin(), first_out, sizes.end(), std::greater<>());
  const auto equal = static_cast<std::size_t>(std::count(sizes.begin(), first_out, *first_out));
  return {*first_out, equal};
}

// Maximum encoded sizes: varints of 64 bits take ten bytes, hashes eight.
constexpr std::size_t kPointBytes = 30;
constexpr std::size_t kNamedKeyBytes = 38;

template <typename T>
std::vector<T> TakeFront(std::vector<T>& items, std::size_t& taken, std::size_t count) {
  const std::size_t end = std::min(items.size(), taken + count);
  std::vector<T> front(items.begin() + static_cast<std::ptrdiff_t>(taken),
                       items.begin() + static_cast<std::ptrdiff_t>(end));
  taken = end;
  return front;
}

}  // namespace

void AddImplicit(const std::map<std::uint32_t, ImplicitKeys>& more,
                 std::vector<PartitionProfile>& partitions) {
  for (const auto& [index, keys] : more) {
    auto place = std::lower_bound(
        partitions.begin(), partitions.end(), index,
        [](const PartitionProfile& partition, std::uint32_t i) { return partition.partition < i; });
    if (place == partitions.end() || place->partition != index) {
      place = partitions.insert(place, PartitionProfile{.partition = index});
    }
    place->implicit_key_count += keys.count;
    place->implicit_bytes += keys.bytes;
    place->total_bytes += keys.bytes;
  }
}

void KeepHeaviest(std::size_t keys_max, std::vector<PartitionProfile>& partitions) {
  Cut cut = FindCut(keys_max, partitions);
  for (PartitionProfile& partition : partitions) {
    std::erase_if(partition.explicit_keys, [&](const ExplicitKey& key) {
      if (key.size_bytes > cut.size_bytes) return false;
      if (key.size_bytes == cut.size_bytes && cut.equal_kept > 0) {
        --cut.equal_kept;
        return false;
      }
      ++partition.implicit_key_count;
      partition.implicit_bytes += key.size_bytes;
      return true;
    });
  }
}

std::size_t KeysThatFit(std::size_t bytes_max, std::size_t partition_count) {
  const std::size_t rest = bytes_max - std::min(bytes_max, partition_count * kPartitionBytes);
  return rest / kMapKeyBytes;
}

std::size_t BytesOfKeys(std::size_t keys) { return keys * kMapKeyBytes; }

std::vector<ReduceProfile> SplitProfile(ReduceProfile profile, std::size_t bytes_max) {
  const std::size_t points_max = std::max<std::size_t>(1, bytes_max / 2 / kPointBytes);
  const std::size_t keys_max = std::max<std::size_t>(1, bytes_max / 2 / kNamedKeyBytes);
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
