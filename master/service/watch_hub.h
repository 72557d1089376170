// Who watches which job.
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

namespace tidemark::service {

class Watcher {
 public:
  virtual ~Watcher() = default;
  virtual void Offer(const Snapshot& snapshot) = 0;
  // The master is going away.
  virtual void Close() = 0;
};

class WatchHub {
 public:
  explicit WatchHub(std::size_t watchers_max) : watchers_max_(watchers_max) {}

  // ResourceExhausted over the limit; Unavailable after CloseAll().
  absl::Status Subscribe(const std::string& job_id, std::shared_ptr<Watcher> watcher);
  void Unsubscribe(const std::string& job_id, const Watcher* watcher);
  // REQUIRES: one caller at a time.
  void Publish(const Snapshot& snapshot);
  void CloseAll();

 private:
  std::vector<std::shared_ptr<Watcher>> WatchersOf(const std::string& job_id);

  const std::size_t watchers_max_;
  std::mutex mutex_;  // guards all below
  bool closed_ = false;
  std::size_t count_ = 0;
  absl::flat_hash_map<std::string, std::vector<std::shared_ptr<Watcher>>> watchers_;
};

}  // namespace tidemark::service
