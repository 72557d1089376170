// Finds the contents of a map profile ([NF] 5.1, eq. 10): the lambda heaviest keys of one map task,
// and the totals of all other keys per partition.
//
// Offer() adds one key group of one partition. If a key is offered twice, it counts as two key
// groups, which the master adds up. Cost: O(log lambda) for a key that enters the heap, else O(1).
// Memory: lambda entries, and one total per partition. Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tidemark/event.h"

namespace tidemark::streaming {

class HeaviestKeys {
 public:
  // With lambda = 0, every key is implicit.
  HeaviestKeys(std::uint32_t partition_count_hint, std::uint32_t lambda);

  void Offer(std::uint32_t partition, const ExplicitKey& group);
  void Offer(std::uint32_t partition, KeyHash key, std::uint64_t size_bytes) {
    Offer(partition, {key, size_bytes});
  }

  // Returns one entry per partition with data, by index. Its explicit keys are in descending order
  // of size, ties by hash. total_bytes is the sum of the explicit keys and implicit_bytes.
  std::vector<PartitionProfile> Profiles() const;

 private:
  struct Entry {
    std::uint64_t size_bytes;
    KeyHash key;
    std::uint64_t values;
    std::uint32_t partition;
  };
  struct Totals {
    std::uint64_t key_count = 0;
    std::uint64_t bytes = 0;
  };
  std::uint32_t lambda_;
  std::vector<Entry> heap_;     // lightest first
  std::vector<Totals> totals_;  // by partition
};

}  // namespace tidemark::streaming
