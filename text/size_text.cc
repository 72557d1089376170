#include "text/size_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <limits>
#include <string>
#include <system_error>

#include "absl/strings/ascii.h"

namespace tidemark::text {
namespace {

// How many bits a number of this unit is to be shifted for bytes; empty: it is no unit.
std::optional<unsigned> ShiftOf(const std::string& unit) {
  if (unit.empty() || unit == "b") return 0;
  const std::size_t power = std::string_view("kmgtpe").find(unit[0]);
  const std::string ending = unit.substr(1);
  const bool is_unit = ending.empty() || ending == "b" || ending == "i" || ending == "ib";
  if (power == std::string_view::npos || !is_unit) return std::nullopt;
  return static_cast<unsigned>(10 * (power + 1));
}

}  // namespace

std::string SizeText(std::uint64_t size_bytes) {
  if (size_bytes < 1000) return fmt::format("{} B", size_bytes);
  double value = static_cast<double>(size_bytes);
  const char* unit = "B";
  for (const char* larger : {"kB", "MB", "GB", "TB", "PB"}) {
    if (value < 1000) break;
    value /= 1000;
    unit = larger;
  }
  return fmt::format("{:.1f} {}", value, unit);
}

std::optional<std::uint64_t> SizeIn(std::string_view word) {
  std::uint64_t number = 0;
  const char* const end = word.data() + word.size();
  const auto [rest, error] = std::from_chars(word.data(), end, number);
  if (error != std::errc()) return std::nullopt;
  std::string unit(std::find_if(rest, end, [](char letter) { return letter != ' '; }), end);
  for (char& letter : unit) letter = absl::ascii_tolower(static_cast<unsigned char>(letter));
  const std::optional<unsigned> shift = ShiftOf(unit);
  if (!shift || number > std::numeric_limits<std::uint64_t>::max() >> *shift) return std::nullopt;
  return number << *shift;
}

}  // namespace tidemark::text
