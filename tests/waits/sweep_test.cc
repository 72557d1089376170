#include "master/waits/sweep.h"

#include <gtest/gtest.h>

#include "tests/waits/some_pieces.h"

namespace tidemark::blame {
namespace {

Meeting Met(const std::vector<Piece>& pieces, Stage target, Stage source, Host host = H(0)) {
  const Ledger ledger = Folded(pieces);
  const auto found = ledger.meetings.find({target, host, source});
  return found == ledger.meetings.end() ? Meeting{} : found->second;
}

// 5..10 with the first, 8..12 with the second.
TEST(Sweep, OverlapIsSummedOverPairsOfTasks) {
  const std::vector<Piece> pieces = {Task(S(0), H(0), 0, 10), Task(S(0), H(0), 8, 12),
                                     Task(S(1), H(0), 5, 20)};
  EXPECT_EQ(Met(pieces, S(0), S(1)).overlap_seconds, 5 + 4);
  EXPECT_EQ(Met(pieces, S(1), S(0)).overlap_seconds, 5 + 4);
}

// The two tasks are there together from 8 to 10; each meets the other.
TEST(Sweep, NoTaskMeetsItself) {
  EXPECT_EQ(Met({Task(S(0), H(0), 0, 10)}, S(0), S(0)).overlap_seconds, 0);
  EXPECT_EQ(Met({Task(S(0), H(0), 0, 10), Task(S(0), H(0), 8, 12)}, S(0), S(0)).overlap_seconds,
            2 * 2);
}

TEST(Sweep, WhoComesAsTheOtherGoesDoesNotMeetIt) {
  EXPECT_EQ(Met({Task(S(0), H(0), 0, 10), Task(S(1), H(0), 10, 20)}, S(0), S(1)).overlap_seconds,
            0);
}

TEST(Sweep, OtherHostsDoNotMeet) {
  EXPECT_TRUE(Folded({Task(S(0), H(0), 0, 10), Task(S(1), H(1), 0, 10)}).meetings.empty());
}

// 2 s of waiting in 10 s next to two that compute, 3 s and 1 s of processor time: 1.5 s and 0.5 s.
TEST(Sweep, WaitIsDividedByWhatOthersTook) {
  const std::vector<Piece> pieces = {
      Task(S(0), H(0), 0, 10).Waited(Resource::kProcessor, 2).Computed(8),
      Task(S(1), H(0), 0, 10).Computed(3), Task(S(2), H(0), 0, 10).Computed(1)};
  EXPECT_NEAR(Met(pieces, S(0), S(1)).wait_seconds[Resource::kProcessor], 1.5, 1e-9);
  EXPECT_NEAR(Met(pieces, S(0), S(2)).wait_seconds[Resource::kProcessor], 0.5, 1e-9);
  EXPECT_EQ(Met(pieces, S(0), kUnreported).wait_seconds[Resource::kProcessor], 0);
}

// 6 s of waiting next to the same two, which used 4 s together: 2 s are what no task reported.
TEST(Sweep, NobodyTookMoreOfAProcessorThanItUsed) {
  const std::vector<Piece> pieces = {
      Task(S(0), H(0), 0, 10).Waited(Resource::kProcessor, 6).Computed(4),
      Task(S(1), H(0), 0, 10).Computed(3), Task(S(2), H(0), 0, 10).Computed(1)};
  EXPECT_NEAR(Met(pieces, S(0), S(1)).wait_seconds[Resource::kProcessor], 3, 1e-9);
  EXPECT_NEAR(Met(pieces, S(0), S(2)).wait_seconds[Resource::kProcessor], 1, 1e-9);
  EXPECT_NEAR(Met(pieces, S(0), kUnreported).wait_seconds[Resource::kProcessor], 2, 1e-9);
}

// It waits evenly, 0.6 s a second. The other is there for half of it: 3 s; the rest is nobody's.
TEST(Sweep, WhoIsNotThereTakesNothing) {
  const std::vector<Piece> pieces = {
      Task(S(0), H(0), 0, 10).Waited(Resource::kProcessor, 6).Computed(4),
      Task(S(1), H(0), 5, 20).Computed(15)};
  EXPECT_NEAR(Met(pieces, S(0), S(1)).wait_seconds[Resource::kProcessor], 3, 1e-9);
}

// Two tasks of the target that take 2 each, and another that takes 4: of each task's wait of 3 s
// the fellow bears 3 x 2/6 = 1, the other 3 x 4/6 = 2.
TEST(Sweep, FellowTasksAreInTheWayToo) {
  const std::vector<Piece> pieces = {
      Task(S(0), H(0), 0, 10).Waited(Resource::kProcessor, 3).Computed(2),
      Task(S(0), H(0), 0, 10).Waited(Resource::kProcessor, 3).Computed(2),
      Task(S(1), H(0), 0, 10).Computed(4)};
  EXPECT_NEAR(Met(pieces, S(0), S(0)).wait_seconds[Resource::kProcessor], 2, 1e-9);
  EXPECT_NEAR(Met(pieces, S(0), S(1)).wait_seconds[Resource::kProcessor], 4, 1e-9);
}

// Of two others one does not tell what it took: half of the wait is nobody's.
TEST(Sweep, WhoDoesNotTellLeavesItsPartUnexplained) {
  const std::vector<Piece> pieces = {
      Task(S(0), H(0), 0, 10).Waited(Resource::kProcessor, 6).Computed(4),
      Task(S(1), H(0), 0, 10).Computed(3), Task(S(2), H(0), 0, 10)};
  EXPECT_NEAR(Met(pieces, S(0), S(1)).wait_seconds[Resource::kProcessor], 3, 1e-9);
  EXPECT_EQ(Met(pieces, S(0), S(2)).wait_seconds[Resource::kProcessor], 0);
  EXPECT_EQ(Met(pieces, S(0), kUnreported).wait_seconds[Resource::kProcessor], 0);
}

// Three tasks queue for 10 s while another query holds two slots and their own stage one: the stage
// lacks two slots, 20 slot seconds, whoever else queues.
TEST(Sweep, QueueLacksTheSlotsThatOthersHold) {
  const std::vector<Piece> pieces = {Queued(S(0), 0, 10),      Queued(S(0), 0, 10),
                                     Queued(S(0), 0, 10),      Task(S(0), H(0), 0, 20),
                                     Task(S(1), H(0), -5, 15), Task(S(1), H(1), 0, 10)};
  EXPECT_NEAR(Met(pieces, S(0), S(1), kTheQueue).wait_seconds[Resource::kScheduler], 20, 1e-9);
  EXPECT_EQ(Met(pieces, S(0), S(0), kTheQueue).wait_seconds[Resource::kScheduler], 0);
}

// One task queues for 10 s while two others hold a slot each: one slot is lacking, half of it each.
TEST(Sweep, QueueLacksNoMoreSlotsThanItHasTasks) {
  const std::vector<Piece> pieces = {Queued(S(0), 0, 10), Task(S(1), H(0), 0, 10),
                                     Task(S(2), H(0), 0, 10)};
  EXPECT_NEAR(Met(pieces, S(0), S(1), kTheQueue).wait_seconds[Resource::kScheduler], 5, 1e-9);
  EXPECT_NEAR(Met(pieces, S(0), S(2), kTheQueue).wait_seconds[Resource::kScheduler], 5, 1e-9);
}

// Two tasks that wait half of the time beside one that waits all of it. A second: S0 waits 1 s for
// 2 units, in a crowd of 1 + 0.5 + 1; S1 waits 1 s for 2 units, in one of 1 + 1.
TEST(Sweep, ACrowdIsATaskAndWhatAllOthersWait) {
  const std::vector<Piece> pieces = {Task(S(0), H(0), 0, 10).Waited(Resource::kIo, 5, 10),
                                     Task(S(0), H(0), 0, 10).Waited(Resource::kIo, 5, 10),
                                     Task(S(1), H(0), 0, 10).Waited(Resource::kIo, 10, 20)};
  const Ledger ledger = Folded(pieces);
  const Crowding& two = ledger.stages.at({S(0), H(0)}).crowding(Resource::kIo);
  EXPECT_NEAR(two.seconds, 10, 1e-9);
  EXPECT_NEAR(two.units, 20, 1e-9);
  EXPECT_NEAR(two.wait_seconds, 10, 1e-9);
  EXPECT_NEAR(two.waits_squared, 10 * 1.0 / 2, 1e-9);
  EXPECT_NEAR(two.crowds_squared, 10 * 2 * 2.5 * 2.5, 1e-9);
  EXPECT_NEAR(two.waits_by_crowds, 10 * 1 * 2.5, 1e-9);
  const Crowding& one = ledger.stages.at({S(1), H(0)}).crowding(Resource::kIo);
  EXPECT_NEAR(one.crowds_squared, 10 * 2 * 2 * 2, 1e-9);
  EXPECT_EQ(ledger.stages.at({S(1), H(0)}).network.seconds, 0);
}

// A wait of 8 s that ended in this second, beside one that waits all of it: a crowd of two.
TEST(Sweep, NobodyCountsForMoreThanOneInACrowd) {
  const Ledger ledger = Folded({Task(S(0), H(0), 7, 8).Waited(Resource::kNetwork, 8, 16),
                                Task(S(1), H(0), 7, 8).Waited(Resource::kNetwork, 1, 2)});
  EXPECT_NEAR(ledger.stages.at({S(0), H(0)}).network.crowds_squared, 16 * 2 * 2, 1e-9);
  EXPECT_NEAR(ledger.stages.at({S(1), H(0)}).network.crowds_squared, 2 * 2 * 2, 1e-9);
}

// How many wait is not known where one does not tell.
TEST(Sweep, WhereNotAllTellThereIsNoCrowd) {
  const Ledger ledger =
      Folded({Task(S(0), H(0), 0, 10).Waited(Resource::kIo, 5, 10), Task(S(1), H(0), 0, 10)});
  EXPECT_EQ(ledger.stages.at({S(0), H(0)}).io.seconds, 0);
}

// An application with slots of its own does not wait for those of others.
TEST(Sweep, SlotsOfAnotherPoolAreInNobodysWay) {
  Piece other = Task(S(1), H(0), 0, 10);
  other.pool = Pool{1};
  const Ledger ledger = Folded({Queued(S(0), 0, 10), other});
  EXPECT_TRUE(ledger.meetings.empty());
}

TEST(Sweep, ReportsOfWhoHoldsASlotChangeNothingInTheQueue) {
  std::vector<Piece> pieces = {Queued(S(0), 0, 10)};
  for (int second = 0; second < 10; ++second) {
    pieces.push_back(Task(S(1), H(0), second, second + 1));
  }
  EXPECT_NEAR(Met(pieces, S(0), S(1), kTheQueue).wait_seconds[Resource::kScheduler], 10, 1e-9);
}

// More stages at once than tables have room for at first, and places that are used again.
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

// From 0 to 10 s all but S5, from 30 to 40 s all.
TEST(Sweep, StagesThatLeaveAtOnceAddToWhatTheyMetBefore) {
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

// Its task ends at the instant at which another one of it begins to wait.
TEST(Sweep, AStageMayGoAndComeAtOneInstant) {
  const std::vector<Piece> pieces = {Task(S(0), H(0), 0, 10), Queued(S(0), 10, 20),
                                     Task(S(1), H(0), 0, 20)};
  EXPECT_NEAR(Met(pieces, S(0), S(1), kTheQueue).wait_seconds[Resource::kScheduler], 10, 1e-9);
  EXPECT_EQ(Met(pieces, S(0), S(1)).overlap_seconds, 10);
}

}  // namespace
}  // namespace tidemark::blame
