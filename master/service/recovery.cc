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
#include "master/store/event_log.h"

namespace tidemark::service {
namespace {

namespace fs = std::filesystem;

absl::Status SystemError(const std::string& path, const char* doing, const std::error_code& error) {
  return absl::ErrnoToStatus(error.value(), fmt::format("{}: {}", path, doing));
}

}  // namespace

absl::StatusOr<std::vector<std::string>> FilesWith(const std::string& directory,
                                                   const std::string& extension) {
  std::error_code error;
  fs::directory_iterator entries(directory, error);
  if (error) return SystemError(directory, "cannot list", error);
  std::vector<std::string> paths;
  for (const fs::directory_entry& entry : entries) {
    if (entry.path().extension() == extension) paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

absl::Status CutTail(const std::string& path, std::uint64_t bytes) {
  const std::string cut = path + ".cut";
  std::ifstream from(path, std::ios::binary);
  from.seekg(static_cast<std::streamoff>(bytes));
  std::ofstream to(cut, std::ios::binary | std::ios::trunc);
  if (from.peek() != std::ifstream::traits_type::eof()) to << from.rdbuf();
  to.close();
  // A disk without room for the copy must not keep the master from starting: the tail is lost.
  if (!to) fs::remove(cut);
  std::error_code error;
  fs::resize_file(path, bytes, error);
  return error ? SystemError(path, "cannot cut off its damaged end", error) : absl::OkStatus();
}

absl::Status SetAside(const std::string& path) {
  std::error_code error;
  fs::rename(path, path + ".damaged", error);
  return error ? SystemError(path, "cannot rename", error) : absl::OkStatus();
}

namespace {

class Recoverer {
 public:
  explicit Recoverer(std::vector<std::string> paths)
      : paths_(std::move(paths)), results_(paths_.size()) {}

  void Run(std::size_t threads) {
    std::vector<std::thread> helpers;
    for (std::size_t i = 1; i < std::min(threads, paths_.size()); ++i) {
      helpers.emplace_back([this] { Work(); });
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
    if (!job.ok()) {
      recovered.damages.push_back(fmt::format("{}; it was renamed to {}.damaged",
                                              std::string(job.status().message()), path));
      return SetAside(path);
    }
    if (!job->damage.ok()) {
      recovered.damages.push_back(fmt::format("{}; the rest was moved to {}.cut",
                                              std::string(job->damage.message()), path));
      if (absl::Status status = CutTail(path, job->log_bytes); !status.ok()) return status;
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
