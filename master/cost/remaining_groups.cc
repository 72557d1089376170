#include "master/cost/remaining_groups.h"

#include <algorithm>
#include <cmath>

#include "master/cost/explicit_evidence.h"
#include "master/cost/opinions.h"
#include "master/model/evidence_loss.h"

namespace tidemark::cost {
namespace {

// What finished keys of neighbouring bins tell of one. Without them two-path on cit-hepph had an
// avgErr of 1.13 instead of 0.89.
constexpr std::uint32_t kCorrectionReach = 3;
constexpr double kCorrectionNeighbour = 0.3;
// The part of its slack that a key is expected to have.
// Ablation: +0.15, +0.08 (two-path one-giant).
constexpr double kSlackPartExpected = 0.5;
// Neighbouring keys are often alike, so what finished recently tells most: learning goes back about
// so many keys, and this part of all.
// Ablation: -0.04, +0.20 (two-path lost-50).
constexpr double kMemoryMin = 30;
// Ablation: -0.19, +0.27 (two-path lost-50).
constexpr double kMemoryPart = 0.05;
// Limits weights, long before they are no numbers any more: all are scaled down then.
constexpr double kWeightMax = 1e100;
// One key group cannot say more than this.
// Ablation: -0.68, +0.26 (two-path lost-50).
constexpr double kRatioMax = 10;
// If less than this part of the bytes is missing, it is rounding or still on its way.
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

void RemainingGroups::Change(const KnownKey& key, double sign, TaskLoad& load) {
  const std::uint32_t bin = FeatureBin(key.feature);
  auto at = std::lower_bound(load.explicit_bins.begin(), load.explicit_bins.end(), bin,
                             [](const BinLoad& b, std::uint32_t index) { return b.bin < index; });
  if (at == load.explicit_bins.end() || at->bin != bin) {
    if (sign < 0) return;
    at = load.explicit_bins.insert(at, {.bin = bin});
  }
  const double count = sign * key.count;
  at->Add(key.feature, key.size_bytes, count);
  if (sign < 0 && at->count < 0.5) *at = {.bin = bin};  // no rounding left behind
  load.explicit_bytes = std::max(0.0, load.explicit_bytes + count * key.size_bytes);
  load.explicit_count = std::max(0.0, load.explicit_count + count);
}

void RemainingGroups::Rebuild(const model::JobRecord& state, std::size_t index) {
  Task& task = tasks_[index];
  task.load = {};
  task.retired = 0;
  task.heaviest = 0;
  for (const ExplicitKey& key : state.keys.partition(index).explicit_keys) {
    Change(known_[key.key], 1, task.load);
  }
}

void RemainingGroups::Retire(const model::JobRecord& state, const model::TaskAttempt& attempt,
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

void RemainingGroups::Learn(const KnownKey& known, double true_bytes) {
  const double memory = kMemoryMin + kMemoryPart * static_cast<double>(known_.size());
  const double keep = 1 - 1 / memory;
  slack_used_ =
      keep * slack_used_ + std::clamp(true_bytes - known.explicit_bytes, 0.0, known.slack_bytes);
  slack_seen_ = keep * slack_seen_ + known.slack_bytes;
  const double expected = std::max(1.0, known.size_bytes);
  Ratio& ratio = ratios_[FeatureBin(expected)];
  ratio.sum += newest_weight_ * std::clamp(true_bytes / expected, 1 / kRatioMax, kRatioMax);
  ratio.count += newest_weight_;
  newest_weight_ /= keep;
  if (newest_weight_ < kWeightMax) return;
  for (Ratio& of_bin : ratios_) {
    of_bin.sum /= newest_weight_;
    of_bin.count /= newest_weight_;
  }
  newest_weight_ = 1;
}

void RemainingGroups::SetRunning(const model::TaskAttempt& attempt, Task& task) {
  if (!attempt.reduce->running_group || !attempt.reduce->running_group->key) return;
  const auto known = known_.find(*attempt.reduce->running_group->key);
  if (known == known_.end() || attempt.reduce->finished_explicit.contains(known->first)) return;
  Change(known->second, -1, task.load);
  task.load.running =
      RunningExplicit{known->first, known->second.size_bytes, known->second.feature,
                      known->second.slack_bytes < kMissingTolerance * known->second.size_bytes};
}

// Profiles of this task were lost. An explicit key that was not reported may have finished among
// the bytes that were not told, or it is among those that are left: as likely as there are bytes,
// unless it is too large for one of the two.
void RemainingGroups::GuessLoad(const model::JobRecord& state, const model::TaskAttempt& attempt,
                                double untold_bytes, std::size_t index) {
  Task& task = tasks_[index];
  const std::optional<RunningExplicit> running = task.load.running;
  const double left_bytes = std::max(0.0, static_cast<double>(state.reduce_input_bytes(index)) -
                                              static_cast<double>(attempt.bytes_done) -
                                              (running ? running->size_bytes : 0));
  const double likely = left_bytes > 0 ? left_bytes / (left_bytes + untold_bytes) : 0;
  task.load = {.running = running};
  for (const ExplicitKey& key : state.keys.partition(index).explicit_keys) {
    if (attempt.reduce->finished_explicit.contains(key.key)) continue;
    if (running && running->key == key.key) continue;
    const KnownKey& known = known_[key.key];
    const bool may_be_over = known.size_bytes < untold_bytes;
    const bool may_be_left = known.size_bytes < left_bytes;
    const bool is_left = may_be_left || left_bytes > untold_bytes;
    const double weight = may_be_over && may_be_left ? likely : is_left ? 1 : 0;
    if (weight <= 0) continue;
    Change(known, weight, task.load);
    if (task.load.heaviest.size_bytes == 0) task.load.heaviest = key;
  }
  task.is_guessed = true;
}

// Of a key that n of m map tasks named, with profiles of M - m more missing. Those who named it
// first apart, n - 1 of m - 1 did, so (M - m) (n - 1) / (m - 1) of the missing ones will have; what
// is then missing of all explicit bytes is keys like it that were not named.
double RemainingGroups::SizeFactor(const model::JobRecord& state, KeyHash key, double factor) {
  const auto profiles = static_cast<double>(state.keys.profile_count());
  const auto named = static_cast<double>(state.keys.MapTasksNaming(key));
  if (factor <= 1 || profiles < 2 || named < 1) return factor;
  return 1 + (factor - 1) * profiles / named * (named - 1) / (profiles - 1);
}

void RemainingGroups::Expect(const model::JobRecord& state) {
  known_.clear();
  mean_slack_bytes_ = 0;
  const auto& sample = state.keys.sample().keys();
  const double factor = state.missing_profiles_factor();
  if (profile_count_ > 0 && slack_part_ == 0) slack_part_ = kSlackPartExpected;
  for (std::size_t i = 0; i < tasks_.size(); ++i) {
    for (const ExplicitKey& key : state.keys.partition(i).explicit_keys) {
      const double of_size = SizeFactor(state, key.key, factor);
      double bytes = of_size * static_cast<double>(key.size_bytes);
      double slack = factor * state.keys.SlackBytes(key.key);
      if (const auto sampled = sample.find(key.key); factor == 1 && sampled != sample.end()) {
        bytes = static_cast<double>(sampled->second.size_bytes);
        slack = 0;
      }
      const double expected = bytes + slack_part_ * slack;
      known_[key.key] = {bytes, slack, expected,
                         FeatureOf(feature_, expected, TraitsOf(state.keys, key.key)),
                         factor / of_size};
      mean_slack_bytes_ += slack;
    }
  }
  if (!known_.empty()) mean_slack_bytes_ /= static_cast<double>(known_.size());
}

// From finished keys, which may have been unlike those to come, and from sampled ones that are
// left.
double RemainingGroups::SlackPart(const SampledGroups& sampled) const {
  const double learnt = (slack_used_ + kPriorCount * mean_slack_bytes_ * kSlackPartExpected) /
                        (slack_seen_ + kPriorCount * mean_slack_bytes_);
  double used = 0;
  double seen = 0;
  for (const SampledGroup& group : sampled.explicit_groups()) {
    used += std::clamp(group.size_bytes - group.explicit_bytes, 0.0, group.slack_bytes);
    seen += group.slack_bytes;
  }
  const double prior = kPriorCount * mean_slack_bytes_;
  return seen > 0 ? (used + prior * learnt) / (seen + prior) : learnt;
}

void RemainingGroups::LearnFrom(const SampledGroups& sampled) {
  sampled_ratios_ = {};
  for (const SampledGroup& group : sampled.explicit_groups()) {
    const double expected = std::max(1.0, group.explicit_bytes + slack_part_ * group.slack_bytes);
    Ratio& ratio = sampled_ratios_[FeatureBin(expected)];
    ratio.sum += std::clamp(group.size_bytes / expected, 1 / kRatioMax, kRatioMax);
    ratio.count += 1;
  }
}

void RemainingGroups::Update(const model::JobRecord& state, CostFeature feature,
                             const SampledGroups& sampled) {
  // Expected sizes move with what is learnt about slacks; they are made anew when it is worth it.
  const double part = SlackPart(sampled);
  const bool moved = std::isfinite(part) && std::abs(part - slack_part_) > kChangeTolerance;
  const bool new_profiles =
      profile_count_ != state.keys.profile_count() || feature_ != feature || moved;
  if (std::isfinite(part)) slack_part_ = part;
  feature_ = feature;
  profile_count_ = state.keys.profile_count();
  tasks_.resize(state.reduce_tasks().size());
  if (new_profiles) Expect(state);
  LearnFrom(sampled);
  const bool has_losses = LostShare(state) > 0;
  for (std::size_t i = 0; i < tasks_.size(); ++i) {
    if (state.reduce_tasks()[i].is_finished()) continue;
    Task& task = tasks_[i];
    const model::TaskAttempt* attempt = state.reduce_tasks()[i].leading_attempt();
    std::uint32_t number = 0;
    for (const auto& [n, a] : state.reduce_tasks()[i].attempts) {
      if (&a == attempt) number = n.second;
    }
    if (new_profiles || task.is_guessed || task.has_attempt != (attempt != nullptr) ||
        (attempt != nullptr && task.attempt != number)) {
      if (!new_profiles && !task.is_guessed) task.learnt = 0;
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
      const double untold = done - attempt->reduce->told_bytes;
      if (has_losses && untold > kMissingTolerance * done) GuessLoad(state, *attempt, untold, i);
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
  // Of a product nothing is known but its factors, which may be short each.
  if (feature_ != CostFeature::kBytes || bin.count <= 0) return 1;
  return SizeCorrection(bin.bytes / bin.count);
}

double RemainingGroups::SizeCorrection(double size_bytes) const {
  const std::uint32_t bin = FeatureBin(size_bytes);
  const auto around = [bin](const Ratios& ratios) {
    const std::uint32_t first = bin < kCorrectionReach ? 0 : bin - kCorrectionReach;
    const std::uint32_t last = std::min(bin + kCorrectionReach, streaming::kSizeBins - 1);
    Ratio sum = ratios[bin];
    for (std::uint32_t b = first; b <= last; ++b) {
      if (b == bin) continue;
      sum.sum += kCorrectionNeighbour * ratios[b].sum;
      sum.count += kCorrectionNeighbour * ratios[b].count;
    }
    return sum;
  };
  const Ratio finished = around(ratios_);
  const Ratio sampled = around(sampled_ratios_);
  const double prior = kPriorCount * newest_weight_;
  const double learnt = (prior + finished.sum) / (prior + finished.count);
  return (kPriorCount * learnt + sampled.sum) / (kPriorCount + sampled.count);
}

}  // namespace tidemark::cost
