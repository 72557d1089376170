// Finds tasks whose end was not reported although other reports show that they have ended.
#pragma once

#include <cstdint>

#include "absl/container/flat_hash_set.h"
#include "absl/time/time.h"
#include "master/facts/job_record.h"

namespace tidemark::model {

// Returns how many tasks of the first attempt at a stage ended without a report: the stage has
// ended, with all of its output or in an unknown way. 0 if no task of it was reported. O(1).
std::uint64_t UnreportedTasks(const Stage& stage);

// Returns Coverage::missing_task_ends. O(stages + tasks of stages that have not ended).
std::uint64_t MissingTaskEnds(const JobRecord& state);

// Attempts that cannot run, since their executors have fewer slots.
struct BeyondSlots {
  absl::flat_hash_set<const TaskAttempt*> attempts;
};

// Returns the oldest attempts, as many as run beyond the slots, of executors that have had more
// running attempts than slots for 10 s. An attempt with any activity in these 10 s runs. Attempts
// at stages of MapReduce have other slots and do not count. O(executors); where there is such an
// executor, O(stages + n log n) for n tasks of stages that have not ended.
BeyondSlots FindBeyondSlots(const JobRecord& state, absl::Time now);

// Returns true if an attempt that runs, by what was reported, may have ended without a report:
// since it was last reported to run or to do anything, events were lost, or its executor had more
// running attempts than slots. O(1).
bool MayHaveEnded(const JobRecord& state, const TaskAttempt& attempt, absl::Time now);

}  // namespace tidemark::model
