// The stages that run on a cluster, of all queries, and which of them a question is about.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "master/waits/ledger.h"
#include "master/waits/resource.h"

namespace tidemark::blame {

// Its number is its index in the list.
struct StageInfo {
  Query query{};
  std::vector<Stage> parents;  // it waits for them; of the same query
  // [PX] Appendix A, Table 4: weight of a target stage; empty: its depth.
  std::optional<double> target_weight;
};

// Processes on a host that nobody reported: a stage of a query of its own, whose pieces tell the
// processor seconds that the host was busy beyond those of the tasks, and no waits.
struct Others {
  Query query{};
  Stage stage{};
};

// [PX] 2.1: stages on the longest path from each stage to a last stage of its query, both counted;
// a last stage has depth 1. InvalidArgument: parents that do not exist, of another query, or a
// cycle. Cost: O(stages + edges), and a logarithm.
absl::StatusOr<std::vector<std::size_t>> Depths(std::span<const StageInfo> stages);

// [PX] 2.4: those stages of a query that follow one another and together took longest, first to
// last. A stage takes from the first start of a task of it to the last end; one that is not in the
// ledger takes no time. Errors and cost: as above.
absl::StatusOr<std::vector<Stage>> CriticalPath(std::span<const StageInfo> stages,
                                                const Ledger& ledger, Query query);

// All stages of the query.
std::vector<Stage> StagesOf(std::span<const StageInfo> stages, Query query);

}  // namespace tidemark::blame
