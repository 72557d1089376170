// The published snapshots of a table of jobs, as values.
#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include "master/service/job_hub.h"
#include "tidemark/job.h"

namespace tidemark::test {

inline std::vector<Snapshot> Values(const std::vector<service::PublishedJob>& jobs) {
  std::vector<Snapshot> snapshots;
  for (const service::PublishedJob& job : jobs) snapshots.push_back(*job.newest);
  return snapshots;
}

// Returns all jobs of the hub, the newest first.
inline std::vector<service::PublishedJob> AllOf(const service::JobHub& hub) {
  return hub.List(
      {}, [](const Snapshot&) { return true; }, std::numeric_limits<std::size_t>::max());
}
inline std::vector<std::string> IdsOf(const service::JobHub& hub) {
  std::vector<std::string> ids;
  for (const service::PublishedJob& job : AllOf(hub)) ids.push_back(job.newest->job_id);
  return ids;
}

}  // namespace tidemark::test
