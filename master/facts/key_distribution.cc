#include "master/facts/key_distribution.h"

#include <algorithm>

#include "streaming/saturating.h"

namespace tidemark::facts {
namespace {

using streaming::SaturatingAdd;

// Counters per explicit key of a map task. Limits memory ([NF] 8.5).
constexpr std::size_t kCountersPerExplicitKeyMax = 35;
// Limits processor time. The smallest explicit key is searched again only after the number of
// profiles has grown by a sixteenth. It selects the key groups to name, which requires no exact
// size.
constexpr std::size_t kProfilesPerSearchTolerance = 16;

std::size_t CapacityFor(std::uint32_t lambda) {
  return std::clamp<std::size_t>(kCountersPerExplicitKeyMax * std::size_t{lambda}, 1,
                                 streaming::kSpaceSavingCapacityMax);
}

// Scales up the heavy keys of a map task that exhausted its scanning budget within the partition,
// assuming that the rest of the partition is similar.
std::uint64_t ScaleToWhole(std::uint64_t bytes, std::uint64_t scanned, std::uint64_t total) {
  if (scanned == 0 || scanned >= total) return bytes;
  const double scale = static_cast<double>(total) / static_cast<double>(scanned);
  const double scaled = static_cast<double>(bytes) * scale;
  return scaled < static_cast<double>(total) ? static_cast<std::uint64_t>(scaled) : total;
}

// Returns the smallest key that a map task named, or 0 if it named all of its keys.
double Threshold(const MapProfile& profile) {
  std::uint64_t smallest = 0;
  bool has_others = false;
  for (const PartitionProfile& partition : profile.partitions) {
    has_others |= partition.implicit_key_count > 0;
    for (const ExplicitKey& key : partition.explicit_keys) {
      smallest = smallest == 0 ? key.size_bytes : std::min(smallest, key.size_bytes);
    }
  }
  return has_others ? static_cast<double>(smallest) : 0;
}

bool HeavierFirst(const ExplicitKey& a, const ExplicitKey& b) {
  return a.size_bytes != b.size_bytes ? a.size_bytes > b.size_bytes : a.key < b.key;
}

}  // namespace

KeyDistribution::KeyDistribution(std::uint32_t lambda)
    : heavy_keys_(*streaming::SpaceSaving<Mentions>::Create(CapacityFor(lambda))) {}

void KeyDistribution::Add(const MapProfile& profile, const std::string& input_name) {
  if (profile_count_ == 0) first_input_ = input_name;
  const Source source = {.map_task = static_cast<std::uint32_t>(profile_count_),
                         .is_first_input = input_name == first_input_,
                         .threshold_bytes = Threshold(profile)};
  has_two_inputs_ |= !source.is_first_input;
  threshold_bytes_ += source.threshold_bytes;
  for (const PartitionProfile& partition : profile.partitions) AddPartition(partition, source);
  sample_.Add(profile, source.is_first_input);
  ++profile_count_;
  stale_ = true;
}

void KeyDistribution::AddPartition(const PartitionProfile& partition, const Source& source) {
  if (partition.partition >= totals_.size()) totals_.resize(partition.partition + std::size_t{1});
  PartitionTotals& totals = totals_[partition.partition];
  totals.total_bytes = SaturatingAdd(totals.total_bytes, partition.total_bytes);
  const std::uint64_t scanned_bytes = partition.scanned_bytes.value_or(partition.total_bytes);
  totals.scanned_bytes = SaturatingAdd(totals.scanned_bytes, scanned_bytes);
  scanned_bytes_ = SaturatingAdd(scanned_bytes_, scanned_bytes);
  total_bytes_ = SaturatingAdd(total_bytes_, partition.total_bytes);
  heavy_keys_.OfferAll(partition.explicit_keys, [&](const ExplicitKey& key, Mentions* mentions) {
    if (mentions == nullptr) return;  // The key has no bytes.
    if (mentions->partition == Mentions::kNone) mentions->partition = partition.partition;
    ++mentions->map_tasks;
    if (const auto bytes = static_cast<float>(key.size_bytes); bytes > mentions->main_bytes) {
      mentions->main_bytes = bytes;
      mentions->main_map_task = source.map_task;
    }
    mentions->threshold_bytes += source.threshold_bytes;
    mentions->values += static_cast<float>(key.values);
    has_values_ &= key.values > 0;
    if (source.is_first_input) mentions->first_input_bytes += static_cast<float>(key.size_bytes);
  });
}

double KeyDistribution::scanned_share() const {
  if (scanned_bytes_ >= total_bytes_) return 1;
  return static_cast<double>(scanned_bytes_) / static_cast<double>(total_bytes_);
}

void KeyDistribution::Rebuild() const {
  partitions_.assign(totals_.size(), {});
  for (std::size_t i = 0; i < totals_.size(); ++i) {
    partitions_[i].total_bytes = totals_[i].total_bytes;
  }
  heavy_keys_.ForEach([this](const streaming::WatchedKey& watched, const Mentions& mentions) {
    if (watched.guaranteed_bytes() == 0) return;  // The key's count is saturated.
    const PartitionTotals& totals = totals_[mentions.partition];
    partitions_[mentions.partition].explicit_keys.push_back(
        {watched.key,
         ScaleToWhole(watched.guaranteed_bytes(), totals.scanned_bytes, totals.total_bytes)});
  });
  smallest_explicit_bytes_ = 0;
  for (PartitionKeys& partition : partitions_) {
    std::sort(partition.explicit_keys.begin(), partition.explicit_keys.end(), HeavierFirst);
    for (const ExplicitKey& key : partition.explicit_keys) {
      partition.explicit_bytes = SaturatingAdd(partition.explicit_bytes, key.size_bytes);
    }
    if (partition.explicit_keys.empty()) continue;
    const std::uint64_t smallest = partition.explicit_keys.back().size_bytes;
    smallest_explicit_bytes_ =
        smallest_explicit_bytes_ == 0 ? smallest : std::min(smallest_explicit_bytes_, smallest);
  }
  stale_ = false;
  rebuilt_with_profiles_ = profile_count_;
}

const PartitionKeys& KeyDistribution::partition(std::size_t index) const {
  static const PartitionKeys* const kNone = new PartitionKeys;
  if (stale_) Rebuild();
  return index < partitions_.size() ? partitions_[index] : *kNone;
}

bool KeyDistribution::IsExplicit(std::size_t index, KeyHash key) const {
  const Mentions* mentions = heavy_keys_.FindNote(key);
  return mentions != nullptr && mentions->partition == index;
}

double KeyDistribution::ValuesPerByte(KeyHash key) const {
  const auto watched = heavy_keys_.Find(key);
  if (!watched || watched->guaranteed_bytes() == 0) return 0;
  return heavy_keys_.FindNote(key)->values / static_cast<double>(watched->guaranteed_bytes());
}

std::uint64_t KeyDistribution::ExplicitBytes(KeyHash key) const {
  const auto watched = heavy_keys_.Find(key);
  if (!watched) return 0;
  const PartitionTotals& totals = totals_[heavy_keys_.FindNote(key)->partition];
  return ScaleToWhole(watched->guaranteed_bytes(), totals.scanned_bytes, totals.total_bytes);
}

double KeyDistribution::SlackBytes(KeyHash key) const {
  const Mentions* mentions = heavy_keys_.FindNote(key);
  return mentions == nullptr ? 0 : std::max(0.0, threshold_bytes_ - mentions->threshold_bytes);
}

std::size_t KeyDistribution::MapTasksNaming(KeyHash key) const {
  const Mentions* mentions = heavy_keys_.FindNote(key);
  return mentions == nullptr ? 0 : std::min<std::size_t>(mentions->map_tasks, profile_count_);
}

std::size_t KeyDistribution::MainMapTask(KeyHash key) const {
  const Mentions* mentions = heavy_keys_.FindNote(key);
  return mentions == nullptr ? 0 : mentions->main_map_task;
}

double KeyDistribution::FirstInputShare(KeyHash key) const {
  const auto watched = heavy_keys_.Find(key);
  if (!watched || watched->guaranteed_bytes() == 0) return 0;
  return std::min(1.0, heavy_keys_.FindNote(key)->first_input_bytes /
                           static_cast<double>(watched->guaranteed_bytes()));
}

std::uint64_t KeyDistribution::smallest_explicit_bytes() const {
  if (stale_) Rebuild();
  return smallest_explicit_bytes_;
}

std::uint64_t KeyDistribution::recent_smallest_explicit_bytes() const {
  const std::size_t added = profile_count_ - rebuilt_with_profiles_;
  return added > rebuilt_with_profiles_ / kProfilesPerSearchTolerance ? smallest_explicit_bytes()
                                                                      : smallest_explicit_bytes_;
}

}  // namespace tidemark::facts
