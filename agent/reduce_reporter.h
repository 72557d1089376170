// Turns the key groups of a reduce task into its profiles: splits bursts, merges points, fills
// bins, keeps names. While the outbox is congested it goes on merging instead of reporting, so an
// outage of the master costs accuracy of sizes and names, not points.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "agent/named_keys.h"
#include "agent/processor_use.h"
#include "agent/reduce_meter.h"
#include "agent/reporter.h"
#include "agent/shared.h"
#include "streaming/bursting.h"
#include "streaming/size_histogram.h"
#include "streaming/smoothed_points.h"
#include "tidemark/event.h"

namespace tidemark::agent {

class ReduceReporter final : public Reporter {
 public:
  // On the task's thread.
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
  // Of the thread that began the attempt, or since profiles began of another one that reduces.
  TaskWatch processor_;
  ProcessorUse in_shuffle_;  // what `processor_` told when profiles began

  std::vector<UnitGroup> unit_groups_;  // of the unit being drained
  streaming::Burst burst_;              // splits its time
  streaming::SmoothedPoints points_;
  streaming::SizeHistogram bins_;
  NamedKeys names_;
  // Key groups whose points were in a profile that the outbox had to drop.
  const std::shared_ptr<std::atomic<std::uint64_t>> lost_points_ =
      std::make_shared<std::atomic<std::uint64_t>>(0);
};

}  // namespace tidemark::agent
