#include "master/waits/questions.h"

#include <algorithm>
#include <map>

namespace tidemark::blame {
namespace {

template <typename Of>
std::vector<Ranked<Of>> Top(const std::map<Of, double>& weights, std::size_t k) {
  std::vector<Ranked<Of>> ranked;
  for (const auto& [of, weight] : weights) {
    if (weight > 0) ranked.push_back({of, weight});
  }
  std::stable_sort(ranked.begin(), ranked.end(),
                   [](const auto& a, const auto& b) { return a.weight > b.weight; });
  ranked.resize(std::min(k, ranked.size()));
  return ranked;
}

// By what `key` makes of the vertices of a level: the sum of the impacts that go out of them.
template <typename Of, typename Key>
std::map<Of, double> OutgoingImpact(const ProtoGraph& graph, Level level, Key key) {
  std::map<Of, double> sums;
  for (const Edge& edge : graph.edges) {
    const Vertex& vertex = graph.vertices[edge.parent];
    if (vertex.level == level) sums[key(vertex)] += edge.impact;
  }
  return sums;
}

template <typename Weight>
std::map<Query, double> SourceQueries(const ProtoGraph& graph, Weight weight) {
  std::map<Query, double> sums;
  for (VertexIndex v = graph.first_source; v < graph.vertices.size(); ++v) {
    const Vertex& vertex = graph.vertices[v];
    if (vertex.level == Level::kSourceQuery) sums[vertex.query] = weight(v, vertex.query);
  }
  return sums;
}

}  // namespace

std::vector<VertexIndex> TopExplanations(const ProtoGraph& graph, Level level, std::size_t target,
                                         std::size_t k) {
  std::vector<VertexIndex> top;
  for (VertexIndex v = 0; v < graph.vertices.size(); ++v) {
    if (graph.vertices[v].level == level && graph.Responsibility(v, target) > 0) top.push_back(v);
  }
  std::stable_sort(top.begin(), top.end(), [&](VertexIndex a, VertexIndex b) {
    return graph.Responsibility(a, target) > graph.Responsibility(b, target);
  });
  top.resize(std::min(k, top.size()));
  return top;
}

std::vector<Ranked<Query>> NoisyQueries(const ProtoGraph& graph, std::size_t target,
                                        std::size_t k) {
  const Query own = graph.targets[target].query;
  return Top(SourceQueries(graph,
                           [&](VertexIndex v, Query query) {
                             return query == own ? 0 : graph.Responsibility(v, target);
                           }),
             k);
}

std::vector<Ranked<Query>> AggressiveQueries(const ProtoGraph& graph, std::size_t k) {
  return Top(SourceQueries(graph,
                           [&](VertexIndex v, Query query) {
                             double sum = 0;
                             for (std::size_t t = 0; t < graph.targets.size(); ++t) {
                               if (graph.targets[t].query == query) continue;
                               sum += graph.Responsibility(v, t);
                             }
                             return sum;
                           }),
             k);
}

std::vector<Ranked<Host>> SlowNodes(const ProtoGraph& graph, std::size_t k) {
  std::map<Host, double> sums =
      OutgoingImpact<Host>(graph, Level::kDeep, [](const Vertex& vertex) { return vertex.host; });
  std::erase_if(sums, [](const auto& sum) { return IsQueue(sum.first); });
  return Top(sums, k);
}

std::vector<Ranked<Resource>> HotResources(const ProtoGraph& graph, std::size_t k) {
  return Top(OutgoingImpact<Resource>(graph, Level::kImmediate,
                                      [](const Vertex& vertex) { return vertex.resource; }),
             k);
}

}  // namespace tidemark::blame
