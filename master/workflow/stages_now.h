// The stages of a job as its events tell of them, in the form in which estimates want them.
#pragma once

#include "absl/time/time.h"
#include "master/model/job_record.h"
#include "master/workflow/stages_application.h"

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

// Where they run: on so many slots, the pools of the engine served by turns.
schedule::Resourcing ResourcingOf(const WorkflowNow& now);

// What the tasks that have ended took, for the next run. Stages without such tasks are left out;
// those behind them wait for what they waited for. Of more than RunProfile::kTaskTimesMax times an
// even choice is kept; a run that is too large all the same (CanBeKept()) has no stages.
// Cost: O(tasks log tasks + edges).
RunProfile ProfileOf(const WorkflowNow& now);

}  // namespace tidemark::workflow
