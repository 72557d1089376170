
#include <variant>

#include "master/forecast/durations/task_times.h"
#include "master/forecast/progress_indicator.h"
#include "tests/facts/events.h"
#include "tests/monitor/monitored_job.h"
#include "tests/monitor/virtual_job.h"
#include "tests/test.h"
#include "tidemark/job_monitor.h"

namespace tidemark::tidemark_indicator_test {
namespace {

using test::EstimatesOf;
using test::VirtualJob;

// Returns a job with four reduce tasks and quadratic costs. One key group, the last of its task,
// takes most of the time.
VirtualJob SkewedJob() {
  VirtualJob job;
  job.seconds = [](std::uint64_t bytes) {
    return 0.05 + 2e-6 * static_cast<double>(bytes) * static_cast<double>(bytes);
  };
  std::uint64_t hash = 0;
  job.groups.resize(4);
  for (std::size_t task = 0; task < job.groups.size(); ++task) {
    for (std::uint64_t i = 0; i < 60; ++i) {
      job.groups[task].push_back(Key(++hash, 100 + (i * 37 + task * 11) % 900));
    }
  }
  job.groups[2].push_back(Key(++hash, 9'000));
  return job;
}

struct Told {
  double at = 0;
  Snapshot snapshot;
};

std::vector<Told> Watch(const VirtualJob& job, double& ends) {
  JobMonitorOptions options;
  options.indicators = {"tidemark", "jobratio"};
  JobMonitor monitor("job-1", options);
  const test::Story story = test::Tell(job);
  ends = story.ends;
  std::vector<Told> told;
  double next = story.reduce_starts + 1;
  for (const Event& event : story.events) {
    for (; At(next) < event.arrived_at; next += 1) told.push_back({next, monitor.Tick(At(next))});
    EXPECT_TRUE(monitor.Apply(event).ok());
  }
  return told;
}

TEST(TidemarkIndicator, PredictsTheGiant) {
  double ends = 0;
  const std::vector<Told> told = Watch(SkewedJob(), ends);
  int checked = 0;
  for (const Told& update : told) {
    const Estimate& forecast = update.snapshot.estimate;
    const Estimate linear = EstimatesOf(update.snapshot).back();
    if (update.at < 30 || !Left(forecast) || update.at > ends - 5) continue;
    const double left = ends - update.at;
    const double said = update.at + SecondsLeft(forecast);
    EXPECT_NEAR(update.at / said, update.at / ends, 0.12) << update.at;
    EXPECT_LE(absl::ToDoubleSeconds(*Lower(forecast)), left) << update.at;
    EXPECT_GE(absl::ToDoubleSeconds(*Upper(forecast)), left) << update.at;
    if (update.at < 60 && Left(linear)) {
      EXPECT_LT(SecondsLeft(linear), 0.7 * left) << update.at;
    }
    ++checked;
  }
  EXPECT_GT(checked, 50);
}

// Half of the points of reduce tasks are lost, but their totals are not.
TEST(TidemarkIndicator, DoesNotExpectUnreportedGroupsAgain) {
  const VirtualJob job = SkewedJob();
  test::Story story = test::Tell(job);
  std::map<std::string, int> said;
  std::erase_if(story.events, [&](const Event& event) {
    return std::holds_alternative<ReduceProfile>(event.body) && ++said[event.source_id] % 2 == 0;
  });
  JobMonitorOptions options;
  options.indicators = {"tidemark"};
  JobMonitor monitor("job-1", options);
  double next = story.reduce_starts + 1;
  int checked = 0;
  for (const Event& event : story.events) {
    for (; At(next) < event.arrived_at; next += 1) {
      const Snapshot snapshot = monitor.Tick(At(next));
      const Estimate& forecast = snapshot.estimate;
      if (next < 30 || next > story.ends - 5 || !Left(forecast)) continue;
      const double said_end = next + SecondsLeft(forecast);
      EXPECT_NEAR(next / said_end, next / story.ends, 0.2) << next;
      ++checked;
    }
    EXPECT_TRUE(monitor.Apply(event).ok());
  }
  EXPECT_GT(checked, 50);
}

// Groups of 5 to 15 ms are reported once per second, with five ticks per second. The running group
// of the last report ended long ago. The first seconds are omitted, in which the interval is
// widened by the error of the guess from the map phase.
TEST(TidemarkIndicator, AssumesThatGroupsOfTheLastReportHaveEnded) {
  VirtualJob job;
  job.seconds = [](std::uint64_t bytes) { return 1e-5 * static_cast<double>(bytes); };
  job.groups.resize(2);
  std::uint64_t hash = 0;
  for (auto& task : job.groups) {
    for (std::uint64_t i = 0; i < 1500; ++i) task.push_back(Key(++hash, 500 + i * 37 % 1000));
  }
  JobMonitor monitor("job-1", {});
  const test::Story story = test::Tell(job);
  for (const Snapshot& snapshot : test::Watch(story, 0.2, monitor)) {
    const double at = absl::ToDoubleSeconds(snapshot.elapsed());
    if (at < story.reduce_starts + 4 || at > story.ends - 1.5) continue;
    const Estimate& forecast = snapshot.estimate;
    ASSERT_TRUE(Upper(forecast).has_value()) << at;
    EXPECT_NEAR(SecondsLeft(forecast), story.ends - at, 1) << at;
    EXPECT_LT(absl::ToDoubleSeconds(*Upper(forecast)), 1.35 * (story.ends - at) + 1) << at;
  }
}

// The first of two reduce tasks continues for 40 s after its last key group.
TEST(TidemarkIndicator, IncludesTheWorkAfterTheLastKeyGroup) {
  using namespace test;
  MonitoredJob job;
  job.Say(0, Opened(1, 2), Started(M(0)));
  job.Say(1, Emitted(M(0), {Partition(0, 10'000), Partition(1, 10'000)}), Finished(M(0)));
  job.Say(1, Started(R(0)), Shuffled(R(0)));
  job.Say(11, Reduced(R(0), test::At(11), {Point(1000, 1, 10)})).Say(51, Finished(R(0)));
  job.Say(51, Started(R(1)), Shuffled(R(1)));
  job.Say(56, Reduced(R(1), test::At(56), {Point(1000, 1, 5)}));
  EXPECT_NEAR(SecondsLeft(job.Tick(56).estimate), 45, 3);
  ReduceProfile all = Reduced(R(1), test::At(61), {Point(1000, 1, 5)});
  all.groups_done = 10;
  all.bytes_done = 10'000;
  all.reduce_time = absl::Seconds(10);
  job.Say(61, all);
  EXPECT_NEAR(SecondsLeft(job.Tick(71).estimate), 30, 3);
}

TEST(TidemarkIndicator, NamesTheStragglerAndItsHeaviestGroup) {
  double ends = 0;
  const std::vector<Told> told = Watch(SkewedJob(), ends);
  for (const Told& update : told) {
    if (update.at < 40 || update.at > ends - 5) continue;
    ASSERT_EQ(update.snapshot.named_tasks.size(), 1u) << update.at;
    EXPECT_EQ(update.snapshot.named_tasks[0].attempt.index, 2u);
    EXPECT_EQ(update.snapshot.named_tasks[0].heaviest_group_bytes, 9'000u);
  }
}

TEST(TidemarkIndicator, IsDeterministic) {
  double ends = 0;
  const std::vector<Told> first = Watch(SkewedJob(), ends);
  const std::vector<Told> second = Watch(SkewedJob(), ends);
  ASSERT_EQ(first.size(), second.size());
  for (std::size_t i = 0; i < first.size(); ++i) EXPECT_EQ(first[i].snapshot, second[i].snapshot);
}

TEST(TidemarkIndicator, AJobOfEqualGroupsIsLinear) {
  VirtualJob job;
  job.seconds = [](std::uint64_t) { return 1.0; };
  job.groups.resize(3);
  std::uint64_t hash = 0;
  for (auto& task : job.groups) {
    for (int i = 0; i < 40; ++i) task.push_back(Key(++hash, 1000));
  }
  double ends = 0;
  for (const Told& update : Watch(job, ends)) {
    const Estimate& forecast = update.snapshot.estimate;
    if (!Left(forecast) || update.at < 20 || update.at > ends - 2) continue;
    EXPECT_NEAR(SecondsLeft(forecast), ends - update.at, 1.5) << update.at;
  }
}

// A computation that takes quadratic time would exceed the time limit of the test.
TEST(TidemarkIndicator, ThousandsOfTasksMayWait) {
  constexpr std::uint32_t kMaps = 100'000;
  constexpr std::uint32_t kReduces = 20'000;
  test::MonitoredJob job;
  JobOpened opened = test::Opened(kMaps, kReduces);
  test::MapStage(opened).slots = kMaps;
  test::ReduceStage(opened).slots = 1;
  job.Say(0, opened);
  for (std::uint32_t m = 0; m < kMaps; ++m) job.Say(1, test::Finished(test::M(m)));
  std::vector<PartitionProfile> partitions;
  for (std::uint32_t r = 0; r < kReduces; ++r) partitions.push_back(test::Partition(r, 1'000));
  job.Say(1, test::Emitted(test::M(0), partitions));
  for (std::uint32_t m = 1; m < kMaps; ++m) job.Say(1, test::Emitted(test::M(m), {}));
  job.Say(2, test::Started(test::R(0))).Say(3, test::Shuffled(test::R(0)));
  job.Say(4, test::Reduced(test::R(0), At(4), {test::Point(100, 0.2, 5)}));
  const Snapshot snapshot = job.Tick(4);
  // Half of a task remains. Each other task takes one second for the shuffle and two for the reduce
  // functions.
  EXPECT_NEAR(SecondsLeft(snapshot.estimate), 3.0 * kReduces, 0.1 * kReduces);
}

// A workflow scales the ends of the remaining tasks to the job's forecast. If the ends included the
// waits on a shared host, scaling would remove these waits again.
TEST(TidemarkIndicator, TasksForAWorkflowEndAsIfEachHadAProcessor) {
  VirtualJob job = SkewedJob();
  job.groups[2].pop_back();
  job.waited = 0.5;
  JobMonitorOptions options;
  options.indicators = {"tidemark"};
  JobMonitor monitor("job-1", options);
  const test::Story story = test::Tell(job);
  const double at = story.reduce_starts + 15;
  for (const Event& event : story.events) {
    if (event.arrived_at > At(at)) break;
    ASSERT_TRUE(monitor.Apply(event).ok());
  }
  const Snapshot snapshot = monitor.Tick(At(at));
  ASSERT_TRUE(Left(snapshot.estimate));
  const double remaining = SecondsLeft(snapshot.estimate);
  EXPECT_NEAR(remaining, story.ends - at, 0.2 * (story.ends - at));
  ASSERT_NE(monitor.stages_left(), nullptr);
  durations::Draws ends = monitor.stages_left()->ends;
  ASSERT_FALSE(ends.empty());
  std::sort(ends.begin(), ends.end());
  EXPECT_NEAR(ends[ends.size() / 2], remaining / 2, 0.15 * remaining);
}

}  // namespace
}  // namespace tidemark::tidemark_indicator_test
