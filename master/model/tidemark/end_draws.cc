#include "master/model/tidemark/end_draws.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "master/model/tidemark/fixed_draws.h"

namespace tidemark::model {
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

double Quantile(std::vector<double>& values, double p) {
  const double at = p * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(below),
                   values.end());
  const double low = values[below];
  if (below + 1 >= values.size()) return low;
  const double high =
      *std::min_element(values.begin() + static_cast<std::ptrdiff_t>(below) + 1, values.end());
  return low + (at - static_cast<double>(below)) * (high - low);
}

// Of the task's own noise and of its speed, relative to its mean.
double LogDeviation(const TaskOutlook& task) {
  const double mean = task.waiting.mean;
  const double relative = mean > 0 ? task.waiting.noise_variance / (mean * mean) : 0;
  return std::sqrt(std::log1p(relative) + task.speed.deviation * task.speed.deviation);
}

// What all tasks share in each draw.
struct Futures {
  std::vector<std::size_t> curves;
  std::vector<double> beyond;
};

Futures SharedBy(const FixedDraws& numbers, std::span<const double> weights) {
  Futures futures;
  FixedDraws::Sequence uniforms = numbers.Uniforms(0);
  FixedDraws::Sequence normals = numbers.Normals(0);
  for (std::size_t d = 0; d < numbers.count(); ++d) {
    futures.curves.push_back(Pick(weights, uniforms.Next()));
    futures.beyond.push_back(normals.Next());
  }
  return futures;
}

// Of one task, by draw: seconds from when it has, or had, a slot.
void DrawTimes(const TaskOutlook& task, const FixedDraws& numbers, const Futures& futures,
               std::vector<double>& times) {
  FixedDraws::Sequence uniforms = numbers.Uniforms(task.index + 1);
  FixedDraws::Sequence normals = numbers.Normals(task.index + 1);
  const double deviation = LogDeviation(task);
  for (std::size_t d = 0; d < numbers.count(); ++d) {
    const std::size_t k = futures.curves[d];
    double seconds =
        task.waiting.seconds[k] * std::exp(deviation * normals.Next() - deviation * deviation / 2);
    seconds = std::max(0.0, seconds + futures.beyond[d] * task.waiting.beyond) * task.speed.factor;
    if (task.running) seconds += task.running->Left(k, uniforms.Next());
    times.push_back(task.delay + std::max(0.0, seconds - task.unheard));
  }
  if (!task.twin) return;
  FixedDraws::Sequence twins = numbers.Normals(~std::uint64_t{task.index});
  for (double& seconds : times) {
    const double of_twin = task.twin->seconds * std::exp(task.twin->deviation * twins.Next());
    seconds = std::min(seconds, of_twin);
  }
}

}  // namespace

EndDraws DrawEnds(std::span<const TaskOutlook> tasks, std::span<const double> weights,
                  std::size_t slots) {
  EndDraws result;
  if (tasks.empty()) return result;
  const FixedDraws& numbers = FixedDraws::For(tasks.size());
  const Futures futures = SharedBy(numbers, weights);
  std::vector<std::vector<double>> task_ends(tasks.size());
  std::size_t running = 0;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    DrawTimes(tasks[i], numbers, futures, task_ends[i]);
    running += tasks[i].is_running ? 1 : 0;
  }
  const std::size_t free = std::min(slots > running ? slots - running : 0, tasks.size() - running);
  std::vector<double> ends;
  std::vector<double> slot_ends;
  for (std::size_t d = 0; d < numbers.count(); ++d) {
    slot_ends.assign(free, 0);
    double end = 0;
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      if (!tasks[i].is_running) continue;
      slot_ends.push_back(task_ends[i][d]);
      end = std::max(end, task_ends[i][d]);
    }
    if (running < tasks.size()) {
      std::make_heap(slot_ends.begin(), slot_ends.end(), std::greater<>());
    }
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      if (tasks[i].is_running) continue;
      std::pop_heap(slot_ends.begin(), slot_ends.end(), std::greater<>());
      task_ends[i][d] = slot_ends.back() += task_ends[i][d];
      end = std::max(end, slot_ends.back());
      std::push_heap(slot_ends.begin(), slot_ends.end(), std::greater<>());
    }
    ends.push_back(end);
  }
  result.median = Quantile(ends, 0.5);
  result.lower = Quantile(ends, 0.05);
  result.upper = Quantile(ends, 0.95);
  for (std::vector<double>& of_task : task_ends) {
    result.task_medians.push_back(Quantile(of_task, 0.5));
  }
  return result;
}

}  // namespace tidemark::model
