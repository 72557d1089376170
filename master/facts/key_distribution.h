// Estimates which key groups each reduce task will get (the key distribution profile, [NF] 5.1,
// 5.2).
//
// Merges the explicit keys of all map profiles in one Space-Saving summary of capacity 35 lambda.
// The size of a key is count - error, which is never above its true size. Bytes that a key loses
// this way, or by its eviction, count as implicit bytes of its reduce task. The implicit bytes are
// the exact bytes of the task minus its explicit bytes (docs/internals/adr/0003).
//
// Add() takes amortised O(explicit keys) time. After an Add(), partition() rebuilds its lists in
// O(m log m) time for m watched keys. The memory is a summary of capacity 35 lambda (up to 70
// lambda keys) and one total per partition. Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "streaming/key_sample.h"
#include "streaming/space_saving.h"
#include "tidemark/event.h"

namespace tidemark::facts {

// The known keys of one partition before its reduce task starts.
struct PartitionKeys {
  std::uint64_t total_bytes = 0;           // exact total of the map tasks that sent a profile
  std::uint64_t explicit_bytes = 0;        // sum over explicit_keys
  std::vector<ExplicitKey> explicit_keys;  // in descending order of size, then by hash
};

class KeyDistribution {
 public:
  explicit KeyDistribution(std::uint32_t lambda);

  // Adds the profile of one map task, which read `input_name` (empty if the job has one input).
  // REQUIRES: each task is added once.
  void Add(const MapProfile& profile, const std::string& input_name = {});

  // Returns the keys of a partition, or an empty list if no map task has reported it. The reference
  // is valid until the next Add().
  const PartitionKeys& partition(std::size_t index) const;
  // Returns true if `key` is an explicit key of partition `index`. O(1).
  bool IsExplicit(std::size_t index, KeyHash key) const;
  // Returns true if map tasks of at least two inputs have been added, as in a join.
  bool has_two_inputs() const { return has_two_inputs_; }
  // Returns the known size of an explicit key, or 0 for any other key. O(1).
  std::uint64_t ExplicitBytes(KeyHash key) const;
  // Returns the part of a watched key's bytes that came from the first input, in 0..1, or 0 for any
  // other key. O(1).
  double FirstInputShare(KeyHash key) const;
  // Returns the number of records per byte of a watched key. Returns 0 if unknown or for any other
  // key. O(1).
  double ValuesPerByte(KeyHash key) const;
  // Returns true if every map task reported the number of records of its keys.
  bool has_values() const { return has_values_ && profile_count_ > 0; }
  // Returns the upper bound of a watched key's bytes beyond its explicit size. If a map task did
  // not name the key, it emitted fewer bytes of the key than of the smallest key that it named.
  // O(1).
  double SlackBytes(KeyHash key) const;
  // Returns the number of map tasks that named a watched key, or 0 for any other key. O(1).
  std::size_t MapTasksNaming(KeyHash key) const;
  // Returns the map task that named the most bytes of a watched key, as an index in the order of
  // Add(). If there are several, returns the first. Returns 0 for any other key. O(1).
  std::size_t MainMapTask(KeyHash key) const;
  // Returns a sample of keys of all sizes, with exact sizes.
  const streaming::KeySample& sample() const { return sample_; }
  // Returns the size of the smallest explicit key, or 0 if no key is explicit.
  std::uint64_t smallest_explicit_bytes() const;
  // Returns smallest_explicit_bytes() as of an earlier Add(), no more than a sixteenth of the
  // profiles ago. Amortised O(1), even if called after each Add().
  std::uint64_t recent_smallest_explicit_bytes() const;
  std::uint64_t total_bytes() const { return total_bytes_; }
  // Returns the share of the map output that was scanned for keys, in 0..1. Only the size of the
  // rest is known. Returns 1 if there is no output yet.
  double scanned_share() const;
  std::size_t profile_count() const { return profile_count_; }

 private:
  struct PartitionTotals {
    std::uint64_t total_bytes = 0;
    std::uint64_t scanned_bytes = 0;
  };
  // Facts about a watched key. The struct takes half a cache line.
  struct Mentions {
    static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
    double threshold_bytes = 0;  // sum over the map tasks that named the key
    float first_input_bytes = 0;
    float values = 0;
    float main_bytes = 0;             // most bytes that one map task named
    std::uint32_t main_map_task = 0;  // first map task that named main_bytes
    std::uint32_t partition = kNone;  // as reported by the first map task
    std::uint32_t map_tasks = 0;      // number of map tasks that named the key
  };
  struct Source {
    // size of the map task's smallest named key; 0 if it named all keys
    std::uint32_t map_task = 0;
    bool is_first_input = true;
    double threshold_bytes = 0;  // size of the smallest named key; 0 if all keys were named
  };
  void AddPartition(const PartitionProfile& partition, const Source& source);
  void Rebuild() const;

  streaming::SpaceSaving<Mentions> heavy_keys_;
  streaming::KeySample sample_;
  std::string first_input_;
  bool has_two_inputs_ = false;
  bool has_values_ = true;
  double threshold_bytes_ = 0;  // sum over all map tasks
  std::vector<PartitionTotals> totals_;
  std::uint64_t total_bytes_ = 0;
  std::uint64_t scanned_bytes_ = 0;
  std::size_t profile_count_ = 0;

  mutable bool stale_ = false;
  mutable std::size_t rebuilt_with_profiles_ = 0;
  mutable std::vector<PartitionKeys> partitions_;
  mutable std::uint64_t smallest_explicit_bytes_ = 0;
};

}  // namespace tidemark::facts
