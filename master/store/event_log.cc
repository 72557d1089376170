#include "master/store/event_log.h"

#include <fmt/format.h>
#include <google/protobuf/util/time_util.h>
#include <xxhash.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "proto/wire/parse_event.h"
#include "tidemark/v1/event_log.pb.h"

namespace tidemark::store {
namespace {

constexpr std::array<char, 8> kMagic = {'T', 'I', 'D', 'E', 'L', 'O', 'G', '1'};
// A corrupt length must not make a reader allocate the world; envelopes are smaller than this.
constexpr std::uint32_t kRecordBytesMax = 64u << 20;
constexpr std::size_t kFrameBytes = 8;
// Longer job ids are shortened in file names, of which common file systems allow 255 bytes.
constexpr std::size_t kNameBytesMax = 200;

std::uint32_t Checksum(const std::string& payload) {
  return static_cast<std::uint32_t>(XXH64(payload.data(), payload.size(), 0));
}

void PutLittleEndian(std::uint32_t value, char* out) {
  for (int i = 0; i < 4; ++i) out[i] = static_cast<char>(value >> (8 * i));
}

std::uint32_t GetLittleEndian(const char* in) {
  std::uint32_t value = 0;
  for (int i = 0; i < 4; ++i) {
    value |= static_cast<std::uint32_t>(static_cast<unsigned char>(in[i])) << (8 * i);
  }
  return value;
}

absl::Status SystemError(int error, const std::string& what) {
  return absl::ErrnoToStatus(error, what);
}

void SetTimestamp(absl::Time time, google::protobuf::Timestamp* out) {
  const std::int64_t nanos = absl::ToUnixNanos(time);
  *out = google::protobuf::util::TimeUtil::NanosecondsToTimestamp(nanos);
}

absl::Time ToTime(const google::protobuf::Timestamp& timestamp) {
  return absl::FromUnixSeconds(timestamp.seconds()) + absl::Nanoseconds(timestamp.nanos());
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
  } else {
    monitor.CountRejected();
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
  return fmt::format("{}/{}.tidemark-log", directory, name);
}

absl::StatusOr<std::unique_ptr<EventLogWriter>> EventLogWriter::Create(
    const std::string& path, const std::string& job_id, const JobMonitorOptions& options) {
  std::FILE* file = std::fopen(path.c_str(), "wb");
  if (file == nullptr) return SystemError(errno, fmt::format("event log {}: cannot create", path));
  std::unique_ptr<EventLogWriter> writer(new EventLogWriter(path, file));
  if (std::fwrite(kMagic.data(), 1, kMagic.size(), file) != kMagic.size()) {
    return writer->Fail("cannot write");
  }
  v1::EventLogRecord record;
  v1::EventLogHeader& header = *record.mutable_header();
  header.set_job_id(job_id);
  for (const std::string& indicator : options.indicators) header.add_indicators(indicator);
  header.set_lambda(options.lambda);
  *header.mutable_abandon_after() = google::protobuf::util::TimeUtil::NanosecondsToDuration(
      absl::ToInt64Nanoseconds(options.abandon_after));
  if (absl::Status status = writer->Write(record); !status.ok()) return status;
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

absl::Status EventLogWriter::Write(const v1::EventLogRecord& record) {
  if (!failed_.ok()) return failed_;
  const std::string payload = record.SerializeAsString();
  std::array<char, kFrameBytes> frame;
  PutLittleEndian(static_cast<std::uint32_t>(payload.size()), frame.data());
  PutLittleEndian(Checksum(payload), frame.data() + 4);
  if (std::fwrite(frame.data(), 1, frame.size(), file_) != frame.size() ||
      std::fwrite(payload.data(), 1, payload.size(), file_) != payload.size()) {
    return Fail("cannot write");
  }
  return absl::OkStatus();
}

absl::Status EventLogWriter::Append(const v1::Envelope& envelope, absl::Time arrived_at) {
  v1::EventLogRecord record;
  SetTimestamp(arrived_at, record.mutable_envelope()->mutable_arrived_at());
  *record.mutable_envelope()->mutable_envelope() = envelope;
  return Write(record);
}

absl::Status EventLogWriter::AppendMalformed(const std::string& reason) {
  v1::EventLogRecord record;
  record.mutable_malformed()->set_reason(reason);
  return Write(record);
}

absl::Status EventLogWriter::AppendTick(absl::Time at) {
  v1::EventLogRecord record;
  SetTimestamp(at, record.mutable_tick()->mutable_at());
  if (absl::Status status = Write(record); !status.ok()) return status;
  if (std::fflush(file_) != 0) return Fail("cannot write");
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<EventLogReader>> EventLogReader::Open(const std::string& path) {
  std::FILE* file = std::fopen(path.c_str(), "rb");
  if (file == nullptr) return SystemError(errno, fmt::format("event log {}: cannot open", path));
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
absl::StatusOr<bool> EventLogReader::ReadFrame(v1::EventLogRecord& record) {
  std::array<char, kFrameBytes> frame;
  const std::size_t got = std::fread(frame.data(), 1, frame.size(), file_);
  if (got == 0 && std::feof(file_)) return false;
  if (got < frame.size()) return Corrupt("torn record");
  const std::uint32_t length = GetLittleEndian(frame.data());
  if (length > kRecordBytesMax) return Corrupt("impossible record length");
  std::string payload(length, '\0');
  if (std::fread(payload.data(), 1, length, file_) < length) return Corrupt("torn record");
  if (Checksum(payload) != GetLittleEndian(frame.data() + 4)) return Corrupt("wrong checksum");
  if (!record.ParseFromString(payload)) return Corrupt("unreadable record");
  offset_ += kFrameBytes + length;
  return true;
}

absl::Status EventLogReader::ReadHeader() {
  std::array<char, kMagic.size()> magic;
  if (std::fread(magic.data(), 1, magic.size(), file_) < magic.size() || magic != kMagic) {
    return absl::InvalidArgumentError(
        fmt::format("event log {}: not an event log of this version (it must start with {})", path_,
                    std::string(kMagic.data(), kMagic.size())));
  }
  offset_ = kMagic.size();
  v1::EventLogRecord record;
  const absl::StatusOr<bool> read = ReadFrame(record);
  if (!read.ok()) return read.status();
  if (!*read || !record.has_header()) return Corrupt("no header");
  const v1::EventLogHeader& header = record.header();
  job_id_ = header.job_id();
  options_.indicators.assign(header.indicators().begin(), header.indicators().end());
  options_.lambda = header.lambda();
  options_.abandon_after = absl::Seconds(header.abandon_after().seconds()) +
                           absl::Nanoseconds(header.abandon_after().nanos());
  return Validate(options_);
}

absl::StatusOr<std::optional<LogRecord>> EventLogReader::Next() {
  if (!damage_.ok()) return damage_;
  v1::EventLogRecord record;
  while (true) {
    const absl::StatusOr<bool> read = ReadFrame(record);
    if (!read.ok()) return read.status();
    if (!*read) return std::optional<LogRecord>();
    switch (record.record_case()) {
      case v1::EventLogRecord::kTick:
        return std::optional<LogRecord>(Tick{ToTime(record.tick().at())});
      case v1::EventLogRecord::kMalformed:
        return std::optional<LogRecord>(Malformed{});
      case v1::EventLogRecord::kEnvelope: {
        const auto event =
            wire::ParseEvent(record.envelope().envelope(), ToTime(record.envelope().arrived_at()));
        if (!event.ok()) return Corrupt("unreadable envelope");
        return std::optional<LogRecord>(*event);
      }
      case v1::EventLogRecord::kHeader:
      case v1::EventLogRecord::RECORD_NOT_SET:
        continue;  // of a newer writer: nothing this reader could use
    }
  }
}

}  // namespace tidemark::store
