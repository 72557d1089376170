// Where the snapshots of a workflow go: bars, lines, JSON, or nowhere.
#pragma once

#include <cstdio>
#include <memory>
#include <string>

#include "cli/command_line.h"
#include "cli/environment.h"
#include "tidemark/workflow.h"

namespace tidemark::cli {

// Not thread-safe.
class WorkflowProgress {
 public:
  virtual ~WorkflowProgress() = default;
  // False when nobody reads any more.
  virtual bool Show(const WorkflowSnapshot& snapshot) = 0;
  // Something about the watching itself, for standard error.
  virtual void Say(const std::string& message) = 0;
  // After the last snapshot: how it all ended.
  virtual void Finish() = 0;
};

// Bars are drawn on standard error. Lines, and the summary below bars, go to `lines`.
std::unique_ptr<WorkflowProgress> MakeWorkflowProgress(const ProgressArguments& arguments,
                                                       std::FILE* lines,
                                                       const Environment& environment);

// tidemark.v1.WorkflowSnapshot in the JSON mapping of protobuf, as SnapshotJson().
std::string WorkflowSnapshotJson(const WorkflowSnapshot& snapshot);

}  // namespace tidemark::cli
