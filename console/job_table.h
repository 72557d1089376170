// Tables of jobs, stages and tasks: a heading and a line for each, or one line that says that there
// are none. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "console/job_wording.h"
#include "console/table.h"
#include "tidemark/job_query.h"

namespace tidemark::console {

std::vector<std::string> RenderJobTable(const std::vector<Snapshot>& jobs,
                                        const TableOptions& options);
// The same in at most `lines_max` lines, which must be 3 at least: jobs that run come first, then
// the newest. What does not fit is counted in the last line.
std::vector<std::string> RenderJobList(std::vector<Snapshot> jobs, std::size_t lines_max,
                                       const TableOptions& options);

// Those of the job, and of the jobs of a workflow.
std::vector<std::string> RenderStageTable(const Snapshot& snapshot, const TableOptions& options);
// The tasks that end last.
std::vector<std::string> RenderTaskTable(const Snapshot& snapshot, const TableOptions& options);

// What would be of a plan that has not begun: its end, then when each of its stages, or else of its
// jobs, starts and ends, what is critical, and what binds it. Of what has ended, how it did.
std::vector<std::string> RenderEstimate(const Outcome& outcome, const TableOptions& options);

struct ScenarioRow {
  std::string name;
  Outcome outcome;
  std::optional<double> core_hours;       // of all executors until the end; empty: not known
  std::string binding;                    // what most of the time goes to; empty: not known
  std::vector<std::string> remarks = {};  // what else is to be known of it
  // What the same method says of the run as it is; empty: the first scenario is by that method.
  std::optional<absl::Duration> as_it_is = {};
};

// A line for each scenario, under its name: the end, or what it takes where it has not begun, its
// interval, how busy the slots would be, how much sooner it ends than the first, or than
// `as_it_is`, and what else is known of any. Bounds are rounded outwards, as RoundToKnown() does.
std::vector<std::string> RenderScenarios(const std::vector<ScenarioRow>& scenarios,
                                         const TableOptions& options);

// What is to be known of them beside that: a line for each remark, behind the names of the
// scenarios that it is of.
std::vector<std::string> RenderRemarks(const std::vector<ScenarioRow>& scenarios,
                                       const TextOptions& options);

}  // namespace tidemark::console
