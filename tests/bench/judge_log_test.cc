#include "bench/accuracy/judge_log.h"

#include "master/store/event_log.h"
#include "tests/facts/events.h"
#include "tests/monitor/virtual_job.h"
#include "tests/scratch_directory.h"
#include "tests/store/written_log.h"
#include "tests/test.h"
#include "tidemark/v1/ingest_service.pb.h"

namespace tidemark::bench::judge_log_test {
namespace {

using test::At;

// Returns a job with three reduce tasks on two slots and linear costs.
test::VirtualJob SomeJob() {
  test::VirtualJob job;
  job.seconds = [](std::uint64_t bytes) { return 0.001 * static_cast<double>(bytes); };
  job.slots = 2;
  job.groups.resize(3);
  std::uint64_t hash = 1;
  for (auto& groups : job.groups) {
    for (int i = 0; i < 40; ++i, ++hash) groups.push_back(test::Key(hash, 500 + hash % 7 * 100));
  }
  return job;
}

// Returns the log of a master that ticks every second. The log contains either the whole run or its
// first part.
std::string WriteLog(const test::ScratchDirectory& directory, const test::Story& story,
                     double until, double from = 0) {
  const std::string path = directory / "job.tidemark-log";
  JobMonitorOptions options;
  options.indicators = {"jobratio"};
  auto writer = store::WrittenLog::Create(path, "job-1", options);
  EXPECT_TRUE(writer.ok()) << writer.status();
  auto event = story.events.begin();
  for (double now = from; now <= until; now += 1) {
    for (; event != story.events.end() && event->arrived_at <= At(now); ++event) {
      EXPECT_TRUE((*writer)->Append(*event).ok());
    }
    EXPECT_TRUE((*writer)->AppendTick(At(now)).ok());
  }
  return path;
}

TEST(JudgeLog, ReadsTheEndOfTheJobAndReplaysIndicators) {
  const test::ScratchDirectory directory;
  const test::Story story = test::Tell(SomeJob());
  const auto judged = JudgeLog(WriteLog(directory, story, story.ends + 5), {"tidemark", "hadoop"});
  ASSERT_TRUE(judged.ok()) << judged.status();
  EXPECT_NEAR(judged->simulation.timeline.end, story.ends, 1e-6);
  ASSERT_EQ(judged->simulation.records.size(), 2u);
  EXPECT_EQ(judged->simulation.records[0].indicator, "tidemark");
  EXPECT_GE(judged->simulation.records[0].predictions.size(),
            static_cast<std::size_t>(story.ends) - 1);
  const Metrics metrics =
      Measure(judged->simulation.records[0].predictions, 0, judged->simulation.timeline.end);
  EXPECT_GT(metrics.avg_err, 0);
}

TEST(JudgeLog, TicksBeforeTheOpeningOfTheJobPredictNothing) {
  const test::ScratchDirectory directory;
  const test::Story story = test::Tell(SomeJob());
  const auto judged = JudgeLog(WriteLog(directory, story, story.ends + 5), {"tidemark"});
  const auto early = JudgeLog(WriteLog(directory, story, story.ends + 5, -2), {"tidemark"});
  ASSERT_TRUE(judged.ok() && early.ok()) << early.status();
  EXPECT_EQ(early->simulation.records[0].predictions.size(),
            judged->simulation.records[0].predictions.size());
}

TEST(JudgeLog, PutsAttemptsIntoTheFewestPossibleSlots) {
  const test::ScratchDirectory directory;
  const test::Story story = test::Tell(SomeJob());
  const auto judged = JudgeLog(WriteLog(directory, story, story.ends + 5), {"tidemark"});
  ASSERT_TRUE(judged.ok()) << judged.status();
  ASSERT_EQ(judged->simulation.timeline.attempts.size(), 3u);
  EXPECT_EQ(judged->simulation.timeline.attempts[0].slot, 0u);
  EXPECT_EQ(judged->simulation.timeline.attempts[1].slot, 1u);
  EXPECT_LE(judged->simulation.timeline.attempts[2].slot, 1u);
  EXPECT_EQ(judged->simulation.timeline.attempts[2].end, judged->simulation.timeline.end);
}

TEST(JudgeLog, ReadsTheRunAsAPastRun) {
  const auto job = SomeJob();
  const test::ScratchDirectory directory;
  const test::Story story = test::Tell(job);
  const std::string log = WriteLog(directory, story, story.ends + 5);
  const auto judged = JudgeLog(log, {"tidemark"});
  ASSERT_TRUE(judged.ok()) << judged.status();
  ASSERT_TRUE(judged->run.has_value());
  EXPECT_EQ(judged->run->map_time, absl::Seconds(job.map_seconds));
  const std::vector<PastRun> runs = {*judged->run};
  const auto known = JudgeLog(log, {"tidemark"}, runs);
  ASSERT_TRUE(known.ok()) << known.status();
  const auto& predictions = known->simulation.records[0].predictions;
  ASSERT_TRUE(predictions.front().end.has_value());
  EXPECT_NEAR(*predictions.front().end, story.ends, 0.1 * story.ends);
}

TEST(JudgeLog, RejectsAJobWithoutAKnownEnd) {
  const test::ScratchDirectory directory;
  const test::Story story = test::Tell(SomeJob());
  const auto judged = JudgeLog(WriteLog(directory, story, story.ends / 2), {"tidemark"});
  EXPECT_TRUE(absl::IsFailedPrecondition(judged.status())) << judged.status();
}

TEST(JudgeLog, NamesAMissingLog) {
  const auto judged = JudgeLog("/nowhere/a.tidemark-log", {"tidemark"});
  EXPECT_TRUE(absl::IsNotFound(judged.status())) << judged.status();
}

}  // namespace
}  // namespace tidemark::bench::judge_log_test
