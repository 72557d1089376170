// What cost the time of a job that has succeeded, and what would help: what was seen of it while it
// was watched, and what `tidemark why` finds (console/wait_findings.h). Pure.
//
//   Of 4 min 32 s, reduce took 3 min 50 s. Reduce task 2 ran alone for the last 1 min 40 s or more,
//   at least 1 min 30 s of that in one key group of 1.2 MB: more slots or reducers would not have
//   made it shorter; a combiner or splitting that key (salting) might. What it waited for is not
//   known: this master does not tell.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "console/styled_line.h"
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

// Finds the task that a job ends with. Memory: O(stages).
class LoneTaskWatch {
 public:
  // Snapshots of one job, in their order. A final one changes nothing.
  void See(const Snapshot& next);

  // Empty while several tasks run or wait. Also where tasks of its stage waited for a slot for more
  // than half of the time that it has been alone: so may it have, and one more slot would have run
  // it beside another.
  std::optional<LoneTask> task() const;

 private:
  // Of a stage that runs: when tasks of it were seen to wait for a slot, first and last.
  struct Waiting {
    absl::Time since;
    absl::Time until;
  };
  std::optional<LoneTask> lone_;
  absl::Time seen_at_;
  std::map<std::uint32_t, Waiting> waiting_;
};

// `waits`: what the job waited for, or why that is not known, in a few words. Whatever of it is not
// known is said. Empty: of a job that took less than ten seconds, and of one that has not
// succeeded.
std::string TimeSpentText(const Snapshot& ended, const std::optional<LoneTask>& lone,
                          const absl::StatusOr<Explanation>& waits, const TextOptions& options);

}  // namespace tidemark::console
