#include "hadoop/history_log.h"

#include <sstream>
#include <variant>

#include "master/waits/cluster_waits.h"
#include "tests/hadoop_history/some_history.h"
#include "tests/scratch_directory.h"
#include "tests/test.h"
#include "tidemark/job_monitor.h"

namespace tidemark::hadoop::history_log_test {
namespace {

using test::SomeHistory;

// Returns the time of milliseconds since the submission.
absl::Time At(std::int64_t millis) {
  return absl::FromUnixMillis(SomeHistory::kSubmitted + millis);
}

struct Converted {
  std::vector<Event> events;
  absl::Status status;
  std::vector<std::string> remarks;
};

Converted Convert(const std::string& text, const Configuration& configuration = {}) {
  auto log = HistoryLog::Read(std::make_unique<std::istringstream>(text), configuration);
  if (!log.ok()) return {.status = log.status()};
  Converted converted;
  for (;;) {
    auto event = (*log)->Next();
    converted.status = event.status();
    if (!event.ok() || !*event) break;
    converted.events.push_back(**std::move(event));
  }
  converted.remarks = (*log)->Remarks(0);
  return converted;
}

// The job after all events.
struct Job {
  Snapshot final;
  JobSummary summary;
  std::vector<TaskProgress> tasks;
  std::size_t rejected = 0;
};

Job Fold(const std::vector<Event>& events) {
  Job job;
  if (events.empty()) return job;
  JobMonitor monitor(events.front().job_id, {});
  for (const Event& event : events) job.rejected += monitor.Apply(event).ok() ? 0 : 1;
  job.final = monitor.Tick(events.back().arrived_at);
  job.summary = monitor.Summary();
  job.tasks = monitor.ListTasks({}, events.back().arrived_at).tasks;
  return job;
}

// Returns the events of one kind.
template <typename Body>
std::vector<Body> Of(const std::vector<Event>& events) {
  std::vector<Body> bodies;
  for (const Event& event : events) {
    if (const Body* const body = std::get_if<Body>(&event.body)) bodies.push_back(*body);
  }
  return bodies;
}

TEST(HistoryLog, OpensTheJobThatWasSubmitted) {
  const Converted converted = Convert(SomeHistory::WordCount().text());
  ASSERT_TRUE(converted.status.ok()) << converted.status;
  EXPECT_THAT(converted.remarks, IsEmpty());
  ASSERT_FALSE(converted.events.empty());
  EXPECT_EQ(converted.events[0].job_id, "job_1700000000000_0007");
  EXPECT_EQ(converted.events[0].arrived_at, At(0));
  const auto& opened = std::get<JobOpened>(converted.events[0].body);
  EXPECT_EQ(opened.name, "word count");
  EXPECT_EQ(opened.engine, "hadoop");
  EXPECT_EQ(opened.application_id, "application_1700000000000_0007");
  EXPECT_EQ(opened.user, "ada");
  EXPECT_EQ(opened.queue, "etl");
  EXPECT_EQ(opened.submitted_at, At(0));
  EXPECT_EQ(opened.application_master_attempt, 1u);
  EXPECT_EQ(opened.workflow, std::nullopt);
}

TEST(HistoryLog, EventsAreInTheOrderOfTimeAndOfOneSource) {
  const Converted converted = Convert(SomeHistory::WordCount().text());
  absl::Time before = absl::InfinitePast();
  std::uint64_t sequence = 0;
  for (const Event& event : converted.events) {
    EXPECT_GE(event.arrived_at, before);
    EXPECT_EQ(event.sent_at, event.arrived_at);
    EXPECT_EQ(event.sequence, ++sequence);
    before = event.arrived_at;
  }
  EXPECT_TRUE(std::holds_alternative<JobClosed>(converted.events.back().body));
}

// At 6 s, map task 0 frees its slot before reduce task 0 starts.
TEST(HistoryLog, HostsHaveTheSlotsThatWereUsedAtOnce) {
  const Converted converted = Convert(SomeHistory::WordCount().text());
  const auto executors = Of<ExecutorOpened>(converted.events);
  ASSERT_EQ(executors.size(), 2u);
  EXPECT_EQ(executors[0].host, "a");
  EXPECT_EQ(executors[0].slots, 1u);
  EXPECT_EQ(executors[1].host, "b");
  EXPECT_EQ(executors[1].slots, 1u);
}

// Map tasks read 100 + 80 + 120 bytes and emitted 60 + 40 + 100. Reduce tasks fetched 150 and 250
// bytes, which are 200 bytes of pairs.
TEST(HistoryLog, TheJobHasItsTimesTasksAndBytes) {
  const Job job = Fold(Convert(SomeHistory::WordCount().text()).events);
  EXPECT_EQ(job.rejected, 0u);
  EXPECT_EQ(job.final.state, JobState::kSucceeded);
  EXPECT_EQ(job.final.started_at, At(0));
  EXPECT_EQ(job.final.ended_at, At(13100));
  EXPECT_EQ(job.final.coverage->anomalies, 0u);
  EXPECT_EQ(job.summary.map_tasks, 3u);
  EXPECT_EQ(job.summary.reduce_tasks, 2u);
  EXPECT_EQ(job.summary.map_input_bytes, 300u);
  EXPECT_EQ(job.summary.map_output_bytes, 200u);
  EXPECT_EQ(job.summary.reduce_input_bytes, 200u);
  EXPECT_EQ(job.summary.reduce_output_bytes, 80u);
  EXPECT_EQ(job.summary.reduce_groups, 8u);
  EXPECT_EQ(job.summary.reduce_time, absl::Milliseconds(2300 + 3200));
  const JobProfile& profile = job.summary.profile.value();
  EXPECT_EQ(profile.slots, 2u);
  EXPECT_EQ(profile.split_bytes, 100);
  EXPECT_NEAR(absl::ToDoubleSeconds(profile.map_task_time), 11.0 / 3, 1e-9);
  // Counted from the end of the last map task at 9 s: 3 s and 4 s.
  EXPECT_NEAR(absl::ToDoubleSeconds(profile.reduce_task_time), 3.5, 1e-9);
  EXPECT_NEAR(absl::ToDoubleSeconds(profile.map_cpu_time), 2, 1e-9);
  EXPECT_NEAR(absl::ToDoubleSeconds(profile.reduce_sort_time), 0.2, 1e-9);
  const auto run = PastRunOf(job.final, job.summary);
  ASSERT_TRUE(run.has_value());
  EXPECT_EQ(run->map_time, absl::Seconds(9));
  EXPECT_EQ(run->shuffle_time, absl::Milliseconds(700));
  EXPECT_EQ(run->reduce_time, absl::Milliseconds(3400));
}

TEST(HistoryLog, WithCombinersMapOutputIsWhatWasStored) {
  SomeHistory history;
  history.Submit().Init(1000, 1, 0).Start('m', 0, 0, 2000, "a");
  history.FinishMap(0, 3000,
                    {{"COMBINE_INPUT_RECORDS", 5},
                     {"MAP_OUTPUT_BYTES", 1000},
                     {"MAP_OUTPUT_MATERIALIZED_BYTES", 70}});
  history.FinishJob(4000);
  const Job job = Fold(Convert(history.text()).events);
  EXPECT_EQ(job.summary.map_output_bytes, 70u);
  EXPECT_EQ(job.summary.map_input_bytes, 0u);
  EXPECT_EQ(PastRunOf(job.final, job.summary)->map_time, absl::Seconds(4));
}

TEST(HistoryLog, InputIsOtherwiseWhatFileSystemsRead) {
  SomeHistory history;
  history.Submit().Init(1000, 1, 0).Start('m', 0, 0, 2000, "a");
  const nlohmann::json group = {{"name", "org.apache.hadoop.mapreduce.FileSystemCounter"},
                                {"counts",
                                 {{{"name", "FILE_BYTES_READ"}, {"value", 7}},
                                  {{"name", "HDFS_BYTES_READ"}, {"value", 40}},
                                  {{"name", "S3A_BYTES_READ"}, {"value", 2}}}}};
  history.Write("MAP_ATTEMPT_FINISHED",
                {{"attemptId", "attempt_1700000000000_0007_m_000000_0"},
                 {"finishTime", SomeHistory::kSubmitted + 3000},
                 {"counters", {{"name", "x"}, {"groups", nlohmann::json::array({group})}}}});
  EXPECT_EQ(Fold(Convert(history.FinishJob(4000).text()).events).summary.map_input_bytes, 42u);
}

TEST(HistoryLog, FailedAttemptsHaveTheirReasons) {
  SomeHistory history;
  history.Submit().Init(1000, 2, 0).Start('m', 0, 0, 2000, "a").Start('m', 1, 0, 2000, "b");
  history.Stop('m', 0, 0, 3000, "FAILED", "Error: no space left");
  history.Start('m', 0, 1, 3500, "b").Start('m', 0, 2, 3600, "a", /*is_speculative=*/true);
  history.FinishMap(0, 6000, {}, 1).Stop('m', 0, 2, 6100, "KILLED", "");
  history.FinishMap(1, 5000).FinishJob(6500);
  const Job job = Fold(Convert(history.text()).events);
  EXPECT_EQ(job.final.state, JobState::kSucceeded);
  ASSERT_EQ(job.tasks.size(), 4u);
  for (const TaskProgress& task : job.tasks) {
    if (task.state == AttemptState::kFailed) {
      EXPECT_EQ(task.failure, "Error: no space left");
      EXPECT_EQ(task.ended_at, At(3000));
    }
    if (task.state == AttemptState::kKilled) {
      EXPECT_EQ(task.attempt.attempt, 2u);
      EXPECT_TRUE(task.is_speculative);
    }
  }
}

TEST(HistoryLog, AJobThatFailedHasTheMessageOfItsTask) {
  SomeHistory history;
  history.Submit().Init(1000, 1, 1).Start('m', 0, 0, 2000, "a");
  history.Stop('m', 0, 0, 3000, "FAILED", "Error: wrong input").FailTask('m', 0, 0, 3100);
  const Job failed = Fold(Convert(SomeHistory(history).FailJob(3200, "FAILED", "").text()).events);
  EXPECT_EQ(failed.final.state, JobState::kFailed);
  EXPECT_EQ(failed.final.message, "Error: wrong input");
  const Job killed =
      Fold(Convert(SomeHistory(history).FailJob(3200, "KILLED", "Kill job by ada").text()).events);
  EXPECT_EQ(killed.final.state, JobState::kKilled);
  EXPECT_EQ(killed.final.message, "Kill job by ada");
  EXPECT_FALSE(PastRunOf(killed.final, killed.summary).has_value());
}

TEST(HistoryLog, AMapTaskWhoseOutputIsLostRunsAgain) {
  SomeHistory history;
  history.Submit().Init(1000, 1, 1).Start('m', 0, 0, 2000, "a").FinishMap(0, 3000);
  history.Start('r', 0, 0, 3000, "b").Stop('m', 0, 0, 8000, "FAILED", "too many fetch failures");
  history.Start('m', 0, 1, 8500, "b").FinishMap(0, 9000, {}, 1);
  history.FinishReduce(0, 9500, 9600, 10000).FinishJob(10100);
  const Converted converted = Convert(history.text());
  std::vector<AttemptState> states;
  for (const AttemptChanged& changed : Of<AttemptChanged>(converted.events)) {
    if (changed.attempt.stage == kMapStage) states.push_back(changed.state);
  }
  EXPECT_THAT(states,
              ElementsAre(AttemptState::kStarted, AttemptState::kFinished, AttemptState::kObsolete,
                          AttemptState::kStarted, AttemptState::kFinished));
  EXPECT_EQ(Fold(converted.events).final.state, JobState::kSucceeded);
}

// Tasks of one job that wait for each other are no contention.
TEST(HistoryLog, ShowsTheLongestTaskAndNoWaitForSlotsBehindOtherQueries) {
  SomeHistory history;
  history.Submit().Init(2000, 3, 1).Start('m', 0, 0, 2000, "a").Start('m', 1, 0, 2000, "b");
  history.FinishMap(1, 3000).Start('r', 0, 0, 3000, "b").FinishMap(0, 6000);
  history.Start('m', 2, 0, 6000, "a").FinishMap(2, 9000);
  history.FinishReduce(0, 9500, 9700, 14000).FinishJob(14100);
  waits::ClusterWaits waits;
  for (const Event& event : Convert(history.text()).events) waits.Apply(event);
  waits.Finish();
  const auto explained = waits.Ask("job_1700000000000_0007", {});
  ASSERT_TRUE(explained.has_value());
  ASSERT_EQ(explained->queries.size(), 1u);
  const QueryWaits& query = explained->queries[0];
  ASSERT_TRUE(query.waits[WaitReason::kSlots].seconds.has_value());
  EXPECT_EQ(*query.waits[WaitReason::kSlots].seconds, 0);
  ASSERT_TRUE(query.longest_task.has_value());
  EXPECT_EQ(query.longest_task->host, "b");
  EXPECT_NEAR(query.longest_task->seconds, 11, 1e-6);
}

TEST(HistoryLog, OfAFileWithoutAnEndHasARemark) {
  const std::string whole = SomeHistory::WordCount().text();
  const std::size_t end = whole.find(
      "{\"event\":{\"org.apache.hadoop.mapreduce.jobhistory.Some\":"
      "{\"finishTime\":1700000013100");
  ASSERT_NE(end, std::string::npos);
  const Converted running = Convert(whole.substr(0, end));
  EXPECT_TRUE(running.status.ok());
  EXPECT_THAT(running.remarks, ElementsAre("the history file does not contain the end of the job"));
  EXPECT_FALSE(Fold(running.events).final.is_final);
  const Converted cut = Convert(whole.substr(0, end + 40));
  EXPECT_THAT(cut.remarks, ElementsAre("the file ends within an event"));
  EXPECT_EQ(cut.events, running.events);
}

TEST(HistoryLog, WithoutASubmissionIsRejected) {
  const Converted converted = Convert("Avro-Json\n{}\n");
  EXPECT_TRUE(absl::IsInvalidArgument(converted.status));
  EXPECT_THAT(std::string(converted.status.message()), HasSubstr("no JOB_SUBMITTED event"));
  const std::string text = SomeHistory().Submit().text();
  EXPECT_THAT(std::string(Convert(text.substr(0, text.size() - 20)).status.message()),
              HasSubstr("its job is unknown; the file ends within an event"));
  EXPECT_THAT(std::string(Convert(SomeHistory().FinishJob(10).text()).status.message()),
              ::testing::EndsWith("so its job is unknown"));
  SomeHistory wrong("0007/../../x");
  EXPECT_TRUE(absl::IsInvalidArgument(Convert(wrong.Submit().text()).status));
}

TEST(HistoryLog, OfMoreTasksThanAnEventMayHaveIsRejected) {
  const Converted converted =
      Convert(SomeHistory().Submit().Init(0, 1, 1'000'001).FinishJob(10'000).text());
  EXPECT_TRUE(absl::IsInvalidArgument(converted.status));
  EXPECT_THAT(std::string(converted.status.message()),
              HasSubstr("1000001 reduce tasks; at most 1000000"));
  std::string text = SomeHistory().Submit().Init(0, 1, 1).Start('r', 0, 0, 1000, "a").text();
  text.replace(text.find("_r_000000"), 9, "_r_5000000");
  EXPECT_THAT(std::string(Convert(text).status.message()), HasSubstr("5000001 reduce tasks"));
}

TEST(HistoryLog, CountsEventsThatContradictOthers) {
  SomeHistory history;
  history.Submit().Init(1000, 1, 0);
  history.FinishMap(0, 900);                               // never started
  history.Start('x', 0, 0, 1000, "a");                     // no kind of task
  history.Start('m', 0, 0, 2000, "a").FinishMap(0, 1500);  // ends before its start
  history.Write("MAP_ATTEMPT_STARTED", {{"attemptId", 7}});
  history.Start('m', 0, 1, std::int64_t{1} << 50, "a");  // in 35,000 years
  history.Line("nonsense").FinishJob(4000);
  const Converted converted = Convert(history.text());
  EXPECT_THAT(converted.remarks, ElementsAre("line 12 is not an event",
                                             "5 contradictory events skipped or corrected"));
  const Job job = Fold(converted.events);
  EXPECT_EQ(job.final.state, JobState::kSucceeded);
  EXPECT_EQ(job.final.ended_at, At(4000));
  EXPECT_EQ(job.rejected, 0u);
}

TEST(HistoryLog, TimesOfOneMillisecondAreInTheOrderOfTheirCauses) {
  SomeHistory history;
  history.Submit().Init(0, 1, 1).Start('m', 0, 0, 0, "a").FinishMap(0, 0);
  history.Start('r', 0, 0, 0, "a").FinishReduce(0, 0, 0, 0).FinishJob(0);
  const Job job = Fold(Convert(history.text()).events);
  EXPECT_EQ(job.rejected, 0u);
  EXPECT_EQ(job.final.state, JobState::kSucceeded);
  EXPECT_EQ(job.final.coverage->anomalies, 0u);
}

TEST(HistoryLog, ARestartedApplicationMasterRepeatsEvents) {
  const std::string whole = SomeHistory::WordCount().text();
  const std::string head = "Avro-Json\n{\"type\":\"record\"}\n";
  const std::string end = whole.substr(whole.find(head) + head.size());
  const std::string part = whole.substr(0, whole.rfind('\n', whole.size() - 2) + 1);
  const Converted once = Convert(whole);
  EXPECT_EQ(Fold(Convert(part + end).events).summary, Fold(once.events).summary);
}

TEST(HistoryLog, ARestartedApplicationMasterMayInitializeTheJobAgain) {
  SomeHistory history;
  history.Submit().Init(1000, 1, 0).Start('m', 0, 0, 2000, "a").Init(9000, 1, 0);
  history.Start('m', 0, 1, 9500, "a").FinishMap(0, 12'000, {}, 1).FinishJob(12'500);
  const Converted converted = Convert(history.text());
  const auto stage = std::ranges::find_if(converted.events, [](const Event& event) {
    return std::holds_alternative<StageOpened>(event.body);
  });
  ASSERT_NE(stage, converted.events.end());
  EXPECT_EQ(stage->sent_at, absl::FromUnixMillis(SomeHistory::kSubmitted + 1000));
}

TEST(HistoryLog, AJobDoesNotEndBeforeItBegins) {
  SomeHistory history;
  history.Submit().Init(1000, 1, 0).Start('m', 0, 0, 2000, "a").FinishMap(0, 5000).FinishJob(-5);
  const Converted converted = Convert(history.text());
  const auto* const closed = std::get_if<JobClosed>(&converted.events.back().body);
  ASSERT_NE(closed, nullptr);
  EXPECT_EQ(closed->at, At(5000));
  EXPECT_THAT(converted.remarks, ElementsAre(HasSubstr("1 contradictory event")));
}

TEST(HistoryLog, HasTheWorkflowOfTheConfigurationBesideIt) {
  const test::ScratchDirectory directory;
  const std::string path = directory.Write("job_1700000000000_0007-1700-ada-word+count.jhist",
                                           SomeHistory::WordCount().text());
  directory.Write("job_1700000000000_0007_conf.xml",
                  "<property><name>tidemark.workflow.id</name><value>nightly-7</value></property>");
  const auto log = HistoryLog::Open(path);
  ASSERT_TRUE(log.ok()) << log.status();
  const auto event = (*log)->Next();
  ASSERT_TRUE(event.ok() && *event);
  const auto& opened = std::get<JobOpened>((*event)->body);
  ASSERT_TRUE(opened.workflow.has_value());
  EXPECT_EQ(opened.workflow->id, "nightly-7");
  EXPECT_EQ(opened.workflow->name, "nightly");
  EXPECT_EQ(opened.workflow->node, "word count");
}

TEST(HistoryLog, ErrorsNameTheFile) {
  const test::ScratchDirectory directory;
  const std::string path = directory.Write("job.jhist", "nonsense\n");
  EXPECT_THAT(std::string(HistoryLog::Open(path).status().message()),
              HasSubstr(path + ": not a history file"));
  EXPECT_TRUE(absl::IsUnavailable(HistoryLog::Open(directory / "none").status()));
  EXPECT_TRUE(absl::IsInvalidArgument(HistoryLog::Open(directory.path()).status()));
}

}  // namespace
}  // namespace tidemark::hadoop::history_log_test
