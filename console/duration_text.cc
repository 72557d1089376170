#include "console/duration_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

namespace tidemark::console {
namespace {

constexpr absl::Duration kDay = absl::Hours(24);
// Longer durations are shown as "over 999 d". Rounding never reaches that limit from below.
constexpr absl::Duration kRoundedMax = absl::Hours(1000 * 24);
// Number of rounding steps in an interval, and in a remaining time without an interval. Chosen by
// hand.
constexpr std::int64_t kStepsInInterval = 5;
constexpr std::int64_t kStepsInRemaining = 10;
// Number of rounding steps in a median, so that a wide interval does not round it to 0.
constexpr std::int64_t kStepsInNumber = 2;

bool IsMultiple(absl::Duration duration, absl::Duration unit) {
  return duration % unit == absl::ZeroDuration();
}

absl::Duration Clamp(absl::Duration duration) {
  return std::clamp(duration, absl::ZeroDuration(), kRoundedMax);
}

absl::Duration Nearest(absl::Duration duration, absl::Duration step) {
  return absl::Floor(duration + step / 2, step);
}

// Returns the largest of 1 s, 1 min, 1 h and 1 d that is at most `precision`, and at least 1 s.
absl::Duration UnitAtMost(absl::Duration precision) {
  absl::Duration unit = absl::Seconds(1);
  for (const absl::Duration larger : {absl::Minutes(1), absl::Hours(1), kDay}) {
    if (larger <= precision) unit = larger;
  }
  return unit;
}

// Returns the precision that an interval's width allows for its numbers.
absl::Duration WidthStep(absl::Duration median, absl::Duration lower, absl::Duration upper) {
  median = Clamp(median);
  return (std::max(Clamp(upper), median) - std::min(Clamp(lower), median)) / kStepsInInterval;
}

}  // namespace

std::string RangeText(absl::Duration lower, absl::Duration upper, bool unicode) {
  const std::string dash = unicode ? "–" : "-";
  if (lower > text::kLongestSaid) return DurationText(lower);
  if (upper > text::kLongestSaid) return DurationText(lower) + " or more";
  if (DurationText(lower) == DurationText(upper)) return DurationText(upper);
  if (upper <= absl::Minutes(1)) {
    return fmt::format("{}{}{} s", absl::ToInt64Seconds(lower), dash, absl::ToInt64Seconds(upper));
  }
  const auto whole = [&](absl::Duration unit) {
    return IsMultiple(lower, unit) && IsMultiple(upper, unit);
  };
  if (upper < absl::Hours(1) && whole(absl::Minutes(1))) {
    return fmt::format("{}{}{} min", absl::ToInt64Minutes(lower), dash,
                       absl::ToInt64Minutes(upper));
  }
  if (upper < kDay && whole(absl::Hours(1))) {
    return fmt::format("{}{}{} h", absl::ToInt64Hours(lower), dash, absl::ToInt64Hours(upper));
  }
  const bool is_zero = lower <= absl::ZeroDuration();  // in any unit
  return fmt::format("{} {} {}", is_zero ? "0" : DurationText(lower), dash, DurationText(upper));
}

absl::Duration RoundingStep(absl::Duration precision) {
  absl::Duration step = absl::Seconds(1);
  for (const absl::Duration larger :
       {absl::Seconds(5), absl::Seconds(10), absl::Seconds(30), absl::Minutes(1), absl::Minutes(5),
        absl::Minutes(10), absl::Minutes(30), absl::Hours(1), absl::Hours(6), kDay}) {
    if (larger <= precision) step = larger;
  }
  return step;
}

absl::Duration RoundedWithin(absl::Duration within, const Range& whole) {
  within = Clamp(within);
  absl::Duration precision = within / kStepsInRemaining;
  if (whole.lower && whole.upper) {
    precision =
        std::min(WidthStep(whole.median, *whole.lower, *whole.upper), within / kStepsInNumber);
  }
  return Nearest(within, RoundingStep(precision));
}

KnownRemaining RoundToKnown(absl::Duration remaining, std::optional<absl::Duration> lower,
                            std::optional<absl::Duration> upper) {
  remaining = Clamp(remaining);
  if (!lower || !upper) {
    const absl::Duration rounded = RoundedWithin(remaining, {.median = remaining});
    return {.remaining = rounded, .lower = rounded, .upper = rounded};
  }
  const absl::Duration least = std::min(Clamp(*lower), remaining);
  const absl::Duration most = std::max(Clamp(*upper), remaining);
  const bool is_open = most > text::kLongestSaid;
  const absl::Duration rounded = RoundedWithin(remaining, {remaining, lower, upper});
  if (most - least < absl::Seconds(1)) return {rounded, rounded, rounded, /*has_range=*/true};
  const absl::Duration width = WidthStep(remaining, *lower, *upper);
  // Both bounds have the unit of the width, unless it would round half a unit or more to zero.
  const absl::Duration step = RoundingStep(std::min(width, least / kStepsInNumber));
  const absl::Duration unit = is_open ? step : std::max(step, UnitAtMost(width));
  const bool is_part_of_unit = least < unit && least >= unit / 2;
  const absl::Duration lowest = absl::Floor(least, is_part_of_unit ? step : unit);
  return {.remaining = rounded,
          .lower = std::min(lowest, rounded),
          .upper = std::max(absl::Ceil(most, RoundingStep(width)), rounded),
          .has_range = true};
}

}  // namespace tidemark::console
