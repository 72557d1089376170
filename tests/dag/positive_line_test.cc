#include "master/forecast/dag/positive_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

namespace tidemark::workflow {
namespace {

using ::testing::ElementsAre;

PositiveLine Through(const std::vector<double>& values, std::vector<double> labels) {
  std::vector<std::vector<double>> rows;
  for (const double value : values) rows.push_back({value});
  return PositiveLine({"k"}, rows, std::move(labels));
}

// 1 and a tenth of k.
TEST(PositiveLine, GoesOnAsWhatWasSeen) {
  const PositiveLine line = Through({20, 40, 60}, {3, 5, 7});
  ASSERT_TRUE(line.is_known());
  EXPECT_TRUE(line.moves());
  EXPECT_NEAR(line.At({80}).value, 9, 1e-9);
  EXPECT_THAT(line.At({80}).beyond, ElementsAre("k"));
  EXPECT_NEAR(line.Factor({60}, {80}), 9.0 / 7, 1e-9);
}

// The line is at 1.1 for k = 1 and at 100 million and one for a billion.
TEST(PositiveLine, IsBelievedFromHalfOfTheLeastToAHundredTimesTheMost) {
  PositiveLine line = Through({20, 40, 60}, {3, 5, 7});
  EXPECT_DOUBLE_EQ(line.At({1}).value, 1.5);
  EXPECT_DOUBLE_EQ(line.At({-1e9}).value, 1.5);
  EXPECT_DOUBLE_EQ(line.At({1e9}).value, 700);
  line.FallTo(1);
  EXPECT_NEAR(line.At({1}).value, 1.1, 1e-9);
  EXPECT_DOUBLE_EQ(line.At({-1e9}).value, 1);
}

// 3.2 is less than 1.1 times 3.
TEST(PositiveLine, DrawsNoLineThroughNoise) {
  const PositiveLine line = Through({20, 40, 60}, {3, 3.1, 3.2});
  ASSERT_TRUE(line.is_known());
  EXPECT_FALSE(line.moves());
  EXPECT_NEAR(line.At({80}).value, 3.1, 1e-9);
  EXPECT_EQ(line.Factor({20}, {80}), 1);
}

TEST(PositiveLine, CountsWhereItGoesThroughAllWholeNumbers) {
  EXPECT_TRUE(Through({8, 16, 32}, {8, 16, 32}).counts());
  EXPECT_FALSE(Through({1, 2, 3}, {1, 5, 1}).counts());
}

TEST(PositiveLine, KnowsNothingOfWhatIsNoPositiveNumber) {
  EXPECT_FALSE(PositiveLine().is_known());
  EXPECT_EQ(PositiveLine().Factor({20}, {80}), 1);
  EXPECT_FALSE(Through({}, {}).is_known());
  for (const double label : {0.0, -1.0, static_cast<double>(INFINITY), std::nan("")}) {
    const PositiveLine line = Through({20, 40, 60}, {3, label, 7});
    EXPECT_FALSE(line.is_known()) << label;
    EXPECT_EQ(line.Factor({20}, {80}), 1) << label;
  }
}

}  // namespace
}  // namespace tidemark::workflow
