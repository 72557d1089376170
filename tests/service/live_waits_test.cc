#include "master/service/live_waits.h"

#include "master/service/metrics.h"
#include "tests/facts/events.h"
#include "tests/scratch_directory.h"
#include "tests/store/written_log.h"
#include "tests/test.h"

namespace tidemark::service::live_waits_test {
namespace {

bool Known(const std::string&) { return true; }

// Returns the events of a job that runs on node-1 for 10 s from `at`, and waits for 5 s of them.
std::vector<Event> EventsOf(const std::string& job, double at = 0) {
  test::Source source("driver", job);
  TaskHeartbeat heartbeat{.attempt = {.stage = 5}};
  heartbeat.time.cpu = absl::Seconds(5);
  heartbeat.time.waits[WaitReason::kProcessor] = absl::Seconds(5);
  return {source.At(at, JobOpened{.name = job}),
          source.At(at, ExecutorOpened{.executor = 0, .host = "node-1", .slots = 1}),
          source.At(at, StageOpened{.stage = 5, .task_count = 1}),
          source.At(at, AttemptChanged{.attempt = {.stage = 5},
                                       .state = AttemptState::kStarted,
                                       .at = At(at),
                                       .executor = 0}),
          source.At(at + 10, heartbeat)};
}

void ReportOf(const std::string& job, LiveWaits& waits) {
  for (const Event& event : EventsOf(job)) waits.Observe(event);
}

// Returns the answer from the log of such a job. If `has_lost_opening` is true, past runs precede
// all events, as in a log whose first events are damaged.
std::optional<Explanation> AskLog(const std::string& path, bool has_lost_opening) {
  auto log = store::WrittenLog::Create(path, "a", {});
  EXPECT_TRUE(log.ok()) << log.status();
  if (has_lost_opening) {
    std::string record;
    store::EncodePastRuns({{.map_time = absl::Seconds(10)}}, (*log)->key(), record);
    EXPECT_TRUE((*log)->AppendEncoded(record).ok());
  }
  for (const Event& event : EventsOf("a", 1'000'000)) EXPECT_TRUE((*log)->Append(event).ok());
  EXPECT_TRUE((*log)->Flush().ok());
  absl::StatusOr<PastWaits> past = ReadPastWaits({.own = path, .ended_at = At(1'000'010)});
  EXPECT_TRUE(past.ok()) << past.status();
  return past.ok() ? past->waits.Ask("a", {}) : std::nullopt;
}

// Each of two jobs waits for 5 s because of the other job.
TEST(LiveWaits, MetricsShowTheLargestSumsOfContention) {
  LiveWaits waits;
  ReportOf("a", waits);
  ReportOf("b", waits);
  waits.Advance(At(20), Known);
  Metrics metrics;
  waits::ContentionSums sums(
      {}, [](const std::string&) { return true; }, /*wants_graph=*/false);
  waits.AddContention(sums);
  metrics.SetContention(std::move(sums).Finish());
  const MasterStats stats = metrics.Read();
  EXPECT_NEAR(stats.contention_seconds[WaitReason::kProcessor], 10, 1e-6);
  EXPECT_EQ(stats.contention_seconds[WaitReason::kIo], 0);
  EXPECT_NEAR(stats.contention_of_cause_seconds, 5, 1e-6);
  EXPECT_NEAR(stats.contention_of_query_seconds, 5, 1e-6);
  EXPECT_NEAR(stats.contention_of_host_seconds, 10, 1e-6);
}

TEST(LiveWaits, TheLargestDelayByOneQueryLeavesOutProcessesOutsideTidemark) {
  const ContentionRow outside = {.cause = ContentionParty{.jobs = 0},
                                 .seconds = LimitedAmount{40, 0, 60}};
  const ContentionRow query = {.cause = ContentionParty{.job_id = "a"},
                               .seconds = LimitedAmount{3, 0, 9}};
  Metrics metrics;
  metrics.SetContention(
      {.lists = {{.kind = ContentionKind::kCausingQueries, .rows = {outside, query}}}});
  EXPECT_EQ(metrics.Read().contention_of_cause_seconds, 3);
}

TEST(LiveWaits, ContentionOfOneJobLeavesOutTheDelaysOfOthers) {
  LiveWaits waits;
  ReportOf("a", waits);
  ReportOf("b", waits);
  waits.Advance(At(20), Known);
  waits::ContentionSums sums({.job_id = "a"}, [](const std::string&) { return true; });
  waits.AddContention(sums);
  const ClusterContention contention = std::move(sums).Finish();
  EXPECT_EQ(contention.jobs, 1U);
  ASSERT_FALSE(contention.lists.empty());
  EXPECT_EQ(contention.lists[0].rows.at(0).delayed->job_id, "a");
}

TEST(PastWaits, ALogThatBeginsWithoutAnEventGivesTheSameWaits) {
  const test::ScratchDirectory directory;
  const auto whole = AskLog(directory.path() + "/whole", /*has_lost_opening=*/false);
  const auto damaged = AskLog(directory.path() + "/damaged", /*has_lost_opening=*/true);
  ASSERT_TRUE(whole);
  ASSERT_TRUE(damaged);
  ASSERT_FALSE(whole->queries.empty());
  EXPECT_EQ(damaged->queries, whole->queries);
}

// The inbox is never emptied, since its thread is blocked.
TEST(LiveWaits, AFullInboxDelaysOnlyBusyJobs) {
  transport::TurnQueue aside(1);
  std::promise<void> go_on;
  aside.Add("gate", [&] { go_on.get_future().wait(); });
  LiveWaits waits({}, &aside);
  test::Source flood("driver", "flood");
  const Event event = flood.At(0, TaskHeartbeat{.attempt = {.stage = 5}});
  int calls = 0;
  std::size_t observed = 0;
  for (; waits.HasRoomFor("flood", [&] { ++calls; }); ++observed) waits.Observe(event);
  EXPECT_LE(observed, 200'000u);
  EXPECT_GT(observed, 50'000u);
  EXPECT_TRUE(waits.HasRoomFor("calm", [] {}));
  EXPECT_EQ(calls, 0);
  go_on.set_value();
  aside.Stop();
  EXPECT_EQ(calls, 1);
  EXPECT_TRUE(waits.HasRoomFor("flood", [] {}));
}

TEST(LiveWaits, AnswersFromAllObservedEvents) {
  LiveWaits waits;
  EXPECT_FALSE(waits.Ask("a", {}));
  ReportOf("a", waits);
  ReportOf("b", waits);
  EXPECT_THAT(waits.Ask("a", {})->queries, IsEmpty()) << "reports of others may be under way";
  waits.Advance(At(20), Known);
  const auto explanation = waits.Ask("a", {});
  ASSERT_TRUE(explanation);
  ASSERT_THAT(explanation->queries, SizeIs(1));
  ASSERT_THAT(explanation->queries[0].culprits, SizeIs(1));
  EXPECT_EQ(explanation->queries[0].culprits[0].job_id, "b");
  EXPECT_NEAR(explanation->queries[0].culprits[0].seconds, 5, 1e-6);
}

// Reports a job whose only task reads 300 bytes in 10 s.
void ScanOf(const std::string& job, LiveWaits& waits) {
  test::Source source("driver", job);
  waits.Observe(source.At(0, JobOpened{.name = job}));
  waits.Observe(source.At(
      0, StageOpened{.stage = 5, .signature = "scan", .task_count = 1, .opened_at = At(0)}));
  waits.Observe(source.At(
      0, AttemptChanged{.attempt = {.stage = 5}, .state = AttemptState::kStarted, .at = At(0)}));
  waits.Observe(source.At(10, AttemptChanged{.attempt = {.stage = 5},
                                             .state = AttemptState::kFinished,
                                             .at = At(10),
                                             .input_bytes = 300}));
}

PastRun RunThatScanned(double bytes, bool is_of_other_job = false) {
  return {.stages = {{.name = "scan", .read_bytes = bytes}, {.name = "", .read_bytes = 1}},
          .is_of_other_job = is_of_other_job};
}

TEST(LiveWaits, ComparesTheInputOfAJobWithItsPastRuns) {
  LiveWaits waits;
  ScanOf("a", waits);
  waits.SetPastRuns("a", std::vector{RunThatScanned(90), RunThatScanned(120), RunThatScanned(100),
                                     RunThatScanned(0), RunThatScanned(1e6, true)});
  waits.Advance(At(20), Known);
  const std::optional<DataGrowth> growth = waits.Ask("a", {})->queries.at(0).data_growth;
  ASSERT_TRUE(growth);
  EXPECT_NEAR(growth->task_seconds, 10.0 * 2 / 3, 1e-6);
  EXPECT_NEAR(*growth->task_seconds_lower, 6, 1e-6);
  EXPECT_NEAR(*growth->task_seconds_upper, 7, 1e-6);
  EXPECT_NEAR(growth->earlier_read_bytes, 100, 1e-6);
}

TEST(LiveWaits, ReportsNoGrowthWithoutPastRuns) {
  LiveWaits waits;
  ScanOf("a", waits);
  waits.SetPastRuns("a", {});
  waits.Advance(At(20), Known);
  EXPECT_FALSE(waits.Ask("a", {})->queries.at(0).data_growth);
}

TEST(LiveWaits, MarksAJobThatRanBeforeTheMasterStartedAsPartial) {
  LiveWaits waits;
  waits.Resume("a", "", At(0));
  ReportOf("a", waits);
  ReportOf("b", waits);
  EXPECT_TRUE(waits.Ask("a", {})->is_partial);
  EXPECT_FALSE(waits.Ask("b", {})->is_partial);
}

// The profile contains only key groups.
TEST(LiveWaits, KeepsTheLongestKeyGroup) {
  LiveWaits waits;
  test::Source source("driver", "a");
  const AttemptId task = {.stage = kReduceStage};
  ReduceProfile profile{.attempt = task};
  profile.finished_keys = {{.size_bytes = 5, .time = absl::Seconds(1)},
                           {.size_bytes = 300, .time = absl::Seconds(8)}};
  waits.Observe(source.At(0, JobOpened{.name = "a"}));
  waits.Observe(
      source.At(0, StageOpened{.stage = kReduceStage, .task_count = 1, .opened_at = At(0)}));
  waits.Observe(
      source.At(0, AttemptChanged{.attempt = task, .state = AttemptState::kStarted, .at = At(0)}));
  waits.Observe(source.At(9, profile));
  waits.Observe(source.At(
      10, AttemptChanged{.attempt = task, .state = AttemptState::kFinished, .at = At(10)}));
  waits.Advance(At(20), Known);
  const std::optional<LongestTask> longest = waits.Ask("a", {})->queries.at(0).longest_task;
  ASSERT_TRUE(longest);
  EXPECT_EQ(longest->group_bytes, 300U);
  EXPECT_NEAR(longest->group_seconds, 8, 1e-6);
}

TEST(LiveWaits, DropsJobsThatNoReaderCanQuery) {
  LiveWaits waits;
  ReportOf("a", waits);
  ReportOf("b", waits);
  waits.Advance(At(20), [](const std::string& id) { return id != "b"; });
  EXPECT_FALSE(waits.Ask("b", {}));
  EXPECT_EQ(waits.Ask("a", {})->queries.at(0).culprits.at(0).job_id, "");
}

}  // namespace
}  // namespace tidemark::service::live_waits_test
