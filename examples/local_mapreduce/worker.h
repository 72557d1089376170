// How the application master names a task attempt to a worker process.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/time/time.h"
#include "examples/local_mapreduce/job_plan.h"
#include "tidemark/event.h"

namespace tidemark::examples {

// Begins each line in which a worker says on standard error why its reports do not arrive.
inline constexpr std::string_view kReportTrouble = "tidemark: ";

// The arguments of WorkerMain() for one attempt, whose end may wait for `report_budget` until its
// last events have reached the master.
std::vector<std::string> WorkerArguments(const JobPlan& plan, const AttemptId& attempt,
                                         absl::Duration report_budget);

}  // namespace tidemark::examples
