#include "serve/alerts/alert_settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "text/did_you_mean.h"

namespace tidemark::cli {
namespace {

constexpr std::array<std::string_view, 3> kShapes = {"json", "slack", "pagerduty"};
constexpr std::size_t kQuotedBytesMax = 60;
constexpr std::size_t kParentBytesMax = 1000;

// RFC 9562, in lower case.
bool IsUuid(std::string_view text) {
  if (text.size() != 36) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool is_dash = i == 8 || i == 13 || i == 18 || i == 23;
    if (is_dash ? text[i] != '-' : !absl::ascii_isxdigit(static_cast<unsigned char>(text[i]))) {
      return false;
    }
  }
  return true;
}

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

absl::StatusOr<AlertTextRule> ParseAlertTextRule(std::string_view text) {
  const std::size_t equals = text.find('=');
  const std::string name(text.substr(0, std::min(equals, kQuotedBytesMax)));
  if (equals == std::string_view::npos) {
    return absl::InvalidArgumentError("`" + name + "`, which has no =");
  }
  const std::optional<AlertKind> kind = AlertKindNamed(name);
  if (!kind) {
    return absl::InvalidArgumentError(
        "`" + name + "`" +
        text::DidYouMean(name, {kAlertKindNames.begin(), kAlertKindNames.end()}));
  }
  absl::StatusOr<AlertTemplate> words = AlertTemplate::Parse(text.substr(equals + 1));
  if (!words.ok()) return words.status();
  return AlertTextRule{.kind = *kind, .text = *std::move(words)};
}

std::string ToString(const AlertTextRule& rule) {
  return std::string(NameOf(rule.kind)) + "=" + rule.text.text();
}

absl::StatusOr<LineageParent> ParseLineageParent(std::string_view text) {
  const std::string quoted = "`" + std::string(text.substr(0, kQuotedBytesMax)) + "`";
  if (text.size() > kParentBytesMax) return absl::InvalidArgumentError(quoted + " and more");
  const std::size_t run = text.rfind('/');
  const std::size_t name =
      run == 0 || run == std::string_view::npos ? run : text.rfind('/', run - 1);
  if (name == std::string_view::npos || name == 0 || run - name < 2) {
    return absl::InvalidArgumentError(quoted);
  }
  LineageParent parent = {.name_space = std::string(text.substr(0, name)),
                          .name = std::string(text.substr(name + 1, run - name - 1)),
                          .run_id = absl::AsciiStrToLower(std::string(text.substr(run + 1)))};
  if (!IsUuid(parent.run_id)) return absl::InvalidArgumentError(quoted + ", whose run is no UUID");
  return parent;
}

std::string ToString(const LineageParent& parent) {
  return parent.name_space + "/" + parent.name + "/" + parent.run_id;
}

absl::Status TakeParentOfEnvironment(const char* value, LineageSettings& lineage) {
  if (value == nullptr || *value == '\0' || lineage.parent || lineage.url.empty()) {
    return absl::OkStatus();
  }
  absl::StatusOr<LineageParent> parent = ParseLineageParent(value);
  if (!parent.ok()) {
    return absl::InvalidArgumentError(
        fmt::format("{} in the environment must be {}, not {}; unset it or set lineage.parent",
                    kParentVariable, kLineageParentForm, std::string(parent.status().message())));
  }
  lineage.parent = *std::move(parent);
  return absl::OkStatus();
}

}  // namespace tidemark::cli
