#include "console/deadline_wording.h"

#include <fmt/format.h>

#include "console/job_wording.h"

namespace tidemark::console {
namespace {

// The console does not show nearer ends as a clock time, since the remaining time suffices. Ends
// from here on are shown to the minute. Chosen by hand.
constexpr absl::Duration kClockFrom = absl::Minutes(5);

// More distant ends are not shown as a clock time. Chosen by hand.
constexpr absl::Duration kNoClock = absl::Hours(24 * 365);

// Maximum ratio of the upper bound to the median for which a clock time is shown. Chosen by hand.
constexpr double kUpperMax = 3;

// More distant clock times are shown without seconds, like DurationText().
constexpr absl::Duration kSecondsWithin = absl::Hours(1);

// Durations of at least this length are rounded to whole minutes. Chosen by hand.
constexpr absl::Duration kMinutesFrom = absl::Minutes(2);

// Ends whose intervals have at least this width are shown to the minute. Chosen by hand as five
// minutes, since numbers are rounded to a fifth of the interval.
constexpr absl::Duration kMinutesFromWidth = absl::Minutes(5);

absl::Time ToTheMinute(absl::Time at) {
  return absl::UnixEpoch() + absl::Floor(at - absl::UnixEpoch(), absl::Minutes(1));
}

// Returns true if the shown end is that of the application, not that of its headline.
bool IsEndShown(const Snapshot& snapshot) { return snapshot.headline_group.empty(); }

}  // namespace

std::string LikelihoodText(double late) {
  if (late < 0.01) return "under 1 %";
  if (late > 0.99) return "over 99 %";
  return fmt::format("{:.0f} %", 100 * late);
}

std::string ClockText(absl::Time at, absl::Time now, const TextOptions& options) {
  const absl::TimeZone zone = options.zone == nullptr ? absl::UTCTimeZone() : *options.zone;
  const bool is_today = absl::ToCivilDay(at, zone) == absl::ToCivilDay(now, zone);
  const bool is_this_year = absl::ToCivilYear(at, zone) == absl::ToCivilYear(now, zone);
  const bool has_seconds =
      absl::AbsDuration(at - now) < kSecondsWithin && absl::ToCivilSecond(at, zone).second() != 0;
  const std::string day = is_today ? "" : is_this_year ? "%b %d " : "%Y-%m-%d ";
  return absl::FormatTime(day + (has_seconds ? "%H:%M:%S" : "%H:%M"), at, zone);
}

absl::Duration ClockStep(const KnownRemaining& known) {
  const bool is_in_minutes = known.remaining >= kMinutesFrom &&
                             absl::Floor(known.remaining, absl::Minutes(1)) == known.remaining;
  const bool is_wide = known.has_range && known.upper - known.lower >= kMinutesFromWidth;
  const bool is_far = known.remaining >= kClockFrom;
  return is_far || is_in_minutes || is_wide ? absl::Minutes(1) : absl::Seconds(1);
}

std::optional<absl::Time> ForecastEnd(const Snapshot& snapshot) {
  const auto& remaining = snapshot.estimate.remaining;
  if (snapshot.is_final || !remaining || remaining->median > kNoClock) return std::nullopt;
  // Readers trust a clock time more than a duration, so none is shown if the interval is wide.
  if (remaining->upper && *remaining->upper > kUpperMax * remaining->median) return std::nullopt;
  const KnownRemaining known = RoundToKnown(remaining->median, remaining->lower, remaining->upper);
  const absl::Time end = snapshot.at + known.remaining;
  if (end == absl::InfinitePast() || end == absl::InfiniteFuture()) return std::nullopt;
  return ClockStep(known) > absl::Seconds(1) ? ToTheMinute(end) : end;
}

std::string EndClockText(const Snapshot& snapshot, const TextOptions& options) {
  const std::optional<absl::Time> end = ForecastEnd(snapshot);
  if (!end || snapshot.estimate.remaining->median < kClockFrom) return "";
  return "ends about " + ClockText(*end, snapshot.at, options);
}

DeadlineWords DescribeDeadline(const Snapshot& snapshot) {
  if (!snapshot.deadline) return {};
  if (snapshot.is_final) {
    if (!snapshot.late_probability || !snapshot.ended_at) return {.before = "due "};
    if (*snapshot.late_probability < 0.5) return {.before = "on time (due ", .after = ")"};
    return {.before = ElapsedText(*snapshot.ended_at - *snapshot.deadline) + " late (due ",
            .after = ")"};
  }
  if (snapshot.at >= *snapshot.deadline) return {.before = "was due "};
  if (!snapshot.late_probability || !IsEndShown(snapshot)) return {.before = "due "};
  return {.before = "due ",
          .after = fmt::format(", {} likely late", LikelihoodText(*snapshot.late_probability))};
}

std::string DeadlineText(const Snapshot& snapshot, const TextOptions& options) {
  if (!snapshot.deadline) return "";
  const auto [before, after] = DescribeDeadline(snapshot);
  return before + ClockText(*snapshot.deadline, snapshot.at, options) + after;
}

bool IsLikelyLate(const Snapshot& snapshot) {
  const double late = snapshot.late_probability.value_or(0);
  // Before the deadline, a guess and an end that is not shown cause no warning.
  const bool is_guess = IsGuess(snapshot) || !IsEndShown(snapshot);
  return is_guess ? late >= 1 : late >= 0.5;
}

}  // namespace tidemark::console
