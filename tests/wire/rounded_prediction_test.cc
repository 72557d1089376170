#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "proto/wire/snapshot_delta.h"
#include "tidemark/job.h"

namespace tidemark {
namespace {

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

TEST(RoundedPrediction, LeavesAloneWhatIsNoPrediction) {
  for (const absl::Duration odd : {absl::InfiniteDuration(), absl::Hours(24 * 366 * 200)}) {
    EXPECT_EQ(RoundedPrediction(kAt, {.median = odd}).median, odd);
    EXPECT_EQ(RoundedPrediction(kAt, {.median = absl::Seconds(1), .upper = odd}).upper, odd);
  }
  EXPECT_EQ(RoundedPrediction(kAt, {.median = -absl::Seconds(3)}).median, absl::ZeroDuration());
  EXPECT_EQ(RoundedPrediction(kAt, {}), Range{});
}

// A thousand stages that wait, whose predicted ends move by a thousandth at each tick.
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
