#include "console/job_frame.h"

#include "console/terminal.h"
#include "tests/console/some_jobs.h"
#include "tests/test.h"

namespace tidemark::console::job_frame_test {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::StartsWith;

constexpr FrameOptions kAscii80 = {.width = 80};

TEST(JobFrame, ShowsPhaseForecastAndStraggler) {
  EXPECT_THAT(
      RenderFrame(SomeSnapshot(), {.width = 90, .unicode = true}),
      ElementsAre(
          "two-path · map done · shuffle done · reduce 1/4 tasks · 1 min 12 s",
          "█████████▓▓▒▒▒░░░░░░░░░░░░░░  ≈ 41 % (35–50)  ≈ 3 min 20 s left (2 min 50 s – 4 min "
          "10 s)",
          "█ to the lower bound, ▓ to the estimate, ▒ to the upper bound (90 % interval)",
          "Reduce task 2 will end last: a key of 1.2 MB takes 61 % of its remaining time"));
}

TEST(JobFrame, FoldsLongSentences) {
  Snapshot snapshot = SomeSnapshot();
  snapshot.named_tasks[0].reason =
      "Reduce task 2, attempt 1, will end last: an upcoming key of 1.2 MB takes 61 % of its "
      "remaining time";
  EXPECT_THAT(
      RenderFrame(snapshot, kAscii80),
      ElementsAre(
          "two-path | map done | shuffle done | reduce 1/4 tasks | 1 min 12 s",
          "[#####=--........]  ~ 41 % (35-50)  ~ 3 min 20 s left (2 min 50 s - 4 min 10 s)",
          "# to the lower bound, = to the estimate, - to the upper bound (90 % interval)",
          "Reduce task 2, attempt 1, will end last: an upcoming key of 1.2 MB takes 61 % of",
          "its remaining time"));
}

TEST(JobFrame, MovesTheRemainingTimeBelowANarrowBar) {
  EXPECT_THAT(RenderFrame(SomeSnapshot(), {.width = 40}),
              ElementsAre("two-path | reduce 1/4 tasks | 1 min 12 s",
                          "[#######==--...........]  ~ 41 % (35-50)",  //
                          "~ 3 min 20 s left",                         //
                          "(2 min 50 s - 4 min 10 s)", "Reduce task 2 will end last: a key of",
                          "1.2 MB takes 61 % of its remaining time"));
}

TEST(JobFrame, IsUsableOnAVeryNarrowTerminal) {
  EXPECT_THAT(RenderFrame(SomeSnapshot(), {.width = 20, .unicode = true}),
              ElementsAre("two-path", "reduce 1/4 tasks", "1 min 12 s",  //
                          "████▒▒░░░░░░  ≈ 41 %",                        //
                          "≈ 3 min 20 s left", "(2 min 50 s – 4 min", "10 s)", "Reduce task 2 will",
                          "end last: a key of …"));
}

TEST(JobFrame, HasNoLinesWithoutWidth) {
  EXPECT_THAT(RenderFrame(SomeSnapshot(), {.width = 0}), IsEmpty());
  EXPECT_THAT(RenderFrame(SomeSnapshot(), {.width = -7}), IsEmpty());
}

TEST(JobFrame, HasNoColoursByDefault) {
  const std::string plain = testing::PrintToString(RenderFrame(SomeSnapshot(), kAscii80));
  EXPECT_THAT(plain, Not(HasSubstr("\x1b")));
  EXPECT_THAT(
      RenderFrame(SomeSnapshot(), {.width = 80, .color = true})[1],
      StartsWith("\x1b[36m[#####=\x1b[0m\x1b[2m--........]\x1b[0m  ~ 41 %\x1b[2m (35-50)\x1b[0m  "
                 "~ 3 min"));
}

TEST(JobFrame, IsTheSameTextWithAndWithoutColour) {
  const auto plain = RenderFrame(Overdue(), {.width = 70, .unicode = true, .compare = true});
  const auto coloured =
      RenderFrame(Overdue(), {.width = 70, .color = true, .unicode = true, .compare = true});
  ASSERT_EQ(plain.size(), coloured.size());
  for (std::size_t i = 0; i < plain.size(); ++i) {
    EXPECT_EQ(tidemark::console::ColumnsWithoutColours(plain[i]),
              tidemark::console::ColumnsWithoutColours(coloured[i]));
  }
}

TEST(JobFrame, HidesTheEndWhileWarmingUp) {
  EXPECT_THAT(RenderFrame(WarmingUp(), kAscii80),
              ElementsAre("two-path | map 37 % | shuffle | reduce | 1 min 12 s",
                          "[................]       -          no estimate yet",
                          "waiting for the first reduce results"));
}

TEST(JobFrame, WaitsForTheInputWithoutAReducePhase) {
  Snapshot snapshot = WarmingUp();
  snapshot.stages.resize(1);
  EXPECT_THAT(RenderFrame(snapshot, kAscii80)[2], "waiting for the first input to be read");
}

TEST(JobFrame, WaitsForTheMapResultsIfTheIndicatorUsesThem) {
  Snapshot snapshot = WarmingUp();
  snapshot.estimate.indicator = "";
  EXPECT_THAT(RenderFrame(snapshot, kAscii80)[2], "waiting for the first map results");
  snapshot.stages[0].state = StageState::kPending;
  EXPECT_THAT(RenderFrame(snapshot, kAscii80)[2], "waiting for the first map results");
  snapshot.stages[0].state = StageState::kDone;
  EXPECT_THAT(RenderFrame(snapshot, kAscii80)[2], "waiting for the first reduce results");
}

TEST(JobFrame, NamesRunningTasksWhenOverdue) {
  EXPECT_THAT(RenderFrame(Overdue(), kAscii80)[1],
              EndsWith(" ~ 99 %          overdue; still running: reduce task 2"));
  Snapshot open = Overdue();
  open.estimate.remaining = Range{.lower = absl::ZeroDuration(), .upper = absl::Seconds(76)};
  EXPECT_THAT(RenderFrame(open, kAscii80)[1], EndsWith("  overdue"));
  EXPECT_EQ(RenderFrame(open, kAscii80)[2], "0 - 1 min 20 s left; still running: reduce task 2");
  Snapshot unknown = Overdue();
  unknown.named_tasks.clear();
  EXPECT_THAT(RenderFrame(unknown, kAscii80)[1], EndsWith("still running: 2 tasks"));
}

TEST(JobFrame, EndsWithAFullBar) {
  EXPECT_THAT(RenderFrame(Succeeded(), kAscii80),
              ElementsAre("two-path | map done | shuffle done | reduce done | 1 min 12 s",
                          "[################]   100 %          succeeded"));
}

TEST(JobFrame, KeepsTheBarOfAFailedJob) {
  EXPECT_THAT(RenderFrame(Failed(), kAscii80)[1], "[######..........]  ~ 41 %          failed");
}

TEST(JobFrame, ComparesIndicatorsBelowEachOther) {
  EXPECT_THAT(
      RenderFrame(SomeSnapshot(), {.width = 93, .compare = true}),
      ElementsAre(
          "two-path | map done | shuffle done | reduce 1/4 tasks | 1 min 12 s",
          "tidemark    [#####=--.........]  ~ 41 % (35-50)  ~ 3 min 20 s left (2 min 50 s - 4 min "
          "10 s)",
          "hadoop      [##############...]  ~ 88 %          ~ 10 s left",
          "nearestfit  [#############....]  ~ 79 %          remaining time unknown",
          "# to the lower bound, = to the estimate, - to the upper bound (90 % interval)",
          "Reduce task 2 will end last: a key of 1.2 MB takes 61 % of its remaining time"));
}

TEST(JobFrame, ComparesOnlyBarsOnANarrowTerminal) {
  EXPECT_THAT(RenderFrame(SomeSnapshot(), {.width = 40, .compare = true}),
              AllOf(Contains("tidemark    [######=--.........]  ~ 41 %"),
                    Contains("hadoop      [###############...]  ~ 88 %"),
                    Contains("(2 min 50 s - 4 min 10 s)")));
}

TEST(JobFrame, ReportsThatNoOtherEstimatorsAreCompared) {
  Snapshot snapshot = SomeSnapshot();
  snapshot.indicators.clear();
  EXPECT_THAT(RenderFrame(snapshot, {.width = 100, .compare = true}),
              Contains("this master runs no other estimators; start it with --indicator tidemark "
                       "nearestfit hadoop"));
  EXPECT_THAT(RenderFrame(Query(), {.width = 100, .compare = true}),
              Contains("no other estimators: they exist for MapReduce jobs only"));
}

TEST(JobFrame, NamesTheMethodOfTheShownPercentage) {
  Snapshot snapshot = SomeSnapshot();
  snapshot.estimate.method = EstimateMethod::kKeyGroups;
  EXPECT_EQ(RenderFrame(snapshot, {.width = 100})[0],
            "two-path | map done | shuffle done | reduce 1/4 tasks | 1 min 12 s | method: key "
            "groups");
  EXPECT_EQ(RenderFrame(snapshot, kAscii80)[1], "method: key groups");
  EXPECT_THAT(RenderFrame(snapshot, {.width = 40}), Not(Contains(HasSubstr("method"))));
  snapshot.estimate.method = EstimateMethod::kUnknown;
  snapshot.estimate.indicator = "nearestfit";
  EXPECT_THAT(RenderFrame(snapshot, {.width = 100})[0], EndsWith(" | method: nearestfit"));
  snapshot.estimate.remaining.reset();
  EXPECT_THAT(RenderFrame(snapshot, {.width = 100}), Not(Contains(HasSubstr("method"))));
}

TEST(JobFrame, ShowsLosses) {
  Snapshot snapshot = SomeSnapshot();
  snapshot.coverage = Coverage{.lost_events = 3, .dropped_points = 1, .map_profiles = 0.75};
  snapshot.notes = {"the event log ends here: the disk is full"};
  snapshot.silent_since = snapshot.at - absl::Seconds(25);
  EXPECT_THAT(RenderFrame(snapshot, {.width = 100}),
              AllOf(Contains("no reports from the job for 25 s"),
                    Contains("3 messages lost, 1 measurement dropped"),
                    Contains("key sizes known for 75 % of the finished map tasks"),
                    Contains("the event log ends here: the disk is full")));
  Snapshot succeeded = Succeeded();
  succeeded.coverage = snapshot.coverage;
  EXPECT_THAT(RenderFrame(succeeded, {.width = 100}), Not(Contains(HasSubstr("key sizes known"))))
      << "no forecast needs them";
}

TEST(JobFrame, OmitsLossesIfThereAreNone) {
  EXPECT_THAT(RenderFrame(SomeSnapshot(), {.width = 100}), SizeIs(4));
  EXPECT_THAT(RenderFrame(WarmingUp(), {.width = 121}), SizeIs(2));
}

TEST(JobFrame, LeavesOutTheMiddleOfAHugeName) {
  Snapshot snapshot = SomeSnapshot();
  snapshot.info->name = std::string(5000, 'x');
  const auto lines = RenderFrame(snapshot, kAscii80);
  EXPECT_THAT(lines[0], StartsWith("xxxxxxxx"));
  EXPECT_THAT(lines[0], HasSubstr("x...x"));
  EXPECT_THAT(lines[0], HasSubstr("x | map done"));
}

TEST(JobFrame, MakesAHostileNamePrintable) {
  Snapshot snapshot = SomeSnapshot();
  snapshot.info->name = "evil\x1b]0;title\x07\n\x1b[2J";
  snapshot.named_tasks[0].reason = "r-2\r\x1b[31m";
  for (const std::string& line : RenderFrame(snapshot, kAscii80)) {
    EXPECT_THAT(line, Not(testing::ContainsRegex("[\x01-\x1f]")));
  }
}

TEST(JobFrame, NamesTheJobByItsIdUntilItHasAName) {
  const Snapshot unopened{.job_id = "job-9", .sequence = 1};
  EXPECT_THAT(RenderFrame(unopened, kAscii80), ElementsAre("job-9 | 0 s", "not started"));
}

TEST(JobFrame, RoundsTheEndOfAJob) {
  Snapshot snapshot = SomeSnapshot();
  snapshot.estimate.remaining =
      Range{absl::Milliseconds(200), absl::ZeroDuration(), absl::Seconds(4)};
  EXPECT_THAT(RenderFrame(snapshot, kAscii80)[1], EndsWith("about to end (0-4 s)"));
  snapshot.estimate.remaining->upper.reset();
  EXPECT_THAT(RenderFrame(snapshot, kAscii80)[1], EndsWith("about to end"));
}

TEST(JobFrame, HasABarForEachJobOfAWorkflow) {
  EXPECT_THAT(
      RenderFrame(Visits(), kAscii80),
      ElementsAre(
          "page visits | 1 of 3 jobs done | 1 min 12 s",
          "[###===--........]  ~ 41 % (22-50)  ~ 3 min 20 s left (2 min 50 s - 4 min 10 s)",
          "# to the lower bound, = to the estimate, - to the upper bound (90 % interval)",
          "  parse   [##########################]   100 %  done",
          "* count   [#######=--................]  ~ 31 %  ~ 1 min left (50 s - 1 min 10 s)",
          "  revenue [..........................]     0 %  starts in ~ 1 min",
          "* critical path: a delay here delays the workflow"));
}

TEST(JobFrame, MovesTheIntervalOfAJobBelowANarrowBar) {
  const auto lines = RenderFrame(Visits(), {.width = 79});
  EXPECT_THAT(lines[4], EndsWith("  ~ 31 %  ~ 1 min left"));
  EXPECT_EQ(lines[5], "          (50 s - 1 min 10 s)");
  EXPECT_THAT(lines[6], EndsWith("  starts in ~ 1 min"));
}

TEST(JobFrame, MarksAGuess) {
  Snapshot snapshot = Visits();
  snapshot.estimate.basis = Basis::kGuess;
  snapshot.children[1].estimate.basis = Basis::kGuess;
  const auto lines = RenderFrame(snapshot, {.width = 120});
  EXPECT_THAT(lines[1], EndsWith("  ~ 3 min 20 s left (2 min 50 s - 4 min 10 s, a guess)"));
  EXPECT_THAT(lines[4], EndsWith("  ~ 1 min left (50 s - 1 min 10 s, a guess)"));
  EXPECT_THAT(lines[5], EndsWith("  starts in ~ 1 min (a guess)")) << "when that one ends";
}

TEST(JobFrame, MarksGuessesOfStagesAndQueries) {
  Snapshot query = Query();
  query.estimate.basis = Basis::kGuess;
  query.groups = {HalfDoneGroup(query)};
  const auto lines = RenderFrame(query, {.width = 120});
  EXPECT_THAT(lines[3],
              AllOf(HasSubstr("sql/3"), EndsWith("  no estimate yet: no result supports one")));
  EXPECT_THAT(lines[4], AllOf(HasSubstr("scan"), EndsWith("  ~ 1 min left (a guess)")));
}

// After 32 s, the whole time of the job is within 38 s and 632 s.
TEST(JobFrame, MarksAWideIntervalOfAJobAsAGuess) {
  Snapshot snapshot = Visits();
  snapshot.children[1].estimate.remaining =
      Range{absl::Seconds(60), absl::Seconds(6), absl::Minutes(10)};
  const auto lines = RenderFrame(snapshot, {.width = 100});
  EXPECT_THAT(lines[4], EndsWith("~ 31 %  ~ 1 min left (0-10 min, a guess: few results yet)"));
}

TEST(JobFrame, ShowsNoNumberThatRoundsToZero) {
  Snapshot snapshot = Visits();
  const absl::Duration little = absl::Milliseconds(300);
  snapshot.estimate.remaining = Range{little, absl::ZeroDuration(), absl::Seconds(7)};
  snapshot.children[2].starts_in = Range{little};
  const auto lines = RenderFrame(snapshot, kAscii80);
  EXPECT_THAT(lines[1], EndsWith(" about to end (0-7 s)"));
  EXPECT_THAT(lines[5], EndsWith(" about to start"));
}

TEST(JobFrame, RoundsTheStartOfAJob) {
  Snapshot snapshot = Visits();
  snapshot.children[2].starts_in = Range{absl::Seconds(147)};
  EXPECT_THAT(RenderFrame(snapshot, kAscii80)[5], EndsWith(" starts in ~ 2 min 30 s"));
}

TEST(JobFrame, ShowsTheStateOfEachJobOfAWorkflow) {
  const std::pair<ChildState, const char*> words[] = {
      {ChildState::kAwaited, "  no report yet"},
      {ChildState::kRetryable, "  failed, waiting for a retry"},
      {ChildState::kFailed, "  failed"},
      {ChildState::kCancelled, "  cancelled"}};
  for (const auto& [state, text] : words) {
    Snapshot snapshot = Visits();
    snapshot.children[2].state = state;
    EXPECT_THAT(RenderFrame(snapshot, kAscii80)[5], EndsWith(text));
  }
}

TEST(JobFrame, HasABarForEachRunningStage) {
  const auto lines = RenderFrame(Query(), kAscii80);
  EXPECT_EQ(lines[0], "q64 | 4 of 14 stages done | 1 min 12 s");
  EXPECT_EQ(lines[3], "  scan     [######....................]    25 %  ~ 1 min left");
  EXPECT_EQ(lines[4], "* stage 5  [######....................]    25 %  ~ 1 min left");
  ASSERT_THAT(lines, SizeIs(13));
  EXPECT_EQ(lines[11], "and 2 more running stages");
  EXPECT_EQ(lines[12], "* critical path: a delay here delays the job");
}

TEST(JobFrame, ShowsOneNumberForAnUnknownApplication) {
  const auto lines = RenderFrame(UnknownQuery(), kAscii80);
  EXPECT_EQ(lines[0], "q64 | 4 of 14 stages done, more may come | 1 min 12 s");
  EXPECT_EQ(lines[1], "[#=======------..]  ~ 50 % (9-91)   ~ 1 min left (0-12 min, a guess)");
  EXPECT_EQ(lines[3], "  scan     [######....................]    25 %  ~ 1 min left");
}

TEST(JobFrame, TheRunningQueryIsTheHeadlineOfAnUnknownApplication) {
  const auto lines = RenderFrame(SecondQuery(), kAscii80);
  EXPECT_EQ(lines[0], "q64 | 1 query done, more may come | 1 min 12 s");
  EXPECT_EQ(lines[1], "sql/1 load | 4 of 6 stages done | 20 s");
  EXPECT_THAT(lines[2], HasSubstr("~ 25 % (20-33)  ~ 1 min left (40 s - 1 min 20 s)"));
  EXPECT_THAT(lines[4], StartsWith("  scan "));
}

TEST(JobFrame, ShowsRunningGroupsFirst) {
  Snapshot query = Query();
  query.groups = {{.group = "job/2", .name = "count", .state = JobState::kSucceeded},
                  HalfDoneGroup(query)};
  query.groups[1].name = "sales\x1b[2J";
  const auto lines = RenderFrame(query, kAscii80);
  EXPECT_THAT(lines[3], AllOf(StartsWith("  sql/3 sales [2J ["), EndsWith("50 %  ~ 1 min left")));
  EXPECT_THAT(lines[4], StartsWith("  scan "));
  ASSERT_THAT(lines, SizeIs(14));
  EXPECT_EQ(lines[12], "and 2 more running stages");
  query.groups[1].ends_in = Range{absl::Seconds(60), absl::Seconds(50), absl::Seconds(70)};
  EXPECT_THAT(RenderFrame(query, {.width = 100})[3],
              EndsWith("50 %  ~ 1 min left (50 s - 1 min 10 s)"));
}

TEST(JobFrame, OmitsPartsMissingInASmallView) {
  Snapshot basic = WarmingUp();
  basic.stages.clear();
  basic.stage_infos.clear();
  basic.coverage.reset();
  EXPECT_THAT(RenderFrame(basic, kAscii80),
              ElementsAre("two-path | 9/12 tasks | 1 min 12 s",
                          "[................]       -          no estimate yet"));
}

TEST(JobFrame, ShowsWhyAttemptsFail) {
  Snapshot snapshot = SomeSnapshot();
  snapshot.stages[1].failed_attempts = 3;
  snapshot.stages[1].failure = "out of memory\x1b[2J";
  EXPECT_THAT(RenderFrame(snapshot, kAscii80),
              Contains("reduce: 3 attempts failed; last failure: out of memory [2J"));
}

TEST(JobFrame, ShowsAnUnknownStateAsRunning) {
  Snapshot snapshot = SomeSnapshot();
  snapshot.state = JobState::kUnknown;
  EXPECT_THAT(RenderFrame(snapshot, kAscii80)[1], HasSubstr("~ 3 min 20 s left"));
  snapshot.is_final = true;
  EXPECT_THAT(RenderFrame(snapshot, kAscii80)[1], EndsWith(" ~ 41 % (35-50)  ended"));
}

}  // namespace
}  // namespace tidemark::console::job_frame_test
