// The stages of a job, built from its events in the form that estimates use.
#pragma once

#include <cstddef>
#include <memory>

#include "absl/time/time.h"
#include "master/facts/job_record.h"
#include "master/forecast/dag/stages_application.h"

namespace tidemark::workflow {

// Whether the job has other stages with tasks than the map and the reduce stage of MapReduce, which
// belong to no group.
bool HasOtherStages(const model::JobRecord& state);

// What is known at `now`; stages by their numbers. A task counts in the newest attempt at its
// stage; what earlier attempts have ended or still run counts beside it. The first stages of a
// group (a Spark job) that name no parent wait for the last stages of the groups that had ended
// when it appeared, since a driver submits one after the other. Parents that are not open yet are
// left out, and where stages wait for each other, all parents with higher numbers.
//
// How warm a task's slot was needs the executors and their slots; without them all slots are alike.
// Slots of the cluster: those that executors tell, else those that stages tell, else as many as
// tasks ran at once; 0 if none has run. Executors that were closed, and those of an earlier attempt
// of the application master, do not count as long as there are others. A stage that was closed has
// the tasks that have finished. Cost: O(tasks log tasks + stages log stages + edges).
WorkflowNow StagesNow(const model::JobRecord& state, absl::Time now);

// Returns the stages of one job at one instant after another, as StagesNow() does, for an estimate
// of the remaining work: a stage that has ended waits for its parents alone, and its lag is empty.
// Each stage that has ended is visited once, unless an event is about it later. The results depend
// on the arguments of At() alone. Not thread-safe. Memory: O(tasks).
class StagesTracker {
 public:
  StagesTracker();
  StagesTracker(StagesTracker&&) noexcept;
  StagesTracker& operator=(StagesTracker&&) noexcept;
  ~StagesTracker();

  // `state` is of the same job in every call. The caller may append expected stages; the next call
  // drops them. The reference stays valid until then.
  // Cost: that of StagesNow() for the stages that have not ended, and O(stages log stages).
  WorkflowNow& At(const model::JobRecord& state, absl::Time now);
  // Returns the numbers of stages, tasks and executors that the last call visited.
  std::size_t steps() const;

 private:
  friend WorkflowNow StagesNow(const model::JobRecord& state, absl::Time now);
  class Impl;
  std::unique_ptr<Impl> impl_;
};

// Where they run: on so many slots, the pools of the engine served by turns.
schedule::Resourcing ResourcingOf(const WorkflowNow& now);

// What the tasks that have ended took, for the next run. Stages without such tasks are left out;
// those behind them wait for what they waited for. Of more than RunProfile::kTaskTimesMax times an
// even choice is kept; a run that is too large all the same (CanBeKept()) has no stages.
// Cost: O(tasks log tasks + edges).
RunProfile ProfileOf(const WorkflowNow& now);

}  // namespace tidemark::workflow
