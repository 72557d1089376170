
#include "examples/local_mapreduce/run.h"
#include "tests/test.h"

namespace tidemark::examples::slot_pool_test {
namespace {

TEST(SlotPool, HasTheGivenNumberOfSlots) {
  SlotPool pool(1, 2, SlotPolicy::kFifo);
  pool.SetWaiting(0, 9);
  EXPECT_TRUE(pool.TryTake(0));
  EXPECT_TRUE(pool.TryTake(0));
  EXPECT_FALSE(pool.TryTake(0));
  pool.Give(0);
  EXPECT_TRUE(pool.TryTake(0));
}

TEST(SlotPool, FifoServesTheFirstJobFirst) {
  SlotPool pool(2, 2, SlotPolicy::kFifo);
  pool.SetWaiting(0, 1);
  pool.SetWaiting(1, 5);
  EXPECT_TRUE(pool.TryTake(1));   // The first job needs one of the two slots,
  EXPECT_FALSE(pool.TryTake(1));  // but has not taken it yet.
  EXPECT_TRUE(pool.TryTake(0));
}

TEST(SlotPool, FairServesTheJobWithTheFewestSlots) {
  SlotPool pool(2, 4, SlotPolicy::kFair);
  pool.SetWaiting(0, 9);
  pool.SetWaiting(1, 9);
  EXPECT_TRUE(pool.TryTake(0));
  EXPECT_TRUE(pool.TryTake(1));
  EXPECT_TRUE(pool.TryTake(0));
  EXPECT_FALSE(pool.TryTake(0));  // The last slot belongs to the other job.
  EXPECT_TRUE(pool.TryTake(1));
}

TEST(SlotPool, AnIdleJobDelaysNoOther) {
  SlotPool pool(2, 1, SlotPolicy::kFifo);
  pool.SetWaiting(0, 3);
  EXPECT_FALSE(pool.TryTake(1));
  { SlotShare share(pool, 0); }
  EXPECT_TRUE(pool.TryTake(1));
}

}  // namespace
}  // namespace tidemark::examples::slot_pool_test
