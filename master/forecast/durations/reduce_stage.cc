#include "master/forecast/durations/reduce_stage.h"

#include <algorithm>
#include <cmath>

namespace tidemark::cost {
namespace {

// The curve whose share of the probability holds `p`.
std::size_t Pick(std::span<const double> weights, double p) {
  double sum = 0;
  for (std::size_t k = 0; k < weights.size(); ++k) {
    sum += weights[k];
    if (p < sum) return k;
  }
  return weights.size() - 1;
}

// Of the task's own noise and of its speed, relative to its mean.
double LogDeviation(const ReduceTaskLeft& task) {
  const double mean = task.waiting.mean;
  const double relative = mean > 0 ? task.waiting.noise_variance / (mean * mean) : 0;
  return std::sqrt(std::log1p(relative) + task.speed.deviation * task.speed.deviation);
}

// What all tasks share in each draw.
struct Shared {
  std::vector<std::size_t> curves;
  Draws beyond;
};

// Seconds from when it has, or had, a slot.
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
    seconds = std::max(0.0, seconds + shared.beyond[d] * task.waiting.beyond) * task.speed.factor;
    if (task.running) seconds += task.running->Left(k, uniforms[d]);
    times[d] = task.delay + std::max(0.0, seconds - task.unheard) + task.after;
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

StageLeft ReduceStage(std::span<const ReduceTaskLeft> tasks, std::span<const double> weights,
                      std::size_t slots, const FixedDraws& draws) {
  Shared shared = {.beyond = draws.Normals(Drawn::kBeyond, kOfKeyGroups)};
  for (const double p : draws.Uniforms(Drawn::kCurve, kOfKeyGroups))
    shared.curves.push_back(Pick(weights, p));
  StageLeft stage;
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

}  // namespace tidemark::cost
