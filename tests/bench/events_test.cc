#include "bench/workflow/events.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "bench/workflow/indicators.h"
#include "bench/workflow/virtual_cluster.h"
#include "master/model/fold.h"
#include "master/workflow/stages_now.h"

namespace tidemark::bench {
namespace {

using workflow::Warmth;
using workflow::WorkflowNow;

Trace ScanAndJoin() {
  return RunOnVirtualCluster({{"scan", {}, 0, {3, 1, 5}}, {"join", {0}, 0, {2}}}, 2,
                             schedule::Policy::kFifo);
}

WorkflowNow SeenAt(const Trace& trace, double seconds) {
  model::JobState state(1);
  Replay(trace).Until(seconds, [&](const Event& event) {
    const absl::Status applied = model::Apply(event, {}, state);
    EXPECT_TRUE(applied.ok()) << applied;
  });
  return workflow::StagesNow(state, At(seconds));
}

TEST(Replay, TellsOnlyWhatHadHappened) {
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

TEST(Replay, HidesStagesThatTheEngineHasNotToldOf) {
  Trace trace = ScanAndJoin();
  for (TraceStage& stage : trace.stages) stage.group = stage.name;
  trace.stages[1].visible_at = 6;
  EXPECT_EQ(SeenAt(trace, 5).stages.size(), 1u);
  EXPECT_EQ(SeenAt(trace, 6).stages.size(), 2u);
  EXPECT_EQ(SeenAt(trace, 6).jobs_seen, 2u);
}

TEST(Replay, TheOpeningStartsNoTask) {
  model::JobState state(1);
  Replay(ScanAndJoin()).Opening([&](const Event& event) {
    EXPECT_TRUE(model::Apply(event, {}, state).ok());
  });
  EXPECT_EQ(state.stages.size(), 2u);
  EXPECT_EQ(state.executors.size(), 2u);
  EXPECT_TRUE(state.stages.at(0).tasks.empty());
}

TEST(RunOf, IsWhatTheNextRunStartsFrom) {
  const PastRun run = RunOf(ScanAndJoin());
  EXPECT_DOUBLE_EQ(run.stages.slots, 2);
  ASSERT_EQ(run.stages.stages.size(), 2u);
  EXPECT_EQ(run.stages.stages[0].name, "scan");
  EXPECT_EQ(run.stages.stages[1].tasks, 1u);
}

// 0-3 and 0-1, then 1-6, then 6-8.
TEST(Tidemark, SaysWhatItPublishes) {
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
}  // namespace tidemark::bench
