// Stores ended jobs by name, which forecasts of later runs use, and the errors of each indicator.
// The file is an SQLite database, so that users can query it.
//
// Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "tidemark/job.h"
#include "tidemark/job_profile.h"
#include "tidemark/job_summary.h"

struct sqlite3;

namespace tidemark::store {

struct FinishedJob {
  // Only its IDs, state, times, map and reduce stages, and errors are stored.
  Snapshot final;
  JobSummary summary;
  // Patterns of the IDs that the reporter may report, separated by blanks.
  std::string name_space = "*";
};

// Removes the oldest run of the most frequent shape. Runs have one shape if their first stages have
// the same names or, without stages, if they have as many reduce tasks. Different programs of one
// name then keep equal numbers of runs. REQUIRES: `jobs` is not empty, the newest first. Cost:
// O(jobs).
void DropOneOfMostFrequentShape(std::vector<FinishedJob>& jobs);

struct HistoryOptions {
  // Older runs are removed. The oldest runs are also removed while the file is larger than
  // bytes_max.
  absl::Duration age_max = absl::Hours(24 * 90);
  std::size_t bytes_max = std::size_t{256} << 20;
};

class History {
 public:
  // Opens or creates the file. Fails if the file cannot be opened or is not a database, and with
  // FailedPrecondition if it has a newer version. Error messages name the path.
  static absl::StatusOr<std::unique_ptr<History>> Open(const std::string& path,
                                                       const HistoryOptions& options);
  ~History();
  History(const History&) = delete;
  History& operator=(const History&) = delete;

  // Adds a run, or replaces the same run. The run survives the end of the process; a power loss may
  // remove the newest runs.
  absl::Status Add(const FinishedJob& job);
  // Returns true if a run of the job is stored.
  absl::StatusOr<bool> Contains(const std::string& job_id) const;
  using Filter = std::function<bool(const std::string& job_id, const std::string& name_space)>;
  // Returns at most `count` successful runs of jobs named `name` that `may_use` accepts, newest
  // first. An empty function accepts all. Each shape keeps an equal number of the last
  // kSameNameReadMax runs (DropOneOfMostFrequentShape()). O(log jobs + runs of that name).
  static constexpr std::size_t kSameNameReadMax = 64;
  absl::StatusOr<std::vector<FinishedJob>> SucceededOfName(const std::string& name,
                                                           std::size_t count,
                                                           const Filter& may_use = {}) const;
  // Like SucceededOfName(), but returns runs of MapReduce jobs of other names among the last 1,024
  // jobs. O(1).
  absl::StatusOr<std::vector<FinishedJob>> OfOtherNames(const std::string& name, std::size_t count,
                                                        const Filter& may_use = {}) const;
  // Stores the measured throughputs of a node. Replaces earlier measurements of the same host.
  absl::Status AddNode(const std::string& host, absl::Time measured_at,
                       const ResourceProfile& node);
  // Returns the last measured node, or nullopt.
  absl::StatusOr<std::optional<ResourceProfile>> NewestNode() const;
  // Removes runs that exceed age_max or bytes_max.
  absl::Status Expire(absl::Time now);
  // Returns the number of runs, and their total size in bytes.
  absl::StatusOr<std::size_t> count() const;
  absl::StatusOr<std::size_t> bytes() const;

 private:
  History(std::string path, sqlite3* database, const HistoryOptions& options);
  absl::Status Execute(const char* statements) const;
  absl::Status Prepare() const;
  absl::StatusOr<std::int64_t> Number(const char* query) const;
  absl::Status AddWithin(const FinishedJob& job) const;
  absl::StatusOr<std::vector<FinishedJob>> Select(const char* query, const std::string& name,
                                                  std::size_t read_max, std::size_t count,
                                                  const Filter& may_use) const;
  absl::StatusOr<FinishedJob> Read(std::int64_t row) const;
  absl::Status ReadDetails(std::int64_t row, FinishedJob& job) const;

  const std::string path_;
  const HistoryOptions options_;
  sqlite3* const database_;
};

}  // namespace tidemark::store
