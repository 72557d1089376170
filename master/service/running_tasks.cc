#include "master/service/running_tasks.h"

#include <algorithm>
#include <functional>
#include <tuple>

namespace tidemark::service {

void KeepRunning(std::size_t most, JobTasks& list) {
  std::vector<TaskProgress>& tasks = list.tasks;
  std::erase_if(tasks, [](const TaskProgress& task) {
    return task.state != AttemptState::kStarted && task.state != AttemptState::kShuffled;
  });
  const auto place = [](const TaskProgress& task) {
    return std::tuple(task.remaining ? -task.remaining->median : absl::InfiniteDuration(),
                      task.started_at.value_or(absl::InfiniteFuture()));
  };
  std::ranges::stable_sort(tasks, std::less<>(), place);
  list.tasks_left_out = tasks.size() - std::min(tasks.size(), most);
  tasks.resize(tasks.size() - list.tasks_left_out);
}

}  // namespace tidemark::service
