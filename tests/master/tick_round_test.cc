#include "master/service/tick_round.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tidemark::service {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

DueJob Job(int cost_millis, int ticked_at) {
  return {absl::Milliseconds(cost_millis), absl::FromUnixSeconds(ticked_at)};
}

TEST(TickRound, NobodyIsDue) { EXPECT_THAT(TickRound({}), IsEmpty()); }

TEST(TickRound, CheapJobsComeFirst) {
  EXPECT_THAT(TickRound({Job(9, 0), Job(1, 0), Job(5, 0)}), ElementsAre(1, 2, 0));
}

TEST(TickRound, OneHeavyJobARoundTheOneThatWaitedLongest) {
  EXPECT_THAT(TickRound({Job(900, 7), Job(60, 3), Job(1, 9), Job(51, 5)}), ElementsAre(2, 1));
}

TEST(TickRound, HeavyJobsTakeTurns) {
  std::vector<DueJob> due = {Job(100, 1), Job(100, 2)};
  EXPECT_THAT(TickRound(due), ElementsAre(0));
  due[0].ticked_at = absl::FromUnixSeconds(3);
  EXPECT_THAT(TickRound(due), ElementsAre(1));
}

}  // namespace
}  // namespace tidemark::service
