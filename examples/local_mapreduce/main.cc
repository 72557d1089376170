// local_mapreduce workflow WORKFLOW OUTPUT_DIR [OPTION=VALUE...]
// local_mapreduce worker ...
//
// Runs a workflow of jobs of the example engine on shared slots. `tidemark run example` runs one
// job.
//
// Options: master (HOST:PORT, required), id, input (repeatable), visits (generated input), slots,
// reducers, policy (fifo, fair). `tidemark watch ID` shows its progress.
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "examples/local_mapreduce/run.h"
#include "examples/local_mapreduce/workflow.h"
#include "fmt/format.h"
#include "tidemark/client.h"

namespace tidemark::examples {
namespace {

std::uint32_t Number(const std::string& text) {
  return static_cast<std::uint32_t>(std::strtoul(text.c_str(), nullptr, 10));
}

struct WorkflowArguments {
  WorkflowRunOptions run;
  std::uint64_t visits = 0;  // number of visits to generate as input; 0 generates none
};

WorkflowArguments ParseWorkflow(const std::vector<std::string>& arguments) {
  WorkflowArguments parsed;
  WorkflowRunOptions& run = parsed.run;
  run.workflow = run.id = arguments[0];
  run.output_dir = arguments[1];
  run.worker_command = {"/proc/self/exe", "worker"};
  for (std::size_t i = 2; i < arguments.size(); ++i) {
    const std::size_t equals = arguments[i].find('=');
    const std::string name = arguments[i].substr(0, equals);
    const std::string value = equals == std::string::npos ? "" : arguments[i].substr(equals + 1);
    if (name == "master") run.master_address = value;
    if (name == "id") run.id = value;
    if (name == "input") run.inputs.push_back(value);
    if (name == "visits") parsed.visits = Number(value);
    if (name == "slots") run.slots = Number(value);
    if (name == "reducers") run.reduce_task_count = Number(value);
    if (name == "policy") run.policy = value == "fair" ? SlotPolicy::kFair : SlotPolicy::kFifo;
  }
  return parsed;
}

// Submits the plan of the workflow, so that the master follows the workflow, and then runs its
// jobs.
absl::StatusOr<WorkflowSummary> SubmitAndRun(WorkflowArguments arguments) {
  WorkflowRunOptions& run = arguments.run;
  if (arguments.visits > 0) {
    run.inputs = {run.output_dir + ".visits"};
    const absl::Status generated = GenerateVisits(run.inputs.front(), arguments.visits);
    if (!generated.ok()) return generated;
  }
  const auto plan = PlanOf(run);
  if (!plan.ok()) return plan.status();
  const auto master = Client::Create({.address = run.master_address});
  if (!master.ok()) return master.status();
  const absl::Status submitted = (*master)->SubmitJob(*plan);
  if (!submitted.ok()) return submitted;
  run.on_notice = [](const std::string& notice) { fmt::print(stderr, "{}\n", notice); };
  return RunWorkflow(run);
}

int RunWorkflowOf(const std::vector<std::string>& arguments) {
  const absl::StatusOr<WorkflowSummary> summary = SubmitAndRun(ParseWorkflow(arguments));
  if (!summary.ok()) {
    fmt::print(stderr, "{}\n", std::string(summary.status().message()));
    return 1;
  }
  fmt::print("elapsed_seconds {:.3f}\n", absl::ToDoubleSeconds(summary->elapsed));
  for (const FinishedStep& step : summary->steps) {
    fmt::print("{0}.started_seconds {1:.3f}\n{0}.elapsed_seconds {2:.3f}\n{0}.output_records {3}\n",
               step.name, absl::ToDoubleSeconds(step.started_after),
               absl::ToDoubleSeconds(step.summary.elapsed), step.summary.reduce_output_records);
  }
  return 0;
}

}  // namespace
}  // namespace tidemark::examples

int main(int argc, char** argv) {
  std::vector<std::string> arguments(argv + 1, argv + argc);
  const std::string command = arguments.empty() ? "" : arguments[0];
  if (!arguments.empty()) arguments.erase(arguments.begin());
  if (command == "worker") return tidemark::examples::WorkerMain(arguments);
  if (command == "workflow" && arguments.size() >= 2) {
    return tidemark::examples::RunWorkflowOf(arguments);
  }
  fmt::print(stderr, "usage: local_mapreduce workflow NAME OUTPUT_DIR [OPTION=VALUE...]\n");
  return 2;
}
