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

// One future of all tasks: turns their times of draw `d` into their ends and returns the last.
class SlotFutures {
 public:
  SlotFutures(std::span<const TaskOutlook> tasks, std::size_t running, std::size_t free)
      : tasks_(tasks), free_(free), all_run_(running == tasks.size()) {}

  double Play(std::size_t d, std::vector<std::vector<double>>& times) {
    slot_ends_.assign(free_, 0);
    double end = 0;
    for (std::size_t i = 0; i < tasks_.size(); ++i) {
      if (!tasks_[i].is_running) continue;
      slot_ends_.push_back(times[i][d]);
      end = std::max(end, times[i][d]);
    }
    if (all_run_) return end;
    std::make_heap(slot_ends_.begin(), slot_ends_.end(), std::greater<>());
    for (std::size_t i = 0; i < tasks_.size(); ++i) {
      if (tasks_[i].is_running) continue;
      std::pop_heap(slot_ends_.begin(), slot_ends_.end(), std::greater<>());
      times[i][d] = slot_ends_.back() += times[i][d];
      end = std::max(end, slot_ends_.back());
      std::push_heap(slot_ends_.begin(), slot_ends_.end(), std::greater<>());
    }
    return end;
  }

 private:
  const std::span<const TaskOutlook> tasks_;
  const std::size_t free_;
  const bool all_run_;
  std::vector<double> slot_ends_;
};

// The same where tasks share the processors of their hosts.
class SharedFutures {
 public:
  SharedFutures(std::span<const TaskOutlook> tasks, std::size_t free, const HostSharing& sharing)
      : tasks_(tasks), host_of_task_(sharing.host_of_task), simulation_(sharing.hosts) {
    std::vector<std::size_t> tasks_on(sharing.hosts.size());
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      if (tasks[i].is_running) {
        ++tasks_on[host_of_task_[tasks[i].index]];
      } else {
        waiting_.push_back(i);
      }
    }
    for (; free > 0; --free) {
      const auto emptiest = std::min_element(tasks_on.begin(), tasks_on.end());
      free_on_.push_back(static_cast<std::size_t>(emptiest - tasks_on.begin()));
      ++*emptiest;
    }
  }

  double Play(std::size_t d, std::vector<std::vector<double>>& times) {
    std::size_t next = 0;
    const auto begin = [&](std::size_t i, std::size_t host, double at) {
      const double delay = std::min(tasks_[i].delay, times[i][d]);
      simulation_.Begin(i, host, at + delay, times[i][d] - delay);
    };
    for (std::size_t i = 0; i < tasks_.size(); ++i) {
      if (tasks_[i].is_running) begin(i, host_of_task_[tasks_[i].index], 0);
    }
    for (const std::size_t host : free_on_) begin(waiting_[next++], host, 0);
    double end = 0;
    simulation_.Run([&](std::size_t i, double at, std::size_t host) {
      times[i][d] = end = at;
      if (next < waiting_.size()) begin(waiting_[next++], host, at);
    });
    return end;
  }

 private:
  const std::span<const TaskOutlook> tasks_;
  const std::vector<std::size_t>& host_of_task_;
  schedule::ProcessorSharing simulation_;
  std::vector<std::size_t> waiting_;
  std::vector<std::size_t> free_on_;  // a host for each free slot
};

bool AreFinite(const std::vector<std::vector<double>>& times) {
  return std::ranges::all_of(times, [](const std::vector<double>& of_task) {
    return std::ranges::all_of(of_task, [](double seconds) { return std::isfinite(seconds); });
  });
}

}  // namespace

EndDraws DrawEnds(std::span<const TaskOutlook> tasks, std::span<const double> weights,
                  std::size_t slots, const HostSharing& sharing) {
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
  const auto play = [&](auto&& future) {
    for (std::size_t d = 0; d < numbers.count(); ++d) ends.push_back(future.Play(d, task_ends));
  };
  // Times that add up to more than any number end the caller's way; nothing can share them.
  if (sharing.is_felt && AreFinite(task_ends)) {
    play(SharedFutures(tasks, free, sharing));
  } else {
    play(SlotFutures(tasks, running, free));
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
