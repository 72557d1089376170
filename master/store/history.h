// The ended jobs by name, from which later runs of the same job start, and the errors of each
// indicator. A SQLite file, so that people can query it.
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
  // The parts that the history stores: ids, state, instants, map and reduce stages, errors.
  Snapshot final;
  JobSummary summary;
  // Ids that its reporter may report: patterns, with blanks between them.
  std::string name_space = "*";
};

struct HistoryOptions {
  // Older runs are removed, and the oldest ones while the file is larger than bytes_max.
  absl::Duration age_max = absl::Hours(24 * 90);
  std::size_t bytes_max = std::size_t{256} << 20;
};

class History {
 public:
  // Opens or creates the file. Errors name the path: it cannot be opened, is not a database, or is
  // of a newer version (FailedPrecondition).
  static absl::StatusOr<std::unique_ptr<History>> Open(const std::string& path,
                                                       const HistoryOptions& options);
  ~History();
  History(const History&) = delete;
  History& operator=(const History&) = delete;

  // Adds a run, or replaces the same run. The run survives the end of the process; a loss of power
  // may remove the newest runs.
  absl::Status Add(const FinishedJob& job);
  using Filter = std::function<bool(const std::string& job_id, const std::string& name_space)>;
  // Returns the last `count` runs of jobs of that name that `may_use` accepts, newest first. An
  // empty function accepts all. O(log jobs + runs of that name).
  absl::StatusOr<std::vector<FinishedJob>> OfName(const std::string& name, std::size_t count,
                                                  const Filter& may_use = {}) const;
  // Returns the same for successful runs only.
  absl::StatusOr<std::vector<FinishedJob>> SucceededOfName(const std::string& name,
                                                           std::size_t count,
                                                           const Filter& may_use = {}) const;
  // Returns the same for successful MapReduce jobs of other names among the last 1,024 jobs. O(1).
  absl::StatusOr<std::vector<FinishedJob>> OfOtherNames(const std::string& name, std::size_t count,
                                                        const Filter& may_use = {}) const;
  // Stores the measured throughputs of a node in place of earlier ones of the same host.
  absl::Status AddNode(const std::string& host, absl::Time measured_at,
                       const ResourceProfile& node);
  // Returns the node that was measured last, or nullopt.
  absl::StatusOr<std::optional<ResourceProfile>> NewestNode() const;
  // Removes runs by age and size.
  absl::Status Expire(absl::Time now);
  // Number of runs, and their size in bytes.
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
