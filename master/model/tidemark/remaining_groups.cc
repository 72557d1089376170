#include "master/model/tidemark/remaining_groups.h"

#include <algorithm>
#include <cmath>

#include "master/model/reduce_schedule.h"

namespace tidemark::model {
namespace {

// How strongly a size correction is held to 1, and what neighbouring bins count.
constexpr double kCorrectionPrior = 3;
constexpr std::uint32_t kCorrectionReach = 3;
constexpr double kCorrectionNeighbour = 0.3;
// The part of its slack that a key is expected to have, so many keys' worth; and by how much it
// must have moved for sizes to be expected anew.
constexpr double kSlackPartExpected = 0.5;
constexpr double kSlackPrior = 3;
constexpr double kSlackPartStep = 0.02;
// Neighbouring keys are often alike, so what finished of late tells most: learning goes back about
// so many keys, and this part of all.
constexpr double kMemoryMin = 30;
constexpr double kMemoryPart = 0.05;
// One key group cannot say more than this.
constexpr double kRatioMax = 10;

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
  if (count < 0.5) *this = {.bin = bin};  // no rounding left behind
}

void RemainingGroups::Change(const KnownKey& key, double sign, TaskLoad& load) {
  const std::uint32_t bin = FeatureBin(key.feature);
  auto at = std::lower_bound(load.explicit_bins.begin(), load.explicit_bins.end(), bin,
                             [](const BinLoad& b, std::uint32_t index) { return b.bin < index; });
  if (at == load.explicit_bins.end() || at->bin != bin) {
    if (sign < 0) return;
    at = load.explicit_bins.insert(at, {.bin = bin});
  }
  at->Add(key.feature, key.size_bytes, sign);
  load.explicit_bytes = std::max(0.0, load.explicit_bytes + sign * key.size_bytes);
  load.explicit_count = std::max(0.0, load.explicit_count + sign);
}

void RemainingGroups::Rebuild(const JobState& state, std::size_t index) {
  Task& task = tasks_[index];
  task.load = {};
  task.retired = 0;
  task.heaviest = 0;
  for (const ExplicitKey& key : state.keys.partition(index).explicit_keys) {
    Change(known_[key.key], 1, task.load);
  }
}

void RemainingGroups::Retire(const JobState& state, const ReduceAttempt& attempt,
                             std::size_t index) {
  Task& task = tasks_[index];
  if (task.load.running) Change(known_[task.load.running->key], 1, task.load);
  task.load.running.reset();
  for (; task.retired < attempt.finished_explicit_groups.size(); ++task.retired) {
    const FinishedKey& finished = attempt.finished_explicit_groups[task.retired];
    const auto known = known_.find(finished.key);
    if (known == known_.end()) continue;
    Change(known->second, -1, task.load);
    if (task.retired < task.learnt) continue;
    Learn(known->second, static_cast<double>(finished.size_bytes));
    task.learnt = task.retired + 1;
  }
  const auto& keys = state.keys.partition(index).explicit_keys;
  while (task.heaviest < keys.size() &&
         attempt.finished_explicit.contains(keys[task.heaviest].key)) {
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
  ratio.sum += std::clamp(true_bytes / expected, 1 / kRatioMax, kRatioMax);
  ratio.count += 1;
  for (Ratio& of_bin : ratios_) {
    of_bin.sum *= keep;
    of_bin.count *= keep;
  }
}

void RemainingGroups::SetRunning(const ReduceAttempt& attempt, Task& task) {
  if (!attempt.running_group || !attempt.running_group->key) return;
  const auto known = known_.find(*attempt.running_group->key);
  if (known == known_.end() || attempt.finished_explicit.contains(known->first)) return;
  Change(known->second, -1, task.load);
  task.load.running =
      RunningExplicit{known->first, known->second.size_bytes, known->second.feature};
}

void RemainingGroups::Expect(const JobState& state) {
  known_.clear();
  mean_slack_bytes_ = 0;
  if (profile_count_ > 0 && slack_part_ == 0) slack_part_ = kSlackPartExpected;
  for (std::size_t i = 0; i < tasks_.size(); ++i) {
    for (const ExplicitKey& key : state.keys.partition(i).explicit_keys) {
      const auto bytes = static_cast<double>(key.size_bytes);
      const double slack = state.keys.SlackBytes(key.key);
      const double expected = bytes + slack_part_ * slack;
      known_[key.key] = {bytes, slack, expected,
                         FeatureOf(feature_, expected, state.keys.FirstInputShare(key.key))};
      mean_slack_bytes_ += slack;
    }
  }
  if (!known_.empty()) mean_slack_bytes_ /= static_cast<double>(known_.size());
}

void RemainingGroups::Update(const JobState& state, CostFeature feature) {
  // Expected sizes move with what is learnt about slacks; they are made anew when it is worth it.
  const double part = (slack_used_ + kSlackPrior * mean_slack_bytes_ * kSlackPartExpected) /
                      (slack_seen_ + kSlackPrior * mean_slack_bytes_);
  const bool moved = std::isfinite(part) && std::abs(part - slack_part_) > kSlackPartStep;
  const bool new_profiles =
      profile_count_ != state.keys.profile_count() || feature_ != feature || moved;
  if (std::isfinite(part)) slack_part_ = part;
  feature_ = feature;
  profile_count_ = state.keys.profile_count();
  tasks_.resize(state.reduce_tasks.size());
  if (new_profiles) {
    Expect(state);
  }
  for (std::size_t i = 0; i < tasks_.size(); ++i) {
    if (state.reduce_tasks[i].is_finished()) continue;
    Task& task = tasks_[i];
    const ReduceAttempt* attempt = LeadingAttempt(state.reduce_tasks[i]);
    std::uint32_t number = 0;
    for (const auto& [n, a] : state.reduce_tasks[i].attempts) {
      if (&a == attempt) number = n;
    }
    if (new_profiles || task.has_attempt != (attempt != nullptr) ||
        (attempt != nullptr && task.attempt != number)) {
      if (!new_profiles) task.learnt = 0;
      Rebuild(state, i);
      task.has_attempt = attempt != nullptr;
      task.attempt = number;
    }
    double done = 0;
    if (attempt != nullptr) {
      Retire(state, *attempt, i);
      SetRunning(*attempt, task);
      done = static_cast<double>(attempt->bytes_done);
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
  double sum = kCorrectionPrior + ratios_[bin].sum;
  double count = kCorrectionPrior + ratios_[bin].count;
  const std::uint32_t first = bin < kCorrectionReach ? 0 : bin - kCorrectionReach;
  const std::uint32_t last = std::min(bin + kCorrectionReach, streaming::kSizeBins - 1);
  for (std::uint32_t b = first; b <= last; ++b) {
    if (b == bin) continue;
    sum += kCorrectionNeighbour * ratios_[b].sum;
    count += kCorrectionNeighbour * ratios_[b].count;
  }
  return sum / count;
}

}  // namespace tidemark::model
