#include "master/forecast/durations/combined_estimates.h"

#include "tests/test.h"

namespace tidemark::durations::combined_estimates_test {
namespace {

TEST(ReadShare, EndsATaskWithItsInputWithoutFinishedTasks) {
  const PacedTotal total = ReadShare().TotalOf(10, 0.25);
  EXPECT_DOUBLE_EQ(total.seconds, 40);
  EXPECT_GT(total.deviation, ReadShare().TotalOf(10, 0.75).deviation);
  EXPECT_DOUBLE_EQ(ReadShare().TotalOf(10, 1).deviation, 0);
}

TEST(ReadShare, AddsTheTimeOfFinishedTasksAfterTheirLastByte) {
  ReadShare share;
  share.Add(10, 90);
  share.Add(10, 90);
  EXPECT_NEAR(share.TotalOf(10, 1).seconds, 90, 1e-9);
  EXPECT_NEAR(share.TotalOf(5, 0.5).seconds, 90, 1e-9);
  EXPECT_NEAR(share.TotalOf(10, 1).deviation, 0.27, 0.01);
}

TEST(ReadShare, WidensWithTheScatterOfFinishedTasks) {
  ReadShare alike;
  ReadShare unlike;
  for (const double seconds : {20.0, 20.0}) alike.Add(10, seconds);
  for (const double seconds : {12.0, 40.0}) unlike.Add(10, seconds);
  EXPECT_GT(unlike.TotalOf(10, 1).deviation, alike.TotalOf(10, 1).deviation);
}

TEST(ReadShare, IgnoresInvalidTimes) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  ReadShare share;
  for (const double bad : {0.0, -1.0, kNan, std::numeric_limits<double>::infinity()}) {
    share.Add(1, bad);
    share.Add(bad > 1 ? kNan : bad, 1);
  }
  share.Add(9, 3);  // The clock was set.
  EXPECT_DOUBLE_EQ(share.TotalOf(7, 2).seconds, 7);
}

const FixedDraws& Numbers() { return FixedDraws::For(10); }

Draws Own(double log_median, double deviation) {
  return LogNormal(log_median, deviation, EstimateSource::kBytesRead, Numbers());
}

Draws Past(double log_median, double deviation) {
  return LogNormal(log_median, deviation, EstimateSource::kPastRuns, Numbers());
}

double LogMedian(Draws draws) { return std::log(QuantileOf(draws, 0.5)); }

double Deviation(Draws draws) {
  return std::log(QuantileOf(draws, 0.95) / QuantileOf(draws, 0.05)) / (2 * 1.645);
}

// The weights are 1/0.09 and 1/0.16, so the result moves by 0.36 of the distance.
TEST(Combine, WeighsEstimatesByPrecision) {
  const Draws both = Combine(Own(0, 0.3), Past(0.5, 0.4));
  EXPECT_NEAR(LogMedian(both), 0.18, 0.04);
  EXPECT_NEAR(Deviation(both), 0.24, 0.03);
}

TEST(Combine, IgnoresAContradictingEstimate) {
  const Draws own = Own(0, 0.1);
  EXPECT_EQ(Combine(own, Past(2, 0.4)), own);
}

TEST(Combine, KeepsAnEstimateWithoutSpreadOrOfZero) {
  for (const double seconds : {0.0, 7.0}) {
    const Draws own(Numbers().count(), seconds);
    EXPECT_EQ(Combine(own, Past(0, 0.4)), own);
  }
}

TEST(Combine, StaysFiniteIfSomeDrawsAreZero) {
  Draws own = Own(3, 0.5);
  std::fill(own.begin(), own.begin() + 20, 0.0);
  for (const double seconds : Combine(own, Past(3, 0.3))) {
    EXPECT_TRUE(std::isfinite(seconds));
    EXPECT_GT(seconds, 0);
  }
}

TEST(Combine, StaysFiniteForAnyNumberOfZeroDraws) {
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

// With a deviation of 2, the other estimate has a weight of 3/4: the median moves by 3/4 of the
// distance, and the deviation is the root of (2/4)^2 + (3/4)^2.
TEST(CombineIfVague, WeighsTheOtherEstimateByTheExcessOfVariance) {
  const Draws both = CombineIfVague(Own(8, 2), Past(4, 1));
  EXPECT_NEAR(LogMedian(both), 5, 0.3);
  EXPECT_NEAR(Deviation(both), 0.90, 0.12);
}

TEST(CombineIfVague, KeepsAnEstimateWithoutExcess) {
  for (const double deviation : {0.1, 0.9}) {
    const Draws own = Own(8, deviation);
    EXPECT_EQ(CombineIfVague(own, Past(4, 1)), own) << deviation;
  }
}

TEST(CombineIfVague, KeepsAnEstimateThatCannotBeWeighed) {
  const Draws zero(Numbers().count(), 0.0);
  EXPECT_EQ(CombineIfVague(zero, Past(4, 1)), zero);
  const Draws own = Own(8, 2);
  EXPECT_EQ(CombineIfVague(own, zero), own);
}

// The other evidence gives 100 s within a factor of 2.7. Half is done after 10 s.
TEST(LeftByPace, PaceOutweighsAVagueEstimate) {
  const FixedDraws& draws = FixedDraws::For(100);
  const Draws totals = LogNormal(std::log(100), 1, EstimateSource::kPastRuns, draws);
  auto left = LeftByPace(totals, 10, ReadShare().TotalOf(10, 0.5), draws.Uniforms(Drawn::kTask, 0));
  EXPECT_NEAR(QuantileOf(left, 0.5), 12, 2);
  EXPECT_GT(QuantileOf(left, 0.05), 3.5);
  EXPECT_LT(QuantileOf(left, 0.95), 30);
}

TEST(LeftByPace, KeepsATaskRunningAfterItsLastByte) {
  const FixedDraws& draws = FixedDraws::For(100);
  const Draws totals = LogNormal(std::log(100), 1, EstimateSource::kPastRuns, draws);
  for (const double left :
       LeftByPace(totals, 50, ReadShare().TotalOf(50, 1), draws.Uniforms(Drawn::kTask, 0))) {
    EXPECT_GT(left, 0);
    EXPECT_LT(left, 50);
  }
}

TEST(LeftByPace, StaysFiniteDespiteContradictions) {
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

LogLine Line() { return LogLine(/*scatter=*/1, /*slope=*/0.5, /*slope_deviation=*/0.25); }

// The variance is (1 + 1) (3 x 1 + 0) / (3 + 1 - 1).
TEST(LogLine, OneObservationGivesItsTimeAndTwiceTheVariance) {
  LogLine line = Line();
  line.Add(100, 10);
  const LogLine::Estimate at = line.At(100);
  EXPECT_NEAR(at.log, std::log(10), 1e-12);
  EXPECT_NEAR(at.deviation, std::sqrt(2), 1e-12);
}

// The prior slope is one half, with a deviation of a quarter.
TEST(LogLine, ExtrapolatesOneObservationByThePriorSlopeWithAWideDeviation) {
  LogLine line = Line();
  line.Add(100, 10);
  const LogLine::Estimate at = line.At(10'000);
  EXPECT_NEAR(at.log, std::log(100), 1e-12);
  EXPECT_NEAR(at.deviation, std::sqrt(2 + std::pow(std::log(100) / 4, 2)), 1e-12);
}

// The slope is (16 x 0.5 + 1 + 1) / (16 + 1 + 1) = 5 / 9.
TEST(LogLine, ObservationsChangeTheSlope) {
  LogLine line = Line();
  line.Add(1, 1);
  line.Add(std::exp(2), std::exp(2));
  EXPECT_NEAR(line.At(std::exp(2)).log, 1 + 5.0 / 9, 1e-12);
}

TEST(LogLine, ReturnsTheMeanForAnUnknownSize) {
  LogLine line = Line();
  line.Add(1, 1);
  line.Add(std::nullopt, std::exp(2));
  EXPECT_NEAR(line.At(std::nullopt).log, 1, 1e-12);
  LogLine unsized_line = Line();
  unsized_line.Add(std::nullopt, std::exp(2));
  EXPECT_NEAR(unsized_line.At(1e9).log, 2, 1e-12);
}

}  // namespace
}  // namespace tidemark::durations::combined_estimates_test
