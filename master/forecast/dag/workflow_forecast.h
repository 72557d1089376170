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
#include "tidemark/job_query.h"
#include "tidemark/plan.h"

namespace tidemark::dag {

// Upper bound of the shown forecasts (317 years). Every format of a duration can represent it.
inline constexpr absl::Duration kLongestShown = absl::Seconds(10'000'000'000);

struct ChildStageForecast {
  std::uint32_t number = 0;  // number of the stage in its job
  // Map or reduce for a stage of a MapReduce job. If kUnknown, `number` alone identifies the stage.
  StageKind kind = StageKind::kUnknown;
  std::string name;                    // set for an expected stage
  std::vector<std::uint32_t> parents;  // set for an expected stage
  std::uint64_t tasks = 0;
  TasksLeft left;
  std::optional<absl::Duration> starts_in;  // empty if the stage has started or no work remains
  std::optional<absl::Duration> ends_in;    // empty if no work remains
  std::optional<absl::Duration> task_time;
  std::string bottleneck;
  bool is_critical = false;
};

// The forecast of a job. All fields are empty if the job is over.
struct ChildForecast {
  std::optional<absl::Duration> starts_in;  // empty if the job is running
  std::optional<Range> ends_in;
  bool is_critical = false;
  std::optional<double> fraction_done;  // set only if the job runs and is not silent
  // ordered by number; for MapReduce, only stages with tasks
  std::vector<ChildStageForecast> stages;
};

struct WorkflowForecast {
  Range remaining;
  double known_share = 0;
  std::vector<ChildForecast> jobs;  // missing for jobs that were added since QuestionAt()
};

// Returns the forecast of a job. `live` is the job at the time of the forecast. `index` is the
// job's owner number in `estimate`. `own` contains the indexes of the job's stages (OwnStages()).
ChildForecast ForecastOfChild(const FollowedJob& job, const LiveJob& live,
                              const ApplicationForecast& estimate, std::size_t index,
                              std::span<const std::size_t> own);

// Returns the indexes of each job's own stages in the forecast. O(stages).
std::vector<std::vector<std::size_t>> OwnStages(const ApplicationForecast& estimate);

// Returns the forecast of the workflow, excluding its jobs.
WorkflowForecast PredictionOf(const ApplicationForecast& estimate);

// Widens the forecast of a workflow during a silence of the workflow or of a job, as
// facts::WidenForSilence() does. The forecasts of jobs that report do not change. Only the end of
// the workflow gets a later median, since it is unknown which job is late.
void OpenBySilence(absl::Duration unreported, absl::Duration silence, absl::Duration listened,
                   WorkflowForecast& prediction);

// Returns the used share of the slots until the end, in 0..1. Returns nullopt if the stages of an
// unfinished job are unknown.
std::optional<double> BusyShare(const WorkflowForecast& prediction, std::uint32_t slots);

// Returns the states for display. `ids` contains the ids of the forecast's stages in the snapshot.
std::vector<PlanState> PlanStatesOf(const ApplicationForecast& forecast,
                                    std::span<const StageId> ids);

// Returns the ids of the stages of a forecast of jobs in the snapshot of their workflow.
std::vector<StageId> StageIdsOf(const ApplicationForecast& forecast, const Snapshot& workflow);

// Adds `job` and its stages to `workflow`. The stages are the reported stages if the job has
// started, otherwise the expected stages. `parents` contains the indexes of the jobs that it waits
// for. Forecasts are not rounded. O(parents + stages).
void DescribeJob(const FollowedJob& job, const PlannedJob& planned,
                 const std::vector<std::size_t>& parents, const ChildForecast& prediction,
                 Snapshot& workflow);

// Returns a note for users if the job `name` is silent or overdue, otherwise an empty string.
std::string NoteOnJob(const FollowedJob& job, const std::string& name, absl::Time now);

}  // namespace tidemark::dag
