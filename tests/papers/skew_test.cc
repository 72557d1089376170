#include "bench/workflow/skew.h"

#include "tests/placement/some_stages.h"
#include "tests/test.h"

namespace tidemark::papers::skew_test {
namespace {

using durations::TimeDistribution;
using placement::Slots;
using placement::Stage;

// Without variance, Algorithm 2 counts whole waves. 5 tasks of 2 s run on 2 slots, followed by 1
// task of 3 s.
TEST(SkewEstimate, IsListSchedulingOfDrawnTimes) {
  const auto estimate = EstimateWithSkew(
      {Stage(5), Stage(1, {0})},
      std::vector{TimeDistribution::Normal({2, 0}), TimeDistribution::Empirical({3})}, Slots(2), 4);
  ASSERT_TRUE(estimate.ok()) << estimate.status();
  EXPECT_NEAR(estimate->seconds, 9, 1e-9);
  EXPECT_NEAR(estimate->ends[0], 6, 1e-9);
}

// If there are as many tasks as slots, the wave ends with its longest task. With skew, it therefore
// ends later than its mean.
TEST(SkewEstimate, SkewDelaysTheEnd) {
  const auto even =
      EstimateWithSkew({Stage(10)}, std::vector{TimeDistribution::Normal({2, 0})}, Slots(10), 20);
  const auto skewed = EstimateWithSkew(
      {Stage(10)}, std::vector{TimeDistribution::Normal({2, 0.25})}, Slots(10), 20);
  ASSERT_TRUE(even.ok() && skewed.ok());
  EXPECT_NEAR(even->seconds, 2, 1e-9);
  // According to Theorem 1 with N = D = 10, the time is between 2 + 0.23 x 0.5 x sqrt(log 10) and 2
  // + sqrt(2) x 0.5 x sqrt(log 10).
  EXPECT_GT(skewed->seconds, 2 + 0.17);
  EXPECT_LT(skewed->seconds, 2 + 1.08);
}

}  // namespace
}  // namespace tidemark::papers::skew_test
