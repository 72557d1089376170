// Algorithms 2 and 3 of [PX] on any layered graph: from what vertices contribute on their own to
// what they are responsible for.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace tidemark::blame {

using VertexIndex = std::uint32_t;

// From a cause to what it is a cause of, one level nearer to the target.
struct Edge {
  VertexIndex parent = 0;
  VertexIndex child = 0;
  double impact = 0;
};

// Eq. 3: impact(u, v) = VC(u) / sum of VC over all parents of v, so that the impacts on v sum to 1;
// all zero if no parent contributes anything. Contributions by vertex, finite and not negative.
// Cost: O(vertices + edges).
void SetImpacts(std::span<const double> contributions, std::span<Edge> edges);

// DOR of 4.1.3: of a vertex without edges to children, its contribution; of another, the sum over
// its children of impact x their responsibility. REQUIRES: children have lower indexes than their
// parents, and edges are sorted by parent. Cost: O(vertices + edges).
std::vector<double> Responsibilities(std::span<const double> contributions,
                                     std::span<const Edge> edges);

}  // namespace tidemark::blame
