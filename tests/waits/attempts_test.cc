#include "master/waits/attempts.h"

#include "tests/test.h"
#include "tests/waits/some_pieces.h"

namespace tidemark::waits::attempts_test {
namespace {

constexpr Attempt kA{7};

// Returns a piece of the attempt.
Task Running(double from, double to) { return {S(1), H(2), from, to}; }

TaskUse UseOf(const Piece& piece) { return piece.use; }
TaskUse Io(double wait_seconds, double units) {
  return UseOf(Running(0, 0).Waited(WaitReason::kIo, wait_seconds, units));
}

// Returns the piece with these waits for the processor and the memory, and for 100 bytes of the
// network and 10 bytes of a disk.
Task WithWaits(Task task, double processor, double memory, double network, double io) {
  return task.Waited(WaitReason::kProcessor, processor)
      .Waited(WaitReason::kMemory, memory)
      .Waited(WaitReason::kNetwork, network, 100)
      .Waited(WaitReason::kIo, io, 10);
}

class AttemptsTest : public ::testing::Test {
 protected:
  std::optional<Piece> StartAt(double at, std::optional<double> queued_at = std::nullopt) {
    return attempts_.Start(kA, S(1), H(2), at, queued_at);
  }

  Attempts attempts_;
};

TEST_F(AttemptsTest, PieceHoldsTheGrowthSinceThePreviousReport) {
  EXPECT_EQ(StartAt(10), std::nullopt);
  EXPECT_EQ(attempts_.Report(kA, 15, Io(2, 100)), Running(10, 15).Waited(WaitReason::kIo, 2, 100));
  EXPECT_EQ(attempts_.End(kA, 18, Io(4, 130)), Running(15, 18).Waited(WaitReason::kIo, 2, 30));
  EXPECT_EQ(attempts_.running(), 0);
}

TEST_F(AttemptsTest, LostReportLosesNothing) {
  StartAt(10);
  EXPECT_EQ(attempts_.End(kA, 18, Io(4, 130)), Running(10, 18).Waited(WaitReason::kIo, 4, 130));
}

TEST_F(AttemptsTest, TimeInTheQueueIsAWaitForOneSlot) {
  EXPECT_EQ(StartAt(10, 4), Queued(S(1), 4, 10));
}

TEST_F(AttemptsTest, QueueAfterTheStartIsAContradiction) {
  EXPECT_EQ(StartAt(10, 400), std::nullopt);
  EXPECT_EQ(attempts_.contradictions(), 1);
  EXPECT_EQ(attempts_.running(), 1);
}

TEST_F(AttemptsTest, UnmeasuredAmountsAreNotZero) {
  StartAt(10);
  EXPECT_EQ(attempts_.Report(kA, 15, {}), Piece(Running(10, 15)));
}

// The attempt waited 3 s in 6 s, of which 1 s belongs to the time since the previous report.
TEST_F(AttemptsTest, LateTotalIsSpreadOverTheTimeSinceTheStart) {
  StartAt(10);
  attempts_.Report(kA, 15, {});
  EXPECT_EQ(attempts_.Report(kA, 16, Io(3, 60)), Running(15, 16).Waited(WaitReason::kIo, 0.5, 10));
  EXPECT_EQ(attempts_.Report(kA, 20, Io(4, 70)), Running(16, 20).Waited(WaitReason::kIo, 1, 10));
}

// The attempt waited 90 s in 100 s. The report at 55 s had no totals.
TEST_F(AttemptsTest, WaitAfterASilenceIsAtMostTheElapsedTime) {
  StartAt(0);
  attempts_.Report(kA, 55, {});
  EXPECT_EQ(attempts_.End(kA, 100, Io(90, 100)),
            Running(55, 100).Waited(WaitReason::kIo, 40.5, 45));
}

TEST_F(AttemptsTest, FallingTotalIsUnknownUntilItGrowsAgain) {
  StartAt(0);
  attempts_.Report(kA, 10, Io(5, 50));
  EXPECT_EQ(attempts_.Report(kA, 11, Io(1, 50)), Running(10, 11).Took(WaitReason::kIo, 0));
  EXPECT_EQ(attempts_.contradictions(), 1);
  EXPECT_EQ(attempts_.Report(kA, 20, Io(6, 50)), Running(11, 20).Waited(WaitReason::kIo, 0.9, 0))
      << "1 s since 10 s";
}

TEST_F(AttemptsTest, WaitIsCutToTheAgeOfTheAttempt) {
  StartAt(0);
  EXPECT_EQ(attempts_.Report(kA, 10, Io(1'000, 50)),
            Running(0, 10).Waited(WaitReason::kIo, 10, 50));
  EXPECT_EQ(attempts_.contradictions(), 1);
}

// The attempt had no processor for 6 of 10 s. It also reports 5 s of fetching and 3 s of writing,
// of which at most 4 s are other waits.
TEST_F(AttemptsTest, ProcessorWaitIsNotCountedAgainAsAFetch) {
  StartAt(0);
  EXPECT_EQ(attempts_.Report(kA, 10, UseOf(WithWaits(Running(0, 10), 5, 1, 5, 3))),
            WithWaits(Running(0, 10), 5, 1, 2.5, 1.5));
}

// Seven seconds pass without a wait. Then a fetch of 7.5 s ends in the eighth second, for which 8 s
// are available. For the next fetch, 16 - 7 s are available, minus the second in which the first
// fetch was reported.
TEST_F(AttemptsTest, WaitLongerThanItsPieceIsNotCut) {
  StartAt(0);
  const auto report = [&](double at, double wait_seconds, double units) {
    return attempts_.Report(
        kA, at, UseOf(Running(0, at).Waited(WaitReason::kNetwork, wait_seconds, units)));
  };
  EXPECT_EQ(report(7, 0, 0), Running(0, 7).Waited(WaitReason::kNetwork, 0, 0));
  EXPECT_EQ(report(8, 7.5, 100), Running(7, 8).Waited(WaitReason::kNetwork, 7.5, 100));
  EXPECT_EQ(report(15, 7.5, 100), Running(8, 15).Waited(WaitReason::kNetwork, 0, 0));
  EXPECT_EQ(report(16, 15, 200), Running(15, 16).Waited(WaitReason::kNetwork, 7.5, 100));
}

// Each piece has a fetch. For the second fetch, 20 s are available, minus the 10 s of the first
// piece and 6 s without a processor.
TEST_F(AttemptsTest, EarlierWaitsReduceTheTimeOfALaterFetch) {
  StartAt(0);
  const auto of = [](double from, double to, double processor, double network, double units) {
    return Running(from, to)
        .Waited(WaitReason::kProcessor, processor)
        .Waited(WaitReason::kNetwork, network, units);
  };
  EXPECT_EQ(attempts_.Report(kA, 10, UseOf(of(0, 10, 6, 4, 1))), of(0, 10, 6, 4, 1));
  EXPECT_EQ(attempts_.Report(kA, 20, UseOf(of(0, 20, 12, 9, 2))), of(10, 20, 6, 4, 1));
}

// The attempt never had a processor, and also reports a garbage collection and a write.
TEST_F(AttemptsTest, NoRemainingTimeDividesByZero) {
  StartAt(0);
  EXPECT_EQ(attempts_.Report(kA, 10, UseOf(WithWaits(Running(0, 10), 10, 10, 0, 1))),
            WithWaits(Running(0, 10), 10, 0, 0, 0));
}

TEST_F(AttemptsTest, ReportBeforeThePreviousOneChangesNothing) {
  StartAt(10);
  attempts_.Report(kA, 15, Io(1, 1));
  EXPECT_EQ(attempts_.Report(kA, 14, Io(2, 2)), std::nullopt);
  EXPECT_EQ(attempts_.Report(kA, std::numeric_limits<double>::quiet_NaN(), Io(2, 2)), std::nullopt);
  EXPECT_EQ(attempts_.contradictions(), 2);
  EXPECT_EQ(attempts_.Report(kA, 16, Io(2, 2)), Running(15, 16).Waited(WaitReason::kIo, 1, 1));
}

TEST_F(AttemptsTest, InvalidNumbersAreUnknown) {
  StartAt(10);
  EXPECT_EQ(attempts_.Report(kA, 15, Io(std::numeric_limits<double>::quiet_NaN(), -5)),
            Piece(Running(10, 15)));
}

TEST_F(AttemptsTest, UnknownAttemptsAndSecondStartsChangeNothing) {
  EXPECT_EQ(attempts_.Report(kA, 15, Io(1, 1)), std::nullopt);
  EXPECT_EQ(attempts_.End(kA, 15), std::nullopt);
  StartAt(10);
  EXPECT_EQ(attempts_.Start(kA, S(9), H(9), 12, 5), std::nullopt);
  EXPECT_EQ(attempts_.End(kA, 15), Piece(Running(10, 15)));
}

TEST(Attempts, AttemptsBeyondTheLimitAreNotTracked) {
  Attempts attempts(2);
  for (std::uint64_t a = 0; a < 5; ++a) attempts.Start(Attempt{a}, S(0), H(0), 0);
  EXPECT_EQ(attempts.running(), 2);
}

}  // namespace
}  // namespace tidemark::waits::attempts_test
