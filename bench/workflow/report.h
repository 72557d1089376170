// Prints the figures of all suites as a table and as JSON.
#pragma once

#include <string>
#include <vector>

#include "bench/workflow/judge.h"

namespace tidemark::bench {

std::string WorkflowTable(const std::vector<Judged>& suites);
// Returns {"suites": {SUITE: {INDICATOR: {"makespan_err_mean": ..., "held_out": {...}}}}}; shares
// of the duration, points for avg_err and max_err; null without a figure. Next to "suites" is
// "behind": {INDICATOR: SuitesBehind(), "held_out": {INDICATOR: ...}}.
std::string WorkflowJson(const std::vector<Judged>& suites);

}  // namespace tidemark::bench
