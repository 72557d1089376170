// What is left to say when a job has ended. Pure.
#pragma once

#include <string>
#include <vector>

#include "console/job_wording.h"

namespace tidemark::console {

// How the job ended, after how long, what was lost, and, with `compare`, how wrong each indicator
// was:
//
//   two-path succeeded after 4 min 32 s
//   How far the progress of each indicator was from the truth, in points of 100
//               ------- reduce phase -------   - whole job -
//                  avg     max  end in range     avg     max
//   nearestfit     2.1     8.9          92 %     1.8     9.1
//   hadoop        31.0    62.1             -    30.2    61.0
//
// A job that did not succeed also shows its progress: "two-path failed at 41 % after 2 min 10 s". A
// workflow also shows the durations of its jobs. If the job had not ended, or was abandoned, the
// line has the time so far or `ending`, such as "succeeded".
std::vector<std::string> RenderSummary(const Snapshot& snapshot, int width,
                                       const TextOptions& options, const std::string& ending = "",
                                       bool compare = false);

}  // namespace tidemark::console
