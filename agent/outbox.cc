#include "agent/outbox.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>
#include <variant>

#include "proto/wire/encode_event.h"

namespace tidemark::agent {
namespace {

// A batch is complete when its events take this much memory. The value is a quarter of gRPC's
// default limit, since events are at most a quarter larger on the wire.
constexpr std::size_t kBatchBytesMax = std::size_t{1} << 20;
constexpr std::size_t kBatchEventsMax = 10'000;  // ingest_service.proto
// The maximum size of an encoded event. A larger event could exceed the master's message limit,
// which would break every stream at the same event.
constexpr std::size_t kEventBytesMax = std::size_t{3} << 20;

// Points and bins describe the same key groups, but a part of a profile may contain only one of the
// two.
std::uint64_t GroupsIn(const v1::Event& event) {
  const auto sum = [](const auto& counts) {
    return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
  };
  return std::max(sum(event.reduce_profile().bin_counts()),
                  sum(event.reduce_profile().point_counts()));
}

}  // namespace

Outbox::Outbox(std::string source_id, std::string job_id, std::string run_uid,
               std::size_t bytes_max)
    : source_id_(std::move(source_id)),
      job_id_(std::move(job_id)),
      run_uid_(std::move(run_uid)),
      bytes_max_(bytes_max) {}

void Outbox::Add(EventBody body, std::int64_t made_at_nanos,
                 std::shared_ptr<std::atomic<std::uint64_t>> lost_points) {
  const Importance importance = ImportanceOf(body);
  Item item;
  wire::EncodeBody(body, item.event);
  item.bytes = sizeof(Item) + item.event.SpaceUsedLong();
  item.made_at_nanos = made_at_nanos;
  item.lost_points = std::move(lost_points);
  if (const auto* profile = std::get_if<ReduceProfile>(&body); profile && profile->running_group) {
    item.running_elapsed = profile->running_group->elapsed;
  }

  const std::lock_guard lock(mutex_);
  item.ordinal = ++newest_;
  const bool fits = item.bytes <= kEventBytesMax || item.event.ByteSizeLong() <= kEventBytesMax;
  if (!fits || !MakeRoom(item.bytes, importance)) {
    CountLoss(item);
    return;
  }
  waiting_bytes_ += item.bytes;
  waiting_[static_cast<std::size_t>(importance)].push_back(std::move(item));
}

void Outbox::CountDropped() {
  const std::lock_guard lock(mutex_);
  ++counts_.dropped;
}

void Outbox::CountUnsentAsDropped() {
  const std::lock_guard lock(mutex_);
  for (const Lane& lane : waiting_) {
    for (const Item& item : lane) CountLoss(item);
  }
}

bool Outbox::MakeRoom(std::size_t bytes, Importance importance) {
  const auto full = [&] { return waiting_bytes_ + unacknowledged_bytes_ + bytes > bytes_max_; };
  if (!full()) return true;
  // No event is dropped if the new event would still not fit.
  std::size_t staying_bytes = unacknowledged_bytes_ + bytes;
  for (std::size_t rank = static_cast<std::size_t>(importance) + 1; rank < waiting_.size();
       ++rank) {
    for (const Item& item : waiting_[rank]) staying_bytes += item.bytes;
  }
  if (staying_bytes > bytes_max_) return false;
  for (std::size_t rank = 0; rank <= static_cast<std::size_t>(importance); ++rank) {
    while (full() && !waiting_[rank].empty()) DropFrom(waiting_[rank]);
  }
  return true;
}

void Outbox::DropFrom(Lane& lane) {
  waiting_bytes_ -= lane.front().bytes;
  CountLoss(lane.front());
  lane.pop_front();
}

void Outbox::CountLoss(const Item& item) {
  const std::uint64_t points = GroupsIn(item.event);
  ++counts_.dropped;
  counts_.points_dropped += points;
  if (item.lost_points != nullptr) {
    item.lost_points->fetch_add(points, std::memory_order_relaxed);
  }
  settled_.notify_all();
}

Outbox::Lane* Outbox::OldestLane() {
  Lane* oldest = nullptr;
  for (Lane& lane : waiting_) {
    if (lane.empty()) continue;
    if (oldest == nullptr || lane.front().ordinal < oldest->front().ordinal) oldest = &lane;
  }
  return oldest;
}

const Outbox::Item* Outbox::NextUnsent() {
  const auto repeat = std::upper_bound(
      unacknowledged_.begin(), unacknowledged_.end(), handed_,
      [](std::uint64_t handed, const Item& item) { return handed < item.sequence; });
  if (repeat != unacknowledged_.end()) return &*repeat;
  if (!unacknowledged_.empty() && unacknowledged_bytes_ >= bytes_max_ / 2) return nullptr;
  const Lane* const lane = OldestLane();
  return lane == nullptr ? nullptr : &lane->front();
}

const Outbox::Item& Outbox::Number(const Item& item) {
  if (item.sequence > 0) return item;  // The event is being resent.
  Lane* const lane = OldestLane();
  unacknowledged_.push_back(std::move(lane->front()));
  lane->pop_front();
  Item& numbered = unacknowledged_.back();
  waiting_bytes_ -= numbered.bytes;
  unacknowledged_bytes_ += numbered.bytes;
  numbered.sequence = ++sequence_;
  ++counts_.sent;
  return numbered;
}

std::shared_ptr<v1::StreamEventsRequest> Outbox::NewBatch(const Item& first,
                                                          const ClockReading& now) {
  auto batch = std::make_shared<v1::StreamEventsRequest>();
  if (!std::exchange(is_source_open_, true)) {
    v1::Source& source = *batch->add_sources();
    source.set_source_id(source_id_);
    source.set_job_id(job_id_);
    source.set_run_uid(run_uid_);
    source.set_version("tidemark-agent");
  }
  batch->set_first_sequence(first.sequence);
  batch->set_sent_at(absl::ToUnixNanos(now.wall));
  batch->set_dropped_events(counts_.dropped);
  return batch;
}

std::shared_ptr<const v1::StreamEventsRequest> Outbox::Next(const ClockReading& now) {
  const std::lock_guard lock(mutex_);
  std::shared_ptr<v1::StreamEventsRequest> batch;
  std::size_t bytes = 0;
  while (const Item* const next = NextUnsent()) {
    // A rejected event leaves a gap in the numbers, which a batch cannot span.
    const std::uint64_t number = next->sequence > 0 ? next->sequence : sequence_ + 1;
    const bool follows = number == handed_ + 1;
    if (batch != nullptr && (!follows || bytes + next->bytes > kBatchBytesMax ||
                             static_cast<std::size_t>(batch->events_size()) == kBatchEventsMax)) {
      break;
    }
    const Item* const item = &Number(*next);
    if (batch == nullptr) batch = NewBatch(*item, now);
    v1::Event& event = *batch->add_events();
    event = item->event;
    if (item->running_elapsed) {
      // The value at the time of sending, so that sent_at - elapsed is the start of the call.
      event.mutable_reduce_profile()->mutable_running_group()->set_elapsed_nanos(
          static_cast<std::uint64_t>(absl::ToInt64Nanoseconds(std::max(
              *item->running_elapsed + now.Since(item->made_at_nanos), absl::ZeroDuration()))));
    }
    handed_ = item->sequence;
    bytes += item->bytes;
  }
  return batch;
}

void Outbox::Rewind() {
  const std::lock_guard lock(mutex_);
  handed_ = 0;
  is_source_open_ = false;
}

void Outbox::Settle(Lane::iterator first, Lane::iterator last) {
  for (auto item = first; item != last; ++item) unacknowledged_bytes_ -= item->bytes;
  unacknowledged_.erase(first, last);
  settled_.notify_all();
}

bool Outbox::Acknowledge(std::uint64_t sequence, std::uint64_t rejected) {
  const std::lock_guard lock(mutex_);
  if (sequence > sequence_) return false;
  const auto last = std::upper_bound(
      unacknowledged_.begin(), unacknowledged_.end(), sequence,
      [](std::uint64_t accepted, const Item& item) { return accepted < item.sequence; });
  const auto settled = static_cast<std::uint64_t>(last - unacknowledged_.begin());
  counts_.rejected += std::min(rejected, settled);
  counts_.acknowledged += settled - std::min(rejected, settled);
  Settle(unacknowledged_.begin(), last);
  return true;
}

bool Outbox::Reject(std::uint64_t sequence) {
  const std::lock_guard lock(mutex_);
  const auto item = std::lower_bound(
      unacknowledged_.begin(), unacknowledged_.end(), sequence,
      [](const Item& waiting, std::uint64_t refused) { return waiting.sequence < refused; });
  if (item == unacknowledged_.end() || item->sequence != sequence) return false;
  ++counts_.rejected;
  Settle(item, item + 1);
  return true;
}

bool Outbox::empty() const {
  const std::lock_guard lock(mutex_);
  return OldestOutstanding() == std::numeric_limits<Ordinal>::max();
}

bool Outbox::has_unacknowledged() const {
  const std::lock_guard lock(mutex_);
  return !unacknowledged_.empty();
}

bool Outbox::congested() const {
  const std::lock_guard lock(mutex_);
  return waiting_bytes_ > bytes_max_ / 4;
}

std::size_t Outbox::bytes() const {
  const std::lock_guard lock(mutex_);
  return waiting_bytes_ + unacknowledged_bytes_;
}

OutboxCounts Outbox::counts() const {
  const std::lock_guard lock(mutex_);
  return counts_;
}

Outbox::Ordinal Outbox::newest() const {
  const std::lock_guard lock(mutex_);
  return newest_;
}

Outbox::Ordinal Outbox::OldestOutstanding() const {
  Ordinal oldest = std::numeric_limits<Ordinal>::max();
  if (!unacknowledged_.empty()) oldest = unacknowledged_.front().ordinal;
  for (const Lane& lane : waiting_) {
    if (!lane.empty()) oldest = std::min(oldest, lane.front().ordinal);
  }
  return oldest;
}

std::optional<std::int64_t> Outbox::oldest_made_at_nanos() const {
  const std::lock_guard lock(mutex_);
  std::optional<std::int64_t> oldest;
  const auto consider = [&oldest](const Lane& lane) {
    if (lane.empty()) return;
    oldest = std::min(oldest.value_or(lane.front().made_at_nanos), lane.front().made_at_nanos);
  };
  consider(unacknowledged_);
  for (const Lane& lane : waiting_) consider(lane);
  return oldest;
}

bool Outbox::WaitUntilSettled(Ordinal newest, Instant deadline) {
  std::unique_lock lock(mutex_);
  return settled_.wait_until(lock, deadline, [&] { return OldestOutstanding() > newest; });
}

}  // namespace tidemark::agent
