#include "master/forecast/placement/running_tasks.h"

#include "tests/test.h"

namespace tidemark::placement::running_tasks_test {
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

// Four tasks of 1, 1, 1 and 4 s on two processors run at half speed for 2 s. Then the last task has
// 3 s left and a processor to itself.
TEST(RunningTasks, SpeedsUpTheLastTaskWhenTheOthersEnd) {
  RunningTasks sharing(Hosts{{.processors = 2}});
  for (std::uint32_t task = 0; task < 3; ++task) sharing.Begin({task, 0, 0, 0, 1});
  sharing.Begin({3, 0, 0, 0, 4});
  const Ends ends = Play(sharing);
  for (std::uint32_t task = 0; task < 3; ++task) EXPECT_DOUBLE_EQ(ends.at(task), 2);
  EXPECT_DOUBLE_EQ(ends.at(3), 5);
}

// The first task of 3 s runs alone until 1 s and has 2 s left. Then both tasks share one processor.
// The second task would take 1 s alone, so it ends at 3 s. The first task, with 1 s left, ends at 4
// s.
TEST(RunningTasks, AStartedTaskSlowsTheOthers) {
  RunningTasks sharing(Hosts{{.processors = 1}});
  sharing.Begin({0, 0, 0, 0, 3});
  sharing.Begin({1, 0, 1, 0, 1});
  const Ends ends = Play(sharing);
  EXPECT_DOUBLE_EQ(ends.at(1), 3);
  EXPECT_DOUBLE_EQ(ends.at(0), 4);
}

TEST(RunningTasks, HostsDoNotShareWithEachOther) {
  RunningTasks sharing(Hosts{{.processors = 1}, {.processors = 1}});
  sharing.Begin({0, 0, 0, 0, 1});
  sharing.Begin({1, 1, 0, 0, 1});
  EXPECT_EQ(Play(sharing), (Ends{{0, 1}, {1, 1}}));
}

// One processor has nine competitors, so each task runs at a tenth of the speed. When one of two
// tasks ends, the other runs at 11/10 instead of twice the speed.
TEST(RunningTasks, OneTaskLessAmongManyCompetitorsIsLittleGain) {
  RunningTasks sharing(Hosts{{.processors = 1, .others = 9}});
  sharing.Begin({0, 0, 0, 0, 1});
  sharing.Begin({1, 0, 0, 0, 2});
  const Ends ends = Play(sharing);
  EXPECT_DOUBLE_EQ(ends.at(0), 11);
  EXPECT_DOUBLE_EQ(ends.at(1), 21);
}

TEST(RunningTasks, AnEndedTaskMayLetAnotherStart) {
  RunningTasks sharing(Hosts{{.processors = 1}});
  sharing.Begin({0, 0, 0, 0, 2});
  EXPECT_EQ(sharing.Next(INFINITY)->at, 2);
  sharing.Begin({1, 0, 2, 1, 3});
  EXPECT_EQ(Play(sharing), (Ends{{1, 6}}));
}

TEST(RunningTasks, WithoutHostsNoTaskWaitsForAProcessor) {
  RunningTasks tasks({});
  for (std::uint32_t task = 0; task < 3; ++task)
    tasks.Begin({task, 0, 0, 1, static_cast<double>(task)});
  EXPECT_EQ(Play(tasks), (Ends{{0, 1}, {1, 2}, {2, 3}}));
}

TEST(RunningTasks, ReturnsWakeUpsBetweenTasks) {
  RunningTasks tasks({});
  tasks.Begin({0, 0, 0, 0, 2});
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
    sharing.Begin({0, 0, 0, 0, 1});
    EXPECT_EQ(Play(sharing), (Ends{{0, 1}}));
    sharing.Clear();
  }
}

// Tasks start when other tasks end, several of them together, and many at the same times. The
// events equal the events of a full scan at every step.
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
        tasks.Begin({number, 0, at, 0, end - at});
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

TaskPart Part(double seconds, Resource resource, double need) {
  TaskPart part = {.seconds = seconds};
  part.needs[static_cast<std::size_t>(resource)] = need;
  return part;
}

// A node has one core. Task 0 computes for 3 s. Task 1 computes for 1 s, and then uses the network
// for 1 s. Both compute at half speed until 2 s. Task 1 ends at 3 s. At 2 s, task 0 has 2 s left,
// so it ends at 4 s.
TEST(RunningTasks, ATaskComputesFasterWhileAnotherWaitsForTheNetwork) {
  const TaskDemand computes = {Part(1, Resource::kCpu, 1)};
  const TaskDemand fetches = {Part(0.5, Resource::kCpu, 0.5), Part(0.5, Resource::kNetwork, 0.5)};
  RunningTasks sharing(Hosts{{.processors = 1, .nodes = 1}}, {computes, fetches});
  sharing.Begin({.task = 0, .seconds = 3, .stage = 0});
  sharing.Begin({.task = 1, .seconds = 2, .stage = 1});
  EXPECT_EQ(Play(sharing), (Ends{{0, 4}, {1, 3}}));
  const std::vector<HostUse>& use = sharing.UseUntil(4);
  EXPECT_DOUBLE_EQ(use[0].seconds, 4);
  EXPECT_DOUBLE_EQ(use[0].work, 3);
  EXPECT_DOUBLE_EQ(use[1].seconds, 3);
  EXPECT_DOUBLE_EQ(use[1].work, 2);
  EXPECT_DOUBLE_EQ(use[1].bound[static_cast<std::size_t>(Resource::kCpu)], 2);
  EXPECT_DOUBLE_EQ(use[1].bound[static_cast<std::size_t>(Resource::kNetwork)], 1);
}

// On a host of four nodes, three simulated tasks represent four tasks each. The disk of each node
// therefore serves three tasks.
TEST(RunningTasks, WideTasksShareTheNodesOfAHost) {
  const TaskDemand reads = {Part(1, Resource::kDiskRead, 1)};
  RunningTasks sharing(Hosts{{.processors = 4, .nodes = 4}}, {reads});
  for (std::uint32_t task = 0; task < 3; ++task) {
    sharing.Begin({.task = task, .seconds = 2, .wide = 4});
  }
  for (const auto& [task, end] : Play(sharing)) EXPECT_DOUBLE_EQ(end, 6) << task;
}

TEST(RunningTasks, TasksWithoutADemandShareNothingOfANode) {
  RunningTasks sharing(Hosts{{.processors = 1, .nodes = 1}}, {TaskDemand()});
  sharing.Begin({.task = 0, .seconds = 1});
  sharing.Begin({.task = 1, .at = 0, .delay = 1, .seconds = 1});
  EXPECT_EQ(Play(sharing), (Ends{{0, 1}, {1, 2}}));
}

// Three tasks run on two slots and one core. Two run at half speed for 2 s, and the last runs alone
// for 1 s. The tasks take 5 s for 3 s of work. With 60 tasks on 30 slots and ten cores, three tasks
// share a core. Two tasks on many slots share the core.
TEST(MeanStretch, IsTheTimeOfTasksOverTheirTimeAlone) {
  const TaskDemand computes = {Part(1, Resource::kCpu, 1)};
  EXPECT_DOUBLE_EQ(MeanStretch(computes, {.processors = 1, .nodes = 1}, 3, 2, 0), 5.0 / 3);
  EXPECT_NEAR(MeanStretch(computes, {.processors = 10, .nodes = 1}, 60, 30, 0), 3, 1e-9);
  EXPECT_NEAR(MeanStretch(computes, {.processors = 1, .nodes = 1}, 400, 4, 0.1), 4, 0.4);
  EXPECT_NEAR(MeanStretch(computes, {.processors = 1, .nodes = 1}, 2, 4e9, 0), 2, 1e-9);
  EXPECT_EQ(MeanStretch({}, {.processors = 1, .nodes = 1}, 3, 2, 0), 1);
}

TEST(RunningTasks, ServesExactlyTheWork) {
  std::mt19937 random(7);
  std::exponential_distribution<double> seconds(0.1);
  RunningTasks sharing(Hosts{{.processors = 3}});
  double work = 0;
  for (std::uint32_t task = 0; task < 200; ++task) {
    const double alone = seconds(random);
    work += alone;
    sharing.Begin({task, 0, 0, 0, alone});
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
}  // namespace tidemark::placement::running_tasks_test
