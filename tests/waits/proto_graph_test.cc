#include "master/waits/proto_graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "master/waits/questions.h"
#include "tests/waits/example_2_2.h"

namespace tidemark::blame {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

ProtoGraph GraphOf(const std::vector<Piece>& pieces, const std::vector<StageInfo>& stages,
                   const std::vector<Target>& targets) {
  absl::StatusOr<ProtoGraph> graph = Explain(Folded(pieces), stages, targets);
  EXPECT_TRUE(graph.ok()) << graph.status();
  return graph.value_or(ProtoGraph{});
}

// Contribution of the only vertex of a level that `is` picks.
template <typename Is>
double Contribution(const ProtoGraph& graph, Level level, Is is) {
  std::vector<double> found;
  for (VertexIndex v = 0; v < graph.vertices.size(); ++v) {
    if (graph.vertices[v].level == level && is(graph.vertices[v])) {
      found.push_back(graph.contributions[v]);
    }
  }
  EXPECT_EQ(found.size(), 1);
  return found.empty() ? -1 : found.front();
}

ProtoGraph Example() { return GraphOf(ExamplePieces(), ExampleStages(), {CriticalTarget()}); }

TEST(Table4, Level0IsOne) {
  EXPECT_EQ(Contribution(Example(), Level::kTargetQuery, [](const Vertex&) { return true; }), 1);
}

// s1 has depth 4 and 40 of the 100 processor seconds of the four stages: 4 x 0.4. s5: 1 x 0.2.
TEST(Table4, Level1IsDepthTimesTheShareOfProcessorTime) {
  const ProtoGraph graph = Example();
  const auto of = [&](Stage stage) {
    return Contribution(graph, Level::kTargetStage,
                        [&](const Vertex& vertex) { return vertex.stage == stage; });
  };
  EXPECT_NEAR(of(kS1), 1.6, 1e-12);
  EXPECT_NEAR(of(kS5), 0.2, 1e-12);
}

TEST(Table4, Level1TakesTheWeightThatIsGiven) {
  std::vector<StageInfo> stages = ExampleStages();
  stages[1].target_weight = 10;
  const ProtoGraph graph = GraphOf(ExamplePieces(), stages, {CriticalTarget()});
  EXPECT_NEAR(Contribution(graph, Level::kTargetStage,
                           [](const Vertex& vertex) { return vertex.stage == kS1; }),
              4, 1e-12);
}

// s1 waited 60 of its 100 seconds for memory; s5's tasks 35 of their 70 for reads.
TEST(Table4, Level2IsThePartOfTheRuntimeThatWasWaited) {
  const ProtoGraph graph = Example();
  const auto of = [&](Stage stage, Resource resource) {
    return Contribution(graph, Level::kImmediate, [&](const Vertex& vertex) {
      return vertex.stage == stage && vertex.resource == resource;
    });
  };
  EXPECT_NEAR(of(kS1, Resource::kMemory), 0.6, 1e-12);
  EXPECT_NEAR(of(kS5, Resource::kIo), 0.5, 1e-12);
}

// s5 on X: 5 s for 50 units; on Y 30 s for 60.
TEST(Table4, Level3IsTheWaitForAUnitOnAHost) {
  const ProtoGraph graph = Example();
  const auto of = [&](Host host) {
    return Contribution(graph, Level::kDeep, [&](const Vertex& vertex) {
      return vertex.stage == kS5 && vertex.host == host;
    });
  };
  EXPECT_NEAR(of(kX), 0.1, 1e-12);
  EXPECT_NEAR(of(kY), 0.5, 1e-12);
}

// u5 runs next to s5 on Y for 60 of 60 seconds and waits 0.1 s a unit; u9 for 30 of them, 1 s a
// unit.
TEST(Table4, Level4IsConcurrencyTimesTheRatioOfRates) {
  const ProtoGraph graph = Example();
  const auto of = [&](Stage source) {
    return Contribution(graph, Level::kBlame, [&](const Vertex& vertex) {
      return vertex.host == kY && vertex.source == source;
    });
  };
  EXPECT_NEAR(of(kU5), 1 * 0.5 / 0.1, 1e-12);
  EXPECT_NEAR(of(kU9), 0.5 * 0.5 / 1, 1e-12);
}

TEST(Table4, Levels5And6AreOne) {
  const ProtoGraph graph = Example();
  EXPECT_EQ(Contribution(graph, Level::kSourceStage,
                         [](const Vertex& vertex) { return vertex.source == kU7; }),
            1);
  EXPECT_EQ(Contribution(graph, Level::kSourceQuery,
                         [](const Vertex& vertex) { return vertex.query == kQ2; }),
            1);
}

// [PX] Example 3.5: on X one blame vertex for r3 (and, with our numbers, one for u5); on Y three.
TEST(ProtoGraph, EveryStageThatWasThereHasAVertexForEachRateItBears) {
  const ProtoGraph graph = Example();
  std::map<Host, std::set<Stage>> sources;
  for (const Vertex& vertex : graph.vertices) {
    if (vertex.level == Level::kBlame) sources[vertex.host].insert(vertex.source);
  }
  EXPECT_THAT(sources[kX], ElementsAre(kR3, kU5));
  EXPECT_THAT(sources[kY], ElementsAre(kU5, kU7, kU9));
}

// Algorithm 1 as printed would connect u5 on X only: it is new there, and found on Y.
TEST(ProtoGraph, SourceStageIsConnectedWhereverItWas) {
  const ProtoGraph graph = Example();
  std::size_t children = 0;
  for (const Edge& edge : graph.edges) {
    const Vertex& parent = graph.vertices[edge.parent];
    if (parent.level == Level::kSourceStage && parent.source == kU5) ++children;
  }
  EXPECT_EQ(children, 2);
}

// [PX] Table 5, scheduler. The target queues for 20 s for one slot, at 20 s a slot; beside it for
// its last 10 s one that gets a slot after 10 s, and all the time one that queues for 40 s:
// 0.5 x 20/10 = 1 and 1 x 20/40 = 0.5.
TEST(ProtoGraph, QueuesMeetLikeHosts) {
  const std::vector<StageInfo> stages = {{.query = Q(0)}, {.query = Q(1)}, {.query = Q(2)}};
  const ProtoGraph graph = GraphOf({Queued(S(0), 0, 20), Queued(S(1), 10, 20), Queued(S(2), 0, 40)},
                                   stages, {{.query = Q(0), .stages = {S(0)}}});
  const auto noisy = NoisyQueries(graph, 0, 3);
  ASSERT_EQ(noisy.size(), 2);
  EXPECT_EQ(noisy[0].of, Q(1));
  EXPECT_NEAR(noisy[0].weight, 2.0 / 3, 1e-12);
  EXPECT_NEAR(noisy[1].weight, 1.0 / 3, 1e-12);
  EXPECT_TRUE(SlowNodes(graph, 3).empty()) << "the queue is no host";
}

// [PX] Appendix D (a): the trailing task on Y waits four times as long as the one on X because it
// reads eight times as much; who was next to it is blamed less, not more.
TEST(AppendixD, WhoeverWasNextToATaskWithMoreDataIsNotToBlameForIt) {
  constexpr Resource kIo = Resource::kIo;
  const std::vector<StageInfo> stages = {{.query = Q(0)}, {.query = Q(1)}, {.query = Q(2)}};
  const ProtoGraph graph = GraphOf(
      {Task(S(0), kX, 0, 20).Waited(kIo, 10, 10), Task(S(0), kY, 0, 80).Waited(kIo, 40, 80),
       Task(S(1), kX, 0, 20).Waited(kIo, 10, 20), Task(S(2), kY, 0, 80).Waited(kIo, 10, 20)},
      stages, {{.query = Q(0), .stages = {S(0)}}});
  const auto noisy = NoisyQueries(graph, 0, 3);
  ASSERT_EQ(noisy.size(), 2);
  // Rates 1 and 0.5 s a unit: 2/3 and 1/3.
  EXPECT_EQ(noisy[0].of, Q(1));
  EXPECT_NEAR(noisy[0].weight, 2.0 / 3, 1e-12);
  EXPECT_NEAR(noisy[1].weight, 1.0 / 3, 1e-12);
}

// [PX] Appendix D (b): both are there all the time. u7 waits 4 s for a unit, the target 1 s, the
// other half a second: 1 x 1/4 and 1 x 1/0.5.
TEST(AppendixD, VictimIsToBlameForItsPresenceOnly) {
  constexpr Resource kNetwork = Resource::kNetwork;
  const std::vector<StageInfo> stages = {{.query = Q(0)}, {.query = Q(1)}, {.query = Q(2)}};
  const ProtoGraph graph = GraphOf({Task(S(0), kX, 0, 100).Waited(kNetwork, 40, 40),
                                    Task(S(1), kX, 0, 100).Waited(kNetwork, 80, 20),
                                    Task(S(2), kX, 0, 100).Waited(kNetwork, 40, 80)},
                                   stages, {{.query = Q(0), .stages = {S(0)}}});
  const auto noisy = NoisyQueries(graph, 0, 3);
  ASSERT_EQ(noisy.size(), 2);
  EXPECT_EQ(noisy[0].of, Q(2));
  EXPECT_NEAR(noisy[0].weight, 8.0 / 9, 1e-12);
  EXPECT_NEAR(noisy[1].weight, 1.0 / 9, 1e-12);
}

TEST(ProtoGraph, WaitThatWasNotMeasuredIsNoVertexAndThatOfZeroIsOneWithoutImpact) {
  const std::vector<StageInfo> stages = {{.query = Q(0)}, {.query = Q(1)}};
  const ProtoGraph graph =
      GraphOf({Task(S(0), kX, 0, 10).Waited(Resource::kIo, 0, 10), Task(S(1), kX, 0, 10)}, stages,
              {{.query = Q(0), .stages = {S(0)}}});
  std::vector<Resource> resources;
  for (VertexIndex v = 0; v < graph.vertices.size(); ++v) {
    if (graph.vertices[v].level != Level::kImmediate) continue;
    resources.push_back(graph.vertices[v].resource);
    EXPECT_EQ(graph.responsibilities[v], 0);
  }
  EXPECT_THAT(resources, ElementsAre(Resource::kIo));
  EXPECT_TRUE(NoisyQueries(graph, 0, 3).empty());
}

// One of two tasks of 10 s tells that it waited 5 s: half the time, as far as is known.
TEST(ProtoGraph, WaitMeasuredInPartIsTakenToBeTheSameElsewhere) {
  const std::vector<StageInfo> stages = {{.query = Q(0)}};
  const ProtoGraph graph =
      GraphOf({Task(S(0), kX, 0, 10).Waited(Resource::kIo, 5, 10), Task(S(0), kX, 20, 30)}, stages,
              {{.query = Q(0), .stages = {S(0)}}});
  EXPECT_NEAR(Contribution(graph, Level::kImmediate, [](const Vertex&) { return true; }), 0.5,
              1e-12);
}

TEST(ProtoGraph, SeveralTargetsHaveResponsibilitiesOfTheirOwn) {
  const std::vector<StageInfo> stages = ExampleStages();
  const Target other = {.query = kQ1, .stages = {kR3}};
  const ProtoGraph both = GraphOf(ExamplePieces(), stages, {CriticalTarget(), other});
  const ProtoGraph first = GraphOf(ExamplePieces(), stages, {CriticalTarget()});
  const ProtoGraph second = GraphOf(ExamplePieces(), stages, {other});
  EXPECT_EQ(NoisyQueries(both, 0, 9), NoisyQueries(first, 0, 9));
  EXPECT_EQ(NoisyQueries(both, 1, 9), NoisyQueries(second, 0, 9));
  ASSERT_EQ(NoisyQueries(both, 1, 9).size(), 1);
  EXPECT_EQ(NoisyQueries(both, 1, 9)[0].of, kQ0);
}

TEST(ProtoGraph, WrongTargetsAreSaid) {
  const auto error = [](const Target& target) {
    return Explain(Ledger{}, ExampleStages(), std::vector<Target>{target}).status();
  };
  EXPECT_THAT(error({.query = kQ0}).message(), HasSubstr("target 0 has no stages"));
  EXPECT_THAT(error({.query = kQ0, .stages = {kR3}}).message(),
              HasSubstr("stage 6 is no stage of its query"));
  EXPECT_THAT(error({.query = kQ0, .stages = {S(99)}}).message(), HasSubstr("stage 99"));
}

}  // namespace
}  // namespace tidemark::blame
