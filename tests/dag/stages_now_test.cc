#include "master/forecast/dag/stages_now.h"

#include "tests/facts/events.h"
#include "tests/matchers.h"
#include "tests/test.h"

namespace tidemark::dag::stages_now_test {
namespace {

using ::testing::Field;

AttemptId Task(std::uint32_t stage, std::uint32_t index, std::uint32_t stage_attempt = 0) {
  return {.stage = stage, .index = index, .stage_attempt = stage_attempt};
}

StageOpened Stage(std::uint32_t number, std::uint32_t tasks,
                  std::vector<std::uint32_t> parents = {}, std::string group = "") {
  return {.stage = number,
          .name = "stage",
          .signature = "s" + std::to_string(number),
          .parents = std::move(parents),
          .group = std::move(group),
          .task_count = tasks};
}

StageOpened WithSlots(StageOpened stage, std::uint32_t slots) {
  stage.slots = slots;
  return stage;
}
StageOpened Skipped(StageOpened stage) {
  stage.skipped = true;
  return stage;
}
StageOpened OfUnknownSize(std::uint32_t number) {
  StageOpened stage = Stage(number, 0);
  stage.task_count.reset();
  return stage;
}
StageOpened OpenedAt(double seconds, StageOpened stage) {
  stage.opened_at = At(seconds);
  return stage;
}

struct Job {
  explicit Job(std::vector<StageOpened> stages) {
    Say(0, JobOpened{.name = "query", .submitted_at = At(0), .stages = std::move(stages)});
  }
  // Applies events of one instant, which must be accepted.
  template <typename... Bodies>
  Job& Say(double seconds, Bodies... bodies) {
    for (const absl::Status& applied : {TrySay(seconds, std::move(bodies))...}) {
      EXPECT_TRUE(applied.ok()) << applied;
    }
    return *this;
  }
  absl::Status TrySay(double seconds, EventBody body) {
    return facts::Apply(driver.At(seconds, std::move(body)), {}, state);
  }
  Job& Executor(double seconds, std::uint32_t number, std::uint32_t slots) {
    return Say(seconds, ExecutorOpened{.executor = number, .host = "h", .slots = slots});
  }
  Job& Start(double seconds, AttemptId task, std::uint32_t executor) {
    AttemptChanged started = Started(task);
    started.executor = executor;
    return Say(seconds, started);
  }
  Job& Run(double from, double to, AttemptId task, std::uint32_t executor = 0) {
    return Start(from, task, executor).Say(to, Finished(task));
  }
  WorkflowNow Now(double seconds) const { return StagesNow(state, At(seconds)); }

  test::Source driver;
  facts::JobRecord state{1};
};

TEST(StagesNow, CountsUnreportedTasksOfAnEndedStageForTheNextRun) {
  Job job({Stage(0, 8), Stage(1, 1, {0})});
  job.Executor(0, 0, 2);
  for (std::uint32_t i = 0; i < 2; ++i) job.Run(0, 4, Task(0, i));
  job.Say(20, StageClosed{.stage = 0, .at = At(20)});
  job.Say(21, StageOpened{.stage = 1, .opened_at = At(21)}).Run(21, 22, Task(1, 0));
  const WorkflowNow now = job.Now(23);
  EXPECT_EQ(now.stages[0].tasks, 2u) << "no task remains";
  EXPECT_EQ(now.stages[0].unreported, 6u);
  EXPECT_EQ(now.stages[1].lag, 1) << "since the stage ended, not since its last reported task did";
  EXPECT_EQ(ProfileOf(now).stages.at(0).tasks, 8u);
}

TEST(StagesNow, AStageWithAnUnknownOutcomeCausesNoLag) {
  Job job({Stage(0, 8), Stage(1, 1, {0})});
  job.Executor(0, 0, 2);
  for (std::uint32_t i = 0; i < 2; ++i) job.Run(0, 4, Task(0, i));
  job.Say(20, StageOpened{.stage = 1, .opened_at = At(20)}).Run(20, 22, Task(1, 0));
  job.Say(23, StageClosed{.stage = 0, .outcome = JobOutcome::kUnknown, .at = At(23)});
  const WorkflowNow now = job.Now(23);
  EXPECT_FALSE(now.stages[0].has_failed);
  EXPECT_FALSE(now.stages[1].lag);
  EXPECT_EQ(ProfileOf(now).stages.at(0).tasks, 8u);
}

TEST(StagesNow, TasksAboveTheSlotsOfTheirExecutorDoNotRun) {
  Job job({Stage(0, 8)});
  job.Executor(0, 0, 2);
  for (std::uint32_t i = 0; i < 4; ++i) job.Start(i, Task(0, i), 0);
  EXPECT_THAT(job.Now(11).stages[0].running, SizeIs(4));
  const WorkflowNow now = job.Now(13);
  ASSERT_THAT(now.stages[0].running, SizeIs(2));
  EXPECT_EQ(now.stages[0].running[0].id.index, 2u);
}

std::vector<Warmth> WarmthsOf(const StageNow& stage) {
  std::vector<Warmth> warmths;
  for (const FinishedTask& task : stage.finished) warmths.push_back(task.warmth);
  for (const RunningTask& task : stage.running) warmths.push_back(task.warmth);
  return warmths;
}

TEST(StagesNow, SeparatesEndedRunningAndWaitingTasks) {
  Job job({Stage(0, 3), Stage(1, 1, {0})});
  job.Run(0, 3, Task(0, 0)).Say(1, Started(Task(0, 1)));
  const WorkflowNow now = job.Now(4);
  EXPECT_DOUBLE_EQ(now.elapsed, 4);
  EXPECT_FALSE(now.may_grow);
  ASSERT_EQ(now.stages.size(), 2u);
  EXPECT_EQ(now.stages[0].name, "s0");
  EXPECT_EQ(now.stages[0].tasks, 3u);
  EXPECT_THAT(now.stages[0].finished, ElementsAre(Field(&FinishedTask::seconds, 3)));
  EXPECT_THAT(now.stages[0].running, ElementsAre(Field(&RunningTask::elapsed, 3)));
  EXPECT_THAT(now.stages[1].parents, ElementsAre(0));
}

// On two slots, stage 0 runs from 0 to 3, from 0 to 1 and from 1 to 6. Stage 1 starts at 6.
TEST(StagesNow, CountsTheEarlierTasksOfASlot) {
  Job job({Stage(0, 3), Stage(1, 1, {0})});
  job.Executor(0, 0, 1).Executor(0, 1, 1).Start(0, Task(0, 0), 0).Start(0, Task(0, 1), 1);
  job.Say(1, Finished(Task(0, 1))).Start(1, Task(0, 2), 1).Say(3, Finished(Task(0, 0)));
  EXPECT_EQ(job.Now(3).warm_slots, 1u);
  job.Say(6, Finished(Task(0, 2))).Start(6, Task(1, 0), 0);
  const WorkflowNow now = job.Now(7);
  EXPECT_DOUBLE_EQ(now.slots, 2);
  EXPECT_THAT(WarmthsOf(now.stages[0]), ElementsAre(Warmth::kFresh, Warmth::kFresh, Warmth::kLast));
  EXPECT_THAT(WarmthsOf(now.stages[1]), ElementsAre(Warmth::kFirst));
}

TEST(StagesNow, AReturningSlotIsColdForItsStage) {
  Job job({Stage(0, 9), Stage(1, 1)});
  job.Executor(0, 0, 1).Run(0, 1, Task(0, 0)).Run(1, 2, Task(1, 0)).Run(2, 3, Task(0, 1));
  job.Run(3, 4, Task(0, 2));
  EXPECT_THAT(WarmthsOf(job.Now(4).stages[0]),
              ElementsAre(Warmth::kFresh, Warmth::kFirst, Warmth::kRest));
}

TEST(StagesNow, HasTheSizeOfExecutors) {
  Job job({Stage(0, 3)});
  EXPECT_EQ(job.Now(0).slots_per_executor, 0);
  job.Executor(0, 0, 2).Executor(0, 1, 4);
  job.Executor(0, 2, 0);  // an executor without reported slots
  EXPECT_DOUBLE_EQ(job.Now(1).slots_per_executor, 3);
  job.Say(1, ExecutorClosed{.executor = 0});
  EXPECT_DOUBLE_EQ(job.Now(2).slots_per_executor, 4);
}

TEST(StagesNow, CountsObservedSlotsWithoutExecutors) {
  Job job({Stage(0, 9)});
  job.Say(0, Started(Task(0, 0)), Started(Task(0, 1))).Say(2, Finished(Task(0, 0)));
  EXPECT_DOUBLE_EQ(job.Now(3).slots, 2);
  EXPECT_THAT(WarmthsOf(job.Now(3).stages[0]), ElementsAre(Warmth::kRest, Warmth::kRest));
  job.Say(3, WithSlots(Stage(0, 9), 5));
  EXPECT_DOUBLE_EQ(job.Now(3).slots, 5);
  EXPECT_EQ(job.Now(3).stages[0].at_once_max, 5u);
}

TEST(StagesNow, TheFirstStagesOfAGroupWaitForEndedGroups) {
  Job job({});
  job.Say(1, Stage(0, 1, {}, "job 0")).Run(1, 4, Task(0, 0)).Say(5, Stage(3, 1, {}, "job 1"));
  job.Say(5, Stage(4, 1, {3}, "job 1"));
  const WorkflowNow now = job.Now(6);
  EXPECT_TRUE(now.may_grow);
  EXPECT_EQ(now.submissions.count, 2u);
  EXPECT_THAT(now.stages[1].parents, ElementsAre(0));
  EXPECT_THAT(now.stages[2].parents, ElementsAre(1));
  EXPECT_DOUBLE_EQ(now.stages[1].waited, 2);
  EXPECT_EQ(now.stages[1].lag, std::nullopt) << "decided by past runs";
  job.Say(7, OpenedAt(7, Stage(3, 1, {}, "job 1")));
  EXPECT_DOUBLE_EQ(job.Now(8).stages[1].lag.value_or(-1), 3);
}

TEST(StagesNow, TheLagOfAStageEndsWhenItsFirstTaskStartsOnAFreeSlot) {
  Job job({});
  job.Say(1, Stage(0, 1, {}, "job 0")).Run(1, 4, Task(0, 0));
  job.Say(5, OpenedAt(5, Stage(1, 1, {0}, "job 0"))).Run(7, 8, Task(1, 0));
  EXPECT_DOUBLE_EQ(job.Now(9).stages[1].lag.value_or(-1), 3) << "its tasks were serialized for 2 s";
}

TEST(StagesNow, WaitingForASlotIsNotLag) {
  Job job({});
  job.Say(1, Stage(0, 1, {}, "job 0"), Stage(1, 1, {}, "job 1")).Run(1, 4, Task(0, 0));
  job.Run(2, 7, Task(1, 0)).Say(7, OpenedAt(5, Stage(2, 1, {0}, "job 0"))).Run(7, 8, Task(2, 0));
  EXPECT_DOUBLE_EQ(job.Now(9).stages[2].lag.value_or(-1), 1);
}

// In an adaptive query, the second job lists the stage of the first job again, as skipped.
TEST(StagesNow, ALaterJobOfAGroupWaitsForItsEndedStages) {
  Job job({});
  job.Say(1, Stage(0, 1, {}, "sql/0")).Run(1, 4, Task(0, 0));
  job.Say(5, Skipped(Stage(1, 1, {}, "sql/0"))).Say(6, OpenedAt(6, Stage(2, 1, {1}, "sql/0")));
  const WorkflowNow now = job.Now(7);
  EXPECT_THAT(now.stages[1].parents, ElementsAre(0));
  EXPECT_DOUBLE_EQ(now.stages[2].lag.value_or(-1), 2) << "since the end of stage 0";
  EXPECT_TRUE(now.stages[2].fetches);
  EXPECT_FALSE(now.stages[0].fetches);
  EXPECT_DOUBLE_EQ(now.stages[0].done_since, 3);
}

TEST(StagesNow, StagesOfAGroupReportedTogetherDoNotWait) {
  Job job({});
  job.Say(1, Stage(0, 1, {}, "sql/0"), Stage(1, 1, {}, "sql/0")).Run(1, 4, Task(0, 0));
  EXPECT_TRUE(job.Now(5).stages[1].parents.empty());
}

TEST(StagesNow, PoolsTakeTurns) {
  StageOpened first = Stage(0, 1);
  StageOpened second = Stage(1, 1);
  first.pool = "etl";
  second.pool = "adhoc";
  EXPECT_EQ(ResourcingOf(Job({first, second}).Now(0)).cluster.policy, placement::Policy::kFair);
  EXPECT_EQ(Job({first, second}).Now(0).stages[1].owner, 1u);
  EXPECT_EQ(ResourcingOf(Job({first, first}).Now(0)).cluster.policy, placement::Policy::kFifo);
}

// The output of a Spark map stage existed, and was lost with its executor.
TEST(StagesNow, ASkippedStageHasNoTasksUntilOneRuns) {
  Job job({Skipped(Stage(0, 2))});
  EXPECT_EQ(job.Now(1).stages[0].tasks, 0u);
  job.Say(3, Stage(0, 2)).Say(4, Started(Task(0, 0)));
  EXPECT_EQ(job.Now(5).stages[0].tasks, 2u);
  EXPECT_EQ(job.Now(5).stages[0].running.size(), 1u);
}

// A Spark job lists the stages of an earlier job on which it depends.
TEST(StagesNow, TheLagAfterASkippedStageStartsAtItsParents) {
  Job job({Stage(0, 1, {}, "job 0")});
  job.Run(0, 10, Task(0, 0));
  const StageOpened last = Stage(2, 1, {1}, "job 1");
  job.Say(11, Skipped(Stage(1, 1, {}, "job 1")), last).Say(12, OpenedAt(12, last));
  EXPECT_DOUBLE_EQ(job.Now(13).stages[2].lag.value_or(-1), 2);
}

TEST(StagesNow, AStageThatAppearsAfterItsChildrenBecomesTheirParent) {
  Job job({Stage(9, 2, {3})});
  EXPECT_THAT(job.Now(1).stages[0].parents, IsEmpty());
  job.Say(2, Stage(3, 5));
  EXPECT_THAT(job.Now(2).stages[1].parents, ElementsAre(0));
}

// The first attempt at the stage had ten tasks, of which two have ended and one is still running.
// The second attempt has three tasks.
TEST(StagesNow, AResubmittedStageMayHaveFewerTasks) {
  Job job({Stage(2, 10)});
  job.Run(0, 4, Task(2, 8)).Run(0, 5, Task(2, 9)).Say(3, Started(Task(2, 7)));
  StageOpened again = Stage(2, 3);
  again.attempt = 1;
  job.Say(6, again).Say(7, Started(Task(2, 0, 1)));
  const StageNow stage = job.Now(8).stages[0];
  EXPECT_EQ(stage.finished.size(), 2u);
  EXPECT_EQ(stage.running.size(), 2u);
  EXPECT_EQ(stage.tasks, 6u) << "two ended, one of the old attempt, three of the new one";
}

TEST(StagesNow, ATaskWithALostResultWaitsAgain) {
  Job job({Stage(0, 2)});
  job.Run(0, 4, Task(0, 0)).Say(5, test::Obsolete(Task(0, 0)));
  EXPECT_EQ(job.Now(6).stages[0].finished.size(), 0u);
  EXPECT_EQ(job.Now(6).stages[0].tasks, 2u);
}

TEST(StagesNow, CountsTheFirstFinishedAttempt) {
  Job job({Stage(0, 1)});
  job.Say(0, Started(Task(0, 0)));
  AttemptId second = Task(0, 0);
  second.attempt = 1;
  job.Say(5, Started(second));
  EXPECT_DOUBLE_EQ(job.Now(6).stages[0].running.at(0).elapsed, 6);
  job.Say(7, Finished(second));
  EXPECT_DOUBLE_EQ(job.Now(8).stages[0].finished.at(0).seconds, 2);
}

TEST(StagesNow, StagesOfMapReduceAreLikeOthers) {
  JobOpened opened = test::Opened(2, 1);
  opened.stages.push_back(Stage(7, 1, {kReduceStage}));
  Job job({});
  job.Say(0, opened).Run(0, 3, test::M(0));
  EXPECT_TRUE(HasOtherStages(job.state));
  const WorkflowNow now = job.Now(4);
  ASSERT_EQ(now.stages.size(), 3u);
  EXPECT_EQ(now.stages[0].finished.size(), 1u);
  EXPECT_EQ(now.stages[0].tasks, 2u);
  EXPECT_THAT(now.stages[2].parents, ElementsAre(1));
  EXPECT_FALSE(HasOtherStages(Job(MapReduceStages(2, 1)).state));
}

// If key groups are reported, the first job of a Spark application has the stages of MapReduce.
TEST(StagesNow, AnEngineThatGroupsStagesMayBringMore) {
  std::vector<StageOpened> stages = MapReduceStages(2, 1);
  for (StageOpened& stage : stages) stage.group = "job/0";
  EXPECT_TRUE(HasOtherStages(Job(stages).state));
}

TEST(StagesNow, AddsPlannedStages) {
  Job job({});
  job.Executor(0, 0, 2).Say(1, GroupOpened{.group = "sql/0", .planned_task_counts = {0, 0, 1}});
  EXPECT_THAT(job.Now(1).planned, SizeIs(3)) << "no task is running";
  job.Say(2, Stage(0, 8, {}, "sql/0"));
  const std::vector<UnopenedStage> planned = job.Now(2).planned;
  ASSERT_THAT(planned, SizeIs(2));
  EXPECT_EQ(planned[0].tasks, 8u) << "as many as the largest of the group has";
  EXPECT_THAT(planned[0].parents, ElementsAre(0));
  EXPECT_EQ(planned[1].tasks, 1u);
  EXPECT_THAT(planned[1].parents, ElementsAre(1)) << "the previous stage";
  job.Say(3, Skipped(Stage(1, 8, {}, "sql/0")));
  EXPECT_THAT(job.Now(3).planned, SizeIs(2)) << "stages of other groups do not count";
  job.Say(4, GroupOpened{.group = "sql/0", .planned_task_counts = {0, 1}});
  EXPECT_THAT(job.Now(4).planned, SizeIs(1)) << "the group was planned again";
  job.Say(5, GroupClosed{.group = "sql/0"});
  EXPECT_THAT(job.Now(5).planned, IsEmpty());
}

void Emit(Job& job, double at, AttemptId task, std::uint64_t bytes) {
  job.Start(0, task, 0).Say(at, TaskHeartbeat{.attempt = task, .bytes_emitted = bytes});
  job.Say(at, Finished(task));
}

TEST(StagesNow, TheOutputOfItsParentsIsTheInputOfAStage) {
  Job job({Stage(0, 2), Stage(1, 8, {0})});
  job.Executor(0, 0, 2);
  EXPECT_EQ(job.Now(0).stages[1].input_bytes, 0) << "it is unknown";
  Emit(job, 1, Task(0, 0), 100);
  EXPECT_EQ(job.Now(1).stages[1].input_bytes, 200) << "the other task emits as much";
  Emit(job, 2, Task(0, 1), 300);
  EXPECT_EQ(job.Now(2).stages[1].input_bytes, 400);
  StageOpened sized = Stage(2, 2, {1});
  sized.task_bytes = {30, 40};
  job.Say(3, sized);
  EXPECT_EQ(job.Now(3).stages[2].input_bytes, 70) << "the sizes are reported";
}

TEST(StagesNow, TheInputIsUnknownIfTheOutputOfAParentIs) {
  Job job({Stage(0, 1), Stage(1, 1), Stage(2, 8, {0, 1})});
  job.Executor(0, 0, 2);
  Emit(job, 1, Task(0, 0), 100);
  Emit(job, 2, Task(1, 0), 0);  // The engine reported no output.
  EXPECT_EQ(job.Now(2).stages[2].input_bytes, 0);
}

// Adaptive execution lists the ended parents of a new stage under new numbers, as skipped stages.
TEST(StagesNow, AnAdaptiveQueryReadsWhatItsEndedStagesWrote) {
  Job job({});
  job.Executor(0, 0, 2).Say(0, GroupOpened{.group = "sql/0", .planned_task_counts = {0, 0, 1}});
  StageOpened scan = Stage(0, 1, {}, "sql/0");
  scan.work = 7;
  job.Say(0, scan);
  Emit(job, 1, Task(0, 0), 100);
  std::vector<UnopenedStage> planned = job.Now(2).planned;
  ASSERT_THAT(planned, SizeIs(2));
  EXPECT_EQ(planned[0].input_bytes, 100);
  EXPECT_EQ(planned[1].input_bytes, 0) << "it reads the output of the first";
  scan.stage = 1;
  job.Say(3, Skipped(scan), Stage(2, 4, {1}, "sql/0"));
  const WorkflowNow now = job.Now(3);
  EXPECT_EQ(now.stages[2].input_bytes, 100);
  EXPECT_EQ(Only(now.planned).input_bytes, 0);
}

// The slots of executors apply only to stages of other engines.
TEST(StagesNow, TasksOfMapReduceDoNotShowWarmSlots) {
  JobOpened opened = test::Opened(4, 1);
  opened.stages.push_back(Stage(7, 1, {kReduceStage}));
  Job job({});
  job.Say(0, opened).Executor(0, 0, 2);
  for (const std::uint32_t index : {0U, 1U, 2U}) job.Run(index, index + 1, test::M(index));
  const WorkflowNow now = job.Now(4);
  EXPECT_THAT(WarmthsOf(now.stages[0]), ElementsAre(Warmth::kRest, Warmth::kRest, Warmth::kRest));
  EXPECT_EQ(now.warm_slots, 0u);
}

TEST(StagesNow, IsIndependentOfTheOrderOfReports) {
  Job job({Stage(3, 9)});
  job.Run(2, 3, Task(3, 8)).Run(2, 5, Task(3, 1));
  const StageNow stage = job.Now(6).stages[0];
  EXPECT_EQ(stage.tasks, 9u);
  ASSERT_EQ(stage.finished.size(), 2u);
  EXPECT_DOUBLE_EQ(stage.finished[0].seconds, 3) << "by start, then by index";
}

TEST(ProfileOf, OmitsStagesThatDidNotRunAndConnectsTheirNeighbours) {
  Job job({Stage(0, 1), Stage(1, 5, {0}), Stage(2, 1, {1})});
  job.Executor(0, 0, 1).Run(0, 3, Task(0, 0)).Run(4, 6, Task(2, 0));
  const PastRun run = ProfileOf(job.Now(6));
  EXPECT_DOUBLE_EQ(run.slots, 1);
  ASSERT_EQ(run.stages.size(), 2u);
  EXPECT_EQ(run.stages[1].name, "s2");
  EXPECT_EQ(run.stages[1].title, "stage");
  EXPECT_THAT(run.stages[1].parents, ElementsAre(0));
  EXPECT_THAT(run.stages[0].seconds[static_cast<std::size_t>(Warmth::kFresh)], ElementsAre(3));
  EXPECT_THAT(run.stages[1].seconds[static_cast<std::size_t>(Warmth::kFirst)], ElementsAre(2));
}

// Half of the tasks of a failed stage are not representative of the next run.
TEST(ProfileOf, OmitsAFailedStage) {
  Job job({Stage(0, 2), Stage(1, 1)});
  job.Run(1, 2, Task(0, 0));
  job.Say(2, StageClosed{.stage = 0, .outcome = JobOutcome::kFailed, .at = At(2)});
  job.Run(2, 3, Task(1, 0));
  const PastRun run = ProfileOf(job.Now(4));
  EXPECT_EQ(Only(run.stages).name, "s1");
}

TEST(ProfileOf, KeepsAnEvenChoiceOfManyTaskTimes) {
  WorkflowNow now;
  for (std::size_t i = 0; i < 100; ++i) {
    StageNow& stage = now.stages.emplace_back();
    stage.tasks = 1000;
    for (double n = 0; n < 1000; ++n) stage.finished.push_back({.seconds = n});
  }
  std::size_t kept = 0;
  for (const PastStage& stage : ProfileOf(now).stages) {
    double sum = 0;
    for (const auto& seconds : stage.seconds) {
      kept += seconds.size();
      for (const double time : seconds) sum += time / static_cast<double>(seconds.size());
    }
    EXPECT_NEAR(sum, 500, 25);
  }
  EXPECT_LE(kept, PastRun::kTaskTimesMax);
}

// Two of three tasks have finished and have read 30 bytes. If the last report of a task was lost,
// the task counts with its reported input.
TEST(ProfileOf, KeepsTheWorkAndBytesOfAStage) {
  StageOpened scan = Stage(0, 3);
  scan.work = 7;
  Job job({scan});
  for (const std::uint32_t index : {0u, 1u}) {
    job.Say(index, Started(Task(0, index))).Say(2, test::Read(Task(0, index), 10));
    AttemptChanged finished = Finished(Task(0, index));
    if (index == 1) finished.input_bytes = 20;
    job.Say(3, finished);
  }
  const PastRun run = ProfileOf(job.Now(4));
  ASSERT_EQ(run.stages.size(), 1u);
  EXPECT_EQ(run.stages[0].work, 7u);
  EXPECT_DOUBLE_EQ(run.stages[0].read_bytes, 45);
}

TEST(ProfileOf, KeepsLongTasks) {
  WorkflowNow now;
  StageNow& stage = now.stages.emplace_back(StageNow{.tasks = 4});
  for (const double seconds : {1, 1, 5, 1}) {
    stage.finished.push_back(
        {.seconds = seconds, .index = static_cast<std::uint32_t>(stage.finished.size())});
  }
  EXPECT_THAT(ProfileOf(now).stages[0].long_tasks, ElementsAre(LongTask{2, 4}));
}

TEST(StagesNow, StagesInACycleWaitForLowerNumbersOnly) {
  Job job({Stage(4, 1, {5}), Stage(5, 1, {4}), Stage(6, 1, {5})});
  const WorkflowNow now = job.Now(1);
  EXPECT_THAT(now.cycle, ElementsAre(4, 5, 4));
  EXPECT_THAT(now.stages[0].parents, IsEmpty());
  EXPECT_THAT(now.stages[1].parents, ElementsAre(0));
  EXPECT_THAT(now.stages[2].parents, ElementsAre(1));
}

TEST(StagesNow, AStageOfUnknownSizeIsNotOver) {
  Job job({OfUnknownSize(0), Stage(1, 1, {0})});
  job.Run(0, 2, Task(0, 0));
  const WorkflowNow now = job.Now(3);
  EXPECT_FALSE(now.stages[0].is_task_count_known);
  EXPECT_EQ(now.stages[1].waited, 0) << "its parent may continue";
}

// The driver's clock is one hour ahead.
TEST(StagesNow, MeasuresALagByOneClock) {
  Job job({Stage(0, 1), Stage(1, 1, {0})});
  const auto say = [&](double seconds, EventBody body) {
    Event event = job.driver.At(seconds, std::move(body));
    event.sent_at += absl::Hours(1);
    EXPECT_TRUE(facts::Apply(event, {}, job.state).ok());
  };
  job.driver = test::Source("driver");
  const StageOpened submitted = OpenedAt(6 + 3600, Stage(1, 1, {0}));
  say(0, Started(Task(0, 0)));
  say(4, Finished(Task(0, 0)));
  say(6, submitted);
  EXPECT_DOUBLE_EQ(job.Now(8).stages[1].lag.value_or(-1), 2);
}

TEST(StagesNow, CountsADuplicateParentOnce) {
  Job job({Stage(0, 1), Stage(1, 1, std::vector<std::uint32_t>(1000, 0))});
  EXPECT_THAT(job.state.stages.at(1).opened.parents, ElementsAre(0));
  EXPECT_THAT(job.Now(1).stages[1].parents, ElementsAre(0));
}

TEST(StagesNow, CountsTheTasksOfExecutorsWithoutReportedSlots) {
  Job job({Stage(0, 9)});
  job.Executor(0, 0, 0);
  for (const std::uint32_t index : {0, 1, 2}) job.Start(0, Task(0, index), 0);
  const WorkflowNow now = job.Now(1);
  EXPECT_DOUBLE_EQ(now.slots, 3);
  EXPECT_FALSE(now.are_slots_reported);
  EXPECT_THAT(WarmthsOf(now.stages[0]), ElementsAre(Warmth::kRest, Warmth::kRest, Warmth::kRest));
}

// A Spark driver may report ends late.
TEST(StagesNow, LateReportedEndsAddNoSlotsToExecutorsOrAStage) {
  for (const bool has_executor : {false, true}) {
    Job job({has_executor ? Stage(0, 9) : WithSlots(Stage(0, 9), 2)});
    if (has_executor) job.Executor(0, 0, 2);
    for (const std::uint32_t index : {0, 1}) job.Run(0, 3, Task(0, index));
    for (const std::uint32_t index : {2, 3}) job.Run(2.5, 5, Task(0, index));
    if (has_executor) {
      EXPECT_DOUBLE_EQ(job.Now(2.7).slots, 2);
    }
    EXPECT_DOUBLE_EQ(job.Now(5).slots, 2);
    EXPECT_DOUBLE_EQ(ProfileOf(job.Now(5)).slots, 2);
  }
}

TEST(StagesNow, ClosedExecutorsHaveNoSlotsUnlessAllAreClosed) {
  Job job({Stage(0, 9)});
  job.Executor(0, 0, 4).Executor(0, 1, 2);
  EXPECT_EQ(job.Now(1).slots, 6);
  for (std::uint32_t i = 0; i < 4; ++i) job.Run(1, 2, Task(0, i), 0);
  job.Say(3, ExecutorClosed{0});
  EXPECT_EQ(job.Now(3).slots, 2);
  job.Say(4, ExecutorClosed{1});
  EXPECT_EQ(job.Now(4).slots, 4);  // at the same time
}

// Returns a job on two executors with sixteen cores and one GPU each. Each executor runs one task
// of 10 s at a time.
Job OnTwoGpus(double seconds) {
  Job job({Stage(0, 64), Stage(1, 32, {0})});
  job.Executor(0, 0, 16).Executor(0, 1, 16);
  std::uint32_t index = 0;
  for (double start = 0; start <= seconds; start += 10) {
    for (const std::uint32_t executor : {0, 1}) job.Start(start, Task(0, index++), executor);
    if (start + 10 > seconds) break;
    for (const std::uint32_t done : {index - 2, index - 1}) {
      job.Say(start + 10, Finished(Task(0, done)));
    }
  }
  return job;
}

TEST(StagesNow, LearnsTheUsableSlotsFromTasksThatWaitBesideIdleOnes) {
  EXPECT_DOUBLE_EQ(OnTwoGpus(3).Now(3).slots, 32);
  for (const double seconds : {5.0, 25.0, 300.0}) {
    const WorkflowNow now = OnTwoGpus(seconds).Now(seconds);
    EXPECT_DOUBLE_EQ(now.slots, 2) << seconds;
    EXPECT_DOUBLE_EQ(now.slots_per_executor, 1) << seconds;
    const std::vector<Warmth> warmths = WarmthsOf(now.stages[0]);
    EXPECT_EQ(std::count(warmths.begin(), warmths.end(), Warmth::kFresh), 2)
        << "only the first task of a usable slot";
  }
}

TEST(StagesNow, ATaskOfAClosedExecutorDoesNotRun) {
  Job job({Stage(0, 3)});
  job.Executor(0, 0, 2).Start(1, Task(0, 0), 0);
  EXPECT_EQ(job.Now(9).idle_tasks, 0u);
  job.Say(9, ExecutorClosed{0});
  const WorkflowNow now = job.Now(10);
  EXPECT_THAT(now.stages[0].running, IsEmpty());
  EXPECT_EQ(now.idle_tasks, 3u);
  EXPECT_DOUBLE_EQ(now.stages[0].idle_for, 1);
  EXPECT_EQ(now.executors, 0u);
  EXPECT_EQ(now.gone_executors, 1u);
}

TEST(StagesNow, ReadyTasksAreIdleWhileNoTaskRuns) {
  Job job({Stage(0, 3), Stage(1, 2, {0})});
  EXPECT_EQ(job.Now(7).idle_tasks, 3u);
  EXPECT_DOUBLE_EQ(job.Now(7).stages[0].idle_for, 7);
  EXPECT_DOUBLE_EQ(job.Now(7).stages[1].idle_for, 0);
  job.Run(8, 9, Task(0, 0));
  EXPECT_DOUBLE_EQ(job.Now(11).stages[0].idle_for, 2);
}

TEST(StagesNow, AnEndedStageHasItsFinishedTasks) {
  Job job({OfUnknownSize(0), Stage(1, 5), Stage(2, 1, {0, 1})});
  job.Executor(0, 0, 4).Run(1, 3, Task(0, 7)).Run(1, 3, Task(1, 0)).Start(2, Task(1, 1), 0);
  job.Say(4, StageClosed{.stage = 0}, StageClosed{.stage = 1, .outcome = JobOutcome::kFailed});
  const WorkflowNow now = job.Now(6);
  EXPECT_TRUE(now.stages[0].is_task_count_known);
  EXPECT_EQ(now.stages[0].tasks, 1u);
  EXPECT_EQ(now.stages[1].tasks, 1u);
  EXPECT_THAT(now.stages[1].running, IsEmpty());
  EXPECT_EQ(now.stages[2].waited, 3);  // since the end of the last task of its parents
}

TEST(StagesNow, ExecutorsOfARestartedDriverDoNotCountTwice) {
  Job job({Stage(0, 9)});
  job.Say(0, JobOpened{.application_master_attempt = 1});
  for (const std::uint32_t number : {0, 1}) job.Executor(0, number, 4);
  EXPECT_DOUBLE_EQ(job.Now(1).slots, 8);
  job.driver = test::Source("driver-2");
  job.Say(2, JobOpened{.application_master_attempt = 2});
  for (const std::uint32_t number : {0, 1}) job.Executor(2, number, 4);
  EXPECT_DOUBLE_EQ(job.Now(3).slots, 8);
}

StageNow Ended(std::string name, std::vector<std::size_t> parents = {}) {
  return {.name = std::move(name),
          .parents = std::move(parents),
          .tasks = 1,
          .finished = {{.seconds = 1}}};
}

TEST(ProfileOf, DropsARunWithTooManyStagesNamesOrEdges) {
  WorkflowNow stages;
  stages.stages.assign(PastRun::kStagesMax, Ended("s"));
  EXPECT_EQ(ProfileOf(stages).stages.size(), PastRun::kStagesMax);
  stages.stages.push_back(Ended("s"));
  EXPECT_THAT(ProfileOf(stages).stages, IsEmpty());

  WorkflowNow names;
  names.stages.assign(1000, Ended(std::string(4096, 'x')));
  EXPECT_THAT(ProfileOf(names).stages, IsEmpty());

  WorkflowNow wide;
  for (std::size_t i = 0; i < 1000; ++i) wide.stages.push_back(Ended("s"));
  wide.stages.push_back(Ended("all"));
  for (std::size_t i = 0; i < 1000; ++i) wide.stages.back().parents.push_back(i);
  ASSERT_EQ(ProfileOf(wide).stages.size(), 1001u);
  EXPECT_EQ(ProfileOf(wide).stages.back().parents.size(), 1000u);

  WorkflowNow dense;
  dense.stages.assign(800, Ended("s"));
  for (std::size_t i = 400; i < 800; ++i) {
    for (std::size_t parent = 0; parent < 400; ++parent) dense.stages[i].parents.push_back(parent);
  }
  EXPECT_THAT(ProfileOf(dense).stages, IsEmpty()) << "rather than with fewer parents";
}

TEST(ProfileOf, LimitsTheTimesOfManyStages) {
  WorkflowNow now;
  now.stages.assign(5000, Ended("s"));
  for (StageNow& stage : now.stages) stage.finished.assign(20, {.seconds = 1});
  std::size_t kept = 0;
  for (const PastStage& stage : ProfileOf(now).stages) {
    for (const auto& seconds : stage.seconds) kept += seconds.size();
  }
  EXPECT_GT(kept, 0u);
  EXPECT_LE(kept, PastRun::kTaskTimesMax);
}

// Runs a stage of `tasks` sequential tasks, each of one second. Returns its end.
double RunStage(Job& job, double from, std::uint32_t number, std::uint32_t tasks) {
  job.Say(from, StageOpened{.stage = number, .task_count = tasks, .opened_at = At(from)});
  for (std::uint32_t i = 0; i < tasks; ++i) job.Run(from + i, from + i + 1, Task(number, i));
  job.Say(from + tasks, StageClosed{.stage = number});
  return from + tasks;
}

// Returns the facts of a task or stage in a form that can be compared and printed.
auto FactsOf(const FinishedTask& task) { return std::tuple(task.seconds, task.warmth, task.index); }
auto FactsOf(const RunningTask& task) { return std::tuple(task.elapsed, task.warmth, task.id); }
template <typename T>
auto FactsOf(const std::vector<T>& tasks) {
  std::vector<decltype(FactsOf(tasks[0]))> facts;
  for (const T& task : tasks) facts.push_back(FactsOf(task));
  return facts;
}
auto FactsOf(const StageNow& stage) {
  const bool has_ended = stage.finished.size() >= stage.tasks;
  return std::tuple(stage.number, stage.name, stage.title, stage.parents, stage.owner, stage.tasks,
                    stage.is_task_count_known, stage.has_failed, stage.lag, stage.waited,
                    stage.done_since, stage.read_bytes, stage.idle_for,
                    has_ended ? 0 : stage.at_once_max, FactsOf(stage.finished),
                    FactsOf(stage.running));
}

void ExpectSame(const WorkflowNow& a, const WorkflowNow& b) {
  const auto facts = [](const WorkflowNow& now) {
    return std::tuple(now.elapsed, now.warm_slots, now.slots, now.are_slots_reported,
                      now.slots_per_executor, now.used_share, now.executors, now.gone_executors,
                      now.idle_tasks, now.submissions.count, now.submissions.kinds,
                      now.submissions.is_newest_repeated, now.cycle, now.planned.size());
  };
  EXPECT_EQ(facts(a), facts(b));
  ASSERT_EQ(a.stages.size(), b.stages.size());
  for (std::size_t i = 0; i < a.stages.size(); ++i) {
    EXPECT_EQ(FactsOf(a.stages[i]), FactsOf(b.stages[i]));
  }
}

// A driver that makes all kinds of reports. They include parallel stages, tasks with and without
// executors, lost ends, late starts, and attempts at stages that have ended.
class Hectic {
 public:
  explicit Hectic(std::uint32_t seed) : random_(seed) {
    for (std::uint32_t number = 0; number < Below(4); ++number) {
      Try(ExecutorOpened{.executor = number, .host = "h", .slots = Below(3)});
    }
  }

  const facts::JobRecord& state() const { return job_.state; }
  double now() const { return now_; }

  void Go() {
    now_ += 0.125 * Below(8);  // With this step, sums are exact in any order.
    switch (Below(12)) {
      case 0:
        return Open(Below(20) == 0 ? Below(40) : stages_);
      case 1:
        return Try(GroupClosed{.group = Group(Below(5))});
      case 2:
      case 3:
        return Close();
      case 4:
        if (Below(10) > 0) return;
        if (Below(2) == 0) return Try(ExecutorClosed{Below(6)});
        return Try(ExecutorOpened{.executor = 3 + Below(3), .host = "h", .slots = 1});
      default:
        return running_.size() < 6 ? StartTask() : EndTask();
    }
  }

 private:
  std::uint32_t Below(std::uint32_t most) {
    return std::uniform_int_distribution<std::uint32_t>(0, most - 1)(random_);
  }
  // Some reports are contradictory and are rejected.
  void Try(EventBody body) { job_.TrySay(now_, std::move(body)).IgnoreError(); }
  static std::string Group(std::uint32_t number) { return "job/" + std::to_string(number); }

  void Open(std::uint32_t number) {
    StageOpened stage = {.stage = number,
                         .attempt = Below(15) == 0 ? 1u : 0u,
                         .name = "stage " + std::to_string(Below(4)),
                         .group = Below(3) == 0 ? "" : Group(Below(5)),
                         .pool = Below(4) == 0 ? "slow" : "",
                         .opened_at = At(now_)};
    stage.task_count = 5;
    if (number > 0 && Below(2) == 0) stage.parents = {Below(number), Below(number + 3)};
    stage.skipped = Below(8) == 0;
    Try(std::move(stage));
    stages_ = std::max(stages_, number + 1);
  }
  void Close() {
    if (stages_ == 0) return;
    const std::uint32_t number = stages_ - 1 - std::min(Below(3), stages_ - 1);
    // Most tasks end together with their stage.
    for (std::size_t n = running_.size(); n-- > 0;) {
      if (running_[n].stage == number && Below(20) > 0) End(n);
    }
    Try(StageClosed{.stage = number,
                    .attempt = 1,
                    .outcome = Below(6) == 0 ? JobOutcome::kFailed : JobOutcome::kSucceeded});
  }
  void StartTask() {
    if (stages_ == 0) return;
    const AttemptId task = {.stage = stages_ - 1 - std::min(Below(3), stages_ - 1),
                            .index = Below(5),
                            .attempt = Below(10) == 0 ? 1u : 0u,
                            .stage_attempt = Below(15) == 0 ? 1u : 0u};
    AttemptChanged started = Started(task);
    if (Below(5) > 0) started.executor = Below(5);
    started.at = At(Below(15) == 0 ? std::max(now_ - 3, 0.0) : now_);
    Try(started);
    running_.push_back(task);
  }
  void EndTask() { End(Below(static_cast<std::uint32_t>(running_.size()))); }
  void End(std::size_t n) {
    AttemptChanged ended = Below(8) == 0 ? test::Failed(running_[n]) : Finished(running_[n]);
    ended.at = At(now_);
    Try(ended);
    running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(n));
  }

  std::mt19937 random_;
  Job job_{std::vector<StageOpened>{}};
  double now_ = 0;
  std::uint32_t stages_ = 0;
  std::vector<AttemptId> running_;
};

TEST(StagesTracker, EqualsANewTracker) {
  for (std::uint32_t seed = 0; seed < 150; ++seed) {
    SCOPED_TRACE(seed);
    Hectic job(seed);
    StagesTracker tracker;
    for (int n = 0; n < 120; ++n) {
      for (int events = 0; events < 3; ++events) job.Go();
      const WorkflowNow& seen = tracker.At(job.state(), At(job.now()));
      StagesTracker fresh;
      ExpectSame(seen, fresh.At(job.state(), At(job.now())));
      if (::testing::Test::HasFailure()) return;
    }
  }
}

TEST(StagesTracker, VisitsTheTasksOfAnEndedStageOnce) {
  const auto steps_with = [](std::uint32_t tasks) {
    Job job({});
    job.Say(0, ExecutorOpened{.executor = 0, .host = "h", .slots = 1});
    StagesTracker tracker;
    double now = 0;
    std::size_t steps = 0;
    for (std::uint32_t number = 0; number < 50; ++number) {
      now = RunStage(job, now, number, tasks);
      tracker.At(job.state, At(now));
      for (int n = 0; n < 4; ++n) {
        tracker.At(job.state, At(now));
        steps += tracker.steps();
      }
    }
    return steps;
  };
  EXPECT_EQ(steps_with(2), steps_with(40));
}

TEST(StagesTracker, RemovesExpectedStagesOfThePreviousCall) {
  Job job({});
  RunStage(job, 0, 0, 2);
  StagesTracker tracker;
  tracker.At(job.state, At(2)).stages.emplace_back();
  EXPECT_EQ(tracker.At(job.state, At(3)).stages.size(), 1u);
}

}  // namespace
}  // namespace tidemark::dag::stages_now_test
