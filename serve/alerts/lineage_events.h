// Creates events of OpenLineage from one listing of all jobs of a master to the next.
//
// Each run yields START once, RUNNING at intervals, and one final event: COMPLETE, FAIL, or ABORT
// if the job was killed or abandoned. Jobs that had ended before the first listing yield none.
// Pure: no clock, no network. Not thread-safe. Memory: O(listed jobs + RecentIds).
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/time/time.h"
#include "serve/alerts/alert_settings.h"
#include "serve/alerts/job_run.h"
#include "tidemark/job.h"

namespace tidemark::serve {

struct LineageEvent {
  std::string type;  // OpenLineage's name of the event type
  // 16 hexadecimal digits. Equal events have equal ids, also after a restart of the master.
  std::string id;
  // Whether the event must be sent at most once. RUNNING events may repeat.
  bool is_once = false;
  std::string job_id;
  std::string body;  // JSON in ASCII
};

struct LineageRules {
  std::string name_space = "tidemark";
  absl::Duration interval = absl::Minutes(1);  // between two RUNNING events of one run
  // Patterns for the names of jobs; * matches any text.
  std::vector<std::string> jobs = {"*"};
  std::optional<LineageParent> parent;  // parent of every run
};

class LineageEvents {
 public:
  // `sent` contains the ids of events that were sent before a restart.
  explicit LineageEvents(LineageRules rules, std::set<std::string> sent = {});

  // Returns the events that follow from `jobs`, the newest snapshots of all jobs. O(jobs).
  std::vector<LineageEvent> Update(const std::vector<Snapshot>& jobs);

 private:
  struct TrackedJob {
    std::string run;
    std::uint64_t sequence = 0;
    absl::Time running_at;  // time of the last RUNNING event
    bool is_final = false;
    std::uint64_t last_update = 0;
  };
  void CheckJob(const Snapshot& job, bool is_new, TrackedJob& state,
                std::vector<LineageEvent>& events);
  void Add(const char* type, const Snapshot& job, const TrackedJob& state,
           std::vector<LineageEvent>& events);

  const LineageRules rules_;
  RecentIds sent_;                                        // events that are sent once
  absl::flat_hash_map<std::string, TrackedJob> tracked_;  // by job
  std::uint64_t updates_ = 0;
};

}  // namespace tidemark::serve
