#include "whatif/phases/whole_runs.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace tidemark::phases {
namespace {

WholeRuns Learnt(const std::vector<WholeRun>& runs) {
  auto learnt = WholeRuns::Learn(runs, std::vector<std::size_t>{0});
  EXPECT_TRUE(learnt.ok()) << learnt.status();
  return *std::move(learnt);
}

// Twice as long with each level more.
std::vector<WholeRun> Doubling() { return {{{0}, 10}, {{1}, 20}, {{2}, 40}, {{3}, 80}}; }

TEST(WholeRuns, SettingsSayWhatARunTakes) {
  const WholeRuns learnt = Learnt(Doubling());
  ASSERT_TRUE(learnt.At({1}));
  EXPECT_NEAR(learnt.At({1})->seconds, 20, 4);
  EXPECT_GT(learnt.At({4})->seconds, 1.5 * learnt.At({3})->seconds);
}

// Three levels were seen: three beyond them are near, more are not.
TEST(WholeRuns, SaysNothingFarFromWhatItSaw) {
  const WholeRuns learnt = Learnt(Doubling());
  EXPECT_TRUE(learnt.At({6}));
  EXPECT_FALSE(learnt.At({6.1}));
  EXPECT_FALSE(learnt.At({-3.1}));
  EXPECT_FALSE(learnt.At({std::numeric_limits<double>::quiet_NaN()}));
}

TEST(WholeRuns, FewRunsSayNothing) {
  std::vector<WholeRun> runs = Doubling();
  runs.pop_back();
  EXPECT_FALSE(Learnt(runs).At({1}));
  EXPECT_FALSE(Learnt({}).At({1}));
}

TEST(WholeRuns, ProgramsAreOneWhichHaveHalfOfTheirStagesInCommon) {
  EXPECT_TRUE(IsOfOneProgram({"a", "b"}, {"b", "c"}));
  EXPECT_FALSE(IsOfOneProgram({"a", "b", "c"}, {"c", "d", "e"}));
  EXPECT_TRUE(IsOfOneProgram({"a"}, {"a", "b", "c", "d"})) << "it broke off";
  EXPECT_FALSE(IsOfOneProgram({"a", "a", "b", "c"}, {"a", "d", "e"})) << "each name counts once";
  EXPECT_EQ(StagesInCommon({"a", "a", "b"}, {"b", "a", "c"}), 2u);
  EXPECT_EQ(StagesInCommon({"a", "b"}, {"c"}), 0u);
}

// Variances 0.04 and 0.01: 0.8 of the weight is that of the whole, and log(2) the two are apart.
// 0.2 x 0.04 + 0.8 x 0.01 + 0.8 x 0.2 x log(2)^2 = 0.0929.
TEST(WholeRuns, EachForecastWeighsByHowSureItIs) {
  const auto averaged = Average(100, 0.2, {.seconds = 200, .deviation = 0.1});
  ASSERT_TRUE(averaged);
  EXPECT_NEAR(averaged->factor, std::pow(2, 0.8), 1e-12);
  EXPECT_NEAR(averaged->deviation, 0.30475, 1e-5);
}

TEST(WholeRuns, NothingIsAveragedWithWhatIsNoTime) {
  EXPECT_FALSE(Average(0, 0.2, {.seconds = 200, .deviation = 0.1}));
  EXPECT_FALSE(Average(std::numeric_limits<double>::infinity(), 0.2, {200, 0.1}));
  EXPECT_FALSE(Average(100, 0, {.seconds = 200, .deviation = 0})) << "neither is unsure";
}

}  // namespace
}  // namespace tidemark::phases
