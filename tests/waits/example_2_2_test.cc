#include "tests/waits/example_2_2.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "master/waits/delay.h"
#include "master/waits/questions.h"
#include "master/waits/stage.h"

namespace tidemark::blame {
namespace {

using ::testing::ElementsAre;

ProtoGraph Explained() {
  const std::vector<Target> targets = {CriticalTarget()};
  absl::StatusOr<ProtoGraph> graph = Explain(Folded(ExamplePieces()), ExampleStages(), targets);
  EXPECT_TRUE(graph.ok()) << graph.status();
  return graph.value_or(ProtoGraph{});
}

// s0 takes 60 s, s1 100 s, s2 30 s; then 20, 20 and 60 s.
TEST(Example22, CriticalPathIsThatOfTheFigure) {
  const auto path = CriticalPath(ExampleStages(), Folded(ExamplePieces()), kQ0);
  ASSERT_TRUE(path.ok()) << path.status();
  EXPECT_THAT(*path, ElementsAre(kS1, kS3, kS4, kS5));
}

// Level 1, weights 4, 3, 2, 1 and 40, 20, 20, 20 of 100 processor seconds: 1.6, 0.6, 0.4, 0.2 of
// 2.8. s1 passes 4/7 on to its memory on X, where r3 has a blame of 0.5 x 2 / 0.5 = 2 and u5 of
// 0.5 x 2 / 1 = 1. s5 passes 1/14 on to its reads: 0.5 s a unit on Y, 0.1 on X, so 5/6 to Y.
//   Q1: 4/7 x 2/3                   = 8/21
//   Q2: 4/7 x 1/3 + 1/14 x 5/6      = 1/4
TEST(Example22, QueryNextToTheEarlyStageIsTheNoisyOne) {
  const std::vector<Ranked<Query>> noisy = NoisyQueries(Explained(), 0, 3);
  ASSERT_EQ(noisy.size(), 2);
  EXPECT_EQ(noisy[0].of, kQ1);
  EXPECT_NEAR(noisy[0].weight, 8.0 / 21, 1e-12);
  EXPECT_EQ(noisy[1].of, kQ2);
  EXPECT_NEAR(noisy[1].weight, 1.0 / 4, 1e-12);
}

// On Y: blames 1 x 0.5 / 0.1 = 5, 0.5 x 0.5 / 0.5 = 0.5, 0.5 x 0.5 / 1 = 0.25; of 5.75 that is
// 20/23, 2/23, 1/23, each times 1/14 x 5/6 = 5/84. u5 also has 4/21 from X.
TEST(Example22, SourceStagesDivideWhatTheyAreToBlameFor) {
  const ProtoGraph graph = Explained();
  const std::vector<VertexIndex> top = TopExplanations(graph, Level::kSourceStage, 0, 9);
  std::vector<Stage> order;
  std::vector<double> weights;
  for (const VertexIndex v : top) {
    order.push_back(graph.vertices[v].source);
    weights.push_back(graph.responsibilities[v]);
  }
  EXPECT_THAT(order, ElementsAre(kR3, kU5, kU7, kU9));
  using ::testing::DoubleNear;
  EXPECT_THAT(
      weights,
      ElementsAre(DoubleNear(8.0 / 21, 1e-12), DoubleNear(4.0 / 21 + 5.0 / 84 * 20 / 23, 1e-12),
                  DoubleNear(5.0 / 84 * 2 / 23, 1e-12), DoubleNear(5.0 / 84 * 1 / 23, 1e-12)));
}

TEST(Example22, TopExplanationsNameMemoryOnX) {
  const ProtoGraph graph = Explained();
  const auto first = [&](Level level) {
    return graph.vertices[TopExplanations(graph, level, 0, 1).front()];
  };
  EXPECT_EQ(first(Level::kImmediate).resource, Resource::kMemory);
  EXPECT_EQ(first(Level::kImmediate).stage, kS1);
  EXPECT_EQ(first(Level::kDeep).host, kX);
  EXPECT_EQ(first(Level::kBlame).source, kR3);
}

// s3 and s4 waited for nothing that was measured, and on X nobody else read: 3/14 + 2/14 of the
// impact, and 1/14 x 1/6, are nobody's.
TEST(Example22, WhatNobodyIsSeenToCauseIsNobodys) {
  const ProtoGraph graph = Explained();
  EXPECT_NEAR(SumOf(graph, Level::kTargetStage, 0), 1, 1e-12);
  EXPECT_NEAR(SumOf(graph, Level::kImmediate, 0), 9.0 / 14, 1e-12);
  EXPECT_NEAR(SumOf(graph, Level::kSourceQuery, 0), 9.0 / 14 - 1.0 / 84, 1e-12);
}

// s1 waits 0.6 s a second: 30 s next to r3, 30 s next to u5. s5 waits 0.5 s a second on Y for 1
// unit a second, of which 0.1 is what a unit took it on X: 0.4 s a second for 60 s. Of 3 units a
// second that others take there, u5 takes 2, u7 and u9 1, each for its half.
TEST(Example22, SecondsAreDividedByWhatOthersTook) {
  const std::vector<Delay> delays = Delays(Folded(ExamplePieces()), CriticalTarget().stages);
  const auto seconds = [&](Stage target, Stage source) {
    double sum = 0;
    for (const Delay& delay : delays) {
      if (delay.target == target && delay.source == source) sum += delay.task_seconds;
    }
    return sum;
  };
  EXPECT_NEAR(seconds(kS1, kR3), 30, 1e-9);
  EXPECT_NEAR(seconds(kS1, kU5), 30, 1e-9);
  EXPECT_NEAR(seconds(kS5, kU5), 16, 1e-9);
  EXPECT_NEAR(seconds(kS5, kU7), 4, 1e-9);
  EXPECT_NEAR(seconds(kS5, kU9), 4, 1e-9);
  const auto queries = DelayingQueries(delays, ExampleStages(), 3);
  ASSERT_EQ(queries.size(), 2);
  EXPECT_EQ(queries[0].of, kQ2);
  EXPECT_NEAR(queries[0].weight, 54, 1e-9);
  EXPECT_NEAR(queries[1].weight, 30, 1e-9);
}

}  // namespace
}  // namespace tidemark::blame
