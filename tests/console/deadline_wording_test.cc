#include "console/deadline_wording.h"

#include "console/job_frame.h"
#include "console/job_lines.h"
#include "console/job_summary.h"
#include "console/job_table.h"
#include "tests/console/some_jobs.h"
#include "tests/test.h"

namespace tidemark::console::deadline_wording_test {
namespace {

constexpr TextOptions kAscii = {};

// The snapshot is from 22:14:32 UTC on a Tuesday in November.
Snapshot Due(absl::Duration in, std::optional<double> late) {
  Snapshot snapshot = SomeSnapshot();
  snapshot.deadline = snapshot.at + in;
  snapshot.late_probability = late;
  return snapshot;
}

TEST(DeadlineText, ShowsTheProbabilityOfBeingLate) {
  EXPECT_EQ(DeadlineText(SomeSnapshot(), kAscii), "");
  EXPECT_EQ(DeadlineText(Due(absl::Minutes(40), 0.834), kAscii), "due 22:54:32, 83 % likely late");
  EXPECT_EQ(DeadlineText(Due(absl::Minutes(40), 0.001), kAscii),
            "due 22:54:32, under 1 % likely late");
  EXPECT_EQ(DeadlineText(Due(absl::Minutes(40), 0.999), kAscii),
            "due 22:54:32, over 99 % likely late");
}

TEST(DeadlineText, IgnoresGuessesBeforeTheDeadline) {
  EXPECT_FALSE(IsLikelyLate(SomeSnapshot()));
  EXPECT_FALSE(IsLikelyLate(Due(absl::Minutes(40), 0.49)));
  EXPECT_TRUE(IsLikelyLate(Due(absl::Minutes(40), 0.5)));
  Snapshot guess = Due(absl::Minutes(40), 0.999);
  guess.estimate.basis = Basis::kGuess;
  EXPECT_FALSE(IsLikelyLate(guess));
  EXPECT_EQ(DeadlineText(guess, kAscii), "due 22:54:32, over 99 % likely late") << "it is said";
  guess.late_probability = 1;
  EXPECT_TRUE(IsLikelyLate(guess));
  Snapshot wide = Due(absl::Minutes(40), 0.999);
  wide.estimate.remaining->upper = absl::Hours(9);
  EXPECT_FALSE(IsLikelyLate(wide)) << "few results yet";
}

TEST(DeadlineText, OmitsUnknownValues) {
  EXPECT_EQ(DeadlineText(Due(absl::Minutes(40), {}), kAscii), "due 22:54:32");
  EXPECT_EQ(DeadlineText(Due(-absl::Minutes(4), 1), kAscii), "was due 22:10:32");
}

TEST(DeadlineText, OmitsTheProbabilityIfMoreQueriesMayCome) {
  Snapshot growing = Due(absl::Minutes(40), 0.834);
  growing.headline_group = "sql/0";
  EXPECT_EQ(DeadlineText(growing, kAscii), "due 22:54:32");
  EXPECT_FALSE(IsLikelyLate(growing));
  growing.late_probability = 1;
  EXPECT_TRUE(IsLikelyLate(growing)) << "the deadline has passed";
}

TEST(DeadlineText, NamesTheDayOfAnotherDay) {
  EXPECT_EQ(DeadlineText(Due(absl::Hours(9), {}), kAscii), "due Nov 15 07:14");
  EXPECT_EQ(DeadlineText(Due(absl::Hours(24 * 60), {}), kAscii), "due 2024-01-13 22:14");
}

TEST(ClockText, HasSecondsWithinAnHour) {
  const absl::Time now = SomeSnapshot().at;  // 22:14:32
  EXPECT_EQ(ClockText(now + absl::Seconds(8), now, kAscii), "22:14:40");
  EXPECT_EQ(ClockText(now - absl::Seconds(59 * 60 + 59), now, kAscii), "21:14:33");
  EXPECT_EQ(ClockText(now + absl::Seconds(59 * 60 + 59), now, kAscii), "23:14:31");
  EXPECT_EQ(ClockText(now + absl::Hours(1), now, kAscii), "23:14") << "as durations, from here on";
  EXPECT_EQ(ClockText(now - absl::Hours(1), now, kAscii), "21:14");
  EXPECT_EQ(ClockText(now + absl::Milliseconds(28'500), now, kAscii), "22:15") << "on the minute";
  const absl::Time eve = now + absl::Minutes(103);  // 23:57:32
  EXPECT_EQ(ClockText(eve + absl::Minutes(5), eve, kAscii), "Nov 15 00:02:32");
}

TEST(DeadlineText, IsInTheZoneOfTheReader) {
  const absl::TimeZone east = absl::FixedTimeZone(3600);
  EXPECT_EQ(DeadlineText(Due(absl::Minutes(40), {}), {.zone = &east}), "due 23:54:32");
}

TEST(DeadlineText, ShowsWhetherAnEndedJobWasLate) {
  Snapshot ended = Due(-absl::Minutes(12), 1);
  ended.is_final = true;
  ended.state = JobState::kSucceeded;
  ended.ended_at = ended.at;
  EXPECT_EQ(DeadlineText(ended, kAscii), "12 min late (due 22:02:32)");
  ended.deadline = ended.at + absl::Minutes(12);
  ended.late_probability = 0;
  EXPECT_EQ(DeadlineText(ended, kAscii), "on time (due 22:26:32)");
  ended.state = JobState::kFailed;
  ended.late_probability.reset();
  EXPECT_EQ(DeadlineText(ended, kAscii), "due 22:26:32");
}

TEST(EndClockText, ShowsTheEndUnlessItIsNear) {
  Snapshot snapshot = SomeSnapshot();
  EXPECT_EQ(EndClockText(snapshot, kAscii), "");
  snapshot.estimate.remaining = Range{absl::Minutes(50), absl::Minutes(48), absl::Minutes(54)};
  EXPECT_EQ(EndClockText(snapshot, kAscii), "ends about 23:04");
  // The end is known to within half a minute, and would be 22:22:02. An uncertain end is shown
  // without seconds.
  snapshot.estimate.remaining = Range{absl::Seconds(450), absl::Seconds(360), absl::Seconds(540)};
  EXPECT_EQ(EndClockText(snapshot, kAscii), "ends about 22:22");
  snapshot.estimate.remaining = Range{absl::Minutes(50), absl::Minutes(2), absl::Hours(17)};
  EXPECT_EQ(EndClockText(snapshot, kAscii), "") << "nobody knows";
  snapshot.estimate.remaining->median = absl::InfiniteDuration();
  EXPECT_EQ(EndClockText(snapshot, kAscii), "");
  snapshot.estimate.remaining.reset();
  EXPECT_EQ(EndClockText(snapshot, kAscii), "");
}

TEST(ForecastEnd, IsAsPreciseAsTheRemainingTime) {
  Snapshot snapshot = SomeSnapshot();
  snapshot.estimate.remaining = Range{absl::Seconds(198), absl::Seconds(171), absl::Seconds(249)};
  // The remaining time of 3 min 18 s is shown as 3 min 20 s.
  EXPECT_EQ(ForecastEnd(snapshot), snapshot.at + absl::Seconds(200)) << "though it is near";
  // From five minutes on, an end is shown to the minute: 22:22:00 instead of 22:22:02.
  snapshot.estimate.remaining = Range{absl::Seconds(450), absl::Seconds(360), absl::Seconds(540)};
  EXPECT_EQ(ForecastEnd(snapshot), snapshot.at + absl::Seconds(448));
}

TEST(ForecastEnd, IsMissingIfUnknown) {
  Snapshot snapshot = SomeSnapshot();
  snapshot.estimate.remaining = Range{absl::Minutes(50), absl::Minutes(2), absl::Minutes(151)};
  EXPECT_EQ(ForecastEnd(snapshot), std::nullopt);
  snapshot.estimate.remaining = Range{absl::Hours(24 * 366), {}, {}};
  EXPECT_EQ(ForecastEnd(snapshot), std::nullopt);
  snapshot.estimate.remaining.reset();
  EXPECT_EQ(ForecastEnd(snapshot), std::nullopt);
  snapshot = SomeSnapshot();
  snapshot.is_final = true;
  EXPECT_EQ(ForecastEnd(snapshot), std::nullopt);
}

TEST(DeadlineText, AppearsInBarLineTableAndSummary) {
  const Snapshot late = Due(absl::Minutes(40), 0.834);
  const char* const words = "due 22:54:32, 83 % likely late";
  EXPECT_THAT(RenderFrame(late, {.width = 80}), Contains(HasSubstr(words)));
  EXPECT_THAT(PlainLine(late, kAscii, false), HasSubstr(words));
  EXPECT_THAT(RenderJobTable({late}, {.width = 200}), Contains(HasSubstr(words)));
  Snapshot ended = Due(-absl::Minutes(12), 1);
  ended.is_final = true;
  ended.state = JobState::kSucceeded;
  ended.ended_at = ended.at;
  EXPECT_THAT(RenderSummary(ended, 200, kAscii, "", false), Contains(HasSubstr("12 min late")));
  EXPECT_THAT(RenderFrame(SomeSnapshot(), {.width = 80}), Not(Contains(HasSubstr("due"))));
}

TEST(PlainLines, ReportThatAJobIsLikelyLate) {
  PlainLines lines(kAscii, false);
  EXPECT_TRUE(lines.Next(Due(absl::Minutes(40), 0.4)).has_value());
  EXPECT_FALSE(lines.Next(Due(absl::Minutes(40), 0.45)).has_value());
  EXPECT_TRUE(lines.Next(Due(absl::Minutes(40), 0.6)).has_value());
}

}  // namespace
}  // namespace tidemark::console::deadline_wording_test
