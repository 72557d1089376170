// [NF]: the equations that predict one key group or one task, with numbers worked by hand. Those of
// the whole phase are in nearestfit_model_test.cc.
#include <gtest/gtest.h>

#include <vector>

#include "master/forecast/papers/linear_baselines.h"
#include "regression/delta_neighbourhood.h"
#include "regression/power_law_fit.h"

namespace tidemark::papers {
namespace {

// Section 3.5, eq. 6: sizes 95, 100, 104 lie within 5 of 100; their times 2, 4, 6 s average 4 s.
TEST(NearestFitPaper, Equation6AveragesTheDeltaNeighbourhood) {
  const std::vector<GroupPoint> points = {{94, 1, absl::Seconds(50)},
                                          {95, 1, absl::Seconds(2)},
                                          {100, 1, absl::Seconds(4)},
                                          {104, 1, absl::Seconds(6)},
                                          {106, 1, absl::Seconds(50)}};
  EXPECT_DOUBLE_EQ(DeltaNeighbourhood(points, 5).Find(100)->seconds, 4);
}

// Section 3.5, eq. 8: 3 + 2 x^2 through x = 1, 2, 3, 4, 5 gives 5, 11, 21, 35, 53 and 203 at x
// = 10.
TEST(NearestFitPaper, Equation8IsAPlusBTimesXToTheC) {
  std::vector<GroupPoint> points;
  for (const auto& [x, t] :
       std::vector<std::pair<std::uint64_t, int>>{{1, 5}, {2, 11}, {3, 21}, {4, 35}, {5, 53}}) {
    points.push_back({x, 1, absl::Seconds(t)});
  }
  const PowerLawFit fit = FitPowerLaw(points);
  EXPECT_NEAR(fit.a_seconds, 3, 1e-3);
  EXPECT_NEAR(fit.b, 2, 1e-3);
  EXPECT_NEAR(fit.c, 2, 1e-3);
  EXPECT_NEAR(fit.Predict(10), 203, 0.1);
}

// Section 7.1: tasks have read 50 %, 100 % and 0 % of their data: 50 % on average.
TEST(NearestFitPaper, HadoopIsTheMeanOfThePartsRead) {
  EXPECT_DOUBLE_EQ(HadoopProgress(std::vector<TaskWork>{{200, 100, 9}, {50, 50, 1}, {900, 0, 0}}),
                   0.5);
}

// Section 7.1, eq. 13: (6 s + 2 s) / (30 B + 10 B) = 0.2 s a byte.
TEST(NearestFitPaper, Equation13IsTimeOverSizeOfTheWholeJob) {
  EXPECT_DOUBLE_EQ(*JobSecondsPerByte(std::vector<TaskWork>{{100, 30, 6}, {100, 10, 2}}), 0.2);
}

// Section 7.1, eq. 14: 0.2 s a byte x 70 B = 14 s.
TEST(NearestFitPaper, Equation14MultipliesByTheBytesThatRemain) {
  EXPECT_DOUBLE_EQ(RatioRemainingSeconds({100, 30, 6}, 0.2), 14);
}

// Section 7.1, eq. 15 and 16: 6 s / 30 B = 0.2 s a byte of this task, whatever the job's; 14 s
// left.
TEST(NearestFitPaper, Equations15And16DoTheSameForOneTask) {
  const TaskWork task{100, 30, 6};
  const double rate = TaskSecondsPerByte(task, 77);
  EXPECT_DOUBLE_EQ(rate, 0.2);
  EXPECT_DOUBLE_EQ(RatioRemainingSeconds(task, rate), 14);
}

}  // namespace
}  // namespace tidemark::papers
