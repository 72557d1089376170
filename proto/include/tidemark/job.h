// What Tidemark knows about a job at one instant, as a value.
//
// A job is whatever somebody waits for: a MapReduce job, an application of many stages, or a
// workflow of jobs. All three are one kind of snapshot: the whole with its estimate, stages, and,
// of a workflow, children. How to show one:
//
//   tidemark::Snapshot now = monitor.Tick(time);
//   std::cout << now.info->name << ": " << 100 * now.estimate.fraction_done << " %";
//   if (now.estimate.remaining) std::cout << ", " << now.estimate.remaining->median << " left";
//   if (now.is_final) std::cout << ", over";
//
// Promises, of every snapshot that a JobMonitor, a master or a parsed message gives:
//   - every fraction is finite and within 0..1; no duration is negative or infinite;
//   - estimate.fraction_done is never less than in an earlier snapshot of the run, and 1 only of a
//     job that has succeeded;
//   - what is not known is empty, never a guess: an empty `remaining` is no zero;
//   - stages are sorted by id, children by number, groups by group, each once;
//   - exactly one snapshot of a run is final, the last;
//   - the same events and ticks give the same snapshot, to the last bit.
//
// The plain counterpart of proto/tidemark/v1/job.proto, whose field comments hold here too.
// Values: copyable, comparable, safe to share between threads when const. Enums may grow: treat a
// value that you do not know as kUnknown, and ask `is_final`, not the state, whether a job is over.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/time/time.h"
#include "tidemark/event.h"

namespace tidemark {

enum class JobKind : std::uint8_t {
  kUnknown,
  kMapReduce,    // a map stage and a reduce stage, or a map stage alone
  kApplication,  // stages, of which more may come
  kWorkflow,     // other jobs, with edges between them
};

enum class JobState : std::uint8_t {
  kUnknown,
  kQueued,  // known, and nothing of it has begun
  kRunning,
  kSucceeded,
  kFailed,
  kKilled,
  kAbandoned,  // nothing was heard of it for too long
};

// A duration that is estimated: as likely longer than the median as shorter, and within the bounds
// in nine of ten cases. lower <= median <= upper where they are known.
struct Range {
  absl::Duration median;
  std::optional<absl::Duration> lower;
  std::optional<absl::Duration> upper;
  friend bool operator==(const Range&, const Range&) = default;
};

// The same prediction, made at `at`, as precisely as it is worth to publish it: the instants that
// it points to lie on a grid whose step is a power of two of nanoseconds, at most a 32nd of the
// median or of the width of the interval, whichever is larger. A prediction that moves by much less
// than that from one snapshot to the next is then mostly the same instant, and no delta mentions
// it. Negative durations become zero; what is longer than 100 years stays as it is.
Range RoundedPrediction(absl::Time at, const Range& range);

enum class EstimateState : std::uint8_t {
  kUnknown,
  kWarmingUp,  // too early to tell: `remaining` is empty
  kValid,
  kOverdue,  // past the predicted end and still running: `remaining` is empty
  kFinal,    // it has ended
};

// The strongest evidence that an estimate rests on.
enum class Basis : std::uint8_t {
  kUnknown,
  kGuess,        // other jobs, or nothing
  kEarlierRuns,  // a profile, or earlier runs
  kThisRun,
  kDone,  // nothing is left to estimate
};

// How far something is and when it ends.
struct Estimate {
  EstimateState state = EstimateState::kUnknown;
  // To be shown: the part of its time that has passed. The bounds are of this instant alone, so
  // that fraction_done may lie above them.
  double fraction_done = 0;
  double fraction_done_lower = 0;
  double fraction_done_upper = 0;
  std::optional<Range> remaining;
  Basis basis = Basis::kUnknown;
  double known_share = 0;  // of the work left: what this run or earlier ones tell about
  std::string indicator;   // that made it; empty: "tidemark"
  friend bool operator==(const Estimate&, const Estimate&) = default;
};

// What rarely changes while a job runs. Empty text: not said.
struct JobInfo {
  std::string name;  // empty: its id
  JobKind kind = JobKind::kUnknown;
  std::string engine;          // "hadoop", "spark", "local", ...
  std::string application_id;  // the engine's own
  std::string user;
  std::string queue;
  std::string workflow_id;  // of the plan that follows it
  friend bool operator==(const JobInfo&, const JobInfo&) = default;
};

// How many parts a job has: what is left of stages and children in the smallest view.
struct Counts {
  std::uint32_t stages = 0;           // without those that are only expected
  std::uint32_t finished_stages = 0;  // done or skipped
  std::uint64_t tasks = 0;
  std::uint64_t running_tasks = 0;
  std::uint64_t finished_tasks = 0;
  std::uint64_t failed_attempts = 0;
  std::uint32_t children = 0;
  std::uint32_t finished_children = 0;
  friend bool operator==(const Counts&, const Counts&) = default;
};

// Stages that do not exist yet, but did in earlier runs, have numbers from here on.
inline constexpr std::uint32_t kExpectedStages = std::uint32_t{1} << 31;

struct StageId {
  std::uint32_t child = 0;  // Child::number of the job it belongs to; 0: the job itself
  std::uint32_t stage = 0;  // its number within that job
  friend auto operator<=>(const StageId&, const StageId&) = default;
};

// What does not change while a stage is worked on.
struct StageInfo {
  StageId id;
  std::uint32_t attempt = 0;  // a stage that is run again has the next one
  std::string name;
  StageKind kind = StageKind::kUnknown;
  std::vector<std::uint32_t> parents;  // stages of the same job that must end before it works
  std::string group;                   // the engine's job or query that it belongs to
  std::string pool;                    // of the scheduler; empty: the job's queue
  friend bool operator==(const StageInfo&, const StageInfo&) = default;
};

enum class StageState : std::uint8_t {
  kUnknown,
  kPending,   // none of its tasks has begun
  kRunning,   // one has, and not all have ended
  kDone,      // all have ended well
  kSkipped,   // its output was there already
  kExpected,  // earlier runs had it; it does not exist yet
  kFailed,    // it has ended without all of its output; a later attempt may run
};

// How far the tasks of a stage are with fetching what other stages wrote.
struct ShuffleProgress {
  double fraction_done = 0;  // by bytes
  std::uint64_t running_tasks = 0;
  std::uint64_t finished_tasks = 0;
  friend bool operator==(const ShuffleProgress&, const ShuffleProgress&) = default;
};

// How far a stage is. Its fraction_done never falls within one attempt of the stage.
struct StageProgress {
  StageId id;
  StageState state = StageState::kUnknown;
  double fraction_done = 0;  // by time where an estimate tells it, else by bytes, else by tasks
  std::uint64_t tasks = 0;
  std::uint64_t running_tasks = 0;
  std::uint64_t finished_tasks = 0;
  std::uint64_t failed_attempts = 0;
  std::optional<absl::Time> started_at;
  std::optional<absl::Time> ended_at;
  std::optional<Range> starts_in;           // empty: it has begun, or it is not known
  std::optional<Range> ends_in;             // empty: it has ended, or it is not known
  std::optional<absl::Duration> task_time;  // mean of the unfinished tasks, as expected now
  std::string bottleneck;                   // "cpu", "disk read", ...; empty: not known
  bool is_critical = false;                 // a delay here delays the whole
  std::optional<ShuffleProgress> shuffle;   // of tasks that first fetch what others wrote
  std::string failure;                      // why the last failed attempt failed
  friend bool operator==(const StageProgress&, const StageProgress&) = default;
};

// Stages that people wait for together, such as those of a SQL execution; while it runs, more may
// come.
struct Group {
  std::string group;  // as StageInfo names it, such as "sql/3"
  std::string name;   // for people; empty: not said
  JobState state = JobState::kUnknown;
  std::string message;       // why it failed
  double fraction_done = 0;  // by time where an end is predicted, else by tasks; never falls
  std::optional<absl::Time> started_at;
  std::optional<absl::Time> ended_at;
  std::optional<Range> ends_in;  // of the stages that it has now
  friend bool operator==(const Group&, const Group&) = default;
};

enum class ChildState : std::uint8_t {
  kUnknown,
  kPending,  // waits for others
  kAwaited,  // nothing holds it back, and it has not reported yet
  kRunning,
  kSucceeded,
  kRetryable,  // ended badly, and another job may be attached in its place
  kFailed,     // failed, killed or abandoned
  kCancelled,  // taken out of the workflow
};

// A job of a workflow. Its stages are among Snapshot::stages, under its number.
struct Child {
  std::uint32_t number = 0;  // its place in the workflow, from 1 on; never given to another
  std::string name;          // what the workflow calls it
  std::string job_id;        // that reports for it; empty: none is attached
  ChildState state = ChildState::kUnknown;
  Estimate estimate;
  std::optional<absl::Time> started_at;
  std::optional<absl::Time> ended_at;
  std::optional<Range> starts_in;  // empty: it has begun, or it is not known
  bool is_critical = false;        // a delay here delays the workflow
  std::uint32_t failed_attempts = 0;
  std::string message;               // why the last of them failed
  std::vector<std::uint32_t> after;  // numbers of those it waits for
  friend bool operator==(const Child&, const Child&) = default;
};

// A task that is expected to be among the last to end, and why.
struct NamedTask {
  AttemptId attempt;
  std::uint32_t child = 0;  // Child::number of the job it belongs to; 0: the job itself
  std::string host;
  std::optional<Range> remaining;
  std::uint64_t explicit_groups_left = 0;  // key groups of known size that it has not finished
  std::uint64_t heaviest_group_bytes = 0;
  double heaviest_group_share = 0;  // of the task's remaining time
  bool in_heaviest_group = false;
  std::string reason;  // one sentence
  friend bool operator==(const NamedTask&, const NamedTask&) = default;
};

// Where predicted reduce time comes from: shares that add up to 1, or all 0.
struct Evidence {
  double own_neighbours = 0;
  double own_fit = 0;
  double other_neighbours = 0;
  double other_fit = 0;
  double ratio = 0;
  friend bool operator==(const Evidence&, const Evidence&) = default;
};

// What another progress indicator says of the job.
struct Indicator {
  Estimate estimate;  // with the indicator's name
  double last_stage_fraction_done = 0;
  std::optional<Evidence> evidence;
  friend bool operator==(const Indicator&, const Indicator&) = default;
};

// How much of what happened reached the master.
struct Coverage {
  std::optional<absl::Time> newest_event_at;
  std::uint64_t lost_events = 0;
  std::uint64_t dropped_events = 0;
  std::uint64_t dropped_points = 0;
  std::uint64_t anomalies = 0;  // events that contradict earlier ones
  std::uint64_t rejected_events = 0;
  std::optional<double> map_profiles;  // of the finished map tasks: those whose profile arrived
  std::uint32_t silent_tasks = 0;      // running ones, not heard of for more than 10 s
  friend bool operator==(const Coverage&, const Coverage&) = default;
};

// How wrong an indicator was ([NF] 7.4), in points of progress, 0..100.
struct IndicatorError {
  std::string indicator;
  std::optional<double> last_stage_avg_points;
  std::optional<double> last_stage_max_points;
  double job_avg_points = 0;
  double job_max_points = 0;
  std::optional<double> interval_coverage;  // share of updates whose interval held the true end
  friend bool operator==(const IndicatorError&, const IndicatorError&) = default;
};

// A job at one instant: whole, or, if base_sequence is not 0, what has changed since an earlier
// snapshot. Delta() and Apply() (proto/wire/snapshot_delta.h) go from one form to the other.
struct Snapshot {
  std::string job_id;
  std::string run_uid;  // which run of the job; empty: not said
  std::uint64_t sequence = 0;
  std::uint64_t base_sequence = 0;
  absl::Time at;
  JobState state = JobState::kUnknown;
  bool is_final = false;
  std::string message;          // why it failed, was killed or abandoned
  std::optional<JobInfo> info;  // empty only in a delta: as it was
  std::optional<absl::Time> started_at;
  std::optional<absl::Time> ended_at;
  Estimate estimate;
  Counts counts;
  std::optional<absl::Time> silent_since;  // reports are due since then; empty: there is news
  std::vector<std::string> notes;

  std::vector<StageInfo> stage_infos;  // this and the next three: not in the smallest view
  std::vector<StageProgress> stages;
  std::vector<Child> children;
  std::vector<Group> groups;            // that the engine has told of, by group
  std::vector<StageId> removed_stages;  // of a delta

  std::vector<NamedTask> named_tasks;  // from here on: in the largest view only
  std::vector<Indicator> indicators;
  std::optional<Coverage> coverage;
  std::vector<IndicatorError> errors;

  // How long it has been running, or ran.
  absl::Duration elapsed() const {
    if (!started_at) return absl::ZeroDuration();
    const absl::Duration since = ended_at.value_or(at) - *started_at;
    return since > absl::ZeroDuration() ? since : absl::ZeroDuration();
  }
  friend bool operator==(const Snapshot&, const Snapshot&) = default;
};

// Snapshot::counts as its stages and children have it. O(stages + children).
Counts CountParts(const Snapshot& snapshot);

// One group of a job as if it were a job, with the id JOB/GROUP: to show it as jobs are shown.
// Final once the group has ended. Empty: the job has no such group. REQUIRES: `job` is whole and
// has its stages. O(stages).
std::optional<Snapshot> SnapshotOfGroup(const Snapshot& job, std::string_view group);

}  // namespace tidemark
