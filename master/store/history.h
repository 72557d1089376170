// Stores the ended jobs by name, from which forecasts of later runs start, and the errors of each
// indicator. The file is an SQLite database, so that people can query it.
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
  // The history stores only its IDs, state, instants, map and reduce stages, and errors.
  Snapshot final;
  JobSummary summary;
  // Patterns of the IDs that the reporter may report, separated by blanks.
  std::string name_space = "*";
};

struct HistoryOptions {
  // Older runs are removed, and the oldest ones while the file is larger than bytes_max.
  absl::Duration age_max = absl::Hours(24 * 90);
  std::size_t bytes_max = std::size_t{256} << 20;
};

class History {
 public:
  // Opens or creates the file. Fails if the file cannot be opened or is not a database, and with
  // FailedPrecondition if it has a newer version. Errors name the path.
  static absl::StatusOr<std::unique_ptr<History>> Open(const std::string& path,
                                                       const HistoryOptions& options);
  ~History();
  History(const History&) = delete;
  History& operator=(const History&) = delete;

  // Adds a run, or replaces the same run. The run survives the end of the process; a loss of power
  // may remove the newest runs.
  absl::Status Add(const FinishedJob& job);
  using Filter = std::function<bool(const std::string& job_id, const std::string& name_space)>;
  // Returns the last `count` successful runs of jobs named `name` that `may_use` accepts, newest
  // first. An empty function accepts all. O(log jobs + runs of that name).
  absl::StatusOr<std::vector<FinishedJob>> SucceededOfName(const std::string& name,
                                                           std::size_t count,
                                                           const Filter& may_use = {}) const;
  // Returns such runs of MapReduce jobs of other names among the last 1,024 jobs. O(1).
  absl::StatusOr<std::vector<FinishedJob>> OfOtherNames(const std::string& name, std::size_t count,
                                                        const Filter& may_use = {}) const;
  // Stores the measured throughputs of a node in place of earlier ones of the same host.
  absl::Status AddNode(const std::string& host, absl::Time measured_at,
                       const ResourceProfile& node);
  // Returns the node that was measured last, or nullopt.
  absl::StatusOr<std::optional<ResourceProfile>> NewestNode() const;
  // Removes runs that exceed age_max or bytes_max.
  absl::Status Expire(absl::Time now);
  // Return the number of runs, and their size in bytes.
  absl::StatusOr<std::size_t> count() const;
  absl::StatusOr<std::size_t> bytes() const;

 private:
  History(std::string path, sqlite3* database, const HistoryOptions& options);
  absl::Status Execute(const char* statements) const;
  absl::Status Prepare() const;
  absl::StatusOr<std::int64_t> Number(const char* query) const;
  absl::Status AddWithin(const FinishedJob& job) const;
  absl::StatusOr<std::vector<FinishedJob>> Select(const char* query, const std::string& name,
                                                  std::size_t count, const Filter& may_use) const;
  absl::StatusOr<FinishedJob> Read(std::int64_t row) const;
  absl::Status ReadDetails(std::int64_t row, FinishedJob& job) const;

  const std::string path_;
  const HistoryOptions options_;
  sqlite3* const database_;
};

}  // namespace tidemark::store
