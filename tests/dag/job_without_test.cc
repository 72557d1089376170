#include "master/forecast/dag/job_without.h"

#include <gtest/gtest.h>

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "master/facts/lost_time.h"
#include "tidemark/event.h"

namespace tidemark::workflow {
namespace {

const absl::Time kNow = absl::FromUnixSeconds(1'700'000'000);
constexpr model::LostShare kFifth = {.share = 0.2, .lower = 0.1, .upper = 0.5};

Range Exactly(double seconds) {
  return {absl::Seconds(seconds), absl::Seconds(seconds), absl::Seconds(seconds)};
}

std::shared_ptr<Snapshot> JobThatTakes(const Range& remaining) {
  Snapshot job = {.job_id = "job-1", .sequence = 7, .at = kNow, .state = JobState::kRunning};
  job.started_at = kNow - absl::Seconds(50);
  job.estimate = {.state = EstimateState::kValid, .fraction_done = 0.5, .remaining = remaining};
  job.stage_infos = {{.id = {.stage = 3}, .kind = StageKind::kGeneric}};
  job.stages = {{.id = {.stage = 3},
                 .state = StageState::kRunning,
                 .tasks = 10,
                 .running_tasks = 2,
                 .ends_in = Range{.median = remaining.median}}};
  return std::make_shared<Snapshot>(job);
}

// One stage of which two tasks run and eight wait, each of ten seconds: 10 + 4 * 10 on two slots.
std::shared_ptr<const cost::StagesLeft> Tasks() {
  cost::StageLeft stage = {.number = 3};
  stage.work.pending = 8;
  stage.work.running.resize(2);
  stage.times.of_task = {{10}, {10}};
  stage.times.alike.fill(cost::TimeDistribution::Empirical({10}));
  return std::make_shared<const cost::StagesLeft>(
      cost::StagesLeft{.stages = {stage}, .ends = {50}});
}

estimate::Range SoonerOf(const Range& remaining, const model::LostTime& lost) {
  const auto sooner = SoonerWithout(JobThatTakes(remaining), Tasks(), std::span(&lost, 1), kNow);
  EXPECT_TRUE(sooner.ok()) << sooner.status();
  return sooner.ok() ? sooner->at(0) : estimate::Range{-1, -1, -1};
}

// Five waves of 8 s, 9 s or 5 s.
TEST(JobWithout, TasksTakeLessByWhatThoseOfTheirStageLost) {
  const estimate::Range sooner =
      SoonerOf(Exactly(50), {.by_stage = {{3, kFifth}}, .of_all = kFifth});
  EXPECT_NEAR(sooner.median, 10, 1e-6);
  EXPECT_NEAR(sooner.lower, 5, 1e-6);
  EXPECT_NEAR(sooner.upper, 25, 1e-6);
}

// A fifth of 40 to 60 s, or of less or more than that.
TEST(JobWithout, IsAsUnsureAsTheForecast) {
  const Range remaining = {absl::Seconds(50), absl::Seconds(40), absl::Seconds(60)};
  constexpr model::LostShare kSure = {.share = 0.2, .lower = 0.2, .upper = 0.2};
  const estimate::Range sooner = SoonerOf(remaining, {.by_stage = {{3, kSure}}, .of_all = kSure});
  EXPECT_NEAR(sooner.median, 10, 0.5);
  EXPECT_NEAR(sooner.lower, 8, 0.5);
  EXPECT_NEAR(sooner.upper, 12, 0.5);
}

TEST(JobWithout, AStageThatHasRunNothingGainsAtMostAsTheOthers) {
  const estimate::Range sooner =
      SoonerOf(Exactly(50), {.by_stage = {{1, kFifth}}, .of_all = kFifth});
  EXPECT_EQ(sooner.median, 0);
  EXPECT_EQ(sooner.lower, 0);
  EXPECT_NEAR(sooner.upper, 25, 1e-6);
}

TEST(JobWithout, WhereNothingWasLostNothingIsGained) {
  const estimate::Range sooner = SoonerOf(Exactly(50), {.by_stage = {{3, {}}}, .of_all = kFifth});
  EXPECT_EQ(sooner.median, 0);
  EXPECT_EQ(sooner.upper, 0);
}

TEST(JobWithout, AllOfTheTimeIsTheMostThatIsLost) {
  constexpr model::LostShare kAll = {.share = 1, .lower = 1, .upper = 1.5};
  const estimate::Range sooner = SoonerOf(Exactly(50), {.by_stage = {{3, kAll}}, .of_all = kAll});
  EXPECT_NEAR(sooner.median, 50, 1e-6);
  EXPECT_NEAR(sooner.upper, 50, 1e-6);
}

TEST(JobWithout, OfSeveralQueriesIsAsOfEach) {
  const std::vector<model::LostTime> lost = {{.by_stage = {{3, kFifth}}, .of_all = kFifth},
                                             {.by_stage = {{3, {}}}, .of_all = {}}};
  const auto sooner = SoonerWithout(JobThatTakes(Exactly(50)), Tasks(), lost, kNow);
  ASSERT_TRUE(sooner.ok()) << sooner.status();
  ASSERT_EQ(sooner->size(), 2U);
  EXPECT_EQ(sooner->at(0).median, SoonerOf(Exactly(50), lost[0]).median);
  EXPECT_EQ(sooner->at(0).upper, SoonerOf(Exactly(50), lost[0]).upper);
  EXPECT_EQ(sooner->at(1).median, 0);
}

TEST(JobWithout, SaysNothingWhereNothingIsPredicted) {
  const std::vector<model::LostTime> lost = {{.by_stage = {{3, kFifth}}, .of_all = kFifth}};
  auto job = JobThatTakes(Exactly(50));
  job->estimate.remaining.reset();
  EXPECT_TRUE(absl::IsFailedPrecondition(SoonerWithout(job, Tasks(), lost, kNow).status()));
  job = JobThatTakes(Exactly(50));
  EXPECT_TRUE(absl::IsFailedPrecondition(SoonerWithout(job, nullptr, lost, kNow).status()))
      << "of its tasks only the number is known";
}

}  // namespace
}  // namespace tidemark::workflow
