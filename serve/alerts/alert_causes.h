// Decides which jobs need an alert, from one listing of all jobs to the next.
//
//   AlertCauses causes({.kinds = {AlertKind::kLate, AlertKind::kFailed}});
//   for (const Alert& alert : causes.Update(master.ListJobs())) Send(alert);
//
// Each cause (a job, one run of it, and an event) yields at most one alert, even if the job
// disappears for a while. Jobs that had ended before the first listing yield none. Pure: no clock,
// no network. Not thread-safe. Memory: O(listed jobs), and the ids in RecentIds.
//
// A workflow that the rules select replaces alerts that it would share with its jobs, and names
// those jobs:
//   late    replaces alerts of late jobs whose deadlines are not before the workflow's;
//   silent  replaces alerts of silent jobs if all running jobs are silent;
//   failed  replaces alerts of jobs that failed, since the workflow also fails, or retries the job.
// For every other event, the job itself yields the alert.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "serve/alerts/alert_settings.h"
#include "serve/alerts/job_run.h"
#include "tidemark/job.h"

namespace tidemark::serve {

struct Alert {
  AlertKind kind = AlertKind::kEnded;
  // 16 hexadecimal digits. Alerts of one cause have equal ids, also after a restart of the master.
  std::string id;
  // 16 hexadecimal digits. All alerts of one run of a job have the same run id, also after a
  // restart.
  std::string run_id;
  // The snapshot that caused the alert.
  Snapshot job;
  // The names of the jobs that a late or silent workflow waits for.
  std::vector<std::string> waits_for;
  // The ids of the alerts of jobs that this alert of a workflow replaces.
  std::vector<std::string> same_cause;
  friend bool operator==(const Alert&, const Alert&) = default;
};

struct AlertRules {
  std::set<AlertKind> kinds;
  // Patterns for the names of jobs; * matches any text.
  std::vector<std::string> jobs = {"*"};
  // Lowest probability, in (0, 1], at which a job counts as late.
  double late_from = 0.8;
  absl::Duration silent_for = absl::Minutes(5);
};

class AlertCauses {
 public:
  // Largest number of straggler alerts per run. Further changes carry no information.
  static constexpr int kStragglersMax = 3;

  // `sent` contains the ids of alerts that were sent before a restart.
  explicit AlertCauses(AlertRules rules, std::set<std::string> sent = {});

  // Returns the alerts that follow from `jobs`, the newest whole snapshots of all jobs. O(jobs).
  std::vector<Alert> Update(const std::vector<Snapshot>& jobs);

 private:
  using Task = std::pair<std::uint32_t, std::uint32_t>;  // stage and index
  struct TrackedJob {
    std::string run;
    std::uint64_t sequence = 0;
    int late_in_a_row = 0;  // number of updates
    bool is_late_sent = false;
    std::optional<Task> straggler;
    std::optional<Task> next_straggler;
    std::set<Task> sent_stragglers;
    bool is_silence_sent = false;
    bool is_final = false;
    std::uint64_t last_update = 0;
  };

  struct Family {
    // For a job, the workflow that replaces its alerts, or null.
    const Snapshot* workflow = nullptr;
    std::vector<const Snapshot*> jobs;  // for a workflow, its running jobs
  };

  bool IsSelected(const Snapshot& job) const;
  // Returns true if the job had ended before this update.
  bool HadEnded(const Snapshot& job) const;
  // Returns the family of each of `jobs`.
  std::vector<Family> FamiliesOf(const std::vector<Snapshot>& jobs) const;
  void CheckJob(const Snapshot& job, const Family& family, TrackedJob& state,
                std::vector<Alert>& alerts);
  void CheckSilence(const Snapshot& job, const Family& family, TrackedJob& state,
                    std::vector<Alert>& alerts);
  void AddSilenceOfJobs(const Snapshot& job, const Family& family, const TrackedJob& state,
                        std::vector<Alert>& alerts);
  void CheckDeadline(const Snapshot& job, const Family& family, TrackedJob& state,
                     std::vector<Alert>& alerts);
  bool IsLikelyLate(const Snapshot& job) const;
  void CheckStraggler(const Snapshot& job, TrackedJob& state, std::vector<Alert>& alerts);
  // Adds an alert unless an alert of the same cause has been sent. Returns true if it added one.
  // `detail` distinguishes causes of one kind.
  bool Add(AlertKind kind, const std::string& detail, const Snapshot& job, const TrackedJob& state,
           std::vector<Alert>& alerts);
  bool Wants(AlertKind kind) const { return rules_.kinds.contains(kind); }

  const AlertRules rules_;
  RecentIds sent_;
  absl::flat_hash_map<std::string, TrackedJob> tracked_;  // by job
  std::uint64_t updates_ = 0;
};

}  // namespace tidemark::serve
