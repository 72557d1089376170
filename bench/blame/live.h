// Runs the workload with a master. Each query is a job, whose driver sends events once per second.
#pragma once

#include <vector>

#include "bench/blame/cluster.h"
#include "bench/blame/judge.h"
#include "tidemark/contention.h"

namespace tidemark::bench {

struct Live {
  // The seconds by which each job delayed each other job according to `tidemark why`, with lower
  // and upper bounds.
  Weights seconds;
  Weights lower;
  Weights upper;
  // milliseconds to process the events and sums of one simulated second
  std::vector<double> update_ms;
  std::vector<double> question_ms;
  // The contention of all jobs, and the time that its computation took.
  std::vector<ContentionList> lists;
  double contention_ms = 0;
  double memory_mb = 0;
};

Live FollowLive(const Workload& workload, const Outcome& outcome);

}  // namespace tidemark::bench
