// The yardstick: predicts the end from what cannot be known while the job runs.
//
// It knows all key groups, the mean of each one's measured costs and the nominal speeds of the
// nodes; not which of the measurements this run takes, nor the noise of the nodes, and nothing
// about the inside of a running group but how long it has run. Not a lower bound: an indicator that
// sees inside a running group can do better.
#pragma once

#include <cstddef>
#include <vector>

#include "bench/accuracy/node.h"
#include "bench/accuracy/timeline.h"
#include "bench/accuracy/workload.h"

namespace tidemark::bench {

class Oracle {
 public:
  // `nodes` have no noise. Both references must outlive this.
  Oracle(const Workload& workload, const Timeline& timeline, std::vector<Node> nodes);

  // The predicted end, seconds from the start of the phase. `now` never decreases; a call costs
  // O(tasks x slots) and the groups that have ended since the last one.
  double PredictEnd(double now);

 private:
  // What is known of an attempt at the time of the last call.
  struct Progress {
    std::size_t groups_done = 0;
    double work_left = 0;  // expected, of the groups that have not ended
  };
  double PredictAttempt(std::size_t index, double now);

  const Workload& workload_;
  const Timeline& timeline_;
  std::vector<Node> nodes_;
  std::vector<double> task_work_;   // expected, by task
  std::vector<Progress> progress_;  // by attempt
};

}  // namespace tidemark::bench
