#include "master/waits/impact.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tidemark::blame {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;

// The shape of [PX] Figure 6, whose numbers are ours: below a target t (0) the vertices u1 and u2
// (1, 2), above them v1, v2, v3 (3, 4, 5). v1, v2 and v3 have impact on u1, v3 on u2 as well.
struct Figure6 {
  std::vector<double> contributions = {1, 3, 1, 2, 1, 1};
  std::vector<Edge> edges = {{1, 0}, {2, 0}, {3, 1}, {4, 1}, {5, 1}, {5, 2}};
};

// u1: 3 / (3 + 1), u2: 1 / 4. Into u1: 2, 1 and 1 of 4. Into u2: v3 alone.
TEST(Figure6, ImpactIsTheContributionOverThatOfAllParents) {
  Figure6 graph;
  SetImpacts(graph.contributions, graph.edges);
  std::vector<double> impacts;
  for (const Edge& edge : graph.edges) impacts.push_back(edge.impact);
  EXPECT_THAT(impacts, ElementsAre(0.75, 0.25, 0.5, 0.25, 0.25, 1));
}

// v3: 0.25 x 0.75 by u1, and 1 x 0.25 by u2.
TEST(Figure6, ResponsibilityIsTheSumOverAllPaths) {
  Figure6 graph;
  SetImpacts(graph.contributions, graph.edges);
  EXPECT_THAT(Responsibilities(graph.contributions, graph.edges),
              ElementsAre(1, 0.75, 0.25, 0.375, 0.1875, DoubleNear(0.4375, 1e-15)));
}

TEST(Impact, ParentsThatContributeNothingHaveNone) {
  const std::vector<double> contributions = {1, 0, 0};
  std::vector<Edge> edges = {{1, 0}, {2, 0}};
  SetImpacts(contributions, edges);
  EXPECT_EQ(edges[0].impact, 0);
  EXPECT_THAT(Responsibilities(contributions, edges), ElementsAre(1, 0, 0));
}

TEST(Impact, GraphOfNothingIsNothing) {
  SetImpacts({}, {});
  EXPECT_TRUE(Responsibilities({}, {}).empty());
}

}  // namespace
}  // namespace tidemark::blame
