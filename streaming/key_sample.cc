#include "streaming/key_sample.h"

#include <xxhash.h>

#include <algorithm>

#include "streaming/saturating.h"

namespace tidemark::streaming {
namespace {

constexpr auto kByRank = [](const auto& a, const auto& b) { return a.rank < b.rank; };

constexpr auto kByKey = [](const ExplicitKey& a, const ExplicitKey& b) {
  return a.key != b.key ? a.key < b.key : a.size_bytes < b.size_bytes;
};

}  // namespace

KeyHash HashKey(std::string_view serialized_key) {
  return KeyHash{XXH64(serialized_key.data(), serialized_key.size(), 0)};
}

void KeySampler::Keep(const Entry& entry) {
  heap_.push_back(entry);
  std::push_heap(heap_.begin(), heap_.end(), kByRank);
  if (heap_.size() <= capacity_) return;
  below_ = heap_.front().rank;
  // Equal ranks are the same key, whose total would be incomplete.
  while (!heap_.empty() && heap_.front().rank == below_) {
    std::pop_heap(heap_.begin(), heap_.end(), kByRank);
    heap_.pop_back();
  }
}

std::uint64_t KeySampler::AddTo(std::vector<PartitionProfile>& partitions) const {
  if (capacity_ == 0) return 0;
  std::vector<Entry> entries = heap_;
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return a.partition != b.partition ? a.partition < b.partition : a.rank < b.rank;
  });
  std::vector<ExplicitKey> explicit_keys;
  auto entry = entries.begin();
  for (PartitionProfile& partition : partitions) {
    explicit_keys = partition.explicit_keys;
    std::sort(explicit_keys.begin(), explicit_keys.end(), kByKey);
    while (entry != entries.end() && entry->partition < partition.partition) ++entry;
    for (; entry != entries.end() && entry->partition == partition.partition; ++entry) {
      const ExplicitKey& key = entry->group;
      if (std::binary_search(explicit_keys.begin(), explicit_keys.end(), key, kByKey)) continue;
      partition.sampled_keys.push_back(key);
    }
  }
  return below_;
}

void KeySample::Add(const MapProfile& profile, bool is_first_input) {
  has_profile_ = true;
  LowerTo(profile.sampled_below);
  if (below_ == 0) return;
  for (const PartitionProfile& partition : profile.partitions) {
    AddKeys(partition.partition, partition.explicit_keys, is_first_input);
    AddKeys(partition.partition, partition.sampled_keys, is_first_input);
  }
  if (keys_.size() <= kKeysMax) return;
  std::vector<std::uint64_t> ranks;
  ranks.reserve(keys_.size());
  for (const auto& [key, sampled] : keys_) ranks.push_back(SampleRank(key));
  const auto first_out = ranks.begin() + kKeysMax;
  std::nth_element(ranks.begin(), first_out, ranks.end());
  LowerTo(*first_out);
}

void KeySample::AddKeys(std::uint32_t partition, const std::vector<ExplicitKey>& keys,
                        bool is_first_input) {
  for (const ExplicitKey& key : keys) {
    if (SampleRank(key.key) >= below_) continue;
    SampledKey& sampled =
        keys_.try_emplace(key.key, SampledKey{.partition = partition}).first->second;
    sampled.size_bytes = SaturatingAdd(sampled.size_bytes, key.size_bytes);
    sampled.values = SaturatingAdd(sampled.values, key.values);
    if (!is_first_input) continue;
    sampled.first_input_bytes = SaturatingAdd(sampled.first_input_bytes, key.size_bytes);
  }
}

void KeySample::LowerTo(std::uint64_t below) {
  if (below >= below_) return;
  below_ = below;
  absl::erase_if(keys_, [&](const auto& item) { return SampleRank(item.first) >= below; });
}

}  // namespace tidemark::streaming
