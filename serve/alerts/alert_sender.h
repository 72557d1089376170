// Sends alerts and other messages to a webhook on its own thread, with retries.
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

namespace tidemark::serve {

struct AlertSenderOptions {
  // The receiver's name in log lines, such as "slack webhook 2". It is not the URL, which may be
  // secret.
  std::string name;
  WebhookOptions webhook;
  int attempts_max = 6;
  // The pause before the second attempt. It doubles with each further attempt, up to retry_max.
  absl::Duration retry_first = absl::Seconds(1);
  absl::Duration retry_max = absl::Minutes(1);
  // The length of the queue. If it is full, the oldest message is dropped.
  std::size_t waiting_max = 1000;
  // Returns the body of an alert; called on the thread that calls Send(). May be empty if only
  // HookMessages are sent.
  std::function<std::string(const Alert& alert)> message;
  // Time after End() within which the message in flight must be sent.
  absl::Duration ending_max = absl::Seconds(5);
  // Receives a line for each dropped message, from any thread. A receiver that can accept no
  // message is reported once.
  std::function<void(const std::string& line)> on_trouble;
};

// A queued message. It holds no snapshot, since a snapshot may be large.
struct HookMessage {
  std::string what;  // for display, such as "alert `late`"
  std::string id;
  std::string job_id;
  std::string body;
};

// Counts of messages since the start.
struct AlertCounts {
  std::uint64_t taken = 0;
  std::uint64_t retried = 0;  // failed attempts that another attempt followed
  std::uint64_t failed = 0;   // messages dropped after a rejection or the last attempt
  std::uint64_t dropped = 0;  // messages dropped because the queue was full or the sender ended
  std::uint64_t waiting = 0;  // messages queued or in flight now
  std::uint64_t given_up() const { return failed + dropped; }
  AlertCounts& operator+=(const AlertCounts& other);
};

// Thread-safe.
class AlertSender {
 public:
  explicit AlertSender(AlertSenderOptions options);
  // Calls End() and blocks until the thread has ended: at most a second longer than
  // options.ending_max.
  ~AlertSender();
  AlertSender(const AlertSender&) = delete;
  AlertSender& operator=(const AlertSender&) = delete;

  void Send(const Alert& alert);
  void Send(HookMessage message);
  // Drops the queue and limits the message in flight to options.ending_max. Does not block, so that
  // several senders can end at the same time.
  void End();
  AlertCounts counts() const;
  // Blocks until no message is queued or in flight. Returns false after `timeout`.
  bool WaitUntilIdle(absl::Duration timeout) const;

 private:
  void Run();
  void Deliver(const HookMessage& message);
  // Blocks for `duration`. Returns false if End() is called before that.
  bool Sleep(absl::Duration duration);
  void ReportUnusable(const std::string& reason);
  // `count` is the member of counts_ to increment.
  void Drop(const HookMessage& message, const std::string& reason,
            std::uint64_t AlertCounts::*count);

  const AlertSenderOptions options_;
  Webhook webhook_;
  bool is_unusable_reported_ = false;  // used only by the thread
  mutable std::mutex mutex_;           // guards the rest
  mutable std::condition_variable changed_;
  std::deque<HookMessage> waiting_;
  bool is_sending_ = false;
  bool is_ending_ = false;
  AlertCounts counts_;
  std::thread thread_;
};

}  // namespace tidemark::serve
