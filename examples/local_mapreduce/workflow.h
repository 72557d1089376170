// Workflows of the example engine. Their jobs read the output of other jobs and share slots.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "examples/local_mapreduce/run.h"
#include "tidemark/client_security.h"
#include "tidemark/plan.h"

namespace tidemark::examples {

struct WorkflowRunOptions {
  std::string workflow;             // one of WorkflowNames()
  std::string id;                   // id of the workflow; its jobs have the ids ID-NAME
  std::vector<std::string> inputs;  // files; each workflow documents how many it accepts
  std::string output_dir;           // must not exist or must be empty; gets a folder for each job
  std::uint32_t slots = 2;          // slots that all jobs share
  SlotPolicy policy = SlotPolicy::kFifo;
  std::uint32_t reduce_task_count = 2;      // number of reduce tasks of each job
  std::vector<std::string> worker_command;  // as in RunOptions
  std::string master_address;               // the master to which the jobs report
  ClientSecurity security;
  // Like RunOptions::on_notice, but with the name of the job.
  std::function<void(const std::string& notice)> on_notice;
  // If set to true, the workflow ends and its jobs are stopped. Must outlive the run.
  const std::atomic<bool>* stop = nullptr;
};

struct FinishedStep {
  std::string name;
  RunSummary summary;
  absl::Duration started_after;  // time since the start of the workflow
};

struct WorkflowSummary {
  absl::Duration elapsed;
  std::vector<FinishedStep> steps;  // in the order of the workflow
};

std::vector<std::string> WorkflowNames();

// Returns the plan, which must be submitted to the master before RunWorkflow(). Fails with NotFound
// for an unknown workflow, and with InvalidArgument for a wrong number of inputs.
absl::StatusOr<Plan> PlanOf(const WorkflowRunOptions& options);

// Runs each job in its own thread after its parents have ended. If a job fails, stops the running
// jobs and starts no others. Returns the error of the job that failed first, with its name.
absl::StatusOr<WorkflowSummary> RunWorkflow(const WorkflowRunOptions& options);

// Writes `count` lines "IP PAGE SECONDS CENTS" to `path`. The bytes depend only on `count`. Pages
// follow Zipf's law, so page k is visited in proportion to 1 / k.
absl::Status GenerateVisits(const std::string& path, std::uint64_t count);

}  // namespace tidemark::examples
