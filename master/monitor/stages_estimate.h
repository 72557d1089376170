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

// Returns true if EstimateStages() applies: the job has stages other than map and reduce, or it has
// no stages yet and its past runs had such stages.
bool IsOfStages(const facts::JobRecord& state);

// Returns the past runs of the job, scaled to its parameters. Costs as much as dag::AdjustRuns().
dag::AdjustedRuns AdjustPastRuns(const facts::JobRecord& state);

// The end of the last stage of an open group. Planned stages count.
struct GroupEnd {
  Range ends_in;
  double known_share = 0;  // as StagesEstimate::known_share, for the work of the group
};

struct StagesEstimate {
  std::optional<dag::SecondsRange> end;  // seconds from now; nullopt if unknown
  std::vector<StageForecast> stages;     // known stages by number, then expected stages
  std::shared_ptr<const durations::RemainingStages> left;  // remaining stages, for stages_left()
  // The forecasts of stages with remaining tasks, by number. Only the id and the forecasts are set.
  // `expected` describes the expected stages among them.
  std::vector<StageProgress> predictions;
  std::vector<StageInfo> expected;
  std::map<std::string, GroupEnd> group_ends;  // by group name
  std::vector<NamedTask> named_tasks;          // stragglers, by predicted end, latest first
  std::vector<TaskLeft> running;               // running tasks, whose draws are in `left`
  Basis basis = Basis::kGuess;                 // the strongest evidence for `end`
  double known_share = 0;                      // share of the remaining work whose times are known
  bool may_grow = false;  // whether jobs may follow that the engine has not announced
  std::size_t steps = 0;  // number of visited stages, tasks and edges
  std::string problem;    // user-visible error in the stages, or empty
  std::string remark;     // user-visible reason for a wider interval, or empty
};

// Returns the estimate of a job at `now`. REQUIRES: all calls for a job use one `tracker`.
// `adjusted_runs` contains the past runs, scaled to the job's parameters, or is null.
// `by_key_groups` is the indicator's estimate of the reduce stage, or null if no key groups are
// known. Costs as much as dag::StagesTracker::At(), dag::ApplicationOfStages() and
// dag::ForecastApplication() together.
StagesEstimate EstimateStages(const facts::JobRecord& state, absl::Time now,
                              dag::StagesTracker& tracker,
                              const dag::AdjustedRuns* adjusted_runs = nullptr,
                              const durations::RemainingStages* by_key_groups = nullptr);

}  // namespace tidemark::monitor
