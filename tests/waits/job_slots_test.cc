
#include "master/waits/cluster_records.h"
#include "tests/matchers.h"
#include "tests/test.h"
#include "tests/waits/some_pieces.h"

namespace tidemark::waits::job_slots_test {
namespace {

constexpr Pool kPool{3};

// Returns two slots, both of which are taken at 1 s.
JobSlots Full() {
  JobSlots slots(kPool);
  slots.Add(2);
  slots.SetKnown();
  slots.Start(S(0), 0, /*from_queue=*/false);
  slots.Start(S(0), 1, /*from_queue=*/false);
  return slots;
}

TEST(JobSlots, WaitBesideAFreeSlotDoesNotCount) {
  JobSlots slots(kPool);
  slots.Add(2);
  slots.SetKnown();
  slots.Start(S(0), 0, /*from_queue=*/false);
  slots.Queue(S(1), 5, 1);
  EXPECT_THAT(slots.ReportWaits(10, 10), IsEmpty());
}

TEST(JobSlots, WaitingTasksOfAStageShareAPiece) {
  JobSlots slots = Full();
  EXPECT_THAT(slots.Queue(S(1), 3, 2), IsEmpty());
  const auto waited = Only(slots.ReportWaits(7, 4));
  EXPECT_EQ(waited.host, QueueOf(kPool));
  EXPECT_EQ(waited.from, 2);
  EXPECT_EQ(waited.to, 4);
  EXPECT_EQ(waited.use.of[WaitReason::kSlots].wait_seconds, 3 * 2);
  EXPECT_EQ(slots.WaitedUntil(S(1)), 4);
  slots.End(8);
  const auto got = Only(slots.Start(S(1), 8.05, /*from_queue=*/true));
  EXPECT_EQ(got.use.of[WaitReason::kSlots].units, 1);
  EXPECT_TRUE(slots.IsWaiting(S(1)));
}

TEST(JobSlots, SlotThatStaysEmptyWasFree) {
  JobSlots slots = Full();
  slots.Queue(S(1), 1, 2);
  slots.End(5);
  const auto waited = slots.Start(S(1), 9, /*from_queue=*/true);
  ASSERT_THAT(waited, SizeIs(1)) << "until it was free, and no longer";
  EXPECT_EQ(waited[0].to, 5);
  EXPECT_FALSE(slots.IsWaiting(S(1)));
}

TEST(JobSlots, UnknownSlotsCauseNoWaits) {
  JobSlots slots(kPool);
  slots.Add(1);
  slots.Start(S(0), 0, /*from_queue=*/false);
  slots.Queue(S(1), 1, 2);
  EXPECT_THAT(slots.ReportWaits(10, 10), IsEmpty());
}

TEST(JobSlots, AbandonedSlotsCauseNoWaits) {
  JobSlots slots = Full();
  slots.Queue(S(1), 1, 2);
  slots.Abandon();
  slots.Queue(S(2), 1, 3);
  slots.SetKnown();
  slots.UpdateFullness(4);
  EXPECT_FALSE(slots.is_known());
  EXPECT_THAT(slots.ReportWaits(10, 10), IsEmpty());
}

TEST(JobSlots, WithdrawnStageStopsWaiting) {
  JobSlots slots = Full();
  slots.Queue(S(1), 1, 2);
  slots.Withdraw(S(1));
  EXPECT_FALSE(slots.IsWaiting(S(1)));
  EXPECT_THAT(slots.ReportWaits(10, 10), IsEmpty());
  slots.Withdraw(S(9));
}

}  // namespace
}  // namespace tidemark::waits::job_slots_test
