#include "master/service/estimate_queue.h"

#include <fmt/format.h>

#include <utility>

#include "tidemark/limit.h"

namespace tidemark::service {
namespace {

constexpr char kLimit[] = "estimates";

}  // namespace

EstimateQueue::EstimateQueue(std::size_t waiting_max)
    : waiting_max_(waiting_max), thread_([this] { WorkUntilStopped(); }) {}

EstimateQueue::~EstimateQueue() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

absl::Status EstimateQueue::Add(const std::string& caller, std::function<void()> work) {
  {
    const std::lock_guard lock(mutex_);
    if (const auto of_caller = counts_.find(caller);
        of_caller != counts_.end() && of_caller->second >= kOfOneCallerMax) {
      return LimitExceeded(kLimit, fmt::format("{} estimates for this token or host wait to be "
                                               "made; ask for the next when one is answered",
                                               kOfOneCallerMax));
    }
    if (waiting_.size() >= waiting_max_) {
      return LimitExceeded(
          kLimit, fmt::format("{} estimates wait to be made; try again later", waiting_max_));
    }
    ++counts_[caller];
    waiting_.push_back({caller, std::move(work)});
  }
  changed_.notify_all();
  return absl::OkStatus();
}

void EstimateQueue::WorkUntilStopped() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return stopping_ || !waiting_.empty(); });
    if (waiting_.empty()) return;
    Asked asked = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    asked.work();
    lock.lock();
    if (const auto of_caller = counts_.find(asked.caller); --of_caller->second == 0) {
      counts_.erase(of_caller);
    }
  }
}

}  // namespace tidemark::service
