#include "serve/metrics.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <sstream>

#include "tests/test.h"
#include "transport/listen_address.h"

namespace tidemark::serve::metrics_test {
namespace {

using Counts = std::map<std::string, AlertCounts>;

using ::testing::AnyOf;
using ::testing::EndsWith;
using ::testing::StartsWith;

Snapshot Running(const std::string& job_id) {
  Snapshot job{.job_id = job_id, .sequence = 1, .at = absl::FromUnixSeconds(100)};
  job.state = JobState::kRunning;
  job.info = JobInfo{.kind = JobKind::kMapReduce};
  job.estimate.fraction_done = 0.25;
  job.estimate.remaining = Range{absl::Seconds(90), absl::Seconds(60), absl::Seconds(120)};
  job.coverage = Coverage{.dropped_events = 3};
  job.silent_since = job.at - absl::Seconds(12);
  return job;
}

Snapshot RunningWorkflow(const std::string& workflow_id) {
  Snapshot workflow{.job_id = workflow_id, .sequence = 1};
  workflow.state = JobState::kRunning;
  workflow.info = JobInfo{.kind = JobKind::kWorkflow};
  workflow.estimate.fraction_done = 0.5;
  workflow.estimate.remaining = Range{absl::Seconds(30), absl::Seconds(20), absl::Seconds(50)};
  return workflow;
}

Snapshot Ended(Snapshot job, JobState state) {
  job.state = state;
  job.is_final = true;
  return job;
}

const prometheus::MetricFamily& Find(const std::vector<prometheus::MetricFamily>& families,
                                     const std::string& name) {
  for (const auto& family : families) {
    if (family.name == name) return family;
  }
  ADD_FAILURE() << "no family " << name;
  return families.front();
}

TEST(MetricFamilies, NamesEndInAUnitOrTotal) {
  std::set<std::string> names;
  for (const auto& family : MetricFamilies({}, {Running("a"), RunningWorkflow("w")})) {
    EXPECT_THAT(family.name, StartsWith("tidemark_"));
    EXPECT_FALSE(family.help.empty()) << family.name;
    EXPECT_TRUE(names.insert(family.name).second) << family.name;
    if (family.type == prometheus::MetricType::Counter) {
      EXPECT_THAT(family.name, EndsWith("_total"));
    }
    if (family.type == prometheus::MetricType::Histogram) {
      EXPECT_THAT(family.name, EndsWith("_seconds"));
    }
  }
}

// The labels are wait reasons, regardless of the number of jobs and hosts.
TEST(MetricFamilies, ContainTheContentionByResource) {
  MasterStats stats;
  stats.contention_seconds[WaitReason::kIo] = 12;
  stats.contention_of_host_seconds = 9;
  const auto families = MetricFamilies(stats, {});
  const auto& by_resource = Find(families, "tidemark_contention_seconds");
  ASSERT_EQ(by_resource.metric.size(), kWaitReasonCount);
  EXPECT_EQ(by_resource.metric.at(4).label.at(0).value, "io");
  EXPECT_EQ(by_resource.metric.at(4).gauge.value, 12);
  EXPECT_EQ(Find(families, "tidemark_contention_host_max_seconds").metric.at(0).gauge.value, 9);
}

TEST(MetricFamilies, ContainProgressAndIntervalOfARunningJob) {
  const auto families = MetricFamilies({}, {Running("etl-7")});
  const auto& progress = Find(families, "tidemark_job_progress_ratio");
  ASSERT_EQ(progress.metric.size(), 1U);
  EXPECT_EQ(progress.metric[0].gauge.value, 0.25);
  ASSERT_EQ(progress.metric[0].label.size(), 1U);
  EXPECT_EQ(progress.metric[0].label[0].name, "job");
  EXPECT_EQ(progress.metric[0].label[0].value, "etl-7");
  EXPECT_EQ(Find(families, "tidemark_job_remaining_seconds").metric[0].gauge.value, 90);
  EXPECT_EQ(Find(families, "tidemark_job_remaining_lower_seconds").metric[0].gauge.value, 60);
  EXPECT_EQ(Find(families, "tidemark_job_remaining_upper_seconds").metric[0].gauge.value, 120);
  EXPECT_EQ(Find(families, "tidemark_job_silent_seconds").metric[0].gauge.value, 12);
  EXPECT_EQ(Find(families, "tidemark_job_dropped_events").metric[0].gauge.value, 3);
}

TEST(MetricFamilies, ContainTheSilenceOfAWorkflow) {
  Snapshot workflow = RunningWorkflow("w");
  workflow.at = absl::FromUnixSeconds(100);
  workflow.silent_since = absl::FromUnixSeconds(70);
  const auto families = MetricFamilies({}, {workflow, RunningWorkflow("reporting")});
  const auto& silent = Find(families, "tidemark_workflow_silent_seconds").metric;
  ASSERT_EQ(silent.size(), 2U);
  EXPECT_EQ(silent[0].label[0].name, "workflow");
  EXPECT_EQ(silent[0].label[0].value, "w");
  EXPECT_EQ(silent[0].gauge.value, 30);
  EXPECT_EQ(silent[1].gauge.value, 0);
}

TEST(MetricFamilies, CountTasksByState) {
  Snapshot job = Running("etl-7");
  job.counts = {.tasks = 12, .running_tasks = 2, .finished_tasks = 9};
  const auto families = MetricFamilies({}, {job, RunningWorkflow("w")});
  const auto& tasks = Find(families, "tidemark_job_tasks").metric;
  ASSERT_EQ(tasks.size(), 3U);
  EXPECT_EQ(tasks[0].label[1].value, "running");
  EXPECT_EQ(tasks[0].gauge.value, 2);
  EXPECT_EQ(tasks[1].gauge.value, 9);
  EXPECT_EQ(tasks[2].gauge.value, 1);
  EXPECT_EQ(Find(families, "tidemark_job_info").metric[0].label[1].value, "mapreduce");
  EXPECT_TRUE(Find(families, "tidemark_application_stages").metric.empty());
}

TEST(MetricFamilies, ContainStagesAndRunningQueriesOfAnApplication) {
  Snapshot job = Running("app-7");
  job.info = JobInfo{.kind = JobKind::kApplication, .engine = "spark"};
  job.counts = {.stages = 14, .finished_stages = 4, .running_tasks = 5};
  job.groups = {{.group = "sql/1", .state = JobState::kSucceeded},
                {.group = "sql/2",
                 .state = JobState::kRunning,
                 .fraction_done = 0.3,
                 .ends_in = Range{absl::Seconds(60)}},
                {.group = "sql/3", .state = JobState::kRunning}};
  for (int i = 0; i < 100; ++i) job.groups.push_back({.group = "job", .state = JobState::kRunning});
  const auto families = MetricFamilies({}, {job});
  const auto& stages = Find(families, "tidemark_application_stages").metric;
  ASSERT_EQ(stages.size(), 2U);
  EXPECT_EQ(stages[0].gauge.value, 4);
  EXPECT_EQ(stages[1].gauge.value, 10);
  const auto& progress = Find(families, "tidemark_query_progress_ratio").metric;
  ASSERT_EQ(progress.size(), 50U) << "the number of series is bounded";
  EXPECT_EQ(progress[0].label[1].value, "sql/2");
  EXPECT_EQ(progress[0].gauge.value, 0.3);
  const auto& remaining = Find(families, "tidemark_query_remaining_seconds").metric;
  ASSERT_EQ(remaining.size(), 1U) << "unknown values are absent";
  EXPECT_EQ(remaining[0].gauge.value, 60);
  EXPECT_EQ(Find(families, "tidemark_job_info").metric[0].label[2].value, "spark");
}

TEST(MetricFamilies, ContainLatenessOnlyWithADeadline) {
  Snapshot due = Running("etl-7");
  due.deadline = absl::FromUnixSeconds(1'800'000'000);
  due.late_probability = 0.83;
  Snapshot unknown = Running("etl-8");
  unknown.deadline = due.deadline;
  const auto families = MetricFamilies({}, {due, unknown, Running("other")});
  EXPECT_EQ(Find(families, "tidemark_job_deadline_timestamp_seconds").metric.size(), 2U);
  EXPECT_EQ(Find(families, "tidemark_job_deadline_timestamp_seconds").metric[0].gauge.value, 1.8e9);
  const auto& late = Find(families, "tidemark_job_late_probability").metric;
  ASSERT_EQ(late.size(), 1U) << "unknown values are absent";
  EXPECT_EQ(late[0].gauge.value, 0.83);
}

TEST(MetricFamilies, DistinguishGuesses) {
  Snapshot guess = Running("a");
  guess.estimate.remaining = Range{.median = absl::Seconds(5)};
  guess.estimate.basis = Basis::kGuess;
  Snapshot measured = guess;
  measured.job_id = "b";
  measured.estimate.basis = Basis::kThisRun;
  Snapshot wide = measured;
  wide.job_id = "c";
  wide.estimate.state = EstimateState::kValid;
  wide.estimate.remaining = Range{absl::Minutes(5), absl::ZeroDuration(), absl::Hours(9)};
  Snapshot unknown = Running("d");
  unknown.estimate = {};
  const auto guessed =
      Find(MetricFamilies({}, {guess, measured, wide, unknown}), "tidemark_job_remaining_guessed")
          .metric;
  ASSERT_EQ(guessed.size(), 3U) << "an unknown estimate has no basis";
  EXPECT_EQ(guessed[0].gauge.value, 1);
  EXPECT_EQ(guessed[1].gauge.value, 0);
  EXPECT_EQ(guessed[2].gauge.value, 1) << "readers see few results yet";
}

TEST(MetricFamilies, AverageIntervalCoverageOverJobsWithIntervals) {
  EXPECT_TRUE(Find(MetricFamilies({}, {Running("a")}), "tidemark_job_interval_coverage_ratio")
                  .metric.empty());
  Snapshot good = Ended(Running("a"), JobState::kSucceeded);
  good.errors = {{.indicator = "tidemark", .interval_coverage = 1.0}};
  Snapshot bad = good;
  bad.errors[0].interval_coverage = 0.5;
  Snapshot none = good;
  none.errors[0].interval_coverage.reset();
  std::vector<Snapshot> jobs(10, good);
  jobs.insert(jobs.end(), 9, bad);
  jobs.push_back(none);
  const std::string family = "tidemark_job_interval_coverage_ratio";
  EXPECT_TRUE(Find(MetricFamilies({}, jobs), family).metric.empty()) << "19 jobs are too few";
  jobs.push_back(bad);
  EXPECT_EQ(Find(MetricFamilies({}, jobs), family).metric[0].gauge.value, 0.75);
}

TEST(MetricFamilies, CountAnEndedJobInItsStateOnly) {
  const auto families =
      MetricFamilies({}, {Ended(Running("old"), JobState::kSucceeded), Running("new")});
  EXPECT_EQ(Find(families, "tidemark_job_progress_ratio").metric.size(), 1U);
  for (const auto& metric : Find(families, "tidemark_jobs").metric) {
    const std::string& state = metric.label[0].value;
    EXPECT_EQ(metric.gauge.value, state == "running" || state == "succeeded" ? 1 : 0) << state;
  }
}

TEST(MetricFamilies, ContainWorkflowsLikeJobs) {
  const auto families = MetricFamilies(
      {},
      {RunningWorkflow("nightly"), Ended(RunningWorkflow("old"), JobState::kFailed), Running("a")});
  const auto& progress = Find(families, "tidemark_workflow_progress_ratio");
  ASSERT_EQ(progress.metric.size(), 1U);
  EXPECT_EQ(progress.metric[0].gauge.value, 0.5);
  ASSERT_EQ(progress.metric[0].label.size(), 1U);
  EXPECT_EQ(progress.metric[0].label[0].name, "workflow");
  EXPECT_EQ(progress.metric[0].label[0].value, "nightly");
  const auto value = [&](const char* name) { return Find(families, name).metric[0].gauge.value; };
  EXPECT_EQ(value("tidemark_workflow_remaining_seconds"), 30);
  EXPECT_EQ(value("tidemark_workflow_remaining_lower_seconds"), 20);
  EXPECT_EQ(value("tidemark_workflow_remaining_upper_seconds"), 50);
  for (const auto& metric : Find(families, "tidemark_workflows").metric) {
    const std::string& state = metric.label[0].value;
    EXPECT_EQ(metric.gauge.value, state == "running" || state == "failed" ? 1 : 0) << state;
  }
}

// Returns the response to a scrape.
std::string ScrapeOf(int port) {
  const int client = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(static_cast<uint16_t>(port))};
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(connect(client, reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  const std::string request = "GET /metrics HTTP/1.0\r\n\r\n";
  EXPECT_EQ(send(client, request.data(), request.size(), 0), static_cast<ssize_t>(request.size()));
  std::string text;
  std::array<char, 4096> bytes;
  for (ssize_t got = 0; (got = recv(client, bytes.data(), bytes.size(), 0)) > 0;) {
    text.append(bytes.data(), static_cast<std::size_t>(got));
  }
  close(client);
  return text;
}

TEST(Metrics, ServesMetricsOfTheMasterOnly) {
  const auto master = Master::Start({});
  ASSERT_TRUE(master.ok()) << master.status();
  const auto server = StartMetrics("127.0.0.1:0", **master, [] { return Counts(); });
  ASSERT_TRUE(server.ok()) << server.status();
  ScrapeOf((*server)->port());  // The second scrape may count the first.
  const std::string text = ScrapeOf((*server)->port());
  EXPECT_THAT(text, HasSubstr(" 200 OK\r\n"));
  EXPECT_THAT(text, HasSubstr("Content-Type: text/plain"));
  EXPECT_THAT(text, HasSubstr("\ntidemark_events_total 0"));
  EXPECT_THAT(text, HasSubstr("\ntidemark_workflows{state=\"running\"} 0"));
  std::istringstream lines(text.substr(text.find("\r\n\r\n") + 4));
  for (std::string line; std::getline(lines, line);) {
    EXPECT_THAT(line, AnyOf(StartsWith("# "), StartsWith("tidemark_")));
  }
}

TEST(Metrics, ResolvesLocalhostToIPv4) {
  const auto master = Master::Start({});
  ASSERT_TRUE(master.ok()) << master.status();
  const auto server = StartMetrics("localhost:0", **master, [] { return Counts(); });
  ASSERT_TRUE(server.ok()) << server.status();
  EXPECT_THAT(ScrapeOf((*server)->port()), HasSubstr(" 200 OK\r\n"));
}

// Allows this process to open only one more descriptor.
class OneMoreDescriptor {
 public:
  OneMoreDescriptor() {
    getrlimit(RLIMIT_NOFILE, &before_);
    const int next = open("/dev/null", O_RDONLY | O_CLOEXEC);
    close(next);
    const rlimit limit = {.rlim_cur = static_cast<rlim_t>(next) + 1, .rlim_max = before_.rlim_max};
    setrlimit(RLIMIT_NOFILE, &limit);
  }
  ~OneMoreDescriptor() { setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  rlimit before_ = {};
};

TEST(Metrics, FreesItsAddressIfItCannotStart) {
  const auto master = Master::Start({});
  ASSERT_TRUE(master.ok()) << master.status();
  std::string address;
  {
    const auto server = StartMetrics("127.0.0.1:0", **master, [] { return Counts(); });
    ASSERT_TRUE(server.ok()) << server.status();
    address = "127.0.0.1:" + std::to_string((*server)->port());
  }
  {
    const OneMoreDescriptor for_the_socket;
    EXPECT_FALSE(StartMetrics(address, **master, [] { return Counts(); }).ok());
  }
  EXPECT_TRUE(transport::CanListen(address).ok()) << transport::CanListen(address);
}

TEST(MetricFamilies, CountAlertsByFormat) {
  const auto families = MetricFamilies(
      {}, {},
      {{"slack", {.taken = 7, .retried = 3, .failed = 2, .dropped = 1, .waiting = 5}},
       {"json", {}}});
  const auto of = [&](const std::string& name, std::size_t i) {
    const auto& metric = Find(families, name).metric.at(i);
    EXPECT_EQ(metric.label.at(0).name, "target");
    EXPECT_EQ(metric.label.at(0).value, i == 0 ? "json" : "slack");
    return metric.counter.value + metric.gauge.value;
  };
  EXPECT_EQ(of("tidemark_alerts_sent_total", 1), 7);
  EXPECT_EQ(of("tidemark_alerts_retried_total", 1), 3);
  EXPECT_EQ(of("tidemark_alerts_failed_total", 1), 2);
  EXPECT_EQ(of("tidemark_alerts_dropped_total", 1), 1);
  EXPECT_EQ(of("tidemark_alerts_waiting", 1), 5);
  EXPECT_EQ(of("tidemark_alerts_failed_total", 0), 0)
      << "a counter must exist before its first increase";
  EXPECT_TRUE(Find(MetricFamilies({}, {}), "tidemark_alerts_sent_total").metric.empty());
}

TEST(MetricFamilies, AccumulateBuckets) {
  MasterStats stats;
  stats.tick.counts[0] = 2;                              // at most 0.1 ms
  stats.tick.counts[3] = 1;                              // 1 to 3 ms
  stats.tick.counts[LatencyCounts::kBounds.size()] = 4;  // above 10 s
  stats.tick.sum_seconds = 50;
  const auto families = MetricFamilies(stats, {});
  const auto& histogram = Find(families, "tidemark_tick_seconds").metric[0].histogram;
  EXPECT_EQ(histogram.sample_count, 7U);
  EXPECT_EQ(histogram.sample_sum, 50);
  EXPECT_EQ(histogram.bucket[0].cumulative_count, 2U);
  EXPECT_EQ(histogram.bucket[3].cumulative_count, 3U);
  EXPECT_EQ(histogram.bucket[3].upper_bound, 0.003);
  EXPECT_EQ(histogram.bucket.back().cumulative_count, 7U);
  EXPECT_EQ(histogram.bucket.back().upper_bound, std::numeric_limits<double>::infinity());
}

}  // namespace
}  // namespace tidemark::serve::metrics_test
