#include "console/duration_text.h"

#include "tests/test.h"

namespace tidemark::console::duration_text_test {
namespace {

using absl::Hours;
using absl::Minutes;
using absl::Seconds;
using absl::ZeroDuration;

TEST(RangeText, SharesTheUnit) {
  EXPECT_EQ(RangeText(Seconds(35), Seconds(52), false), "35-52 s");
  EXPECT_EQ(RangeText(Seconds(35), Seconds(52), true), "35–52 s");
  EXPECT_EQ(RangeText(ZeroDuration(), Seconds(60), false), "0-60 s");
  EXPECT_EQ(RangeText(Minutes(5), Minutes(10), false), "5-10 min");
  EXPECT_EQ(RangeText(Hours(2), Hours(4), false), "2-4 h");
  EXPECT_EQ(RangeText(Seconds(170), Seconds(250), false), "2 min 50 s - 4 min 10 s");
}

TEST(RangeText, ShowsBothBoundsOrAnOpenEnd) {
  EXPECT_EQ(RangeText(ZeroDuration(), Minutes(3), false), "0-3 min");
  EXPECT_EQ(RangeText(ZeroDuration(), Seconds(110), false), "0 - 1 min 50 s");
  EXPECT_EQ(RangeText(Seconds(35), absl::InfiniteDuration(), false), "35 s or more");
  EXPECT_EQ(RangeText(Hours(24 * 1000), absl::InfiniteDuration(), false), "over 999 d");
  EXPECT_EQ(RangeText(Seconds(35), Seconds(35), false), "35 s");
}

TEST(RoundingStep, GrowsWithThePrecision) {
  EXPECT_EQ(RoundingStep(ZeroDuration()), Seconds(1));
  EXPECT_EQ(RoundingStep(Seconds(4)), Seconds(1));
  EXPECT_EQ(RoundingStep(Seconds(5)), Seconds(5));
  EXPECT_EQ(RoundingStep(Seconds(29)), Seconds(10));
  EXPECT_EQ(RoundingStep(Seconds(30)), Seconds(30));
  EXPECT_EQ(RoundingStep(Minutes(4)), Minutes(1));
  EXPECT_EQ(RoundingStep(Minutes(29)), Minutes(10));
  EXPECT_EQ(RoundingStep(Hours(5)), Hours(1));
  EXPECT_EQ(RoundingStep(absl::InfiniteDuration()), Hours(24));
}

TEST(RoundToKnown, IsExactToTheSecondWhenTheIntervalIsNarrow) {
  const KnownRemaining known = RoundToKnown(Seconds(41.4), Seconds(35.2), Seconds(51.1));
  EXPECT_EQ(known, (KnownRemaining{Seconds(41), Seconds(35), Seconds(52), true}));
}

TEST(RoundedWithin, KeepsTheOrderOfInstantsAndEndsLikeTheWhole) {
  for (const Range& whole : {Range{Seconds(795), Seconds(120), Seconds(3000)},
                             Range{Seconds(795), Seconds(790), Seconds(800)}, Range{Seconds(795)},
                             Range{Minutes(3000), Minutes(1), Minutes(9000)}}) {
    absl::Duration before;
    for (int second = 0; absl::Seconds(second) <= whole.median; ++second) {
      const absl::Duration rounded = RoundedWithin(absl::Seconds(second), whole);
      EXPECT_GE(rounded, before) << second;
      before = rounded;
    }
    EXPECT_EQ(before, RoundToKnown(whole.median, whole.lower, whole.upper).remaining);
  }
}

TEST(RoundToKnown, IsCoarseWhenTheIntervalIsWide) {
  EXPECT_EQ(RoundToKnown(Seconds(198), Seconds(171), Seconds(249)),
            (KnownRemaining{Seconds(200), Seconds(170), Seconds(250), true}));
  EXPECT_EQ(RoundToKnown(Minutes(50), Minutes(22), Minutes(81)),
            (KnownRemaining{Minutes(50), Minutes(20), Minutes(90), true}));
  EXPECT_EQ(RoundToKnown(Seconds(180), Seconds(58), Seconds(527)),
            (KnownRemaining{Minutes(3), Seconds(50), Minutes(9), true}));
}

TEST(RoundToKnown, RoundsNoMedianToZeroAndBothBoundsToOneUnit) {
  EXPECT_EQ(RoundToKnown(Minutes(11), Minutes(1), Minutes(207)),
            (KnownRemaining{Minutes(10), Minutes(1), Minutes(210), true}));
  EXPECT_EQ(RoundToKnown(Seconds(4.6), Seconds(2.2), Seconds(29)),
            (KnownRemaining{Seconds(5), Seconds(2), Seconds(30), true}));
  EXPECT_EQ(RoundToKnown(Minutes(11), Seconds(20), Minutes(207)),
            (KnownRemaining{Minutes(10), Minutes(0), Minutes(210), true}));
  EXPECT_EQ(RoundToKnown(Seconds(50), Seconds(45), Minutes(9)),
            (KnownRemaining{Seconds(50), Seconds(40), Minutes(9), true}));
}

TEST(RoundToKnown, KeepsTheLowerBoundOfAnOpenInterval) {
  EXPECT_EQ(RoundToKnown(Hours(24 * 999), Seconds(35), absl::InfiniteDuration()).lower,
            Seconds(30));
}

TEST(RoundToKnown, KeepsATenthWithoutAnInterval) {
  EXPECT_EQ(RoundToKnown(Seconds(41.4), {}, {}).remaining, Seconds(41));
  EXPECT_EQ(RoundToKnown(Seconds(198), {}, {}).remaining, Seconds(200));
  EXPECT_EQ(RoundToKnown(Minutes(127), {}, {}).remaining, Minutes(130));
  EXPECT_FALSE(RoundToKnown(Seconds(41), {}, {}).has_range);
  EXPECT_FALSE(RoundToKnown(Seconds(41), Seconds(3), {}).has_range) << "half an interval is none";
}

TEST(RoundToKnown, CapsLongDurations) {
  const auto text = [](absl::Duration left) {
    return DurationText(RoundToKnown(left, {}, {}).remaining);
  };
  EXPECT_EQ(text(absl::InfiniteDuration()), "over 999 d");
  EXPECT_EQ(text(Hours(24 * 5000)), "over 999 d");
  EXPECT_EQ(text(Hours(24 * 998)), "998 d");
}

TEST(RoundToKnown, CorrectsContradictions) {
  EXPECT_EQ(RoundToKnown(Seconds(-3), Seconds(-9), Seconds(-1)).remaining, ZeroDuration());
  EXPECT_EQ(RoundToKnown(Seconds(9), Seconds(12), Seconds(4)),
            (KnownRemaining{Seconds(9), Seconds(9), Seconds(9), true}));
}

TEST(RoundToKnown, KeepsItsOrderForAnyArguments) {
  std::mt19937_64 random(7);
  const absl::Duration special[] = {absl::InfiniteDuration(), -absl::InfiniteDuration(),
                                    ZeroDuration(), absl::Nanoseconds(1)};
  const auto any = [&]() -> absl::Duration {
    if (random() % 8 == 0) return special[random() % 4];
    return absl::Milliseconds(static_cast<std::int64_t>(random() % 100'000'000) - 1'000'000);
  };
  for (int i = 0; i < 20'000; ++i) {
    const KnownRemaining known = RoundToKnown(any(), any(), any());
    ASSERT_LE(ZeroDuration(), known.lower);
    ASSERT_LE(known.lower, known.remaining);
    ASSERT_LE(known.remaining, known.upper);
    ASSERT_LT(known.upper, Hours(24 * 1010));
  }
}

TEST(RoundToKnown, RoundsTheBoundsOutwards) {
  std::mt19937_64 random(7);
  const auto any = [&] {
    return absl::Milliseconds(static_cast<std::int64_t>(random() % 100'000'000));
  };
  for (int i = 0; i < 20'000; ++i) {
    const absl::Duration lower = any();
    const absl::Duration median = lower + any();
    const absl::Duration upper = median + Seconds(1) + any();
    const KnownRemaining known = RoundToKnown(median, lower, upper);
    ASSERT_LE(known.lower, lower);
    ASSERT_GE(known.upper, upper);
  }
}

}  // namespace
}  // namespace tidemark::console::duration_text_test
