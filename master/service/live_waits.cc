#include "master/service/live_waits.h"

#include <optional>
#include <utility>
#include <vector>

#include "master/service/events_of_waits.h"

namespace tidemark::service {
namespace {

constexpr absl::Duration kAdvanceEvery = absl::Seconds(1);
constexpr absl::Duration kForgetEvery = absl::Seconds(30);
// One job may take this part of the remaining space of the inbox once it is full.
constexpr std::size_t kJobShare = 8;

}  // namespace

void LiveWaits::SetPastRuns(const std::string& job_id, std::span<const PastRun> runs) {
  blame::EarlierData earlier = EarlierDataOf(runs);
  const std::lock_guard lock(inbox_mutex_);
  earlier_inbox_.emplace_back(job_id, std::move(earlier));
}

void LiveWaits::Resume(const std::string& job_id, const std::string& run_uid, absl::Time now) {
  const std::lock_guard lock(mutex_);
  waits_.Resume(job_id, run_uid, now);
}

void LiveWaits::Observe(const Event& event) {
  std::optional<Event> of_waits = EventOfWaits(event);
  if (!of_waits) return;
  {
    const std::lock_guard lock(inbox_mutex_);
    ++inbox_of_jobs_[of_waits->job_id];
    inbox_.push_back(*std::move(of_waits));
    inbox_size_.store(inbox_.size(), std::memory_order_relaxed);
    if (inbox_.size() < kInboxMax / 2 || std::exchange(is_taken_in_soon_, true)) return;
  }
  TakeInSoon();
}

void LiveWaits::TakeInSoon() {
  const auto take_in = [this] {
    const std::lock_guard lock(mutex_);
    TakeIn();
  };
  if (aside_ == nullptr) return take_in();
  aside_->Add("inbox of waits", take_in);
}

bool LiveWaits::HasRoomFor(const std::string& job_id, const std::function<void()>& when_room) {
  if (inbox_size_.load(std::memory_order_relaxed) < kInboxMax) return true;
  const std::lock_guard lock(inbox_mutex_);
  const std::size_t all = inbox_.size();
  if (all < kInboxMax) return true;
  const auto known = inbox_of_jobs_.find(job_id);
  const std::size_t of_job = known == inbox_of_jobs_.end() ? 0 : known->second;
  if (all < 2 * kInboxMax && of_job <= (2 * kInboxMax - all) / kJobShare) return true;
  when_room_.push_back(when_room);
  return false;
}

void LiveWaits::TakeIn() {
  std::vector<Event> events;
  std::vector<std::pair<std::string, blame::EarlierData>> earlier;
  std::vector<std::function<void()>> when_room;
  {
    const std::lock_guard lock(inbox_mutex_);
    events.swap(inbox_);
    earlier.swap(earlier_inbox_);
    when_room.swap(when_room_);
    inbox_of_jobs_.clear();
    inbox_size_.store(0, std::memory_order_relaxed);
    is_taken_in_soon_ = false;
  }
  for (const std::function<void()>& call : when_room) call();
  for (const Event& event : events) waits_.Apply(event);
  for (auto& [job_id, data] : earlier) waits_.SetEarlierData(job_id, std::move(data));
}

void LiveWaits::Advance(absl::Time now,
                        const std::function<bool(const std::string& job_id)>& is_known) {
  const std::lock_guard lock(mutex_);
  if (now < advanced_at_ + kAdvanceEvery) return;
  advanced_at_ = now;
  TakeIn();
  waits_.Advance(now);
  if (now < forgot_at_ + kForgetEvery) return;
  forgot_at_ = now;
  for (const std::string& job_id : waits_.jobs()) {
    if (!is_known(job_id)) waits_.Forget(job_id);
  }
}

std::optional<Explanation> LiveWaits::Ask(const std::string& job_id,
                                          const ExplainQuestion& question) {
  const std::lock_guard lock(mutex_);
  TakeIn();
  return waits_.Ask(job_id, question);
}

std::vector<blame::LossesTo> LiveWaits::Losses(const std::string& job_id,
                                               const std::set<blame::QueryName>& to,
                                               std::size_t most,
                                               const std::optional<absl::Duration>& last) {
  const std::lock_guard lock(mutex_);
  return waits_.Losses(job_id, to, most, last);
}

std::vector<blame::CostOf> LiveWaits::Costs(const std::string& job_id,
                                            const std::set<blame::QueryName>& to, std::size_t most,
                                            const std::optional<absl::Duration>& last) {
  const std::lock_guard lock(mutex_);
  return waits_.Costs(job_id, to, most, last);
}

}  // namespace tidemark::service
