// A workflow described in YAML or JSON: docs/workflows.md has the schema and an example.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "master/workflow/stages_application.h"
#include "master/workflow/task_model.h"

namespace tidemark::cli {

struct WorkflowFile {
  std::string name;
  workflow::WorkflowNow now;     // every stage, nothing has run
  workflow::RunProfile profile;  // task times, where the file gives them
  schedule::Resourcing on;
  std::vector<std::string> queues;  // names, as on.cluster.queue_shares
  double nodes = 1;
  workflow::NodeProfile node;
  // Of stages whose task time follows from their data; by stage.
  std::vector<std::optional<workflow::TaskModel>> models;
};

// InvalidArgument says which stage and field is wrong: a cycle, a parent that is no stage, a stage
// with neither task times nor a model, a number that is negative or missing, a field that nobody
// knows.
absl::StatusOr<WorkflowFile> ParseWorkflow(const std::string& text);
// The same; errors name the file. NotFound: it cannot be read.
absl::StatusOr<WorkflowFile> ReadWorkflow(const std::string& path);

// The same workflow on another number of slots (nodes stay), and with this many times the data
// (tasks are as many times as many, as splits are).
WorkflowFile WithSlots(WorkflowFile file, double slots);
WorkflowFile WithData(WorkflowFile file, double times);

struct StageAnswer {
  std::string name;
  double start = 0;  // seconds from the begin
  double end = 0;
  bool is_critical = false;
  std::string bottleneck;  // empty: not modelled
};

struct WorkflowAnswer {
  estimate::Estimate estimate;
  std::vector<StageAnswer> stages;
  double busy_share = 0;  // of the slots' time until the end, the part that tasks would use
};

// Task times of modelled stages at the file's slots and nodes, then the end of the whole.
absl::StatusOr<WorkflowAnswer> EstimateFile(const WorkflowFile& file);

}  // namespace tidemark::cli
