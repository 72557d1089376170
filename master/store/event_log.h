// The event log of one job: everything its JobMonitor was told, in order, so that a replay makes
// the same snapshots to the last bit. Byte format: docs/event-log.md.
//
// Not thread-safe. A reader needs the file to stay as it is; a log that is still being written can
// be read up to what was flushed.
#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "tidemark/event.h"
#include "tidemark/job_monitor.h"
#include "tidemark/snapshot.h"

namespace tidemark::v1 {
class Envelope;
class EventLogRecord;
}  // namespace tidemark::v1

namespace tidemark::store {

// An envelope that never became an event.
struct Malformed {
  AcceptedSequence envelope;  // of sequence 0: it does not say which
  friend bool operator==(const Malformed&, const Malformed&) = default;
};
// A snapshot was made at this instant.
struct Tick {
  absl::Time at;
  friend bool operator==(const Tick&, const Tick&) = default;
};
// The job was taken up from its log at this instant.
struct Restart {
  absl::Time at;
  friend bool operator==(const Restart&, const Restart&) = default;
};
// What was known of earlier runs of the job.
struct PastRuns {
  std::vector<PastRun> runs;
  friend bool operator==(const PastRuns&, const PastRuns&) = default;
};
using LogRecord = std::variant<Event, Malformed, Tick, Restart, PastRuns>;

// Tells `monitor` what the record says; the snapshot if the record is a tick.
std::optional<Snapshot> Replay(const LogRecord& record, JobMonitor& monitor);

class EventLogWriter {
 public:
  // Creates or replaces the file and writes the header. PermissionDenied, NotFound, ... name the
  // path and the system's reason.
  static absl::StatusOr<std::unique_ptr<EventLogWriter>> Create(const std::string& path,
                                                                const std::string& job_id,
                                                                const JobMonitorOptions& options);
  ~EventLogWriter();
  EventLogWriter(const EventLogWriter&) = delete;
  EventLogWriter& operator=(const EventLogWriter&) = delete;

  // Each appends one record. ResourceExhausted when the disk is full; after any error the log is
  // closed at its last whole record that reached the disk and every later call fails alike.
  absl::Status Append(const v1::Envelope& envelope, absl::Time arrived_at);
  absl::Status AppendEncoded(const std::string& record);  // of log_record.h
  absl::Status AppendMalformed(const std::string& reason, const AcceptedSequence& envelope = {});
  // Also hands everything so far to the operating system.
  absl::Status AppendTick(absl::Time at);

  const std::string& path() const { return path_; }

 private:
  EventLogWriter(std::string path, std::FILE* file) : path_(std::move(path)), file_(file) {}
  absl::Status Fail(const char* doing);

  std::string path_;
  std::FILE* file_;
  absl::Status failed_;
};

class EventLogReader {
 public:
  // NotFound, PermissionDenied: the file. InvalidArgument: not an event log, or of a newer version.
  // DataLoss: its header is torn or corrupt.
  static absl::StatusOr<std::unique_ptr<EventLogReader>> Open(const std::string& path);
  ~EventLogReader();
  EventLogReader(const EventLogReader&) = delete;
  EventLogReader& operator=(const EventLogReader&) = delete;

  const std::string& job_id() const { return job_id_; }
  const JobMonitorOptions& options() const { return options_; }
  // As EncodeLogStart() was given it.
  const std::string& name_space() const { return name_space_; }

  // The next record; empty at the end. DataLoss: the rest is torn or corrupt, from the byte that
  // the message names; all records before it were returned.
  absl::StatusOr<std::optional<LogRecord>> Next();
  // Where the records that were returned end: where the log ends, or where its damage begins. bytes
  std::uint64_t offset() const { return offset_; }

 private:
  EventLogReader(std::string path, std::FILE* file) : path_(std::move(path)), file_(file) {}
  absl::StatusOr<bool> ReadRecord(v1::EventLogRecord& record);
  absl::Status ReadHeader();
  absl::Status Corrupt(const char* what);

  std::string path_;
  std::FILE* file_;
  std::string payload_;       // of the record read last
  std::uint64_t offset_ = 0;  // of the record to be read next
  absl::Status damage_;       // what every later Next() says
  std::string job_id_;
  JobMonitorOptions options_;
  std::string name_space_;
};

inline constexpr const char* kEventLogExtension = ".tidemark-log";
// The file for a job in `directory`: job ids are escaped so that they cannot leave it, and long
// ones are shortened.
std::string EventLogPath(const std::string& directory, const std::string& job_id);

}  // namespace tidemark::store
