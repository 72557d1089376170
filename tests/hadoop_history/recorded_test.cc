// Compares the history files of a job that ran on YARN with the events that the connector reported
// about the same run (tests/data/README.md).

#include "hadoop/history_log.h"
#include "master/store/event_log.h"
#include "tests/test.h"
#include "tidemark/job_monitor.h"

namespace tidemark::hadoop::recorded_test {
namespace {

struct RecordedRun {
  Snapshot final;
  JobSummary summary;
  std::map<std::pair<std::uint32_t, std::uint32_t>, TaskProgress> tasks;  // finished attempts
};

void Finish(const JobMonitor& monitor, absl::Time at, RecordedRun& run) {
  run.final = monitor.job();
  run.summary = monitor.Summary();
  for (const TaskProgress& task : monitor.ListTasks({}, at).tasks) {
    if (task.state != AttemptState::kFinished) continue;
    run.tasks[{task.attempt.stage, task.attempt.index}] = task;
  }
}

RecordedRun OfHistory(const std::string& name) {
  RecordedRun run;
  const auto log = HistoryLog::Open(std::string(TIDEMARK_HISTORIES) + "/" + name);
  EXPECT_TRUE(log.ok()) << log.status();
  if (!log.ok()) return run;
  std::optional<JobMonitor> monitor;
  absl::Time last;
  for (auto event = (*log)->Next(); event.ok() && *event; event = (*log)->Next()) {
    if (!monitor) monitor.emplace((*event)->job_id, JobMonitorOptions());
    EXPECT_TRUE(monitor->Apply(**event).ok());
    last = (*event)->arrived_at;
  }
  EXPECT_TRUE((*log)->Remarks(0).empty());
  monitor->Tick(last);
  Finish(*monitor, last, run);
  return run;
}

RecordedRun OfConnector() {
  RecordedRun run;
  const auto reader =
      store::EventLogReader::Open(std::string(TIDEMARK_HISTORIES) + "/two-path-live.tidemark-log");
  EXPECT_TRUE(reader.ok()) << reader.status();
  if (!reader.ok()) return run;
  JobMonitor monitor((*reader)->job_id(), (*reader)->options());
  for (auto record = (*reader)->Next(); record.ok() && *record; record = (*reader)->Next()) {
    store::Replay(**record, monitor);
  }
  Finish(monitor, monitor.job().at, run);
  return run;
}

double Ratio(std::uint64_t one, std::uint64_t other) {
  return static_cast<double>(one) / static_cast<double>(other);
}

TEST(RecordedHistory, HasTheTasksAndTimesThatTheConnectorReported) {
  const RecordedRun history = OfHistory("two-path-binary.jhist");
  const RecordedRun live = OfConnector();
  EXPECT_EQ(history.final.job_id, live.final.job_id);
  EXPECT_EQ(history.final.info->name, live.final.info->name);
  EXPECT_EQ(history.final.state, live.final.state);
  EXPECT_EQ(history.final.coverage->anomalies, 0u);
  ASSERT_EQ(history.tasks.size(), live.tasks.size());
  for (const auto& [id, task] : history.tasks) {
    const TaskProgress& other = live.tasks.at(id);
    EXPECT_EQ(task.host, other.host);
    // Both are the times of the application master. The master corrects its clock by the latency of
    // a message.
    EXPECT_LT(absl::AbsDuration(*task.started_at - *other.started_at), absl::Milliseconds(200));
    EXPECT_LT(absl::AbsDuration(*task.ended_at - *other.ended_at), absl::Milliseconds(200));
  }
  const auto run = PastRunOf(history.final, history.summary);
  const auto of_live = PastRunOf(live.final, live.summary);
  ASSERT_TRUE(run && of_live);
  for (const auto part : {&PastRun::map_time, &PastRun::shuffle_time, &PastRun::reduce_time}) {
    // The connector reports the end of the job at its next poll, on that busy machine 3 s later.
    EXPECT_LT(absl::AbsDuration(*run.*part - *of_live.*part), absl::Seconds(5));
  }
}

TEST(RecordedHistory, HasTheBytesThatTheConnectorReported) {
  const JobSummary history = OfHistory("two-path-binary.jhist").summary;
  const JobSummary live = OfConnector().summary;
  EXPECT_EQ(history.name, live.name);
  EXPECT_EQ(history.map_tasks, live.map_tasks);
  EXPECT_EQ(history.reduce_tasks, live.reduce_tasks);
  EXPECT_EQ(history.reduce_groups, live.reduce_groups);
  // Readers of text read past the end of their split.
  EXPECT_NEAR(Ratio(history.map_input_bytes, live.map_input_bytes), 1, 0.02);
  EXPECT_NEAR(Ratio(history.map_output_bytes, live.map_output_bytes), 1, 0.01);
  EXPECT_NEAR(Ratio(history.reduce_input_bytes, live.reduce_input_bytes), 1, 0.01);
  ASSERT_TRUE(history.profile && live.profile);
  EXPECT_NEAR(absl::FDivDuration(history.profile->map_task_time, live.profile->map_task_time), 1,
              0.05);
  EXPECT_NEAR(absl::FDivDuration(history.profile->reduce_task_time, live.profile->reduce_task_time),
              1, 0.05);
}

// The file has the same events as text, under another job id.
TEST(RecordedHistory, AsTextHasTheSameTasks) {
  const JobSummary text = OfHistory("two-path-text.jhist").summary;
  const JobSummary binary = OfHistory("two-path-binary.jhist").summary;
  EXPECT_EQ(text.name, binary.name);
  EXPECT_EQ(text.map_tasks, binary.map_tasks);
  EXPECT_EQ(text.reduce_tasks, binary.reduce_tasks);
  EXPECT_EQ(text.map_input_bytes, binary.map_input_bytes);
  EXPECT_EQ(text.map_output_bytes, binary.map_output_bytes);
  EXPECT_EQ(text.reduce_groups, binary.reduce_groups);
}

}  // namespace
}  // namespace tidemark::hadoop::recorded_test
