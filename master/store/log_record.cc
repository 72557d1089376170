#include "master/store/log_record.h"

#include <google/protobuf/util/time_util.h>
#include <xxhash.h>

#include "proto/wire/snapshot_codec.h"
#include "tidemark/v1/event_log.pb.h"

namespace tidemark::store {
namespace {

// Tags of length-delimited fields, as protobuf writes them: number << 3 | 2.
constexpr char kRecordEnvelopeTag = 2 << 3 | 2;  // EventLogRecord.envelope
constexpr char kArrivedAtTag = 1 << 3 | 2;       // LoggedEnvelope.arrived_at
constexpr char kEnvelopeTag = 2 << 3 | 2;        // LoggedEnvelope.envelope

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

// Appends the payload that `write` appends, with its frame before it.
template <typename Write>
void Framed(std::string& out, Write write) {
  const std::size_t begin = out.size();
  out.append(kFrameBytes, '\0');
  write();
  const absl::string_view payload = absl::string_view(out).substr(begin + kFrameBytes);
  const std::uint32_t checksum = LogChecksum(payload);
  PutLittleEndian(static_cast<std::uint32_t>(payload.size()), &out[begin]);
  PutLittleEndian(checksum, &out[begin + 4]);
}

void EncodeRecord(const v1::EventLogRecord& record, std::string& out) {
  Framed(out, [&] { record.AppendToString(&out); });
}

google::protobuf::Duration ToDuration(absl::Duration duration) {
  return google::protobuf::util::TimeUtil::NanosecondsToDuration(
      absl::ToInt64Nanoseconds(duration));
}

google::protobuf::Timestamp ToTimestamp(absl::Time time) {
  return google::protobuf::util::TimeUtil::NanosecondsToTimestamp(absl::ToUnixNanos(time));
}

void PutVarint(std::uint64_t value, std::string& out) {
  for (; value >= 0x80; value >>= 7) out.push_back(static_cast<char>(value | 0x80));
  out.push_back(static_cast<char>(value));
}

std::size_t VarintBytes(std::uint64_t value) {
  std::size_t bytes = 1;
  while (value >>= 7) ++bytes;
  return bytes;
}

// A LoggedEnvelope by hand: its largest part is there already, or is written in place.
template <typename Write>
void EncodeLoggedEnvelope(std::size_t envelope_bytes, absl::Time arrived_at, std::string& out,
                          Write write_envelope) {
  const std::string arrived = ToTimestamp(arrived_at).SerializeAsString();
  const std::size_t bytes = 1 + VarintBytes(arrived.size()) + arrived.size() + 1 +
                            VarintBytes(envelope_bytes) + envelope_bytes;
  Framed(out, [&] {
    out.push_back(kRecordEnvelopeTag);
    PutVarint(bytes, out);
    out.push_back(kArrivedAtTag);
    PutVarint(arrived.size(), out);
    out.append(arrived);
    out.push_back(kEnvelopeTag);
    PutVarint(envelope_bytes, out);
    write_envelope();
  });
}

}  // namespace

Frame ReadFrame(const char* bytes) {
  return {.length = GetLittleEndian(bytes), .checksum = GetLittleEndian(bytes + 4)};
}

std::uint32_t LogChecksum(absl::string_view payload) {
  return static_cast<std::uint32_t>(XXH64(payload.data(), payload.size(), 0));
}

void EncodeFramed(absl::string_view payload, std::string& out) {
  Framed(out, [&] { out.append(payload.data(), payload.size()); });
}

void EncodeLogStart(const std::string& job_id, const JobMonitorOptions& options,
                    const std::string& name_space, std::string& out) {
  out.append(kLogMagic.data(), kLogMagic.size());
  v1::EventLogRecord record;
  v1::EventLogHeader& header = *record.mutable_header();
  header.set_job_id(job_id);
  for (const std::string& indicator : options.indicators) header.add_indicators(indicator);
  header.set_lambda(options.lambda);
  *header.mutable_abandon_after() = google::protobuf::util::TimeUtil::NanosecondsToDuration(
      absl::ToInt64Nanoseconds(options.abandon_after));
  header.set_name_space(name_space);
  EncodeRecord(record, out);
}

void EncodeEnvelope(const v1::Envelope& envelope, absl::Time arrived_at, std::string& out) {
  EncodeLoggedEnvelope(envelope.ByteSizeLong(), arrived_at, out,
                       [&] { envelope.AppendToString(&out); });
}

void EncodeEnvelopeBytes(absl::string_view envelope, absl::Time arrived_at, std::string& out) {
  EncodeLoggedEnvelope(envelope.size(), arrived_at, out,
                       [&] { out.append(envelope.data(), envelope.size()); });
}

void EncodeMalformed(const std::string& reason, const AcceptedSequence& envelope,
                     std::string& out) {
  v1::EventLogRecord record;
  v1::MalformedEnvelope& malformed = *record.mutable_malformed();
  malformed.set_reason(reason);
  if (envelope.sequence > 0) {
    malformed.mutable_place()->set_source_id(envelope.source_id);
    malformed.mutable_place()->set_accepted_sequence(envelope.sequence);
  }
  EncodeRecord(record, out);
}

void EncodeTick(absl::Time at, std::string& out) {
  v1::EventLogRecord record;
  *record.mutable_tick()->mutable_at() = ToTimestamp(at);
  EncodeRecord(record, out);
}

void EncodeRestart(absl::Time at, std::string& out) {
  v1::EventLogRecord record;
  *record.mutable_restart()->mutable_at() = ToTimestamp(at);
  EncodeRecord(record, out);
}

void EncodePastRuns(const std::vector<PastRun>& runs, std::string& out) {
  v1::EventLogRecord record;
  for (const PastRun& run : runs) {
    v1::LoggedPastRun& logged = *record.mutable_past_runs()->add_runs();
    *logged.mutable_map_time() = ToDuration(run.map_time);
    *logged.mutable_shuffle_time() = ToDuration(run.shuffle_time);
    *logged.mutable_reduce_time() = ToDuration(run.reduce_time);
    logged.set_map_input_bytes(run.map_input_bytes);
  }
  EncodeRecord(record, out);
}

void EncodeEnd(const EndedJob& job, std::string& out) {
  v1::EventLogRecord record;
  v1::LoggedEnd& end = *record.mutable_end();
  wire::EncodeSnapshot(job.final, *end.mutable_snapshot());
  for (const AcceptedSequence& source : job.sources) {
    v1::SourceSequence& sequence = *end.add_sources();
    sequence.set_source_id(source.source_id);
    sequence.set_accepted_sequence(source.sequence);
  }
  *end.mutable_opened_at() = ToTimestamp(job.opened_at);
  end.set_frame_bytes(0);  // a number of fixed size: the one that follows is as long
  end.set_frame_bytes(static_cast<std::uint32_t>(kFrameBytes + record.ByteSizeLong()));
  EncodeRecord(record, out);
}

std::uint32_t EndFrameBytes(const char* last_four_bytes) {
  return GetLittleEndian(last_four_bytes);
}

std::optional<EndedJob> DecodeEnd(absl::string_view framed) {
  if (framed.size() < kFrameBytes) return std::nullopt;
  const Frame frame = ReadFrame(framed.data());
  const absl::string_view payload = framed.substr(kFrameBytes);
  if (frame.length != payload.size() || frame.checksum != LogChecksum(payload)) return std::nullopt;
  v1::EventLogRecord record;
  if (!record.ParseFromArray(payload.data(), static_cast<int>(payload.size()))) return std::nullopt;
  if (!record.has_end() || record.end().frame_bytes() != framed.size()) return std::nullopt;
  absl::StatusOr<Snapshot> final = wire::ParseSnapshot(record.end().snapshot());
  if (!final.ok() || !final->is_final()) return std::nullopt;
  EndedJob job{.final = *std::move(final), .sources = {}, .opened_at = {}};
  for (const v1::SourceSequence& source : record.end().sources()) {
    job.sources.push_back({source.source_id(), source.accepted_sequence()});
  }
  job.opened_at = absl::FromUnixSeconds(record.end().opened_at().seconds()) +
                  absl::Nanoseconds(record.end().opened_at().nanos());
  return job;
}

}  // namespace tidemark::store
