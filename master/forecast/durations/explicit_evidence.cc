#include "master/forecast/durations/explicit_evidence.h"

#include <algorithm>
#include <cmath>

namespace tidemark::cost {
namespace {

constexpr std::array<CostFeature, kCostFeatures> kFeatures = {
    CostFeature::kBytes, CostFeature::kProduct, CostFeature::kValues};

double RelativeVariance(double count, double sum, double sum_of_squares) {
  const double mean = sum / count;
  return mean > 0 ? std::max(0.0, sum_of_squares / count - mean * mean) / (mean * mean) : 0;
}

}  // namespace

void ExplicitEvidence::Update(const model::JobRecord& state) {
  tasks_.resize(state.reduce_tasks().size());
  for (std::size_t i = 0; i < tasks_.size(); ++i) {
    for (const auto& [number, attempt] : state.reduce_tasks()[i].attempts) {
      std::size_t& taken = tasks_[i].taken[number.second];
      for (; taken < attempt.reduce->finished_explicit_groups.size(); ++taken) {
        const FinishedKey& group = attempt.reduce->finished_explicit_groups[taken];
        const double seconds = absl::ToDoubleSeconds(group.time);
        if (!(seconds > 0)) continue;  // timed with others
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

std::vector<regression::CostBin> ExplicitEvidence::Times(CostFeature feature,
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
  std::vector<regression::CostBin> bins;
  for (const auto& [bin, sums] : pooled) {
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

}  // namespace tidemark::cost
