// The figures of all suites, for the screen and as JSON.
#pragma once

#include <string>
#include <vector>

#include "bench/workflow/judge.h"

namespace tidemark::bench {

// What one estimate takes on one core. Milliseconds, medians.
struct EstimateCost {
  double s50_t5000 = 0;     // 50 stages, 5,000 tasks
  double s1000_t10000 = 0;  // 1,000 stages, 10,000 tasks
};

std::string WorkflowTable(const std::vector<Judged>& suites);
// {"suites": {SUITE: {INDICATOR: {"makespan_err_mean": ..., "held_out": {...}}}}, "estimate_ms":
// {...}}; shares of the duration, points for avg_err and max_err; null where there is no figure.
std::string WorkflowJson(const std::vector<Judged>& suites, const EstimateCost& cost);

}  // namespace tidemark::bench
