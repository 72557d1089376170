#include "agent/reduce_reporter.h"

#include <algorithm>
#include <utility>

#include "agent/monotonic.h"
#include "agent/profiles.h"
#include "streaming/bursting.h"

namespace tidemark::agent {

ReduceReporter::ReduceReporter(AttemptId attempt, std::shared_ptr<Shared> shared,
                               std::shared_ptr<ReduceMeter> meter)
    : attempt_(attempt),
      shared_(std::move(shared)),
      meter_(std::move(meter)),
      processor_(shared_->clock),
      points_({.points_max = shared_->points_max()}),
      names_(shared_->names_max()) {}

void ReduceReporter::Collect() {
  const NamedGroups wanted{.bytes_min = shared_->settings.named_group_bytes_min(),
                           .sampled_below = shared_->settings.sampled_below()};
  meter_->ring.Drain([&](const FinishedGroup& group) {
    const bool ends_unit = group.nanos != FinishedGroup::kTimedWithNext;
    const bool timed_alone = ends_unit && unit_groups_.empty();
    names_.Add(
        {group.key, group.size_bytes,
         timed_alone ? absl::Nanoseconds(group.nanos) : absl::ZeroDuration(), group.emitted_bytes},
        wanted);
    unit_groups_.push_back({group.size_bytes, group.emitted_bytes});
    if (ends_unit) AddUnit(absl::Nanoseconds(group.nanos));
  });
}

void ReduceReporter::AddUnit(absl::Duration time) {
  // Sorts by size. Groups of one size have one duration within a burst, so they become one point,
  // and there are far fewer sizes than key groups.
  std::sort(unit_groups_.begin(), unit_groups_.end(),
            [](const UnitGroup& a, const UnitGroup& b) { return a.size_bytes < b.size_bytes; });
  unit_sizes_.clear();
  for (const UnitGroup& group : unit_groups_) unit_sizes_.push_back(group.size_bytes);
  GroupPoint merged;
  std::uint64_t emitted_bytes = 0;
  auto group = unit_groups_.begin();
  for (const GroupPoint& point : streaming::SplitBurst(unit_sizes_, time)) {
    if (merged.count > 0 && merged.size_bytes != point.size_bytes) {
      AddPoint(std::exchange(merged, GroupPoint{}), std::exchange(emitted_bytes, 0));
    }
    merged = {point.size_bytes, merged.count + point.count, merged.total_time + point.total_time};
    for (std::uint64_t i = 0; i < point.count; ++i, ++group) emitted_bytes += group->emitted_bytes;
  }
  AddPoint(merged, emitted_bytes);
  unit_groups_.clear();
}

void ReduceReporter::AddPoint(const GroupPoint& point, std::uint64_t emitted_bytes) {
  if (shared_->settings.send_points()) points_.Add(point);
  bins_.Add(point.size_bytes, point.count, point.total_time, emitted_bytes);
}

void ReduceReporter::BeginProfiles() {
  SendHeartbeat();  // reports the total input
  profiles_ = true;
  if (!processor_.Turn(meter_->thread.load(std::memory_order_relaxed), shared_->clock)) {
    in_shuffle_ = processor_.Read(shared_->clock.Nanos()).value_or(ProcessorUse{});
  }
}

std::optional<ProcessorUse> ReduceReporter::UseSinceShuffle(std::int64_t now_nanos) {
  std::optional<ProcessorUse> use = processor_.Read(now_nanos);
  if (!use) return std::nullopt;
  use->watched -= in_shuffle_.watched;
  if (use->watched <= absl::ZeroDuration()) return std::nullopt;
  use->waited = std::clamp(use->waited - in_shuffle_.waited, absl::ZeroDuration(), use->watched);
  return use;
}

void ReduceReporter::Report() {
  meter_->close_burst.store(true, std::memory_order_relaxed);
  if (shared_->outbox.congested()) return;
  if (profiles_) {
    SendProfile();
  } else {
    SendHeartbeat();
  }
}

void ReduceReporter::ReportLast() {
  if (!profiles_) return SendHeartbeat();
  Collect();
  if (shared_->settings.paused()) {
    // Data held back by the pause would be lost, since no later profile follows.
    std::uint64_t groups = 0;
    for (const GroupBin& bin : bins_.bins()) groups += bin.count;
    lost_points_->fetch_add(groups, std::memory_order_relaxed);
    shared_->points_dropped.fetch_add(groups, std::memory_order_relaxed);
    points_.Take();
    bins_.Clear();
  }
  SendProfile();
}

void ReduceReporter::SendHeartbeat() {
  TaskHeartbeat heartbeat;
  heartbeat.attempt = attempt_;
  heartbeat.bytes_done = meter_->bytes_fetched.load(std::memory_order_relaxed);
  const std::int64_t now_nanos = shared_->clock.Nanos();
  heartbeat.time = processor_.ReadTimes(now_nanos);
  shared_->outbox.Add(heartbeat, now_nanos);
}

ReduceProfile ReduceReporter::Totals(const ReduceTotals& totals, const ClockReading& now) {
  shared_->points_dropped.fetch_add(totals.dropped_points - ring_drops_seen_,
                                    std::memory_order_relaxed);
  ring_drops_seen_ = totals.dropped_points;
  ReduceProfile profile;
  profile.attempt = attempt_;
  if (totals.groups_done > 0) profile.last_group_finished_at = now.ToWall(totals.last_end_nanos);
  profile.groups_done = totals.groups_done;
  profile.bytes_done = totals.bytes_done;
  profile.reduce_time = absl::Nanoseconds(totals.nanos);
  // Several parts of one profile may have lost the same key groups.
  profile.dropped_points = std::min(
      totals.dropped_points + lost_points_->load(std::memory_order_relaxed), totals.groups_done);
  profile.processor_use = UseSinceShuffle(now.monotonic_nanos);
  profile.time = processor_.ReadTimes(now.monotonic_nanos);
  return profile;
}

void ReduceReporter::AddDetails(ReduceProfile& profile, const ClockReading& now) {
  profile.points = points_.Take();
  profile.bins = bins_.bins();
  bins_.Clear();
  NamedKeys::Named named = names_.Take(shared_->settings.named_group_bytes_min());
  profile.keys_named = true;
  profile.named_group_bytes_min = named.bytes_min;
  profile.finished_keys = std::move(named.keys);
  if (const std::optional<GroupInProgress> group = meter_->running.Read()) {
    profile.running_group =
        RunningGroup{group->key, now.Since(group->start_nanos), group->bytes_read,
                     group->values_read, group->bytes_emitted};
  }
}

void ReduceReporter::SendProfile() {
  // Reads the ring before the totals, so that each point has its group in the totals.
  Collect();
  const ReduceTotals totals = meter_->totals.Read();
  const ClockReading now = shared_->clock.Now();
  ReduceProfile profile = Totals(totals, now);
  if (!shared_->settings.paused()) AddDetails(profile, now);
  for (ReduceProfile& part : SplitProfile(std::move(profile), shared_->event_bytes_max())) {
    shared_->outbox.Add(std::move(part), now.monotonic_nanos, lost_points_);
  }
}

}  // namespace tidemark::agent
