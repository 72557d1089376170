// Runs a job of the test engine in this process, up to the start of its last reduce phase.
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
  std::vector<std::string> paths;                 // plain or .zst files
  std::map<std::string, std::string> parameters;  // parameters that are not the defaults
};

// Returns a text that identifies a measurement except for the machine. Consists of the job, its
// parameters, and the names and sizes of the inputs.
absl::StatusOr<std::string> IdentityOf(const JobInputs& inputs);

// Runs all rounds except the last, and then the map tasks of the last round, sequentially. A round
// has about eight map tasks, and at least one for each input. Writes the files of the tasks to
// `directory`. Returns a plan of the last round, which has one reduce task and names these files.
absl::StatusOr<examples::JobPlan> RunMapTasks(const JobInputs& inputs,
                                              const std::string& directory);

// Returns the planned round of the job for the given number of reduce tasks, as a worker creates
// it.
absl::StatusOr<std::unique_ptr<examples::Job>> MakeWorkerJob(const examples::JobPlan& plan,
                                                             std::uint32_t reduce_task_count);

}  // namespace tidemark::bench
