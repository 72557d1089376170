#include "master/waits/delay.h"

#include "tests/matchers.h"
#include "tests/test.h"
#include "tests/waits/some_pieces.h"

namespace tidemark::waits::delay_test {
namespace {

const std::vector<QueryStage> kStages = {{.query = Q(0)}, {.query = Q(1)}, {.query = Q(0)}};

std::vector<Delay> DelaysOf(const std::vector<Piece>& pieces) {
  const std::vector<Stage> targets = {S(0)};
  return Delays(Folded(pieces), targets);
}

// Two parallel tasks of 10 s each wait for a processor for 4 s. Their 8 task seconds are 4 s of the
// stage.
TEST(Delay, StageSecondsAreTaskSecondsOverTasksAtATime) {
  const auto delays =
      DelaysOf({Task(S(0), H(0), 0, 10).Waited(WaitReason::kProcessor, 4).Computed(6),
                Task(S(0), H(1), 0, 10).Waited(WaitReason::kProcessor, 4).Computed(6),
                Task(S(1), H(0), 0, 10).Computed(9), Task(S(1), H(1), 0, 10).Computed(9)});
  ASSERT_EQ(delays.size(), 2);
  for (const Delay& delay : delays) {
    EXPECT_NEAR(delay.task_seconds, 4, 1e-9);
    EXPECT_NEAR(delay.stage_seconds, 2, 1e-9);
  }
}

// Ten tasks wait for half of their second, while a task of 100 s runs without waits. For one
// second, they are ten of eleven tasks.
TEST(Delay, WaitsOfShortTasksHardlyDelayAStageWithALongTask) {
  std::vector<Piece> pieces = {
      Task(S(0), H(1), 0, 100).Waited(WaitReason::kProcessor, 0).Computed(100),
      Task(S(1), H(0), 0, 1).Computed(5)};
  for (int task = 0; task < 10; ++task) {
    pieces.push_back(Task(S(0), H(0), 0, 1).Waited(WaitReason::kProcessor, 0.5).Computed(0));
  }
  const auto delay = Only(DelaysOf(pieces));
  EXPECT_NEAR(delay.task_seconds, 5, 1e-9);
  EXPECT_NEAR(delay.stage_seconds, 5.0 / 11, 1e-9);
}

// The stage runs again after 1000 s. Its waits belong to the 20 s in which it ran.
TEST(Delay, StageThatRunsAgainDidNotWaitInBetween) {
  const auto delay =
      Only(DelaysOf({Task(S(0), H(0), 0, 10).Waited(WaitReason::kProcessor, 5).Computed(5),
                     Task(S(1), H(0), 0, 10).Computed(9),
                     Task(S(0), H(0), 1000, 1010).Waited(WaitReason::kProcessor, 5).Computed(5),
                     Task(S(1), H(0), 1000, 1010).Computed(9)}));
  EXPECT_NEAR(delay.stage_seconds, 10, 1e-9);
}

// A unit takes 1 s on every host from which the stage fetched, so 1 s is its service time.
TEST(Delay, ServiceTimeIsNotADelay) {
  EXPECT_THAT(DelaysOf({Task(S(0), H(0), 0, 12).Waited(WaitReason::kNetwork, 10, 10),
                        Task(S(1), H(0), 0, 12).Waited(WaitReason::kNetwork, 2, 90)}),
              ElementsAre());
}

// On the other host, a unit takes 0.25 s, so 7.5 s of the 10 s for 10 units are a delay.
TEST(Delay, ExcessOverTheLeastTimeIsADelay) {
  const auto delay = Only(DelaysOf({Task(S(0), H(0), 0, 12).Waited(WaitReason::kNetwork, 10, 10),
                                    Task(S(0), H(1), 0, 12).Waited(WaitReason::kNetwork, 10, 40),
                                    Task(S(1), H(0), 0, 12).Waited(WaitReason::kNetwork, 2, 90)}));
  EXPECT_NEAR(delay.task_seconds, 7.5, 1e-9);
  EXPECT_EQ(delay.source, S(1));
  EXPECT_EQ(delay.resource, WaitReason::kNetwork);
}

// The least time of a unit is unknown if the stage waited most of the time on every host.
TEST(Delay, UnknownServiceTimeGivesNoDelay) {
  EXPECT_THAT(DelaysOf({Task(S(0), H(0), 0, 100).Waited(WaitReason::kIo, 10, 10),
                        Task(S(1), H(0), 0, 100).Waited(WaitReason::kIo, 2, 90)}),
              ElementsAre());
}

// The only other task belongs to another stage of the same query, so it is a cause but not another
// query.
TEST(Delay, QueryInItsOwnWayBlamesNoOtherQuery) {
  const auto delays =
      DelaysOf({Task(S(0), H(0), 0, 10).Waited(WaitReason::kProcessor, 4).Computed(6),
                Task(S(2), H(0), 0, 10).Computed(10)});
  ASSERT_EQ(delays.size(), 1);
  EXPECT_EQ(delays[0].source, S(2));
  EXPECT_TRUE(DelayingQueries(delays, kStages, 9).empty());
}

// A task runs ten times as long as the other tasks of its stage, without waits. This is skew.
TEST(Delay, QueryThatIsSlowByItselfBlamesNoOtherQuery) {
  std::vector<Piece> pieces = {
      Task(S(0), H(0), 0, 100).Waited(WaitReason::kProcessor, 0).Computed(100),
      Task(S(0), H(0), 0, 10).Waited(WaitReason::kProcessor, 0).Computed(10),
      Task(S(1), H(0), 0, 100).Computed(100)};
  EXPECT_THAT(DelaysOf(pieces), ElementsAre());
}

// Unreported processes used 8 processor seconds, so 6 x 8/(8 + 4) of the 6 s are attributed to
// them.
TEST(Delay, UnreportedProcessesAreACause) {
  std::vector<QueryStage> stages = kStages;
  stages.push_back({.query = Q(9)});
  const auto delays =
      DelaysOf({Task(S(0), H(0), 0, 10).Waited(WaitReason::kProcessor, 6).Computed(4),
                Task(S(1), H(0), 0, 10).Computed(4), Task(S(3), H(0), 0, 10).Computed(8)});
  EXPECT_THAT(DelayingQueries(delays, stages, 9), ElementsAre(Weighs(Q(9), 4), Weighs(Q(1), 2)));
}

TEST(LimitsOf, SingleNeighbourIsCertainUpToOtherWaitsBesideIt) {
  const std::vector<Neighbour> one = {{.query = Q(1), .seconds = 5, .beside_seconds = 8}};
  const auto limit = Only(LimitsOf(one));
  EXPECT_EQ(limit.lower, 5);
  EXPECT_EQ(limit.upper, 8);
}

// The causes have 6 of 10 s, 3 of 4 s and 0 of 1 s. Other queries may have used 5 of the 6 s, and
// all of the 3 s.
TEST(LimitsOf, OthersMayUseTheFreedTime) {
  const std::vector<Neighbour> three = {{.query = Q(1), .seconds = 6, .beside_seconds = 10},
                                        {.query = Q(2), .seconds = 3, .beside_seconds = 4},
                                        {.query = Q(3), .seconds = 0, .beside_seconds = 1}};
  const auto limits = LimitsOf(three);
  ASSERT_EQ(limits.size(), 3U);
  EXPECT_EQ(limits[0].lower, 1);
  EXPECT_EQ(limits[0].upper, 10);
  EXPECT_EQ(limits[1].lower, 0);
  EXPECT_EQ(limits[1].upper, 4);
  EXPECT_EQ(limits[2].lower, 0);
}

// Because of rounding or late reports, the cause has more waits than its presence allows.
TEST(LimitsOf, SecondsAreWithinTheirLimits) {
  const std::vector<Neighbour> one = {{.query = Q(1), .seconds = 5, .beside_seconds = 0}};
  EXPECT_EQ(LimitsOf(one)[0].upper, 5);
  EXPECT_TRUE(LimitsOf({}).empty());
}

}  // namespace
}  // namespace tidemark::waits::delay_test
