// A sample of keys on which all map tasks agree: those whose rank, a second hash of the key, lies
// below a bound. Whatever is known of a sampled key is therefore exact, although every map task
// emitted only a part of its key group, and the sample is uniform over the distinct keys.
//
// A map task keeps its `capacity` keys of least rank and says below which rank it left none out
// (KeySampler). The sample of the whole job has the least of these bounds (KeySample): it holds at
// least as many keys as the map task with the most distinct keys kept, and never more than
// kKeysMax, because the bound falls when there would be more.
//
// Cost: KeySampler::Offer O(1) for a key that does not enter, O(log capacity) for one that does;
// KeySample::Add O(keys of the profile). Deterministic. Not thread-safe.
//
// Source: E. Cohen, H. Kaplan: Summarizing data using bottom-k sketches, PODC 2007.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "tidemark/event.h"

namespace tidemark::streaming {

// The rank of a key: uniform over 64 bits and independent of the key's partition, which is its hash
// modulo the number of reduce tasks. The finalizer of MurmurHash3 over the key's hash, the same in
// every language; golden values in tests/vectors/sample_rank.json.
constexpr std::uint64_t SampleRank(KeyHash key) {
  auto rank = static_cast<std::uint64_t>(key);
  rank = (rank ^ (rank >> 33)) * 0xff51afd7ed558ccd;
  rank = (rank ^ (rank >> 33)) * 0xc4ceb9fe1a85ec53;
  return rank ^ (rank >> 33);
}

// The bound below which every key lies, but one in 2^64.
inline constexpr std::uint64_t kEveryRank = ~std::uint64_t{0};

// On the side of one map task.
class KeySampler {
 public:
  // capacity = 0: no sample.
  explicit KeySampler(std::uint32_t capacity) : capacity_(capacity) {}

  // One key group of one partition. A key that comes twice takes two places.
  void Offer(std::uint32_t partition, const ExplicitKey& group) {
    const std::uint64_t rank = SampleRank(group.key);
    if (rank < below_ && capacity_ > 0) Keep({rank, group, partition});
  }
  void Offer(std::uint32_t partition, KeyHash key, std::uint64_t size_bytes) {
    Offer(partition, {key, size_bytes});
  }

  // Adds what was kept to the partitions' sampled keys, without those that are explicit keys there
  // already, and says below which rank no key is missing from both. Partitions are by index.
  std::uint64_t AddTo(std::vector<PartitionProfile>& partitions) const;

 private:
  struct Entry {
    std::uint64_t rank;
    ExplicitKey group;
    std::uint32_t partition;
  };
  void Keep(const Entry& entry);

  std::uint32_t capacity_;
  std::uint64_t below_ = kEveryRank;  // the least rank that was ever left out
  std::vector<Entry> heap_;           // greatest rank in front
};

// What all map tasks together know of a sampled key: everything.
struct SampledKey {
  std::uint32_t partition = 0;
  std::uint64_t size_bytes = 0;
  std::uint64_t first_input_bytes = 0;
  std::uint64_t values = 0;
};

// On the side of the master.
class KeySample {
 public:
  static constexpr std::size_t kKeysMax = 4096;

  // Adds one map task's keys; one that left out keys of any rank ends the sample for good.
  void Add(const MapProfile& profile, bool is_first_input);

  // Every key of a rank below it is among keys(); 0: there is no sample.
  std::uint64_t below() const { return has_profile_ ? below_ : 0; }
  bool Contains(KeyHash key) const { return keys_.contains(key); }
  const absl::flat_hash_map<KeyHash, SampledKey>& keys() const { return keys_; }

 private:
  void AddKeys(std::uint32_t partition, const std::vector<ExplicitKey>& keys, bool is_first_input);
  void LowerTo(std::uint64_t below);

  bool has_profile_ = false;
  std::uint64_t below_ = kEveryRank;
  absl::flat_hash_map<KeyHash, SampledKey> keys_;
};

}  // namespace tidemark::streaming
