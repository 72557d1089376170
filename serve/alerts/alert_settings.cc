#include "serve/alerts/alert_settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "text/did_you_mean.h"

namespace tidemark::serve {
namespace {

constexpr std::array<std::string_view, 3> kShapes = {"json", "slack", "pagerduty"};
constexpr std::size_t kShownBytesMax = 60;
constexpr std::size_t kParentBytesMax = 1000;

// Returns true for a UUID (RFC 9562) in lower case.
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

absl::Status UnknownField(std::string_view name) {
  const std::vector<std::string> known(kAlertFieldNames.begin(), kAlertFieldNames.end());
  const std::string meant = text::NearestName(name, known);
  return absl::InvalidArgumentError(
      fmt::format("`{{{}}}`{}", name.substr(0, kShownBytesMax),
                  meant.empty() ? "" : fmt::format("; did you mean {{{}}}?", meant)));
}

}  // namespace

absl::StatusOr<AlertHook> ParseAlertHook(std::string_view text) {
  const std::size_t equals = text.find('=');
  const std::string_view shape = text.substr(0, equals);
  const std::string_view url = text.substr(equals + 1);
  const bool is_known = std::find(kShapes.begin(), kShapes.end(), shape) != kShapes.end();
  const bool is_address = (url.starts_with("http://") && url.size() > 7) ||
                          (url.starts_with("https://") && url.size() > 8) ||
                          (url.starts_with("@") && url.size() > 1);
  if (equals == std::string_view::npos || !is_known || !is_address) {
    return absl::InvalidArgumentError(
        "must be json=, slack= or pagerduty=, followed by an address");
  }
  return AlertHook{.shape = std::string(shape), .url = std::string(url)};
}

std::string ToString(const AlertHook& hook) {
  const std::size_t scheme = hook.url.find("://");
  if (scheme == std::string::npos) return hook.shape + "=" + hook.url;
  // The parts before an @ and after the host may contain a password.
  const std::size_t end = hook.url.find_first_of("/?#\\", scheme + 3);
  std::string host = hook.url.substr(scheme + 3, end == std::string::npos ? end : end - scheme - 3);
  host = host.substr(host.rfind('@') == std::string::npos ? 0 : host.rfind('@') + 1);
  return hook.shape + "=" + hook.url.substr(0, scheme + 3) + host + "/...";
}

absl::StatusOr<AlertTextRule> ParseAlertTextRule(std::string_view text) {
  const std::size_t equals = text.find('=');
  const std::string name(text.substr(0, std::min(equals, kShownBytesMax)));
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
  const std::string quoted = "`" + std::string(text.substr(0, kShownBytesMax)) + "`";
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
  if (!IsUuid(parent.run_id))
    return absl::InvalidArgumentError(quoted + ", which does not end with a UUID");
  return parent;
}

std::string ToString(const LineageParent& parent) {
  return parent.name_space + "/" + parent.name + "/" + parent.run_id;
}

absl::Status SetParentFromEnvironment(const char* value, LineageSettings& lineage) {
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

absl::StatusOr<AlertTemplate> AlertTemplate::Parse(std::string_view text) {
  if (text.empty()) return absl::InvalidArgumentError("an empty text");
  if (text.size() > kBytesMax) {
    return absl::InvalidArgumentError(
        fmt::format("a text of {} bytes; at most {} are allowed", text.size(), kBytesMax));
  }
  AlertTemplate parsed(text);
  std::string literal;
  const auto end_literal = [&] {
    if (!literal.empty()) parsed.pieces_.push_back({.text = literal});
    literal.clear();
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c != '{' && c != '}') {
      literal += c;
      continue;
    }
    if (i + 1 < text.size() && text[i + 1] == c) {
      literal += c;
      ++i;
      continue;
    }
    const std::size_t close = c == '{' ? text.find('}', i) : std::string_view::npos;
    if (close == std::string_view::npos) {
      return absl::InvalidArgumentError(
          fmt::format("a single `{}` at byte {}; write {}{} for a brace", c, i + 1, c, c));
    }
    const std::string_view name = text.substr(i + 1, close - i - 1);
    const auto* const known = std::ranges::find(kAlertFieldNames, name);
    if (known == kAlertFieldNames.end()) return UnknownField(name);
    end_literal();
    parsed.pieces_.push_back(
        {.is_field = true, .field = static_cast<AlertField>(known - kAlertFieldNames.begin())});
    i = close;
  }
  end_literal();
  return parsed;
}

}  // namespace tidemark::serve
