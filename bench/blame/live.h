// The same workload as a master hears of it: each query a job, whose driver sends its events once a
// second.
#pragma once

#include <vector>

#include "bench/blame/cluster.h"
#include "bench/blame/judge.h"

namespace tidemark::bench {

struct Live {
  // By which each job ended later because of each other, as `tidemark why` says it, and its limits.
  Weights seconds;
  Weights lower;
  Weights upper;
  std::vector<double> update_ms;  // of each second: events taken, sums folded
  std::vector<double> question_ms;
  double memory_mb = 0;
};

Live FollowLive(const Workload& workload, const Outcome& outcome);

}  // namespace tidemark::bench
