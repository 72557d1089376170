#include "bench/accuracy/printed.h"

#include "tests/test.h"

namespace tidemark::bench::printed_test {
namespace {

// The last line of the table contains the arithmetic means of its rows.
TEST(Printed, HasTheMeansOfThePaper) {
  const auto expect = [](const char* indicator, double average, double largest) {
    const auto mean = PrintedErrorOf("", indicator);
    ASSERT_TRUE(mean.has_value()) << indicator;
    EXPECT_NEAR(mean->average, average, 0.006) << indicator;
    EXPECT_NEAR(mean->largest, largest, 0.006) << indicator;
  };
  expect("hadoop", 13.71, 28.46);
  expect("jobratio", 12.53, 26.45);
  expect("taskratio", 10.94, 25.35);
  expect("nearestfit", 2.73, 7.05);
}

// The job has two data sets, whose means are (8.03 + 1.76) / 2 and (18.59 + 5.51) / 2.
TEST(Printed, AveragesTheDataSetsOfAJob) {
  const auto mean = PrintedErrorOf("inverted-index", "nearestfit");
  ASSERT_TRUE(mean.has_value());
  EXPECT_NEAR(mean->average, 4.895, 1e-9);
  EXPECT_NEAR(mean->largest, 12.05, 1e-9);
}

TEST(Printed, IsEmptyForOtherJobsAndIndicators) {
  EXPECT_FALSE(PrintedErrorOf("synthetic", "nearestfit").has_value());
  EXPECT_FALSE(PrintedErrorOf("two-path", "tidemark").has_value());
}

}  // namespace
}  // namespace tidemark::bench::printed_test
