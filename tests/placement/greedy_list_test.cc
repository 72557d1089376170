#include "master/forecast/placement/greedy_list.h"

#include "tests/test.h"

namespace tidemark::placement::greedy_list_test {
namespace {

absl::Time At(double seconds) { return absl::UnixEpoch() + absl::Seconds(seconds); }

TEST(GreedyList, AssignsEachTaskInOrderToTheFirstFreeSlot) {
  EXPECT_THAT(ScheduleGreedily(std::vector{At(5), At(2)},
                               std::vector{absl::Seconds(10), absl::Seconds(4), absl::Seconds(1)}),
              ElementsAre(ScheduledTask{1, At(2), At(12)}, ScheduledTask{0, At(5), At(9)},
                          ScheduledTask{0, At(9), At(10)}));
}

TEST(GreedyList, BreaksTiesByTheLowestSlot) {
  EXPECT_THAT(ScheduleGreedily(std::vector{At(1), At(1), At(1)},
                               std::vector{absl::Seconds(2), absl::Seconds(2)}),
              ElementsAre(ScheduledTask{0, At(1), At(3)}, ScheduledTask{1, At(1), At(3)}));
}

TEST(GreedyList, TreatsANegativeDurationAsZero) {
  EXPECT_THAT(ScheduleGreedily(std::vector{At(3)}, std::vector{absl::Seconds(-7)}),
              ElementsAre(ScheduledTask{0, At(3), At(3)}));
}

TEST(GreedyList, NeverStartsATaskWithoutSlots) {
  EXPECT_THAT(ScheduleGreedily({}, std::vector{absl::Seconds(1)}),
              ElementsAre(ScheduledTask{0, absl::InfiniteFuture(), absl::InfiniteFuture()}));
}

TEST(GreedyList, IsEmptyWithoutTasks) {
  EXPECT_TRUE(ScheduleGreedily(std::vector{At(3)}, {}).empty());
}

TEST(GreedyList, AvoidsASlotWhoseTaskNeverEndsIfAnotherIsFree) {
  EXPECT_THAT(
      ScheduleGreedily(std::vector{At(0), At(1)},
                       std::vector{absl::InfiniteDuration(), absl::Seconds(1), absl::Seconds(1)}),
      ElementsAre(ScheduledTask{0, At(0), absl::InfiniteFuture()}, ScheduledTask{1, At(1), At(2)},
                  ScheduledTask{1, At(2), At(3)}));
}

TEST(GreedyList, AddsFreeSlotsUpToTheirNumber) {
  std::vector<absl::Time> slots = {At(5)};
  AddFreeSlots(3, 100, At(1), slots);
  EXPECT_THAT(slots, ElementsAre(At(5), At(1), At(1)));
}

TEST(GreedyList, AddsNoSlotIfMoreThanReportedAreInUse) {
  std::vector<absl::Time> slots = {At(5), At(6)};
  AddFreeSlots(1, 100, At(1), slots);
  EXPECT_THAT(slots, ElementsAre(At(5), At(6)));
}

TEST(GreedyList, AddsNoSlotWithoutATask) {
  std::vector<absl::Time> slots = {At(5)};
  AddFreeSlots(std::numeric_limits<std::uint32_t>::max(), 2, At(1), slots);
  EXPECT_THAT(slots, ElementsAre(At(5), At(1), At(1)));
}

// Searches all slots for each task.
std::vector<ScheduledTask> Plainly(std::vector<absl::Time> free_at,
                                   const std::vector<absl::Duration>& durations) {
  std::vector<ScheduledTask> schedule;
  for (const absl::Duration duration : durations) {
    const auto first = std::min_element(free_at.begin(), free_at.end());
    schedule.push_back(
        {static_cast<std::size_t>(first - free_at.begin()), *first, *first + duration});
    *first += duration;
  }
  return schedule;
}

TEST(GreedyList, EqualsALinearSearch) {
  std::mt19937_64 random(20240501);
  for (int round = 0; round < 200; ++round) {
    std::vector<absl::Time> free_at(1 + random() % 5);
    for (absl::Time& at : free_at) at = At(static_cast<double>(random() % 10));
    std::vector<absl::Duration> durations(random() % 20);
    for (absl::Duration& duration : durations) duration = absl::Seconds(random() % 10);
    EXPECT_EQ(ScheduleGreedily(free_at, durations), Plainly(free_at, durations)) << round;
  }
}

}  // namespace
}  // namespace tidemark::placement::greedy_list_test
