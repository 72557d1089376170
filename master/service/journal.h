// Makes records durable before they are acknowledged or published.
//
// Callers append records to logs and get a position. The journal's thread writes all records since
// the last batch in one batch, makes it durable with one sync, and then notifies the waiters.
// Meanwhile, the next batch accumulates.
//
// If the disk is full or broken, the journal retries the batch until it succeeds. Meanwhile, no
// position becomes durable, and status() returns the reason. If a single log fails while others can
// be written, the log is stuck. Only callers that wait for the stuck log are delayed, and the
// journal retries it periodically. If callers respect HasRoomFor(), the memory of waiting records
// is bounded. A busy log cannot crowd out other logs, since its waiting records may take only an
// eighth of the free memory.
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
  // How long a record waits so that other records share its sync. An acknowledgement takes at most
  // about this time plus two syncs.
  absl::Duration commit_interval = absl::Milliseconds(5);
  // Time between attempts to write to a failing disk or log.
  absl::Duration retry_interval = absl::Milliseconds(500);
  // Maximum size of the records that wait in memory.
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

  // Is notified once, on the journal's thread. Must not block.
  class Waiter {
   public:
    virtual ~Waiter() = default;
    virtual void OnDurable(Position durable) = 0;
    // Reports the reason for a delay, possibly several times, before OnDurable(). Also runs on the
    // thread that calls NotifyWhenDurable().
    virtual void OnStalled(const absl::Status& /*status*/) {}
  };

  // One log, stored in one file. The journal keeps it alive while any of its records is not
  // durable.
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

  // Returns a new log that begins with `start`. The first record creates its file, which replaces
  // any file of that name.
  static std::shared_ptr<Log> MakeLog(std::string path, std::string start);
  // Returns the log at `path`. The log continues after its first `durable_bytes`.
  static std::shared_ptr<Log> MakeLog(std::string path, std::uint64_t durable_bytes);

  // Appends whole records. Records without a log are not stored and only get a position. As soon as
  // its last record is durable, a log's file is closed and unlocked, even if the log is still
  // referenced. O(size of the records). `is_last` is true if `records` end the log. REQUIRES: no
  // records are appended to a log after its last record.
  Position Append(const std::shared_ptr<Log>& log, absl::string_view records, bool is_last = false);

  // Removes a file to which no log appends any more. The removal precedes all records that are
  // appended later. If the file cannot be removed, the journal reports it, and the file stays
  // until a new log at the path replaces it.
  void Remove(std::string path);

  Position durable() const { return durable_.load(std::memory_order_acquire); }
  // Returns true if the record and all earlier records in its log are durable.
  bool IsDurable(const Mark& mark) const;
  // Blocks until the record is durable. Returns false if the journal or its log fails or ends
  // first.
  bool WaitUntilDurable(const Mark& mark);
  // Notifies `waiter` once the record is durable. If it already is, notifies `waiter` immediately
  // on this thread.
  void NotifyWhenDurable(Mark mark, std::shared_ptr<Waiter> waiter);
  // Returns true if the log cannot be written although other logs may be. Callers should produce no
  // records for a stuck log.
  bool IsStuck(const std::shared_ptr<Log>& log) const;

  // Returns OK, or the reason why no record becomes durable at the moment.
  absl::Status status() const;
  // Returns true if more records of the log should be accepted. A null `log` represents a log
  // without waiting records. If the result is false, the caller should wait until the log's waiting
  // records, or any later position, are durable. Records in stuck logs count only while no other
  // log can be written.
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
    absl::Status why;  // first failure of a log that had not failed before
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

  // The batch that is not durable yet. Only the journal's thread uses it and the members up to
  // batch_end_.
  Logs batch_;
  Logs stuck_;  // logs whose batch failed
  bool is_stuck_told_ = false;
  std::chrono::steady_clock::time_point retry_at_;  // time to retry stuck logs
  std::vector<std::string> batch_removals_;
  Position batch_end_ = 0;

  std::atomic<Position> durable_ = 0;
  std::atomic<std::size_t> waiting_bytes_ = 0;
  std::atomic<std::size_t> stuck_bytes_ = 0;  // bytes of stuck logs, which delay no other log
  mutable std::mutex mutex_;  // Guards all members below, and the first part of Log.
  std::condition_variable work_;
  std::condition_variable changed_;  // signals changes of durable_, status_ and stopping_
  bool stopping_ = false;
  Position appended_ = 0;
  Logs dirty_;  // logs with records in Log::next
  std::vector<std::string> removals_;
  std::vector<Waiting> waiting_;
  absl::Status status_;

  std::thread thread_;
};

}  // namespace tidemark::service
