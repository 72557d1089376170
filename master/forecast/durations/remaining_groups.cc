#include "master/forecast/durations/remaining_groups.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "master/facts/evidence_loss.h"
#include "master/forecast/durations/combined_estimates.h"
#include "master/forecast/durations/finished_groups.h"

namespace tidemark::durations {
namespace {

// Finished keys of neighbouring bins also count for a bin. If they do not, two-path on cit-hepph
// has an avgErr of 1.13 instead of 0.89.
constexpr std::uint32_t kCorrectionReach = 3;
constexpr double kCorrectionNeighbour = 0.3;
// Neighbouring keys are often similar, so recently finished keys count most. The memory spans
// kMemoryMin keys plus the fraction kMemoryPart of all keys. Ablation: -0.04, +0.20 (two-path
// lost-50).
constexpr double kMemoryMin = 30;
// Ablation: -0.19, +0.27 (two-path lost-50).
constexpr double kMemoryPart = 0.05;
// Limits the weights. All weights are scaled down before they overflow.
constexpr double kWeightMax = 1e100;
// Limits the ratio of one key group.
// Ablation: -0.68, +0.26 (two-path lost-50).
constexpr double kRatioMax = 10;
// A smaller share of missing bytes is a rounding error, or is in a report that has not arrived yet.
constexpr double kMissingTolerance = 0.01;

}  // namespace

double BinCentre(std::uint32_t bin) {
  return std::exp2((static_cast<double>(bin) + 0.5) / streaming::kBinsPerOctave);
}

void BinLoad::Add(double feature, double size_bytes, double sign) {
  const double x = std::log(std::max(1.0, feature) / BinCentre(bin));
  count = std::max(0.0, count + sign);
  bytes = std::max(0.0, bytes + sign * size_bytes);
  log_sum += sign * x;
  log_square_sum = std::max(0.0, log_square_sum + sign * x * x);
}

void RemainingGroups::Change(const KeyEstimate& key, double sign, TaskLoad& load) {
  const std::uint32_t bin = FeatureBin(key.feature);
  auto at = std::lower_bound(load.explicit_bins.begin(), load.explicit_bins.end(), bin,
                             [](const BinLoad& b, std::uint32_t index) { return b.bin < index; });
  if (at == load.explicit_bins.end() || at->bin != bin) {
    if (sign < 0) return;
    at = load.explicit_bins.insert(at, {.bin = bin});
  }
  const double count = sign * key.count;
  at->Add(key.feature, key.size_bytes, count);
  if (sign < 0 && at->count < 0.5) *at = {.bin = bin};  // Removes rounding errors.
  load.explicit_bytes = std::max(0.0, load.explicit_bytes + count * key.size_bytes);
  load.explicit_count = std::max(0.0, load.explicit_count + count);
}

void RemainingGroups::Rebuild(const facts::JobRecord& state, std::size_t index) {
  Task& task = tasks_[index];
  task.load = {};
  task.retired = 0;
  task.heaviest = 0;
  for (const ExplicitKey& key : state.keys.partition(index).explicit_keys) {
    Change(known_[key.key], 1, task.load);
  }
}

void RemainingGroups::Retire(const facts::JobRecord& state, const facts::TaskAttempt& attempt,
                             std::size_t index) {
  Task& task = tasks_[index];
  if (task.load.running) Change(known_[task.load.running->key], 1, task.load);
  task.load.running.reset();
  for (; task.retired < attempt.reduce->finished_explicit_groups.size(); ++task.retired) {
    const FinishedKey& finished = attempt.reduce->finished_explicit_groups[task.retired];
    const auto known = known_.find(finished.key);
    if (known == known_.end()) continue;
    Change(known->second, -1, task.load);
    if (task.retired < task.learnt) continue;
    Learn(known->second, static_cast<double>(finished.size_bytes));
    task.learnt = task.retired + 1;
  }
  const auto& keys = state.keys.partition(index).explicit_keys;
  while (task.heaviest < keys.size() &&
         attempt.reduce->finished_explicit.contains(keys[task.heaviest].key)) {
    ++task.heaviest;
  }
  task.load.heaviest = task.heaviest < keys.size() ? keys[task.heaviest] : ExplicitKey{};
}

void RemainingGroups::Ratio::Add(double ratio, double weight) {
  const double bounded = std::clamp(ratio, 1 / kRatioMax, kRatioMax);
  sum += weight * bounded;
  square_sum += weight * bounded * bounded;
  count += weight;
}

void RemainingGroups::Learn(const KeyEstimate& known, double true_bytes) {
  const double memory = kMemoryMin + kMemoryPart * static_cast<double>(known_.size());
  const double keep = 1 - 1 / memory;
  slack_parts_.Learn(known.map_task,
                     std::clamp(true_bytes - known.explicit_bytes, 0.0, known.slack_bytes),
                     known.slack_bytes, newest_weight_);
  const double expected = std::max(1.0, known.size_bytes);
  ratios_[FeatureBin(expected)].Add(true_bytes / expected, newest_weight_);
  newest_weight_ /= keep;
  if (newest_weight_ < kWeightMax) return;
  for (Ratio& of_bin : ratios_) {
    of_bin.sum /= newest_weight_;
    of_bin.square_sum /= newest_weight_;
    of_bin.count /= newest_weight_;
  }
  slack_parts_.ScaleDown(newest_weight_);
  newest_weight_ = 1;
}

void RemainingGroups::SetRunning(const facts::TaskAttempt& attempt, Task& task) {
  if (!attempt.reduce->running_group || !attempt.reduce->running_group->key) return;
  const auto known = known_.find(*attempt.reduce->running_group->key);
  if (known == known_.end() || attempt.reduce->finished_explicit.contains(known->first)) return;
  Change(known->second, -1, task.load);
  task.load.running =
      RunningExplicit{known->first, known->second.size_bytes, known->second.feature,
                      known->second.slack_bytes < kMissingTolerance * known->second.size_bytes};
}

// Estimates the load of a task with lost profiles. An unreported explicit key is either among the
// unreported finished bytes or among the remaining bytes. The probabilities are proportional to
// these bytes, unless the key is too large for one of the two.
void RemainingGroups::GuessLoad(const facts::JobRecord& state, const facts::TaskAttempt& attempt,
                                double unreported_bytes, std::size_t index) {
  Task& task = tasks_[index];
  const std::optional<RunningExplicit> running = task.load.running;
  const double left_bytes = std::max(0.0, static_cast<double>(state.reduce_input_bytes(index)) -
                                              static_cast<double>(attempt.bytes_done) -
                                              (running ? running->size_bytes : 0));
  const double likely = left_bytes > 0 ? left_bytes / (left_bytes + unreported_bytes) : 0;
  task.load = {.running = running};
  for (const ExplicitKey& key : state.keys.partition(index).explicit_keys) {
    if (attempt.reduce->finished_explicit.contains(key.key)) continue;
    if (running && running->key == key.key) continue;
    const KeyEstimate& known = known_[key.key];
    const bool may_be_over = known.size_bytes < unreported_bytes;
    const bool may_be_left = known.size_bytes < left_bytes;
    const bool is_left = may_be_left || left_bytes > unreported_bytes;
    const double weight = may_be_over && may_be_left ? likely : is_left ? 1 : 0;
    if (weight <= 0) continue;
    Change(known, weight, task.load);
    if (task.load.heaviest.size_bytes == 0) task.load.heaviest = key;
  }
  task.is_guessed = true;
}

// Returns the factor on the size of a key that n of m map tasks reported, while M - m profiles are
// missing. Apart from the first report, n - 1 of m - 1 tasks reported the key, so (M - m) (n - 1) /
// (m - 1) of the missing tasks are assumed to have it. The other missing explicit bytes belong to
// similar keys that were not reported.
double RemainingGroups::SizeFactor(const facts::JobRecord& state, KeyHash key, double factor) {
  const auto profiles = static_cast<double>(state.keys.profile_count());
  const auto named = static_cast<double>(state.keys.MapTasksNaming(key));
  if (factor <= 1 || profiles < 2 || named < 1) return factor;
  return 1 + (factor - 1) * profiles / named * (named - 1) / (profiles - 1);
}

void RemainingGroups::RebuildKnown(const facts::JobRecord& state) {
  known_.clear();
  slack_bytes_.assign(profile_count_, 0);
  const streaming::KeySample& sample = state.keys.sample();
  const double factor = state.missing_profiles_factor();
  for (std::size_t i = 0; i < tasks_.size(); ++i) {
    for (const ExplicitKey& key : state.keys.partition(i).explicit_keys) {
      const double of_size = SizeFactor(state, key.key, factor);
      double bytes = of_size * static_cast<double>(key.size_bytes);
      double slack = factor * state.keys.SlackBytes(key.key);
      const bool is_exact = factor == 1 && streaming::SampleRank(key.key) < sample.below();
      if (const auto sampled = sample.keys().find(key.key);
          is_exact && sampled != sample.keys().end()) {
        bytes = static_cast<double>(sampled->second.size_bytes);
        slack = 0;
      }
      const std::size_t map_task = state.keys.MainMapTask(key.key);
      known_[key.key] = {.explicit_bytes = bytes,
                         .slack_bytes = slack,
                         .map_task = map_task,
                         .count = factor / of_size};
      slack_bytes_[map_task] += slack;
    }
  }
}

void RemainingGroups::UpdateSizes(const facts::JobRecord& state) {
  for (auto& [key, known] : known_) {
    known.size_bytes = known.explicit_bytes + expected_parts_[known.map_task] * known.slack_bytes;
    known.feature = FeatureOf(feature_, known.size_bytes, TraitsOf(state.keys, key));
  }
}

std::vector<double> RemainingGroups::PartsOf(const SampledGroups& sampled) const {
  const double slack = std::accumulate(slack_bytes_.begin(), slack_bytes_.end(), 0.0);
  const double mean_slack = known_.empty() ? 0 : slack / static_cast<double>(known_.size());
  return slack_parts_.Estimate(sampled.explicit_groups(), profile_count_, mean_slack,
                               newest_weight_);
}

// Returns true if `parts` changes the size estimates by more than kChangeTolerance, averaged over
// the slack bytes.
bool RemainingGroups::HaveChanged(const std::vector<double>& parts) const {
  double moved = 0;
  double slack = 0;
  for (std::size_t j = 0; j < slack_bytes_.size(); ++j) {
    moved += slack_bytes_[j] * std::abs(parts[j] - expected_parts_[j]);
    slack += slack_bytes_[j];
  }
  return moved > kChangeTolerance * slack;
}

void RemainingGroups::LearnFrom(const SampledGroups& sampled) {
  sampled_ratios_ = {};
  for (const SampledGroup& group : sampled.explicit_groups()) {
    const double expected =
        std::max(1.0, group.explicit_bytes + expected_parts_[group.map_task] * group.slack_bytes);
    sampled_ratios_[FeatureBin(expected)].Add(group.size_bytes / expected, 1);
  }
}

void RemainingGroups::Update(const facts::JobRecord& state, CostFeature feature,
                             const SampledGroups& sampled) {
  // Profiles may be lost, and reduce tasks may appear, after the last profile.
  const bool is_rebuilt = profile_count_ != state.keys.profile_count() ||
                          profiles_missing_ != state.map_profiles_missing ||
                          tasks_.size() != state.reduce_tasks().size();
  profile_count_ = state.keys.profile_count();
  profiles_missing_ = state.map_profiles_missing;
  tasks_.resize(state.reduce_tasks().size());
  if (is_rebuilt) RebuildKnown(state);
  // The size estimates depend on the learnt slack. They are recomputed after a large change.
  std::vector<double> parts = PartsOf(sampled);
  const bool is_stale = is_rebuilt || feature_ != feature || HaveChanged(parts);
  feature_ = feature;
  if (is_stale) {
    expected_parts_ = std::move(parts);
    UpdateSizes(state);
  }
  LearnFrom(sampled);
  const bool has_losses = MissingEvidenceShare(state) > 0;
  for (std::size_t i = 0; i < tasks_.size(); ++i) {
    if (state.reduce_tasks()[i].is_over()) continue;
    Task& task = tasks_[i];
    const facts::TaskAttempt* attempt = state.reduce_tasks()[i].leading_attempt();
    std::uint32_t number = 0;
    for (const auto& [n, a] : state.reduce_tasks()[i].attempts) {
      if (&a == attempt) number = n.second;
    }
    const bool is_other = task.has_attempt != (attempt != nullptr) || task.attempt != number;
    if (is_stale || task.is_guessed || is_other) {
      if (is_other) task.learnt = 0;
      task.is_guessed = false;
      Rebuild(state, i);
      task.has_attempt = attempt != nullptr;
      task.attempt = number;
    }
    double done = 0;
    if (attempt != nullptr) {
      Retire(state, *attempt, i);
      SetRunning(*attempt, task);
      done = static_cast<double>(attempt->bytes_done);
      const double unreported = done - attempt->reduce->reported_bytes;
      if (has_losses && unreported > kMissingTolerance * done)
        GuessLoad(state, *attempt, unreported, i);
    } else {
      const auto& keys = state.keys.partition(i).explicit_keys;
      task.load.heaviest = keys.empty() ? ExplicitKey{} : keys.front();
    }
    double known = task.load.running ? task.load.running->size_bytes : 0;
    for (const BinLoad& bin : task.load.explicit_bins) known += bin.bytes * BinCorrection(bin);
    task.load.implicit_bytes =
        std::max(0.0, static_cast<double>(state.reduce_input_bytes(i)) - done - known);
  }
}

double RemainingGroups::BinCorrection(const BinLoad& bin) const {
  // Each factor of a product may be too small, so there is no correction.
  if (feature_ != CostFeature::kBytes || bin.count <= 0) return 1;
  return SizeCorrection(bin.bytes / bin.count);
}

BinLoad RemainingGroups::Spread(const BinLoad& bin) const {
  if (feature_ != CostFeature::kBytes || bin.count <= 0) return bin;
  const Ratio ratio = RatioAt(bin.bytes / bin.count);
  const double log_variance =
      std::log(std::max(1.0, ratio.square_sum * ratio.count / (ratio.sum * ratio.sum)));
  BinLoad spread = bin;
  spread.log_sum -= bin.count * log_variance / 2;
  spread.log_square_sum += bin.count * log_variance;
  return spread;
}

double RemainingGroups::SizeCorrection(double size_bytes) const {
  const Ratio ratio = RatioAt(size_bytes);
  return ratio.sum / ratio.count;
}

// Returns the ratio of true to estimated sizes around `size_bytes`, and its square. It combines the
// remaining sampled keys, the finished keys, and a prior of 1.
RemainingGroups::Ratio RemainingGroups::RatioAt(double size_bytes) const {
  const std::uint32_t bin = FeatureBin(size_bytes);
  const auto around = [bin](const Ratios& ratios) {
    const std::uint32_t first = bin < kCorrectionReach ? 0 : bin - kCorrectionReach;
    const std::uint32_t last = std::min(bin + kCorrectionReach, streaming::kSizeBins - 1);
    Ratio sum;
    for (std::uint32_t b = first; b <= last; ++b) {
      const double weight = b == bin ? 1 : kCorrectionNeighbour;
      sum.sum += weight * ratios[b].sum;
      sum.square_sum += weight * ratios[b].square_sum;
      sum.count += weight * ratios[b].count;
    }
    return sum;
  };
  const Ratio finished = around(ratios_);
  Ratio ratio = around(sampled_ratios_);
  // The finished keys and the prior count as kPriorCount sampled keys.
  const double prior = kPriorCount * newest_weight_;
  const double weight = kPriorCount / (prior + finished.count);
  ratio.sum += weight * (prior + finished.sum);
  ratio.square_sum += weight * (prior + finished.square_sum);
  ratio.count += kPriorCount;
  return ratio;
}

}  // namespace tidemark::durations
