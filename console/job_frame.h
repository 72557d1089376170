// Renders a snapshot of a job as the lines of a frame for a terminal. Pure.
//
//   two-path · map done · shuffle done · reduce 1/4 tasks · 1 min 12 s
//   ███▓▓▓▓▓▓▓▓▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒░  ≈ 41 % (11–98)  ≈ 3 min left (1–9 min)
//   █ to the lower bound, ▓ to the estimate, ▒ to the upper bound (90 % interval)
//   Reduce task 2 will end last: a key of 1.2 MB takes 61 % of its remaining time
//   3 messages lost
//
// A workflow has a line for each job, an application a line for each running stage:
//
//   page visits · 1 of 4 jobs done · 1 min 12 s
//   ███▓▓▓▓▓▓▓▓▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒░  ≈ 41 % (11–98)  ≈ 3 min left (1–9 min)
//   * parse     ██████████   100 %  done
//   * count     ██▓▒░░░░░░  ≈ 31 %  ≈ 1 min left (50 s – 1 min 10 s)
//     revenue   ░░░░░░░░░░     0 %  starts in ≈ 40 s
//   * critical path: a delay here delays the workflow
//
// On a narrow terminal the remaining time has its own line, percentages have no bounds, and long
// sentences are wrapped.
#pragma once

#include <string>
#include <vector>

#include "console/text.h"
#include "tidemark/job.h"
#include "tidemark/job_tasks.h"

namespace tidemark::console {

struct FrameOptions {
  int width = 80;                        // maximum number of columns of each line; no lines if 0
  bool color = false;                    // ANSI colours
  bool unicode = false;                  // blocks and dashes beyond ASCII
  bool compare = false;                  // one bar for each indicator
  const absl::TimeZone* zone = nullptr;  // see TextOptions
};

std::vector<std::string> RenderFrame(const Snapshot& snapshot, const FrameOptions& options);

// Returns a line for each running task with its elapsed and, if known, its remaining time, slowest
// task first. Returns at most `lines_max` lines of at most `width` columns, or none if no task
// runs. Omits tasks of stages that the snapshot does not contain, if it contains any.
//
//   reduce task 2  node-7  1 min 12 s  ~ 3 min 20 s left
//   reduce task 0  node-3  1 min 10 s  ~ 40 s left
//   and 18 more running tasks
std::vector<std::string> RenderTaskLines(const Snapshot& snapshot, const JobTasks& tasks,
                                         std::size_t lines_max, int width,
                                         const TextOptions& options);

}  // namespace tidemark::console
