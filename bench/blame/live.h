// The same workload as a master receives it: each query is a job, and its driver sends events once
// per second.
#pragma once

#include <vector>

#include "bench/blame/cluster.h"
#include "bench/blame/judge.h"

namespace tidemark::bench {

struct Live {
  // Seconds by which each job delayed each other one according to `tidemark why`, with limits.
  Weights seconds;
  Weights lower;
  Weights upper;
  std::vector<double> update_ms;  // per second: events processed, sums folded
  std::vector<double> question_ms;
  double memory_mb = 0;
};

Live FollowLive(const Workload& workload, const Outcome& outcome);

}  // namespace tidemark::bench
