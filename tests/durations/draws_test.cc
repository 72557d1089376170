#include "master/forecast/durations/draws.h"

#include "tests/test.h"

namespace tidemark::durations::draws_test {
namespace {

TEST(Normal, HasTheKnownQuantiles) {
  EXPECT_NEAR(NormalQuantile(0.5), 0, 1e-8);
  EXPECT_NEAR(NormalQuantile(0.975), 1.959963985, 1e-7);
  EXPECT_NEAR(NormalQuantile(0.001), -3.090232306, 1e-7);
  EXPECT_NEAR(NormalCdf(1.959963985), 0.975, 1e-9);
}

// The distribution function of four degrees of freedom is 0.975 at 2.776445 and 0.95 at 2.131847.
TEST(Student4, HasTheKnownQuantiles) {
  EXPECT_NEAR(Student4Quantile(0.5), 0, 1e-6);
  EXPECT_NEAR(Student4Quantile(0.975), 2.776445, 1e-5);
  EXPECT_NEAR(Student4Quantile(0.05), -2.131847, 1e-5);
  EXPECT_NEAR(Student4Cdf(2.776445), 0.975, 1e-6);
}

TEST(Student4, CdfAndQuantileAreInverse) {
  for (const double p : {1e-12, 1e-6, 0.01, 0.3, 0.5, 0.8, 0.999}) {
    EXPECT_NEAR(Student4Cdf(Student4Quantile(p)) / p, 1, 1e-5) << p;
  }
}

TEST(Student4, TheTableAgreesWithTheClosedForm) {
  for (double p = 1e-18; p < 0.5; p *= 1.37) {
    EXPECT_NEAR(QuickStudent4Quantile(p) / Student4Quantile(p), 1, 2e-4) << p;
  }
  for (double p = 0.03; p < 1; p += 0.0371) {
    EXPECT_NEAR(QuickStudent4Quantile(p), Student4Quantile(p), 2e-4) << p;
  }
  EXPECT_NEAR(QuickStudent4Quantile(0.5), 0, 1e-6);
  EXPECT_EQ(QuickStudent4Quantile(0), Student4Quantile(0));
  EXPECT_TRUE(std::isfinite(QuickStudent4Quantile(1)));
}

// If a value is wrong by a factor, a slightly larger error is likely, whereas a normal distribution
// would make it improbable.
TEST(Student4, TailsAreHeavy) {
  EXPECT_GT(Student4Cdf(-6) / Student4Cdf(-5), 0.4);
  EXPECT_LT(NormalCdf(-6) / NormalCdf(-5), 0.01);
}

TEST(FixedUniform, IsConstantAndCoversTheUnitInterval) {
  double sum = 0;
  for (std::uint64_t i = 0; i < 1000; ++i) {
    EXPECT_GT(FixedUniform(i), 0);
    EXPECT_LT(FixedUniform(i), 1);
    sum += FixedUniform(i);
  }
  EXPECT_NEAR(sum / 1000, 0.5, 0.03);
  EXPECT_EQ(FixedUniform(7), FixedUniform(7));
}

double Correlation(const std::vector<double>& x, const std::vector<double>& y) {
  double xy = 0, xx = 0, yy = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    xy += x[i] * y[i];
    xx += x[i] * x[i];
    yy += y[i] * y[i];
  }
  return xy / std::sqrt(xx * yy);
}

TEST(FixedDraws, EveryStreamHasOneNumberInEachPart) {
  const FixedDraws& draws = FixedDraws::For(3);
  for (const std::uint64_t stream : {0, 1, 7, 12345}) {
    std::vector<double> values = draws.Uniforms(Drawn::kTask, stream);
    std::sort(values.begin(), values.end());
    for (std::size_t i = 0; i < values.size(); ++i) {
      EXPECT_NEAR(values[i], (static_cast<double>(i) + 0.5) / static_cast<double>(draws.count()),
                  1e-12);
    }
  }
}

TEST(FixedDraws, AreConstant) {
  EXPECT_EQ(FixedDraws::For(3).Normals(Drawn::kTask, 5),
            FixedDraws::For(3).Normals(Drawn::kTask, 5));
}

// Uncorrelated draws have a standard error of 1 / sqrt(draws).
TEST(FixedDraws, TasksHaveDifferentOrders) {
  const FixedDraws& draws = FixedDraws::For(3);
  double squares = 0;
  int pairs = 0;
  for (std::uint64_t a = 0; a < 30; ++a) {
    for (std::uint64_t b = a + 1; b < 30; ++b) {
      const double r = Correlation(draws.Normals(Drawn::kTask, a), draws.Normals(Drawn::kTask, b));
      squares += r * r;
      ++pairs;
    }
  }
  EXPECT_LT(std::sqrt(squares / pairs), 1.3 / std::sqrt(static_cast<double>(draws.count())));
}

TEST(FixedDraws, QuantitiesHaveDifferentOrders) {
  const FixedDraws& draws = FixedDraws::For(3);
  EXPECT_NE(draws.Normals(Drawn::kTask, 3), draws.Normals(Drawn::kStage, 3));
}

TEST(FixedDraws, QuantilesLieBetweenTheDraws) {
  std::vector<double> values = {4, 1, 3, 2};
  EXPECT_DOUBLE_EQ(QuantileOf(values, 0.5), 2.5);
  EXPECT_DOUBLE_EQ(QuantileOf(values, 0), 1);
  EXPECT_DOUBLE_EQ(QuantileOf(values, 1), 4);
}

TEST(FixedDraws, ManyTasksGetFewerDraws) {
  EXPECT_LT(FixedDraws::For(10'000).count(), FixedDraws::For(30).count());
}

}  // namespace
}  // namespace tidemark::durations::draws_test
