#include "master/waits/questions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/waits/example_2_2.h"

namespace tidemark::blame {
namespace {

using ::testing::ElementsAre;

constexpr Resource kIo = Resource::kIo;

// Three queries on one host, the third of which waits least for a unit; and one alone on another.
ProtoGraph ThreeAndOne() {
  const std::vector<StageInfo> stages = {
      {.query = Q(0)}, {.query = Q(1)}, {.query = Q(2)}, {.query = Q(3)}};
  std::vector<Target> targets;
  for (std::uint32_t q = 0; q < 4; ++q) targets.push_back({.query = Q(q), .stages = {S(q)}});
  const auto graph = Explain(
      Folded({Task(S(0), kX, 0, 10).Waited(kIo, 4, 4), Task(S(1), kX, 0, 10).Waited(kIo, 4, 8),
              Task(S(2), kX, 0, 10).Waited(kIo, 4, 16), Task(S(3), kY, 0, 10).Waited(kIo, 4, 4)}),
      stages, targets);
  EXPECT_TRUE(graph.ok()) << graph.status();
  return graph.value_or(ProtoGraph{});
}

// Rates 1, 1/2, 1/4. Blames on query 0: 2 and 4; on 1: 1/2 and 2; on 2: 1/4 and 1/2.
//   query 2: 4/6 + 2/2.5,  query 1: 2/6 + 0.5/0.75,  query 0: 0.5/2.5 + 0.25/0.75
TEST(Questions, AggressiveQueryIsTheMostResponsibleTowardsAllOthers) {
  const auto aggressive = AggressiveQueries(ThreeAndOne(), 9);
  ASSERT_EQ(aggressive.size(), 3);
  EXPECT_EQ(aggressive[0].of, Q(2));
  EXPECT_NEAR(aggressive[0].weight, 4.0 / 6 + 2 / 2.5, 1e-12);
  EXPECT_EQ(aggressive[1].of, Q(1));
  EXPECT_NEAR(aggressive[1].weight, 2.0 / 6 + 0.5 / 0.75, 1e-12);
  EXPECT_NEAR(aggressive[2].weight, 0.5 / 2.5 + 0.25 / 0.75, 1e-12);
}

TEST(Questions, QueryAloneOnItsHostBlamesNobody) {
  EXPECT_TRUE(NoisyQueries(ThreeAndOne(), 3, 9).empty());
}

TEST(Questions, AtMostKAreNamed) {
  EXPECT_EQ(NoisyQueries(ThreeAndOne(), 0, 1).size(), 1);
  EXPECT_TRUE(NoisyQueries(ThreeAndOne(), 0, 0).empty());
}

// Impacts of level 3: all of each target's reads are on one host: 3 on X, 1 on Y.
TEST(Questions, SlowNodesAreThoseWithTheMostImpact) {
  EXPECT_THAT(SlowNodes(ThreeAndOne(), 9), ElementsAre(Ranked<Host>{kX, 3}, Ranked<Host>{kY, 1}));
}

TEST(Questions, HotResourcesAreThoseWithTheMostImpact) {
  EXPECT_THAT(HotResources(ThreeAndOne(), 9), ElementsAre(Ranked<Resource>{kIo, 4}));
}

TEST(Questions, TiesGoToTheLowerNumber) {
  const std::vector<StageInfo> stages = {{.query = Q(0)}, {.query = Q(1)}, {.query = Q(2)}};
  const auto graph = Explain(
      Folded({Task(S(0), kX, 0, 10).Waited(kIo, 4, 4), Task(S(2), kX, 0, 10).Waited(kIo, 4, 8),
              Task(S(1), kX, 0, 10).Waited(kIo, 4, 8)}),
      stages, std::vector<Target>{{.query = Q(0), .stages = {S(0)}}});
  ASSERT_TRUE(graph.ok());
  EXPECT_THAT(NoisyQueries(*graph, 0, 9),
              ElementsAre(Ranked<Query>{Q(1), 0.5}, Ranked<Query>{Q(2), 0.5}));
}

// One stage of a query may be asked for alone.
TEST(Questions, OneStageHasItsOwnAnswer) {
  const auto graph = Explain(Folded(ExamplePieces()), ExampleStages(),
                             std::vector<Target>{{.query = kQ0, .stages = {kS5}}});
  ASSERT_TRUE(graph.ok());
  const auto noisy = NoisyQueries(*graph, 0, 9);
  ASSERT_EQ(noisy.size(), 1);
  EXPECT_EQ(noisy[0].of, kQ2);
  EXPECT_NEAR(noisy[0].weight, 5.0 / 6, 1e-12);
}

}  // namespace
}  // namespace tidemark::blame
