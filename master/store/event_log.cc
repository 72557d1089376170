#include "master/store/event_log.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "master/store/disk.h"
#include "master/store/log_record.h"
#include "proto/wire/parse_event.h"
#include "tidemark/storage/v1/event_log.pb.h"

namespace tidemark::store {

namespace pb = storage::v1;

namespace {

constexpr std::size_t kCopyBytes = 256 << 10;
// Longer job IDs are shortened in file names, which common file systems limit to 255 bytes.
constexpr std::size_t kNameBytesMax = 200;
// Users read these logs, so the process's umask determines the permissions.
constexpr mode_t kTraceMode = S_IRUSR | S_IWUSR | S_IRGRP | S_IWGRP | S_IROTH | S_IWOTH;

absl::Status SystemError(int error, const std::string& what) {
  return absl::ErrnoToStatus(error, what);
}

absl::Time ToTime(const google::protobuf::Timestamp& timestamp) {
  return absl::FromUnixSeconds(timestamp.seconds()) + absl::Nanoseconds(timestamp.nanos());
}

absl::Duration ToDuration(const google::protobuf::Duration& duration) {
  return absl::Seconds(duration.seconds()) + absl::Nanoseconds(duration.nanos());
}

// An earlier version may have accepted an event that this version rejects.
LogRecord EventOf(const std::string& job_id, pb::LoggedEvent& logged) {
  wire::ReceivedEvent received = {.job_id = job_id,
                                  .run_uid = logged.run_uid(),
                                  .source_id = logged.source_id(),
                                  .sequence = logged.sequence(),
                                  .sent_at = absl::FromUnixNanos(logged.sent_at()),
                                  .dropped_events = logged.dropped_events(),
                                  .body = std::move(*logged.mutable_event())};
  absl::StatusOr<Event> event = wire::ParseEvent(received, ToTime(logged.arrived_at()));
  if (event.ok()) return *std::move(event);
  return Refused{{.source_id = received.source_id, .sequence = received.sequence}};
}

JobLimits LimitsOf(const pb::LoggedLimits& logged) {
  return {.map_tasks_max = logged.map_tasks(),
          .reduce_tasks_max = logged.reduce_tasks(),
          .attempts_per_task_max = logged.attempts_per_task(),
          .sources_max = logged.sources(),
          .stages_max = logged.stages(),
          .state_bytes_max = logged.state_bytes()};
}

Restart RestartOf(const pb::LoggedRestart& logged) {
  Restart restart{ToTime(logged.at())};
  if (logged.has_limits()) restart.limits = LimitsOf(logged.limits());
  return restart;
}

PastRuns PastRunsOf(const pb::LoggedPastRuns& logged) {
  PastRuns past;
  for (const pb::LoggedPastRun& run : logged.runs()) {
    PastRun& each = past.runs.emplace_back(DecodeRunProfile(run.stages()));
    each.map_time = ToDuration(run.map_time());
    each.shuffle_time = ToDuration(run.shuffle_time());
    each.reduce_time = ToDuration(run.reduce_time());
    each.map_input_bytes = run.map_input_bytes();
    each.is_of_other_job = run.of_other_job();
    each.map_tasks = run.map_tasks();
    each.reduce_tasks = run.reduce_tasks();
    if (run.has_interval_score()) each.interval_score = run.interval_score();
    for (const pb::LoggedGroupBin& bin : run.groups()) {
      each.groups.push_back({.bin = bin.bin(),
                             .count = bin.groups(),
                             .size_bytes = bin.size_bytes(),
                             .seconds = bin.seconds(),
                             .seconds_squared = bin.seconds_squared()});
    }
  }
  return past;
}

bool IsPlain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '_';
}

}  // namespace

const Snapshot* Replay(const LogRecord& record, JobMonitor& monitor) {
  if (const Tick* tick = std::get_if<Tick>(&record)) return &monitor.Tick(tick->at);
  if (const Event* event = std::get_if<Event>(&record)) {
    monitor.Apply(*event).IgnoreError();  // Rejected events are counted again.
  } else if (const Restart* restart = std::get_if<Restart>(&record)) {
    monitor.NoteRestart(restart->at, restart->limits);
  } else if (const PastRuns* past = std::get_if<PastRuns>(&record)) {
    monitor.SetPastRuns(past->runs);
  } else if (const Refused* refused = std::get_if<Refused>(&record)) {
    monitor.CountRejected(refused->event);
  } else if (const Damage* damage = std::get_if<Damage>(&record)) {
    monitor.NoteDamage(*damage);
  }
  return nullptr;
}

std::string EventLogPath(const std::string& directory, const std::string& job_id) {
  std::string name;
  for (const char c : job_id) {
    name += IsPlain(c) ? std::string(1, c) : fmt::format("%{:02x}", static_cast<unsigned char>(c));
  }
  if (name.size() > kNameBytesMax) {
    // An escaped ID contains no dot, so a shortened name never equals an unshortened one.
    const std::uint64_t hash = XXH64(job_id.data(), job_id.size(), 0);
    name = fmt::format("{}.{:016x}", name.substr(0, kNameBytesMax), hash);
  }
  return fmt::format("{}/{}{}", directory, name, kEventLogExtension);
}

absl::StatusOr<std::unique_ptr<EventLogWriter>> EventLogWriter::Open(const std::string& path,
                                                                     LogKey key) {
  const absl::StatusOr<int> fd = OpenForWriting(path, O_RDWR | O_CREAT, kTraceMode);
  if (!fd.ok()) {
    return absl::Status(fd.status().code(),
                        fmt::format("event log {}", std::string(fd.status().message())));
  }
  std::FILE* const file = fdopen(*fd, "r+b");
  if (file != nullptr) return std::unique_ptr<EventLogWriter>(new EventLogWriter(path, key, file));
  const int error = errno;
  close(*fd);
  return SystemError(error, fmt::format("event log {}: cannot open", path));
}

absl::StatusOr<std::unique_ptr<EventLogWriter>> EventLogWriter::Begin(const std::string& path,
                                                                      const std::string& start,
                                                                      LogKey key) {
  absl::StatusOr<std::unique_ptr<EventLogWriter>> writer = Open(path, key);
  if (!writer.ok()) return writer;
  if (absl::Status status = (*writer)->Clear(); !status.ok()) return status;
  if (absl::Status status = (*writer)->AppendEncoded(start); !status.ok()) return status;
  return writer;
}

absl::StatusOr<std::unique_ptr<EventLogWriter>> EventLogWriter::Continue(const std::string& path,
                                                                         const std::string& source,
                                                                         std::uint64_t bytes,
                                                                         LogKey key) {
  absl::StatusOr<std::unique_ptr<EventLogWriter>> writer = Open(path, key);
  if (!writer.ok()) return writer;
  if (absl::Status status = (*writer)->CopyFrom(source, bytes); !status.ok()) return status;
  return writer;
}

// Removes the contents of an earlier log, unless the file is a device or a pipe.
absl::Status EventLogWriter::Clear() {
  struct stat file {};
  if (fstat(fileno(file_), &file) != 0 || !S_ISREG(file.st_mode)) return absl::OkStatus();
  return ftruncate(fileno(file_), 0) == 0 ? absl::OkStatus() : Fail("cannot truncate");
}

absl::Status EventLogWriter::CopyFrom(const std::string& source, std::uint64_t bytes) {
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  const std::unique_ptr<std::FILE, Close> from(std::fopen(source.c_str(), "rb"));
  if (from == nullptr) {
    return SystemError(errno, fmt::format("event log {}: cannot open {}", path_, source));
  }
  std::string buffer(kCopyBytes, '\0');
  const std::size_t start = std::fread(buffer.data(), 1, kStartBytes, file_);
  std::uint64_t at = 0;
  if (KeyOf({buffer.data(), start}, kEventLog) == key_) {
    if (std::fseek(file_, 0, SEEK_END) != 0) return Fail("cannot read");
    at = std::min(static_cast<std::uint64_t>(ftello(file_)), bytes);
  }
  if (std::fseek(file_, 0, SEEK_SET) != 0 ||
      ftruncate(fileno(file_), static_cast<off_t>(at)) != 0 ||
      std::fseek(file_, 0, SEEK_END) != 0 ||
      fseeko(from.get(), static_cast<off_t>(at), SEEK_SET) != 0) {
    return Fail("cannot continue its copy");
  }
  while (at < bytes) {
    const auto wanted = static_cast<std::size_t>(std::min<std::uint64_t>(kCopyBytes, bytes - at));
    const std::size_t got = std::fread(buffer.data(), 1, wanted, from.get());
    if (got == 0) return absl::DataLossError(fmt::format("event log {}: cannot be read", source));
    if (std::fwrite(buffer.data(), 1, got, file_) < got) return Fail("cannot continue its copy");
    at += got;
  }
  return absl::OkStatus();
}

EventLogWriter::~EventLogWriter() {
  if (file_ != nullptr) std::fclose(file_);
}

absl::Status EventLogWriter::Fail(const char* doing) {
  failed_ = SystemError(errno, fmt::format("event log {}: {}", path_, doing));
  std::fclose(std::exchange(file_, nullptr));
  return failed_;
}

absl::Status EventLogWriter::AppendEncoded(const std::string& record) {
  if (!failed_.ok()) return failed_;
  const std::size_t written = std::fwrite(record.data(), 1, record.size(), file_);
  return written == record.size() ? absl::OkStatus() : Fail("cannot write");
}

absl::Status EventLogWriter::Flush() {
  if (!failed_.ok()) return failed_;
  if (std::fflush(file_) != 0) return Fail("cannot write");
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<EventLogReader>> EventLogReader::Open(const std::string& path) {
  absl::StatusOr<std::unique_ptr<RecordReader>> records = RecordReader::Open(path, kEventLog);
  if (!records.ok()) return records.status();
  std::unique_ptr<EventLogReader> reader(new EventLogReader(*std::move(records)));
  if (absl::Status status = reader->ReadHeader(); !status.ok()) return status;
  return reader;
}

absl::Status EventLogReader::ReadHeader() {
  absl::StatusOr<RecordReader::Found> found = records_->Next();
  for (; found.ok() && *found == RecordReader::Found::kDamage; found = records_->Next()) {
    before_header_.push_back(records_->damage());
    before_header_.back().records = 0;  // A second copy of all earlier records exists.
  }
  if (!found.ok()) return found.status();
  pb::EventLogRecord record;
  const absl::string_view payload = records_->payload();
  if (*found == RecordReader::Found::kEnd ||
      !record.ParseFromArray(payload.data(), static_cast<int>(payload.size())) ||
      !record.has_header()) {
    return absl::DataLossError(fmt::format("event log {}: no header", records_->path()));
  }
  twice_ = std::string(payload);
  const pb::EventLogHeader& header = record.header();
  job_id_ = header.job_id();
  name_space_ = header.name_space();
  options_.indicators.assign(header.indicators().begin(), header.indicators().end());
  options_.lambda = header.lambda();
  options_.abandon_after = ToDuration(header.abandon_after());
  if (header.has_limits()) options_.limits = LimitsOf(header.limits());
  return Validate(options_);
}

// Damage loses no record if a copy of the record exists. The copy precedes the record or, for the
// records that open a job, follows it.
Damage EventLogReader::FoundDamage() {
  Damage damage = records_->damage();
  const bool is_copy = !twice_.empty() && damage.bytes == kFrameBytes + twice_.size();
  if (is_copy || !has_events_) damage.records = 0;
  twice_.clear();
  return damage;
}

absl::StatusOr<std::optional<LogRecord>> EventLogReader::Next() {
  if (!before_header_.empty()) {
    const Damage damage = before_header_.front();
    before_header_.erase(before_header_.begin());
    return std::optional<LogRecord>(damage);
  }
  thread_local pb::EventLogRecord record;  // reuses its memory
  while (true) {
    const absl::StatusOr<RecordReader::Found> found = records_->Next();
    if (!found.ok()) return found.status();
    if (*found == RecordReader::Found::kEnd) return std::optional<LogRecord>();
    if (*found == RecordReader::Found::kDamage) return std::optional<LogRecord>(FoundDamage());
    const absl::string_view payload = records_->payload();
    const bool is_copy = !twice_.empty() && payload == twice_;
    twice_.clear();
    if (is_copy) continue;
    if (!record.ParseFromArray(payload.data(), static_cast<int>(payload.size()))) {
      const std::uint64_t bytes = kFrameBytes + payload.size();
      return std::optional<LogRecord>(RecordReader::DamageOf(offset() - bytes, bytes, 1));
    }
    switch (record.record_case()) {
      case pb::EventLogRecord::kTick:
        return std::optional<LogRecord>(Tick{ToTime(record.tick().at())});
      case pb::EventLogRecord::kRefused:
        return std::optional<LogRecord>(
            Refused{{.source_id = record.refused().place().source_id(),
                     .sequence = record.refused().place().accepted_sequence()}});
      case pb::EventLogRecord::kEvent:
        if (!std::exchange(has_events_, true)) twice_ = std::string(payload);
        return std::optional<LogRecord>(EventOf(job_id_, *record.mutable_event()));
      case pb::EventLogRecord::kRestart:
        return std::optional<LogRecord>(RestartOf(record.restart()));
      case pb::EventLogRecord::kPastRuns:
        return std::optional<LogRecord>(PastRunsOf(record.past_runs()));
      case pb::EventLogRecord::kHeader:
      case pb::EventLogRecord::kEnd:  // This record repeats earlier records.
      case pb::EventLogRecord::RECORD_NOT_SET:
        continue;  // A newer version wrote this record.
    }
  }
}

}  // namespace tidemark::store
