// What the sample of keys (streaming/key_sample.h) tells of the key groups that are still to come.
//
// Sizes are known of it before the first reduce task runs, and what it has of the key groups that
// finished is known by identity. So the rest of it tells what is left, also where neighbouring keys
// are alike and the last ones are unlike the first. Cost of Update: O(sample), 4096 keys at most.
// Not thread-safe.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "master/facts/job_record.h"
#include "master/forecast/durations/recent_sizes.h"

namespace tidemark::cost {

// A sampled key group that its task has yet to finish.
struct SampledGroup {
  KeyHash key{};
  double size_bytes = 0;      // exact
  double explicit_bytes = 0;  // what the summaries know of it; 0: it is implicit
  double slack_bytes = 0;     // model::KeyDistribution::SlackBytes
  std::size_t map_task = 0;   // model::KeyDistribution::MainMapTask
};

class SampledGroups {
 public:
  void Update(const model::JobRecord& state);

  bool has_sample() const { return has_sample_; }
  std::span<const SampledGroup> explicit_groups() const { return explicit_; }
  // Sizes of the implicit ones.
  std::span<const RecentSizes::Bin> implicit_bins() const { return bins_; }
  std::size_t implicit_count() const { return implicit_count_; }

 private:
  bool has_sample_ = false;
  std::vector<SampledGroup> explicit_;
  std::vector<RecentSizes::Bin> bins_;
  std::size_t implicit_count_ = 0;
};

}  // namespace tidemark::cost
