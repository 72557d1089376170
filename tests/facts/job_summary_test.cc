#include "master/facts/job_summary.h"

#include <variant>

#include "master/facts/fold.h"
#include "tests/facts/events.h"
#include "tests/test.h"

namespace tidemark::facts::job_summary_test {
namespace {

class JobProfileTest : public ::testing::Test {
 protected:
  void Tell(double seconds, EventBody body) {
    if (auto* change = std::get_if<AttemptChanged>(&body)) change->at = test::At(seconds);
    ASSERT_TRUE(Apply(source_.At(seconds, std::move(body)), limits_, state_).ok());
  }
  std::optional<JobProfile> Learn() { return LearnProfile(state_, Summarize(state_)); }

  JobRecord state_{2000};
  JobLimits limits_;
  Source source_;
};

TEST(HistoryName, DiffersBetweenSessionsWithoutAName) {
  JobOpened opened = {.name = "pyspark-shell", .application_id = "local-1"};
  EXPECT_EQ(HistoryNameOf(opened), "pyspark-shell local-1");
  opened.name = "nightly";
  EXPECT_EQ(HistoryNameOf(opened), "nightly");
}

// Map tasks of 2 and 6 s have a mean of 4 and a deviation of 2. The last map task ends at 6. The
// reduce tasks began at 1 and 8 and ended at 16 and 28, so they took 10 and 20 s. Their mean is 15,
// and their deviation is 5.
TEST_F(JobProfileTest, HasMeanAndSpreadOfFinishedTasks) {
  Tell(0, Opened(2, 2));
  Tell(0, Started(M(0), 100));
  Tell(0, Started(M(1), 300));
  Tell(1, Started(R(0)));
  Tell(2, Finished(M(0)));
  Tell(6, Finished(M(1)));
  Tell(8, Started(R(1)));
  Tell(16, Finished(R(0)));
  Tell(28, Finished(R(1)));
  const auto profile = Learn();
  ASSERT_TRUE(profile.has_value());
  EXPECT_EQ(profile->map_tasks, 2u);
  EXPECT_EQ(profile->reduce_tasks, 2u);
  EXPECT_EQ(profile->split_bytes, 200);
  EXPECT_EQ(profile->map_task_time, absl::Seconds(4));
  EXPECT_DOUBLE_EQ(profile->map_task_variation, 0.5);
  EXPECT_EQ(profile->reduce_task_time, absl::Seconds(15));
  EXPECT_NEAR(profile->reduce_task_variation, 1.0 / 3, 1e-12);
}

TEST_F(JobProfileTest, HasTheMeanOfKnownProcessorTimes) {
  Tell(0, Opened(3, 0));
  for (std::uint32_t map = 0; map < 3; ++map) Tell(0, Started(M(map), 100));
  Tell(1, TaskHeartbeat{.attempt = M(0), .time = {.cpu = absl::Seconds(1)}});
  Tell(2, TaskHeartbeat{.attempt = M(1), .time = {.cpu = absl::Seconds(2)}});
  Tell(3, TaskHeartbeat{.attempt = M(1), .time = {.cpu = absl::Seconds(3)}});
  for (std::uint32_t map = 0; map < 3; ++map) Tell(4, Finished(M(map)));
  EXPECT_EQ(Learn()->map_cpu_time, absl::Seconds(2));
  EXPECT_EQ(Learn()->reduce_cpu_time, absl::ZeroDuration());
}

// Map task 0 first reports after 0.5 s of processor time, before it reads. The first report of map
// task 1 is later, so it has no known start. Reduce task 0 starts before the last map task ends, so
// its time contains only the processor time after its start.
TEST_F(JobProfileTest, HasTheMeanProcessorTimesOfStarts) {
  Tell(0, Opened(2, 2));
  const auto used = [&](double at, const AttemptId& attempt, double cpu, std::uint64_t read) {
    Tell(at, TaskHeartbeat{
                 .attempt = attempt, .bytes_done = read, .time = {.cpu = absl::Seconds(cpu)}});
  };
  for (const AttemptId& attempt : {M(0), M(1), R(0)}) Tell(0, Started(attempt, 100));
  used(1, M(0), 0.5, 0);
  used(2, M(0), 0.75, 0);
  used(2, M(1), 2, 50);
  used(2, R(0), 1, 0);
  used(3, M(0), 2, 100);
  for (const AttemptId& attempt : {M(0), M(1)}) Tell(4, Finished(attempt));
  Tell(5, Started(R(1), 100));
  used(6, R(0), 4, 100);
  used(6, R(1), 2, 0);
  used(7, R(1), 5, 100);
  for (const AttemptId& attempt : {R(0), R(1)}) Tell(8, Finished(attempt));
  const auto profile = Learn();
  EXPECT_EQ(profile->map_cpu_time, absl::Seconds(2));
  EXPECT_EQ(profile->map_start_cpu_time, absl::Seconds(0.5));
  EXPECT_EQ(profile->reduce_cpu_time, absl::Seconds(4));
  EXPECT_EQ(profile->reduce_start_cpu_time, absl::Seconds(1));
}

// A slot runs ten map tasks of 10 s. Between them, it is idle for 1, 2, ... 9 s.
TEST_F(JobProfileTest, HasTheMedianIdleTimeOfSlots) {
  Tell(0, Opened(10, 0));
  double at = 0;
  for (std::uint32_t map = 0; map < 10; ++map) {
    at += map;
    Tell(at, Started(M(map), 100));
    Tell(at += 10, Finished(M(map)));
  }
  EXPECT_EQ(Learn()->slot_idle_time, absl::Seconds(5));
}

// The only retry of a map task starts ten minutes after its host was lost.
TEST_F(JobProfileTest, HasNoIdleTimeOfSlotsFromASingleRetry) {
  Tell(0, Opened(2, 0));
  for (std::uint32_t map = 0; map < 2; ++map) Tell(0, Started(M(map), 100));
  Tell(10, Finished(M(0)));
  Tell(10, AttemptChanged{.attempt = M(1), .state = AttemptState::kKilled});
  Tell(610, Started(M(1, 1), 100));
  Tell(620, Finished(M(1, 1)));
  EXPECT_EQ(Learn()->slot_idle_time, absl::ZeroDuration());
}

// The last map task ends at 6. One reduce task fetches until 8 and reduces from 12 on. The other
// one fetches until 5, but may wait for the last map task until 6, and reduces from 8 on. The sorts
// take 4 and 2 s.
TEST_F(JobProfileTest, HasTheMeanTimeBetweenFetchAndReduce) {
  Tell(0, Opened(1, 2));
  Tell(0, Started(M(0), 100));
  Tell(1, Started(R(0)));
  Tell(1, Started(R(1)));
  Tell(5, TaskHeartbeat{.attempt = R(0), .bytes_done = 40});
  Tell(5, TaskHeartbeat{.attempt = R(1), .bytes_done = 50});
  Tell(6, Finished(M(0)));
  Tell(8, TaskHeartbeat{.attempt = R(0), .bytes_done = 50});
  Tell(8, AttemptChanged{.attempt = R(1), .state = AttemptState::kShuffled});
  Tell(10, TaskHeartbeat{.attempt = R(0), .bytes_done = 50});
  Tell(12, AttemptChanged{.attempt = R(0), .state = AttemptState::kShuffled});
  Tell(20, Finished(R(0)));
  Tell(20, Finished(R(1)));
  EXPECT_EQ(Learn()->reduce_sort_time, absl::Seconds(3));
}

TEST_F(JobProfileTest, NeedsAFinishedMapTask) {
  Tell(0, Opened(1, 1));
  Tell(0, Started(M(0)));
  EXPECT_FALSE(Learn().has_value());
}

}  // namespace
}  // namespace tidemark::facts::job_summary_test
