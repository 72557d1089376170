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

// Returns whether EstimateStages() applies. It does if the job has stages other than map and
// reduce, or if it has no stages yet and its past runs had other stages.
bool IsOfStages(const facts::JobRecord& state);

// Returns the past runs of the job, scaled to its parameters. Cost: that of dag::AdjustRuns().
dag::AdjustedRuns AdjustPastRuns(const facts::JobRecord& state);

struct StagesEstimate {
  std::optional<dag::SecondsRange> end;  // seconds from now; nullopt if unknown
  std::vector<StageForecast> stages;     // known stages by number, then expected ones
  std::shared_ptr<const durations::RemainingStages> left;  // remaining stages, for stages_left()
  // The forecasts of stages with remaining tasks, by number. The only fact that is set is the id.
  // `expected` describes the expected stages among them.
  std::vector<StageProgress> predictions;
  std::vector<StageInfo> expected;
  // The end of the last stage of each open group, by name of the group. Planned stages count.
  std::map<std::string, Range> group_ends;
  std::vector<NamedTask> named_tasks;  // stragglers, by predicted end, latest first
  std::vector<TaskLeft> running;       // running tasks, whose draws are in `left`
  Basis basis = Basis::kGuess;         // the strongest evidence for `end`
  double known_share = 0;              // share of remaining work with known times
  bool may_grow = false;               // more jobs may come than its engine has announced
  std::size_t steps = 0;               // stages, tasks and edges that were visited
  std::string problem;                 // error in the stages, for users; or empty
  std::string remark;                  // reason for a wider interval, for users; or empty
};

// Returns the estimate of a job at `now`. REQUIRES: all calls for a job use one `tracker`.
// `adjusted_runs`: the past runs, scaled to the job's parameters, or null. `by_key_groups`: the
// indicator's estimate of the reduce stage, or null if no key groups are known. Cost: that of
// dag::StagesTracker::At(),
// dag::ApplicationOfStages() and dag::ForecastApplication().
StagesEstimate EstimateStages(const facts::JobRecord& state, absl::Time now,
                              dag::StagesTracker& tracker,
                              const dag::AdjustedRuns* adjusted_runs = nullptr,
                              const durations::RemainingStages* by_key_groups = nullptr);

}  // namespace tidemark::monitor
