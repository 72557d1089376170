// What a master learns from the jobs that have ended, and what it leaves to its successors.
//
//   JobHistory history(print);
//   history.Open(data_dir, {}, now);
//   history.Add(finished);                               // a job has ended
//   history.PastRuns("word count", {.id = "wc-2"});      // another of that name begins
//
// Only runs whose ids the one who asks might have reported, and the other way round, teach a job
// (name_space.h). A history that fails is no reason to stop: it is reported and nothing is known.
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
  // `notice` gets lines for an operator, from the threads that call.
  explicit JobHistory(std::function<void(const std::string& line)> notice)
      : notice_(std::move(notice)) {}

  // Opens the history of a data directory; before that nothing is known or kept. One that cannot be
  // read is renamed and a new one begun. Errors: those of History::Open(), the new name.
  absl::Status Open(const std::string& data_dir, const HistoryOptions& options, absl::Time now);

  void Add(const FinishedJob& job);
  // Of the last runs of that name, the newest first, at most JobMonitor::kPastRunsMax of them, what
  // they say of times; where there are none, what runs of MapReduce jobs of other names say.
  // O(runs of that name).
  std::vector<PastRun> PastRuns(const std::string& name, const Reported& job) const;
  // The profiles of those of that name that succeeded. O(runs of that name).
  std::vector<JobProfile> Profiles(const std::string& name, const Reported& job) const;
  // The same of applications of stages.
  std::vector<RunProfile> StageRuns(const std::string& name, const Reported& job) const;
  // The node that was measured last.
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
