// A DAG of jobs, and what Tidemark believes about it at one instant, as values.
//
// The plain counterpart of proto/tidemark/v1/workflow.proto, which says what every field means.
// Every fraction of a snapshot is finite and within 0..1 and no time is negative; what is not known
// is empty.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "tidemark/event.h"
#include "tidemark/job_profile.h"

namespace tidemark {

enum class JobState : std::uint8_t { kRunning, kSucceeded, kFailed, kKilled, kAbandoned };

enum class Phase : std::uint8_t { kMap, kShuffle, kReduce };

struct WorkflowJob {
  std::string name;
  std::string job_id;        // empty: attached later
  std::string history_name;  // empty: name
  std::vector<std::string> after;
  std::uint32_t map_tasks = 0;  // 0: as in its last run; likewise below
  std::uint32_t reduce_tasks = 0;
  std::uint64_t input_bytes = 0;
  std::optional<JobProfile> profile;  // empty: what its last runs taught
  std::string queue;
  bool is_map_only = false;  // whatever its last run had
  friend bool operator==(const WorkflowJob&, const WorkflowJob&) = default;
};

enum class SchedulingPolicy : std::uint8_t { kFifo, kFair, kDrf, kCapacity };

struct WorkflowQueue {
  std::string name;
  double share = 0;
  friend bool operator==(const WorkflowQueue&, const WorkflowQueue&) = default;
};

struct WorkflowCluster {
  std::uint32_t slots = 1;
  std::uint32_t nodes = 1;
  SchedulingPolicy policy = SchedulingPolicy::kFifo;
  std::vector<WorkflowQueue> queues;
  std::optional<ResourceProfile> node;
  friend bool operator==(const WorkflowCluster&, const WorkflowCluster&) = default;
};

struct WorkflowSpec {
  std::string id;
  std::string name;  // empty: id
  std::vector<WorkflowJob> jobs;
  WorkflowCluster cluster;
  absl::Duration retry_within;
  friend bool operator==(const WorkflowSpec&, const WorkflowSpec&) = default;
};

enum class WorkflowJobState : std::uint8_t {
  kPending,
  kAwaited,  // nothing holds it back, and it has not reported yet
  kRunning,
  kSucceeded,
  kRetried,  // it ended badly, and another may be attached in its place
  kFailed,
  kCancelled,  // it was taken out before it began
};

enum class WorkflowBasis : std::uint8_t { kGuess, kProfile, kForecast, kDone };

// The tasks of one phase of a job: kMap or kReduce.
struct WorkflowStage {
  Phase phase = Phase::kMap;
  std::uint64_t tasks = 0;
  std::uint64_t pending = 0;
  std::uint64_t running = 0;
  std::optional<absl::Duration> starts_in;
  std::optional<absl::Duration> ends_in;
  std::optional<absl::Duration> task_time;
  std::string bottleneck;
  bool is_critical = false;
  friend bool operator==(const WorkflowStage&, const WorkflowStage&) = default;
};

struct WorkflowJobProgress {
  std::string name;
  std::string job_id;
  WorkflowJobState state = WorkflowJobState::kPending;
  double fraction_done = 0;
  std::optional<absl::Time> started_at;
  std::optional<absl::Time> ended_at;
  std::optional<absl::Duration> starts_in;
  std::optional<absl::Duration> ends_in;
  std::optional<absl::Duration> ends_in_lower;  // 90 % interval
  std::optional<absl::Duration> ends_in_upper;
  bool is_critical = false;
  WorkflowBasis basis = WorkflowBasis::kGuess;
  std::uint32_t failed_attempts = 0;
  std::string message;
  std::vector<std::size_t> after;  // indexes
  std::vector<WorkflowStage> stages;
  friend bool operator==(const WorkflowJobProgress&, const WorkflowJobProgress&) = default;
};

struct WorkflowSnapshot {
  std::string workflow_id;
  std::string name;
  std::uint64_t sequence = 0;
  absl::Time at;
  JobState state = JobState::kRunning;
  std::string message;
  absl::Time started_at;
  absl::Duration elapsed;
  // To be shown, as Forecast::fraction_done is: of the time since the first job began, and
  // never less than in an earlier snapshot.
  double fraction_done = 0;
  double fraction_done_lower = 0;
  double fraction_done_upper = 0;
  std::optional<absl::Duration> remaining;
  std::optional<absl::Duration> remaining_lower;  // 90 % interval
  std::optional<absl::Duration> remaining_upper;
  std::vector<WorkflowJobProgress> jobs;
  std::vector<std::string> critical_path;
  double known_share = 0;
  double busy_share = 0;  // of a what-if
  std::vector<std::string> notes;

  bool is_final() const { return state != JobState::kRunning; }
  friend bool operator==(const WorkflowSnapshot&, const WorkflowSnapshot&) = default;
};

}  // namespace tidemark
