#include "whatif/phases/whole_runs.h"

#include "tests/test.h"

namespace tidemark::phases::whole_runs_test {
namespace {

WholeRunModel Learnt(const std::vector<PastWhole>& runs) {
  return WholeRunModel::Learn(runs, std::vector<std::size_t>{0}).value();
}

// Returns levels whose level of memory is `level`.
std::vector<double> Memory(double level) { return {0, 0, 0, level}; }

// Returns runs in which each level of memory doubles the duration.
std::vector<PastWhole> Doubling() {
  return {{Memory(0), 10}, {Memory(1), 20}, {Memory(2), 40}, {Memory(3), 80}};
}

TEST(WholeRunModel, SettingsEstimateTheDuration) {
  const WholeRunModel learnt = Learnt(Doubling());
  ASSERT_TRUE(learnt.At(Memory(1)));
  EXPECT_NEAR(learnt.At(Memory(1))->seconds, 20, 4);
  EXPECT_GT(learnt.At(Memory(4))->seconds, 1.5 * learnt.At(Memory(3))->seconds);
}

// The observed range has three levels. Settings up to three levels beyond this range are near.
TEST(WholeRunModel, GivesNoEstimateFarFromPastRuns) {
  const WholeRunModel learnt = Learnt(Doubling());
  EXPECT_TRUE(learnt.At(Memory(6)));
  EXPECT_FALSE(learnt.At(Memory(6.1)));
  EXPECT_FALSE(learnt.At(Memory(-3.1)));
  EXPECT_FALSE(learnt.At(Memory(std::numeric_limits<double>::quiet_NaN())));
}

TEST(WholeRunModel, GivesNoEstimateBeyondTheExecutorsOfPastRuns) {
  std::vector<PastWhole> runs = Doubling();
  for (PastWhole& run : runs) std::swap(run.levels[0], run.levels[3]);
  EXPECT_TRUE(Learnt(runs).At({3, 0, 0, 0}));
  EXPECT_FALSE(Learnt(runs).At({3.1, 0, 0, 0}));
  EXPECT_FALSE(Learnt(runs).At({-0.1, 0, 0, 0}));
}

TEST(HoldSlots, MovesExecutorsAndCoresToTheNearestPastRun) {
  const std::vector<std::vector<double>> past = {{1, 0, 1, 7}, {2, 3, 6, 7}};
  std::vector<double> levels = {5, -1, 6, 9};
  EXPECT_EQ(HoldSlots(past, levels), 3 + 1);
  EXPECT_EQ(levels, (std::vector<double>{2, 0, 6, 9}));
}

TEST(WholeRunModel, FewRunsGiveNoEstimate) {
  std::vector<PastWhole> runs = Doubling();
  runs.pop_back();
  EXPECT_FALSE(Learnt(runs).At(Memory(1)));
  EXPECT_FALSE(Learnt({}).At(Memory(1)));
}

TEST(WholeRunModel, RunsAreOfOneProgramIfHalfOfTheirStagesAgree) {
  EXPECT_TRUE(AreRunsOfOneProgram({"a", "b"}, {"b", "c"}));
  EXPECT_FALSE(AreRunsOfOneProgram({"a", "b", "c"}, {"c", "d", "e"}));
  EXPECT_TRUE(AreRunsOfOneProgram({"a"}, {"a", "b", "c", "d"})) << "the run ended early";
  EXPECT_FALSE(AreRunsOfOneProgram({"a", "a", "b", "c"}, {"a", "d", "e"}))
      << "each name counts once";
  EXPECT_EQ(CommonStages({"a", "a", "b"}, {"b", "a", "c"}), 2u);
  EXPECT_EQ(CommonStages({"a", "b"}, {"c"}), 0u);
}

// The variances are 0.04 and 0.01, so the whole has 0.8 of the weight. The estimates differ by
// log(2). The result is 0.2 x 0.04 + 0.8 x 0.01 + 0.8 x 0.2 x log(2)^2 = 0.0929.
TEST(WholeRunModel, EstimatesAreWeightedByTheirConfidence) {
  const auto averaged = AverageOf(100, 0.2, {.seconds = 200, .deviation = 0.1});
  ASSERT_TRUE(averaged);
  EXPECT_NEAR(averaged->factor, std::pow(2, 0.8), 1e-12);
  EXPECT_NEAR(averaged->deviation, 0.30475, 1e-5);
}

TEST(WholeRunModel, InvalidTimesAreNotAveraged) {
  EXPECT_FALSE(AverageOf(0, 0.2, {.seconds = 200, .deviation = 0.1}));
  EXPECT_FALSE(AverageOf(std::numeric_limits<double>::infinity(), 0.2, {200, 0.1}));
  EXPECT_FALSE(AverageOf(100, 0, {.seconds = 200, .deviation = 0})) << "neither has a deviation";
}

TEST(ObservedRange, ContainsValuesBetweenTheLeastAndTheMost) {
  ObservedRange range;
  for (const double value : {3.0, -1.0, 2.0}) range.Add(value);
  EXPECT_EQ(range.least(), -1);
  EXPECT_EQ(range.most(), 3);
  EXPECT_EQ(range.width(), 4);
  for (const double value : {-1.0, 0.0, 3.0}) EXPECT_FALSE(range.IsBeyond(value)) << value;
  EXPECT_TRUE(range.IsBeyond(-1.1)) << "below";
  EXPECT_TRUE(range.IsBeyond(3.1)) << "above";
}

TEST(ObservedRange, ToleratesADistanceOnEitherSide) {
  ObservedRange range;
  range.Add(10);
  EXPECT_EQ(range.width(), 0);
  for (const double value : {8.0, 12.0}) {
    EXPECT_TRUE(range.IsBeyond(value)) << value;
    EXPECT_FALSE(range.IsBeyond(value, 2)) << value;
    EXPECT_TRUE(range.IsBeyond(value, 1.5)) << value;
  }
}

TEST(ObservedRange, EveryValueIsBeyondAnEmptyRangeAndNanIsBeyondAnyRange) {
  EXPECT_TRUE(ObservedRange().IsBeyond(0, 1e9));
  ObservedRange range;
  range.Add(1);
  EXPECT_TRUE(range.IsBeyond(std::numeric_limits<double>::quiet_NaN(), 1e9));
  EXPECT_TRUE(range.IsBeyond(std::numeric_limits<double>::infinity(), 1e9));
}

}  // namespace
}  // namespace tidemark::phases::whole_runs_test
