#include "whatif/phases/what_if.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "whatif/phases/memory.h"

namespace tidemark::phases {
namespace {

using testing::Contains;

// Four executors of two cores; 500 MB for each of two tasks.
Settings Today() {
  return {.version = {3, 5},
          .executors = 4,
          .executor_cores = 2,
          .executor_memory_bytes = kReservedBytes + 2e9,
          .memory_fraction = 0.5};
}

// A slow network, 50 ns a byte.
std::vector<RanStage> Stages() {
  std::vector<RanStage> stages(2);
  for (int i = 0; i < 20; ++i) {
    const double size = 0.5 + 0.05 * i;
    const double records = 1e6 * size;
    stages[0].tasks.push_back({.seconds = 1.02 + 2 * size,
                               .running = 1 + 2 * size,
                               .deserialize = 0.01,
                               .input = {records, 1e8 * size},
                               .written = {records, 1e7 * size}});
    stages[0].next_tasks = 20;
    const double bytes = 4e7 * size;
    stages[1].tasks.push_back({.seconds = 0.02 + size + 0.75 * bytes * 5e-8,
                               .running = size + 0.75 * bytes * 5e-8,
                               .fetch_wait = 0.75 * bytes * 5e-8,
                               .deserialize = 0.01,
                               .local_bytes = bytes / 4,
                               .remote_bytes = bytes * 3 / 4,
                               .shuffle_records = records,
                               .result_bytes = 100,
                               .peak_memory_bytes = 8e7});
  }
  return stages;
}

WhatIf Learn() {
  auto models = WhatIf::Learn(Stages(), Today(), UsualCosts());
  EXPECT_TRUE(models.ok()) << models.status();
  return *std::move(models);
}

TEST(WhatIf, NothingChangesWhereNothingIsChanged) {
  const Changed same = Learn().On(1, Today());
  EXPECT_EQ(same.times, 1);
  EXPECT_EQ(same.deviation, 0);
}

// Alone, all that was fetched over the network is here: of 3 x 0.99 x 0.5 s a task most is saved.
TEST(WhatIf, ASingleExecutorFetchesNothingOverTheNetwork) {
  Settings alone = Today();
  alone.executors = 1;
  const Changed changed = Learn().On(1, alone);
  EXPECT_LT(changed.times, 0.6);
  EXPECT_GT(changed.times, 0.3);
  EXPECT_EQ(Learn().On(0, alone).times, 1);  // it reads no shuffle
}

TEST(WhatIf, LittleMemorySpillsAndTakesLonger) {
  Settings small = Today();
  small.executor_memory_bytes = kReservedBytes + 4e7;  // 10 MB for a task that gathers 80
  const Changed changed = Learn().On(1, small);
  EXPECT_GT(changed.times, 1.02);
  EXPECT_GT(changed.deviation, 0);
  // Nothing was ever spilled: what it takes to read a spill back is not known here.
  EXPECT_THAT(changed.untold, Contains(Cost::kLocalRead));
}

TEST(WhatIf, AStageThatNothingIsKnownOfIsWide) {
  std::vector<RanStage> stages = Stages();
  stages.emplace_back();
  const auto models = WhatIf::Learn(stages, Today(), UsualCosts());
  ASSERT_TRUE(models.ok());
  Settings other = Today();
  other.executors = 8;
  const Changed changed = models->On(2, other);
  EXPECT_EQ(changed.times, 1);
  EXPECT_GT(changed.deviation, 0.3);
}

TEST(WhatIf, WithoutAnyTaskThereIsNothingToLearn) {
  EXPECT_FALSE(WhatIf::Learn({}, Today(), UsualCosts()).ok());
  EXPECT_FALSE(WhatIf::Learn({RanStage{}}, Today(), UsualCosts()).ok());
}

}  // namespace
}  // namespace tidemark::phases
