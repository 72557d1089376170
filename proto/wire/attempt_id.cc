#include <fmt/format.h>

#include "tidemark/event.h"

namespace tidemark {

std::string ToString(const AttemptId& id) {
  std::string text = fmt::format("task {} of stage {}", id.index, id.stage);
  if (id.stage_attempt > 0) text += fmt::format(", stage attempt {}", id.stage_attempt);
  if (id.attempt > 0) text += fmt::format(", attempt {}", id.attempt);
  return text;
}

std::vector<StageOpened> MapReduceStages(std::optional<std::uint32_t> map_task_count,
                                         std::optional<std::uint32_t> reduce_task_count) {
  std::vector<StageOpened> stages = {
      {.stage = kMapStage, .kind = StageKind::kMap, .task_count = map_task_count}};
  if (reduce_task_count != 0) {
    stages.push_back({.stage = kReduceStage,
                      .parents = {kMapStage},
                      .kind = StageKind::kReduce,
                      .task_count = reduce_task_count});
  }
  return stages;
}

}  // namespace tidemark
