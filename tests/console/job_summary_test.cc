#include "console/job_summary.h"

#include "tests/console/some_jobs.h"
#include "tests/test.h"

namespace tidemark::console::job_summary_test {
namespace {

constexpr TextOptions kAscii = {};

TEST(JobSummary, ShowsTheErrorOfEachIndicator) {
  EXPECT_THAT(RenderSummary(Succeeded(), 80, kAscii, "", true),
              ElementsAre("two-path succeeded after 1 min 12 s",
                          "Progress error by indicator, in percentage points",
                          "            ------- reduce phase -------   - whole job -",
                          "               avg     max  end in range     avg     max",
                          "nearestfit     2.1     8.9          92 %     1.8     9.1",
                          "hadoop        31.0    62.1             -    30.2    61.0"));
}

TEST(JobSummary, ShowsErrorsOnlyIfIndicatorsAreCompared) {
  EXPECT_THAT(RenderSummary(Succeeded(), 80, kAscii),
              ElementsAre("two-path succeeded after 1 min 12 s"));
}

TEST(JobSummary, HasNoErrorOfAReducePhaseWithoutAnUpdate) {
  Snapshot snapshot = Succeeded();
  snapshot.errors = {{.indicator = "tidemark", .job_avg_points = 3, .job_max_points = 4},
                     {.indicator = "exact",
                      .last_stage_avg_points = 0,
                      .last_stage_max_points = 0,
                      .interval_coverage = 1}};
  const auto lines = RenderSummary(snapshot, 80, kAscii, "", true);
  EXPECT_EQ(lines[4], "tidemark       -       -             -     3.0     4.0");
  EXPECT_EQ(lines[5], "exact        0.0     0.0         100 %     0.0     0.0");
}

TEST(JobSummary, ComparesTheDurationWithTheFirstForecast) {
  Snapshot snapshot = Ended(JobState::kSucceeded);
  snapshot.errors = {{.indicator = "tidemark",
                      .first_forecast = absl::Seconds(40),
                      .first_forecast_after = absl::Seconds(4.5)}};
  EXPECT_THAT(RenderSummary(snapshot, 80, kAscii),
              ElementsAre("two-path succeeded after 1 min 12 s (40 s predicted after 4.5 s)"));
}

TEST(JobSummary, ShowsThatSparkHasNoOtherIndicators) {
  Snapshot snapshot = Ended(JobState::kSucceeded);
  snapshot.info->kind = JobKind::kApplication;
  snapshot.indicators.clear();
  snapshot.errors = {{.indicator = "tidemark"}};
  EXPECT_EQ(RenderSummary(snapshot, 80, kAscii, "", true).back(),
            "no other estimators: they exist for MapReduce jobs only");
}

TEST(JobSummary, ShowsWhyAStageOfASuccessfulApplicationFailed) {
  Snapshot snapshot = Ended(JobState::kSucceeded);
  snapshot.stages[0].state = StageState::kFailed;
  snapshot.stages[0].failure = "fetch failed";
  EXPECT_THAT(RenderSummary(snapshot, 80, kAscii), testing::SizeIs(1)) << "a MapReduce job";
  snapshot.info->kind = JobKind::kApplication;
  EXPECT_THAT(RenderSummary(snapshot, 80, kAscii),
              ElementsAre("two-path succeeded after 1 min 12 s",
                          "map failed: fetch failed; the application continued without it"));
}

TEST(JobSummary, ShowsTenthsOfAShortJob) {
  Snapshot snapshot = Ended(JobState::kSucceeded);
  snapshot.ended_at = *snapshot.started_at + absl::Milliseconds(640);
  EXPECT_THAT(RenderSummary(snapshot, 80, kAscii), ElementsAre("two-path succeeded after 0.6 s"));
}

TEST(JobSummary, ShowsWhyAJobFailed) {
  EXPECT_THAT(RenderSummary(Failed(), 80, kAscii),
              ElementsAre("two-path failed at ~ 41 % after 1 min 12 s",
                          "r-1 failed four times: out of memory"));
}

TEST(JobSummary, ShowsNoProgressOfAJobThatFailedBeforeItsFirstEstimate) {
  Snapshot snapshot = Failed();
  snapshot.estimate.fraction_done = 0;
  EXPECT_EQ(RenderSummary(snapshot, 80, kAscii)[0], "two-path failed after 1 min 12 s");
}

TEST(JobSummary, ShowsThatTheJobWasRunning) {
  EXPECT_THAT(RenderSummary(SomeSnapshot(), 80, kAscii),
              ElementsAre("two-path was still running at its last report, after 1 min 12 s"));
}

TEST(JobSummary, ShowsTheOutcomeOfTheCaller) {
  EXPECT_THAT(RenderSummary(SomeSnapshot(), 80, kAscii, "succeeded; unconfirmed"),
              ElementsAre("two-path succeeded; unconfirmed"));
  EXPECT_THAT(RenderSummary(Ended(JobState::kKilled), 80, kAscii, "succeeded; unconfirmed"),
              ElementsAre("two-path killed at ~ 41 % after 1 min 12 s"));
}

TEST(JobSummary, ReplacesAnAbandonedOutcomeByThatOfTheCaller) {
  EXPECT_THAT(
      RenderSummary(Ended(JobState::kAbandoned), 80, kAscii, "succeeded, according to YARN"),
      ElementsAre("two-path succeeded, according to YARN"));
}

TEST(JobSummary, WrapsALongEnd) {
  EXPECT_THAT(RenderSummary(SomeSnapshot(), 24, kAscii, "reported no end: its outcome is unknown"),
              ElementsAre("two-path reported no", "end: its outcome is", "unknown"));
}

TEST(JobSummary, ShowsNoDurationWithoutAStart) {
  Snapshot snapshot = Ended(JobState::kSucceeded);
  snapshot.started_at.reset();
  EXPECT_EQ(RenderSummary(snapshot, 80, kAscii)[0],
            "two-path succeeded; its duration is not reported");
}

TEST(JobSummary, ShowsLosses) {
  Snapshot snapshot = Ended(JobState::kSucceeded);
  snapshot.coverage->lost_events = 1;
  EXPECT_THAT(RenderSummary(snapshot, 80, kAscii),
              ElementsAre("two-path succeeded after 1 min 12 s", "1 message lost"));
}

TEST(JobSummary, ShowsTheDurationOfEachJobOfAWorkflow) {
  Snapshot snapshot = Visits();
  snapshot.state = JobState::kFailed;
  snapshot.is_final = true;
  snapshot.message = "job count failed: out of disk";
  EXPECT_THAT(RenderSummary(snapshot, 80, kAscii),
              ElementsAre("page visits failed at ~ 41 % (22-50) after 1 min 12 s",
                          "job count failed: out of disk", "  parse: 40 s"));
  snapshot.children[0].ended_at = *snapshot.started_at + absl::Milliseconds(600);
  EXPECT_EQ(RenderSummary(snapshot, 80, kAscii)[2], "  parse: 0.6 s");
}

}  // namespace
}  // namespace tidemark::console::job_summary_test
