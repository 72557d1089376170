// The summary of an ended job: its outcome, and how its time was spent. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "console/job_wording.h"
#include "tidemark/explanation.h"

namespace tidemark::console {

// Returns the outcome of the job, its duration, its losses and, with `compare`, the error of each
// indicator:
//
//   two-path succeeded after 4 min 32 s
//   Progress error by indicator, in percentage points
//               ------- reduce phase -------   - whole job -
//                  avg     max  end in range     avg     max
//   nearestfit     2.1     8.9          92 %     1.8     9.1
//   hadoop        31.0    62.1             -    30.2    61.0
//
// The line of a job without success contains its progress: "two-path failed at 41 % after 2 min 10
// s". A workflow also lists the durations of its jobs. If the outcome is unreported, the line
// contains `ending`, such as "succeeded", or the elapsed time.
std::vector<std::string> RenderSummary(const Snapshot& snapshot, int width,
                                       const TextOptions& options, const std::string& ending = "",
                                       bool compare = false);

// Time in which no stage of an application or a MapReduce job ran, such as the time of a driver.
struct IdleTime {
  absl::Duration total;
  absl::Duration before_first;  // before the first stage
};
// Returns nullopt for other jobs, and without times of stages. O(n log n) for n stages.
std::optional<IdleTime> IdleTimeOf(const Snapshot& ended);

// Returns a sentence about a MapReduce job without its full stop, or "" for less than a tenth of
// the total.
std::string BeforeFirstTaskText(absl::Duration before, absl::Duration total);

// A task that runs after all other tasks have ended.
struct LoneTask {
  AttemptId attempt;
  absl::Time since;  // first snapshot in which the task was alone
  // The key group that the task was in when a snapshot last showed one.
  std::uint64_t group_bytes = 0;  // 0 if unknown
  absl::Time group_since;
  absl::Time group_until;
  friend bool operator==(const LoneTask&, const LoneTask&) = default;
};

// Finds the last task of a job if it ran alone. Memory: O(stages).
class LoneTaskWatch {
 public:
  // Adds the next snapshot of the job. Ignores a final snapshot.
  void Add(const Snapshot& next);

  // Returns nullopt while several tasks run or wait. Also returns nullopt if tasks of the task's
  // stage waited for a slot for more than a tenth of the time for which the task was alone, since
  // another slot would have run the task earlier.
  std::optional<LoneTask> task() const;

 private:
  // The first and last snapshots in which tasks of a running stage waited for a slot.
  struct Waiting {
    absl::Time since;
    absl::Time until;
  };
  std::optional<LoneTask> lone_;
  absl::Time seen_at_;
  std::map<std::uint32_t, Waiting> waiting_;
};

// Returns a paragraph about the largest costs of a job that succeeded, and remedies. Returns "" if
// the job did not succeed or took less than ten seconds. `waits` contains the waits of the job, or
// a short reason why they are unknown.
//
//   The longest stage, reduce, took 3 min 50 s of 4 min 32 s. Reduce task 2 ran alone for at least
//   the last 1 min 40 s, at least 1 min 30 s of that in one key group of 1.2 MB: more slots would
//   not have helped; a combiner, or splitting the key (salting), might help. The job's waits are
//   unknown: this master does not report them.
std::string TimeSpentText(const Snapshot& ended, const std::optional<LoneTask>& lone,
                          const absl::StatusOr<Explanation>& waits, const TextOptions& options);

}  // namespace tidemark::console
