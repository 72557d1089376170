#include "cli/alerts/webhook.h"

#include <curl/curl.h>
#include <fmt/format.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "cli/alerts/allowed_address.h"

namespace tidemark::cli {
namespace {

// A receiver that wants more is taken to be down.
constexpr absl::Duration kRetryAfterMax = absl::Minutes(5);

// Nobody reads the body of an answer: one that is long or slow is not waited for.
std::size_t EndAtBody(char*, std::size_t, std::size_t, void*) { return 0; }

struct Addresses {
  bool has_forbidden = false;
  bool has_allowed = false;
};

// Looked at when the name is resolved and the connection made, so that a name that stands for
// another address each time does not get around it.
curl_socket_t OpenAllowed(void* seen, curlsocktype, curl_sockaddr* address) {
  auto& addresses = *static_cast<Addresses*>(seen);
  if (!IsAllowedForWebhooks(address->addr)) {
    addresses.has_forbidden = true;
    return CURL_SOCKET_BAD;
  }
  addresses.has_allowed = true;
  return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

}  // namespace

std::string Signature(const std::string& secret, std::int64_t unix_seconds,
                      const std::string& body) {
  const std::string text = fmt::format("{}.{}", unix_seconds, body);
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest;
  unsigned size = 0;
  HMAC(EVP_sha256(), secret.data(), static_cast<int>(secret.size()),
       reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest.data(), &size);
  std::string signature = fmt::format("t={},v1=", unix_seconds);
  for (unsigned i = 0; i < size; ++i) signature += fmt::format("{:02x}", digest[i]);
  return signature;
}

struct Webhook::Handle {
  CURL* curl = curl_easy_init();
  ~Handle() { curl_easy_cleanup(curl); }
};

Webhook::Webhook(WebhookOptions options)
    : options_(std::move(options)), handle_(std::make_unique<Handle>()) {}
Webhook::~Webhook() = default;

Delivery Webhook::Post(const std::string& body, const std::string& id, absl::Time now) {
  CURL* curl = handle_->curl;
  if (curl == nullptr) return {.reason = "cannot start an HTTP client"};
  curl_easy_reset(curl);
  const auto add = [](curl_slist* list, const std::string& line) {
    return curl_slist_append(list, line.c_str());
  };
  curl_slist* headers = add(nullptr, "Content-Type: application/json");
  headers = add(headers, "User-Agent: tidemark");
  headers = add(headers, "Expect:");
  headers = add(headers, "Tidemark-Alert: " + id);
  if (!options_.token.empty()) headers = add(headers, "Authorization: Bearer " + options_.token);
  if (!options_.secret.empty()) {
    headers = add(headers, "Tidemark-Signature: " +
                               Signature(options_.secret, absl::ToUnixSeconds(now), body));
  }
  const std::unique_ptr<curl_slist, decltype(&curl_slist_free_all)> owner(headers,
                                                                          &curl_slist_free_all);
  Addresses addresses;
  curl_easy_setopt(curl, CURLOPT_URL, options_.url.c_str());
  curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(curl, CURLOPT_PROXY, "");
  // On a connection that was kept and is cut, libcurl would send the message once more by itself.
  curl_easy_setopt(curl, CURLOPT_FORBID_REUSE, 1L);
  curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
  curl_easy_setopt(curl, CURLOPT_POSTFIELDS, body.c_str());
  curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(body.size()));
  curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS,
                   static_cast<long>(absl::ToInt64Milliseconds(options_.timeout)));
  curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, EndAtBody);
  if (!options_.allow_local) {
    curl_easy_setopt(curl, CURLOPT_OPENSOCKETFUNCTION, OpenAllowed);
    curl_easy_setopt(curl, CURLOPT_OPENSOCKETDATA, &addresses);
  }
  const CURLcode code = curl_easy_perform(curl);
  long status = 0;
  curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
  // A receiver that has answered has the message, whatever becomes of the rest of its answer.
  const bool has_answered = status >= 200;
  if (!has_answered && addresses.has_forbidden && !addresses.has_allowed) {
    return {.outcome = Delivery::Outcome::kRefused,
            .reason =
                "its address is of this host, of its link or of a metadata service; "
                "alerts.allow_local allows that"};
  }
  if (!has_answered) {
    return {.reason = code == CURLE_OK ? "no HTTP status" : curl_easy_strerror(code)};
  }
  if (status < 300) return {.outcome = Delivery::Outcome::kTaken};
  // Too many requests and timeouts pass; so does what is wrong with the receiver.
  const bool passes = status == 408 || status == 429 || status >= 500;
  curl_off_t wait = 0;
  curl_easy_getinfo(curl, CURLINFO_RETRY_AFTER, &wait);
  return {.outcome = passes ? Delivery::Outcome::kFailed : Delivery::Outcome::kRefused,
          .reason = fmt::format("HTTP status {}", status),
          .retry_after = std::min(absl::Seconds(wait), kRetryAfterMax)};
}

}  // namespace tidemark::cli
