#include "master/store/event_log.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "master/store/log_record.h"
#include "proto/wire/parse_event.h"
#include "tidemark/v1/event_log.pb.h"

namespace tidemark::store {
namespace {

constexpr std::size_t kReadBufferBytes = 256 << 10;
// Longer job ids are shortened in file names, of which common file systems allow 255 bytes.
constexpr std::size_t kNameBytesMax = 200;

absl::Status SystemError(int error, const std::string& what) {
  return absl::ErrnoToStatus(error, what);
}

absl::Time ToTime(const google::protobuf::Timestamp& timestamp) {
  return absl::FromUnixSeconds(timestamp.seconds()) + absl::Nanoseconds(timestamp.nanos());
}

absl::Duration ToDuration(const google::protobuf::Duration& duration) {
  return absl::Seconds(duration.seconds()) + absl::Nanoseconds(duration.nanos());
}

bool IsPlain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '_';
}

}  // namespace

std::optional<Snapshot> Replay(const LogRecord& record, JobMonitor& monitor) {
  if (const Tick* tick = std::get_if<Tick>(&record)) return monitor.Tick(tick->at);
  if (const Event* event = std::get_if<Event>(&record)) {
    monitor.Apply(*event).IgnoreError();  // refused then, refused now: both are counted
  } else if (const Restart* restart = std::get_if<Restart>(&record)) {
    monitor.NoteRestart(restart->at);
  } else if (const PastRuns* past = std::get_if<PastRuns>(&record)) {
    monitor.SetPastRuns(past->runs);
  } else if (const Malformed* malformed = std::get_if<Malformed>(&record)) {
    monitor.CountRejected(malformed->envelope);
  }
  return std::nullopt;
}

std::string EventLogPath(const std::string& directory, const std::string& job_id) {
  std::string name;
  for (const char c : job_id) {
    name += IsPlain(c) ? std::string(1, c) : fmt::format("%{:02x}", static_cast<unsigned char>(c));
  }
  if (name.size() > kNameBytesMax) {
    // An escaped id holds no dot, so a shortened one cannot meet a whole one.
    const std::uint64_t hash = XXH64(job_id.data(), job_id.size(), 0);
    name = fmt::format("{}.{:016x}", name.substr(0, kNameBytesMax), hash);
  }
  return fmt::format("{}/{}{}", directory, name, kEventLogExtension);
}

absl::StatusOr<std::unique_ptr<EventLogWriter>> EventLogWriter::Create(
    const std::string& path, const std::string& job_id, const JobMonitorOptions& options) {
  std::FILE* file = std::fopen(path.c_str(), "wb");
  if (file == nullptr) return SystemError(errno, fmt::format("event log {}: cannot create", path));
  std::unique_ptr<EventLogWriter> writer(new EventLogWriter(path, file));
  std::string start;
  EncodeLogStart(job_id, options, /*name_space=*/"", start);
  if (absl::Status status = writer->AppendEncoded(start); !status.ok()) return status;
  return writer;
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

absl::Status EventLogWriter::Append(const v1::Envelope& envelope, absl::Time arrived_at) {
  std::string record;
  EncodeEnvelope(envelope, arrived_at, record);
  return AppendEncoded(record);
}

absl::Status EventLogWriter::AppendMalformed(const std::string& reason,
                                             const AcceptedSequence& envelope) {
  std::string record;
  EncodeMalformed(reason, envelope, record);
  return AppendEncoded(record);
}

absl::Status EventLogWriter::AppendTick(absl::Time at) {
  std::string record;
  EncodeTick(at, record);
  if (absl::Status status = AppendEncoded(record); !status.ok()) return status;
  if (std::fflush(file_) != 0) return Fail("cannot write");
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<EventLogReader>> EventLogReader::Open(const std::string& path) {
  std::FILE* file = std::fopen(path.c_str(), "rb");
  if (file == nullptr) return SystemError(errno, fmt::format("event log {}: cannot open", path));
  std::setvbuf(file, nullptr, _IOFBF, kReadBufferBytes);
  std::unique_ptr<EventLogReader> reader(new EventLogReader(path, file));
  if (absl::Status status = reader->ReadHeader(); !status.ok()) return status;
  return reader;
}

EventLogReader::~EventLogReader() { std::fclose(file_); }

absl::Status EventLogReader::Corrupt(const char* what) {
  damage_ = absl::DataLossError(fmt::format(
      "event log {}: {} at byte {}; everything before it is good", path_, what, offset_));
  return damage_;
}

// False at the end of the file; fails on a torn or corrupt record.
absl::StatusOr<bool> EventLogReader::ReadRecord(v1::EventLogRecord& record) {
  std::array<char, kFrameBytes> bytes;
  const std::size_t got = std::fread(bytes.data(), 1, bytes.size(), file_);
  if (got == 0 && std::feof(file_)) return false;
  if (got < bytes.size()) return Corrupt("torn record");
  const Frame frame = ReadFrame(bytes.data());
  if (frame.length > kRecordBytesMax) return Corrupt("impossible record length");
  payload_.resize(frame.length);
  if (std::fread(payload_.data(), 1, frame.length, file_) < frame.length) {
    return Corrupt("torn record");
  }
  if (LogChecksum(payload_) != frame.checksum) return Corrupt("wrong checksum");
  if (!record.ParseFromString(payload_)) return Corrupt("unreadable record");
  offset_ += kFrameBytes + frame.length;
  return true;
}

absl::Status EventLogReader::ReadHeader() {
  std::array<char, kLogMagic.size()> magic;
  if (std::fread(magic.data(), 1, magic.size(), file_) < magic.size() || magic != kLogMagic) {
    return absl::InvalidArgumentError(
        fmt::format("event log {}: not an event log of this version (it must start with {})", path_,
                    std::string(kLogMagic.data(), kLogMagic.size())));
  }
  offset_ = kLogMagic.size();
  v1::EventLogRecord record;
  const absl::StatusOr<bool> read = ReadRecord(record);
  if (!read.ok()) return read.status();
  if (!*read || !record.has_header()) return Corrupt("no header");
  const v1::EventLogHeader& header = record.header();
  job_id_ = header.job_id();
  name_space_ = header.name_space();
  options_.indicators.assign(header.indicators().begin(), header.indicators().end());
  options_.lambda = header.lambda();
  options_.abandon_after = absl::Seconds(header.abandon_after().seconds()) +
                           absl::Nanoseconds(header.abandon_after().nanos());
  return Validate(options_);
}

absl::StatusOr<std::optional<LogRecord>> EventLogReader::Next() {
  if (!damage_.ok()) return damage_;
  thread_local v1::EventLogRecord record;  // keeps its memory for the next one
  while (true) {
    const absl::StatusOr<bool> read = ReadRecord(record);
    if (!read.ok()) return read.status();
    if (!*read) return std::optional<LogRecord>();
    switch (record.record_case()) {
      case v1::EventLogRecord::kTick:
        return std::optional<LogRecord>(Tick{ToTime(record.tick().at())});
      case v1::EventLogRecord::kMalformed:
        return std::optional<LogRecord>(
            Malformed{{.source_id = record.malformed().place().source_id(),
                       .sequence = record.malformed().place().accepted_sequence()}});
      case v1::EventLogRecord::kEnvelope: {
        const auto event =
            wire::ParseEvent(record.envelope().envelope(), ToTime(record.envelope().arrived_at()));
        if (!event.ok()) return Corrupt("unreadable envelope");
        return std::optional<LogRecord>(*event);
      }
      case v1::EventLogRecord::kRestart:
        return std::optional<LogRecord>(Restart{ToTime(record.restart().at())});
      case v1::EventLogRecord::kPastRuns: {
        PastRuns past;
        for (const v1::LoggedPastRun& run : record.past_runs().runs()) {
          past.runs.push_back({.map_time = ToDuration(run.map_time()),
                               .shuffle_time = ToDuration(run.shuffle_time()),
                               .reduce_time = ToDuration(run.reduce_time()),
                               .map_input_bytes = run.map_input_bytes()});
        }
        return std::optional<LogRecord>(std::move(past));
      }
      case v1::EventLogRecord::kHeader:
      case v1::EventLogRecord::kEnd:  // says again what came before
      case v1::EventLogRecord::RECORD_NOT_SET:
        continue;  // of a newer writer: nothing this reader could use
    }
  }
}

}  // namespace tidemark::store
