

#include "tests/test.h"
#include "whatif/phases/many_runs.h"

namespace tidemark::phases::what_if_test {
namespace {

// Returns settings of four executors with two cores each. Each of two tasks has 500 MB.
Settings Today() {
  return {.version = {3, 5},
          .executors = 4,
          .executor_cores = 2,
          .executor_memory_bytes = kReservedBytes + 2e9,
          .memory_fraction = 0.5};
}

// Returns stages with a slow network, which takes 50 ns per byte.
std::vector<PastStage> Stages() {
  std::vector<PastStage> stages(2);
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

WhatIf Learn() { return WhatIf::Learn(Stages(), Today(), UsualCosts()).value(); }

TEST(WhatIf, EqualSettingsChangeNothing) {
  const StageChange same = Learn().On(1, Today());
  EXPECT_EQ(same.times, 1);
  EXPECT_EQ(same.deviation, 0);
}

// With one executor, all fetched data are local. This saves most of 3 x 0.99 x 0.5 s per task.
TEST(WhatIf, SingleExecutorFetchesNothingOverTheNetwork) {
  Settings alone = Today();
  alone.executors = 1;
  const StageChange changed = Learn().On(1, alone);
  EXPECT_LT(changed.times, 0.6);
  EXPECT_GT(changed.times, 0.3);
  EXPECT_EQ(Learn().On(0, alone).times, 1);  // This stage reads no shuffle.
}

TEST(WhatIf, LittleMemorySpillsAndIsSlower) {
  Settings small = Today();
  small.executor_memory_bytes = kReservedBytes + 4e7;  // 10 MB for a task that gathers 80 MB
  const StageChange changed = Learn().On(1, small);
  EXPECT_GT(changed.times, 1.02);
  EXPECT_GT(changed.deviation, 0);
  // No task has ever spilled, so the cost of reading a spill is undetermined.
  EXPECT_THAT(changed.unknown_costs, Contains(Cost::kLocalRead));
}

TEST(WhatIf, UnknownStageHasAWideDeviation) {
  std::vector<PastStage> stages = Stages();
  stages.emplace_back();
  const auto models = WhatIf::Learn(stages, Today(), UsualCosts()).value();
  Settings other = Today();
  other.executors = 8;
  const StageChange changed = models.On(2, other);
  EXPECT_EQ(changed.times, 1);
  EXPECT_GT(changed.deviation, 0.3);
}

TEST(WhatIf, LearningWithoutTasksIsAnError) {
  EXPECT_FALSE(WhatIf::Learn({}, Today(), UsualCosts()).ok());
  EXPECT_FALSE(WhatIf::Learn({PastStage{}}, Today(), UsualCosts()).ok());
}

}  // namespace
}  // namespace tidemark::phases::what_if_test
