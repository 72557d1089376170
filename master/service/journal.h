// Makes records durable before anybody is told of them.
//
// Callers append records to logs and get a position; a thread of its own writes everything appended
// since the last time in one batch, makes it durable by one sync, and then tells those who wait.
// While it is at it the next batch gathers.
//
// A disk that is full or broken stops the positions, not the process: status() says why, the batch
// is kept, and it is tried again until it succeeds. Callers that respect has_room() bound the
// memory this takes.
//
// Thread-safe.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "master/store/disk.h"

namespace tidemark::service {

struct JournalOptions {
  // How long a record waits for company in one sync: the latency of an acknowledgement is at most
  // about this and two syncs.
  absl::Duration commit_interval = absl::Milliseconds(5);
  // Between two attempts at a disk that fails.
  absl::Duration retry_interval = absl::Milliseconds(500);
  // Records that may wait in memory.
  std::size_t waiting_bytes_max = std::size_t{64} << 20;
  // Told, on the journal's thread, of a log that cannot be removed; may be empty.
  std::function<void(const std::string&)> on_notice;
};

// Unavailable: what is told to those whose record cannot be kept because of `why`.
absl::Status JournalFails(const absl::Status& why);

class Journal {
 public:
  // Counts the records appended to any log. Everything up to durable() is safe.
  using Position = std::uint64_t;

  // Told once; must not block. Runs on the journal's thread.
  class Waiter {
   public:
    virtual ~Waiter() = default;
    virtual void OnDurable(Position durable) = 0;
    // Before that, perhaps several times: why it takes long. Also on the thread that waits.
    virtual void OnStalled(const absl::Status& /*status*/) {}
  };

  // One file. Kept alive by the journal while anything of it is not durable.
  class Log;

  Journal(std::shared_ptr<store::Disk> disk, const JournalOptions& options);
  // Writes what it can without waiting for a broken disk.
  ~Journal();
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;

  // A new log, which begins with `start`. Its file is created with the first record, in place of
  // one of that name.
  static std::shared_ptr<Log> MakeLog(std::string path, std::string start);
  // The log at `path`, which goes on after its first `durable_bytes`.
  static std::shared_ptr<Log> MakeLog(std::string path, std::uint64_t durable_bytes);

  // Appends whole records. A null log stands for one that nobody keeps: its records only get a
  // position. O(size of the records).
  Position Append(const std::shared_ptr<Log>& log, absl::string_view records);

  // Removes a file that no log appends to any more, before anything that is appended after this.
  // One that cannot be removed is told of and left: a log that is made anew replaces it.
  void Remove(std::string path);

  Position durable() const { return durable_.load(std::memory_order_acquire); }
  // Whether `position` became durable; false when the journal fails before that, or ends.
  bool WaitUntilDurable(Position position);
  // Tells `waiter` once everything up to `position` is durable; at once, on this thread, if it is.
  void NotifyWhenDurable(Position position, std::shared_ptr<Waiter> waiter);

  // OK, or why nothing becomes durable at the moment.
  absl::Status status() const;
  // Whether more records should be taken. When not, wait for any later position to become durable.
  bool has_room() const {
    return waiting_bytes_.load(std::memory_order_relaxed) < options_.waiting_bytes_max;
  }
  std::size_t waiting_bytes() const { return waiting_bytes_.load(std::memory_order_relaxed); }

 private:
  struct Waiting {
    Position position;
    std::shared_ptr<Waiter> waiter;
  };

  void CommitUntilStopped();
  void TakeNext();
  absl::Status WriteBatch();
  void Committed();
  void SetStatus(const absl::Status& status);

  const std::shared_ptr<store::Disk> disk_;
  const JournalOptions options_;

  // Of the journal's thread: the batch that is not durable yet.
  std::vector<std::shared_ptr<Log>> batch_;
  std::vector<std::string> batch_removals_;
  Position batch_end_ = 0;
  std::size_t batch_bytes_ = 0;

  std::atomic<Position> durable_ = 0;
  std::atomic<std::size_t> waiting_bytes_ = 0;
  mutable std::mutex mutex_;  // guards all below, and Log::next
  std::condition_variable work_;
  std::condition_variable changed_;  // durable_, status_ or stopping_
  bool stopping_ = false;
  Position appended_ = 0;
  std::size_t next_bytes_ = 0;
  std::vector<std::shared_ptr<Log>> dirty_;  // with something in Log::next
  std::vector<std::string> removals_;
  std::vector<Waiting> waiting_;
  absl::Status status_;

  std::thread thread_;
};

}  // namespace tidemark::service
