#include "master/store/log_record.h"

#include <google/protobuf/util/time_util.h>
#include <sys/random.h>
#include <xxhash.h>

#include <algorithm>
#include <cmath>

#include "proto/wire/encode_event.h"
#include "proto/wire/job_codec.h"
#include "proto/wire/task_codec.h"
#include "tidemark/storage/v1/event_log.pb.h"

namespace tidemark::store {

namespace {

namespace pb = ::tidemark::storage::v1;
namespace v1 = ::tidemark::v1;

bool IsAmount(double amount) { return std::isfinite(amount) && amount >= 0; }

}  // namespace

bool HasProfile(const PastRun& run) {
  return !run.stages.empty() ||
         std::ranges::any_of(run.timed_groups, [](const auto& groups) { return !groups.empty(); });
}

void EncodeRunProfile(const PastRun& run, pb::LoggedRunProfile& message) {
  message.set_slots(run.slots);
  if (!CanBeKept(run)) return;
  for (const auto& [name, value] : run.parameters) {
    v1::Parameter& parameter = *message.add_parameters();
    parameter.set_name(name);
    parameter.set_value(value);
  }
  for (std::size_t feature = 0; feature < run.timed_groups.size(); ++feature) {
    for (const TimedGroups& groups : run.timed_groups[feature]) {
      pb::LoggedTimedGroups& logged = *message.add_timed_groups();
      logged.set_feature(static_cast<std::uint32_t>(feature));
      logged.set_groups(groups.groups);
      logged.set_value(groups.value);
      logged.set_size_bytes(groups.bytes);
      logged.set_seconds(groups.seconds);
      logged.set_seconds_squared(groups.seconds_squared);
    }
  }
  for (const PastStage& stage : run.stages) {
    pb::LoggedStageProfile& logged = *message.add_stages();
    logged.set_name(stage.name);
    logged.set_title(stage.title);
    logged.set_work(stage.work);
    logged.set_read_bytes(stage.read_bytes);
    logged.set_cpu_seconds(stage.cpu_seconds);
    logged.set_fetch_seconds(stage.fetch_seconds);
    logged.mutable_parents()->Add(stage.parents.begin(), stage.parents.end());
    if (!stage.fetches) logged.set_fetches(false);
    logged.set_tasks(stage.tasks);
    logged.set_lag_seconds(stage.lag);
    for (const auto& times : stage.seconds) {
      logged.add_kinds()->mutable_seconds()->Add(times.begin(), times.end());
    }
    for (const LongTask& task : stage.long_tasks) {
      pb::LoggedLongTask& long_task = *logged.add_long_tasks();
      long_task.set_index(task.index);
      long_task.set_more_seconds(static_cast<float>(task.more_seconds));
    }
  }
}

PastRun DecodeRunProfile(const pb::LoggedRunProfile& message) {
  PastRun run;
  if (IsAmount(message.slots())) run.slots = std::max(message.slots(), 1.0);
  for (const v1::Parameter& parameter : message.parameters()) {
    run.parameters.try_emplace(parameter.name(), parameter.value());
  }
  const bool has_too_many_groups =
      static_cast<std::size_t>(message.timed_groups_size()) > PastRun::kTimedGroupsMax;
  for (const pb::LoggedTimedGroups& logged : message.timed_groups()) {
    const bool is_valid = IsAmount(logged.groups()) && IsAmount(logged.value()) &&
                          IsAmount(logged.size_bytes()) && IsAmount(logged.seconds()) &&
                          IsAmount(logged.seconds_squared());
    if (!is_valid || has_too_many_groups || logged.feature() >= run.timed_groups.size()) continue;
    run.timed_groups[logged.feature()].push_back({.groups = logged.groups(),
                                                  .value = logged.value(),
                                                  .bytes = logged.size_bytes(),
                                                  .seconds = logged.seconds(),
                                                  .seconds_squared = logged.seconds_squared()});
  }
  if (static_cast<std::size_t>(message.stages_size()) > PastRun::kStagesMax) return run;
  for (const pb::LoggedStageProfile& logged : message.stages()) {
    PastStage& stage = run.stages.emplace_back();
    stage.name = logged.name();
    stage.title = logged.title();
    stage.work = logged.work();
    stage.read_bytes = IsAmount(logged.read_bytes()) ? logged.read_bytes() : 0;
    stage.cpu_seconds = IsAmount(logged.cpu_seconds()) ? logged.cpu_seconds() : 0;
    stage.fetch_seconds = IsAmount(logged.fetch_seconds()) ? logged.fetch_seconds() : 0;
    for (const std::uint32_t parent : logged.parents()) {
      if (parent < static_cast<std::uint32_t>(message.stages_size())) {
        stage.parents.push_back(parent);
      }
    }
    stage.fetches = !logged.has_fetches() || logged.fetches();
    stage.tasks = logged.tasks();
    stage.lag = IsAmount(logged.lag_seconds()) ? logged.lag_seconds() : 0;
    const std::size_t kinds =
        std::min<std::size_t>(stage.seconds.size(), static_cast<std::size_t>(logged.kinds_size()));
    for (std::size_t kind = 0; kind < kinds; ++kind) {
      for (const float seconds : logged.kinds(static_cast<int>(kind)).seconds()) {
        if (IsAmount(seconds)) stage.seconds[kind].push_back(seconds);
      }
    }
    for (const pb::LoggedLongTask& task : logged.long_tasks()) {
      const bool is_next = stage.long_tasks.empty() || stage.long_tasks.back().index < task.index();
      if (!is_next || task.index() >= stage.tasks || !IsAmount(task.more_seconds())) continue;
      if (stage.long_tasks.size() == PastStage::kLongTasksMax) break;
      stage.long_tasks.push_back({.index = task.index(), .more_seconds = task.more_seconds()});
    }
  }
  if (!CanBeKept(run)) run = {.slots = run.slots};
  return run;
}

namespace pb = storage::v1;

namespace {

// Each thread keeps buffers up to this size, in bytes.
constexpr std::size_t kKeptBytes = 256 << 10;
// A frame's guard covers the length and the checksum before it.
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

// Appends the payload that `write` produces, preceded by its frame.
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
  // On known systems, random numbers never fail. A log with a predictable key is still readable.
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
  thread_local pb::EventLogRecord record;  // reuses its memory
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
    if (HasProfile(run)) EncodeRunProfile(run, *logged.mutable_stages());
    for (const GroupBin& bin : run.groups) {
      pb::LoggedGroupBin& groups = *logged.add_groups();
      groups.set_bin(bin.bin);
      groups.set_groups(bin.count);
      groups.set_size_bytes(bin.size_bytes);
      groups.set_seconds(bin.seconds);
      groups.set_seconds_squared(bin.seconds_squared);
    }
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
  if (job.workflow) wire::EncodeJobWorkflow(*job.workflow, *end.mutable_workflow());
  // The number has a fixed size, so that its final value has the same length.
  end.set_frame_bytes(0);
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
  // The record is valid without forecasts.
  if (auto forecasts = wire::ParseForecasts(record.end().forecasts()); forecasts.ok()) {
    job.forecasts = *std::move(forecasts);
  }
  if (record.end().has_workflow()) {
    job.workflow = wire::ParseJobWorkflow(record.end().workflow());
  }
  job.opened_at = absl::FromUnixSeconds(record.end().opened_at().seconds()) +
                  absl::Nanoseconds(record.end().opened_at().nanos());
  return job;
}

}  // namespace tidemark::store
