#include "master/facts/silence.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/master/estimates.h"
#include "tests/master/events.h"
#include "tidemark/job_monitor.h"

namespace tidemark {
namespace {

using test::At;
using test::Closed;
using test::Finished;
using test::Job;
using test::M;
using test::Opened;
using test::Read;
using test::SilentFor;
using test::Source;
using test::Started;
using ::testing::HasSubstr;

double SilentSeconds(const Job& job, double at) {
  return absl::ToDoubleSeconds(model::SilentFor(job.state, At(at)));
}

// One map task that has begun at 0 s and reports every `interval` seconds, `reports` times.
Job Reporting(double interval, int reports = 10) {
  Job job;
  EXPECT_TRUE(job.Say(0, Opened(2, 1)).ok());
  EXPECT_TRUE(job.Say(0, Started(M(0))).ok());
  for (int i = 1; i <= reports; ++i) EXPECT_TRUE(job.Say(i * interval, Read(M(0), 7)).ok());
  return job;
}

TEST(Silence, BeginsWhenThreeReportsOfARunningTaskDidNotCome) {
  const Job job = Reporting(4);
  EXPECT_EQ(SilentSeconds(job, 40 + 12), 0);
  EXPECT_EQ(SilentSeconds(job, 40 + 12.5), 12.5);
}

TEST(Silence, EndsWithTheNextReportWhateverItSays) {
  Job job = Reporting(4);
  EXPECT_GT(SilentSeconds(job, 60), 0);
  ASSERT_TRUE(job.Say(60, Read(M(0), 7)).ok());
  EXPECT_EQ(SilentSeconds(job, 61), 0);
}

TEST(Silence, ShorterThanThreeSecondsIsNone) {
  const Job job = Reporting(0.1);
  EXPECT_EQ(SilentSeconds(job, 1 + 3), 0);
  EXPECT_EQ(SilentSeconds(job, 1 + 3.5), 3.5);
}

TEST(Silence, IsToldFromTheInstantOnFromWhichTheMasterListens) {
  EXPECT_EQ(model::SilentSince(At(10), absl::InfinitePast(), At(50)), At(10));
  EXPECT_EQ(model::SilentSince(At(10), At(40), At(50)), At(40));
  EXPECT_EQ(model::SilentSince(At(10), At(60), At(50)), At(50)) << "never in the future";
}

TEST(Silence, OpensWhatIsLeftAndLeavesTheMedian) {
  const Range left = {absl::Seconds(100), absl::Seconds(80), absl::Seconds(150)};
  EXPECT_EQ(model::OpenedBySilence(left, absl::Seconds(30), absl::Seconds(40)),
            (Range{absl::Seconds(100), absl::Seconds(50), absl::Seconds(150 + 19 * 40)}));
  EXPECT_EQ(model::OpenedBySilence({absl::Seconds(100)}, absl::Seconds(200), absl::Seconds(210)),
            (Range{absl::Seconds(100), absl::ZeroDuration(), absl::Seconds(100 + 19 * 210)}));
}

TEST(Silence, TakesTenSecondsWhereTheIntervalIsNotKnown) {
  const Job job = Reporting(1, 2);
  EXPECT_EQ(SilentSeconds(job, 2 + 10), 0);
  EXPECT_EQ(SilentSeconds(job, 2 + 11), 11);
}

TEST(Silence, TakesTenSecondsWhileNoTaskRuns) {
  Job job = Reporting(1);
  ASSERT_TRUE(job.Say(10, Finished(M(0))).ok());
  EXPECT_EQ(SilentSeconds(job, 10 + 10), 0);
  EXPECT_EQ(SilentSeconds(job, 10 + 11), 11);
}

TEST(Silence, AnOutageIsNoReportInterval) {
  Job job = Reporting(1, 4);
  // Back after a minute and a half, with all that had waited.
  for (int i = 0; i < 90; ++i) ASSERT_TRUE(job.Say(94 + 0.001 * i, Read(M(0), 7)).ok());
  for (int i = 1; i < 5; ++i) ASSERT_TRUE(job.Say(95 + i, Read(M(0), 7)).ok());
  EXPECT_EQ(SilentSeconds(job, 99 + 4), 4);
}

TEST(Silence, AJobThatIsNotOpenOrOverIsNotSilent) {
  EXPECT_EQ(SilentSeconds(Job(), 100), 0);
  Job job = Reporting(1);
  ASSERT_TRUE(job.Say(11, Closed()).ok());
  EXPECT_EQ(SilentSeconds(job, 100), 0);
}

// A monitor of a job whose only task reported every second until 10 s.
JobMonitor Monitor() {
  JobMonitor monitor("job-1", {});
  Source source;
  EXPECT_TRUE(monitor.Apply(source.At(0, Opened(2, 1))).ok());
  EXPECT_TRUE(monitor.Apply(source.At(0, Started(M(0)))).ok());
  for (int i = 1; i <= 10; ++i) EXPECT_TRUE(monitor.Apply(source.At(i, Read(M(0), 7))).ok());
  return monitor;
}

TEST(Silence, IsInTheSnapshotUntilTheJobIsGivenUp) {
  JobMonitor monitor = Monitor();
  EXPECT_EQ(SilentFor(monitor.Tick(At(12))), absl::ZeroDuration());
  EXPECT_EQ(SilentFor(monitor.Tick(At(22))), absl::Seconds(12));
  const Snapshot final = monitor.Tick(At(10 + 15 * 60 + 1));
  EXPECT_EQ(final.state, JobState::kAbandoned);
  EXPECT_EQ(SilentFor(final), absl::ZeroDuration());
}

TEST(Silence, CountsFromARestartOfTheMaster) {
  JobMonitor monitor = Monitor();
  monitor.NoteRestart(At(100));
  EXPECT_EQ(monitor.Tick(At(102)).silent_since, At(100));
  EXPECT_EQ(SilentFor(monitor.Tick(At(400))), absl::Seconds(300));
}

TEST(Silence, ThatBeganAfterARestartOfTheMasterCountsFromTheLastReport) {
  JobMonitor monitor = Monitor();
  monitor.NoteRestart(At(5));
  EXPECT_EQ(monitor.Tick(At(22)).silent_since, At(10));
}

TEST(Silence, EndsWithTheFirstReportAfterARestart) {
  JobMonitor monitor("job-1", {});
  Source source;
  ASSERT_TRUE(monitor.Apply(source.At(0, Opened(2, 1))).ok());
  ASSERT_TRUE(monitor.Apply(source.At(0, Started(M(0)))).ok());
  monitor.NoteRestart(At(1000));
  EXPECT_EQ(monitor.Tick(At(1001)).silent_since, At(1000));
  ASSERT_TRUE(monitor.Apply(source.At(1002, Read(M(0), 7))).ok());
  EXPECT_EQ(monitor.Tick(At(1003)).silent_since, std::nullopt);
}

TEST(Silence, WhileNoMasterListenedEndsNoJob) {
  JobMonitor monitor = Monitor();
  monitor.NoteRestart(At(10'000));
  EXPECT_EQ(monitor.Tick(At(10'000 + 15 * 60)).state, JobState::kRunning);
  EXPECT_EQ(monitor.Tick(At(10'000 + 15 * 60 + 1)).state, JobState::kAbandoned);
}

TEST(Silence, OfARunThatKeepsAnotherFromItsIdIsSaid) {
  JobMonitor monitor = Monitor();
  Event other = Source("other").At(11, Opened(2, 1));
  other.run_uid = "b";
  EXPECT_THAT(std::string(monitor.CheckRun(other).message()), HasSubstr("is still running"));
  other.arrived_at = At(60.5);
  EXPECT_THAT(
      std::string(monitor.CheckRun(other).message()),
      HasSubstr("has not ended, but nothing was heard of it for 50 s; unless it reports, it "
                "is given up in 14 min 10 s; wait until then, or take another id"));
  monitor.NoteRestart(At(1000));
  other.arrived_at = At(1001);
  EXPECT_THAT(
      std::string(monitor.CheckRun(other).message()),
      HasSubstr("of it since the master started, 1 s ago; unless it reports, it is given up "
                "in 14 min 59 s"));
}

}  // namespace
}  // namespace tidemark
