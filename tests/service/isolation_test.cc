// Tests that a job does not change any bit of another job's snapshots.

#include "master/service/job_table.h"
#include "proto/wire/encode_event.h"
#include "tests/facts/events.h"
#include "tests/monitor/virtual_job.h"
#include "tests/service/published.h"
#include "tests/test.h"
#include "tidemark/limit.h"

namespace tidemark::service::isolation_test {
namespace {

using test::Values;

JobTableOptions Options() {
  JobTableOptions options;
  options.job.limits.reduce_tasks_max = 50;
  options.job.limits.state_bytes_max = std::size_t{1} << 20;
  return options;
}

wire::ReceivedEvent Encoded(const Event& event) { return wire::EncodeEvent(event); }

// Returns all snapshots of `job_id` while its events arrive, with a tick after every second event.
std::vector<Snapshot> Watched(JobTable& table, const std::string& job_id) {
  std::vector<Snapshot> seen;
  const test::Story story = Tell(test::QuadraticJob());
  bool ticks = false;
  for (Event event : story.events) {
    event.job_id = job_id;
    EXPECT_TRUE(table.Ingest(Encoded(event), event.arrived_at).status.ok());
    if (ticks = !ticks; !ticks) continue;
    for (const Snapshot& snapshot : Values(table.TickDue(event.arrived_at))) {
      if (snapshot.job_id == job_id) seen.push_back(snapshot);
    }
  }
  return seen;
}

// Returns a valid profile of these points, with the totals of their key groups and bytes.
ReduceProfile ProfileOf(std::vector<GroupPoint> points) {
  ReduceProfile profile{.points = std::move(points), .keys_named = false};
  for (const GroupPoint& point : profile.points) {
    profile.groups_done += point.count;
    profile.bytes_done += point.size_bytes * point.count;
    profile.reduce_time += point.total_time;
  }
  return profile;
}

// Sends invalid events, new attempts and sources, and large profiles at full speed.
void Flood(JobTable& table, const std::atomic<bool>& stop, const std::string& source_id) {
  Source source(source_id, "flood");
  table.Ingest(Encoded(source.At(0, Opened(10, 50))), At(0));
  std::vector<GroupPoint> points;
  for (std::uint64_t i = 0; i < 2000; ++i) points.push_back({i * i, 1, absl::Seconds(i)});
  ReduceProfile profile = ProfileOf(points);
  for (std::uint32_t n = 0; !stop; ++n) {
    profile.attempt = R(n % 60, n % 20);
    profile.groups_done += n;
    table.Ingest(Encoded(source.At(n, profile)), At(n));
    table.Ingest(Encoded(source.At(n, test::Started(R(n % 50, n)))), At(n));
    wire::ReceivedEvent malformed = Encoded(source.At(n, profile));
    malformed.body = "nonsense";
    table.Ingest(malformed, At(n));
    Source stranger(source_id + std::to_string(n), "flood");
    table.Ingest(Encoded(stranger.At(n, test::Read(R(0), n))), At(n));
  }
}

TEST(Isolation, AFloodOfEventsOfOneJobChangesNoOther) {
  JobTable alone(Options());
  const std::vector<Snapshot> expected = Watched(alone, "calm");
  ASSERT_GT(expected.size(), 10U);

  JobTable table(Options());
  std::atomic<bool> stop = false;
  std::vector<std::thread> floods;
  for (const char* source : {"flood-a", "flood-b", "flood-c"}) {
    floods.emplace_back([&, source] { Flood(table, stop, source); });
  }
  while (table.Newest("flood") == nullptr) std::this_thread::yield();
  const std::vector<Snapshot> seen = Watched(table, "calm");
  stop = true;
  for (std::thread& flood : floods) flood.join();
  EXPECT_EQ(seen, expected);
}

TEST(Isolation, RejectsEventsOfAJobOverItsBytesButAcceptsItsEnd) {
  JobTableOptions options = Options();
  options.job_bytes_max = 4000;
  JobTable table(options);
  Source source("app-master", "job-1");
  EXPECT_TRUE(table.Ingest(Encoded(source.At(0, Opened(1, 1))), At(0)).status.ok());
  ReduceProfile profile = ProfileOf(std::vector<GroupPoint>(300, {1000, 1, absl::Seconds(1)}));
  profile.attempt = R(0);
  absl::Status refused;
  for (int i = 1; refused.ok() && i < 100; ++i) {
    refused = table.Ingest(Encoded(source.At(i, profile)), At(i)).status;
  }
  EXPECT_TRUE(absl::IsResourceExhausted(refused));
  EXPECT_EQ(ExceededLimit(refused), "bytes_per_job");
  EXPECT_TRUE(table.Ingest(Encoded(source.At(200, test::Closed())), At(200)).status.ok());
  table.TickDue(At(201));
  EXPECT_EQ(table.Newest("job-1")->state, JobState::kSucceeded);
}

// The rejected events take no memory.
TEST(Isolation, RejectsStagesOverTheLimitWithItsNameAndTheirNumber) {
  JobTable table({});
  Source source("app-master", "job-1");
  EXPECT_TRUE(table.Ingest(Encoded(source.At(0, JobOpened{})), At(0)).status.ok());
  constexpr std::uint32_t kAtOnce = 10'000;
  absl::Status status;
  std::uint32_t opened = 0;
  for (int events = 0; events < 10; ++events) {
    JobOpened more;
    for (std::uint32_t i = 0; i < kAtOnce; ++i) more.stages.push_back({.stage = opened + i});
    const absl::Status taken = table.Ingest(Encoded(source.At(1, std::move(more))), At(1)).status;
    if (taken.ok()) opened += kAtOnce;
    status.Update(taken);
  }
  EXPECT_EQ(opened, JobLimits::kStagesMax);
  EXPECT_EQ(ExceededLimit(status), "stages_per_job");
  EXPECT_EQ(status.message(), "the job has 80000 stages; this master allows at most 70000 per job");
}

TEST(Isolation, BoundsTheStateOfAJobUnderAnyInput) {
  JobTable table(Options());
  Source source("app-master", "job-1");
  EXPECT_TRUE(table.Ingest(Encoded(source.At(0, Opened(10, 50))), At(0)).status.ok());
  absl::Status refused;
  ReduceProfile profile;
  for (std::uint32_t n = 0; refused.ok() && n < 5000; ++n) {
    std::vector<GroupPoint> points;
    for (std::uint64_t i = 0; i < 1000; ++i) {
      points.push_back({(i + 1) * 1009 + n * 1'000'003ULL, 1, absl::Seconds(1)});
    }
    profile = ProfileOf(points);
    profile.attempt = R(n % 50);
    refused = table.Ingest(Encoded(source.At(n, profile)), At(n)).status;
  }
  EXPECT_EQ(ExceededLimit(refused), "state_bytes_per_job") << refused;
  Source another("another", "job-1");
  EXPECT_EQ(ExceededLimit(table.Ingest(Encoded(another.At(1, profile)), At(6000)).status),
            "state_bytes_per_job");
  EXPECT_TRUE(table.Ingest(Encoded(source.At(1, test::Closed())), At(6000)).status.ok());
}

}  // namespace
}  // namespace tidemark::service::isolation_test
