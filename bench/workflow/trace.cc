#include "bench/workflow/trace.h"

#include <algorithm>

namespace tidemark::bench {
namespace {

using workflow::StageNow;
using workflow::Warmth;

StageNow Shape(const TraceStage& stage) {
  return {.name = stage.name,
          .parents = stage.parents,
          .owner = stage.owner,
          .tasks = stage.tasks.size(),
          .lag = stage.lag};
}

// A task is among the last when fewer tasks of its stage start after it than run beside it.
void MarkLastWave(TraceStage& stage) {
  std::vector<double> ends;
  for (std::size_t i = 0; i < stage.tasks.size(); ++i) {
    TraceTask& task = stage.tasks[i];
    std::erase_if(ends, [&](double end) { return end <= task.start; });
    const std::size_t after = stage.tasks.size() - i - 1;
    if (task.warmth == Warmth::kRest && after < ends.size()) task.warmth = Warmth::kLast;
    ends.push_back(task.end);
  }
}

}  // namespace

void Finish(Trace& trace) {
  trace.end = 0;
  for (TraceStage& stage : trace.stages) {
    std::stable_sort(stage.tasks.begin(), stage.tasks.end(),
                     [](const TraceTask& a, const TraceTask& b) { return a.start < b.start; });
    MarkLastWave(stage);
    for (const TraceTask& task : stage.tasks) trace.end = std::max(trace.end, task.end);
  }
}

workflow::WorkflowNow Look(const Trace& trace, double at) {
  workflow::WorkflowNow now = {.elapsed = at};
  std::vector<std::size_t> place(trace.stages.size(), trace.stages.size());
  std::vector<double> submissions;
  std::size_t running = 0;
  std::size_t slots_seen = 0;
  for (std::size_t i = 0; i < trace.stages.size(); ++i) {
    const TraceStage& stage = trace.stages[i];
    if (stage.visible_at > at) continue;
    place[i] = now.stages.size();
    StageNow seen = Shape(stage);
    seen.parents.clear();
    for (const std::size_t parent : stage.parents) {
      if (place[parent] < trace.stages.size()) seen.parents.push_back(place[parent]);
    }
    for (const TraceTask& task : stage.tasks) {
      if (task.end <= at) {
        seen.finished.push_back({task.end - task.start, task.warmth});
      } else if (task.start <= at) {
        seen.running.push_back({at - task.start, task.warmth});
      }
      slots_seen += task.start <= at && task.warmth == Warmth::kFresh ? 1 : 0;
    }
    running += seen.running.size();
    now.stages.push_back(std::move(seen));
    submissions.push_back(stage.visible_at);
  }
  std::sort(submissions.begin(), submissions.end());
  now.jobs_seen = static_cast<std::size_t>(std::unique(submissions.begin(), submissions.end()) -
                                           submissions.begin());
  now.warm_slots = slots_seen > running ? slots_seen - running : 0;
  return now;
}

workflow::WorkflowNow BeforeStart(const Trace& trace) {
  workflow::WorkflowNow now;
  for (const TraceStage& stage : trace.stages) now.stages.push_back(Shape(stage));
  return now;
}

workflow::WorkflowProfile ProfileOf(const Trace& trace) {
  workflow::WorkflowProfile profile = {.slots = trace.slots};
  for (const TraceStage& stage : trace.stages) {
    workflow::StageProfile of_stage = {.name = stage.name,
                                       .parents = stage.parents,
                                       .tasks = stage.tasks.size(),
                                       .lag = stage.lag};
    for (const TraceTask& task : stage.tasks) {
      of_stage.seconds[static_cast<std::size_t>(task.warmth)].push_back(task.end - task.start);
    }
    profile.stages.push_back(std::move(of_stage));
  }
  return profile;
}

schedule::Resourcing ResourcingOf(const Trace& trace) {
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
