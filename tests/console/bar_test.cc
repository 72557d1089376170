#include "console/bar.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "console/text.h"

namespace tidemark::console {
namespace {

std::string BarText(double fraction, int columns, bool unicode) {
  const Bar bar = MakeBar(fraction, columns, unicode);
  return bar.done + bar.left;
}

TEST(Bar, IsDrawnInEighthsOfAColumn) {
  EXPECT_EQ(BarText(0, 4, true), "░░░░");
  EXPECT_EQ(BarText(0.25, 4, true), "█░░░");
  EXPECT_EQ(BarText(0.3, 4, true), "█▏░░");
  EXPECT_EQ(BarText(0.5, 1, true), "▌");
  EXPECT_EQ(BarText(1, 4, true), "████");
}

TEST(Bar, IsAsciiWithoutUnicode) {
  EXPECT_EQ(BarText(0, 6, false), "[....]");
  EXPECT_EQ(BarText(0.5, 6, false), "[##..]");
  EXPECT_EQ(BarText(1, 6, false), "[####]");
  EXPECT_EQ(BarText(0.5, 3, false), "#..");
}

TEST(Bar, IsFullOnlyForAll) {
  EXPECT_EQ(BarText(0.99999, 4, true), "███▉");
  EXPECT_EQ(BarText(0.99999, 6, false), "[###.]");
}

TEST(Bar, IsExactlyAsWideAsRequested) {
  for (const bool unicode : {false, true}) {
    for (int columns = 0; columns < 60; ++columns) {
      for (int percent = -10; percent <= 120; ++percent) {
        ASSERT_EQ(Columns(BarText(percent / 100.0, columns, unicode)), columns);
      }
    }
  }
}

std::string RangeText(double lower, double upper, int columns, bool unicode) {
  const RangeBar bar = MakeRangeBar(lower, upper, columns, unicode);
  return bar.before + bar.within + bar.after;
}

TEST(RangeBar, ShowsTheInterval) {
  EXPECT_EQ(RangeText(0.25, 0.75, 4, true), "░▒▒░");
  EXPECT_EQ(RangeText(0.1, 0.5, 12, false), "[.----.....]");
  EXPECT_EQ(RangeText(0.5, 0.5, 4, true), "░░▒░") << "a column at least";
  EXPECT_EQ(RangeText(1, 1, 4, true), "░░░▒");
  EXPECT_EQ(RangeText(std::nan(""), -1, 4, true), "▒░░░");
}

TEST(RangeBar, IsExactlyAsWideAsRequested) {
  for (const bool unicode : {false, true}) {
    for (int columns = 0; columns < 60; ++columns) {
      for (int lower = -10; lower <= 120; lower += 7) {
        for (int upper = -10; upper <= 120; upper += 7) {
          ASSERT_EQ(Columns(RangeText(lower / 100.0, upper / 100.0, columns, unicode)), columns);
        }
      }
    }
  }
}

TEST(Bar, ClampsHostileValues) {
  EXPECT_EQ(BarText(std::nan(""), 4, true), "░░░░");
  EXPECT_EQ(BarText(-1, 4, true), "░░░░");
  EXPECT_EQ(BarText(std::numeric_limits<double>::infinity(), 4, true), "████");
  EXPECT_EQ(BarText(0.5, -1, true), "");
}

}  // namespace
}  // namespace tidemark::console
