#include "cli/hadoop/web_client.h"

#include <curl/curl.h>
#include <fmt/format.h>

#include "absl/strings/match.h"

namespace tidemark::cli {
namespace {

constexpr long kAnswerWithinSeconds = 10;
constexpr long kRedirectionsMax = 5;
constexpr std::size_t kAnswerBytesMax = std::size_t{64} << 20;

// Appends received bytes. Accepting fewer bytes than received makes the call fail.
std::size_t Append(char* bytes, std::size_t, std::size_t count, void* target) {
  auto& answer = *static_cast<std::string*>(target);
  if (answer.size() + count > kAnswerBytesMax) return 0;
  answer.append(bytes, count);
  return count;
}

// Returns why a call failed and what to do.
std::string CallError(const std::string& url, CURLcode code, CURL* curl) {
  long redirections = 0;
  curl_easy_getinfo(curl, CURLINFO_REDIRECT_COUNT, &redirections);
  const bool is_other_protocol = code == CURLE_UNSUPPORTED_PROTOCOL ||
                                 code == CURLE_WEIRD_SERVER_REPLY || code == CURLE_GOT_NOTHING;
  if (redirections > 0 || !is_other_protocol) {
    return fmt::format("{}: {}", url, curl_easy_strerror(code));
  }
  const bool is_http =
      absl::StartsWithIgnoreCase(url, "http:") || absl::StartsWithIgnoreCase(url, "https:");
  if (!is_http && url.find("://") != std::string::npos) {
    return fmt::format("{}: must be an http or https URL", url);
  }
  return fmt::format(
      "{}: the server does not speak HTTP; pass the address of its web service (port 8088 by "
      "default for a resource manager)",
      url);
}

}  // namespace

struct WebClient::Handle {
  CURL* curl = curl_easy_init();
  curl_slist* headers = curl_slist_append(nullptr, "Accept: application/json");
  ~Handle() {
    curl_slist_free_all(headers);
    curl_easy_cleanup(curl);
  }
};

WebClient::WebClient() : handle_(std::make_unique<Handle>()) {}
WebClient::~WebClient() = default;

absl::StatusOr<std::string> WebClient::Get(const std::string& url) {
  CURL* curl = handle_->curl;
  if (curl == nullptr) return absl::UnavailableError("cannot start an HTTP client");
  std::string answer;
  curl_easy_setopt(curl, CURLOPT_URL, url.c_str());
  curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 1L);
  curl_easy_setopt(curl, CURLOPT_MAXREDIRS, kRedirectionsMax);
  curl_easy_setopt(curl, CURLOPT_REDIR_PROTOCOLS_STR,
                   absl::StartsWithIgnoreCase(url, "https:") ? "https" : "http,https");
  curl_easy_setopt(curl, CURLOPT_HTTPHEADER, handle_->headers);
  curl_easy_setopt(curl, CURLOPT_TIMEOUT, kAnswerWithinSeconds);
  curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, Append);
  curl_easy_setopt(curl, CURLOPT_WRITEDATA, &answer);
  const CURLcode code = curl_easy_perform(curl);
  if (code != CURLE_OK) {
    return absl::UnavailableError(CallError(url, code, curl));
  }
  long status = 0;
  curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
  if (status == 200) return answer;
  const std::string message = fmt::format("{}: HTTP status {}", url, status);
  if (status == 404 || status == 410) return absl::NotFoundError(message);
  if (status == 401 || status == 403) {
    return absl::PermissionDeniedError(
        message + "; this web service requires authentication, which Tidemark does not support");
  }
  return absl::UnavailableError(message);
}

}  // namespace tidemark::cli
