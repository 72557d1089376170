// The reference: predicts the end from facts that cannot be known while the job runs.
//
// It uses all key groups, the mean of their measured costs, and the nominal speeds of nodes. It
// does not use the measurement of this run, the noise of nodes, or the inside of a running group,
// except its elapsed time. It is not a lower bound: an indicator that sees inside a running group
// can be better.
#pragma once

#include <cstddef>
#include <vector>

#include "bench/accuracy/node.h"
#include "bench/accuracy/timeline.h"
#include "bench/accuracy/workload.h"

namespace tidemark::bench {

class Oracle {
 public:
  // `nodes` have no noise. Both references must outlive this object.
  Oracle(const Workload& workload, const Timeline& timeline, std::vector<Node> nodes);

  // Returns the predicted end in seconds from the start of the phase. `now` never decreases. A call
  // costs O(tasks x slots), plus the groups that have ended since the last call.
  double PredictEnd(double now);

 private:
  // State of an attempt at the last call.
  struct Progress {
    std::size_t groups_done = 0;
    double work_left = 0;  // expected work of unfinished groups
  };
  double PredictAttempt(std::size_t index, double now);

  const Workload& workload_;
  const Timeline& timeline_;
  std::vector<Node> nodes_;
  std::vector<double> task_work_;   // expected work by task
  std::vector<Progress> progress_;  // by attempt
};

}  // namespace tidemark::bench
