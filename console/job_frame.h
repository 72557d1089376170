// The picture of a job on a terminal: a function from a snapshot and a width to lines.
//
//   two-path · map done · shuffle done · reduce 1/4 tasks · 1 min 12 s
//   ██████████▍░░░░░░░░░░░░░░░░  41 %  ≈ 3 min 20 s left (2 min 50 s – 4 min 10 s)
//   Reduce task 2 ends last: 1.2 MB key, 61 % of its remaining time
//   3 messages lost
//
// A workflow has a line for each job, an application one for each stage that runs:
//
//   page visits · 1 of 4 jobs done · 1 min 12 s
//   ██████████▍░░░░░░░░░░░░░░░░  41 %  ≈ 3 min 20 s left (2 min 50 s – 4 min 10 s)
//   * parse     ██████████ 100 %  done
//   * count     ███░░░░░░░  31 %  ≈ 1 min left (50 s – 1 min 10 s)
//     revenue   ░░░░░░░░░░   0 %  starts in ≈ 40 s
//   * critical path: a delay here delays the workflow
//
// On a narrow terminal the remaining time gets a line of its own, that of a part has no interval,
// and long sentences are folded.
#pragma once

#include <string>
#include <vector>

#include "tidemark/job.h"

namespace tidemark::console {

struct FrameOptions {
  int width = 80;        // columns; no line is ever wider, and none is drawn for zero
  bool color = false;    // ANSI colours
  bool unicode = false;  // blocks and dashes beyond ASCII
  bool compare = false;  // a bar for each indicator, one below the other
  const absl::TimeZone* zone = nullptr;  // as in TextOptions
};

// Fractions are drawn as they are, within their bounds.
std::vector<std::string> RenderFrame(const Snapshot& snapshot, const FrameOptions& options);

}  // namespace tidemark::console
