

#include "master/service/job_service.h"
#include "tests/test.h"

namespace tidemark::service::running_tasks_test {
namespace {

TaskProgress Task(std::uint32_t index, std::optional<double> left, double started_at = 0,
                  AttemptState state = AttemptState::kStarted) {
  TaskProgress task = {.attempt = {.index = index},
                       .state = state,
                       .started_at = absl::UnixEpoch() + absl::Seconds(started_at)};
  if (left) task.remaining = Range{absl::Seconds(*left)};
  return task;
}

std::vector<std::uint32_t> Kept(std::vector<TaskProgress> tasks, std::size_t most,
                                std::size_t left_out = 0) {
  JobTasks list = {.tasks = std::move(tasks)};
  SelectRunning(most, list);
  EXPECT_EQ(list.tasks_left_out, left_out);
  std::vector<std::uint32_t> indices;
  for (const TaskProgress& task : list.tasks) indices.push_back(task.attempt.index);
  return indices;
}

TEST(RunningTasks, TheLastToEndComesFirst) {
  EXPECT_THAT(Kept({Task(0, 5), Task(1, 50), Task(2, 20, 0, AttemptState::kShuffled)}, 10),
              ElementsAre(1, 2, 0));
}

TEST(RunningTasks, ThenThoseOfWhichThatIsNotKnownByTheirStart) {
  EXPECT_THAT(Kept({Task(0, {}, 9), Task(1, 0), Task(2, {}, 3)}, 10), ElementsAre(1, 2, 0));
}

TEST(RunningTasks, WhatDoesNotRunIsLeftOut) {
  EXPECT_THAT(Kept({Task(0, {}, 0, AttemptState::kFinished), Task(1, {}, 0, AttemptState::kFailed),
                    Task(2, {}, 0, AttemptState::kQueued)},
                   10),
              IsEmpty());
}

TEST(RunningTasks, OfTooManyTheSlowestStay) {
  EXPECT_THAT(Kept({Task(0, 5), Task(1, 50), Task(2, 20)}, 2, 1), ElementsAre(1, 2));
  EXPECT_THAT(Kept({Task(0, 5)}, 0, 1), IsEmpty());
}

// The tasks took 5, 50 and 20 s. The last task still runs after 30 s.
TEST(LongestTasks, ComeFirst) {
  JobTasks list = {.at = absl::UnixEpoch() + absl::Seconds(60)};
  for (const double seconds : {5, 50, 20}) {
    list.tasks.push_back(Task(static_cast<std::uint32_t>(seconds), {}, 0, AttemptState::kFinished));
    list.tasks.back().ended_at = absl::UnixEpoch() + absl::Seconds(seconds);
  }
  list.tasks.push_back(Task(30, {}, 30));
  list.tasks.push_back({.attempt = {.index = 0}});
  list.tasks_left_out = 7;
  SelectLongest(4, list);
  EXPECT_EQ(list.tasks_left_out, 8u);
  std::vector<std::uint32_t> indices;
  for (const TaskProgress& task : list.tasks) indices.push_back(task.attempt.index);
  EXPECT_THAT(indices, ElementsAre(50, 30, 20, 5));
}

}  // namespace
}  // namespace tidemark::service::running_tasks_test
