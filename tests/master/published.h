// What a table of jobs publishes, as values.
#pragma once

#include <memory>
#include <vector>

#include "master/service/job_hub.h"
#include "tidemark/job.h"

namespace tidemark::test {

inline std::vector<next::Snapshot> Values(const std::vector<next::service::PublishedJob>& jobs) {
  std::vector<next::Snapshot> snapshots;
  for (const next::service::PublishedJob& job : jobs) snapshots.push_back(*job.newest);
  return snapshots;
}

inline std::vector<next::Snapshot> Values(
    const std::vector<std::shared_ptr<const next::Snapshot>>& jobs) {
  std::vector<next::Snapshot> snapshots;
  for (const std::shared_ptr<const next::Snapshot>& job : jobs) snapshots.push_back(*job);
  return snapshots;
}

}  // namespace tidemark::test
