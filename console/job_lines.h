// Progress as lines for a log file, with one line for each notable change.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "console/job_wording.h"

namespace tidemark::console {

// Returns "[1 min 12 s] two-path: reduce 1/4 tasks, 41 %, ≈ 3 min 20 s left (...); reduce task 2
// will end last: ...". For a workflow, lists its running and waiting jobs; for an application, its
// running stages. `compare` adds the other indicators, and `shows_losses` LossText().
std::string PlainLine(const Snapshot& snapshot, const TextOptions& options, bool compare,
                      bool shows_losses = true);

// Uses the times of the snapshots and not a clock, so that a replay prints the same lines as the
// live job. Not thread-safe.
class PlainLines {
 public:
  PlainLines(const TextOptions& options, bool compare) : options_(options), compare_(compare) {}

  // Returns the line for `snapshot`, or nullopt if no line is due. A line is due ten seconds after
  // the last line, and after each notable change. A change is notable if it concerns the
  // percentage, the headline, the phase, the notes, silence, idleness, a raised estimate, lateness,
  // or the states of the job and its jobs. It is also notable if it makes the last predicted end
  // misleading. A line shows the losses only if they have changed.
  std::optional<std::string> Next(const Snapshot& snapshot);

 private:
  // The contents of a line that determine whether the next line is printed.
  struct Contents {
    std::string percent;
    std::string headline;
    std::string phase;
    JobState state = JobState::kUnknown;
    bool is_final = false;
    EstimateState estimate = EstimateState::kUnknown;
    std::vector<ChildState> children;
    std::size_t notes = 0;
    bool is_silent = false;
    bool is_idle = false;
    bool is_raised = false;
    bool is_likely_late = false;
    friend bool operator==(const Contents&, const Contents&) = default;
  };
  static Contents ContentsOf(const Snapshot& snapshot);
  // Returns true if the end in the last line is misleading now.
  bool HasEndMoved(const Snapshot& snapshot) const;

  const TextOptions options_;
  const bool compare_;
  std::optional<Contents> last_;
  absl::Time last_at_;
  std::optional<absl::Time> last_end_;
  std::string last_losses_;
};

}  // namespace tidemark::console
