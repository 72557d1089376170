#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "cli/commands.h"
#include "cli/environment.h"
#include "cli/exit_code.h"
#include "cli/progress.h"
#include "cli/workflow/workflow_file.h"
#include "cli/workflow/workflow_table.h"

namespace tidemark::cli {
namespace {

int Print(const std::vector<std::string>& lines) {
  for (const std::string& line : lines) {
    if (!WriteLine(stdout, line)) return kReaderGone;
  }
  return kSuccess;
}

int Trouble(const absl::Status& status) {
  Complain(std::string(status.message()));
  return kUsage;
}

}  // namespace

int EstimateWorkflowFile(const WorkflowEstimateArguments& arguments) {
  const auto file = ReadWorkflow(arguments.file);
  if (!file.ok()) return Trouble(file.status());
  const auto answer = EstimateFile(*file);
  if (!answer.ok()) return Trouble(answer.status());
  if (arguments.json) return Print({WorkflowAnswerJson(*file, *answer)});
  return Print(WorkflowLines(*file, *answer));
}

int WhatIfWorkflow(const WorkflowWhatIfArguments& arguments) {
  const auto file = ReadWorkflow(arguments.file);
  if (!file.ok()) return Trouble(file.status());
  std::vector<std::pair<double, WorkflowAnswer>> answers;
  std::vector<std::string> lines;
  for (const double slots : arguments.slots) {
    const WorkflowFile changed = WithData(WithSlots(*file, slots), arguments.data);
    auto answer = EstimateFile(changed);
    if (!answer.ok()) return Trouble(answer.status());
    if (arguments.json) lines.push_back(WorkflowAnswerJson(changed, *answer));
    answers.emplace_back(slots, *std::move(answer));
  }
  return Print(arguments.json ? lines : WhatIfLines(answers));
}

}  // namespace tidemark::cli
