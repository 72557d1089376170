// Workflows and their snapshots to and from their messages.
#pragma once

#include "absl/status/statusor.h"
#include "tidemark/workflow.h"

namespace tidemark::v1 {
class Workflow;
class WorkflowSnapshot;
}  // namespace tidemark::v1

namespace tidemark::wire {

void EncodeWorkflow(const WorkflowSpec& workflow, v1::Workflow& message);
// InvalidArgument: a time that its type forbids. Whether the workflow makes sense is not looked at
// (master/workflow/check_workflow.h). Unknown enum values become their zero meaning.
absl::StatusOr<WorkflowSpec> ParseWorkflow(const v1::Workflow& untrusted);

void EncodeWorkflowSnapshot(const WorkflowSnapshot& snapshot, v1::WorkflowSnapshot& message);
// Unknown enum values become their zero meaning; fractions outside 0..1 are InvalidArgument.
absl::StatusOr<WorkflowSnapshot> ParseWorkflowSnapshot(const v1::WorkflowSnapshot& message);

}  // namespace tidemark::wire
