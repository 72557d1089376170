// A workflow that has run: which task ran when. Seconds since the workflow began.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "master/schedule/allocation.h"
#include "master/workflow/stages_application.h"
#include "master/workflow/workflow_state.h"

namespace tidemark::bench {

struct TraceTask {
  double start = 0;
  double end = 0;
  workflow::Warmth warmth = workflow::Warmth::kRest;
};

struct TraceStage {
  std::string name;
  std::vector<std::size_t> parents;  // lower indexes
  std::size_t owner = 0;
  double visible_at = 0;         // when the engine told of it
  double lag = 0;                // from the last parent's end to its submission
  std::vector<TraceTask> tasks;  // by start
};

struct Trace {
  std::string group;  // what figures are averaged within before they are averaged
  std::string name;
  bool held_out = false;  // no constant was chosen on it
  double slots = 1;
  schedule::Policy policy = schedule::Policy::kFifo;
  std::size_t owners = 1;
  double end = 0;
  std::vector<TraceStage> stages;
};

// What a master would know at `at`; stages in the order of the trace.
workflow::WorkflowNow Look(const Trace& trace, double at);
// For what-if before the start: every stage is known, nothing has run.
workflow::WorkflowNow BeforeStart(const Trace& trace);
workflow::WorkflowProfile ProfileOf(const Trace& trace);
schedule::Resourcing ResourcingOf(const Trace& trace);
// When the last task of an owner's stages ended.
double EndOfOwner(const Trace& trace, std::size_t owner);

// Sorts tasks by start, marks the last wave of each stage, sets `end` and cuts what lies before 0.
void Finish(Trace& trace);

}  // namespace tidemark::bench
