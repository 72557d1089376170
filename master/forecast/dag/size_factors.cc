#include "master/forecast/dag/size_factors.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "master/forecast/durations/task_sizes.h"
#include "master/forecast/durations/time_distribution.h"

namespace tidemark::workflow {
namespace {

using cost::Draws;

// Sizes within so many standard deviations of those that have ended (of logarithms) are as usual:
// 95 % of a normal distribution. Of them the mean of the tasks is the better evidence: on TPC-DS
// without history the error was 5.43 and not 4.85 with times by size for all.
constexpr double kUsualDeviations = 2;
// Of the exponent by which times may grow with sizes, where the mean takes it for 0: tasks take as
// long whatever they read, or as much longer as they read more.
constexpr double kExponentDeviation = 1;

double LogOf(double size) { return std::log(std::max(size, 1.0)); }

// Of the logarithms of the sizes of the tasks that have ended.
struct Usual {
  double mean = 0;
  double deviation = 0;
  // The distance of a size from the usual range.
  double Beyond(double size) const {
    return std::max(std::abs(LogOf(size) - mean) - kUsualDeviations * deviation, 0.0);
  }
};

Usual UsualOf(const StageNow& stage) {
  Usual usual;
  double squares = 0;
  for (const FinishedTask& task : stage.finished) {
    usual.mean += LogOf(task.size);
    squares += LogOf(task.size) * LogOf(task.size);
  }
  const double count = static_cast<double>(stage.finished.size());
  usual.mean /= count;
  usual.deviation = std::sqrt(std::max(squares / count - usual.mean * usual.mean, 0.0));
  return usual;
}

double VarianceOf(const Draws& draws) {
  double sum = 0;
  double squares = 0;
  for (const double x : draws) {
    sum += x;
    squares += x * x;
  }
  const double count = static_cast<double>(draws.size());
  return std::max(squares / count - (sum / count) * (sum / count), 0.0);
}

}  // namespace

TaskFactors FactorsBySize(const StageNow& stage, const ExpectedTasks& expected,
                          const cost::FixedDraws& draws) {
  const std::size_t begun = stage.finished.size() + stage.running.size();
  const bool are_known =
      !stage.finished.empty() && begun + stage.pending_sizes.size() == stage.tasks;
  if (!are_known || !expected.is_known || expected.is_of_runs) return {};
  std::vector<double> sizes;
  for (const RunningTask& task : stage.running) sizes.push_back(task.size);
  const bool are_many = stage.pending_sizes.size() > kToldApartMax;
  const std::vector<double> pending = cost::EvenlyChosen(stage.pending_sizes, kToldApartMax);
  sizes.insert(sizes.end(), pending.begin(), pending.end());
  const Usual usual = UsualOf(stage);
  const bool is_usual =
      std::ranges::all_of(sizes, [&](double size) { return usual.Beyond(size) == 0; });
  if (is_usual) return {};
  std::vector<cost::SizedTask> finished;
  for (const FinishedTask& task : stage.finished) {
    finished.push_back({.bytes = task.size, .seconds = task.seconds});
  }
  TaskFactors factors;
  std::vector<Draws> ratios = cost::LogRatiosBySize(finished, std::exp(usual.mean), sizes, draws);
  for (std::size_t n = 0; n < ratios.size(); ++n) {
    const double of_mean = std::pow(kExponentDeviation * usual.Beyond(sizes[n]), 2);
    const double weight = of_mean > 0 ? of_mean / (of_mean + VarianceOf(ratios[n])) : 0;
    for (double& ratio : ratios[n]) ratio = std::exp(weight * ratio);
  }
  if (ratios.empty()) return factors;
  const auto waiting = ratios.begin() + static_cast<std::ptrdiff_t>(stage.running.size());
  factors.of_waiting.assign(waiting, ratios.end());
  ratios.erase(waiting, ratios.end());
  factors.of_running = std::move(ratios);
  if (!are_many) return factors;
  factors.of_others.assign(draws.count(), 0);
  for (const Draws& each : std::exchange(factors.of_waiting, {})) {
    for (std::size_t d = 0; d < draws.count(); ++d) {
      factors.of_others[d] += each[d] / static_cast<double>(kToldApartMax);
    }
  }
  return factors;
}

}  // namespace tidemark::workflow
