#include "master/forecast/dag/job_on_slots.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "tests/master/events.h"
#include "tidemark/event.h"
#include "tidemark/job_monitor.h"

namespace tidemark::workflow {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

const absl::Time kNow = absl::FromUnixSeconds(1'700'000'000);

// One stage of which two tasks run and eight wait, each of ten seconds: 10 + 4 * 10 on two slots.
std::shared_ptr<Snapshot> Job() {
  Snapshot job = {.job_id = "job-1", .sequence = 7, .at = kNow, .state = JobState::kRunning};
  job.started_at = kNow - absl::Seconds(50);
  job.estimate = {.state = EstimateState::kValid,
                  .fraction_done = 0.5,
                  .remaining = Range{absl::Seconds(50), absl::Seconds(50), absl::Seconds(50)}};
  job.stage_infos = {{.id = {.stage = 3}, .kind = StageKind::kGeneric}};
  job.stages = {{.id = {.stage = 3},
                 .state = StageState::kRunning,
                 .tasks = 10,
                 .running_tasks = 2,
                 .ends_in = Range{.median = absl::Seconds(50)}}};
  return std::make_shared<Snapshot>(job);
}

std::shared_ptr<const cost::StagesLeft> Tasks(std::uint64_t at_once_max = schedule::kNoLimit) {
  cost::StageLeft stage = {.number = 3};
  stage.work.pending = 8;
  stage.work.at_once_max = at_once_max;
  stage.work.running.resize(2);
  stage.times.of_task = {{10}, {10}};
  stage.times.alike.fill(cost::TimeDistribution::Empirical({10}));
  return std::make_shared<const cost::StagesLeft>(
      cost::StagesLeft{.stages = {stage}, .ends = {50}});
}

// The same, of one executor.
std::shared_ptr<cost::StagesLeft> TasksOfExecutor() {
  auto left = std::make_shared<cost::StagesLeft>(*Tasks(/*at_once_max=*/2));
  left->slots = 2;
  left->slots_per_executor = 2;
  return left;
}

Scenario OnSlots(std::uint32_t slots) { return {.slots = slots}; }
Scenario OnExecutors(std::uint32_t executors) { return {.executors = executors}; }

double SecondsIn(const Scenario& scenario, std::shared_ptr<const cost::StagesLeft> left) {
  const auto job = JobOnSlots(Job(), std::move(left), scenario, kNow);
  EXPECT_TRUE(job.ok()) << job.status();
  return job.ok() ? absl::ToDoubleSeconds(job->snapshot.estimate.remaining->median) : -1;
}

double SecondsOn(std::uint32_t slots, std::shared_ptr<const cost::StagesLeft> left) {
  return SecondsIn(OnSlots(slots), std::move(left));
}

TEST(JobOnSlots, PlacesTheTasksThatAreLeft) {
  EXPECT_NEAR(SecondsOn(2, Tasks()), 50, 1e-6);   // as it is
  EXPECT_NEAR(SecondsOn(5, Tasks()), 20, 1e-6);   // 2 + 3, then 5
  EXPECT_NEAR(SecondsOn(10, Tasks()), 10, 1e-6);  // all at once
  EXPECT_NEAR(SecondsOn(1, Tasks()), 90, 1e-6);   // those that run go on
}

TEST(JobOnSlots, IsNotHeldToTheExecutorsThatItHas) {
  EXPECT_NEAR(SecondsOn(10, Tasks(/*at_once_max=*/2)), 10, 1e-6);
}

// Two that run end evenly apart, 5 and 10 s from now.
TEST(JobOnSlots, TakesTasksToBeAlikeWhenOnlyTheirNumberIsKnown) {
  EXPECT_NEAR(SecondsOn(2, nullptr), 50, 6);
  EXPECT_NEAR(SecondsOn(10, nullptr), 10, 3);
}

// Tasks that share processors take longer than alone, so that they end later than where they are
// placed.
TEST(JobOnSlots, OnTheSlotsThatItHasEndsAsItsForecastSays) {
  auto tasks = std::make_shared<cost::StagesLeft>(*Tasks());
  tasks->ends = {500};
  EXPECT_NEAR(SecondsOn(2, tasks), 50, 1e-6);
  EXPECT_NEAR(SecondsOn(5, tasks), 20, 1e-6);
}

TEST(JobOnSlots, SaysWhatItIsAboutAndNoMore) {
  auto job = Job();
  job->deadline = kNow + absl::Seconds(30);
  job->late_probability = 0.99;
  job->named_tasks = {{.host = "h"}};
  const auto outcome = JobOnSlots(job, Tasks(), OnSlots(5), kNow);
  ASSERT_TRUE(outcome.ok());
  EXPECT_EQ(outcome->slots, 5u);
  EXPECT_EQ(outcome->executors, 0u);
  const Snapshot& would_be = outcome->snapshot;
  EXPECT_EQ(would_be.job_id, "job-1");
  EXPECT_EQ(would_be.sequence, 0u);
  EXPECT_NEAR(would_be.estimate.fraction_done, 50. / 70, 1e-6);
  EXPECT_LT(would_be.late_probability.value_or(1), 0.1);
  EXPECT_THAT(would_be.stages, IsEmpty());
  EXPECT_THAT(would_be.named_tasks, IsEmpty());
}

TEST(JobOnSlots, ExecutorsAreAsLargeAsThoseThatItHas) {
  EXPECT_NEAR(SecondsIn(OnExecutors(1), TasksOfExecutor()), 50, 1e-6);
  EXPECT_NEAR(SecondsIn(OnExecutors(2), TasksOfExecutor()), 30, 1e-6);  // 2 + 2, then 4, then 2
  EXPECT_NEAR(SecondsIn(OnExecutors(5), TasksOfExecutor()), 10, 1e-6);
  const auto outcome = JobOnSlots(Job(), TasksOfExecutor(), OnExecutors(5), kNow);
  ASSERT_TRUE(outcome.ok());
  EXPECT_EQ(outcome->slots, 10u);
  EXPECT_EQ(outcome->executors, 5u);
}

// An application of 12 tasks on an executor of two slots; two have ended after 20 s, the first on
// their slots, of which others are taken to take half, and two have just started: 10 + 4 * 10 s are
// left. On four slots two more start now, for 20 s: 30 s. On ten all are there at once: 20 s.
TEST(JobOnSlots, AnApplicationIsAskedAboutFromItsEventsOn) {
  test::Source driver;
  JobMonitor monitor("job-1", {});
  const auto say = [&](double seconds, EventBody body) {
    EXPECT_TRUE(monitor.Apply(driver.At(seconds, std::move(body))).ok());
  };
  say(0, JobOpened{.name = "app",
                   .submitted_at = test::At(0),
                   .stages = {{.stage = 7, .signature = "s", .task_count = 12}}});
  say(0, ExecutorOpened{.executor = 0, .host = "h", .slots = 2});
  for (std::uint32_t task = 0; task < 4; ++task) {
    if (task >= 2) say(20, test::Finished({.stage = 7, .index = task - 2}));
    AttemptChanged started = test::Started({.stage = 7, .index = task});
    started.executor = 0;
    say(task < 2 ? 0 : 20, started);
  }
  const auto newest = std::make_shared<const Snapshot>(monitor.Tick(test::At(20)));
  const auto median = [&](std::uint32_t executors) {
    const auto outcome =
        JobOnSlots(newest, monitor.stages_left(), OnExecutors(executors), test::At(20));
    EXPECT_TRUE(outcome.ok()) << outcome.status();
    if (!outcome.ok()) return -1.;
    EXPECT_EQ(outcome->slots, 2 * executors);
    return absl::ToDoubleSeconds(outcome->snapshot.estimate.remaining->median);
  };
  EXPECT_NEAR(median(1), absl::ToDoubleSeconds(newest->estimate.remaining->median), 1e-3);
  EXPECT_NEAR(median(1), 50, 5);
  EXPECT_NEAR(median(2), 30, 4);
  EXPECT_NEAR(median(5), 20, 4);
}

TEST(JobOnSlots, SaysHowManySlotsAndExecutorsItHas) {
  const HeldSlots told = SlotsHeld(Job(), TasksOfExecutor(), kNow);
  EXPECT_EQ(told.slots, 2u);
  EXPECT_EQ(told.executors, 1u);
  const HeldSlots seen = SlotsHeld(Job(), Tasks(), kNow);
  EXPECT_EQ(seen.slots, 2u);
  EXPECT_EQ(seen.executors, 0u);
}

// Slots of executors are there before a task runs on them, as between two stages.
TEST(JobOnSlots, ToldSlotsCountWhileNothingRuns) {
  auto job = Job();
  job->stages[0].running_tasks = 0;
  auto left = TasksOfExecutor();
  left->stages[0].work.running.clear();
  left->stages[0].times.of_task.clear();
  left->ends = {40};
  job->estimate.remaining = Range{absl::Seconds(40), absl::Seconds(40), absl::Seconds(40)};
  const auto outcome = JobOnSlots(job, left, OnExecutors(2), kNow);
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  EXPECT_NEAR(absl::ToDoubleSeconds(outcome->snapshot.estimate.remaining->median), 20, 1e-6);
}

// By hand: a slot that has run a task takes 10 s for the next, a new one 30 s for its first.
TEST(JobOnSlots, SlotsThatItHasAreWarmAndOthersAreNot) {
  auto left = TasksOfExecutor();
  left->slots = 4;
  left->slots_per_executor = 4;
  left->warm_slots = 2;
  cost::StageLeft& stage = left->stages[0];
  stage.work.at_once_max = 4;
  stage.work.pending = 2;  // beside two that run
  stage.times.alike[static_cast<std::size_t>(schedule::Warmth::kFresh)] =
      cost::TimeDistribution::Empirical({30});
  left->ends = {10};
  auto job = Job();
  job->estimate.remaining = Range{absl::Seconds(10), absl::Seconds(10), absl::Seconds(10)};
  const auto median = [&](const Scenario& scenario) {
    return absl::ToDoubleSeconds(
        JobOnSlots(job, left, scenario, kNow)->snapshot.estimate.remaining->median);
  };
  EXPECT_NEAR(median(OnExecutors(1)), 10, 1e-6);
  stage.work.pending = 6;
  left->ends = {20};
  job->estimate.remaining = Range{absl::Seconds(20), absl::Seconds(20), absl::Seconds(20)};
  EXPECT_NEAR(median(OnExecutors(1)), 20, 1e-6);
  EXPECT_NEAR(median(OnExecutors(2)), 30, 1e-6);  // four of them on slots that are new
}

// One task runs of which in two of ten draws 40 s are left, in the others 10; nine wait of 10 s
// each. However many slots there are, that one may hold the end up.
TEST(JobOnSlots, ATaskThatMayRunLongKeepsTheUpperBoundUp) {
  cost::StageLeft stage = {.number = 3};
  stage.work.pending = 9;
  stage.work.running.resize(1);
  stage.times.of_task = {{10, 10, 10, 10, 10, 10, 10, 10, 40, 40}};
  stage.times.alike.fill(cost::TimeDistribution::Empirical({10}));
  const auto left = std::make_shared<const cost::StagesLeft>(cost::StagesLeft{
      .stages = {stage}, .ends = cost::Draws(10, 100), .slots = 1, .slots_per_executor = 1});
  auto job = Job();
  job->stages[0].running_tasks = 1;
  job->estimate.remaining = Range{absl::Seconds(100), absl::Seconds(100), absl::Seconds(130)};
  const auto outcome = JobOnSlots(job, left, OnExecutors(10), kNow);
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  const Range& remaining = *outcome->snapshot.estimate.remaining;
  EXPECT_NEAR(absl::ToDoubleSeconds(remaining.median), 10, 1);
  EXPECT_GT(*remaining.upper, absl::Seconds(30));
}

TEST(JobOnSlots, RefusesWhatIsNotKnown) {
  auto job = Job();
  job->estimate.remaining.reset();
  EXPECT_THAT(JobOnSlots(job, Tasks(), OnSlots(5), kNow).status().message(),
              HasSubstr("nothing is predicted"));
  job = Job();
  job->silent_since = kNow - absl::Minutes(3);
  EXPECT_EQ(JobOnSlots(job, Tasks(), OnSlots(5), kNow).status().code(),
            absl::StatusCode::kFailedPrecondition);
  job = Job();
  job->stages[0].running_tasks = 0;
  EXPECT_THAT(JobOnSlots(job, Tasks(), OnSlots(5), kNow).status().message(),
              HasSubstr("how many slots it has is not known"));
  EXPECT_THAT(JobOnSlots(Job(), Tasks(), OnExecutors(5), kNow).status().message(),
              HasSubstr("no executor of it is known"));
}

TEST(JobOnSlots, RefusesMoreSlotsThanCanBeAskedAbout) {
  const auto most = JobOnSlots(Job(), TasksOfExecutor(), OnExecutors(500'000), kNow);
  ASSERT_TRUE(most.ok()) << most.status();
  EXPECT_EQ(most->slots, 1'000'000u);
  const absl::Status more =
      JobOnSlots(Job(), TasksOfExecutor(), OnExecutors(500'001), kNow).status();
  EXPECT_EQ(more.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(std::string(more.message()),
            "executors: must be at most 500000, not 500001: its executors have 2 slots each, and "
            "at most 1000000 slots can be asked about");
  auto large = TasksOfExecutor();
  large->slots = 3'000'000;
  large->slots_per_executor = 3e6;
  EXPECT_EQ(std::string(JobOnSlots(Job(), large, OnExecutors(1), kNow).status().message()),
            "executors: its executors have 3000000 slots each, and at most 1000000 slots can be "
            "asked about; ask about slots");
  EXPECT_EQ(SlotsHeld(Job(), large, kNow).slots, 3'000'000u) << "what it has is told as it is";
}

// Between the jobs of an application only its forecast knows that more is to come.
TEST(JobOnSlots, RefusesWhereNothingIsKnownToBeLeft) {
  auto job = Job();
  job->stages[0].state = StageState::kDone;
  auto left = TasksOfExecutor();
  left->stages = {{.number = 3}};
  EXPECT_FALSE(JobOnSlots(job, left, OnExecutors(2), kNow).ok());
  EXPECT_EQ(SlotsHeld(job, left, kNow).executors, 0u);
}

TEST(JobOnSlots, TasksThatWaitForAStageDoNotShowHowManySlotsThereAre) {
  cost::StageLeft last = {.number = 3};
  last.work.running.resize(1);
  last.times.of_task = {{10}};
  cost::StageLeft next = {.number = 4};
  next.work.pending = 8;
  next.work.parents = {0};
  next.times.alike.fill(cost::TimeDistribution::Empirical({10}));
  auto two =
      std::make_shared<cost::StagesLeft>(cost::StagesLeft{.stages = {last, next}, .ends = {50}});
  EXPECT_FALSE(JobOnSlots(Job(), two, OnSlots(5), kNow).ok());
  two->stages[1].work.at_once_max = 2;  // its executors are told
  EXPECT_TRUE(JobOnSlots(Job(), two, OnSlots(5), kNow).ok());
}

}  // namespace
}  // namespace tidemark::workflow
