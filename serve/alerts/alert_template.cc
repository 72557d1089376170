#include "serve/alerts/alert_template.h"

#include <fmt/format.h>

#include <algorithm>

#include "text/did_you_mean.h"

namespace tidemark::cli {
namespace {

constexpr std::size_t kQuotedNameBytesMax = 60;

absl::Status UnknownField(std::string_view name) {
  const std::vector<std::string> known(kAlertFieldNames.begin(), kAlertFieldNames.end());
  const std::string meant = text::NearestName(name, known);
  return absl::InvalidArgumentError(
      fmt::format("`{{{}}}`{}", name.substr(0, kQuotedNameBytesMax),
                  meant.empty() ? "" : fmt::format("; did you mean {{{}}}?", meant)));
}

}  // namespace

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

}  // namespace tidemark::cli
