#include "master/monitor/stragglers.h"

#include <gtest/gtest.h>

#include "tests/facts/events.h"

namespace tidemark::monitor {
namespace {

using forecast::ReduceTaskForecast;
using test::At;
using test::Emitted;
using test::Finished;
using test::Job;
using test::Key;
using test::M;
using test::Opened;
using test::Partition;
using test::Point;
using test::R;
using test::Reduced;
using test::Started;

// Reduce task 1 runs on node-7, with 3,500,000 of 4,000,000 bytes remaining. Task 2 has not
// started.
Job RunningJob() {
  Job job;
  EXPECT_TRUE(job.Say(0, Opened(1, 3)).ok());
  EXPECT_TRUE(job.Say(1, Emitted(M(0), {Partition(1, 4'000'000, {Key(5, 2'000'000)})})).ok());
  EXPECT_TRUE(job.Say(1, Finished(M(0))).ok());
  AttemptChanged started = Started(R(1, 2));
  started.executor = 7;
  EXPECT_TRUE(job.Say(1, ExecutorOpened{.executor = 7, .host = "node-7"}).ok());
  EXPECT_TRUE(job.Say(2, started).ok());
  EXPECT_TRUE(job.Say(9, Reduced(R(1, 2), At(8), {Point(500'000, 1)})).ok());
  return job;
}

ReduceTaskForecast EndOf(std::size_t index, double at) {
  return {.index = index, .ends_at = At(at), .reduce_time_left = absl::Seconds(10)};
}

// As EndOf, with a heaviest explicit key group that takes `share` of the remaining time.
ReduceTaskForecast EndOfHeavy(std::size_t index, double at, double share) {
  ReduceTaskForecast task = EndOf(index, at);
  task.explicit_groups_left = 4;
  task.heaviest = Key(5, 2'000'000);
  task.heaviest_time = share * task.reduce_time_left;
  return task;
}

TEST(Straggler, NeedsForecastsOfTasks) {
  EXPECT_FALSE(LastReduceTask(RunningJob().state, {}, At(10)).has_value());
}

TEST(Straggler, IsTheTaskThatEndsLast) {
  const Job job = RunningJob();
  const auto straggler =
      LastReduceTask(job.state, {.tasks = {EndOf(0, 20), EndOf(1, 50), EndOf(2, 30)}}, At(10));
  ASSERT_TRUE(straggler.has_value());
  EXPECT_EQ(straggler->attempt, R(1, 2)) << "by its leading attempt";
  EXPECT_EQ(straggler->host, "node-7");
  EXPECT_EQ(straggler->remaining->median, absl::Seconds(40));
}

TEST(Straggler, HasNoRemainingTimeAfterItsEnd) {
  const Job job = RunningJob();
  for (const absl::Time end : {At(10), At(3), absl::InfiniteFuture()}) {
    const auto straggler =
        LastReduceTask(job.state, {.tasks = {{.index = 1, .ends_at = end}}}, At(10));
    EXPECT_FALSE(straggler->remaining.has_value()) << end;
  }
}

TEST(Straggler, DescribesTheHeaviestRemainingGroup) {
  const Job job = RunningJob();
  const auto straggler = LastReduceTask(job.state, {.tasks = {EndOfHeavy(1, 50, 0.75)}}, At(10));
  EXPECT_EQ(straggler->explicit_groups_left, 4u);
  EXPECT_EQ(straggler->heaviest_group_bytes, 2'000'000u);
  EXPECT_DOUBLE_EQ(straggler->heaviest_group_share, 0.75);
  EXPECT_FALSE(straggler->in_heaviest_group);
}

TEST(Straggler, NamesAHeavyGroupStillToCome) {
  const Job job = RunningJob();
  EXPECT_EQ(
      LastReduceTask(job.state, {.tasks = {EndOfHeavy(1, 50, 0.75)}}, At(10))->reason,
      "Reduce task 1, attempt 2, ends last: 2.0 MB key still to come, 75 % of its remaining time");
}

TEST(Straggler, ReportsThatItIsInsideItsHeaviestGroup) {
  Job job = RunningJob();
  ReduceProfile profile = Reduced(R(1, 2), At(8), {Point(500'000, 1)});
  profile.points.clear();
  profile.running_group = RunningGroup{.key = KeyHash{5}};
  EXPECT_TRUE(job.Say(10, profile).ok());
  const auto straggler = LastReduceTask(job.state, {.tasks = {EndOfHeavy(1, 50, 0.75)}}, At(10));
  EXPECT_TRUE(straggler->in_heaviest_group);
  EXPECT_EQ(straggler->reason,
            "Reduce task 1, attempt 2, ends last: 2.0 MB key, 75 % of its remaining time");
}

TEST(Straggler, ReportsNearlyAllInsteadOfAHundredPercent) {
  const Job job = RunningJob();
  EXPECT_EQ(LastReduceTask(job.state, {.tasks = {EndOfHeavy(1, 50, 0.999)}}, At(10))->reason,
            "Reduce task 1, attempt 2, ends last: 2.0 MB key still to come, nearly all of its "
            "remaining time");
}

TEST(Straggler, AnUnnamedRunningGroupIsNotTheHeaviest) {
  Job job = RunningJob();
  ReduceProfile profile = Reduced(R(1, 2), At(8), {});
  profile.running_group = RunningGroup{};
  EXPECT_TRUE(job.Say(10, profile).ok());
  EXPECT_FALSE(LastReduceTask(job.state, {.tasks = {EndOf(1, 50)}}, At(10))->in_heaviest_group);
}

TEST(Straggler, ReportsTheRemainingBytesWithoutAHeavyGroup) {
  const Job job = RunningJob();
  EXPECT_EQ(LastReduceTask(job.state, {.tasks = {EndOfHeavy(1, 50, 0.1)}}, At(10))->reason,
            "Reduce task 1, attempt 2, ends last: 3.5 MB left to reduce");
}

TEST(Straggler, HasNoReasonWithoutRemainingBytes) {
  Job job;
  EXPECT_TRUE(job.Say(0, Opened(1, 1)).ok());
  EXPECT_TRUE(job.Say(1, Started(R(0), 0)).ok());
  EXPECT_EQ(LastReduceTask(job.state, {.tasks = {EndOf(0, 50)}}, At(10))->reason,
            "Reduce task 0 ends last");
}

TEST(Straggler, ReportsThatItWaitsForASlot) {
  const Job job = RunningJob();
  const auto straggler = LastReduceTask(job.state, {.tasks = {EndOf(2, 50)}}, At(10));
  EXPECT_EQ(straggler->attempt, R(2));
  EXPECT_EQ(straggler->host, "");
  EXPECT_TRUE(straggler->waits_for_slot);
  EXPECT_EQ(straggler->reason, "Reduce task 2 ends last: waiting for a slot");
  EXPECT_FALSE(LastReduceTask(job.state, {.tasks = {EndOf(1, 50)}}, At(10))->waits_for_slot);
}

TEST(Straggler, WritesSizesBelowAThousandInBytes) {
  Job job;
  EXPECT_TRUE(job.Say(0, Opened(1, 1)).ok());
  EXPECT_TRUE(job.Say(1, Started(R(0), 999)).ok());
  EXPECT_EQ(LastReduceTask(job.state, {.tasks = {EndOf(0, 50)}}, At(10))->reason,
            "Reduce task 0 ends last: 999 B left to reduce");
}

}  // namespace
}  // namespace tidemark::monitor
