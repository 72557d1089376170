// Compares the named queries with the true causes.
#pragma once

#include <cstddef>
#include <vector>

#include "bench/blame/cluster.h"
#include "master/waits/contention.h"
#include "master/waits/proto_graph.h"

namespace tidemark::bench {

// [target][source] in any unit. A query has no entry for itself.
using Weights = std::vector<std::vector<double>>;

// Converts the reports to a master to pieces. Without reports, each task is one piece.
std::vector<waits::Piece> PiecesOf(const Workload& workload, const Outcome& outcome);

waits::Ledger LedgerOf(const std::vector<waits::Piece>& pieces);
std::vector<waits::Target> AllTargets(const Workload& workload);

// Return the seconds of delay, and ProtoGraph's responsibility.
Weights DelaySeconds(const Workload& workload, const waits::Ledger& ledger);
Weights GraphResponsibilities(const Workload& workload, const waits::Ledger& ledger);

// The usual measures. They are the seconds for which tasks of two queries were on one host, and the
// processor seconds of the other query in that time.
struct Baselines {
  Weights overlap_seconds;
  Weights stolen_seconds;
};
Baselines BaselinesOf(const Workload& workload, const Outcome& outcome);

struct Score {
  std::size_t targets = 0;
  std::size_t top1 = 0;        // the first one is correct
  std::size_t top3_order = 0;  // the first three are correct and in order
  void Add(const std::vector<double>& truth, const std::vector<double>& named);
};

}  // namespace tidemark::bench
