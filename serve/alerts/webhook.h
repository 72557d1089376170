// One message to one webhook, over HTTP or HTTPS.
//
//   Webhook hook({.url = "https://ops.example/alerts", .secret = "..."});
//   const Delivery delivery = hook.Post(message, id);
//
// Signed where there is a secret: the header `Tidemark-Signature: t=SECONDS,v1=HEX`, the
// HMAC-SHA256 of "SECONDS.BODY". No redirection is followed, no proxy of the environment is used.
// The status of an answer is what counts; its body is not read. Not thread-safe, but for EndBy().
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"

namespace tidemark::cli {

struct WebhookOptions {
  std::string url;
  std::string secret;  // empty: messages are not signed
  std::string token;   // sent as a bearer token; empty: none
  absl::Duration timeout = absl::Seconds(10);
  // Also this host, its link and metadata services (allowed_address.h).
  bool allow_local = false;
};

// OK, or InvalidArgument with what is wrong with an address, without the address, which may be a
// secret: no URL of HTTP or HTTPS, or one that is not allowed. Of a name other than localhost only
// an attempt can tell where it leads. Asks nobody.
absl::Status CheckWebhookAddress(const std::string& url, bool allow_local);

// What became of a message.
struct Delivery {
  enum class Outcome : std::uint8_t {
    kTaken,
    // It may be taken later.
    kFailed,
    // It never will be.
    kRefused,
    // No message will be, as long as the address and where it leads are the same.
    kUnusable,
  };
  Outcome outcome = Outcome::kFailed;
  // Why it was not taken, without the address, which may be a secret.
  std::string reason;
  // How long the receiver wants to be left alone.
  absl::Duration retry_after;
};

// "t=1700000000,v1=5257a8..."
std::string Signature(const std::string& secret, std::int64_t unix_seconds,
                      const std::string& body);

class Webhook {
 public:
  explicit Webhook(WebhookOptions options);
  ~Webhook();
  Webhook(const Webhook&) = delete;
  Webhook& operator=(const Webhook&) = delete;

  // Blocks for options.timeout at most. `id` goes along as the header `Tidemark-Alert`, by which a
  // receiver knows a message that it has taken although the answer was lost.
  Delivery Post(const std::string& body, const std::string& id, absl::Time now);
  // From any thread: what is on its way then, or begins later, fails within a second.
  void EndBy(std::chrono::steady_clock::time_point at) { end_by_ = at; }

 private:
  struct Handle;
  const WebhookOptions options_;
  std::atomic<std::chrono::steady_clock::time_point> end_by_{
      std::chrono::steady_clock::time_point::max()};
  const std::unique_ptr<Handle> handle_;
};

}  // namespace tidemark::cli
