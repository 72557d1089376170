// Hashes keys, and samples them so that all map tasks choose the same keys.
//
// The sample contains the keys whose rank, a second hash, is below a bound. All map tasks report
// their part of a sampled key, so its totals are exact. The sample is uniform over the distinct
// keys.
//
// A map task keeps its `capacity` keys of lowest rank, and reports the bound below which it dropped
// no key (KeySampler). The sample of the job has the lowest of these bounds (KeySample). It
// contains at least as many keys as the largest sample of one map task, but at most kKeysMax. A
// larger sample lowers the bound.
//
// KeySampler::Offer takes O(log capacity) time for a key that enters the sample, and otherwise
// O(1). KeySample::Add takes O(keys of the profile) time. Deterministic. Not thread-safe.
//
// Source: E. Cohen, H. Kaplan: Summarizing data using bottom-k sketches, PODC 2007.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "tidemark/event.h"

namespace tidemark::streaming {

// Returns the 64-bit hash of a serialized intermediate key ([NF] section 6, key hashing): XXH64
// with seed 0. The hash is the same in every process, language and version;
// tests/vectors/key_hash.json contains golden values. A sender that causes collisions only makes
// its own estimate worse.
KeyHash HashKey(std::string_view serialized_key);

// Returns the rank of a key, which is uniform over 64 bits: the finalizer of MurmurHash3 over the
// key's hash. The rank is independent of the key's partition, which is the hash modulo the number
// of reduce tasks. It is the same in every language; tests/vectors/sample_rank.json contains golden
// values.
constexpr std::uint64_t SampleRank(KeyHash key) {
  auto rank = static_cast<std::uint64_t>(key);
  rank = (rank ^ (rank >> 33)) * 0xff51afd7ed558ccd;
  rank = (rank ^ (rank >> 33)) * 0xc4ceb9fe1a85ec53;
  return rank ^ (rank >> 33);
}

// A bound above all ranks except the highest rank.
inline constexpr std::uint64_t kEveryRank = ~std::uint64_t{0};

// Samples the keys of one map task.
class KeySampler {
 public:
  // With capacity = 0, there is no sample.
  explicit KeySampler(std::uint32_t capacity) : capacity_(capacity) {}

  // Adds one key group of one partition. A key that is offered twice takes two entries.
  void Offer(std::uint32_t partition, const ExplicitKey& group) {
    const std::uint64_t rank = SampleRank(group.key);
    if (rank < below_ && capacity_ > 0) Keep({rank, group, partition});
  }
  void Offer(std::uint32_t partition, KeyHash key, std::uint64_t size_bytes) {
    Offer(partition, {key, size_bytes});
  }

  // Adds the sampled keys to the partitions, except keys that are explicit there. Returns a rank
  // below which every key is explicit or sampled. REQUIRES: partitions are ordered by index.
  std::uint64_t AddTo(std::vector<PartitionProfile>& partitions) const;

 private:
  struct Entry {
    std::uint64_t rank;
    ExplicitKey group;
    std::uint32_t partition;
  };
  void Keep(const Entry& entry);

  std::uint32_t capacity_;
  std::uint64_t below_ = kEveryRank;  // lowest dropped rank
  std::vector<Entry> heap_;           // highest rank first
};

// The totals of a sampled key over all map tasks.
struct SampledKey {
  std::uint32_t partition = 0;
  std::uint64_t size_bytes = 0;
  std::uint64_t first_input_bytes = 0;
  std::uint64_t values = 0;
};

// Merges the samples of all map tasks, in the master.
class KeySample {
 public:
  static constexpr std::size_t kKeysMax = 4096;

  // Adds one map task's keys. A map task that reports no sample ends the sample of the job.
  void Add(const MapProfile& profile, bool is_first_input);

  // Returns the bound of the sample, or 0 if there is no sample. keys() contains every key of a
  // lower rank.
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
