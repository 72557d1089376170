#include "proto/wire/parse_profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <bitset>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "proto/wire/message_time.h"
#include "tidemark/v1/event.pb.h"

namespace tidemark::wire {
namespace {

// ReduceProfile.bin_indexes: six bins an octave of 64-bit sizes. A part of the wire contract, so
// it stands here too and not only in streaming/size_histogram.h.
constexpr std::size_t kSizeBins = 384;

template <typename... Args>
absl::Status Invalid(fmt::format_string<Args...> format, Args&&... args) {
  return absl::InvalidArgumentError(fmt::format(format, std::forward<Args>(args)...));
}

std::uint64_t SaturatingAdd(std::uint64_t a, std::uint64_t b) {
  return a > std::numeric_limits<std::uint64_t>::max() - b
             ? std::numeric_limits<std::uint64_t>::max()
             : a + b;
}

template <typename Numbers>
std::uint64_t SaturatingSum(const Numbers& numbers) {
  std::uint64_t sum = 0;
  for (const std::uint64_t number : numbers) sum = SaturatingAdd(sum, number);
  return sum;
}

absl::Duration SaturatingNanoseconds(std::uint64_t nanos) {
  constexpr std::uint64_t kMax = std::numeric_limits<std::int64_t>::max();
  return absl::Nanoseconds(static_cast<std::int64_t>(std::min(nanos, kMax)));
}

absl::Status CheckItems(const std::string& subject, const char* field, std::size_t items,
                        std::size_t items_max) {
  if (items <= items_max) return absl::OkStatus();
  return Invalid("{}: {} {}; send at most {} in one envelope", subject, items, field, items_max);
}

// One array of a group of parallel ones.
struct Array {
  const char* field;
  int size;
};

absl::Status CheckSameLength(const std::string& subject, const Array& first, const Array& other,
                             const char* remedy) {
  if (first.size == other.size) return absl::OkStatus();
  return Invalid("{}: {} {} but {} {}; send {}", subject, first.size, first.field, other.size,
                 other.field, remedy);
}

absl::Status CheckKind(const std::string& subject, const AttemptId& attempt, TaskKind kind) {
  if (attempt.kind == kind) return absl::OkStatus();
  return Invalid("{}: wrong kind of attempt; only {} tasks send this event", subject,
                 kind == TaskKind::kMap ? "map" : "reduce");
}

absl::Status CheckSum(const std::string& subject, const char* field, double value) {
  if (std::isfinite(value) && value >= 0) return absl::OkStatus();
  return Invalid("{}: {} is {}; send a finite sum of zero or more", subject, field, value);
}

std::vector<ExplicitKey> ZipKeys(const google::protobuf::RepeatedField<std::uint64_t>& hashes,
                                 const google::protobuf::RepeatedField<std::uint64_t>& bytes,
                                 const google::protobuf::RepeatedField<std::uint64_t>& values) {
  std::vector<ExplicitKey> keys;
  keys.reserve(static_cast<std::size_t>(hashes.size()));
  for (int i = 0; i < hashes.size(); ++i) {
    keys.push_back({KeyHash{hashes[i]}, bytes[i], values.empty() ? 0 : values[i]});
  }
  return keys;
}

absl::Status CheckPartitionSizes(const v1::PartitionProfile& untrusted,
                                 const std::string& subject) {
  const std::uint64_t explicit_bytes = SaturatingSum(untrusted.explicit_key_bytes());
  const std::uint64_t all_bytes = SaturatingAdd(explicit_bytes, untrusted.implicit_bytes());
  if (all_bytes > untrusted.total_bytes()) {
    return Invalid(
        "{}: {} bytes of explicit_key_bytes and {} implicit_bytes but {} total_bytes; the total "
        "must include both",
        subject, explicit_bytes, untrusted.implicit_bytes(), untrusted.total_bytes());
  }
  if (untrusted.has_scanned_bytes() && untrusted.scanned_bytes() > untrusted.total_bytes()) {
    return Invalid("{}: {} scanned_bytes but {} total_bytes; at most all can be scanned", subject,
                   untrusted.scanned_bytes(), untrusted.total_bytes());
  }
  return absl::OkStatus();
}

// They may be left out.
absl::Status CheckValues(const std::string& profile, const v1::PartitionProfile& untrusted) {
  if (untrusted.explicit_key_values_size() > 0) {
    if (absl::Status same = CheckSameLength(
            profile, {"explicit_key_hashes", untrusted.explicit_key_hashes_size()},
            {"explicit_key_values", untrusted.explicit_key_values_size()}, "one for each hash");
        !same.ok()) {
      return same;
    }
  }
  if (untrusted.sampled_key_values_size() == 0) return absl::OkStatus();
  return CheckSameLength(profile, {"sampled_key_hashes", untrusted.sampled_key_hashes_size()},
                         {"sampled_key_values", untrusted.sampled_key_values_size()},
                         "one for each hash");
}

absl::StatusOr<PartitionProfile> ParsePartition(const v1::PartitionProfile& untrusted,
                                                const std::string& profile,
                                                const EnvelopeLimits& limits) {
  if (untrusted.partition() >= limits.partitions_max) {
    return Invalid("{}: partition {}; send one below {}", profile, untrusted.partition(),
                   limits.partitions_max);
  }
  if (absl::Status same = CheckSameLength(
          profile, {"explicit_key_hashes", untrusted.explicit_key_hashes_size()},
          {"explicit_key_bytes", untrusted.explicit_key_bytes_size()}, "one size for each hash");
      !same.ok()) {
    return same;
  }
  if (absl::Status same = CheckSameLength(
          profile, {"sampled_key_hashes", untrusted.sampled_key_hashes_size()},
          {"sampled_key_bytes", untrusted.sampled_key_bytes_size()}, "one size for each hash");
      !same.ok()) {
    return same;
  }
  if (absl::Status same = CheckValues(profile, untrusted); !same.ok()) return same;
  const std::string subject = fmt::format("{}, partition {}", profile, untrusted.partition());
  if (absl::Status sizes = CheckPartitionSizes(untrusted, subject); !sizes.ok()) return sizes;

  PartitionProfile partition;
  partition.partition = untrusted.partition();
  partition.total_bytes = untrusted.total_bytes();
  partition.explicit_keys = ZipKeys(untrusted.explicit_key_hashes(), untrusted.explicit_key_bytes(),
                                    untrusted.explicit_key_values());
  partition.implicit_key_count = untrusted.implicit_key_count();
  partition.implicit_bytes = untrusted.implicit_bytes();
  if (untrusted.has_scanned_bytes()) partition.scanned_bytes = untrusted.scanned_bytes();
  partition.sampled_keys = ZipKeys(untrusted.sampled_key_hashes(), untrusted.sampled_key_bytes(),
                                   untrusted.sampled_key_values());
  return partition;
}

absl::Status CheckNoPartitionTwice(const std::vector<PartitionProfile>& partitions,
                                   const std::string& subject) {
  std::vector<std::uint32_t> indexes;
  indexes.reserve(partitions.size());
  for (const PartitionProfile& partition : partitions) indexes.push_back(partition.partition);
  std::sort(indexes.begin(), indexes.end());
  const auto twice = std::adjacent_find(indexes.begin(), indexes.end());
  if (twice == indexes.end()) return absl::OkStatus();
  return Invalid("{}: partition {} appears twice; send one entry for each", subject, *twice);
}

absl::Status CheckPoints(const v1::ReduceProfile& untrusted, const std::string& subject) {
  const Array bytes{"point_bytes", untrusted.point_bytes_size()};
  for (const Array& other : {Array{"point_counts", untrusted.point_counts_size()},
                             Array{"point_nanos", untrusted.point_nanos_size()}}) {
    if (absl::Status same = CheckSameLength(subject, bytes, other, "one of each for each point");
        !same.ok()) {
      return same;
    }
  }
  for (int i = 0; i < untrusted.point_counts_size(); ++i) {
    if (untrusted.point_counts(i) == 0) {
      return Invalid("{}: point_counts[{}] is 0; leave out a point of no key groups", subject, i);
    }
  }
  const std::uint64_t count = SaturatingSum(untrusted.point_counts());
  if (count > untrusted.groups_done()) {
    return Invalid("{}: point_counts add up to {} but groups_done is {}; send points once", subject,
                   count, untrusted.groups_done());
  }
  return absl::OkStatus();
}

absl::Status CheckBinLengths(const v1::ReduceProfile& untrusted, const std::string& subject) {
  const Array indexes{"bin_indexes", untrusted.bin_indexes_size()};
  for (const Array& other : {Array{"bin_counts", untrusted.bin_counts_size()},
                             Array{"bin_bytes", untrusted.bin_bytes_size()},
                             Array{"bin_seconds", untrusted.bin_seconds_size()},
                             Array{"bin_seconds_squared", untrusted.bin_seconds_squared_size()}}) {
    if (absl::Status same = CheckSameLength(subject, indexes, other, "one of each for each bin");
        !same.ok()) {
      return same;
    }
  }
  if (untrusted.bin_emitted_bytes_size() == 0) return absl::OkStatus();
  return CheckSameLength(subject, indexes,
                         {"bin_emitted_bytes", untrusted.bin_emitted_bytes_size()},
                         "one of each for each bin, or none at all");
}

absl::Status CheckBins(const v1::ReduceProfile& untrusted, const std::string& subject) {
  if (absl::Status lengths = CheckBinLengths(untrusted, subject); !lengths.ok()) return lengths;
  std::bitset<kSizeBins> seen;
  for (int i = 0; i < untrusted.bin_indexes_size(); ++i) {
    const std::uint32_t bin = untrusted.bin_indexes(i);
    if (bin >= kSizeBins) {
      return Invalid("{}: bin_indexes[{}] is {}; send one below {}", subject, i, bin, kSizeBins);
    }
    if (seen.test(bin)) {
      return Invalid("{}: bin {} appears twice; send one entry for each", subject, bin);
    }
    seen.set(bin);
    if (untrusted.bin_counts(i) == 0) {
      return Invalid("{}: bin_counts[{}] is 0; leave out a bin of no key groups", subject, i);
    }
    if (absl::Status sum = CheckSum(subject, "bin_seconds", untrusted.bin_seconds(i)); !sum.ok()) {
      return sum;
    }
    if (absl::Status sum =
            CheckSum(subject, "bin_seconds_squared", untrusted.bin_seconds_squared(i));
        !sum.ok()) {
      return sum;
    }
  }
  const std::uint64_t count = SaturatingSum(untrusted.bin_counts());
  if (count > untrusted.groups_done()) {
    return Invalid("{}: bin_counts add up to {} but groups_done is {}; send bins once", subject,
                   count, untrusted.groups_done());
  }
  return absl::OkStatus();
}

absl::Status CheckFinishedKeys(const v1::ReduceProfile& untrusted, const std::string& subject) {
  const Array hashes{"finished_key_hashes", untrusted.finished_key_hashes_size()};
  if (absl::Status same = CheckSameLength(
          subject, hashes, {"finished_key_bytes", untrusted.finished_key_bytes_size()},
          "one size for each hash");
      !same.ok()) {
    return same;
  }
  for (const Array& array :
       {Array{"finished_key_nanos", untrusted.finished_key_nanos_size()},
        Array{"finished_key_emitted_bytes", untrusted.finished_key_emitted_bytes_size()}}) {
    if (array.size == 0) continue;
    if (absl::Status same =
            CheckSameLength(subject, hashes, array, "one of each for each hash, or none at all");
        !same.ok()) {
      return same;
    }
  }
  return absl::OkStatus();
}

absl::Status CheckReduceArrays(const v1::ReduceProfile& untrusted, const std::string& subject,
                               const EnvelopeLimits& limits) {
  for (const Array& array : {Array{"point_bytes", untrusted.point_bytes_size()},
                             Array{"bin_indexes", untrusted.bin_indexes_size()},
                             Array{"finished_key_hashes", untrusted.finished_key_hashes_size()}}) {
    if (absl::Status items = CheckItems(subject, array.field, static_cast<std::size_t>(array.size),
                                        limits.array_items_max);
        !items.ok()) {
      return items;
    }
  }
  if (absl::Status points = CheckPoints(untrusted, subject); !points.ok()) return points;
  if (absl::Status bins = CheckBins(untrusted, subject); !bins.ok()) return bins;
  return CheckFinishedKeys(untrusted, subject);
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
                    checked.bin_emitted_bytes_size() == 0 ? 0 : checked.bin_emitted_bytes(i)});
  }
  return bins;
}

std::vector<FinishedKey> ZipFinishedKeys(const v1::ReduceProfile& checked) {
  std::vector<FinishedKey> keys;
  keys.reserve(static_cast<std::size_t>(checked.finished_key_hashes_size()));
  const bool timed = checked.finished_key_nanos_size() > 0;
  const bool emission_known = checked.finished_key_emitted_bytes_size() > 0;
  for (int i = 0; i < checked.finished_key_hashes_size(); ++i) {
    keys.push_back(
        {KeyHash{checked.finished_key_hashes(i)}, checked.finished_key_bytes(i),
         timed ? SaturatingNanoseconds(checked.finished_key_nanos(i)) : absl::ZeroDuration(),
         emission_known ? checked.finished_key_emitted_bytes(i) : 0});
  }
  return keys;
}

absl::StatusOr<RunningGroup> ParseRunningGroup(const v1::RunningGroup& untrusted,
                                               const std::string& subject) {
  absl::StatusOr<absl::Duration> elapsed =
      ParseElapsed(untrusted.elapsed(), subject + ": running_group.elapsed");
  if (!elapsed.ok()) return elapsed.status();
  RunningGroup group;
  if (untrusted.has_key_hash()) group.key = KeyHash{untrusted.key_hash()};
  group.elapsed = *elapsed;
  group.bytes_read = untrusted.bytes_read();
  group.values_read = untrusted.values_read();
  group.bytes_emitted = untrusted.bytes_emitted();
  return group;
}

absl::StatusOr<ProcessorUse> ParseProcessorUse(const v1::ProcessorUse& untrusted,
                                               const std::string& subject) {
  absl::StatusOr<absl::Duration> watched =
      ParseElapsed(untrusted.watched(), subject + ": processor_use.watched");
  if (!watched.ok()) return watched.status();
  absl::StatusOr<absl::Duration> waited =
      ParseElapsed(untrusted.waited(), subject + ": processor_use.waited");
  if (!waited.ok()) return waited.status();
  return ProcessorUse{*watched, *waited, untrusted.processors()};
}

absl::Status ParseReduceTimes(const v1::ReduceProfile& untrusted, const std::string& subject,
                              ReduceProfile& profile) {
  if (untrusted.has_last_group_finished_at()) {
    absl::StatusOr<absl::Time> finished =
        ParseTime(untrusted.last_group_finished_at(), subject + ": last_group_finished_at");
    if (!finished.ok()) return finished.status();
    profile.last_group_finished_at = *finished;
  }
  absl::StatusOr<absl::Duration> reduce_time =
      ParseElapsed(untrusted.reduce_time(), subject + ": reduce_time");
  if (!reduce_time.ok()) return reduce_time.status();
  profile.reduce_time = *reduce_time;
  if (untrusted.has_running_group()) {
    absl::StatusOr<RunningGroup> group = ParseRunningGroup(untrusted.running_group(), subject);
    if (!group.ok()) return group.status();
    profile.running_group = *group;
  }
  if (untrusted.has_processor_use()) {
    absl::StatusOr<ProcessorUse> use = ParseProcessorUse(untrusted.processor_use(), subject);
    if (!use.ok()) return use.status();
    profile.processor_use = *use;
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<AttemptId> ParseAttempt(const v1::TaskAttemptId& untrusted, const char* subject,
                                       const EnvelopeLimits& limits) {
  AttemptId id;
  switch (untrusted.kind()) {
    case v1::TASK_KIND_MAP:
      id.kind = TaskKind::kMap;
      break;
    case v1::TASK_KIND_REDUCE:
      id.kind = TaskKind::kReduce;
      break;
    default:
      return Invalid("{}: attempt.kind is {}; send TASK_KIND_MAP or TASK_KIND_REDUCE", subject,
                     static_cast<int>(untrusted.kind()));
  }
  id.index = untrusted.index();
  id.attempt = untrusted.attempt();
  if (id.index > limits.task_index_max) {
    return Invalid("{}: attempt.index is {}; send at most {}", subject, id.index,
                   limits.task_index_max);
  }
  if (untrusted.stage_id().size() > limits.id_bytes_max) {
    return Invalid("{} of {}: attempt.stage_id has {} bytes; send at most {}", subject,
                   ToString(id), untrusted.stage_id().size(), limits.id_bytes_max);
  }
  return id;
}

absl::StatusOr<MapProfile> ParseMapProfile(const v1::MapProfile& untrusted,
                                           const EnvelopeLimits& limits) {
  absl::StatusOr<AttemptId> attempt = ParseAttempt(untrusted.attempt(), "map profile", limits);
  if (!attempt.ok()) return attempt.status();
  const std::string subject = fmt::format("map profile of {}", ToString(*attempt));
  if (absl::Status kind = CheckKind(subject, *attempt, TaskKind::kMap); !kind.ok()) return kind;
  if (absl::Status items =
          CheckItems(subject, "partitions", static_cast<std::size_t>(untrusted.partitions_size()),
                     limits.partitions_max);
      !items.ok()) {
    return items;
  }

  MapProfile profile;
  profile.attempt = *attempt;
  profile.partitions.reserve(static_cast<std::size_t>(untrusted.partitions_size()));
  profile.sampled_below = untrusted.sampled_below();
  std::size_t explicit_keys = 0;
  std::size_t sampled_keys = 0;
  for (const v1::PartitionProfile& partition : untrusted.partitions()) {
    explicit_keys += static_cast<std::size_t>(partition.explicit_key_hashes_size());
    if (absl::Status items =
            CheckItems(subject, "explicit_key_hashes", explicit_keys, limits.array_items_max);
        !items.ok()) {
      return items;
    }
    sampled_keys += static_cast<std::size_t>(partition.sampled_key_hashes_size());
    if (absl::Status items =
            CheckItems(subject, "sampled_key_hashes", sampled_keys, limits.array_items_max);
        !items.ok()) {
      return items;
    }
    absl::StatusOr<PartitionProfile> parsed = ParsePartition(partition, subject, limits);
    if (!parsed.ok()) return parsed.status();
    profile.partitions.push_back(*std::move(parsed));
  }
  if (absl::Status once = CheckNoPartitionTwice(profile.partitions, subject); !once.ok()) {
    return once;
  }
  return profile;
}

absl::StatusOr<ReduceProfile> ParseReduceProfile(const v1::ReduceProfile& untrusted,
                                                 const EnvelopeLimits& limits) {
  absl::StatusOr<AttemptId> attempt = ParseAttempt(untrusted.attempt(), "reduce profile", limits);
  if (!attempt.ok()) return attempt.status();
  const std::string subject = fmt::format("reduce profile of {}", ToString(*attempt));
  if (absl::Status kind = CheckKind(subject, *attempt, TaskKind::kReduce); !kind.ok()) return kind;
  if (absl::Status arrays = CheckReduceArrays(untrusted, subject, limits); !arrays.ok()) {
    return arrays;
  }
  if (untrusted.dropped_points() > untrusted.groups_done()) {
    return Invalid("{}: dropped_points is {} but groups_done is {}; count dropped groups as done",
                   subject, untrusted.dropped_points(), untrusted.groups_done());
  }

  ReduceProfile profile;
  profile.attempt = *attempt;
  if (absl::Status times = ParseReduceTimes(untrusted, subject, profile); !times.ok()) return times;
  profile.groups_done = untrusted.groups_done();
  profile.bytes_done = untrusted.bytes_done();
  profile.points = ZipPoints(untrusted);
  profile.bins = ZipBins(untrusted);
  profile.keys_named = untrusted.keys_named();
  profile.named_group_bytes_min = untrusted.named_group_bytes_min();
  profile.finished_keys = ZipFinishedKeys(untrusted);
  profile.dropped_points = untrusted.dropped_points();
  return profile;
}

}  // namespace tidemark::wire
