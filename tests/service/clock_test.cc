#include "master/service/clock.h"

#include "tests/facts/events.h"
#include "tests/test.h"

namespace tidemark::service::clock_test {
namespace {

absl::Time wall = At(0);
absl::Time Wall() { return wall; }

// Returns the first time after `at` that the clock shows. Does not return if the clock has stopped.
absl::Time NextAfter(absl::Time at, const Clock& clock) {
  absl::Time now = at;
  while (now <= at) now = clock.Now();
  return now;
}

class ClockTest : public ::testing::Test {
 protected:
  void SetUp() override { wall = At(0); }
};

TEST_F(ClockTest, BeginsWithTheWallClock) {
  const Clock clock(&Wall);
  EXPECT_GE(clock.Now(), At(0));
  EXPECT_LT(clock.Now(), At(3'000));
}

TEST_F(ClockTest, ContinuesWhenTheWallClockIsSetBack) {
  const Clock clock(&Wall);
  const absl::Time before = clock.Now();
  wall = At(-3'600);
  EXPECT_GT(NextAfter(before, clock), before);
}

TEST_F(ClockTest, DoesNotJumpWhenTheWallClockIsSetForward) {
  const Clock clock(&Wall);
  wall = At(86'400);
  EXPECT_LT(clock.Now(), At(3'000));
}

TEST_F(ClockTest, ContinuesFromALaterLoggedInstant) {
  Clock clock(&Wall);
  clock.NotBefore(At(3'600));
  EXPECT_GE(clock.Now(), At(3'600));
  EXPECT_GT(NextAfter(clock.Now(), clock), At(3'600));
}

TEST_F(ClockTest, IgnoresAnEarlierLoggedInstant) {
  Clock clock(&Wall);
  clock.NotBefore(At(-3'600));
  EXPECT_GE(clock.Now(), At(0));
  EXPECT_LT(clock.Now(), At(3'000));
}

}  // namespace
}  // namespace tidemark::service::clock_test
