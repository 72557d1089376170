#include "serve/alerts/webhook.h"

#include <curl/curl.h>
#include <fmt/format.h>
#include <netdb.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "absl/strings/ascii.h"
#include "serve/alerts/allowed_address.h"

namespace tidemark::cli {
namespace {

// A receiver that wants more is taken to be down.
constexpr absl::Duration kRetryAfterMax = absl::Minutes(5);

// Nobody reads the body of an answer: one that is long or slow is not waited for.
std::size_t EndAtBody(char*, std::size_t, std::size_t, void*) { return 0; }

constexpr char kNotAllowed[] =
    "its address leads to this host, its link or a metadata service; set alerts.allow_local to "
    "allow that";

using SteadyTime = std::chrono::steady_clock::time_point;

// Called once a second at least.
int EndLate(void* by, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
  const bool is_late =
      std::chrono::steady_clock::now() >= static_cast<const std::atomic<SteadyTime>*>(by)->load();
  return is_late ? 1 : 0;
}

// A part of a URL; empty: there is none.
std::string PartOf(CURLU* url, CURLUPart part) {
  char* text = nullptr;
  if (curl_url_get(url, part, &text, 0) != CURLUE_OK) return "";
  const std::unique_ptr<char, decltype(&curl_free)> owner(text, &curl_free);
  return text;
}

// Whether a host, written as an address, is one that is not allowed. An address may be written in
// many ways, which the resolver knows.
bool IsForbiddenLiteral(std::string host) {
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  addrinfo hints = {};
  hints.ai_flags = AI_NUMERICHOST;
  addrinfo* found = nullptr;
  if (getaddrinfo(host.c_str(), nullptr, &hints, &found) != 0) return false;
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owner(found, &freeaddrinfo);
  return !IsAllowedForWebhooks(*found->ai_addr);
}

// The client takes these names for this host without asking anybody.
bool IsLocalName(const std::string& host) {
  std::string name = absl::AsciiStrToLower(host);
  if (name.ends_with('.')) name.pop_back();
  return name == "localhost" || name.ends_with(".localhost");
}

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

// What became of a message without an answer.
Delivery FailureOf(CURL* curl, CURLcode code) {
  long connections = 0;
  curl_easy_getinfo(curl, CURLINFO_NUM_CONNECTS, &connections);
  // The client says the same of an address and of an answer that are not HTTP.
  if (code == CURLE_UNSUPPORTED_PROTOCOL && connections > 0) {
    return {.reason = "its answer is not HTTP"};
  }
  switch (code) {
    case CURLE_OK:
      return {.reason = "no HTTP status"};
    case CURLE_ABORTED_BY_CALLBACK:
      return {.reason = "no answer yet"};
    case CURLE_URL_MALFORMAT:
    case CURLE_UNSUPPORTED_PROTOCOL:
      return {.outcome = Delivery::Outcome::kUnusable,
              .reason = fmt::format("its address is not valid ({})", curl_easy_strerror(code))};
    default:
      return {.reason = curl_easy_strerror(code)};
  }
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

absl::Status CheckWebhookAddress(const std::string& url, bool allow_local) {
  if (!url.starts_with("https://") && !url.starts_with("http://")) {
    return absl::InvalidArgumentError("its address must begin with https:// or http://");
  }
  if (!std::ranges::all_of(url, absl::ascii_isascii)) {
    return absl::InvalidArgumentError(
        "its address must be of ASCII characters: a host in another script is written xn--..., "
        "and what else is not ASCII %...");
  }
  const std::unique_ptr<CURLU, decltype(&curl_url_cleanup)> parsed(curl_url(), &curl_url_cleanup);
  if (parsed == nullptr) return absl::OkStatus();
  if (const CURLUcode code = curl_url_set(parsed.get(), CURLUPART_URL, url.c_str(), 0);
      code != CURLUE_OK) {
    return absl::InvalidArgumentError(
        fmt::format("its address is not valid ({})", curl_url_strerror(code)));
  }
  const std::string host = PartOf(parsed.get(), CURLUPART_HOST);
  if (allow_local || (!IsLocalName(host) && !IsForbiddenLiteral(host))) return absl::OkStatus();
  return absl::InvalidArgumentError(kNotAllowed);
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
  curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
  curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, EndLate);
  curl_easy_setopt(curl, CURLOPT_XFERINFODATA, &end_by_);
  // What has ended does not wait for its resolver.
  curl_easy_setopt(curl, CURLOPT_QUICK_EXIT, 1L);
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
    return {.outcome = Delivery::Outcome::kUnusable, .reason = kNotAllowed};
  }
  if (!has_answered) return FailureOf(curl, code);
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
