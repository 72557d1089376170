// How much of its slack a key turns out to have, the bytes that map tasks which did not name it can
// have emitted of it at most (model::KeyDistribution::SlackBytes), by the map task that named most
// of it.
//
// Keys of one map task have much in common. Where a graph is sorted by one end of its edges, those
// of its first part lack nothing, and those of its last part most of what they have. Keys finish in
// that order, too: what finished keys taught is kept apart by map task, and what sampled keys that
// are left show comes on top. While little is known of a map task its part is held to that of all:
//
//   of all        L(sampled and left, L(finished, 0.5))
//   of map task j L(sampled and left of j, L(finished of j, of all))
//   L(keys, p)  = (used bytes + kPriorCount m p) / (slack bytes + kPriorCount m)
//
// with m the mean slack of a key. Source: docs/adr/0039-slack-by-the-map-task-of-a-key.md.
// Memory: O(map tasks). Not thread-safe.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "master/forecast/durations/sampled_groups.h"

namespace tidemark::cost {

class SlackParts {
 public:
  // A finished key of `map_task` had `used_bytes` of its slack, 0 <= used <= slack, and counts
  // `weight` times. O(1) amortised.
  void Learn(std::size_t map_task, double used_bytes, double slack_bytes, double weight);
  // Divides all weights so far. O(map tasks)
  void ScaleDown(double by);
  // What is to be expected, 0..1, by map task. `mean_slack_bytes` is of an explicit key,
  // `newest_weight` the weight of a key that finishes now. O(map tasks + sampled keys)
  std::vector<double> Expect(std::span<const SampledGroup> sampled, std::size_t map_tasks,
                             double mean_slack_bytes, double newest_weight) const;

  // For checkpoints (master/facts/checkpoint.h).
  template <class Archive>
  void serialize(Archive& archive) {
    archive(finished_);
  }

 private:
  struct Use {
    double used_bytes = 0;
    double slack_bytes = 0;

    void Add(const Use& other, double weight);
    // The part, held to `expected` as if keys with `prior_bytes` of slack had had that.
    double Part(double expected, double prior_bytes) const;

    template <class Archive>
    void serialize(Archive& archive) {
      archive(used_bytes, slack_bytes);
    }
  };

  std::vector<Use> finished_;  // by map task
};

}  // namespace tidemark::cost
