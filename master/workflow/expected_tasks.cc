#include "master/workflow/expected_tasks.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include "master/cost/opinions.h"
#include "master/model/phases.h"
#include "master/workflow/long_tasks.h"

namespace tidemark::workflow {
namespace {

// A handful of tasks says little about their own spread: never below a fifth. Taste.
constexpr double kRelativeVarianceMin = 0.04;
// The first wave says less about the rest of a stage than the rest itself: by this factor on
// drift_deviation. Ablation: -0.04, +0.09 (tpcds-live-five-runs).
constexpr double kDriftOfFirstWave = 2;

// The log of a mean task time over the log of slots, through earlier runs.
class SlotsLine {
 public:
  void Add(double slots, double mean) {
    slots_.push_back(std::max(slots, 1.0));
    log_means_.push_back(std::log(mean));
  }
  bool empty() const { return slots_.empty(); }

  void Fit(std::size_t kind, bool is_root, const ExpectationConstants& constants) {
    const double count = static_cast<double>(slots_.size());
    double log_mean = 0;
    for (const double y : log_means_) log_mean += y / count;
    crowd_ = constants.crowd[kind] * std::exp(log_mean * constants.crowd_power[kind]);
    for (std::size_t i = 0; i < slots_.size(); ++i) {
      x_mean_ += std::log(slots_[i]) / count;
      y_mean_ += (log_means_[i] - Crowding(slots_[i])) / count;
    }
    const double run = is_root ? constants.root_run_deviation : constants.run_deviation;
    run_variance_ = run * run;
    const double slope = is_root ? constants.root_exponent_deviation : constants.exponent_deviation;
    FitSlope(1 / (slope * slope));
    // What the runs scatter around the line counts beside what is usual.
    run_variance_ =
        (cost::kPriorCount * run_variance_ + Scatter()) / (cost::kPriorCount + count - 1);
  }

  double At(double slots) const { return y_mean_ + slope_ * Away(slots) + Crowding(slots); }
  double VarianceAt(double slots) const {
    return run_variance_ * (1 + 1 / static_cast<double>(slots_.size())) +
           Away(slots) * Away(slots) * slope_variance_;
  }

 private:
  double Crowding(double slots) const { return std::log1p(std::max(slots, 1.0) / crowd_); }
  double Away(double slots) const { return std::log(std::max(slots, 1.0)) - x_mean_; }

  // Least squares with a normal prior around zero.
  void FitSlope(double prior_weight) {
    double sxx = 0;
    double sxy = 0;
    for (std::size_t i = 0; i < slots_.size(); ++i) {
      const double y = log_means_[i] - Crowding(slots_[i]) - y_mean_;
      sxx += Away(slots_[i]) * Away(slots_[i]);
      sxy += Away(slots_[i]) * y;
    }
    const double weight = prior_weight + sxx / run_variance_;
    slope_ = sxy / run_variance_ / weight;
    slope_variance_ = 1 / weight;
  }

  double Scatter() const {
    double squares = 0;
    for (std::size_t i = 0; i < slots_.size(); ++i) {
      const double off = log_means_[i] - At(slots_[i]);
      squares += off * off;
    }
    return squares;
  }

  std::vector<double> slots_;
  std::vector<double> log_means_;
  double crowd_ = 1;
  double x_mean_ = 0;
  double y_mean_ = 0;
  double slope_ = 0;
  double slope_variance_ = 0;
  double run_variance_ = 0;
};

// What tasks of one kind took in one run of a stage.
struct TimesOfKind {
  std::span<const double> seconds;
  double mean = 0;  // at least kTaskSecondsMin; 0: there are none
  std::vector<double> usual;

  // `are_long_apart`: without those that are expected by their index. Where none is, no task is
  // long (TellsLongTasks()).
  void Set(const StageProfile& stage, std::size_t kind, bool are_long_apart) {
    seconds = stage.seconds[kind];
    if (are_long_apart && !stage.long_tasks.empty()) {
      usual = UsualTimes(seconds);
      seconds = usual;
    }
    mean = seconds.empty() ? 0 : MeanSeconds(seconds);
  }
};

// Gives a kind of task without times those of its nearest relative, scaled.
void FillGaps(std::array<cost::TimeDistribution, kWarmths>& times,
              const ExpectationConstants& constants) {
  constexpr std::array<std::array<Warmth, 3>, kWarmths> kRelatives = {{
      {Warmth::kFirst, Warmth::kRest, Warmth::kLast},
      {Warmth::kFresh, Warmth::kRest, Warmth::kLast},
      {Warmth::kLast, Warmth::kFirst, Warmth::kFresh},
      {Warmth::kRest, Warmth::kFirst, Warmth::kFresh},
  }};
  const std::array<cost::TimeDistribution, kWarmths> known = times;
  for (std::size_t kind = 0; kind < kWarmths; ++kind) {
    for (const Warmth relative : kRelatives[kind]) {
      const std::size_t from = static_cast<std::size_t>(relative);
      if (!times[kind].empty() || known[from].empty()) continue;
      times[kind] = known[from].Scaled(constants.over_rest[kind] / constants.over_rest[from]);
    }
  }
}

// Sums of what was seen and of what had been expected of the same tasks.
struct Evidence {
  double seen = 0;
  double expected = 0;
  double tasks = 0;
  double rest_tasks = 0;  // beyond the first wave
  double relative_variance = 0;
};

Evidence EvidenceOf(const ExpectedTasks& before, const StageNow& stage) {
  Evidence evidence;
  double squares = 0;
  // `part`: of a task.
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
  for (const RunningTask& task : stage.running) {
    if (ShowsItsPace(task)) {
      add(task.elapsed / *task.fraction, task.warmth, task.id.index, *task.fraction);
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

ExpectedTasks FromThisRunOnly(const StageNow& stage, const ExpectationConstants& constants) {
  ExpectedTasks expected = {.deviation = cost::kUnknownDeviation};
  std::array<std::vector<double>, kWarmths> seconds;
  for (const FinishedTask& task : stage.finished) {
    seconds[static_cast<std::size_t>(task.warmth)].push_back(task.seconds);
  }
  if (stage.finished.empty()) {
    for (const RunningTask& task : stage.running) {
      if (!ShowsItsPace(task)) continue;
      seconds[static_cast<std::size_t>(task.warmth)].push_back(task.elapsed / *task.fraction);
      expected.is_known = true;
    }
    if (!expected.is_known) return expected;
  }
  for (std::size_t kind = 0; kind < kWarmths; ++kind) {
    if (!seconds[kind].empty())
      expected.times[kind] = cost::TimeDistribution::Empirical(std::move(seconds[kind]));
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

bool ShowsItsPace(const RunningTask& task) {
  return task.elapsed > 0 && task.fraction.value_or(0) >= model::kPaceFrom;
}

ExpectedTasks ExpectTasks(std::span<const EarlierStage> runs, std::uint64_t tasks, double slots,
                          const ExpectationConstants& constants) {
  ExpectedTasks expected = {.deviation = cost::kUnknownDeviation};
  // Of those runs the tasks that were long are expected by their index, apart from the others.
  std::vector<bool> is_apart;
  for (const EarlierStage& run : runs) {
    is_apart.push_back(run.stage->tasks == tasks && TellsLongTasks(*run.stage));
  }
  struct Work {
    double now = 0;
    double then = 0;
  };
  std::vector<Work> work_of(runs.size());
  std::vector<TimesOfKind> seen(runs.size());  // of the kind that is looked at
  double weight = 0;
  double variance = 0;
  for (std::size_t kind = 0; kind < kWarmths; ++kind) {
    SlotsLine line;
    std::size_t count = 0;
    for (std::size_t r = 0; r < runs.size(); ++r) {
      seen[r].Set(*runs[r].stage, kind, is_apart[r]);
      if (seen[r].seconds.empty()) continue;
      line.Add(runs[r].slots, seen[r].mean);
      count += seen[r].seconds.size();
    }
    if (line.empty()) continue;
    const StageProfile& newest = *runs.front().stage;
    line.Fit(kind, newest.parents.empty() || !newest.fetches, constants);
    const double mean = std::exp(line.At(slots));
    std::vector<double> pooled;
    pooled.reserve(count);
    for (std::size_t r = 0; r < runs.size(); ++r) {
      if (seen[r].seconds.empty()) continue;
      const double factor = mean / seen[r].mean;
      work_of[r].now += static_cast<double>(seen[r].seconds.size()) * mean;
      work_of[r].then += static_cast<double>(seen[r].seconds.size()) * seen[r].mean;
      for (const double time : seen[r].seconds) pooled.push_back(time * factor);
    }
    const double work = mean * static_cast<double>(pooled.size());
    weight += work;
    variance += work * line.VarianceAt(slots);
    expected.times[kind] = cost::TimeDistribution::Empirical(std::move(pooled));
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
  expected.long_tasks = ExpectLongTasks(long_tasks);
  return expected;
}

ExpectedTasks ExpectTasksNow(ExpectedTasks before, const StageNow& stage,
                             const ExpectationConstants& constants) {
  if (before.is_known) return WithEvidence(std::move(before), stage, constants);
  ExpectedTasks prior = FromThisRunOnly(stage, constants);
  return prior.is_known ? WithEvidence(std::move(prior), stage, constants) : before;
}

ExpectedTasks WithEvidence(ExpectedTasks prior, const StageNow& stage,
                           const ExpectationConstants& constants) {
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
  ExpectedTasks expected = {.deviation = std::sqrt(trust * noise),
                            .is_known = prior.is_known,
                            .is_of_runs = prior.is_of_runs,
                            .long_tasks = prior.long_tasks};
  for (std::size_t kind = 0; kind < kWarmths; ++kind) {
    expected.times[kind] = prior.times[kind].Scaled(std::exp(shift));
  }
  for (LongTask& task : expected.long_tasks) task.more_seconds *= std::exp(shift);
  return expected;
}

}  // namespace tidemark::workflow
