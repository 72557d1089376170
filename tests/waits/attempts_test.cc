#include "master/waits/attempts.h"

#include <gtest/gtest.h>

#include <limits>

#include "tests/waits/some_pieces.h"

namespace tidemark::waits {
namespace {

constexpr Attempt kA{7};

TaskUse Io(double wait_seconds, double units) {
  TaskUse totals;
  totals.of[WaitReason::kIo] = {.wait_seconds = wait_seconds, .units = units};
  return totals;
}

TEST(Attempts, PieceHoldsTheGrowthSinceThePreviousReport) {
  Attempts attempts;
  EXPECT_EQ(attempts.Start(kA, S(1), H(2), 10), std::nullopt);
  EXPECT_EQ(attempts.Report(kA, 15, Io(2, 100)),
            Task(S(1), H(2), 10, 15).Waited(WaitReason::kIo, 2, 100));
  EXPECT_EQ(attempts.End(kA, 18, Io(4, 130)),
            Task(S(1), H(2), 15, 18).Waited(WaitReason::kIo, 2, 30));
  EXPECT_EQ(attempts.running(), 0);
}

TEST(Attempts, LostReportLosesNothing) {
  Attempts attempts;
  attempts.Start(kA, S(1), H(2), 10);
  EXPECT_EQ(attempts.End(kA, 18, Io(4, 130)),
            Task(S(1), H(2), 10, 18).Waited(WaitReason::kIo, 4, 130));
}

TEST(Attempts, TimeInTheQueueIsAWaitForOneSlot) {
  Attempts attempts;
  EXPECT_EQ(attempts.Start(kA, S(1), H(2), 10, 4), Queued(S(1), 4, 10));
}

TEST(Attempts, QueueAfterTheStartIsAContradiction) {
  Attempts attempts;
  EXPECT_EQ(attempts.Start(kA, S(1), H(2), 10, 400), std::nullopt);
  EXPECT_EQ(attempts.contradictions(), 1);
  EXPECT_EQ(attempts.running(), 1);
}

TEST(Attempts, UnmeasuredAmountsAreNotZero) {
  Attempts attempts;
  attempts.Start(kA, S(1), H(2), 10);
  EXPECT_EQ(attempts.Report(kA, 15, {}), Piece(Task(S(1), H(2), 10, 15)));
}

// The attempt waited 3 s in 6 s; 1 s is the part since the previous report.
TEST(Attempts, LateTotalIsSpreadOverTheTimeSinceTheStart) {
  Attempts attempts;
  attempts.Start(kA, S(1), H(2), 10);
  attempts.Report(kA, 15, {});
  EXPECT_EQ(attempts.Report(kA, 16, Io(3, 60)),
            Task(S(1), H(2), 15, 16).Waited(WaitReason::kIo, 0.5, 10));
  EXPECT_EQ(attempts.Report(kA, 20, Io(4, 70)),
            Task(S(1), H(2), 16, 20).Waited(WaitReason::kIo, 1, 10));
}

// The attempt waited 90 s in 100 s; the report at 55 s had no totals.
TEST(Attempts, WaitAfterASilenceIsAtMostTheElapsedTime) {
  Attempts attempts;
  attempts.Start(kA, S(1), H(2), 0);
  attempts.Report(kA, 55, {});
  EXPECT_EQ(attempts.End(kA, 100, Io(90, 100)),
            Task(S(1), H(2), 55, 100).Waited(WaitReason::kIo, 40.5, 45));
}

TEST(Attempts, FallingTotalIsUnknownUntilItGrowsAgain) {
  Attempts attempts;
  attempts.Start(kA, S(1), H(2), 0);
  attempts.Report(kA, 10, Io(5, 50));
  EXPECT_EQ(attempts.Report(kA, 11, Io(1, 50)), Task(S(1), H(2), 10, 11).Took(WaitReason::kIo, 0));
  EXPECT_EQ(attempts.contradictions(), 1);
  EXPECT_EQ(attempts.Report(kA, 20, Io(6, 50)),
            Task(S(1), H(2), 11, 20).Waited(WaitReason::kIo, 0.9, 0))
      << "1 s since 10 s";
}

TEST(Attempts, WaitIsCutToTheAgeOfTheAttempt) {
  Attempts attempts;
  attempts.Start(kA, S(1), H(2), 0);
  EXPECT_EQ(attempts.Report(kA, 10, Io(1'000, 50)),
            Task(S(1), H(2), 0, 10).Waited(WaitReason::kIo, 10, 50));
  EXPECT_EQ(attempts.contradictions(), 1);
}

// The attempt had no processor for 6 of 10 s. The clock shows 5 s of fetching and 3 s of writing,
// of which at most 4 s are other waits.
TEST(Attempts, ProcessorWaitIsNotCountedAgainAsAFetch) {
  Attempts attempts;
  attempts.Start(kA, S(1), H(2), 0);
  TaskUse totals;
  totals.of[WaitReason::kProcessor] = {.wait_seconds = 5, .units = {}};
  totals.of[WaitReason::kMemory] = {.wait_seconds = 1, .units = {}};
  totals.of[WaitReason::kNetwork] = {.wait_seconds = 5, .units = 100};
  totals.of[WaitReason::kIo] = {.wait_seconds = 3, .units = 10};
  EXPECT_EQ(attempts.Report(kA, 10, totals), Task(S(1), H(2), 0, 10)
                                                 .Waited(WaitReason::kProcessor, 5)
                                                 .Waited(WaitReason::kMemory, 1)
                                                 .Waited(WaitReason::kNetwork, 2.5, 100)
                                                 .Waited(WaitReason::kIo, 1.5, 10));
}

// Seven seconds without a wait, then a fetch of 7.5 s that ends in the eighth second: 8 s are
// available for it. The next fetch has 16 - 7 s, less the second in which the first one was
// reported.
TEST(Attempts, WaitLongerThanItsPieceIsNotCut) {
  Attempts attempts;
  attempts.Start(kA, S(1), H(2), 0);
  TaskUse totals;
  totals.of[WaitReason::kNetwork] = {.wait_seconds = 0, .units = 0};
  EXPECT_EQ(attempts.Report(kA, 7, totals),
            Task(S(1), H(2), 0, 7).Waited(WaitReason::kNetwork, 0, 0));
  totals.of[WaitReason::kNetwork] = {.wait_seconds = 7.5, .units = 100};
  EXPECT_EQ(attempts.Report(kA, 8, totals),
            Task(S(1), H(2), 7, 8).Waited(WaitReason::kNetwork, 7.5, 100));
  EXPECT_EQ(attempts.Report(kA, 15, totals),
            Task(S(1), H(2), 8, 15).Waited(WaitReason::kNetwork, 0, 0));
  totals.of[WaitReason::kNetwork] = {.wait_seconds = 15, .units = 200};
  EXPECT_EQ(attempts.Report(kA, 16, totals),
            Task(S(1), H(2), 15, 16).Waited(WaitReason::kNetwork, 7.5, 100));
}

// Each piece has a fetch. The second one has 20 s, less the 10 s of the first piece and 6 s without
// a processor.
TEST(Attempts, EarlierWaitsReduceTheTimeOfALaterFetch) {
  Attempts attempts;
  attempts.Start(kA, S(1), H(2), 0);
  TaskUse totals;
  totals.of[WaitReason::kProcessor] = {.wait_seconds = 6, .units = {}};
  totals.of[WaitReason::kNetwork] = {.wait_seconds = 4, .units = 1};
  EXPECT_EQ(
      attempts.Report(kA, 10, totals),
      Task(S(1), H(2), 0, 10).Waited(WaitReason::kProcessor, 6).Waited(WaitReason::kNetwork, 4, 1));
  totals.of[WaitReason::kProcessor] = {.wait_seconds = 12, .units = {}};
  totals.of[WaitReason::kNetwork] = {.wait_seconds = 9, .units = 2};
  EXPECT_EQ(attempts.Report(kA, 20, totals), Task(S(1), H(2), 10, 20)
                                                 .Waited(WaitReason::kProcessor, 6)
                                                 .Waited(WaitReason::kNetwork, 4, 1));
}

// The attempt never had a processor, and also reports a collection and a write.
TEST(Attempts, NoRemainingTimeDividesByZero) {
  Attempts attempts;
  attempts.Start(kA, S(1), H(2), 0);
  TaskUse totals;
  totals.of[WaitReason::kProcessor] = {.wait_seconds = 10, .units = {}};
  totals.of[WaitReason::kMemory] = {.wait_seconds = 10, .units = {}};
  totals.of[WaitReason::kNetwork] = {.wait_seconds = 0, .units = 0};
  totals.of[WaitReason::kIo] = {.wait_seconds = 1, .units = 1};
  EXPECT_EQ(attempts.Report(kA, 10, totals), Task(S(1), H(2), 0, 10)
                                                 .Waited(WaitReason::kProcessor, 10)
                                                 .Waited(WaitReason::kMemory, 0)
                                                 .Waited(WaitReason::kNetwork, 0, 0)
                                                 .Waited(WaitReason::kIo, 0, 1));
}

TEST(Attempts, ReportBeforeThePreviousOneChangesNothing) {
  Attempts attempts;
  attempts.Start(kA, S(1), H(2), 10);
  attempts.Report(kA, 15, Io(1, 1));
  EXPECT_EQ(attempts.Report(kA, 14, Io(2, 2)), std::nullopt);
  EXPECT_EQ(attempts.Report(kA, std::numeric_limits<double>::quiet_NaN(), Io(2, 2)), std::nullopt);
  EXPECT_EQ(attempts.contradictions(), 2);
  EXPECT_EQ(attempts.Report(kA, 16, Io(2, 2)),
            Task(S(1), H(2), 15, 16).Waited(WaitReason::kIo, 1, 1));
}

TEST(Attempts, InvalidNumbersAreUnknown) {
  Attempts attempts;
  attempts.Start(kA, S(1), H(2), 10);
  EXPECT_EQ(attempts.Report(kA, 15, Io(std::numeric_limits<double>::quiet_NaN(), -5)),
            Piece(Task(S(1), H(2), 10, 15)));
}

TEST(Attempts, UnknownAttemptsAndSecondStartsChangeNothing) {
  Attempts attempts;
  EXPECT_EQ(attempts.Report(kA, 15, Io(1, 1)), std::nullopt);
  EXPECT_EQ(attempts.End(kA, 15), std::nullopt);
  attempts.Start(kA, S(1), H(2), 10);
  EXPECT_EQ(attempts.Start(kA, S(9), H(9), 12, 5), std::nullopt);
  EXPECT_EQ(attempts.End(kA, 15), Piece(Task(S(1), H(2), 10, 15)));
}

TEST(Attempts, AttemptsBeyondTheLimitAreCountedButNotTracked) {
  Attempts attempts(2);
  for (std::uint64_t a = 0; a < 5; ++a) attempts.Start(Attempt{a}, S(0), H(0), 0);
  EXPECT_EQ(attempts.running(), 2);
  EXPECT_EQ(attempts.untracked(), 3);
}

}  // namespace
}  // namespace tidemark::waits
