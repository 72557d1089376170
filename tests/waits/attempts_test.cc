#include "master/waits/attempts.h"

#include <gtest/gtest.h>

#include <limits>

#include "tests/waits/some_pieces.h"

namespace tidemark::blame {
namespace {

constexpr Attempt kA{7};

TaskUse Io(double wait_seconds, double units) {
  TaskUse totals;
  totals.of[Resource::kIo] = {.wait_seconds = wait_seconds, .units = units};
  return totals;
}

TEST(Attempts, PieceIsWhatIsNewSinceTheReportBefore) {
  Attempts attempts;
  EXPECT_EQ(attempts.Start(kA, S(1), H(2), 10), std::nullopt);
  EXPECT_EQ(attempts.Report(kA, 15, Io(2, 100)),
            Task(S(1), H(2), 10, 15).Waited(Resource::kIo, 2, 100));
  EXPECT_EQ(attempts.End(kA, 18, Io(4, 130)),
            Task(S(1), H(2), 15, 18).Waited(Resource::kIo, 2, 30));
  EXPECT_EQ(attempts.running(), 0);
}

TEST(Attempts, LostReportLosesNothing) {
  Attempts attempts;
  attempts.Start(kA, S(1), H(2), 10);
  EXPECT_EQ(attempts.End(kA, 18, Io(4, 130)),
            Task(S(1), H(2), 10, 18).Waited(Resource::kIo, 4, 130));
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

TEST(Attempts, WhatIsNotMeasuredIsNotZero) {
  Attempts attempts;
  attempts.Start(kA, S(1), H(2), 10);
  EXPECT_EQ(attempts.Report(kA, 15, {}), Piece(Task(S(1), H(2), 10, 15)));
}

// 3 s in 6 s, of which 1 s has not been told of yet.
TEST(Attempts, ATotalThatIsToldLateIsSpreadOverTheTimeSinceTheStart) {
  Attempts attempts;
  attempts.Start(kA, S(1), H(2), 10);
  attempts.Report(kA, 15, {});
  EXPECT_EQ(attempts.Report(kA, 16, Io(3, 60)),
            Task(S(1), H(2), 15, 16).Waited(Resource::kIo, 0.5, 10));
  EXPECT_EQ(attempts.Report(kA, 20, Io(4, 70)),
            Task(S(1), H(2), 16, 20).Waited(Resource::kIo, 1, 10));
}

// It waited 90 s in 100 s; of the first 55 s it was said that nothing is known.
TEST(Attempts, AfterASilenceNoMoreIsWaitedThanTimeHasPassed) {
  Attempts attempts;
  attempts.Start(kA, S(1), H(2), 0);
  attempts.Report(kA, 55, {});
  EXPECT_EQ(attempts.End(kA, 100, Io(90, 100)),
            Task(S(1), H(2), 55, 100).Waited(Resource::kIo, 40.5, 45));
}

TEST(Attempts, TotalThatFallsIsNotKnownUntilItHasGrownAgain) {
  Attempts attempts;
  attempts.Start(kA, S(1), H(2), 0);
  attempts.Report(kA, 10, Io(5, 50));
  EXPECT_EQ(attempts.Report(kA, 11, Io(1, 50)), Task(S(1), H(2), 10, 11).Took(Resource::kIo, 0));
  EXPECT_EQ(attempts.contradictions(), 1);
  EXPECT_EQ(attempts.Report(kA, 20, Io(6, 50)),
            Task(S(1), H(2), 11, 20).Waited(Resource::kIo, 0.9, 0))
      << "1 s since 10 s";
}

TEST(Attempts, WaitIsNoLongerThanTheAttemptIsOld) {
  Attempts attempts;
  attempts.Start(kA, S(1), H(2), 0);
  EXPECT_EQ(attempts.Report(kA, 10, Io(1'000, 50)),
            Task(S(1), H(2), 0, 10).Waited(Resource::kIo, 10, 50));
  EXPECT_EQ(attempts.contradictions(), 1);
}

// 6 s without a processor of 10 s: of 5 s of fetching and 3 s of writing, by the clock, at most 4 s
// are waits of their own.
TEST(Attempts, WhatWasWaitedForAProcessorIsNotCountedOnceMoreAsAFetch) {
  Attempts attempts;
  attempts.Start(kA, S(1), H(2), 0);
  TaskUse totals;
  totals.of[Resource::kProcessor] = {.wait_seconds = 5, .units = {}};
  totals.of[Resource::kMemory] = {.wait_seconds = 1, .units = {}};
  totals.of[Resource::kNetwork] = {.wait_seconds = 5, .units = 100};
  totals.of[Resource::kIo] = {.wait_seconds = 3, .units = 10};
  EXPECT_EQ(attempts.Report(kA, 10, totals), Task(S(1), H(2), 0, 10)
                                                 .Waited(Resource::kProcessor, 5)
                                                 .Waited(Resource::kMemory, 1)
                                                 .Waited(Resource::kNetwork, 2.5, 100)
                                                 .Waited(Resource::kIo, 1.5, 10));
}

// Seven seconds of which nothing is told, and a fetch of 7.5 s that ended in the eighth: 8 s were
// left for it. So for the next one: 16 - 7, less the second in which the first one was told.
TEST(Attempts, AWaitThatIsToldOnceItIsOverIsNotCutToItsLastPiece) {
  Attempts attempts;
  attempts.Start(kA, S(1), H(2), 0);
  TaskUse totals;
  totals.of[Resource::kNetwork] = {.wait_seconds = 0, .units = 0};
  EXPECT_EQ(attempts.Report(kA, 7, totals),
            Task(S(1), H(2), 0, 7).Waited(Resource::kNetwork, 0, 0));
  totals.of[Resource::kNetwork] = {.wait_seconds = 7.5, .units = 100};
  EXPECT_EQ(attempts.Report(kA, 8, totals),
            Task(S(1), H(2), 7, 8).Waited(Resource::kNetwork, 7.5, 100));
  EXPECT_EQ(attempts.Report(kA, 15, totals),
            Task(S(1), H(2), 8, 15).Waited(Resource::kNetwork, 0, 0));
  totals.of[Resource::kNetwork] = {.wait_seconds = 15, .units = 200};
  EXPECT_EQ(attempts.Report(kA, 16, totals),
            Task(S(1), H(2), 15, 16).Waited(Resource::kNetwork, 7.5, 100));
}

// A fetch in each piece: of the second one 20 - 0 s, less 10 s that were waited in the first piece
// and 6 s without a processor, are left.
TEST(Attempts, WhatWasWaitedBeforeIsNotLeftForALaterFetch) {
  Attempts attempts;
  attempts.Start(kA, S(1), H(2), 0);
  TaskUse totals;
  totals.of[Resource::kProcessor] = {.wait_seconds = 6, .units = {}};
  totals.of[Resource::kNetwork] = {.wait_seconds = 4, .units = 1};
  EXPECT_EQ(
      attempts.Report(kA, 10, totals),
      Task(S(1), H(2), 0, 10).Waited(Resource::kProcessor, 6).Waited(Resource::kNetwork, 4, 1));
  totals.of[Resource::kProcessor] = {.wait_seconds = 12, .units = {}};
  totals.of[Resource::kNetwork] = {.wait_seconds = 9, .units = 2};
  EXPECT_EQ(
      attempts.Report(kA, 20, totals),
      Task(S(1), H(2), 10, 20).Waited(Resource::kProcessor, 6).Waited(Resource::kNetwork, 4, 1));
}

// Without a processor all the time, in which it collected garbage and wrote as well.
TEST(Attempts, WhereNothingIsLeftNothingIsDividedByZero) {
  Attempts attempts;
  attempts.Start(kA, S(1), H(2), 0);
  TaskUse totals;
  totals.of[Resource::kProcessor] = {.wait_seconds = 10, .units = {}};
  totals.of[Resource::kMemory] = {.wait_seconds = 10, .units = {}};
  totals.of[Resource::kNetwork] = {.wait_seconds = 0, .units = 0};
  totals.of[Resource::kIo] = {.wait_seconds = 1, .units = 1};
  EXPECT_EQ(attempts.Report(kA, 10, totals), Task(S(1), H(2), 0, 10)
                                                 .Waited(Resource::kProcessor, 10)
                                                 .Waited(Resource::kMemory, 0)
                                                 .Waited(Resource::kNetwork, 0, 0)
                                                 .Waited(Resource::kIo, 0, 1));
}

TEST(Attempts, TimeThatRunsBackwardsChangesNothing) {
  Attempts attempts;
  attempts.Start(kA, S(1), H(2), 10);
  attempts.Report(kA, 15, Io(1, 1));
  EXPECT_EQ(attempts.Report(kA, 14, Io(2, 2)), std::nullopt);
  EXPECT_EQ(attempts.Report(kA, std::numeric_limits<double>::quiet_NaN(), Io(2, 2)), std::nullopt);
  EXPECT_EQ(attempts.contradictions(), 2);
  EXPECT_EQ(attempts.Report(kA, 16, Io(2, 2)),
            Task(S(1), H(2), 15, 16).Waited(Resource::kIo, 1, 1));
}

TEST(Attempts, NumbersThatAreNoneAreNotKnown) {
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

TEST(Attempts, NoMoreAreFollowedThanFit) {
  Attempts attempts(2);
  for (std::uint64_t a = 0; a < 5; ++a) attempts.Start(Attempt{a}, S(0), H(0), 0);
  EXPECT_EQ(attempts.running(), 2);
  EXPECT_EQ(attempts.not_followed(), 3);
  attempts.Forget(Attempt{0});
  EXPECT_EQ(attempts.running(), 1);
}

}  // namespace
}  // namespace tidemark::blame
