#include "master/service/recovery.h"

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

namespace tidemark::service {
namespace {

namespace fs = std::filesystem;

absl::Status SystemError(const std::string& path, const char* doing, const std::error_code& error) {
  return absl::ErrnoToStatus(error.value(), fmt::format("{}: {}", path, doing));
}

// `name`, or with the first number behind it of which there is no file. One master owns the
// directory, so nobody takes the name meanwhile.
std::string FreeName(const std::string& name) {
  std::string free = name;
  std::error_code error;
  for (int number = 2; fs::exists(fs::symlink_status(free, error)); ++number) {
    free = fmt::format("{}.{}", name, number);
  }
  return free;
}

// What would not end when it is read, or not begin: pipes, sockets, devices.
bool IsNoFile(const fs::directory_entry& entry) {
  std::error_code error;
  const fs::file_type type = entry.status(error).type();
  return type == fs::file_type::fifo || type == fs::file_type::socket ||
         type == fs::file_type::character || type == fs::file_type::block;
}

// Two logs of one job, as when somebody keeps a copy beside it, would become one file.
bool IsLogOf(const std::string& job_id, const std::string& path) {
  return fs::path(store::EventLogPath("", job_id)).filename() == fs::path(path).filename();
}

}  // namespace

absl::StatusOr<std::vector<std::string>> FilesWith(const std::string& directory,
                                                   const std::string& extension) {
  std::error_code error;
  fs::directory_iterator entries(directory, error);
  if (error) return SystemError(directory, "cannot list", error);
  std::vector<std::string> paths;
  for (; entries != fs::directory_iterator(); entries.increment(error)) {
    if (entries->path().extension() != extension || IsNoFile(*entries)) continue;
    paths.push_back(entries->path());
  }
  if (error) return SystemError(directory, "cannot list", error);
  std::sort(paths.begin(), paths.end());
  return paths;
}

bool MayBeWhole(const absl::Status& why) {
  return absl::IsPermissionDenied(why) || absl::IsResourceExhausted(why) ||
         absl::IsUnavailable(why);
}

absl::StatusOr<std::string> CutTail(const std::string& path, std::uint64_t bytes) {
  std::error_code error;
  const std::uint64_t size = fs::file_size(path, error);
  if (error) return SystemError(path, "cannot read its size", error);
  if (size <= bytes) return std::string("nothing was cut off");
  const std::string cut = FreeName(path + ".cut");
  std::ifstream from(path, std::ios::binary);
  from.seekg(static_cast<std::streamoff>(bytes));
  store::MakePrivateFile(cut);
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

absl::StatusOr<std::string> SetAside(const std::string& path) {
  std::error_code error;
  const std::string aside = FreeName(path + ".damaged");
  fs::rename(path, aside, error);
  if (error) return SystemError(path, "cannot rename", error);
  return fmt::format("it was renamed to {}", aside);
}

namespace {

class Recoverer {
 public:
  explicit Recoverer(std::vector<std::string> paths)
      : paths_(std::move(paths)), results_(paths_.size()) {}

  void Run(std::size_t threads) {
    std::vector<std::thread> helpers;
    for (std::size_t i = 1; i < std::min(threads, paths_.size()); ++i) {
      try {
        helpers.emplace_back([this] { Work(); });
      } catch (const std::system_error&) {
        break;  // the system has no more threads: fewer do
      }
    }
    Work();
    for (std::thread& helper : helpers) helper.join();
  }

  absl::StatusOr<RecoveredJobs> Result() {
    RecoveredJobs recovered;
    for (std::size_t i = 0; i < paths_.size(); ++i) {
      if (absl::Status status = Mend(paths_[i], *results_[i], recovered); !status.ok()) {
        return status;
      }
    }
    std::stable_sort(recovered.jobs.begin(), recovered.jobs.end(),
                     [](const auto& a, const auto& b) { return a.opened_at < b.opened_at; });
    return recovered;
  }

 private:
  void Work() {
    for (std::size_t i = next_++; i < paths_.size(); i = next_++) {
      results_[i] = store::RestoreJob(paths_[i]);
    }
  }

  static absl::Status Mend(const std::string& path, absl::StatusOr<store::RestoredJob>& job,
                           RecoveredJobs& recovered) {
    if (job.ok() && !IsLogOf(job->job_id, path)) {
      job = absl::FailedPreconditionError(
          fmt::format("event log {}: a log of job {} under another name", path, job->job_id));
    }
    if (!job.ok() && MayBeWhole(job.status())) return job.status();
    if (!job.ok()) {
      const absl::StatusOr<std::string> aside = SetAside(path);
      if (!aside.ok()) return aside.status();
      recovered.damages.push_back(
          fmt::format("{}; {}", std::string(job.status().message()), *aside));
      return absl::OkStatus();
    }
    for (const LogDamage& damage : job->damages) {
      recovered.damages.push_back(store::RecordReader::Describe(store::kEventLog, path, damage));
    }
    if (!job->torn.ok() || job->CutOff()) {
      const absl::StatusOr<std::string> cut = CutTail(path, job->log_bytes);
      if (!cut.ok()) return cut.status();
      if (!job->torn.ok()) recovered.damages.emplace_back(job->torn.message());
      recovered.damages.back() += "; " + *cut;
    }
    recovered.jobs.push_back(*std::move(job));
    return absl::OkStatus();
  }

  const std::vector<std::string> paths_;
  std::atomic<std::size_t> next_ = 0;
  std::vector<std::optional<absl::StatusOr<store::RestoredJob>>> results_;
};

}  // namespace

absl::StatusOr<RecoveredJobs> RecoverJobs(const std::string& directory, std::size_t threads) {
  absl::StatusOr<std::vector<std::string>> paths = FilesWith(directory, store::kEventLogExtension);
  if (!paths.ok()) return paths.status();
  Recoverer recoverer(*std::move(paths));
  recoverer.Run(threads);
  return recoverer.Result();
}

}  // namespace tidemark::service
