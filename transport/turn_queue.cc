#include "transport/turn_queue.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>

namespace tidemark::transport {

bool AwaitStop(const std::stop_token& stop, absl::Duration pause) {
  constexpr absl::Duration kPauseMax = absl::Hours(24 * 36500);  // longer pauses would overflow
  std::mutex mutex;
  std::condition_variable_any wake;
  std::unique_lock lock(mutex);
  wake.wait_for(lock, stop, absl::ToChronoNanoseconds(std::min(pause, kPauseMax)),
                [] { return false; });
  return stop.stop_requested();
}

TurnQueue::TurnQueue(std::size_t threads, int niceness, const Limits& limits) : limits_(limits) {
  for (std::size_t i = 0; i < threads; ++i) {
    threads_.emplace_back([this, niceness] {
      // On Linux, this sets the niceness of this thread only. Without the permission, only the
      // speed differs.
      if (niceness > 0) setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), niceness);
      WorkUntilStopped();
    });
  }
}

void TurnQueue::Stop() {
  std::vector<std::thread> threads;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    threads.swap(threads_);
  }
  changed_.notify_all();
  for (std::thread& thread : threads) thread.join();
}

TurnQueue::Result TurnQueue::TryAdd(const std::string& key, Work work) {
  {
    const std::lock_guard lock(mutex_);
    if (stopping_) return Result::kStopped;
    const auto known = lines_.find(key);
    const std::size_t of_key =
        known == lines_.end() ? 0
                              : known->second.waiting.size() + (known->second.is_running ? 1 : 0);
    if (of_key >= limits_.of_key_max) return Result::kKeyIsFull;
    if (waiting_ >= limits_.waiting_max) return Result::kIsFull;
    Line& line = lines_[key];
    if (of_key == 0) turns_.push_back(key);
    line.waiting.push_back(std::move(work));
    ++waiting_;
  }
  changed_.notify_one();
  return Result::kAdded;
}

bool TurnQueue::IsBusy(const std::string& key) const {
  const std::lock_guard lock(mutex_);
  return lines_.contains(key);
}

void TurnQueue::WorkUntilStopped() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return stopping_ || !turns_.empty(); });
    if (turns_.empty()) return;  // A running key adds itself to turns_ again.
    const std::string key = std::move(turns_.front());
    turns_.pop_front();
    Work work;
    {
      Line& line = lines_[key];
      work = std::move(line.waiting.front());
      line.waiting.pop_front();
      line.is_running = true;
      --waiting_;
    }
    lock.unlock();
    work();
    work = nullptr;  // Destroying the captures may take time.
    lock.lock();
    const auto line = lines_.find(key);
    line->second.is_running = false;
    if (line->second.waiting.empty()) {
      lines_.erase(line);
    } else {
      turns_.push_back(key);
    }
  }
}

}  // namespace tidemark::transport
