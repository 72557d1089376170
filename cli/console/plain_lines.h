// Progress as lines for a log file: one whenever something worth saying has changed.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "cli/console/styled_line.h"
#include "tidemark/snapshot.h"

namespace tidemark::console {

// "[1 min 12 s] two-path: reduce 1/4 tasks, 41 %, ≈ 3 min 20 s left (...); last to end: r-2 ...".
// With `compare` the other indicators follow.
std::string PlainLine(const Snapshot& snapshot, const TextOptions& options, bool compare);

// Decides by the snapshots' own instants, not by a clock, so that a replay prints the same lines as
// the live job did. Not thread-safe.
class PlainLines {
 public:
  PlainLines(const TextOptions& options, bool compare) : options_(options), compare_(compare) {}

  // The line for `snapshot`, if since the last line its percentage has moved by a point, its phase,
  // state or notes have changed, a silence has begun or ended, or ten seconds have passed.
  std::optional<std::string> Next(const Snapshot& snapshot);

 private:
  // What the last line was about.
  struct Said {
    int percent = 0;
    std::optional<Phase> phase;
    JobState state = JobState::kRunning;
    ForecastState forecast = ForecastState::kWarmingUp;
    std::size_t notes = 0;
    bool silent = false;
    friend bool operator==(const Said&, const Said&) = default;
  };
  static Said What(const Snapshot& snapshot);

  const TextOptions options_;
  const bool compare_;
  std::optional<Said> said_;
  absl::Time said_at_;
};

}  // namespace tidemark::console
