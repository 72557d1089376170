// The lock of a job or a workflow. Most holders keep it for microseconds. Some keep it while they
// compute an estimate, a list of tasks or a checkpoint.
//
// A thread that serves many jobs must not wait for a long holder of one. LockUnlessLong() waits
// for short holders only. If a long holder has the lock, the caller's callback runs as soon as it
// is free.
//
// A thread that finds the lock taken spins for about 10 microseconds before it sleeps, since most
// waits are shorter than a wake-up takes.
//
// Thread-safe.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <utility>
#include <vector>

namespace tidemark::service {

class EntryMutex {
 public:
  EntryMutex() = default;
  EntryMutex(const EntryMutex&) = delete;
  EntryMutex& operator=(const EntryMutex&) = delete;

  // Both block until the lock is free. LockLong() announces that the caller will hold it for long.
  void lock();
  void LockLong();
  // Calls all waiting callbacks, on this thread and without the lock.
  void unlock();

  // Returns true with the lock held. Returns false while a long holder has it; that holder's
  // unlock() then calls `when_free` once, if it is not empty. LockLongUnlessLong() makes the caller
  // a long holder.
  bool LockUnlessLong(std::function<void()> when_free = nullptr) {
    return AcquireUnlessLong(Holder::kShort, std::move(when_free));
  }
  bool LockLongUnlessLong(std::function<void()> when_free) {
    return AcquireUnlessLong(Holder::kLong, std::move(when_free));
  }

 private:
  enum class Holder { kNone, kShort, kLong };

  bool TryAcquire(Holder holder);
  void Acquire(Holder holder);
  bool AcquireUnlessLong(Holder holder, std::function<void()> when_free);

  std::atomic<Holder> holder_ = Holder::kNone;  // changes only under mutex_
  std::mutex mutex_;                            // guards all below; never held for long
  std::condition_variable changed_;
  std::vector<std::function<void()>> when_free_;
};

// Holds the lock as a long holder until it is destroyed.
class LongLock {
 public:
  explicit LongLock(EntryMutex& mutex) : mutex_(mutex) { mutex_.LockLong(); }
  ~LongLock() { mutex_.unlock(); }
  LongLock(const LongLock&) = delete;
  LongLock& operator=(const LongLock&) = delete;

 private:
  EntryMutex& mutex_;
};

}  // namespace tidemark::service
