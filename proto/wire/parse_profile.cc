#include "proto/wire/parse_profile.h"

#include <algorithm>
#include <bitset>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "proto/wire/time_use_codec.h"
#include "tidemark/v1/event.pb.h"

namespace tidemark::wire {

namespace {

using Numbers = google::protobuf::RepeatedField<std::uint64_t>;

std::uint64_t SaturatingAdd(std::uint64_t a, std::uint64_t b) {
  return a > std::numeric_limits<std::uint64_t>::max() - b
             ? std::numeric_limits<std::uint64_t>::max()
             : a + b;
}

std::uint64_t SaturatingSum(const Numbers& numbers) {
  std::uint64_t sum = 0;
  for (const std::uint64_t number : numbers) sum = SaturatingAdd(sum, number);
  return sum;
}

absl::Duration SaturatingNanoseconds(std::uint64_t nanos) {
  constexpr std::uint64_t kMax = std::numeric_limits<std::int64_t>::max();
  return absl::Nanoseconds(static_cast<std::int64_t>(std::min(nanos, kMax)));
}

// Returns an element of an optional array, or 0.
std::uint64_t At(const Numbers& numbers, int i) { return numbers.empty() ? 0 : numbers[i]; }

std::vector<ExplicitKey> ZipKeys(const Numbers& hashes, const Numbers& bytes,
                                 const Numbers& values) {
  std::vector<ExplicitKey> keys;
  keys.reserve(static_cast<std::size_t>(hashes.size()));
  for (int i = 0; i < hashes.size(); ++i) {
    keys.push_back({KeyHash{hashes[i]}, bytes[i], At(values, i)});
  }
  return keys;
}

void CheckPartition(const v1::PartitionProfile& untrusted, const EventLimits& limits,
                    Checks& check) {
  const std::uint32_t partition = untrusted.partition();
  if (partition >= limits.partitions_max) {
    check.Refuse("partition {}; send one below {}", partition, limits.partitions_max);
  }
  const int keys = untrusted.explicit_key_hashes_size();
  check.SameLength("explicit_key_hashes", keys, "explicit_key_bytes",
                   untrusted.explicit_key_bytes_size());
  check.SameLengthOrNone("explicit_key_hashes", keys, "explicit_key_values",
                         untrusted.explicit_key_values_size());
  const int sampled = untrusted.sampled_key_hashes_size();
  check.SameLength("sampled_key_hashes", sampled, "sampled_key_bytes",
                   untrusted.sampled_key_bytes_size());
  check.SameLengthOrNone("sampled_key_hashes", sampled, "sampled_key_values",
                         untrusted.sampled_key_values_size());
  const std::uint64_t explicit_bytes = SaturatingSum(untrusted.explicit_key_bytes());
  if (SaturatingAdd(explicit_bytes, untrusted.implicit_bytes()) > untrusted.total_bytes()) {
    check.Refuse(
        "partition {}: {} bytes of explicit_key_bytes and {} implicit_bytes but {} total_bytes; "
        "the total must include both",
        partition, explicit_bytes, untrusted.implicit_bytes(), untrusted.total_bytes());
  }
  if (untrusted.has_scanned_bytes() && untrusted.scanned_bytes() > untrusted.total_bytes()) {
    check.Refuse("partition {}: {} scanned_bytes but {} total_bytes; at most all can be scanned",
                 partition, untrusted.scanned_bytes(), untrusted.total_bytes());
  }
}

PartitionProfile ZipPartition(const v1::PartitionProfile& checked) {
  PartitionProfile partition;
  partition.partition = checked.partition();
  partition.total_bytes = checked.total_bytes();
  partition.explicit_keys = ZipKeys(checked.explicit_key_hashes(), checked.explicit_key_bytes(),
                                    checked.explicit_key_values());
  partition.implicit_key_count = checked.implicit_key_count();
  partition.implicit_bytes = checked.implicit_bytes();
  if (checked.has_scanned_bytes()) partition.scanned_bytes = checked.scanned_bytes();
  partition.sampled_keys = ZipKeys(checked.sampled_key_hashes(), checked.sampled_key_bytes(),
                                   checked.sampled_key_values());
  return partition;
}

void CheckNoPartitionTwice(const v1::MapProfile& untrusted, Checks& check) {
  std::vector<std::uint32_t> indexes;
  indexes.reserve(static_cast<std::size_t>(untrusted.partitions_size()));
  for (const auto& partition : untrusted.partitions()) indexes.push_back(partition.partition());
  std::sort(indexes.begin(), indexes.end());
  const auto twice = std::adjacent_find(indexes.begin(), indexes.end());
  if (twice == indexes.end()) return;
  check.Refuse("partition {} appears twice; send one entry for each", *twice);
}

// Checks bins or points: each must hold key groups, and together at most the finished ones.
void CheckCounts(const char* field, const char* item, const Numbers& counts,
                 std::uint64_t groups_done, Checks& check) {
  const auto zero = std::find(counts.begin(), counts.end(), 0);
  if (zero != counts.end()) {
    check.Refuse("{}[{}] is 0; leave out a {} of no key groups", field, zero - counts.begin(),
                 item);
  }
  const std::uint64_t count = SaturatingSum(counts);
  if (count > groups_done) {
    check.Refuse("{} add up to {} but groups_done is {}; send each {} once", field, count,
                 groups_done, item);
  }
}

void CheckSums(const char* field, const google::protobuf::RepeatedField<double>& sums,
               Checks& check) {
  for (const double sum : sums) {
    if (std::isfinite(sum) && sum >= 0) continue;
    check.Refuse("{} is {}; send a finite sum of zero or more", field, sum);
  }
}

void CheckBins(const v1::ReduceProfile& untrusted, Checks& check) {
  const int bins = untrusted.bin_indexes_size();
  check.SameLength("bin_indexes", bins, "bin_counts", untrusted.bin_counts_size());
  check.SameLength("bin_indexes", bins, "bin_bytes", untrusted.bin_bytes_size());
  check.SameLength("bin_indexes", bins, "bin_seconds", untrusted.bin_seconds_size());
  check.SameLength("bin_indexes", bins, "bin_seconds_squared",
                   untrusted.bin_seconds_squared_size());
  check.SameLengthOrNone("bin_indexes", bins, "bin_emitted_bytes",
                         untrusted.bin_emitted_bytes_size());
  std::bitset<kSizeBins> seen;
  for (int i = 0; i < bins; ++i) {
    const std::uint32_t bin = untrusted.bin_indexes(i);
    if (bin >= kSizeBins) {
      check.Refuse("bin_indexes[{}] is {}; send one below {}", i, bin, kSizeBins);
    } else if (seen.test(bin)) {
      check.Refuse("bin {} appears twice; send one entry for each", bin);
    } else {
      seen.set(bin);
    }
  }
  CheckSums("bin_seconds", untrusted.bin_seconds(), check);
  CheckSums("bin_seconds_squared", untrusted.bin_seconds_squared(), check);
  CheckCounts("bin_counts", "bin", untrusted.bin_counts(), untrusted.groups_done(), check);
}

void CheckReduceProfile(const v1::ReduceProfile& untrusted, const EventLimits& limits,
                        Checks& check) {
  const int points = untrusted.point_bytes_size();
  const int keys = untrusted.finished_key_hashes_size();
  check.ItemsAtMost("point_bytes", static_cast<std::size_t>(points), limits.array_items_max);
  check.ItemsAtMost("bin_indexes", static_cast<std::size_t>(untrusted.bin_indexes_size()),
                    limits.array_items_max);
  check.ItemsAtMost("finished_key_hashes", static_cast<std::size_t>(keys), limits.array_items_max);
  check.SameLength("point_bytes", points, "point_counts", untrusted.point_counts_size());
  check.SameLength("point_bytes", points, "point_nanos", untrusted.point_nanos_size());
  CheckCounts("point_counts", "point", untrusted.point_counts(), untrusted.groups_done(), check);
  CheckBins(untrusted, check);
  check.SameLength("finished_key_hashes", keys, "finished_key_bytes",
                   untrusted.finished_key_bytes_size());
  check.SameLengthOrNone("finished_key_hashes", keys, "finished_key_nanos",
                         untrusted.finished_key_nanos_size());
  check.SameLengthOrNone("finished_key_hashes", keys, "finished_key_emitted_bytes",
                         untrusted.finished_key_emitted_bytes_size());
  if (untrusted.dropped_points() > untrusted.groups_done()) {
    check.Refuse("dropped_points is {} but groups_done is {}; count dropped groups as done",
                 untrusted.dropped_points(), untrusted.groups_done());
  }
}

std::vector<GroupPoint> ZipPoints(const v1::ReduceProfile& checked) {
  std::vector<GroupPoint> points;
  points.reserve(static_cast<std::size_t>(checked.point_bytes_size()));
  for (int i = 0; i < checked.point_bytes_size(); ++i) {
    points.push_back({checked.point_bytes(i), checked.point_counts(i),
                      SaturatingNanoseconds(checked.point_nanos(i))});
  }
  return points;
}

std::vector<GroupBin> ZipBins(const v1::ReduceProfile& checked) {
  std::vector<GroupBin> bins;
  bins.reserve(static_cast<std::size_t>(checked.bin_indexes_size()));
  for (int i = 0; i < checked.bin_indexes_size(); ++i) {
    bins.push_back({checked.bin_indexes(i), checked.bin_counts(i), checked.bin_bytes(i),
                    checked.bin_seconds(i), checked.bin_seconds_squared(i),
                    At(checked.bin_emitted_bytes(), i)});
  }
  return bins;
}

std::vector<FinishedKey> ZipFinishedKeys(const v1::ReduceProfile& checked) {
  std::vector<FinishedKey> keys;
  keys.reserve(static_cast<std::size_t>(checked.finished_key_hashes_size()));
  for (int i = 0; i < checked.finished_key_hashes_size(); ++i) {
    keys.push_back({KeyHash{checked.finished_key_hashes(i)}, checked.finished_key_bytes(i),
                    SaturatingNanoseconds(At(checked.finished_key_nanos(), i)),
                    At(checked.finished_key_emitted_bytes(), i)});
  }
  return keys;
}

RunningGroup ParseRunningGroup(const v1::RunningGroup& untrusted) {
  RunningGroup group;
  if (untrusted.has_key_hash()) group.key = KeyHash{untrusted.key_hash()};
  group.elapsed = SaturatingNanoseconds(untrusted.elapsed_nanos());
  group.bytes_read = untrusted.bytes_read();
  group.values_read = untrusted.values_read();
  group.bytes_emitted = untrusted.bytes_emitted();
  return group;
}

}  // namespace

absl::StatusOr<EventBody> ParseMapProfile(const v1::MapProfile& untrusted,
                                          const EventLimits& limits) {
  MapProfile profile;
  Checks check("map profile", &profile.attempt);
  profile.attempt = ParseAttempt(untrusted, limits, check);
  const auto partitions = static_cast<std::size_t>(untrusted.partitions_size());
  check.ItemsAtMost("partitions", partitions, limits.partitions_max);
  std::size_t explicit_keys = 0;
  std::size_t sampled_keys = 0;
  for (const v1::PartitionProfile& partition : untrusted.partitions()) {
    CheckPartition(partition, limits, check);
    explicit_keys += static_cast<std::size_t>(partition.explicit_key_hashes_size());
    sampled_keys += static_cast<std::size_t>(partition.sampled_key_hashes_size());
  }
  check.ItemsAtMost("explicit_key_hashes", explicit_keys, limits.array_items_max);
  check.ItemsAtMost("sampled_key_hashes", sampled_keys, limits.array_items_max);
  CheckNoPartitionTwice(untrusted, check);
  if (!check.ok()) return check.status();

  profile.partitions.reserve(partitions);
  for (const v1::PartitionProfile& partition : untrusted.partitions()) {
    profile.partitions.push_back(ZipPartition(partition));
  }
  profile.sampled_below = untrusted.sampled_below();
  return profile;
}

absl::StatusOr<EventBody> ParseReduceProfile(const v1::ReduceProfile& untrusted,
                                             const EventLimits& limits) {
  ReduceProfile profile;
  Checks check("reduce profile", &profile.attempt);
  profile.attempt = ParseAttempt(untrusted, limits, check);
  CheckReduceProfile(untrusted, limits, check);
  if (!check.ok()) return check.status();

  if (untrusted.has_last_group_finished_at()) {
    profile.last_group_finished_at = absl::FromUnixNanos(untrusted.last_group_finished_at());
  }
  profile.groups_done = untrusted.groups_done();
  profile.bytes_done = untrusted.bytes_done();
  profile.reduce_time = SaturatingNanoseconds(untrusted.reduce_nanos());
  profile.points = ZipPoints(untrusted);
  profile.bins = ZipBins(untrusted);
  profile.keys_named = untrusted.keys_named();
  profile.named_group_bytes_min = untrusted.named_group_bytes_min();
  profile.finished_keys = ZipFinishedKeys(untrusted);
  if (untrusted.has_running_group()) {
    profile.running_group = ParseRunningGroup(untrusted.running_group());
  }
  profile.dropped_points = untrusted.dropped_points();
  if (untrusted.has_processor_use()) {
    const v1::ProcessorUse& use = untrusted.processor_use();
    profile.processor_use =
        ProcessorUse{SaturatingNanoseconds(use.watched_nanos()),
                     SaturatingNanoseconds(use.waited_nanos()), use.processors()};
  }
  if (untrusted.has_time_use()) profile.time = ParseTimes(untrusted.time_use());
  return profile;
}

}  // namespace tidemark::wire
