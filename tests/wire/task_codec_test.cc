#include "proto/wire/task_codec.h"

#include "tests/test.h"
#include "tidemark/v1/job_service.pb.h"

namespace tidemark::wire::task_codec_test {
namespace {

JobTasks SomeTasks() {
  const absl::Time at = absl::FromUnixSeconds(1'700'000'000);
  return {.at = at,
          .began_at = at - absl::Seconds(60),
          .hosts = {{.host = "a", .running = 2, .finished = 3, .failed = 1, .busy = {0.5, 2}}},
          .hosts_left_out = 4,
          .tasks = {{.attempt = {.stage = 7, .index = 2, .attempt = 1, .stage_attempt = 3},
                     .state = AttemptState::kShuffled,
                     .host = "a",
                     .started_at = at - absl::Seconds(50),
                     .remaining = Range{absl::Seconds(9), absl::Seconds(5), absl::Seconds(20)},
                     .is_speculative = true},
                    {.state = AttemptState::kFailed,
                     .ended_at = at - absl::Seconds(1),
                     .failure = "out of memory"}},
          .tasks_left_out = 5,
          .heavy_groups = {{.attempt = {.stage = 1, .index = 2},
                            .size_bytes = 1200,
                            .time = absl::Seconds(3),
                            .share = 0.25,
                            .is_running = true}}};
}

v1::ListTasksResponse Encoded() {
  v1::ListTasksResponse message;
  EncodeTasks(SomeTasks(), message);
  return message;
}

TEST(TaskCodec, RoundTripKeepsTasks) {
  const auto parsed = ParseTasks(Encoded()).value();
  const JobTasks tasks = SomeTasks();
  EXPECT_EQ(parsed.at, tasks.at);
  EXPECT_EQ(parsed.began_at, tasks.began_at);
  EXPECT_EQ(parsed.hosts, tasks.hosts);
  EXPECT_EQ(parsed.hosts_left_out, tasks.hosts_left_out);
  EXPECT_EQ(parsed.tasks, tasks.tasks);
  EXPECT_EQ(parsed.tasks_left_out, tasks.tasks_left_out);
  EXPECT_EQ(parsed.heavy_groups, tasks.heavy_groups);
}

TEST(TaskCodec, TreatsAnUnknownStateAsRunning) {
  v1::ListTasksResponse message = Encoded();
  message.mutable_tasks(0)->set_state(static_cast<v1::AttemptState>(99));
  EXPECT_EQ(ParseTasks(message)->tasks[0].state, AttemptState::kStarted);
}

TEST(TaskCodec, RejectsInvalidTimesAndShares) {
  v1::ListTasksResponse message = Encoded();
  message.mutable_tasks(0)->mutable_remaining()->mutable_median()->set_seconds(-1);
  EXPECT_EQ(ParseTasks(message).status().code(), absl::StatusCode::kInvalidArgument);
  message = Encoded();
  message.mutable_at()->set_nanos(-1);
  EXPECT_FALSE(ParseTasks(message).ok());
  message = Encoded();
  message.mutable_heavy_groups(0)->set_share(std::numeric_limits<double>::quiet_NaN());
  EXPECT_FALSE(ParseTasks(message).ok());
}

}  // namespace
}  // namespace tidemark::wire::task_codec_test
