#include "master/service/live_waits.h"

#include <utility>
#include <variant>

namespace tidemark::service {
namespace {

constexpr absl::Duration kAdvanceEvery = absl::Seconds(1);
constexpr absl::Duration kForgetEvery = absl::Seconds(30);

bool IsOfWaits(const Event& event) {
  return !std::holds_alternative<MapProfile>(event.body) &&
         !std::holds_alternative<ReduceProfile>(event.body);
}

}  // namespace

void LiveWaits::Observe(const Event& event) {
  if (!IsOfWaits(event)) return;
  {
    const std::lock_guard lock(inbox_mutex_);
    inbox_.push_back(event);
    if (inbox_.size() < kInboxMax) return;
  }
  const std::lock_guard lock(mutex_);
  TakeIn();
}

void LiveWaits::TakeIn() {
  std::vector<Event> events;
  {
    const std::lock_guard lock(inbox_mutex_);
    events.swap(inbox_);
  }
  for (const Event& event : events) waits_.Apply(event);
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

}  // namespace tidemark::service
