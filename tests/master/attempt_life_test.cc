#include "master/facts/attempt_life.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/master/events.h"

namespace tidemark::model {
namespace {

using test::At;
using enum AttemptState;

AttemptLife LifeOf(const std::vector<AttemptState>& states) {
  AttemptLife life;
  double at = 0;
  for (const AttemptState state : states) life.Enter(state, At(++at));
  return life;
}

TEST(AttemptLife, IsQueuedAtFirst) {
  const AttemptLife life;
  EXPECT_EQ(life.state(), kQueued);
  EXPECT_FALSE(life.is_running());
  EXPECT_FALSE(life.has_ended());
}

TEST(AttemptLife, KnowsWhenItEnteredEachState) {
  const AttemptLife life = LifeOf({kQueued, kStarted, kShuffled, kFinished});
  EXPECT_EQ(life.started_at(), At(2));
  EXPECT_EQ(life.shuffled_at(), At(3));
  EXPECT_EQ(life.ended_at(), At(4));
}

struct Step {
  const char* name;
  std::vector<AttemptState> before;
  AttemptState entered;
  bool fits;
  AttemptState after;
};

class AttemptLifeStep : public ::testing::TestWithParam<Step> {};

TEST_P(AttemptLifeStep, GoesOnlyForward) {
  AttemptLife life = LifeOf(GetParam().before);
  EXPECT_EQ(life.Enter(GetParam().entered, At(100)), GetParam().fits);
  EXPECT_EQ(life.state(), GetParam().after);
}

INSTANTIATE_TEST_SUITE_P(
    All, AttemptLifeStep,
    ::testing::Values(
        Step{"StatesMayBeSkipped", {}, kFinished, true, kFinished},
        Step{"ToldTwice", {kStarted}, kStarted, true, kStarted},
        Step{"QueuedToldLate", {kStarted}, kQueued, true, kStarted},
        Step{"StartedToldLate", {kFinished}, kStarted, true, kFinished},
        Step{"ShuffledToldLate", {kFailed}, kShuffled, true, kFailed},
        Step{"StartedAgainAfterTheEnd", {kStarted, kFinished}, kStarted, false, kFinished},
        Step{"FailedAfterFinished", {kFinished}, kFailed, false, kFinished},
        Step{"FinishedAfterKilled", {kKilled}, kFinished, false, kKilled},
        Step{"FinishedTwice", {kFinished}, kFinished, true, kFinished},
        Step{"ObsoleteAfterFinished", {kFinished}, kObsolete, true, kObsolete},
        Step{"ObsoleteWhileRunning", {kStarted}, kObsolete, false, kStarted},
        Step{"ObsoleteAfterFailed", {kFailed}, kObsolete, false, kFailed},
        Step{"FinishedAfterObsolete", {kFinished, kObsolete}, kFinished, false, kObsolete},
        Step{"LostWhileRunning", {kStarted}, kLost, true, kLost},
        Step{"FinishedAfterLost", {kStarted, kLost}, kFinished, true, kFinished},
        Step{"KilledAfterLost", {kStarted, kLost}, kKilled, true, kKilled},
        Step{"LostAfterFinished", {kFinished}, kLost, false, kFinished},
        Step{"ObsoleteAfterLost", {kStarted, kLost}, kObsolete, false, kLost}),
    [](const auto& row) { return std::string(row.param.name); });

TEST(AttemptLife, LearnsAnInstantThatIsToldLate) {
  AttemptLife life = LifeOf({kFinished});
  life.Enter(kStarted, At(0.5));
  EXPECT_EQ(life.started_at(), At(0.5));
}

TEST(AttemptLife, KeepsTheFirstInstantOfAState) {
  AttemptLife life = LifeOf({kStarted});
  life.Enter(kStarted, At(50));
  EXPECT_EQ(life.started_at(), At(1));
}

TEST(AttemptLife, NeverEndsBeforeItStarted) {
  AttemptLife set_back = LifeOf({kStarted});
  set_back.Enter(kFinished, At(0.5));
  EXPECT_EQ(set_back.ended_at(), set_back.started_at());
  AttemptLife told_late = LifeOf({kFinished});
  told_late.Enter(kStarted, At(50));
  EXPECT_EQ(told_late.started_at(), told_late.ended_at());
}

TEST(AttemptLife, AnObsoleteAttemptHasEndedButIsNotFinished) {
  const AttemptLife life = LifeOf({kStarted, kFinished, kObsolete});
  EXPECT_TRUE(life.has_ended());
  EXPECT_FALSE(life.is_finished());
  EXPECT_FALSE(life.is_running());
}

TEST(AttemptLife, ALostAttemptRunsNoLongerAndEndsWhenThatIsReportedAfterAll) {
  AttemptLife life = LifeOf({kStarted, kLost});
  EXPECT_FALSE(life.is_running());
  EXPECT_FALSE(life.is_finished());
  life.Enter(kFinished, At(50));
  EXPECT_EQ(life.ended_at(), At(50));
}

TEST(AttemptLife, RunsFromStartedUntilItEnds) {
  EXPECT_TRUE(LifeOf({kStarted}).is_running());
  EXPECT_TRUE(LifeOf({kStarted, kShuffled}).is_running());
  EXPECT_FALSE(LifeOf({kStarted, kShuffled, kKilled}).is_running());
}

}  // namespace
}  // namespace tidemark::model
