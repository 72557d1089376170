#include "master/forecast/dag/shown_progress.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "tests/facts/events.h"
#include "tests/monitor/virtual_job.h"
#include "tidemark/job_monitor.h"

namespace tidemark {
namespace {

using dag::FlooredRemaining;
using dag::FractionDone;
using test::At;
using test::Closed;
using test::Emitted;
using test::EstimatesOf;
using test::Finished;
using test::LastStagesOf;
using test::Left;
using test::Lower;
using test::M;
using test::Opened;
using test::Partition;
using test::Point;
using test::R;
using test::Shuffled;
using test::SilentFor;
using test::Source;
using test::Started;
using test::Upper;

constexpr absl::Duration kSecond = absl::Seconds(1);

double Shown(absl::Duration elapsed, absl::Duration remaining,
             std::optional<absl::Duration> upper) {
  return FractionDone(elapsed, FlooredRemaining(remaining, upper));
}

TEST(FractionDone, IsTheElapsedShareOfTheTime) {
  EXPECT_DOUBLE_EQ(Shown(30 * kSecond, 10 * kSecond, std::nullopt), 0.75);
  EXPECT_DOUBLE_EQ(Shown(30 * kSecond, 10 * kSecond, 200 * kSecond), 0.75);
}

TEST(FractionDone, IsBelowOneWhileTheIntervalIsOpen) {
  // The median predicts that the job is over, but 80 s may remain: 60 / (60 + 80 / 40).
  EXPECT_DOUBLE_EQ(Shown(60 * kSecond, absl::ZeroDuration(), 80 * kSecond), 60.0 / 62);
}

TEST(UnknownRemaining, IsTheElapsedTimeForUnbackedWorkAndTwiceThatForAGuess) {
  EXPECT_EQ(dag::UnknownRemaining(60 * kSecond, 0.75), 15 * kSecond);
  EXPECT_EQ(dag::UnknownRemaining(60 * kSecond, 0), 120 * kSecond);
  EXPECT_EQ(dag::UnknownRemaining(60 * kSecond, 1), absl::ZeroDuration());
  EXPECT_EQ(dag::UnknownRemaining(60 * kSecond, 1.5), absl::ZeroDuration());
}

TEST(FractionDone, IsAFractionForAllArguments) {
  const absl::Duration all[] = {-absl::InfiniteDuration(), -kSecond, absl::ZeroDuration(),
                                absl::Nanoseconds(1),      kSecond,  absl::Hours(1e12),
                                absl::InfiniteDuration()};
  for (const absl::Duration elapsed : all) {
    for (const absl::Duration remaining : all) {
      for (const absl::Duration upper : all) {
        const double fraction = Shown(elapsed, remaining, upper);
        EXPECT_TRUE(fraction >= 0 && fraction < 1)
            << elapsed << " " << remaining << " " << upper << ": " << fraction;
      }
    }
  }
}

TEST(LatestEnd, IgnoresASingleUpdate) {
  dag::LatestEnd held;
  EXPECT_EQ(held.Hold(At(1), At(100)), At(100));
  EXPECT_EQ(held.Hold(At(2), At(5)), At(100)) << "one update that knows too much";
  EXPECT_EQ(held.Hold(At(3), At(300)), At(300));
  EXPECT_EQ(held.Hold(At(4), At(90)), At(300));
  EXPECT_EQ(held.Hold(At(5), At(90)), At(90));
}

TEST(LatestEnd, HoldsForASecond) {
  dag::LatestEnd held;
  held.Hold(At(1), At(100));
  for (const double at : {1.2, 1.4, 1.6, 1.8, 2.0})
    EXPECT_EQ(held.Hold(At(at), At(9)), At(100)) << at;
  EXPECT_EQ(held.Hold(At(2.2), At(9)), At(9));
}

TEST(LatestEnd, IsUnknownUntilAnEndHeldForASecond) {
  dag::LatestEnd held;
  held.Hold(At(1), absl::InfiniteFuture());
  EXPECT_EQ(held.Hold(At(1.5), At(9)), absl::InfiniteFuture());
  EXPECT_EQ(held.Hold(At(2.6), At(9)), At(9));
}

TEST(LatestEnd, HoldsForTheRequestedTime) {
  dag::LatestEnd held;
  held.Hold(At(1), At(100));
  EXPECT_EQ(held.Hold(At(2), At(9), absl::Seconds(20)), At(100));
  EXPECT_EQ(held.Hold(At(21), At(9), absl::Seconds(20)), At(100)) << "believed until 2";
  EXPECT_EQ(held.Hold(At(22), At(9), absl::Seconds(20)), At(9));
}

TEST(LatestEnd, DropsAnExpiredEndWhileNewerOnesRise) {
  dag::LatestEnd held;
  held.Hold(At(1), At(100));
  for (double at = 2; at < 12; ++at) held.Hold(At(at), At(at + 10), absl::Seconds(10));
  EXPECT_EQ(held.Hold(At(12), At(22), absl::Seconds(10)), At(22));
}

TEST(LatestEnd, AnUnknownEndHoldsForASecondOnly) {
  dag::LatestEnd held;
  held.Hold(At(1), absl::InfiniteFuture());
  held.Hold(At(2), At(100), absl::Seconds(20));
  EXPECT_EQ(held.Hold(At(3), At(100), absl::Seconds(20)), At(100));
}

TEST(LatestEnd, OneUpdateWithoutAnEndDropsNone) {
  dag::LatestEnd held;
  held.Hold(At(1), At(100), absl::Seconds(20));
  EXPECT_EQ(held.Hold(At(2), absl::InfiniteFuture(), absl::Seconds(20)), absl::InfiniteFuture());
  EXPECT_EQ(held.Hold(At(3), At(9), absl::Seconds(20)), absl::InfiniteFuture());
  EXPECT_EQ(held.Hold(At(5), At(9), absl::Seconds(20)), At(100)) << "believed until 2";
  EXPECT_EQ(held.Hold(At(22), At(9), absl::Seconds(20)), At(9));
}

TEST(LatestEnd, HoldsTheLatestOfManyFallingEnds) {
  dag::LatestEnd held;
  absl::Time latest;
  for (int at = 1; at <= 300; ++at) latest = held.Hold(At(at), At(1000 - at), absl::Seconds(200));
  // 200 s ago, the predicted end was 900. That prediction may have been dropped in favour of a
  // neighbour.
  EXPECT_NEAR(absl::ToDoubleSeconds(latest - At(900)), 0, 10);
}

TEST(LatestEnd, HoldsForATenthOfTheTimeOfAGrowingApplication) {
  EXPECT_EQ(dag::HeldFor(absl::Seconds(100), /*may_grow=*/true), absl::Seconds(10));
  EXPECT_EQ(dag::HeldFor(absl::Seconds(2), /*may_grow=*/true), absl::Seconds(1));
  EXPECT_EQ(dag::HeldFor(absl::Seconds(100), /*may_grow=*/false), absl::Seconds(1));
}

// --- in the snapshots of a job

struct Watched {
  JobMonitor monitor{"job-1", {}};
  Source source;
  Snapshot newest;
  ReduceProfile reduced{.attempt = R(0)};
  absl::Status Say(double seconds, EventBody body) {
    return monitor.Apply(source.At(seconds, std::move(body)));
  }
  // Reports one more key group of these bytes and seconds.
  absl::Status Reduce(double at, std::uint64_t bytes, double seconds) {
    reduced.last_group_finished_at = At(at);
    reduced.points = {Point(bytes, seconds)};
    reduced.groups_done += 1;
    reduced.bytes_done += bytes;
    reduced.reduce_time += absl::Seconds(seconds);
    return Say(at, reduced);
  }
  const Estimate& Tick(double seconds) {
    newest = monitor.Tick(At(seconds));
    return newest.estimate;
  }
};

// Returns a job after a map phase of these seconds and with a reduce task that reports no key
// groups.
Watched AfterTheMapPhase(double seconds = 10) {
  Watched job;
  EXPECT_TRUE(job.Say(0, Opened(1, 1)).ok());
  EXPECT_TRUE(job.Say(0, Started(M(0), 100)).ok());
  EXPECT_TRUE(job.Say(seconds, Emitted(M(0), {Partition(0, 4000)})).ok());
  EXPECT_TRUE(job.Say(seconds, Finished(M(0))).ok());
  EXPECT_TRUE(job.Say(seconds, Started(R(0))).ok());
  return job;
}

// Returns a workflow of two jobs at stage 0. The first job has made more progress.
Snapshot OfTwoJobs(double first, double second) {
  Snapshot snapshot;
  for (const std::uint32_t number : {1, 2}) {
    const double done = number == 1 ? first : second;
    snapshot.children.push_back({.number = number});
    snapshot.children.back().estimate.fraction_done = done;
    snapshot.stage_infos.push_back({.id = {.child = number}});
    snapshot.stages.push_back({.id = {.child = number}, .fraction_done = done});
  }
  return snapshot;
}

TEST(ShownProgress, EachJobOfAWorkflowContinuesFromItsOwnProgress) {
  dag::ShownProgress shown;
  Snapshot before = OfTwoJobs(0.8, 0.3);
  shown.KeepMonotonic(before);
  Snapshot after = OfTwoJobs(0.5, 0.4);
  shown.KeepMonotonic(after);
  EXPECT_EQ(after.children[0].estimate.fraction_done, 0.8);
  EXPECT_EQ(after.children[1].estimate.fraction_done, 0.4);
  EXPECT_EQ(after.stages[0].fraction_done, 0.8);
  EXPECT_EQ(after.stages[1].fraction_done, 0.4);
}

TEST(ShownProgress, AReplacingJobStartsAgain) {
  dag::ShownProgress shown;
  Snapshot before = OfTwoJobs(0.8, 0.3);
  shown.KeepMonotonic(before);
  shown.Forget(1);
  Snapshot after = OfTwoJobs(0.1, 0.1);
  shown.KeepMonotonic(after);
  EXPECT_EQ(after.children[0].estimate.fraction_done, 0.1);
  EXPECT_EQ(after.stages[0].fraction_done, 0.1);
  EXPECT_EQ(after.children[1].estimate.fraction_done, 0.3);
}

TEST(ShownProgress, IsRestoredFromThePublishedFraction) {
  dag::ShownProgress shown;
  shown.Restore(0.7);
  Snapshot snapshot;
  shown.KeepMonotonic(snapshot);
  EXPECT_EQ(snapshot.estimate.fraction_done, 0.7);
}

// At the first tick a few small key groups have ended, and the predicted end is near.
TEST(ShownProgress, FirstKeyGroupsDoNotMoveTheBarOfANewJob) {
  Watched job = AfterTheMapPhase(0.1);
  for (const double at : {0.12, 0.14, 0.16, 0.18}) {
    EXPECT_TRUE(job.Reduce(at, 500, 0.02).ok());
  }
  EXPECT_LT(job.Tick(0.2).remaining->median, absl::Seconds(1));
  EXPECT_EQ(job.newest.estimate.fraction_done, 0);
  EXPECT_TRUE(job.Reduce(1.1, 500, 0.9).ok());
  job.Tick(1.2);
  EXPECT_TRUE(job.Reduce(9, 500, 7.8).ok());
  EXPECT_GT(job.Tick(9.1).fraction_done, 0.1);
}

// For any share of the map phase in a job, one half differs from the true progress by at most one
// half.
TEST(ShownProgress, IsHalfwayAfterTheMapPhaseOfAnUnknownJob) {
  Watched job = AfterTheMapPhase();
  const Estimate& forecast = job.Tick(10);
  ASSERT_TRUE(Left(forecast) && Upper(forecast));
  EXPECT_GT(*Upper(forecast), 10 * *Left(forecast));
  EXPECT_NEAR(forecast.fraction_done, 0.5, 0.05);
}

TEST(ShownProgress, NeverFallsWithTheForecast) {
  Watched job = AfterTheMapPhase();
  const double shown = job.Tick(10).fraction_done;
  EXPECT_TRUE(job.Say(11, Shuffled(R(0))).ok());
  // A quarter of the bytes took 100 s, so the remaining time is long.
  EXPECT_TRUE(job.Reduce(111, 1000, 100).ok());
  double before = shown;
  for (double at = 111; at < 160; at += 4) {
    const double now = job.Tick(at).fraction_done;
    EXPECT_GE(now, before) << at;
    before = now;
  }
}

TEST(ShownProgress, NeverFallsInAnyForecastOrStageOfAnyJob) {
  for (const std::size_t seed : {1, 2, 3}) {
    test::VirtualJob told = test::QuadraticJob();
    told.slots = seed;
    JobMonitor monitor("job-1", {});
    std::map<std::string, double> shown;
    std::map<std::uint32_t, double> of_stages;
    double fetched = 0;
    for (const Snapshot& snapshot : test::Watch(Tell(told), 5, monitor)) {
      for (const Estimate& forecast : EstimatesOf(snapshot)) {
        EXPECT_GE(forecast.fraction_done, shown[forecast.indicator]) << forecast.indicator;
        shown[forecast.indicator] = forecast.fraction_done;
      }
      for (const StageProgress& stage : snapshot.stages) {
        EXPECT_GE(stage.fraction_done, of_stages[stage.id.stage]);
        of_stages[stage.id.stage] = stage.fraction_done;
        if (!stage.shuffle) continue;
        EXPECT_GE(stage.shuffle->fraction_done, fetched);
        fetched = stage.shuffle->fraction_done;
      }
    }
  }
}

TEST(ShownProgress, EndsAtOneAfterAPublishedReducePhase) {
  Watched job = AfterTheMapPhase();
  EXPECT_TRUE(job.Say(11, Shuffled(R(0))).ok());
  EXPECT_TRUE(job.Reduce(14, 1000, 3).ok());
  job.Tick(14);
  EXPECT_TRUE(job.Say(20, Closed()).ok());
  job.Tick(20);
  for (const double fraction : LastStagesOf(job.newest)) EXPECT_EQ(fraction, 1);
}

TEST(ShownProgress, ContinuesAfterARestart) {
  Watched job = AfterTheMapPhase();
  const double shown = job.Tick(10).fraction_done;
  Watched again = AfterTheMapPhase();
  ASSERT_TRUE(again.monitor.Resume(job.monitor.Checkpoint()).ok());
  EXPECT_TRUE(again.Say(11, Shuffled(R(0))).ok());
  EXPECT_TRUE(again.Reduce(111, 100, 100).ok());
  EXPECT_GE(again.Tick(111).fraction_done, shown);
}

TEST(ShownProgress, StaysAfterAFailedJob) {
  Watched job = AfterTheMapPhase();
  const double shown = job.Tick(10).fraction_done;
  EXPECT_TRUE(job.Say(12, Closed(JobOutcome::kFailed)).ok());
  const double at_end = job.Tick(12).fraction_done;
  EXPECT_GE(at_end, shown);
  EXPECT_LT(at_end, 0.6);
}

// --- silence

// Returns a job that reduces 100 of 4000 bytes every second until it becomes silent.
Watched ThatFallsSilent(int silent_at = 20) {
  Watched job = AfterTheMapPhase();
  EXPECT_TRUE(job.Say(11, Shuffled(R(0))).ok());
  for (int at = 12; at <= silent_at; ++at) {
    EXPECT_TRUE(job.Reduce(at, 100, 1).ok());
    job.Tick(at);
  }
  return job;
}

TEST(ShownProgress, StaysWhileTheJobIsSilent) {
  Watched job = ThatFallsSilent();
  const Estimate heard = job.Tick(21);
  ASSERT_EQ(SilentFor(job.newest), absl::ZeroDuration());
  ASSERT_TRUE(Left(heard) && Upper(heard));
  Estimate silent = job.Tick(30);
  ASSERT_GT(SilentFor(job.newest), absl::ZeroDuration());
  EXPECT_EQ(silent.fraction_done, heard.fraction_done);
  EXPECT_EQ(Left(silent), Left(heard)) << "no progress was reported";
  silent = job.Tick(300);
  EXPECT_EQ(silent.state, EstimateState::kValid);
  EXPECT_EQ(silent.fraction_done, heard.fraction_done);
  EXPECT_EQ(Left(silent), Left(heard));
}

TEST(ShownProgress, StaysDuringASilenceAcrossRestartsOfTheMaster) {
  Watched job = ThatFallsSilent();
  const Estimate heard = job.Tick(30);
  for (const double restart : {40.0, 100.0}) {
    job.monitor.NoteRestart(At(restart));
    for (const double after : {0.0, 1.0, 2.5, 20.0}) {
      const Estimate silent = job.Tick(restart + after);
      EXPECT_EQ(silent.fraction_done, heard.fraction_done) << restart << " + " << after;
      EXPECT_EQ(Left(silent), Left(heard)) << restart << " + " << after;
    }
  }
}

TEST(ShownProgress, OpensTheIntervalWhileTheJobIsSilent) {
  Watched job = ThatFallsSilent();
  const absl::Duration heard = Upper(job.Tick(21)).value();
  const absl::Duration early = Upper(job.Tick(30)).value();
  // Laplace: a silence of t lasts for 19 t more with a probability of 5 %.
  EXPECT_NEAR(absl::ToDoubleSeconds(early - heard),
              19 * absl::ToDoubleSeconds(SilentFor(job.newest)), 1e-6);
  EXPECT_GT(Upper(job.Tick(60)).value(), early);
}

TEST(ShownProgress, ASilentJobMayHaveContinued) {
  Watched job = ThatFallsSilent();
  const absl::Duration heard = Lower(job.Tick(21)).value();
  ASSERT_GT(heard, absl::Seconds(9));
  const absl::Duration silent = Lower(job.Tick(30)).value();
  ASSERT_GT(SilentFor(job.newest), absl::ZeroDuration());
  EXPECT_EQ(silent, heard - absl::Seconds(9));
  EXPECT_EQ(Lower(job.Tick(300)), absl::ZeroDuration());
}

TEST(ShownProgress, StaysAfterAnAbandonedJob) {
  Watched job = ThatFallsSilent();
  const double heard = job.Tick(21).fraction_done;
  EXPECT_EQ(job.Tick(20 + 15 * 60 + 1).fraction_done, heard);
  EXPECT_EQ(job.newest.state, JobState::kAbandoned);
}

TEST(ShownProgress, ContinuesAfterASilence) {
  Watched job = ThatFallsSilent();
  const double shown = job.Tick(40).fraction_done;
  for (int at = 41; at <= 50; ++at) {
    EXPECT_TRUE(job.Reduce(at, 100, 1).ok());
    job.Tick(at);
  }
  EXPECT_EQ(SilentFor(job.newest), absl::ZeroDuration());
  EXPECT_GT(job.newest.estimate.fraction_done, shown);
}

TEST(ShownProgress, TheUpperBoundIsAtLeastTheGrace) {
  Watched job = ThatFallsSilent(50);
  const Estimate& forecast = job.Tick(50.9);
  ASSERT_EQ(forecast.state, EstimateState::kValid);
  EXPECT_GE(Upper(forecast).value(), 2 * kSecond);
  EXPECT_LT(forecast.fraction_done, 0.999);
}

}  // namespace
}  // namespace tidemark
