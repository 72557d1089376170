#include "master/facts/report_times.h"

#include <gtest/gtest.h>

#include "tests/facts/events.h"

namespace tidemark::facts::report_times_test {
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

struct SlowMessages {
  const char* name;
  std::vector<std::pair<double, double>> sent_and_arrived;
};

class SlowFirstMessages : public ::testing::TestWithParam<SlowMessages> {};

TEST_P(SlowFirstMessages, AreNoStepOfTheClock) {
  ClockOffset clock;
  for (const auto& [sent, arrived] : GetParam().sent_and_arrived) {
    EXPECT_EQ(clock.Observe(At(sent), At(arrived)), std::nullopt) << sent;
  }
  const double last = GetParam().sent_and_arrived.back().second;
  EXPECT_EQ(clock.ToMasterClock(At(last - 5), At(last)), At(last - 5));
}

INSTANTIATE_TEST_SUITE_P(
    All, SlowFirstMessages,
    ::testing::Values(SlowMessages{"One", {{0, 60}, {60, 60}}},
                      SlowMessages{"TwoAtOnce", {{0, 40}, {1, 40}, {41, 41}}},
                      SlowMessages{"TwoInSuccession", {{0, 40}, {10, 50}, {51, 51}}},
                      SlowMessages{"ManyAfterARestart",
                                   {{0, 1200}, {300, 1201}, {600, 1202}, {1210, 1210}}}),
    [](const auto& row) { return std::string(row.param.name); });

TEST(ClockOffset, AnOffsetThatHeldLongerThanTheStepIsNoSlowMessage) {
  ClockOffset clock;
  for (double at = 0; at <= 60; at += 10) clock.Observe(At(at), At(at));
  EXPECT_EQ(clock.Observe(At(61 + 45), At(61)), absl::Seconds(45));
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
}  // namespace tidemark::facts::report_times_test
