#include "agent/outbox.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "proto/wire/encode_event.h"
#include "proto/wire/message_time.h"

namespace tidemark::agent {
namespace {

std::uint64_t SequenceOf(const v1::StreamEventsRequest& request) {
  return request.envelope().sequence();
}

std::uint64_t PointsIn(const v1::Envelope& envelope) {
  std::uint64_t groups = 0;
  for (const std::uint64_t count : envelope.reduce_profile().point_counts()) groups += count;
  return groups;
}

absl::Duration ElapsedOf(const v1::RunningGroup& group) {
  return wire::ParseElapsed(group.elapsed(), "").value_or(absl::ZeroDuration());
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
  Event event;
  event.body = std::move(body);
  v1::Envelope envelope;
  wire::EncodeEvent(event, envelope);
  AddEncoded(std::move(envelope), importance, made_at_nanos, std::move(lost_points));
}

void Outbox::AddEncoded(v1::Envelope envelope, Importance importance, std::int64_t made_at_nanos,
                        std::shared_ptr<std::atomic<std::uint64_t>> lost_points) {
  envelope.set_source_id(source_id_);
  envelope.set_job_id(job_id_);
  envelope.set_run_uid(run_uid_);
  Item item;
  item.request = std::make_shared<v1::StreamEventsRequest>();
  *item.request->mutable_envelope() = std::move(envelope);
  item.bytes = sizeof(Item) + item.request->SpaceUsedLong();
  item.made_at_nanos = made_at_nanos;
  item.lost_points = std::move(lost_points);
  const v1::ReduceProfile& profile = item.request->envelope().reduce_profile();
  if (profile.has_running_group()) item.running_elapsed = ElapsedOf(profile.running_group());

  const std::lock_guard lock(mutex_);
  item.ordinal = ++newest_;
  if (!MakeRoom(item.bytes, importance)) {
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
  for (std::size_t rank = 0; rank <= static_cast<std::size_t>(importance); ++rank) {
    while (full() && !waiting_[rank].empty()) DropFrom(waiting_[rank]);
  }
  return !full();
}

void Outbox::DropFrom(Lane& lane) {
  waiting_bytes_ -= lane.front().bytes;
  CountLoss(lane.front());
  lane.pop_front();
}

void Outbox::CountLoss(const Item& item) {
  const std::uint64_t points = PointsIn(item.request->envelope());
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

Outbox::Item* Outbox::NextUnsent() {
  const auto repeat = std::upper_bound(
      unacknowledged_.begin(), unacknowledged_.end(), handed_,
      [](std::uint64_t handed, const Item& item) { return handed < SequenceOf(*item.request); });
  if (repeat != unacknowledged_.end()) return &*repeat;
  if (!unacknowledged_.empty() && unacknowledged_bytes_ >= bytes_max_ / 2) return nullptr;

  Lane* const lane = OldestLane();
  if (lane == nullptr) return nullptr;
  unacknowledged_.push_back(std::move(lane->front()));
  lane->pop_front();
  Item& item = unacknowledged_.back();
  waiting_bytes_ -= item.bytes;
  unacknowledged_bytes_ += item.bytes;
  item.request->mutable_envelope()->set_sequence(++sequence_);
  ++counts_.sent;
  return &item;
}

void Outbox::Stamp(Item& item, const ClockReading& now) {
  v1::Envelope& envelope = *item.request->mutable_envelope();
  wire::EncodeTime(now.wall, *envelope.mutable_sent_at());
  if (!item.running_elapsed) return;
  // elapsed is meant at sent_at, so that sent_at - elapsed stays the start of the call.
  wire::EncodeDuration(
      *item.running_elapsed + now.Since(item.made_at_nanos),
      *envelope.mutable_reduce_profile()->mutable_running_group()->mutable_elapsed());
}

std::shared_ptr<const v1::StreamEventsRequest> Outbox::Next(const ClockReading& now) {
  const std::lock_guard lock(mutex_);
  Item* const item = NextUnsent();
  if (item == nullptr) return nullptr;
  handed_ = SequenceOf(*item->request);
  item->request->mutable_envelope()->set_dropped_events(counts_.dropped);
  Stamp(*item, now);
  return item->request;
}

void Outbox::Rewind() {
  const std::lock_guard lock(mutex_);
  handed_ = 0;
}

void Outbox::Settle(Lane::iterator first, Lane::iterator last) {
  for (auto item = first; item != last; ++item) unacknowledged_bytes_ -= item->bytes;
  unacknowledged_.erase(first, last);
  settled_.notify_all();
}

bool Outbox::Acknowledge(std::uint64_t sequence) {
  const std::lock_guard lock(mutex_);
  if (sequence > sequence_) return false;
  const auto last = std::upper_bound(unacknowledged_.begin(), unacknowledged_.end(), sequence,
                                     [](std::uint64_t accepted, const Item& item) {
                                       return accepted < SequenceOf(*item.request);
                                     });
  counts_.acknowledged += static_cast<std::uint64_t>(last - unacknowledged_.begin());
  Settle(unacknowledged_.begin(), last);
  return true;
}

bool Outbox::Reject(std::uint64_t sequence) {
  const std::lock_guard lock(mutex_);
  const auto item = std::lower_bound(unacknowledged_.begin(), unacknowledged_.end(), sequence,
                                     [](const Item& waiting, std::uint64_t refused) {
                                       return SequenceOf(*waiting.request) < refused;
                                     });
  if (item == unacknowledged_.end() || SequenceOf(*item->request) != sequence) return false;
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
