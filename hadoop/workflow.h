// The workflow of a MapReduce job, as its configuration names it. The connector applies the same
// rules to running jobs (agent/hadoop, Workflows), so that both find the same past runs.
#pragma once

#include <optional>
#include <string>

#include "hadoop/configuration.h"
#include "tidemark/event.h"

namespace tidemark::hadoop {

// Returns the workflow, or nullopt if the job belongs to none. The environment variable
// TIDEMARK_WORKFLOW is not in a configuration.
// Variables in values, such as ${user.name}, stay as they are, but the connector expands them.
std::optional<JobWorkflow> WorkflowOf(const Configuration& configuration,
                                      const std::string& job_name);

}  // namespace tidemark::hadoop
