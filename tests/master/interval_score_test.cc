#include "master/forecast/durations/interval_score.h"

#include <gtest/gtest.h>

#include <limits>
#include <optional>
#include <vector>

namespace tidemark::model {
namespace {

constexpr absl::Time kStart = absl::UnixEpoch();

absl::Time At(double seconds) { return kStart + absl::Seconds(seconds); }

EndPrediction Said(double at, double end, double lower, double upper) {
  return {.at = At(at), .end = At(end), .lower = At(lower), .upper = At(upper)};
}

// Ten of them, which is what a score takes.
std::vector<EndPrediction> Always(const EndPrediction& said) { return {10, said}; }

std::vector<PastRun> Runs(std::size_t count, std::optional<double> score) {
  return std::vector<PastRun>(count, {.interval_score = score});
}

TEST(IntervalScore, IsHowManyHalfWidthsTheEndWasAway) {
  const auto too_early = Always(Said(10, 100, 90, 120));
  EXPECT_DOUBLE_EQ(*IntervalScore(too_early, kStart, At(130), 1), 1.5);  // 30 of 20 above
  const auto too_late = Always(Said(80, 160, 100, 170));
  EXPECT_DOUBLE_EQ(*IntervalScore(too_late, kStart, At(130), 1), 0.5);  // 30 of 60 below
}

TEST(IntervalScore, IsWhatNineOfTenLooksDoNotExceed) {
  std::vector<EndPrediction> looks;
  for (int i = 1; i <= 10; ++i) looks.push_back(Said(i, 100, 90, 110));
  looks[3].upper = At(101);  // 20 half-widths
  looks[6].upper = At(105);  // 4
  EXPECT_DOUBLE_EQ(*IntervalScore(looks, kStart, At(120), 1), 4);
}

TEST(IntervalScore, CountsLooksWithAnIntervalWhileTheJobRan) {
  for (const EndPrediction& said :
       {EndPrediction{.at = At(1)}, EndPrediction{.at = At(2), .end = At(5)}, Said(-1, 5, 4, 6),
        Said(11, 15, 14, 16)}) {
    EXPECT_FALSE(IntervalScore(Always(said), kStart, At(10), 1));
  }
  std::vector<EndPrediction> looks = Always(Said(1, 5, 4, 6));
  EXPECT_TRUE(IntervalScore(looks, kStart, At(10), 1));
  looks.pop_back();
  EXPECT_FALSE(IntervalScore(looks, kStart, At(10), 1)) << "too few";
}

TEST(IntervalScore, OfNoWidthIsBounded) {
  const auto looks = Always(Said(1, 100, 100, 100));
  EXPECT_DOUBLE_EQ(*IntervalScore(looks, kStart, At(100), 1), 0);
  EXPECT_DOUBLE_EQ(*IntervalScore(looks, kStart, At(101), 1), 20);
}

// Else every run would take back what the one before it taught.
TEST(IntervalScore, IsThatWithoutTheFactorOfEarlierRuns) {
  const EndPrediction said = ByEarlierRuns(Said(10, 100, 80, 120), 2);
  EXPECT_DOUBLE_EQ(*IntervalScore(Always(said), kStart, At(130), 2), 1.5);
}

TEST(WidthFactor, IsOneWhereNothingIsKnown) {
  EXPECT_EQ(WidthFactor({}), 1);
  EXPECT_EQ(WidthFactor(Runs(8, std::nullopt)), 1);
}

// 19 made-up scores |z| / 1.64485 at 5, 10 ... 95 %, of which the 18th is 1 and the 19th 1.95996 /
// 1.64485 = 1.19157, and one of 5: the 0.9 * 21 = 18.9th.
TEST(WidthFactor, OneRunMovesItByLittle) {
  EXPECT_NEAR(WidthFactor(Runs(1, 5)), 1 + 0.9 * 0.19157, 1e-5);
}

TEST(WidthFactor, IsWhatNineOfTenRunsWouldHaveNeeded) {
  EXPECT_DOUBLE_EQ(WidthFactor(Runs(8, 2)), 2);
  // The 0.9 * 28 = 25.2th of 27: between the 17th, 1.43953 / 1.64485 = 0.87517, and the 18th of
  // those made up.
  EXPECT_NEAR(WidthFactor(Runs(8, 0.1)), 0.87517 + 0.2 * (1 - 0.87517), 1e-5);
}

TEST(WidthFactor, IsFiniteAndAboveZeroWhateverALogSays) {
  const double most = std::numeric_limits<double>::max();
  EXPECT_EQ(WidthFactor(Runs(1000, most)), 20);
  EXPECT_GT(WidthFactor(Runs(8, -most)), 0);
}

TEST(WidthFactor, AScoreThatIsNoNumberTellsNothing) {
  const double no_number = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(WidthFactor(Runs(8, no_number)), 1);
  std::vector<PastRun> runs = Runs(4, no_number);
  runs.push_back({.interval_score = 5});
  EXPECT_EQ(WidthFactor(runs), WidthFactor(Runs(1, 5)));
}

TEST(ByEarlierRuns, MultipliesBothHalves) {
  const EndPrediction said = ByEarlierRuns(Said(10, 100, 90, 120), 2);
  EXPECT_EQ(said.end, At(100));
  EXPECT_EQ(said.lower, At(80));
  EXPECT_EQ(said.upper, At(140));
}

TEST(ByEarlierRuns, NeverReachesBeforeNowOrBeyondTwentyTimesWhatIsLeft) {
  const EndPrediction said = ByEarlierRuns(Said(90, 100, 92, 250), 10);
  EXPECT_EQ(said.lower, At(90));
  EXPECT_EQ(said.upper, At(100 + 19 * 10));
  EXPECT_EQ(ByEarlierRuns(Said(90, 100, 92, 500), 10).upper, At(500));
}

// An instant is at most 9.2e18 s away.
TEST(ByEarlierRuns, BeyondAllInstantsThereIsNoInterval) {
  const EndPrediction said = ByEarlierRuns(Said(0, 4e18, 3e18, 6e18), 20);
  EXPECT_EQ(said.end, At(4e18));
  EXPECT_FALSE(said.lower);
  EXPECT_FALSE(said.upper);
}

TEST(ByEarlierRuns, LeavesWhatIsNoIntervalAlone) {
  EXPECT_FALSE(ByEarlierRuns({.at = At(1)}, 2).end);
  const EndPrediction no_instant = {
      .at = At(1), .end = At(5), .lower = At(4), .upper = absl::InfiniteFuture()};
  EXPECT_EQ(ByEarlierRuns(no_instant, 2).lower, At(4));
}

}  // namespace
}  // namespace tidemark::model
