// Makes records durable before they are acknowledged or published.
//
// Callers append records to logs and get a position. The journal's thread writes everything
// appended since the last time in one batch, makes it durable by one sync, and then notifies the
// waiters. Meanwhile the next batch gathers.
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
  // Returns the log at `path`, which continues after its first `durable_bytes`.
  static std::shared_ptr<Log> MakeLog(std::string path, std::uint64_t durable_bytes);

  // Appends whole records. Records without a log are not kept and only get a position. The file of
  // a log is closed, and its lock released, as soon as its last record is durable, even if the log
  // is still referenced. O(size of the records). REQUIRES: nothing is appended to the log after its
  // last record.
  Position Append(const std::shared_ptr<Log>& log, absl::string_view records, bool is_last = false);

  // Removes a file that no log appends to any more, before any later appended record. If the file
  // cannot be removed, this is reported and the file stays: a new log at the path replaces it.
  void Remove(std::string path);

  Position durable() const { return durable_.load(std::memory_order_acquire); }
  // Returns whether the record, and all before it in its log, is durable.
  bool IsDurable(const Mark& mark) const;
  // Blocks until the record is durable. Returns false if the journal or its log fails or ends
  // first.
  bool WaitUntilDurable(const Mark& mark);
  // Notifies `waiter` once the record is durable; at once, on this thread, if it already is.
  void NotifyWhenDurable(Mark mark, std::shared_ptr<Waiter> waiter);
  // Returns whether the log cannot be written while others may be. Callers should not produce
  // records for a stuck log.
  bool IsStuck(const std::shared_ptr<Log>& log) const;

  // Returns OK, or the reason why nothing becomes durable at the moment.
  absl::Status status() const;
  // Returns whether more records of the log should be accepted; a null `log` stands for a log
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
