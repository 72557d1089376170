#include "master/store/recovery.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <system_error>
#include <thread>
#include <utility>
#include <variant>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "master/store/disk.h"
#include "master/store/event_log.h"
#include "master/store/log_record.h"
#include "proto/wire/job_codec.h"
#include "tidemark/storage/v1/event_log.pb.h"

namespace tidemark::store {

namespace {

constexpr absl::string_view kMagic = "TIDECHK3";
// A checkpoint is one record. If the record is damaged, the file is useless.
constexpr LogKey kKey{1};

}  // namespace

std::string CheckpointPath(const std::string& log_path) {
  const absl::string_view extension = kEventLogExtension;
  return log_path.substr(0, log_path.size() - extension.size()) + ".tidemark-checkpoint";
}

absl::Status WriteCheckpoint(const std::string& path, const Checkpoint& checkpoint) {
  storage::v1::Checkpoint message;
  wire::EncodeSnapshot(checkpoint.newest, *message.mutable_snapshot());
  message.set_monitor(checkpoint.monitor);
  std::string bytes(kMagic);
  EncodeFramed(message.SerializeAsString(), kKey, bytes);
  const std::string next = path + ".next";
  MakePrivateFile(next);
  std::ofstream file(next, std::ios::binary | std::ios::trunc);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  file.close();
  std::error_code error;
  if (file) {
    std::filesystem::rename(next, path, error);
    if (!error) return absl::OkStatus();
  }
  const int reason = error ? error.value() : errno;
  std::filesystem::remove(next, error);
  return absl::ErrnoToStatus(reason, fmt::format("checkpoint {}: cannot write", path));
}

std::optional<Checkpoint> ReadCheckpoint(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  // Stream iterators would throw if the disk cannot be read.
  std::ostringstream read;
  read << file.rdbuf();
  const std::string bytes = std::move(read).str();
  if (file.bad() || bytes.size() < kMagic.size() + kFrameBytes) return std::nullopt;
  if (absl::string_view(bytes).substr(0, kMagic.size()) != kMagic) return std::nullopt;
  const Frame frame = ReadFrame(bytes.data() + kMagic.size(), kKey);
  const auto payload = absl::string_view(bytes).substr(kMagic.size() + kFrameBytes);
  if (frame.length != payload.size() || frame.checksum != LogChecksum(payload, kKey))
    return std::nullopt;
  storage::v1::Checkpoint message;
  if (!message.ParseFromArray(payload.data(), static_cast<int>(payload.size())))
    return std::nullopt;
  absl::StatusOr<Snapshot> newest = wire::ParseSnapshot(message.snapshot());
  if (!newest.ok()) return std::nullopt;
  return Checkpoint{*std::move(newest), std::move(*message.mutable_monitor())};
}

namespace {

absl::Time InstantOf(const LogRecord& record) {
  if (const Event* event = std::get_if<Event>(&record)) return event->arrived_at;
  if (const Tick* tick = std::get_if<Tick>(&record)) return tick->at;
  if (const Restart* restart = std::get_if<Restart>(&record)) return restart->at;
  return absl::InfinitePast();
}

// If the job has ended, decodes the last record of the log.
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
          .has_ticked_named = true,
          .forecasts = ended.forecasts,
          .workflow = ended.workflow,
          .damages = {},
          .torn = absl::OkStatus()};
}

absl::Status NeverOpened(const std::string& path) {
  return absl::FailedPreconditionError(
      fmt::format("event log {}: ends before its job is opened", path));
}

// Applies the records of the log. If there is a checkpoint, computes no estimates before its tick.
// If the log does not lead to the checkpoint, the result has not resumed and must not be used.
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
                  .has_ticked_named = false,
                  .forecasts = {},
                  .workflow = std::nullopt,
                  .damages = {},
                  .torn = absl::OkStatus()};
  std::uint64_t sequence = 0;  // number of ticks in the log so far
  bool has_ticked = false;
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
    if (tick != nullptr && !job.monitor.name().empty()) job.has_ticked_named = true;
    if (tick != nullptr && checkpoint != nullptr && !job.has_resumed) {
      if (sequence < checkpoint->newest.sequence) continue;
      job.has_resumed = sequence == checkpoint->newest.sequence &&
                        tick->at == checkpoint->newest.at &&
                        job.monitor.Resume(checkpoint->monitor).ok();
      if (!job.has_resumed) break;
      job.newest = checkpoint->newest;
    } else if (Replay(**record, job.monitor) != nullptr && job.monitor.is_open()) {
      has_ticked = true;
    }
  }
  if (!job.monitor.is_open()) return NeverOpened(path);
  job.log_bytes = (*reader)->offset();
  if (has_ticked) job.newest = job.monitor.job();
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
          .info = JobInfo{},  // shown when the job's stages are open
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

namespace {

namespace fs = std::filesystem;

absl::Status SystemError(const std::string& path, const char* doing, const std::error_code& error) {
  return absl::ErrnoToStatus(error.value(), fmt::format("{}: {}", path, doing));
}

// Returns `name`, or `name` with the first number for which no file exists. Only one master uses
// the directory, so the name stays free.
std::string FreeName(const std::string& name) {
  std::string free = name;
  std::error_code error;
  for (int number = 2; fs::exists(fs::symlink_status(free, error)); ++number) {
    free = fmt::format("{}.{}", name, number);
  }
  return free;
}

// Returns true for pipes, sockets and devices, since reading them might block forever.
bool IsNoFile(const fs::directory_entry& entry) {
  std::error_code error;
  const fs::file_type type = entry.status(error).type();
  return type == fs::file_type::fifo || type == fs::file_type::socket ||
         type == fs::file_type::character || type == fs::file_type::block;
}

// Returns true if the file has the name of the job's log. Otherwise two logs of one job, such as a
// log and its copy, would be written to the same file.
bool IsLogOf(const std::string& job_id, const std::string& path) {
  return fs::path(EventLogPath("", job_id)).filename() == fs::path(path).filename();
}

bool IsLog(const fs::path& path) {
  return path.extension() == kEventLogExtension || path.extension() == kWorkflowLogExtension;
}

// Returns the logs of jobs and of workflows in `directory`.
absl::StatusOr<std::vector<std::string>> LogsIn(const std::string& directory) {
  std::error_code error;
  fs::directory_iterator entries(directory, error);
  if (error) return SystemError(directory, "cannot list", error);
  std::vector<std::string> paths;
  for (; entries != fs::directory_iterator(); entries.increment(error)) {
    if (IsLog(entries->path()) && !IsNoFile(*entries)) paths.push_back(entries->path());
  }
  if (error) return SystemError(directory, "cannot list", error);
  return paths;
}

// Returns the paths that end in `extension`, sorted by name.
std::vector<std::string> With(absl::string_view extension, std::vector<std::string> paths) {
  std::erase_if(paths, [&](const std::string& path) {
    return fs::path(path).extension().native() != extension;
  });
  std::sort(paths.begin(), paths.end());
  return paths;
}

// Returns true if an unreadable log may be intact, because this user may not read it or because
// descriptors or memory are exhausted. Renaming such a log would lose its job.
bool MayBeWhole(const absl::Status& why) {
  return absl::IsPermissionDenied(why) || absl::IsResourceExhausted(why) ||
         absl::IsUnavailable(why) || absl::IsUnimplemented(why);
}

// Cuts off the bytes after the first `bytes` of a log and stores them as LOG.cut, or LOG.cut.2 and
// so on. Returns a description of the result.
absl::StatusOr<std::string> CutTail(const std::string& path, std::uint64_t bytes) {
  std::error_code error;
  const std::uint64_t size = fs::file_size(path, error);
  if (error) return SystemError(path, "cannot read its size", error);
  if (size <= bytes) return std::string("no bytes were cut off");
  const std::string cut = FreeName(path + ".cut");
  std::ifstream from(path, std::ios::binary);
  from.seekg(static_cast<std::streamoff>(bytes));
  MakePrivateFile(cut);
  std::ofstream to(cut, std::ios::binary | std::ios::trunc);
  to << from.rdbuf();
  to.close();
  // A disk without space for the copy must not prevent the start of the master. The tail is lost.
  const bool is_kept = to.good() && from.good();
  if (!is_kept) fs::remove(cut, error);
  fs::resize_file(path, bytes, error);
  if (error) return SystemError(path, "cannot cut off its damaged end", error);
  return is_kept ? fmt::format("the rest was moved to {}", cut)
                 : fmt::format("the rest was cut off, and could not be saved as {}", cut);
}

}  // namespace

absl::StatusOr<std::string> SetAside(const std::string& path) {
  std::error_code error;
  const std::string aside = FreeName(path + ".damaged");
  fs::rename(path, aside, error);
  if (error) return SystemError(path, "cannot rename", error);
  return fmt::format("it was renamed to {}", aside);
}

namespace {

const LogKind& KindOf(const RestoredJob&) { return kEventLog; }
const LogKind& KindOf(const RestoredWorkflow&) { return kWorkflowLog; }
absl::Time BeganAt(const RestoredJob& job) { return job.opened_at; }
absl::Time BeganAt(const RestoredWorkflow& workflow) { return workflow.submitted_at; }

// Adds a restored log, or renames an unusable one.
template <typename Restored>
absl::Status Mend(const std::string& path, absl::StatusOr<Restored> log,
                  Recovered<Restored>& recovered) {
  if (!log.ok() && MayBeWhole(log.status())) return log.status();
  if (!log.ok()) {
    const absl::StatusOr<std::string> aside = SetAside(path);
    if (!aside.ok()) return aside.status();
    recovered.damages.push_back(fmt::format("{}; {}", std::string(log.status().message()), *aside));
    return absl::OkStatus();
  }
  for (const LogDamage& damage : log->damages) {
    recovered.damages.push_back(RecordReader::Describe(KindOf(*log), path, damage));
  }
  if (!log->torn.ok()) {
    const absl::StatusOr<std::string> cut = CutTail(path, log->log_bytes);
    if (!cut.ok()) return cut.status();
    recovered.damages.emplace_back(log->torn.message());
    recovered.damages.back() += "; " + *cut;
  }
  recovered.logs.push_back({path, *std::move(log)});
  return absl::OkStatus();
}

template <typename Restored>
void SortByBeginning(Recovered<Restored>& recovered) {
  std::stable_sort(recovered.logs.begin(), recovered.logs.end(), [](const auto& a, const auto& b) {
    return BeganAt(a.restored) < BeganAt(b.restored);
  });
}

absl::StatusOr<RestoredJob> RestoreJobOf(const std::string& path) {
  absl::StatusOr<RestoredJob> job = RestoreJob(path);
  if (!job.ok() || IsLogOf(job->job_id, path)) return job;
  return absl::FailedPreconditionError(
      fmt::format("event log {}: the log of job {} under a different name", path, job->job_id));
}

// Restores the jobs of `paths` on several threads.
std::vector<std::optional<absl::StatusOr<RestoredJob>>> RestoreAll(
    const std::vector<std::string>& paths, std::size_t threads) {
  std::vector<std::optional<absl::StatusOr<RestoredJob>>> jobs(paths.size());
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < paths.size(); i = next++) jobs[i] = RestoreJobOf(paths[i]);
  };
  std::vector<std::thread> helpers;
  for (std::size_t i = 1; i < std::min(threads, paths.size()); ++i) {
    try {
      helpers.emplace_back(work);
    } catch (const std::system_error&) {
      break;  // The system has no more threads.
    }
  }
  work();
  for (std::thread& helper : helpers) helper.join();
  return jobs;
}

}  // namespace

absl::StatusOr<Recovered<RestoredJob>> RecoverJobs(const std::string& directory,
                                                   std::size_t threads) {
  const auto logs = LogsIn(directory);
  if (!logs.ok()) return logs.status();
  // Check all logs before any change, since a master that may not start must not repair files.
  for (const std::string& path : *logs) {
    if (const absl::Status free = CheckNotWritten(path); !free.ok()) {
      return absl::UnavailableError(fmt::format(
          "{}, so its master is still running; stop that master before you move its logs",
          std::string(free.message())));
    }
  }
  const std::vector<std::string> paths = With(kEventLogExtension, *logs);
  auto jobs = RestoreAll(paths, threads);
  Recovered<RestoredJob> recovered;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const absl::Status mended = Mend(paths[i], *std::move(jobs[i]), recovered);
    if (!mended.ok()) return mended;
  }
  SortByBeginning(recovered);
  return recovered;
}

absl::StatusOr<Recovered<RestoredWorkflow>> RecoverWorkflows(
    const std::string& directory, const dag::LiveWorkflowOptions& options) {
  const auto logs = LogsIn(directory);
  if (!logs.ok()) return logs.status();
  Recovered<RestoredWorkflow> recovered;
  for (const std::string& path : With(kWorkflowLogExtension, *logs)) {
    const absl::Status mended = Mend(path, RestoreWorkflow(path, options), recovered);
    if (!mended.ok()) return mended;
  }
  SortByBeginning(recovered);
  return recovered;
}

}  // namespace tidemark::store
