// The state of a job at one point in time, as a value.
//
// A job is any computation for which users wait: a MapReduce job, an application with many stages,
// or a workflow of jobs. All three have the same kind of snapshot: an estimate of the whole,
// stages, and, for a workflow, children. For example, code can show a snapshot like this:
//
//   tidemark::Snapshot now = monitor.Tick(time);
//   std::cout << now.info->name << ": " << 100 * now.estimate.fraction_done << " %";
//   if (now.estimate.remaining) std::cout << ", " << now.estimate.remaining->median << " left";
//   if (now.is_final) std::cout << ", over";
//
// Every snapshot of a JobMonitor, a master or a parsed message satisfies:
//
//   - every fraction is finite and within 0..1; no duration is negative or infinite;
//   - estimate.fraction_done is 1 only after the job has succeeded;
//   - an unknown value is empty and never a guess, so an empty `remaining` differs from zero;
//   - stages are sorted by id, children by number, groups by group, each once;
//   - only the last snapshot of a run is final;
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
  // Stages, of which more may be added while the job runs.
  kApplication,
  // Other jobs, which depend on each other.
  kWorkflow,
};

enum class JobState : std::uint8_t {
  kUnknown,
  // The job is tracked, but no part of it has begun.
  kQueued,
  kRunning,
  kSucceeded,
  kFailed,
  kKilled,
  // The master has received no event for longer than JobMonitorOptions::abandon_after.
  kAbandoned,
  // The job ended, and the engine did not report the outcome.
  kUnknownEnd,
};

// An estimated duration, as a median and a 90 % interval. If all are known, lower <= median <=
// upper.
struct Range {
  absl::Duration median;
  std::optional<absl::Duration> lower;
  std::optional<absl::Duration> upper;
  friend bool operator==(const Range&, const Range&) = default;
};

// Returns `range`, which was made at `at`, rounded for publication. The points in time that it
// refers to lie on grids whose steps are powers of two of nanoseconds. The step for a number is at
// most a 32nd of the number. Therefore small changes between snapshots rarely appear in a delta.
// Negative durations become zero. A range of more than 100 years remains unchanged. O(1).
Range RoundedPrediction(absl::Time at, const Range& range);

// Returns passed / (passed + left), which is in 0..1, or 0 if both are zero. Neither duration may
// be negative, and at most one may be infinite. O(1).
double PartPassed(absl::Duration passed, absl::Duration left);

enum class EstimateState : std::uint8_t {
  kUnknown,
  // The evidence is not sufficient yet, and `remaining` is unset.
  kWarmingUp,
  kValid,
  // The job still runs after its predicted end. `remaining` is unset, or has no upper bound.
  kOverdue,
  // The job has ended.
  kFinal,
};

// The strongest evidence on which an estimate is based.
enum class Basis : std::uint8_t {
  kUnknown,
  // No results of this job or its past runs. The estimate is based on other jobs, on the input read
  // so far, or on no evidence.
  kGuess,
  // A profile, or past runs of the job.
  kEarlierRuns,
  kThisRun,
  // The job has ended.
  kDone,
};

// The method of an estimate by the indicator "tidemark".
enum class EstimateMethod : std::uint8_t {
  // There is no estimate, or it comes from another indicator.
  kUnknown,
  // Assumed task times, since there is no evidence.
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

// Why the shown progress moves back.
enum class RaiseCause : std::uint8_t {
  kUnknown,
  // Stages appeared that the estimate did not contain.
  kMoreStages,
  // The remaining tasks take longer than estimated, or run on fewer slots.
  kSlowerTasks,
  // Tasks still run after their predicted end.
  kOverdue,
  // All known stages have ended, but the application has not.
  kNotEnded,
};

// A raised estimate of the remaining time. Shown progress moves back to it at a limited rate.
struct EstimateRaised {
  RaiseCause cause = RaiseCause::kUnknown;
  // Number of stages that appeared since the progress began to move back. 0 for other causes.
  std::uint32_t stages = 0;
  // Shown progress before it began to move back.
  double fraction_done_before = 0;
  friend bool operator==(const EstimateRaised&, const EstimateRaised&) = default;
};

// Progress and remaining time of a job, a stage or a child.
struct Estimate {
  EstimateState state = EstimateState::kUnknown;
  // Fraction of its time that has passed, for display. If the estimate of the remaining time is
  // raised, the fraction moves back, at a limited rate unless the earlier estimate was a guess.
  double fraction_done = 0;
  double fraction_done_lower = 0;
  double fraction_done_upper = 0;
  // Counted from Snapshot::at. Unset if unknown; `state` gives the reason.
  std::optional<Range> remaining;
  Basis basis = Basis::kUnknown;
  // Fraction of the remaining work, 0..1, for which this run or past runs provide evidence.
  double known_share = 0;
  // The indicator that made the estimate. If empty, "tidemark".
  std::string indicator;
  EstimateMethod method = EstimateMethod::kUnknown;
  friend bool operator==(const Estimate&, const Estimate&) = default;
};

// Properties that rarely change while a job runs. An empty string means that nothing was reported.
struct JobInfo {
  // Empty if the job has no name other than its ID.
  std::string name;
  JobKind kind = JobKind::kUnknown;
  // "hadoop", "spark", "local_mapreduce", ...
  std::string engine;
  // The engine's own ID for the job, such as "application_1700000000000_0001".
  std::string application_id;
  std::string user;
  std::string queue;
  // The workflow of which this job is a child.
  std::string workflow_id;
  friend bool operator==(const JobInfo&, const JobInfo&) = default;
};

// Numbers of parts of a job. The smallest view contains these numbers instead of stages and
// children.
struct Counts {
  // Does not include expected stages.
  std::uint32_t stages = 0;
  // Number of stages that are done or skipped.
  std::uint32_t finished_stages = 0;
  // Sums over all stages.
  std::uint64_t tasks = 0;
  std::uint64_t running_tasks = 0;
  std::uint64_t finished_tasks = 0;
  std::uint64_t failed_attempts = 0;
  // Cancelled jobs count only if the workflow itself was cancelled.
  std::uint32_t children = 0;
  // Number of successful children.
  std::uint32_t finished_children = 0;
  // Number of successful groups.
  std::uint32_t finished_groups = 0;
  friend bool operator==(const Counts&, const Counts&) = default;
};

// Stages of past runs that do not exist yet have this number or a higher one.
inline constexpr std::uint32_t kExpectedStages = std::uint32_t{1} << 31;

// Identifies a stage within a snapshot. IDs are ordered by child, then by stage number.
struct StageId {
  // Child::number of the job to which the stage belongs, or 0 for the job of the snapshot.
  std::uint32_t child = 0;
  // Number of the stage within that job.
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
  // Numbers of stages of the same job that must end before this stage can work.
  std::vector<std::uint32_t> parents;
  // The group of the stage (Group), such as "sql/3". Empty if the stage belongs to no group.
  std::string group;
  // Pool of the engine's scheduler. If empty, the queue of the job.
  std::string pool;
  friend bool operator==(const StageInfo&, const StageInfo&) = default;
};

enum class StageState : std::uint8_t {
  kUnknown,
  // No task of the stage has begun.
  kPending,
  // A task has begun, and not all tasks have ended.
  kRunning,
  // All tasks of the stage have succeeded.
  kDone,
  // The stage does not run because its output already existed.
  kSkipped,
  // The stage does not exist yet, but existed in past runs.
  kExpected,
  // The stage has ended without all of its output. A later attempt may run.
  kFailed,
  // The stage or its application has ended, and the engine did not report the outcome of the stage.
  kUnknownEnd,
};

// How far the tasks of a stage have fetched the output of other stages.
struct ShuffleProgress {
  // By bytes, 0..1.
  double fraction_done = 0;
  // Number of tasks that are fetching.
  std::uint64_t running_tasks = 0;
  // Number of tasks that have fetched all of their input.
  std::uint64_t finished_tasks = 0;
  friend bool operator==(const ShuffleProgress&, const ShuffleProgress&) = default;
};

// Input that tasks have processed, and the rate since the start of the stage, job or task.
struct Throughput {
  // 0 if unknown.
  std::uint64_t bytes_done = 0;
  std::uint64_t records_done = 0;
  double bytes_per_second = 0;
  double records_per_second = 0;
  friend bool operator==(const Throughput&, const Throughput&) = default;
};

// Returns the throughput of work that took `time`, or nullopt if neither bytes nor records are
// known. The rates are 0 if `time` is not positive or is infinite. O(1).
std::optional<Throughput> ThroughputOf(std::uint64_t bytes, std::uint64_t records,
                                       absl::Duration time);

// Progress of a stage.
struct StageProgress {
  StageId id;
  StageState state = StageState::kUnknown;
  // 0..1. Measured by time if there is an estimate, otherwise by bytes if they are known, and
  // otherwise by tasks.
  double fraction_done = 0;
  std::uint64_t tasks = 0;
  std::uint64_t running_tasks = 0;
  // Successful tasks.
  std::uint64_t finished_tasks = 0;
  // Failed attempts at its tasks.
  std::uint64_t failed_attempts = 0;
  // Start of the first task and end of the last task, by the master's clock.
  std::optional<absl::Time> started_at;
  std::optional<absl::Time> ended_at;
  // Counted from Snapshot::at. Unset if the stage has begun or if its start is unknown.
  std::optional<Range> starts_in;
  // End of the last task. Unset if the stage has ended or if its end is unknown.
  std::optional<Range> ends_in;
  // Current estimate of the mean time of the unfinished tasks.
  std::optional<absl::Duration> task_time;
  // The resource that limits the tasks, such as "cpu" or "disk read". Empty if unknown.
  std::string bottleneck;
  // True if a delay of this stage delays the whole job.
  bool is_critical = false;
  // Progress of the tasks in fetching the output of other stages, if they fetch.
  std::optional<ShuffleProgress> shuffle;
  // The cause of the last failed attempt at a task of the stage.
  std::string failure;
  // Unset if no input was reported.
  std::optional<Throughput> throughput;
  friend bool operator==(const StageProgress&, const StageProgress&) = default;
};

// Stages for which users wait as a whole, such as the stages of an SQL execution. More stages may
// be added while the group runs. SnapshotOfGroup() returns a group in the form of a job.
struct Group {
  // The name that StageInfo::group contains, such as "sql/3".
  std::string group;
  // For display. Empty if not reported.
  std::string name;
  JobState state = JobState::kUnknown;
  // The cause of a failure.
  std::string message;
  // 0..1. Measured by time if an end is predicted, and otherwise by tasks.
  double fraction_done = 0;
  std::optional<absl::Time> started_at;
  std::optional<absl::Time> ended_at;
  // End of the current and planned stages.
  std::optional<Range> ends_in;
  // The evidence for `ends_in`, and its usability.
  Basis basis = Basis::kUnknown;
  EstimateState estimate_state = EstimateState::kUnknown;
  friend bool operator==(const Group&, const Group&) = default;
};

enum class ChildState : std::uint8_t {
  kUnknown,
  // The child waits for other children.
  kPending,
  // The child may run, but has not reported yet.
  kAwaited,
  kRunning,
  kSucceeded,
  // The child failed, and another job may be attached to replace the failed one.
  kRetryable,
  // The child failed, was killed or was abandoned, and will not be attempted again.
  kFailed,
  // The child was removed from the workflow.
  kCancelled,
};

// A job of a workflow. Snapshot::stages contains its stages, whose IDs contain its number.
struct Child {
  // Position of the child in the workflow, starting at 1. A number is never reused.
  std::uint32_t number = 0;
  // Name of the child within the workflow.
  std::string name;
  // The job that reports for this child. Empty if none is attached.
  std::string job_id;
  ChildState state = ChildState::kUnknown;
  Estimate estimate;
  std::optional<absl::Time> started_at;
  std::optional<absl::Time> ended_at;
  // Counted from Snapshot::at. Unset if the job has begun or if its start is unknown.
  std::optional<Range> starts_in;
  // True if a delay of this child delays the workflow.
  bool is_critical = false;
  // Number of attached jobs that have failed.
  std::uint32_t failed_attempts = 0;
  // The cause of the last failure.
  std::string message;
  // Numbers of the children for which this child waits.
  std::vector<std::uint32_t> after;
  friend bool operator==(const Child&, const Child&) = default;
};

// A task that is predicted to be among the last to end, and the reason.
struct NamedTask {
  AttemptId attempt;
  // Child::number of the job to which the task belongs, or 0 for the job of the snapshot.
  std::uint32_t child = 0;
  // Empty if unknown, or while the task waits for a slot.
  std::string host;
  std::optional<Range> remaining;
  // Number of unfinished key groups of known size.
  std::uint64_t explicit_groups_left = 0;
  // The largest of these groups: its size or 0, its fraction of the remaining time of the task, and
  // whether the task is processing the group now.
  std::uint64_t heaviest_group_bytes = 0;
  double heaviest_group_share = 0;
  bool in_heaviest_group = false;
  // One sentence for display.
  std::string reason;
  // True if no attempt has begun because the task waits for a slot.
  bool waits_for_slot = false;
  friend bool operator==(const NamedTask&, const NamedTask&) = default;
};

// Shares of the sources of the predicted reduce time, which sum to 1 or are all 0. A source is
// either key groups of similar size or a fitted curve, each from this task or from others, or a
// plain ratio to bytes.
struct Evidence {
  double own_neighbours = 0;
  double own_fit = 0;
  double other_neighbours = 0;
  double other_fit = 0;
  double ratio = 0;
  friend bool operator==(const Evidence&, const Evidence&) = default;
};

// The estimate of another progress indicator that JobMonitorOptions::indicators requests.
struct Indicator {
  // Includes the name of the indicator.
  Estimate estimate;
  // Fraction of the last stage's time that has passed, 0..1.
  double last_stage_fraction_done = 0;
  std::optional<Evidence> evidence;
  friend bool operator==(const Indicator&, const Indicator&) = default;
};

// How completely the events of a job reached the master. Counts are totals of the run.
struct Coverage {
  // Time at which the newest event arrived, by the master's clock.
  std::optional<absl::Time> newest_event_at;
  // Gaps in the sequence numbers of sources.
  std::uint64_t lost_events = 0;
  // Events that sources dropped and reported as dropped, because their buffers were full.
  std::uint64_t dropped_events = 0;
  std::uint64_t dropped_points = 0;
  // Events that contradict earlier events.
  std::uint64_t anomalies = 0;
  // Events that the master rejected.
  std::uint64_t rejected_events = 0;
  // Fraction of the finished map tasks whose profile has arrived, 0..1.
  std::optional<double> map_profiles;
  // Number of running tasks that have not reported for more than 10 s, and for three of the usual
  // intervals between reports.
  std::uint32_t silent_tasks = 0;
  // Number of tasks whose end was not reported. These are tasks of stages that ended with all of
  // their output, and tasks of attempts whose end was lost (AttemptState::kLost).
  std::uint64_t missing_task_ends = 0;
  // Number by which running tasks have exceeded the slots of their executors or stages for 10 s.
  // Either ends of tasks were not reported, or the slots are wrong.
  std::uint32_t tasks_beyond_slots = 0;
  friend bool operator==(const Coverage&, const Coverage&) = default;
};

// Error of an indicator over the whole run ([NF] 7.4), in points of progress, 0..100. Consists of
// the mean and the maximum difference from the actual progress, which is known after the job has
// ended.
struct IndicatorError {
  std::string indicator;
  // Error within the last stage. Unset if there was no update during that stage.
  std::optional<double> last_stage_avg_points;
  std::optional<double> last_stage_max_points;
  double job_avg_points = 0;
  double job_max_points = 0;
  // Fraction of the updates within the last stage whose interval contained the actual end, 0..1.
  // Unset if there was no interval.
  std::optional<double> interval_coverage;
  // Mean width of these intervals, each limited to 20 times the remaining time, divided by the mean
  // remaining time. 0..20. Unset if there was no interval.
  std::optional<double> interval_width;
  // Duration of the job according to the first forecast that was not a guess, and the time from the
  // start of the job until that forecast. Unset if there is no such forecast.
  std::optional<absl::Duration> first_forecast;
  std::optional<absl::Duration> first_forecast_after;
  friend bool operator==(const IndicatorError&, const IndicatorError&) = default;
};

// A job at one point in time. If base_sequence is 0, the snapshot is whole. Otherwise it contains
// the changes since an earlier snapshot. Delta() and Apply() (proto/wire/snapshot_delta.h) convert
// between the two forms.
//
// This code visits the stages of all jobs of a workflow:
//
//   for (const tidemark::Child& child : snapshot.children) {
//     for (const tidemark::StageProgress& stage : snapshot.stages) {
//       if (stage.id.child == child.number) Show(child, stage);
//     }
//   }
struct Snapshot {
  std::string job_id;
  // The run of the job. Empty if unknown.
  std::string run_uid;
  // Increases with every snapshot of the run. 0 for a plan that has not been submitted.
  std::uint64_t sequence = 0;
  // In a delta, the sequence number of the snapshot to which the delta applies.
  std::uint64_t base_sequence = 0;
  // Time of the snapshot, by the master's clock.
  absl::Time at;
  JobState state = JobState::kUnknown;
  // True if the job has ended and no later snapshot of the run will follow.
  bool is_final = false;
  // The reason if the job failed, was killed or was abandoned.
  std::string message;
  // Omitted from a delta if unchanged.
  std::optional<JobInfo> info;
  // Time of submission or, if unknown, of the first event, by the master's clock.
  std::optional<absl::Time> started_at;
  std::optional<absl::Time> ended_at;
  Estimate estimate;
  Counts counts;
  // Time since which reports are overdue. Reports of any job of a workflow count as reports of the
  // workflow. Not before the start of the master. Unset if reports arrive in time.
  std::optional<absl::Time> silent_since;
  // Facts that a user should know, such as a job that does not report. Each is one sentence.
  std::vector<std::string> notes;
  // Deadline by which the job must have succeeded. Unset if no deadline was stated.
  std::optional<absl::Time> deadline;
  // Probability that the job succeeds only after the deadline, 0..1. Unset if there is no deadline
  // or no interval and if the job ended without success.
  std::optional<double> late_probability;
  // Set for up to ten seconds after the shown progress has moved back from more than a guess.
  std::optional<EstimateRaised> estimate_raised;
  // Time since which the application or open workflow has had no work: all of its stages or known
  // jobs have ended, and it has not announced others. Unset for other jobs.
  std::optional<absl::Time> idle_since;
  // The group that users wait for, if no past run predicts the end of the application. It is the
  // running group that began first or, if none runs, the group that ended last. Readers show this
  // group instead of `estimate`, and `estimate_raised` refers to it. Empty otherwise.
  std::string headline_group;
  // True if the application may open further stages, or the open workflow may get further jobs,
  // that neither its engine nor past runs have announced. `estimate` then includes time for them.
  bool may_grow = false;
  // Sums over all stages, and the rate since the start of the job. Data that a later stage reads
  // again counts again. Workflows and jobs without reported input have none.
  std::optional<Throughput> throughput;

  // Omitted from the smallest view, except the headline's group.
  std::vector<StageInfo> stage_infos;
  std::vector<StageProgress> stages;
  std::vector<Child> children;
  std::vector<Group> groups;
  // In a delta, the stages that no longer exist.
  std::vector<StageId> removed_stages;

  // Only in the largest view. Named tasks are sorted by predicted end, the latest first.
  std::vector<NamedTask> named_tasks;
  std::vector<Indicator> indicators;
  std::optional<Coverage> coverage;
  // Set after the job has succeeded.
  std::vector<IndicatorError> errors;

  // Returns the time from the start until the end, or until `at` while the job runs. Returns zero
  // before the start. O(1).
  absl::Duration elapsed() const {
    if (!started_at) return absl::ZeroDuration();
    const absl::Duration since = ended_at.value_or(at) - *started_at;
    return since > absl::ZeroDuration() ? since : absl::ZeroDuration();
  }
  friend bool operator==(const Snapshot&, const Snapshot&) = default;
};

// Computes Snapshot::counts from stages, children and groups. O(stages + children + groups).
Counts CountParts(const Snapshot& snapshot);

// Returns the sums over the stages of the snapshot, and their rate since its start. O(stages).
std::optional<Throughput> ThroughputOfStages(const Snapshot& snapshot);

// Returns one group of a job in the form of a job with the ID JOB/GROUP. It is final after the
// group has ended. Returns nullopt if the job has no such group. REQUIRES: `job` is whole and has
// its stages. O(stages).
std::optional<Snapshot> SnapshotOfGroup(const Snapshot& job, std::string_view group);

}  // namespace tidemark
