#include "master/forecast/durations/task_sizes.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <map>
#include <utility>
#include <vector>

#include "master/facts/phases.h"
#include "master/forecast/durations/input_pace.h"
#include "master/forecast/durations/normal.h"
#include "master/forecast/durations/opinions.h"
#include "regression/cost_model.h"
#include "regression/cost_noise.h"
#include "streaming/size_histogram.h"

namespace tidemark::cost {
namespace {

// Standard deviation of the logarithm of a task's time around its curve, before any task shows it.
// Taste: a factor of 1.65.
constexpr double kDeviation = 0.5;
// Limits processor time: pending tasks beyond so many are drawn from as many of them.
constexpr std::size_t kPendingMax = 256;

bool IsAmount(double value) { return std::isfinite(value) && value > 0; }

// The size of tasks: their bytes, if those of all are known; else the same for each.
class SizeOf {
 public:
  SizeOf(std::initializer_list<std::span<const SizedTask>> tasks) {
    for (const std::span<const SizedTask> some : tasks) {
      for (const SizedTask& task : some) is_known_ &= task.bytes && std::isfinite(*task.bytes);
    }
  }
  double operator()(const SizedTask& task) const {
    return is_known_ ? std::max(*task.bytes, 1.0) : 1;
  }

 private:
  bool is_known_ = true;
};

// Returns whether the running task has read enough for a pace.
bool ShowsItsPace(const SizedTask& task) {
  return task.fraction >= model::kPaceFrom && IsAmount(task.seconds);
}

// The paces of running tasks, corrected for what finished tasks did after their last byte.
class Paces {
 public:
  explicit Paces(std::span<const SizedTask> finished) {
    for (const SizedTask& task : finished) {
      share_.Add(task.read_for.value_or(task.seconds), task.seconds);
    }
  }
  // REQUIRES: it shows its pace.
  PacedTotal TotalOf(const SizedTask& task) const {
    const double read_for = task.read_for.value_or(task.seconds);
    return share_.TotalOf(IsAmount(read_for) ? std::min(read_for, task.seconds) : task.seconds,
                          task.fraction);
  }

 private:
  ReadShare share_;
};

// The times of finished tasks, and of parts of running ones.
class Evidence {
 public:
  // Adds a part `weight` of a task of `seconds`.
  void Add(double seconds, double size, double weight) {
    if (!IsAmount(seconds)) return;
    Bin& bin = bins_[std::lround(streaming::kBinsPerOctave * std::log2(size))];
    bin.count += weight;
    bin.size += weight * size;
    bin.seconds += weight * seconds;
    bin.squares += weight * seconds * seconds;
    const double log = std::log(seconds);
    bin.logs += weight * log;
    bin.log_squares += weight * log * log;
    count_ += weight;
  }
  double count() const { return count_; }

  regression::CostModel Fit() const {
    std::vector<regression::CostBin> bins;
    for (const auto& [place, bin] : bins_) {
      const double mean = bin.seconds / bin.count;
      const double variance = std::max(bin.squares / bin.count - mean * mean, 0.0);
      bins.push_back({.size = bin.size / bin.count,
                      .count = bin.count,
                      .amount = mean,
                      .relative_variance = variance / (mean * mean)});
    }
    return regression::CostModel::Fit(std::move(bins));
  }

  // Of the log of a task's time around the model.
  double Deviation(const regression::CostModel& model) const {
    double squares = kPriorCount * kDeviation * kDeviation;
    for (const auto& [place, bin] : bins_) {
      const double mean = bin.logs / bin.count;
      const double within = std::max(bin.log_squares / bin.count - mean * mean, 0.0);
      const double off = mean - std::log(std::max(model.Predict(bin.size / bin.count), 1e-9));
      squares += bin.count * std::min(within + off * off, regression::kSquaredErrorMax);
    }
    return std::sqrt(squares / (kPriorCount + count_));
  }

 private:
  struct Bin {
    double count = 0;
    double size = 0;
    double seconds = 0;
    double squares = 0;
    double logs = 0;
    double log_squares = 0;
  };
  std::map<long, Bin> bins_;
  double count_ = 0;
};

// What the draws share, and what a task of some size takes in each.
class Sizes {
 public:
  Sizes(regression::CostModel model, const Evidence& evidence, const SizeOf& size_of,
        const FixedDraws& draws)
      : model_(std::move(model)),
        deviation_(evidence.Deviation(model_)),
        size_of_(size_of),
        draws_(draws) {
    const double of_mean = deviation_ / std::sqrt(evidence.count() + 1);
    const Draws curves = draws.Uniforms(Drawn::kCurve, kOfSizes);
    common_ = draws.Normals(Drawn::kCommon, kOfSizes);
    beyond_ = draws.Normals(Drawn::kBeyond, kOfSizes);
    for (std::size_t d = 0; d < draws.count(); ++d) {
      common_[d] *= of_mean;
      double sum = 0;
      std::size_t k = 0;
      while (k + 1 < model_.curves().size() &&
             (sum += model_.curves()[k].probability) <= curves[d]) {
        ++k;
      }
      curve_.push_back(k);
    }
  }

  double deviation() const { return deviation_; }
  double Of(const SizedTask& task) const { return size_of_(task); }
  // Of tasks of one size: the log of the time without noise of its own, by draw.
  Draws Logs(double size) const {
    std::vector<double> by_curve;
    const std::vector<regression::CostCorrection> corrections = model_.Corrections(size);
    for (std::size_t k = 0; k < corrections.size(); ++k) {
      const regression::CostCorrection& correction = corrections[k];
      const double seconds = correction.factor * model_.Curve(k, size, size) + correction.shift;
      by_curve.push_back(std::log(std::max(seconds, 1e-9)));
    }
    Draws logs;
    for (std::size_t d = 0; d < draws_.count(); ++d) {
      const double log = by_curve[curve_[d]] + common_[d] + model_.Beyond(size) * beyond_[d];
      logs.push_back(std::clamp(std::isfinite(log) ? log : kLogMax, -kLogMax, kLogMax));
    }
    return logs;
  }
  Draws Pending(const SizedTask& task) const {
    Draws times = draws_.Normals(Drawn::kTask, task.index);
    const Draws logs = Logs(Of(task));
    for (std::size_t d = 0; d < times.size(); ++d) {
      times[d] = std::exp(logs[d] + deviation_ * times[d]);
    }
    return times;
  }
  Draws Running(const SizedTask& task, const Paces& paces) const {
    Draws times = draws_.Uniforms(Drawn::kTask, task.index);
    const double passed = IsAmount(task.seconds) ? task.seconds : 0;
    double weight = 0;  // the weight of the task's pace
    double deviation = deviation_;
    double by_pace = 0;
    if (ShowsItsPace(task)) {
      const PacedTotal paced = paces.TotalOf(task);
      const double of_size = deviation_ * deviation_;
      // A task that outlives the end predicted from its pace has refuted the pace.
      if (passed <= paced.seconds) weight = of_size / (of_size + paced.deviation * paced.deviation);
      deviation = std::max(std::sqrt((1 - weight) * of_size), 1e-3);
      by_pace = std::log(paced.seconds);
    }
    const Draws by_size = Logs(Of(task));
    for (std::size_t d = 0; d < times.size(); ++d) {
      const double log = by_size[d] + weight * (by_pace - by_size[d]);
      times[d] = LogNormalLeft(log, deviation, passed, times[d]);
    }
    return times;
  }
  // Returns the remaining time of a task that has outlived the end predicted from its pace, where
  // no finished task shows what follows the reading.
  Draws Late(const SizedTask& task, double predicted) const {
    Draws left = draws_.Uniforms(Drawn::kWait, kOfSizes);
    for (double& time : left) time = LateLeft(task.seconds - predicted, time);
    return left;
  }
  // Lengthens pending tasks in the proportion in which a running task is lengthened that has run
  // for `passed` and has `left` to go.
  void Lengthen(double passed, const Draws& left) {
    for (std::size_t d = 0; d < common_.size(); ++d) common_[d] += std::log1p(left[d] / passed);
  }

 private:
  const regression::CostModel model_;
  const double deviation_;
  const SizeOf& size_of_;
  const FixedDraws& draws_;
  Draws common_;
  Draws beyond_;
  std::vector<std::size_t> curve_;
};

// So many that they are drawn from: the distribution of their times, of some of all sizes, and by
// draw how all of them differ from it.
void FillAlike(std::span<const SizedTask> pending, const Sizes& sizes, const FixedDraws& draws,
               TaskTimes& times) {
  std::vector<std::pair<double, double>> by_size;  // and what it fetches before
  for (const SizedTask& task : pending) by_size.emplace_back(sizes.Of(task), task.fetches);
  std::sort(by_size.begin(), by_size.end());
  std::vector<double> mean;
  std::vector<double> fetches;
  times.factor.assign(draws.count(), 0);
  for (std::size_t i = 0; i < kPendingMax; ++i) {
    const std::size_t at = (2 * i + 1) * by_size.size() / (2 * kPendingMax);
    double sum = 0;
    const Draws logs = sizes.Logs(by_size[at].first);
    for (std::size_t d = 0; d < logs.size(); ++d) {
      const double seconds = std::exp(logs[d]);
      times.factor[d] += seconds;
      sum += seconds;
    }
    mean.push_back(sum / static_cast<double>(draws.count()));
    fetches.push_back(by_size[at].second);
  }
  double all = 0;
  for (const double seconds : mean) all += seconds;
  for (double& factor : times.factor) factor /= all;
  for (std::size_t i = 0; i < mean.size(); ++i) {
    const double u = RowNumber(0, i);
    mean[i] = fetches[i] + mean[i] * std::exp(sizes.deviation() * NormalQuantile(u));
  }
  times.alike.fill(TimeDistribution::Empirical(std::move(mean)));
}

}  // namespace

bool TimesBySize(std::span<const SizedTask> finished, std::span<const SizedTask> running,
                 std::span<const SizedTask> pending, const FixedDraws& draws, TaskTimes& times) {
  const SizeOf size_of = {finished, running, pending};
  const Paces paces(finished);
  Evidence evidence;
  for (const SizedTask& task : finished) evidence.Add(task.seconds, size_of(task), 1);
  for (const SizedTask& task : running) {
    if (!ShowsItsPace(task)) continue;
    evidence.Add(std::max(paces.TotalOf(task).seconds, task.seconds), size_of(task),
                 std::min(task.fraction, 1.0));
  }
  regression::CostModel model = evidence.Fit();
  if (model.empty()) return false;
  Sizes sizes(std::move(model), evidence, size_of, draws);
  times.is_known = true;
  const auto add = [&](const SizedTask& task, Draws seconds) {
    for (double& time : seconds) time += task.fetches;
    times.of_task.push_back(std::move(seconds));
    times.delay.push_back(task.fetches);
  };
  const SizedTask* latest = nullptr;
  double latest_predicted = 0;
  for (const SizedTask& task : running) {
    const double predicted = ShowsItsPace(task) ? paces.TotalOf(task).seconds : task.seconds;
    if (!finished.empty() || !(task.seconds > predicted)) {
      add(task, sizes.Running(task, paces));
      continue;
    }
    add(task, sizes.Late(task, predicted));
    if (latest == nullptr || task.seconds - predicted > latest->seconds - latest_predicted) {
      latest = &task;
      latest_predicted = predicted;
    }
  }
  if (latest != nullptr) sizes.Lengthen(latest->seconds, sizes.Late(*latest, latest_predicted));
  if (pending.size() > kPendingMax) {
    FillAlike(pending, sizes, draws, times);
  } else {
    for (const SizedTask& task : pending) add(task, sizes.Pending(task));
  }
  return true;
}

std::vector<Draws> LogRatiosBySize(std::span<const SizedTask> finished, double usual,
                                   std::span<const double> sizes, const FixedDraws& draws) {
  const SizeOf size_of = {finished};
  Evidence evidence;
  for (const SizedTask& task : finished) evidence.Add(task.seconds, size_of(task), 1);
  regression::CostModel model = evidence.Fit();
  if (model.empty()) return {};
  const Sizes by_size(std::move(model), evidence, size_of, draws);
  const Draws base = by_size.Logs(std::max(usual, 1.0));
  std::vector<Draws> ratios;
  for (const double size : sizes) {
    Draws& ratio = ratios.emplace_back(by_size.Logs(std::max(size, 1.0)));
    for (std::size_t d = 0; d < ratio.size(); ++d) ratio[d] -= base[d];
  }
  return ratios;
}

}  // namespace tidemark::cost
