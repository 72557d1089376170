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
// A uniform sample contains few large keys, which take most of the time. A second sample of the
// implicit keys is therefore weighted by size: a map task also reports its keys of lowest rank per
// byte (SizeSampler). Since ranks are common to all map tasks, most of them report the same keys.
// The bytes that a map task did not report of such a key are bounded (SlackBytes). The ranks of
// these keys are limited (RankLimit), since that bound grows with the rank.
//
// Offer takes O(log capacity) time for a key that enters a sample, and otherwise O(1).
// KeySample::Add takes O(keys of the profile) time. Deterministic. Not thread-safe.
//
// Sources: E. Cohen, H. Kaplan: Summarizing data using bottom-k sketches, PODC 2007; the same:
// Leveraging discarded samples for tighter estimation of multiple-set aggregates, SIGMETRICS 2009.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/container/btree_map.h"
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

// Returns the rank per byte. It is below `bound` with probability bound * size_bytes / 2^64, at
// most 1. REQUIRES: size_bytes > 0.
constexpr std::uint64_t RankPerByte(KeyHash key, std::uint64_t size_bytes) {
  return SampleRank(key) / size_bytes;
}

// Returns the bound on the ranks of a sample by size, beside a sample of all ranks below `below`.
// In a simulation on six graphs and books, a factor of 8 had the smallest errors of 2, 4, 8 and
// none.
constexpr std::uint64_t RankLimit(std::uint64_t below) {
  constexpr std::uint64_t kFactor = 8;
  return below > kEveryRank / kFactor ? kEveryRank : kFactor * below;
}

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

// Samples the implicit keys of one map task by size.
class SizeSampler {
 public:
  // With capacity = 0, there is no sample.
  explicit SizeSampler(std::uint32_t capacity) : capacity_(capacity) {}

  // Adds one implicit key group of one partition. Ignores a group without bytes.
  void Offer(std::uint32_t partition, const ExplicitKey& group) {
    if (capacity_ == 0 || group.size_bytes == 0) return;
    const std::uint64_t priority = RankPerByte(group.key, group.size_bytes);
    if (priority < below_) Keep({priority, group, partition});
  }

  // Adds up to `keys_max` sampled keys to the partitions, which have all keys of a rank below
  // `below`. Returns a rank per byte below which no implicit key of a rank below RankLimit(below)
  // is missing. REQUIRES: partitions are ordered by index.
  std::uint64_t AddTo(std::uint64_t below, std::size_t keys_max,
                      std::vector<PartitionProfile>& partitions) const;

 private:
  struct Entry {
    std::uint64_t priority;
    ExplicitKey group;
    std::uint32_t partition;
  };
  void Keep(const Entry& entry);

  std::uint32_t capacity_;
  std::uint64_t below_ = kEveryRank;  // lowest dropped rank per byte
  std::vector<Entry> heap_;           // highest rank per byte first
};

// The totals of a sampled key over the map tasks that reported it.
struct SampledKey {
  std::uint32_t partition = 0;
  std::uint32_t map_tasks = 0;  // number of reports
  bool is_explicit = false;     // in any map task
  std::uint64_t size_bytes = 0;
  std::uint64_t largest_bytes = 0;  // largest size in a map task
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
  // lower rank, with its exact size.
  std::uint64_t below() const { return has_profile_ ? below_ : 0; }
  // Returns the rank per byte below which a finished key is in the sample by size, or 0 if there is
  // no such sample. On average, at most 2 kKeysMax keys of the job are below it.
  std::uint64_t below_per_byte() const;
  bool Contains(KeyHash key) const { return keys_.contains(key); }
  // Returns the sampled keys by hash. Implicit keys of a higher rank are in the sample by size.
  const absl::btree_map<KeyHash, SampledKey>& keys() const { return keys_; }
  // Returns the probability with which a key of this size is in the sample, in 0..1, or 0 if the
  // key is not.
  double ProbabilityOf(KeyHash key, const SampledKey& sampled) const;
  // Returns an upper bound of the key's bytes that map tasks did not report. It is 0 for keys of a
  // rank below below().
  double SlackBytes(KeyHash key, const SampledKey& sampled) const;
  std::uint64_t map_tasks() const { return map_tasks_; }

 private:
  enum class Source : std::uint8_t { kExplicit, kSampled };
  void AddKeys(const PartitionProfile& partition, Source source, bool is_first_input);
  bool Belongs(KeyHash key, const SampledKey& sampled) const;
  void LowerTo(std::uint64_t below, std::uint64_t per_byte);
  void Shrink();

  bool has_profile_ = false;
  std::uint64_t below_ = kEveryRank;
  std::uint64_t per_byte_ = kEveryRank;
  std::uint64_t map_tasks_ = 0;
  std::uint64_t total_bytes_ = 0;
  absl::btree_map<KeyHash, SampledKey> keys_;
};

}  // namespace tidemark::streaming
