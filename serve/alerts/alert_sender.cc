#include "serve/alerts/alert_sender.h"

#include <arpa/inet.h>
#include <curl/curl.h>
#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>
#include <optional>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/time/clock.h"

namespace tidemark::serve {
namespace {

// The longest pause that a receiver may demand.
constexpr absl::Duration kRetryAfterMax = absl::Minutes(5);

// Aborts the transfer at the body, which is not needed and may be long or slow.
std::size_t EndAtBody(char*, std::size_t, std::size_t, void*) { return 0; }

constexpr char kNotAllowed[] =
    "its address belongs to this host, a local link or a metadata service; set alerts.allow_local "
    "to allow it";

using SteadyTime = std::chrono::steady_clock::time_point;

// Aborts the transfer after the time set by EndBy(). libcurl calls this function at least once a
// second.
int EndLate(void* by, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
  const bool is_late =
      std::chrono::steady_clock::now() >= static_cast<const std::atomic<SteadyTime>*>(by)->load();
  return is_late ? 1 : 0;
}

// Returns a part of a URL, or an empty string if it is absent.
std::string PartOf(CURLU* url, CURLUPart part) {
  char* text = nullptr;
  if (curl_url_get(url, part, &text, 0) != CURLUE_OK) return "";
  const std::unique_ptr<char, decltype(&curl_free)> owner(text, &curl_free);
  return text;
}

// Returns true if the host is a numeric address that is not allowed. The resolver parses the
// address, since addresses have many notations.
bool IsForbiddenLiteral(std::string host) {
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  addrinfo hints = {};
  hints.ai_flags = AI_NUMERICHOST;
  addrinfo* found = nullptr;
  if (getaddrinfo(host.c_str(), nullptr, &hints, &found) != 0) return false;
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owner(found, &freeaddrinfo);
  return !IsAllowedForWebhooks(*found->ai_addr);
}

// Returns true for names that libcurl maps to this host without resolving them.
bool IsLocalName(const std::string& host) {
  std::string name = absl::AsciiStrToLower(host);
  if (name.ends_with('.')) name.pop_back();
  return name == "localhost" || name.ends_with(".localhost");
}

struct Addresses {
  bool has_forbidden = false;
  bool has_allowed = false;
};

// Opens a socket if the address is allowed. The check uses the address of the connection itself, so
// that a name that resolves differently each time cannot evade the check.
curl_socket_t OpenAllowed(void* seen, curlsocktype, curl_sockaddr* address) {
  auto& addresses = *static_cast<Addresses*>(seen);
  if (!IsAllowedForWebhooks(address->addr)) {
    addresses.has_forbidden = true;
    return CURL_SOCKET_BAD;
  }
  addresses.has_allowed = true;
  return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

// Returns the outcome of an attempt that received no response.
Delivery FailureOf(CURL* curl, CURLcode code) {
  long connections = 0;
  curl_easy_getinfo(curl, CURLINFO_NUM_CONNECTS, &connections);
  // libcurl returns this code both for URLs and for responses that are not HTTP.
  if (code == CURLE_UNSUPPORTED_PROTOCOL && connections > 0) {
    return {.reason = "its response is not HTTP"};
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

struct Net4 {
  std::uint32_t address;
  unsigned bits;
};
constexpr Net4 kForbidden4[] = {
    {0x00000000, 8},   // this host
    {0x7F000000, 8},   // loopback
    {0xA9FE0000, 16},  // link-local, with the metadata services of most clouds
    {0x64646400, 24},  // 100.100.100.0, with Alibaba's metadata service
    {0xA83F8110, 32},  // 168.63.129.16, Azure's host service
    {0xC0000000, 24},  // 192.0.0.0, with Oracle's metadata service
    {0xE0000000, 3},   // multicast and reserved
};

bool IsAllowed4(std::uint32_t address) {
  return std::none_of(std::begin(kForbidden4), std::end(kForbidden4), [&](const Net4& net) {
    return (address ^ net.address) >> (32 - net.bits) == 0;
  });
}

using Bytes = std::array<std::uint8_t, 16>;

std::uint32_t Last4(const Bytes& bytes, std::size_t from) {
  return std::uint32_t{bytes[from]} << 24 | std::uint32_t{bytes[from + 1]} << 16 |
         std::uint32_t{bytes[from + 2]} << 8 | std::uint32_t{bytes[from + 3]};
}

bool Begins(const Bytes& bytes, std::initializer_list<std::uint8_t> with) {
  return std::equal(with.begin(), with.end(), bytes.begin());
}

bool IsAllowed6(const Bytes& bytes) {
  const bool is_of_ip4 = Begins(bytes, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0});
  const std::uint16_t marks = static_cast<std::uint16_t>(bytes[10] << 8 | bytes[11]);
  // Forms ::ffff:a.b.c.d and ::a.b.c.d, which include :: and ::1.
  if (is_of_ip4 && (marks == 0xFFFF || marks == 0)) return IsAllowed4(Last4(bytes, 12));
  // Translators and tunnels contain an IPv4 address: 64:ff9b::a.b.c.d, 2002:ab:cd::,
  // ...:0:5efe:a.b.c.d. In other forms, the position of the address depends on the network.
  if (Begins(bytes, {0, 0x64, 0xFF, 0x9B, 0, 0, 0, 0, 0, 0, 0, 0})) {
    return IsAllowed4(Last4(bytes, 12));
  }
  if (Begins(bytes, {0x20, 0x02})) return IsAllowed4(Last4(bytes, 2));
  if ((bytes[8] & 0xFD) == 0 && bytes[9] == 0 && bytes[10] == 0x5E && bytes[11] == 0xFE) {
    return IsAllowed4(Last4(bytes, 12));
  }
  // ::/8 is reserved for translators, such as ::ffff:0:a.b.c.d; 2001::/32 is Teredo.
  const bool is_hidden = bytes[0] == 0 || Begins(bytes, {0x20, 0x01, 0, 0});
  const bool is_metadata = Begins(bytes, {0xFD, 0x00, 0x0E, 0xC2}) ||  // Amazon
                           Begins(bytes, {0xFD, 0x20, 0x00, 0xCE}) ||  // Google
                           Begins(bytes, {0xFD, 0x00, 0x00, 0xC1});    // Oracle
  const bool is_of_link = bytes[0] == 0xFE && (bytes[1] & 0xC0) == 0x80;
  return !is_hidden && !is_metadata && !is_of_link && bytes[0] != 0xFF;
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
        "its address must be ASCII; write the host as xn--... and other characters as %XX");
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
  // If a reused connection is cut, libcurl would resend the message by itself.
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
  // Makes libcurl return without waiting for the resolver's thread.
  curl_easy_setopt(curl, CURLOPT_QUICK_EXIT, 1L);
  curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, EndAtBody);
  if (!options_.allow_local) {
    curl_easy_setopt(curl, CURLOPT_OPENSOCKETFUNCTION, OpenAllowed);
    curl_easy_setopt(curl, CURLOPT_OPENSOCKETDATA, &addresses);
  }
  const CURLcode code = curl_easy_perform(curl);
  long status = 0;
  curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
  // A status proves that the receiver has the message, even if reading the body fails.
  const bool has_answered = status >= 200;
  if (!has_answered && addresses.has_forbidden && !addresses.has_allowed) {
    return {.outcome = Delivery::Outcome::kUnusable, .reason = kNotAllowed};
  }
  if (!has_answered) return FailureOf(curl, code);
  if (status < 300) return {.outcome = Delivery::Outcome::kTaken};
  // Timeouts, rate limits and server errors are temporary.
  const bool passes = status == 408 || status == 429 || status >= 500;
  curl_off_t wait = 0;
  curl_easy_getinfo(curl, CURLINFO_RETRY_AFTER, &wait);
  return {.outcome = passes ? Delivery::Outcome::kFailed : Delivery::Outcome::kRefused,
          .reason = fmt::format("HTTP status {}", status),
          .retry_after = std::min(absl::Seconds(wait), kRetryAfterMax)};
}

bool IsAllowedForWebhooks(const sockaddr& address) {
  if (address.sa_family == AF_INET) {
    sockaddr_in ip4;
    std::memcpy(&ip4, &address, sizeof ip4);
    return IsAllowed4(ntohl(ip4.sin_addr.s_addr));
  }
  if (address.sa_family == AF_INET6) {
    sockaddr_in6 ip6;
    std::memcpy(&ip6, &address, sizeof ip6);
    Bytes bytes;
    std::memcpy(bytes.data(), &ip6.sin6_addr, bytes.size());
    return IsAllowed6(bytes);
  }
  return false;
}

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
