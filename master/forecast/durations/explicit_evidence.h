// What finished explicit key groups took and emitted, by what their cost may depend on.
//
// Of an explicit key more is known than of others: its own time, what it emitted, and, where the
// job's map tasks read two inputs, how much of it came from each. So the cost of a join can be seen
// as a function of the product of the two ([NF] 7.3: n_R(k) n_S(k)) and not of their sum.
//
// Cost of an update: O(explicit key groups finished since the last). Not thread-safe.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "master/facts/job_record.h"
#include "master/forecast/durations/cost_feature.h"
#include "master/forecast/durations/task_speed.h"
#include "regression/cost_model.h"

namespace tidemark::cost {

inline KeyTraits TraitsOf(const model::KeyDistribution& keys, KeyHash key) {
  return {keys.FirstInputShare(key), keys.ValuesPerByte(key)};
}

class ExplicitEvidence {
 public:
  void Update(const model::JobRecord& state);
  // Seconds on a node of speed 1, and bytes emitted, over the feature.
  std::vector<regression::CostBin> Times(CostFeature feature, const TaskSpeeds& speeds) const;
  // Of all of them together, on whatever node.
  double seconds() const { return seconds_; }
  // Of every task, what it has finished.
  std::vector<std::vector<FinishedBin>> Finished(CostFeature feature) const;
  std::vector<regression::CostBin> Emissions(CostFeature feature) const;
  // For checkpoints (master/facts/checkpoint.h).
  template <class Archive>
  void serialize(Archive& archive) {
    archive(tasks_, seconds_);
  }

 private:
  bool AnyEmitted(CostFeature feature) const;
  struct Sums {
    double count = 0;
    double feature = 0;
    double bytes = 0;
    double seconds = 0;
    double seconds_squared = 0;
    double emitted = 0;
    double emitted_squared = 0;

    template <class Archive>
    void serialize(Archive& archive) {
      archive(count, feature, bytes, seconds, seconds_squared, emitted, emitted_squared);
    }
  };
  using Bins = std::map<std::uint32_t, Sums>;
  struct Task {
    std::map<std::uint32_t, std::size_t> taken;  // of each attempt's finished groups
    std::array<Bins, kCostFeatures> bins;        // by feature

    template <class Archive>
    void serialize(Archive& archive) {
      archive(taken, bins);
    }
  };
  std::vector<Task> tasks_;
  double seconds_ = 0;
};

}  // namespace tidemark::cost
