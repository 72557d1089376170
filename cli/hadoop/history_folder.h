// Adds the runs in the folder of a Hadoop history server to the history of a master. The first run
// that the master observes then already has past runs.
#pragma once

#include <atomic>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <unordered_map>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "hadoop/history_file.h"
#include "master/store/history.h"

namespace tidemark::cli {

// Returns the run of a history file. Fails like hadoop::HistoryLog, with DataLoss if the file is
// damaged, with FailedPrecondition if it does not contain the end of the job, with
// ResourceExhausted if the job exceeds the limits of a JobMonitor, and with Cancelled if
// `is_stopped` returns true.
absl::StatusOr<store::FinishedJob> RunInHistoryFile(const std::string& path,
                                                    const hadoop::IsStopped& is_stopped = nullptr);

struct HistoryFolderOptions {
  // Older files are ignored.
  absl::Duration age_max = absl::Hours(24 * 90);
  // Maximum number of files. Further files are ignored.
  std::size_t files_max = 100'000;
  // Receives messages for the operator, one line each. May be empty.
  std::function<void(const std::string& line)> note = {};
};

// Reads each file *.jhist below a folder, the newest first, and again if it has grown. Skips jobs
// that the history already contains, since a run that was observed has more facts. Not thread-safe,
// except for Stop().
class HistoryFolder {
 public:
  // `history` must outlive this object.
  HistoryFolder(std::string folder, store::History& history, HistoryFolderOptions options)
      : folder_(std::move(folder)), history_(history), options_(std::move(options)) {}

  // Adds the runs of new files, and returns their number. Notes each file that cannot be read.
  std::size_t Poll(absl::Time now);
  // Makes a running Poll() return within its current file. Thread-safe.
  void Stop() { is_stopped_ = true; }

 private:
  absl::StatusOr<bool> Add(const std::string& path);
  void Note(const std::string& line) const;

  const std::string folder_;
  store::History& history_;
  const HistoryFolderOptions options_;
  // Times at which the existing files that were read had been written, by name.
  std::unordered_map<std::string, std::filesystem::file_time_type> read_;
  bool has_reported_limit_ = false;
  std::string folder_error_;  // last reported error of the folder
  std::atomic<bool> is_stopped_ = false;
};

}  // namespace tidemark::cli
