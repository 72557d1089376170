// The state of a job at one instant, as a value.
//
// A job is any computation that people wait for: a MapReduce job, an application of many stages,
// or a workflow of jobs. All three have the same kind of snapshot: an estimate of the whole,
// stages, and, for a workflow, children. How to show one:
//
//   tidemark::Snapshot now = monitor.Tick(time);
//   std::cout << now.info->name << ": " << 100 * now.estimate.fraction_done << " %";
//   if (now.estimate.remaining) std::cout << ", " << now.estimate.remaining->median << " left";
//   if (now.is_final) std::cout << ", over";
//
// Every snapshot of a JobMonitor, a master or a parsed message satisfies:
//
//   - every fraction is finite and within 0..1; no duration is negative or infinite;
//   - estimate.fraction_done is never less than in an earlier snapshot of the run, and 1 only after
//     the job has succeeded;
//   - an unknown value is empty, never a guess: an empty `remaining` is not zero;
//   - stages are sorted by id, children by number, groups by group, each once;
//   - exactly one snapshot of a run is final, the last;
//   - the same events and ticks give the same snapshot, to the last bit.
//
// The plain counterpart of proto/tidemark/v1/job.proto, whose field comments also apply here.
// Values are copyable, comparable, and safe to share between threads when const. Enums may grow,
// so treat an unknown value as kUnknown. Use `is_final`, not the state, to check whether a job is
// over.
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
  // A map stage and a reduce stage, or only a map stage.
  kMapReduce,
  // Stages, more of which may come while the job runs.
  kApplication,
  // Other jobs, with edges between them.
  kWorkflow,
};

enum class JobState : std::uint8_t {
  kUnknown,
  // Tracked, but no part of it has begun.
  kQueued,
  kRunning,
  kSucceeded,
  kFailed,
  kKilled,
  // The master received no event for longer than JobMonitorOptions::abandon_after.
  kAbandoned,
  // The job ended, and the engine did not report the outcome.
  kUnknownEnd,
};

// An estimated duration: the median and a 90 % interval. lower <= median <= upper where they are
// known.
struct Range {
  absl::Duration median;
  std::optional<absl::Duration> lower;
  std::optional<absl::Duration> upper;
  friend bool operator==(const Range&, const Range&) = default;
};

// Returns `range`, made at `at`, rounded for publication. The instants that it refers to lie on
// grids whose steps are powers of two of nanoseconds. The step of each number is at most a 32nd of
// it. A smaller change from one snapshot to the next therefore rarely appears in a delta. Negative
// durations become zero. A range of more than 100 years stays unchanged. O(1).
Range RoundedPrediction(absl::Time at, const Range& range);

// Returns passed / (passed + left), 0..1, and 0 if both are zero. Neither duration may be
// negative, and at most one may be infinite. O(1).
double PartPassed(absl::Duration passed, absl::Duration left);

enum class EstimateState : std::uint8_t {
  kUnknown,
  // The evidence is not sufficient yet. `remaining` is unset.
  kWarmingUp,
  kValid,
  // Still running after the predicted end. `remaining` is unset, or its upper bound is open.
  kOverdue,
  // The job has ended.
  kFinal,
};

// The strongest evidence on which an estimate rests.
enum class Basis : std::uint8_t {
  kUnknown,
  // No results of this job or its past runs. Rests on other jobs, the input read so far, or
  // nothing.
  kGuess,
  // A profile, or past runs of the job.
  kEarlierRuns,
  kThisRun,
  // The job has ended.
  kDone,
};

// The method of an estimate of the indicator "tidemark".
enum class EstimateMethod : std::uint8_t {
  // There is no estimate, or it is of another indicator.
  kUnknown,
  // Assumed task times. There is no evidence.
  kAssumptions,
  kOtherJobs,
  // The map phase of the job, perhaps with other jobs.
  kMapPhase,
  // The bytes that reduce tasks have read, perhaps with the map phase and other jobs.
  kBytesRead,
  kPastRuns,
  // Sizes and times of the tasks of this run, perhaps with past runs.
  kTaskSizes,
  // Task times of the stages of this run and of past runs.
  kTaskTimes,
  // Measured costs of key groups of this run.
  kKeyGroups,
  // Forecasts of the jobs of the workflow.
  kJobs,
};

// Progress and remaining time of a job, a stage or a child.
struct Estimate {
  EstimateState state = EstimateState::kUnknown;
  // Fraction of its time that has passed, for display. It never falls. The bounds apply only to
  // this instant, so fraction_done may lie above them.
  double fraction_done = 0;
  double fraction_done_lower = 0;
  double fraction_done_upper = 0;
  // Counted from Snapshot::at. Unset if unknown; `state` gives the reason.
  std::optional<Range> remaining;
  Basis basis = Basis::kUnknown;
  // Fraction of the remaining work for which this run or past runs have evidence, 0..1.
  double known_share = 0;
  // The indicator that made the estimate. Empty means "tidemark".
  std::string indicator;
  EstimateMethod method = EstimateMethod::kUnknown;
  friend bool operator==(const Estimate&, const Estimate&) = default;
};

// Returns the probability that the remaining time exceeds `left`:
//
//   k * measured + (1 - k) * stated,    k = known_share if basis is kThisRun, else 0
//
// `measured` is how often jobs were late by as many half-widths of the interval
// (bench/RESULTS.md). `stated` is the interval's own probability for a guess or for past runs. It
// is log-normal on either side of the median, with 5 % beyond each bound. The result is within
// 0.001..0.999, and 1 if no time is left. Returns nullopt if there is no interval or if its bounds
// contradict each other. O(1).
std::optional<double> LateProbability(const Estimate& estimate, absl::Duration left);

// Properties that rarely change while a job runs. An empty string means that nothing was reported.
struct JobInfo {
  // Empty if the job is named by its ID.
  std::string name;
  JobKind kind = JobKind::kUnknown;
  // "hadoop", "spark", "local_mapreduce", ...
  std::string engine;
  // The engine's own ID of the job, such as "application_1700000000000_0001".
  std::string application_id;
  std::string user;
  std::string queue;
  // The workflow of which this job is a child.
  std::string workflow_id;
  friend bool operator==(const JobInfo&, const JobInfo&) = default;
};

// Numbers of parts of a job. The smallest view has these numbers instead of stages and children.
struct Counts {
  // Does not include expected stages.
  std::uint32_t stages = 0;
  // Done or skipped.
  std::uint32_t finished_stages = 0;
  // Sums over all stages.
  std::uint64_t tasks = 0;
  std::uint64_t running_tasks = 0;
  std::uint64_t finished_tasks = 0;
  std::uint64_t failed_attempts = 0;
  // Cancelled jobs count only if the workflow itself was cancelled.
  std::uint32_t children = 0;
  // Successful children.
  std::uint32_t finished_children = 0;
  friend bool operator==(const Counts&, const Counts&) = default;
};

// Stages of past runs that do not exist yet have this number or a higher one.
inline constexpr std::uint32_t kExpectedStages = std::uint32_t{1} << 31;

// Names a stage within a snapshot. IDs sort by child, then by number.
struct StageId {
  // Child::number of the job that has the stage, or 0 for the job itself.
  std::uint32_t child = 0;
  // Its number within that job.
  std::uint32_t stage = 0;
  friend auto operator<=>(const StageId&, const StageId&) = default;
};

// Properties of a stage that do not change while it runs.
struct StageInfo {
  StageId id;
  // Counts from 0. A stage that runs again gets the next number.
  std::uint32_t attempt = 0;
  // For display; never interpreted.
  std::string name;
  StageKind kind = StageKind::kUnknown;
  // Numbers of stages of the same job that must end before this one can work.
  std::vector<std::uint32_t> parents;
  // The name of its Group, such as "sql/3". Empty if it has none.
  std::string group;
  // Pool of the engine's scheduler. Empty means the queue of the job.
  std::string pool;
  friend bool operator==(const StageInfo&, const StageInfo&) = default;
};

enum class StageState : std::uint8_t {
  kUnknown,
  // None of its tasks has begun.
  kPending,
  // A task has begun, and not all tasks have ended.
  kRunning,
  // All of its tasks have succeeded.
  kDone,
  // It does not run because its output already existed.
  kSkipped,
  // It does not exist yet, but existed in past runs.
  kExpected,
  // It has ended without all of its output. A later attempt may run.
  kFailed,
  // It or its application ended, and the engine did not report the outcome of the stage.
  kUnknownEnd,
};

// Progress of a stage's tasks in fetching the output of other stages.
struct ShuffleProgress {
  // By bytes, 0..1. Never falls.
  double fraction_done = 0;
  // Tasks that fetch.
  std::uint64_t running_tasks = 0;
  // Tasks that have fetched all of their input.
  std::uint64_t finished_tasks = 0;
  friend bool operator==(const ShuffleProgress&, const ShuffleProgress&) = default;
};

// Progress of a stage. Its fraction_done never falls within one attempt of the stage, unless the
// attempt was skipped and runs later.
struct StageProgress {
  StageId id;
  StageState state = StageState::kUnknown;
  // 0..1, by time if an estimate exists, else by bytes, else by tasks.
  double fraction_done = 0;
  std::uint64_t tasks = 0;
  std::uint64_t running_tasks = 0;
  // Successful tasks.
  std::uint64_t finished_tasks = 0;
  // Failed attempts at its tasks.
  std::uint64_t failed_attempts = 0;
  // Start of its first task and end of its last task, by the master's clock.
  std::optional<absl::Time> started_at;
  std::optional<absl::Time> ended_at;
  // Counted from Snapshot::at. Unset if the stage has begun or if its start is unknown.
  std::optional<Range> starts_in;
  // End of its last task. Unset if the stage has ended or if its end is unknown.
  std::optional<Range> ends_in;
  // Current estimate of the mean time of its unfinished tasks.
  std::optional<absl::Duration> task_time;
  // The resource that limits its tasks: "cpu", "disk read", ... Empty if unknown.
  std::string bottleneck;
  // True if a delay of this stage delays the whole job.
  bool is_critical = false;
  // For tasks that first fetch the output of other stages.
  std::optional<ShuffleProgress> shuffle;
  // The cause of the last failed attempt at one of its tasks.
  std::string failure;
  friend bool operator==(const StageProgress&, const StageProgress&) = default;
};

// Stages that people wait for together, such as the stages of a SQL execution. More may come while
// it runs. SnapshotOfGroup() returns one in the form of a job.
struct Group {
  // The name in StageInfo, such as "sql/3".
  std::string group;
  // For display. Empty if not reported.
  std::string name;
  JobState state = JobState::kUnknown;
  // The cause of a failure.
  std::string message;
  // 0..1, by time if an end is predicted, else by tasks. Never falls.
  double fraction_done = 0;
  std::optional<absl::Time> started_at;
  std::optional<absl::Time> ended_at;
  // End of its current and planned stages. Has no bounds if more stages may come.
  std::optional<Range> ends_in;
  friend bool operator==(const Group&, const Group&) = default;
};

enum class ChildState : std::uint8_t {
  kUnknown,
  // Waits for other children.
  kPending,
  // It may run, but has not reported yet.
  kAwaited,
  kRunning,
  kSucceeded,
  // It failed, and another job may be attached to replace it.
  kRetryable,
  // Failed, killed or abandoned, and not attempted again.
  kFailed,
  // Removed from the workflow.
  kCancelled,
};

// A job of a workflow. Its stages are in Snapshot::stages, with its number in their IDs.
struct Child {
  // Its position in the workflow, starting at 1. A number is never reused.
  std::uint32_t number = 0;
  // Its name within the workflow.
  std::string name;
  // The job that reports for this child. Empty if none is attached.
  std::string job_id;
  ChildState state = ChildState::kUnknown;
  Estimate estimate;
  std::optional<absl::Time> started_at;
  std::optional<absl::Time> ended_at;
  // Counted from Snapshot::at. Unset if the job has begun or if its start is unknown.
  std::optional<Range> starts_in;
  // True if a delay of this job delays the workflow.
  bool is_critical = false;
  // Number of attached jobs that failed.
  std::uint32_t failed_attempts = 0;
  // The cause of the last failure.
  std::string message;
  // Numbers of the children for which it waits.
  std::vector<std::uint32_t> after;
  friend bool operator==(const Child&, const Child&) = default;
};

// A task that is predicted to be among the last to end, and the reason.
struct NamedTask {
  AttemptId attempt;
  // Child::number of the job that has the task, or 0 for the job itself.
  std::uint32_t child = 0;
  // Empty if unknown, or while the task waits for a slot.
  std::string host;
  std::optional<Range> remaining;
  // Unfinished key groups of known size.
  std::uint64_t explicit_groups_left = 0;
  // Size of the heaviest of these groups, or 0; its fraction of the task's remaining time; and
  // whether the task is processing it now.
  std::uint64_t heaviest_group_bytes = 0;
  double heaviest_group_share = 0;
  bool in_heaviest_group = false;
  // One sentence for display.
  std::string reason;
  // True if no attempt has begun because the task waits for a slot.
  bool waits_for_slot = false;
  friend bool operator==(const NamedTask&, const NamedTask&) = default;
};

// Sources of the predicted reduce time, as shares that add up to 1, or all 0. The sources are key
// groups of similar size or a fitted curve, from this task or from others, or a plain ratio to
// bytes.
struct Evidence {
  double own_neighbours = 0;
  double own_fit = 0;
  double other_neighbours = 0;
  double other_fit = 0;
  double ratio = 0;
  friend bool operator==(const Evidence&, const Evidence&) = default;
};

// The estimate of another progress indicator, which was requested in
// JobMonitorOptions::indicators.
struct Indicator {
  // Includes the name of the indicator.
  Estimate estimate;
  // Fraction of the last stage's time that has passed, 0..1.
  double last_stage_fraction_done = 0;
  std::optional<Evidence> evidence;
  friend bool operator==(const Indicator&, const Indicator&) = default;
};

// Extent to which a job's events reached the master. Counts are totals of the run.
struct Coverage {
  // Time at which the newest event arrived, by the master's clock.
  std::optional<absl::Time> newest_event_at;
  // Gaps in the sequence numbers of sources.
  std::uint64_t lost_events = 0;
  // Events that sources reported as dropped because their buffers were full.
  std::uint64_t dropped_events = 0;
  std::uint64_t dropped_points = 0;
  // Events that contradict earlier ones.
  std::uint64_t anomalies = 0;
  // Events that the master rejected.
  std::uint64_t rejected_events = 0;
  // Fraction of the finished map tasks whose profile arrived, 0..1.
  std::optional<double> map_profiles;
  // Running tasks that have not reported for more than 10 s.
  std::uint32_t silent_tasks = 0;
  // Tasks whose end was not reported. These are tasks of stages that ended with all of their
  // output, and attempts whose end was lost (AttemptState::kLost).
  std::uint64_t missing_task_ends = 0;
  // Tasks reported as running for 10 s in excess of the slots of their executors or stages. Their
  // ends were not reported, or the slots are wrong.
  std::uint32_t tasks_beyond_slots = 0;
  friend bool operator==(const Coverage&, const Coverage&) = default;
};

// Error of an indicator over the whole run ([NF] 7.4), in points of progress, 0..100. It has the
// mean and the largest difference from the actual progress, which is known after the job has
// ended.
struct IndicatorError {
  std::string indicator;
  // Error within the last stage. Unset if there was no update while it ran.
  std::optional<double> last_stage_avg_points;
  std::optional<double> last_stage_max_points;
  double job_avg_points = 0;
  double job_max_points = 0;
  // Fraction of the updates within the last stage whose interval contained the actual end, 0..1.
  // Unset if there was no interval.
  std::optional<double> interval_coverage;
  // Mean width of these intervals, each at most 20 times the remaining time, divided by the mean
  // remaining time. 0..20. Unset if there was no interval.
  std::optional<double> interval_width;
  friend bool operator==(const IndicatorError&, const IndicatorError&) = default;
};

// A job at one instant. If base_sequence is 0, the snapshot is whole; otherwise it holds the
// changes since an earlier snapshot. Delta() and Apply() (proto/wire/snapshot_delta.h) convert
// between the two forms.
//
// How to walk through a workflow:
//
//   for (const tidemark::Child& child : snapshot.children) {
//     for (const tidemark::StageProgress& stage : snapshot.stages) {
//       if (stage.id.child == child.number) Show(child, stage);
//     }
//   }
struct Snapshot {
  std::string job_id;
  // The run of the job. Empty if not reported.
  std::string run_uid;
  // Grows with every snapshot of the run. 0 for a plan that has not been submitted.
  std::uint64_t sequence = 0;
  // In a delta, the sequence of the snapshot to which it applies.
  std::uint64_t base_sequence = 0;
  // Time of the snapshot, by the master's clock.
  absl::Time at;
  JobState state = JobState::kUnknown;
  // True if the job has ended and no later snapshot of the run will follow.
  bool is_final = false;
  // Why it failed, was killed or abandoned.
  std::string message;
  // A delta omits it if it has not changed.
  std::optional<JobInfo> info;
  // Time of submission or, if unknown, of the first event, by the master's clock.
  std::optional<absl::Time> started_at;
  std::optional<absl::Time> ended_at;
  Estimate estimate;
  Counts counts;
  // Time since which reports are overdue. For a workflow, reports of any of its jobs count. Not
  // before the start of the master. Unset if reports arrive in time.
  std::optional<absl::Time> silent_since;
  // Facts that a person should read, such as a job that does not report. One sentence each.
  std::vector<std::string> notes;
  // Time by which the job must have succeeded. Unset if no deadline was stated.
  std::optional<absl::Time> deadline;
  // Probability that the job succeeds after the deadline, 0..1. Unset without a deadline or an
  // interval and for jobs that ended without success.
  std::optional<double> late_probability;

  // Not in the smallest view.
  std::vector<StageInfo> stage_infos;
  std::vector<StageProgress> stages;
  std::vector<Child> children;
  std::vector<Group> groups;
  // In a delta, the stages that no longer exist.
  std::vector<StageId> removed_stages;

  // Only in the largest view. Named tasks are sorted by predicted end, the last first.
  std::vector<NamedTask> named_tasks;
  std::vector<Indicator> indicators;
  std::optional<Coverage> coverage;
  // Set after the job has succeeded.
  std::vector<IndicatorError> errors;

  // Returns the time from the start until the end, or until `at` while the job runs. Zero before
  // the start. O(1).
  absl::Duration elapsed() const {
    if (!started_at) return absl::ZeroDuration();
    const absl::Duration since = ended_at.value_or(at) - *started_at;
    return since > absl::ZeroDuration() ? since : absl::ZeroDuration();
  }
  friend bool operator==(const Snapshot&, const Snapshot&) = default;
};

// Computes Snapshot::counts from stages and children. O(stages + children).
Counts CountParts(const Snapshot& snapshot);

// Returns the probability that the job succeeds after `deadline`: 0 or 1 after it has succeeded, 1
// from the deadline on. Snapshot::late_probability lists the cases that have no value. O(1).
std::optional<double> LateProbability(const Snapshot& snapshot, absl::Time deadline);

// Returns one group of a job in the form of a job with the ID JOB/GROUP. It is final after the
// group has ended. Returns nullopt if the job has no such group. REQUIRES: `job` is whole and has
// its stages. O(stages).
std::optional<Snapshot> SnapshotOfGroup(const Snapshot& job, std::string_view group);

}  // namespace tidemark
