#include "master/store/log_record.h"

#include <google/protobuf/util/time_util.h>
#include <sys/random.h>
#include <xxhash.h>

#include "master/store/run_profile.h"
#include "proto/wire/job_codec.h"
#include "proto/wire/task_codec.h"
#include "tidemark/storage/v1/event_log.pb.h"

namespace tidemark::store {

namespace pb = storage::v1;

namespace {

// Buffers up to this size are kept by their thread and used again. Bytes.
constexpr std::size_t kKeptBytes = 256 << 10;
// What the guard of a frame is of: the length and the checksum before it.
constexpr std::size_t kGuardedBytes = 8;

template <typename Number>
void PutLittleEndian(Number value, char* out) {
  for (std::size_t i = 0; i < sizeof(value); ++i) out[i] = static_cast<char>(value >> (8 * i));
}

template <typename Number>
Number GetLittleEndian(const char* in) {
  Number value = 0;
  for (std::size_t i = 0; i < sizeof(value); ++i) {
    value |= static_cast<Number>(static_cast<unsigned char>(in[i])) << (8 * i);
  }
  return value;
}

std::uint32_t Check(absl::string_view bytes, LogKey key) {
  return static_cast<std::uint32_t>(
      XXH64(bytes.data(), bytes.size(), static_cast<std::uint64_t>(key)));
}

// Appends the payload that `write` appends, with its frame before it.
template <typename Write>
void Framed(LogKey key, std::string& out, Write write) {
  const std::size_t begin = out.size();
  out.append(kFrameBytes, '\0');
  write();
  const absl::string_view payload = absl::string_view(out).substr(begin + kFrameBytes);
  const std::uint32_t checksum = LogChecksum(payload, key);
  PutLittleEndian(static_cast<std::uint32_t>(payload.size()), &out[begin]);
  PutLittleEndian(checksum, &out[begin + 4]);
  const auto before = absl::string_view(out).substr(begin, kGuardedBytes);
  PutLittleEndian(Check(before, key), &out[begin + kGuardedBytes]);
}

void EncodeRecord(const pb::EventLogRecord& record, LogKey key, std::string& out) {
  Framed(key, out, [&] { record.AppendToString(&out); });
}

google::protobuf::Duration ToDuration(absl::Duration duration) {
  return google::protobuf::util::TimeUtil::NanosecondsToDuration(
      absl::ToInt64Nanoseconds(duration));
}

google::protobuf::Timestamp ToTimestamp(absl::Time time) {
  return google::protobuf::util::TimeUtil::NanosecondsToTimestamp(absl::ToUnixNanos(time));
}

void EncodeLimits(const JobLimits& limits, pb::LoggedLimits& logged) {
  logged.set_map_tasks(limits.map_tasks_max);
  logged.set_reduce_tasks(limits.reduce_tasks_max);
  logged.set_attempts_per_task(limits.attempts_per_task_max);
  logged.set_sources(limits.sources_max);
  logged.set_stages(limits.stages_max);
  logged.set_state_bytes(limits.state_bytes_max);
}

}  // namespace

LogKey NewLogKey() {
  std::uint64_t key = 0;
  // This fails on no system we know; a log with a key that can be guessed can still be read.
  while (key == 0) {
    if (getrandom(&key, sizeof(key), 0) != static_cast<ssize_t>(sizeof(key))) key = 1;
  }
  return static_cast<LogKey>(key);
}

Frame ReadFrame(const char* bytes, LogKey key) {
  return {.length = GetLittleEndian<std::uint32_t>(bytes),
          .checksum = GetLittleEndian<std::uint32_t>(bytes + 4),
          .is_guarded = GetLittleEndian<std::uint32_t>(bytes + kGuardedBytes) ==
                        Check({bytes, kGuardedBytes}, key)};
}

std::uint32_t LogChecksum(absl::string_view payload, LogKey key) { return Check(payload, key); }

std::array<LogKey, 2> ReadKeys(const char* start) {
  const char* const keys = start + kMagicBytes;
  return {static_cast<LogKey>(GetLittleEndian<std::uint64_t>(keys)),
          static_cast<LogKey>(GetLittleEndian<std::uint64_t>(keys + sizeof(LogKey)))};
}

void EncodeFramed(absl::string_view payload, LogKey key, std::string& out) {
  Framed(key, out, [&] { out.append(payload.data(), payload.size()); });
}

void EncodeStart(const LogKind& kind, LogKey key, std::string& out) {
  out.append(kind.magic.data(), kind.magic.size());
  std::array<char, sizeof(LogKey)> bytes;
  PutLittleEndian(static_cast<std::uint64_t>(key), bytes.data());
  for (int copies = 0; copies < 2; ++copies) out.append(bytes.data(), bytes.size());
}

void EncodeLogStart(const std::string& job_id, const JobMonitorOptions& options,
                    const std::string& name_space, LogKey key, std::string& out) {
  EncodeStart(kEventLog, key, out);
  pb::EventLogRecord record;
  pb::EventLogHeader& header = *record.mutable_header();
  header.set_job_id(job_id);
  for (const std::string& indicator : options.indicators) header.add_indicators(indicator);
  header.set_lambda(options.lambda);
  *header.mutable_abandon_after() = ToDuration(options.abandon_after);
  header.set_name_space(name_space);
  EncodeLimits(options.limits, *header.mutable_limits());
  for (int copies = 0; copies < 2; ++copies) EncodeRecord(record, key, out);
}

void EncodeReceived(const wire::ReceivedEvent& received, absl::Time arrived_at, LogKey key,
                    std::string& out) {
  thread_local pb::EventLogRecord record;  // keeps its memory for the next one
  pb::LoggedEvent& event = *record.mutable_event();
  *event.mutable_arrived_at() = ToTimestamp(arrived_at);
  event.set_source_id(received.source_id);
  event.set_run_uid(received.run_uid);
  event.set_sequence(received.sequence);
  event.set_sent_at(absl::ToUnixNanos(received.sent_at.value_or(absl::UnixEpoch())));
  event.set_dropped_events(received.dropped_events);
  event.set_event(received.body);
  EncodeRecord(record, key, out);
  if (received.body.size() > kKeptBytes) std::string().swap(*event.mutable_event());
}

void EncodeRefused(const std::string& reason, const AcceptedSequence& event, LogKey key,
                   std::string& out) {
  pb::EventLogRecord record;
  pb::RefusedEvent& refused = *record.mutable_refused();
  refused.set_reason(reason);
  if (event.sequence > 0) {
    refused.mutable_place()->set_source_id(event.source_id);
    refused.mutable_place()->set_accepted_sequence(event.sequence);
  }
  EncodeRecord(record, key, out);
}

void EncodeTick(absl::Time at, LogKey key, std::string& out) {
  pb::EventLogRecord record;
  *record.mutable_tick()->mutable_at() = ToTimestamp(at);
  EncodeRecord(record, key, out);
}

void EncodeRestart(absl::Time at, const JobLimits& limits, LogKey key, std::string& out) {
  pb::EventLogRecord record;
  EncodeLimits(limits, *record.mutable_restart()->mutable_limits());
  *record.mutable_restart()->mutable_at() = ToTimestamp(at);
  EncodeRecord(record, key, out);
}

void EncodePastRuns(const std::vector<PastRun>& runs, LogKey key, std::string& out) {
  pb::EventLogRecord record;
  for (const PastRun& run : runs) {
    pb::LoggedPastRun& logged = *record.mutable_past_runs()->add_runs();
    *logged.mutable_map_time() = ToDuration(run.map_time);
    *logged.mutable_shuffle_time() = ToDuration(run.shuffle_time);
    *logged.mutable_reduce_time() = ToDuration(run.reduce_time);
    logged.set_map_input_bytes(run.map_input_bytes);
    logged.set_of_other_job(run.is_of_other_job);
    logged.set_map_tasks(run.map_tasks);
    logged.set_reduce_tasks(run.reduce_tasks);
    if (run.interval_score) logged.set_interval_score(*run.interval_score);
    if (!run.stages.stages.empty()) EncodeRunProfile(run.stages, *logged.mutable_stages());
  }
  EncodeRecord(record, key, out);
}

void EncodeEnd(const EndedJob& job, LogKey key, std::string& out) {
  pb::EventLogRecord record;
  pb::LoggedEnd& end = *record.mutable_end();
  wire::EncodeSnapshot(job.final, *end.mutable_snapshot());
  for (const AcceptedSequence& source : job.sources) {
    pb::SourceSequence& sequence = *end.add_sources();
    sequence.set_source_id(source.source_id);
    sequence.set_accepted_sequence(source.sequence);
  }
  *end.mutable_opened_at() = ToTimestamp(job.opened_at);
  end.set_name_space(job.name_space);
  wire::EncodeForecasts(job.forecasts, *end.mutable_forecasts());
  end.set_frame_bytes(0);  // a number of fixed size: the one that follows is as long
  end.set_frame_bytes(static_cast<std::uint32_t>(kFrameBytes + record.ByteSizeLong()));
  EncodeRecord(record, key, out);
}

std::uint32_t EndFrameBytes(const char* last_four_bytes) {
  return GetLittleEndian<std::uint32_t>(last_four_bytes);
}

std::optional<EndedJob> DecodeEnd(absl::string_view framed, LogKey key) {
  if (framed.size() < kFrameBytes) return std::nullopt;
  const Frame frame = ReadFrame(framed.data(), key);
  const absl::string_view payload = framed.substr(kFrameBytes);
  if (frame.length != payload.size() || frame.checksum != LogChecksum(payload, key)) {
    return std::nullopt;
  }
  pb::EventLogRecord record;
  if (!record.ParseFromArray(payload.data(), static_cast<int>(payload.size()))) return std::nullopt;
  if (!record.has_end() || record.end().frame_bytes() != framed.size()) return std::nullopt;
  absl::StatusOr<Snapshot> final = wire::ParseSnapshot(record.end().snapshot());
  if (!final.ok() || !final->is_final) return std::nullopt;
  EndedJob job{.final = *std::move(final), .sources = {}, .opened_at = {}};
  for (const pb::SourceSequence& source : record.end().sources()) {
    job.sources.push_back({source.source_id(), source.accepted_sequence()});
  }
  job.name_space = record.end().name_space();
  // The rest is valid without them.
  if (auto forecasts = wire::ParseForecasts(record.end().forecasts()); forecasts.ok()) {
    job.forecasts = *std::move(forecasts);
  }
  job.opened_at = absl::FromUnixSeconds(record.end().opened_at().seconds()) +
                  absl::Nanoseconds(record.end().opened_at().nanos());
  return job;
}

}  // namespace tidemark::store
