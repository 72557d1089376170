// Determines which jobs need an alert, from one listing of all jobs to the next.
//
//   AlertCauses causes({.kinds = {AlertKind::kLate, AlertKind::kFailed}});
//   for (const Alert& alert : causes.Update(master.ListJobs())) Send(alert);
//
// Each cause (a job, one run of it, and an event) yields at most one alert, even if the job
// disappears for a while. Jobs that had ended before the first listing yield no alerts. Pure; uses
// no clock and no network. Not thread-safe. Memory: O(listed jobs), plus the ids in RecentIds.
//
// A workflow that the rules select replaces alerts that have the same cause in its jobs, and names
// those jobs:
//   late    replaces alerts of late jobs whose deadlines are not before the workflow's;
//   silent  replaces alerts of silent jobs if all running jobs are silent;
//   failed  replaces alerts of jobs that failed, since the workflow also fails, or retries the job.
// For every other event, the job itself yields the alert.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "tidemark/job.h"

namespace tidemark::serve {

// The `alerts` and `lineage` settings of `tidemark serve`, and their parsers. Pure.

// The event that an alert reports, in the order of kAlertKindNames.
enum class AlertKind : std::uint8_t {
  // The deadline has passed, or two consecutive updates found the job likely to miss it. An
  // estimate that is only a guess does not count. If the job has ended and kEnded or kFailed is
  // selected, that kind replaces this one.
  kLate,
  // The running task with the latest forecast end has changed, and two consecutive snapshots agree.
  kStraggler,
  // The job has ended, with any outcome.
  kEnded,
  // The job has ended without success.
  kFailed,
  // The job has not reported for AlertRules::silent_for.
  kSilent,
};
inline constexpr std::array<std::string_view, 5> kAlertKindNames = {"late", "straggler", "ended",
                                                                    "failed", "silent"};

constexpr std::string_view NameOf(AlertKind kind) {
  return kAlertKindNames[static_cast<std::size_t>(kind)];
}

constexpr std::optional<AlertKind> AlertKindNamed(std::string_view name) {
  const auto* const known = std::ranges::find(kAlertKindNames, name);
  if (known == kAlertKindNames.end()) return std::nullopt;
  return static_cast<AlertKind>(known - kAlertKindNames.begin());
}

// A field of a template, written in braces, in the order of kAlertFieldNames.
enum class AlertField : std::uint8_t {
  kJob,
  kId,
  kUser,
  kQueue,
  kKind,
  kCause,
  kState,
  kDone,
  kLeft,
  kBasis,
  kEnd,
  kDeadline,
  kProbability,
  kElapsed,
  kMessage,
  kPage,
};
inline constexpr std::array<std::string_view, 16> kAlertFieldNames = {
    "job",  "id",    "user", "queue",    "kind",        "cause",   "state",   "done",
    "left", "basis", "end",  "deadline", "probability", "elapsed", "message", "page"};

// An alert's text with fields in braces, such as "{job} is late: {cause}".
class AlertTemplate {
 public:
  static constexpr std::size_t kBytesMax = 500;

  // Parses a template; {{ and }} produce a brace. Returns InvalidArgument for an unknown field, a
  // single brace, or a text that is empty or too long. The message states the fault and a
  // suggestion.
  static absl::StatusOr<AlertTemplate> Parse(std::string_view text);

  // Replaces each field by the result of `value_of`. Fields within values are not replaced.
  template <typename ValueOf>
  std::string Fill(ValueOf value_of) const {
    std::string filled;
    for (const Piece& piece : pieces_) {
      filled += piece.is_field ? value_of(piece.field) : piece.text;
    }
    return filled;
  }
  // Returns the text that was parsed.
  const std::string& text() const { return text_; }

 private:
  struct Piece {
    bool is_field = false;
    AlertField field = AlertField::kJob;
    std::string text;
  };
  explicit AlertTemplate(std::string_view text) : text_(text) {}

  std::string text_;
  std::vector<Piece> pieces_;
};

// A receiver of alerts, and the format of its messages.
struct AlertHook {
  std::string shape;  // json, slack or pagerduty
  // http:// or https://, or @FILE for a file that contains the URL, since a URL may be secret.
  std::string url;
};
// Parses "slack=https://hooks.slack.com/services/...". Fails with InvalidArgument.
absl::StatusOr<AlertHook> ParseAlertHook(std::string_view text);
// Returns the hook as a string, without the parts of its URL that may be secret.
std::string ToString(const AlertHook& hook);

// The text that replaces the built-in text of alerts of one kind.
struct AlertTextRule {
  AlertKind kind = AlertKind::kLate;
  AlertTemplate text;
};
// Parses "late={job} will be late: {cause}". Fails with InvalidArgument, whose message is only the
// fault.
absl::StatusOr<AlertTextRule> ParseAlertTextRule(std::string_view text);
std::string ToString(const AlertTextRule& rule);

struct AlertSettings {
  std::vector<AlertHook> hooks;  // if empty, no alerts are sent
  // Names in kAlertKindNames.
  std::vector<std::string> kinds = {"late", "failed", "silent"};
  std::vector<std::string> jobs = {"*"};
  std::vector<AlertTextRule> texts;  // at most one per kind
  unsigned late_percent = 80;
  absl::Duration silent_after = absl::Minutes(5);
  std::string secret_file;  // file with the key that signs messages; empty if they are not signed
  std::string routing_key_file;  // file with the key for PagerDuty
  absl::Duration timeout = absl::Seconds(10);
  unsigned attempts = 6;
  bool allow_local = false;
};

// The OpenLineage run that started the reported jobs, such as a task of a scheduler.
struct LineageParent {
  std::string name_space;
  std::string name;
  std::string run_id;  // a UUID
  friend bool operator==(const LineageParent&, const LineageParent&) = default;
};
inline constexpr char kLineageParentForm[] = "NAMESPACE/NAME/RUNID, where RUNID is a UUID";
// Parses a string of the form kLineageParentForm, as OpenLineage's clients store it in
// OPENLINEAGE_PARENT_ID. A namespace may contain slashes. Fails with InvalidArgument, whose message
// is only the fault.
absl::StatusOr<LineageParent> ParseLineageParent(std::string_view text);
std::string ToString(const LineageParent& parent);

// The `lineage` settings. AlertSettings contains the delivery settings.
struct LineageSettings {
  std::string url;  // http:// or https://; empty if no events are sent
  std::string name_space = "tidemark";
  absl::Duration interval = absl::Minutes(1);
  std::string token_file;  // file with the bearer token; empty if no token is sent
  std::optional<LineageParent> parent;
};

inline constexpr char kParentVariable[] = "OPENLINEAGE_PARENT_ID";
// Sets lineage.parent to `value`, the value of kParentVariable. Does nothing if `value` is null or
// empty, if a parent is already set, or if no events are sent. Returns InvalidArgument if `value`
// names no run.
absl::Status SetParentFromEnvironment(const char* value, LineageSettings& lineage);

// The identity of one run of a job, and the ids of messages sent about it. Pure.

// Returns a string that differs between any two runs and does not change after a restart.
std::string RunOf(const Snapshot& job);

// Returns "2026-01-02T03:04:05.678Z".
std::string UtcText(absl::Time at);

// Returns 16 hexadecimal digits.
std::string ShortHash(const std::string& text);
// Returns a UUID of version 8 (RFC 9562) with 122 bits of a hash.
std::string UuidOf(const std::string& text);

// Returns true if one of `patterns` matches the name of the job, or its id if it has no name. A *
// in a pattern matches any string.
bool IsNamedBy(const std::vector<std::string>& patterns, const Snapshot& job);

// A bounded set of ids of sent messages. It keeps at least the newest kKept ids and drops older
// ids, including the initial ones. Not thread-safe.
class RecentIds {
 public:
  static constexpr std::size_t kKept = 10'000;

  explicit RecentIds(std::set<std::string> ids = {}) : older_(std::move(ids)) {}

  // Returns false if the id is already in the set.
  bool Insert(const std::string& id) {
    if (newer_.contains(id) || older_.contains(id)) return false;
    if (newer_.size() >= kKept) older_ = std::exchange(newer_, {});
    newer_.insert(id);
    return true;
  }

 private:
  std::set<std::string> newer_;
  std::set<std::string> older_;
};

struct Alert {
  AlertKind kind = AlertKind::kEnded;
  // 16 hexadecimal digits. Alerts of one cause have equal ids, also after a restart of the master.
  std::string id;
  // 16 hexadecimal digits. All alerts of one run of a job have the same run id, also after a
  // restart of the master.
  std::string run_id;
  Snapshot job;
  // The names of the jobs that a late or silent workflow waits for.
  std::vector<std::string> waits_for;
  // The ids of the alerts of jobs that this alert of a workflow replaces.
  std::vector<std::string> same_cause;
  friend bool operator==(const Alert&, const Alert&) = default;
};

struct AlertRules {
  std::set<AlertKind> kinds;
  // Patterns for the names of jobs. * matches any string.
  std::vector<std::string> jobs = {"*"};
  // Minimum probability, in (0, 1], at which a job counts as late.
  double late_from = 0.8;
  absl::Duration silent_for = absl::Minutes(5);
};

class AlertCauses {
 public:
  // Maximum number of straggler alerts per run. Further changes carry no information.
  static constexpr int kStragglersMax = 3;

  // `sent` contains the ids of alerts that were sent before a restart.
  explicit AlertCauses(AlertRules rules, std::set<std::string> sent = {});

  // Returns the alerts for `jobs`, the newest whole snapshots of all jobs. O(jobs).
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
  bool HadEnded(const Snapshot& job) const;
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
  // Adds an alert unless an alert with the same cause has been sent. Returns true if it added one.
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
