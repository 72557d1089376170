#include "cli/alerts/alert_settings.h"

#include <algorithm>
#include <array>

#include "absl/status/status.h"

namespace tidemark::cli {
namespace {

constexpr std::array<std::string_view, 3> kShapes = {"json", "slack", "pagerduty"};

}  // namespace

absl::StatusOr<AlertHook> ParseAlertHook(std::string_view text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos) return absl::InvalidArgumentError("no =");
  const std::string_view shape = text.substr(0, equals);
  const std::string_view url = text.substr(equals + 1);
  const bool is_known = std::find(kShapes.begin(), kShapes.end(), shape) != kShapes.end();
  const bool is_address = (url.starts_with("http://") && url.size() > 7) ||
                          (url.starts_with("https://") && url.size() > 8) ||
                          (url.starts_with("@") && url.size() > 1);
  if (!is_known || !is_address) return absl::InvalidArgumentError("no shape and address");
  return AlertHook{.shape = std::string(shape), .url = std::string(url)};
}

std::string ToString(const AlertHook& hook) {
  const std::size_t scheme = hook.url.find("://");
  if (scheme == std::string::npos) return hook.shape + "=" + hook.url;
  // Of what stands before an @ and behind the host, either may be a password.
  const std::size_t end = hook.url.find_first_of("/?#\\", scheme + 3);
  std::string host = hook.url.substr(scheme + 3, end == std::string::npos ? end : end - scheme - 3);
  host = host.substr(host.rfind('@') == std::string::npos ? 0 : host.rfind('@') + 1);
  return hook.shape + "=" + hook.url.substr(0, scheme + 3) + host + "/...";
}

}  // namespace tidemark::cli
