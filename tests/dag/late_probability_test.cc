#include "tidemark/late_probability.h"

#include "tests/test.h"

namespace tidemark::late_probability_test {
namespace {

using absl::Seconds;

const absl::Time kNow = absl::FromUnixSeconds(1'700'000'000);

Range Between(double lower, double median, double upper) {
  return {.median = Seconds(median), .lower = Seconds(lower), .upper = Seconds(upper)};
}

double Late(const Range& range, double left, double elapsed = 0) {
  const auto late = LateProbability(range, Seconds(elapsed), Seconds(left));
  EXPECT_TRUE(late.has_value());
  return late.value_or(-1);
}

TEST(LateProbability, IsThatOfTheIntervalAtItsBoundsAndItsMedian) {
  for (const double elapsed : {0.0, 100.0, 1e5}) {
    for (const Range& range : {Between(50, 100, 200), Between(5, 60, 1100), Between(98, 99, 300)}) {
      const auto late = [&](absl::Duration left) {
        return Late(range, absl::ToDoubleSeconds(left), elapsed);
      };
      EXPECT_NEAR(late(*range.lower), 0.95, 1e-9);
      EXPECT_NEAR(late(range.median), 0.5, 1e-9);
      EXPECT_NEAR(late(*range.upper), 0.05, 1e-9);
    }
  }
}

// Both half-widths are ln 2, which is 1.645 deviations.
TEST(LateProbability, IsNormalInsideTheInterval) {
  const Range range = Between(50, 100, 200);
  EXPECT_NEAR(Late(range, 100 * std::sqrt(2)), 0.2054, 0.0001);  // 0.8225 deviations
  EXPECT_NEAR(Late(range, 100 / std::sqrt(2)), 1 - 0.2054, 0.0001);
}

TEST(LateProbability, FallsByAFactorOfTenForEachHalfWidthOutsideTheInterval) {
  const Range range = Between(50, 100, 200);
  EXPECT_NEAR(Late(range, 400), 0.005, 1e-9);
  EXPECT_NEAR(Late(range, 25), 0.995, 1e-9);
}

// The lower half-width is ln (100 / 1e-9) = 25.3, of which ln (100 / 60) is a fiftieth, which is
// 0.033 deviations.
TEST(LateProbability, AGuessIsNearOneHalf) {
  EXPECT_NEAR(Late(Between(0, 100, 2000), 60), 0.513, 0.001);
}

// A deadline at 150 s is ln 1.5 / ln 2 = 0.585 half-widths away at the start, and
// ln (1150 / 1100) / ln (1200 / 1100) = 0.511 after 1,000 s. These are 0.962 and 0.840 deviations.
TEST(LateProbability, CountsTheDistanceOfTheDeadlineInTotalTime) {
  EXPECT_NEAR(Late(Between(50, 100, 200), 150), 0.168, 0.001);
  EXPECT_NEAR(Late(Between(50, 100, 200), 150, 1000), 0.200, 0.001);
}

TEST(LateProbability, IsNeverCertainWhileThereIsTime) {
  EXPECT_DOUBLE_EQ(Late(Between(60, 100, 400), 1e9), 0.001);
  EXPECT_DOUBLE_EQ(Late(Between(100, 100, 100), 99), 0.999);
  EXPECT_DOUBLE_EQ(Late(Between(100, 100, 100), 101), 0.001);
  EXPECT_DOUBLE_EQ(Late(Between(0, 0, 0), 1), 0.001);
}

TEST(LateProbability, IsOneWithoutRemainingTime) {
  const Range range = Between(0, 0, 0);
  for (const absl::Duration left : {absl::ZeroDuration(), -Seconds(5), -absl::InfiniteDuration()}) {
    EXPECT_EQ(LateProbability(range, Seconds(1), left), 1);
  }
}

TEST(LateProbability, IsUnknownWithoutAValidInterval) {
  Range endless = Between(1, 5, 9);
  endless.upper = absl::InfiniteDuration();
  for (const Range& range :
       {Range{.median = Seconds(5)}, Range{.median = Seconds(5), .lower = Seconds(1)},
        Between(7, 5, 9), Between(1, 9, 5), Between(-1, 5, 9), endless}) {
    EXPECT_EQ(LateProbability(range, Seconds(1), Seconds(9)), std::nullopt);
  }
}

TEST(LateProbability, FallsAsThereIsMoreTime) {
  std::mt19937_64 random(7);
  const auto some = [&] { return std::exp(static_cast<double>(random() % 2000) / 100 - 6); };
  for (int i = 0; i < 200; ++i) {
    const double lower = some();
    const double median = lower + some();
    const Range range = Between(lower, median, median + some());
    const double elapsed = i % 2 == 0 ? 0 : some();
    double before = 1;
    for (double left = 0.01; left < 1e10; left *= 1.5) {
      const double late = Late(range, left, elapsed);
      EXPECT_LE(late, before + 1e-9) << left;
      EXPECT_GE(late, 0.001);
      before = late;
    }
  }
  EXPECT_DOUBLE_EQ(*LateProbability(Between(1, 2, 3), Seconds(1), absl::InfiniteDuration()), 0.001);
}

Snapshot Running() {
  Snapshot snapshot = {.job_id = "a", .at = kNow, .state = JobState::kRunning};
  snapshot.started_at = kNow - Seconds(1000);
  snapshot.estimate.remaining = Between(60, 100, 400);
  snapshot.estimate.state = EstimateState::kValid;
  return snapshot;
}

TEST(LateProbability, OfASnapshotCountsFromItsStart) {
  EXPECT_DOUBLE_EQ(*LateProbability(Running(), kNow + Seconds(70)),
                   Late(Between(60, 100, 400), 70, 1000));
  Snapshot unstarted = Running();
  unstarted.started_at.reset();
  EXPECT_DOUBLE_EQ(*LateProbability(unstarted, kNow + Seconds(70)),
                   Late(Between(60, 100, 400), 70));
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

}  // namespace
}  // namespace tidemark::late_probability_test
