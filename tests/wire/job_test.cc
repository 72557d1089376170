#include "tidemark/job.h"

#include "proto/wire/snapshot_delta.h"
#include "tests/test.h"

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

// The fraction falls slowly after a raised estimate. Here, 0.8 is shown, while 10 s of 20 s to 30 s
// have passed.
TEST(SnapshotOfGroup, HasItsFractionWithinTheBounds) {
  const absl::Time start = absl::FromUnixSeconds(1'000);
  Snapshot job = {.job_id = "job-1", .at = start + Seconds(10), .state = JobState::kRunning};
  job.groups = {{.group = "sql/0",
                 .state = JobState::kRunning,
                 .fraction_done = 0.8,
                 .started_at = start,
                 .ends_in = Range{Seconds(15), Seconds(10), Seconds(20)}}};
  const Estimate above = SnapshotOfGroup(job, "sql/0").value().estimate;
  EXPECT_NEAR(above.fraction_done_lower, 1 / 3.0, 1e-9);
  EXPECT_EQ(above.fraction_done_upper, 0.8);
  job.groups[0].fraction_done = 0.2;
  const Estimate below = SnapshotOfGroup(job, "sql/0").value().estimate;
  EXPECT_EQ(below.fraction_done_lower, 0.2);
  EXPECT_EQ(below.fraction_done_upper, 0.5);
}

TEST(PartPassed, IsOneOfAllAndZeroOfNothing) {
  EXPECT_EQ(PartPassed(absl::Seconds(10), absl::Seconds(30)), 0.25);
  EXPECT_EQ(PartPassed(absl::Seconds(10), absl::ZeroDuration()), 1);
  EXPECT_EQ(PartPassed(absl::ZeroDuration(), absl::ZeroDuration()), 0);
  EXPECT_EQ(PartPassed(absl::Seconds(10), absl::InfiniteDuration()), 0);
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
