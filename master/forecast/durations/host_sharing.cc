#include "master/forecast/durations/host_sharing.h"

#include <algorithm>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "regression/cost_noise.h"

namespace tidemark::cost {
namespace {

// Limits: among so many that compete one task more or less makes no difference.
constexpr double kCrowdMax = 1e6;

struct Seen {
  std::size_t tasks = 0;
  std::size_t told = 0;
  double processor_shares = 0;
  std::uint32_t processors = 0;
};

schedule::SharedHost HostOf(const Seen& seen, bool is_named) {
  const double share = seen.told == 0 ? 1 : seen.processor_shares / static_cast<double>(seen.told);
  // Waiting that makes a task slower by less than its time is known is not told from none.
  if (share > 1 - regression::kBinErrorMin) return {.processors = kCrowdMax};
  if (seen.processors == 0 || !is_named) {
    return {.processors = share * kCrowdMax, .others = kCrowdMax};
  }
  const auto tasks = static_cast<double>(seen.tasks);
  const double compete = seen.processors / share;
  // Tasks that wait for more than processors need fewer of them than there are.
  if (compete < tasks) return {.processors = share * tasks};
  return {.processors = static_cast<double>(seen.processors), .others = compete - tasks};
}

}  // namespace

HostSharing ObserveHosts(const model::JobRecord& state) {
  HostSharing sharing;
  sharing.host_of_task.resize(state.reduce_tasks().size());
  absl::flat_hash_map<std::string, std::uint32_t> index;
  std::vector<Seen> seen;
  for (std::size_t i = 0; i < state.reduce_tasks().size(); ++i) {
    const model::TaskAttempt* attempt = state.reduce_tasks()[i].leading_attempt();
    if (attempt == nullptr) continue;
    const auto [host, is_new] =
        index.try_emplace(attempt->life.host, static_cast<std::uint32_t>(seen.size()));
    if (is_new) seen.emplace_back();
    sharing.host_of_task[i] = host->second;
    if (!attempt->reduce->reduce_started_at) continue;
    Seen& on_host = seen[host->second];
    ++on_host.tasks;
    if (!attempt->reduce->processor_use) continue;
    ++on_host.told;
    on_host.processor_shares += attempt->reduce->processor_share;
    on_host.processors = std::max(on_host.processors, attempt->reduce->processor_use->processors);
  }
  sharing.hosts.resize(seen.size());
  for (const auto& [name, host] : index) {
    sharing.hosts[host] = HostOf(seen[host], !name.empty());
    sharing.is_felt |= sharing.hosts[host].Speed(std::max<std::size_t>(seen[host].tasks, 1)) < 1;
  }
  return sharing;
}

}  // namespace tidemark::cost
