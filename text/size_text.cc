#include "text/size_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <limits>
#include <system_error>

#include "absl/strings/ascii.h"

namespace tidemark::text {
namespace {

constexpr std::string_view kPrefixes = "kmgtpe";
// When rounded to a tenth, a smaller value has at most three digits before the decimal point.
constexpr double kRoundsToThousand = 999.95;

std::uint64_t Power(std::uint64_t base, std::size_t exponent) {
  std::uint64_t power = 1;
  for (std::size_t i = 0; i < exponent; ++i) power *= base;
  return power;
}

// Returns the number of bytes in `unit`, which is in lower case.
std::optional<std::uint64_t> BytesOf(std::string_view unit) {
  if (unit.ends_with('b')) unit.remove_suffix(1);
  if (unit.empty()) return 1;
  const std::size_t prefix = kPrefixes.find(unit[0]);
  const std::string_view ending = unit.substr(1);
  if (prefix == std::string_view::npos || !(ending.empty() || ending == "i")) return std::nullopt;
  return Power(ending.empty() ? 1000 : 1024, prefix + 1);
}

}  // namespace

std::string SizeText(std::uint64_t size_bytes) {
  if (size_bytes < 1000) return fmt::format("{} B", size_bytes);
  double value = static_cast<double>(size_bytes);
  const char* unit = "B";
  for (const char* larger : {"kB", "MB", "GB", "TB", "PB"}) {
    if (value < kRoundsToThousand) break;
    value /= 1000;
    unit = larger;
  }
  return fmt::format("{:.1f} {}", value, unit);
}

std::string ExactSizeText(std::uint64_t size_bytes) {
  std::uint64_t least = size_bytes;
  std::string unit;
  for (const char* name :
       {"kB", "MB", "GB", "TB", "PB", "EB", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"}) {
    const std::uint64_t bytes = *BytesOf(absl::AsciiStrToLower(name));
    if (size_bytes % bytes != 0 || size_bytes / bytes >= least) continue;
    least = size_bytes / bytes;
    unit = name;
  }
  return fmt::format("{}{}", least, unit);
}

std::optional<std::uint64_t> SizeIn(std::string_view word) {
  std::uint64_t number = 0;
  const char* const end = word.data() + word.size();
  const auto [rest, error] = std::from_chars(word.data(), end, number);
  if (error != std::errc()) return std::nullopt;
  std::string unit(std::find_if(rest, end, [](char letter) { return letter != ' '; }), end);
  absl::AsciiStrToLower(&unit);
  const std::optional<std::uint64_t> bytes = BytesOf(unit);
  if (!bytes || number > std::numeric_limits<std::uint64_t>::max() / *bytes) return std::nullopt;
  return number * *bytes;
}

}  // namespace tidemark::text
