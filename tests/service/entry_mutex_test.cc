

#include "master/service/live_table.h"
#include "tests/test.h"

namespace tidemark::service::entry_mutex_test {
namespace {

TEST(EntryMutex, CallsBackWhenALongHolderReleasesTheLock) {
  EntryMutex mutex;
  int calls = 0;
  {
    const LongLock lock(mutex);
    EXPECT_FALSE(mutex.LockUnlessLong([&] { ++calls; }));
    EXPECT_FALSE(mutex.LockUnlessLong());
    EXPECT_EQ(calls, 0);
  }
  EXPECT_EQ(calls, 1);
  EXPECT_TRUE(mutex.LockUnlessLong([&] { ++calls; }));
  mutex.unlock();
  EXPECT_EQ(calls, 1) << "who got the lock is not called";
}

TEST(EntryMutex, TwoLongHoldersDoNotWaitForEachOther) {
  EntryMutex mutex;
  int calls = 0;
  ASSERT_TRUE(mutex.LockLongUnlessLong([] { FAIL(); }));
  EXPECT_FALSE(mutex.LockLongUnlessLong([&] { ++calls; }));
  EXPECT_FALSE(mutex.LockUnlessLong([&] { ++calls; }));
  mutex.unlock();
  EXPECT_EQ(calls, 2);
}

TEST(EntryMutex, ACallbackMayTakeTheLock) {
  EntryMutex mutex;
  bool was_locked = false;
  {
    const LongLock lock(mutex);
    EXPECT_FALSE(mutex.LockUnlessLong([&] {
      was_locked = mutex.LockUnlessLong();
      if (was_locked) mutex.unlock();
    }));
  }
  EXPECT_TRUE(was_locked);
}

TEST(EntryMutex, WaitsForAShortHolder) {
  EntryMutex mutex;
  mutex.lock();
  std::promise<void> begun;
  auto taken = std::async(std::launch::async, [&] {
    begun.set_value();
    const bool has_lock = mutex.LockUnlessLong();
    if (has_lock) mutex.unlock();
    return has_lock;
  });
  begun.get_future().wait();
  mutex.unlock();
  EXPECT_TRUE(taken.get());
}

// A thread sleeps while another thread has the lock for a short time. A thread that needs the lock
// for a long time gets it first.
TEST(EntryMutex, ALongHolderWakesSleepingCallers) {
  EntryMutex mutex;
  for (int round = 0; round < 200; ++round) {
    mutex.lock();
    std::atomic<int> calls = 0;
    std::promise<void> release;
    std::thread holder([&] {
      const LongLock lock(mutex);
      release.get_future().wait();
    });
    auto taken =
        std::async(std::launch::async, [&] { return mutex.LockUnlessLong([&] { ++calls; }); });
    mutex.unlock();
    // The call returns although the other thread keeps the lock.
    const bool has_lock = taken.get();
    if (has_lock) mutex.unlock();
    release.set_value();
    holder.join();
    EXPECT_EQ(calls, has_lock ? 0 : 1);
  }
}

TEST(EntryMutex, ExcludesManyThreads) {
  EntryMutex mutex;
  int count = 0;
  std::atomic<int> calls = 0;
  int deferred = 0;
  std::vector<std::thread> threads;
  for (int n = 0; n < 4; ++n) {
    threads.emplace_back([&, n] {
      for (int i = 0; i < 5000; ++i) {
        if (n == 0 && i % 50 == 0) {
          const LongLock lock(mutex);
          ++count;
        } else if (n == 1) {
          if (mutex.LockUnlessLong([&] { ++calls; })) {
            ++count;
            mutex.unlock();
          } else {
            const std::lock_guard lock(mutex);
            ++count;
            ++deferred;
          }
        } else {
          const std::lock_guard lock(mutex);
          ++count;
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(count, 20'000);
  EXPECT_EQ(calls, deferred);
}

}  // namespace
}  // namespace tidemark::service::entry_mutex_test
