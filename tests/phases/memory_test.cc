#include "whatif/phases/memory.h"

#include <gtest/gtest.h>

namespace tidemark::phases {
namespace {

// (300 MiB + 4096 - 300 MiB) x 0.5 = 2048 bytes among 4 / 2 tasks.
Settings Unified() {
  return {.version = {3, 5},
          .executor_cores = 4,
          .task_cores = 2,
          .executor_memory_bytes = kReservedBytes + 4096,
          .memory_fraction = 0.5};
}

TEST(SpillBufferBytes, IsSharedByTheTasksThatRun) {
  EXPECT_DOUBLE_EQ(SpillBufferBytes(Unified()), 1024);
}

TEST(SpillBufferBytes, OffHeapMemoryAddsToIt) {
  Settings settings = Unified();
  settings.off_heap_bytes = 1000;
  EXPECT_DOUBLE_EQ(SpillBufferBytes(settings), 1524);
}

TEST(SpillBufferBytes, CachedDataTakeFromItUpToTheStorageFraction) {
  EXPECT_DOUBLE_EQ(SpillBufferBytes(Unified(), 500), 774);
  EXPECT_DOUBLE_EQ(SpillBufferBytes(Unified(), 1e9), 512);
}

TEST(SpillBufferBytes, IsNeverNegative) {
  Settings settings = Unified();
  settings.executor_memory_bytes = 1000;
  EXPECT_DOUBLE_EQ(SpillBufferBytes(settings), 0);
}

}  // namespace
}  // namespace tidemark::phases
