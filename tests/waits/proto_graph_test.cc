#include "master/waits/proto_graph.h"

#include <algorithm>

#include "master/waits/delay.h"
#include "tests/test.h"
#include "tests/waits/example_2_2.h"

namespace tidemark::waits::proto_graph_test {
namespace {

using ::testing::Field;

constexpr WaitReason kIo = WaitReason::kIo;

ProtoGraph GraphOf(const std::vector<Piece>& pieces, const std::vector<QueryStage>& stages,
                   const std::vector<Target>& targets) {
  absl::StatusOr<ProtoGraph> graph = Explain(Folded(pieces), stages, targets);
  EXPECT_TRUE(graph.ok()) << graph.status();
  return graph.value_or(ProtoGraph{});
}

// Matches the vertices with the values that are set.
struct Wanted {
  std::optional<Stage> stage;
  std::optional<WaitReason> resource;
  std::optional<Host> host;
  std::optional<Stage> source;
  std::optional<Query> query;
};

// Returns the contribution of the only vertex of a level that `wanted` matches.
double Contribution(const ProtoGraph& graph, Level level, const Wanted& wanted = {}) {
  std::vector<double> found;
  for (VertexIndex v = 0; v < graph.vertices.size(); ++v) {
    const Vertex& vertex = graph.vertices[v];
    if (vertex.level == level && wanted.stage.value_or(vertex.stage) == vertex.stage &&
        wanted.resource.value_or(vertex.resource) == vertex.resource &&
        wanted.host.value_or(vertex.host) == vertex.host &&
        wanted.source.value_or(vertex.source) == vertex.source &&
        wanted.query.value_or(vertex.query) == vertex.query) {
      found.push_back(graph.contributions[v]);
    }
  }
  EXPECT_EQ(found.size(), 1);
  return found.empty() ? -1 : found.front();
}

// Explains query 0. Each of `queries` queries has one stage with the same number as the query.
ProtoGraph GraphOfQuery0(std::uint32_t queries, const std::vector<Piece>& pieces) {
  std::vector<QueryStage> stages;
  for (std::uint32_t q = 0; q < queries; ++q) stages.push_back({.query = Q(q)});
  return GraphOf(pieces, stages, {{.query = Q(0), .stages = {S(0)}}});
}

ProtoGraph Example() { return GraphOf(ExamplePieces(), ExampleStages(), {CriticalTarget()}); }

TEST(Table4, Levels0And5And6AreOne) {
  EXPECT_EQ(Contribution(Example(), Level::kTargetQuery), 1);
  EXPECT_EQ(Contribution(Example(), Level::kSourceStage, {.source = kU7}), 1);
  EXPECT_EQ(Contribution(Example(), Level::kSourceQuery, {.query = kQ2}), 1);
}

// s1 has depth 4 and 40 of the 100 processor seconds of the four stages, which gives 4 x 0.4. s5
// has 1 x 0.2.
TEST(Table4, Level1IsDepthTimesTheShareOfProcessorTime) {
  EXPECT_NEAR(Contribution(Example(), Level::kTargetStage, {.stage = kS1}), 1.6, 1e-12);
  EXPECT_NEAR(Contribution(Example(), Level::kTargetStage, {.stage = kS5}), 0.2, 1e-12);
}

TEST(Table4, Level1TakesTheWeightThatIsGiven) {
  std::vector<QueryStage> stages = ExampleStages();
  stages[1].target_weight = 10;
  const ProtoGraph graph = GraphOf(ExamplePieces(), stages, {CriticalTarget()});
  EXPECT_NEAR(Contribution(graph, Level::kTargetStage, {.stage = kS1}), 4, 1e-12);
}

// s1 waited for memory for 60 of its 100 seconds. The tasks of s5 waited for reads for 35 of their
// 70 seconds.
TEST(Table4, Level2IsThePartOfTheRuntimeThatWasWaited) {
  const Wanted memory = {.stage = kS1, .resource = WaitReason::kMemory};
  EXPECT_NEAR(Contribution(Example(), Level::kImmediate, memory), 0.6, 1e-12);
  EXPECT_NEAR(Contribution(Example(), Level::kImmediate, {.stage = kS5, .resource = kIo}), 0.5,
              1e-12);
}

// s5 waits for 5 s for 50 units on X, and for 30 s for 60 units on Y.
TEST(Table4, Level3IsTheWaitForAUnitOnAHost) {
  EXPECT_NEAR(Contribution(Example(), Level::kDeep, {.stage = kS5, .host = kX}), 0.1, 1e-12);
  EXPECT_NEAR(Contribution(Example(), Level::kDeep, {.stage = kS5, .host = kY}), 0.5, 1e-12);
}

// On Y, u5 runs for all 60 seconds of s5 and waits for 0.1 s per unit. u9 runs for 30 of these
// seconds and waits for 1 s per unit.
TEST(Table4, Level4IsConcurrencyTimesTheRatioOfRates) {
  EXPECT_NEAR(Contribution(Example(), Level::kBlame, {.host = kY, .source = kU5}), 1 * 0.5 / 0.1,
              1e-12);
  EXPECT_NEAR(Contribution(Example(), Level::kBlame, {.host = kY, .source = kU9}), 0.5 * 0.5 / 1,
              1e-12);
}

// [PX] Example 3.5: X has a blame vertex for r3 (and, with our numbers, one for u5). Y has three
// blame vertices.
TEST(ProtoGraph, EveryPresentStageHasAVertexForEachKnownRate) {
  const ProtoGraph graph = Example();
  std::map<Host, std::set<Stage>> sources;
  for (const Vertex& vertex : graph.vertices) {
    if (vertex.level == Level::kBlame) sources[vertex.host].insert(vertex.source);
  }
  EXPECT_THAT(sources[kX], ElementsAre(kR3, kU5));
  EXPECT_THAT(sources[kY], ElementsAre(kU5, kU7, kU9));
}

// Algorithm 1 as printed connects u5 only on X, where u5 is new, since on Y it is already present.
TEST(ProtoGraph, SourceStageIsConnectedOnEveryHost) {
  const ProtoGraph graph = Example();
  std::size_t children = 0;
  for (const Edge& edge : graph.edges) {
    const Vertex& parent = graph.vertices[edge.parent];
    if (parent.level == Level::kSourceStage && parent.source == kU5) ++children;
  }
  EXPECT_EQ(children, 2);
}

// [PX] Table 5, scheduler: The target queues for 20 s for one slot. One stage queues for the last
// 10 of these seconds and gets a slot. Another stage queues for 40 s. The blames are 0.5 x 20/10 =
// 1 and 1 x 20/40 = 0.5.
TEST(ProtoGraph, QueuesMeetLikeHosts) {
  const ProtoGraph graph =
      GraphOfQuery0(3, {Queued(S(0), 0, 20), Queued(S(1), 10, 20), Queued(S(2), 0, 40)});
  EXPECT_THAT(NoisyQueries(graph, 0, 3), ElementsAre(Weighs(Q(1), 2.0 / 3), Weighs(Q(2), 1.0 / 3)));
}

// [PX] Appendix D (a): The target's task on Y waits four times as long as its task on X, because it
// reads eight times as much. S(2), which shares Y, is blamed less than S(1), not more.
TEST(AppendixD, NeighbourOfATaskWithMoreDataIsBlamedLess) {
  const ProtoGraph graph = GraphOfQuery0(
      3, {Task(S(0), kX, 0, 20).Waited(kIo, 10, 10), Task(S(0), kY, 0, 80).Waited(kIo, 40, 80),
          Task(S(1), kX, 0, 20).Waited(kIo, 10, 20), Task(S(2), kY, 0, 80).Waited(kIo, 10, 20)});
  // The rates are 1 and 0.5 s per unit, so the shares are 2/3 and 1/3.
  EXPECT_THAT(NoisyQueries(graph, 0, 3), ElementsAre(Weighs(Q(1), 2.0 / 3), Weighs(Q(2), 1.0 / 3)));
}

// [PX] Appendix D (b): All stages are present all the time. u7 waits for 4 s per unit, the target
// for 1 s, and the other stage for half a second. The blames are 1 x 1/4 and 1 x 1/0.5.
TEST(AppendixD, VictimIsBlamedForItsPresenceOnly) {
  constexpr WaitReason kNetwork = WaitReason::kNetwork;
  const ProtoGraph graph = GraphOfQuery0(3, {Task(S(0), kX, 0, 100).Waited(kNetwork, 40, 40),
                                             Task(S(1), kX, 0, 100).Waited(kNetwork, 80, 20),
                                             Task(S(2), kX, 0, 100).Waited(kNetwork, 40, 80)});
  EXPECT_THAT(NoisyQueries(graph, 0, 3), ElementsAre(Weighs(Q(2), 8.0 / 9), Weighs(Q(1), 1.0 / 9)));
}

TEST(ProtoGraph, UnmeasuredWaitHasNoVertexAndZeroWaitHasNoImpact) {
  const ProtoGraph graph = GraphOfQuery0(
      2, {Task(S(0), kX, 0, 10).Waited(WaitReason::kIo, 0, 10), Task(S(1), kX, 0, 10)});
  std::vector<WaitReason> resources;
  for (VertexIndex v = 0; v < graph.vertices.size(); ++v) {
    if (graph.vertices[v].level != Level::kImmediate) continue;
    resources.push_back(graph.vertices[v].resource);
    EXPECT_EQ(graph.responsibilities[v], 0);
  }
  EXPECT_THAT(resources, ElementsAre(WaitReason::kIo));
  EXPECT_TRUE(NoisyQueries(graph, 0, 3).empty());
}

// One of two tasks of 10 s reports a wait of 5 s, which is half of the known time.
TEST(ProtoGraph, PartlyMeasuredWaitIsExtrapolated) {
  const ProtoGraph graph = GraphOfQuery0(
      1, {Task(S(0), kX, 0, 10).Waited(WaitReason::kIo, 5, 10), Task(S(0), kX, 20, 30)});
  EXPECT_NEAR(Contribution(graph, Level::kImmediate), 0.5, 1e-12);
}

TEST(ProtoGraph, SeveralTargetsHaveResponsibilitiesOfTheirOwn) {
  const std::vector<QueryStage> stages = ExampleStages();
  const Target other = {.query = kQ1, .stages = {kR3}};
  const ProtoGraph both = GraphOf(ExamplePieces(), stages, {CriticalTarget(), other});
  const ProtoGraph first = GraphOf(ExamplePieces(), stages, {CriticalTarget()});
  const ProtoGraph second = GraphOf(ExamplePieces(), stages, {other});
  EXPECT_EQ(NoisyQueries(both, 0, 9), NoisyQueries(first, 0, 9));
  EXPECT_EQ(NoisyQueries(both, 1, 9), NoisyQueries(second, 0, 9));
  EXPECT_THAT(NoisyQueries(both, 1, 9), ElementsAre(Field(&Ranked<Query>::of, kQ0)));
}

TEST(ProtoGraph, NamesWrongTargets) {
  const auto error = [](const Target& target) {
    return Explain(Ledger{}, ExampleStages(), std::vector<Target>{target}).status();
  };
  EXPECT_THAT(error({.query = kQ0}).message(), HasSubstr("target 0 has no stages"));
  EXPECT_THAT(error({.query = kQ0, .stages = {kR3}}).message(),
              HasSubstr("stage 6 is not a stage of its query"));
  EXPECT_THAT(error({.query = kQ0, .stages = {S(99)}}).message(), HasSubstr("stage 99"));
}

// Returns the graph of three queries on one host, of which the third waits least per unit, and of a
// fourth that runs alone on another host.
ProtoGraph ThreeAndOne() {
  const std::vector<QueryStage> stages = {
      {.query = Q(0)}, {.query = Q(1)}, {.query = Q(2)}, {.query = Q(3)}};
  std::vector<Target> targets;
  for (std::uint32_t q = 0; q < 4; ++q) targets.push_back({.query = Q(q), .stages = {S(q)}});
  return GraphOf(
      {Task(S(0), kX, 0, 10).Waited(kIo, 4, 4), Task(S(1), kX, 0, 10).Waited(kIo, 4, 8),
       Task(S(2), kX, 0, 10).Waited(kIo, 4, 16), Task(S(3), kY, 0, 10).Waited(kIo, 4, 4)},
      stages, targets);
}

TEST(Questions, AtMostKAreNamed) {
  EXPECT_EQ(NoisyQueries(ThreeAndOne(), 0, 1).size(), 1);
  EXPECT_TRUE(NoisyQueries(ThreeAndOne(), 0, 0).empty());
  EXPECT_TRUE(NoisyQueries(ThreeAndOne(), 3, 9).empty()) << "it is alone on its host";
}

TEST(Questions, TiesGoToTheLowerNumber) {
  const ProtoGraph graph = GraphOfQuery0(
      3, {Task(S(0), kX, 0, 10).Waited(kIo, 4, 4), Task(S(2), kX, 0, 10).Waited(kIo, 4, 8),
          Task(S(1), kX, 0, 10).Waited(kIo, 4, 8)});
  EXPECT_THAT(NoisyQueries(graph, 0, 9),
              ElementsAre(Ranked<Query>{Q(1), 0.5}, Ranked<Query>{Q(2), 0.5}));
}

TEST(Questions, OneStageHasItsOwnAnswer) {
  const auto graph = GraphOf(ExamplePieces(), ExampleStages(), {{.query = kQ0, .stages = {kS5}}});
  EXPECT_THAT(NoisyQueries(graph, 0, 9), ElementsAre(Weighs(kQ2, 5.0 / 6)));
}

// Level 1 has weights 4, 3, 2, 1 and 40, 20, 20, 20 of 100 processor seconds, which gives 1.6, 0.6,
// 0.4, 0.2 of 2.8. s1 passes 4/7 to its memory on X, where r3 has a blame of 0.5 x 2 / 0.5 = 2, and
// u5 has a blame of 0.5 x 2 / 1 = 1. s5 passes 1/14 to its reads. They take 0.5 s per unit on Y and
// 0.1 s on X, so 5/6 of it belongs to Y.
//     Q1: 4/7 x 2/3                   = 8/21
//     Q2: 4/7 x 1/3 + 1/14 x 5/6      = 1/4
TEST(Example22, QueryNextToTheEarlyStageIsTheNoisyOne) {
  EXPECT_THAT(NoisyQueries(Example(), 0, 3),
              ElementsAre(Weighs(kQ1, 8.0 / 21), Weighs(kQ2, 1.0 / 4)));
}

// On Y, the blames are 1 x 0.5 / 0.1 = 5, 0.5 x 0.5 / 0.5 = 0.5 and 0.5 x 0.5 / 1 = 0.25. Their
// shares of 5.75 are 20/23, 2/23 and 1/23, each multiplied by 1/14 x 5/6 = 5/84. u5 also has 4/21
// from X.
TEST(Example22, SourceStagesShareTheBlame) {
  const ProtoGraph graph = Example();
  std::map<Stage, double> weights;
  for (VertexIndex v = 0; v < graph.vertices.size(); ++v) {
    const Vertex& vertex = graph.vertices[v];
    if (vertex.level == Level::kSourceStage) weights[vertex.source] += graph.responsibilities[v];
  }
  EXPECT_EQ(std::ranges::count_if(weights, [](const auto& w) { return w.second > 0; }), 4);
  EXPECT_NEAR(weights[kR3], 8.0 / 21, 1e-12);
  EXPECT_NEAR(weights[kU5], 4.0 / 21 + 5.0 / 84 * 20 / 23, 1e-12);
  EXPECT_NEAR(weights[kU7], 5.0 / 84 * 2 / 23, 1e-12);
  EXPECT_NEAR(weights[kU9], 5.0 / 84 * 1 / 23, 1e-12);
}

// s3 and s4 have no measured wait, and no other query reads on X. Therefore 3/14 + 2/14 of the
// impact, and 1/14 x 1/6, have no cause.
TEST(Example22, UnexplainedWaitsAreAttributedToNoQuery) {
  const ProtoGraph graph = Example();
  EXPECT_NEAR(SumOf(graph, Level::kTargetStage, 0), 1, 1e-12);
  EXPECT_NEAR(SumOf(graph, Level::kImmediate, 0), 9.0 / 14, 1e-12);
  EXPECT_NEAR(SumOf(graph, Level::kSourceQuery, 0), 9.0 / 14 - 1.0 / 84, 1e-12);
}

// s1 waits for 0.6 s per second, for 30 s while r3 runs and for 30 s while u5 runs. s5 waits on Y
// for 0.5 s per second and unit. A unit takes 0.1 s on X, so the excess is 0.4 s per second for 60
// s. Other stages use 3 units per second there. u5 uses 2 units, and u7 and u9 use 1 unit, each for
// half of the time.
TEST(Example22, SecondsAreDividedByTheUseOfOthers) {
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
  EXPECT_THAT(DelayingQueries(delays, ExampleStages(), 3),
              ElementsAre(Weighs(kQ2, 54), Weighs(kQ1, 30)));
}

}  // namespace
}  // namespace tidemark::waits::proto_graph_test
