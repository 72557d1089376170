#include "master/forecast/placement/stage_work.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"

namespace tidemark::schedule {
namespace {

bool IsTime(double seconds) { return std::isfinite(seconds) && seconds >= 0; }

absl::Status CheckStage(const StageWork& stage, std::size_t index) {
  if (!IsTime(stage.lag) || !std::all_of(stage.running.begin(), stage.running.end(), IsTime)) {
    return absl::InvalidArgumentError(
        absl::StrCat("stage ", index, ": a time must be finite and not negative"));
  }
  return absl::OkStatus();
}

}  // namespace

Parents ParentsOf(const std::vector<StageWork>& stages) {
  Parents parents;
  parents.reserve(stages.size());
  for (const StageWork& stage : stages) parents.push_back(stage.parents);
  return parents;
}

absl::Status Check(const std::vector<StageWork>& stages, const Resourcing& on) {
  std::vector<Claim> claims;
  for (std::size_t i = 0; i < stages.size(); ++i) {
    const StageWork& stage = stages[i];
    if (absl::Status ok = CheckStage(stage, i); !ok.ok()) return ok;
    const std::uint64_t tasks = stage.pending > 0 || !stage.running.empty() ? 1 : 0;
    const std::size_t queue = stage.owner < on.queue_of_owner.size()
                                  ? on.queue_of_owner[stage.owner]
                                  : on.cluster.queue_shares.size();
    claims.push_back({.container = stage.container, .wanted = tasks, .queue = queue});
  }
  if (auto degrees = DegreesOfParallelism(on.cluster, claims); !degrees.ok()) {
    return degrees.status();
  }
  return TopologicalOrder(ParentsOf(stages)).status();
}

}  // namespace tidemark::schedule
