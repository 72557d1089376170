// Questions ([PX] 4.2) about one target, for the comparison of methods; ContentionSums answers
// those about all targets. Answers are sorted, the largest first, ties by number; vertices without
// responsibility are left out.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "master/waits/delay.h"
#include "master/waits/proto_graph.h"

namespace tidemark::waits {

// Returns all stages of the query.
inline std::vector<Stage> StagesOf(std::span<const QueryStage> stages, Query query) {
  std::vector<Stage> of_query;
  for (std::size_t s = 0; s < stages.size(); ++s) {
    if (stages[s].query == query) of_query.push_back(Stage{static_cast<std::uint32_t>(s)});
  }
  return of_query;
}

template <typename Of>
struct Ranked {
  Of of{};
  double weight = 0;
  friend bool operator==(const Ranked&, const Ranked&) = default;
};

template <typename Of>
std::vector<Ranked<Of>> Largest(const std::map<Of, double>& weights, std::size_t k) {
  std::vector<Ranked<Of>> ranked;
  for (const auto& [of, weight] : weights) {
    if (weight > 0) ranked.push_back({of, weight});
  }
  std::stable_sort(ranked.begin(), ranked.end(),
                   [](const auto& a, const auto& b) { return a.weight > b.weight; });
  ranked.resize(std::min(k, ranked.size()));
  return ranked;
}

// Returns the responsibility of a vertex of any level towards one target. O(1), but O(vertices of
// level 4 below it) for levels 5 and 6.
inline double Responsibility(const ProtoGraph& graph, VertexIndex vertex, std::size_t target) {
  if (graph.vertices[vertex].level < Level::kSourceStage) {
    return graph.vertices[vertex].target == target ? graph.responsibilities[vertex] : 0;
  }
  const auto begin = std::ranges::lower_bound(graph.edges, vertex, {}, &Edge::parent);
  const auto end = std::ranges::upper_bound(graph.edges, vertex, {}, &Edge::parent);
  double sum = 0;
  for (auto edge = begin; edge != end; ++edge) {
    sum += edge->impact * Responsibility(graph, edge->child, target);
  }
  return sum;
}

// 4.2.2: ranks other queries by their responsibility towards one target; the first is the noisy
// one. Returns an empty list if no other query is responsible.
inline std::vector<Ranked<Query>> NoisyQueries(const ProtoGraph& graph, std::size_t target,
                                               std::size_t k) {
  const Query own = graph.targets[target].query;
  std::map<Query, double> sums;
  for (VertexIndex v = 0; v < graph.vertices.size(); ++v) {
    const Vertex& vertex = graph.vertices[v];
    if (vertex.level != Level::kSourceQuery || vertex.query == own) continue;
    sums[vertex.query] = Responsibility(graph, v, target);
  }
  return Largest(sums, k);
}

// Returns the other queries to which these targets lost task seconds, the most first.
inline std::vector<Ranked<Query>> DelayingQueries(std::span<const Delay> delays,
                                                  std::span<const QueryStage> stages,
                                                  std::size_t k) {
  std::map<Query, double> sums;
  for (const Delay& delay : delays) {
    const auto target = static_cast<std::size_t>(delay.target);
    const auto source = static_cast<std::size_t>(delay.source);
    if (target >= stages.size() || source >= stages.size()) continue;
    if (stages[source].query == stages[target].query) continue;
    sums[stages[source].query] += delay.task_seconds;
  }
  return Largest(sums, k);
}

}  // namespace tidemark::waits
