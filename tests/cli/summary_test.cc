#include "cli/console/summary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/some_snapshots.h"

namespace tidemark::console {
namespace {

using testing::ElementsAre;

constexpr TextOptions kAscii = {};

TEST(Summary, TellsHowWrongEachIndicatorWas) {
  EXPECT_THAT(
      RenderSummary(Succeeded(), 80, kAscii),
      ElementsAre("two-path succeeded after 1 min 12 s", "Forecast error (percentage points)",
                  "              reduce phase       whole job  end inside",
                  "               avg     max     avg     max   the range",
                  "nearestfit     2.1     8.9     1.8     9.1        92 %",
                  "hadoop        31.0    62.1    30.2    61.0           -"));
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

TEST(JobTable, SaysThatThereAreNone) {
  EXPECT_THAT(RenderJobTable({}, 80, kAscii), ElementsAre("no jobs"));
}

}  // namespace
}  // namespace tidemark::console
