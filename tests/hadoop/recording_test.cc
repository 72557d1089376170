// Replays the events of a job on YARN without Hadoop or a JVM (tests/data/README.md).

#include "master/store/event_log.h"
#include "tests/test.h"
#include "tidemark/job_monitor.h"

namespace tidemark::recording_test {
namespace {

constexpr const char* kTwoPathLog = TIDEMARK_RECORDINGS "/two-path-on-yarn.tidemark-log";
constexpr const char* kSharingLog = TIDEMARK_RECORDINGS "/two-path-sharing-processors.tidemark-log";

std::vector<Snapshot> SnapshotsOf(const std::string& log) {
  std::vector<Snapshot> snapshots;
  const auto reader = store::EventLogReader::Open(log);
  if (!reader.ok()) {
    ADD_FAILURE() << reader.status();
    return snapshots;
  }
  JobMonitor monitor((*reader)->job_id(), (*reader)->options());
  for (;;) {
    const auto record = (*reader)->Next();
    EXPECT_TRUE(record.ok()) << record.status();
    if (!record.ok() || !record->has_value()) return snapshots;
    if (const Snapshot* const snapshot = store::Replay(**record, monitor)) {
      snapshots.push_back(*snapshot);
    }
  }
}

const std::vector<Snapshot>& TwoPath() {
  static const std::vector<Snapshot> snapshots = SnapshotsOf(kTwoPathLog);
  return snapshots;
}

// Returns the error in points of progress during the reduce phase.
std::optional<double> ErrorOf(const std::string& indicator, const std::vector<Snapshot>& job) {
  if (job.empty()) return std::nullopt;
  for (const IndicatorError& error : job.back().errors) {
    if (error.indicator == indicator) return error.last_stage_avg_points;
  }
  return std::nullopt;
}

TEST(RecordingOfYarn, ReplaysAWholeJob) {
  ASSERT_FALSE(TwoPath().empty());
  const Snapshot& last = TwoPath().back();
  EXPECT_EQ(last.state, JobState::kSucceeded);
  EXPECT_EQ(last.info->name, "two-path");
  ASSERT_EQ(last.stages.size(), 2u);
  for (const StageProgress& stage : last.stages) {
    EXPECT_EQ(stage.state, StageState::kDone);
    EXPECT_EQ(stage.finished_tasks, stage.tasks);
    if (stage.shuffle) {
      EXPECT_EQ(stage.shuffle->finished_tasks, stage.tasks);
    }
  }
}

TEST(RecordingOfYarn, IsConsistent) {
  ASSERT_FALSE(TwoPath().empty());
  const Coverage& coverage = *TwoPath().back().coverage;
  EXPECT_EQ(coverage.anomalies, 0u);
  EXPECT_EQ(coverage.rejected_events, 0u);
  EXPECT_EQ(coverage.lost_events, 0u);
  EXPECT_EQ(coverage.dropped_events, 0u);
  EXPECT_EQ(coverage.map_profiles, 1);
}

// After every fortieth snapshot, another monitor resumes from a checkpoint.
TEST(RecordingOfYarn, ResumesFromACheckpointWithoutADifference) {
  const auto reader = store::EventLogReader::Open(kTwoPathLog);
  ASSERT_TRUE(reader.ok()) << reader.status();
  JobMonitor whole((*reader)->job_id(), (*reader)->options());
  std::vector<JobMonitor> resumed;
  std::vector<store::LogRecord> told;
  std::size_t ticks = 0;
  for (auto record = (*reader)->Next(); record.ok() && record->has_value();
       record = (*reader)->Next()) {
    const Snapshot* const expected = store::Replay(**record, whole);
    for (JobMonitor& monitor : resumed) {
      const Snapshot* const actual = store::Replay(**record, monitor);
      ASSERT_EQ(actual == nullptr, expected == nullptr);
      if (expected != nullptr) {
        EXPECT_EQ(*actual, *expected);
      }
    }
    if (expected == nullptr) {
      told.push_back(**record);
    } else if (++ticks % 40 == 0) {
      JobMonitor& monitor = resumed.emplace_back((*reader)->job_id(), (*reader)->options());
      for (const store::LogRecord& event : told) store::Replay(event, monitor);
      ASSERT_TRUE(monitor.Resume(whole.Checkpoint()).ok());
    }
  }
  EXPECT_GE(resumed.size(), 3u);
}

TEST(RecordingOfYarn, IsEstimatedBetterThanByTheRuleOfHadoop) {
  const std::optional<double> tidemark = ErrorOf("tidemark", TwoPath());
  const std::optional<double> hadoop = ErrorOf("hadoop", TwoPath());
  ASSERT_TRUE(tidemark && hadoop);
  EXPECT_LT(*tidemark, *hadoop);
}

// Eight tasks share two processors. A forecast based on their pace so far would be far too late.
TEST(RecordingOfYarn, ForecastsFasterTasksWhenFewerShareProcessors) {
  const std::vector<Snapshot> job = SnapshotsOf(kSharingLog);
  const std::optional<double> tidemark = ErrorOf("tidemark", job);
  const std::optional<double> nearest_fit = ErrorOf("nearestfit", job);
  ASSERT_TRUE(tidemark && nearest_fit);
  EXPECT_LT(*tidemark, 2);
  EXPECT_LT(4 * *tidemark, *nearest_fit);
}

}  // namespace
}  // namespace tidemark::recording_test
