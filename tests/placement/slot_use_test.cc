#include "master/forecast/placement/slot_use.h"

#include "tests/test.h"

namespace tidemark::placement::slot_use_test {
namespace {

constexpr double kRuns = std::numeric_limits<double>::infinity();

// Adds `side_by_side` parallel tasks of 10 s each in one stage, from `from` to `to`, while other
// tasks wait.
void PlaceTasks(std::uint32_t stage, int side_by_side, double from, double to, SlotUse& use) {
  for (double start = from; start < to; start += 10) {
    for (int i = 0; i < side_by_side; ++i) use.AddTask(stage, start, start + 10);
  }
  use.AddWait(stage, from, to);
}

SlotUse TwoOfThirtyTwo(double until) {
  SlotUse use(1);
  use.AddSlots(0, 16);
  use.AddSlots(0, 16);
  PlaceTasks(0, 2, 2, until, use);
  return use;
}

TEST(SlotUse, LearnsTheUsableSlotsFromTasksThatWaitBesideIdleOnes) {
  EXPECT_EQ(TwoOfThirtyTwo(5).Find(5, 32).slots, 32);
  EXPECT_EQ(TwoOfThirtyTwo(7).Find(7, 32).slots, 2);
  EXPECT_EQ(TwoOfThirtyTwo(300).Find(300, 32).slots, 2);
}

TEST(SlotUse, KeepsTheLimitWhileNoTaskWaits) {
  EXPECT_EQ(TwoOfThirtyTwo(100).Find(500, 32).slots, 2);
}

TEST(SlotUse, NewExecutorsAreUsedLikeTheOthers) {
  SlotUse use = TwoOfThirtyTwo(100);
  use.AddSlots(99, 32);
  EXPECT_EQ(use.Find(100, 64).slots, 4);
}

TEST(SlotUse, CountsAllSlotsIfAllAreUsed) {
  SlotUse use = TwoOfThirtyTwo(50);
  PlaceTasks(0, 32, 60, 80, use);
  EXPECT_EQ(use.Find(80, 32).slots, 32);
}

TEST(SlotUse, IgnoresIdleSlotsWhileNoTaskWaits) {
  SlotUse use(1);
  use.AddSlots(0, 32);
  for (int i = 0; i < 3; ++i) use.AddTask(0, 0, kRuns);
  const SlotUse::Found found = use.Find(1000, 32);
  EXPECT_EQ(found.slots, 32);
  EXPECT_EQ(found.at_once_max[0], kNoLimit);
}

TEST(SlotUse, IgnoresShortWaitsOfManySmallStages) {
  SlotUse use(100);
  use.AddSlots(0, 32);
  for (std::uint32_t stage = 0; stage < 100; ++stage) {
    const double from = stage;
    for (int i = 0; i < 10; ++i) use.AddTask(stage, from + 0.05 * i, from + 0.9);
    use.AddWait(stage, from, from + 0.45);
  }
  EXPECT_EQ(use.Find(100, 32).slots, 32);
}

TEST(SlotUse, FindsTheSameAfterFold) {
  for (std::uint32_t seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    const auto below = [&](int most) { return static_cast<double>(random() % most); };
    SlotUse whole(30);
    SlotUse folded(30);
    double now = 0;
    for (std::uint32_t stage = 0; stage < 30; ++stage) {
      for (SlotUse* use : {&whole, &folded}) {
        if (stage % 7 == 0) use->AddSlots(now, 4);
      }
      const double tasks = 1 + below(12);
      for (double n = 0; n < tasks; ++n) {
        const double start = now + n;
        const double end = start + 1 + below(9);
        whole.AddTask(stage, start, end);
        folded.AddTask(stage, start, end);
      }
      whole.AddWait(stage, now, now + tasks - 1);
      folded.AddWait(stage, now, now + tasks - 1);
      now += tasks + below(3);
      folded.Fold(now - 1);
      EXPECT_EQ(whole.Find(now, 20).slots, folded.Find(now, 20).slots) << seed << " " << stage;
    }
  }
}

TEST(SlotUse, LateReportedEndsAddNoSlots) {
  SlotUse use(1);
  use.AddSlots(0, 32);
  for (double start = 0; start < 100; start += 10) {
    use.AddTask(0, start, start + 10.5);
    use.AddTask(0, start, start + 10.5);
  }
  use.AddWait(0, 0, 100);
  EXPECT_EQ(use.Find(100, 32).slots, 2);
}

// Stage 1 needs a resource that few executors have. Stage 0 fills the other executors.
TEST(SlotUse, AStageMayHaveAnIndividualLimit) {
  SlotUse use(2);
  use.AddSlots(0, 34);
  PlaceTasks(0, 32, 0, 50, use);
  PlaceTasks(1, 2, 0, 100, use);
  const SlotUse::Found found = use.Find(100, 34);
  EXPECT_EQ(found.slots, 34);
  EXPECT_EQ(found.at_once_max[0], kNoLimit);
  EXPECT_EQ(found.at_once_max[1], 2u);
}

TEST(SlotUse, AddedSlotsAreNoLimitForAStageThatUsedAll) {
  SlotUse use(1);
  use.AddSlots(0, 2);
  PlaceTasks(0, 2, 0, 30, use);
  use.AddSlots(29, 2);
  const SlotUse::Found found = use.Find(30, 4);
  EXPECT_EQ(found.slots, 4);
  EXPECT_EQ(found.at_once_max[0], kNoLimit);
}

TEST(SlotUse, LimitsAStageByItsUseIfSlotsAreUnknown) {
  SlotUse use(2);
  PlaceTasks(0, 32, 0, 50, use);
  PlaceTasks(1, 2, 50, 100, use);
  const SlotUse::Found found = use.Find(100, 32);
  EXPECT_EQ(found.slots, 32);
  EXPECT_EQ(found.at_once_max[1], 2u);
}

TEST(SlotUse, KeepsAtLeastOneSlot) {
  SlotUse use(1);
  use.AddSlots(0, 8);
  use.AddTask(0, 0, 1);
  use.AddWait(0, 0, 60);
  EXPECT_EQ(use.Find(60, 8).slots, 1);
}

}  // namespace
}  // namespace tidemark::placement::slot_use_test
