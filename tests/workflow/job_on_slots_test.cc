#include "master/workflow/job_on_slots.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "tidemark/event.h"

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

double SecondsOn(std::uint32_t slots, std::shared_ptr<const cost::StagesLeft> left) {
  const auto job = JobOnSlots(Job(), std::move(left), slots, kNow);
  EXPECT_TRUE(job.ok()) << job.status();
  return job.ok() ? absl::ToDoubleSeconds(job->estimate.remaining->median) : -1;
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
  const auto would_be = JobOnSlots(job, Tasks(), 5, kNow);
  ASSERT_TRUE(would_be.ok());
  EXPECT_EQ(would_be->job_id, "job-1");
  EXPECT_EQ(would_be->sequence, 0u);
  EXPECT_NEAR(would_be->estimate.fraction_done, 50. / 70, 1e-6);
  EXPECT_LT(would_be->late_probability.value_or(1), 0.1);
  EXPECT_THAT(would_be->stages, IsEmpty());
  EXPECT_THAT(would_be->named_tasks, IsEmpty());
}

TEST(JobOnSlots, RefusesWhatIsNotKnown) {
  auto job = Job();
  job->estimate.remaining.reset();
  EXPECT_THAT(JobOnSlots(job, Tasks(), 5, kNow).status().message(),
              HasSubstr("nothing is predicted"));
  job = Job();
  job->silent_since = kNow - absl::Minutes(3);
  EXPECT_EQ(JobOnSlots(job, Tasks(), 5, kNow).status().code(),
            absl::StatusCode::kFailedPrecondition);
  job = Job();
  job->stages[0].running_tasks = 0;
  EXPECT_THAT(JobOnSlots(job, Tasks(), 5, kNow).status().message(),
              HasSubstr("how many slots it has is not known"));
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
  EXPECT_FALSE(JobOnSlots(Job(), two, 5, kNow).ok());
  two->stages[1].work.at_once_max = 2;  // its executors are told
  EXPECT_TRUE(JobOnSlots(Job(), two, 5, kNow).ok());
}

}  // namespace
}  // namespace tidemark::workflow
