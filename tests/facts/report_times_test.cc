#include "master/facts/report_times.h"

#include <gtest/gtest.h>

#include "tests/facts/events.h"

namespace tidemark::facts {
namespace {

using test::At;

TEST(ClockOffset, IsThatOfTheFastestMessage) {
  ClockOffset clock;
  clock.Observe(At(0), At(103));
  clock.Observe(At(10), At(110.5));
  clock.Observe(At(20), At(122));
  EXPECT_EQ(clock.ToMasterClock(At(5), At(200)), At(105.5));
}

TEST(ClockOffset, HandlesAClockThatIsAhead) {
  ClockOffset clock;
  clock.Observe(At(1000), At(0));
  EXPECT_EQ(clock.ToMasterClock(At(1003), At(10)), At(3));
}

TEST(ClockOffset, MapsNoInstantAfterItsReport) {
  ClockOffset clock;
  clock.Observe(At(0), At(0));
  EXPECT_EQ(clock.ToMasterClock(At(99), At(7)), At(7));
}

TEST(ClockOffset, IsLearnedAgainAfterAStepBack) {
  ClockOffset clock;
  clock.Observe(At(0), At(0));
  clock.Observe(At(10), At(10));
  clock.Observe(At(20 - 3600), At(20));
  EXPECT_EQ(clock.ToMasterClock(At(15 - 3600), At(20)), At(15));
}

TEST(ClockOffset, IsLearnedAgainAfterAStepForward) {
  ClockOffset clock;
  clock.Observe(At(0), At(0));
  clock.Observe(At(20 + 3600), At(20));
  EXPECT_EQ(clock.ToMasterClock(At(15 + 3600), At(20)), At(15));
}

TEST(ClockOffset, ReportsAStepOfTheClock) {
  ClockOffset clock;
  EXPECT_EQ(clock.Observe(At(0), At(0)), std::nullopt);
  EXPECT_EQ(clock.Observe(At(10), At(10)), std::nullopt);
  EXPECT_EQ(clock.Observe(At(20 + 3600), At(20)), absl::Hours(1));
  EXPECT_EQ(clock.Observe(At(30 + 3600), At(30)), std::nullopt);
  EXPECT_EQ(clock.Observe(At(40), At(40)), -absl::Hours(1));
}

TEST(ClockOffset, ASlowFirstMessageIsNoStepOfTheClock) {
  ClockOffset clock;
  EXPECT_EQ(clock.Observe(At(0), At(60)), std::nullopt);
  EXPECT_EQ(clock.Observe(At(60), At(60)), std::nullopt);
}

TEST(ClockOffset, KeepsTheOffsetOfInstantsBeforeAStepForward) {
  ClockOffset clock;
  clock.Observe(At(0), At(0));
  clock.Observe(At(10), At(10));
  clock.Observe(At(20 + 3600), At(20));
  EXPECT_EQ(clock.ToMasterClock(At(9), At(20)), At(9));
  EXPECT_EQ(clock.ToMasterClock(At(19 + 3600), At(20)), At(19));
}

TEST(ClockOffset, EventsOutOfOrderAreNoStep) {
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

TEST_P(ClockOffsetOfNoTime, IsMappedToTheArrival) {
  ClockOffset clock;
  clock.Observe(GetParam().sent_at, At(5));
  EXPECT_EQ(clock.ToMasterClock(GetParam().told, At(5)), At(5));
}

INSTANTIATE_TEST_SUITE_P(
    All, ClockOffsetOfNoTime,
    ::testing::Values(Senseless{"SentInThePast", absl::InfinitePast(), At(3)},
                      Senseless{"SentInTheFuture", absl::InfiniteFuture(), At(3)},
                      Senseless{"ReportedInThePast", At(5), absl::InfinitePast()},
                      Senseless{"ReportedInTheFuture", At(5), absl::InfiniteFuture()}),
    [](const auto& row) { return std::string(row.param.name); });

}  // namespace
}  // namespace tidemark::facts
