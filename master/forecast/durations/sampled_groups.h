// Estimates the sizes of the remaining key groups from recently finished groups (RecentSizes), from
// the sample of keys (SampledGroups), and from the slack of partly reported keys (SlackParts).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "master/facts/job_record.h"
#include "tidemark/event.h"

namespace tidemark::durations {

// Sizes of the recently finished key groups.
//
// Key groups finish in key order, and neighbouring keys are often similar. For example, node
// numbers grow with age, and words depend on their language. The next groups resemble the last
// groups more than the average. Therefore older groups fade exponentially. Not thread-safe.
class RecentSizes {
 public:
  struct Bin {
    std::uint32_t bin = 0;
    double count = 0;
    double bytes = 0;

    template <class Archive>
    void serialize(Archive& archive) {
      archive(bin, count, bytes);
    }
  };

  // Updates the sizes. `finished` contains all groups so far, by bin. `bytes_left` is the number of
  // remaining bytes. O(bins).
  void Update(std::span<const GroupBin> finished, double bytes_left);
  std::span<const Bin> bins() const { return recent_; }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(seen_, recent_);
  }

 private:
  std::vector<GroupBin> seen_;
  std::vector<Bin> recent_;
};

// A sampled key group that its task has not finished.
struct SampledGroup {
  KeyHash key{};
  double size_bytes = 0;      // exact
  double explicit_bytes = 0;  // size from the summaries; 0 if implicit
  double slack_bytes = 0;     // facts::KeyDistribution::SlackBytes
  std::size_t map_task = 0;   // facts::KeyDistribution::MainMapTask
};

// The remaining key groups in the sample of keys (streaming/key_sample.h).
//
// The sizes of sampled keys are known before the first reduce task runs, and finished keys are
// reported. The unfinished sampled keys represent the remaining key groups, even if the last keys
// differ from the first. A key that is in the sample with probability p represents 1 / p keys
// (Horvitz and Thompson). Update() takes O(sample) time, for at most 4096 keys. Not thread-safe.
class SampledGroups {
 public:
  // The implicit groups within one bin of sizes.
  struct Bin {
    RecentSizes::Bin sizes;
    // Sum of w^2 (1 - p) over the groups, where w is the weight of a group in `sizes`. With a cost
    // of c per group, c^2 times this sum is the variance of the bin's cost due to sampling.
    double square_sum = 0;
  };

  void Update(const facts::JobRecord& state);

  bool has_sample() const { return has_sample_; }
  std::span<const SampledGroup> explicit_groups() const { return explicit_; }
  // Returns the sizes of the implicit groups, by bin. The sum of their counts is implicit_count().
  // The groups use the part of their slack with which the sample represents `implicit_bytes`, the
  // bytes of all remaining implicit groups. If more map tasks reported a key, the others are more
  // likely to have emitted it, so that the group uses more of its slack.
  std::vector<Bin> ImplicitBins(double implicit_bytes) const;
  std::size_t implicit_count() const { return implicit_.size(); }
  // Returns the standard error of `per_byte`, the seconds per byte of the groups in `bins`, due to
  // sampling. `seconds` has the mean seconds of a group, by bin. Only the distances of the bins
  // from `per_byte` count, since the bytes of all groups are known. REQUIRES: equal lengths.
  static double ErrorPerByte(std::span<const Bin> bins, std::span<const double> seconds,
                             double per_byte);

 private:
  struct Implicit {
    double size_bytes = 0;
    double slack_bytes = 0;
    double likely_bytes = 0;  // used bytes of the slack, relative to other groups
    double probability = 0;
  };

  bool has_sample_ = false;
  std::vector<SampledGroup> explicit_;
  std::vector<Implicit> implicit_;
};

// Estimates the used share of a key's slack. The slack is the largest number of bytes that map
// tasks may have emitted of the key without reporting it (facts::KeyDistribution::SlackBytes). Keys
// are grouped by the map task that reported most of their bytes.
//
// The keys of one map task are similar. For example, if a graph is sorted by one end of its edges,
// keys of its first part lack no bytes, and keys of its last part lack most of their bytes. Keys
// also finish in that order. Therefore the estimate uses the finished keys of each map task and
// also the remaining sampled keys. The prior of a map task is the share over all map tasks:
//
//   of all        L(remaining sampled, L(finished, 0.5))
//   of map task j L(remaining sampled of j, L(finished of j, of all))
//   L(keys, p)  = (used bytes + kPriorCount m p) / (slack bytes + kPriorCount m)
//
// where m is the mean slack of a key. Source: docs/internals/adr/0035. Memory: O(map tasks). Not
// thread-safe.
class SlackParts {
 public:
  // Adds a finished key of `map_task` that used `used_bytes` of its slack, with a weight. REQUIRES:
  // 0 <= used_bytes <= slack_bytes. Amortised O(1).
  void Learn(std::size_t map_task, double used_bytes, double slack_bytes, double weight);
  // Divides all weights so far by `by`. O(map tasks).
  void ScaleDown(double by);
  // Returns the estimated used share, in 0..1, by map task. `mean_slack_bytes` is the mean slack of
  // an explicit key. `newest_weight` is the weight of a key that finishes now. O(map tasks +
  // sampled keys).
  std::vector<double> Estimate(std::span<const SampledGroup> sampled, std::size_t map_tasks,
                               double mean_slack_bytes, double newest_weight) const;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(finished_);
  }

 private:
  struct Use {
    double used_bytes = 0;
    double slack_bytes = 0;

    void Add(const Use& other, double weight);
    // Returns the used share, with a prior of `expected` that counts as keys with `prior_bytes` of
    // slack.
    double Part(double expected, double prior_bytes) const;

    template <class Archive>
    void serialize(Archive& archive) {
      archive(used_bytes, slack_bytes);
    }
  };

  std::vector<Use> finished_;  // by map task
};

}  // namespace tidemark::durations
