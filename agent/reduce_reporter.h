// Converts the key groups of a reduce task to profiles. It splits bursts, merges points, fills bins
// and keeps names. While the outbox is congested, it merges instead of reporting. An outage of the
// master therefore costs accuracy of sizes and names, not points.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "agent/inbox.h"
#include "agent/processor_use.h"
#include "agent/reduce_meter.h"
#include "agent/shared.h"
#include "streaming/key_sample.h"
#include "streaming/size_histogram.h"
#include "streaming/smoothed_points.h"
#include "tidemark/event.h"

namespace tidemark::agent {

// The finished key groups whose keys a reduce profile names. These are all groups of at least a
// certain size, and groups that the master sampled.
//
// The number is bounded. With more than `keys_max` groups, the smaller groups lose their names, and
// the size threshold rises until the next Take(). All groups above the threshold are still named.
// Amortised O(1) per key. Sampled groups beyond `keys_max` are dropped.
class NamedKeys {
 public:
  explicit NamedKeys(std::size_t keys_max) : keys_max_(keys_max) {}

  // `wanted` is the current request of the master.
  void Add(const FinishedKey& key, const NamedGroups& wanted) {
    bytes_min_ = std::max(bytes_min_, wanted.bytes_min);
    if (streaming::SampleRank(key.key) < wanted.sampled_below) {
      if (sampled_.size() < keys_max_) sampled_.push_back(key);
      return;
    }
    if (key.size_bytes < bytes_min_) return;
    keys_.push_back(key);
    if (keys_.size() >= 2 * keys_max_) DropSmallest();
  }

  struct Named {
    // Contains the sampled keys, then the others. Each part is in the order of completion, unless
    // keys were dropped.
    std::vector<FinishedKey> keys;
    std::uint64_t bytes_min = 0;
  };

  // Returns the keys, which include every group of at least bytes_min since the last Take().
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
    // Groups of one size lose their names together, since a profile names all groups from a certain
    // size.
    bytes_min_ = keys_[keys_max_].size_bytes + 1;
    std::erase_if(keys_, [&](const FinishedKey& key) { return key.size_bytes < bytes_min_; });
  }

  const std::size_t keys_max_;
  std::vector<FinishedKey> keys_;
  std::vector<FinishedKey> sampled_;
  std::uint64_t bytes_min_ = 0;
};

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
  // reduces.
  TaskWatch processor_;
  ProcessorUse in_shuffle_;  // the result of `processor_` when profiles began

  std::vector<UnitGroup> unit_groups_;     // groups of the current unit
  std::vector<std::uint64_t> unit_sizes_;  // sizes of unit_groups_; reused
  streaming::SmoothedPoints points_;
  streaming::SizeHistogram bins_;
  NamedKeys names_;
  // The number of key groups in profiles that the outbox dropped.
  const std::shared_ptr<std::atomic<std::uint64_t>> lost_points_ =
      std::make_shared<std::atomic<std::uint64_t>>(0);
};

}  // namespace tidemark::agent
