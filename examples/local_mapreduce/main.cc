// local_mapreduce run JOB OUTPUT_DIR [OPTION=VALUE...]
// local_mapreduce workflow WORKFLOW OUTPUT_DIR [OPTION=VALUE...]
// local_mapreduce worker ...
//
// Runs a job, or a workflow of jobs on shared slots, of the example engine. `tidemark run example`
// has more options for jobs.
//
// Options of run: input (repeatable), slots, maps, reducers, output (text, deflate, count), watch
// (yes, no). Any other option is a parameter of the job. Options of workflow: master (HOST:PORT,
// required), id, input (repeatable), visits (generated input), slots, reducers, policy (fifo,
// fair). `tidemark watch ID` shows its progress.
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
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

RunOptions ParseOptions(const std::vector<std::string>& arguments) {
  RunOptions options = {.job = arguments[0], .output_dir = arguments[1]};
  for (std::size_t i = 2; i < arguments.size(); ++i) {
    const std::size_t equals = arguments[i].find('=');
    const std::string name = arguments[i].substr(0, equals);
    const std::string value = equals == std::string::npos ? "" : arguments[i].substr(equals + 1);
    if (name == "input") {
      options.inputs.push_back(value);
    } else if (name == "slots") {
      options.slots = Number(value);
    } else if (name == "maps") {
      options.map_task_count = Number(value);
    } else if (name == "reducers") {
      options.reduce_task_count = Number(value);
    } else if (name == "output") {
      options.output = value == "count"     ? OutputKind::kCount
                       : value == "deflate" ? OutputKind::kDeflate
                                            : OutputKind::kText;
    } else if (name == "watch") {
      options.agent_enabled = value != "no";
    } else {
      options.parameters[name] = value;
    }
  }
  return options;
}

int Run(const std::vector<std::string>& arguments) {
  const absl::StatusOr<RunSummary> summary = RunJob(ParseOptions(arguments));
  if (!summary.ok()) {
    fmt::print(stderr, "{}\n", std::string(summary.status().message()));
    return 1;
  }
  fmt::print("elapsed_seconds {:.3f}\nreduce_seconds {:.3f}\n",
             absl::ToDoubleSeconds(summary->elapsed),
             absl::ToDoubleSeconds(summary->reduce_elapsed));
  fmt::print("map_output_records {}\nmap_output_bytes {}\nreduce_input_groups {}\n",
             summary->map_output_records, summary->map_output_bytes, summary->reduce_input_groups);
  fmt::print("reduce_output_records {}\nreduce_output_bytes {}\nreduce_output_checksum {:016x}\n",
             summary->reduce_output_records, summary->reduce_output_bytes,
             summary->reduce_output_checksum);
  return 0;
}

struct WorkflowArguments {
  WorkflowRunOptions run;
  std::uint64_t visits = 0;  // visits to generate as input; none if 0
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

// Submits the plan of the workflow, so that the master follows it, and runs its jobs.
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
  if (command == "run" && arguments.size() >= 2) return tidemark::examples::Run(arguments);
  if (command == "workflow" && arguments.size() >= 2) {
    return tidemark::examples::RunWorkflowOf(arguments);
  }
  fmt::print(stderr, "usage: local_mapreduce run|workflow NAME OUTPUT_DIR [OPTION=VALUE...]\n");
  return 2;
}
