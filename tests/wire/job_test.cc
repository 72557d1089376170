#include "tidemark/job.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <random>

#include "proto/wire/snapshot_delta.h"

namespace tidemark::job_test {
namespace {

using absl::Seconds;

// A job that was cancelled alone does not count, so the text is "1 of 2 jobs done", not "1 of 3".
// Jobs that ended with their workflow count, so the number does not change.
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

double Late(const Range& range, double left, double elapsed = 0) {
  const auto late = LateProbability(range, Seconds(elapsed), Seconds(left));
  EXPECT_TRUE(late.has_value());
  return late.value_or(-1);
}

// The logarithms of both half-widths are equal, so ends before and after the deadline are alike.
TEST(LateProbability, IsOneHalfAtTheMedianOfASymmetricInterval) {
  EXPECT_NEAR(Late(Between(50, 100, 200), 100), 0.5, 1e-9);
  EXPECT_NEAR(Late(Between(98, 100, 100 * 100 / 98.0), 100), 0.5, 1e-9);
  for (const double times : {1.01, 1.5, 2.0, 20.0}) {
    EXPECT_NEAR(Late(Between(50, 100, 200), 100 * times),
                1 - Late(Between(50, 100, 200), 100 / times), 1e-9);
  }
}

TEST(LateProbability, FollowsANarrowIntervalAndDistrustsAWideOne) {
  EXPECT_NEAR(Late(Between(98, 100, 102), 80), 0.999, 1e-9);
  EXPECT_NEAR(Late(Between(98, 100, 102), 101), 0.168, 0.001);
  EXPECT_NEAR(Late(Between(50, 100, 200), 101), 0.485, 0.001);
  EXPECT_NEAR(Late(Between(60, 100, 400), 60), 0.765, 0.001);
  EXPECT_NEAR(Late(Between(60, 100, 400), 400), 0.211, 0.001);
  EXPECT_NEAR(Late(Between(0, 100, 2000), 60), 0.542, 0.001) << "a guess";
}

// The distance of the deadline counts in relation to the total time.
TEST(LateProbability, IsLessSureIfLittleOfALongRunRemains) {
  EXPECT_NEAR(Late(Between(60, 100, 400), 60, 1000), 0.570, 0.001);
  EXPECT_LT(Late(Between(60, 100, 400), 60, 1000), Late(Between(60, 100, 400), 60));
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
}

Snapshot Running() {
  Snapshot snapshot = {.job_id = "a", .at = kNow, .state = JobState::kRunning};
  snapshot.started_at = kNow - Seconds(1000);
  snapshot.estimate.remaining = Between(60, 100, 400);
  snapshot.estimate.state = EstimateState::kValid;
  return snapshot;
}

TEST(LateProbability, OfASnapshotCountsFromItsStart) {
  EXPECT_DOUBLE_EQ(*LateProbability(Running(), kNow + Seconds(60)),
                   Late(Between(60, 100, 400), 60, 1000));
  Snapshot unstarted = Running();
  unstarted.started_at.reset();
  EXPECT_DOUBLE_EQ(*LateProbability(unstarted, kNow + Seconds(60)),
                   Late(Between(60, 100, 400), 60));
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

// A thousand stages wait. Their predicted ends change by a thousandth at each tick.
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
}  // namespace tidemark::job_test
