#include "master/store/recovery.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include "absl/status/status.h"
#include "master/store/disk.h"
#include "master/store/event_log.h"

namespace tidemark::store {
namespace {

namespace fs = std::filesystem;

absl::Status SystemError(const std::string& path, const char* doing, const std::error_code& error) {
  return absl::ErrnoToStatus(error.value(), fmt::format("{}: {}", path, doing));
}

// `name`, or with the first number behind it of which there is no file. One master owns the
// directory, so the name stays free meanwhile.
std::string FreeName(const std::string& name) {
  std::string free = name;
  std::error_code error;
  for (int number = 2; fs::exists(fs::symlink_status(free, error)); ++number) {
    free = fmt::format("{}.{}", name, number);
  }
  return free;
}

// Reading one of these might never return: pipes, sockets, devices.
bool IsNoFile(const fs::directory_entry& entry) {
  std::error_code error;
  const fs::file_type type = entry.status(error).type();
  return type == fs::file_type::fifo || type == fs::file_type::socket ||
         type == fs::file_type::character || type == fs::file_type::block;
}

// Two logs of one job, such as a copy that somebody made, would be written as one file.
bool IsLogOf(const std::string& job_id, const std::string& path) {
  return fs::path(EventLogPath("", job_id)).filename() == fs::path(path).filename();
}

bool IsLog(const fs::path& path) {
  return path.extension() == kEventLogExtension || path.extension() == kWorkflowLogExtension;
}

// Returns the logs of `directory`, of jobs and of workflows.
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

// Returns the paths that end in `extension`, by name.
std::vector<std::string> With(absl::string_view extension, std::vector<std::string> paths) {
  std::erase_if(paths, [&](const std::string& path) {
    return fs::path(path).extension().native() != extension;
  });
  std::sort(paths.begin(), paths.end());
  return paths;
}

// Whether a log that could not be read may still be whole: it may not be read by this user, or
// there are no descriptors or memory left. To set it aside for that would lose its job.
bool MayBeWhole(const absl::Status& why) {
  return absl::IsPermissionDenied(why) || absl::IsResourceExhausted(why) ||
         absl::IsUnavailable(why) || absl::IsUnimplemented(why);
}

// Cuts off what follows the first `bytes` of a log, if anything does, and keeps it as LOG.cut, or
// LOG.cut.2 and so on if there is one. Returns for people where it went.
absl::StatusOr<std::string> CutTail(const std::string& path, std::uint64_t bytes) {
  std::error_code error;
  const std::uint64_t size = fs::file_size(path, error);
  if (error) return SystemError(path, "cannot read its size", error);
  if (size <= bytes) return std::string("nothing was cut off");
  const std::string cut = FreeName(path + ".cut");
  std::ifstream from(path, std::ios::binary);
  from.seekg(static_cast<std::streamoff>(bytes));
  MakePrivateFile(cut);
  std::ofstream to(cut, std::ios::binary | std::ios::trunc);
  to << from.rdbuf();
  to.close();
  // A disk without room for the copy must not keep the master from starting: the tail is lost.
  const bool is_kept = to.good() && from.good();
  if (!is_kept) fs::remove(cut, error);
  fs::resize_file(path, bytes, error);
  if (error) return SystemError(path, "cannot cut off its damaged end", error);
  return is_kept ? fmt::format("the rest was moved to {}", cut)
                 : fmt::format("the rest was cut off, and could not be kept as {}", cut);
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

// Takes in a log that was read, or sets it aside.
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
      fmt::format("event log {}: a log of job {} under another name", path, job->job_id));
}

// Restores the jobs of `paths`, on several threads.
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
      break;  // the system has no more threads: fewer do
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
  // All logs are checked before any changes: a master that may not start must not repair some.
  for (const std::string& path : *logs) {
    if (const absl::Status free = CheckNotWritten(path); !free.ok()) {
      return absl::UnavailableError(
          fmt::format("{}, so its master still runs; stop that one before its logs are moved",
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
    const std::string& directory, const workflow::LiveWorkflowOptions& options) {
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
