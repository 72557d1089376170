#include "master/forecast/durations/map_side.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <optional>

#include "master/facts/fold.h"
#include "tests/master/events.h"

namespace tidemark::cost {
namespace {

using test::At;
using test::M;

// A job of one map task of 1000 bytes that started at second 0.
class MapSide : public testing::Test {
 protected:
  MapSide() {
    Fold(source_.At(0, test::Opened(1, 1)));
    Fold(source_.At(0, test::Started(M(0), 1000)));
  }
  void Fold(const Event& event) { EXPECT_TRUE(model::Apply(event, {}, state_).ok()); }
  std::optional<Draws> SecondsAt(absl::Time now) const {
    return SecondsByMapSide(state_, now, FixedDraws::For(1));
  }

  model::JobRecord state_{10};
  test::Source source_{"app-master"};
};

TEST_F(MapSide, SaysNothingBeforeItHasAPace) { EXPECT_FALSE(SecondsAt(At(4)).has_value()); }

TEST_F(MapSide, SaysNothingOfAJobWithoutMapTasks) {
  EXPECT_FALSE(SecondsByMapSide(model::JobRecord(10), At(4), FixedDraws::For(1)).has_value());
}

// Half read after 4 s: M = 8; 4 s of it and X are left. X is 8 s in the median, and 8 s times or
// over exp(1.8 x 1.64485) = 19.31 at the ends of its 90 % interval.
TEST_F(MapSide, ExpectsTheTimeOfTheMapPhaseOnceMoreAfterIt) {
  Fold(source_.At(4, test::Read(M(0), 500)));
  auto seconds = SecondsAt(At(4));
  ASSERT_TRUE(seconds.has_value());
  EXPECT_NEAR(QuantileOf(*seconds, 0.5), 12, 1e-6);
  EXPECT_NEAR(QuantileOf(*seconds, 0.05), 4 + 8 / 19.3143, 0.02);
  EXPECT_NEAR(QuantileOf(*seconds, 0.95), 4 + 8 * 19.3143, 6);
}

// M = 8, and 8 s have passed since: half of all jobs would be over. Of the other half, half take
// longer than 8 exp(1.8 x 0.67449) = 26.938 s.
TEST_F(MapSide, WhoeverHasTakenLongIsExpectedToTakeLonger) {
  Fold(source_.At(8, test::Finished(M(0))));
  auto seconds = SecondsAt(At(16));
  ASSERT_TRUE(seconds.has_value());
  EXPECT_NEAR(QuantileOf(*seconds, 0.5), 26.938 - 8, 0.01);
}

TEST_F(MapSide, StaysFiniteHoweverLongItTakes) {
  Fold(source_.At(8, test::Finished(M(0))));
  double before = 0;
  for (const double passed : {1e3, 1e6, 1e9}) {
    auto seconds = SecondsAt(At(passed));
    ASSERT_TRUE(seconds.has_value());
    const double median = QuantileOf(*seconds, 0.5);
    EXPECT_GT(median, before);
    EXPECT_TRUE(std::isfinite(median));
    EXPECT_GT(QuantileOf(*seconds, 0.95), 2 * median);
    before = median;
  }
  state_.stages.at(kMapStage).tasks[0].input_bytes = std::numeric_limits<std::uint64_t>::max();
  auto seconds = SecondsAt(absl::InfiniteFuture());
  EXPECT_FALSE(seconds && !std::isfinite(QuantileOf(*seconds, 0.5)));
}

}  // namespace
}  // namespace tidemark::cost
