#include "master/forecast/durations/opinions.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace tidemark::cost {
namespace {

const FixedDraws& Numbers() { return FixedDraws::For(10); }

Draws Own(double log_median, double deviation) {
  return LogNormal(log_median, deviation, Opinion::kBytesRead, Numbers());
}

Draws Past(double log_median, double deviation) {
  return LogNormal(log_median, deviation, Opinion::kPastRuns, Numbers());
}

double LogMedian(Draws draws) { return std::log(QuantileOf(draws, 0.5)); }

double Deviation(Draws draws) {
  return std::log(QuantileOf(draws, 0.95) / QuantileOf(draws, 0.05)) / (2 * 1.645);
}

// Weights 1/0.09 and 1/0.16: 0.36 of the way.
TEST(Combine, WeighsOpinionsByTheirPrecision) {
  const Draws both = Combine(Own(0, 0.3), Past(0.5, 0.4));
  EXPECT_NEAR(LogMedian(both), 0.18, 0.04);
  EXPECT_NEAR(Deviation(both), 0.24, 0.03);
}

TEST(Combine, LeavesOutAnOpinionThatContradicts) {
  const Draws own = Own(0, 0.1);
  EXPECT_EQ(Combine(own, Past(2, 0.4)), own);
}

TEST(Combine, KeepsWhatIsSureOrOver) {
  for (const double seconds : {0.0, 7.0}) {
    const Draws own(Numbers().count(), seconds);
    EXPECT_EQ(Combine(own, Past(0, 0.4)), own);
  }
}

TEST(Combine, StaysFiniteWhereSomeDrawsSayNow) {
  Draws own = Own(3, 0.5);
  std::fill(own.begin(), own.begin() + 20, 0.0);
  for (const double seconds : Combine(own, Past(3, 0.3))) {
    EXPECT_TRUE(std::isfinite(seconds));
    EXPECT_GT(seconds, 0);
  }
}

TEST(Combine, StaysFiniteHoweverManyDrawsSayNow) {
  for (std::ptrdiff_t now = 0; now <= static_cast<std::ptrdiff_t>(Numbers().count()); ++now) {
    Draws own = Own(3, 0.5);
    std::fill(own.begin(), own.begin() + now, 0.0);
    for (const double seconds : Combine(own, Past(3, 0.3))) {
      EXPECT_TRUE(std::isfinite(seconds)) << now;
    }
    for (const double seconds : Combine(Past(3, 0.3), own)) {
      EXPECT_TRUE(std::isfinite(seconds)) << now;
    }
  }
}

// All other evidence predicts 100 s within a factor of 2.7; half is done after 10 s.
TEST(LeftByPace, ATasksOwnPaceOutweighsAVagueExpectation) {
  const FixedDraws& draws = FixedDraws::For(100);
  const Draws totals = LogNormal(std::log(100), 1, Opinion::kPastRuns, draws);
  Draws left =
      LeftByPace(totals, 10, ReadShare().TotalOf(10, 0.5), draws.Uniforms(Drawn::kTask, 0));
  EXPECT_NEAR(QuantileOf(left, 0.5), 12, 2);
  EXPECT_GT(QuantileOf(left, 0.05), 3.5);
  EXPECT_LT(QuantileOf(left, 0.95), 30);
}

TEST(LeftByPace, OneThatHasReadAllIsNotOverYet) {
  const FixedDraws& draws = FixedDraws::For(100);
  const Draws totals = LogNormal(std::log(100), 1, Opinion::kPastRuns, draws);
  for (const double left :
       LeftByPace(totals, 50, ReadShare().TotalOf(50, 1), draws.Uniforms(Drawn::kTask, 0))) {
    EXPECT_GT(left, 0);
    EXPECT_LT(left, 50);
  }
}

TEST(LeftByPace, IsFiniteWhateverContradictsIt) {
  const FixedDraws& draws = FixedDraws::For(100);
  const Draws u = draws.Uniforms(Drawn::kTask, 0);
  for (const double total : {1e-3, 1.0, 1e9}) {
    for (const double elapsed : {1e-6, 1.0, 1e9}) {
      for (const double fraction : {1e-9, 0.5, 1.0, 7.0}) {
        const PacedTotal paced = ReadShare().TotalOf(elapsed, fraction);
        for (const double left : LeftByPace(Draws(u.size(), total), elapsed, paced, u)) {
          EXPECT_TRUE(std::isfinite(left)) << total << " " << elapsed << " " << fraction;
          EXPECT_GE(left, 0);
        }
      }
    }
  }
}

}  // namespace
}  // namespace tidemark::cost
