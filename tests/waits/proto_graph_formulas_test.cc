
#include "master/waits/proto_graph.h"
#include "tests/test.h"
#include "tests/waits/example_2_2.h"

namespace tidemark::waits::proto_graph_formulas_test {
namespace {

// The graph has the shape of [PX] Figure 6, with numbers of our own. The vertices u1 and u2 (1, 2)
// are below a target t (0). v1, v2 and v3 (3, 4, 5) are above u1 and u2. All three have an impact
// on u1, and v3 also has one on u2.
struct Figure6 {
  std::vector<double> contributions = {1, 3, 1, 2, 1, 1};
  std::vector<Edge> edges = {{1, 0}, {2, 0}, {3, 1}, {4, 1}, {5, 1}, {5, 2}};
};

// The impact of u1 is 3 / (3 + 1), and that of u2 is 1 / 4. The contributions to u1 are 2, 1 and 1
// of 4. Only v3 contributes to u2.
TEST(Figure6, ImpactIsTheContributionOverThatOfAllParents) {
  Figure6 graph;
  SetImpacts(graph.contributions, graph.edges);
  std::vector<double> impacts;
  for (const Edge& edge : graph.edges) impacts.push_back(edge.impact);
  EXPECT_THAT(impacts, ElementsAre(0.75, 0.25, 0.5, 0.25, 0.25, 1));
}

// v3 has 0.25 x 0.75 through u1, and 1 x 0.25 through u2.
TEST(Figure6, ResponsibilityIsTheSumOverAllPaths) {
  Figure6 graph;
  SetImpacts(graph.contributions, graph.edges);
  EXPECT_THAT(Responsibilities(graph.contributions, graph.edges),
              ElementsAre(1, 0.75, 0.25, 0.375, 0.1875, DoubleNear(0.4375, 1e-15)));
}

TEST(Impact, ParentsWithoutContributionHaveNoImpact) {
  const std::vector<double> contributions = {1, 0, 0};
  std::vector<Edge> edges = {{1, 0}, {2, 0}};
  SetImpacts(contributions, edges);
  EXPECT_EQ(edges[0].impact, 0);
  EXPECT_THAT(Responsibilities(contributions, edges), ElementsAre(1, 0, 0));
}

TEST(Impact, EmptyGraphHasNoResponsibilities) {
  SetImpacts({}, {});
  EXPECT_TRUE(Responsibilities({}, {}).empty());
}

Waited Of(double wait_seconds, double units) {
  return {.wait_seconds = wait_seconds,
          .measured_seconds = 10,
          .rated_wait_seconds = wait_seconds,
          .rated_units = units};
}

// Equation 1: The wait is 6 s for 3 units.
TEST(SecondsPerUnit, IsTheWaitOverTheUnits) {
  EXPECT_EQ(SecondsPerUnit(Of(6, 3)), 2);
  EXPECT_EQ(SecondsPerUnit(Of(6, 0)), std::nullopt) << "a wait without a request has no rate";
  EXPECT_EQ(SecondsPerUnit(Of(0, 0)), 0);
  EXPECT_EQ(SecondsPerUnit(Waited{}), std::nullopt) << "an unmeasured wait is not zero";
}

TEST(SecondsPerUnit, WaitsWithoutUnitsDoNotChangeTheRate) {
  Waited waited = Of(6, 3);
  waited.wait_seconds += 100;
  EXPECT_EQ(SecondsPerUnit(waited), 2);
}

// The fractional concurrency is 40 of 50 s.
TEST(FractionalConcurrency, IsThePartOfTheTargetsTime) {
  EXPECT_EQ(FractionalConcurrency(40, 50), 0.8);
  EXPECT_EQ(FractionalConcurrency(0, 0), 0);
}

// Equation 2: 0.5 x (4/2) / (1/2) = 2.
TEST(Blame, IsConcurrencyTimesTheRatioOfRates) {
  EXPECT_EQ(Blame(0.5, Of(4, 2), Of(1, 2)), 2);
  EXPECT_EQ(Blame(0.5, Of(4, 2), Of(0, 2)), 0.5 * kRateRatioMax) << "finite without waits";
  EXPECT_EQ(Blame(1, Of(4, 2), Of(0, 0)), 0) << "a source without requests bears no blame";
  EXPECT_EQ(Blame(1, Of(4, 2), Of(5, 0)), std::nullopt);
  EXPECT_EQ(Blame(1, Of(0, 2), Of(1, 2)), 0) << "a target without waits blames nothing";
  EXPECT_EQ(Blame(1, Of(0, 2), Of(0, 2)), 0);
  EXPECT_EQ(Blame(1, Of(1, 2), Waited{}), std::nullopt) << "an unknown rate is not zero";
  EXPECT_EQ(Blame(1, Waited{}, Of(1, 2)), std::nullopt);
}

// [PX] Example 2.1: s5 has depth 1, and s1 has depth 4.
TEST(Figure1, DepthIsTheNumberOfStagesToTheLast) {
  EXPECT_THAT(Depths(ExampleStages()).value(), ElementsAre(4, 4, 4, 3, 2, 1, 1, 1, 1, 1));
}

TEST(Depths, LongestPathCounts) {
  const std::vector<QueryStage> stages = {{.query = Q(0)},
                                          {.query = Q(0), .parents = {S(0)}},
                                          {.query = Q(0), .parents = {S(0), S(1)}}};
  EXPECT_THAT(Depths(stages).value(), ElementsAre(3, 2, 1));
}

TEST(Depths, NamesWrongParents) {
  const auto error = [](std::vector<QueryStage> stages) {
    return std::string(Depths(stages).status().message());
  };
  EXPECT_THAT(error({{.query = Q(0), .parents = {S(7)}}}),
              HasSubstr("stage 0: parent 7 is not a stage of its query"));
  EXPECT_THAT(error({{.query = Q(0)}, {.query = Q(1), .parents = {S(0)}}}),
              HasSubstr("stage 1: parent 0"));
  EXPECT_THAT(error({{.query = Q(0), .parents = {S(1)}}, {.query = Q(0), .parents = {S(0)}}}),
              HasSubstr("cycle"));
}

}  // namespace
}  // namespace tidemark::waits::proto_graph_formulas_test
