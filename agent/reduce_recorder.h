// The engine's side of a reduce task: the hot path.
//
// Time is cut into units without gaps, from Shuffled() on: a unit is one large key group, or a
// burst of small ones ([NF] section 6). Its time runs from the end of the unit before to its own
// end, so a large key group costs one look at the clock and a small one a hundredth of a look. What
// the engine does between two key groups (merging, reading) belongs to the one that follows.
//
// A key group turns large when it crosses the burst threshold; the burst before it ends there, so
// that what the large one costs from then on is never charged to the small ones. Large ones that
// are over in no time count as small (agent/quick_groups.h).
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "agent/inbox.h"
#include "agent/quick_groups.h"
#include "agent/reduce_meter.h"
#include "agent/shared.h"
#include "tidemark/agent.h"

namespace tidemark::agent {

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
  bool large_ = false;                  // the group in progress
  std::uint64_t large_from_bytes_ = 0;  // where it turns large
  std::uint32_t unit_groups_ = 0;       // finished ones in the current unit
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
