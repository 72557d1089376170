// All jobs of a master: each a JobMonitor, its event log and its newest snapshot.
//
// Thread-safe: one lock for the table, one for each job, taken in that order and never both across
// an estimate, so jobs do not wait for one another. Knows no clock: instants come in.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "master/store/event_log.h"
#include "tidemark/job_monitor.h"
#include "tidemark/snapshot.h"

namespace tidemark::v1 {
class Envelope;
}

namespace tidemark::service {

struct JobTableOptions {
  JobMonitorOptions job;
  std::size_t jobs_max = 1000;
  std::string event_log_dir;  // empty: no logs
  absl::Duration tick_interval = absl::Seconds(1);
  absl::Duration tick_interval_min = absl::Milliseconds(200);
};

class JobTable {
 public:
  explicit JobTable(JobTableOptions options) : options_(std::move(options)) {}

  // Takes an envelope off the network: parse, keep, fold. An error is the reason to refuse it, and
  // it need not be sent again.
  absl::Status Ingest(const v1::Envelope& untrusted, absl::Time now);

  // Ticks every running job that has news since tick_interval_min or was not ticked for
  // tick_interval, and returns the new snapshots.
  std::vector<Snapshot> TickDue(absl::Time now);

  absl::StatusOr<Snapshot> Get(const std::string& job_id) const;  // NotFound
  std::vector<Snapshot> List() const;                             // newest job first

  // The smallest key group worth naming in this job; 0: not known.
  std::uint64_t SmallestExplicitBytes(const std::string& job_id) const;

 private:
  struct Job {
    Job(const std::string& id, const JobMonitorOptions& options, std::uint64_t job_number)
        : number(job_number), monitor(id, options) {}
    const std::uint64_t number;  // in the order of opening
    std::mutex mutex;            // guards all below
    JobMonitor monitor;
    std::unique_ptr<store::EventLogWriter> log;
    Snapshot newest;
    absl::Time ticked_at = absl::InfinitePast();
    absl::Time latest = absl::InfinitePast();  // instant the monitor was told of

    // `now` for the monitor, which wants a clock that never goes back. REQUIRES: mutex is held.
    absl::Time NotBefore(absl::Time now) { return latest = std::max(latest, now); }
  };

  std::shared_ptr<Job> Find(const std::string& job_id) const;
  std::vector<std::shared_ptr<Job>> All() const;
  absl::StatusOr<std::shared_ptr<Job>> Open(const v1::Envelope& untrusted, const Event& event);
  bool MakeRoom();
  void OpenLog(const std::string& job_id, Job& job) const;
  absl::Status Reject(Job* job, const absl::Status& reason) const;
  // Notes a log that can no longer be written and goes on without it.
  static void Logged(const absl::Status& status, Job& job);
  Snapshot TickLocked(Job& job, absl::Time now) const;

  const JobTableOptions options_;
  mutable std::mutex mutex_;  // guards all below
  absl::flat_hash_map<std::string, std::shared_ptr<Job>> jobs_;
  std::uint64_t opened_ = 0;
};

}  // namespace tidemark::service
