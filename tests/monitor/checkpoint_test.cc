// Tests that a monitor that resumes from a checkpoint returns the same snapshots as the original,
// to the last bit.
#include "master/facts/checkpoint.h"

#include "tests/monitor/virtual_job.h"
#include "tests/test.h"
#include "tidemark/job_monitor.h"

namespace tidemark::checkpoint_test {
namespace {

using test::QuadraticJob;
using test::Story;
using test::Tell;
using test::VirtualJob;

constexpr double kTickSeconds = 2;

JobMonitorOptions AllIndicators() {
  JobMonitorOptions options;
  options.indicators = KnownIndicators();
  return options;
}

// Returns a job with many small groups, unknown hosts, and more tasks than slots. Only heavy keys
// have names.
VirtualJob MixedJob() {
  VirtualJob job;
  job.seconds = [](std::uint64_t bytes) { return 0.01 + 2e-4 * static_cast<double>(bytes); };
  job.groups.resize(5);
  job.slots = 2;
  job.explicit_bytes_min = 2500;
  std::uint64_t hash = 0;
  for (std::uint64_t i = 0; i < 400; ++i) {
    job.groups[i % job.groups.size()].push_back(test::Key(++hash, 50 + i * i % 7919));
  }
  return job;
}

// Compares the snapshots after `taken_at` of two monitors with the same events. One of them ticks
// all the time. The other one resumes from the first one's checkpoint at `taken_at`.
void ExpectTheSame(const Story& story, double taken_at) {
  JobMonitor whole("job", AllIndicators());
  JobMonitor resumed("job", AllIndicators());
  auto event = story.events.begin();
  bool has_resumed = false;
  for (double now = 0; now < story.ends + 10; now += kTickSeconds) {
    for (; event != story.events.end() && event->arrived_at <= At(now); ++event) {
      EXPECT_EQ(whole.Apply(*event), resumed.Apply(*event));
    }
    const Snapshot expected = whole.Tick(At(now));
    if (has_resumed) {
      EXPECT_EQ(expected, resumed.Tick(At(now))) << "taken at " << taken_at << ", now " << now;
    } else if (now >= taken_at) {
      ASSERT_TRUE(resumed.Resume(whole.Checkpoint()).ok());
      EXPECT_EQ(resumed.has_news(), whole.has_news());
      has_resumed = true;
    }
  }
  EXPECT_TRUE(has_resumed);
}

TEST(Checkpoint, OfAnyTickOfASkewedJobResumesToTheLastBit) {
  const Story story = Tell(QuadraticJob());
  for (double at = 0; at < story.ends; at += 17) ExpectTheSame(story, at);
}

TEST(Checkpoint, OfAnyTickOfAJobInWavesResumesToTheLastBit) {
  const Story story = Tell(MixedJob());
  for (double at = 0; at < story.ends; at += 19) ExpectTheSame(story, at);
}

TEST(Checkpoint, OfAResumedMonitorIsTheSame) {
  const Story story = Tell(MixedJob());
  JobMonitor first("job", AllIndicators());
  JobMonitor second("job", AllIndicators());
  for (const Event& event : story.events) {
    if (event.arrived_at > At(story.ends / 2)) break;
    first.Apply(event).IgnoreError();
    second.Apply(event).IgnoreError();
    first.Tick(event.arrived_at);
  }
  ASSERT_TRUE(second.Resume(first.Checkpoint()).ok());
  EXPECT_EQ(first.Checkpoint().size(), second.Checkpoint().size());
}

TEST(Checkpoint, ATruncatedCheckpointIsRejected) {
  const Story story = Tell(QuadraticJob());
  JobMonitor monitor("job", AllIndicators());
  test::Watch(story, 10, monitor);
  const std::string checkpoint = monitor.Checkpoint();
  for (std::size_t bytes = 0; bytes < checkpoint.size(); bytes += 1 + bytes / 50) {
    JobMonitor other("job", AllIndicators());
    EXPECT_EQ(other.Resume(checkpoint.substr(0, bytes)).code(), absl::StatusCode::kInvalidArgument)
        << bytes;
  }
  JobMonitor other("job", AllIndicators());
  EXPECT_FALSE(other.Resume(checkpoint + '\0').ok());
}

TEST(Checkpoint, ACheckpointOfOtherIndicatorsIsRejected) {
  JobMonitorOptions linear;
  linear.indicators = {"hadoop"};
  const JobMonitor monitor("job", linear);
  JobMonitor other("job", AllIndicators());
  EXPECT_FALSE(other.Resume(monitor.Checkpoint()).ok());
}

// If this test fails, the fields of a class in checkpoints have changed. Increase
// kCheckpointLayout, so that no master reads a checkpoint with another layout, and change the
// number here.
TEST(Checkpoint, HasTheLayoutOfItsNumber) {
  const Story story = Tell(MixedJob());
  JobMonitor monitor("job", AllIndicators());
  for (const Event& event : story.events) {
    if (event.arrived_at > At(20)) break;
    monitor.Apply(event).IgnoreError();
  }
  monitor.Tick(At(20));
  EXPECT_EQ(facts::kCheckpointLayout, 16);
  EXPECT_EQ(monitor.Checkpoint().size(), 90401);
}

}  // namespace
}  // namespace tidemark::checkpoint_test
