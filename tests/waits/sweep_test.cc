
#include "master/waits/contention.h"
#include "tests/test.h"
#include "tests/waits/some_pieces.h"

namespace tidemark::waits::sweep_test {
namespace {

Meeting Met(const std::vector<Piece>& pieces, Stage target, Stage source, Host host = H(0)) {
  const Ledger ledger = Folded(pieces);
  const auto found = ledger.meetings.find({target, host, source});
  return found == ledger.meetings.end() ? Meeting{} : found->second;
}

// The tasks overlap from 5 to 10 s and from 8 to 12 s.
TEST(Sweep, OverlapIsSummedOverPairsOfTasks) {
  const std::vector<Piece> pieces = {Task(S(0), H(0), 0, 10), Task(S(0), H(0), 8, 12),
                                     Task(S(1), H(0), 5, 20)};
  EXPECT_EQ(Met(pieces, S(0), S(1)).overlap_seconds, 5 + 4);
  EXPECT_EQ(Met(pieces, S(1), S(0)).overlap_seconds, 5 + 4);
}

// The two tasks overlap from 8 to 10 s, and each meets the other.
TEST(Sweep, NoTaskMeetsItself) {
  EXPECT_EQ(Met({Task(S(0), H(0), 0, 10)}, S(0), S(0)).overlap_seconds, 0);
  EXPECT_EQ(Met({Task(S(0), H(0), 0, 10), Task(S(0), H(0), 8, 12)}, S(0), S(0)).overlap_seconds,
            2 * 2);
}

TEST(Sweep, TaskThatStartsAsAnotherEndsDoesNotMeetIt) {
  EXPECT_EQ(Met({Task(S(0), H(0), 0, 10), Task(S(1), H(0), 10, 20)}, S(0), S(1)).overlap_seconds,
            0);
}

TEST(Sweep, OtherHostsDoNotMeet) {
  EXPECT_TRUE(Folded({Task(S(0), H(0), 0, 10), Task(S(1), H(1), 0, 10)}).meetings.empty());
}

// While a task waits for 2 of 10 s, two other tasks use 3 s and 1 s of processor time. They cause
// 1.5 s and 0.5 s.
TEST(Sweep, WaitIsDividedByTheUseOfOthers) {
  const std::vector<Piece> pieces = {
      Task(S(0), H(0), 0, 10).Waited(WaitReason::kProcessor, 2).Computed(8),
      Task(S(1), H(0), 0, 10).Computed(3), Task(S(2), H(0), 0, 10).Computed(1)};
  EXPECT_NEAR(Met(pieces, S(0), S(1)).wait_seconds[WaitReason::kProcessor], 1.5, 1e-9);
  EXPECT_NEAR(Met(pieces, S(0), S(2)).wait_seconds[WaitReason::kProcessor], 0.5, 1e-9);
  EXPECT_EQ(Met(pieces, S(0), kUnreported).wait_seconds[WaitReason::kProcessor], 0);
}

// A task waits for 6 s while two other tasks use 4 s together, so 2 s are unreported.
TEST(Sweep, ProcessorWaitIsAttributedUpToTheUseOfOthers) {
  const std::vector<Piece> pieces = {
      Task(S(0), H(0), 0, 10).Waited(WaitReason::kProcessor, 6).Computed(4),
      Task(S(1), H(0), 0, 10).Computed(3), Task(S(2), H(0), 0, 10).Computed(1)};
  EXPECT_NEAR(Met(pieces, S(0), S(1)).wait_seconds[WaitReason::kProcessor], 3, 1e-9);
  EXPECT_NEAR(Met(pieces, S(0), S(2)).wait_seconds[WaitReason::kProcessor], 1, 1e-9);
  EXPECT_NEAR(Met(pieces, S(0), kUnreported).wait_seconds[WaitReason::kProcessor], 2, 1e-9);
}

// A task waits for 0.6 s per second. The other task is present for half of the time and causes 3 s.
// The remaining wait has no cause.
TEST(Sweep, AbsentTaskCausesNoWait) {
  const std::vector<Piece> pieces = {
      Task(S(0), H(0), 0, 10).Waited(WaitReason::kProcessor, 6).Computed(4),
      Task(S(1), H(0), 5, 20).Computed(15)};
  EXPECT_NEAR(Met(pieces, S(0), S(1)).wait_seconds[WaitReason::kProcessor], 3, 1e-9);
}

// Two tasks of the target use 2 s each, and a third task uses 4 s. Each task of the target waits
// for 3 s. Its other task causes 3 x 2/6 = 1 s of that wait, and the third task causes 3 x 4/6 = 2
// s.
TEST(Sweep, TasksOfTheSameStageCauseWaits) {
  const std::vector<Piece> pieces = {
      Task(S(0), H(0), 0, 10).Waited(WaitReason::kProcessor, 3).Computed(2),
      Task(S(0), H(0), 0, 10).Waited(WaitReason::kProcessor, 3).Computed(2),
      Task(S(1), H(0), 0, 10).Computed(4)};
  EXPECT_NEAR(Met(pieces, S(0), S(0)).wait_seconds[WaitReason::kProcessor], 2, 1e-9);
  EXPECT_NEAR(Met(pieces, S(0), S(1)).wait_seconds[WaitReason::kProcessor], 4, 1e-9);
}

// One of two other tasks does not report its use, so half of the wait has no cause.
TEST(Sweep, UnreportedUseLeavesItsPartUnexplained) {
  const std::vector<Piece> pieces = {
      Task(S(0), H(0), 0, 10).Waited(WaitReason::kProcessor, 6).Computed(4),
      Task(S(1), H(0), 0, 10).Computed(3), Task(S(2), H(0), 0, 10)};
  EXPECT_NEAR(Met(pieces, S(0), S(1)).wait_seconds[WaitReason::kProcessor], 3, 1e-9);
  EXPECT_EQ(Met(pieces, S(0), S(2)).wait_seconds[WaitReason::kProcessor], 0);
  EXPECT_EQ(Met(pieces, S(0), kUnreported).wait_seconds[WaitReason::kProcessor], 0);
}

// Three tasks queue for 10 s, while another query has two slots and their own stage has one. The
// stage lacks two slots, which are 20 slot seconds.
TEST(Sweep, QueueLacksTheSlotsThatOthersHold) {
  const std::vector<Piece> pieces = {Queued(S(0), 0, 10),      Queued(S(0), 0, 10),
                                     Queued(S(0), 0, 10),      Task(S(0), H(0), 0, 20),
                                     Task(S(1), H(0), -5, 15), Task(S(1), H(1), 0, 10)};
  EXPECT_NEAR(Met(pieces, S(0), S(1), kTheQueue).wait_seconds[WaitReason::kSlots], 20, 1e-9);
  EXPECT_EQ(Met(pieces, S(0), S(0), kTheQueue).wait_seconds[WaitReason::kSlots], 0);
}

// One task queues for 10 s while two other tasks have a slot each. One slot is lacking, and each of
// the other tasks causes half of the wait.
TEST(Sweep, QueueLacksNoMoreSlotsThanItHasTasks) {
  const std::vector<Piece> pieces = {Queued(S(0), 0, 10), Task(S(1), H(0), 0, 10),
                                     Task(S(2), H(0), 0, 10)};
  EXPECT_NEAR(Met(pieces, S(0), S(1), kTheQueue).wait_seconds[WaitReason::kSlots], 5, 1e-9);
  EXPECT_NEAR(Met(pieces, S(0), S(2), kTheQueue).wait_seconds[WaitReason::kSlots], 5, 1e-9);
}

// Two tasks wait for half of the time, and a third task always waits. Per second, S0 waits for 1 s
// for 2 units in a crowd of 1 + 0.5 + 1, and S1 waits for 1 s for 2 units in a crowd of 1 + 1.
TEST(Sweep, CrowdIsATaskPlusTheWaitsOfOthers) {
  const std::vector<Piece> pieces = {Task(S(0), H(0), 0, 10).Waited(WaitReason::kIo, 5, 10),
                                     Task(S(0), H(0), 0, 10).Waited(WaitReason::kIo, 5, 10),
                                     Task(S(1), H(0), 0, 10).Waited(WaitReason::kIo, 10, 20)};
  const Ledger ledger = Folded(pieces);
  const Crowding& two = ledger.stages.at({S(0), H(0)}).crowding(WaitReason::kIo);
  EXPECT_NEAR(two.seconds, 10, 1e-9);
  EXPECT_NEAR(two.units, 20, 1e-9);
  EXPECT_NEAR(two.wait_seconds, 10, 1e-9);
  EXPECT_NEAR(two.waits_squared, 10 * 1.0 / 2, 1e-9);
  EXPECT_NEAR(two.crowds_squared, 10 * 2 * 2.5 * 2.5, 1e-9);
  EXPECT_NEAR(two.waits_by_crowds, 10 * 1 * 2.5, 1e-9);
  const Crowding& one = ledger.stages.at({S(1), H(0)}).crowding(WaitReason::kIo);
  EXPECT_NEAR(one.crowds_squared, 10 * 2 * 2 * 2, 1e-9);
  EXPECT_EQ(ledger.stages.at({S(1), H(0)}).crowding(WaitReason::kNetwork).seconds, 0);
}

// A wait of 8 s ends in this second, while another task always waits. The crowd has two tasks.
TEST(Sweep, TaskCountsAtMostOnceInACrowd) {
  const Ledger ledger = Folded({Task(S(0), H(0), 7, 8).Waited(WaitReason::kNetwork, 8, 16),
                                Task(S(1), H(0), 7, 8).Waited(WaitReason::kNetwork, 1, 2)});
  EXPECT_NEAR(ledger.stages.at({S(0), H(0)}).crowding(WaitReason::kNetwork).crowds_squared,
              16 * 2 * 2, 1e-9);
  EXPECT_NEAR(ledger.stages.at({S(1), H(0)}).crowding(WaitReason::kNetwork).crowds_squared,
              2 * 2 * 2, 1e-9);
}

// The number of waiting tasks is unknown if a task does not report its waits.
TEST(Sweep, UnreportedUseGivesNoCrowd) {
  const Ledger ledger =
      Folded({Task(S(0), H(0), 0, 10).Waited(WaitReason::kIo, 5, 10), Task(S(1), H(0), 0, 10)});
  EXPECT_EQ(ledger.stages.at({S(0), H(0)}).crowding(WaitReason::kIo).seconds, 0);
}

TEST(Sweep, SlotsOfAnotherPoolCauseNoWaits) {
  Piece other = Task(S(1), H(0), 0, 10);
  other.pool = Pool{1};
  EXPECT_TRUE(Folded({Queued(S(0), 0, 10), other}).meetings.empty());
}

TEST(Sweep, ReportsOfSlotHoldersDoNotChangeTheQueue) {
  std::vector<Piece> pieces = {Queued(S(0), 0, 10)};
  for (int second = 0; second < 10; ++second) {
    pieces.push_back(Task(S(1), H(0), second, second + 1));
  }
  EXPECT_NEAR(Met(pieces, S(0), S(1), kTheQueue).wait_seconds[WaitReason::kSlots], 10, 1e-9);
}

// The stages exceed the initial size of the tables, and places are reused.
TEST(Sweep, ManyStagesAtOnceAndOneAfterAnother) {
  std::vector<Piece> pieces;
  for (std::uint32_t s = 0; s < 40; ++s) {
    pieces.push_back(Task(S(s), H(0), s, 100));
    pieces.push_back(Task(S(100 + s), H(0), 100 + s, 101 + s));
  }
  pieces.push_back(Task(S(200), H(0), 0, 200));
  const Ledger ledger = Folded(pieces);
  EXPECT_EQ(ledger.meetings.at({S(3), H(0), S(30)}).overlap_seconds, 70);
  EXPECT_EQ(ledger.meetings.at({S(200), H(0), S(139)}).overlap_seconds, 1);
  EXPECT_FALSE(ledger.meetings.contains({S(139), H(0), S(30)}));
}

// All stages except S5 run from 0 to 10 s, and all stages from 30 to 40 s.
TEST(Sweep, StagesThatLeaveAtOnceAddToEarlierMeetings) {
  std::vector<Piece> pieces;
  for (std::uint32_t s = 0; s < 10; ++s) {
    if (s != 5) pieces.push_back(Task(S(s), H(0), 0, 10));
    pieces.push_back(Task(S(s), H(0), 30, 40));
  }
  const Ledger ledger = Folded(pieces);
  EXPECT_EQ(ledger.meetings.size(), 10U * 9U);
  EXPECT_EQ(ledger.meetings.at({S(3), H(0), S(7)}).overlap_seconds, 20);
  EXPECT_EQ(ledger.meetings.at({S(3), H(0), S(5)}).overlap_seconds, 10);
  EXPECT_EQ(ledger.meetings.at({S(5), H(0), S(9)}).overlap_seconds, 10);
  EXPECT_EQ(ledger.meetings.at({S(9), H(0), S(0)}).overlap_seconds, 20);
}

// A task of the stage ends at the same time at which another one starts to wait.
TEST(Sweep, StageMayLeaveAndReturnAtOneInstant) {
  const std::vector<Piece> pieces = {Task(S(0), H(0), 0, 10), Queued(S(0), 10, 20),
                                     Task(S(1), H(0), 0, 20)};
  EXPECT_NEAR(Met(pieces, S(0), S(1), kTheQueue).wait_seconds[WaitReason::kSlots], 10, 1e-9);
  EXPECT_EQ(Met(pieces, S(0), S(1)).overlap_seconds, 10);
}

// One task runs from 0 to 10 s, and another from 4 to 6 s. The first task runs alone for 8 s and
// beside the other task for 2 s, so its share is (8 + 2 / 2) / 10.
TEST(StageShares, ShareIsOneOverTheRunningTasks) {
  StageShares shares;
  shares.Add(S(0), 0, 10);
  shares.Add(S(0), 4, 6);
  shares.Add(S(1), 0, 10);
  shares.Sum();
  EXPECT_DOUBLE_EQ(shares.Of(Task(S(0), H(0), 0, 10)), 0.9);
  EXPECT_DOUBLE_EQ(shares.Of(Task(S(0), H(1), 4, 6)), 0.5);
  EXPECT_DOUBLE_EQ(shares.Of(Task(S(1), H(0), 0, 10)), 1);
}

// The tasks run from 0 to 1 s and from 100 to 101 s. There is no share in between.
TEST(StageShares, TimeWithoutTasksDoesNotCount) {
  StageShares shares;
  shares.Add(S(0), 0, 1);
  shares.Add(S(0), 100, 101);
  shares.Add(S(0), 100, 101);
  shares.Sum();
  EXPECT_DOUBLE_EQ(shares.Of(Task(S(0), H(0), 0, 1)), 1);
  EXPECT_DOUBLE_EQ(shares.Of(Task(S(0), H(0), 100, 101)), 0.5);
}

TEST(StageShares, PieceWithoutLengthHasNoShare) {
  StageShares shares;
  shares.Add(S(0), 5, 5);
  shares.Sum();
  EXPECT_EQ(shares.Of(Task(S(0), H(0), 5, 5)), 0);
}

}  // namespace
}  // namespace tidemark::waits::sweep_test
