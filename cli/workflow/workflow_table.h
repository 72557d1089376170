// The answers about a workflow as lines of text.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "cli/workflow/workflow_file.h"

namespace tidemark::cli {

// Its end with the interval, then a line for each stage: when it starts and ends, whether it is on
// the critical path, and what binds it.
std::vector<std::string> WorkflowLines(const WorkflowFile& file, const WorkflowAnswer& answer);

// A line for each number of slots: the end, its interval, how much of the slots would be used, and
// how much faster than the first.
std::vector<std::string> WhatIfLines(const std::vector<std::pair<double, WorkflowAnswer>>& answers);

// {"workflow", "seconds", "lower", "upper", "critical_path", "stages": [...]}, one line.
std::string WorkflowAnswerJson(const WorkflowFile& file, const WorkflowAnswer& answer);

}  // namespace tidemark::cli
