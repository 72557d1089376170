#include "text/duration_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

namespace tidemark::text {
namespace {

std::string TwoUnits(std::int64_t seconds, std::int64_t large, const char* large_name,
                     std::int64_t small, const char* small_name) {
  const std::int64_t rest = seconds % large / small;
  if (rest == 0) return fmt::format("{} {}", seconds / large, large_name);
  return fmt::format("{} {} {:02} {}", seconds / large, large_name, rest, small_name);
}

}  // namespace

std::string DurationText(absl::Duration duration) {
  if (duration > kLongestSaid) return "over 999 d";
  const std::int64_t seconds = std::max<std::int64_t>(absl::ToInt64Seconds(duration), 0);
  if (seconds < 60) return fmt::format("{} s", seconds);
  if (seconds < 3600) return TwoUnits(seconds, 60, "min", 1, "s");
  if (seconds < 86400) return TwoUnits(seconds, 3600, "h", 60, "min");
  return TwoUnits(seconds, 86400, "d", 3600, "h");
}

absl::Duration UnitOf(absl::Duration duration) {
  if (duration < absl::Hours(1)) return absl::Seconds(1);
  return duration < absl::Hours(24) ? absl::Minutes(1) : absl::Hours(1);
}

std::string NearestText(absl::Duration duration) {
  const absl::Duration unit = UnitOf(duration);
  return DurationText(absl::Floor(duration + unit / 2, unit));
}

std::string ElapsedText(absl::Duration elapsed) {
  if (elapsed >= absl::Seconds(10)) return NearestText(elapsed);
  return fmt::format("{:.1f} s", absl::ToDoubleSeconds(std::max(elapsed, absl::ZeroDuration())));
}

}  // namespace tidemark::text
