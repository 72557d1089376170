#include "cli/console/shown_progress.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/cli/some_snapshots.h"

namespace tidemark::console {
namespace {

Snapshot At(std::uint64_t sequence, double fraction) {
  Snapshot snapshot = SomeSnapshot();
  snapshot.sequence = sequence;
  snapshot.forecasts[0].fraction_done = fraction;
  return snapshot;
}

double Main(const Snapshot& snapshot) { return snapshot.forecasts[0].fraction_done; }

TEST(ShownPercent, IsCutNotRounded) {
  const Snapshot running = SomeSnapshot();
  EXPECT_EQ(ShownPercent(0, running), 0);
  EXPECT_EQ(ShownPercent(0.419, running), 41);
  EXPECT_EQ(ShownPercent(0.29, running), 29) << "100 * 0.29 is below 29";
}

TEST(ShownPercent, IsOneHundredOnlyForAJobThatSucceeded) {
  EXPECT_EQ(ShownPercent(1, SomeSnapshot()), 99);
  EXPECT_EQ(ShownPercent(1, Failed()), 99);
  EXPECT_EQ(ShownPercent(1, Succeeded()), 100);
}

TEST(ShownPercent, HoldsHostileValues) {
  EXPECT_EQ(ShownPercent(std::nan(""), SomeSnapshot()), 0);
  EXPECT_EQ(ShownPercent(-3, SomeSnapshot()), 0);
  EXPECT_EQ(ShownPercent(1e300, SomeSnapshot()), 99);
}

TEST(ShownProgress, WaitsWhileTheEstimateIsBehind) {
  ShownProgress shown;
  EXPECT_EQ(Main(shown.Next(At(1, 0.4))), 0.4);
  EXPECT_EQ(Main(shown.Next(At(2, 0.3))), 0.4);
  EXPECT_EQ(Main(shown.Next(At(3, 0.5))), 0.5);
}

TEST(ShownProgress, LeavesTheRemainingTimeAlone) {
  ShownProgress shown;
  shown.Next(At(1, 0.4));
  Snapshot later = At(2, 0.3);
  later.forecasts[0].remaining = absl::Minutes(30);
  EXPECT_EQ(shown.Next(later).forecasts[0].remaining, absl::Minutes(30));
}

TEST(ShownProgress, KeepsEachIndicatorAndPhaseApart) {
  ShownProgress shown;
  const Snapshot first = shown.Next(At(1, 0.4));
  EXPECT_EQ(first.forecasts[1].fraction_done, 0.88);
  EXPECT_EQ(first.phases[2].fraction_done, 0.3);
  Snapshot second = At(2, 0.41);
  second.forecasts[1].fraction_done = 0.2;
  second.phases[2].fraction_done = 0.1;
  const Snapshot drawn = shown.Next(second);
  EXPECT_EQ(drawn.forecasts[1].fraction_done, 0.88);
  EXPECT_EQ(drawn.phases[2].fraction_done, 0.3);
}

TEST(ShownProgress, EndsAtOneOnlyWhenTheJobSucceeds) {
  ShownProgress shown;
  EXPECT_LT(Main(shown.Next(At(1, 1))), 1);
  EXPECT_LT(Main(ShownProgress().Next(Failed())), 1);
  EXPECT_EQ(Main(shown.Next(Succeeded())), 1);
}

TEST(ShownProgress, StartsAnewWithAnotherJobOrAMasterThatCountsAnew) {
  ShownProgress shown;
  shown.Next(At(5, 0.9));
  EXPECT_EQ(Main(shown.Next(At(1, 0.1))), 0.1);
  Snapshot other = At(6, 0.05);
  other.job_id = "job-2";
  EXPECT_EQ(Main(shown.Next(other)), 0.05);
}

}  // namespace
}  // namespace tidemark::console
