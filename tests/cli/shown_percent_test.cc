#include "cli/console/shown_percent.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/cli/some_snapshots.h"

namespace tidemark::console {
namespace {

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

}  // namespace
}  // namespace tidemark::console
