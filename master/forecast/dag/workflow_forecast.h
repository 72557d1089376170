// The forecasts of a workflow, its jobs and their stages, without rounding.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "master/forecast/dag/application_forecast.h"
#include "master/forecast/dag/followed_job.h"
#include "master/forecast/dag/jobs_application.h"
#include "tidemark/job.h"
#include "tidemark/plan.h"

namespace tidemark::dag {

// Upper bound of the shown forecasts: 317 years, which every format of a duration can hold.
inline constexpr absl::Duration kLongestShown = absl::Seconds(10'000'000'000);

struct ChildStageForecast {
  std::uint32_t number = 0;  // in its job
  // Map or reduce of a MapReduce job; kUnknown: identified by `number` alone.
  StageKind kind = StageKind::kUnknown;
  std::string name;                    // of an expected stage
  std::vector<std::uint32_t> parents;  // of an expected stage
  std::uint64_t tasks = 0;
  TasksLeft left;
  std::optional<absl::Duration> starts_in;  // empty if it has started or nothing of it remains
  std::optional<absl::Duration> ends_in;    // empty if nothing of it remains
  std::optional<absl::Duration> task_time;
  std::string bottleneck;
  bool is_critical = false;
};

// Empty for a job that is over.
struct ChildForecast {
  std::optional<absl::Duration> starts_in;  // empty if it is running
  std::optional<Range> ends_in;
  bool is_critical = false;
  double fraction_done = 0;                // of a running job that is not silent
  std::vector<ChildStageForecast> stages;  // by number; of MapReduce only stages with tasks
};

struct WorkflowForecast {
  Range remaining;
  double known_share = 0;
  std::vector<ChildForecast> jobs;  // missing for jobs that were added since the question
};

// Returns the forecast of a job. `live`: the job at the instant of the forecast. `index`: its owner
// number there. `own`: the indexes of the job's stages (OwnStages()).
ChildForecast ForecastOfChild(const FollowedJob& job, const LiveJob& live,
                              const ApplicationForecast& estimate, std::size_t index,
                              std::span<const std::size_t> own);

// Returns the indexes of each job's own stages in the forecast. Cost: O(stages).
std::vector<std::vector<std::size_t>> OwnStages(const ApplicationForecast& estimate);

// Returns the forecast of the whole, without its jobs.
WorkflowForecast PredictionOf(const ApplicationForecast& estimate);

// Opens the forecast of a workflow that has been silent for `silence`, as of `since_report` later:
// facts::WidenForSilence().
void OpenBySilence(absl::Duration since_report, absl::Duration silence,
                   WorkflowForecast& prediction);

// Returns the used share of the slots until the end, 0..1. Returns nullopt if the stages of a job
// that has not ended are unknown.
std::optional<double> BusyShare(const WorkflowForecast& prediction, std::uint32_t slots);

// Adds `job` to the children of `workflow`, and its stages: the reported ones if the job has
// started, else the expected ones. `parents`: indexes of the jobs it waits for. Forecasts are not
// rounded. Cost: O(parents + stages).
void DescribeJob(const FollowedJob& job, const PlannedJob& planned,
                 const std::vector<std::size_t>& parents, const ChildForecast& prediction,
                 Snapshot& workflow);

// Returns a note for people if the job `name` is silent or overdue; else empty.
std::string NoteOnJob(const FollowedJob& job, const std::string& name, absl::Time now);

}  // namespace tidemark::dag
