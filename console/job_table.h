// Tables of jobs, stages, tasks and scenarios: a heading and a line per row, or one line if there
// are no rows. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "console/job_wording.h"
#include "console/text.h"
#include "tidemark/job_query.h"
#include "tidemark/job_tasks.h"

namespace tidemark::console {

std::vector<std::string> RenderJobTable(const std::vector<Snapshot>& jobs,
                                        const TableOptions& options);
// Returns the table in at most `lines_max` lines, at least 3: running jobs first, then the newest
// jobs. The last line counts the omitted jobs.
std::vector<std::string> RenderJobList(std::vector<Snapshot> jobs, std::size_t lines_max,
                                       const TableOptions& options);

// Returns the stages of the job, or of all jobs of a workflow.
std::vector<std::string> RenderStageTable(const Snapshot& snapshot, const TableOptions& options);
// Returns the tasks that end last. A wide table has the throughput of the tasks in `running`.
std::vector<std::string> RenderTaskTable(const Snapshot& snapshot, const TableOptions& options,
                                         const JobTasks& running = {});
// Returns the first 20 attempts of the list, which belong to a job that has ended.
std::vector<std::string> RenderEndedTasks(const Snapshot& snapshot, const JobTasks& tasks,
                                          const TableOptions& options);

// Returns the forecast of a plan or job: its end, and then the start, end, criticality and
// bottleneck of each stage, or else of each job. For a job that has ended, returns its outcome.
std::vector<std::string> RenderEstimate(const Outcome& outcome, const TableOptions& options);

struct ScenarioRow {
  std::string name;
  Outcome outcome;
  std::optional<double> core_hours;       // core hours of all executors until the end
  std::string binding;                    // what takes most of the time; empty if unknown
  std::vector<std::string> remarks = {};  // assumptions and limitations of the estimate
  // Duration that the same method estimates for the unchanged run; nullopt if the first scenario is
  // unchanged.
  std::optional<absl::Duration> as_it_is = {};
};

// Returns a line for each scenario: end or duration, interval, use of the slots, speed-up over the
// first scenario or `as_it_is`, and further known values. Bounds are rounded outwards.
std::vector<std::string> RenderScenarios(const std::vector<ScenarioRow>& scenarios,
                                         const TableOptions& options);

// Returns a line for each remark, preceded by the names of its scenarios.
std::vector<std::string> RenderRemarks(const std::vector<ScenarioRow>& scenarios,
                                       const TextOptions& options);

}  // namespace tidemark::console
