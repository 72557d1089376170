// Keeps the past runs of a master's jobs for its current jobs and for later masters.
//
//   JobHistory history(print);
//   history.Open(data_dir, {}, now);
//   history.Add(finished);                               // a job has ended
//   history.PastRuns("word count", {.id = "wc-2"});      // the next run begins
//
// A job uses a past run only if the reporter of each may report the ID of the other (name_space.h).
// A failing history does not stop the master; it reports the failure and returns no runs.
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

  // Opens the history of a data directory. Before this call, the history returns and stores no
  // runs. An unreadable file is renamed and replaced. Fails like History::Open() if the new file
  // cannot be opened.
  absl::Status Open(const std::string& data_dir, const HistoryOptions& options, absl::Time now);

  void Add(const FinishedJob& job);
  // Returns runs of that name, newest first, at most JobMonitor::kPastRunsMax. Programs of one name
  // with different stages have equal shares. Without such runs, returns runs of MapReduce jobs of
  // other names. O(runs of that name).
  std::vector<PastRun> PastRuns(const std::string& name, const Reported& job) const;
  // Returns the profiles of successful runs of that name. O(runs of that name).
  std::vector<JobProfile> Profiles(const std::string& name, const Reported& job) const;
  // Returns past runs of that name of applications of stages.
  std::vector<PastRun> StageRuns(const std::string& name, const Reported& job) const;
  // Returns the last measured node.
  std::optional<ResourceProfile> Node() const;

 private:
  // Returns usable runs of that name that succeeded, newest first, at most
  // JobMonitor::kPastRunsMax.
  std::vector<FinishedJob> RunsOf(const std::string& name, const Reported& job,
                                  bool (*is_usable)(const FinishedJob&)) const;
  std::vector<PastRun> RunsOfOthers(const std::string& name, const Reported& job) const;

  const std::function<void(const std::string& line)> notice_;
  mutable std::mutex mutex_;  // Guards all members below.
  std::unique_ptr<History> history_;
  std::uint64_t added_ = 0;
};

}  // namespace tidemark::store
