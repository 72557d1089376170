#include "whatif/phases/quantity.h"

#include <gtest/gtest.h>

namespace tidemark::phases {
namespace {

TEST(ParseBytes, TakesTheUnitsOfSpark) {
  EXPECT_EQ(*ParseBytes("48m", 1), 48 * kMib);
  EXPECT_EQ(*ParseBytes(" 4G ", 1), 4096 * kMib);
  EXPECT_EQ(*ParseBytes("64kb", 1), 64 * kKib);
  EXPECT_EQ(*ParseBytes("7b", kMib), 7);
  EXPECT_EQ(*ParseBytes("512", kMib), 512 * kMib);
  EXPECT_EQ(*ParseBytes("0", 1), 0);
}

TEST(ParseBytes, RefusesWhatSparkRefuses) {
  for (const char* text :
       {"", "m", "0.5g", "-1m", "12q", "12 m b", "nan", "99999999999999999999", "9000000000g"}) {
    const auto size = ParseBytes(text, 1);
    EXPECT_EQ(size.status().code(), absl::StatusCode::kInvalidArgument) << text;
  }
  EXPECT_EQ(ParseBytes("0.5g", 1).status().message(),
            "\"0.5g\" is not a size such as 512m or 4g, a whole number");
}

TEST(ParseDuration, TakesTheUnitsOfSpark) {
  EXPECT_EQ(*ParseDuration("3s", absl::Milliseconds(1)), absl::Seconds(3));
  EXPECT_EQ(*ParseDuration("500ms", absl::Seconds(1)), absl::Milliseconds(500));
  EXPECT_EQ(*ParseDuration("10", absl::Seconds(1)), absl::Seconds(10));
  EXPECT_EQ(*ParseDuration("2min", absl::Seconds(1)), absl::Minutes(2));
  EXPECT_EQ(*ParseDuration("1d", absl::Seconds(1)), absl::Hours(24));
}

TEST(ParseDuration, RefusesOthers) {
  for (const char* text : {"", "s", "1.5s", "-1s", "1w", "9999999d"}) {
    EXPECT_FALSE(ParseDuration(text, absl::Seconds(1)).ok()) << text;
  }
}

TEST(ParseBool, IsTrueOrFalseInAnyCase) {
  EXPECT_TRUE(*ParseBool("TRUE"));
  EXPECT_FALSE(*ParseBool(" false"));
  EXPECT_FALSE(ParseBool("yes").ok());
  EXPECT_FALSE(ParseBool("").ok());
}

TEST(ParseShare, IsWithinZeroAndOne) {
  EXPECT_DOUBLE_EQ(*ParseShare("0.6"), 0.6);
  for (const char* text : {"1.1", "-0.1", "nan", "inf", "", "60%"}) {
    EXPECT_FALSE(ParseShare(text).ok()) << text;
  }
}

TEST(ParseCount, IsAWholeNumberFromOneOn) {
  EXPECT_EQ(*ParseCount("16", 100), 16);
  for (const char* text : {"0", "-1", "1.5", "101", "", "many"}) {
    EXPECT_FALSE(ParseCount(text, 100).ok()) << text;
  }
}

}  // namespace
}  // namespace tidemark::phases
