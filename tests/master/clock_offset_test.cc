#include "master/facts/clock_offset.h"

#include <gtest/gtest.h>

#include "tests/master/events.h"

namespace tidemark::model {
namespace {

using test::At;

TEST(ClockOffset, TakesTheFastestTripAsTheDifferenceOfTheClocks) {
  ClockOffset clock;
  clock.Observe(At(0), At(103));
  clock.Observe(At(10), At(110.5));
  clock.Observe(At(20), At(122));
  EXPECT_EQ(clock.ToMasterClock(At(5), At(200)), At(105.5));
}

TEST(ClockOffset, UnderstandsAClockThatIsAhead) {
  ClockOffset clock;
  clock.Observe(At(1000), At(0));
  EXPECT_EQ(clock.ToMasterClock(At(1003), At(10)), At(3));
}

TEST(ClockOffset, NothingHappensAfterItWasTold) {
  ClockOffset clock;
  clock.Observe(At(0), At(0));
  EXPECT_EQ(clock.ToMasterClock(At(99), At(7)), At(7));
}

TEST(ClockOffset, LearnsAClockAnewThatWasSetBack) {
  ClockOffset clock;
  clock.Observe(At(0), At(0));
  clock.Observe(At(10), At(10));
  clock.Observe(At(20 - 3600), At(20));
  EXPECT_EQ(clock.ToMasterClock(At(15 - 3600), At(20)), At(15));
}

TEST(ClockOffset, LearnsAClockAnewThatWasSetForward) {
  ClockOffset clock;
  clock.Observe(At(0), At(0));
  clock.Observe(At(20 + 3600), At(20));
  EXPECT_EQ(clock.ToMasterClock(At(15 + 3600), At(20)), At(15));
}

TEST(ClockOffset, EventsThatCrossInsideTheirSourceAreNoClockSetBack) {
  ClockOffset clock;
  clock.Observe(At(10.5), At(110.5));
  clock.Observe(At(10), At(113));
  EXPECT_EQ(clock.ToMasterClock(At(5), At(200)), At(105));
}

struct Senseless {
  const char* name;
  absl::Time sent_at;
  absl::Time told;
};

class ClockOffsetOfNoTime : public ::testing::TestWithParam<Senseless> {};

TEST_P(ClockOffsetOfNoTime, TakesTheArrivalInstead) {
  ClockOffset clock;
  clock.Observe(GetParam().sent_at, At(5));
  EXPECT_EQ(clock.ToMasterClock(GetParam().told, At(5)), At(5));
}

INSTANTIATE_TEST_SUITE_P(
    All, ClockOffsetOfNoTime,
    ::testing::Values(Senseless{"SentInThePast", absl::InfinitePast(), At(3)},
                      Senseless{"SentInTheFuture", absl::InfiniteFuture(), At(3)},
                      Senseless{"ToldInThePast", At(5), absl::InfinitePast()},
                      Senseless{"ToldInTheFuture", At(5), absl::InfiniteFuture()}),
    [](const auto& row) { return std::string(row.param.name); });

}  // namespace
}  // namespace tidemark::model
