// What a table of jobs publishes, as values.
#pragma once

#include <memory>
#include <vector>

#include "master/service/job_hub.h"
#include "tidemark/job.h"

namespace tidemark::test {

inline std::vector<Snapshot> Values(const std::vector<service::PublishedJob>& jobs) {
  std::vector<Snapshot> snapshots;
  for (const service::PublishedJob& job : jobs) snapshots.push_back(*job.newest);
  return snapshots;
}

inline std::vector<Snapshot> Values(const std::vector<std::shared_ptr<const Snapshot>>& jobs) {
  std::vector<Snapshot> snapshots;
  for (const std::shared_ptr<const Snapshot>& job : jobs) snapshots.push_back(*job);
  return snapshots;
}

}  // namespace tidemark::test
