#include "bench/accuracy/timeline.h"

#include "tests/test.h"

namespace tidemark::bench::timeline_test {
namespace {

// Returns tasks whose key groups take these seconds.
Workload TasksOf(const std::vector<std::vector<float>>& tasks) {
  Workload workload;
  for (const std::vector<float>& task : tasks) {
    for (const float seconds : task) {
      workload.groups.push_back(static_cast<std::uint32_t>(workload.groups.size()));
      workload.seconds.push_back(seconds);
      workload.expected_seconds.push_back(seconds);
    }
    workload.task_begins.push_back(workload.groups.size());
  }
  return workload;
}
std::vector<Node> Nodes(const std::vector<NominalSpeed>& speeds) { return WithoutNoise(speeds, 1); }

TEST(Node, WorksAtItsSpeed) {
  Node node = Nodes({{.speed = 0.5, .changes_at = 10, .speed_after = 2}}).front();
  EXPECT_DOUBLE_EQ(node.Advance(0, 2), 4);
  EXPECT_DOUBLE_EQ(node.Advance(4.5, 0.5), 5.5);
  // one second of work until 10 s, then another second of work
  EXPECT_DOUBLE_EQ(node.Advance(8, 2), 10.5);
  EXPECT_DOUBLE_EQ(node.Advance(20, 0), 20);
}

TEST(Node, NoiseIsEqualInAnyOrderOfCalls) {
  const Node::Noise noise = {.deviation = 0.1, .correlation_seconds = 5, .step_seconds = 1};
  Node forwards({}, noise, 7);
  Node backwards({}, noise, 7);
  const double early = forwards.Advance(0, 10);
  const double late = forwards.Advance(100, 10);
  EXPECT_EQ(backwards.Advance(100, 10), late);
  EXPECT_EQ(backwards.Advance(0, 10), early);
  EXPECT_NE(early, 10);
}

TEST(Timeline, TheNextTaskUsesTheSlotThatIsFreeFirst) {
  std::vector<Node> nodes = Nodes({{}, {}});
  const Timeline timeline = Schedule(TasksOf({{1, 2}, {1}, {4}, {1}}), nodes, {});
  ASSERT_EQ(timeline.attempts.size(), 4u);
  EXPECT_THAT(timeline.attempts[0].group_ends, ElementsAre(1, 3));
  EXPECT_EQ(timeline.attempts[2].slot, 1u);
  EXPECT_EQ(timeline.attempts[2].start, 1);
  EXPECT_EQ(timeline.attempts[3].slot, 0u);
  EXPECT_EQ(timeline.attempts[3].end, 4);
  EXPECT_EQ(timeline.end, 5);
}

TEST(Timeline, AFailedTaskRunsAgainFromItsBeginning) {
  std::vector<Node> nodes = Nodes({{}});
  const Timeline timeline =
      Schedule(TasksOf({{2, 4}, {1}}), nodes, {.task_fails = true, .failing_task = 0});
  ASSERT_EQ(timeline.attempts.size(), 3u);
  EXPECT_EQ(timeline.attempts[0].outcome, AttemptState::kFailed);
  EXPECT_EQ(timeline.attempts[0].end, 3);
  EXPECT_EQ(timeline.attempts[1].number, 1u);
  EXPECT_THAT(timeline.attempts[1].group_ends, ElementsAre(5, 9));
  EXPECT_EQ(timeline.end, 10);
}

TEST(Timeline, TheFirstOfTwoAttemptsToFinishWins) {
  std::vector<Node> nodes = Nodes({{.speed = 0.25}, {}});
  const Timeline timeline = Schedule(TasksOf({{10}, {1}}), nodes, {.task_has_twin = true});
  ASSERT_EQ(timeline.attempts.size(), 3u);
  const Attempt& first = timeline.attempts[0];
  const Attempt& twin = timeline.attempts[2];
  EXPECT_TRUE(twin.speculative);
  EXPECT_EQ(twin.start, 20);  // half-way to 40
  EXPECT_EQ(twin.outcome, AttemptState::kFinished);
  EXPECT_EQ(first.outcome, AttemptState::kKilled);
  EXPECT_EQ(first.end, 30);
  EXPECT_EQ(timeline.end, 30);
}

TEST(Oracle, PredictsTheEndOfARunWithExpectedCosts) {
  const Workload workload = TasksOf({{1, 2}, {1}, {4}, {1}});
  std::vector<Node> nodes = Nodes({{}, {.speed = 0.5}});
  const Timeline timeline = Schedule(workload, nodes, {});
  Oracle oracle(workload, timeline, nodes);
  for (const double now : {0.0, 0.5, 1.0, 2.5, 3.0, 4.9}) {
    EXPECT_DOUBLE_EQ(oracle.PredictEnd(now), timeline.end) << now;
  }
}

TEST(Oracle, AnOverdueGroupEndsNow) {
  Workload workload = TasksOf({{4, 1}});
  workload.expected_seconds[0] = 2;
  std::vector<Node> nodes = Nodes({{}});
  const Timeline timeline = Schedule(workload, nodes, {});
  Oracle oracle(workload, timeline, nodes);
  EXPECT_DOUBLE_EQ(oracle.PredictEnd(1), 3);
  EXPECT_DOUBLE_EQ(oracle.PredictEnd(3.5), 4.5);
  EXPECT_DOUBLE_EQ(oracle.PredictEnd(4), 5);
}

}  // namespace
}  // namespace tidemark::bench::timeline_test
