#include "cli/console/summary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/some_snapshots.h"

namespace tidemark::console {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr TextOptions kAscii = {};

TEST(Summary, TellsHowWrongEachIndicatorWas) {
  EXPECT_THAT(
      RenderSummary(Succeeded(), 80, kAscii),
      ElementsAre("two-path succeeded after 1 min 12 s", "Forecast error (percentage points)",
                  "            ------- reduce phase -------   - whole job -",
                  "               avg     max  end in range     avg     max",
                  "nearestfit     2.1     8.9          92 %     1.8     9.1",
                  "hadoop        31.0    62.1             -    30.2    61.0"));
}

TEST(Summary, HasNoErrorOfAReducePhaseWithoutAnUpdate) {
  Snapshot snapshot = Succeeded();
  snapshot.errors = {
      {.indicator = "tidemark", .job_avg_error_points = 3, .job_max_error_points = 4},
      {.indicator = "exact", .interval_coverage = 1}};
  const auto lines = RenderSummary(snapshot, 80, kAscii);
  EXPECT_EQ(lines[4], "tidemark       -       -             -     3.0     4.0");
  EXPECT_EQ(lines[5], "exact        0.0     0.0         100 %     0.0     0.0");
}

TEST(Summary, CountsTheTenthsOfAShortJob) {
  Snapshot snapshot = Ended(JobState::kSucceeded);
  snapshot.elapsed = absl::Milliseconds(640);
  EXPECT_THAT(RenderSummary(snapshot, 80, kAscii), ElementsAre("two-path succeeded after 0.6 s"));
}

TEST(Summary, TellsWhyAJobFailed) {
  EXPECT_THAT(
      RenderSummary(Failed(), 80, kAscii),
      ElementsAre("two-path failed after 1 min 12 s", "r-1 failed four times: out of memory"));
}

TEST(Summary, TellsThatTheJobWasNotOver) {
  EXPECT_THAT(RenderSummary(SomeSnapshot(), 80, kAscii),
              ElementsAre("two-path was still running when last seen, after 1 min 12 s"));
}

TEST(Summary, TellsTheEndThatOnlyTheCallerKnows) {
  EXPECT_THAT(RenderSummary(SomeSnapshot(), 80, kAscii, "succeeded; unconfirmed"),
              ElementsAre("two-path succeeded; unconfirmed"));
  EXPECT_THAT(RenderSummary(Ended(JobState::kKilled), 80, kAscii, "succeeded; unconfirmed"),
              ElementsAre("two-path killed after 1 min 12 s"));
}

TEST(Summary, TellsWhatWasLost) {
  Snapshot snapshot = Ended(JobState::kSucceeded);
  snapshot.coverage.lost_envelopes = 1;
  EXPECT_THAT(RenderSummary(snapshot, 80, kAscii),
              ElementsAre("two-path succeeded after 1 min 12 s", "1 message lost"));
}

TEST(JobTable, HasARowForEachJob) {
  Snapshot failed = Failed();
  failed.job_id = "job-20";
  EXPECT_THAT(
      RenderJobTable({SomeSnapshot(), failed}, 100, kAscii),
      ElementsAre(
          "JOB     STATE    DONE  ELAPSED     PHASE             END",
          "job-1   running  41 %  1 min 12 s  reduce 1/4 tasks  ~ 3 min 20 s left (2 min 50 s - 4 "
          "min 10 s)",
          "job-20  failed   41 %  1 min 12 s                    r-1 failed four times: out of "
          "memory"));
}

TEST(JobTable, SaysThatAJobIsSilent) {
  Snapshot silent = SomeSnapshot();
  silent.coverage.silent_for = absl::Seconds(131);
  EXPECT_THAT(RenderJobTable({silent}, 120, kAscii)[1],
              HasSubstr("  no news for 2 min 11 s; ~ 3 min 20 s left"));
  silent.state = JobState::kAbandoned;
  EXPECT_THAT(RenderJobTable({silent}, 120, kAscii)[1], Not(HasSubstr("no news")));
}

TEST(JobTable, SaysThatThereAreNone) {
  EXPECT_THAT(RenderJobTable({}, 80, kAscii), ElementsAre("no jobs"));
}

}  // namespace
}  // namespace tidemark::console
