#include "master/forecast/durations/reduce_stage.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "regression/cost_model.h"

namespace tidemark::durations {
namespace {

// Returns the curve at the cumulative probability `p`.
std::size_t Pick(std::span<const double> weights, double p) {
  double sum = 0;
  for (std::size_t k = 0; k < weights.size(); ++k) {
    sum += weights[k];
    if (p < sum) return k;
  }
  return weights.size() - 1;
}

// Returns the relative deviation of the task's time that results from its noise and its speed.
double LogDeviation(const ReduceTaskLeft& task) {
  const double mean = task.waiting.mean;
  const double relative = mean > 0 ? task.waiting.noise_variance / (mean * mean) : 0;
  return std::sqrt(std::log1p(relative) + task.speed.deviation * task.speed.deviation);
}

// Values of a draw that all tasks share.
struct Shared {
  std::vector<std::size_t> curves;
  Draws beyond;
  Draws sampling;
};

// Returns the seconds from the time at which the task gets a slot until its end, by draw.
Draws SecondsOf(const ReduceTaskLeft& task, const Shared& shared, const FixedDraws& draws) {
  const double deviation = LogDeviation(task);
  const Draws normals = draws.Normals(Drawn::kTask, task.index);
  Draws uniforms;
  if (task.running) uniforms = draws.Uniforms(Drawn::kGroup, task.index);
  Draws times(draws.count());
  for (std::size_t d = 0; d < times.size(); ++d) {
    const std::size_t k = shared.curves[d];
    double seconds =
        task.waiting.seconds[k] * std::exp(deviation * normals[d] - deviation * deviation / 2);
    seconds += shared.beyond[d] * task.waiting.beyond + shared.sampling[d] * task.waiting.sampling;
    seconds = std::max(0.0, seconds) * task.speed.factor;
    if (task.running) seconds += task.running->Left(k, uniforms[d]);
    times[d] = task.delay + std::max(0.0, seconds - task.since_report) + task.after;
  }
  if (!task.other) return times;
  const Draws of_other = draws.Normals(Drawn::kOtherAttempt, task.index);
  for (std::size_t d = 0; d < times.size(); ++d) {
    times[d] =
        std::min(times[d], task.other->seconds * std::exp(task.other->deviation * of_other[d]));
  }
  return times;
}

}  // namespace

RemainingStage ReduceStage(std::span<const ReduceTaskLeft> tasks, std::span<const double> weights,
                           std::size_t slots, const FixedDraws& draws) {
  Shared shared = {.beyond = draws.Normals(Drawn::kBeyond, kOfKeyGroups),
                   .sampling = draws.Normals(Drawn::kSample, kOfKeyGroups)};
  for (const double p : draws.Uniforms(Drawn::kCurve, kOfKeyGroups))
    shared.curves.push_back(Pick(weights, p));
  RemainingStage stage;
  stage.times.is_known = true;
  for (const ReduceTaskLeft& task : tasks) {
    if (task.is_running) {
      stage.work.running.push_back(0);
    } else {
      ++stage.work.pending;
    }
    stage.times.of_task.push_back(SecondsOf(task, shared, draws));
    stage.times.delay.push_back(task.delay);
  }
  stage.work.at_once_max = std::max(slots, stage.work.running.size());
  return stage;
}

namespace {

// Limits the number of competitors. Above this number, a single task makes no difference.
constexpr double kCrowdMax = 1e6;

struct Seen {
  std::size_t tasks = 0;
  std::size_t reported = 0;
  double processor_shares = 0;
  std::uint32_t processors = 0;
};

placement::SharedHost HostOf(const Seen& seen, bool is_named) {
  const double share =
      seen.reported == 0 ? 1 : seen.processor_shares / static_cast<double>(seen.reported);
  // A smaller slowdown is below the precision of the times.
  if (share > 1 - regression::kBinErrorMin) return {.processors = kCrowdMax};
  if (seen.processors == 0 || !is_named) {
    return {.processors = share * kCrowdMax, .others = kCrowdMax};
  }
  const auto tasks = static_cast<double>(seen.tasks);
  const double compete = seen.processors / share;
  // The tasks use fewer processors than the host has, since they also wait for other resources.
  if (compete < tasks) return {.processors = share * tasks};
  return {.processors = static_cast<double>(seen.processors), .others = compete - tasks};
}

}  // namespace

HostSharing ObserveHosts(const facts::JobRecord& state) {
  HostSharing sharing;
  sharing.host_of_task.resize(state.reduce_tasks().size());
  absl::flat_hash_map<std::string, std::uint32_t> index;
  std::vector<Seen> seen;
  for (std::size_t i = 0; i < state.reduce_tasks().size(); ++i) {
    const facts::TaskAttempt* attempt = state.reduce_tasks()[i].leading_attempt();
    if (attempt == nullptr) continue;
    const auto [host, is_new] =
        index.try_emplace(attempt->life.host, static_cast<std::uint32_t>(seen.size()));
    if (is_new) seen.emplace_back();
    sharing.host_of_task[i] = host->second;
    if (!attempt->reduce->reduce_started_at) continue;
    Seen& on_host = seen[host->second];
    ++on_host.tasks;
    if (!attempt->reduce->processor_use) continue;
    ++on_host.reported;
    on_host.processor_shares += attempt->reduce->processor_share;
    on_host.processors = std::max(on_host.processors, attempt->reduce->processor_use->processors);
  }
  sharing.hosts.resize(seen.size());
  for (const auto& [name, host] : index) {
    sharing.hosts[host] = HostOf(seen[host], !name.empty());
    sharing.is_contended |=
        sharing.hosts[host].Speed(std::max(static_cast<double>(seen[host].tasks), 1.0)) < 1;
  }
  return sharing;
}

}  // namespace tidemark::durations
