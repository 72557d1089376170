#include "bench/workflow/events.h"

#include <variant>

#include "bench/workflow/indicators.h"
#include "bench/workflow/virtual_cluster.h"
#include "master/facts/fold.h"
#include "master/forecast/dag/stages_now.h"
#include "tests/test.h"

namespace tidemark::bench::events_test {
namespace {

using dag::Warmth;
using dag::WorkflowNow;

Trace ScanAndJoin() {
  return RunOnVirtualCluster({{"scan", {}, 0, {3, 1, 5}}, {"join", {0}, 0, {2}}}, 2,
                             placement::Policy::kFifo);
}

WorkflowNow SeenAt(const Trace& trace, double seconds) {
  facts::JobRecord state(1);
  Replay(trace).Until(seconds, [&](const Event& event) {
    const absl::Status applied = facts::Apply(event, {}, state);
    EXPECT_TRUE(applied.ok()) << applied;
  });
  return dag::StagesNow(state, At(seconds));
}

TEST(Replay, ReportsOnlyPastEvents) {
  const WorkflowNow now = SeenAt(ScanAndJoin(), 2);
  ASSERT_EQ(now.stages.size(), 2u);
  EXPECT_EQ(now.stages[0].finished.size(), 1u);
  ASSERT_EQ(now.stages[0].running.size(), 2u);
  EXPECT_DOUBLE_EQ(now.stages[0].running[0].elapsed, 2);
  EXPECT_DOUBLE_EQ(now.stages[0].running[1].elapsed, 1);
  EXPECT_EQ(now.stages[0].running[1].warmth, Warmth::kLast);
  EXPECT_TRUE(now.stages[1].finished.empty());
  EXPECT_DOUBLE_EQ(now.slots, 2);
}

TEST(Replay, HidesStagesThatTheEngineHasNotReported) {
  Trace trace = ScanAndJoin();
  for (TraceStage& stage : trace.stages) stage.group = stage.name;
  trace.stages[1].visible_at = 6;
  EXPECT_EQ(SeenAt(trace, 5).stages.size(), 1u);
  EXPECT_EQ(SeenAt(trace, 6).stages.size(), 2u);
  EXPECT_EQ(SeenAt(trace, 6).submissions.count, 2u);
}

TEST(Replay, TheOpeningStartsNoTask) {
  facts::JobRecord state(1);
  Replay(ScanAndJoin()).Opening([&](const Event& event) {
    EXPECT_TRUE(facts::Apply(event, {}, state).ok());
  });
  EXPECT_EQ(state.stages.size(), 2u);
  EXPECT_EQ(state.executors.size(), 2u);
  EXPECT_TRUE(state.stages.at(0).tasks.empty());
}

// The Hadoop connector reports the same events, from AttemptWatch and from the heartbeats of its
// map tasks.
TEST(Replay, ReportsMapTasksAsAConnectorDoes) {
  Trace trace = RunOnVirtualCluster({{"map", {}, 0, {4, 2}}}, 1, placement::Policy::kFifo);
  trace.stages[0].kind = StageKind::kMap;
  trace.stages[0].tasks[0].bytes = 1000;
  trace.stages[0].tasks[1].bytes = 300;
  std::vector<AttemptChanged> changes;
  std::vector<TaskHeartbeat> heartbeats;
  Replay replay(trace);
  const auto take = [&](const Event& event) {
    if (const auto* changed = std::get_if<AttemptChanged>(&event.body)) changes.push_back(*changed);
    if (const auto* beat = std::get_if<TaskHeartbeat>(&event.body)) heartbeats.push_back(*beat);
  };
  replay.Until(0, take);
  replay.Until(3, take);
  ASSERT_EQ(changes.size(), 3u);  // A waiting change is reported with its bytes.
  EXPECT_EQ(changes[0].state, AttemptState::kQueued);
  EXPECT_EQ(changes[0].input_bytes, 1000u);
  EXPECT_EQ(changes[0].executor, std::nullopt);
  EXPECT_EQ(changes[1].state, AttemptState::kStarted);
  EXPECT_EQ(changes[1].input_bytes, 1000u);
  EXPECT_EQ(changes[2].state, AttemptState::kQueued);
  EXPECT_EQ(changes[2].input_bytes, 300u);
  EXPECT_EQ(changes[2].attempt, (AttemptId{.stage = 0, .index = 1}));
  EXPECT_EQ(heartbeats.back(), (TaskHeartbeat{.attempt = {}, .bytes_done = 750}));
  replay.Until(6, take);
  ASSERT_EQ(changes.size(), 6u);
  EXPECT_EQ(changes[3].state, AttemptState::kFinished);
  EXPECT_EQ(changes[5].at, At(6));
}

TEST(RunOf, BecomesThePastRunOfTheNextOne) {
  const PastRun run = RunOf(ScanAndJoin());
  EXPECT_DOUBLE_EQ(run.slots, 2);
  ASSERT_EQ(run.stages.size(), 2u);
  EXPECT_EQ(run.stages[0].name, "scan");
  EXPECT_EQ(run.stages[1].tasks, 1u);
}

// Tasks run from 0 to 3 and from 0 to 1, then from 1 to 6, then from 6 to 8.
TEST(Tidemark, ReturnsThePublishedPrediction) {
  const Trace trace = ScanAndJoin();
  const auto tidemark = MakeIndicator("tidemark", {RunOf(trace)}, ResourcingOf(trace));
  Replay replay(trace);
  replay.Until(4, [&](const Event& event) { tidemark->Take(event); });
  const Answer answer = tidemark->Ask(At(4));
  ASSERT_TRUE(answer.remaining.has_value());
  EXPECT_NEAR(*answer.remaining, 4, 2);
  EXPECT_LE(answer.lower.value_or(99), *answer.remaining);
  EXPECT_GE(answer.upper.value_or(0), *answer.remaining);
  ASSERT_EQ(answer.stage_ends.size(), 2u);
  EXPECT_LT(answer.stage_ends[0], answer.stage_ends[1]);
}

}  // namespace
}  // namespace tidemark::bench::events_test
