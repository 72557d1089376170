// Sends one message to one webhook, over HTTP or HTTPS.
//
//   Webhook hook({.url = "https://ops.example/alerts", .secret = "..."});
//   const Delivery delivery = hook.Post(message, id);
//
// If there is a secret, the header `Tidemark-Signature: t=SECONDS,v1=HEX` contains the HMAC-SHA256
// of "SECONDS.BODY". A Webhook follows no redirects and ignores proxy variables of the environment.
// Only the status of a response counts; its body is not read. Not thread-safe, except for EndBy().
#pragma once

#include <sys/socket.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"

namespace tidemark::serve {

struct WebhookOptions {
  std::string url;
  std::string secret;  // empty if messages are not signed
  std::string token;   // sent as a bearer token; empty without a token
  absl::Duration timeout = absl::Seconds(10);
  // Allows addresses for which IsAllowedForWebhooks() is false.
  bool allow_local = false;
};

// Returns false for loopback, link-local, multicast and reserved addresses, and for the metadata
// services of large clouds. An IPv4 address within an IPv6 address counts as IPv4. Other addresses
// of this host and of its network are allowed. Pure.
bool IsAllowedForWebhooks(const sockaddr& address);

// Returns InvalidArgument if the text is not a URL of HTTP or HTTPS, or if it is known to lead to a
// forbidden address. Names other than localhost are not resolved, so they are checked only when a
// message is sent. The error does not contain the URL, which may be secret.
absl::Status CheckWebhookAddress(const std::string& url, bool allow_local);

// The outcome of one attempt to send a message.
struct Delivery {
  enum class Outcome : std::uint8_t {
    kTaken,
    // Another attempt may succeed.
    kFailed,
    // The receiver rejected this message; a retry cannot succeed.
    kRefused,
    // Every message fails while the URL and the address behind it stay the same.
    kUnusable,
  };
  Outcome outcome = Outcome::kFailed;
  // The reason of the failure, without the URL, which may be secret.
  std::string reason;
  // The pause that the receiver demands before the next attempt.
  absl::Duration retry_after;
};

// Returns "t=1700000000,v1=5257a8...".
std::string Signature(const std::string& secret, std::int64_t unix_seconds,
                      const std::string& body);

class Webhook {
 public:
  explicit Webhook(WebhookOptions options);
  ~Webhook();
  Webhook(const Webhook&) = delete;
  Webhook& operator=(const Webhook&) = delete;

  // Blocks for at most options.timeout. The header `Tidemark-Alert` contains `id`, so that a
  // receiver can discard a message that it accepted although its response was lost.
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

}  // namespace tidemark::serve
