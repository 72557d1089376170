// The figures of all suites, for the screen and as JSON.
#pragma once

#include <string>
#include <vector>

#include "bench/workflow/judge.h"

namespace tidemark::bench {

std::string WorkflowTable(const std::vector<Judged>& suites);
// {"suites": {SUITE: {INDICATOR: {"makespan_err_mean": ..., "held_out": {...}}}}}; shares of the
// duration, points for avg_err and max_err; null where there is no figure. Beside "suites",
// "behind": {INDICATOR: SuitesBehind(), "held_out": {INDICATOR: ...}}.
std::string WorkflowJson(const std::vector<Judged>& suites);

}  // namespace tidemark::bench
