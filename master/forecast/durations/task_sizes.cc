#include "master/forecast/durations/task_sizes.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <map>
#include <utility>
#include <vector>

#include "master/facts/phases.h"
#include "master/forecast/durations/combined_estimates.h"
#include "master/forecast/durations/draws.h"
#include "regression/cost_model.h"
#include "streaming/size_histogram.h"

namespace tidemark::durations {
namespace {

// Prior deviation of ln(task time) around its curve, equivalent to a factor of 1.65. Chosen by
// hand.
constexpr double kDeviation = 0.5;
// Limits processor time. If more tasks are pending, this many represent them.
constexpr std::size_t kPendingMax = 256;

bool IsAmount(double value) { return std::isfinite(value) && value > 0; }

// The size of a task: its bytes if all tasks have known bytes, otherwise 1.
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

// Returns true if the running task has read enough to show its pace.
bool ShowsItsPace(const SizedTask& task) {
  return task.fraction >= facts::kPaceFrom && IsAmount(task.seconds - task.start_up);
}

// The paces of running tasks, corrected by the time that finished tasks spent after their last
// byte.
class Paces {
 public:
  explicit Paces(std::span<const SizedTask> finished) {
    for (const SizedTask& task : finished) {
      share_.Add(ReadFor(task), task.seconds - task.start_up);
    }
  }
  // REQUIRES: ShowsItsPace(task).
  PacedTotal TotalOf(const SizedTask& task) const {
    const double longest = task.seconds - task.start_up;
    const double read_for = ReadFor(task);
    PacedTotal total =
        share_.TotalOf(IsAmount(read_for) ? std::min(read_for, longest) : longest, task.fraction);
    total.seconds += task.start_up;
    return total;
  }

 private:
  static double ReadFor(const SizedTask& task) {
    return task.read_for.value_or(task.seconds) - task.start_up;
  }

  ReadShare share_;
};

// A task that has read at least this share of its input counts as having read all of it, since
// reports are rounded.
constexpr double kAllRead = 0.999;
// A wait after the last byte is unusual if it is more than twice as long as the longest wait of a
// finished task, and longer than that wait by more than this many seconds. Progress is reported at
// intervals, so the tolerance is needed. Chosen by hand.
constexpr double kUsualWaitMin = 1;

// The waits of finished tasks between their last byte and their end.
class Waits {
 public:
  explicit Waits(std::span<const SizedTask> finished) {
    for (const SizedTask& task : finished) {
      if (!task.read_for || !IsAmount(task.seconds)) continue;
      longest_ = std::max(longest_, task.seconds - *task.read_for);
    }
  }
  // Returns the time by which a running task's wait exceeds the usual wait, or 0.
  double Unusual(const SizedTask& task) const {
    if (task.fraction < kAllRead || !task.read_for || !IsAmount(task.seconds)) return 0;
    const double usual = longest_ + std::max(longest_, kUsualWaitMin);
    return std::max(task.seconds - *task.read_for - usual, 0.0);
  }

 private:
  double longest_ = 0;
};

// The times of finished tasks, and of the finished parts of running tasks.
class Evidence {
 public:
  // Adds the fraction `weight` of a task that takes `seconds`.
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

  // Returns the deviation of ln(task time) around the model.
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

// The random factors that all tasks share, and the times of tasks by size.
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
  // Returns ln(time) of tasks of one size by draw, without individual noise.
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
      // A task that outlasts the estimate from its pace has refuted the pace.
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
  // Returns the remaining time of a task that is late by `late` for an unknown reason: the task has
  // outlasted the estimate from its pace, or it waits longer than the finished tasks did.
  Draws Late(double late) const {
    Draws left = draws_.Uniforms(Drawn::kWait, kOfSizes);
    for (double& time : left) time = LateLeft(late, time);
    return left;
  }
  // Lengthens the pending tasks by the factor of a running task that has run for `passed` and has
  // `left` remaining.
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

// Fills the distribution of many pending tasks from tasks of all sizes, and their common factor by
// draw.
void FillAlike(std::span<const SizedTask> pending, const Sizes& sizes, const FixedDraws& draws,
               TaskTimes& times) {
  std::vector<std::pair<double, double>> by_size;  // (size, seconds of fetching)
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
  const Waits waits(finished);
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
      Draws left = sizes.Running(task, paces);
      // The finished tasks show neither the cause nor the length of this wait.
      if (const double late = waits.Unusual(task); late > 0) {
        const Draws waiting = sizes.Late(late);
        for (std::size_t d = 0; d < left.size(); ++d) left[d] = std::max(left[d], waiting[d]);
      }
      add(task, std::move(left));
      continue;
    }
    add(task, sizes.Late(task.seconds - predicted));
    if (latest == nullptr || task.seconds - predicted > latest->seconds - latest_predicted) {
      latest = &task;
      latest_predicted = predicted;
    }
  }
  if (latest != nullptr) {
    sizes.Lengthen(latest->seconds, sizes.Late(latest->seconds - latest_predicted));
  }
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

namespace {

using facts::Task;
using facts::TaskAttempt;

// The tasks of a stage by their state.
class SortedTasks {
 public:
  // `begun_at` returns when an attempt began to read its input, or nothing if it has not begun.
  template <typename BegunAt>
  void Add(const Task& task, SizedTask sized, absl::Time now, BegunAt begun_at) {
    const auto seconds_until = [](std::optional<absl::Time> start, absl::Time end) {
      return start ? std::max(absl::ToDoubleSeconds(end - *start), 0.0) : 0;
    };
    const auto read_for = [&](const TaskAttempt& attempt) -> std::optional<double> {
      if (attempt.progressed_at == absl::InfinitePast()) return std::nullopt;
      return seconds_until(begun_at(attempt), attempt.progressed_at);
    };
    if (const TaskAttempt* const done = task.finished_attempt()) {
      sized.seconds = seconds_until(begun_at(*done), done->life.ended_at().value_or(now));
      sized.start_up = std::min(seconds_until(begun_at(*done), done->idle_until), sized.seconds);
      const bool was_seen_to_read_all =
          sized.bytes && static_cast<double>(done->bytes_done) >= *sized.bytes;
      if (was_seen_to_read_all) sized.read_for = read_for(*done);
      finished_.push_back(sized);
    } else if (const TaskAttempt* const attempt = task.leading_attempt()) {
      const std::optional<absl::Time> start = begun_at(*attempt);
      const double bytes = sized.bytes.value_or(0);
      sized.seconds = seconds_until(start, now);
      sized.start_up = std::min(seconds_until(start, attempt->idle_until), sized.seconds);
      if (start) sized.fetches = 0;
      if (start && bytes > 0 && !attempt->input_is_read_first) {
        sized.fraction = static_cast<double>(attempt->bytes_done) / bytes;
        sized.read_for = read_for(*attempt);
      }
      running_.push_back(sized);
    } else {
      pending_.push_back(sized);
    }
  }

  std::size_t size() const { return finished_.size() + running_.size() + pending_.size(); }
  bool any_has_ended() const { return !finished_.empty(); }
  bool any_is_left() const { return size() > finished_.size(); }

  std::optional<SizedStage> Left(std::size_t slots, const FixedDraws& draws) const {
    SizedStage sized;
    RemainingStage& stage = sized.stage;
    if (!TimesBySize(finished_, running_, pending_, draws, stage.times)) return std::nullopt;
    stage.work.pending = pending_.size();
    stage.work.running.resize(running_.size());
    stage.work.at_once_max = std::max(slots, running_.size());
    for (const SizedTask& task : running_) sized.tasks.push_back(task.index);
    for (const SizedTask& task : pending_) sized.tasks.push_back(task.index);
    return sized;
  }

 private:
  std::vector<SizedTask> finished_;
  std::vector<SizedTask> running_;
  std::vector<SizedTask> pending_;
};

}  // namespace

std::optional<SizedStage> MapStageBySize(const facts::JobRecord& state, absl::Time now,
                                         const FixedDraws& draws) {
  SortedTasks tasks;
  for (std::size_t index = 0; index < state.map_tasks().size(); ++index) {
    const Task& task = state.map_tasks()[index];
    if (task.is_given_up()) continue;
    SizedTask sized = {.index = index};
    if (task.input_bytes) sized.bytes = static_cast<double>(*task.input_bytes);
    tasks.Add(task, sized, now, [](const TaskAttempt& a) { return a.life.started_at(); });
  }
  return tasks.Left(state.map_slots(), draws);
}

std::optional<SizedStage> ReduceStageBySize(const facts::JobRecord& state, absl::Time now,
                                            double shuffle_seconds_per_byte,
                                            const FixedDraws& draws) {
  // True if the engine reports when an attempt starts to reduce. Otherwise times include the
  // shuffle.
  const bool tells_shuffles = std::ranges::any_of(state.reduce_tasks(), [](const Task& task) {
    const TaskAttempt* const done = task.finished_attempt();
    return done != nullptr && done->reduce->reduce_started_at;
  });
  const bool has_profiles = state.keys.profile_count() > 0;
  const auto begun_at = [&](const TaskAttempt& attempt) -> std::optional<absl::Time> {
    if (attempt.reduce->reduce_started_at) return attempt.reduce->reduce_started_at;
    return attempt.life.is_finished() || !tells_shuffles ? attempt.life.started_at() : std::nullopt;
  };
  SortedTasks tasks;
  for (std::size_t index = 0; index < state.reduce_tasks().size(); ++index) {
    const Task& task = state.reduce_tasks()[index];
    if (task.is_given_up()) continue;
    const auto bytes = static_cast<double>(state.reduce_input_bytes(index));
    SizedTask sized = {.index = index};
    if (bytes > 0 || has_profiles) sized.bytes = bytes;
    if (tells_shuffles) sized.fetches = shuffle_seconds_per_byte * bytes;
    tasks.Add(task, sized, now, begun_at);
  }
  if (!tasks.any_has_ended() || !tasks.any_is_left()) return std::nullopt;
  return tasks.Left(state.reduce_slots(), draws);
}

}  // namespace tidemark::durations
