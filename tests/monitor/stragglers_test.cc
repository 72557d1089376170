#include "master/monitor/stragglers.h"

#include "tests/facts/events.h"
#include "tests/test.h"

namespace tidemark::monitor::stragglers_test {
namespace {

using forecast::ReduceTaskForecast;

// Returns a job whose reduce task 1 runs on node-7 and has 3,500,000 of 4,000,000 bytes left. Task
// 2 has not started.
Job RunningJob() {
  Job job;
  job.Add(0, Opened(1, 3)).Add(1, Emitted(M(0), {Partition(1, 4'000'000, {Key(5, 2'000'000)})}));
  job.Add(1, Finished(M(0)));
  AttemptChanged started = Started(R(1, 2));
  started.executor = 7;
  job.Add(1, ExecutorOpened{.executor = 7, .host = "node-7"}).Add(2, started);
  job.Add(9, Reduced(R(1, 2), At(8), {Point(500'000, 1)}));
  return job;
}

ReduceTaskForecast EndOf(std::size_t index, double at) {
  return {.index = index, .ends_at = At(at), .reduce_time_left = absl::Seconds(10)};
}

// Returns EndOf() with a heaviest explicit key group that takes the fraction `share` of the
// remaining time.
ReduceTaskForecast EndOfHeavy(std::size_t index, double at, double share) {
  ReduceTaskForecast task = EndOf(index, at);
  task.explicit_groups_left = 4;
  task.heaviest = Key(5, 2'000'000);
  task.heaviest_time = share * task.reduce_time_left;
  return task;
}

class StragglerTest : public ::testing::Test {
 protected:
  std::optional<NamedTask> LastOf(std::vector<ReduceTaskForecast> tasks) const {
    return LastReduceTask(job_.state, {.tasks = std::move(tasks)}, At(10));
  }
  Job job_ = RunningJob();
};

TEST_F(StragglerTest, NeedsForecastsOfTasks) {
  EXPECT_FALSE(LastReduceTask(job_.state, {}, At(10)).has_value());
}

TEST_F(StragglerTest, IsTheTaskThatEndsLast) {
  const auto straggler = LastOf({EndOf(0, 20), EndOf(1, 50), EndOf(2, 30)});
  ASSERT_TRUE(straggler.has_value());
  EXPECT_EQ(straggler->attempt, R(1, 2)) << "by its leading attempt";
  EXPECT_EQ(straggler->host, "node-7");
  EXPECT_EQ(straggler->remaining->median, absl::Seconds(40));
}

TEST_F(StragglerTest, HasNoRemainingTimeAfterItsEnd) {
  for (const absl::Time end : {At(10), At(3), absl::InfiniteFuture()}) {
    EXPECT_FALSE(LastOf({{.index = 1, .ends_at = end}})->remaining.has_value()) << end;
  }
}

TEST_F(StragglerTest, DescribesTheHeaviestRemainingGroup) {
  const auto straggler = LastOf({EndOfHeavy(1, 50, 0.75)});
  EXPECT_EQ(straggler->explicit_groups_left, 4u);
  EXPECT_EQ(straggler->heaviest_group_bytes, 2'000'000u);
  EXPECT_DOUBLE_EQ(straggler->heaviest_group_share, 0.75);
  EXPECT_FALSE(straggler->in_heaviest_group);
}

TEST_F(StragglerTest, NamesAHeavyGroupStillToComeOrTheRemainingBytes) {
  for (const auto& [share, reason] :
       {std::pair(0.75, "an upcoming key of 2.0 MB takes 75 % of its remaining time"),
        std::pair(0.999, "an upcoming key of 2.0 MB takes nearly all of its remaining time"),
        std::pair(0.3, "it had 3.5 MB left at its last report")}) {
    EXPECT_EQ(LastOf({EndOfHeavy(1, 50, share)})->reason,
              std::string("Reduce task 1, attempt 2, will end last: ") + reason);
  }
}

TEST_F(StragglerTest, ReportsThatItIsInsideItsHeaviestGroup) {
  ReduceProfile profile = Reduced(R(1, 2), At(8), {Point(500'000, 1)});
  profile.points.clear();
  profile.running_group = RunningGroup{.key = KeyHash{5}};
  job_.Add(10, profile);
  const auto straggler = LastOf({EndOfHeavy(1, 50, 0.75)});
  EXPECT_TRUE(straggler->in_heaviest_group);
  EXPECT_EQ(
      straggler->reason,
      "Reduce task 1, attempt 2, will end last: a key of 2.0 MB takes 75 % of its remaining time");
}

TEST_F(StragglerTest, AnUnnamedRunningGroupIsNotTheHeaviest) {
  ReduceProfile profile = Reduced(R(1, 2), At(8), {});
  profile.running_group = RunningGroup{};
  job_.Add(10, profile);
  EXPECT_FALSE(LastOf({EndOf(1, 50)})->in_heaviest_group);
}

TEST_F(StragglerTest, AWaitForASlotIsNoReason) {
  const auto straggler = LastOf({EndOf(2, 50)});
  EXPECT_EQ(straggler->attempt, R(2));
  EXPECT_EQ(straggler->host, "");
  EXPECT_TRUE(straggler->waits_for_slot);
  EXPECT_EQ(straggler->reason, "Reduce task 2 will end last");
  EXPECT_FALSE(LastOf({EndOf(1, 50)})->waits_for_slot);
}

TEST(Straggler, NamesTheInputOfATaskThatHasNotStarted) {
  Job job;
  job.Add(0, Opened(1, 2)).Add(1, Emitted(M(0), {Partition(1, 4'000'000, {Key(5, 2'000'000)})}));
  job.Add(1, Finished(M(0)));
  EXPECT_EQ(LastReduceTask(job.state, {.tasks = {EndOf(1, 50)}}, At(10))->reason,
            "Reduce task 1 will end last: it has not started and has 4.0 MB to reduce");
}

TEST(Straggler, WritesSizesBelowAThousandInBytesAndLeavesOutNone) {
  for (const auto& [bytes, more] :
       {std::pair(999u, ": it has 999 B to reduce"), std::pair(0u, "")}) {
    Job job;
    job.Fold({{0, Opened(1, 1)}, {1, Started(R(0), bytes)}});
    EXPECT_EQ(LastReduceTask(job.state, {.tasks = {EndOf(0, 50)}}, At(10))->reason,
              std::string("Reduce task 0 will end last") + more);
  }
}

}  // namespace
}  // namespace tidemark::monitor::stragglers_test
