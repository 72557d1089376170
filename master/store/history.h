// The jobs that have ended, by name: what the next run of the same job can learn from, and how well
// each indicator did. A SQLite file, so that people can ask it things we did not think of.
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
  // As far as the history keeps it: ids, state, instants, its map and reduce stages, errors.
  Snapshot final;
  JobSummary summary;
  // Ids that its reporter may report: patterns, with blanks between them.
  std::string name_space = "*";
};

struct HistoryOptions {
  // Older runs are removed, and the oldest ones while the file is larger.
  absl::Duration age_max = absl::Hours(24 * 90);
  std::size_t bytes_max = std::size_t{256} << 20;
};

class History {
 public:
  // Creates the file if there is none. Errors name the path: it cannot be opened, is no database,
  // or is of a newer version (FailedPrecondition).
  static absl::StatusOr<std::unique_ptr<History>> Open(const std::string& path,
                                                       const HistoryOptions& options);
  ~History();
  History(const History&) = delete;
  History& operator=(const History&) = delete;

  // Survives the end of the process when it returns; a loss of power may take the last ones. The
  // same run added again replaces itself.
  absl::Status Add(const FinishedJob& job);
  using Filter = std::function<bool(const std::string& job_id, const std::string& name_space)>;
  // The last `count` runs of jobs of that name which `may_use` lets through, newest first; an empty
  // one lets all. O(log jobs + runs of that name).
  absl::StatusOr<std::vector<FinishedJob>> OfName(const std::string& name, std::size_t count,
                                                  const Filter& may_use = {}) const;
  // Returns the same for the jobs that succeeded, however many failed since.
  absl::StatusOr<std::vector<FinishedJob>> SucceededOfName(const std::string& name,
                                                           std::size_t count,
                                                           const Filter& may_use = {}) const;
  // The same of MapReduce jobs of other names that succeeded, among the last 1,024 jobs. O(1).
  absl::StatusOr<std::vector<FinishedJob>> OfOtherNames(const std::string& name, std::size_t count,
                                                        const Filter& may_use = {}) const;
  // Keeps the measured throughputs of a node, in place of earlier ones of the same host.
  absl::Status AddNode(const std::string& host, absl::Time measured_at,
                       const ResourceProfile& node);
  // The node that was measured last; empty: none was.
  absl::StatusOr<std::optional<ResourceProfile>> NewestNode() const;
  // Forgets jobs by age and size.
  absl::Status Expire(absl::Time now);
  // How many jobs it knows, and how many bytes they take.
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
