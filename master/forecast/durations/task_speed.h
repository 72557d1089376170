// How much slower or faster than the cost model a node is: a factor on every predicted time there.
//
//   l = ln(observed / predicted time of the key groups finished there), recent ones weighing more
//   ln q = l t^2 / (t^2 + s^2), s^2 the sampling variance of l, t^2 the variance between nodes
//
// Tasks of one host share a factor; where hosts are not told each task has its own. Source:
// docs/references.md [TM]. Cost of an update: O(tasks x bins). Not thread-safe.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "master/facts/job_record.h"
#include "master/forecast/durations/group_times.h"
#include "regression/cost_model.h"
#include "regression/cost_noise.h"

namespace tidemark::cost {

struct SpeedFactor {
  double factor = 1;     // on predicted seconds; > 1 is slow
  double deviation = 0;  // of its logarithm

  template <class Archive>
  void serialize(Archive& archive) {
    archive(factor, deviation);
  }
};

// Finished key groups of one task within one bin of a feature.
struct FinishedBin {
  std::uint32_t bin = 0;
  double count = 0;
  double feature = 0;  // sum
  double bytes = 0;    // sum
  double seconds = 0;  // sum

  template <class Archive>
  void serialize(Archive& archive) {
    archive(bin, count, feature, bytes, seconds);
  }
};

// Of every task, by bytes: all key groups it has finished.
std::vector<std::vector<FinishedBin>> FinishedByBytes(const model::JobRecord& state);

class TaskSpeeds {
 public:
  // The key groups finished so far in all tasks, each task's times divided by its factor.
  std::vector<regression::CostBin> PooledTimes(const model::JobRecord& state) const;
  // The same as if all tasks were equally fast.
  static std::vector<regression::CostBin> RawTimes(const model::JobRecord& state);
  // Takes in what has finished, and compares what is new with `table`, whose model must not know of
  // any factors: it would find them confirmed. `finished[i]` is all that
  // task i has finished, by the feature of the table's model; `predicted_total` is the predicted
  // reduce time of each task in all, seconds.
  void Update(const model::JobRecord& state, const std::vector<std::vector<FinishedBin>>& finished,
              GroupTimeTable& table, const std::vector<double>& predicted_total);

  // What was taken in so far was by another feature.
  void Forget() { tasks_.clear(); }

  // Of a started task, and of one that has not started or has finished nothing.
  SpeedFactor of_task(std::size_t index) const;
  SpeedFactor of_new_task() const { return {1, between_}; }
  // For checkpoints (master/facts/checkpoint.h).
  template <class Archive>
  void serialize(Archive& archive) {
    archive(tasks_, units_, unit_of_host_, between_);
  }

 private:
  struct Task {
    std::vector<FinishedBin> seen;    // as of the last update
    std::vector<FinishedBin> recent;  // fades as the task goes on
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
  std::size_t UnitOf(const model::JobRecord& state, std::size_t index);

  std::vector<Task> tasks_;
  std::vector<Unit> units_;
  absl::flat_hash_map<std::string, std::size_t> unit_of_host_;
  double between_ = regression::kBinErrorMin;  // deviation between nodes
};

}  // namespace tidemark::cost
