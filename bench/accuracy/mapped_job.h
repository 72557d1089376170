// Runs a job of the test engine in this process up to the start of its last reduce phase.
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

// A job and its data.
struct JobInputs {
  std::string job;                                // one of JobNames()
  std::vector<std::string> paths;                 // plain or .zst
  std::map<std::string, std::string> parameters;  // non-default values
};

// Identifies a measurement except for the machine: job, parameters, names and sizes of the inputs.
absl::StatusOr<std::string> IdentityOf(const JobInputs& inputs);

// Runs all rounds except the last, then the map tasks of the last round one after another. A round
// has about eight map tasks, and at least one per input. Writes their files to `directory`. The
// returned plan of the last round has one reduce task and names the files.
absl::StatusOr<examples::JobPlan> RunMapTasks(const JobInputs& inputs,
                                              const std::string& directory);

// Returns the job of the plan's round, as a worker creates it, for this number of reduce tasks.
absl::StatusOr<std::unique_ptr<examples::Job>> MakeWorkerJob(const examples::JobPlan& plan,
                                                             std::uint32_t reduce_task_count);

}  // namespace tidemark::bench
