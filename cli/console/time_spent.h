// What cost the time of a job that has succeeded, and what would help: what was seen of it while it
// was watched, and what `tidemark why` finds (cli/console/wait_findings.h). Pure.
//
//   Of 4 min 32 s, reduce took 3 min 50 s. Reduce task 2 ran alone for the last 1 min 40 s or more,
//   at least 1 min 30 s of that in one key group of 1.2 MB: more slots or reducers would not have
//   helped; a combiner or splitting that key (salting) might. What it waited for is not known:
//   this master does not tell.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
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

// `waits`: what the job waited for, or why that is not known, in a few words. Whatever of it is not
// known is said. Empty: of a job that took less than ten seconds, and of one that has not
// succeeded.
std::string TimeSpentText(const Snapshot& ended, const std::optional<LoneTask>& lone,
                          const absl::StatusOr<Explanation>& waits, const TextOptions& options);

}  // namespace tidemark::console
