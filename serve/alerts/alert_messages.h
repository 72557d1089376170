// Formats the bodies of alert messages for each kind of receiver. Pure. JSON bodies are in ASCII.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/time/time.h"
#include "serve/alerts/alert_causes.h"
#include "tidemark/job.h"

namespace tidemark::serve {

// Settings for the readers of messages.
struct AlertWording {
  absl::TimeZone zone;
  std::map<AlertKind, AlertTemplate> texts = {};  // texts that replace the built-in texts
  // URL at which readers reach the page. If empty, messages have no link.
  std::string page_url = {};
};

// Returns one line such as "nightly: due 07:30, 83 % likely late; ~ 3 h left (2–4 h)", in at most
// about 1000 bytes.
std::string AlertText(const Alert& alert, const AlertWording& wording);

// Returns the message that docs/alerts.md documents.
std::string GenericMessage(const Alert& alert, const AlertWording& wording);
// Returns a message for an incoming webhook of Slack, or for a service with the same format.
std::string SlackMessage(const Alert& alert, const AlertWording& wording);
// Returns a message for PagerDuty's Events API v2. All alerts of one run are one incident, which is
// resolved when the job succeeds, unless the alert is the one that it was late.
std::string PagerDutyMessage(const Alert& alert, const std::string& routing_key,
                             const AlertWording& wording);

struct LineageEvent {
  std::string type;  // OpenLineage's name of the event type
  // 16 hexadecimal digits. Equal events have equal ids, also after a restart of the master.
  std::string id;
  // True if the event must be sent at most once. RUNNING events may repeat.
  bool is_once = false;
  std::string job_id;
  std::string body;  // JSON in ASCII
};

struct LineageRules {
  std::string name_space = "tidemark";
  absl::Duration interval = absl::Minutes(1);  // time between two RUNNING events of one run
  // Patterns for the names of jobs. * matches any string.
  std::vector<std::string> jobs = {"*"};
  std::optional<LineageParent> parent;  // parent of every run
};

// Creates OpenLineage events from one listing of all jobs of a master to the next.
//
// Each run yields START once, RUNNING at intervals, and one final event: COMPLETE, FAIL, or ABORT
// if the job was killed or abandoned. Jobs that had ended before the first listing yield no events.
// Pure; uses no clock and no network. Not thread-safe. Memory: O(listed jobs + RecentIds).
class LineageEvents {
 public:
  // `sent` contains the ids of events that were sent before a restart.
  explicit LineageEvents(LineageRules rules, std::set<std::string> sent = {});

  // Returns the events for `jobs`, the newest snapshots of all jobs. O(jobs).
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
  RecentIds sent_;                                        // events to send only once
  absl::flat_hash_map<std::string, TrackedJob> tracked_;  // by job
  std::uint64_t updates_ = 0;
};

}  // namespace tidemark::serve
