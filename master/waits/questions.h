// What is asked of a ProtoGraph ([PX] 4.2). Answers are sorted, the largest first, ties by number;
// nothing that bears no responsibility is in them.
#pragma once

#include <cstddef>
#include <vector>

#include "master/waits/proto_graph.h"

namespace tidemark::blame {

// Algorithm 3: the k vertices of a level that are most responsible towards one target. Those of
// level 4 are also the k heaviest paths (Algorithm 4): each has but one path to its target, whose
// weight is its responsibility, and but one from a query.
std::vector<VertexIndex> TopExplanations(const ProtoGraph& graph, Level level, std::size_t target,
                                         std::size_t k);

template <typename Of>
struct Ranked {
  Of of{};
  double weight = 0;
  friend bool operator==(const Ranked&, const Ranked&) = default;
};

// 4.2.2: other queries by their responsibility towards one target; the first is the noisy one. A
// query that is in its own way only has none.
std::vector<Ranked<Query>> NoisyQueries(const ProtoGraph& graph, std::size_t target, std::size_t k);

// 4.2.2: queries by their responsibility towards all targets but themselves.
std::vector<Ranked<Query>> AggressiveQueries(const ProtoGraph& graph, std::size_t k);

// 4.2.3: hosts by the impact of level 3, and resources by that of level 2, on all targets.
// Queues are no hosts and not among them.
std::vector<Ranked<Host>> SlowNodes(const ProtoGraph& graph, std::size_t k);
std::vector<Ranked<Resource>> HotResources(const ProtoGraph& graph, std::size_t k);

}  // namespace tidemark::blame
