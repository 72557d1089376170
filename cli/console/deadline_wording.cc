#include "cli/console/deadline_wording.h"

#include <fmt/format.h>

#include "cli/console/duration_text.h"

namespace tidemark::console {
namespace {

// Taste: an end that is nearer is read off the time left.
constexpr absl::Duration kClockFrom = absl::Minutes(5);

// Taste: of an end that is farther no instant is told.
constexpr absl::Duration kNoClock = absl::Hours(24 * 365);

// Taste. How many times the time left its upper bound may be for an end by the clock to be told.
constexpr double kUpperMax = 3;

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
  return absl::FormatTime(is_today       ? "%H:%M"
                          : is_this_year ? "%b %d %H:%M"
                                         : "%Y-%m-%d %H:%M",
                          at, zone);
}

std::optional<absl::Time> ExpectedEnd(const Snapshot& snapshot) {
  const auto& remaining = snapshot.estimate.remaining;
  if (snapshot.is_final || !remaining || remaining->median > kNoClock) return std::nullopt;
  // An instant looks more certain than a span: not where it may take several times as long.
  if (remaining->upper && *remaining->upper > kUpperMax * remaining->median) return std::nullopt;
  const KnownRemaining known = RoundToKnown(remaining->median, remaining->lower, remaining->upper);
  const absl::Time end = snapshot.at + known.remaining;
  if (end == absl::InfinitePast() || end == absl::InfiniteFuture()) return std::nullopt;
  return end;
}

std::string EndClockText(const Snapshot& snapshot, const TextOptions& options) {
  const std::optional<absl::Time> end = ExpectedEnd(snapshot);
  if (!end || snapshot.estimate.remaining->median < kClockFrom) return "";
  return "ends about " + ClockText(*end, snapshot.at, options);
}

DeadlineWords DescribeDeadline(const Snapshot& snapshot) {
  if (!snapshot.deadline) return {};
  if (snapshot.is_final) {
    if (!snapshot.late_probability || !snapshot.ended_at) return {.before = "due "};
    if (*snapshot.late_probability < 0.5) return {.before = "in time (due ", .after = ")"};
    return {.before = ElapsedText(*snapshot.ended_at - *snapshot.deadline) + " late (due ",
            .after = ")"};
  }
  if (snapshot.at >= *snapshot.deadline) return {.before = "was due "};
  if (!snapshot.late_probability) return {.before = "due "};
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
  // Of a guess nobody is warned, until the deadline has passed.
  return snapshot.estimate.basis == Basis::kGuess ? late >= 1 : late >= 0.5;
}

}  // namespace tidemark::console
