// Which events of OpenLineage tell of the jobs of a master, from one look at all of them to the
// next, and what they say.
//
// For each run START once, RUNNING from time to time, and at its end COMPLETE, FAIL, or ABORT of
// one that was killed or abandoned. What had ended before the first look is not told. Pure: no
// clock, no network. Not thread-safe. Memory: O(jobs looked at + RecentIds).
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/time/time.h"
#include "serve/alerts/alert_settings.h"
#include "serve/alerts/recent_ids.h"
#include "tidemark/job.h"

namespace tidemark::cli {

struct LineageEvent {
  std::string type;  // as OpenLineage calls it
  // The same for the same event, also after a restart: 16 hexadecimal digits.
  std::string id;
  // At most one of these is sent; else it may be sent again.
  bool is_once = false;
  std::string job_id;
  std::string body;  // JSON in ASCII
};

struct LineageRules {
  std::string name_space = "tidemark";
  absl::Duration interval = absl::Minutes(1);  // between two RUNNING of one run
  // Names of jobs that are told of; * stands for any text.
  std::vector<std::string> jobs = {"*"};
  std::optional<LineageParent> parent;  // of every run
};

class LineageEvents {
 public:
  // `told`: ids of events that were told before a restart.
  explicit LineageEvents(LineageRules rules, std::set<std::string> told = {});

  // `jobs`: the newest snapshots of all there are. O(jobs).
  std::vector<LineageEvent> Look(const std::vector<Snapshot>& jobs);

 private:
  struct Seen {
    std::string run;
    std::uint64_t sequence = 0;
    absl::Time running_at;  // told
    bool is_final = false;
    std::uint64_t look = 0;  // the last
  };
  void LookAt(const Snapshot& job, bool is_new, Seen& seen, std::vector<LineageEvent>& events);
  void Tell(const char* type, const Snapshot& job, const Seen& seen,
            std::vector<LineageEvent>& events);

  const LineageRules rules_;
  RecentIds told_;                               // of those that are sent once
  absl::flat_hash_map<std::string, Seen> seen_;  // by job
  std::uint64_t look_ = 0;
};

}  // namespace tidemark::cli
