#include "master/store/restore.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <optional>
#include <system_error>
#include <utility>
#include <variant>

#include "master/store/checkpoint.h"
#include "master/store/event_log.h"
#include "master/store/log_record.h"

namespace tidemark::store {
namespace {

absl::Time InstantOf(const LogRecord& record) {
  if (const Event* event = std::get_if<Event>(&record)) return event->arrived_at;
  if (const Tick* tick = std::get_if<Tick>(&record)) return tick->at;
  if (const Restart* restart = std::get_if<Restart>(&record)) return restart->at;
  return absl::InfinitePast();
}

// What the last record of the log says, if the job has ended.
std::optional<EndedJob> ReadEnd(const std::string& path, std::uint64_t log_bytes, LogKey& key) {
  std::ifstream file(path, std::ios::binary);
  std::array<char, kStartBytes> start;
  if (!file.read(start.data(), start.size())) return std::nullopt;
  const std::optional<LogKey> its_key = KeyOf({start.data(), start.size()}, kEventLog);
  if (!its_key) return std::nullopt;
  key = *its_key;
  std::array<char, 4> last;
  file.seekg(-static_cast<std::streamoff>(last.size()), std::ios::end);
  if (!file.read(last.data(), last.size())) return std::nullopt;
  const std::uint32_t bytes = EndFrameBytes(last.data());
  if (bytes > kRecordBytesMax || bytes > log_bytes) return std::nullopt;
  std::string framed(bytes, '\0');
  file.seekg(-static_cast<std::streamoff>(bytes), std::ios::end);
  if (!file.read(framed.data(), bytes)) return std::nullopt;
  return DecodeEnd(framed, key);
}

RestoredJob Restored(const EndedJob& ended, std::uint64_t log_bytes, LogKey key) {
  return {.job_id = ended.final.job_id,
          .name_space = ended.name_space,
          .monitor = JobMonitor::OfEnded(ended.final, ended.sources),
          .newest = ended.final,
          .opened_at = ended.opened_at,
          .latest = ended.final.at,
          .log_bytes = log_bytes,
          .key = key,
          .records = 1,
          .has_end = true,
          .has_resumed = false,
          .forecasts = ended.forecasts,
          .damages = {},
          .torn = absl::OkStatus()};
}

absl::Status NeverOpened(const std::string& path) {
  return absl::FailedPreconditionError(
      fmt::format("event log {}: ends before its job was opened", path));
}

// Folds in what the log says. With a checkpoint no estimate is made before it; of one that the log
// does not lead to, the job has not resumed and is of no use.
absl::StatusOr<RestoredJob> ReplayLog(const std::string& path, const Checkpoint* checkpoint) {
  const auto reader = EventLogReader::Open(path);
  if (!reader.ok()) return reader.status();
  RestoredJob job{.job_id = (*reader)->job_id(),
                  .name_space = (*reader)->name_space(),
                  .monitor = JobMonitor((*reader)->job_id(), (*reader)->options()),
                  .newest = {},
                  .opened_at = absl::InfinitePast(),
                  .latest = absl::InfinitePast(),
                  .log_bytes = 0,
                  .key = (*reader)->key(),
                  .records = 0,
                  .has_end = false,
                  .has_resumed = false,
                  .forecasts = {},
                  .damages = {},
                  .torn = absl::OkStatus()};
  std::uint64_t sequence = 0;  // that the monitor has come to
  while (true) {
    const absl::StatusOr<std::optional<LogRecord>> record = (*reader)->Next();
    if (!record.ok() && !absl::IsDataLoss(record.status())) return record.status();
    if (!record.ok()) job.torn = record.status();
    if (!record.ok() || !record->has_value()) break;
    if (const Damage* damage = std::get_if<Damage>(&**record)) {
      job.damages.push_back(*damage);
      if (damage->records > 0 && job.monitor.is_open()) sequence += damage->ticks_max;
    } else {
      ++job.records;
    }
    job.latest = std::max(job.latest, InstantOf(**record));
    if (job.opened_at == absl::InfinitePast()) job.opened_at = job.latest;
    const Tick* tick = std::get_if<Tick>(&**record);
    if (tick != nullptr) ++sequence;
    if (tick != nullptr && checkpoint != nullptr && !job.has_resumed) {
      if (sequence < checkpoint->newest.sequence) continue;
      job.has_resumed = sequence == checkpoint->newest.sequence &&
                        tick->at == checkpoint->newest.at &&
                        job.monitor.Resume(checkpoint->monitor).ok();
      if (!job.has_resumed) break;
      job.newest = checkpoint->newest;
    } else if (auto snapshot = Replay(**record, job.monitor); snapshot && job.monitor.is_open()) {
      job.newest = *std::move(snapshot);
    }
  }
  if (!job.monitor.is_open()) return NeverOpened(path);
  job.log_bytes = (*reader)->offset();
  if (job.newest.sequence == 0) {
    job.newest = Unticked(job.job_id, job.monitor.run_uid(), job.opened_at);
  }
  return job;
}

}  // namespace

Snapshot Unticked(const std::string& job_id, const std::string& run_uid, absl::Time opened_at) {
  return {.job_id = job_id,
          .run_uid = run_uid,
          .at = opened_at,
          .state = JobState::kRunning,
          .info = JobInfo{},  // what it is shows when its stages are open
          .started_at = opened_at};
}

absl::StatusOr<RestoredJob> RestoreJob(const std::string& path) {
  std::error_code error;
  const std::uint64_t log_bytes = std::filesystem::file_size(path, error);
  if (!error) {
    LogKey key = LogKey::kNone;
    if (const auto ended = ReadEnd(path, log_bytes, key)) return Restored(*ended, log_bytes, key);
  }
  if (const auto checkpoint = ReadCheckpoint(CheckpointPath(path))) {
    absl::StatusOr<RestoredJob> job = ReplayLog(path, &*checkpoint);
    if (job.ok() && job->has_resumed) return job;
  }
  return ReplayLog(path, nullptr);
}

absl::StatusOr<JobMonitor> FoldEvents(const std::string& path) {
  const auto reader = EventLogReader::Open(path);
  if (!reader.ok()) return reader.status();
  JobMonitor monitor((*reader)->job_id(), (*reader)->options());
  while (true) {
    const absl::StatusOr<std::optional<LogRecord>> record = (*reader)->Next();
    if (!record.ok() && !absl::IsDataLoss(record.status())) return record.status();
    if (!record.ok() || !record->has_value()) break;
    if (!std::holds_alternative<Tick>(**record)) Replay(**record, monitor);
  }
  if (!monitor.is_open()) return NeverOpened(path);
  return monitor;
}

}  // namespace tidemark::store
