#include "master/service/entry_mutex.h"

#include <utility>

namespace tidemark::service {
namespace {

constexpr int kLooks = 200;  // some 10 microseconds

void Pause() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace

bool EntryMutex::TryTake(Holder holder) {
  if (holder_.load(std::memory_order_relaxed) != Holder::kNone) return false;
  const std::lock_guard lock(mutex_);
  if (holder_ != Holder::kNone) return false;
  holder_ = holder;
  return true;
}

void EntryMutex::Take(Holder holder) {
  for (int look = 0; look < kLooks; ++look) {
    if (TryTake(holder)) return;
    Pause();
  }
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return holder_ == Holder::kNone; });
  holder_ = holder;
}

void EntryMutex::lock() { Take(Holder::kShort); }

void EntryMutex::LockLong() {
  Take(Holder::kLong);
  // Callers of LockUnlessLong() that still sleep must not wait for this holder.
  changed_.notify_all();
}

bool EntryMutex::LockUnlessLong(std::function<void()> when_free) {
  for (int look = 0; look < kLooks && holder_.load(std::memory_order_relaxed) != Holder::kLong;
       ++look) {
    if (TryTake(Holder::kShort)) return true;
    Pause();
  }
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return holder_ != Holder::kShort; });
  if (holder_ == Holder::kNone) {
    holder_ = Holder::kShort;
    return true;
  }
  if (when_free) when_free_.push_back(std::move(when_free));
  return false;
}

void EntryMutex::unlock() {
  std::vector<std::function<void()>> calls;
  {
    const std::lock_guard lock(mutex_);
    holder_ = Holder::kNone;
    calls.swap(when_free_);
  }
  changed_.notify_one();
  for (const std::function<void()>& call : calls) call();
}

}  // namespace tidemark::service
