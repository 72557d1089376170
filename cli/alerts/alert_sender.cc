#include "cli/alerts/alert_sender.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include "absl/time/clock.h"

namespace tidemark::cli {

AlertCounts& AlertCounts::operator+=(const AlertCounts& other) {
  taken += other.taken;
  retried += other.retried;
  failed += other.failed;
  dropped += other.dropped;
  waiting += other.waiting;
  return *this;
}

AlertSender::AlertSender(AlertSenderOptions options)
    : options_(std::move(options)), thread_([this] { Run(); }) {}

AlertSender::~AlertSender() {
  {
    const std::lock_guard lock(mutex_);
    is_ending_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void AlertSender::Send(const Alert& alert) {
  Send(HookMessage{.what = fmt::format("alert `{}`", NameOf(alert.kind)),
                   .id = alert.id,
                   .job_id = alert.job.job_id,
                   .body = options_.message(alert)});
}

void AlertSender::Send(HookMessage message) {
  std::optional<HookMessage> dropped;
  {
    const std::lock_guard lock(mutex_);
    if (waiting_.size() >= options_.waiting_max) {
      dropped = std::move(waiting_.front());
      waiting_.pop_front();
    }
    waiting_.push_back(std::move(message));
  }
  changed_.notify_all();
  if (dropped) GiveUp(*dropped, "too many are waiting", &AlertCounts::dropped);
}

AlertCounts AlertSender::counts() const {
  const std::lock_guard lock(mutex_);
  AlertCounts counts = counts_;
  counts.waiting = waiting_.size() + (is_sending_ ? 1 : 0);
  return counts;
}

bool AlertSender::WaitUntilIdle(absl::Duration timeout) const {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, absl::ToChronoMilliseconds(timeout),
                           [this] { return waiting_.empty() && !is_sending_; });
}

void AlertSender::Run() {
  Webhook webhook(options_.webhook);
  for (;;) {
    std::optional<HookMessage> message;
    {
      std::unique_lock lock(mutex_);
      is_sending_ = false;
      changed_.notify_all();
      changed_.wait(lock, [this] { return is_ending_ || !waiting_.empty(); });
      if (is_ending_) return;
      message = std::move(waiting_.front());
      waiting_.pop_front();
      is_sending_ = true;
    }
    if (!Deliver(*message, webhook)) return;
  }
}

bool AlertSender::Deliver(const HookMessage& message, Webhook& webhook) {
  absl::Duration pause = options_.retry_first;
  for (int attempt = 1;; ++attempt) {
    const Delivery delivery = webhook.Post(message.body, message.id, absl::Now());
    if (delivery.outcome == Delivery::Outcome::kTaken) {
      const std::lock_guard lock(mutex_);
      ++counts_.taken;
      return !is_ending_;
    }
    if (delivery.outcome == Delivery::Outcome::kRefused || attempt >= options_.attempts_max) {
      GiveUp(message, delivery.reason, &AlertCounts::failed);
      return true;
    }
    {
      const std::lock_guard lock(mutex_);
      ++counts_.retried;
    }
    if (!Sleep(std::max(pause, delivery.retry_after))) return false;
    pause = std::min(2 * pause, options_.retry_max);
  }
}

// False when the sender ends.
bool AlertSender::Sleep(absl::Duration duration) {
  std::unique_lock lock(mutex_);
  return !changed_.wait_for(lock, absl::ToChronoMilliseconds(duration),
                            [this] { return is_ending_; });
}

void AlertSender::GiveUp(const HookMessage& message, const std::string& reason,
                         std::uint64_t AlertCounts::*count) {
  {
    const std::lock_guard lock(mutex_);
    ++(counts_.*count);
  }
  if (!options_.on_trouble) return;
  options_.on_trouble(fmt::format("{}: {} of job {} was not sent: {}", options_.name, message.what,
                                  message.job_id, reason));
}

}  // namespace tidemark::cli
