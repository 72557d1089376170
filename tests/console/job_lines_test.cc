#include "console/job_lines.h"

#include "tests/console/some_jobs.h"
#include "tests/test.h"

namespace tidemark::console::job_lines_test {
namespace {

constexpr TextOptions kAscii = {};

Snapshot After(int seconds, double fraction) {
  Snapshot snapshot = SomeSnapshot();
  snapshot.at += absl::Seconds(seconds);
  snapshot.estimate.fraction_done = fraction;
  return snapshot;
}

TEST(JobLine, HasAllPartsInOneLine) {
  EXPECT_EQ(
      PlainLine(SomeSnapshot(), kAscii, false),
      "[1 min 12 s] two-path: reduce 1/4 tasks, ~ 41 % (35-50), ~ 3 min 20 s left (2 min 50 s "
      "- 4 min 10 s); reduce task 2 will end last: a key of 1.2 MB takes 61 % of its remaining "
      "time");
}

TEST(JobLine, NamesTheMethodOfTheShownPercentage) {
  Snapshot snapshot = SomeSnapshot();
  snapshot.estimate.method = EstimateMethod::kPastRuns;
  EXPECT_TRUE(
      PlainLine(snapshot, kAscii, false)
          .starts_with("[1 min 12 s] two-path: reduce 1/4 tasks, ~ 41 % (35-50), ~ 3 min 20 s left "
                       "(2 min 50 s - 4 min 10 s), method: past runs; "));
}

TEST(JobLine, ComparesIndicators) {
  EXPECT_TRUE(
      PlainLine(SomeSnapshot(), kAscii, true).ends_with("; hadoop ~ 88 %, nearestfit ~ 79 %"));
}

TEST(JobLine, HasNoPercentageWhileWarmingUp) {
  EXPECT_EQ(
      PlainLine(WarmingUp(), kAscii, false),
      "[1 min 12 s] two-path: map 37 %, no estimate yet: waiting for the first reduce results");
}

TEST(JobLine, ShowsTheOutcome) {
  EXPECT_EQ(PlainLine(Failed(), kAscii, false),
            "[1 min 12 s] two-path: reduce done, ~ 41 %, failed");
  Snapshot lost = Ended(JobState::kAbandoned);
  lost.stages[1].state = StageState::kFailed;
  lost.stages[1].finished_tasks = 1;
  EXPECT_EQ(PlainLine(lost, kAscii, false),
            "[1 min 12 s] two-path: reduce last reported at 1/4 tasks, ~ 41 %, abandoned");
}

TEST(JobLine, IsCompleteWithoutForecasts) {
  EXPECT_EQ(PlainLine({.job_id = "job-9"}, kAscii, true), "[0 s] job-9: not started");
}

TEST(JobLines, ContainTheFirstSnapshot) {
  EXPECT_TRUE(PlainLines(kAscii, false).Next(SomeSnapshot()).has_value());
}

TEST(JobLines, AreMissingWithoutChanges) {
  PlainLines lines(kAscii, false);
  lines.Next(After(0, 0.41));
  EXPECT_FALSE(lines.Next(After(1, 0.412)).has_value());
  EXPECT_FALSE(lines.Next(After(9, 0.419)).has_value());
}

TEST(JobLines, ReportTheStartAndEndOfASilence) {
  PlainLines lines(kAscii, false);
  lines.Next(After(0, 0.41));
  Snapshot silent = After(4, 0.41);
  silent.silent_since = silent.at - absl::Seconds(4);
  const auto begins = lines.Next(silent);
  ASSERT_TRUE(begins.has_value());
  EXPECT_TRUE(begins->ends_with("; no reports from the job for 4 s")) << *begins;
  silent.at += absl::Seconds(1);
  EXPECT_FALSE(lines.Next(silent).has_value());
  EXPECT_TRUE(lines.Next(After(6, 0.41)).has_value());
}

TEST(JobLines, ReportASilentWorkflow) {
  Snapshot silent = Visits();
  silent.silent_since = silent.at - absl::Seconds(25);
  const std::string line = PlainLine(silent, kAscii, false);
  EXPECT_TRUE(line.ends_with("; no reports from any of its jobs for 25 s")) << line;
}

TEST(JobLines, ReportEachPercentagePoint) {
  PlainLines lines(kAscii, false);
  lines.Next(After(0, 0.41));
  EXPECT_TRUE(lines.Next(After(1, 0.42)).has_value());
  EXPECT_FALSE(lines.Next(After(2, 0.425)).has_value());
}

TEST(JobLines, ReportEachLossOnce) {
  PlainLines lines(kAscii, false);
  Snapshot lossy = After(0, 0.41);
  lossy.coverage = Coverage{.dropped_points = 2};
  EXPECT_THAT(*lines.Next(lossy), HasSubstr("; 2 measurements dropped"));
  Snapshot later = After(10, 0.41);
  later.coverage = lossy.coverage;
  EXPECT_THAT(*lines.Next(later), Not(HasSubstr("dropped")));
  later.at += absl::Seconds(10);
  later.coverage->dropped_points = 3;
  EXPECT_THAT(*lines.Next(later), HasSubstr("; 3 measurements dropped"));
  Snapshot ended = Ended(JobState::kSucceeded);
  ended.coverage = Coverage{.dropped_points = 4};
  EXPECT_THAT(*lines.Next(ended), Not(HasSubstr("dropped"))) << "the summary reports them";
}

TEST(JobLine, StartsNoTaskWithACapital) {
  Snapshot snapshot = SomeSnapshot();
  snapshot.named_tasks[0].reason = "Task 2 is predicted to be the last of stage 1 to end";
  EXPECT_THAT(PlainLine(snapshot, kAscii, false), HasSubstr("; task 2 is predicted"));
}

TEST(JobLines, RepeatEveryTenSeconds) {
  PlainLines lines(kAscii, false);
  lines.Next(After(0, 0.41));
  EXPECT_FALSE(lines.Next(After(9, 0.41)).has_value());
  EXPECT_TRUE(lines.Next(After(10, 0.41)).has_value());
  EXPECT_FALSE(lines.Next(After(19, 0.41)).has_value());
}

TEST(JobLines, ReportANewPhaseStateOrNote) {
  PlainLines lines(kAscii, false);
  lines.Next(WarmingUp());
  Snapshot shuffling = WarmingUp();
  shuffling.stages[0].state = StageState::kDone;
  shuffling.stages[1].state = StageState::kRunning;
  shuffling.stages[1].shuffle->running_tasks = 2;
  EXPECT_TRUE(lines.Next(shuffling).has_value());
  EXPECT_FALSE(lines.Next(shuffling).has_value());
  shuffling.estimate.state = EstimateState::kValid;
  EXPECT_TRUE(lines.Next(shuffling).has_value());
  shuffling.notes.push_back("the disk is full");
  EXPECT_TRUE(lines.Next(shuffling).has_value());
  shuffling.state = JobState::kKilled;
  EXPECT_TRUE(lines.Next(shuffling).has_value());
}

Snapshot EndingIn(int seconds_later, int seconds_left) {
  Snapshot snapshot = After(seconds_later, 0.41);
  snapshot.estimate.remaining = Range{absl::Seconds(seconds_left)};
  return snapshot;
}

TEST(JobLines, ReportALargeChangeOfTheEnd) {
  PlainLines lines(kAscii, false);
  lines.Next(EndingIn(0, 20));
  EXPECT_FALSE(lines.Next(EndingIn(1, 19)).has_value());
  EXPECT_FALSE(lines.Next(EndingIn(2, 30)).has_value()) << "12 of 30 s later";
  EXPECT_TRUE(lines.Next(EndingIn(3, 40)).has_value()) << "23 of 40 s later";
  EXPECT_FALSE(lines.Next(EndingIn(4, 39)).has_value());
  EXPECT_TRUE(lines.Next(EndingIn(5, 18)).has_value()) << "20 of 38 s sooner";
}

TEST(JobLines, IgnoreASmallChangeOfTheEnd) {
  PlainLines lines(kAscii, false);
  lines.Next(EndingIn(0, 1));
  EXPECT_FALSE(lines.Next(EndingIn(1, 4)).has_value());
}

TEST(JobLines, ReportALostForecast) {
  PlainLines lines(kAscii, false);
  lines.Next(EndingIn(0, 20));
  Snapshot without = After(1, 0.41);
  without.estimate.remaining.reset();
  EXPECT_TRUE(lines.Next(without).has_value());
}

TEST(JobLine, HasOneNumberForAnUnknownApplication) {
  Snapshot query = UnknownQuery();
  query.stages.resize(5);
  query.groups = {{.group = "sql/3", .state = JobState::kRunning, .fraction_done = 0.5}};
  EXPECT_EQ(PlainLine(query, kAscii, false),
            "[1 min 12 s] q64: 4 of 14 stages done, more may come, ~ 50 % (9-91), ~ 1 min left "
            "(0-12 min, a guess); running: sql/3, scan 25 %");
  query.groups[0].name = "scan";
  EXPECT_TRUE(
      PlainLine(query, kAscii, false).ends_with("running: sql/3 scan, scan (stage 4) 25 %"));
}

TEST(JobLine, TheRunningQueryIsTheHeadlineOfAnUnknownApplication) {
  EXPECT_EQ(PlainLine(SecondQuery(), kAscii, false),
            "[1 min 12 s] q64: 1 query done, more may come; sql/1 load: 4 of 6 stages done, ~ 25 % "
            "(20-33), ~ 1 min left (40 s - 1 min 20 s); running: scan 25 %, stage 5 25 %");
}

TEST(JobLines, ANewQueryWritesALine) {
  PlainLines lines(kAscii, false);
  Snapshot snapshot = SecondQuery();
  lines.Next(snapshot);
  EXPECT_FALSE(lines.Next(snapshot).has_value());
  snapshot.headline_group = "sql/0";
  EXPECT_TRUE(lines.Next(snapshot).has_value());
}

TEST(JobLine, ListsRunningAndWaitingJobs) {
  EXPECT_EQ(PlainLine(Visits(), kAscii, false),
            "[1 min 12 s] page visits: 1 of 3 jobs done, ~ 41 % (22-50), ~ 3 min 20 s left (2 "
            "min 50 s - 4 min 10 s); running: count ~ 31 %; not started: revenue");
}

TEST(JobLines, ReportChangesOfAWorkflow) {
  PlainLines lines(kAscii, false);
  Snapshot snapshot = Visits();
  EXPECT_TRUE(lines.Next(snapshot).has_value());
  snapshot.at += absl::Seconds(1);
  EXPECT_FALSE(lines.Next(snapshot).has_value());
  snapshot.children[1].state = ChildState::kSucceeded;
  EXPECT_TRUE(lines.Next(snapshot).has_value());
  snapshot.notes = {"job revenue could have started"};
  EXPECT_TRUE(lines.Next(snapshot).has_value());
  snapshot.at += absl::Seconds(17);
  EXPECT_TRUE(lines.Next(snapshot).has_value());
}

}  // namespace
}  // namespace tidemark::console::job_lines_test
