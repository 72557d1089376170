// Runs work for many jobs on a few threads, in turns. A job with much work delays each other job
// by one piece of work, not by all of its pieces.
//
// Pieces should be short. A long piece should add its remainder as another piece.
//
// Thread-safe. Each piece takes O(1) time.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/time/time.h"

namespace tidemark::transport {

// Niceness of work that must not delay acknowledgements and ticks. Chosen by hand. On a shared
// processor, such work gets a quarter of the time.
inline constexpr int kNice = 5;

// Waits for `pause`, or until a stop is requested. Returns true if it was requested.
bool AwaitStop(const std::stop_token& stop, absl::Duration pause);

class TurnQueue {
 public:
  using Work = std::function<void()>;
  // Limits on the pieces in the queue, unlimited by default.
  struct Limits {
    // waiting and running pieces per key
    std::size_t of_key_max = std::numeric_limits<std::size_t>::max();
    // waiting pieces of all keys together
    std::size_t waiting_max = std::numeric_limits<std::size_t>::max();
  };
  enum class Result : std::uint8_t { kAdded, kStopped, kKeyIsFull, kIsFull };

  // If `niceness` is positive, the threads yield processors to other threads, as far as the system
  // allows. 0 is the default priority, 19 the lowest.
  explicit TurnQueue(std::size_t threads, int niceness = 0) : TurnQueue(threads, niceness, {}) {}
  TurnQueue(std::size_t threads, int niceness, const Limits& limits);
  ~TurnQueue() { Stop(); }
  TurnQueue(const TurnQueue&) = delete;
  TurnQueue& operator=(const TurnQueue&) = delete;

  // Runs `work` after all earlier pieces of `key`. Pieces of one key run one at a time. If the
  // queue was stopped or is full, returns false and does not run `work`.
  bool Add(const std::string& key, Work work) {
    return TryAdd(key, std::move(work)) == Result::kAdded;
  }
  // Like Add(), but returns the reason for a rejection.
  Result TryAdd(const std::string& key, Work work);
  // Returns true while a piece of the key waits or runs.
  bool IsBusy(const std::string& key) const;
  // Rejects further work and blocks until all added work is done. Idempotent.
  void Stop();

 private:
  struct Line {
    std::deque<Work> waiting;
    bool is_running = false;
  };
  void WorkUntilStopped();

  const Limits limits_;
  mutable std::mutex mutex_;  // Guards all members below.
  std::condition_variable changed_;
  bool stopping_ = false;
  absl::flat_hash_map<std::string, Line> lines_;  // lines of the keys that have work
  std::deque<std::string> turns_;                 // keys whose next piece may begin
  std::size_t waiting_ = 0;                       // number of waiting pieces
  std::vector<std::thread> threads_;
};

}  // namespace tidemark::transport
