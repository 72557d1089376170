#include "console/job_wording.h"

#include "console/job_frame.h"
#include "console/job_lines.h"
#include "console/job_summary.h"
#include "console/job_table.h"
#include "tests/console/some_jobs.h"
#include "tests/test.h"

namespace tidemark::console::job_wording_test {
namespace {

std::string Percent(const Snapshot& snapshot) {
  return PercentText(snapshot, snapshot.estimate, {});
}

TEST(JobPercent, IsRoundedDown) {
  EXPECT_EQ(ShownPercent(0, false), 0);
  EXPECT_EQ(ShownPercent(0.419, false), 41);
  EXPECT_EQ(ShownPercent(0.29, false), 29) << "100 * 0.29 is below 29";
}

TEST(JobPercent, IsOneHundredOnlyForAJobThatSucceeded) {
  EXPECT_EQ(PercentText(SomeSnapshot(), {.state = EstimateState::kValid, .fraction_done = 1}, {}),
            "~ 99 %");
  EXPECT_EQ(PercentText(Failed(), {.state = EstimateState::kFinal, .fraction_done = 1}, {}),
            "~ 99 %");
  EXPECT_EQ(PercentText(Succeeded(), {.state = EstimateState::kFinal, .fraction_done = 1}, {}),
            "100 %");
}

TEST(JobPercent, ClampsHostileValues) {
  EXPECT_EQ(ShownPercent(std::nan(""), false), 0);
  EXPECT_EQ(ShownPercent(-3, false), 0);
  EXPECT_EQ(ShownPercent(1e300, false), 99);
}

TEST(JobWording, ShowsOneDurationOfAnEndedJobEverywhere) {
  Snapshot ended = Ended(JobState::kSucceeded);
  ended.started_at = *ended.ended_at - absl::Milliseconds(9740);
  ended.at += absl::Milliseconds(300);
  EXPECT_EQ(ElapsedText(ended), "9.7 s");
  EXPECT_THAT(RenderJobTable({ended}, {.width = 100}), Contains(HasSubstr("  9.7 s")));
  EXPECT_THAT(RenderSummary(ended, 100, {}, "", false), Contains(HasSubstr("after 9.7 s")));
  EXPECT_THAT(RenderFrame(ended, {.width = 100}), Contains(HasSubstr("9.7 s")));
  EXPECT_THAT(PlainLine(ended, {}, false), HasSubstr("[9.7 s]"));
  Snapshot running = SomeSnapshot();
  running.started_at = running.at - absl::Milliseconds(9740);
  EXPECT_EQ(ElapsedText(running), "9 s") << "tenths would flicker";
}

TEST(JobWording, CapsLongDurations) {
  Snapshot snapshot = SomeSnapshot();
  const absl::Duration long_time = absl::Hours(24 * 5000);
  const auto left = [&](absl::Duration median, absl::Duration lower) {
    snapshot.estimate.remaining = Range{median, lower, absl::InfiniteDuration()};
    return DescribeRemaining(snapshot, snapshot.estimate, {}).text();
  };
  EXPECT_EQ(left(long_time, absl::Seconds(35)),
            "over 999 d left (30 s or more, a guess: few results yet)");
  EXPECT_EQ(left(long_time, long_time), "over 999 d left (a guess: few results yet)");
  EXPECT_EQ(left(absl::ZeroDuration(), absl::ZeroDuration()), "remaining time unknown");
}

TEST(Percentage, OfAFailedJobIsItsLastOne) {
  Snapshot failed = Ended(JobState::kFailed);
  EXPECT_EQ(Percent(failed), "~ 41 %");
  failed.estimate.fraction_done = 0;
  EXPECT_EQ(Percent(failed), "-") << "it ended before the first estimate";
  EXPECT_THAT(PlainLine(failed, {}, false), Not(HasSubstr("0 %")));
  failed.estimate.fraction_done = 0.004;
  EXPECT_EQ(Percent(failed), "~ 0 %");
}

TEST(Silence, BeforeTheStartOfTheMasterCountsFromThatStart) {
  Snapshot silent = SomeSnapshot();
  silent.coverage.emplace();
  silent.silent_since = silent.at - absl::Minutes(6);
  EXPECT_THAT(WarningTexts(silent, {}), Contains("no reports from the job for 6 min"));
  silent.coverage->newest_event_at = silent.silent_since;
  EXPECT_THAT(WarningTexts(silent, {}), Contains("no reports from the job for 6 min"));
  silent.coverage->newest_event_at = silent.at - absl::Hours(1);
  EXPECT_THAT(WarningTexts(silent, {}),
              Contains("no reports from the job since the master started, 6 min ago"));
  EXPECT_EQ(SilenceText(silent), "since the master started, 6 min ago");
}

TEST(Warnings, ShowWhyTheProgressMovesBack) {
  Snapshot snapshot = SomeSnapshot();
  for (const auto& [raised, text] :
       {std::pair(EstimateRaised{RaiseCause::kMoreStages, 2},
                  "estimate raised: 2 more stages appeared"),
        std::pair(EstimateRaised{RaiseCause::kMoreStages, 1},
                  "estimate raised: 1 more stage appeared"),
        std::pair(EstimateRaised{RaiseCause::kSlowerTasks},
                  "estimate raised: tasks take longer than predicted"),
        std::pair(EstimateRaised{RaiseCause::kOverdue},
                  "estimate raised: tasks still run after their predicted end"),
        std::pair(EstimateRaised{RaiseCause::kNotEnded},
                  "estimate raised: the application has not ended yet"),
        std::pair(EstimateRaised{}, "estimate raised")}) {
    snapshot.estimate_raised = raised;
    EXPECT_THAT(WarningTexts(snapshot, {}), ElementsAre(text));
  }
  snapshot.counts.running_tasks = 0;
  EXPECT_THAT(WarningTexts(snapshot, {}), ElementsAre("estimate raised: no task is running"));
  snapshot.info->kind = JobKind::kWorkflow;
  EXPECT_THAT(WarningTexts(snapshot, {}),
              ElementsAre("estimate raised: jobs take longer or start later than predicted"));
  snapshot.estimate.state = EstimateState::kWarmingUp;
  EXPECT_THAT(WarningTexts(snapshot, {}), IsEmpty()) << "no progress is shown";
}

TEST(JobWording, CountsQueriesAndJobsTogether) {
  Snapshot snapshot = SecondQuery();
  snapshot.counts.finished_groups = 6;
  EXPECT_EQ(CurrentStep(snapshot), "6 queries done, more may come");
  snapshot.groups[0].group = "job/0";
  EXPECT_EQ(CurrentStep(snapshot), "6 queries and jobs done, more may come");
}

TEST(JobWording, ShowsThatAWorkflowMayGrow) {
  Snapshot workflow = Visits();
  workflow.estimate.basis = Basis::kThisRun;
  EXPECT_EQ(CurrentStep(workflow), "1 of 3 jobs done");
  workflow.may_grow = true;
  EXPECT_EQ(CurrentStep(workflow), "1 of 3 jobs done, more may come");
  EXPECT_EQ(DescribeRemaining(workflow, workflow.estimate, {}).text(),
            "~ 3 min 20 s left (2 min 50 s - 4 min 10 s, a guess)");
}

TEST(JobWording, AnApplicationWhoseStagesAreKnownDoesNotGrow) {
  Snapshot query = UnknownQuery();
  EXPECT_EQ(CurrentStep(query), "4 of 14 stages done, more may come");
  query.may_grow = false;
  EXPECT_EQ(CurrentStep(query), "4 of 14 stages done");
}

TEST(Warnings, ShowHowLongAnApplicationIsIdle) {
  Snapshot query = Query();
  query.idle_since = query.at - absl::Minutes(3);
  const char* const text = "idle for 3 min: all of its stages have ended";
  EXPECT_THAT(WarningTexts(query, {}), ElementsAre(text));
  query.estimate = {.state = EstimateState::kWarmingUp};
  EXPECT_EQ(DescribeRemaining(query, query.estimate, {}).text(), text);
  EXPECT_THAT(WarningTexts(query, {}), IsEmpty());
  query.counts.stages = 0;
  EXPECT_EQ(DescribeRemaining(query, query.estimate, {}).detail, "no stage has begun");
  query.silent_since = query.at - absl::Minutes(1);
  EXPECT_EQ(DescribeRemaining(query, query.estimate, {}).about, "idle for 2 min");
  query.info->kind = JobKind::kWorkflow;
  EXPECT_EQ(DescribeRemaining(query, query.estimate, {}).detail,
            "all of its known jobs have ended");
}

TEST(JobWording, NamesATaskByItsStage) {
  Snapshot snapshot = SomeSnapshot();
  snapshot.named_tasks[0].reason.clear();
  snapshot.named_tasks[0].attempt.attempt = 1;
  EXPECT_EQ(StragglerText(snapshot, {}), "last to end: reduce task 2, attempt 1");
  snapshot.named_tasks[0].attempt = {.stage = 0, .index = 7};
  EXPECT_EQ(StragglerText(snapshot, {}), "last to end: map task 7");
  snapshot.stage_infos[0].kind = StageKind::kGeneric;
  snapshot.stage_infos[0].name = "scan";
  EXPECT_EQ(StragglerText(snapshot, {}), "last to end: task 7 of scan");
  snapshot.stage_infos.clear();
  EXPECT_EQ(StragglerText(snapshot, {}), "last to end: task 7 of stage 0");
}

TEST(JobWording, OmitsTheTaskIfTheEstimateIsAGuess) {
  Snapshot snapshot = SomeSnapshot();
  EXPECT_EQ(StragglerRemark(snapshot, {}), StragglerText(snapshot, {}));
  snapshot.estimate.basis = Basis::kGuess;
  EXPECT_EQ(StragglerRemark(snapshot, {}), "");
}

TEST(JobWording, WaitsForTheFirstTasksOfAnApplicationOnly) {
  Snapshot snapshot = WarmingUp();
  snapshot.info->kind = JobKind::kApplication;
  snapshot.counts.finished_tasks = 0;
  const auto words = [&] { return DescribeRemaining(snapshot, snapshot.estimate, {}); };
  EXPECT_EQ(words().detail, "waiting for the first tasks to end");
  snapshot.counts.finished_tasks = 1500;
  EXPECT_EQ(words().about, "no estimate");
  EXPECT_EQ(words().detail, "");
}

TEST(JobWording, ShowsTheShuffleAsTheFirstPartOfTheReduceStage) {
  Snapshot snapshot = SomeSnapshot();
  snapshot.stages[1].finished_tasks = 0;
  snapshot.stages[1].shuffle = ShuffleProgress{.fraction_done = 0.5, .running_tasks = 4};
  EXPECT_EQ(CurrentStep(snapshot), "shuffle 50 %");
  EXPECT_EQ(StepsOf(snapshot)[2].text, "reduce");
  snapshot.stages[1].shuffle->finished_tasks = 1;
  EXPECT_EQ(CurrentStep(snapshot), "reduce 0/4 tasks");
  EXPECT_EQ(StepsOf(snapshot)[1].text, "shuffle 50 %");
}

TEST(Percentage, IsOneNumberWithItsBounds) {
  Snapshot snapshot = SomeSnapshot();  // 41 %
  snapshot.estimate.fraction_done_lower = 0.11;
  snapshot.estimate.fraction_done_upper = 0.989;
  EXPECT_EQ(Percent(snapshot), "~ 41 % (11-98)");
  EXPECT_EQ(PercentText(snapshot, snapshot.estimate, {.unicode = true}), "≈ 41 % (11–98)");
  // The number may move back slowly after the estimate was raised.
  snapshot.estimate.fraction_done_upper = 0.3;
  EXPECT_EQ(Percent(snapshot), "~ 41 % (11-41)");
}

TEST(Percentage, KeepsItsBoundsWithoutSuccess) {
  Snapshot snapshot = SomeSnapshot();  // 41 %
  snapshot.is_final = true;
  snapshot.estimate.state = EstimateState::kFinal;
  snapshot.estimate.remaining.reset();
  for (const JobState state :
       {JobState::kFailed, JobState::kKilled, JobState::kAbandoned, JobState::kUnknownEnd}) {
    snapshot.state = state;
    snapshot.estimate.fraction_done_lower = 0.2;
    snapshot.estimate.fraction_done_upper = 0.99;
    EXPECT_EQ(Percent(snapshot), "~ 41 % (20-99)");
    snapshot.estimate.fraction_done_lower = snapshot.estimate.fraction_done_upper = 0.41;
    EXPECT_EQ(Percent(snapshot), "~ 41 %") << "it has no bounds";
  }
  snapshot.state = JobState::kSucceeded;
  EXPECT_EQ(Percent(snapshot), "100 %");
}

TEST(Percentage, OfAGroupHasTheBoundsOfItsInterval) {
  Snapshot query = Query();
  query.groups = {HalfDoneGroup(query)};
  const auto of_group = [&] {
    return DescribePercent(PartsOf(query, {}).front().shown, {}).text();
  };
  const auto of_group_alone = [&] { return Percent(SnapshotOfGroup(query, "sql/3").value()); };
  EXPECT_EQ(of_group(), "~ 50 %");
  EXPECT_EQ(of_group_alone(), "~ 50 %");
  // After 60 s, a remaining time of 40 to 90 s means 40 to 60 %.
  query.groups[0].ends_in = Range{absl::Seconds(60), absl::Seconds(40), absl::Seconds(90)};
  EXPECT_EQ(of_group(), "~ 50 % (40-60)");
  EXPECT_EQ(of_group_alone(), "~ 50 % (40-60)");
  query.groups[0].ends_in.reset();
  EXPECT_EQ(of_group(), "-") << "no end is predicted";
}

TEST(JobWording, MarksAGuess) {
  Snapshot snapshot = SomeSnapshot();
  snapshot.estimate.basis = Basis::kGuess;
  const auto text = [&] { return DescribeRemaining(snapshot, snapshot.estimate, {}).text(); };
  EXPECT_EQ(text(), "~ 3 min 20 s left (2 min 50 s - 4 min 10 s, a guess)");
  snapshot.estimate.method = EstimateMethod::kOtherJobs;
  EXPECT_EQ(text(), "~ 3 min 20 s left (2 min 50 s - 4 min 10 s, a guess from other jobs)");
  snapshot.estimate.remaining = Range{absl::Seconds(200)};
  EXPECT_EQ(text(), "no estimate yet: no result supports one");
  snapshot.estimate.basis = Basis::kEarlierRuns;
  EXPECT_EQ(text(), "~ 3 min 20 s left");
  snapshot.estimate.basis = Basis::kGuess;
  snapshot.estimate.remaining.reset();
  EXPECT_EQ(text(), "remaining time unknown");
}

// After 72 s, the whole time is within 73 s and 732 s, and then within 73 s and 730 s.
TEST(JobWording, AWideIntervalIsAGuess) {
  Snapshot snapshot = SomeSnapshot();
  const auto text = [&] { return DescribeRemaining(snapshot, snapshot.estimate, {}).text(); };
  snapshot.estimate.remaining = Range{absl::Seconds(20), absl::Seconds(1), absl::Seconds(660)};
  EXPECT_EQ(text(), "~ 20 s left (0-11 min, a guess: few results yet)");
  EXPECT_EQ(Percent(snapshot), "~ 41 % (35-50)");
  snapshot.estimate.remaining->upper = absl::Seconds(658);
  EXPECT_EQ(text(), "~ 20 s left (0-11 min)");
}

TEST(JobWording, AWideGuessFromTheMapPhaseHasItsMedian) {
  Snapshot snapshot = SomeSnapshot();
  snapshot.estimate.basis = Basis::kGuess;
  snapshot.estimate.remaining = Range{absl::Seconds(20), absl::Seconds(1), absl::Minutes(110)};
  snapshot.estimate.method = EstimateMethod::kMapPhase;
  EXPECT_EQ(DescribeRemaining(snapshot, snapshot.estimate, {}).text(),
            "~ 20 s left (0 - 1 h 50 min, a guess from the map phase)");
  EXPECT_EQ(Percent(snapshot), "~ 41 % (35-50)");
  snapshot.estimate.method = EstimateMethod::kBytesRead;
  EXPECT_EQ(Percent(snapshot), "-") << "the first bytes may be those of any key group";
}

TEST(JobWording, AWideGuessWithoutResultsHasNoMedian) {
  Snapshot snapshot = SomeSnapshot();
  snapshot.estimate.basis = Basis::kGuess;
  snapshot.estimate.method = EstimateMethod::kOtherJobs;
  snapshot.estimate.remaining = Range{absl::Seconds(20), absl::Seconds(1), absl::Minutes(110)};
  const RemainingWords words = DescribeRemaining(snapshot, snapshot.estimate, {});
  EXPECT_EQ(words.about, "a guess from other jobs");
  EXPECT_EQ(words.detail, "0 - 1 h 50 min left");
  EXPECT_EQ(Percent(snapshot), "-");
  const ShownProgress shown = ShownOf(snapshot, snapshot.estimate);
  EXPECT_EQ(shown.fraction, 0.35) << "the bar is filled to the lower bound";
  EXPECT_EQ(shown.upper, 0.5);
}

TEST(Steps, CountSkippedAndExpectedStagesSeparately) {
  Snapshot query = Query();
  for (const std::size_t skipped : {1, 2}) query.stages[skipped].state = StageState::kSkipped;
  EXPECT_EQ(CurrentStep(query), "2 of 12 stages done, 2 skipped");
  query.stages.push_back({.id = {0, kExpectedStages}, .state = StageState::kExpected});
  EXPECT_EQ(CurrentStep(query), "2 of about 13 stages done, 2 skipped");
}

TEST(Steps, CountFailedStagesSeparately) {
  Snapshot query = Query();
  query.stages[1].state = StageState::kSkipped;
  query.stages[4].state = StageState::kFailed;
  EXPECT_EQ(CurrentStep(query), "3 of 13 stages done, 1 failed, 1 skipped");
}

TEST(Stages, OfASucceededApplicationMayHaveFailed) {
  Snapshot query = Query();
  query.stages[4].state = StageState::kFailed;
  query.is_final = true;
  query.state = JobState::kSucceeded;
  EXPECT_EQ(StageStateText(query, query.stages[4], {}), "failed");
}

std::vector<std::string> TextsOf(const std::vector<Step>& steps) {
  std::vector<std::string> texts;
  for (const Step& step : steps) texts.push_back(step.text);
  return texts;
}

// Returns a job that ended after one of its four reduce tasks.
Snapshot ThatEndedWhileReducing(JobState state) {
  Snapshot snapshot = SomeSnapshot();
  snapshot.is_final = true;
  snapshot.state = state;
  snapshot.stages[1].state = StageState::kFailed;
  return snapshot;
}

TEST(Steps, ShowWhereAFailedJobStopped) {
  const Snapshot failed = ThatEndedWhileReducing(JobState::kFailed);
  EXPECT_THAT(TextsOf(StepsOf(failed)),
              ElementsAre("map done", "shuffle done", "reduce stopped at 1/4 tasks"));
  EXPECT_EQ(CurrentStep(failed), "reduce stopped at 1/4 tasks");
  EXPECT_EQ(CurrentStep(ThatEndedWhileReducing(JobState::kKilled)), "reduce stopped at 1/4 tasks");
  EXPECT_EQ(CurrentStep(ThatEndedWhileReducing(JobState::kAbandoned)),
            "reduce last reported at 1/4 tasks");
}

TEST(Steps, OmitPhasesThatNeverStarted) {
  Snapshot snapshot = ThatEndedWhileReducing(JobState::kFailed);
  snapshot.stages[0].state = StageState::kFailed;
  snapshot.stages[0].fraction_done = 0.4;
  snapshot.stages[1].finished_tasks = 0;
  snapshot.stages[1].shuffle = ShuffleProgress{.fraction_done = 0.3};
  EXPECT_THAT(TextsOf(StepsOf(snapshot)),
              ElementsAre("map stopped at 40 %", "shuffle stopped at 30 %"));
  EXPECT_EQ(CurrentStep(snapshot), "map stopped at 40 %");
  snapshot.stages[1].state = StageState::kPending;
  snapshot.stages[1].shuffle = ShuffleProgress{};
  EXPECT_THAT(TextsOf(StepsOf(snapshot)), ElementsAre("map stopped at 40 %"));
  snapshot.stages[0].state = StageState::kPending;
  EXPECT_THAT(StepsOf(snapshot), IsEmpty()) << "it never started";
  EXPECT_EQ(CurrentStep(snapshot), "");
}

TEST(Steps, NameTheReduceTasksOfAJobThatFailedWhileSomeFetched) {
  Snapshot snapshot = ThatEndedWhileReducing(JobState::kFailed);
  snapshot.stages[1].shuffle = ShuffleProgress{.fraction_done = 0.9, .finished_tasks = 3};
  EXPECT_THAT(TextsOf(StepsOf(snapshot)),
              ElementsAre("map done", "shuffle stopped at 90 %", "reduce stopped at 1/4 tasks"));
  EXPECT_EQ(CurrentStep(snapshot), "reduce stopped at 1/4 tasks");
}

TEST(Stages, OfAKilledJobAreNotFinished) {
  for (const auto& [state, text] :
       {std::pair(JobState::kFailed, "failed"), std::pair(JobState::kKilled, "not finished"),
        std::pair(JobState::kAbandoned, "not finished")}) {
    const Snapshot snapshot = ThatEndedWhileReducing(state);
    EXPECT_EQ(StageStateText(snapshot, snapshot.stages[1], {}), text);
    EXPECT_EQ(StageStateText(snapshot, snapshot.stages[0], {}), "done");
  }
  Snapshot running = SomeSnapshot();
  running.stages[1].state = StageState::kFailed;
  EXPECT_EQ(StageStateText(running, running.stages[1], {}), "failed") << "and may run again";
}

TEST(Stages, WithoutAReportedEndAreUnknown) {
  Snapshot snapshot = ThatEndedWhileReducing(JobState::kUnknownEnd);
  snapshot.stages[1].state = StageState::kUnknownEnd;
  EXPECT_EQ(StateName(snapshot), "unknown (no end reported)");
  EXPECT_EQ(StageStateText(snapshot, snapshot.stages[1], {}), "unknown (no end reported)");
  EXPECT_EQ(CurrentStep(snapshot), "reduce last reported at 1/4 tasks");
  EXPECT_NE(StateStyle(snapshot), Style::kGood);
}

TEST(Parts, StartByAGuessAfterAGuess) {
  Snapshot workflow = Visits();
  Child last = workflow.children[2];
  last.number = 4;
  last.after = {3};
  workflow.children.push_back(last);
  EXPECT_EQ(PartsOf(workflow, {})[3].detail, "");
  workflow.children[0].estimate.basis = Basis::kGuess;
  EXPECT_EQ(PartsOf(workflow, {})[3].detail, "") << "it has ended";
  workflow.children[1].estimate.basis = Basis::kGuess;
  EXPECT_EQ(PartsOf(workflow, {})[2].detail, "(a guess)");
  EXPECT_EQ(PartsOf(workflow, {})[3].detail, "(a guess)");
  workflow.children[1].after = {4};  // A log may contain this cycle.
  EXPECT_EQ(PartsOf(workflow, {})[3].detail, "(a guess)");
}

TEST(StageState, ShowsTheIntervalOrAGuess) {
  Snapshot query = Query();
  StageProgress& stage = query.stages[4];
  EXPECT_EQ(StageStateText(query, stage, {}), "~ 1 min left");
  query.estimate.basis = Basis::kGuess;
  EXPECT_EQ(StageStateText(query, stage, {}), "~ 1 min left (a guess)");
  stage.ends_in = Range{absl::Seconds(60), absl::Seconds(50), absl::Seconds(70)};
  EXPECT_EQ(StageStateText(query, stage, {}), "~ 1 min left (50 s - 1 min 10 s, a guess)");
}

TEST(StageState, IsAGuessWithoutProgressIfTheResultsAreOfOtherStages) {
  Snapshot query = Query();
  StageProgress& stage = query.stages[4];
  query.estimate.basis = Basis::kThisRun;
  query.estimate.known_share = 0.5;
  stage.finished_tasks = 0;
  stage.fraction_done = 0;
  EXPECT_TRUE(IsEndGuessed(query, stage));
  query.estimate.known_share = 1;
  EXPECT_FALSE(IsEndGuessed(query, stage)) << "a past run had the stage";
  query.estimate.known_share = 0.5;
  stage.finished_tasks = 1;
  EXPECT_FALSE(IsEndGuessed(query, stage));
}

TEST(Parts, OfAnEndedWorkflowWaitForNoRetry) {
  Snapshot workflow = Visits();
  workflow.children[2].state = ChildState::kRetryable;
  EXPECT_EQ(PartsOf(workflow, {})[2].state, "failed, waiting for a retry");
  workflow.is_final = true;
  EXPECT_EQ(PartsOf(workflow, {})[2].state, "failed");
}

TEST(Steps, CountExpectedStagesBeforeTheFirst) {
  Snapshot query = Query();
  query.info->kind = JobKind::kUnknown;
  query.counts = {};
  for (StageProgress& stage : query.stages) stage.state = StageState::kExpected;
  EXPECT_EQ(CurrentStep(query), "14 stages expected");
}

}  // namespace
}  // namespace tidemark::console::job_wording_test
