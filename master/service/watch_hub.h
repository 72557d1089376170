// Who watches which job, or which workflow.
//
// Thread-safe. A watcher is offered every published snapshot of its job, in order, one call at a
// time, and must not block: a slow reader keeps only the newest (see progress_service.cc).
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "tidemark/snapshot.h"
#include "tidemark/workflow.h"

namespace tidemark::service {

inline const std::string& WatchedId(const Snapshot& snapshot) { return snapshot.job_id; }
inline const std::string& WatchedId(const WorkflowSnapshot& snapshot) {
  return snapshot.workflow_id;
}

template <typename S>
class BasicWatcher {
 public:
  virtual ~BasicWatcher() = default;
  virtual void Offer(const S& snapshot) = 0;
  // The master is going away.
  virtual void Close() = 0;
};

template <typename S>
class BasicWatchHub {
 public:
  using Watcher = BasicWatcher<S>;
  explicit BasicWatchHub(std::size_t watchers_max) : watchers_max_(watchers_max) {}

  // ResourceExhausted over the limit; Unavailable after CloseAll().
  absl::Status Subscribe(const std::string& id, std::shared_ptr<Watcher> watcher);
  void Unsubscribe(const std::string& id, const Watcher* watcher);
  // REQUIRES: one caller at a time.
  void Publish(const S& snapshot);
  void CloseAll();
  std::size_t count() const;

 private:
  std::vector<std::shared_ptr<Watcher>> WatchersOf(const std::string& id);

  const std::size_t watchers_max_;
  mutable std::mutex mutex_;  // guards all below
  bool closed_ = false;
  std::size_t count_ = 0;
  absl::flat_hash_map<std::string, std::vector<std::shared_ptr<Watcher>>> watchers_;
};

using Watcher = BasicWatcher<Snapshot>;
using WatchHub = BasicWatchHub<Snapshot>;
using WorkflowWatcher = BasicWatcher<WorkflowSnapshot>;
using WorkflowHub = BasicWatchHub<WorkflowSnapshot>;

}  // namespace tidemark::service
