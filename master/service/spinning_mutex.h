// A mutex for what is mostly held for microseconds, by threads that come often: who finds it taken
// looks again for a while before it sleeps, since to sleep and be woken takes longer than most
// wait. What is held for long, such as an estimate, still costs a waiter no more than that while.
#pragma once

#include <mutex>

namespace tidemark::service {

class SpinningMutex {
 public:
  void lock() {
    for (int i = 0; i < kLooks; ++i) {
      if (mutex_.try_lock()) return;
      Pause();
    }
    mutex_.lock();
  }
  void unlock() { mutex_.unlock(); }

 private:
  static constexpr int kLooks = 200;  // some 10 microseconds

  static void Pause() {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
  }

  std::mutex mutex_;
};

}  // namespace tidemark::service
