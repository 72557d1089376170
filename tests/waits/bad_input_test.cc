// Input that is odd, wrong or too much: finite answers, and no blame without evidence.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "master/waits/attempts.h"
#include "master/waits/delay.h"
#include "master/waits/questions.h"
#include "tests/waits/some_pieces.h"

namespace tidemark::blame {
namespace {

constexpr Resource kIo = Resource::kIo;

const std::vector<StageInfo> kTwo = {{.query = Q(0)}, {.query = Q(1)}};

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

bool BlamesNobody(const std::vector<Piece>& pieces) {
  const Ledger ledger = Folded(pieces);
  const ProtoGraph graph = GraphOf(ledger);
  const std::vector<Stage> both = {S(0), S(1)};
  return NoisyQueries(graph, 0, 9).empty() && NoisyQueries(graph, 1, 9).empty() &&
         DelayingQueries(Delays(ledger, both), kTwo, 9).empty();
}

TEST(BadInput, NothingAtAll) { EXPECT_TRUE(BlamesNobody({})); }

TEST(BadInput, OverlapOfNoLength) {
  EXPECT_TRUE(BlamesNobody(
      {Task(S(0), H(0), 0, 10).Waited(kIo, 8, 5), Task(S(1), H(0), 10, 20).Waited(kIo, 1, 50)}));
  EXPECT_TRUE(BlamesNobody(
      {Task(S(0), H(0), 0, 10).Waited(kIo, 8, 5), Task(S(1), H(0), 5, 5).Waited(kIo, 0, 1e12)}));
}

TEST(BadInput, WaitForNoUnitsIsNoRate) {
  EXPECT_TRUE(BlamesNobody(
      {Task(S(0), H(0), 0, 10).Waited(kIo, 8, 0), Task(S(1), H(0), 0, 10).Waited(kIo, 0, 0)}));
}

// The clock of one query's driver is 20 minutes behind, and nobody has corrected it: the tasks do
// not meet any more. That is why offsets are to be taken off before.
TEST(BadInput, ClocksThatAreApartMeetNobody) {
  EXPECT_TRUE(BlamesNobody({Task(S(0), H(0), 1'200, 1'210).Waited(kIo, 8, 5),
                            Task(S(1), H(0), 0, 10).Waited(kIo, 1, 50)}));
}

// It was heard of last at 5 s, and never again.
TEST(BadInput, AttemptThatNeverEndsIsThereUntilItsLastReport) {
  Attempts attempts;
  Contention contention;
  attempts.Start(Attempt{1}, S(1), H(0), 0);
  TaskUse totals;
  totals.of[kIo] = {.wait_seconds = 1, .units = 50};
  ASSERT_TRUE(contention.Add(*attempts.Report(Attempt{1}, 5, totals)).ok());
  ASSERT_TRUE(contention.Add(Task(S(0), H(0), 0, 100).Waited(kIo, 80, 5)).ok());
  contention.Advance(1e5);
  EXPECT_EQ(contention.Whole().meetings.at({S(0), H(0), S(1)}).overlap_seconds, 5);
}

TEST(BadInput, StageAloneOnItsHost) {
  EXPECT_TRUE(BlamesNobody(
      {Task(S(0), H(0), 0, 10).Waited(kIo, 8, 5), Task(S(1), H(1), 0, 10).Waited(kIo, 1, 50)}));
}

TEST(BadInput, QueryWithItselfAsOnlyNeighbour) {
  const std::vector<Piece> pieces = {Task(S(0), H(0), 0, 10).Waited(kIo, 8, 5),
                                     Task(S(0), H(0), 0, 10).Waited(kIo, 8, 5)};
  EXPECT_TRUE(BlamesNobody(pieces));
  // It is itself that it is held up by.
  EXPECT_NEAR(SumOf(GraphOf(Folded(pieces)), Level::kSourceQuery, 0), 1, 1e-12);
}

TEST(BadInput, NumbersBeyondMeasure) {
  GraphOf(Folded({Task(S(0), H(0), 0, 1e-9).Waited(kIo, 1e-9, 1e300),
                  Task(S(0), H(0), -1e12, 1e5).Waited(kIo, 1e12, 1e-300),
                  Task(S(1), H(0), 0, 1e5).Waited(kIo, 1e-300, 1e300)}));
}

// However long it has been, only so many slices are folded apart.
TEST(BadInput, PieceOfManyYears) {
  Contention contention;
  ASSERT_TRUE(contention.Add(Task(S(0), H(0), -1e15, 1e15)).ok());
  ASSERT_TRUE(contention.Add(Task(S(1), H(0), 0, 10)).ok());
  contention.Advance(2e15);
  EXPECT_NEAR(contention.Whole().meetings.at({S(0), H(0), S(1)}).overlap_seconds, 10, 1e-6);
}

TEST(BadInput, AdvanceToNowhereDoesNothing) {
  Contention contention;
  ASSERT_TRUE(contention.Add(Task(S(0), H(0), 0, 10)).ok());
  contention.Advance(std::numeric_limits<double>::quiet_NaN());
  contention.Advance(std::numeric_limits<double>::infinity());
  EXPECT_EQ(contention.pending(), 1);
}

TEST(BadInput, PieceThatIsWrongIsRefused) {
  Contention contention;
  EXPECT_EQ(contention.Add(Task(S(0), H(0), 10, 0)).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(contention.pending(), 0);
}

// What comes too late counts in the sums, but meets nobody any more.
TEST(BadInput, LatePieceMeetsNobodyAndIsCounted) {
  Contention contention;
  ASSERT_TRUE(contention.Add(Task(S(0), H(0), 0, 30).Waited(kIo, 24, 15)).ok());
  contention.Advance(20);
  ASSERT_TRUE(contention.Add(Task(S(1), H(0), 0, 30).Waited(kIo, 3, 150)).ok());
  contention.Advance(40);
  EXPECT_NEAR(contention.late_seconds(), 20, 1e-9);
  const Ledger whole = contention.Whole();
  EXPECT_NEAR(whole.stages.at({S(1), H(0)}).waited[kIo].wait_seconds, 3, 1e-9);
  EXPECT_NEAR(whole.meetings.at({S(0), H(0), S(1)}).overlap_seconds, 10, 1e-9);
}

// Sums do not grow with tasks: 100,000 of 20 stages on 5 hosts.
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
  EXPECT_EQ(contention.Whole().stages.size(), 20);
  EXPECT_LE(contention.Whole().meetings.size(), 20 * 20 * 5);
}

}  // namespace
}  // namespace tidemark::blame
