// A workflow at one point in time, its past runs, and the matching of their stages. Times are in
// seconds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "master/forecast/placement/allocation.h"
#include "master/forecast/placement/placing.h"
#include "tidemark/event.h"
#include "tidemark/past_run.h"
#include "tidemark/plan.h"

namespace tidemark::dag {

using placement::kWarmths;
using placement::Warmth;

struct FinishedTask {
  double seconds = 0;
  Warmth warmth = Warmth::kRest;
  std::uint32_t index = 0;  // index of the task in its stage
  double size = 0;          // input size, as in StageNow::pending_sizes
  double read_for = 0;      // seconds until the task had read its input, if reported
};

struct RunningTask {
  double elapsed = 0;
  Warmth warmth = Warmth::kRest;
  double size = 0;
  std::optional<double> fraction;  // processed share of the input, if reported; 0..1
  AttemptId id;                    // the attempt that determines when the task ends
  std::optional<double> read_for;  // part of `elapsed` until the last report of progress
};

struct StageNow {
  std::string name;                  // given by the engine; equal in every run
  std::string title;                 // for display; empty if equal to the name
  std::vector<std::size_t> parents;  // indexes in the same list
  std::uint64_t work = 0;            // equal for stages of the same work; 0 if unknown
  bool fetches = true;               // true if the tasks read the output of parents (past_run.h)
  bool are_parents_open = true;  // true if `parents` contains all stages that the stage reads from
  std::size_t owner = 0;
  placement::Resources container = {.cores = 1};
  std::uint64_t tasks = 0;  // counts only started tasks if is_task_count_known is false
  bool is_task_count_known = true;
  bool has_failed = false;  // whether the stage ended without a result
  // Tasks of an ended stage whose ends were not reported. They are not counted in `tasks`.
  std::uint64_t unreported = 0;
  std::vector<FinishedTask> finished;
  std::vector<RunningTask> running;
  // Deviation of ln(task time), common to all stages of its work, because its past runs had other
  // parameters (adjusted_runs.h).
  double adjusted_deviation = 0;
  double read_bytes = 0;     // input of the finished tasks; 0 if unknown
  double emitted_bytes = 0;  // output of the finished tasks; 0 if unknown
  // Input of all tasks, also before they start, as reported or as the output of the parents. 0 if
  // unknown.
  double input_bytes = 0;
  double cpu_seconds = 0;    // processor time of the finished tasks; 0 if unknown
  double fetch_seconds = 0;  // time for which its finished tasks waited for fetches; 0 if unknown
  // The input of the pending tasks in the order of their starts: bytes, or records if bytes are
  // unknown. Empty if unknown.
  std::vector<double> pending_sizes;
  // Seconds from the end of the last parent to the first task. If empty, past runs determine the
  // lag.
  std::optional<double> lag;
  double waited = 0;      // time since the end of the last parent, if no task has started
  double idle_for = 0;    // time since the tasks could run, if no task of the job runs
  double done_since = 0;  // time since the end of the last task, if no task remains
  // Mean time of the tasks on warm slots, from this run alone (task_estimate.h), for an ended
  // stage. Empty if not computed.
  std::optional<double> mean_seconds;
  std::uint64_t at_once_max = placement::kNoLimit;  // maximum number of concurrent tasks
  // Number within its job. At least kExpectedStages for an expected stage.
  std::uint32_t number = 0;
  std::string group;  // for a planned stage, the group that plans it
  // A task's use of its node. If not empty, times of past runs are times alone on a node.
  placement::TaskDemand demand;
};

// Counts the jobs that an application has submitted so far.
struct Submissions {
  std::size_t count = 1;
  std::size_t kinds = 1;            // number of different jobs
  bool is_newest_repeated = false;  // whether the newest job repeats an earlier job
};

// A stage that its engine has planned but not opened.
struct UnopenedStage {
  std::uint32_t number = 0;  // at least kExpectedStages; constant until the stage is opened
  std::string group;
  std::uint64_t tasks = 0;
  std::vector<std::size_t> parents;  // indexes in `stages`, where they precede the planned stages
  std::size_t owner = 0;
  double input_bytes = 0;  // 0 if unknown
};

// A DAG of stages at one point in time.
struct WorkflowNow {
  std::vector<StageNow> stages;
  std::vector<UnopenedStage> planned;
  double elapsed = 0;          // time since the start
  double worked = 0;           // time during which a stage was in progress, if it may grow
  std::size_t warm_slots = 0;  // idle containers that have run a task
  Submissions submissions;
  // True if stages have appeared since the start. If there are no past runs, more stages may
  // appear.
  bool may_grow = false;
  double slots = 0;                 // number of tasks that can run at once; 0 if unknown
  bool are_slots_reported = false;  // if false, `slots` is the observed maximum
  double slots_per_executor = 0;    // 0 if no executor reported slots
  double used_share = 1;            // share of the reported slots that can be in use
  std::uint64_t executors = 0;      // excluding closed executors
  std::uint64_t gone_executors = 0;
  std::uint64_t idle_tasks = 0;  // tasks that only wait for a slot although no task runs
  // The numbers of stages that wait for each other in a cycle. The first number is repeated at the
  // end.
  std::vector<std::uint32_t> cycle;
};

// Matching of stages between runs, since their ids differ from run to run.

// Returns the key of a stage's work: its work number, or its name if the number is unknown.
std::string WorkKey(std::uint64_t work, const std::string& name);

// The counterpart of each stage of this run, as an index into PastRun::stages.
using StageMatches = std::vector<std::optional<std::size_t>>;

// Returns the counterpart of each stage of `now` in `profile`. It has the same name; of several
// such stages, it has the same number of tasks, then similar bytes, then the nearest index. Stages
// whose bytes are known choose first, since jobs that run at once start in any order. Each
// counterpart is used once. If its bytes differ or it is taken, a stage of the same work with
// similar bytes replaces it. If a stage of the profile has no name (adjusted_runs.h), it matches a
// stage of the same work without another counterpart. O(stages log stages).
StageMatches MatchStages(std::span<const StageNow> now, const PastRun& profile);

// Detects past runs of another program under the same name, by the shape of their stages.
//
// Every opened stage of this run is compared with its counterpart (MatchStages()) in the past run.
// The first contradiction refutes the past run. Once at least two stages have confirmed the past
// run, two contradictions in a row are needed, since an optimiser may plan one stage differently in
// each run. A stage contradicts the past run if
//   - the past run has no stage of its name or its work,
//   - it reads the output of different stages, or of none,
//   - its number of tasks differs (MayBeOfOneProgram()), or
//   - its tasks read several times more or fewer bytes.
// Stages that repeat the work of another stage do not count. Sizes do not count if the runs had
// other parameters.
//
// Missing stages count last. A past stage is missing if all its parents are over, it has not
// started, and either two later stages are over or the application is idle. A stage of this run
// without a counterpart may replace one of them. The other missing stages refute the past run if
// there are at least as many as its trust, and at least a quarter as many as confirming stages.
// The trust is 1 at first and at most 3. A confirmation adds 1, and a contradiction subtracts 2.

// Returns the number of contradictions between `run` and the stages of `now`, or nullopt if they
// refute `run`. `now` has no expected stages. If `has_sizes` is true, also compares numbers of
// tasks and bytes. O(stages log stages + edges).
std::optional<std::size_t> ContradictionsOf(const PastRun& run, std::span<const StageNow> now,
                                            bool has_sizes);

// Returns |mean of ln(bytes now / bytes then)| over the stages that have ended; 0 if unknown.
double SizeDistance(const PastRun& run, std::span<const StageNow> now, const StageMatches& matches);

// Returns the profile of the finished tasks for the next run. Stages without finished tasks are
// omitted, and their children wait for their parents. Keeps at most PastRun::kTaskTimesMax times,
// evenly chosen. A run that is still too large (CanBeKept()) gets no stages. O(tasks log tasks +
// edges).
PastRun ProfileOf(const WorkflowNow& now);

// Returns the cluster of the job. It has the job's slots, and the engine's pools take turns.
placement::Resourcing ResourcingOf(const WorkflowNow& now);

// Returns the placement policy that corresponds to a plan's policy. kUnknown means kFifo
// (tidemark/plan.h).
inline placement::Policy PolicyOf(SchedulingPolicy policy) {
  switch (policy) {
    case SchedulingPolicy::kFair:
      return placement::Policy::kFair;
    case SchedulingPolicy::kDrf:
      return placement::Policy::kDrf;
    case SchedulingPolicy::kCapacity:
      return placement::Policy::kCapacity;
    case SchedulingPolicy::kUnknown:
    case SchedulingPolicy::kFifo:
      break;
  }
  return placement::Policy::kFifo;
}

}  // namespace tidemark::dag
