// Compares the queries that Tidemark names as causes with the true causes.
#pragma once

#include <cstddef>
#include <vector>

#include "bench/blame/cluster.h"
#include "master/waits/contention.h"
#include "master/waits/proto_graph.h"

namespace tidemark::bench {

// [target][source] in any unit. A query has no entry for itself.
using Weights = std::vector<std::vector<double>>;

// Converts the reports that a master receives to pieces. If there are no reports, each task is one
// piece.
std::vector<waits::Piece> PiecesOf(const Workload& workload, const Outcome& outcome);

waits::Ledger LedgerOf(const std::vector<waits::Piece>& pieces);
std::vector<waits::Target> AllTargets(const Workload& workload);

// These functions return the seconds of delay, and ProtoGraph's responsibility.
Weights DelaySeconds(const Workload& workload, const waits::Ledger& ledger);
Weights GraphResponsibilities(const Workload& workload, const waits::Ledger& ledger);

// The usual measures: the seconds during which tasks of two queries were on one host, and the
// processor seconds of the other query in that time.
struct Baselines {
  Weights overlap_seconds;
  Weights stolen_seconds;
};
Baselines BaselinesOf(const Workload& workload, const Outcome& outcome);

struct Score {
  std::size_t targets = 0;
  std::size_t top1 = 0;  // cases in which the first query is correct
  // cases in which the first three queries are correct and in the right order
  std::size_t top3_order = 0;
  void Add(const std::vector<double>& truth, const std::vector<double>& named);
};

}  // namespace tidemark::bench
