// What an estimate says of a workflow, its jobs and their stages, as exactly as it says it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "master/estimate/application_estimate.h"
#include "master/workflow/followed_job.h"
#include "master/workflow/jobs_application.h"
#include "tidemark/job.h"

namespace tidemark::workflow {

struct StagePrediction {
  StageKind kind = StageKind::kUnknown;
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
  std::vector<StagePrediction> stages;  // of a kind that has tasks, map before reduce
};

struct WorkflowPrediction {
  Range remaining;
  double known_share = 0;
  std::vector<JobPrediction> jobs;  // jobs added since the question have none
};

// `live` is `job` at the instant of the estimate, which has it as owner `index`.
JobPrediction PredictionOfJob(const FollowedJob& job, const LiveJob& live,
                              const estimate::Estimate& estimate, std::size_t index);

// The whole, without its jobs.
WorkflowPrediction PredictionOf(const estimate::Estimate& estimate);

// Of the slots' time until the end, the part that tasks use. 0..1
double BusyShare(const WorkflowPrediction& prediction, std::uint32_t slots);

}  // namespace tidemark::workflow
