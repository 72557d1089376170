#include "tidemark/job.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <random>

#include "proto/wire/snapshot_delta.h"

namespace tidemark {
namespace {

using absl::Seconds;

// A job that was cancelled alone does not count, so the text is "1 of 2 jobs done", not "1 of 3".
// Jobs that ended with their workflow count, so the number stays the same.
TEST(CountParts, LeavesOutJobsThatWereCancelledBeforeTheirWorkflow) {
  Snapshot snapshot;
  snapshot.children = {
      {.number = 1, .state = ChildState::kSucceeded},
      {.number = 2, .state = ChildState::kCancelled, .ended_at = absl::UnixEpoch()},
      {.number = 3, .state = ChildState::kRunning}};
  const auto expect = [&](std::uint32_t children, std::uint32_t finished) {
    EXPECT_EQ(CountParts(snapshot).children, children);
    EXPECT_EQ(CountParts(snapshot).finished_children, finished);
  };
  expect(2, 1);
  snapshot.children[2].state = ChildState::kCancelled;
  expect(2, 1);
  for (Child& child : snapshot.children) {
    child.state = ChildState::kCancelled;
    child.ended_at = absl::UnixEpoch();
  }
  expect(3, 0);
}

TEST(PartPassed, IsOneOfAllAndZeroOfNothing) {
  EXPECT_EQ(PartPassed(absl::Seconds(10), absl::Seconds(30)), 0.25);
  EXPECT_EQ(PartPassed(absl::Seconds(10), absl::ZeroDuration()), 1);
  EXPECT_EQ(PartPassed(absl::ZeroDuration(), absl::ZeroDuration()), 0);
  EXPECT_EQ(PartPassed(absl::Seconds(10), absl::InfiniteDuration()), 0);
}

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

// The probability is 1 - 0.45 exp(-3.8) at the lower bound and 0.55 exp(-2) at the upper one.
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

// The median and a lower bound of zero come from a guess, and 60 s remain. 60 s are 0.4 half-widths
// below the median, and 0.4^0.7 = 0.52655. For this run, the result would be 1 - 0.45 exp(-3.8 *
// 0.52655) = 0.9392. With 5 s in place of zero, they are ln(100 / 60) / ln(20) = 0.17052
// half-widths below it by logarithms. A normal distribution has 0.6104 below 1.6449 * 0.17052.
TEST(LateProbability, OfAGuessIsAsUncertainAsItsInterval) {
  const Range range = Between(0, 100, 2000);
  EXPECT_NEAR(Late(range, 60), 0.9392, 0.0001);
  EXPECT_NEAR(Late(Told(Basis::kGuess, range, 0), 60), 0.6104, 0.0001);
  EXPECT_NEAR(Late(Told(Basis::kGuess, range, 0), 5), 0.95, 0.0001);
  EXPECT_NEAR(Late(Told(Basis::kGuess, range, 0), 1), 0.95, 0.0001);
}

// 50 and 200 are half-way to the bounds by logarithms, which are 0.82243 deviations and a
// probability of 0.7946.
TEST(LateProbability, OfAGuessHasFivePercentBeyondEachBound) {
  const Estimate guess = Told(Basis::kGuess, Between(25, 100, 400), 0);
  EXPECT_NEAR(Late(guess, 1), 0.95, 0.0001);
  EXPECT_NEAR(Late(guess, 25), 0.95, 0.0001);
  EXPECT_NEAR(Late(guess, 50), 0.7946, 0.0001);
  EXPECT_NEAR(Late(guess, 100), 0.5, 1e-9);
  EXPECT_NEAR(Late(guess, 200), 0.2054, 0.0001);
  EXPECT_NEAR(Late(guess, 400), 0.05, 0.0001);
}

TEST(LateProbability, FollowsTheIntervalOfPastRuns) {
  EXPECT_NEAR(Late(Told(Basis::kEarlierRuns, Between(25, 100, 400)), 50), 0.7946, 0.0001);
  EXPECT_NEAR(Late(Told(Basis::kUnknown, Between(25, 100, 400)), 50), 0.7946, 0.0001);
}

// 50 is 2/3 of a half-width below the median: 0.66667^0.7 = 0.75290, exp(-3.8 * 0.75290) = 0.05721,
// 1 - 0.45 * 0.05721 = 0.97426, and (0.97426 + 0.7946) / 2 = 0.88443.
TEST(LateProbability, WeighsTheRunByItsKnownShare) {
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

TEST(LateProbability, IsOneWithoutRemainingTime) {
  EXPECT_EQ(LateProbability(Told(Basis::kThisRun, Between(0, 0, 0)), absl::ZeroDuration()), 1);
  EXPECT_EQ(LateProbability(Estimate(), -Seconds(5)), 1);
  EXPECT_EQ(LateProbability(Estimate(), -absl::InfiniteDuration()), 1);
}

TEST(LateProbability, IsUnknownWithoutAValidInterval) {
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

TEST(LateProbability, IsKnownForASuccessfulJob) {
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

const absl::Time kAt = absl::FromUnixNanos(1'700'000'000'123'456'789);

TEST(RoundedPrediction, IsAtMostTwoInAHundredOff) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 2000; ++i) {
    const auto some = [&] {
      return absl::Nanoseconds(static_cast<std::int64_t>(random() >> (5 + random() % 58)));
    };
    Range range = {.median = some()};
    if (random() % 2 == 0) range.lower = std::max(range.median - some(), absl::ZeroDuration());
    if (random() % 2 == 0) range.upper = range.median + some();
    const Range rounded = RoundedPrediction(kAt, range);
    const absl::Duration scale = std::max(
        range.median, range.upper.value_or(range.median) - range.lower.value_or(range.median));
    EXPECT_LE(absl::AbsDuration(rounded.median - range.median), scale / 50);
    EXPECT_EQ(rounded.lower.has_value(), range.lower.has_value());
    EXPECT_EQ(rounded.upper.has_value(), range.upper.has_value());
    EXPECT_LE(rounded.lower.value_or(rounded.median), rounded.median);
    EXPECT_LE(rounded.median, rounded.upper.value_or(rounded.median));
    EXPECT_GE(rounded.lower.value_or(rounded.median), absl::ZeroDuration());
  }
}

TEST(RoundedPrediction, LeavesInvalidRangesUnchanged) {
  for (const absl::Duration odd : {absl::InfiniteDuration(), absl::Hours(24 * 366 * 200)}) {
    EXPECT_EQ(RoundedPrediction(kAt, {.median = odd}).median, odd);
    EXPECT_EQ(RoundedPrediction(kAt, {.median = absl::Seconds(1), .upper = odd}).upper, odd);
  }
  EXPECT_EQ(RoundedPrediction(kAt, {.median = -absl::Seconds(3)}).median, absl::ZeroDuration());
  EXPECT_EQ(RoundedPrediction(kAt, {}), Range{});
}

// A thousand stages wait. Their predicted ends move by a thousandth at each tick.
TEST(RoundedPrediction, LeavesMostPredictionsOutOfADelta) {
  std::mt19937_64 random(1);
  std::normal_distribution<double> moves(0, 0.001);
  const auto at_tick = [&](int tick) {
    Snapshot snapshot = {.job_id = "a", .sequence = static_cast<std::uint64_t>(tick)};
    snapshot.at = kAt + tick * absl::Milliseconds(1037);
    for (std::uint32_t i = 0; i < 1000; ++i) {
      const absl::Time end = kAt + absl::Seconds(100 + i);
      const absl::Duration left = (end - snapshot.at) * (1 + moves(random));
      const Range range = {left, left * 0.9, left * 1.2};
      snapshot.stages.push_back({.id = {0, i}, .ends_in = RoundedPrediction(snapshot.at, range)});
    }
    return snapshot;
  };
  std::size_t changed = 0;
  Snapshot before = at_tick(1);
  for (int tick = 2; tick <= 11; ++tick) {
    const Snapshot now = at_tick(tick);
    const Snapshot delta = wire::Delta(before, now);
    ASSERT_EQ(wire::Apply(before, delta).value(), now);
    changed += delta.stages.size();
    before = now;
  }
  EXPECT_LT(changed, 10u * 1000 / 4) << "without rounding all of them change";
  RecordProperty("changed_of_10000", static_cast<int>(changed));
}

}  // namespace
}  // namespace tidemark
