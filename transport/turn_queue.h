// Does work for many jobs on a few threads, in turns. A job with much work delays the others by one
// piece of work for each waiting job, not by all its pieces.
//
// Pieces should be short: one that has more to do adds the rest as another piece.
//
// Thread-safe. O(1) for each piece.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "absl/container/flat_hash_map.h"

namespace tidemark::transport {

// The niceness of work that acknowledgements and ticks must not wait for. Chosen by hand: where
// both want the same processor, such work gets a quarter of it.
inline constexpr int kNice = 5;

class TurnQueue {
 public:
  using Work = std::function<void()>;

  // With a niceness the threads yield processors to other threads, as far as the system allows: 0
  // is the default priority, 19 the lowest.
  explicit TurnQueue(std::size_t threads, int niceness = 0);
  ~TurnQueue() { Stop(); }
  TurnQueue(const TurnQueue&) = delete;
  TurnQueue& operator=(const TurnQueue&) = delete;

  // Has `work` done behind all that was added for `key`. Pieces of one key are done one at a time.
  // False: it will not be done, since the queue has been stopped.
  bool Add(const std::string& key, Work work);
  // Returns true while work of the key waits or is being done.
  bool IsBusy(const std::string& key) const;
  // Takes no more, and returns when all that was added is done. Idempotent.
  void Stop();

 private:
  struct Line {
    std::deque<Work> waiting;
    bool is_running = false;
  };
  void WorkUntilStopped();

  mutable std::mutex mutex_;  // guards all below
  std::condition_variable changed_;
  bool stopping_ = false;
  absl::flat_hash_map<std::string, Line> lines_;  // of keys with work
  std::deque<std::string> turns_;                 // keys whose next piece may begin
  std::vector<std::thread> threads_;
};

}  // namespace tidemark::transport
