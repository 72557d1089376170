// Sends alerts and other messages to a webhook on its own thread, with retries.
#pragma once

#include <sys/socket.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "serve/alerts/alert_causes.h"

namespace tidemark::serve {

struct WebhookOptions {
  std::string url;
  std::string secret;  // empty if messages are not signed
  std::string token;   // sent as a bearer token; empty without a token
  absl::Duration timeout = absl::Seconds(10);
  // If true, allows addresses for which IsAllowedForWebhooks() is false.
  bool allow_local = false;
};

// Returns false for loopback, link-local, multicast and reserved addresses, and for the metadata
// services of large clouds. An IPv4 address within an IPv6 address counts as IPv4. Other addresses
// of this host and its network are allowed. Pure.
bool IsAllowedForWebhooks(const sockaddr& address);

// Returns InvalidArgument if the string is not an HTTP or HTTPS URL, or if it is known to lead to a
// forbidden address. Names other than localhost are not resolved here, but checked when a message
// is sent. The error does not contain the URL, which may be secret.
absl::Status CheckWebhookAddress(const std::string& url, bool allow_local);

// The outcome of one attempt to send a message.
struct Delivery {
  enum class Outcome : std::uint8_t {
    kTaken,
    // Another attempt may succeed.
    kFailed,
    // The receiver rejected this message; a retry cannot succeed.
    kRefused,
    // Every message will fail until the URL or the address behind it changes.
    kUnusable,
  };
  Outcome outcome = Outcome::kFailed;
  // Why the attempt failed, without the URL, which may be secret.
  std::string reason;
  // Pause that the receiver demands before the next attempt.
  absl::Duration retry_after;
};

// Returns "t=1700000000,v1=5257a8...".
std::string Signature(const std::string& secret, std::int64_t unix_seconds,
                      const std::string& body);

// Sends one message to one webhook, over HTTP or HTTPS.
//
//   Webhook hook({.url = "https://ops.example/alerts", .secret = "..."});
//   const Delivery delivery = hook.Post(message, id);
//
// If there is a secret, the header `Tidemark-Signature: t=SECONDS,v1=HEX` contains the HMAC-SHA256
// of "SECONDS.BODY". A Webhook follows no redirects and ignores proxy environment variables. It
// evaluates only the status of a response and does not read the body. Not thread-safe, except for
// EndBy().
class Webhook {
 public:
  explicit Webhook(WebhookOptions options);
  ~Webhook();
  Webhook(const Webhook&) = delete;
  Webhook& operator=(const Webhook&) = delete;

  // Blocks for at most options.timeout. The header `Tidemark-Alert` contains `id`, so that a
  // receiver can discard a message that it has already accepted although its response was lost.
  Delivery Post(const std::string& body, const std::string& id, absl::Time now);
  // Makes current and later attempts fail within a second after `at`. Thread-safe.
  void EndBy(std::chrono::steady_clock::time_point at) { end_by_ = at; }

 private:
  struct Handle;
  const WebhookOptions options_;
  std::atomic<std::chrono::steady_clock::time_point> end_by_{
      std::chrono::steady_clock::time_point::max()};
  const std::unique_ptr<Handle> handle_;
};

struct AlertSenderOptions {
  // Name of the receiver in log lines, such as "slack webhook 2". It is not the URL, which may be
  // secret.
  std::string name;
  WebhookOptions webhook;
  int attempts_max = 6;
  // Pause before the second attempt. It doubles with each further attempt, up to retry_max.
  absl::Duration retry_first = absl::Seconds(1);
  absl::Duration retry_max = absl::Minutes(1);
  // Maximum length of the queue. When it is full, the oldest message is dropped.
  std::size_t waiting_max = 1000;
  // Returns the body of an alert. Called on the thread that calls Send(). May be empty if only
  // HookMessages are sent.
  std::function<std::string(const Alert& alert)> message;
  // Time after End() within which the message in flight must be sent.
  absl::Duration ending_max = absl::Seconds(5);
  // Receives a line for each dropped message, on any thread. If a receiver can accept no message,
  // that is reported once.
  std::function<void(const std::string& line)> on_trouble;
};

// A queued message. It contains no snapshot, since a snapshot may be large.
struct HookMessage {
  std::string what;  // for display, such as "alert `late`"
  std::string id;
  std::string job_id;
  std::string body;
};

// Counts of messages since the start.
struct AlertCounts {
  std::uint64_t taken = 0;
  std::uint64_t retried = 0;  // failed attempts that were followed by another attempt
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
  // Calls End() and blocks until the thread has ended, which takes at most a second longer than
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
  // Blocks for `duration`. Returns false if End() is called meanwhile.
  bool Sleep(absl::Duration duration);
  void ReportUnusable(const std::string& reason);
  // `count` is the member of counts_ to increment.
  void Drop(const HookMessage& message, const std::string& reason,
            std::uint64_t AlertCounts::*count);

  const AlertSenderOptions options_;
  Webhook webhook_;
  bool is_unusable_reported_ = false;  // used only by the thread
  mutable std::mutex mutex_;           // Guards the members below.
  mutable std::condition_variable changed_;
  std::deque<HookMessage> waiting_;
  bool is_sending_ = false;
  bool is_ending_ = false;
  AlertCounts counts_;
  std::thread thread_;
};

}  // namespace tidemark::serve
