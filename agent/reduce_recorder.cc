#include "agent/reduce_recorder.h"

#include <algorithm>

#include "agent/monotonic.h"
#include "agent/processor_use.h"
#include "agent/reduce_reporter.h"
#include "agent/shared.h"
#include "streaming/key_sample.h"

namespace tidemark::agent {
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
  if (size_bytes >= large_from_bytes_) TurnLarge();  // if the threshold is 0 without values
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
  // Written in this order, so that a reader that sees a point finds its group in the totals.
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
  if (stage_ == Stage::kInGroup) meter_->running.End();  // the key group will never end
  if (unit_groups_ > 0) CloseUnit();
  stage_ = Stage::kFinished;
  Guarded(*shared_, [this] { shared_->inbox.Push(EndReports{reporter_}); });
}

}  // namespace tidemark::agent
