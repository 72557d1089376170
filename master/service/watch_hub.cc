#include "master/service/watch_hub.h"

#include <fmt/format.h>

#include <utility>

namespace tidemark::service {

absl::Status WatchHub::Subscribe(const std::string& job_id, std::shared_ptr<Watcher> watcher) {
  const std::lock_guard lock(mutex_);
  if (closed_) return absl::UnavailableError("the master is shutting down; try again later");
  if (count_ >= watchers_max_) {
    return absl::ResourceExhaustedError(
        fmt::format("this master takes at most {} watchers", watchers_max_));
  }
  ++count_;
  watchers_[job_id].push_back(std::move(watcher));
  return absl::OkStatus();
}

void WatchHub::Unsubscribe(const std::string& job_id, const Watcher* watcher) {
  const std::lock_guard lock(mutex_);
  const auto entry = watchers_.find(job_id);
  if (entry == watchers_.end()) return;
  count_ -= std::erase_if(entry->second, [&](const auto& w) { return w.get() == watcher; });
  if (entry->second.empty()) watchers_.erase(entry);
}

std::vector<std::shared_ptr<Watcher>> WatchHub::WatchersOf(const std::string& job_id) {
  const std::lock_guard lock(mutex_);
  const auto entry = watchers_.find(job_id);
  return entry == watchers_.end() ? std::vector<std::shared_ptr<Watcher>>() : entry->second;
}

void WatchHub::Publish(const Snapshot& snapshot) {
  for (const auto& watcher : WatchersOf(snapshot.job_id)) watcher->Offer(snapshot);
}

void WatchHub::CloseAll() {
  decltype(watchers_) watchers;
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    watchers = watchers_;
  }
  for (const auto& [job_id, list] : watchers) {
    for (const auto& watcher : list) watcher->Close();
  }
}

}  // namespace tidemark::service
