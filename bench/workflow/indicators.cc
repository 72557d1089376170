#include "bench/workflow/indicators.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <utility>

#include "master/workflow/match_stages.h"
#include "master/workflow/skew_estimate.h"
#include "master/workflow/state_estimate.h"

namespace tidemark::bench {
namespace {

using workflow::StageNow;
using workflow::StageWork;
using workflow::TaskTimes;
using workflow::WorkflowNow;

// Draws of Algorithm 2.
constexpr std::size_t kDraws = 5;

// The stages, those of the latest earlier run that are still to come included, and all tasks' times
// pooled whatever their kind: what the models of the papers know.
struct Pooled {
  std::vector<StageWork> work;
  std::vector<TaskTimes> times;
};

void Append(const workflow::StageProfile& stage, std::vector<double>& seconds) {
  for (const auto& kind : stage.seconds) seconds.insert(seconds.end(), kind.begin(), kind.end());
}

void AddExpected(const Question& question, std::vector<StageNow>& stages) {
  if (question.history.empty()) return;
  const workflow::WorkflowProfile& run = *question.history.front();
  const auto matches = workflow::MatchStages(stages, run);
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

Pooled PoolOf(const Question& question) {
  std::vector<StageNow> stages = question.now->stages;
  AddExpected(question, stages);
  std::vector<std::vector<double>> seconds(stages.size());
  for (const workflow::WorkflowProfile* run : question.history) {
    const auto matches = workflow::MatchStages(stages, *run);
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
    pooled.times.push_back(TaskTimes::Empirical(std::move(seconds[i])));
    if (pooled.times.back().empty()) continue;
    sum += pooled.times.back().mean();
    known += 1;
  }
  for (std::size_t i = 0; i < stages.size(); ++i) {
    const StageNow& stage = stages[i];
    if (pooled.times[i].empty()) {
      double guess = known > 0 ? sum / known : 0;
      for (const auto& task : stage.running) guess = std::max(guess, task.elapsed);
      pooled.times[i] = TaskTimes::Empirical({guess});
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

Answer TasksDone(const Question& question) {
  double done = 0;
  double all = 0;
  for (const StageNow& stage : question.now->stages) {
    done += static_cast<double>(stage.finished.size());
    all += static_cast<double>(stage.tasks);
  }
  if (done == 0) return {};
  return {.remaining = question.now->elapsed * (all / done - 1)};
}

Answer StageWeighted(const Question& question) {
  double done = 0;
  for (const StageNow& stage : question.now->stages) {
    if (stage.tasks == 0) continue;
    done += static_cast<double>(stage.finished.size()) / static_cast<double>(stage.tasks);
  }
  if (done == 0) return {};
  const double all = static_cast<double>(question.now->stages.size());
  return {.remaining = question.now->elapsed * (all / done - 1)};
}

// What a stage still takes when it has the whole cluster: whole waves, or work over slots.
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

std::vector<double> StageSeconds(const Question& question, const Pooled& pooled, bool in_waves) {
  const double slots = question.on->cluster.capacity.cores;
  std::vector<double> seconds;
  for (std::size_t i = 0; i < pooled.work.size(); ++i) {
    seconds.push_back(StageSeconds(pooled.work[i], pooled.times[i].mean(), slots, in_waves));
  }
  return seconds;
}

Answer CriticalPath(const Question& question) {
  const Pooled pooled = PoolOf(question);
  const workflow::Parents parents = workflow::ParentsOf(pooled.work);
  const auto order = workflow::TopologicalOrder(parents);
  if (!order.ok()) return {};
  const std::vector<double> seconds = StageSeconds(question, pooled, false);
  return {.remaining = workflow::LongestPath(parents, *order, seconds).seconds};
}

Answer MeanTimesWaves(const Question& question) {
  const std::vector<double> seconds = StageSeconds(question, PoolOf(question), true);
  return {.remaining = std::accumulate(seconds.begin(), seconds.end(), 0.0)};
}

Answer Algorithm1(const Question& question, bool median, workflow::StageTimeForm form) {
  const Pooled pooled = PoolOf(question);
  std::vector<double> seconds;
  for (const TaskTimes& times : pooled.times) {
    seconds.push_back(median ? times.median() : times.mean());
  }
  const auto estimate = workflow::EstimateByStates(pooled.work, seconds, *question.on, form);
  if (!estimate.ok()) return {};
  return {.remaining = estimate->seconds, .stage_ends = estimate->ends};
}

Answer Algorithm2(const Question& question, bool normal) {
  Pooled pooled = PoolOf(question);
  if (normal) {
    for (TaskTimes& times : pooled.times) {
      times = TaskTimes::Normal({times.mean(), times.variance()});
    }
  }
  const auto estimate = workflow::EstimateWithSkew(pooled.work, pooled.times, *question.on, kDraws);
  if (!estimate.ok()) return {};
  return {.remaining = estimate->seconds, .stage_ends = estimate->ends};
}

Answer Tidemark(const Question& question) {
  const auto estimate =
      workflow::EstimateWorkflow(*question.now, question.history, *question.on, question.options);
  if (!estimate.ok()) return {};
  Answer answer = {
      .remaining = estimate->remaining, .lower = estimate->lower, .upper = estimate->upper};
  for (const auto& stage : estimate->stages) answer.stage_ends.push_back(stage.end);
  return answer;
}

using Rule = std::function<Answer(const Question&)>;

const std::vector<std::pair<std::string, Rule>>& Rules() {
  using workflow::StageTimeForm;
  static const auto* const rules = new std::vector<std::pair<std::string, Rule>>{
      {"tasks-done", TasksDone},
      {"stage-weighted", StageWeighted},
      {"critical-path", CriticalPath},
      {"mean-times-waves", MeanTimesWaves},
      {"alg1-median",
       [](const Question& q) { return Algorithm1(q, true, StageTimeForm::kPrinted); }},
      {"alg1-mean",
       [](const Question& q) { return Algorithm1(q, false, StageTimeForm::kPrinted); }},
      {"alg1-fluid", [](const Question& q) { return Algorithm1(q, false, StageTimeForm::kFluid); }},
      {"alg2-normal", [](const Question& q) { return Algorithm2(q, true); }},
      {"alg2-empirical", [](const Question& q) { return Algorithm2(q, false); }},
      {"tidemark", Tidemark}};
  return *rules;
}

}  // namespace

const std::vector<std::string>& IndicatorNames() {
  static const auto* const names = [] {
    auto* all = new std::vector<std::string>();
    for (const auto& [name, rule] : Rules()) all->push_back(name);
    return all;
  }();
  return *names;
}

Answer Ask(const std::string& indicator, const Question& question) {
  for (const auto& [name, rule] : Rules()) {
    if (name == indicator) return rule(question);
  }
  return {};
}

}  // namespace tidemark::bench
