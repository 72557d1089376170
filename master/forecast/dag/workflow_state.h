// A workflow at one instant, and what earlier runs of it left behind. Seconds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "master/forecast/placement/allocation.h"
#include "master/forecast/placement/placing.h"
#include "tidemark/event.h"
#include "tidemark/stage_profile.h"

namespace tidemark::workflow {

using schedule::kWarmths;
using schedule::Warmth;

struct FinishedTask {
  double seconds = 0;
  Warmth warmth = Warmth::kRest;
  std::uint32_t index = 0;  // in its stage
  double size = 0;          // as in StageNow::pending_sizes
  double read_for = 0;      // seconds until it had read its input, as far as that was reported
};

struct RunningTask {
  double elapsed = 0;
  Warmth warmth = Warmth::kRest;
  double size = 0;
  std::optional<double> fraction;  // the part of its input that is done, if reported; 0..1
  AttemptId id;  // of a stage of a job: the attempt that decides when the task ends
  std::optional<double> read_for;  // of `elapsed`, until it last reported progress
};

struct StageNow {
  std::string name;                  // as engines name it: the same in every run
  std::string title;                 // for people; empty: its name
  std::vector<std::size_t> parents;  // indexes
  std::uint64_t work = 0;            // equal for stages that do the same; 0 if unknown
  bool fetches = true;               // its tasks read the output of parents (stage_profile.h)
  bool are_parents_open = true;      // `parents` has every stage that it reads from
  std::size_t owner = 0;
  schedule::Resources container = {.cores = 1};
  std::uint64_t tasks = 0;  // all tasks; the started ones while is_task_count_known is not set
  bool is_task_count_known = true;
  bool has_failed = false;  // it ended without its result
  // Tasks of a stage that has ended, beside `tasks`, whose ends were not reported.
  std::uint64_t unreported = 0;
  std::vector<FinishedTask> finished;
  std::vector<RunningTask> running;
  // Of the log of what its tasks take, common to all stages of its work, since its earlier runs
  // were told other parameters (foretold_runs.h).
  double foretold_deviation = 0;
  double read_bytes = 0;  // by the tasks that have finished; 0: not known
  // Of the tasks that have not begun, in the order in which they will, what they are to read:
  // bytes, or records where those are not told. Empty: the sizes of the stage's tasks are not
  // known.
  std::vector<double> pending_sizes;
  // From the end of the last parent to the first task; empty: as in earlier runs.
  std::optional<double> lag;
  double waited = 0;      // since the last parent ended, if nothing has begun
  double idle_for = 0;    // since its tasks could run, while no task of the job runs
  double done_since = 0;  // how long ago the last task ended, if none is left
  // Mean time of its tasks on warm slots, by this run alone (expected_tasks.h), of a stage that has
  // ended; empty: not computed.
  std::optional<double> mean_seconds;
  std::uint64_t at_once_max = schedule::kNoLimit;  // tasks of the stage
  // Of a stage of a job; of one that is only expected, from kExpectedStages on.
  std::uint32_t number = 0;
  std::string group;  // of a stage that is only planned: the group that plans it
};

}  // namespace tidemark::workflow
