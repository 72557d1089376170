// Estimates the end of a job of stages of any kind, such as a Spark application, from its events
// and past runs.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "master/facts/job_record.h"
#include "master/forecast/dag/adjusted_runs.h"
#include "master/forecast/dag/application_forecast.h"
#include "master/forecast/dag/stages_now.h"
#include "master/monitor/task_list.h"
#include "tidemark/job.h"
#include "tidemark/stage_forecast.h"

namespace tidemark::monitor {

// Returns whether EstimateStages() applies: the job has stages other than map and reduce, or it
// has no stages yet and its past runs had other stages.
bool IsOfStages(const facts::JobRecord& state);

// Returns the past runs of the job, scaled to its parameters. Cost: that of dag::AdjustRuns().
dag::AdjustedRuns AdjustPastRuns(const facts::JobRecord& state);

struct StagesEstimate {
  std::optional<dag::SecondsRange> end;  // from now on; nullopt if it is unknown
  std::vector<StageForecast> stages;     // known stages by number, then expected ones
  std::shared_ptr<const durations::RemainingStages>
      left;  // the same, for JobMonitor::stages_left()
  // The forecasts of stages with remaining tasks, by number, with ids and no other facts.
  // `expected` describes the expected stages among them.
  std::vector<StageProgress> predictions;
  std::vector<StageInfo> expected;
  // By name of each open group, the end of its last stage, including planned stages.
  std::map<std::string, Range> group_ends;
  std::vector<NamedTask> named_tasks;  // stragglers, by predicted end, latest first
  std::vector<TaskLeft> running;       // with their draws in `left`
  Basis basis = Basis::kGuess;         // the strongest evidence for `end`
  double known_share = 0;              // share of the remaining work that runs have shown
  bool may_grow = false;               // more jobs may come than its engine has announced
  std::size_t steps = 0;               // stages, tasks and edges that were visited
  std::string problem;                 // a defect of the stages, for people; or empty
  std::string remark;                  // a reason for a wider interval, for people; or empty
};

// `tracker`: the same object in all calls for a job. `adjusted_runs`: the past runs, scaled to the
// job's parameters, or null. `by_key_groups`: the indicator's estimate of the reduce stage, or null
// if no key groups are known. Cost: that of dag::StagesTracker::At(),
// dag::ApplicationOfStages() and dag::ForecastApplication().
StagesEstimate EstimateStages(const facts::JobRecord& state, absl::Time now,
                              dag::StagesTracker& tracker,
                              const dag::AdjustedRuns* adjusted_runs = nullptr,
                              const durations::RemainingStages* by_key_groups = nullptr);

}  // namespace tidemark::monitor
