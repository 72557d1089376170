#include "agent/reduce_recorder.h"

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
                           .sampled_below = shared_->settings.sampled_below(),
                           .sampled_below_per_byte = shared_->settings.sampled_below_per_byte()};
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
  // Sorts by size. Groups of equal size have equal durations within a burst, so they become one
  // point, and there are far fewer sizes than key groups.
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
  SendHeartbeat();  // Reports the total input.
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
  // Reads the ring before the totals, so that the totals include every point.
  Collect();
  const ReduceTotals totals = meter_->totals.Read();
  const ClockReading now = shared_->clock.Now();
  ReduceProfile profile = Totals(totals, now);
  if (!shared_->settings.paused()) AddDetails(profile, now);
  for (ReduceProfile& part : SplitProfile(std::move(profile), shared_->event_bytes_max())) {
    shared_->outbox.Add(std::move(part), now.monotonic_nanos, lost_points_);
  }
}

namespace {

// The ring must hold several bursts.
constexpr std::uint32_t kBurstGroupsMax = GroupRing::kCapacity / 8;

constexpr std::uint64_t kNever = ~std::uint64_t{0};

}  // namespace

ReduceRecorder::ReduceRecorder(TaskAttempt attempt, std::shared_ptr<Shared> shared)
    : shared_(std::move(shared)),
      meter_(std::make_shared<ReduceMeter>()),
      attempt_{kReduceStage, attempt.index, attempt.attempt},
      reporter_(std::make_shared<ReduceReporter>(attempt_, shared_, meter_)) {
  shared_->inbox.Push(StartReports{reporter_});
}

void ReduceRecorder::InputFetched(std::uint64_t bytes) {
  if (stage_ != Stage::kShuffling) return;
  meter_->bytes_fetched.fetch_add(bytes, std::memory_order_relaxed);
}

void ReduceRecorder::Shuffled() {
  if (stage_ != Stage::kShuffling) return;
  stage_ = Stage::kBetweenGroups;
  meter_->thread.store(ThisThread(), std::memory_order_relaxed);
  Guarded(*shared_, [this] {
    AttemptChanged changed;
    changed.attempt = attempt_;
    changed.state = AttemptState::kShuffled;
    changed.at = shared_->clock.Now().wall;
    shared_->inbox.Push(StartProfiles{reporter_});
    shared_->Enqueue(std::move(changed));
  });
  unit_start_nanos_ = shared_->clock.Nanos();
}

void ReduceRecorder::BeginGroup(std::string_view key) {
  if (stage_ != Stage::kBetweenGroups) return;
  stage_ = Stage::kInGroup;
  large_ = false;
  large_from_bytes_ = quick_.TimedAloneFrom(shared_->settings.burst_threshold_bytes());
  key_ = streaming::HashKey(key);
  meter_->running.Begin(key_, unit_start_nanos_);
}

void ReduceRecorder::ValueRead(std::uint64_t bytes) {
  if (stage_ != Stage::kInGroup) return;
  meter_->running.AddRead(bytes);
  if (meter_->running.bytes_read() >= large_from_bytes_) [[unlikely]] {
    TurnLarge();
  }
}

void ReduceRecorder::BytesEmitted(std::uint64_t bytes) {
  if (stage_ == Stage::kInGroup) meter_->running.AddEmitted(bytes);
}

void ReduceRecorder::TurnLarge() {
  large_from_bytes_ = kNever;
  if (unit_groups_ > 0) {
    CloseUnit();
    meter_->running.MoveStart(unit_start_nanos_);
  }
  large_ = true;
}

void ReduceRecorder::EndGroup() {
  if (stage_ != Stage::kInGroup) return;
  stage_ = Stage::kBetweenGroups;
  const std::uint64_t size_bytes = meter_->running.bytes_read();
  // if the threshold is 0 and the group has no values
  if (size_bytes >= large_from_bytes_) TurnLarge();
  meter_->running.End();
  meter_->ring.Write(key_, size_bytes, meter_->running.bytes_emitted());
  ++unit_groups_;
  unit_bytes_ += size_bytes;
  const std::uint32_t groups_max = std::min(shared_->settings.burst_groups_max(), kBurstGroupsMax);
  if (large_ || unit_groups_ >= groups_max || meter_->close_burst.load(std::memory_order_relaxed)) {
    CloseUnit();
  }
}

void ReduceRecorder::CloseUnit() {
  const std::int64_t now = shared_->clock.Nanos();
  const std::int64_t nanos = std::max<std::int64_t>(0, now - unit_start_nanos_);
  if (large_ && unit_groups_ == 1) {
    quick_.OnTimedAlone(unit_bytes_, nanos);
  } else {
    quick_.OnTimedTogether(unit_groups_, nanos);
  }
  totals_.groups_done += unit_groups_;
  totals_.bytes_done += unit_bytes_;
  totals_.nanos += nanos;
  totals_.last_end_nanos = now;
  if (!meter_->ring.unit_fits()) totals_.dropped_points += unit_groups_;
  // Written in this order so that a reader that sees a point finds its group in the totals.
  meter_->totals.Write(totals_);
  meter_->ring.Publish(nanos);
  meter_->close_burst.store(false, std::memory_order_relaxed);
  if (meter_->ring.ShouldWakeConsumer()) shared_->inbox.Wake();
  unit_groups_ = 0;
  unit_bytes_ = 0;
  unit_start_nanos_ = now;
}

void ReduceRecorder::Finish() {
  if (stage_ == Stage::kFinished) return;
  if (stage_ == Stage::kInGroup) meter_->running.End();  // The key group will never end.
  if (unit_groups_ > 0) CloseUnit();
  stage_ = Stage::kFinished;
  Guarded(*shared_, [this] { shared_->inbox.Push(EndReports{reporter_}); });
}

}  // namespace tidemark::agent
