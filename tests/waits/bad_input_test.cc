// Tests unusual, wrong and excessive input. Results must be finite, and no cause may be blamed
// without evidence.

#include "master/waits/attempts.h"
#include "master/waits/delay.h"
#include "master/waits/proto_graph.h"
#include "tests/test.h"
#include "tests/waits/some_pieces.h"

namespace tidemark::waits::bad_input_test {
namespace {

constexpr WaitReason kIo = WaitReason::kIo;

const std::vector<QueryStage> kTwo = {{.query = Q(0)}, {.query = Q(1)}};

ProtoGraph GraphOf(const Ledger& ledger) {
  const std::vector<Target> targets = {{.query = Q(0), .stages = {S(0)}},
                                       {.query = Q(1), .stages = {S(1)}}};
  absl::StatusOr<ProtoGraph> graph = Explain(ledger, kTwo, targets);
  EXPECT_TRUE(graph.ok()) << graph.status();
  for (const double number : graph->contributions) EXPECT_TRUE(std::isfinite(number));
  for (const double number : graph->responsibilities) {
    EXPECT_GE(number, 0);
    EXPECT_LE(number, 2 + 1e-9);  // both targets
  }
  for (const Edge& edge : graph->edges) {
    EXPECT_GE(edge.impact, 0);
    EXPECT_LE(edge.impact, 1);
  }
  return *std::move(graph);
}

bool BlamesNothing(const std::vector<Piece>& pieces) {
  const Ledger ledger = Folded(pieces);
  const ProtoGraph graph = GraphOf(ledger);
  const std::vector<Stage> both = {S(0), S(1)};
  return NoisyQueries(graph, 0, 9).empty() && NoisyQueries(graph, 1, 9).empty() &&
         DelayingQueries(Delays(ledger, both), kTwo, 9).empty();
}

TEST(BadInput, NoPiecesBlameNothing) { EXPECT_TRUE(BlamesNothing({})); }

TEST(BadInput, OverlapWithoutLengthBlamesNothing) {
  EXPECT_TRUE(BlamesNothing(
      {Task(S(0), H(0), 0, 10).Waited(kIo, 8, 5), Task(S(1), H(0), 10, 20).Waited(kIo, 1, 50)}));
  EXPECT_TRUE(BlamesNothing(
      {Task(S(0), H(0), 0, 10).Waited(kIo, 8, 5), Task(S(1), H(0), 5, 5).Waited(kIo, 0, 1e12)}));
}

TEST(BadInput, WaitWithoutUnitsHasNoRate) {
  EXPECT_TRUE(BlamesNothing(
      {Task(S(0), H(0), 0, 10).Waited(kIo, 8, 0), Task(S(1), H(0), 0, 10).Waited(kIo, 0, 0)}));
}

// The clock of one query's driver is 20 minutes behind. Without a correction, the tasks do not
// overlap.
TEST(BadInput, TasksWithUncorrectedClocksDoNotMeet) {
  EXPECT_TRUE(BlamesNothing({Task(S(0), H(0), 1'200, 1'210).Waited(kIo, 8, 5),
                             Task(S(1), H(0), 0, 10).Waited(kIo, 1, 50)}));
}

// The last report of the attempt is at 5 s.
TEST(BadInput, AttemptWithoutAnEndCountsUntilItsLastReport) {
  Attempts attempts;
  Contention contention;
  attempts.Start(Attempt{1}, S(1), H(0), 0);
  TaskUse totals;
  totals.of[kIo] = {.wait_seconds = 1, .units = 50};
  ASSERT_TRUE(contention.Add(*attempts.Report(Attempt{1}, 5, totals)).ok());
  ASSERT_TRUE(contention.Add(Task(S(0), H(0), 0, 100).Waited(kIo, 80, 5)).ok());
  contention.Advance(1e5);
  EXPECT_EQ(SumsOf(contention).meetings.at({S(0), H(0), S(1)}).overlap_seconds, 5);
}

TEST(BadInput, StageAloneOnItsHostBlamesNothing) {
  EXPECT_TRUE(BlamesNothing(
      {Task(S(0), H(0), 0, 10).Waited(kIo, 8, 5), Task(S(1), H(1), 0, 10).Waited(kIo, 1, 50)}));
}

TEST(BadInput, QueryWithoutOtherNeighboursBlamesOnlyItself) {
  const std::vector<Piece> pieces = {Task(S(0), H(0), 0, 10).Waited(kIo, 8, 5),
                                     Task(S(0), H(0), 0, 10).Waited(kIo, 8, 5)};
  EXPECT_TRUE(BlamesNothing(pieces));
  EXPECT_NEAR(SumOf(GraphOf(Folded(pieces)), Level::kSourceQuery, 0), 1, 1e-12);
}

TEST(BadInput, ExtremeNumbersGiveFiniteResults) {
  GraphOf(Folded({Task(S(0), H(0), 0, 1e-9).Waited(kIo, 1e-9, 1e300),
                  Task(S(0), H(0), -1e12, 1e5).Waited(kIo, 1e12, 1e-300),
                  Task(S(1), H(0), 0, 1e5).Waited(kIo, 1e-300, 1e300)}));
}

TEST(BadInput, PieceOfManyYearsIsFoldedInFewSlices) {
  Contention contention;
  ASSERT_TRUE(contention.Add(Task(S(0), H(0), -1e15, 1e15)).ok());
  ASSERT_TRUE(contention.Add(Task(S(1), H(0), 0, 10)).ok());
  contention.Advance(2e15);
  EXPECT_NEAR(SumsOf(contention).meetings.at({S(0), H(0), S(1)}).overlap_seconds, 10, 1e-6);
}

TEST(BadInput, AdvanceToANonFiniteInstantDoesNothing) {
  Contention contention;
  ASSERT_TRUE(contention.Add(Task(S(0), H(0), 0, 10)).ok());
  contention.Advance(std::numeric_limits<double>::quiet_NaN());
  contention.Advance(std::numeric_limits<double>::infinity());
  EXPECT_EQ(contention.pending(), 1);
}

TEST(BadInput, InvalidPieceIsRejected) {
  Contention contention;
  EXPECT_EQ(contention.Add(Task(S(0), H(0), 10, 0)).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(contention.pending(), 0);
}

// A late piece counts only in its own sums.
TEST(BadInput, LatePieceCountsButMeetsNothing) {
  Contention contention;
  ASSERT_TRUE(contention.Add(Task(S(0), H(0), 0, 30).Waited(kIo, 24, 15)).ok());
  contention.Advance(20);
  ASSERT_TRUE(contention.Add(Task(S(1), H(0), 0, 30).Waited(kIo, 3, 150)).ok());
  contention.Advance(40);
  const Ledger whole = SumsOf(contention);
  EXPECT_NEAR(whole.stages.at({S(1), H(0)}).waited[kIo].wait_seconds, 3, 1e-9);
  EXPECT_NEAR(whole.meetings.at({S(0), H(0), S(1)}).overlap_seconds, 10, 1e-9);
}

// The number of sums does not grow with the number of tasks. There are 100,000 tasks in 20 stages
// on 5 hosts.
TEST(BadInput, ManyTasksLeaveFewSums) {
  Contention contention;
  for (std::uint32_t t = 0; t < 100'000; ++t) {
    const double from = 0.01 * t;
    ASSERT_TRUE(
        contention.Add(Task(S(t % 20), H(t % 5), from, from + 1).Waited(kIo, 0.5, 10)).ok());
    if (t % 1'000 == 999) {
      contention.Advance(from - 2);
      ASSERT_LT(contention.pending(), 1'000);
    }
  }
  contention.Advance(2'000);
  EXPECT_EQ(contention.pending(), 0);
  EXPECT_EQ(SumsOf(contention).stages.size(), 20);
  EXPECT_LE(SumsOf(contention).meetings.size(), 20 * 20 * 5);
}

}  // namespace
}  // namespace tidemark::waits::bad_input_test
