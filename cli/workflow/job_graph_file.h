// A workflow of jobs, to be submitted to a master, described in YAML or JSON: docs/workflows.md has
// the schema and an example.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "tidemark/workflow.h"

namespace tidemark::cli {

// InvalidArgument says which job and field is wrong: everything that a master would refuse, and a
// field that nobody knows.
absl::StatusOr<WorkflowSpec> ParseJobGraph(const std::string& text);
// The same; errors name the file. NotFound: it cannot be read.
absl::StatusOr<WorkflowSpec> ReadJobGraph(const std::string& path);

}  // namespace tidemark::cli
