// What is left to say when a job has ended, and the table of many jobs. Pure.
#pragma once

#include <string>
#include <vector>

#include "cli/console/styled_line.h"
#include "tidemark/snapshot.h"

namespace tidemark::console {

// How the job ended, after how long, what was lost, and how wrong each indicator was:
//
//   two-path succeeded after 4 min 32 s
//   How wrong the indicators were, in points of progress:
//                 reduce phase     whole job    range held
//                  avg     max     avg     max     the end
//   nearestfit     2.1     8.9     1.8     9.1        92 %
//   hadoop        31.0    62.1    30.2    61.0           -
//
// Of a job that has not ended: how far it was.
std::vector<std::string> RenderSummary(const Snapshot& snapshot, int width,
                                       const TextOptions& options);

// One line for each job, with a heading. Without jobs, one line that says so.
std::vector<std::string> RenderJobTable(const std::vector<Snapshot>& jobs, int width,
                                        const TextOptions& options);

}  // namespace tidemark::console
