#include "master/waits/delay.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/waits/some_pieces.h"

namespace tidemark::blame {
namespace {

using ::testing::ElementsAre;

const std::vector<StageInfo> kStages = {{.query = Q(0)}, {.query = Q(1)}, {.query = Q(0)}};

std::vector<Delay> DelaysOf(const std::vector<Piece>& pieces) {
  const std::vector<Stage> targets = {S(0)};
  return Delays(Folded(pieces), targets);
}

// Two tasks side by side for 10 s, each kept from the processor for 4 s: 8 task seconds, 4 s of the
// stage.
TEST(Delay, StageSecondsAreTaskSecondsOverTasksAtATime) {
  const auto delays =
      DelaysOf({Task(S(0), H(0), 0, 10).Waited(Resource::kProcessor, 4).Computed(6),
                Task(S(0), H(1), 0, 10).Waited(Resource::kProcessor, 4).Computed(6),
                Task(S(1), H(0), 0, 10).Computed(9), Task(S(1), H(1), 0, 10).Computed(9)});
  ASSERT_EQ(delays.size(), 2);
  for (const Delay& delay : delays) {
    EXPECT_NEAR(delay.task_seconds, 4, 1e-9);
    EXPECT_NEAR(delay.stage_seconds, 2, 1e-9);
  }
}

// Ten tasks wait half of their second beside one that takes 100 s and waits for nothing: they are
// ten of eleven for one second, and not ten tasks of 1.1 at a time.
TEST(Delay, WhatShortTasksWaitHardlyDelaysAStageWithALongOne) {
  std::vector<Piece> pieces = {
      Task(S(0), H(1), 0, 100).Waited(Resource::kProcessor, 0).Computed(100),
      Task(S(1), H(0), 0, 1).Computed(5)};
  for (int task = 0; task < 10; ++task) {
    pieces.push_back(Task(S(0), H(0), 0, 1).Waited(Resource::kProcessor, 0.5).Computed(0));
  }
  const auto delays = DelaysOf(pieces);
  ASSERT_EQ(delays.size(), 1);
  EXPECT_NEAR(delays[0].task_seconds, 5, 1e-9);
  EXPECT_NEAR(delays[0].stage_seconds, 5.0 / 11, 1e-9);
}

// It runs again after 1000 s: what it waited is of the 20 s in which it ran.
TEST(Delay, AStageThatRunsAgainHasNotWaitedInBetween) {
  const auto delays =
      DelaysOf({Task(S(0), H(0), 0, 10).Waited(Resource::kProcessor, 5).Computed(5),
                Task(S(1), H(0), 0, 10).Computed(9),
                Task(S(0), H(0), 1000, 1010).Waited(Resource::kProcessor, 5).Computed(5),
                Task(S(1), H(0), 1000, 1010).Computed(9)});
  ASSERT_EQ(delays.size(), 1);
  EXPECT_NEAR(delays[0].stage_seconds, 10, 1e-9);
}

// A fetch of 10 units takes 1 s each wherever it was seen: that is what it takes.
TEST(Delay, ServiceIsNoDelay) {
  EXPECT_THAT(DelaysOf({Task(S(0), H(0), 0, 12).Waited(Resource::kNetwork, 10, 10),
                        Task(S(1), H(0), 0, 12).Waited(Resource::kNetwork, 2, 90)}),
              ElementsAre());
}

// On the other host a unit takes 0.25 s: of 10 s for 10 units 7.5 s are a delay.
TEST(Delay, ExcessOverTheLeastIsOne) {
  const auto delays = DelaysOf({Task(S(0), H(0), 0, 12).Waited(Resource::kNetwork, 10, 10),
                                Task(S(0), H(1), 0, 12).Waited(Resource::kNetwork, 10, 40),
                                Task(S(1), H(0), 0, 12).Waited(Resource::kNetwork, 2, 90)});
  ASSERT_EQ(delays.size(), 1);
  EXPECT_NEAR(delays[0].task_seconds, 7.5, 1e-9);
  EXPECT_EQ(delays[0].source, S(1));
  EXPECT_EQ(delays[0].resource, Resource::kNetwork);
}

// What is least is not known of a stage that never mostly waited for it.
TEST(Delay, WithoutAMeasureOfServiceNothingIsSaid) {
  EXPECT_THAT(DelaysOf({Task(S(0), H(0), 0, 100).Waited(Resource::kIo, 10, 10),
                        Task(S(1), H(0), 0, 100).Waited(Resource::kIo, 2, 90)}),
              ElementsAre());
}

// The query's other stage is the only neighbour: that is a cause, but no other query.
TEST(Delay, QueryThatIsInItsOwnWayBlamesNobodyElse) {
  const auto delays = DelaysOf({Task(S(0), H(0), 0, 10).Waited(Resource::kProcessor, 4).Computed(6),
                                Task(S(2), H(0), 0, 10).Computed(10)});
  ASSERT_EQ(delays.size(), 1);
  EXPECT_EQ(delays[0].source, S(2));
  EXPECT_TRUE(DelayingQueries(delays, kStages, 9).empty());
  EXPECT_TRUE(DelayingHosts(delays, kStages, 9).empty());
}

// Skew: a task that runs ten times as long as its fellows and waits for nothing.
TEST(Delay, QueryThatIsSlowByItselfBlamesNobody) {
  std::vector<Piece> pieces = {
      Task(S(0), H(0), 0, 100).Waited(Resource::kProcessor, 0).Computed(100),
      Task(S(0), H(0), 0, 10).Waited(Resource::kProcessor, 0).Computed(10),
      Task(S(1), H(0), 0, 100).Computed(100)};
  EXPECT_THAT(DelaysOf(pieces), ElementsAre());
}

// The machine was busy for 8 processor seconds beyond the tasks: of 6 s 6 x 8/(8 + 4) are theirs.
TEST(Delay, ProcessesThatNobodyReportedAreACause) {
  const Others others{.query = Q(9), .stage = S(3)};
  std::vector<StageInfo> stages = kStages;
  stages.push_back({.query = others.query});
  const auto delays =
      DelaysOf({Task(S(0), H(0), 0, 10).Waited(Resource::kProcessor, 6).Computed(4),
                Task(S(1), H(0), 0, 10).Computed(4), Task(others.stage, H(0), 0, 10).Computed(8)});
  const auto queries = DelayingQueries(delays, stages, 9);
  ASSERT_EQ(queries.size(), 2);
  EXPECT_EQ(queries[0].of, others.query);
  EXPECT_NEAR(queries[0].weight, 4, 1e-9);
  EXPECT_NEAR(queries[1].weight, 2, 1e-9);
}

TEST(Delay, ResourcesAndHostsAreRanked) {
  const auto delays =
      DelaysOf({Task(S(0), H(0), 0, 10).Waited(Resource::kProcessor, 3).Computed(6),
                Task(S(0), H(1), 0, 10).Waited(Resource::kProcessor, 5).Computed(6),
                Task(S(1), H(0), 0, 10).Computed(9), Task(S(1), H(1), 0, 10).Computed(9)});
  const auto hosts = DelayingHosts(delays, kStages, 1);
  ASSERT_EQ(hosts.size(), 1);
  EXPECT_EQ(hosts[0].of, H(1));
  EXPECT_NEAR(hosts[0].weight, 5, 1e-9);
  const auto resources = DelayingResources(delays, kStages, 9);
  ASSERT_EQ(resources.size(), 1);
  EXPECT_EQ(resources[0].of, Resource::kProcessor);
  EXPECT_NEAR(resources[0].weight, 8, 1e-9);
}

}  // namespace
}  // namespace tidemark::blame
