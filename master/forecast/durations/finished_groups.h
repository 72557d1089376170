// Derives evidence from the finished key groups: the speed of nodes (TaskSpeeds), and the times and
// emissions of explicit keys (ExplicitEvidence).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "master/facts/job_record.h"
#include "master/forecast/durations/group_times.h"
#include "master/forecast/durations/remaining_groups.h"
#include "regression/cost_model.h"
#include "tidemark/past_run.h"

namespace tidemark::durations {

struct SpeedFactor {
  double factor = 1;     // multiplies predicted seconds; above 1 on slow nodes
  double deviation = 0;  // deviation of ln(factor)

  template <class Archive>
  void serialize(Archive& archive) {
    archive(factor, deviation);
  }
};

// Finished key groups of one task within one bin of a feature.
struct FinishedBin {
  std::uint32_t bin = 0;
  double count = 0;
  double feature = 0;
  double bytes = 0;
  double seconds = 0;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(bin, count, feature, bytes, seconds);
  }
};

// Returns the finished key groups of every task, binned by bytes.
std::vector<std::vector<FinishedBin>> FinishedByBytes(const facts::JobRecord& state);

// Returns the prior variance of the logarithmic speed of a node: `between`, the variance between
// nodes, unless the node's own `log_ratio` with the variance `sampling` is larger. If only one node
// is slow, `between` underestimates its deviation. O(1).
double VarianceOfNode(double between, double log_ratio, double sampling);

// The relative speed of each node, as a factor on every predicted time on the node.
//
//   l = ln(observed / predicted time of the key groups finished on the node), weighted by recency
//   ln q = l t^2 / (t^2 + s^2), s^2 the sampling variance of l
//   t^2 by VarianceOfNode()
//
// The tasks of one host share a factor; if hosts are unknown, each task has its own. Source:
// docs/internals/references.md [TM]. An update takes O(tasks x bins) time. Not thread-safe.
class TaskSpeeds {
 public:
  // Returns the finished key groups of all tasks, with each task's times divided by its factor.
  std::vector<regression::CostBin> PooledTimes(const facts::JobRecord& state) const;
  // Returns the finished key groups of all tasks with their original times.
  static std::vector<regression::CostBin> RawTimes(const facts::JobRecord& state);
  // Compares the newly finished key groups with `table`. The model of the table must ignore the
  // factors, since it would otherwise confirm them. `finished[i]` contains all finished groups of
  // task i, binned by the feature of that model. `predicted_total` is the predicted reduce time of
  // each task in seconds.
  void Update(const facts::JobRecord& state, const std::vector<std::vector<FinishedBin>>& finished,
              GroupTimeTable& table, const std::vector<double>& predicted_total);

  // Discards the finished groups. Must be called when the feature changes.
  void Clear() { tasks_.clear(); }

  // These functions return the factor of a started task, and of a task without finished groups.
  SpeedFactor of_task(std::size_t index) const;
  SpeedFactor of_new_task() const { return {1, between_}; }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(tasks_, units_, unit_of_host_, between_);
  }

 private:
  struct Task {
    std::vector<FinishedBin> seen;    // as of the last update
    std::vector<FinishedBin> recent;  // fades as the task progresses
    std::size_t unit = 0;

    template <class Archive>
    void serialize(Archive& archive) {
      archive(seen, recent, unit);
    }
  };
  struct Unit {
    double observed = 0;
    double predicted = 0;
    double variance = 0;
    SpeedFactor speed;

    template <class Archive>
    void serialize(Archive& archive) {
      archive(observed, predicted, variance, speed);
    }
  };

  static void Fade(const std::vector<FinishedBin>& now, double predicted_total, Task& task);
  std::size_t UnitOf(const facts::JobRecord& state, std::size_t index);

  std::vector<Task> tasks_;
  std::vector<Unit> units_;
  absl::flat_hash_map<std::string, std::size_t> unit_of_host_;
  double between_ = regression::kBinErrorMin;  // deviation between nodes
};

inline KeyTraits TraitsOf(const facts::KeyDistribution& keys, KeyHash key) {
  return {keys.FirstInputShare(key), keys.ValuesPerByte(key)};
}

// The times and emissions of finished explicit key groups, by the features that their cost may
// depend on.
//
// Explicit keys have their own times and emissions. If the job's map tasks read two inputs, the
// contribution of each input is also known. The cost of a join can therefore be a function of the
// product of the two contributions ([NF] 7.3: n_R(k) n_S(k)) instead of their sum.
//
// An update takes O(explicit key groups finished since the last update) time. Not thread-safe.
class ExplicitEvidence {
 public:
  void Update(const facts::JobRecord& state);
  // Returns the seconds on a node of speed 1, binned by the feature.
  std::vector<regression::CostBin> Times(CostFeature feature, const TaskSpeeds& speeds) const;
  // Returns the sums that a later run of the job uses, without speed factors.
  std::vector<TimedGroups> Totals(CostFeature feature) const;
  // Returns the total seconds of the key groups, without speed factors.
  double seconds() const { return seconds_; }
  // Returns the finished groups of every task, binned by the feature.
  std::vector<std::vector<FinishedBin>> Finished(CostFeature feature) const;
  std::vector<regression::CostBin> Emissions(CostFeature feature) const;
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
  // Returns the finished groups of all tasks.
  Bins Pooled(CostFeature feature, const TaskSpeeds& speeds) const;
  struct Task {
    std::map<std::uint32_t, std::size_t> taken;  // number of processed groups by attempt
    std::array<Bins, kCostFeatures> bins;        // by feature

    template <class Archive>
    void serialize(Archive& archive) {
      archive(taken, bins);
    }
  };
  std::vector<Task> tasks_;
  double seconds_ = 0;
};

}  // namespace tidemark::durations
