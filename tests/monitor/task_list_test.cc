// Tests the list of task attempts by host.
#include "master/monitor/task_list.h"

#include "tests/matchers.h"
#include "tests/monitor/monitored_job.h"
#include "tests/test.h"

namespace tidemark::task_list_test {
namespace {

class TaskListTest : public ::testing::Test, protected test::MonitoredJob {
 protected:
  // Reports a change. Host "a" is executor 0, and host "b" is executor 1.
  void Change(double seconds, AttemptId task, AttemptState state,
              std::optional<std::uint32_t> executor = {}) {
    Say(seconds,
        AttemptChanged{.attempt = task, .state = state, .at = At(seconds), .executor = executor});
  }
  // Runs four tasks of one stage, two on each host. a0 runs from 0 to 10, and b1 runs from 0 to 6,
  // when it fails. a2 and b3 run from 10 on.
  void RunFourTasks() {
    Say(0, JobOpened{.name = "job", .stages = {{.stage = 7, .task_count = 4}}});
    Say(0, ExecutorOpened{.executor = 0, .host = "a", .slots = 1});
    Say(0, ExecutorOpened{.executor = 1, .host = "b", .slots = 1});
    Change(0, Task(0), AttemptState::kStarted, 0);
    Change(0, Task(1), AttemptState::kStarted, 1);
    Change(6, Task(1), AttemptState::kFailed);
    Change(10, Task(0), AttemptState::kFinished);
    Change(10, Task(2), AttemptState::kStarted, 0);
    Change(10, Task(3), AttemptState::kStarted, 1);
  }
  static AttemptId Task(std::uint32_t index) { return {.stage = 7, .index = index}; }
};

TEST_F(TaskListTest, CountsTasksAndBusyTimePerHost) {
  RunFourTasks();
  monitor.Tick(At(12));
  const JobTasks list = monitor.ListTasks({}, At(12));
  ASSERT_THAT(list.hosts, SizeIs(2));
  EXPECT_EQ(list.began_at, At(0));
  const HostTasks& a = list.hosts[0];
  EXPECT_EQ(a.host, "a");
  EXPECT_EQ(a.finished, 1);
  EXPECT_EQ(a.running, 1);
  EXPECT_EQ(a.failed, 0);
  EXPECT_EQ(list.hosts[1].failed, 1);
  // There are 60 parts of 0.2 s each. Host a runs one task at a time. Host b is idle from 6 s (part
  // 30) to 10 s (part 50).
  ASSERT_THAT(a.busy, SizeIs(60));
  for (const double busy : a.busy) EXPECT_NEAR(busy, 1, 1e-6);
  EXPECT_NEAR(list.hosts[1].busy[29], 1, 1e-6);
  EXPECT_NEAR(list.hosts[1].busy[31], 0, 1e-6);
  EXPECT_NEAR(list.hosts[1].busy[51], 1, 1e-6);
}

TEST_F(TaskListTest, ListsAttemptsByHostAndStart) {
  RunFourTasks();
  monitor.Tick(At(12));
  const std::vector<TaskProgress> tasks = monitor.ListTasks({}, At(12)).tasks;
  ASSERT_THAT(tasks, SizeIs(4));
  EXPECT_EQ(tasks[0].attempt, Task(0));
  EXPECT_EQ(tasks[0].ended_at, At(10));
  EXPECT_EQ(tasks[0].state, AttemptState::kFinished);
  EXPECT_EQ(tasks[1].attempt, Task(2));
  EXPECT_EQ(tasks[1].started_at, At(10));
  EXPECT_FALSE(tasks[1].ended_at);
  EXPECT_EQ(tasks[2].attempt, Task(1));
  EXPECT_EQ(tasks[2].state, AttemptState::kFailed);
}

TEST_F(TaskListTest, TheRemainingTimeOfARunningTaskHasARange) {
  RunFourTasks();
  monitor.Tick(At(12));
  const std::vector<TaskProgress> tasks = monitor.ListTasks({}, At(12)).tasks;
  ASSERT_TRUE(tasks[1].remaining);
  const Range& left = *tasks[1].remaining;
  EXPECT_GT(left.median, absl::ZeroDuration());
  ASSERT_TRUE(left.lower && left.upper);
  EXPECT_LE(*left.lower, left.median);
  EXPECT_GE(*left.upper, left.median);
  EXPECT_FALSE(tasks[0].remaining) << "it has ended";
  // An estimate that was made a second ago is now a second shorter.
  EXPECT_EQ(monitor.ListTasks({}, At(13)).tasks[1].remaining->median,
            std::max(left.median - absl::Seconds(1), absl::ZeroDuration()));
}

TEST_F(TaskListTest, ManyTasksAreListedPerHost) {
  RunFourTasks();
  monitor.Tick(At(12));
  const JobTasks all = monitor.ListTasks({.tasks_max = 3}, At(12));
  EXPECT_THAT(all.tasks, IsEmpty()) << "three of four would look like all";
  EXPECT_EQ(all.tasks_left_out, 4);
  EXPECT_THAT(all.hosts, SizeIs(2));
  const JobTasks one = monitor.ListTasks({.host = "b", .tasks_max = 1}, At(12));
  EXPECT_EQ(Only(one.tasks).attempt, Task(3)) << "the last to begin";
  EXPECT_EQ(one.tasks_left_out, 1);
  EXPECT_THAT(monitor.ListTasks({.host = "nowhere"}, At(12)).tasks, IsEmpty());
}

TEST_F(TaskListTest, IsEmptyWithoutTasks) {
  EXPECT_THAT(monitor.ListTasks({}, At(0)).tasks, IsEmpty());
  EXPECT_THAT(monitor.PastForecasts(10), IsEmpty());
  Say(0, test::Opened(1, 1));
  monitor.Tick(At(1));
  EXPECT_FALSE(monitor.ListTasks({}, At(1)).began_at);
  Say(1, ExecutorOpened{.executor = 0, .host = "a", .slots = 1});
  // All events occur at the same time, so no host was busy for any time.
  Change(1, test::M(0), AttemptState::kStarted, 0);
  EXPECT_THAT(monitor.ListTasks({}, At(1)).hosts[0].busy, Each(0));
}

// 1,000 updates are thinned to a tenth. The last update is kept, and the other updates are evenly
// spaced.
TEST(ThinnedForecasts, KeepTheLastPrediction) {
  std::vector<facts::EndPrediction> said;
  for (int i = 1; i <= 1000; ++i) {
    said.push_back({.at = At(i), .end = At(2000), .lower = At(1500), .upper = At(4000)});
  }
  const auto kept = monitor::ThinnedForecasts(said, At(0), 100);
  ASSERT_THAT(kept, SizeIs(100));
  EXPECT_EQ(kept.back().at, At(1000));
  EXPECT_EQ(kept[1].at - kept[0].at, absl::Seconds(10));
  // 1,000 s have passed of 2,000 s, of 4,000 s for the upper bound, and of 1,500 s for the lower
  // bound.
  EXPECT_NEAR(kept.back().fraction_done, 0.5, 1e-9);
  EXPECT_NEAR(kept.back().fraction_done_lower, 0.25, 1e-9);
  EXPECT_NEAR(kept.back().fraction_done_upper, 2.0 / 3, 1e-9);
  EXPECT_THAT(monitor::ThinnedForecasts(said, At(0), 0), IsEmpty());
  EXPECT_THAT(monitor::ThinnedForecasts(said, At(0), 5000), SizeIs(1000));
}

// During a silence the shown progress stays at 10 %, although the predicted end implies 50 %.
TEST(ThinnedForecasts, ContainTheShownProgress) {
  const std::vector<facts::EndPrediction> said = {
      {.at = At(100), .end = At(200), .lower = At(150), .upper = At(400), .shown_end = At(1000)}};
  const PastForecast kept = Only(monitor::ThinnedForecasts(said, At(0), 10));
  EXPECT_NEAR(kept.fraction_done, 0.1, 1e-9);
  EXPECT_NEAR(kept.fraction_done_lower, 0.1, 1e-9);
  EXPECT_NEAR(kept.fraction_done_upper, 2.0 / 3, 1e-9);
  EXPECT_EQ(kept.ends_at, At(200));
}

TEST(ThinnedForecasts, APredictionWithoutAnEndHasNone) {
  const std::vector<facts::EndPrediction> said = {{.at = At(5)}};
  EXPECT_THAT(monitor::ThinnedForecasts(said, At(0), 10), ElementsAre(PastForecast{.at = At(5)}));
}

}  // namespace
}  // namespace tidemark::task_list_test
