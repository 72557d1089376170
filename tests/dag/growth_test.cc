#include "master/forecast/dag/growth.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace tidemark::workflow {
namespace {

double Median(cost::Draws draws) {
  std::sort(draws.begin(), draws.end());
  return draws[draws.size() / 2];
}

cost::Draws Growth(const Submissions& submissions, double elapsed) {
  return GrowthOf(submissions, elapsed, cost::FixedDraws::For(100));
}

TEST(Growth, ASingleJobMayBeTheOnlyOne) {
  EXPECT_DOUBLE_EQ(ChanceOfMore({}), 0.5);
  const cost::Draws growth = Growth({}, 100);
  EXPECT_DOUBLE_EQ(*std::min_element(growth.begin(), growth.end()), 0);
  EXPECT_GT(*std::max_element(growth.begin(), growth.end()), 1000);
}

// With a chance of 2/3, more than t is left with probability 2/3 x 100 / (100 + t): a half at 33.
TEST(Growth, WhatRepeatsItselfGoesOn) {
  const Submissions loop = {.count = 9, .kinds = 2, .is_newest_repeated = true};
  EXPECT_DOUBLE_EQ(ChanceOfMore(loop), 2.0 / 3);
  EXPECT_NEAR(Median(Growth(loop, 100)), 33, 5);
}

TEST(Growth, SomethingNewAfterManyRepetitionsIsLikelyTheLast) {
  const Submissions query = {.count = 25, .kinds = 2, .is_newest_repeated = false};
  EXPECT_DOUBLE_EQ(ChanceOfMore(query), 0.25);
  EXPECT_DOUBLE_EQ(Median(Growth(query, 100)), 0);
  const Submissions all_new = {.count = 4, .kinds = 4, .is_newest_repeated = false};
  EXPECT_DOUBLE_EQ(ChanceOfMore(all_new), 2.0 / 3) << "nothing new in being new";
}

TEST(Growth, IsFiniteAndNeverNegative) {
  for (const double elapsed : {0.0, 1e-9, 1.0, 1e12}) {
    for (const double growth :
         Growth({.count = 3, .kinds = 1, .is_newest_repeated = true}, elapsed)) {
      EXPECT_TRUE(std::isfinite(growth));
      EXPECT_GE(growth, 0);
    }
  }
}

}  // namespace
}  // namespace tidemark::workflow
