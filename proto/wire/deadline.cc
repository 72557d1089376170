#include "tidemark/deadline.h"

#include <fmt/format.h>

#include <charconv>
#include <system_error>
#include <type_traits>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "text/name_pattern.h"

namespace tidemark {
namespace {

constexpr absl::Duration kLongest = absl::Hours(24 * 365);
// Range of accepted years. Messages carry int64 nanoseconds since 1970, which overflow in 2262.
constexpr absl::civil_year_t kFirstYear = 1970;
constexpr absl::civil_year_t kLastYear = 2199;

bool IsWithinYears(absl::CivilSecond time) {
  return kFirstYear <= time.year() && time.year() <= kLastYear;
}

// Abseil's packaged library defines its own string_view.
absl::string_view AbslView(std::string_view text) { return {text.data(), text.size()}; }

// absl::ParseCivilTime ignores spaces, so this code checks digits itself.
bool IsDigit(char c) { return c >= '0' && c <= '9'; }

std::optional<Deadline> ReadTimeOfDay(std::string_view text) {
  absl::CivilMinute minute;
  if (text.size() != 5 || text[2] != ':' || !IsDigit(text.back())) return std::nullopt;
  if (!absl::ParseCivilTime(fmt::format("1970-01-01T{}", text), &minute)) return std::nullopt;
  if (minute.day() != 1) return std::nullopt;  // 24:00 is on the next day.
  return Deadline{Deadline::TimeOfDay{absl::Hours(minute.hour()) + absl::Minutes(minute.minute())}};
}

std::optional<Deadline> ReadLocal(std::string_view text) {
  if (text.size() != 16 || (text[10] != ' ' && text[10] != 'T') || !IsDigit(text.back())) {
    return std::nullopt;
  }
  absl::CivilMinute minute;
  if (!absl::ParseCivilTime(fmt::format("{}T{}", text.substr(0, 10), text.substr(11)), &minute)) {
    return std::nullopt;
  }
  if (!IsWithinYears(absl::CivilSecond(minute))) return std::nullopt;
  return Deadline{absl::CivilSecond(minute)};
}

// Abseil does not parse days, which come first, as in "1d12h".
std::optional<absl::Duration> ReadDuration(std::string_view text) {
  absl::Duration days;
  if (const std::size_t d = text.find('d'); d != std::string_view::npos) {
    int count = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + d, count);
    if (error != std::errc() || end != text.data() + d || !IsDigit(text.front())) {
      return std::nullopt;
    }
    days = count * absl::Hours(24);
    text.remove_prefix(d + 1);
    if (text.empty()) return days;
    if (!IsDigit(text.front())) return std::nullopt;
  }
  absl::Duration rest;
  if (!absl::ParseDuration(AbslView(text), &rest)) return std::nullopt;
  return days + rest;
}

// Returns the next time at which clocks show `time`. If clocks skip it, the result is as if they
// had not been changed.
absl::Time NextAfter(absl::Time start, absl::CivilSecond time, const absl::TimeZone& zone) {
  const absl::TimeZone::TimeInfo info = zone.At(time);
  const bool is_twice = info.kind == absl::TimeZone::TimeInfo::REPEATED;
  return is_twice && info.pre <= start ? info.post : info.pre;
}

}  // namespace

absl::StatusOr<Deadline> ParseDeadline(std::string_view text) {
  if (const auto time = ReadTimeOfDay(text)) return *time;
  if (const auto local = ReadLocal(text)) return *local;
  absl::Time instant;
  std::string error;
  if (absl::ParseTime(absl::RFC3339_full, AbslView(text), &instant, &error) &&
      IsWithinYears(absl::ToCivilSecond(instant, absl::UTCTimeZone()))) {
    return Deadline{instant};
  }
  const std::optional<absl::Duration> after = ReadDuration(text);
  if (after && *after > absl::ZeroDuration() && *after <= kLongest) return Deadline{*after};
  return absl::InvalidArgumentError(fmt::format(
      "must be a time of day such as 07:30, a date and time such as 2026-11-26 07:30 or "
      "2026-11-26T07:30:00Z, until 2199, or a duration such as 2h30m or 1d12h, at most 365 days, "
      "not {}",
      text.substr(0, 100)));
}

absl::Time InstantOf(const Deadline& deadline, absl::Time start, const absl::TimeZone& zone) {
  return std::visit(
      [&](const auto& when) -> absl::Time {
        using When = std::decay_t<decltype(when)>;
        if constexpr (std::is_same_v<When, absl::Duration>) {
          return start + when;
        } else if constexpr (std::is_same_v<When, Deadline::TimeOfDay>) {
          const auto on = [&](absl::CivilDay day) {
            return NextAfter(
                start, absl::CivilSecond(day) + absl::ToInt64Seconds(when.since_midnight), zone);
          };
          const absl::CivilDay today = absl::ToCivilDay(start, zone);
          return on(today) > start ? on(today) : on(today + 1);
        } else if constexpr (std::is_same_v<When, absl::CivilSecond>) {
          return zone.At(when).pre;  // as in NextAfter()
        } else {
          return when;
        }
      },
      deadline.when);
}

absl::StatusOr<DeadlineRule> ParseDeadlineRule(std::string_view text) {
  const std::size_t equals = text.rfind('=');
  if (equals == std::string_view::npos || equals == 0) {
    return absl::InvalidArgumentError(
        fmt::format("must be the name of a job, =, and its deadline, such as "
                    "nightly-*=07:30, not {}",
                    text.substr(0, 100)));
  }
  absl::StatusOr<Deadline> deadline = ParseDeadline(text.substr(equals + 1));
  if (!deadline.ok()) return deadline.status();
  return DeadlineRule{.jobs = std::string(text.substr(0, equals)), .deadline = *deadline};
}

std::string ToString(const DeadlineRule& rule) {
  const absl::TimeZone utc = absl::UTCTimeZone();
  const auto write = [&](const auto& when) -> std::string {
    using When = std::decay_t<decltype(when)>;
    if constexpr (std::is_same_v<When, absl::Duration>) {
      return absl::FormatDuration(when);
    } else if constexpr (std::is_same_v<When, Deadline::TimeOfDay>) {
      return absl::FormatTime("%H:%M", absl::UnixEpoch() + when.since_midnight, utc);
    } else if constexpr (std::is_same_v<When, absl::CivilSecond>) {
      return absl::FormatTime("%Y-%m-%d %H:%M", absl::FromCivil(when, utc), utc);
    } else {
      return absl::FormatTime(absl::RFC3339_full, when, utc);
    }
  };
  return fmt::format("{}={}", rule.jobs, std::visit(write, rule.deadline.when));
}

std::optional<absl::Time> DeadlineOf(const std::vector<DeadlineRule>& rules,
                                     const std::string& name, absl::Time start,
                                     const absl::TimeZone& zone) {
  for (const DeadlineRule& rule : rules) {
    if (text::Fits(rule.jobs, name)) return InstantOf(rule.deadline, start, zone);
  }
  return std::nullopt;
}

}  // namespace tidemark
