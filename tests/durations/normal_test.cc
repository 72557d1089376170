#include "master/forecast/durations/normal.h"

#include <gtest/gtest.h>

namespace tidemark::cost {
namespace {

TEST(Normal, HasTheKnownQuantiles) {
  EXPECT_NEAR(NormalQuantile(0.5), 0, 1e-8);
  EXPECT_NEAR(NormalQuantile(0.975), 1.959963985, 1e-7);
  EXPECT_NEAR(NormalQuantile(0.001), -3.090232306, 1e-7);
  EXPECT_NEAR(NormalCdf(1.959963985), 0.975, 1e-9);
}

// F(t) of four degrees of freedom: 0.975 at 2.776445, 0.95 at 2.131847.
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

// Off by a factor, it is likely off by a little more; a normal distribution would say: hardly.
TEST(Student4, TailsAreHeavy) {
  EXPECT_GT(Student4Cdf(-6) / Student4Cdf(-5), 0.4);
  EXPECT_LT(NormalCdf(-6) / NormalCdf(-5), 0.01);
}

TEST(FixedUniform, IsTheSameEveryTimeAndSpreadsOverTheUnit) {
  double sum = 0;
  for (std::uint64_t i = 0; i < 1000; ++i) {
    EXPECT_GT(FixedUniform(i), 0);
    EXPECT_LT(FixedUniform(i), 1);
    sum += FixedUniform(i);
  }
  EXPECT_NEAR(sum / 1000, 0.5, 0.03);
  EXPECT_EQ(FixedUniform(7), FixedUniform(7));
}

}  // namespace
}  // namespace tidemark::cost
