#include "master/model/tidemark/end_draws.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace tidemark::model {
namespace {

// A task with so many seconds left under the only curve there is.
TaskOutlook Left(std::size_t index, double seconds, bool is_running) {
  TaskOutlook task{.index = index, .waiting = GroupTimes(1), .is_running = is_running};
  task.waiting.seconds[0] = task.waiting.mean = seconds;
  return task;
}

constexpr double kOnly[] = {1.0};

TEST(EndDraws, OfNothingLeftIsNow) { EXPECT_EQ(DrawEnds({}, kOnly, 4).median, 0); }

TEST(EndDraws, TheLongestRunningTaskDecides) {
  const std::vector<TaskOutlook> tasks = {Left(0, 10, true), Left(1, 30, true)};
  const EndDraws ends = DrawEnds(tasks, kOnly, 2);
  EXPECT_NEAR(ends.median, 30, 1e-9);
  EXPECT_NEAR(ends.task_medians[0], 10, 1e-9);
}

// Slot 0 is free after 10 s, slot 1 after 30 s: tasks of 15 s and 5 s start at 10 s and 25 s.
TEST(EndDraws, WaitingTasksTakeTheSlotThatIsFreeFirst) {
  const std::vector<TaskOutlook> tasks = {Left(0, 10, true), Left(1, 30, true), Left(2, 15, false),
                                          Left(3, 5, false)};
  const EndDraws ends = DrawEnds(tasks, kOnly, 2);
  EXPECT_NEAR(ends.task_medians[2], 25, 1e-9);
  EXPECT_NEAR(ends.task_medians[3], 30, 1e-9);
  EXPECT_NEAR(ends.median, 30, 1e-9);
}

TEST(EndDraws, FreeSlotsAreUsedAtOnce) {
  const std::vector<TaskOutlook> tasks = {Left(0, 10, false), Left(1, 20, false)};
  EXPECT_NEAR(DrawEnds(tasks, kOnly, 2).median, 20, 1e-9);
  EXPECT_NEAR(DrawEnds(tasks, kOnly, 1).median, 30, 1e-9);
}

TEST(EndDraws, SlowNodesAndShufflesDelay) {
  std::vector<TaskOutlook> tasks = {Left(0, 10, true)};
  tasks[0].speed = {2, 0};
  tasks[0].delay = 3;
  EXPECT_NEAR(DrawEnds(tasks, kOnly, 1).median, 23, 1e-9);
}

TEST(EndDraws, ATaskWithATwinEndsWithTheFirstOfThem) {
  std::vector<TaskOutlook> tasks = {Left(0, 100, true)};
  tasks[0].twin = TwinOutlook{.seconds = 40};
  EXPECT_NEAR(DrawEnds(tasks, kOnly, 1).median, 40, 1e-9);
  tasks[0].twin = TwinOutlook{.seconds = 400};
  EXPECT_NEAR(DrawEnds(tasks, kOnly, 1).median, 100, 1e-9);
}

TEST(EndDraws, ATaskThatIsNotHeardGoesOn) {
  std::vector<TaskOutlook> tasks = {Left(0, 100, true), Left(1, 50, true)};
  tasks[0].unheard = 30;
  tasks[1].unheard = 80;
  const EndDraws ends = DrawEnds(tasks, kOnly, 2);
  EXPECT_NEAR(ends.task_medians[0], 70, 1e-9);
  EXPECT_EQ(ends.task_medians[1], 0);
}

// By hand: four tasks on two processors, 1, 1, 1 and 4 s alone, take 2 s together; then the last
// has 3 s left and a processor of its own.
TEST(EndDraws, TheLastTaskOfACrowdedHostGetsFasterWhenTheOthersEnd) {
  const std::vector<TaskOutlook> tasks = {Left(0, 1, true), Left(1, 1, true), Left(2, 1, true),
                                          Left(3, 4, true)};
  const HostSharing crowded = {
      .hosts = {{.processors = 2}}, .host_of_task = {0, 0, 0, 0}, .is_felt = true};
  const EndDraws ends = DrawEnds(tasks, kOnly, 4, crowded);
  EXPECT_NEAR(ends.task_medians[0], 2, 1e-9);
  EXPECT_NEAR(ends.median, 5, 1e-9);
}

// By hand: two tasks of 1 and 2 s share one processor; at 2 s the third takes the first's slot,
// shuffles for 1 s and has the processor alone: the second ended at 3 s.
TEST(EndDraws, ATaskThatWaitsRunsWhereASlotIsFree) {
  std::vector<TaskOutlook> tasks = {Left(0, 1, true), Left(1, 2, true), Left(2, 1, false)};
  tasks[2].delay = 1;
  const HostSharing crowded = {
      .hosts = {{.processors = 1}}, .host_of_task = {0, 0, 0}, .is_felt = true};
  const EndDraws ends = DrawEnds(tasks, kOnly, 2, crowded);
  EXPECT_NEAR(ends.task_medians[0], 2, 1e-9);
  EXPECT_NEAR(ends.task_medians[1], 3, 1e-9);
  EXPECT_NEAR(ends.median, 4, 1e-9);
}

TEST(EndDraws, FreeSlotsAreOnTheEmptiestHost) {
  const std::vector<TaskOutlook> tasks = {Left(0, 2, true), Left(1, 2, true), Left(2, 2, true),
                                          Left(3, 2, false)};
  const HostSharing crowded = {.hosts = {{.processors = 1}, {.processors = 1}},
                               .host_of_task = {0, 0, 1, 0},
                               .is_felt = true};
  EXPECT_NEAR(DrawEnds(tasks, kOnly, 4, crowded).median, 4, 1e-9);
}

TEST(EndDraws, TimesBeyondAnyNumberAreNotShared) {
  const std::vector<TaskOutlook> tasks = {Left(0, HUGE_VAL, true), Left(1, 1, true)};
  const HostSharing crowded = {
      .hosts = {{.processors = 1}}, .host_of_task = {0, 0}, .is_felt = true};
  EXPECT_FALSE(std::isfinite(DrawEnds(tasks, kOnly, 2, crowded).median));
}

TEST(EndDraws, NoiseWidensTheInterval) {
  std::vector<TaskOutlook> tasks = {Left(0, 100, true)};
  tasks[0].waiting.noise_variance = 400;  // 20 s
  const EndDraws ends = DrawEnds(tasks, kOnly, 1);
  EXPECT_NEAR(ends.median, 98, 3);
  EXPECT_NEAR(ends.upper - ends.lower, 2 * 1.645 * 20, 10);
}

TEST(EndDraws, CurvesThatDisagreeWidenTheInterval) {
  TaskOutlook task{.waiting = GroupTimes(2), .is_running = true};
  task.waiting.seconds = {50, 200};
  task.waiting.mean = 125;
  const std::vector<double> weights = {0.5, 0.5};
  const EndDraws ends = DrawEnds({&task, 1}, weights, 1);
  EXPECT_LT(ends.lower, 60);
  EXPECT_GT(ends.upper, 190);
}

TEST(EndDraws, AreTheSameAtEveryUpdate) {
  std::vector<TaskOutlook> tasks = {Left(0, 100, true), Left(1, 90, true)};
  for (TaskOutlook& task : tasks) task.waiting.noise_variance = 100;
  EXPECT_EQ(DrawEnds(tasks, kOnly, 2).median, DrawEnds(tasks, kOnly, 2).median);
}

}  // namespace
}  // namespace tidemark::model
