#include "master/forecast/durations/log_line.h"

#include <gtest/gtest.h>

#include <cmath>
#include <optional>

namespace tidemark::cost {
namespace {

LogLine Line() { return LogLine(/*scatter=*/1, /*slope=*/0.5, /*slope_deviation=*/0.25); }

// (1 + 1) (3 x 1 + 0) / (3 + 1 - 1).
TEST(LogLine, OfOnePairItsTimeAndTwiceTheVarianceIsExpected) {
  LogLine line = Line();
  line.Add(100, 10);
  const LogLine::Prediction at = line.At(100);
  EXPECT_NEAR(at.log, std::log(10), 1e-12);
  EXPECT_NEAR(at.deviation, std::sqrt(2), 1e-12);
}

// By a slope of one half, which may be a quarter more or less.
TEST(LogLine, FarFromOnePairThePriorSlopeCountsAndNothingIsSure) {
  LogLine line = Line();
  line.Add(100, 10);
  const LogLine::Prediction at = line.At(10'000);
  EXPECT_NEAR(at.log, std::log(100), 1e-12);
  EXPECT_NEAR(at.deviation, std::sqrt(2 + std::pow(std::log(100) / 4, 2)), 1e-12);
}

// (16 x 0.5 + 1 + 1) / (16 + 1 + 1) = 5 / 9.
TEST(LogLine, PairsMoveTheSlope) {
  LogLine line = Line();
  line.Add(1, 1);
  line.Add(std::exp(2), std::exp(2));
  EXPECT_NEAR(line.At(std::exp(2)).log, 1 + 5.0 / 9, 1e-12);
}

TEST(LogLine, WithoutASizeTheMeanIsExpected) {
  LogLine line = Line();
  line.Add(1, 1);
  line.Add(std::nullopt, std::exp(2));
  EXPECT_NEAR(line.At(std::nullopt).log, 1, 1e-12);
  LogLine unsized_line = Line();
  unsized_line.Add(std::nullopt, std::exp(2));
  EXPECT_NEAR(unsized_line.At(1e9).log, 2, 1e-12);
}

}  // namespace
}  // namespace tidemark::cost
