#include "master/facts/report_times.h"

#include "tests/facts/events.h"
#include "tests/test.h"

namespace tidemark::facts::report_times_test {
namespace {

// Messages, with the times at which they are sent and arrive.
using Messages = std::vector<std::pair<absl::Time, absl::Time>>;

TEST(ClockOffset, MapsInstantsToTheMastersClock) {
  constexpr absl::Duration kHour = absl::Hours(1);
  const Messages set_forward = {{At(0), At(0)}, {At(10), At(10)}, {At(20) + kHour, At(20)}};
  const struct {
    const char* name;
    Messages messages;
    absl::Time reported;
    absl::Time arrived;
    absl::Time expected;
  } rows[] = {
      {"by the fastest message",
       {{At(0), At(103)}, {At(10), At(110.5)}, {At(20), At(122)}},
       At(5),
       At(200),
       At(105.5)},
      {"of a clock that is ahead", {{At(1000), At(0)}}, At(1003), At(10), At(3)},
      {"not after their report", {{At(0), At(0)}}, At(99), At(7), At(7)},
      {"after a step back",
       {{At(0), At(0)}, {At(10), At(10)}, {At(20) - kHour, At(20)}},
       At(15) - kHour,
       At(20),
       At(15)},
      {"after a step forward",
       {{At(0), At(0)}, {At(20) + kHour, At(20)}},
       At(15) + kHour,
       At(20),
       At(15)},
      {"from before a step forward", set_forward, At(9), At(20), At(9)},
      {"from the time of a step forward", set_forward, At(19) + kHour, At(20), At(19)},
      {"of events out of order, which are no step",
       {{At(10.5), At(110.5)}, {At(10), At(113)}},
       At(5),
       At(200),
       At(105)},
      {"of messages sent in the past", {{absl::InfinitePast(), At(5)}}, At(3), At(5), At(5)},
      {"of messages sent in the future", {{absl::InfiniteFuture(), At(5)}}, At(3), At(5), At(5)},
      {"in the infinite past", {{At(5), At(5)}}, absl::InfinitePast(), At(5), At(5)},
      {"in the infinite future", {{At(5), At(5)}}, absl::InfiniteFuture(), At(5), At(5)}};
  for (const auto& row : rows) {
    ClockOffset clock;
    for (const auto& [sent, arrived] : row.messages) clock.Observe(sent, arrived);
    EXPECT_EQ(clock.ToMasterClock(row.reported, row.arrived), row.expected) << row.name;
  }
}

TEST(ClockOffset, ReportsAStepOfTheClock) {
  ClockOffset clock;
  EXPECT_EQ(clock.Observe(At(0), At(0)), std::nullopt);
  EXPECT_EQ(clock.Observe(At(10), At(10)), std::nullopt);
  EXPECT_EQ(clock.Observe(At(20 + 3600), At(20)), absl::Hours(1));
  EXPECT_EQ(clock.Observe(At(30 + 3600), At(30)), std::nullopt);
  EXPECT_EQ(clock.Observe(At(40), At(40)), -absl::Hours(1));
}

// One, two or, after a restart, many first messages are slow.
TEST(ClockOffset, SlowFirstMessagesAreNoStepOfTheClock) {
  for (const Messages& messages :
       {Messages{{At(0), At(60)}, {At(60), At(60)}},
        Messages{{At(0), At(40)}, {At(1), At(40)}, {At(41), At(41)}},
        Messages{{At(0), At(40)}, {At(10), At(50)}, {At(51), At(51)}},
        Messages{
            {At(0), At(1200)}, {At(300), At(1201)}, {At(600), At(1202)}, {At(1210), At(1210)}}}) {
    ClockOffset clock;
    for (const auto& [sent, arrived] : messages) {
      EXPECT_EQ(clock.Observe(sent, arrived), std::nullopt) << arrived;
    }
    const absl::Time last = messages.back().second;
    EXPECT_EQ(clock.ToMasterClock(last - absl::Seconds(5), last), last - absl::Seconds(5));
  }
}

TEST(ClockOffset, AnOffsetThatHeldLongerThanTheStepIsNoSlowMessage) {
  ClockOffset clock;
  for (double at = 0; at <= 60; at += 10) clock.Observe(At(at), At(at));
  EXPECT_EQ(clock.Observe(At(61 + 45), At(61)), absl::Seconds(45));
}

}  // namespace
}  // namespace tidemark::facts::report_times_test
