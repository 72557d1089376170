#include "master/workflow/live_estimate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "tests/workflow/some_stages.h"

namespace tidemark::workflow {
namespace {

using ::testing::ElementsAre;

// Nothing but what is said: no spread, so that every draw is the same.
constexpr LiveOptions kNoSpread = {.common_deviation = 0};

LiveJob Waiting(std::uint64_t maps, double map_seconds, std::uint64_t reduces,
                double reduce_seconds) {
  LiveJob job;
  job.outlook = {.map = {.tasks = maps, .times = TaskTimes::Empirical({map_seconds})},
                 .reduce = {.tasks = reduces, .times = TaskTimes::Empirical({reduce_seconds})},
                 .is_known = true};
  return job;
}

LiveJob RunningFor(double remaining, TasksLeft reduce) {
  LiveJob job;
  job.is_running = true;
  job.elapsed = 10;
  job.reduce = reduce;
  job.forecast = RunningForecast{.remaining = remaining, .lower = remaining, .upper = remaining};
  return job;
}

LiveJob Over() {
  LiveJob job;
  job.is_over = true;
  return job;
}

LiveEstimate Estimate(const std::vector<LiveJob>& jobs, const Parents& parents,
                      const Resourcing& on, const LiveOptions& options = kNoSpread) {
  const auto estimate = EstimateLive(jobs, parents, on, options);
  EXPECT_TRUE(estimate.ok()) << estimate.status();
  return estimate.value_or(LiveEstimate{});
}

TEST(LiveEstimate, AJobThatWaitsTakesItsWaves) {
  const LiveEstimate estimate = Estimate({Waiting(4, 3, 2, 10)}, {{}}, Slots(2));
  EXPECT_NEAR(estimate.remaining, 2 * 3 + 10, 1e-6);
  EXPECT_NEAR(estimate.jobs[0].map.end, 6, 1e-6);
  EXPECT_NEAR(estimate.jobs[0].reduce.start, 6, 1e-6);
  EXPECT_EQ(estimate.known_share, 1);
}

// Else a few kilobytes of a stranger's would keep a processor busy for hours.
TEST(LiveEstimate, JobsOfWhichNothingIsKnownAreBunchedLikeOthers) {
  const std::vector<LiveJob> jobs(1000);
  const LiveEstimate estimate = Estimate(jobs, Parents(1000), Slots(1'000'000));
  // A wave of map tasks and one of reduce tasks for each, of a minute each, whose logarithm has a
  // deviation of one.
  EXPECT_NEAR(estimate.remaining, 1000 * 120 * std::exp(0.5), 40'000);
  EXPECT_EQ(estimate.known_share, 0);
}

TEST(LiveEstimate, ARunningJobKeepsToItsForecast) {
  EXPECT_NEAR(Estimate({RunningFor(40, {.running = 2})}, {{}}, Slots(2)).remaining, 40, 1e-6);
  EXPECT_NEAR(Estimate({RunningFor(40, {.pending = 6, .running = 2})}, {{}}, Slots(2)).remaining,
              40, 1e-6);
  EXPECT_NEAR(Estimate({RunningFor(40, {})}, {{}}, Slots(2)).remaining, 40, 1e-6);
}

TEST(LiveEstimate, AChildBeginsWhenItsParentsHaveEnded) {
  const LiveEstimate estimate = Estimate(
      {RunningFor(40, {.running = 2}), Over(), Waiting(2, 5, 0, 0)}, {{}, {}, {0, 1}}, Slots(2));
  EXPECT_NEAR(estimate.jobs[2].start, 40, 1e-6);
  EXPECT_NEAR(estimate.remaining, 45, 1e-6);
  EXPECT_THAT(estimate.critical_path, ElementsAre(0, 2));
  EXPECT_TRUE(estimate.jobs[2].is_critical);
  EXPECT_FALSE(estimate.jobs[1].is_critical);
}

// The running job's four tasks end after 10, 20, 30 and 40 s; the other job's take the slots as
// they come free.
TEST(LiveEstimate, JobsSideBySideShareTheSlots) {
  const LiveEstimate estimate =
      Estimate({RunningFor(40, {.running = 4}), Waiting(4, 5, 0, 0)}, {{}, {}}, Slots(4));
  EXPECT_NEAR(estimate.jobs[1].start, 10, 1e-6);
  EXPECT_NEAR(estimate.jobs[1].end, 25, 1e-6);
  EXPECT_NEAR(estimate.remaining, 40, 1e-6);
}

TEST(LiveEstimate, TheForecastsIntervalIsTheWorkflows) {
  LiveJob job = RunningFor(40, {.running = 4});
  job.forecast->lower = 30;
  job.forecast->upper = 80;
  const LiveEstimate estimate = Estimate({job}, {{}}, Slots(4));
  EXPECT_NEAR(estimate.remaining, 40, 2);
  EXPECT_NEAR(estimate.lower, 30, 2);
  EXPECT_NEAR(estimate.upper, 80, 8);
}

TEST(LiveEstimate, WhatNobodyKnowsIsWideAndSaidToBeUnknown) {
  LiveJob job;
  job.outlook.map.tasks = 4;
  const LiveEstimate estimate = Estimate({job}, {{}}, Slots(2));
  EXPECT_EQ(estimate.known_share, 0);
  EXPECT_GT(estimate.lower, 0);
  EXPECT_GT(estimate.upper, 10 * estimate.lower);
}

TEST(LiveEstimate, AJobNobodyKnowsIsTakenToBeLikeTheOthers) {
  LiveJob job;
  job.outlook.map.tasks = 2;
  const LiveEstimate estimate = Estimate({job, Waiting(2, 7, 0, 0)}, {{}, {0}}, Slots(2));
  EXPECT_NEAR(estimate.jobs[0].end, 7, 2);
}

TEST(LiveEstimate, AJobNobodyKnowsIsTakenToBeLikeThoseThatRan) {
  LiveJob unknown;
  unknown.outlook.map.tasks = 2;
  LiveJob over = Over();
  over.took = 20;
  EXPECT_NEAR(Estimate({over, unknown}, {{}, {0}}, Slots(2)).remaining, 10, 2);
  LiveJob running = RunningFor(30, {.running = 2});  // after 10 s
  EXPECT_NEAR(Estimate({running, unknown}, {{}, {0}}, Slots(2)).remaining, 30 + 20, 5);
}

TEST(LiveEstimate, AJobThatHasNotReportedMayBeSilentForAsLongAgain) {
  LiveJob job = Waiting(1, 5, 0, 0);
  job.awaited = 100;
  const LiveEstimate estimate = Estimate({job}, {{}}, Slots(1));
  EXPECT_NEAR(estimate.remaining, 105, 15);
  EXPECT_GT(estimate.upper, 1000);
  EXPECT_TRUE(std::isfinite(estimate.upper));
}

TEST(LiveEstimate, ARunningJobWithoutAForecastTakesWhatItsOutlookSaysOrAsLongAgain) {
  LiveJob known = Waiting(2, 20, 0, 0);
  known.is_running = true;
  known.elapsed = 5;
  known.map = {.running = 2};
  EXPECT_NEAR(Estimate({known}, {{}}, Slots(2)).remaining, 15, 1e-6);
  LiveJob unknown = known;
  unknown.outlook = {};
  unknown.elapsed = 50;
  EXPECT_NEAR(Estimate({unknown}, {{}}, Slots(2)).remaining, 50, 8);
}

TEST(LiveEstimate, WhatThisRunHasShownStretchesWhatWaits) {
  const LiveOptions twice = {.common_deviation = 0, .shift = 2};
  const std::vector<LiveJob> jobs = {RunningFor(40, {.running = 2}), Waiting(2, 5, 0, 0)};
  EXPECT_NEAR(Estimate(jobs, {{}, {0}}, Slots(2), twice).remaining, 50, 1e-6);
}

TEST(LiveEstimate, MillionsOfTasksAreSimulatedInBunches) {
  const LiveEstimate estimate = Estimate({Waiting(4'000'000, 3, 0, 0)}, {{}}, Slots(1000));
  EXPECT_NEAR(estimate.remaining, 12'000, 120);
  const LiveEstimate narrow = Estimate({Waiting(400'000, 3, 0, 0)}, {{}}, Slots(2));
  EXPECT_NEAR(narrow.remaining, 600'000, 6000);
}

TEST(LiveEstimate, EveryMixtureOfJobsGivesFiniteTimesInOrder) {
  std::mt19937 random(7);
  const auto pick = [&](std::uint32_t below) {
    return static_cast<std::uint32_t>(random() % below);
  };
  for (int round = 0; round < 300; ++round) {
    std::vector<LiveJob> jobs;
    Parents parents;
    for (std::size_t i = 0; i < 1 + pick(8); ++i) {
      LiveJob job;
      switch (pick(5)) {
        case 0:
          job = Over();
          break;
        case 1:
          job = RunningFor(pick(3) * 1e3, {.pending = pick(20), .running = pick(9)});
          job.map = {.pending = pick(5), .running = pick(5)};
          job.forecast->map_share = 0.5;
          break;
        case 2:
          job.is_running = true;
          job.elapsed = pick(2) * 100;
          break;
        case 3:
          job.awaited = pick(2) * 1e6;
          break;
        default:
          job = Waiting(pick(50), pick(3), pick(9), pick(100));
      }
      jobs.push_back(job);
      parents.emplace_back();
      if (i > 0 && pick(2) == 0) parents.back().push_back(pick(static_cast<std::uint32_t>(i)));
    }
    const auto policy = pick(2) == 0 ? schedule::Policy::kFair : schedule::Policy::kFifo;
    const LiveEstimate estimate = Estimate(jobs, parents, Slots(1 + pick(6), policy), {});
    EXPECT_TRUE(std::isfinite(estimate.upper)) << round;
    EXPECT_LE(0, estimate.lower) << round;
    EXPECT_LE(estimate.lower, estimate.remaining + 1e-9) << round;
    EXPECT_LE(estimate.remaining, estimate.upper + 1e-9) << round;
    for (const LiveJobEstimate& job : estimate.jobs) {
      EXPECT_LE(0, job.start) << round;
      EXPECT_LE(job.end, estimate.upper + 1e-6) << round;
    }
  }
}

}  // namespace
}  // namespace tidemark::workflow
