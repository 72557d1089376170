// How the application master names a task attempt to a worker process.
#pragma once

#include <string>
#include <vector>

#include "examples/local_mapreduce/job_plan.h"
#include "tidemark/event.h"

namespace tidemark::examples {

// The arguments of WorkerMain() for one attempt.
std::vector<std::string> WorkerArguments(const JobPlan& plan, const AttemptId& attempt);

}  // namespace tidemark::examples
