#include "console/job_frame.h"
#include "console/text.h"
#include "tests/console/some_jobs.h"
#include "tests/test.h"

namespace tidemark::console::task_lines_test {
namespace {

constexpr TextOptions kAscii = {};

TaskProgress Task(std::uint32_t index, std::optional<absl::Duration> left) {
  TaskProgress task = {.attempt = {.stage = 1, .index = index},
                       .host = "node-7",
                       .started_at = absl::FromUnixSeconds(1'700'000'000 + index)};
  if (left) task.remaining = Range{*left};
  return task;
}

JobTasks Two() {
  return {.at = absl::FromUnixSeconds(1'700'000'072),
          .tasks = {Task(2, absl::Seconds(200)), Task(0, {})}};
}

TEST(TaskLines, ShowElapsedAndRemainingTime) {
  EXPECT_THAT(RenderTaskLines(SomeSnapshot(), Two(), 10, 80, kAscii),
              ElementsAre("  reduce task 2  node-7  1 min 10 s  ~ 3 min 20 s left",
                          "  reduce task 0  node-7  1 min 12 s"));
}

TEST(TaskLines, CountOmittedTasks) {
  JobTasks many = Two();
  for (std::uint32_t i = 3; i < 30; ++i) many.tasks.push_back(Task(i, {}));
  many.tasks_left_out = 100;
  const auto lines = RenderTaskLines(SomeSnapshot(), many, 3, 80, kAscii);
  ASSERT_THAT(lines, SizeIs(3));
  EXPECT_EQ(lines[2], "  and 127 more running tasks");
  EXPECT_THAT(RenderTaskLines(SomeSnapshot(), Two(), 1, 80, kAscii),
              ElementsAre("  and 2 more running tasks"));
}

TEST(TaskLines, OmitTasksOfUnknownStages) {
  JobTasks tasks = Two();
  tasks.tasks[1].state = AttemptState::kFinished;
  EXPECT_THAT(RenderTaskLines(SomeSnapshot(), tasks, 10, 80, kAscii), SizeIs(1));
  tasks.tasks[0].attempt.stage = 9;
  EXPECT_THAT(RenderTaskLines(SomeSnapshot(), tasks, 10, 80, kAscii), IsEmpty());
  EXPECT_THAT(RenderTaskLines(SomeSnapshot(), {}, 10, 80, kAscii), IsEmpty());
}

TEST(TaskLines, RespectTheLimits) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 300; ++i) {
    JobTasks tasks = Two();
    const std::size_t count = random() % 40;
    for (std::uint32_t task = 0; task < count; ++task) {
      tasks.tasks.push_back(Task(task, absl::Seconds(static_cast<int>(random() % 100'000) - 100)));
      tasks.tasks.back().host = std::string(random() % 100, 'h') + "\x1b[2J\xff";
    }
    tasks.tasks_left_out = random() % 3;
    const std::size_t most = random() % 20;
    const int width = static_cast<int>(random() % 120);
    const auto lines = RenderTaskLines(SomeSnapshot(), tasks, most, width, {.unicode = true});
    EXPECT_LE(lines.size(), most);
    for (const std::string& line : lines) {
      EXPECT_LE(Columns(line), width) << line;
      EXPECT_EQ(line.find('\x1b'), std::string::npos);
    }
  }
}

}  // namespace
}  // namespace tidemark::console::task_lines_test
