// The tasks of a job that run, a line each, for below its bar. Pure.
//
//   reduce task 2  node-7  1 min 12 s  ~ 3 min 20 s left
//   reduce task 0  node-3  1 min 10 s  ~ 40 s left
//   and 18 more running tasks
#pragma once

#include <string>
#include <vector>

#include "console/styled_line.h"
#include "tidemark/job.h"
#include "tidemark/job_tasks.h"

namespace tidemark::console {

// At most `lines_max` lines of at most `width` columns; those of `tasks` that run, the slowest
// first, of stages that `snapshot` has where it has any: how long each
// has run, and what is left of it where that is known. Nothing where none runs.
std::vector<std::string> RenderTaskLines(const Snapshot& snapshot, const JobTasks& tasks,
                                         std::size_t lines_max, int width,
                                         const TextOptions& options);

}  // namespace tidemark::console
