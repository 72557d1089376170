#include "master/waits/crowding.h"

#include <gtest/gtest.h>

#include "master/waits/delay.h"
#include "tests/waits/some_pieces.h"

namespace tidemark::blame {
namespace {

// 60 s in a crowd of 2 that waits 0.2 s for a unit, 60 s in one of 4 that waits 0.4 s:
// w y = 1 x 60 and 1 x 60, w = 5 and 2.5, w c^2 = 5 x 4 and 2.5 x 16, w y c = 2 and 4.
TEST(Crowding, ServiceIsWhatAUnitTakesInACrowdOfOne) {
  Crowding crowding;
  crowding.Pass(60, 1, 5, 2);
  crowding.Pass(60, 1, 2.5, 4);
  EXPECT_NEAR(crowding.units, 450, 1e-9);
  EXPECT_NEAR(crowding.crowds_squared, 60 * (20 + 40), 1e-9);
  EXPECT_NEAR(crowding.waits_by_crowds, 60 * (2 + 4), 1e-9);
  ASSERT_TRUE(ServiceSeconds(crowding));
  EXPECT_NEAR(*ServiceSeconds(crowding), 0.1, 1e-9);
}

// 0.25 s instead of 0.2 s, and 0.35 s instead of 0.4 s: w = 4 and 1 / 0.35, w c^2 = 16 and 45.714,
// w y c = 2 and 4, s = 6 / 61.714 = 0.0972. Squared errors, a second: of the line 0.6 - 6^2
// / 61.714 = 0.016667, of a constant 0.6 - 2^2 / 6.857 = 0.016667. Neither is likelier.
TEST(Crowding, WhereALineIsNoBetterThanAConstantNothingIsSaid) {
  Crowding crowding;
  crowding.Pass(1e4, 1, 4, 2);
  crowding.Pass(1e4, 1, 1 / 0.35, 4);
  EXPECT_FALSE(ServiceSeconds(crowding));
}

// 0.2 s and 0.3 s: w = 5 and 3.3333, w c^2 = 20 and 53.333, w y c = 2 and 4; errors of the line 0.5
// - 36 / 73.333 = 0.009091, of a constant 0.5 - 4 / 8.3333 = 0.02: 2.2 times as large. 2 ln 20 /
// ln 2.2 = 7.6 observations more than one: 86 s.
TEST(Crowding, ADoubtfulLineNeedsMoreTime) {
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

// Plenty of everything, or always the same crowd: it may be alone that a unit takes so long.
TEST(Crowding, WithoutAChangeNothingIsSaid) {
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

TEST(Crowding, NumbersBeyondMeasureSayNothing) {
  Crowding crowding;
  crowding.Pass(1e300, 1e300, 1e-300, 1e300);
  crowding.Pass(1, 1, 1, 1);
  EXPECT_FALSE(ServiceSeconds(crowding));
}

// A disk that serves one after the other. In the first minute one other reads, in the second three:
// a unit takes 0.2 s and 0.4 s, and was never seen to take 0.1 s. 60 s for 300 units: 30 s too
// much; 60 s for 150 units: 45 s.
TEST(Crowding, AStageThatWasNeverAloneBlamesForAllThatOthersTook) {
  std::vector<Piece> pieces = {Task(S(0), H(0), 0, 60).Waited(Resource::kIo, 60, 300),
                               Task(S(1), H(0), 0, 60).Waited(Resource::kIo, 60, 300),
                               Task(S(0), H(0), 60, 120).Waited(Resource::kIo, 60, 150)};
  for (int other = 0; other < 3; ++other) {
    pieces.push_back(Task(S(2), H(0), 60, 120).Waited(Resource::kIo, 60, 150));
  }
  const std::vector<Stage> targets = {S(0)};
  const auto delays = Delays(Folded(pieces), targets);
  ASSERT_EQ(delays.size(), 2U);
  EXPECT_NEAR(delays[0].task_seconds, 30, 1e-6);
  EXPECT_NEAR(delays[1].task_seconds, 45, 1e-6);
}

// Two others that read as much as they like beside it, or not: it takes as long as ever.
TEST(Crowding, WherePlentyIsLeftNobodyIsBlamed) {
  std::vector<Piece> pieces = {Task(S(0), H(0), 0, 600).Waited(Resource::kIo, 600, 6000),
                               Task(S(1), H(0), 100, 200).Waited(Resource::kIo, 100, 1000),
                               Task(S(1), H(0), 150, 400).Waited(Resource::kIo, 250, 2500)};
  const std::vector<Stage> targets = {S(0)};
  for (const Delay& delay : Delays(Folded(pieces), targets)) {
    EXPECT_LT(delay.task_seconds, 1e-6);
  }
}

}  // namespace
}  // namespace tidemark::blame
