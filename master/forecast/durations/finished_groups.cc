#include "master/forecast/durations/finished_groups.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "master/forecast/durations/draws.h"
#include "streaming/size_histogram.h"

namespace tidemark::durations {
namespace {

// Share of a task's work after which a finished group counts half. Ablation: +0.81, -0.56 (two-path
// speculation).
constexpr double kHalfLife = 0.3;
// Ablation: -1.19, +1.84 (two-path speculation).
constexpr double kMisfitShare = 0.25;
// Prior variance of ln q between nodes, and the number of nodes that it counts as. Ablation: +0.02,
// -0.05 (two-path slow-node); -0.31, +0.32 (two-path speculation).
constexpr double kPriorVariance = 0.005;
constexpr double kPriorNodes = 2;
// Nodes with a larger sampling variance do not count for the variance between nodes.
// Ablation: -0.07, +0.02 (two-path hidden-modes).
constexpr double kVarianceToTellMax = 0.25;

const std::string& HostOf(const facts::Task& task) {
  static const std::string* const kNone = new std::string;
  const facts::TaskAttempt* attempt =
      task.is_finished() ? task.finished_attempt() : task.leading_attempt();
  return attempt == nullptr ? *kNone : attempt->life.host;
}

}  // namespace

double VarianceOfNode(double between, double log_ratio, double sampling) {
  return std::max(between, (between + log_ratio * log_ratio - sampling) / 2);
}

std::size_t TaskSpeeds::UnitOf(const facts::JobRecord& state, std::size_t index) {
  const std::string& host = HostOf(state.reduce_tasks()[index]);
  const auto [at, added] = unit_of_host_.try_emplace(
      host.empty() ? "task " + std::to_string(index) : "host " + host, units_.size());
  if (added) units_.emplace_back();
  return at->second;
}

std::vector<regression::CostBin> TaskSpeeds::RawTimes(const facts::JobRecord& state) {
  return TaskSpeeds().PooledTimes(state);
}

std::vector<regression::CostBin> TaskSpeeds::PooledTimes(const facts::JobRecord& state) const {
  struct Sums {
    double count = 0, bytes = 0, seconds = 0, squares = 0;
  };
  std::array<Sums, streaming::kSizeBins> sums{};
  for (std::size_t i = 0; i < state.reduce_tasks().size(); ++i) {
    const double q = of_task(i).factor;
    for (const GroupBin& bin : state.reduce_tasks()[i].finished_groups().bins.bins()) {
      Sums& sum = sums[bin.bin];
      sum.count += static_cast<double>(bin.count);
      sum.bytes += static_cast<double>(bin.size_bytes);
      sum.seconds += bin.seconds / q;
      sum.squares += bin.seconds_squared / (q * q);
    }
  }
  std::vector<regression::CostBin> pooled;
  for (const Sums& sum : sums) {
    if (sum.count <= 0) continue;
    const double mean = sum.seconds / sum.count;
    const double variance = std::max(0.0, sum.squares / sum.count - mean * mean);
    pooled.push_back({std::max(1.0, sum.bytes / sum.count), sum.count, mean,
                      mean > 0 ? variance / (mean * mean) : 0});
  }
  return pooled;
}

std::vector<std::vector<FinishedBin>> FinishedByBytes(const facts::JobRecord& state) {
  std::vector<std::vector<FinishedBin>> finished(state.reduce_tasks().size());
  for (std::size_t i = 0; i < finished.size(); ++i) {
    for (const GroupBin& bin : state.reduce_tasks()[i].finished_groups().bins.bins()) {
      const auto bytes = static_cast<double>(bin.size_bytes);
      finished[i].push_back({bin.bin, static_cast<double>(bin.count), bytes, bytes, bin.seconds});
    }
  }
  return finished;
}

void TaskSpeeds::Fade(const std::vector<FinishedBin>& now, double predicted_total, Task& task) {
  std::vector<FinishedBin> fresh;
  double seconds = 0;
  auto before = task.seen.begin();
  for (const FinishedBin& bin : now) {
    while (before != task.seen.end() && before->bin < bin.bin) ++before;
    FinishedBin more = bin;
    if (before != task.seen.end() && before->bin == bin.bin) {
      more.count -= before->count;
      more.feature -= before->feature;
      more.bytes -= before->bytes;
      more.seconds -= before->seconds;
    }
    seconds += more.seconds;
    fresh.push_back(more);
  }
  const double part = predicted_total > 0 ? std::clamp(seconds / predicted_total, 0.0, 1.0) : 0;
  const double keep = std::exp2(-part / kHalfLife);
  auto old = task.recent.begin();
  for (FinishedBin& bin : fresh) {
    while (old != task.recent.end() && old->bin < bin.bin) ++old;
    if (old == task.recent.end() || old->bin != bin.bin) continue;
    bin.count += keep * old->count;
    bin.feature += keep * old->feature;
    bin.bytes += keep * old->bytes;
    bin.seconds += keep * old->seconds;
  }
  task.recent = std::move(fresh);
  task.seen = now;
}

void TaskSpeeds::Update(const facts::JobRecord& state,
                        const std::vector<std::vector<FinishedBin>>& finished,
                        GroupTimeTable& table, const std::vector<double>& predicted_total) {
  tasks_.resize(state.reduce_tasks().size());
  for (Unit& unit : units_) unit = {};
  for (std::size_t i = 0; i < tasks_.size(); ++i) {
    Task& task = tasks_[i];
    if (finished[i].empty()) continue;
    Fade(finished[i], predicted_total[i], task);
    task.unit = UnitOf(state, i);
    Unit& unit = units_[task.unit];
    for (const FinishedBin& bin : task.recent) {
      if (bin.count < 0.01) continue;
      GroupTimes times(table.curve_count());
      // The groups of a bin count at their mean.
      const double x = std::log(std::max(1.0, bin.feature / bin.count) / BinCentre(bin.bin));
      table.Add({bin.bin, bin.count, bin.bytes, bin.count * x, bin.count * x * x}, 1, times);
      unit.observed += bin.seconds;
      unit.predicted += times.mean;
      unit.variance += times.noise_variance;
    }
  }
  std::vector<double> log_ratio(units_.size()), sampling(units_.size(), -1);
  double centre = 0;
  double weight = 0;
  for (std::size_t u = 0; u < units_.size(); ++u) {
    const Unit& unit = units_[u];
    if (!(unit.predicted > 0) || !(unit.observed > 0)) continue;
    log_ratio[u] = std::clamp(std::log(unit.observed / unit.predicted), -kLogMax, kLogMax);
    // Errors of the model affect whole tasks.
    sampling[u] = unit.variance / (unit.predicted * unit.predicted) + regression::kBinVarianceMin +
                  kMisfitShare * table.model().score();
    centre += log_ratio[u] / (sampling[u] + between_ * between_);
    weight += 1 / (sampling[u] + between_ * between_);
  }
  if (weight > 0) centre /= weight;
  // Estimates the variance between units by the method of moments.
  double sum = kPriorNodes * kPriorVariance;
  double units = kPriorNodes;
  for (std::size_t u = 0; u < units_.size(); ++u) {
    if (sampling[u] < 0) continue;
    // The cost model covers the common part of the factors. Factors are relative to the mean, since
    // both would otherwise drift together.
    log_ratio[u] -= centre;
    if (sampling[u] > kVarianceToTellMax) continue;
    sum += log_ratio[u] * log_ratio[u] - sampling[u];
    units += 1;
  }
  const double between = std::max(regression::kBinVarianceMin, sum / units);
  between_ = std::sqrt(between);
  for (std::size_t u = 0; u < units_.size(); ++u) {
    if (sampling[u] < 0) {
      units_[u].speed = of_new_task();
      continue;
    }
    const double variance = VarianceOfNode(between, log_ratio[u], sampling[u]);
    const double trust = variance / (variance + sampling[u]);
    units_[u].speed = {std::exp(log_ratio[u] * trust), std::sqrt(variance * (1 - trust))};
  }
}

SpeedFactor TaskSpeeds::of_task(std::size_t index) const {
  if (index >= tasks_.size() || tasks_[index].seen.empty()) return of_new_task();
  return units_[tasks_[index].unit].speed;
}

namespace {

constexpr std::array<CostFeature, kCostFeatures> kFeatures = {
    CostFeature::kBytes, CostFeature::kProduct, CostFeature::kValues};

double RelativeVariance(double count, double sum, double sum_of_squares) {
  const double mean = sum / count;
  return mean > 0 ? std::max(0.0, sum_of_squares / count - mean * mean) / (mean * mean) : 0;
}

}  // namespace

void ExplicitEvidence::Update(const facts::JobRecord& state) {
  tasks_.resize(state.reduce_tasks().size());
  for (std::size_t i = 0; i < tasks_.size(); ++i) {
    for (const auto& [number, attempt] : state.reduce_tasks()[i].attempts) {
      std::size_t& taken = tasks_[i].taken[number.second];
      for (; taken < attempt.reduce->finished_explicit_groups.size(); ++taken) {
        const FinishedKey& group = attempt.reduce->finished_explicit_groups[taken];
        const double seconds = absl::ToDoubleSeconds(group.time);
        if (!(seconds > 0)) continue;  // timed together with others
        const auto bytes = static_cast<double>(group.size_bytes);
        const auto emitted = static_cast<double>(group.emitted_bytes);
        seconds_ += seconds;
        const KeyTraits traits = TraitsOf(state.keys, group.key);
        for (const CostFeature feature : kFeatures) {
          const double value = FeatureOf(feature, bytes, traits);
          Sums& sums = tasks_[i].bins[static_cast<std::size_t>(feature)][FeatureBin(value)];
          sums.count += 1;
          sums.feature += value;
          sums.bytes += bytes;
          sums.seconds += seconds;
          sums.seconds_squared += seconds * seconds;
          sums.emitted += emitted;
          sums.emitted_squared += emitted * emitted;
        }
      }
    }
  }
}

ExplicitEvidence::Bins ExplicitEvidence::Pooled(CostFeature feature,
                                                const TaskSpeeds& speeds) const {
  Bins pooled;
  for (std::size_t i = 0; i < tasks_.size(); ++i) {
    const double q = speeds.of_task(i).factor;
    for (const auto& [bin, sums] : tasks_[i].bins[static_cast<std::size_t>(feature)]) {
      Sums& all = pooled[bin];
      all.count += sums.count;
      all.feature += sums.feature;
      all.bytes += sums.bytes;
      all.seconds += sums.seconds / q;
      all.seconds_squared += sums.seconds_squared / (q * q);
    }
  }
  return pooled;
}

std::vector<TimedGroups> ExplicitEvidence::Totals(CostFeature feature) const {
  std::vector<TimedGroups> totals;
  for (const auto& [bin, sums] : Pooled(feature, TaskSpeeds())) {
    totals.push_back({sums.count, sums.feature, sums.bytes, sums.seconds, sums.seconds_squared});
  }
  return totals;
}

std::vector<regression::CostBin> ExplicitEvidence::Times(CostFeature feature,
                                                         const TaskSpeeds& speeds) const {
  std::vector<regression::CostBin> bins;
  for (const auto& [bin, sums] : Pooled(feature, speeds)) {
    bins.push_back({sums.feature / sums.count, sums.count, sums.seconds / sums.count,
                    RelativeVariance(sums.count, sums.seconds, sums.seconds_squared),
                    sums.bytes / sums.count});
  }
  return bins;
}

std::vector<std::vector<FinishedBin>> ExplicitEvidence::Finished(CostFeature feature) const {
  std::vector<std::vector<FinishedBin>> finished(tasks_.size());
  for (std::size_t i = 0; i < tasks_.size(); ++i) {
    for (const auto& [bin, sums] : tasks_[i].bins[static_cast<std::size_t>(feature)]) {
      finished[i].push_back({bin, sums.count, sums.feature, sums.bytes, sums.seconds});
    }
  }
  return finished;
}

bool ExplicitEvidence::AnyEmitted(CostFeature feature) const {
  return std::any_of(tasks_.begin(), tasks_.end(), [feature](const Task& task) {
    const Bins& bins = task.bins[static_cast<std::size_t>(feature)];
    return std::any_of(bins.begin(), bins.end(),
                       [](const auto& bin) { return bin.second.emitted > 0; });
  });
}

std::vector<regression::CostBin> ExplicitEvidence::Emissions(CostFeature feature) const {
  std::vector<regression::CostBin> bins;
  if (!AnyEmitted(feature)) return bins;
  Bins pooled;
  for (const Task& task : tasks_) {
    for (const auto& [bin, sums] : task.bins[static_cast<std::size_t>(feature)]) {
      Sums& all = pooled[bin];
      all.count += sums.count;
      all.feature += sums.feature;
      all.bytes += sums.bytes;
      all.emitted += sums.emitted;
      all.emitted_squared += sums.emitted_squared;
    }
  }
  for (const auto& [bin, sums] : pooled) {
    bins.push_back({sums.feature / sums.count, sums.count, sums.emitted / sums.count,
                    RelativeVariance(sums.count, sums.emitted, sums.emitted_squared),
                    sums.bytes / sums.count});
  }
  return bins;
}

}  // namespace tidemark::durations
