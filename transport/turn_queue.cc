#include "transport/turn_queue.h"

#include <sys/resource.h>
#include <unistd.h>

#include <utility>

namespace tidemark::transport {

TurnQueue::TurnQueue(std::size_t threads, int niceness) {
  for (std::size_t i = 0; i < threads; ++i) {
    threads_.emplace_back([this, niceness] {
      // On Linux this sets the niceness of this thread alone. A failure changes only the speed.
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

bool TurnQueue::Add(const std::string& key, Work work) {
  {
    const std::lock_guard lock(mutex_);
    if (stopping_) return false;
    Line& line = lines_[key];
    if (line.waiting.empty() && !line.is_running) turns_.push_back(key);
    line.waiting.push_back(std::move(work));
  }
  changed_.notify_one();
  return true;
}

bool TurnQueue::IsBusy(const std::string& key) const {
  const std::lock_guard lock(mutex_);
  return lines_.contains(key);
}

void TurnQueue::WorkUntilStopped() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return stopping_ || !turns_.empty(); });
    if (turns_.empty()) return;  // a key that is at work puts itself back
    const std::string key = std::move(turns_.front());
    turns_.pop_front();
    Work work;
    {
      Line& line = lines_[key];
      work = std::move(line.waiting.front());
      line.waiting.pop_front();
      line.is_running = true;
    }
    lock.unlock();
    work();
    work = nullptr;  // what it holds may take time to destroy
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
