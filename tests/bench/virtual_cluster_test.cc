#include "bench/workflow/virtual_cluster.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace tidemark::bench {
namespace {

using ::testing::ElementsAre;
using workflow::Warmth;

std::vector<Warmth> WarmthsOf(const TraceStage& stage) {
  std::vector<Warmth> warmths;
  for (const TraceTask& task : stage.tasks) warmths.push_back(task.warmth);
  return warmths;
}

// Two slots: 0-3 and 0-1, then 1-6 of stage 0; stage 1 at 6.
TEST(VirtualCluster, StartsTasksInOrderWhereASlotIsFree) {
  const Trace trace = RunOnVirtualCluster({{"scan", {}, 0, {3, 1, 5}}, {"join", {0}, 0, {2}}}, 2,
                                          schedule::Policy::kFifo);
  EXPECT_DOUBLE_EQ(trace.end, 8);
  EXPECT_DOUBLE_EQ(trace.stages[0].tasks[2].start, 1);
  EXPECT_DOUBLE_EQ(trace.stages[1].tasks[0].start, 6);
  EXPECT_THAT(WarmthsOf(trace.stages[0]),
              ElementsAre(Warmth::kFresh, Warmth::kFresh, Warmth::kLast));
  EXPECT_THAT(WarmthsOf(trace.stages[1]), ElementsAre(Warmth::kFirst));
}

TEST(VirtualCluster, FairServesTheOwnerWithTheFewestTasks) {
  const std::vector<MeasuredStage> stages = {{"a", {}, 0, {1, 1, 1, 1}}, {"b", {}, 1, {1, 1}}};
  const Trace fifo = RunOnVirtualCluster(stages, 2, schedule::Policy::kFifo);
  const Trace fair = RunOnVirtualCluster(stages, 2, schedule::Policy::kFair);
  EXPECT_DOUBLE_EQ(EndOfOwner(fifo, 0), 2);
  EXPECT_DOUBLE_EQ(EndOfOwner(fifo, 1), 3);
  EXPECT_DOUBLE_EQ(EndOfOwner(fair, 0), 3);
  EXPECT_DOUBLE_EQ(EndOfOwner(fair, 1), 2);
}

TEST(Trace, ShowsOnlyWhatHadHappened) {
  const Trace trace = RunOnVirtualCluster({{"scan", {}, 0, {3, 1, 5}}, {"join", {0}, 0, {2}}}, 2,
                                          schedule::Policy::kFifo);
  const workflow::WorkflowNow now = Look(trace, 2);
  ASSERT_EQ(now.stages.size(), 2u);
  EXPECT_EQ(now.stages[0].finished.size(), 1u);
  ASSERT_EQ(now.stages[0].running.size(), 2u);
  EXPECT_DOUBLE_EQ(now.stages[0].running[0].elapsed, 2);
  EXPECT_DOUBLE_EQ(now.stages[0].running[1].elapsed, 1);
  EXPECT_TRUE(now.stages[1].finished.empty());
}

TEST(Trace, HidesStagesThatTheEngineHasNotToldOf) {
  Trace trace = RunOnVirtualCluster({{"scan", {}, 0, {3}}, {"join", {0}, 0, {2}}}, 1,
                                    schedule::Policy::kFifo);
  trace.stages[1].visible_at = 3;
  EXPECT_EQ(Look(trace, 2).stages.size(), 1u);
  EXPECT_EQ(Look(trace, 3).stages.size(), 2u);
  EXPECT_EQ(Look(trace, 3).jobs_seen, 2u);
  EXPECT_EQ(ProfileOf(trace).stages.size(), 2u);
}

}  // namespace
}  // namespace tidemark::bench
