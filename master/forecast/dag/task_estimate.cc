#include "master/forecast/dag/task_estimate.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "master/facts/phases.h"
#include "master/forecast/dag/task_factors.h"
#include "master/forecast/dag/workflow_state.h"
#include "master/forecast/durations/combined_estimates.h"

namespace tidemark::dag {
namespace {

// Lower bound of the relative variance (a relative deviation of a fifth), since few tasks indicate
// little about the variance. Chosen by hand.
constexpr double kRelativeVarianceMin = 0.04;
// Multiplies drift_deviation if the evidence is the first wave, which predicts the remaining tasks
// less well. Ablation: -0.04, +0.09 (tpcds-live-five-runs).
constexpr double kDriftOfFirstWave = 2;

// A run counts less if its slots differ. Its variance grows by (kNearness times the deviation of
// the exponent of slots times the logarithm of the ratio of slots)^2. With 0, the error of ln(task
// time) from five runs of q26 is 0.026, 0.074 and 0.372 in its three large stages instead of 0.023,
// 0.069 and 0.360; of q52, 0.034 and 0.241 instead of 0.032 and 0.230.
constexpr double kNearness = 2;
// Deviation of ln(task time) per unit of ln(bytes of this run / bytes of a past run). Chosen by
// hand, like kInputPowerDeviation (durations/early_forecast.cc).
constexpr double kSizeDeviation = 0.5;
// Deviation of ln(fetch wait) of a stage between runs. In 72 runs of q26 on 3 to 23 executors, its
// tasks compute for 9 to 19 s and wait for 1 to 33 s; with 0.6, the deviation of their times is
// 0.37 (measured: 0.39).
constexpr double kFetchWaitDeviation = 0.6;

// Deviations of ln(mean task time) between runs with the same slots, and of the exponent of slots.
struct RunDeviations {
  double run = 0;
  double slope = 0;
};

// Returns the deviations of a stage. The fetch wait, which depends on the state of the network, and
// the computation vary separately.
RunDeviations DeviationsOf(std::span<const PastStageRun> runs, const EstimateConstants& constants) {
  const PastStage& newest = *runs.front().stage;
  if (newest.parents.empty() || !newest.fetches) {
    return {constants.root_run_deviation, constants.root_exponent_deviation};
  }
  double waited = 0;
  double seconds = 0;
  for (const PastStageRun& run : runs) {
    double sum = 0;
    double tasks = 0;
    for (const std::vector<double>& times : run.stage->seconds) {
      for (const double time : times) sum += time;
      tasks += static_cast<double>(times.size());
    }
    seconds += sum;
    waited += std::min(run.stage->fetch_seconds * tasks, sum);
  }
  const double share = seconds > 0 ? waited / seconds : 0;
  return {std::hypot(constants.run_deviation * (1 - share), kFetchWaitDeviation * share),
          constants.exponent_deviation};
}

// A line of ln(mean time of a kind of task) over ln(slots or concurrent tasks), through past runs.
// A run with similar slots and data of similar size has more weight (kNearness, kSizeDeviation).
class CrowdLine {
 public:
  // `size_distance`: see PastStageRun.
  void Add(double at_once, double mean, double size_distance) {
    at_once_.push_back(at_once);
    log_means_.push_back(std::log(mean));
    size_deviations_.push_back(kSizeDeviation * size_distance);
  }
  bool empty() const { return at_once_.empty(); }

  // Returns the number of concurrent tasks that doubles the time of a task.
  double Doubling(std::size_t kind, const EstimateConstants& constants) const {
    return constants.crowd[kind] * std::exp(LogMean() * constants.crowd_power[kind]);
  }
  double Mean() const { return std::exp(LogMean()); }
  double MostAtOnce() const { return *std::max_element(at_once_.begin(), at_once_.end()); }

  // Fits the line for a run with `at_once` concurrent tasks. Crowding is constant above
  // `crowded_max` concurrent tasks.
  void Fit(double doubling, const RunDeviations& deviations, double at_once, double crowded_max) {
    doubling_ = doubling;
    crowded_max_ = crowded_max;
    const double usual = deviations.run * deviations.run;
    run_variance_ = usual;
    FitWeighted(deviations, at_once);
    // Combines the scatter of the runs around the line with the usual scatter.
    run_variance_ = (durations::kPriorCount * usual + Scatter()) /
                    (durations::kPriorCount + static_cast<double>(at_once_.size()) - 1);
    FitWeighted(deviations, at_once);
  }

  double At(double at_once) const { return y_mean_ + slope_ * Away(at_once) + Crowding(at_once); }
  double VarianceAt(double at_once) const {
    return run_variance_ * (1 + 1 / runs_) + Away(at_once) * Away(at_once) * slope_variance_;
  }

 private:
  double LogMean() const {
    double sum = 0;
    for (const double y : log_means_) sum += y;
    return sum / static_cast<double>(log_means_.size());
  }
  double Crowding(double at_once) const {
    return std::log1p(std::min(at_once, crowded_max_) / doubling_);
  }
  double Away(double at_once) const { return std::log(at_once) - x_mean_; }

  // Fits by weighted least squares, with a normal prior of the slope around zero.
  void FitWeighted(const RunDeviations& deviations, double at_once) {
    std::vector<double> weights;
    double sum = 0;
    double squares = 0;
    for (std::size_t i = 0; i < at_once_.size(); ++i) {
      const double away = kNearness * deviations.slope * std::log(at_once_[i] / at_once);
      const double variance = run_variance_ + away * away + std::pow(size_deviations_[i], 2);
      weights.push_back(1 / variance);
      sum += weights[i];
      squares += weights[i] * weights[i];
    }
    runs_ = sum * sum / squares;
    x_mean_ = y_mean_ = 0;
    for (std::size_t i = 0; i < at_once_.size(); ++i) {
      x_mean_ += weights[i] / sum * std::log(at_once_[i]);
      y_mean_ += weights[i] / sum * (log_means_[i] - Crowding(at_once_[i]));
    }
    double precision = 1 / (deviations.slope * deviations.slope);
    double sxy = 0;
    for (std::size_t i = 0; i < at_once_.size(); ++i) {
      const double y = log_means_[i] - Crowding(at_once_[i]) - y_mean_;
      precision += weights[i] * Away(at_once_[i]) * Away(at_once_[i]);
      sxy += weights[i] * Away(at_once_[i]) * y;
    }
    slope_ = sxy / precision;
    slope_variance_ = 1 / precision;
  }

  double Scatter() const {
    double squares = 0;
    for (std::size_t i = 0; i < at_once_.size(); ++i) {
      const double off = log_means_[i] - At(at_once_[i]);
      squares += off * off;
    }
    return squares;
  }

  std::vector<double> at_once_;  // at least 1
  std::vector<double> log_means_;
  std::vector<double> size_deviations_;
  double doubling_ = 1;
  double crowded_max_ = 1;
  double runs_ = 1;  // number of runs of equal weight that predict as well
  double x_mean_ = 0;
  double y_mean_ = 0;
  double slope_ = 0;
  double slope_variance_ = 0;
  double run_variance_ = 0;
};

// Returns the largest number of concurrent tasks for which crowding counts: the largest measured
// number or, if idle slots do not crowd and this is less, the number at which a stage of `tasks`
// tasks is fastest.
//
// In w waves, n / w tasks run at once, and the stage takes
//
//   first (1 + n / w F) + (w - 1) rest (1 + n / w R)
//
// where `first` and `rest` are the times alone of a task of the first wave and of a later wave. F
// and R are the numbers of concurrent tasks that double these times. Fewer waves take less time as
// long as
//
//   (n / w)^2 <= n / (first / rest / F - 1 / R)
double CrowdedMax(const std::array<CrowdLine, kWarmths>& lines, std::uint64_t tasks,
                  const EstimateConstants& constants) {
  double most = constants.crowd_slots_max;
  if (constants.idle_slots_crowd) return most;
  for (const Warmth first : {Warmth::kFirst, Warmth::kFresh}) {
    const std::size_t f = static_cast<std::size_t>(first);
    if (lines[f].empty()) continue;
    for (const Warmth rest : {Warmth::kRest, Warmth::kLast}) {
      const std::size_t r = static_cast<std::size_t>(rest);
      // If there are no later waves, FillGaps() derives their times from the first wave.
      const double ratio = lines[r].empty() ? constants.over_rest[f] / constants.over_rest[r]
                                            : lines[f].Mean() / lines[r].Mean();
      const double doubling =
          lines[r].empty()
              ? constants.crowd[r] * std::pow(lines[f].Mean() / ratio, constants.crowd_power[r])
              : lines[r].Doubling(r, constants);
      const double first_doubling = lines[f].Doubling(f, constants);
      // The ratio of measured times to times alone, at least 1, since crowding may end earlier.
      const double before = std::min(lines[f].MostAtOnce(), constants.crowd_slots_max);
      const double alone = std::max((1 + before / doubling) / (1 + before / first_doubling), 1.0);
      const double excess = alone * ratio / first_doubling - 1 / doubling;
      if (excess > 0) most = std::min(most, std::sqrt(static_cast<double>(tasks) / excess));
    }
  }
  return std::max(most, 1.0);
}

// The times of tasks of one kind in one run of a stage.
struct TimesOfKind {
  std::span<const double> seconds;
  double mean = 0;  // at least kTaskSecondsMin, or 0 if there are no tasks
  std::vector<double> usual;

  // Sets the times. If `are_long_apart` is true, excludes the tasks that are expected to be long.
  // If none are expected, no task is long (AreLongTasksKnown()).
  void Set(const PastStage& stage, std::size_t kind, bool are_long_apart) {
    seconds = stage.seconds[kind];
    if (are_long_apart && !stage.long_tasks.empty()) {
      usual = UsualTimes(seconds);
      seconds = usual;
    }
    mean = seconds.empty() ? 0 : MeanSeconds(seconds);
  }
};

// Derives the times of a kind of task that has none from the most similar kind.
void FillGaps(std::array<durations::TimeDistribution, kWarmths>& times,
              const EstimateConstants& constants) {
  constexpr std::array<std::array<Warmth, 3>, kWarmths> kRelatives = {{
      {Warmth::kFirst, Warmth::kRest, Warmth::kLast},
      {Warmth::kFresh, Warmth::kRest, Warmth::kLast},
      {Warmth::kLast, Warmth::kFirst, Warmth::kFresh},
      {Warmth::kRest, Warmth::kFirst, Warmth::kFresh},
  }};
  const std::array<durations::TimeDistribution, kWarmths> known = times;
  for (std::size_t kind = 0; kind < kWarmths; ++kind) {
    for (const Warmth relative : kRelatives[kind]) {
      const std::size_t from = static_cast<std::size_t>(relative);
      if (!times[kind].empty() || known[from].empty()) continue;
      times[kind] = known[from].Scaled(constants.over_rest[kind] / constants.over_rest[from]);
    }
  }
}

// Sums of observed and estimated times of the same tasks.
struct Evidence {
  double seen = 0;
  double expected = 0;
  double tasks = 0;
  double rest_tasks = 0;  // number of tasks beyond the first wave
  double relative_variance = 0;
};

Evidence EvidenceOf(const TaskEstimate& before, const StageNow& stage) {
  Evidence evidence;
  double squares = 0;
  // `part` is the part of the task that counts.
  const auto expected_of = [&](Warmth warmth, std::uint32_t index) {
    return std::max(before.Of(warmth).mean(), kTaskSecondsMin) +
           MoreSeconds(before.long_tasks, index);
  };
  const auto add = [&](double seconds, Warmth warmth, std::uint32_t index, double part) {
    const double expected = expected_of(warmth, index);
    evidence.seen += part * seconds;
    evidence.expected += part * expected;
    squares += part * (seconds / expected) * (seconds / expected);
    evidence.tasks += part;
    evidence.rest_tasks += warmth == Warmth::kRest || warmth == Warmth::kLast ? part : 0;
  };
  for (const FinishedTask& task : stage.finished) add(task.seconds, task.warmth, task.index, 1);
  const durations::ReadShare share = ReadShareOf(stage);
  for (const RunningTask& task : stage.running) {
    if (ShowsItsPace(task)) {
      const double total = std::max(PacedTotalOf(task, share).seconds, task.elapsed);
      add(total, task.warmth, task.id.index, std::min(*task.fraction, 1.0));
    } else if (task.elapsed > expected_of(task.warmth, task.id.index)) {
      add(task.elapsed, task.warmth, task.id.index, 1);
    }
  }
  if (evidence.tasks > 0) {
    const double ratio = evidence.seen / evidence.expected;
    const double spread = squares / evidence.tasks / std::max(ratio * ratio, 1e-12) - 1;
    evidence.relative_variance = std::max(spread, kRelativeVarianceMin);
  }
  return evidence;
}

TaskEstimate FromThisRunOnly(const StageNow& stage, const EstimateConstants& constants) {
  TaskEstimate expected = {.deviation = durations::kUnknownDeviation};
  std::array<std::vector<double>, kWarmths> seconds;
  for (const FinishedTask& task : stage.finished) {
    seconds[static_cast<std::size_t>(task.warmth)].push_back(task.seconds);
  }
  if (stage.finished.empty()) {
    for (const RunningTask& task : stage.running) {
      if (!ShowsItsPace(task)) continue;
      const double total = std::max(PacedTotalOf(task, {}).seconds, task.elapsed);
      seconds[static_cast<std::size_t>(task.warmth)].push_back(total);
      expected.is_known = expected.is_of_pace = true;
    }
    if (!expected.is_known) return expected;
  }
  for (std::size_t kind = 0; kind < kWarmths; ++kind) {
    if (!seconds[kind].empty())
      expected.times[kind] = durations::TimeDistribution::Empirical(std::move(seconds[kind]));
  }
  FillGaps(expected.times, constants);
  expected.is_known = true;
  return expected;
}

}  // namespace

double MeanSeconds(std::span<const double> seconds) {
  double sum = 0;
  for (const double time : seconds) sum += time;
  return std::max(sum / static_cast<double>(seconds.size()), kTaskSecondsMin);
}

double TasksAtOnce(std::uint64_t tasks, double slots) {
  slots = std::max(slots, 1.0);
  if (tasks == 0) return slots;
  const double all = static_cast<double>(tasks);
  return all / std::ceil(all / slots);
}

bool ShowsItsPace(const RunningTask& task) {
  return task.elapsed > 0 && task.fraction.value_or(0) >= facts::kPaceFrom;
}

durations::ReadShare ReadShareOf(const StageNow& stage) {
  durations::ReadShare share;
  if (std::ranges::none_of(stage.running, ShowsItsPace)) return share;
  for (const FinishedTask& task : stage.finished) {
    share.Add(task.read_for > 0 ? task.read_for : task.seconds, task.seconds);
  }
  return share;
}

durations::PacedTotal PacedTotalOf(const RunningTask& task, const durations::ReadShare& share) {
  const double read_for = std::min(task.read_for.value_or(task.elapsed), task.elapsed);
  return share.TotalOf(read_for > 0 ? read_for : task.elapsed, *task.fraction);
}

TaskEstimate EstimateTasks(std::span<const PastStageRun> runs, std::uint64_t tasks, double slots,
                           const EstimateConstants& constants) {
  TaskEstimate expected = {.deviation = durations::kUnknownDeviation};
  // The long tasks of these runs are expected by their indexes, separately from other tasks.
  std::vector<bool> is_apart;
  for (const PastStageRun& run : runs) {
    is_apart.push_back(run.stage->tasks == tasks && AreLongTasksKnown(*run.stage));
  }
  struct Work {
    double now = 0;
    double then = 0;
  };
  const auto at_once_of = [&](std::uint64_t count, double on_slots) {
    return constants.idle_slots_crowd ? std::max(on_slots, 1.0) : TasksAtOnce(count, on_slots);
  };
  std::vector<Work> work_of(runs.size());
  std::array<CrowdLine, kWarmths> lines;
  std::array<std::vector<TimesOfKind>, kWarmths> times_of;  // by kind and run
  for (std::size_t kind = 0; kind < kWarmths; ++kind) {
    times_of[kind].resize(runs.size());
    for (std::size_t r = 0; r < runs.size(); ++r) {
      const PastStageRun& run = runs[r];
      TimesOfKind& times = times_of[kind][r];
      times.Set(*run.stage, kind, is_apart[r]);
      if (times.seconds.empty()) continue;
      lines[kind].Add(at_once_of(run.stage->tasks, run.slots), times.mean, run.size_distance);
    }
  }
  const double at_once = at_once_of(tasks, slots);
  const double crowded_max = CrowdedMax(lines, tasks, constants);
  double weight = 0;
  double variance = 0;
  for (std::size_t kind = 0; kind < kWarmths; ++kind) {
    CrowdLine& line = lines[kind];
    const std::vector<TimesOfKind>& seen = times_of[kind];
    if (line.empty()) continue;
    line.Fit(line.Doubling(kind, constants), DeviationsOf(runs, constants), at_once, crowded_max);
    const double mean = std::exp(line.At(at_once));
    std::vector<double> pooled;
    for (std::size_t r = 0; r < runs.size(); ++r) {
      if (seen[r].seconds.empty()) continue;
      const double factor = mean / seen[r].mean;
      work_of[r].now += static_cast<double>(seen[r].seconds.size()) * mean;
      work_of[r].then += static_cast<double>(seen[r].seconds.size()) * seen[r].mean;
      for (const double time : seen[r].seconds) pooled.push_back(time * factor);
    }
    const double work = mean * static_cast<double>(pooled.size());
    weight += work;
    variance += work * line.VarianceAt(at_once);
    expected.times[kind] = durations::TimeDistribution::Empirical(std::move(pooled));
  }
  if (weight <= 0) return expected;
  FillGaps(expected.times, constants);
  expected.is_known = expected.is_of_runs = true;
  expected.deviation = std::sqrt(variance / weight);
  std::vector<LongTasksOfRun> long_tasks;
  for (std::size_t r = 0; r < runs.size(); ++r) {
    if (!is_apart[r] || work_of[r].then <= 0) continue;
    long_tasks.push_back({runs[r].stage->long_tasks, work_of[r].now / work_of[r].then});
  }
  expected.long_tasks = EstimateLongTasks(long_tasks);
  return expected;
}

TaskEstimate EstimateTasksNow(TaskEstimate before, const StageNow& stage,
                              const EstimateConstants& constants) {
  if (before.is_known) return WithEvidence(std::move(before), stage, constants);
  TaskEstimate prior = FromThisRunOnly(stage, constants);
  return prior.is_known ? WithEvidence(std::move(prior), stage, constants) : before;
}

TaskEstimate WithEvidence(TaskEstimate prior, const StageNow& stage,
                          const EstimateConstants& constants) {
  const Evidence evidence = EvidenceOf(prior, stage);
  if (evidence.tasks == 0) return prior;
  const double tasks = std::max(static_cast<double>(stage.tasks), evidence.tasks);
  const double ahead = 1 - evidence.tasks / tasks;
  const double early = evidence.rest_tasks < evidence.tasks / 2 ? kDriftOfFirstWave : 1;
  const double drift = constants.drift_deviation * early * ahead;
  const double noise = evidence.relative_variance / evidence.tasks + drift * drift;
  const double prior_variance = prior.deviation * prior.deviation;
  const double trust = prior_variance / (prior_variance + noise);
  const double shift =
      trust * std::log(std::max(evidence.seen, kTaskSecondsMin) / evidence.expected);
  TaskEstimate expected = {.deviation = std::sqrt(trust * noise),
                           .is_known = prior.is_known,
                           .is_of_runs = prior.is_of_runs,
                           .is_of_pace = prior.is_of_pace,
                           .long_tasks = prior.long_tasks};
  for (std::size_t kind = 0; kind < kWarmths; ++kind) {
    expected.times[kind] = prior.times[kind].Scaled(std::exp(shift));
  }
  for (LongTask& task : expected.long_tasks) task.more_seconds *= std::exp(shift);
  return expected;
}

namespace {

bool IsAdjusted(const StageNow& stage, const TaskEstimate& before) {
  return stage.adjusted_deviation > 0 && before.is_of_runs;
}

// Sums over normal estimates of one number, weighted by precision.
struct WeightedEvidence {
  double precision = 0;
  double weighted = 0;  // sum of precision x estimate
};

// Returns the evidence of a stage about the logarithm of the factor on adjusted times.
WeightedEvidence ShownBy(const StageNow& stage, const TaskEstimate& before,
                         const EstimateConstants& constants) {
  if (stage.finished.empty()) return {};
  // A wide prior of deviation D keeps most of the evidence. The estimate contains the fraction D^2
  // / (D^2 + noise) of the evidence, and its variance is that fraction of the noise.
  TaskEstimate open = before;
  open.deviation = durations::kUnknownDeviation;
  const double prior = open.deviation * open.deviation;
  const TaskEstimate after = WithEvidence(std::move(open), stage, constants);
  const double taken = 1 - after.deviation * after.deviation / prior;
  if (!(taken > 0)) return {};
  const double shift =
      std::log(after.Of(Warmth::kRest).mean() / before.Of(Warmth::kRest).mean()) / taken;
  const double noise = after.deviation * after.deviation / taken;
  const double precision = 1 / (noise + before.deviation * before.deviation);
  if (!std::isfinite(precision) || !std::isfinite(shift)) return {};
  return {precision, precision * shift};
}

void Multiply(double factor, TaskEstimate& expected) {
  for (durations::TimeDistribution& times : expected.times) times = times.Scaled(factor);
  for (LongTask& task : expected.long_tasks) task.more_seconds *= factor;
}

struct Work {
  WeightedEvidence all;
  std::uint64_t number = 0;
};

}  // namespace

void CorrectAdjusted(const std::vector<StageNow>& stages, const EstimateConstants& constants,
                     std::vector<TaskEstimate>& before) {
  std::map<std::string, Work> works;
  std::vector<WeightedEvidence> own(stages.size());
  for (std::size_t i = 0; i < stages.size(); ++i) {
    if (!IsAdjusted(stages[i], before[i])) continue;
    own[i] = ShownBy(stages[i], before[i], constants);
    const auto [work, is_new] =
        works.try_emplace(WorkKey(stages[i].work, stages[i].name), Work{.number = works.size()});
    work->second.all.precision += own[i].precision;
    work->second.all.weighted += own[i].weighted;
  }
  for (std::size_t i = 0; i < stages.size(); ++i) {
    if (!IsAdjusted(stages[i], before[i])) continue;
    const Work& work = works.at(WorkKey(stages[i].work, stages[i].name));
    const double deviation = stages[i].adjusted_deviation;
    // EstimateTasksNow() counts a stage's own evidence.
    const double precision = 1 / (deviation * deviation) + work.all.precision - own[i].precision;
    const double shift = (work.all.weighted - own[i].weighted) / precision;
    Multiply(std::exp(shift), before[i]);
    const double left = std::sqrt(1 / precision);
    if (stages[i].finished.empty() && stages[i].running.empty()) {
      before[i].shared_deviation = left;
      before[i].shared_by = work.number;
    } else {
      before[i].deviation = std::hypot(before[i].deviation, left);
    }
  }
}

}  // namespace tidemark::dag
