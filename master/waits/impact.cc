#include "master/waits/impact.h"

#include <cstddef>

namespace tidemark::blame {

void SetImpacts(std::span<const double> contributions, std::span<Edge> edges) {
  std::vector<double> of_all_parents(contributions.size(), 0);
  for (const Edge& edge : edges) of_all_parents[edge.child] += contributions[edge.parent];
  for (Edge& edge : edges) {
    const double all = of_all_parents[edge.child];
    edge.impact = all > 0 ? contributions[edge.parent] / all : 0;
  }
}

std::vector<double> Responsibilities(std::span<const double> contributions,
                                     std::span<const Edge> edges) {
  std::vector<double> responsibilities(contributions.begin(), contributions.end());
  for (std::size_t e = 0; e < edges.size();) {
    const VertexIndex parent = edges[e].parent;
    double sum = 0;
    for (; e < edges.size() && edges[e].parent == parent; ++e) {
      sum += edges[e].impact * responsibilities[edges[e].child];
    }
    responsibilities[parent] = sum;
  }
  return responsibilities;
}

}  // namespace tidemark::blame
