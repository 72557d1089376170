// Makes estimates that were asked for one after the other, on a thread of its own, so that gRPC's
// threads stay free for the calls of others. Of each caller it takes a few at a time.
//
// Thread-safe.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"

namespace tidemark::service {

class EstimateQueue {
 public:
  // Taste: a few windows may be open on one host, and no host waits for more than that of another.
  static constexpr std::size_t kOfOneCallerMax = 4;

  explicit EstimateQueue(std::size_t waiting_max = 64);
  ~EstimateQueue();  // does what is left
  EstimateQueue(const EstimateQueue&) = delete;
  EstimateQueue& operator=(const EstimateQueue&) = delete;

  // Has `work` done soon. ResourceExhausted, and it is not done: too much of this caller's waits,
  // or of all together.
  absl::Status Add(const std::string& caller, std::function<void()> work);

 private:
  struct Asked {
    std::string caller;
    std::function<void()> work;
  };
  void WorkUntilStopped();

  const std::size_t waiting_max_;
  std::mutex mutex_;  // guards all below
  std::condition_variable changed_;
  bool stopping_ = false;
  std::deque<Asked> waiting_;
  // How many of these, the one in progress included, each caller has.
  absl::flat_hash_map<std::string, std::size_t> counts_;
  std::thread thread_;
};

}  // namespace tidemark::service
