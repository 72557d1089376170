// What is left to do with a map profile between the summary of its keys and the outbox.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "tidemark/event.h"

namespace tidemark::agent {

// Keys that are no longer known one by one.
struct ImplicitKeys {
  std::uint64_t count = 0;
  std::uint64_t bytes = 0;
};

// Adds implicit keys by partition, with a new entry for a partition that has none.
void AddImplicit(const std::map<std::uint32_t, ImplicitKeys>& more,
                 std::vector<PartitionProfile>& partitions);

// Makes the lightest explicit keys implicit until at most `keys_max` are left; of equally light
// ones those of the later partitions go first. Totals stay.
void KeepHeaviest(std::size_t keys_max, std::vector<PartitionProfile>& partitions);

// The explicit keys that fit into `bytes_max` on the wire beside what partitions need.
std::size_t KeysThatFit(std::size_t bytes_max, std::size_t partition_count);

// What so many keys take there.
std::size_t BytesOfKeys(std::size_t keys);

}  // namespace tidemark::agent
