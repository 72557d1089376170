// Keeps the past runs of a master's jobs, for its current jobs and for later masters.
//
//   JobHistory history(print);
//   history.Open(data_dir, {}, now);
//   history.Add(finished);                               // a job has ended
//   history.PastRuns("word count", {.id = "wc-2"});      // another of that name begins
//
// A job uses a past run only if the reporter of each may report the ID of the other
// (name_space.h). A failing history does not stop the master. It reports the failure and returns
// no runs.
//
// Thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "master/store/history.h"
#include "master/store/name_space.h"
#include "tidemark/job_profile.h"
#include "tidemark/past_run.h"

namespace tidemark::store {

class JobHistory {
 public:
  // `notice` receives lines for an operator, on the calling threads.
  explicit JobHistory(std::function<void(const std::string& line)> notice)
      : notice_(std::move(notice)) {}

  // Opens the history of a data directory. Before that, it returns and stores no runs. An
  // unreadable file is renamed and replaced. Fails as History::Open() does for the new file.
  absl::Status Open(const std::string& data_dir, const HistoryOptions& options, absl::Time now);

  void Add(const FinishedJob& job);
  // Returns the last runs of that name, newest first, at most JobMonitor::kPastRunsMax. Without
  // such runs, returns runs of MapReduce jobs of other names. O(runs of that name).
  std::vector<PastRun> PastRuns(const std::string& name, const Reported& job) const;
  // Returns the profiles of successful runs of that name. O(runs of that name).
  std::vector<JobProfile> Profiles(const std::string& name, const Reported& job) const;
  // Returns past runs of that name of applications that consist of stages.
  std::vector<PastRun> StageRuns(const std::string& name, const Reported& job) const;
  // Returns the node that was measured last.
  std::optional<ResourceProfile> Node() const;

 private:
  // Returns the last runs of that name that succeeded, the newest first.
  std::vector<FinishedJob> RunsOf(const std::string& name, const Reported& job) const;
  std::vector<PastRun> RunsOfOthers(const std::string& name, const Reported& job) const;

  const std::function<void(const std::string& line)> notice_;
  mutable std::mutex mutex_;  // guards all below
  std::unique_ptr<History> history_;
  std::uint64_t added_ = 0;
};

}  // namespace tidemark::store
