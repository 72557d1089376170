#include "master/forecast/placement/running_tasks.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <random>
#include <utility>
#include <vector>

namespace tidemark::placement {
namespace {

using Hosts = std::vector<SharedHost>;
using Ends = std::map<std::uint32_t, double>;

Ends Play(RunningTasks& tasks) {
  Ends ends;
  while (const auto event = tasks.Next(INFINITY)) ends[event->number] = event->at;
  return ends;
}

TEST(SharedHost, RunsAtFullSpeedWhileProcessorsSuffice) {
  const SharedHost host = {.processors = 2, .others = 0.5};
  EXPECT_DOUBLE_EQ(host.Speed(0), 1);
  EXPECT_DOUBLE_EQ(host.Speed(1), 1);
  EXPECT_DOUBLE_EQ(host.Speed(2), 0.8);
  EXPECT_DOUBLE_EQ(host.Speed(4), 2 / 4.5);
}

// By hand: four tasks of 1, 1, 1 and 4 s on two processors run at half speed for 2 s; then the last
// one has 3 s left and a processor to itself.
TEST(RunningTasks, SpeedsUpTheLastTaskWhenTheOthersEnd) {
  RunningTasks sharing(Hosts{{.processors = 2}});
  for (std::uint32_t task = 0; task < 3; ++task) sharing.Begin(task, 0, 0, 0, 1);
  sharing.Begin(3, 0, 0, 0, 4);
  const Ends ends = Play(sharing);
  for (std::uint32_t task = 0; task < 3; ++task) EXPECT_DOUBLE_EQ(ends.at(task), 2);
  EXPECT_DOUBLE_EQ(ends.at(3), 5);
}

// By hand: alone until 1 s, then two share one processor; of 3 s the first has 2 left at 1 s. The
// second takes 1 s alone, so it ends at 3 s, and the first, with 1 s left, at 4 s.
TEST(RunningTasks, AStartedTaskSlowsTheOthers) {
  RunningTasks sharing(Hosts{{.processors = 1}});
  sharing.Begin(0, 0, 0, 0, 3);
  sharing.Begin(1, 0, 1, 0, 1);
  const Ends ends = Play(sharing);
  EXPECT_DOUBLE_EQ(ends.at(1), 3);
  EXPECT_DOUBLE_EQ(ends.at(0), 4);
}

TEST(RunningTasks, HostsDoNotShareWithEachOther) {
  RunningTasks sharing(Hosts{{.processors = 1}, {.processors = 1}});
  sharing.Begin(0, 0, 0, 0, 1);
  sharing.Begin(1, 1, 0, 0, 1);
  EXPECT_EQ(Play(sharing), (Ends{{0, 1}, {1, 1}}));
}

// By hand: one processor and nine competitors: each task runs at a tenth. When one of two ends, the
// other runs at 11/10 instead of twice the speed.
TEST(RunningTasks, OneTaskLessAmongManyCompetitorsIsLittleGain) {
  RunningTasks sharing(Hosts{{.processors = 1, .others = 9}});
  sharing.Begin(0, 0, 0, 0, 1);
  sharing.Begin(1, 0, 0, 0, 2);
  const Ends ends = Play(sharing);
  EXPECT_DOUBLE_EQ(ends.at(0), 11);
  EXPECT_DOUBLE_EQ(ends.at(1), 21);
}

TEST(RunningTasks, AnEndedTaskMayLetAnotherStart) {
  RunningTasks sharing(Hosts{{.processors = 1}});
  sharing.Begin(0, 0, 0, 0, 2);
  EXPECT_EQ(sharing.Next(INFINITY)->at, 2);
  sharing.Begin(1, 0, 2, 1, 3);
  EXPECT_EQ(Play(sharing), (Ends{{1, 6}}));
}

TEST(RunningTasks, WithoutHostsNoTaskWaitsForAProcessor) {
  RunningTasks tasks({});
  for (std::uint32_t task = 0; task < 3; ++task) tasks.Begin(task, 0, 0, 1, task);
  EXPECT_EQ(Play(tasks), (Ends{{0, 1}, {1, 2}, {2, 3}}));
}

TEST(RunningTasks, ReturnsWakeUpsBetweenTasks) {
  RunningTasks tasks({});
  tasks.Begin(0, 0, 0, 0, 2);
  tasks.WakeUp(7, 1);
  const auto first = tasks.Next(INFINITY);
  EXPECT_EQ(first->number, 7u);
  EXPECT_FALSE(first->is_end);
  EXPECT_FALSE(tasks.Next(1.5).has_value());
  EXPECT_TRUE(tasks.Next(2)->is_end);
}

TEST(RunningTasks, ClearRestarts) {
  RunningTasks sharing(Hosts{{.processors = 1}});
  for (int future = 0; future < 2; ++future) {
    sharing.Begin(0, 0, 0, 0, 1);
    EXPECT_EQ(Play(sharing), (Ends{{0, 1}}));
    sharing.Clear();
  }
}

// Tasks that start when others end, several at once, many at the same instants: the events equal
// those of a full scan at every step.
TEST(RunningTasks, ReturnsEventsByInstantAndNumber) {
  std::mt19937 random(11);
  for (int round = 0; round < 50; ++round) {
    RunningTasks tasks({});
    std::map<std::pair<double, std::uint32_t>, bool> left;  // true for a wake-up
    std::uint32_t number = 0;
    const auto begin = [&](double at) {
      const double end = at + static_cast<double>(random() % 4);
      if (random() % 5 == 0) {
        tasks.WakeUp(number, end);
        left[{end, number++}] = true;
      } else {
        tasks.Begin(number, 0, at, 0, end - at);
        left[{end, number++}] = false;
      }
    };
    for (int n = 0; n < 8; ++n) begin(0);
    double now = 0;
    while (!left.empty()) {
      const auto [next, is_wake_up] = *left.begin();
      const double until = now + static_cast<double>(random() % 3);
      const auto event = tasks.Next(until);
      ASSERT_EQ(event.has_value(), next.first <= until) << round;
      if (!event) {
        now = until;
        continue;
      }
      EXPECT_EQ(std::pair(event->at, event->number), next) << round;
      EXPECT_EQ(event->is_end, !is_wake_up) << round;
      left.erase(left.begin());
      now = event->at;
      for (auto more = random() % 3; more > 0 && number < 200; --more) begin(now);
    }
    EXPECT_FALSE(tasks.Next(INFINITY).has_value()) << round;
  }
}

TEST(RunningTasks, ServesExactlyTheWork) {
  std::mt19937 random(7);
  std::exponential_distribution<double> seconds(0.1);
  RunningTasks sharing(Hosts{{.processors = 3}});
  double work = 0;
  for (std::uint32_t task = 0; task < 200; ++task) {
    const double alone = seconds(random);
    work += alone;
    sharing.Begin(task, 0, 0, 0, alone);
  }
  double before = 0;
  double served = 0;
  std::size_t running = 200;
  while (const auto event = sharing.Next(INFINITY)) {
    ASSERT_GE(event->at, before);
    served += (event->at - before) * std::min<double>(3, static_cast<double>(running--));
    before = event->at;
  }
  EXPECT_EQ(running, 0u);
  EXPECT_NEAR(served, work, 1e-9 * work);
}

}  // namespace
}  // namespace tidemark::placement
