#include "serve/alerts/alert_sender.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include "absl/time/clock.h"

namespace tidemark::serve {
namespace {

constexpr char kMasterEnds[] = "the master is shutting down";

}  // namespace

AlertCounts& AlertCounts::operator+=(const AlertCounts& other) {
  taken += other.taken;
  retried += other.retried;
  failed += other.failed;
  dropped += other.dropped;
  waiting += other.waiting;
  return *this;
}

AlertSender::AlertSender(AlertSenderOptions options)
    : options_(std::move(options)), webhook_(options_.webhook), thread_([this] { Run(); }) {}

AlertSender::~AlertSender() {
  End();
  thread_.join();
  for (const HookMessage& message : waiting_) {
    Drop(message, kMasterEnds, &AlertCounts::dropped);
  }
}

void AlertSender::End() {
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(is_ending_, true)) return;
  }
  webhook_.EndBy(std::chrono::steady_clock::now() +
                 absl::ToChronoMilliseconds(options_.ending_max));
  changed_.notify_all();
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
  if (dropped) Drop(*dropped, "the queue is full", &AlertCounts::dropped);
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
    Deliver(*message);
  }
}

void AlertSender::Deliver(const HookMessage& message) {
  absl::Duration pause = options_.retry_first;
  for (int attempt = 1;; ++attempt) {
    const Delivery delivery = webhook_.Post(message.body, message.id, absl::Now());
    using Outcome = Delivery::Outcome;
    if (delivery.outcome == Outcome::kUnusable) return ReportUnusable(delivery.reason);
    is_unusable_reported_ = false;
    if (delivery.outcome == Outcome::kTaken) {
      const std::lock_guard lock(mutex_);
      ++counts_.taken;
      return;
    }
    if (delivery.outcome == Outcome::kRefused) {
      return Drop(message, delivery.reason, &AlertCounts::failed);
    }
    const bool is_last = attempt >= options_.attempts_max;
    if (!Sleep(is_last ? absl::ZeroDuration() : std::max(pause, delivery.retry_after))) {
      return Drop(message, fmt::format("{}, and {}", delivery.reason, kMasterEnds),
                  &AlertCounts::dropped);
    }
    if (is_last) return Drop(message, delivery.reason, &AlertCounts::failed);
    {
      const std::lock_guard lock(mutex_);
      ++counts_.retried;
    }
    pause = std::min(2 * pause, options_.retry_max);
  }
}

bool AlertSender::Sleep(absl::Duration duration) {
  std::unique_lock lock(mutex_);
  return !changed_.wait_for(lock, absl::ToChronoMilliseconds(duration),
                            [this] { return is_ending_; });
}

void AlertSender::Drop(const HookMessage& message, const std::string& reason,
                       std::uint64_t AlertCounts::*count) {
  {
    const std::lock_guard lock(mutex_);
    ++(counts_.*count);
  }
  if (!options_.on_trouble) return;
  options_.on_trouble(fmt::format("{}: dropped {} of job {}: {}", options_.name, message.what,
                                  message.job_id, reason));
}

void AlertSender::ReportUnusable(const std::string& reason) {
  {
    const std::lock_guard lock(mutex_);
    ++counts_.failed;
  }
  if (std::exchange(is_unusable_reported_, true) || !options_.on_trouble) return;
  options_.on_trouble(fmt::format("{}: cannot send messages: {}", options_.name, reason));
}

}  // namespace tidemark::serve
