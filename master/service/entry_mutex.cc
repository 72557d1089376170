#include "master/service/entry_mutex.h"

#include <utility>

namespace tidemark::service {
namespace {

constexpr int kSpins = 200;  // about 10 microseconds

void Pause() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace

bool EntryMutex::TryAcquire(Holder holder) {
  if (holder_.load(std::memory_order_relaxed) != Holder::kNone) return false;
  const std::lock_guard lock(mutex_);
  if (holder_ != Holder::kNone) return false;
  holder_ = holder;
  return true;
}

void EntryMutex::Acquire(Holder holder) {
  for (int spin = 0; spin < kSpins; ++spin) {
    if (TryAcquire(holder)) return;
    Pause();
  }
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return holder_ == Holder::kNone; });
  holder_ = holder;
}

void EntryMutex::lock() { Acquire(Holder::kShort); }

void EntryMutex::LockLong() {
  Acquire(Holder::kLong);
  // Callers of LockUnlessLong() that still sleep must not wait for this holder.
  changed_.notify_all();
}

bool EntryMutex::AcquireUnlessLong(Holder holder, std::function<void()> when_free) {
  const auto has_taken = [this, holder] {
    for (int spin = 0; spin < kSpins && holder_.load(std::memory_order_relaxed) != Holder::kLong;
         ++spin) {
      if (TryAcquire(holder)) return true;
      Pause();
    }
    return false;
  };
  bool is_held = has_taken();
  if (!is_held) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return holder_ != Holder::kShort; });
    if (holder_ == Holder::kNone) {
      holder_ = holder;
      is_held = true;
    } else if (when_free) {
      when_free_.push_back(std::move(when_free));
    }
  }
  if (is_held && holder == Holder::kLong) changed_.notify_all();
  return is_held;
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
