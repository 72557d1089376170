#include "master/forecast/durations/reduce_stage.h"

#include <gtest/gtest.h>

#include <cmath>
#include <utility>
#include <vector>

#include "master/forecast/dag/application_estimate.h"

namespace tidemark::cost {
namespace {

// A task with so many seconds left under the only curve there is.
ReduceTaskLeft Left(std::size_t index, double seconds, bool is_running) {
  ReduceTaskLeft task{.index = index, .waiting = GroupTimes(1), .is_running = is_running};
  task.waiting.seconds[0] = task.waiting.mean = seconds;
  return task;
}

constexpr double kOnly[] = {1.0};

estimate::Estimate Ends(std::span<const ReduceTaskLeft> tasks, std::span<const double> weights,
                        std::size_t slots, std::vector<schedule::SharedHost> hosts = {},
                        std::vector<std::uint32_t> host_of_running = {}) {
  estimate::Application application = {.draws = &FixedDraws::For(tasks.size()),
                                       .hosts = std::move(hosts),
                                       .host_of_running = {std::move(host_of_running)}};
  application.stages.push_back(ReduceStage(tasks, weights, slots, *application.draws));
  application.on.cluster = {.capacity = {.cores = 1000}, .policy = schedule::Policy::kFifo};
  const auto ends = estimate::EstimateApplication(application);
  EXPECT_TRUE(ends.ok()) << ends.status();
  return ends.value_or(estimate::Estimate{});
}

double Median(std::span<const ReduceTaskLeft> tasks, std::size_t slots) {
  return Ends(tasks, kOnly, slots).end.median;
}

std::vector<double> TaskEnds(std::span<const ReduceTaskLeft> tasks, std::size_t slots) {
  return Ends(tasks, kOnly, slots).stages[0].task_ends;
}

TEST(ReduceStage, OfNothingLeftIsNow) { EXPECT_EQ(Median({}, 4), 0); }

TEST(ReduceStage, TheLongestRunningTaskDecides) {
  const std::vector<ReduceTaskLeft> tasks = {Left(0, 10, true), Left(1, 30, true)};
  EXPECT_NEAR(Median(tasks, 2), 30, 1e-9);
  EXPECT_NEAR(TaskEnds(tasks, 2)[0], 10, 1e-9);
}

// Slot 0 is free after 10 s, slot 1 after 30 s: tasks of 15 s and 5 s start at 10 s and 25 s.
TEST(ReduceStage, WaitingTasksTakeTheSlotThatIsFreeFirst) {
  const std::vector<ReduceTaskLeft> tasks = {Left(0, 10, true), Left(1, 30, true),
                                             Left(2, 15, false), Left(3, 5, false)};
  EXPECT_NEAR(TaskEnds(tasks, 2)[2], 25, 1e-9);
  EXPECT_NEAR(TaskEnds(tasks, 2)[3], 30, 1e-9);
  EXPECT_NEAR(Median(tasks, 2), 30, 1e-9);
}

TEST(ReduceStage, FreeSlotsAreUsedAtOnce) {
  const std::vector<ReduceTaskLeft> tasks = {Left(0, 10, false), Left(1, 20, false)};
  EXPECT_NEAR(Median(tasks, 2), 20, 1e-9);
  EXPECT_NEAR(Median(tasks, 1), 30, 1e-9);
}

TEST(ReduceStage, SlowNodesAndShufflesDelay) {
  std::vector<ReduceTaskLeft> tasks = {Left(0, 10, true)};
  tasks[0].speed = {2, 0};
  tasks[0].delay = 3;
  EXPECT_NEAR(Median(tasks, 1), 23, 1e-9);
}

TEST(ReduceStage, ATaskWithAnotherAttemptEndsWithTheFirstOfThem) {
  std::vector<ReduceTaskLeft> tasks = {Left(0, 100, true)};
  tasks[0].other = OtherAttempt{.seconds = 40};
  EXPECT_NEAR(Median(tasks, 1), 40, 1e-9);
  tasks[0].other = OtherAttempt{.seconds = 400};
  EXPECT_NEAR(Median(tasks, 1), 100, 1e-9);
}

TEST(ReduceStage, ATaskThatIsNotHeardGoesOn) {
  std::vector<ReduceTaskLeft> tasks = {Left(0, 100, true), Left(1, 50, true)};
  tasks[0].unheard = 30;
  tasks[1].unheard = 80;
  EXPECT_NEAR(TaskEnds(tasks, 2)[0], 70, 1e-9);
  EXPECT_EQ(TaskEnds(tasks, 2)[1], 0);
}

// By hand: four tasks on two processors, 1, 1, 1 and 4 s alone, take 2 s together; then the last
// has 3 s left and a processor of its own.
TEST(ReduceStage, TheLastTaskOfACrowdedHostGetsFasterWhenTheOthersEnd) {
  const std::vector<ReduceTaskLeft> tasks = {Left(0, 1, true), Left(1, 1, true), Left(2, 1, true),
                                             Left(3, 4, true)};
  const estimate::Estimate ends = Ends(tasks, kOnly, 4, {{.processors = 2}}, {0, 0, 0, 0});
  EXPECT_NEAR(ends.stages[0].task_ends[0], 2, 1e-9);
  EXPECT_NEAR(ends.end.median, 5, 1e-9);
}

TEST(ReduceStage, TimesBeyondAnyNumberAreForever) {
  const std::vector<ReduceTaskLeft> tasks = {Left(0, HUGE_VAL, true), Left(1, 1, true)};
  EXPECT_GE(Ends(tasks, kOnly, 2, {{.processors = 1}}, {0, 0}).end.median, schedule::kForever);
  EXPECT_GE(Median(tasks, 2), schedule::kForever);
}

TEST(ReduceStage, NoiseWidensTheInterval) {
  std::vector<ReduceTaskLeft> tasks = {Left(0, 100, true)};
  tasks[0].waiting.noise_variance = 400;  // 20 s
  const estimate::Range end = Ends(tasks, kOnly, 1).end;
  EXPECT_NEAR(end.median, 98, 3);
  EXPECT_NEAR(end.upper - end.lower, 2 * 1.645 * 20, 10);
}

TEST(ReduceStage, CurvesThatDisagreeWidenTheInterval) {
  ReduceTaskLeft task{.waiting = GroupTimes(2), .is_running = true};
  task.waiting.seconds = {50, 200};
  task.waiting.mean = 125;
  const std::vector<double> weights = {0.5, 0.5};
  const estimate::Range end = Ends({&task, 1}, weights, 1).end;
  EXPECT_LT(end.lower, 60);
  EXPECT_GT(end.upper, 190);
}

TEST(ReduceStage, IsTheSameAtEveryUpdate) {
  std::vector<ReduceTaskLeft> tasks = {Left(0, 100, true), Left(1, 90, true)};
  for (ReduceTaskLeft& task : tasks) task.waiting.noise_variance = 100;
  EXPECT_EQ(Median(tasks, 2), Median(tasks, 2));
}

}  // namespace
}  // namespace tidemark::cost
