// Makes records durable before they are acknowledged or published.
//
// Callers append records to logs and get a position. The journal's thread writes everything
// appended since the last time in one batch, makes it durable by one sync, and then notifies the
// waiters. The next batch gathers during this time.
//
// A disk that is full or broken stops the positions, not the process: status() gives the reason,
// and the journal keeps the batch and retries it until it succeeds. If a single log fails while
// others can be written, only the callers that wait for that log are delayed: the log is stuck, and
// is retried periodically. Callers that respect HasRoomFor() bound the memory this takes. A busy
// log cannot crowd out the others: its waiting records may take an eighth of the free memory.
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
  // The time for which a record waits for others to share a sync. An acknowledgement takes at most
  // about this and two syncs.
  absl::Duration commit_interval = absl::Milliseconds(5);
  // Time between two attempts to write to a failing disk or log.
  absl::Duration retry_interval = absl::Milliseconds(500);
  // Bytes of records that may wait in memory.
  std::size_t waiting_bytes_max = std::size_t{64} << 20;
  // Called on the journal's thread if a log cannot be removed or is stuck. May be empty.
  std::function<void(const std::string&)> on_notice;
};

// Returns the Unavailable error for a caller whose record cannot become durable because of `why`.
absl::Status JournalFails(const absl::Status& why);

class Journal {
 public:
  // Counts the records appended to any log. All records up to durable() are durable, except in
  // stuck logs.
  using Position = std::uint64_t;

  // Notified once. Must not block. Runs on the journal's thread.
  class Waiter {
   public:
    virtual ~Waiter() = default;
    virtual void OnDurable(Position durable) = 0;
    // Reports the reason of a delay, possibly several times, before OnDurable(). Also runs on the
    // thread that calls NotifyWhenDurable().
    virtual void OnStalled(const absl::Status& /*status*/) {}
  };

  // One file. The journal keeps it alive while records of it are not durable.
  class Log;

  // The position of a record and its log. The log is null for a record that is not stored.
  struct Mark {
    // NOLINTNEXTLINE(google-explicit-constructor): a position without a log.
    Mark(Position at = 0, std::shared_ptr<Log> in = nullptr) : position(at), log(std::move(in)) {}
    Position position;
    std::shared_ptr<Log> log;
  };

  Journal(std::shared_ptr<store::Disk> disk, const JournalOptions& options);
  // Writes the waiting records, but does not wait for a broken disk.
  ~Journal();
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;

  // Returns a new log that begins with `start`. The first record creates its file and replaces a
  // file of that name.
  static std::shared_ptr<Log> MakeLog(std::string path, std::string start);
  // Returns the log at `path`, which continues after its first `durable_bytes`.
  static std::shared_ptr<Log> MakeLog(std::string path, std::uint64_t durable_bytes);

  // Appends whole records. Records without a log are not stored and only get a position. The file
  // of a log is closed, and its lock released, as soon as its last record is durable, even if the
  // log is still referenced. O(size of the records). REQUIRES: the last record of a log is appended
  // last.
  Position Append(const std::shared_ptr<Log>& log, absl::string_view records, bool is_last = false);

  // Removes a file that no log appends to any more, before any later appended record. If the file
  // cannot be removed, the journal reports it and the file stays: a new log at the path replaces
  // it.
  void Remove(std::string path);

  Position durable() const { return durable_.load(std::memory_order_acquire); }
  // Returns whether the record, and all before it in its log, is durable.
  bool IsDurable(const Mark& mark) const;
  // Blocks until the record is durable. Returns false if the journal or its log fails or ends
  // first.
  bool WaitUntilDurable(const Mark& mark);
  // Notifies `waiter` once the record is durable: immediately, on this thread, if it already is.
  void NotifyWhenDurable(Mark mark, std::shared_ptr<Waiter> waiter);
  // Returns whether the log cannot be written while others may be. Callers should not produce
  // records for a stuck log.
  bool IsStuck(const std::shared_ptr<Log>& log) const;

  // Returns OK, or the reason why no record becomes durable at the moment.
  absl::Status status() const;
  // Returns whether more records of the log should be accepted; a null `log` represents a log
  // without waiting records. If false, wait until the log's waiting records, or any later position,
  // are durable. Records that wait in stuck logs count only while no other log can be written.
  bool HasRoomFor(const std::shared_ptr<Log>& log) const;
  std::size_t waiting_bytes() const { return waiting_bytes_.load(std::memory_order_relaxed); }

 private:
  struct Waiting {
    Mark mark;
    std::shared_ptr<Waiter> waiter;
  };
  using Logs = std::vector<std::shared_ptr<Log>>;

  // The result of writing a batch.
  struct Attempt {
    Logs durable;
    Logs failed;
    absl::Status why;  // the first failure of a log that had not failed before
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

  // Used by the journal's thread: the batch that is not durable yet.
  Logs batch_;
  Logs stuck_;  // logs whose batch failed
  bool is_stuck_told_ = false;
  std::chrono::steady_clock::time_point retry_at_;  // when they are written again
  std::vector<std::string> batch_removals_;
  Position batch_end_ = 0;

  std::atomic<Position> durable_ = 0;
  std::atomic<std::size_t> waiting_bytes_ = 0;
  std::atomic<std::size_t> stuck_bytes_ = 0;  // bytes of stuck logs, which delay no other log
  mutable std::mutex mutex_;                  // guards all below, and the first part of Log
  std::condition_variable work_;
  std::condition_variable changed_;  // of durable_, status_ or stopping_
  bool stopping_ = false;
  Position appended_ = 0;
  Logs dirty_;  // logs with records in Log::next
  std::vector<std::string> removals_;
  std::vector<Waiting> waiting_;
  absl::Status status_;

  std::thread thread_;
};

}  // namespace tidemark::service
