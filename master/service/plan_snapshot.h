// Plans and what is published of them, made of what a LiveWorkflow takes and says.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "master/workflow/live_workflow.h"
#include "proto/wire/job_request.h"
#include "tidemark/job.h"
#include "tidemark/plan.h"
#include "tidemark/workflow.h"

namespace tidemark::next::service {

// The newest snapshot of the job of that id; null: not known.
using JobOf = std::function<std::shared_ptr<const Snapshot>(const std::string& job_id)>;

// `said` with the stages of its jobs: those that have begun as the jobs themselves tell them, or,
// of jobs that are forgotten, as `before` has them, the snapshot before this one; null: there is
// none. O(jobs + stages).
Snapshot PlanSnapshot(const WorkflowSnapshot& said, const JobOf& job_of, const Snapshot* before);

// InvalidArgument (FieldError): stages, which no plan that runs can have yet.
absl::StatusOr<WorkflowSpec> AsWorkflow(const Plan& plan);

workflow::WhatIf AsWhatIf(const Scenario& scenario);

}  // namespace tidemark::next::service
