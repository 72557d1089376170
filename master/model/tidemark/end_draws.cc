#include "master/model/tidemark/end_draws.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "master/model/tidemark/normal.h"

namespace tidemark::model {
namespace {

constexpr std::size_t kDraws = 200;
// With very many tasks fewer draws do: the latest of many varies little.
constexpr std::size_t kDrawsTimesTasksMax = 60'000;
constexpr std::size_t kDrawsMin = 48;

std::size_t DrawCount(std::size_t tasks) {
  return std::clamp(kDrawsTimesTasksMax / std::max<std::size_t>(tasks, 1), kDrawsMin, kDraws);
}

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

}  // namespace

EndDraws DrawEnds(std::span<const TaskOutlook> tasks, std::span<const double> weights,
                  std::size_t slots) {
  EndDraws result;
  if (tasks.empty()) return result;
  const std::size_t draws = DrawCount(tasks.size());
  std::vector<double> deviations;
  std::size_t running = 0;
  for (const TaskOutlook& task : tasks) {
    deviations.push_back(LogDeviation(task));
    running += task.is_running ? 1 : 0;
  }
  const std::size_t free = std::min(slots > running ? slots - running : 0, tasks.size() - running);
  std::vector<double> ends(draws);
  std::vector<std::vector<double>> task_ends(tasks.size(), std::vector<double>(draws));
  std::vector<double> slot_ends;
  for (std::size_t d = 0; d < draws; ++d) {
    const double stratum = (static_cast<double>(d) + FixedUniform(d)) / static_cast<double>(draws);
    const std::size_t k = Pick(weights, stratum);
    const double beyond = NormalQuantile(FixedUniform(1'000'003 + d));
    const auto time_of = [&](std::size_t i) {
      const TaskOutlook& task = tasks[i];
      const std::uint64_t seed = (task.index + 1) * 4096 + d;
      const double z = NormalQuantile(FixedUniform(2 * seed));
      const double s = deviations[i];
      double seconds = task.waiting.seconds[k] * std::exp(s * z - s * s / 2);
      seconds = std::max(0.0, seconds + beyond * task.waiting.beyond) * task.speed.factor;
      if (task.running) seconds += task.running->Left(k, FixedUniform(2 * seed + 1));
      return task.delay + seconds;
    };
    slot_ends.assign(free, 0);
    double end = 0;
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      if (!tasks[i].is_running) continue;
      task_ends[i][d] = time_of(i);
      slot_ends.push_back(task_ends[i][d]);
      end = std::max(end, task_ends[i][d]);
    }
    std::make_heap(slot_ends.begin(), slot_ends.end(), std::greater<>());
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      if (tasks[i].is_running) continue;
      std::pop_heap(slot_ends.begin(), slot_ends.end(), std::greater<>());
      task_ends[i][d] = slot_ends.back() += time_of(i);
      end = std::max(end, slot_ends.back());
      std::push_heap(slot_ends.begin(), slot_ends.end(), std::greater<>());
    }
    ends[d] = end;
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
