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
  // A map stage and a reduce stage, or a map stage alone.
  kMapReduce,
  // Stages, of which more may come while it runs.
  kApplication,
  // Other jobs, with edges between them.
  kWorkflow,
};

enum class JobState : std::uint8_t {
  kUnknown,
  // Known, but nothing of it has begun.
  kQueued,
  kRunning,
  kSucceeded,
  kFailed,
  kKilled,
  // The master received no event for too long (JobMonitorOptions::abandon_after).
  kAbandoned,
  // It ended, and the engine did not report how.
  kUnknownEnd,
};

// A duration that is estimated: as likely longer than the median as shorter, and within the bounds
// in nine of ten cases. lower <= median <= upper where they are known.
struct Range {
  absl::Duration median;
  std::optional<absl::Duration> lower;
  std::optional<absl::Duration> upper;
  friend bool operator==(const Range&, const Range&) = default;
};

// Returns the same prediction, made at `at`, as precisely as it is worth publishing: the instants
// that it points to lie on grids whose steps are powers of two of nanoseconds. The step of each
// number is at most a 32nd of it. A prediction that moves by much less than that from one snapshot
// to the next is then mostly the same instant, and no delta mentions it. Negative durations become
// zero; a prediction of more than 100 years stays as it is. O(1).
Range RoundedPrediction(absl::Time at, const Range& range);

// The part of its time that has passed, if so much is left; 0 where both are zero. Durations are
// not negative, and not both infinite. 0..1. O(1).
double PartPassed(absl::Duration passed, absl::Duration left);

enum class EstimateState : std::uint8_t {
  kUnknown,
  // There is too little evidence yet: `remaining` is empty.
  kWarmingUp,
  kValid,
  // Past the predicted end and still running: `remaining` is empty, or its upper bound is open.
  kOverdue,
  // It has ended.
  kFinal,
};

// The strongest evidence that an estimate rests on.
enum class Basis : std::uint8_t {
  kUnknown,
  // Other jobs, how far it is with its input, or nothing: no result of it or its earlier runs.
  kGuess,
  // A profile, or earlier runs of the job.
  kEarlierRuns,
  kThisRun,
  // Nothing is left to estimate.
  kDone,
};

// How far something is and when it ends.
struct Estimate {
  EstimateState state = EstimateState::kUnknown;
  // The part of its time that has passed, to be shown: it never falls. The bounds are those of this
  // instant alone, so fraction_done may lie above them.
  double fraction_done = 0;
  double fraction_done_lower = 0;
  double fraction_done_upper = 0;
  // From Snapshot::at on. Empty: not known; see `state`.
  std::optional<Range> remaining;
  Basis basis = Basis::kUnknown;
  // The share of the work left that this run or earlier ones tell about. 0..1.
  double known_share = 0;
  // The indicator that made the estimate. Empty: "tidemark".
  std::string indicator;
  friend bool operator==(const Estimate&, const Estimate&) = default;
};

// The probability that what remains takes longer than `left`, no surer than the estimate is:
//
//   k * measured + (1 - k) * said,    k = known_share if this run tells the end, else 0
//
// measured: as often as jobs were late so many half-widths of the interval from the median
// (bench/RESULTS.md). said: what the interval itself says of a guess or of earlier runs, log-normal
// to either side of the median, with 5 % beyond each bound. 0.001..0.999, since no forecast is
// certain; 1 when nothing is left. Empty: there is no interval, or its bounds contradict each
// other. O(1).
std::optional<double> LateProbability(const Estimate& estimate, absl::Duration left);

// What rarely changes while a job runs. Empty text: not reported.
struct JobInfo {
  // Empty: the job is called by its id.
  std::string name;
  JobKind kind = JobKind::kUnknown;
  // "hadoop", "spark", "local_mapreduce", ...
  std::string engine;
  // The engine's own id of it, such as "application_1700000000000_0001".
  std::string application_id;
  std::string user;
  std::string queue;
  // The workflow that this job is a child of.
  std::string workflow_id;
  friend bool operator==(const JobInfo&, const JobInfo&) = default;
};

// How many parts a job has. The smallest view has these counts in place of stages and children.
struct Counts {
  // Without those that are only expected.
  std::uint32_t stages = 0;
  // Done or skipped.
  std::uint32_t finished_stages = 0;
  // Sums over all stages.
  std::uint64_t tasks = 0;
  std::uint64_t running_tasks = 0;
  std::uint64_t finished_tasks = 0;
  std::uint64_t failed_attempts = 0;
  // Without those that were cancelled.
  std::uint32_t children = 0;
  // Those that have succeeded.
  std::uint32_t finished_children = 0;
  friend bool operator==(const Counts&, const Counts&) = default;
};

// Stages that do not exist yet, but did in earlier runs, have numbers from here on.
inline constexpr std::uint32_t kExpectedStages = std::uint32_t{1} << 31;

// Names a stage within a snapshot. Ids sort by child, then by number.
struct StageId {
  // Child::number of the job that the stage belongs to; 0: the job itself.
  std::uint32_t child = 0;
  // Its number within that job.
  std::uint32_t stage = 0;
  friend auto operator<=>(const StageId&, const StageId&) = default;
};

// What does not change while a stage is worked on.
struct StageInfo {
  StageId id;
  // Counts from 0; a stage that is run again has the next one.
  std::uint32_t attempt = 0;
  // For people; never interpreted.
  std::string name;
  StageKind kind = StageKind::kUnknown;
  // Numbers of stages of the same job that must end before this one can work.
  std::vector<std::uint32_t> parents;
  // The Group that it belongs to, such as "sql/3"; empty: none.
  std::string group;
  // Of the engine's scheduler; empty: the job's queue.
  std::string pool;
  friend bool operator==(const StageInfo&, const StageInfo&) = default;
};

enum class StageState : std::uint8_t {
  kUnknown,
  // None of its tasks has begun.
  kPending,
  // One has begun, and not all have ended.
  kRunning,
  // All of its tasks have ended well.
  kDone,
  // It does not run: its output was there already.
  kSkipped,
  // Earlier runs had it; it does not exist yet.
  kExpected,
  // It has ended without all of its output; a later attempt may run.
  kFailed,
  // Its application ended, or it did, and the engine did not report how the stage ended.
  kUnknownEnd,
};

// How far the tasks of a stage are with fetching what other stages wrote.
struct ShuffleProgress {
  // By bytes; it never falls. 0..1.
  double fraction_done = 0;
  // Those that fetch.
  std::uint64_t running_tasks = 0;
  // Those that have fetched all of their input.
  std::uint64_t finished_tasks = 0;
  friend bool operator==(const ShuffleProgress&, const ShuffleProgress&) = default;
};

// How far a stage is. Its fraction_done never falls within one attempt of the stage, unless that
// was skipped and runs after all.
struct StageProgress {
  StageId id;
  StageState state = StageState::kUnknown;
  // By time where an estimate tells it, else by bytes, else by tasks. 0..1.
  double fraction_done = 0;
  std::uint64_t tasks = 0;
  std::uint64_t running_tasks = 0;
  // Those that have ended well.
  std::uint64_t finished_tasks = 0;
  // Attempts at its tasks.
  std::uint64_t failed_attempts = 0;
  // When its first task began and when its last one ended, by the master's clock.
  std::optional<absl::Time> started_at;
  std::optional<absl::Time> ended_at;
  // From Snapshot::at on. Empty: it has begun, or it is not known.
  std::optional<Range> starts_in;
  // Of its last task. Empty: it has ended, or it is not known.
  std::optional<Range> ends_in;
  // Mean of the unfinished tasks, as expected now.
  std::optional<absl::Duration> task_time;
  // The resource that limits its tasks: "cpu", "disk read", ...; empty: not known.
  std::string bottleneck;
  // Whether a delay of this stage delays the whole job.
  bool is_critical = false;
  // Of tasks that first fetch what other stages wrote.
  std::optional<ShuffleProgress> shuffle;
  // Why the last failed attempt at one of its tasks failed.
  std::string failure;
  friend bool operator==(const StageProgress&, const StageProgress&) = default;
};

// Stages that people wait for together, such as those of a SQL execution. More may come while it
// runs. SnapshotOfGroup() shows one like a job.
struct Group {
  // As StageInfo names it, such as "sql/3".
  std::string group;
  // For people; empty: not reported.
  std::string name;
  JobState state = JobState::kUnknown;
  // Why it failed.
  std::string message;
  // By time where an end is predicted, else by tasks. It never falls. 0..1.
  double fraction_done = 0;
  std::optional<absl::Time> started_at;
  std::optional<absl::Time> ended_at;
  // Of the stages that it has now and those that are planned; without bounds where more may come.
  std::optional<Range> ends_in;
  friend bool operator==(const Group&, const Group&) = default;
};

enum class ChildState : std::uint8_t {
  kUnknown,
  // Waits for others.
  kPending,
  // Nothing holds it back, and it has not reported yet.
  kAwaited,
  kRunning,
  kSucceeded,
  // Ended badly, and another job may be attached in its place.
  kRetryable,
  // Failed, killed or abandoned, for good.
  kFailed,
  // Taken out of the workflow.
  kCancelled,
};

// A job of a workflow. Its stages are among Snapshot::stages, with its number in their ids.
struct Child {
  // Its place in the workflow, from 1 on; never given to another.
  std::uint32_t number = 0;
  // What the workflow calls it.
  std::string name;
  // The job that reports for it; empty: none is attached.
  std::string job_id;
  ChildState state = ChildState::kUnknown;
  Estimate estimate;
  std::optional<absl::Time> started_at;
  std::optional<absl::Time> ended_at;
  // From Snapshot::at on. Empty: it has begun, or it is not known.
  std::optional<Range> starts_in;
  // Whether a delay of this job delays the workflow.
  bool is_critical = false;
  // Jobs that were attached to it and ended badly.
  std::uint32_t failed_attempts = 0;
  // Why the last of them failed.
  std::string message;
  // Numbers of the children that it waits for.
  std::vector<std::uint32_t> after;
  friend bool operator==(const Child&, const Child&) = default;
};

// A task that is expected to be among the last to end, and why.
struct NamedTask {
  AttemptId attempt;
  // Child::number of the job that the task belongs to; 0: the job itself.
  std::uint32_t child = 0;
  // Empty: not known, or it waits for a slot.
  std::string host;
  std::optional<Range> remaining;
  // Key groups of known size that it has not finished.
  std::uint64_t explicit_groups_left = 0;
  // The heaviest of these, 0 if there is none; its share of the task's remaining time; and whether
  // the task is working on it now.
  std::uint64_t heaviest_group_bytes = 0;
  double heaviest_group_share = 0;
  bool in_heaviest_group = false;
  // One sentence for people.
  std::string reason;
  // No attempt at it has begun: it waits for a slot.
  bool waits_for_slot = false;
  friend bool operator==(const NamedTask&, const NamedTask&) = default;
};

// What predicted reduce time was taken from: shares that add up to 1, or all 0. Key groups of
// similar size, or a fitted curve, of the task itself or of others; or a plain ratio to bytes.
struct Evidence {
  double own_neighbours = 0;
  double own_fit = 0;
  double other_neighbours = 0;
  double other_fit = 0;
  double ratio = 0;
  friend bool operator==(const Evidence&, const Evidence&) = default;
};

// What another progress indicator says of the job. Only for those that were asked for
// (JobMonitorOptions::indicators).
struct Indicator {
  // With the indicator's name.
  Estimate estimate;
  // The part of the last stage's time that has passed. 0..1.
  double last_stage_fraction_done = 0;
  std::optional<Evidence> evidence;
  friend bool operator==(const Indicator&, const Indicator&) = default;
};

// How much of what happened reached the master. Counts are totals of the run.
struct Coverage {
  // When the newest event arrived, by the master's clock.
  std::optional<absl::Time> newest_event_at;
  // Gaps in the numbers of sources.
  std::uint64_t lost_events = 0;
  // What sources say they dropped for want of room.
  std::uint64_t dropped_events = 0;
  std::uint64_t dropped_points = 0;
  // Events that contradict earlier ones.
  std::uint64_t anomalies = 0;
  // Events that the master refused.
  std::uint64_t rejected_events = 0;
  // The share of the finished map tasks whose profile arrived. 0..1.
  std::optional<double> map_profiles;
  // Running tasks without a report for more than 10 s.
  std::uint32_t silent_tasks = 0;
  // Tasks whose end was not reported: tasks of stages that ended with all of their output, and
  // attempts whose end was lost (AttemptState::kLost).
  std::uint64_t missing_task_ends = 0;
  // Tasks that are reported as running beyond the slots of their executors: as many of these have
  // ended without a report.
  std::uint32_t tasks_beyond_slots = 0;
  friend bool operator==(const Coverage&, const Coverage&) = default;
};

// How wrong an indicator was over the whole run ([NF] 7.4), in points of progress, 0..100: the
// average and the largest difference to the truth, which is known once the job has ended.
struct IndicatorError {
  std::string indicator;
  // Within the last stage. Empty: there was no update while it ran.
  std::optional<double> last_stage_avg_points;
  std::optional<double> last_stage_max_points;
  double job_avg_points = 0;
  double job_max_points = 0;
  // The share of the updates within the last stage whose interval held the true end. 0..1.
  // Empty: it gave no interval.
  std::optional<double> interval_coverage;
  // Mean width of these intervals, each at most 20 times the time that was left, over the mean of
  // that time. 0..20. Empty: there was none.
  std::optional<double> interval_width;
  friend bool operator==(const IndicatorError&, const IndicatorError&) = default;
};

// A job at one instant: whole, or, if base_sequence is not 0, what has changed since an earlier
// snapshot. Delta() and Apply() (proto/wire/snapshot_delta.h) go from one form to the other.
//
// To walk through a workflow:
//
//   for (const tidemark::Child& child : snapshot.children) {
//     for (const tidemark::StageProgress& stage : snapshot.stages) {
//       if (stage.id.child == child.number) Show(child, stage);
//     }
//   }
struct Snapshot {
  std::string job_id;
  // Which run of the job; empty: not reported.
  std::string run_uid;
  // Grows with every snapshot of the run; 0: of a plan that was not submitted.
  std::uint64_t sequence = 0;
  // Of a delta: the snapshot that it must be applied to.
  std::uint64_t base_sequence = 0;
  // When it was made, by the master's clock.
  absl::Time at;
  JobState state = JobState::kUnknown;
  // Whether the job has ended and no later snapshot of the run will come.
  bool is_final = false;
  // Why it failed, was killed or abandoned.
  std::string message;
  // Empty only in a delta: as it was.
  std::optional<JobInfo> info;
  // When it was submitted or, if that is not known, first heard of; by the master's clock.
  std::optional<absl::Time> started_at;
  std::optional<absl::Time> ended_at;
  Estimate estimate;
  Counts counts;
  // Reports, of a workflow those of any job, are due since then; not before the master that makes
  // the snapshot could hear them. Empty: they come as they should.
  std::optional<absl::Time> silent_since;
  // What a person should know, such as a job that has not reported; one sentence each.
  std::vector<std::string> notes;
  // When it has to have succeeded. Empty: nobody said.
  std::optional<absl::Time> deadline;
  // That it ends later, provided that it ends well. Empty: without a deadline, without an interval,
  // and once it has ended otherwise than well. 0..1.
  std::optional<double> late_probability;

  // Not in the smallest view.
  std::vector<StageInfo> stage_infos;
  std::vector<StageProgress> stages;
  std::vector<Child> children;
  std::vector<Group> groups;
  // Of a delta: stages that are gone.
  std::vector<StageId> removed_stages;

  // In the largest view only. Named tasks: the last to end first.
  std::vector<NamedTask> named_tasks;
  std::vector<Indicator> indicators;
  std::optional<Coverage> coverage;
  // Once the job has succeeded.
  std::vector<IndicatorError> errors;

  // How long it has been running, or ran; zero before it started. O(1).
  absl::Duration elapsed() const {
    if (!started_at) return absl::ZeroDuration();
    const absl::Duration since = ended_at.value_or(at) - *started_at;
    return since > absl::ZeroDuration() ? since : absl::ZeroDuration();
  }
  friend bool operator==(const Snapshot&, const Snapshot&) = default;
};

// Snapshot::counts as its stages and children have it. O(stages + children).
Counts CountParts(const Snapshot& snapshot);

// The probability that the job ends well after `deadline`, as far as the snapshot tells: 0 or 1
// once it has ended well, 1 from the deadline on. Empty: see Snapshot::late_probability. O(1).
std::optional<double> LateProbability(const Snapshot& snapshot, absl::Time deadline);

// One group of a job as if it were a job, with the id JOB/GROUP: to show it as jobs are shown.
// Final once the group has ended. Empty: the job has no such group. REQUIRES: `job` is whole and
// has its stages. O(stages).
std::optional<Snapshot> SnapshotOfGroup(const Snapshot& job, std::string_view group);

}  // namespace tidemark
