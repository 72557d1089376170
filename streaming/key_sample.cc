#include "streaming/key_sample.h"

#include <xxhash.h>

#include <algorithm>

#include "streaming/saturating.h"

namespace tidemark::streaming {
namespace {

constexpr auto kByRank = [](const auto& a, const auto& b) { return a.rank < b.rank; };

constexpr auto kByPriority = [](const auto& a, const auto& b) { return a.priority < b.priority; };

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

void SizeSampler::Keep(const Entry& entry) {
  heap_.push_back(entry);
  std::push_heap(heap_.begin(), heap_.end(), kByPriority);
  if (heap_.size() <= capacity_) return;
  below_ = heap_.front().priority;
  while (!heap_.empty() && heap_.front().priority == below_) {
    std::pop_heap(heap_.begin(), heap_.end(), kByPriority);
    heap_.pop_back();
  }
}

std::uint64_t SizeSampler::AddTo(std::uint64_t below, std::size_t keys_max,
                                 std::vector<PartitionProfile>& partitions) const {
  if (capacity_ == 0) return 0;
  std::vector<Entry> entries = heap_;
  std::erase_if(entries, [&](const Entry& entry) {
    const std::uint64_t rank = SampleRank(entry.group.key);
    return rank < below || rank >= RankLimit(below);
  });
  std::sort(entries.begin(), entries.end(), kByPriority);
  std::uint64_t per_byte = below_;
  if (entries.size() > keys_max) {
    per_byte = entries[keys_max].priority;
    std::erase_if(entries, [&](const Entry& entry) { return entry.priority >= per_byte; });
  }
  for (const Entry& entry : entries) {
    const auto place = std::lower_bound(
        partitions.begin(), partitions.end(), entry.partition,
        [](const PartitionProfile& partition, std::uint32_t i) { return partition.partition < i; });
    if (place == partitions.end() || place->partition != entry.partition) continue;
    place->sampled_keys.push_back(entry.group);
  }
  return per_byte;
}

void KeySample::Add(const MapProfile& profile, bool is_first_input) {
  has_profile_ = true;
  ++map_tasks_;
  LowerTo(profile.sampled_below, profile.sampled_below_per_byte);
  if (below_ == 0) return;
  for (const PartitionProfile& partition : profile.partitions) {
    total_bytes_ = SaturatingAdd(total_bytes_, partition.total_bytes);
    AddKeys(partition, Source::kExplicit, is_first_input);
    AddKeys(partition, Source::kSampled, is_first_input);
  }
  Shrink();
}

void KeySample::AddKeys(const PartitionProfile& partition, Source source, bool is_first_input) {
  const bool is_explicit = source == Source::kExplicit;
  for (const ExplicitKey& key : is_explicit ? partition.explicit_keys : partition.sampled_keys) {
    const std::uint64_t rank = SampleRank(key.key);
    const bool is_exact = rank < below_;
    if (!is_exact && (is_explicit || key.size_bytes == 0 || rank >= RankLimit(below_) ||
                      (RankPerByte(key.key, key.size_bytes) >= per_byte_ && !Contains(key.key)))) {
      continue;
    }
    SampledKey& sampled =
        keys_.try_emplace(key.key, SampledKey{.partition = partition.partition}).first->second;
    ++sampled.map_tasks;
    sampled.is_explicit |= is_explicit;
    sampled.size_bytes = SaturatingAdd(sampled.size_bytes, key.size_bytes);
    sampled.largest_bytes = std::max(sampled.largest_bytes, key.size_bytes);
    sampled.values = SaturatingAdd(sampled.values, key.values);
    if (!is_first_input) continue;
    sampled.first_input_bytes = SaturatingAdd(sampled.first_input_bytes, key.size_bytes);
  }
}

bool KeySample::Belongs(KeyHash key, const SampledKey& sampled) const {
  const std::uint64_t rank = SampleRank(key);
  if (rank < below_) return true;
  return !sampled.is_explicit && rank < RankLimit(below_) && sampled.largest_bytes > 0 &&
         RankPerByte(key, sampled.largest_bytes) < per_byte_;
}

void KeySample::LowerTo(std::uint64_t below, std::uint64_t per_byte) {
  if (below >= below_ && per_byte >= per_byte_) return;
  below_ = std::min(below_, below);
  per_byte_ = below_ == 0 ? 0 : std::min(per_byte_, per_byte);
  absl::erase_if(keys_, [&](const auto& item) { return !Belongs(item.first, item.second); });
}

// Lowers the bounds until the sample has at most kKeysMax keys. Each of the two samples may have at
// least half of them.
void KeySample::Shrink() {
  while (keys_.size() > kKeysMax) {
    std::vector<std::uint64_t> ranks;
    std::vector<std::uint64_t> priorities;
    for (const auto& [key, sampled] : keys_) {
      if (const std::uint64_t rank = SampleRank(key); rank < below_) {
        ranks.push_back(rank);
      } else {
        priorities.push_back(RankPerByte(key, sampled.largest_bytes));
      }
    }
    const auto bound_of = [](std::vector<std::uint64_t>& values, std::size_t most,
                             std::uint64_t bound) {
      if (values.size() <= most) return bound;
      const auto first_out = values.begin() + static_cast<std::ptrdiff_t>(most);
      std::nth_element(values.begin(), first_out, values.end());
      return *first_out;
    };
    const std::size_t ranks_max = kKeysMax - std::min(priorities.size(), kKeysMax / 2);
    const std::size_t priorities_max = kKeysMax - std::min(ranks.size(), ranks_max);
    LowerTo(bound_of(ranks, ranks_max, below_), bound_of(priorities, priorities_max, per_byte_));
  }
}

std::uint64_t KeySample::below_per_byte() const {
  if (!has_profile_) return 0;
  const std::uint64_t bytes_per_name = std::max<std::uint64_t>(total_bytes_ / (2 * kKeysMax), 1);
  return std::min(per_byte_, kEveryRank / bytes_per_name);
}

double KeySample::ProbabilityOf(KeyHash key, const SampledKey& sampled) const {
  const std::uint64_t rank = SampleRank(key);
  const std::uint64_t named = below_per_byte();
  if (rank >= below_ && rank / std::max<std::uint64_t>(sampled.size_bytes, 1) >= named) return 0;
  const double by_size =
      std::min({static_cast<double>(per_byte_) * static_cast<double>(sampled.largest_bytes),
                static_cast<double>(named) * static_cast<double>(sampled.size_bytes),
                static_cast<double>(RankLimit(below_))});
  return std::min(std::max(static_cast<double>(below_), by_size) / 0x1p64, 1.0);
}

double KeySample::SlackBytes(KeyHash key, const SampledKey& sampled) const {
  const std::uint64_t rank = SampleRank(key);
  if (rank < below_ || per_byte_ == 0 || sampled.map_tasks >= map_tasks_) return 0;
  return static_cast<double>(map_tasks_ - sampled.map_tasks) * static_cast<double>(rank) /
         static_cast<double>(per_byte_);
}

}  // namespace tidemark::streaming
