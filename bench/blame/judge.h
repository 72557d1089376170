// Who is named, and whether it is the one.
#pragma once

#include <cstddef>
#include <vector>

#include "bench/blame/cluster.h"
#include "master/waits/contention.h"
#include "master/waits/proto_graph.h"

namespace tidemark::bench {

// [target][source], whatever the unit; a query has none towards itself.
using Weights = std::vector<std::vector<double>>;

// What a master would have been told, as pieces. Without reports each task is one.
std::vector<blame::Piece> PiecesOf(const Workload& workload, const Outcome& outcome);

blame::Ledger LedgerOf(const std::vector<blame::Piece>& pieces);
std::vector<blame::Target> AllTargets(const Workload& workload);

// Seconds of delay, and responsibility in ProtoGraph.
Weights DelaySeconds(const Workload& workload, const blame::Ledger& ledger);
Weights GraphResponsibilities(const Workload& workload, const blame::Ledger& ledger);

// What one looks at today: seconds for which tasks of two queries were on a host together, and
// processor seconds that the other used meanwhile.
struct Baselines {
  Weights overlap_seconds;
  Weights stolen_seconds;
};
Baselines BaselinesOf(const Workload& workload, const Outcome& outcome);

struct Score {
  std::size_t targets = 0;
  std::size_t top1 = 0;        // the first is the true one
  std::size_t top3_order = 0;  // and the first three are, in order
  void Add(const std::vector<double>& truth, const std::vector<double>& named);
};

}  // namespace tidemark::bench
