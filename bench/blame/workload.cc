#include <algorithm>
#include <cmath>
#include <numeric>

#include "bench/accuracy/random.h"
#include "bench/blame/cluster.h"

namespace tidemark::bench {
namespace {

double LogNormal(Random& random, double deviation) { return std::exp(deviation * random.Normal()); }

std::uint32_t Below(Random& random, std::uint32_t n) {
  return static_cast<std::uint32_t>(random.Next() % n);
}

// Returns random shares that sum to one.
std::array<double, kPartCount> Mix(Random& random, double deviation) {
  std::array<double, kPartCount> mix{};
  for (double& part : mix) part = LogNormal(random, deviation);
  const double sum = std::accumulate(mix.begin(), mix.end(), 0.0);
  for (double& part : mix) part /= sum;
  return mix;
}

std::vector<std::uint32_t> SomeHosts(Random& random, std::uint32_t hosts) {
  std::vector<std::uint32_t> some(hosts);
  std::iota(some.begin(), some.end(), 0);
  for (std::uint32_t h = hosts - 1; h > 0; --h) std::swap(some[h], some[Below(random, h + 1)]);
  some.resize(2 + Below(random, hosts - 1));
  return some;
}

}  // namespace

Workload MakeWorkload(const Shape& shape, std::uint64_t seed) {
  Random random(seed);
  Workload workload{.shape = shape};
  const std::uint32_t stages_each = shape.stages / shape.queries;
  std::vector<double> weights;
  for (std::uint32_t s = 0; s < shape.stages; ++s) weights.push_back(LogNormal(random, 0.7));
  const double all_weights = std::accumulate(weights.begin(), weights.end(), 0.0);

  for (std::uint32_t q = 0; q < shape.queries; ++q) {
    workload.submitted.push_back(random.Uniform() * 120);
    const double heaviness = LogNormal(random, 0.7);
    const std::array<double, kPartCount> query_mix = Mix(random, 0.8);
    for (std::uint32_t i = 0; i < stages_each; ++i) {
      const auto stage = static_cast<std::uint32_t>(workload.stages.size());
      waits::QueryStage info{.query = waits::Query{q}, .parents = {}, .target_weight = {}};
      // The stages form chains that run in parallel and join occasionally.
      if (i >= 3) info.parents.push_back(waits::Stage{stage - 3});
      if (i >= 1 && random.Uniform() < 0.2) info.parents.push_back(waits::Stage{stage - 1});
      workload.stages.push_back(info);

      std::array<double, kPartCount> mix = Mix(random, 0.4);
      double sum = 0;
      for (std::size_t p = 0; p < kPartCount; ++p) sum += mix[p] *= query_mix[p];
      const double task_seconds = 1.5 * heaviness * LogNormal(random, 0.3);
      const std::vector<std::uint32_t> hosts = SomeHosts(random, shape.hosts);
      const auto tasks = static_cast<std::uint32_t>(
          std::max(1.0, std::round(shape.tasks * weights[stage] / all_weights)));
      for (std::uint32_t t = 0; t < tasks; ++t) {
        const double skew = random.Uniform() < 0.02 ? 5 : 1;
        const double seconds = task_seconds * skew * LogNormal(random, 0.3);
        SimulatedTask task{.stage = stage,
                           .host = hosts[Below(random, static_cast<std::uint32_t>(hosts.size()))],
                           .rounds = 2 + Below(random, 6)};
        for (std::size_t p = 0; p < kPartCount; ++p) task.seconds[p] = seconds * mix[p] / sum;
        workload.tasks.push_back(task);
      }
    }
  }
  return workload;
}

}  // namespace tidemark::bench
