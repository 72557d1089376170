// Which jobs somebody should hear of, from one look at all of them to the next.
//
//   AlertCauses causes({.kinds = {AlertKind::kLate, AlertKind::kFailed}});
//   for (const Alert& alert : causes.Look(master.ListJobs())) Send(alert);
//
// Pure: no clock, no network. At most one alert for one cause: a job, a run of it, and what
// happened, also of a job that is gone for a while. What had ended before the first look is not
// told. Not thread-safe. Memory: O(jobs looked at), and the ids of RecentIds.
//
// A workflow that is looked at tells what it shares with its jobs, and names them:
//   late    of a job that is not due before the workflow, when either is likely late;
//   silent  of jobs that are silent when all that run are;
//   failed  of a job that has ended badly: the workflow does too, or the job is tried again.
// What else happens to a job is told of the job.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "serve/alerts/alert_kind.h"
#include "serve/alerts/recent_ids.h"
#include "tidemark/job.h"

namespace tidemark::cli {

struct Alert {
  AlertKind kind = AlertKind::kEnded;
  // The same for the same cause, also after a restart: 16 hexadecimal digits.
  std::string id;
  // The same for all alerts of one run of a job, likewise.
  std::string run_id;
  // As it was seen.
  Snapshot job;
  // Of a workflow that is late or silent: names of the jobs that it waits for.
  std::vector<std::string> waits_for;
  // Ids of the same cause as alerts of these jobs would have had; they are not told.
  std::vector<std::string> same_cause;
  friend bool operator==(const Alert&, const Alert&) = default;
};

struct AlertRules {
  std::set<AlertKind> kinds;
  // Names of jobs that are looked at; * stands for any text.
  std::vector<std::string> jobs = {"*"};
  // From which probability on a job is late. Above 0, at most 1.
  double late_from = 0.8;
  absl::Duration silent_for = absl::Minutes(5);
};

class AlertCauses {
 public:
  // More than this many changes of the straggler of one run are not told: they say nothing any
  // more.
  static constexpr int kStragglersMax = 3;

  // `told`: ids of alerts that were told before a restart.
  explicit AlertCauses(AlertRules rules, std::set<std::string> told = {});

  // `jobs`: the newest snapshots of all there are, whole. O(jobs).
  std::vector<Alert> Look(const std::vector<Snapshot>& jobs);

 private:
  using Task = std::pair<std::uint32_t, std::uint32_t>;  // stage and index
  struct Seen {
    std::string run;
    std::uint64_t sequence = 0;
    int late_looks = 0;  // in a row
    bool is_late_told = false;
    std::optional<Task> straggler;
    std::optional<Task> next_straggler;
    std::set<Task> stragglers;  // that were told
    bool is_silence_told = false;
    bool is_final = false;
    std::uint64_t look = 0;  // the last
  };

  struct Family {
    const Snapshot* workflow = nullptr;  // of a job: the one that tells of it; null: none does
    std::vector<const Snapshot*> jobs;   // of a workflow: those that run
  };

  bool IsLookedAt(const Snapshot& job) const;
  // It had ended before this look.
  bool IsOldNews(const Snapshot& job) const;
  // Of each of `jobs`.
  std::vector<Family> FamiliesOf(const std::vector<Snapshot>& jobs) const;
  void LookAt(const Snapshot& job, const Family& family, Seen& seen, std::vector<Alert>& alerts);
  void LookAtSilence(const Snapshot& job, const Family& family, Seen& seen,
                     std::vector<Alert>& alerts);
  void TellSilenceOfJobs(const Snapshot& job, const Family& family, const Seen& seen,
                         std::vector<Alert>& alerts);
  void LookAtDeadline(const Snapshot& job, const Family& family, Seen& seen,
                      std::vector<Alert>& alerts);
  bool IsLikelyLate(const Snapshot& job) const;
  void LookAtStraggler(const Snapshot& job, Seen& seen, std::vector<Alert>& alerts);
  // Unless its cause was told; true if it was not. `detail` tells apart causes of one kind.
  bool Tell(AlertKind kind, const std::string& detail, const Snapshot& job, const Seen& seen,
            std::vector<Alert>& alerts);
  bool Wants(AlertKind kind) const { return rules_.kinds.contains(kind); }

  const AlertRules rules_;
  RecentIds told_;
  absl::flat_hash_map<std::string, Seen> seen_;  // by job
  std::uint64_t look_ = 0;
};

}  // namespace tidemark::cli
