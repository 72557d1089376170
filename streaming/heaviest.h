// The lambda heaviest keys of one map task, and the totals of all the others per partition: what a
// map profile is made of ([NF] 5.1, eq. 10).
//
// Offer() takes one key group of one partition; the same key twice counts as two key groups, which
// the master adds up. Cost: O(log lambda) for a key that enters, O(1) for one that does not.
// Memory: lambda entries and one total for each partition seen. Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tidemark/event.h"

namespace tidemark::streaming {

class HeaviestKeys {
 public:
  // lambda = 0: every key is implicit.
  HeaviestKeys(std::uint32_t partition_count_hint, std::uint32_t lambda);

  void Offer(std::uint32_t partition, const ExplicitKey& group);
  void Offer(std::uint32_t partition, KeyHash key, std::uint64_t size_bytes) {
    Offer(partition, {key, size_bytes});
  }

  // One entry for each partition with data, by index; its explicit keys by falling size, ties by
  // hash. total_bytes = sum of explicit + implicit_bytes.
  std::vector<PartitionProfile> Profiles() const;

  // The lightest explicit key; 0 while fewer than lambda keys came.
  std::uint64_t threshold_bytes() const;

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
  std::vector<Entry> heap_;     // lightest at the front
  std::vector<Totals> totals_;  // by partition
};

}  // namespace tidemark::streaming
