#include "master/facts/missing_ends.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/master/events.h"
#include "tidemark/job_monitor.h"

namespace tidemark::model {
namespace {

using test::At;
using test::Finished;
using ::testing::IsEmpty;
using ::testing::SizeIs;

AttemptChanged In(AttemptState state, std::uint32_t index, std::uint32_t executor = 0) {
  return {.attempt = {.stage = 0, .index = index}, .state = state, .executor = executor};
}

// An application of one stage of eight tasks on two executors of two slots each.
struct Application {
  Application() {
    Say(0, JobOpened{.name = "query", .engine = "spark"});
    for (const std::uint32_t executor : {0, 1}) {
      Say(0,
          ExecutorOpened{.executor = executor, .host = "h" + std::to_string(executor), .slots = 2});
    }
    Say(0, StageOpened{.stage = 0, .name = "scan", .group = "sql/0", .task_count = 8});
  }
  void Say(double seconds, EventBody body) {
    const absl::Status taken = monitor.Apply(driver.At(seconds, std::move(body)));
    ASSERT_TRUE(taken.ok()) << taken;
  }
  void Start(double seconds, std::uint32_t index, std::uint32_t executor = 0) {
    Say(seconds, In(AttemptState::kStarted, index, executor));
  }
  void Finish(double seconds, std::uint32_t index) {
    Say(seconds, In(AttemptState::kFinished, index));
  }
  Coverage CoverageAt(double seconds) { return *monitor.Tick(At(seconds)).coverage; }

  test::Source driver;
  JobMonitor monitor{"job-1", {}};
};

TEST(MissingEnds, AStageThatEndedShowsWhichTasksHaveNoEnd) {
  Application job;
  for (const std::uint32_t index : {0, 1, 2}) job.Start(1, index, index % 2);
  for (const std::uint32_t index : {0, 1}) job.Finish(2, index);
  EXPECT_EQ(job.CoverageAt(3).missing_task_ends, 0u);
  job.Say(4, StageClosed{.stage = 0, .at = At(4)});
  EXPECT_EQ(job.CoverageAt(5).missing_task_ends, 6u);
  job.Finish(6, 2);  // reported late
  EXPECT_EQ(job.CoverageAt(7).missing_task_ends, 5u);
}

TEST(MissingEnds, AreNoneOfAStageThatEndedOtherwiseThanWholeOrRanAgain) {
  for (const StageClosed& closed : {StageClosed{.stage = 0, .outcome = JobOutcome::kFailed},
                                    StageClosed{.stage = 0, .outcome = JobOutcome::kKilled},
                                    StageClosed{.stage = 0, .attempt = 1}}) {
    Application job;
    job.Start(1, 0);
    job.Say(4, closed);
    EXPECT_EQ(job.CoverageAt(5).missing_task_ends, 0u);
  }
}

TEST(MissingEnds, AnAttemptWhoseEndIsLostCountsUntilItsTaskHasEnded) {
  Application job;
  job.Start(1, 0);
  job.Say(2, In(AttemptState::kLost, 0));
  EXPECT_EQ(job.CoverageAt(3).missing_task_ends, 1u);
  EXPECT_EQ(job.monitor.job().counts.running_tasks, 0u);
  job.Finish(4, 0);
  EXPECT_EQ(job.CoverageAt(5).missing_task_ends, 0u);
}

// Each slot of executor 0 has a newer task than 0 and 1.
TEST(BeyondSlots, TasksThatRunBeyondTheSlotsHaveEnded) {
  Application job;
  for (std::uint32_t index = 0; index < 4; ++index) job.Start(1 + index, index);
  for (std::uint32_t index = 4; index < 6; ++index) job.Start(1, index, 1);
  EXPECT_EQ(job.CoverageAt(12).tasks_beyond_slots, 0u) << "their ends may be on their way";
  EXPECT_EQ(job.monitor.job().counts.running_tasks, 6u);
  EXPECT_EQ(job.CoverageAt(13).tasks_beyond_slots, 2u);
  EXPECT_EQ(job.monitor.job().counts.running_tasks, 4u) << "as many as there are slots";
  job.Finish(15, 0);
  job.Finish(15, 1);
  EXPECT_EQ(job.CoverageAt(16).tasks_beyond_slots, 0u);
}

// Two tasks at once, of ten seconds each: the end of each arrives after the start of the next.
TEST(BeyondSlots, AreNoneWhereEndsComeAMomentLate) {
  Application job;
  for (std::uint32_t index = 0; index < 8; ++index) {
    job.Start(5 * index, index);
    if (index >= 2) job.Finish(5 * index + 0.1, index - 2);
    EXPECT_EQ(job.CoverageAt(5 * index + 0.2).tasks_beyond_slots, 0u);
  }
}

TEST(BeyondSlots, AreNoneOnExecutorsThatDoNotReportTheirSlots) {
  Application job;
  job.Say(0, ExecutorOpened{.executor = 2, .host = "h2"});
  for (std::uint32_t index = 0; index < 8; ++index) job.Start(1, index, 2);
  EXPECT_EQ(job.CoverageAt(60).tasks_beyond_slots, 0u);
}

// Two tasks of executor 0 have run for a minute by what was reported; others took five seconds.
std::vector<NamedTask> NamedWhen(const std::function<void(Application&)>& more) {
  Application job;
  for (std::uint32_t index = 0; index < 2; ++index) job.Start(0, index, 0);
  for (std::uint32_t index = 2; index < 5; ++index) {
    job.Start(5 * index, index, 1);
    job.Finish(5 * index + 5, index);
  }
  more(job);
  return job.monitor.Tick(At(60)).named_tasks;
}

TEST(MayHaveEnded, NoSuchTaskIsNamedAsStraggler) {
  EXPECT_THAT(NamedWhen([](Application&) {}), SizeIs(2));
  const auto two_more_start = [](Application& job) {
    for (std::uint32_t index = 5; index < 7; ++index) job.Start(45, index, 0);
  };
  EXPECT_THAT(NamedWhen(two_more_start), IsEmpty());
  EXPECT_THAT(NamedWhen([&](Application& job) {
                two_more_start(job);
                for (std::uint32_t index = 5; index < 7; ++index) job.Finish(50, index);
              }),
              IsEmpty())
      << "the slots are free again, and it is not known by whose end";
}

TEST(MayHaveEnded, NoTaskIsNamedThatRanWhenEventsWereLost) {
  const auto lose_one = [](Application& job) {
    Event event = job.driver.At(40, JobOpened{});
    ++event.sequence;
    ASSERT_TRUE(job.monitor.Apply(event).ok());
  };
  EXPECT_THAT(NamedWhen(lose_one), IsEmpty());
  EXPECT_THAT(NamedWhen([](Application& job) { job.monitor.NoteGap(At(40)); }), IsEmpty());
  EXPECT_THAT(NamedWhen([&](Application& job) {
                lose_one(job);
                Event event =
                    job.driver.At(50, TaskHeartbeat{.attempt = {.stage = 0}, .bytes_done = 1});
                ++event.sequence;
                ASSERT_TRUE(job.monitor.Apply(event).ok());
              }),
              SizeIs(1))
      << "a task that reads runs";
}

}  // namespace
}  // namespace tidemark::model
