// The picture of a workflow: functions from a snapshot and a width to lines.
//
//   page visits · 1 of 4 jobs · 1 min 12 s
//   ██████████▍░░░░░░░░░  41 %  ≈ 3 min 20 s left (2 min 50 s – 4 min 10 s)
//   * parse     ██████████ 100 %  done
//   * count     ███░░░░░░░  31 %  ≈ 1 min left
//     revenue   ░░░░░░░░░░   0 %  begins in 40 s
//   job join could have begun 2 min ago, and no job is attached to it
//
// A star marks the jobs that decide when it ends.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/console/frame.h"
#include "cli/console/styled_line.h"
#include "tidemark/workflow.h"

namespace tidemark::console {

// No line is wider than options.width, and none is drawn for zero.
std::vector<std::string> RenderWorkflow(const WorkflowSnapshot& snapshot,
                                        const FrameOptions& options);

// "[1 min 12 s] page visits: 1 of 4 jobs, 41 %, ≈ 3 min 20 s left (...); runs: count 31 %; waits:
// revenue, join; job join could have begun ...".
std::string WorkflowPlainLine(const WorkflowSnapshot& snapshot, const TextOptions& options);

// "page visits succeeded after 4 min 32 s", and why not otherwise; then each job's own time.
std::vector<std::string> RenderWorkflowSummary(const WorkflowSnapshot& snapshot,
                                               const TextOptions& options);

// Decides by the snapshots' own instants when there is something new to say. Not thread-safe.
class WorkflowPlainLines {
 public:
  explicit WorkflowPlainLines(const TextOptions& options) : options_(options) {}
  // The line for `snapshot`, if since the last line its percentage has moved by a point, a job's
  // state or the notes have changed, or ten seconds have passed.
  std::optional<std::string> Next(const WorkflowSnapshot& snapshot);

 private:
  struct Said {
    int percent = 0;
    JobState state = JobState::kRunning;
    std::vector<WorkflowJobState> jobs;
    std::size_t notes = 0;
    friend bool operator==(const Said&, const Said&) = default;
  };
  const TextOptions options_;
  std::optional<Said> said_;
  absl::Time said_at_;
};

}  // namespace tidemark::console
