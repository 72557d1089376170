#include <gtest/gtest.h>

#include <cmath>
#include <optional>
#include <random>

#include "tidemark/job.h"

namespace tidemark {
namespace {

using absl::Seconds;

const absl::Time kNow = absl::FromUnixSeconds(1'700'000'000);

Range Between(double lower, double median, double upper) {
  return {.median = Seconds(median), .lower = Seconds(lower), .upper = Seconds(upper)};
}

Estimate Told(Basis basis, const Range& range, double known_share = 1) {
  return {.remaining = range, .basis = basis, .known_share = known_share};
}

double Late(const Estimate& estimate, double left) {
  const auto late = LateProbability(estimate, Seconds(left));
  EXPECT_TRUE(late.has_value());
  return late.value_or(-1);
}
double Late(const Range& range, double left) { return Late(Told(Basis::kThisRun, range), left); }

// 1 - 0.45 exp(-3.8) at the lower bound, 0.55 exp(-2) at the upper one.
TEST(LateProbability, IsSmallBeyondTheRange) {
  const Range range = Between(60, 100, 400);
  EXPECT_NEAR(Late(range, 60), 0.9899, 0.0001);
  EXPECT_NEAR(Late(range, 100), 0.55, 1e-9);
  EXPECT_NEAR(Late(range, 400), 0.0744, 0.0001);
}

// 80 is half-way to the lower bound, 200 half-way to the upper one by logarithms:
// 0.5^0.7 = 0.61557, exp(-3.8 * 0.61557) = 0.09641, exp(-2 * 0.61557) = 0.29196.
TEST(LateProbability, FallsInHalfWidthsByLogarithmsAboveTheMedian) {
  const Range range = Between(60, 100, 400);
  EXPECT_NEAR(Late(range, 80), 1 - 0.45 * 0.09641, 0.0001);
  EXPECT_NEAR(Late(range, 200), 0.55 * 0.29196, 0.0001);
}

TEST(LateProbability, IsNeverCertainWhileThereIsTime) {
  EXPECT_DOUBLE_EQ(Late(Between(60, 100, 400), 1e9), 0.001);
  EXPECT_DOUBLE_EQ(Late(Between(100, 100, 100), 99), 0.999);
  EXPECT_DOUBLE_EQ(Late(Between(100, 100, 100), 101), 0.001);
  EXPECT_DOUBLE_EQ(Late(Between(0, 0, 0), 1), 0.001);
  EXPECT_NEAR(Late(Between(0, 0, 10), 10), 0.0744, 0.0001);
}

// The median and what reaches down to now are those of a guess by the map side, and 60 s are left:
// 0.4 half-widths below the median, 0.4^0.7 = 0.52655, 1 - 0.45 exp(-3.8 * 0.52655) = 0.9392 would
// be said of what the run tells. By logarithms, with 5 s for now, they are ln(100 / 60) / ln(20) =
// 0.17052 half-widths below it, and a normal distribution has 0.6104 below 1.6449 * 0.17052.
TEST(LateProbability, OfAGuessIsAsUncertainAsItsInterval) {
  const Range range = Between(0, 100, 2000);
  EXPECT_NEAR(Late(range, 60), 0.9392, 0.0001);
  EXPECT_NEAR(Late(Told(Basis::kGuess, range, 0), 60), 0.6104, 0.0001);
  EXPECT_NEAR(Late(Told(Basis::kGuess, range, 0), 5), 0.95, 0.0001);
  EXPECT_NEAR(Late(Told(Basis::kGuess, range, 0), 1), 0.95, 0.0001);
}

// 50 and 200 are half-way to the bounds by logarithms: 0.82243 deviations, 0.7946.
TEST(LateProbability, OfAGuessHasFivePercentBeyondEachBound) {
  const Estimate guess = Told(Basis::kGuess, Between(25, 100, 400), 0);
  EXPECT_NEAR(Late(guess, 1), 0.95, 0.0001);
  EXPECT_NEAR(Late(guess, 25), 0.95, 0.0001);
  EXPECT_NEAR(Late(guess, 50), 0.7946, 0.0001);
  EXPECT_NEAR(Late(guess, 100), 0.5, 1e-9);
  EXPECT_NEAR(Late(guess, 200), 0.2054, 0.0001);
  EXPECT_NEAR(Late(guess, 400), 0.05, 0.0001);
}

TEST(LateProbability, OfEarlierRunsIsWhatTheirIntervalSays) {
  EXPECT_NEAR(Late(Told(Basis::kEarlierRuns, Between(25, 100, 400)), 50), 0.7946, 0.0001);
  EXPECT_NEAR(Late(Told(Basis::kUnknown, Between(25, 100, 400)), 50), 0.7946, 0.0001);
}

// 50 is 2/3 of a half-width below the median: 0.66667^0.7 = 0.75290, exp(-3.8 * 0.75290) = 0.05721,
// 1 - 0.45 * 0.05721 = 0.97426, and (0.97426 + 0.7946) / 2 = 0.88443.
TEST(LateProbability, BelievesARunAsFarAsItTellsOfWhatIsLeft) {
  const Range range = Between(25, 100, 400);
  EXPECT_NEAR(Late(Told(Basis::kThisRun, range, 1), 50), 0.97426, 0.0001);
  EXPECT_NEAR(Late(Told(Basis::kThisRun, range, 0.5), 50), 0.88443, 0.0001);
  EXPECT_NEAR(Late(Told(Basis::kThisRun, range, 0), 50), 0.7946, 0.0001);
  EXPECT_NEAR(Late(Told(Basis::kThisRun, range, std::nan("")), 50), 0.7946, 0.0001);
}

TEST(LateProbability, OfAGuessIsNeverCertainWhileThereIsTime) {
  const auto guess = [](double lower, double median, double upper) {
    return Told(Basis::kGuess, Between(lower, median, upper), 0);
  };
  EXPECT_DOUBLE_EQ(Late(guess(60, 100, 400), 1e9), 0.001);
  EXPECT_NEAR(Late(guess(100, 100, 100), 99), 0.95, 0.0001);
  EXPECT_DOUBLE_EQ(Late(guess(100, 100, 100), 101), 0.001);
  EXPECT_DOUBLE_EQ(Late(guess(0, 0, 0), 1), 0.001);
  EXPECT_NEAR(Late(guess(0, 0, 10), 10), 0.05, 0.0001);
}

TEST(LateProbability, IsOneWhenNothingIsLeft) {
  EXPECT_EQ(LateProbability(Told(Basis::kThisRun, Between(0, 0, 0)), absl::ZeroDuration()), 1);
  EXPECT_EQ(LateProbability(Estimate(), -Seconds(5)), 1);
  EXPECT_EQ(LateProbability(Estimate(), -absl::InfiniteDuration()), 1);
}

TEST(LateProbability, IsNotKnownWithoutAnIntervalThatMakesSense) {
  Range endless = Between(1, 5, 9);
  endless.upper = absl::InfiniteDuration();
  for (const Range& range :
       {Range{.median = Seconds(5)}, Range{.median = Seconds(5), .lower = Seconds(1)},
        Between(7, 5, 9), Between(1, 9, 5), Between(-1, 5, 9), endless}) {
    for (const Basis basis : {Basis::kGuess, Basis::kThisRun}) {
      EXPECT_EQ(LateProbability(Told(basis, range), Seconds(9)), std::nullopt);
    }
  }
  EXPECT_EQ(LateProbability(Estimate(), Seconds(9)), std::nullopt);
}

TEST(LateProbability, FallsAsThereIsMoreTime) {
  std::mt19937_64 random(7);
  const auto some = [&] { return std::exp(static_cast<double>(random() % 2000) / 100 - 6); };
  for (int i = 0; i < 200; ++i) {
    const double lower = some();
    const double median = lower + some();
    const Range range = Between(lower, median, median + some());
    const Estimate estimate = Told(Basis::kThisRun, range, 0.25 * static_cast<double>(i % 5));
    double before = 1;
    for (double left = 0.01; left < 1e10; left *= 1.5) {
      const double late = Late(estimate, left);
      EXPECT_LE(late, before) << left;
      EXPECT_GE(late, 0.001);
      before = late;
    }
  }
}

Snapshot Running() {
  Snapshot snapshot = {.job_id = "a", .at = kNow, .state = JobState::kRunning};
  snapshot.estimate = Told(Basis::kThisRun, Between(60, 100, 400));
  snapshot.estimate.state = EstimateState::kValid;
  return snapshot;
}

TEST(LateProbability, OfASnapshotCountsFromItsInstant) {
  EXPECT_NEAR(*LateProbability(Running(), kNow + Seconds(100)), 0.55, 1e-9);
}

TEST(LateProbability, OfASnapshotIsOneFromTheDeadlineOn) {
  Snapshot snapshot = Running();
  EXPECT_EQ(LateProbability(snapshot, kNow), 1);
  snapshot.estimate.remaining.reset();
  EXPECT_EQ(LateProbability(snapshot, kNow - Seconds(1)), 1);
  EXPECT_EQ(LateProbability(snapshot, kNow + Seconds(1)), std::nullopt);
}

TEST(LateProbability, OfAnEndedJobIsKnownIfItEndedWell) {
  Snapshot snapshot = Running();
  snapshot.is_final = true;
  snapshot.state = JobState::kSucceeded;
  snapshot.ended_at = kNow;
  EXPECT_EQ(LateProbability(snapshot, kNow), 0);
  EXPECT_EQ(LateProbability(snapshot, kNow - Seconds(1)), 1);
  for (const JobState bad : {JobState::kFailed, JobState::kKilled, JobState::kAbandoned}) {
    snapshot.state = bad;
    EXPECT_EQ(LateProbability(snapshot, kNow + Seconds(9)), std::nullopt);
  }
}

}  // namespace
}  // namespace tidemark
