#include "master/forecast/dag/foretold_tasks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace tidemark::workflow {
namespace {

// Four tasks of 5 s each, as foretold with a deviation of 0.3; runs of one stage differ by 0.1.
StageNow Turn() { return {.name = "turn", .work = 7, .tasks = 4, .foretold_deviation = 0.3}; }

ExpectedTasks FiveSeconds() {
  ExpectedTasks expected = {.deviation = 0.1, .is_known = true, .is_of_runs = true};
  for (auto& times : expected.times) times = cost::TimeDistribution::Empirical({5.0});
  expected.long_tasks = {{1, 10}};
  return expected;
}

StageNow Done(double seconds) {
  StageNow stage = Turn();
  stage.finished.assign(4, {.seconds = seconds, .index = 3});
  return stage;
}

// By hand. The first turn took 10 s in place of 5: ln 2 = 0.693. Of four tasks the mean is known to
// a variance of 0.04 / 4, runs differ by 0.1^2: a precision of 50 beside 1 / 0.09 = 11.1 of what
// was foretold. 0.693 x 50 / 61.1 = 0.567, and 1 / sqrt(61.1) = 0.128 remain.
TEST(CorrectForetold, StagesThatAreDoneCorrectOthersOfTheirWork) {
  std::vector<ExpectedTasks> before = {FiveSeconds(), FiveSeconds()};
  CorrectForetold({Done(10), Turn()}, {}, before);
  EXPECT_NEAR(before[1].Of(Warmth::kRest).mean(), 5 * std::exp(0.5671), 0.01);
  EXPECT_NEAR(before[1].long_tasks[0].more_seconds, 10 * std::exp(0.5671), 0.02);
  EXPECT_NEAR(before[1].shared_deviation, 0.1279, 1e-3);
  EXPECT_NEAR(before[1].deviation, 0.1, 1e-9);
  EXPECT_NEAR(before[0].Of(Warmth::kRest).mean(), 5, 1e-9) << "its own tasks tell of it";
}

TEST(CorrectForetold, ManyStagesLeaveLittleUnsure) {
  std::vector<StageNow> stages(20, Done(10));
  stages.push_back(Turn());
  std::vector<ExpectedTasks> before(21, FiveSeconds());
  CorrectForetold(stages, {}, before);
  EXPECT_NEAR(before[20].Of(Warmth::kRest).mean(), 10, 0.2);
  EXPECT_LT(before[20].shared_deviation, 0.04);
}

TEST(CorrectForetold, StagesThatWaitShareWhatIsUnsureAndThoseThatRunBearIt) {
  StageNow running = Turn();
  running.running = {{.elapsed = 1}};
  std::vector<ExpectedTasks> before(3, FiveSeconds());
  CorrectForetold({Turn(), Turn(), running}, {}, before);
  EXPECT_NEAR(before[0].shared_deviation, 0.3, 1e-9);
  EXPECT_EQ(before[0].shared_by, before[1].shared_by);
  EXPECT_EQ(before[2].shared_deviation, 0);
  EXPECT_NEAR(before[2].deviation, std::hypot(0.1, 0.3), 1e-9);
}

TEST(CorrectForetold, OtherWorksAndStagesThatWereNotForetoldStay) {
  StageNow other = Turn();
  other.work = 8;
  StageNow known = Turn();
  known.foretold_deviation = 0;
  std::vector<ExpectedTasks> before(3, FiveSeconds());
  CorrectForetold({Done(10), other, known}, {}, before);
  for (const std::size_t i : {1, 2}) EXPECT_NEAR(before[i].Of(Warmth::kRest).mean(), 5, 1e-9);
  EXPECT_NE(before[1].shared_by, before[0].shared_by);
  EXPECT_EQ(before[2].shared_deviation, 0);
}

}  // namespace
}  // namespace tidemark::workflow
