// The event log of one job. It contains all input of the job's JobMonitor in order, so that a
// replay gives the same snapshots to the last bit. Byte format: docs/internals/event-log.md.
//
// A log begins with two copies of the header and of the event that opened the job, so that damage
// in one place cannot destroy these indispensable records. A reader returns them once.
//
// Not thread-safe. The file must not change while it is read. A log that is still being written can
// be read up to its last flush.
#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "master/store/log_record.h"
#include "master/store/record_reader.h"
#include "tidemark/event.h"
#include "tidemark/job.h"
#include "tidemark/job_monitor.h"

namespace tidemark::store {

// An event that was rejected before it was parsed.
struct Refused {
  AcceptedSequence event;  // sequence 0 if unknown
  friend bool operator==(const Refused&, const Refused&) = default;
};
// The time of a snapshot.
struct Tick {
  absl::Time at;
  friend bool operator==(const Tick&, const Tick&) = default;
};
// The time at which a restarted master restored the job from its log.
struct Restart {
  absl::Time at;
  std::optional<JobLimits> limits = {};  // valid after the restart; unset if unchanged
  friend bool operator==(const Restart&, const Restart&) = default;
};
// The past runs that the job used.
struct PastRuns {
  std::vector<PastRun> runs;
  friend bool operator==(const PastRuns&, const PastRuns&) = default;
};
// Unreadable records.
using Damage = LogDamage;
using LogRecord = std::variant<Event, Refused, Tick, Restart, PastRuns, Damage>;

// Passes a record to `monitor`. Returns the snapshot of a tick, which is valid until the next tick,
// or null for any other record.
const Snapshot* Replay(const LogRecord& record, JobMonitor& monitor);

class EventLogWriter {
 public:
  // Creates or replaces the file and writes `start`, which EncodeLogStart() has made with `key`.
  // Fails with PermissionDenied, NotFound and other codes; the message names the path and the
  // system's reason. Fails with Unavailable if another writer has the file open.
  static absl::StatusOr<std::unique_ptr<EventLogWriter>> Begin(const std::string& path,
                                                               const std::string& start,
                                                               LogKey key);
  // Changes the file so that it contains the first `bytes` of `source`, a log of the same job with
  // `key`. Copies missing bytes and cuts off excess bytes. Replaces a missing file, or a different
  // log, by a copy. Fails like Begin().
  static absl::StatusOr<std::unique_ptr<EventLogWriter>> Continue(const std::string& path,
                                                                  const std::string& source,
                                                                  std::uint64_t bytes, LogKey key);
  ~EventLogWriter();
  EventLogWriter(const EventLogWriter&) = delete;
  EventLogWriter& operator=(const EventLogWriter&) = delete;

  // Appends a record that was encoded (log_record.h) with the key. Fails with ResourceExhausted if
  // the disk is full. After any error, the log ends at its last complete record on the disk, and
  // every later call fails with the same error.
  absl::Status AppendEncoded(const std::string& record);
  // Passes all appended records to the operating system.
  absl::Status Flush();

 private:
  EventLogWriter(std::string path, LogKey key, std::FILE* file)
      : path_(std::move(path)), key_(key), file_(file) {}
  static absl::StatusOr<std::unique_ptr<EventLogWriter>> Open(const std::string& path, LogKey key);
  absl::Status Clear();
  absl::Status Fail(const char* doing);
  absl::Status CopyFrom(const std::string& source, std::uint64_t bytes);

  std::string path_;
  LogKey key_;
  std::FILE* file_;
  absl::Status failed_;
};

class EventLogReader {
 public:
  // Fails with NotFound or PermissionDenied if the file cannot be opened. Fails with
  // InvalidArgument if the file is not an event log or has a newer version, and with Unimplemented
  // for version 0.1. Fails with DataLoss if the header is torn or corrupt.
  static absl::StatusOr<std::unique_ptr<EventLogReader>> Open(const std::string& path);
  EventLogReader(const EventLogReader&) = delete;
  EventLogReader& operator=(const EventLogReader&) = delete;

  const std::string& job_id() const { return job_id_; }
  const JobMonitorOptions& options() const { return options_; }
  // Returns the name space that was passed to EncodeLogStart().
  const std::string& name_space() const { return name_space_; }

  // Returns the next record, or nullopt at the end. Returns unreadable records as Damage, and an
  // event that this version rejects as Refused. Fails with DataLoss if the last record is torn, for
  // example by a crash. The message contains its position in bytes.
  absl::StatusOr<std::optional<LogRecord>> Next();
  // Returns the position, in bytes, after all records except a torn one. Writers may append at this
  // position.
  std::uint64_t offset() const { return records_->offset(); }
  LogKey key() const { return records_->key(); }

 private:
  explicit EventLogReader(std::unique_ptr<RecordReader> records) : records_(std::move(records)) {}
  absl::Status ReadHeader();
  Damage FoundDamage();

  std::unique_ptr<RecordReader> records_;
  std::vector<Damage> before_header_;  // damage before the header that Next() has not returned yet
  std::string twice_;                  // previous record, if a copy of it may follow
  bool has_events_ = false;
  std::string job_id_;
  JobMonitorOptions options_;
  std::string name_space_;
};

inline constexpr const char* kEventLogExtension = ".tidemark-log";
// Returns the file for a job in `directory`. Job IDs are escaped, so that they cannot name another
// directory. Long IDs are shortened.
std::string EventLogPath(const std::string& directory, const std::string& job_id);

}  // namespace tidemark::store
