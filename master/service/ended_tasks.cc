#include "master/service/ended_tasks.h"

#include <algorithm>

namespace tidemark::service {
namespace {

std::size_t BytesOf(const JobTasks& tasks) {
  std::size_t bytes = sizeof(JobTasks);
  for (const TaskProgress& task : tasks.tasks) {
    bytes += sizeof(task) + task.host.capacity() + task.failure.capacity();
  }
  for (const HostTasks& host : tasks.hosts) {
    bytes += sizeof(host) + host.host.capacity() + sizeof(double) * host.busy.capacity();
  }
  return bytes;
}

}  // namespace

std::weak_ptr<const JobTasks> EndedTasks::Keep(JobTasks tasks) {
  // Of what has ended nothing is expected.
  tasks.heavy_groups.clear();
  for (TaskProgress& task : tasks.tasks) task.remaining.reset();
  const std::size_t bytes = BytesOf(tasks);
  const auto kept = std::make_shared<const JobTasks>(std::move(tasks));
  const std::lock_guard lock(mutex_);
  bytes_ += bytes;
  kept_.emplace_back(bytes, kept);
  while (bytes_ > bytes_max_) {
    bytes_ -= kept_.front().first;
    kept_.pop_front();
  }
  return kept;
}

JobTasks Asked(const JobTasks& kept, const TaskQuery& query) {
  JobTasks asked = kept;
  if (!query.host) {
    if (asked.tasks.size() <= query.tasks_max) return asked;
    asked.tasks_left_out += asked.tasks.size();
    asked.tasks.clear();
    return asked;
  }
  std::erase_if(asked.tasks, [&](const TaskProgress& task) { return task.host != *query.host; });
  asked.tasks_left_out = asked.tasks.size() - std::min(asked.tasks.size(), query.tasks_max);
  // The last to begin are the last of their host.
  asked.tasks.erase(asked.tasks.begin(),
                    asked.tasks.begin() + static_cast<std::ptrdiff_t>(asked.tasks_left_out));
  return asked;
}

}  // namespace tidemark::service
