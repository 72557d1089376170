// The event log of one job: everything its JobMonitor was told, in order, so that a replay makes
// the same snapshots to the last bit. Byte format: docs/event-log.md.
//
// Logs begin with everything that a job cannot do without twice, the header and the event that
// opened it, so that no single damage takes either; a reader returns it once.
//
// Not thread-safe. A reader needs the file to stay as it is; a log that is still being written can
// be read up to what was flushed.
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

// An event that was refused before it could be understood.
struct Refused {
  AcceptedSequence event;  // of sequence 0: it does not say which
  friend bool operator==(const Refused&, const Refused&) = default;
};
// A snapshot was made at this instant.
struct Tick {
  absl::Time at;
  friend bool operator==(const Tick&, const Tick&) = default;
};
// The job was taken up from its log at this instant.
struct Restart {
  absl::Time at;
  std::optional<JobLimits> limits = {};  // from here on; empty: as before
  friend bool operator==(const Restart&, const Restart&) = default;
};
// What was known of earlier runs of the job.
struct PastRuns {
  std::vector<PastRun> runs;
  friend bool operator==(const PastRuns&, const PastRuns&) = default;
};
// Records that could not be read.
using Damage = LogDamage;
using LogRecord = std::variant<Event, Refused, Tick, Restart, PastRuns, Damage>;

// Tells `monitor` what the record says; the snapshot if the record is a tick.
std::optional<Snapshot> Replay(const LogRecord& record, JobMonitor& monitor);

class EventLogWriter {
 public:
  // Creates or replaces the file and writes `start`, which EncodeLogStart() has made with `key`.
  // PermissionDenied, NotFound, ... name the path and the system's reason. Unavailable: another
  // writer has the file open.
  static absl::StatusOr<std::unique_ptr<EventLogWriter>> Begin(const std::string& path,
                                                               const std::string& start,
                                                               LogKey key);
  // Goes on with the file so that it holds the first `bytes` of `source`, a log of the same job
  // with `key`: what it lacks of them is copied, what is beyond them cut off. A file that is
  // another log, or missing, becomes a copy. Errors: those of Begin().
  static absl::StatusOr<std::unique_ptr<EventLogWriter>> Continue(const std::string& path,
                                                                  const std::string& source,
                                                                  std::uint64_t bytes, LogKey key);
  ~EventLogWriter();
  EventLogWriter(const EventLogWriter&) = delete;
  EventLogWriter& operator=(const EventLogWriter&) = delete;

  // Appends a record that log_record.h has encoded with the key. ResourceExhausted when the disk is
  // full; after any error the log is closed at its last whole record that reached the disk, and
  // every later call fails alike.
  absl::Status AppendEncoded(const std::string& record);
  // Hands everything so far to the operating system.
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
  // NotFound, PermissionDenied: the file. InvalidArgument: not an event log, or of a newer version.
  // Unimplemented: of version 0.1.
  // DataLoss: its header is torn or corrupt.
  static absl::StatusOr<std::unique_ptr<EventLogReader>> Open(const std::string& path);
  EventLogReader(const EventLogReader&) = delete;
  EventLogReader& operator=(const EventLogReader&) = delete;

  const std::string& job_id() const { return job_id_; }
  const JobMonitorOptions& options() const { return options_; }
  // As EncodeLogStart() was given it.
  const std::string& name_space() const { return name_space_; }

  // The next record; empty at the end. What is damaged comes as a Damage in its place, and the
  // records behind it follow; an event that this version refuses comes as Refused. DataLoss:
  // the last record, at the byte that the message names, is torn as by a crash.
  absl::StatusOr<std::optional<LogRecord>> Next();
  // Where the log may go on: behind all that was read but a torn record. bytes
  std::uint64_t offset() const { return records_->offset(); }
  LogKey key() const { return records_->key(); }

 private:
  explicit EventLogReader(std::unique_ptr<RecordReader> records) : records_(std::move(records)) {}
  absl::Status ReadHeader();
  Damage FoundDamage();

  std::unique_ptr<RecordReader> records_;
  std::vector<Damage> before_header_;  // still to be returned
  std::string twice_;                  // the record before, if a copy of it may follow
  bool has_events_ = false;
  std::string job_id_;
  JobMonitorOptions options_;
  std::string name_space_;
};

inline constexpr const char* kEventLogExtension = ".tidemark-log";
// The file for a job in `directory`: job ids are escaped so that they cannot leave it, and long
// ones are shortened.
std::string EventLogPath(const std::string& directory, const std::string& job_id);

}  // namespace tidemark::store
