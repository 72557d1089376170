#include "master/waits/ledger.h"

#include "master/waits/delay.h"
#include "tests/test.h"
#include "tests/waits/some_pieces.h"

namespace tidemark::waits::ledger_test {
namespace {

// The stage spends 60 s in a crowd of 2 with 0.2 s per unit, and 60 s in a crowd of 4 with 0.4 s
// per unit. This gives
//   w y = 1 x 60 and 1 x 60, w = 5 and 2.5, w c^2 = 5 x 4 and 2.5 x 16, w y c = 2 and 4.
TEST(Crowding, ServiceIsTheTimeOfAUnitInACrowdOfOne) {
  Crowding crowding;
  crowding.Pass(60, 1, 5, 2);
  crowding.Pass(60, 1, 2.5, 4);
  EXPECT_NEAR(crowding.units, 450, 1e-9);
  EXPECT_NEAR(crowding.crowds_squared, 60 * (20 + 40), 1e-9);
  EXPECT_NEAR(crowding.waits_by_crowds, 60 * (2 + 4), 1e-9);
  ASSERT_TRUE(ServiceSeconds(crowding));
  EXPECT_NEAR(*ServiceSeconds(crowding), 0.1, 1e-9);
}

// A unit takes 0.25 s instead of 0.2 s, and 0.35 s instead of 0.4 s. Therefore w = 4 and 1 / 0.35,
// w c^2 = 16 and 45.714, w y c = 2 and 4, s = 6 / 61.714 = 0.0972. The squared errors per second
// are 0.6 - 6^2 / 61.714 = 0.016667 for the line, and 0.6 - 2^2 / 6.857 = 0.016667 for a constant.
// Neither is more likely.
TEST(Crowding, LineNoBetterThanAConstantGivesNoResult) {
  Crowding crowding;
  crowding.Pass(1e4, 1, 4, 2);
  crowding.Pass(1e4, 1, 1 / 0.35, 4);
  EXPECT_FALSE(ServiceSeconds(crowding));
}

// A unit takes 0.2 s and 0.3 s. Therefore w = 5 and 3.3333, w c^2 = 20 and 53.333, w y c = 2 and 4.
// The errors are 0.5 - 36 / 73.333 = 0.009091 for the line, and 0.5 - 4 / 8.3333 = 0.02 for a
// constant, which is 2.2 times as large. The line needs 2 ln 20 / ln 2.2 = 7.6 observations in
// addition to the first, which take 86 s.
TEST(Crowding, UncertainLineNeedsMoreTime) {
  const auto after = [](double seconds) {
    Crowding crowding;
    crowding.Pass(seconds / 2, 1, 5, 2);
    crowding.Pass(seconds / 2, 1, 10.0 / 3, 4);
    return ServiceSeconds(crowding);
  };
  EXPECT_FALSE(after(80));
  ASSERT_TRUE(after(95));
  EXPECT_NEAR(*after(95), 6 / (20 + 160.0 / 3), 1e-9);
}

// Either the resource is never saturated, or the crowd never changes. A unit may therefore take
// this long even without other tasks.
TEST(Crowding, ConstantCrowdGivesNoResult) {
  Crowding plenty;
  plenty.Pass(1e4, 1, 5, 2);
  plenty.Pass(1e4, 1, 5, 9);
  EXPECT_FALSE(ServiceSeconds(plenty));
  Crowding same;
  same.Pass(1e4, 1, 5, 3);
  same.Pass(1e4, 0.5, 2.5, 3);
  EXPECT_FALSE(ServiceSeconds(same));
  EXPECT_FALSE(ServiceSeconds({}));
}

TEST(Crowding, ExtremeNumbersGiveNoResult) {
  Crowding crowding;
  crowding.Pass(1e300, 1e300, 1e-300, 1e300);
  crowding.Pass(1, 1, 1, 1);
  EXPECT_FALSE(ServiceSeconds(crowding));
}

// A disk serves requests in turn. One other task reads in the first minute, and three in the
// second. A unit takes 0.2 s and 0.4 s, and never 0.1 s. The excess is 30 of 60 s for 300 units,
// and 45 of 60 s for 150 units.
TEST(Crowding, StageThatWasNeverAloneBlamesTheWholeExcess) {
  std::vector<Piece> pieces = {Task(S(0), H(0), 0, 60).Waited(WaitReason::kIo, 60, 300),
                               Task(S(1), H(0), 0, 60).Waited(WaitReason::kIo, 60, 300),
                               Task(S(0), H(0), 60, 120).Waited(WaitReason::kIo, 60, 150)};
  for (int other = 0; other < 3; ++other) {
    pieces.push_back(Task(S(2), H(0), 60, 120).Waited(WaitReason::kIo, 60, 150));
  }
  const std::vector<Stage> targets = {S(0)};
  const auto delays = Delays(Folded(pieces), targets);
  ASSERT_EQ(delays.size(), 2U);
  EXPECT_NEAR(delays[0].task_seconds, 30, 1e-6);
  EXPECT_NEAR(delays[1].task_seconds, 45, 1e-6);
}

// Two other tasks read without a limit, and the stage takes as long as without them.
TEST(Crowding, UnsaturatedResourceBlamesNothing) {
  std::vector<Piece> pieces = {Task(S(0), H(0), 0, 600).Waited(WaitReason::kIo, 600, 6000),
                               Task(S(1), H(0), 100, 200).Waited(WaitReason::kIo, 100, 1000),
                               Task(S(1), H(0), 150, 400).Waited(WaitReason::kIo, 250, 2500)};
  const std::vector<Stage> targets = {S(0)};
  for (const Delay& delay : Delays(Folded(pieces), targets)) EXPECT_LT(delay.task_seconds, 1e-6);
}

}  // namespace
}  // namespace tidemark::waits::ledger_test
