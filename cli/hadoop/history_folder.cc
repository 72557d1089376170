#include "cli/hadoop/history_folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <optional>
#include <system_error>
#include <unordered_map>
#include <utility>
#include <vector>

#include "hadoop/history_log.h"
#include "hadoop/task_ids.h"
#include "tidemark/job_monitor.h"
#include "tidemark/limit.h"

namespace tidemark::cli {
namespace {

namespace fs = std::filesystem;

struct FoundFile {
  std::string path;
  fs::file_time_type written_at;
};

// Returns the id of the job, with which the history server begins the name of a file.
std::string JobIdIn(const std::string& path) {
  const std::string name = fs::path(path).filename().string();
  return name.substr(0, name.find_first_of("-."));
}

}  // namespace

absl::StatusOr<store::FinishedJob> RunInHistoryFile(const std::string& path,
                                                    const hadoop::IsStopped& is_stopped) {
  const auto log = hadoop::HistoryLog::Open(path, is_stopped);
  if (!log.ok()) return log.status();
  std::optional<JobMonitor> monitor;
  absl::Time last;
  for (;;) {
    const auto event = (*log)->Next();
    if (!event.ok()) {
      return absl::Status(event.status().code(),
                          fmt::format("{}: {}", path, std::string(event.status().message())));
    }
    if (!*event) break;
    if (is_stopped && is_stopped()) return absl::CancelledError("reading was stopped");
    if (!monitor) monitor.emplace((*event)->job_id, JobMonitorOptions());
    // The monitor ignores impossible events.
    const absl::Status applied = monitor->Apply(**event);
    if (!ExceededLimit(applied).empty() && !monitor->is_open()) {
      return absl::Status(applied.code(),
                          fmt::format("{}: {}", path, std::string(applied.message())));
    }
    last = (*event)->arrived_at;
  }
  // A run whose tasks are partly unknown would mislead forecasts.
  if ((*log)->has_damage()) {
    return absl::DataLossError(fmt::format("{}: {}", path, (*log)->Remarks(0).front()));
  }
  if (!monitor || !monitor->is_closed()) {
    return absl::FailedPreconditionError(
        fmt::format("{}: the history file does not contain the end of the job", path));
  }
  const Snapshot& final = monitor->Tick(last);
  return store::FinishedJob{.final = final, .summary = monitor->Summary()};
}

void HistoryFolder::Note(const std::string& line) const {
  if (options_.note) options_.note(line);
}

absl::StatusOr<bool> HistoryFolder::Add(const std::string& path) {
  if (!hadoop::IsJobId(JobIdIn(path))) {
    return absl::InvalidArgumentError(
        fmt::format("{}: not read, because its name does not begin with a job id, such as "
                    "job_1700000000000_0001-",
                    path));
  }
  const absl::StatusOr<bool> is_known = history_.Contains(JobIdIn(path));
  if (!is_known.ok()) return is_known;
  if (*is_known) return false;
  const absl::StatusOr<store::FinishedJob> run =
      RunInHistoryFile(path, [this] { return is_stopped_.load(); });
  if (!run.ok()) return run.status();
  if (absl::Status added = history_.Add(*run); !added.ok()) return added;
  return true;
}

std::size_t HistoryFolder::Poll(absl::Time now) {
  std::vector<FoundFile> files;
  std::unordered_map<std::string, fs::file_time_type> present;  // read_ without deleted files
  std::error_code error;
  const auto oldest = fs::file_time_type::clock::now() - absl::ToChronoSeconds(options_.age_max);
  for (fs::recursive_directory_iterator
           at(folder_, fs::directory_options::skip_permission_denied, error),
       end;
       !error && at != end && !is_stopped_; at.increment(error)) {
    const fs::path& path = at->path();
    std::error_code ignored;
    if (!at->is_regular_file(ignored)) continue;
    if (path.extension() != ".jhist") continue;
    const fs::file_time_type written_at = at->last_write_time(ignored);
    if (ignored || written_at < oldest) continue;
    if (const auto read = read_.find(path.filename().string()); read != read_.end()) {
      present.insert(*read);
      if (read->second == written_at) continue;
    }
    files.push_back({path.string(), written_at});
  }
  const std::string folder_error =
      error ? fmt::format("cannot read {}: {}", folder_, error.message()) : std::string();
  if (folder_error != folder_error_ && !folder_error.empty()) Note(folder_error);
  folder_error_ = folder_error;
  if (!error && !is_stopped_) read_ = std::move(present);
  std::ranges::sort(files, std::greater<>(), &FoundFile::written_at);
  std::size_t added = 0;
  for (const FoundFile& file : files) {
    if (is_stopped_) break;
    if (read_.size() >= options_.files_max) {
      if (!std::exchange(has_reported_limit_, true)) {
        Note(fmt::format("{} has more than {} history files; the oldest are not read", folder_,
                         options_.files_max));
      }
      break;
    }
    const absl::StatusOr<bool> is_new = Add(file.path);
    if (absl::IsCancelled(is_new.status())) break;
    // The file was moved or cannot be read now, or the history is busy.
    if (absl::IsUnavailable(is_new.status())) continue;
    const auto [read, is_first] =
        read_.insert_or_assign(fs::path(file.path).filename().string(), file.written_at);
    if (!is_new.ok() && is_first) Note(std::string(is_new.status().message()));
    added += is_new.ok() && *is_new ? 1 : 0;
  }
  if (added == 0) return added;
  if (absl::Status expired = history_.Expire(now); !expired.ok()) {
    Note(std::string(expired.message()));
  }
  return added;
}

}  // namespace tidemark::cli
