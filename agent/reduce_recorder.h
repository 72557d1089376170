// The engine's side of a reduce task: the hot path.
//
// After Shuffled(), time consists of units without gaps. A unit is one large key group or a burst
// of small ones ([NF] section 6). It lasts from the end of the previous unit to its own end. A
// large key group therefore costs one clock reading, and a small group a hundredth of that. Work of
// the engine between two key groups (merging, reading) belongs to the later group.
//
// A key group becomes large when it crosses the burst threshold. The burst before it ends there, so
// that the small groups do not bear its later cost. Large groups that finish quickly count as small
// (QuickGroups).
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string_view>

#include "agent/inbox.h"
#include "agent/reduce_meter.h"
#include "agent/shared.h"
#include "tidemark/agent.h"

namespace tidemark::agent {

// Decides which key groups are timed in bursts because a clock reading per group would cost too
// much. If sixteen groups in a row take less than 10 us each when timed alone, groups of up to
// twice their size join bursts. The first burst that takes longer per group resets this limit.
// tests/vectors/reduce_units.json checks that this class and QuickGroups of the Java connectors
// form the same units.
//
// Not thread-safe. O(1).
class QuickGroups {
 public:
  // Returns the size from which key groups are timed alone, given the burst threshold. A threshold
  // of 0 selects all groups.
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
  std::uint64_t large_from_bytes_ = 0;  // the size at which it becomes large
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
