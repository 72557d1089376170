// What cost the time of a job that has succeeded, and what would help, as far as it was seen. Pure.
//
//   Of 4 min 32 s, reduce took 3 min 50 s. Reduce task 2 ran alone for the last 1 min 40 s or more,
//   at least 1 min 30 s of that in one key group of 1.2 MB: more slots would not have helped, to
//   split that key might.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cli/console/styled_line.h"
#include "tidemark/explanation.h"
#include "tidemark/job.h"

namespace tidemark::console {

// A task that runs while all others have ended.
struct LoneTask {
  AttemptId attempt;
  absl::Time since;  // seen so for the first time
  // The key group that it was seen in last, and how long it was seen there.
  std::uint64_t group_bytes = 0;  // 0: in none of known size
  absl::Time group_since;
  absl::Time group_until;
  friend bool operator==(const LoneTask&, const LoneTask&) = default;
};

// `lone` after one more snapshot of a job, in their order; empty while several tasks run or wait. A
// final one changes nothing.
std::optional<LoneTask> LoneTaskAfter(const std::optional<LoneTask>& lone, const Snapshot& next);

// `waits`: what the job waited for; null: not known. Empty where nothing stood out, of a job that
// took less than ten seconds, and of one that has not succeeded.
std::string TimeSpentText(const Snapshot& ended, const std::optional<LoneTask>& lone,
                          const Explanation* waits, const TextOptions& options);

}  // namespace tidemark::console
