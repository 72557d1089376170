// Progress as lines for a log file: one whenever something worth saying has changed.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "console/job_wording.h"

namespace tidemark::console {

// "[1 min 12 s] two-path: reduce 1/4 tasks, 41 %, ≈ 3 min 20 s left (...); reduce task 2 ends last:
// ...". Of a workflow which of its jobs run and which have not started, of an application which
// stages run. With `compare` the other indicators follow.
std::string PlainLine(const Snapshot& snapshot, const TextOptions& options, bool compare);

// Decides by the snapshots' own instants, not by a clock, so that a replay prints the same lines as
// the live job did. Not thread-safe.
class PlainLines {
 public:
  PlainLines(const TextOptions& options, bool compare) : options_(options), compare_(compare) {}

  // The line for `snapshot`, if since the last line its percentage has moved by a point, the state
  // of the job or of one of a workflow, its phase or the notes have changed, a silence has begun or
  // ended, the predicted end has moved by much, or ten seconds have passed.
  std::optional<std::string> Next(const Snapshot& snapshot);

 private:
  // What the last line was about.
  struct Said {
    std::string percent;
    std::string phase;
    JobState state = JobState::kUnknown;
    bool is_final = false;
    EstimateState estimate = EstimateState::kUnknown;
    std::vector<ChildState> children;
    std::size_t notes = 0;
    bool is_silent = false;
    bool is_likely_late = false;
    friend bool operator==(const Said&, const Said&) = default;
  };
  static Said What(const Snapshot& snapshot);
  // Whether the end that was said last misleads now.
  bool HasEndMoved(const Snapshot& snapshot) const;

  const TextOptions options_;
  const bool compare_;
  std::optional<Said> said_;
  absl::Time said_at_;
  std::optional<absl::Time> said_end_;
};

}  // namespace tidemark::console
