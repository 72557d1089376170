// Workflows of the example engine: jobs of this folder that read one another's output, on slots
// that they share.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "examples/local_mapreduce/run.h"
#include "examples/local_mapreduce/slot_pool.h"
#include "tidemark/client_security.h"
#include "tidemark/plan.h"

namespace tidemark::examples {

struct WorkflowRunOptions {
  std::string workflow;             // one of WorkflowNames()
  std::string id;                   // of the workflow; its jobs are ID-NAME
  std::vector<std::string> inputs;  // files; each workflow says how many it takes
  std::string output_dir;           // must not exist or be empty; a folder for each job
  std::uint32_t slots = 2;          // of all jobs together
  SlotPolicy policy = SlotPolicy::kFifo;
  std::uint32_t reduce_task_count = 2;      // of each job
  std::vector<std::string> worker_command;  // as in RunOptions
  std::string master_address;               // the jobs report there
  ClientSecurity security;
  // As in RunOptions, after the name of the job.
  std::function<void(const std::string& notice)> on_notice;
  // Set to end the workflow: its jobs end as stopped. Must outlive the run.
  const std::atomic<bool>* stop = nullptr;
};

struct FinishedStep {
  std::string name;
  RunSummary summary;
  absl::Duration started_after;  // since the workflow began
};

struct WorkflowSummary {
  absl::Duration elapsed;
  std::vector<FinishedStep> steps;  // in the order of the workflow
};

std::vector<std::string> WorkflowNames();
std::string DescribeWorkflow(const std::string& workflow);  // for --help

// What to submit to the master before RunWorkflow(). NotFound: an unknown workflow.
// InvalidArgument: a wrong number of inputs.
absl::StatusOr<Plan> PlanOf(const WorkflowRunOptions& options);

// Runs each job in a thread of its own once its parents have ended. Errors: those of RunJob() for
// the job that failed first, which is named; jobs that run then are stopped and no other begins.
absl::StatusOr<WorkflowSummary> RunWorkflow(const WorkflowRunOptions& options);

}  // namespace tidemark::examples
