// Sends alerts and other messages to a webhook on a thread of its own, and again when that fails.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "absl/time/time.h"
#include "serve/alerts/alert_causes.h"
#include "serve/alerts/webhook.h"

namespace tidemark::cli {

struct AlertSenderOptions {
  // For what is said of it, such as "slack webhook 2"; not its address, which may be a secret.
  std::string name;
  WebhookOptions webhook;
  int attempts_max = 6;
  // Before the second attempt; twice as long before each further one, up to retry_max.
  absl::Duration retry_first = absl::Seconds(1);
  absl::Duration retry_max = absl::Minutes(1);
  // Messages that wait. The oldest makes room.
  std::size_t waiting_max = 1000;
  // Of an alert; called where Send() is. May be empty where only messages are sent.
  std::function<std::string(const Alert& alert)> message;
  // How long a message on its way is waited for at the end.
  absl::Duration ending_max = absl::Seconds(5);
  // Told of each message that was given up, but once of a receiver that can take none; from any
  // thread.
  std::function<void(const std::string& line)> on_trouble;
};

// What is kept of an alert, since a snapshot may be large, or of another message.
struct HookMessage {
  std::string what;  // "alert `late`"; for people
  std::string id;
  std::string job_id;
  std::string body;
};

// Counts since the start.
struct AlertCounts {
  std::uint64_t taken = 0;
  std::uint64_t retried = 0;  // attempts that failed and were followed by another
  std::uint64_t failed = 0;   // given up: refused, or tried often enough
  std::uint64_t dropped = 0;  // given up: too many waited, or the sender ended
  std::uint64_t waiting = 0;  // now, with the one on its way
  std::uint64_t given_up() const { return failed + dropped; }
  AlertCounts& operator+=(const AlertCounts& other);
};

// Thread-safe.
class AlertSender {
 public:
  explicit AlertSender(AlertSenderOptions options);
  // End(), and waits until it has ended: a second longer than options.ending_max at most.
  ~AlertSender();
  AlertSender(const AlertSender&) = delete;
  AlertSender& operator=(const AlertSender&) = delete;

  void Send(const Alert& alert);
  void Send(HookMessage message);
  // Begins to end: what waits is given up, what is on its way has options.ending_max. Returns at
  // once, so that several can end at the same time.
  void End();
  AlertCounts counts() const;
  // Waits until nothing waits or is on its way. False: not within `timeout`.
  bool WaitUntilIdle(absl::Duration timeout) const;

 private:
  void Run();
  void Deliver(const HookMessage& message);
  // False when the sender ends.
  bool Sleep(absl::Duration duration);
  void SayUnusable(const std::string& reason);
  // `count`: which of counts_ it is.
  void GiveUp(const HookMessage& message, const std::string& reason,
              std::uint64_t AlertCounts::*count);

  const AlertSenderOptions options_;
  Webhook webhook_;
  bool is_unusable_told_ = false;  // of the thread
  mutable std::mutex mutex_;       // guards the rest
  mutable std::condition_variable changed_;
  std::deque<HookMessage> waiting_;
  bool is_sending_ = false;
  bool is_ending_ = false;
  AlertCounts counts_;
  std::thread thread_;
};

}  // namespace tidemark::cli
