// Which key groups each reduce task will get: the key distribution profile ([NF] 5.1, 5.2).
//
// Built from the map profiles. Explicit keys of all map tasks meet in one Space-Saving summary of
// capacity 35 lambda; the size taken for a key is count - error, which is never above the truth,
// and what a key loses by it or by being pushed out stays in its reduce task's implicit bytes,
// because those are the task's exact bytes less its explicit ones (docs/adr/0003).
//
// Cost: Add O(explicit keys) amortised. partition() rebuilds its lists after an Add, O(m log m).
// Memory: a summary of capacity 35 lambda (up to 70 lambda keys) and one total for each partition.
// Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "streaming/key_sample.h"
#include "streaming/space_saving.h"
#include "tidemark/event.h"

namespace tidemark::model {

// What is known of one partition before its reduce task starts.
struct PartitionKeys {
  std::uint64_t total_bytes = 0;           // exact, of the map tasks that sent a profile
  std::uint64_t explicit_bytes = 0;        // sum over explicit_keys
  std::vector<ExplicitKey> explicit_keys;  // by falling size, ties by hash
};

class KeyDistribution {
 public:
  explicit KeyDistribution(std::uint32_t lambda);

  // Adds the profile of one map task, which read `input_name` (empty: the only input); the caller
  // sees to it that each task is added once.
  void Add(const MapProfile& profile, const std::string& input_name = {});

  // Empty for a partition that no map task has mentioned. The reference holds until the next Add().
  const PartitionKeys& partition(std::size_t index) const;
  // Whether `key` is an explicit key of partition `index`. O(1).
  bool IsExplicit(std::size_t index, KeyHash key) const;
  // Whether map tasks of at least two inputs have been added, as in a join.
  bool has_two_inputs() const { return has_two_inputs_; }
  // What is known of the size of an explicit key; 0 of any other. O(1).
  std::uint64_t ExplicitBytes(KeyHash key) const;
  // The part of a watched key's bytes that came from the input named first, 0..1; 0 of a key that
  // is not watched. O(1).
  double FirstInputShare(KeyHash key) const;
  // The records of a watched key for each of its bytes; 0 if not known, and of a key that is not
  // watched. O(1).
  double ValuesPerByte(KeyHash key) const;
  // Whether every map task said how many records its keys have.
  bool has_values() const { return has_values_ && profile_count_ > 0; }
  // How many bytes a watched key may have beyond its explicit size: what the map tasks that did not
  // name it can have emitted of it at most, each less than the smallest key it named. O(1).
  double SlackBytes(KeyHash key) const;
  // How many map tasks have named a watched key; 0 of any other. O(1).
  std::size_t MapTasksNaming(KeyHash key) const;
  // The map task that named most of a watched key, the first of equals, by the order of Add();
  // below profile_count(). 0 of any other key. O(1).
  std::size_t MainMapTask(KeyHash key) const;
  // Some keys of all sizes, known exactly.
  const streaming::KeySample& sample() const { return sample_; }
  // The smallest explicit key of all; 0 if there is none.
  std::uint64_t smallest_explicit_bytes() const;
  // The same as of a while ago: of before the last sixteenth of the profiles at most. O(1)
  // amortised over Add(), for those who ask after each.
  std::uint64_t recent_smallest_explicit_bytes() const;
  std::uint64_t total_bytes() const { return total_bytes_; }
  // The part of the map output that was looked at for its keys, 0..1: of the rest the size alone is
  // known. 1 before there is any.
  double scanned_share() const;
  std::size_t profile_count() const { return profile_count_; }

 private:
  struct PartitionTotals {
    std::uint64_t total_bytes = 0;
    std::uint64_t scanned_bytes = 0;
  };
  // What is remembered of a key while it is watched, in half a line of a processor's cache.
  struct Mentions {
    static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
    double threshold_bytes = 0;  // sum over the map tasks that named it
    float first_input_bytes = 0;
    float values = 0;
    float main_bytes = 0;             // the most that one of them named
    std::uint32_t main_map_task = 0;  // the first that named so much
    std::uint32_t partition = kNone;  // of the first of them
    std::uint32_t map_tasks = 0;      // that named it
  };
  struct Source {
    std::uint32_t map_task = 0;  // by the order of Add()
    bool is_first_input = true;
    double threshold_bytes = 0;  // the smallest key it named; 0: it named all it had
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

}  // namespace tidemark::model
