#include "text/duration_text.h"

#include "tests/test.h"

namespace tidemark::text::duration_text_test {
namespace {

using absl::Hours;
using absl::Minutes;
using absl::Seconds;
using absl::ZeroDuration;

TEST(DurationText, ShowsTheTwoLargestUnits) {
  EXPECT_EQ(DurationText(ZeroDuration()), "0 s");
  EXPECT_EQ(DurationText(absl::Milliseconds(999)), "0 s");
  EXPECT_EQ(DurationText(Seconds(41)), "41 s");
  EXPECT_EQ(DurationText(Seconds(60)), "1 min");
  EXPECT_EQ(DurationText(Seconds(65)), "1 min 05 s");
  EXPECT_EQ(DurationText(Seconds(200)), "3 min 20 s");
  EXPECT_EQ(DurationText(Hours(2) + Minutes(5) + Seconds(59)), "2 h 05 min");
  EXPECT_EQ(DurationText(Hours(24 * 3 + 4)), "3 d 04 h");
  EXPECT_EQ(DurationText(Hours(24 * 999)), "999 d");
}

TEST(DurationText, ClampsHostileValues) {
  EXPECT_EQ(DurationText(-Seconds(5)), "0 s");
  EXPECT_EQ(DurationText(-absl::InfiniteDuration()), "0 s");
  EXPECT_EQ(DurationText(absl::InfiniteDuration()), "over 999 d");
}

TEST(ElapsedText, HasTenthsBelowTenSeconds) {
  EXPECT_EQ(ElapsedText(absl::Milliseconds(640)), "0.6 s");
  EXPECT_EQ(ElapsedText(Seconds(10)), "10 s");
  EXPECT_EQ(ElapsedText(absl::Milliseconds(114'990)), "1 min 55 s");
  EXPECT_EQ(ElapsedText(-Seconds(1)), "0.0 s");
  EXPECT_EQ(ElapsedText(absl::InfiniteDuration()), "over 999 d");
}

TEST(NearestText, RoundsToTheSmallestShownUnit) {
  EXPECT_EQ(NearestText(absl::Milliseconds(3'599'600)), "1 h");
  EXPECT_EQ(NearestText(Seconds(3600 + 12 * 60 + 29)), "1 h 12 min");
  EXPECT_EQ(NearestText(Seconds(3600 + 12 * 60 + 40)), "1 h 13 min");
}

}  // namespace
}  // namespace tidemark::text::duration_text_test
