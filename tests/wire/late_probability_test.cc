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

double Late(const Range& range, double left) {
  const auto late = LateProbability(range, Seconds(left));
  EXPECT_TRUE(late.has_value());
  return late.value_or(-1);
}

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

TEST(LateProbability, IsOneWhenNothingIsLeft) {
  EXPECT_EQ(LateProbability(Between(0, 0, 0), absl::ZeroDuration()), 1);
  EXPECT_EQ(LateProbability({}, -Seconds(5)), 1);
  EXPECT_EQ(LateProbability({}, -absl::InfiniteDuration()), 1);
}

TEST(LateProbability, IsNotKnownWithoutAnIntervalThatMakesSense) {
  EXPECT_EQ(LateProbability({.median = Seconds(5)}, Seconds(9)), std::nullopt);
  EXPECT_EQ(LateProbability({.median = Seconds(5), .lower = Seconds(1)}, Seconds(9)), std::nullopt);
  EXPECT_EQ(LateProbability(Between(7, 5, 9), Seconds(9)), std::nullopt);
  EXPECT_EQ(LateProbability(Between(1, 9, 5), Seconds(9)), std::nullopt);
  EXPECT_EQ(LateProbability(Between(-1, 5, 9), Seconds(9)), std::nullopt);
  Range endless = Between(1, 5, 9);
  endless.upper = absl::InfiniteDuration();
  EXPECT_EQ(LateProbability(endless, Seconds(9)), std::nullopt);
}

TEST(LateProbability, FallsAsThereIsMoreTime) {
  std::mt19937_64 random(7);
  const auto some = [&] { return std::exp(static_cast<double>(random() % 2000) / 100 - 6); };
  for (int i = 0; i < 200; ++i) {
    const double lower = some();
    const double median = lower + some();
    const Range range = Between(lower, median, median + some());
    double before = 1;
    for (double left = 0.01; left < 1e10; left *= 1.5) {
      const double late = Late(range, left);
      EXPECT_LE(late, before) << left;
      EXPECT_GE(late, 0.001);
      before = late;
    }
  }
}

Snapshot Running() {
  Snapshot snapshot = {.job_id = "a", .at = kNow, .state = JobState::kRunning};
  snapshot.estimate = {.state = EstimateState::kValid, .remaining = Between(60, 100, 400)};
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
