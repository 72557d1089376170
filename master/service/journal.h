// Makes records durable before they are acknowledged or published.
//
// Callers append records to logs and get a position; a thread of its own writes everything appended
// since the last time in one batch, makes it durable by one sync, and then tells those who wait.
// While it is at it the next batch gathers.
//
// A disk that is full or broken stops the positions, not the process: status() says why, the batch
// is kept, and it is tried again until it succeeds. A single log that fails while others can be
// written holds up only those that wait for it: it is stuck, and tried again from time to
// time. Callers that respect has_room() bound the memory this takes.
//
// Thread-safe.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
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
  // Between two attempts at a disk, or at a log, that fails.
  absl::Duration retry_interval = absl::Milliseconds(500);
  // Records that may wait in memory.
  std::size_t waiting_bytes_max = std::size_t{64} << 20;
  // Told, on the journal's thread, of a log that cannot be removed, or is stuck; may be empty.
  std::function<void(const std::string&)> on_notice;
};

// Unavailable: the answer to those whose record cannot be kept because of `why`.
absl::Status JournalFails(const absl::Status& why);

class Journal {
 public:
  // Counts the records appended to any log. Everything up to durable() is safe, but for what is in
  // stuck logs.
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

  // A record: where it is and in which log; null: one that is not kept.
  struct Mark {
    // NOLINTNEXTLINE(google-explicit-constructor): a position of no log in particular.
    Mark(Position at = 0, std::shared_ptr<Log> in = nullptr) : position(at), log(std::move(in)) {}
    Position position;
    std::shared_ptr<Log> log;
  };

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

  // Appends whole records. A null log stands for one that is not kept: its records only get a
  // position. O(size of the records).
  Position Append(const std::shared_ptr<Log>& log, absl::string_view records);

  // Removes a file that no log appends to any more, before anything that is appended after this.
  // One that cannot be removed is reported and left: a log that is made anew replaces it.
  void Remove(std::string path);

  Position durable() const { return durable_.load(std::memory_order_acquire); }
  // Whether the record, and all before it in its log, is durable.
  bool IsDurable(const Mark& mark) const;
  // Whether it became durable; false when the journal or its log fails before that, or ends.
  bool WaitUntilDurable(const Mark& mark);
  // Tells `waiter` once it is durable; at once, on this thread, if it is.
  void NotifyWhenDurable(Mark mark, std::shared_ptr<Waiter> waiter);
  // Whether the log cannot be written while others may be. What cannot be kept should not be made.
  bool IsStuck(const std::shared_ptr<Log>& log) const;

  // OK, or why nothing becomes durable at the moment.
  absl::Status status() const;
  // Whether more records should be taken. When not, wait for any later position to become durable.
  // What waits in stuck logs counts only while no other can be written.
  bool has_room() const {
    const std::size_t waiting = waiting_bytes_.load(std::memory_order_relaxed);
    return waiting - std::min(waiting, stuck_bytes_.load(std::memory_order_relaxed)) <
           options_.waiting_bytes_max;
  }
  std::size_t waiting_bytes() const { return waiting_bytes_.load(std::memory_order_relaxed); }

 private:
  struct Waiting {
    Mark mark;
    std::shared_ptr<Waiter> waiter;
  };
  using Logs = std::vector<std::shared_ptr<Log>>;

  // What became of a batch.
  struct Attempt {
    Logs durable;
    Logs failed;
    absl::Status why;  // a log failed that had not failed before; the first of them
  };

  void CommitUntilStopped();
  void TakeNext();
  void RemoveFiles();
  Attempt WriteBatch();
  void Sync(Logs& written, Attempt& attempt);
  static void Fail(const std::shared_ptr<Log>& log, const absl::Status& why, Attempt& attempt);
  void Conclude(const Attempt& attempt);
  // REQUIRES: mutex_ is held.
  bool IsDurableLocked(const Mark& mark) const;
  void SetStatus(const absl::Status& status);

  const std::shared_ptr<store::Disk> disk_;
  const JournalOptions options_;

  // Of the journal's thread: the batch that is not durable yet.
  Logs batch_;
  Logs stuck_;  // whose batch failed
  bool is_stuck_told_ = false;
  std::chrono::steady_clock::time_point retry_at_;  // of them
  std::vector<std::string> batch_removals_;
  Position batch_end_ = 0;

  std::atomic<Position> durable_ = 0;
  std::atomic<std::size_t> waiting_bytes_ = 0;
  std::atomic<std::size_t> stuck_bytes_ = 0;  // of them, which hold up no other log
  mutable std::mutex mutex_;                  // guards all below, and the first part of Log
  std::condition_variable work_;
  std::condition_variable changed_;  // durable_, status_ or stopping_
  bool stopping_ = false;
  Position appended_ = 0;
  Logs dirty_;  // with something in Log::next
  std::vector<std::string> removals_;
  std::vector<Waiting> waiting_;
  absl::Status status_;

  std::thread thread_;
};

}  // namespace tidemark::service
