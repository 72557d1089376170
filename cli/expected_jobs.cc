#include "cli/expected_jobs.h"

#include <utility>

namespace tidemark::cli {

void ExpectedJobs::Name(const std::string& id, absl::Time now) {
  if (!reported_.contains(id)) awaited_.try_emplace(id, Wait{.since = now});
}

bool ExpectedJobs::Report(const std::string& id) {
  awaited_.erase(id);
  return reported_.insert(id).second;
}

std::vector<std::string> ExpectedJobs::Awaited() const {
  std::vector<std::string> ids;
  for (const auto& [id, wait] : awaited_) ids.push_back(id);
  return ids;
}

std::vector<std::string> ExpectedJobs::TakeLate(absl::Time now) {
  std::vector<std::string> late;
  for (auto& [id, wait] : awaited_) {
    if (now - wait.since >= kReportsWithin && !std::exchange(wait.is_told, true)) {
      late.push_back(id);
    }
  }
  return late;
}

}  // namespace tidemark::cli
