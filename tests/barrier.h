// Blocks threads until a test releases them.
#pragma once

#include <atomic>
#include <future>
#include <thread>

namespace tidemark::test {

// Thread-safe.
class Barrier {
 public:
  // Blocks until Open().
  void Pass() {
    is_reached_ = true;
    open_.wait();
  }
  bool is_reached() const { return is_reached_; }
  void AwaitReached() const {
    while (!is_reached_) std::this_thread::yield();
  }
  void Open() { opened_.set_value(); }

 private:
  std::atomic<bool> is_reached_ = false;
  std::promise<void> opened_;
  const std::shared_future<void> open_ = opened_.get_future();
};

}  // namespace tidemark::test
