#include "bench/workflow/dag_methods.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

#include "bench/workflow/skew.h"
#include "bench/workflow/state_estimate.h"
#include "master/forecast/durations/task_times.h"

namespace tidemark::papers {
namespace {

using dag::StageNow;
using durations::TimeDistribution;
using placement::StageWork;

// Number of draws of Algorithm 2.
constexpr std::size_t kDraws = 5;

// The stages, including the future ones of the newest past run, with the task times of all kinds
// pooled. They are the input of the papers' models.
struct Pooled {
  std::vector<StageWork> work;
  std::vector<TimeDistribution> times;
};

void Append(const PastStage& stage, std::vector<double>& seconds) {
  for (const auto& kind : stage.seconds) seconds.insert(seconds.end(), kind.begin(), kind.end());
}

void AddExpected(const DagNow& now, std::vector<StageNow>& stages) {
  if (now.history.empty()) return;
  const PastRun& run = *now.history.front();
  const auto matches = dag::MatchStages(stages, run);
  std::map<std::size_t, std::size_t> place;
  for (std::size_t i = 0; i < matches.size(); ++i) {
    if (matches[i]) place[*matches[i]] = i;
  }
  for (std::size_t i = 0; i < run.stages.size(); ++i) {
    if (place.contains(i)) continue;
    StageNow stage = {.name = run.stages[i].name, .tasks = run.stages[i].tasks};
    for (const std::size_t parent : run.stages[i].parents) {
      if (place.contains(parent)) stage.parents.push_back(place[parent]);
    }
    place[i] = stages.size();
    stages.push_back(std::move(stage));
  }
}

Pooled PoolOf(const DagNow& now) {
  std::vector<StageNow> stages = now.stages;
  AddExpected(now, stages);
  std::vector<std::vector<double>> seconds(stages.size());
  for (const PastRun* run : now.history) {
    const auto matches = dag::MatchStages(stages, *run);
    for (std::size_t i = 0; i < matches.size(); ++i) {
      if (matches[i]) Append(run->stages[*matches[i]], seconds[i]);
    }
  }
  Pooled pooled;
  double sum = 0;
  double known = 0;
  for (std::size_t i = 0; i < stages.size(); ++i) {
    if (seconds[i].empty()) {
      for (const auto& task : stages[i].finished) seconds[i].push_back(task.seconds);
    }
    pooled.times.push_back(TimeDistribution::Empirical(std::move(seconds[i])));
    if (pooled.times.back().empty()) continue;
    sum += pooled.times.back().mean();
    known += 1;
  }
  for (std::size_t i = 0; i < stages.size(); ++i) {
    const StageNow& stage = stages[i];
    if (pooled.times[i].empty()) {
      double guess = known > 0 ? sum / known : 0;
      for (const auto& task : stage.running) guess = std::max(guess, task.elapsed);
      pooled.times[i] = TimeDistribution::Empirical({guess});
    }
    const std::size_t begun = stage.finished.size() + stage.running.size();
    StageWork work = {.parents = stage.parents,
                      .owner = stage.owner,
                      .container = stage.container,
                      .pending = stage.tasks > begun ? stage.tasks - begun : 0};
    for (const auto& task : stage.running) work.running.push_back(task.elapsed);
    pooled.work.push_back(std::move(work));
  }
  return pooled;
}

// Returns the remaining time of a stage that has the whole cluster. It consists of whole waves if
// `in_waves` is true, else it is work / slots.
double StageSeconds(const StageWork& stage, double mean, double slots, bool in_waves) {
  const double tasks = static_cast<double>(stage.pending + stage.running.size());
  if (tasks == 0) return 0;
  if (in_waves) return mean * std::ceil(tasks / slots);
  double work = static_cast<double>(stage.pending) * mean;
  double longest = stage.pending > 0 ? mean : 0;
  for (const double elapsed : stage.running) {
    work += std::max(mean - elapsed, 0.0);
    longest = std::max(longest, mean - elapsed);
  }
  return std::max(work / slots, longest);
}

std::vector<double> StageSeconds(const DagNow& now, const Pooled& pooled, bool in_waves) {
  const double slots = now.on.cluster.capacity.cores;
  std::vector<double> seconds;
  for (std::size_t i = 0; i < pooled.work.size(); ++i) {
    seconds.push_back(StageSeconds(pooled.work[i], pooled.times[i].mean(), slots, in_waves));
  }
  return seconds;
}

enum class TaskTime { kMean, kMedian };

DagForecast Algorithm1(const DagNow& now, TaskTime time, StageTimeForm form) {
  const Pooled pooled = PoolOf(now);
  std::vector<double> seconds;
  for (const TimeDistribution& times : pooled.times) {
    seconds.push_back(time == TaskTime::kMedian ? times.median() : times.mean());
  }
  const auto estimate = EstimateByStates(pooled.work, seconds, now.on, form);
  if (!estimate.ok()) return {};
  return {.remaining = estimate->seconds, .stage_ends = estimate->ends};
}

DagForecast Algorithm2(const DagNow& now, bool normal) {
  Pooled pooled = PoolOf(now);
  if (normal) {
    for (TimeDistribution& times : pooled.times) {
      times = TimeDistribution::Normal({times.mean(), times.variance()});
    }
  }
  const auto estimate = EstimateWithSkew(pooled.work, pooled.times, now.on, kDraws);
  if (!estimate.ok()) return {};
  return {.remaining = estimate->seconds, .stage_ends = estimate->ends};
}

DagForecast TasksDone(const DagNow& now) {
  double done = 0;
  double all = 0;
  for (const StageNow& stage : now.stages) {
    done += static_cast<double>(stage.finished.size());
    all += static_cast<double>(stage.tasks);
  }
  if (done == 0) return {};
  return {.remaining = now.elapsed * (all / done - 1)};
}

DagForecast StageWeighted(const DagNow& now) {
  double done = 0;
  for (const StageNow& stage : now.stages) {
    if (stage.tasks == 0) continue;
    done += static_cast<double>(stage.finished.size()) / static_cast<double>(stage.tasks);
  }
  if (done == 0) return {};
  const double all = static_cast<double>(now.stages.size());
  return {.remaining = now.elapsed * (all / done - 1)};
}

DagForecast CriticalPathMethod(const DagNow& now) {
  const Pooled pooled = PoolOf(now);
  const placement::Parents parents = placement::ParentsOf(pooled.work);
  const auto order = placement::TopologicalOrder(parents);
  if (!order.ok()) return {};
  const std::vector<double> seconds = StageSeconds(now, pooled, false);
  return {.remaining = LongestPath(parents, *order, seconds).seconds};
}

DagForecast MeanTimesWaves(const DagNow& now) {
  const std::vector<double> seconds = StageSeconds(now, PoolOf(now), true);
  return {.remaining = std::accumulate(seconds.begin(), seconds.end(), 0.0)};
}

using Method = DagForecast (*)(const DagNow& now);
using enum StageTimeForm;

constexpr std::array kMethods = {
    std::pair<absl::string_view, Method>("tasks-done", TasksDone),
    std::pair<absl::string_view, Method>("stage-weighted", StageWeighted),
    std::pair<absl::string_view, Method>("critical-path", CriticalPathMethod),
    std::pair<absl::string_view, Method>("mean-times-waves", MeanTimesWaves),
    std::pair<absl::string_view, Method>(
        "alg1-median",
        [](const DagNow& now) { return Algorithm1(now, TaskTime::kMedian, kPrinted); }),
    std::pair<absl::string_view, Method>(
        "alg1-mean", [](const DagNow& now) { return Algorithm1(now, TaskTime::kMean, kPrinted); }),
    std::pair<absl::string_view, Method>(
        "alg1-fluid", [](const DagNow& now) { return Algorithm1(now, TaskTime::kMean, kFluid); }),
    std::pair<absl::string_view, Method>("alg2-normal",
                                         [](const DagNow& now) { return Algorithm2(now, true); }),
    std::pair<absl::string_view, Method>("alg2-empirical",
                                         [](const DagNow& now) { return Algorithm2(now, false); })};

}  // namespace

CriticalPath LongestPath(const placement::Parents& parents, std::span<const std::size_t> order,
                         std::span<const double> seconds) {
  std::vector<double> ends(parents.size());
  std::vector<std::optional<std::size_t>> before(parents.size());
  std::optional<std::size_t> last;
  for (const std::size_t stage : order) {
    double starts = 0;
    for (const std::size_t parent : parents[stage]) {
      if (before[stage] && ends[parent] <= starts) continue;
      starts = ends[parent];
      before[stage] = parent;
    }
    ends[stage] = starts + std::max(seconds[stage], 0.0);
    if (!last || ends[stage] > ends[*last]) last = stage;
  }
  CriticalPath path;
  if (!last) return path;
  path.seconds = ends[*last];
  for (std::optional<std::size_t> at = last; at; at = before[*at]) path.stages.push_back(*at);
  std::reverse(path.stages.begin(), path.stages.end());
  return path;
}

std::vector<std::string> DagMethods() {
  std::vector<std::string> names;
  for (const auto& [name, method] : kMethods) names.emplace_back(name);
  return names;
}

DagForecast EstimateDag(absl::string_view method, const DagNow& now) {
  for (const auto& [name, estimate] : kMethods) {
    if (name == method) return estimate(now);
  }
  return {};
}

}  // namespace tidemark::papers
