// A job of the test engine, run in this process up to the moment when its last reduce phase
// would begin.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "examples/local_mapreduce/job.h"
#include "examples/local_mapreduce/job_plan.h"

namespace tidemark::bench {

// Which job on which data.
struct JobInputs {
  std::string job;                                // one of JobNames()
  std::vector<std::string> paths;                 // plain or .zst
  std::map<std::string, std::string> parameters;  // those that are not the default
};

// Everything that a measurement depends on, but for the machine: job, parameters, and the names and
// sizes of the inputs.
absl::StatusOr<std::string> IdentityOf(const JobInputs& inputs);

// Runs all rounds but the last, then the map tasks of the last, one after the other: about eight in
// each round, at least one for each input. `directory` takes their files. The plan of the last
// round, which has one reduce task and says where they are.
absl::StatusOr<examples::JobPlan> RunMapTasks(const JobInputs& inputs,
                                              const std::string& directory);

// The job of the plan's round as a worker would have it, for so many reduce tasks.
absl::StatusOr<std::unique_ptr<examples::Job>> MakeWorkerJob(const examples::JobPlan& plan,
                                                             std::uint32_t reduce_task_count);

}  // namespace tidemark::bench
