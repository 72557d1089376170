// The tasks of jobs that have ended, as many lists as fit into a fixed amount of memory. The newest
// lists stay; JobTable reads others again from the logs of their jobs.
//
// Thread-safe.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <utility>

#include "tidemark/job_tasks.h"

namespace tidemark::service {

class EndedTasks {
 public:
  // Bytes are estimated.
  explicit EndedTasks(std::size_t bytes_max = std::size_t{32} << 20) : bytes_max_(bytes_max) {}

  // Null as soon as others have taken its place.
  std::weak_ptr<const JobTasks> Keep(JobTasks tasks);

 private:
  const std::size_t bytes_max_;
  std::mutex mutex_;  // guards the rest
  std::size_t bytes_ = 0;
  std::deque<std::pair<std::size_t, std::shared_ptr<const JobTasks>>> kept_;  // oldest first
};

// Of what is kept of a job, what is asked for.
JobTasks Asked(const JobTasks& kept, const TaskQuery& query);

}  // namespace tidemark::service
