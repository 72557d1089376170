// The end of a job of stages of any kind (a Spark application), from its events and earlier runs.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "master/facts/job_record.h"
#include "master/forecast/dag/application_estimate.h"
#include "master/forecast/dag/foretold_runs.h"
#include "master/forecast/dag/stages_now.h"
#include "master/monitor/task_list.h"
#include "tidemark/job.h"
#include "tidemark/stage_forecast.h"

namespace tidemark::monitor {

// Whether this is how the job's end is estimated: it has other stages than those of MapReduce, or
// none yet, and its earlier runs had such.
bool IsOfStages(const model::JobRecord& state);

// By its parameters, from its earlier runs. O(workflow::Foretell()).
workflow::ForetoldRuns ForetellRuns(const model::JobRecord& state);

struct StagesEstimate {
  std::optional<estimate::Range> end;  // from now on; empty: nothing can be said
  std::vector<StageForecast> stages;   // those there are by number, then those that are expected
  std::shared_ptr<const cost::StagesLeft> left;  // the same, for JobMonitor::stages_left()
  // What is predicted of stages with tasks left, and nothing else but their ids, by number. Of
  // those that are only expected, `expected` has the rest.
  std::vector<StageProgress> predictions;
  std::vector<StageInfo> expected;
  // When the last of a group's stages ends, those that its plan names included, by its name; of
  // groups that have not ended.
  std::map<std::string, Range> group_ends;
  std::vector<NamedTask> named_tasks;  // stragglers, the last to end first
  std::vector<TaskLeft> running;       // with their draws in `left`
  Basis basis = Basis::kGuess;         // what `end` rests on
  double known_share = 0;              // share of the remaining work that runs have shown
  bool may_grow = false;               // more jobs may come than its engine has announced
  std::size_t steps = 0;               // stages, tasks and edges that were visited
  std::string problem;                 // a defect of the stages, for people; or empty
  std::string remark;                  // what makes the end less sure, for people; or empty
};

// `tracker`: the tracker of this job, for as long as it is estimated. `foretold`: the past runs,
// scaled to the job's parameters; null if there are none. `by_key_groups`: the indicator's estimate
// of its reduce stage; null if no key groups are known. Cost: that of
// workflow::StagesTracker::At(), workflow::ApplicationOfStages() and
// estimate::EstimateApplication().
StagesEstimate EstimateStages(const model::JobRecord& state, absl::Time now,
                              workflow::StagesTracker& tracker,
                              const workflow::ForetoldRuns* foretold = nullptr,
                              const cost::StagesLeft* by_key_groups = nullptr);

}  // namespace tidemark::monitor
