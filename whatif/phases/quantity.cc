#include "whatif/phases/quantity.h"

#include <limits>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace tidemark::phases {
namespace {

absl::Status Wrong(absl::string_view text, absl::string_view wanted) {
  return absl::InvalidArgumentError(absl::StrCat("\"", text, "\" is not ", wanted));
}

// The number, and the unit behind it in lower case.
absl::StatusOr<std::pair<std::uint64_t, std::string>> Split(absl::string_view text,
                                                            absl::string_view wanted) {
  const std::string trimmed = absl::AsciiStrToLower(absl::StripAsciiWhitespace(text));
  const std::size_t digits = std::min(trimmed.find_first_not_of("0123456789"), trimmed.size());
  std::uint64_t number = 0;
  if (!absl::SimpleAtoi(trimmed.substr(0, digits), &number)) return Wrong(text, wanted);
  return std::pair(number, trimmed.substr(digits));
}

}  // namespace

absl::StatusOr<std::uint64_t> ParseBytes(absl::string_view text, std::uint64_t unit) {
  constexpr absl::string_view kWanted = "a size such as 512m or 4g, a whole number";
  const auto split = Split(text, kWanted);
  if (!split.ok()) return split.status();
  std::string suffix = split->second;
  if (suffix.size() == 2 && suffix[1] == 'b') suffix.pop_back();
  if (suffix == "b") {
    unit = 1;
  } else if (!suffix.empty()) {
    constexpr absl::string_view kUnits = "kmgtp";
    const std::size_t power = kUnits.find(suffix);
    if (suffix.size() != 1 || power == kUnits.npos) return Wrong(text, kWanted);
    unit = std::uint64_t{1} << (10 * (power + 1));
  }
  if (unit != 0 && split->first > std::numeric_limits<std::int64_t>::max() / unit) {
    return Wrong(text, "a size below 8 EiB");
  }
  return split->first * unit;
}

absl::StatusOr<absl::Duration> ParseDuration(absl::string_view text, absl::Duration unit) {
  constexpr absl::string_view kWanted = "a time such as 500ms or 3s, a whole number";
  const auto split = Split(text, kWanted);
  if (!split.ok()) return split.status();
  const std::string& suffix = split->second;
  if (suffix == "us") {
    unit = absl::Microseconds(1);
  } else if (suffix == "ms") {
    unit = absl::Milliseconds(1);
  } else if (suffix == "s") {
    unit = absl::Seconds(1);
  } else if (suffix == "m" || suffix == "min") {
    unit = absl::Minutes(1);
  } else if (suffix == "h") {
    unit = absl::Hours(1);
  } else if (suffix == "d") {
    unit = absl::Hours(24);
  } else if (!suffix.empty()) {
    return Wrong(text, kWanted);
  }
  // Beyond a century something is mistyped.
  constexpr std::uint64_t kMost = std::uint64_t{1} << 52;
  if (split->first > kMost || split->first * unit > absl::Hours(24 * 36525)) {
    return Wrong(text, "a time of less than a century");
  }
  return static_cast<std::int64_t>(split->first) * unit;
}

absl::StatusOr<bool> ParseBool(absl::string_view text) {
  const absl::string_view trimmed = absl::StripAsciiWhitespace(text);
  if (absl::EqualsIgnoreCase(trimmed, "true")) return true;
  if (absl::EqualsIgnoreCase(trimmed, "false")) return false;
  return Wrong(text, "true or false");
}

absl::StatusOr<std::uint32_t> ParseCount(absl::string_view text, std::uint32_t most) {
  std::uint32_t count = 0;
  if (!absl::SimpleAtoi(absl::StripAsciiWhitespace(text), &count) || count == 0 || count > most) {
    return Wrong(text, absl::StrCat("a whole number of 1 to ", most));
  }
  return count;
}

absl::StatusOr<double> ParseShare(absl::string_view text) {
  double share = 0;
  if (!absl::SimpleAtod(absl::StripAsciiWhitespace(text), &share) || !(share >= 0 && share <= 1)) {
    return Wrong(text, "a number of 0 to 1");
  }
  return share;
}

}  // namespace tidemark::phases
