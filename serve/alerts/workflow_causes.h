// What an alert of a workflow has in common with those of its jobs. Pure.
#pragma once

#include <string>
#include <vector>

#include "tidemark/job.h"

namespace tidemark::cli {

// Whether `workflow`, of which `job` is one, is late if `job` is: it has a deadline, and that of
// the job is no earlier.
bool IsLateWith(const Snapshot& job, const Snapshot& workflow);

// What the workflow calls these of its jobs, in its order.
std::vector<std::string> NamesOf(const std::vector<const Snapshot*>& jobs,
                                 const Snapshot& workflow);

// Names of the jobs that the workflow waits for now: those that run on its critical path, else
// those that run, else those that should.
std::vector<std::string> JobsWaitedFor(const Snapshot& workflow);

}  // namespace tidemark::cli
