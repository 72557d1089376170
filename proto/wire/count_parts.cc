#include "tidemark/job.h"

namespace tidemark {

Counts CountParts(const Snapshot& snapshot) {
  Counts counts;
  for (const StageProgress& stage : snapshot.stages) {
    if (stage.state == StageState::kExpected) continue;
    ++counts.stages;
    if (stage.state == StageState::kDone || stage.state == StageState::kSkipped) {
      ++counts.finished_stages;
    }
    counts.tasks += stage.tasks;
    counts.running_tasks += stage.running_tasks;
    counts.finished_tasks += stage.finished_tasks;
    counts.failed_attempts += stage.failed_attempts;
  }
  counts.children = static_cast<std::uint32_t>(snapshot.children.size());
  for (const Child& child : snapshot.children) {
    if (child.state == ChildState::kSucceeded) ++counts.finished_children;
  }
  return counts;
}

}  // namespace tidemark
