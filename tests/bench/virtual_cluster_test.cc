#include "bench/workflow/virtual_cluster.h"

#include "tests/test.h"

namespace tidemark::bench::virtual_cluster_test {
namespace {

// On two slots, stage 0 runs from 0 to 3, from 0 to 1 and from 1 to 6. Stage 1 starts at 6.
TEST(VirtualCluster, StartsTasksInOrderOnFreeSlots) {
  const Trace trace = RunOnVirtualCluster({{"scan", {}, 0, {3, 1, 5}}, {"join", {0}, 0, {2}}}, 2,
                                          placement::Policy::kFifo);
  EXPECT_DOUBLE_EQ(trace.end, 8);
  EXPECT_DOUBLE_EQ(trace.stages[0].tasks[2].start, 1);
  EXPECT_DOUBLE_EQ(trace.stages[1].tasks[0].start, 6);
  EXPECT_EQ(trace.stages[0].tasks[2].executor, 1u);
}

TEST(VirtualCluster, FairServesTheOwnerWithTheFewestTasks) {
  const std::vector<MeasuredStage> stages = {{"a", {}, 0, {1, 1, 1, 1}}, {"b", {}, 1, {1, 1}}};
  const Trace fifo = RunOnVirtualCluster(stages, 2, placement::Policy::kFifo);
  const Trace fair = RunOnVirtualCluster(stages, 2, placement::Policy::kFair);
  EXPECT_DOUBLE_EQ(EndOfOwner(fifo, 0), 2);
  EXPECT_DOUBLE_EQ(EndOfOwner(fifo, 1), 3);
  EXPECT_DOUBLE_EQ(EndOfOwner(fair, 0), 3);
  EXPECT_DOUBLE_EQ(EndOfOwner(fair, 1), 2);
}

}  // namespace
}  // namespace tidemark::bench::virtual_cluster_test
