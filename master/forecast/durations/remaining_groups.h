// The remaining key groups of each reduce task, by size or by another cost feature.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "master/facts/job_record.h"
#include "master/forecast/durations/sampled_groups.h"
#include "streaming/size_histogram.h"

namespace tidemark::durations {

// The features that the cost of a key group may depend on.
enum class CostFeature : std::uint8_t {
  kBytes,    // size
  kProduct,  // bytes of one input times the bytes of the other inputs, as in a join
  kValues,   // number of records
};
inline constexpr std::size_t kCostFeatures = 3;

// A value counts as this many bytes, since the bins of sizes resolve all integers from 9 on.
inline constexpr double kResolutionOfValues = 16;

// The known properties of a key in addition to its size.
struct KeyTraits {
  double first_input_share = 0;  // facts::KeyDistribution::FirstInputShare
  double values_per_byte = 0;    // facts::KeyDistribution::ValuesPerByte
};

// Returns the value of `feature` for a key group of `bytes` bytes; at least 1.
inline double FeatureOf(CostFeature feature, double bytes, const KeyTraits& key) {
  switch (feature) {
    case CostFeature::kBytes:
      break;
    case CostFeature::kProduct:
      return 1 + bytes * bytes * key.first_input_share * (1 - key.first_input_share);
    case CostFeature::kValues:
      return std::max(1.0, kResolutionOfValues * bytes * key.values_per_byte);
  }
  return std::max(1.0, bytes);
}

// Returns the bin of a value; features use the bins of sizes.
inline std::uint32_t FeatureBin(double value) {
  return streaming::SizeBin(static_cast<std::uint64_t>(std::clamp(value, 0.0, 9e18)));
}

// Limits processor time. Results that depend on a value are recomputed if the value has changed by
// more than this fraction.
inline constexpr double kChangeTolerance = 0.02;

// The key groups within one bin of streaming/size_histogram.h, and the moments of their cost
// feature around the centre of the bin.
struct BinLoad {
  std::uint32_t bin = 0;
  double count = 0;
  double bytes = 0;
  double log_sum = 0;         // sum of ln(feature / BinCentre(bin))
  double log_square_sum = 0;  // sum of squares of these logarithms

  void Add(double feature, double size_bytes, double sign);

  template <class Archive>
  void serialize(Archive& archive) {
    archive(bin, count, bytes, log_sum, log_square_sum);
  }
};

// Returns the geometric centre of a bin, in bytes.
double BinCentre(std::uint32_t bin);

struct RunningExplicit {
  KeyHash key{};
  double size_bytes = 0;
  double feature = 0;
  bool is_exact = false;  // whether every map task reported it

  template <class Archive>
  void serialize(Archive& archive) {
    archive(key, size_bytes, feature, is_exact);
  }
};

struct TaskLoad {
  std::vector<BinLoad> explicit_bins;  // by bin, without the running group
  double explicit_bytes = 0;           // bytes of `explicit_bins`
  double explicit_count = 0;
  double implicit_bytes = 0;  // bytes that are neither finished nor explicit; at least 0
  std::optional<RunningExplicit> running;  // the running group if its key is explicit
  ExplicitKey heaviest;  // heaviest of the remaining and running keys; size 0 if none

  template <class Archive>
  void serialize(Archive& archive) {
    archive(explicit_bins, explicit_bytes, explicit_count, implicit_bytes, running, heaviest);
  }
};

// The remaining key groups of each reduce task, by size.
//
// The key distribution contains every explicit key. This class keeps sums over bins of similar
// sizes, from which a few operations compute the time of thousands of groups (group_times.h). For
// implicit groups, only the total bytes are known.
//
// An update takes O(newly finished keys + map tasks) time, or O(explicit keys) after new or lost
// map profiles, new reduce tasks, another leading attempt, or a change of the size estimates.
// Memory: O(explicit keys + map tasks). Source: docs/internals/references.md [TM]. Not thread-safe.
class RemainingGroups {
 public:
  // Updates the groups to `state`, binned by `feature`. A change of the feature costs O(explicit
  // keys). REQUIRES: `sampled` has been updated to the same state.
  void Update(const facts::JobRecord& state, CostFeature feature, const SampledGroups& sampled);
  std::size_t task_count() const { return tasks_.size(); }
  // Returns the load of an unfinished task.
  const TaskLoad& task(std::size_t index) const { return tasks_[index].load; }
  // Returns the ratio of the true size to the known size of finished explicit keys around that
  // size. The summaries count a key only where it was among the heaviest keys, so the known size is
  // a lower bound.
  double SizeCorrection(double size_bytes) const;
  // Returns the correction of the sizes in a bin of TaskLoad.
  double BinCorrection(const BinLoad& bin) const;
  // Returns the bin with the scatter of the true sizes and the same mean. If a cost grows faster
  // than the size, the scatter raises the mean cost.
  BinLoad Spread(const BinLoad& bin) const;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(profile_count_, profiles_missing_, tasks_, feature_, known_, ratios_, newest_weight_,
            sampled_ratios_, slack_parts_, expected_parts_, slack_bytes_);
  }

 private:
  struct Task {
    TaskLoad load;
    std::uint32_t attempt = 0;
    bool has_attempt = false;
    std::size_t learnt = 0;    // number of groups that Learn() has processed
    std::size_t retired = 0;   // number of the attempt's finished groups that were removed
    std::size_t heaviest = 0;  // index into the explicit keys of the partition
    bool is_guessed = false;   // true if profiles were lost; each update then estimates the load

    template <class Archive>
    void serialize(Archive& archive) {
      archive(load, attempt, has_attempt, learnt, retired, heaviest, is_guessed);
    }
  };
  struct Ratio {
    double sum = 0;
    double square_sum = 0;
    double count = 0;

    void Add(double ratio, double weight);

    template <class Archive>
    void serialize(Archive& archive) {
      archive(sum, square_sum, count);
    }
  };
  using Ratios = std::array<Ratio, streaming::kSizeBins>;  // by bin

  void Rebuild(const facts::JobRecord& state, std::size_t index);
  void Retire(const facts::JobRecord& state, const facts::TaskAttempt& attempt, std::size_t index);
  void GuessLoad(const facts::JobRecord& state, const facts::TaskAttempt& attempt,
                 double unreported_bytes, std::size_t index);
  void SetRunning(const facts::TaskAttempt& attempt, Task& task);
  struct KeyEstimate {
    double explicit_bytes = 0;  // bytes that map tasks reported
    double slack_bytes = 0;     // upper bound of the unreported bytes
    std::size_t map_task = 0;   // facts::KeyDistribution::MainMapTask
    double size_bytes = 0;      // estimated size
    double feature = 0;
    double count = 1;  // number of similar keys that this key represents, if profiles were lost

    template <class Archive>
    void serialize(Archive& archive) {
      archive(explicit_bytes, slack_bytes, map_task, size_bytes, feature, count);
    }
  };
  static double SizeFactor(const facts::JobRecord& state, KeyHash key, double factor);
  void RebuildKnown(const facts::JobRecord& state);
  void UpdateSizes(const facts::JobRecord& state);
  std::vector<double> PartsOf(const SampledGroups& sampled) const;
  bool HaveChanged(const std::vector<double>& parts) const;
  void LearnFrom(const SampledGroups& sampled);
  void Learn(const KeyEstimate& known, double true_bytes);
  static void Change(const KeyEstimate& key, double sign, TaskLoad& load);
  Ratio RatioAt(double size_bytes) const;

  std::size_t profile_count_ = 0;
  std::size_t profiles_missing_ = 0;
  std::vector<Task> tasks_;
  CostFeature feature_ = CostFeature::kBytes;
  absl::flat_hash_map<KeyHash, KeyEstimate> known_;  // explicit keys
  Ratios ratios_{};                                  // ratios of finished keys, weighted by recency
  double newest_weight_ = 1;  // in arbitrary units; grows, so that older keys count less
  Ratios sampled_ratios_{};   // ratios of the remaining sampled keys
  SlackParts slack_parts_;
  // By map task, the used part of the slack in the size estimates, and the slack of the keys.
  std::vector<double> expected_parts_;
  std::vector<double> slack_bytes_;
};

}  // namespace tidemark::durations
