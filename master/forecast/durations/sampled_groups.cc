#include "master/forecast/durations/sampled_groups.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "master/forecast/durations/combined_estimates.h"
#include "master/forecast/durations/remaining_groups.h"
#include "streaming/key_sample.h"
#include "streaming/size_histogram.h"

namespace tidemark::durations {
namespace {

// Share of all bytes after which a finished group counts half. Ablation: -0.04, +0.05 (two-path
// cit-hepph).
constexpr double kSizeHalfLife = 0.1;

}  // namespace

void RecentSizes::Update(std::span<const GroupBin> finished, double bytes_left) {
  std::array<Bin, streaming::kSizeBins> fresh{};
  double new_bytes = 0;
  double all_bytes = bytes_left;
  for (const GroupBin& bin : finished) {
    fresh[bin.bin].count = static_cast<double>(bin.count);
    fresh[bin.bin].bytes = static_cast<double>(bin.size_bytes);
    all_bytes += fresh[bin.bin].bytes;
  }
  // Removes key groups that become explicit, down to zero.
  for (const GroupBin& bin : seen_) {
    Bin& at = fresh[bin.bin];
    at.count = std::max(0.0, at.count - static_cast<double>(bin.count));
    at.bytes = std::max(0.0, at.bytes - static_cast<double>(bin.size_bytes));
  }
  for (const Bin& bin : fresh) new_bytes += bin.bytes;
  const double keep = all_bytes > 0 ? std::exp2(-new_bytes / all_bytes / kSizeHalfLife) : 1;
  for (const Bin& bin : recent_) {
    fresh[bin.bin].count += keep * bin.count;
    fresh[bin.bin].bytes += keep * bin.bytes;
  }
  recent_.clear();
  for (std::uint32_t b = 0; b < streaming::kSizeBins; ++b) {
    if (fresh[b].count > 0) recent_.push_back({b, fresh[b].count, fresh[b].bytes});
  }
  seen_.assign(finished.begin(), finished.end());
}

namespace {

// Number of map tasks, beside the first, that are assumed to report a key of the sample by size. In
// a simulation on three graphs, 0.1 and 0.3 had errors of 0.75 and 2.0 % (two-path cit-hepph), and
// 1.6 and 1.5 % (triangle-count email-enron).
constexpr double kReportExpected = 0.2;

bool IsFinished(const facts::Task& task, const facts::TaskAttempt* leading, KeyHash key) {
  if (task.is_over()) return true;
  return leading != nullptr && (leading->reduce->finished_explicit.contains(key) ||
                                leading->reduce->finished_sampled.contains(key));
}

}  // namespace

void SampledGroups::Update(const facts::JobRecord& state) {
  explicit_.clear();
  implicit_.clear();
  const streaming::KeySample& sample = state.keys.sample();
  // A sum over only some of the map tasks is not exact.
  has_sample_ = sample.below() > 0 && state.map_profiles_missing == 0;
  if (!has_sample_) return;
  const std::span<const facts::Task> tasks = state.reduce_tasks();
  std::vector<const facts::TaskAttempt*> leading;
  for (const facts::Task& task : tasks) leading.push_back(task.leading_attempt());
  for (const auto& [key, sampled] : sample.keys()) {
    if (sampled.partition >= tasks.size() ||
        IsFinished(tasks[sampled.partition], leading[sampled.partition], key)) {
      continue;
    }
    const auto size = static_cast<double>(sampled.size_bytes);
    const auto known = static_cast<double>(state.keys.ExplicitBytes(key));
    if (known > 0) {
      // The size of a key in the sample by size is not exact.
      if (streaming::SampleRank(key) >= sample.below()) continue;
      explicit_.push_back(
          {key, size, known, state.keys.SlackBytes(key), state.keys.MainMapTask(key)});
    } else if (const double probability = sample.ProbabilityOf(key, sampled); probability > 0) {
      const double slack = sample.SlackBytes(key, sampled);
      const double other_reports = sampled.map_tasks - 1 + kReportExpected;
      const double other_tasks = static_cast<double>(sample.map_tasks()) - 1 + kReportExpected;
      implicit_.push_back({size, slack, slack * other_reports / other_tasks, probability});
    }
  }
}

std::vector<SampledGroups::Bin> SampledGroups::ImplicitBins(double implicit_bytes) const {
  double represented = 0;
  double known_bytes = 0;
  double likely_bytes = 0;
  for (const Implicit& group : implicit_) {
    represented += 1 / group.probability;
    known_bytes += group.size_bytes / group.probability;
    likely_bytes += group.likely_bytes / group.probability;
  }
  const double used =
      likely_bytes > 0 ? std::max(0.0, implicit_bytes - known_bytes) / likely_bytes : 0;
  std::array<Bin, streaming::kSizeBins> bins{};
  for (const Implicit& group : implicit_) {
    const double size = group.size_bytes + std::min(used * group.likely_bytes, group.slack_bytes);
    const double weight = static_cast<double>(implicit_.size()) / represented / group.probability;
    Bin& bin = bins[FeatureBin(size)];
    bin.sizes.count += weight;
    bin.sizes.bytes += weight * size;
    bin.square_sum += weight * weight * (1 - group.probability);
  }
  std::vector<Bin> used_bins;
  for (std::uint32_t b = 0; b < streaming::kSizeBins; ++b) {
    bins[b].sizes.bin = b;
    if (bins[b].sizes.count > 0) used_bins.push_back(bins[b]);
  }
  return used_bins;
}

double SampledGroups::ErrorPerByte(std::span<const Bin> bins, std::span<const double> seconds,
                                   double per_byte) {
  double variance = 0;
  double bytes = 0;
  for (std::size_t b = 0; b < bins.size(); ++b) {
    const double mean_bytes = bins[b].sizes.bytes / bins[b].sizes.count;
    const double off = seconds[b] - per_byte * mean_bytes;
    variance += bins[b].square_sum * off * off;
    bytes += bins[b].sizes.bytes;
  }
  return bytes > 0 ? std::sqrt(variance) / bytes : 0;
}

namespace {

// Prior estimate of the used share of a key's slack. Ablation: +0.15, +0.08 (two-path one-giant).
constexpr double kPartExpected = 0.5;

}  // namespace

void SlackParts::Use::Add(const Use& other, double weight) {
  used_bytes += weight * other.used_bytes;
  slack_bytes += weight * other.slack_bytes;
}

double SlackParts::Use::Part(double expected, double prior_bytes) const {
  const double bytes = slack_bytes + prior_bytes;
  return bytes > 0 ? (used_bytes + prior_bytes * expected) / bytes : expected;
}

void SlackParts::Learn(std::size_t map_task, double used_bytes, double slack_bytes, double weight) {
  if (map_task >= finished_.size()) finished_.resize(map_task + 1);
  finished_[map_task].Add({used_bytes, slack_bytes}, weight);
}

void SlackParts::ScaleDown(double by) {
  for (Use& use : finished_) use = {use.used_bytes / by, use.slack_bytes / by};
}

std::vector<double> SlackParts::Estimate(std::span<const SampledGroup> sampled,
                                         std::size_t map_tasks, double mean_slack_bytes,
                                         double newest_weight) const {
  std::vector<Use> left(map_tasks);
  Use all_left;
  for (const SampledGroup& group : sampled) {
    if (group.map_task >= map_tasks) continue;
    const Use use = {std::clamp(group.size_bytes - group.explicit_bytes, 0.0, group.slack_bytes),
                     group.slack_bytes};
    left[group.map_task].Add(use, 1);
    all_left.Add(use, 1);
  }
  std::vector<Use> finished = finished_;
  finished.resize(map_tasks);
  Use all_finished;
  for (Use& use : finished) {
    use = {use.used_bytes / newest_weight, use.slack_bytes / newest_weight};
    all_finished.Add(use, 1);
  }
  const double prior = kPriorCount * mean_slack_bytes;
  const double of_all = all_left.Part(all_finished.Part(kPartExpected, prior), prior);
  std::vector<double> parts;
  parts.reserve(map_tasks);
  for (std::size_t j = 0; j < map_tasks; ++j) {
    parts.push_back(left[j].Part(finished[j].Part(of_all, prior), prior));
  }
  return parts;
}

}  // namespace tidemark::durations
