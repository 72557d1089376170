// The engine's side of a reduce task: the hot path.
//
// After Shuffled(), time consists of units without gaps. A unit is one large key group or a burst
// of small key groups ([NF] section 6). It lasts from the end of the previous unit to its own end.
// A large key group therefore costs one clock reading, and a small group a hundredth of one. Work
// of the engine between two key groups (merging, reading) belongs to the later group.
//
// A key group becomes large when it crosses the burst threshold. The current burst ends at that
// moment, so that its small groups do not bear the later cost of the large group. Large groups that
// finish quickly count as small (QuickGroups).
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "agent/processor_use.h"
#include "agent/reduce_meter.h"
#include "agent/shared.h"
#include "streaming/key_sample.h"
#include "streaming/size_histogram.h"
#include "streaming/smoothed_points.h"
#include "tidemark/agent.h"
#include "tidemark/event.h"

namespace tidemark::agent {

// The finished key groups whose keys a reduce profile names: all groups of at least a certain size,
// and groups that the master sampled.
//
// The number of groups is bounded by `keys_max`. Beyond it, the smaller groups lose their names,
// and the size threshold rises until the next Take(). All groups above the threshold are still
// named. Adding a key takes amortised O(1) time. Sampled groups beyond `keys_max` are dropped.
class NamedKeys {
 public:
  explicit NamedKeys(std::size_t keys_max) : keys_max_(keys_max) {}

  // `wanted` is the current request of the master.
  void Add(const FinishedKey& key, const NamedGroups& wanted) {
    bytes_min_ = std::max(bytes_min_, wanted.bytes_min);
    const std::uint64_t rank = streaming::SampleRank(key.key);
    const bool is_sampled_by_size =
        key.size_bytes < bytes_min_ && key.size_bytes > 0 &&
        rank < streaming::RankLimit(wanted.sampled_below) &&
        streaming::RankPerByte(key.key, key.size_bytes) < wanted.sampled_below_per_byte;
    if (rank < wanted.sampled_below || is_sampled_by_size) {
      if (sampled_.size() < keys_max_) sampled_.push_back(key);
      return;
    }
    if (key.size_bytes < bytes_min_) return;
    keys_.push_back(key);
    if (keys_.size() >= 2 * keys_max_) DropSmallest();
  }

  struct Named {
    // Contains the sampled keys, then all other keys. Each part is in order of completion, unless
    // keys were dropped.
    std::vector<FinishedKey> keys;
    std::uint64_t bytes_min = 0;
  };

  // Returns the keys. They include every group of at least bytes_min since the last Take().
  Named Take(std::uint64_t bytes_min) {
    bytes_min_ = std::max(bytes_min_, bytes_min);
    if (keys_.size() > keys_max_) DropSmallest();
    std::erase_if(keys_, [&](const FinishedKey& key) { return key.size_bytes < bytes_min_; });
    std::vector<FinishedKey> named = std::exchange(sampled_, {});
    named.insert(named.end(), keys_.begin(), keys_.end());
    keys_.clear();
    return {std::move(named), std::exchange(bytes_min_, 0)};
  }

 private:
  void DropSmallest() {
    const auto heavier = [](const FinishedKey& a, const FinishedKey& b) {
      return a.size_bytes > b.size_bytes;
    };
    std::nth_element(keys_.begin(), keys_.begin() + static_cast<std::ptrdiff_t>(keys_max_),
                     keys_.end(), heavier);
    // Groups of equal size lose their names together, since a profile names all groups of at least
    // a certain size.
    bytes_min_ = keys_[keys_max_].size_bytes + 1;
    std::erase_if(keys_, [&](const FinishedKey& key) { return key.size_bytes < bytes_min_; });
  }

  const std::size_t keys_max_;
  std::vector<FinishedKey> keys_;
  std::vector<FinishedKey> sampled_;
  std::uint64_t bytes_min_ = 0;
};

// Converts the key groups of a reduce task to profiles: splits bursts, merges points, fills bins
// and keeps names. Merges instead of reporting while the outbox is congested, so an outage of the
// master costs accuracy of sizes and names, but no points.
class ReduceReporter final : public Reporter {
 public:
  // Called on the task's thread.
  ReduceReporter(AttemptId attempt, std::shared_ptr<Shared> shared,
                 std::shared_ptr<ReduceMeter> meter);

  void Collect() override;
  void BeginProfiles() override;
  void Report() override;
  void ReportLast() override;

 private:
  struct UnitGroup {
    std::uint64_t size_bytes = 0;
    std::uint64_t emitted_bytes = 0;
  };

  void AddUnit(absl::Duration time);
  void AddPoint(const GroupPoint& point, std::uint64_t emitted_bytes);
  ReduceProfile Totals(const ReduceTotals& totals, const ClockReading& now);
  void AddDetails(ReduceProfile& profile, const ClockReading& now);
  std::optional<ProcessorUse> UseSinceShuffle(std::int64_t now_nanos);
  void SendHeartbeat();
  void SendProfile();

  const AttemptId attempt_;
  const std::shared_ptr<Shared> shared_;
  const std::shared_ptr<ReduceMeter> meter_;
  bool profiles_ = false;
  std::uint64_t ring_drops_seen_ = 0;
  // Samples the thread that started the attempt. After profiles begin, samples the thread that
  // calls the reduce function.
  TaskWatch processor_;
  ProcessorUse in_shuffle_;  // result of `processor_` when profiles began

  std::vector<UnitGroup> unit_groups_;     // groups of the current unit
  std::vector<std::uint64_t> unit_sizes_;  // sizes of unit_groups_; the storage is reused
  streaming::SmoothedPoints points_;
  streaming::SizeHistogram bins_;
  NamedKeys names_;
  // Number of key groups in profiles that the outbox dropped.
  const std::shared_ptr<std::atomic<std::uint64_t>> lost_points_ =
      std::make_shared<std::atomic<std::uint64_t>>(0);
};

// Decides which key groups are timed in bursts because a clock reading per group would cost too
// much. If sixteen groups in a row take less than 10 us each when timed alone, groups of up to
// twice their size join bursts. The first burst that takes longer per group resets this limit.
// tests/vectors/reduce_units.json checks that this class and QuickGroups of the Java connectors
// form the same units.
//
// Not thread-safe. O(1).
class QuickGroups {
 public:
  // Returns the smallest size of key groups that are timed alone, given the burst threshold. With a
  // threshold of 0, all groups are timed alone.
  std::uint64_t TimedAloneFrom(std::uint64_t threshold_bytes) const {
    return threshold_bytes == 0 ? 0 : std::max(threshold_bytes, below_bytes_);
  }

  void OnTimedAlone(std::uint64_t size_bytes, std::int64_t nanos) {
    in_a_row_ = nanos < kQuickNanos ? in_a_row_ + 1 : 0;
    if (in_a_row_ < kInARow) return;
    below_bytes_ = std::max(below_bytes_, 2 * std::min(size_bytes, kSizeMaxBytes));
  }

  void OnTimedTogether(std::uint32_t groups, std::int64_t nanos) {
    in_a_row_ = 0;
    if (nanos >= kQuickNanos * groups) below_bytes_ = 0;
  }

 private:
  static constexpr std::int64_t kQuickNanos = 10'000;
  static constexpr std::uint32_t kInARow = 16;
  // For larger groups, the cost of a clock reading is negligible.
  static constexpr std::uint64_t kSizeMaxBytes = 2048;

  std::uint64_t below_bytes_ = 0;
  std::uint32_t in_a_row_ = 0;
};

class ReduceRecorder final : public ReduceTaskAgent {
 public:
  ReduceRecorder(TaskAttempt attempt, std::shared_ptr<Shared> shared);
  ~ReduceRecorder() override { Finish(); }

  void InputFetched(std::uint64_t bytes) override;
  void Shuffled() override;
  void BeginGroup(std::string_view key) override;
  void ValueRead(std::uint64_t bytes) override;
  void BytesEmitted(std::uint64_t bytes) override;
  void EndGroup() override;
  void Finish() override;

 private:
  enum class Stage : std::uint8_t { kShuffling, kBetweenGroups, kInGroup, kFinished };

  void TurnLarge();
  void CloseUnit();

  Stage stage_ = Stage::kShuffling;
  bool large_ = false;                  // the group in progress is large
  std::uint64_t large_from_bytes_ = 0;  // size at which the group in progress becomes large
  std::uint32_t unit_groups_ = 0;       // finished groups of the current unit
  std::uint64_t unit_bytes_ = 0;
  std::int64_t unit_start_nanos_ = 0;
  KeyHash key_{};
  ReduceTotals totals_;
  QuickGroups quick_;
  const std::shared_ptr<Shared> shared_;
  const std::shared_ptr<ReduceMeter> meter_;
  const AttemptId attempt_;
  const std::shared_ptr<Reporter> reporter_;
};

}  // namespace tidemark::agent
