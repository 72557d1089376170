#include "master/service/ended_tasks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace tidemark::service {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

// Of two hosts, by start.
JobTasks Four() {
  JobTasks tasks;
  tasks.hosts = {{.host = "a"}, {.host = "b"}};
  for (const std::uint32_t index : {0, 1, 2, 3}) {
    tasks.tasks.push_back({.attempt = {.index = index},
                           .host = index < 3 ? "a" : "b",
                           .started_at = absl::FromUnixSeconds(index),
                           .remaining = Range{.median = absl::Seconds(1)}});
  }
  return tasks;
}

TEST(EndedTasks, ExpectNothingAnyMore) {
  EndedTasks ended;
  const auto kept = ended.Keep(Four()).lock();
  ASSERT_NE(kept, nullptr);
  EXPECT_FALSE(kept->tasks[0].remaining);
}

TEST(EndedTasks, TheOldestGoWhenTheMemoryIsFull) {
  EndedTasks ended(10 * sizeof(TaskProgress));
  const auto first = ended.Keep(Four());
  const auto second = ended.Keep(Four());
  EXPECT_EQ(first.lock(), nullptr);
  EXPECT_NE(second.lock(), nullptr);
  JobTasks large = Four();
  large.tasks.resize(100);
  EXPECT_EQ(ended.Keep(large).lock(), nullptr);
}

TEST(EndedTasks, AreAskedForAsThoseOfAJobThatRuns) {
  const JobTasks kept = Four();
  EXPECT_THAT(Asked(kept, {}).tasks, SizeIs(4));
  const JobTasks too_many = Asked(kept, {.tasks_max = 3});
  EXPECT_THAT(too_many.tasks, IsEmpty());
  EXPECT_EQ(too_many.tasks_left_out, 4u);
  EXPECT_THAT(too_many.hosts, SizeIs(2));
  const JobTasks of_host = Asked(kept, {.host = "a", .tasks_max = 2});
  ASSERT_THAT(of_host.tasks, SizeIs(2));
  EXPECT_EQ(of_host.tasks[0].attempt.index, 1u);
  EXPECT_EQ(of_host.tasks_left_out, 1u);
}

}  // namespace
}  // namespace tidemark::service
