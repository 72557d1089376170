#include "master/service/watch_hub.h"

#include <fmt/format.h>

#include <utility>

#include "tidemark/limit.h"

namespace tidemark::service {

template <typename S>
absl::Status BasicWatchHub<S>::Subscribe(const std::string& id, std::shared_ptr<Watcher> watcher) {
  const std::lock_guard lock(mutex_);
  if (closed_) return absl::UnavailableError("the master is shutting down; try again later");
  if (count_ >= watchers_max_) {
    return LimitExceeded("watchers",
                         fmt::format("this master allows at most {} watchers", watchers_max_));
  }
  ++count_;
  watchers_[id].push_back(std::move(watcher));
  return absl::OkStatus();
}

template <typename S>
void BasicWatchHub<S>::Unsubscribe(const std::string& id, const Watcher* watcher) {
  const std::lock_guard lock(mutex_);
  const auto entry = watchers_.find(id);
  if (entry == watchers_.end()) return;
  count_ -= std::erase_if(entry->second, [&](const auto& w) { return w.get() == watcher; });
  if (entry->second.empty()) watchers_.erase(entry);
}

template <typename S>
std::vector<std::shared_ptr<BasicWatcher<S>>> BasicWatchHub<S>::WatchersOf(const std::string& id) {
  const std::lock_guard lock(mutex_);
  const auto entry = watchers_.find(id);
  return entry == watchers_.end() ? std::vector<std::shared_ptr<Watcher>>() : entry->second;
}

template <typename S>
std::size_t BasicWatchHub<S>::count() const {
  const std::lock_guard lock(mutex_);
  return count_;
}

template <typename S>
void BasicWatchHub<S>::Publish(const S& snapshot) {
  for (const auto& watcher : WatchersOf(WatchedId(snapshot))) watcher->Offer(snapshot);
}

template <typename S>
void BasicWatchHub<S>::CloseAll() {
  decltype(watchers_) watchers;
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    watchers = watchers_;
  }
  for (const auto& [id, list] : watchers) {
    for (const auto& watcher : list) watcher->Close();
  }
}

template class BasicWatchHub<Snapshot>;
template class BasicWatchHub<WorkflowSnapshot>;

}  // namespace tidemark::service
