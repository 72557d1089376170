// The stages of a job in the form that estimates use. They are built from the job's events.
#pragma once

#include <cstddef>
#include <memory>

#include "absl/time/time.h"
#include "master/facts/job_record.h"
#include "master/forecast/dag/stages_application.h"

namespace tidemark::dag {

// Returns true if the job has stages with tasks other than the two stages of MapReduce, which
// belong to no group.
bool HasOtherStages(const facts::JobRecord& state);

// Returns the state at `now`, with stages ordered by number. A task counts in the newest attempt at
// its stage; finished and running tasks of earlier attempts also count. A driver submits one group
// (a Spark job) after another, so the first stages of a group wait for the last stages of the
// groups that had ended when the group appeared. Unopened parents are omitted. In a cycle of
// stages, parents with higher numbers are omitted.
//
// The warmth of slots is known only if executors report slots; otherwise all slots count as equal.
// The slots of the cluster are reported by executors or, otherwise, by stages. If neither report
// slots, their number is the largest number of concurrent tasks, or 0 if no task has run. Executors
// that were closed or belong to an earlier attempt of the application master do not count. A closed
// stage has only its finished tasks. O(tasks log tasks + stages log stages + edges).
WorkflowNow StagesNow(const facts::JobRecord& state, absl::Time now);

// Returns the stages of one job at successive times, like StagesNow(), for an estimate of the
// remaining work. Therefore, an ended stage waits only for its parents and has an empty lag. Each
// ended stage is visited once, unless a later event concerns it. The results depend only on the
// arguments of At(). Not thread-safe. Memory: O(tasks).
class StagesTracker {
 public:
  StagesTracker();
  StagesTracker(StagesTracker&&) noexcept;
  StagesTracker& operator=(StagesTracker&&) noexcept;
  ~StagesTracker();

  // Returns the stages at `now`. The caller may append expected stages, which the next call
  // removes. The reference is valid until the next call. REQUIRES: `state` is of the same job in
  // every call. Costs as much as StagesNow() for the stages that have not ended, plus O(stages log
  // stages).
  WorkflowNow& At(const facts::JobRecord& state, absl::Time now);
  // Returns the numbers of stages, tasks and executors that the last call visited.
  std::size_t steps() const;

 private:
  friend WorkflowNow StagesNow(const facts::JobRecord& state, absl::Time now);
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tidemark::dag
