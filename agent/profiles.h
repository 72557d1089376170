// Keeps profiles within the size that the outbox accepts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "tidemark/event.h"

namespace tidemark::agent {

// Totals of the keys that are not listed individually.
struct ImplicitKeys {
  std::uint64_t count = 0;
  std::uint64_t bytes = 0;
};

// Adds implicit keys to their partitions. Creates an entry for a partition that has none.
void AddImplicit(const std::map<std::uint32_t, ImplicitKeys>& more,
                 std::vector<PartitionProfile>& partitions);

// Makes the lightest explicit keys implicit until at most `keys_max` remain. Among equally light
// keys, the keys of later partitions are removed first. Totals do not change.
void KeepHeaviest(std::size_t keys_max, std::vector<PartitionProfile>& partitions);

// Returns the number of explicit keys whose encoding fits into `bytes_max` together with
// `partition_count` partitions.
std::size_t KeysThatFit(std::size_t bytes_max, std::size_t partition_count);

// Returns the encoded size of `keys` keys.
std::size_t BytesOfKeys(std::size_t keys);

// Splits a reduce profile. Returns at least one profile, each with an encoded size of at most
// `bytes_max`, except for the bins of the first one (18 kB). Distributes points and names over the
// profiles. The first part contains the bins, and the last part the running group. All parts
// contain the totals and the processor use.
std::vector<ReduceProfile> SplitProfile(ReduceProfile profile, std::size_t bytes_max);

}  // namespace tidemark::agent
