#include "cli/log_replay.h"

#include "tests/hadoop_history/some_history.h"
#include "tests/scratch_directory.h"
#include "tests/spark/some_log.h"
#include "tests/test.h"

namespace tidemark::cli::log_replay_test {
namespace {

using test::SomeLog;

struct Replayed {
  absl::Status status;
  std::uint64_t events = 0;
  std::uint64_t ticks = 0;
  std::uint64_t steps = 0;
  Snapshot last;
};

Replayed Replay(const std::string& log, const TickBudget& budget = {},
                const JobLimits& limits = {}) {
  const test::ScratchDirectory directory;
  Replayed replayed;
  auto replay = LogReplay::Open(directory.Write("log", log),
                                {.monitor = {.limits = limits},
                                 .on_event = [&](const Event&) { ++replayed.events; },
                                 .budget = budget});
  EXPECT_TRUE(replay.ok()) << replay.status();
  absl::StatusOr<bool> more = replay->Next();
  for (; more.ok() && *more; more = replay->Next()) {
    ++replayed.ticks;
    replayed.steps += replay->monitor().tick_steps();
    replayed.last = replay->monitor().job();
  }
  replayed.status = more.status();
  return replayed;
}

std::string LogOfStages(std::uint32_t stages) {
  SomeLog log;
  std::uint64_t at = 1000;
  for (std::uint32_t number = 0; number < stages; ++number) {
    const auto stage = SomeLog::StageInfo(number, 4);
    log.StartJob(at, number, {stage});
    at = log.RunStage(at, stage);
    log.EndJob(at, number);
  }
  return log.End(at).text();
}

TEST(LogReplay, TicksOnceASecondWhereTheLogIsSmall) {
  const Replayed replayed = Replay(LogOfStages(10));
  EXPECT_TRUE(replayed.last.is_final);
  EXPECT_NEAR(static_cast<double>(replayed.ticks), 40, 3);
}

TEST(LogReplay, CostsStepsInProportionToTheLog) {
  const TickBudget budget = {.steps_at_first = 500, .steps_per_event = 10};
  for (const std::uint32_t stages : {50u, 100u, 200u}) {
    const Replayed replayed = Replay(LogOfStages(stages), budget);
    // The tick that exhausts the budget may take more than the remaining budget, and the last tick
    // is always executed.
    EXPECT_LE(replayed.steps, 500 + 10 * replayed.events + 2 * (stages + 500)) << stages;
    EXPECT_GE(replayed.ticks, 20u) << stages;
    EXPECT_TRUE(replayed.last.is_final);
    EXPECT_EQ(replayed.last.state, JobState::kSucceeded);
    EXPECT_EQ(replayed.last.counts.finished_stages, stages);
  }
}

TEST(LogReplay, EndsWithTheReasonWhereAnApplicationIsTooLarge) {
  JobLimits limits;
  limits.stages_max = 20;
  const Replayed replayed = Replay(LogOfStages(30), {}, limits);
  EXPECT_EQ(replayed.status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(replayed.status.message()),
              ::testing::HasSubstr("the replay ends early: the job has 2"));
  EXPECT_GE(replayed.last.counts.finished_stages, 19u);
  EXPECT_FALSE(replayed.last.is_final);
}

TEST(LogReplay, TicksBetweenInstantsAndNotAmidThem) {
  const Replayed replayed = Replay(LogOfStages(60), {.steps_at_first = 10, .steps_per_event = 3});
  EXPECT_EQ(replayed.last.coverage->anomalies, 0u);
}

TEST(LogReplay, VisitsEndedStagesWithoutTheirTasks) {
  std::uint64_t steps[2];
  for (const std::uint32_t more : {0u, 1u}) {
    // Both logs have the same number of seconds and ticks. Their stages have four and forty tasks.
    SomeLog log;
    std::uint64_t at = 1000;
    for (std::uint32_t number = 0; number < 40; ++number) {
      const std::uint32_t tasks = more > 0 ? 40 : 4;
      const auto stage = SomeLog::StageInfo(number, tasks);
      log.StartJob(at, number, {stage}).Submit(at, stage);
      for (std::uint32_t task = 0; task < tasks; ++task) log.StartTask(at, number, task);
      for (std::uint32_t task = 0; task < tasks; ++task) log.EndTask(at, at + 4000, number, task);
      at += 4000;
      log.Complete(at, stage).EndJob(at, number);
    }
    const Replayed replayed = Replay(log.End(at).text());
    EXPECT_EQ(replayed.last.counts.finished_tasks, more > 0 ? 1600u : 160u);
    steps[more] = replayed.steps;
  }
  // Each tick visits the tasks of the running stage at most twice, and no other tasks.
  EXPECT_LE(steps[1], steps[0] + 165 * 2 * 5 * 36);
}

TEST(LogReplay, OfAHistoryFileTicksOnceASecondAndEndsWithTheJob) {
  const Replayed replayed = Replay(test::SomeHistory::WordCount().text());
  EXPECT_TRUE(replayed.status.ok()) << replayed.status;
  EXPECT_EQ(replayed.last.state, JobState::kSucceeded);
  EXPECT_EQ(replayed.last.coverage->anomalies, 0u);
  // 13.1 s
  EXPECT_NEAR(static_cast<double>(replayed.ticks), 14, 1);
}

}  // namespace
}  // namespace tidemark::cli::log_replay_test
