// The key groups that each reduce task has yet to finish, as far as they are known, by size.
//
// Explicit ones stand one by one in the key distribution; here they are sums over bins of like
// sizes, from which the time of thousands of them follows in a few operations (group_times.h). All
// others are a number of bytes.
//
// Kept up to date from the evidence that is new since the last update: cost O(new finished keys),
// plus O(map tasks), and O(explicit keys) when map profiles came in or were lost, more reduce tasks
// were heard of, another attempt leads or expected sizes have moved. Memory: O(explicit keys + map
// tasks). Source: docs/references.md [TM]. Not thread-safe.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "master/facts/job_record.h"
#include "master/forecast/durations/cost_feature.h"
#include "master/forecast/durations/sampled_groups.h"
#include "master/forecast/durations/slack_parts.h"
#include "streaming/size_histogram.h"

namespace tidemark::cost {

// Limits processor time: what rests on a figure is worked out anew when that has changed by more
// than this part.
inline constexpr double kChangeTolerance = 0.02;

// Key groups within one bin of streaming/size_histogram.h, by what the cost depends on: their
// moments around its centre.
struct BinLoad {
  std::uint32_t bin = 0;
  double count = 0;
  double bytes = 0;
  double log_sum = 0;         // of ln(feature / BinCentre(bin))
  double log_square_sum = 0;  // of its square

  void Add(double feature, double size_bytes, double sign);

  template <class Archive>
  void serialize(Archive& archive) {
    archive(bin, count, bytes, log_sum, log_square_sum);
  }
};

// Geometric middle of a bin, bytes.
double BinCentre(std::uint32_t bin);

struct RunningExplicit {
  KeyHash key{};
  double size_bytes = 0;
  double feature = 0;
  bool is_exact = false;  // every map task named it

  template <class Archive>
  void serialize(Archive& archive) {
    archive(key, size_bytes, feature, is_exact);
  }
};

struct TaskLoad {
  std::vector<BinLoad> explicit_bins;  // by bin; without the running group
  double explicit_bytes = 0;           // of them
  double explicit_count = 0;
  double implicit_bytes = 0;               // neither finished nor explicit; >= 0
  std::optional<RunningExplicit> running;  // the running group, when its key is explicit
  ExplicitKey heaviest;                    // left, the running one included; size 0: none

  template <class Archive>
  void serialize(Archive& archive) {
    archive(explicit_bins, explicit_bytes, explicit_count, implicit_bytes, running, heaviest);
  }
};

class RemainingGroups {
 public:
  // Follows `state`, with bins by `feature`; a change of it costs O(explicit keys). `sampled` is of
  // the same state.
  void Update(const model::JobRecord& state, CostFeature feature, const SampledGroups& sampled);
  std::size_t task_count() const { return tasks_.size(); }
  // Of an unfinished task.
  const TaskLoad& task(std::size_t index) const { return tasks_[index].load; }
  // True over known size of finished explicit keys around that size: the summaries count a key only
  // where it was among the heaviest, so what they know is a lower bound.
  double SizeCorrection(double size_bytes) const;
  // What the bins of TaskLoad are to be corrected by.
  double BinCorrection(const BinLoad& bin) const;
  // The bin with sizes as far apart as they may turn out to be, of the same mean: what grows faster
  // than its size costs more than at its expected size.
  BinLoad Spread(const BinLoad& bin) const;
  // For checkpoints (master/facts/checkpoint.h).
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
    std::size_t learnt = 0;    // of these, those that Learn() has seen
    std::size_t retired = 0;   // finished explicit groups of the attempt taken out so far
    std::size_t heaviest = 0;  // index into the explicit keys of the partition
    bool is_guessed = false;   // as profiles were lost: made anew at every update

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

  void Rebuild(const model::JobRecord& state, std::size_t index);
  void Retire(const model::JobRecord& state, const model::TaskAttempt& attempt, std::size_t index);
  void GuessLoad(const model::JobRecord& state, const model::TaskAttempt& attempt,
                 double untold_bytes, std::size_t index);
  void SetRunning(const model::TaskAttempt& attempt, Task& task);
  struct KnownKey {
    double explicit_bytes = 0;  // what the map tasks named
    double slack_bytes = 0;     // what others may have had
    std::size_t map_task = 0;   // model::KeyDistribution::MainMapTask
    double size_bytes = 0;      // expected
    double feature = 0;
    double count = 1;  // it stands for so many like it, where profiles were lost

    template <class Archive>
    void serialize(Archive& archive) {
      archive(explicit_bytes, slack_bytes, map_task, size_bytes, feature, count);
    }
  };
  static double SizeFactor(const model::JobRecord& state, KeyHash key, double factor);
  void Know(const model::JobRecord& state);
  void Expect(const model::JobRecord& state);
  std::vector<double> PartsOf(const SampledGroups& sampled) const;
  bool HaveMoved(const std::vector<double>& parts) const;
  void LearnFrom(const SampledGroups& sampled);
  void Learn(const KnownKey& known, double true_bytes);
  static void Change(const KnownKey& key, double sign, TaskLoad& load);
  Ratio RatioAt(double size_bytes) const;

  std::size_t profile_count_ = 0;
  std::size_t profiles_missing_ = 0;
  std::vector<Task> tasks_;
  CostFeature feature_ = CostFeature::kBytes;
  absl::flat_hash_map<KeyHash, KnownKey> known_;  // explicit keys
  Ratios ratios_{};           // of finished keys, each with the weight that was new when it came
  double newest_weight_ = 1;  // of any unit: it grows, so that what came before counts ever less
  Ratios sampled_ratios_{};   // of sampled ones that are left
  SlackParts slack_parts_;
  // By map task: the parts that sizes are expected with, and the slack of its keys.
  std::vector<double> expected_parts_;
  std::vector<double> slack_bytes_;
};

}  // namespace tidemark::cost
