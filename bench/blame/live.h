// Runs the workload through a master. Each query is a job, and its driver sends events once per
// second.
#pragma once

#include <vector>

#include "bench/blame/cluster.h"
#include "bench/blame/judge.h"
#include "tidemark/contention.h"

namespace tidemark::bench {

struct Live {
  // The seconds by which each job delayed each other job according to `tidemark why`, with limits.
  Weights seconds;
  Weights lower;
  Weights upper;
  std::vector<double> update_ms;  // time per simulated second to process events and add up sums
  std::vector<double> question_ms;
  // The contention of all jobs, and the time to compute it.
  std::vector<ContentionList> lists;
  double contention_ms = 0;
  double memory_mb = 0;
};

Live FollowLive(const Workload& workload, const Outcome& outcome);

}  // namespace tidemark::bench
