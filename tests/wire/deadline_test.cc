#include "tidemark/deadline.h"

#include "tests/test.h"

namespace tidemark::deadline_test {
namespace {

absl::Time Utc(const char* text) {
  absl::Time time;
  std::string error;
  EXPECT_TRUE(absl::ParseTime(absl::RFC3339_full, text, &time, &error)) << text;
  return time;
}

std::string At(const char* text, const char* start,
               const absl::TimeZone& zone = absl::UTCTimeZone()) {
  const auto deadline = ParseDeadline(text);
  EXPECT_TRUE(deadline.ok()) << deadline.status();
  return absl::FormatTime(absl::RFC3339_sec, InstantOf(*deadline, Utc(start), zone),
                          absl::UTCTimeZone());
}

TEST(Deadline, TimeOfDayIsTheNextOneAfterTheStart) {
  EXPECT_EQ(At("07:30", "2026-11-25T23:00:00Z"), "2026-11-26T07:30:00+00:00");
  EXPECT_EQ(At("07:30", "2026-11-25T07:29:59Z"), "2026-11-25T07:30:00+00:00");
  EXPECT_EQ(At("07:30", "2026-11-25T07:30:00Z"), "2026-11-26T07:30:00+00:00");
  EXPECT_EQ(At("00:00", "2026-12-31T23:59:59Z"), "2027-01-01T00:00:00+00:00");
}

TEST(Deadline, TimeOfDayFollowsTheWallClock) {
  // New York is five hours behind UTC in winter.
  EXPECT_EQ(At("07:30", "2026-11-25T23:00:00Z", absl::FixedTimeZone(-5 * 3600)),
            "2026-11-26T12:30:00+00:00");
  absl::TimeZone zone;
  if (!absl::LoadTimeZone("Europe/Berlin", &zone)) GTEST_SKIP() << "no time zones on this host";
  // In the night of the 25th, the offset changes from 2 h (summer time) to 1 h (winter time), so
  // 02:30 local time occurs at 00:30 UTC and again at 01:30 UTC.
  EXPECT_EQ(At("07:30", "2026-10-24T20:00:00Z", zone), "2026-10-25T06:30:00+00:00");
  EXPECT_EQ(At("02:30", "2026-10-24T20:00:00Z", zone), "2026-10-25T00:30:00+00:00");
  EXPECT_EQ(At("02:30", "2026-10-25T00:45:00Z", zone), "2026-10-25T01:30:00+00:00");
  EXPECT_EQ(At("02:30", "2026-10-25T01:45:00Z", zone), "2026-10-26T01:30:00+00:00");
  EXPECT_EQ(At("2026-10-25 02:30", "2026-10-24T20:00:00Z", zone), "2026-10-25T00:30:00+00:00");
  // A time that the clocks skip counts as if they had not.
  EXPECT_EQ(At("02:30", "2026-03-28T20:00:00Z", zone), "2026-03-29T01:30:00+00:00");
  EXPECT_EQ(At("02:30", "2026-03-29T01:45:00Z", zone), "2026-03-30T00:30:00+00:00");
  EXPECT_EQ(At("2026-03-29 02:30", "2026-03-28T20:00:00Z", zone), "2026-03-29T01:30:00+00:00");
}

TEST(Deadline, DateIsLocalAndInstantIsNot) {
  const absl::TimeZone east = absl::FixedTimeZone(3600);
  EXPECT_EQ(At("2026-11-26 07:30", "2026-11-25T23:00:00Z", east), "2026-11-26T06:30:00+00:00");
  EXPECT_EQ(At("2026-11-26T07:30:00+02:00", "2026-11-25T23:00:00Z", east),
            "2026-11-26T05:30:00+00:00");
}

TEST(Deadline, DurationCountsFromTheStartAndMayBeginWithDays) {
  EXPECT_EQ(At("2h30m", "2026-11-25T23:00:00Z"), "2026-11-26T01:30:00+00:00");
  EXPECT_EQ(At("1d12h", "2026-11-25T23:00:00Z"), "2026-11-27T11:00:00+00:00");
  EXPECT_EQ(At("365d", "2026-11-25T23:00:00Z"), "2027-11-25T23:00:00+00:00");
  EXPECT_EQ(At("0d90m", "2026-11-25T23:00:00Z"), "2026-11-26T00:30:00+00:00");
  for (const char* bad : {"d", "0d", "366d", "365d1s", "1d-3h", "-1d", "+1d", "1.5d", "1d2d",
                          "12h1d", "1dinf", "99999999999999999999d", "1 d", "1d 2h"}) {
    const absl::Status status = ParseDeadline(bad).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << bad;
    EXPECT_TRUE(status.message().find("2h30m or 1d12h, at most 365 days") != std::string::npos);
  }
}

TEST(Deadline, RejectsInvalidTimes) {
  const auto is_invalid = [](const char* text) {
    return ParseDeadline(text).status().code() == absl::StatusCode::kInvalidArgument;
  };
  for (const char* bad :
       {"", "7:30", "25:00", "24:00", "07:60", "07:30:00", "07:3\n", "soon", "-1h", "0s", "inf",
        "-inf", "infinite-future", "9000h", "nan", "1e308h"}) {
    EXPECT_TRUE(is_invalid(bad)) << bad;
  }
  for (const char* bad : {"2026-13-01 07:30", "2026-11-26", "2026-11-26T07:30:00",
                          "2200-01-01 00:00", "9999-12-31T23:59:59Z", "292277-01-01T00:00:00Z",
                          "0001-01-01 00:00", "1969-12-31T23:59:59Z"}) {
    EXPECT_TRUE(is_invalid(bad)) << bad;
  }
  EXPECT_LT(ParseDeadline(std::string(100'000, '7')).status().message().size(), 400u);
}

TEST(DeadlineRule, UsesTheFirstMatchingRule) {
  const auto rule = [](const char* text) { return ParseDeadlineRule(text).value(); };
  const std::vector<DeadlineRule> rules = {rule("nightly-*=07:30"), rule("nightly-x=2h"),
                                           rule("a=b=3h"), rule("load [eu]=4h")};
  const absl::Time start = Utc("2026-11-25T23:00:00Z");
  const auto of = [&](const char* name) {
    return DeadlineOf(rules, name, start, absl::UTCTimeZone());
  };
  EXPECT_EQ(of("nightly-x"), Utc("2026-11-26T07:30:00Z"));
  EXPECT_EQ(of("a=b"), Utc("2026-11-26T02:00:00Z"));
  EXPECT_EQ(of("load [eu]"), Utc("2026-11-26T03:00:00Z")) << "only * is special";
  EXPECT_EQ(of("other"), std::nullopt);
}

TEST(DeadlineRule, IsWrittenAsItIsRead) {
  for (const char* text :
       {"nightly-*=07:30", "a=2h30m", "b=2026-11-26 07:30", "c=2026-11-26T07:30:00+00:00"}) {
    EXPECT_EQ(ToString(ParseDeadlineRule(text).value()), text);
  }
  EXPECT_FALSE(ParseDeadlineRule("07:30").ok());
  EXPECT_FALSE(ParseDeadlineRule("=07:30").ok());
  EXPECT_FALSE(ParseDeadlineRule("a=").ok());
}

}  // namespace
}  // namespace tidemark::deadline_test
