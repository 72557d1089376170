#include "master/model/indicators/end_drift.h"

#include <gtest/gtest.h>

#include "tests/master/events.h"

namespace tidemark::model {
namespace {

using test::At;

TEST(EndDrift, IsZeroBeforeTheSecondPrediction) {
  EndDrift drift;
  EXPECT_EQ(drift.Drift(), absl::ZeroDuration());
  drift.Observe(At(0), At(100));
  EXPECT_EQ(drift.Drift(), absl::ZeroDuration());
}

TEST(EndDrift, IsZeroWhileThePredictionStands) {
  EndDrift drift;
  for (int i = 0; i < 10; ++i) drift.Observe(At(i), At(100));
  EXPECT_EQ(drift.Drift(), absl::ZeroDuration());
}

// Made at 0, 10, 20; the later half of that time holds the last two: ends 106 and 100. The root
// mean square of 6 and 0 is sqrt(18).
TEST(EndDrift, IsTheRootMeanSquareOverTheLaterHalf) {
  EndDrift drift;
  drift.Observe(At(0), At(500));
  drift.Observe(At(10), At(106));
  drift.Observe(At(20), At(100));
  EXPECT_NEAR(absl::ToDoubleSeconds(drift.Drift()), 4.242640687, 1e-9);
}

TEST(EndDrift, RepeatingItselfAtOneInstantMakesNoPredictionSurer) {
  EndDrift drift;
  drift.Observe(At(0), At(500));
  drift.Observe(At(10), At(106));
  for (int i = 0; i < 1000; ++i) drift.Observe(At(20), At(100));
  EXPECT_NEAR(absl::ToDoubleSeconds(drift.Drift()), 4.242640687, 1e-9);
}

TEST(EndDrift, RemembersTheStartOfALongRun) {
  EndDrift drift;
  for (int i = 0; i <= 5000; ++i) drift.Observe(At(i), At(i < 2000 ? 9000 : 8000));
  EXPECT_EQ(drift.Drift(), absl::ZeroDuration()) << "the jump is in the earlier half";
  drift.Observe(At(5001), At(8010));
  EXPECT_NEAR(absl::ToDoubleSeconds(drift.Drift()), 10, 0.1);
}

TEST(EndDrift, AnEndThatIsNoInstantIsLeftOut) {
  EndDrift drift;
  drift.Observe(At(0), At(100));
  drift.Observe(At(1), absl::InfiniteFuture());
  drift.Observe(At(2), At(100));
  EXPECT_EQ(drift.Drift(), absl::ZeroDuration());
}

}  // namespace
}  // namespace tidemark::model
