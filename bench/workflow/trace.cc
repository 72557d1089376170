#include "bench/workflow/trace.h"

#include <algorithm>

namespace tidemark::bench {

void Finish(Trace& trace) {
  trace.end = 0;
  for (TraceStage& stage : trace.stages) {
    std::stable_sort(stage.tasks.begin(), stage.tasks.end(),
                     [](const TraceTask& a, const TraceTask& b) { return a.start < b.start; });
    for (const TraceTask& task : stage.tasks) trace.end = std::max(trace.end, task.end);
  }
}

placement::Resourcing ResourcingOf(const Trace& trace) {
  return {.cluster = {.capacity = {.cores = trace.slots}, .policy = trace.policy}};
}

double EndOfOwner(const Trace& trace, std::size_t owner) {
  double end = 0;
  for (const TraceStage& stage : trace.stages) {
    if (stage.owner != owner) continue;
    for (const TraceTask& task : stage.tasks) end = std::max(end, task.end);
  }
  return end;
}

}  // namespace tidemark::bench
