// What an estimate says of a workflow, its jobs and their stages, as exactly as it says it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "master/forecast/dag/application_estimate.h"
#include "master/forecast/dag/followed_job.h"
#include "master/forecast/dag/jobs_application.h"
#include "tidemark/job.h"

namespace tidemark::workflow {

// Longer estimates are shown as this: 317 years, which every format of a duration holds.
inline constexpr absl::Duration kLongestShown = absl::Seconds(10'000'000'000);

struct StagePrediction {
  std::uint32_t number = 0;  // in its job
  // Of a MapReduce job; kUnknown: the stage of that number, whatever it is.
  StageKind kind = StageKind::kUnknown;
  std::string name;                    // of one that is expected
  std::vector<std::uint32_t> parents;  // likewise
  std::uint64_t tasks = 0;
  TasksLeft left;
  std::optional<absl::Duration> starts_in;  // empty: it has begun, or nothing is left of it
  std::optional<absl::Duration> ends_in;    // empty: nothing is left of it
  std::optional<absl::Duration> task_time;
  std::string bottleneck;
  bool is_critical = false;
};

// Of a job that is over, nothing.
struct JobPrediction {
  std::optional<absl::Duration> starts_in;  // empty: it runs
  std::optional<Range> ends_in;
  bool is_critical = false;
  double fraction_done = 0;             // of one that runs and is heard of
  std::vector<StagePrediction> stages;  // by number; of MapReduce only those that have tasks
};

struct WorkflowPrediction {
  Range remaining;
  double known_share = 0;
  std::vector<JobPrediction> jobs;  // jobs added since the question have none
};

// `live` is `job` at the instant of the estimate, which has it as owner `index`, and its own stages
// at `own` (OwnStages()).
JobPrediction PredictionOfJob(const FollowedJob& job, const LiveJob& live,
                              const estimate::Estimate& estimate, std::size_t index,
                              std::span<const std::size_t> own);

// By job, where in the estimate its own stages are. O(stages).
std::vector<std::vector<std::size_t>> OwnStages(const estimate::Estimate& estimate);

// The whole, without its jobs.
WorkflowPrediction PredictionOf(const estimate::Estimate& estimate);

// The same, said `unheard` later of a workflow that has been silent for `silence`:
// model::OpenedBySilence().
void OpenBySilence(absl::Duration unheard, absl::Duration silence, WorkflowPrediction& prediction);

// Of the slots' time until the end, the part that tasks use. 0..1
double BusyShare(const WorkflowPrediction& prediction, std::uint32_t slots);

}  // namespace tidemark::workflow
