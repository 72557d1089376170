#include "regression/power_law_fit.h"

#include "tests/regression/points.h"
#include "tests/test.h"

namespace tidemark::regression::power_law_fit_test {
namespace {

struct Law {
  const char* name;
  double a, b, c;
};
class KnownLaw : public testing::TestWithParam<Law> {};

TEST_P(KnownLaw, IsRecoveredFromPointsOnIt) {
  const Law& law = GetParam();
  const PowerLawFit fit = FitPowerLaw(OnCurve(Sizes(50, 137, 40), law.a, law.b, law.c));
  EXPECT_EQ(fit.quality, FitQuality::kRegular);
  EXPECT_NEAR(fit.c, law.c, 0.02);
  EXPECT_GT(fit.r_squared, 0.9999);
  const double truth = law.a + law.b * std::pow(20000, law.c);
  EXPECT_NEAR(fit.Predict(20000), truth, 0.03 * truth);
}

INSTANTIATE_TEST_SUITE_P(Laws, KnownLaw,
                         testing::Values(Law{"Linear", 0, 1e-6, 1}, Law{"Quadratic", 0, 1e-9, 2},
                                         Law{"QuadraticWithOverhead", 1e-3, 1e-9, 2},
                                         Law{"Cubic", 1e-5, 1e-12, 3},
                                         Law{"SquareRoot", 0, 1e-4, 0.5}),
                         [](const auto& row) { return std::string(row.param.name); });

TEST(FitPowerLaw, FindsExponentsBetweenGridPoints) {
  const PowerLawFit fit = FitPowerLaw(OnCurve(Sizes(100, 250, 30), 1e-4, 3e-9, 1.83));
  EXPECT_NEAR(fit.c, 1.83, 1e-3);
}

// The unconstrained curve t = x - 1 passes through (0, -1), with c fixed at 1. The points are at x
// = 1, 2, 3, 4. With a = 0, the best b is sum x t / sum x^2 = (0 + 2 + 6 + 12) / 30 = 2/3.
TEST(FitPowerLaw, ANegativeConstantIsReplacedByZero) {
  const auto points = {PointOf(1, 0), PointOf(2, 1), PointOf(3, 2), PointOf(4, 3)};
  const PowerLawFit fit =
      FitPowerLaw(std::vector<GroupPoint>(points), {.exponent_min = 1, .exponent_max = 1});
  EXPECT_DOUBLE_EQ(fit.a_seconds, 0);
  EXPECT_DOUBLE_EQ(fit.c, 1);
  EXPECT_NEAR(fit.b, 2.0 / 3, 1e-12);
}

// Returns the least squared error of a simple search over a fine grid of exponents, each with its
// best a, b >= 0. The best line is the unconstrained line if it is allowed, and otherwise the line
// through the origin or the constant line.
double LeastSquaredErrorOfAFineGrid(const std::vector<GroupPoint>& points) {
  double least = std::numeric_limits<double>::infinity();
  for (double c = 0.05; c <= 5.3; c += 0.005) {
    const auto n = static_cast<double>(points.size());
    double p_sum = 0, pp = 0, t_sum = 0, tt = 0, pt = 0;
    for (const GroupPoint& point : points) {
      const double p = std::pow(static_cast<double>(point.size_bytes) / 1000, c);
      const double t = absl::ToDoubleSeconds(point.mean_time());
      p_sum += p, pp += p * p, t_sum += t, tt += t * t, pt += p * t;
    }
    const double b = (n * pt - p_sum * t_sum) / (n * pp - p_sum * p_sum);
    const double a = (t_sum - b * p_sum) / n;
    for (const auto& [a_, b_] :
         {std::pair(a, b), std::pair(0.0, pt / pp), std::pair(t_sum / n, 0.0)}) {
      if (a_ < 0 || b_ < 0) continue;
      least = std::min(least, tt - 2 * a_ * t_sum - 2 * b_ * pt + n * a_ * a_ +
                                  2 * a_ * b_ * p_sum + b_ * b_ * pp);
    }
  }
  return least;
}

TEST(FitPowerLaw, IsAtLeastAsGoodAsAFineGrid) {
  std::mt19937_64 random(11);
  std::uniform_real_distribution<double> unit(0, 1);
  std::normal_distribution<double> noise(0, 0.2);
  for (int problem = 0; problem < 40; ++problem) {
    const double a = unit(random), b = std::pow(10, -9 + 6 * unit(random)), c = 4 * unit(random);
    std::vector<GroupPoint> points;
    for (int i = 0; i < 50; ++i) {
      const auto size = static_cast<std::uint64_t>(std::pow(10, 1 + 5 * unit(random)));
      const double time = (a + b * std::pow(static_cast<double>(size), c)) * (1 + noise(random));
      points.push_back(PointOf(size, std::max(time, 0.0)));
    }
    const PowerLawFit fit = FitPowerLaw(points);
    double left = 0;
    for (const GroupPoint& point : points) {
      const double fitted =
          fit.a_seconds + fit.b * std::pow(static_cast<double>(point.size_bytes), fit.c);
      left += std::pow(absl::ToDoubleSeconds(point.mean_time()) - fitted, 2);
    }
    EXPECT_LE(left, 1.001 * LeastSquaredErrorOfAFineGrid(points)) << "problem " << problem;
  }
}

TEST(FitPowerLaw, ToleratesModerateNoise) {
  std::mt19937_64 random(7);
  std::normal_distribution<double> noise(0, 0.1);
  std::vector<GroupPoint> points;
  for (const std::uint64_t size : Sizes(100, 97, 200)) {
    const double x = static_cast<double>(size);
    points.push_back(PointOf(size, 1e-9 * x * x * std::exp(noise(random))));
  }
  EXPECT_NEAR(FitPowerLaw(points).c, 2, 0.15);
}

TEST(FitPowerLaw, MarksFewSizesAndRejectsFewer) {
  EXPECT_EQ(FitPowerLaw({}).quality, FitQuality::kNone);
  EXPECT_EQ(FitPowerLaw(OnCurve({5, 6, 7}, 0, 1, 1)).quality, FitQuality::kNone);
  EXPECT_EQ(FitPowerLaw(OnCurve({5, 6, 7, 8}, 0, 1, 1)).quality, FitQuality::kFew);
  EXPECT_DOUBLE_EQ(PowerLawFit().Predict(100), 0);
}

TEST(FitPowerLaw, EqualSizesGiveNoCurve) {
  std::vector<GroupPoint> points(50, PointOf(100, 1));
  EXPECT_EQ(FitPowerLaw(points).quality, FitQuality::kNone);
}

TEST(FitPowerLaw, EqualTimesGiveAFlatCurve) {
  const PowerLawFit fit = FitPowerLaw(OnCurve(Sizes(10, 10, 20), 0.25, 0, 1));
  EXPECT_NEAR(fit.Predict(1e6), 0.25, 1e-6);
  EXPECT_NEAR(fit.r_squared, 1, 1e-9);
}

TEST(FitPowerLaw, TimesOfZeroPredictZero) {
  const PowerLawFit fit = FitPowerLaw(OnCurve(Sizes(10, 10, 20), 0, 0, 1));
  EXPECT_DOUBLE_EQ(fit.Predict(1e6), 0);
}

TEST(FitPowerLaw, NeverPredictsNegativeTimes) {
  std::vector<GroupPoint> points;
  for (int i = 0; i < 20; ++i) {
    points.push_back(PointOf(10 + static_cast<std::uint64_t>(i), 2.0 - 0.1 * i));
  }
  const PowerLawFit fit = FitPowerLaw(points);
  for (const double size : {0.0, 1.0, 1e3, 1e9, 1e18}) EXPECT_GE(fit.Predict(size), 0);
}

TEST(FitPowerLaw, IgnoresInvalidTimes) {
  auto points = OnCurve(Sizes(10, 10, 20), 0, 1e-3, 1);
  points.push_back({500, 1, absl::InfiniteDuration()});
  points.push_back({600, 1, -absl::Seconds(5)});
  points.push_back({700, 0, absl::Seconds(5)});
  EXPECT_NEAR(FitPowerLaw(points).Predict(1000), 1, 0.01);
}

TEST(FitPowerLaw, ThousandsOfPointsKeepTheLargestSize) {
  const PowerLawFit fit = FitPowerLaw(OnCurve(Sizes(1, 3, 8192), 0, 1e-9, 2));
  EXPECT_DOUBLE_EQ(fit.size_bytes_max, 1 + 3.0 * 8191);
  EXPECT_NEAR(fit.c, 2, 0.01);
}

}  // namespace
}  // namespace tidemark::regression::power_law_fit_test
