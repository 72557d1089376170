// How much slower or faster than the cost model a node is: a factor on every predicted time there.
//
//   l = ln(observed / predicted time of the key groups finished there), of late more than of old
//   ln q = l t^2 / (t^2 + s^2), s^2 the sampling variance of l, t^2 the variance between nodes
//
// Tasks of one host share a factor; where hosts are not told each task has its own. Source:
// docs/references.md [TM]. Cost of an update: O(tasks x bins). Not thread-safe.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "master/model/job_state.h"
#include "master/model/tidemark/group_times.h"
#include "regression/cost_model.h"

namespace tidemark::model {

struct SpeedFactor {
  double factor = 1;     // on predicted seconds; > 1 is slow
  double deviation = 0;  // of its logarithm
};

class TaskSpeeds {
 public:
  // The key groups finished so far in all tasks, each task's times divided by its factor.
  std::vector<regression::CostBin> PooledTimes(const JobState& state) const;
  // Takes in what has finished since the last update, and compares it with `table`.
  // `predicted_total` is the predicted reduce time of each task in all, seconds.
  void Update(const JobState& state, GroupTimeTable& table,
              const std::vector<double>& predicted_total);

  // Of a started task, and of one that has not started or has finished nothing.
  SpeedFactor of_task(std::size_t index) const;
  SpeedFactor of_new_task() const { return {1, between_}; }

 private:
  // Moments of a bin that fade as the task goes on.
  struct FadingBin {
    std::uint32_t bin = 0;
    double count = 0;
    double bytes = 0;
    double seconds = 0;
  };
  struct Task {
    std::vector<GroupBin> seen;  // as of the last update
    std::vector<FadingBin> recent;
    std::size_t unit = 0;
  };
  struct Unit {
    double observed = 0;
    double predicted = 0;
    double variance = 0;
    SpeedFactor speed;
  };

  void Fade(const std::vector<GroupBin>& now, double predicted_total, Task& task);
  std::size_t UnitOf(const JobState& state, std::size_t index);

  std::vector<Task> tasks_;
  std::vector<Unit> units_;
  absl::flat_hash_map<std::string, std::size_t> unit_of_host_;
  double between_ = 0.03;  // deviation between nodes
};

}  // namespace tidemark::model
