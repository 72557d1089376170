#include "master/forecast/dag/shown_progress.h"

#include "tests/monitor/monitored_job.h"
#include "tests/monitor/virtual_job.h"
#include "tests/test.h"
#include "tidemark/job_monitor.h"

namespace tidemark::shown_progress_test {
namespace {

using dag::FractionDone;
using test::LastStagesOf;
using test::SilentFor;

constexpr absl::Duration kSecond = absl::Seconds(1);

TEST(FractionDone, IsTheElapsedShareOfTheTime) {
  EXPECT_DOUBLE_EQ(FractionDone(30 * kSecond, 10 * kSecond), 0.75);
  EXPECT_DOUBLE_EQ(FractionDone(30 * kSecond, absl::ZeroDuration()), 0.999);
}

TEST(FractionDone, IsAFractionForAllArguments) {
  const absl::Duration all[] = {-absl::InfiniteDuration(), -kSecond, absl::ZeroDuration(),
                                absl::Nanoseconds(1),      kSecond,  absl::Hours(1e12),
                                absl::InfiniteDuration()};
  for (const absl::Duration elapsed : all) {
    for (const absl::Duration remaining : all) {
      const double fraction = FractionDone(elapsed, remaining);
      EXPECT_TRUE(fraction >= 0 && fraction < 1) << elapsed << " " << remaining << ": " << fraction;
    }
  }
}

struct Bar {
  dag::ShownProgress progress;
  Estimate estimate;
  std::optional<EstimateRaised> raised;
  RaiseCause cause = RaiseCause::kSlowerTasks;
  // Shows the progress at this time with this remaining time, which is unknown if negative.
  double Show(double elapsed, double left, std::uint32_t stages = 3) {
    estimate.remaining.reset();
    if (left >= 0) estimate.remaining = Range{.median = absl::Seconds(left)};
    raised = progress.Show(absl::Seconds(elapsed), stages, cause, estimate);
    return estimate.fraction_done;
  }
};

TEST(ShownProgress, IsTheForecast) {
  Bar bar;
  EXPECT_DOUBLE_EQ(bar.Show(30, 10), 0.75);
  EXPECT_DOUBLE_EQ(bar.Show(31, 9), 31.0 / 40);
  EXPECT_DOUBLE_EQ(bar.Show(32, 0), 0.999) << "a running job is not at its end";
  EXPECT_FALSE(bar.raised);
}

// After 1 % more time, the fraction falls by at most 3 x ln 1.01 = 0.02985.
TEST(ShownProgress, MovesBackAtALimitedRate) {
  Bar bar;
  EXPECT_DOUBLE_EQ(bar.Show(90, 10), 0.9);
  EXPECT_NEAR(bar.Show(90.9, 90.9), 0.87015, 1e-5);
  EXPECT_EQ(bar.raised, (EstimateRaised{RaiseCause::kSlowerTasks, 0, 0.9}));
  EXPECT_DOUBLE_EQ(bar.Show(110, 110), 0.5);
}

TEST(ShownProgress, ReportsTheStagesThatAppeared) {
  Bar bar;
  bar.Show(90, 10, 3);
  bar.Show(91, 91, 5);
  EXPECT_EQ(bar.raised, (EstimateRaised{RaiseCause::kMoreStages, 2, 0.9}));
  bar.Show(92, 92, 6);
  EXPECT_EQ(bar.raised, (EstimateRaised{RaiseCause::kMoreStages, 3, 0.9}));
}

TEST(ShownProgress, EarlierStagesDoNotExplainALaterMove) {
  Bar bar;
  bar.Show(90, 10, 3);
  bar.Show(91, 20, 5);
  bar.Show(100, 40, 5);
  EXPECT_EQ(bar.raised, (EstimateRaised{RaiseCause::kMoreStages, 2, 0.9}));
  bar.Show(103, 60, 5);
  EXPECT_EQ(bar.raised, (EstimateRaised{RaiseCause::kSlowerTasks, 0, 100.0 / 140}));
}

TEST(ShownProgress, ReportsTheCauseAtTheTimeOfTheMove) {
  Bar bar{.cause = RaiseCause::kOverdue};
  bar.Show(90, 0);
  bar.Show(100, 10);
  ASSERT_TRUE(bar.raised);
  EXPECT_EQ(bar.raised->cause, RaiseCause::kOverdue);
  bar.cause = RaiseCause::kNotEnded;
  bar.Show(101, 10);
  ASSERT_TRUE(bar.raised);
  EXPECT_EQ(bar.raised->cause, RaiseCause::kOverdue);
}

TEST(ShownProgress, ReplacesAGuessAtOnceAndWithoutAReason) {
  Bar bar;
  bar.estimate.basis = Basis::kGuess;
  EXPECT_DOUBLE_EQ(bar.Show(30, 30), 0.5);
  EXPECT_DOUBLE_EQ(bar.Show(31, 69), 0.31) << "a guess replaces a guess";
  EXPECT_FALSE(bar.raised);
  bar.estimate.basis = Basis::kThisRun;
  EXPECT_DOUBLE_EQ(bar.Show(32, 168), 0.16);
  EXPECT_FALSE(bar.raised);
  bar.Show(33, 267);
  EXPECT_NEAR(bar.raised.value_or(EstimateRaised{}).fraction_done_before, 0.16, 1e-9);
}

TEST(ShownProgress, ReportsALargeMoveForTenSecondsOrUntilTheForecastIsBack) {
  struct Shown {
    double elapsed;
    double left;
    bool is_raised;
  };
  const std::vector<Shown> rows[] = {
      {{90, 10, false}, {91, 30, true}, {92, 10, false}},
      {{90, 10, false}, {100, 100, true}, {105, 95, true}, {116, 84, false}},
      {{90, 10, false}, {91, 11, false}}};
  for (const std::vector<Shown>& row : rows) {
    Bar bar;
    for (const Shown& shown : row) {
      bar.Show(shown.elapsed, shown.left);
      EXPECT_EQ(bar.raised.has_value(), shown.is_raised) << shown.elapsed << " + " << shown.left;
    }
  }
}

TEST(ShownProgress, SmallMovesDoNotProlongTheReport) {
  Bar bar;
  bar.Show(90, 10);
  for (int second = 1; second <= 10; ++second) {
    bar.Show(90 + second, second % 2 == 0 ? 60 : 61);
    EXPECT_TRUE(bar.raised) << second;
  }
  for (int second = 12; second <= 30; ++second) {
    bar.Show(90 + second, second % 2 == 0 ? 60 : 61);
    EXPECT_FALSE(bar.raised) << second;
  }
}

TEST(ShownProgress, StaysWhileTheEndIsUnknownAndThenMovesAtOnce) {
  Bar bar;
  EXPECT_EQ(bar.Show(10, -1), 0);
  bar.Show(30, 10);
  EXPECT_DOUBLE_EQ(bar.Show(60, -1), 0.75);
  EXPECT_DOUBLE_EQ(bar.Show(61, 61), 0.5);
  EXPECT_FALSE(bar.raised);
}

TEST(ShownProgress, ContinuesFromTheRestoredFraction) {
  Bar bar;
  bar.progress.Restore(0.75);
  EXPECT_DOUBLE_EQ(bar.Show(30, 30), 0.75);
  EXPECT_DOUBLE_EQ(bar.Show(60, 60), 0.5);
}

// --- in the snapshots of a job

struct Watched : test::MonitoredJob {
  Snapshot newest;
  ReduceProfile reduced{.attempt = R(0)};
  template <typename... Bodies>
  Watched& Say(double seconds, Bodies... bodies) {
    MonitoredJob::Say(seconds, std::move(bodies)...);
    return *this;
  }
  // Reports another key group with this size and time.
  Watched& Reduce(double at, std::uint64_t bytes, double seconds) {
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

// Returns a job after a map phase with the given duration. It has a reduce task that reports no key
// groups.
Watched AfterTheMapPhase(double seconds = 10) {
  Watched job;
  job.Say(0, Opened(1, 1), Started(M(0), 100)).Say(seconds, Emitted(M(0), {Partition(0, 4000)}));
  job.Say(seconds, Finished(M(0)), Started(R(0)));
  return job;
}

// After a map phase of 10 s, the rest of a job with one reduce task takes exp(1.55 + ln(10) / 3) =
// 10.15 s.
TEST(ShownProgress, AssumesARestAfterTheMapPhaseOfAnUnknownJob) {
  Watched job = AfterTheMapPhase();
  const Estimate& forecast = job.Tick(10);
  ASSERT_TRUE(Left(forecast) && Upper(forecast));
  EXPECT_GT(*Upper(forecast), 8 * *Left(forecast));
  EXPECT_NEAR(forecast.fraction_done, 10 / 20.15, 0.02);
}

// Returns a job whose shown progress has moved back at 30 s.
Watched ThatMovedBack() {
  Watched job = AfterTheMapPhase();
  job.Tick(10);
  job.Say(11, Shuffled(R(0))).Reduce(12, 1000, 0.5);
  const double shown = job.Tick(12).fraction_done;
  EXPECT_GT(shown, 0.7);
  // A small key group takes much longer, and most of the bytes remain.
  job.Reduce(30, 100, 18);
  const Estimate& forecast = job.Tick(30);
  EXPECT_TRUE(Left(forecast).has_value());
  EXPECT_LT(forecast.fraction_done, shown);
  EXPECT_DOUBLE_EQ(forecast.fraction_done,
                   FractionDone(30 * kSecond, Left(forecast).value_or(kSecond)));
  return job;
}

TEST(ShownProgress, AJobReportsAMoveUntilItIsSilent) {
  Watched job = ThatMovedBack();
  ASSERT_TRUE(job.newest.estimate_raised);
  EXPECT_EQ(job.newest.estimate_raised->cause, RaiseCause::kSlowerTasks);
  job.Tick(300);
  EXPECT_GT(SilentFor(job.newest), absl::ZeroDuration());
  EXPECT_FALSE(job.newest.estimate_raised);
}

TEST(ShownProgress, AnEndedJobReportsNoMove) {
  Watched job = ThatMovedBack();
  job.Say(31, Closed());
  job.Tick(31);
  EXPECT_TRUE(job.newest.is_final);
  EXPECT_FALSE(job.newest.estimate_raised);
}

TEST(ShownProgress, EndsAtOneAfterAPublishedReducePhase) {
  Watched job = AfterTheMapPhase();
  job.Say(11, Shuffled(R(0))).Reduce(14, 1000, 3);
  job.Tick(14);
  job.Say(20, Closed());
  job.Tick(20);
  for (const double fraction : LastStagesOf(job.newest)) EXPECT_EQ(fraction, 1);
}

TEST(ShownProgress, ContinuesAfterARestart) {
  Watched job = AfterTheMapPhase();
  job.Tick(10);
  Watched again = AfterTheMapPhase();
  ASSERT_TRUE(again.monitor.Resume(job.monitor.Checkpoint()).ok());
  for (Watched* one : {&job, &again}) {
    one->Say(11, Shuffled(R(0))).Reduce(13, 100, 2);
    one->Tick(13);
  }
  EXPECT_EQ(again.newest.estimate, job.newest.estimate);
  EXPECT_EQ(again.newest.estimate_raised, job.newest.estimate_raised);
}

TEST(ShownProgress, StaysAfterAFailedJob) {
  Watched job = AfterTheMapPhase();
  const double shown = job.Tick(10).fraction_done;
  job.Say(12, Closed(JobOutcome::kFailed));
  const double at_end = job.Tick(12).fraction_done;
  EXPECT_NEAR(at_end, shown, 0.1);
}

// --- silence

// Returns a job that reduces 100 of 4000 bytes every second until it becomes silent.
Watched ThatFallsSilent(int silent_at = 20) {
  Watched job = AfterTheMapPhase();
  job.Say(11, Shuffled(R(0)));
  for (int at = 12; at <= silent_at; ++at) {
    job.Reduce(at, 100, 1);
    job.Tick(at);
  }
  return job;
}

// By Laplace's rule, a silence of t lasts for at least as long again with a probability of one
// half, and for at least another 19 t with a probability of 5 %.
TEST(ShownProgress, StaysAndOpensItsIntervalWhileTheJobIsSilent) {
  Watched job = ThatFallsSilent();
  const Estimate heard = job.Tick(21);
  ASSERT_EQ(SilentFor(job.newest), absl::ZeroDuration());
  ASSERT_TRUE(Left(heard) && Upper(heard));
  ASSERT_GT(Lower(heard).value(), absl::Seconds(9));
  const Estimate early = job.Tick(30);
  const absl::Duration silence = SilentFor(job.newest);
  ASSERT_GT(silence, absl::ZeroDuration());
  EXPECT_EQ(early.fraction_done, heard.fraction_done);
  EXPECT_EQ(Left(early), Left(heard)) << "no progress was reported";
  EXPECT_NEAR(absl::ToDoubleSeconds(Upper(early).value() - Upper(heard).value()),
              19 * absl::ToDoubleSeconds(silence), 1e-6);
  EXPECT_EQ(Lower(early).value(), Lower(heard).value() - absl::Seconds(9)) << "it may continue";
  EXPECT_GT(Upper(job.Tick(60)).value(), Upper(early).value());
  const Estimate late = job.Tick(300);
  EXPECT_EQ(late.state, EstimateState::kValid);
  EXPECT_EQ(late.fraction_done, heard.fraction_done) << "a silent job makes no progress";
  EXPECT_EQ(Left(late), SilentFor(job.newest)) << "longer than the forecast before the silence";
  EXPECT_EQ(Lower(late), absl::ZeroDuration());
  EXPECT_EQ(job.Tick(20 + 15 * 60 + 1).fraction_done, heard.fraction_done);
  EXPECT_EQ(job.newest.state, JobState::kAbandoned);
}

TEST(ShownProgress, MovesBackIfASilenceOutlastsTheForecast) {
  Watched job = ThatFallsSilent(45);
  const Estimate heard = job.Tick(46);
  ASSERT_LT(Left(heard), absl::Seconds(10));
  ASSERT_GT(heard.fraction_done, 0.8);
  const Estimate late = job.Tick(145);
  ASSERT_EQ(SilentFor(job.newest), absl::Seconds(100));
  EXPECT_EQ(Left(late), absl::Seconds(100));
  EXPECT_NEAR(late.fraction_done, 145.0 / 245, 1e-9);
  EXPECT_LE(late.fraction_done_lower, late.fraction_done);
}

// Each master has listened for 20 s. The time without a master counts in neither direction.
TEST(ShownProgress, CountsTheWholeSilenceAcrossRestartsOfTheMaster) {
  Watched job = ThatFallsSilent(45);
  double listened = 20;
  Estimate before = job.Tick(45 + listened);
  ASSERT_LT(before.fraction_done, 0.8);
  for (const double restart : {100.0, 3600.0}) {
    job.monitor.NoteRestart(At(restart));
    for (const double after : {0.0, 1.0, 2.5, 20.0}) {
      const Estimate silent = job.Tick(restart + after);
      EXPECT_LE(silent.fraction_done, before.fraction_done) << restart << " + " << after;
      EXPECT_EQ(Left(silent), absl::Seconds(listened + after)) << restart << " + " << after;
      before = silent;
    }
    listened += 20;
  }
}

TEST(ShownProgress, ACheckpointContainsTheSilenceSoFar) {
  Watched job = ThatFallsSilent(45);
  job.Tick(65);
  Watched again = ThatFallsSilent(45);
  ASSERT_TRUE(again.monitor.Resume(job.monitor.Checkpoint()).ok());
  again.monitor.NoteRestart(At(100));
  EXPECT_EQ(Left(again.Tick(110)), absl::Seconds(30));
}

// After an outage, most jobs report within seconds.
TEST(ShownProgress, DoesNotCountAnOutageOfTheMasterAsSilence) {
  Watched job = ThatFallsSilent();
  const Estimate heard = job.Tick(20);
  job.monitor.NoteRestart(At(3600));
  const Estimate silent = job.Tick(3605);
  EXPECT_EQ(silent.fraction_done, heard.fraction_done);
  EXPECT_EQ(Left(silent), Left(heard));
}

TEST(ShownProgress, ContinuesAfterASilence) {
  Watched job = ThatFallsSilent();
  const double shown = job.Tick(40).fraction_done;
  for (int at = 41; at <= 50; ++at) {
    job.Reduce(at, 100, 1);
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
}  // namespace tidemark::shown_progress_test
