#include "streaming/heaviest.h"

#include <algorithm>

namespace tidemark::streaming {
namespace {

// Order of a heap with the lightest key at its front. If sizes are equal, the larger hash is
// removed first.
constexpr auto kHeavier = [](const auto& a, const auto& b) {
  return a.size_bytes != b.size_bytes ? a.size_bytes > b.size_bytes : a.key < b.key;
};

}  // namespace

HeaviestKeys::HeaviestKeys(std::uint32_t partition_count_hint, std::uint32_t lambda)
    : lambda_(lambda) {
  totals_.reserve(partition_count_hint);
}

void HeaviestKeys::Offer(std::uint32_t partition, const ExplicitKey& group) {
  if (partition >= totals_.size()) totals_.resize(partition + std::size_t{1});
  totals_[partition].key_count += 1;
  totals_[partition].bytes += group.size_bytes;
  const Entry entry{group.size_bytes, group.key, group.values, partition};
  if (heap_.size() < lambda_) {
    heap_.push_back(entry);
    std::push_heap(heap_.begin(), heap_.end(), kHeavier);
  } else if (lambda_ > 0 && kHeavier(entry, heap_.front())) {
    std::pop_heap(heap_.begin(), heap_.end(), kHeavier);
    heap_.back() = entry;
    std::push_heap(heap_.begin(), heap_.end(), kHeavier);
  }
}

std::vector<PartitionProfile> HeaviestKeys::Profiles() const {
  std::vector<PartitionProfile> by_partition(totals_.size());
  for (std::size_t i = 0; i < totals_.size(); ++i) {
    by_partition[i].partition = static_cast<std::uint32_t>(i);
    by_partition[i].total_bytes = by_partition[i].implicit_bytes = totals_[i].bytes;
    by_partition[i].implicit_key_count = totals_[i].key_count;
  }
  std::vector<Entry> explicit_keys = heap_;
  std::sort(explicit_keys.begin(), explicit_keys.end(), kHeavier);
  for (const Entry& entry : explicit_keys) {
    PartitionProfile& profile = by_partition[entry.partition];
    profile.explicit_keys.push_back({entry.key, entry.size_bytes, entry.values});
    profile.implicit_bytes -= entry.size_bytes;
    --profile.implicit_key_count;
  }
  std::erase_if(by_partition, [](const PartitionProfile& profile) {
    return profile.explicit_keys.empty() && profile.implicit_key_count == 0;
  });
  return by_partition;
}

}  // namespace tidemark::streaming
