#include "master/forecast/dag/jobs_application.h"

#include "tests/placement/some_stages.h"
#include "tests/test.h"
#include "tidemark/event.h"

namespace tidemark::dag::jobs_application_test {
namespace {

using placement::Slots;

// Has no deviations, so all draws are equal.
constexpr JobsOptions kNoSpread = {.common_deviation = 0};

LiveJob Waiting(std::uint64_t maps, double map_seconds, std::uint64_t reduces,
                double reduce_seconds) {
  LiveJob job;
  job.expected = {
      .map = {.tasks = maps, .times = durations::TimeDistribution::Empirical({map_seconds})},
      .reduce = {.tasks = reduces,
                 .times = durations::TimeDistribution::Empirical({reduce_seconds})},
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

dag::ApplicationForecast Estimate(const std::vector<LiveJob>& jobs,
                                  const placement::Parents& parents,
                                  const placement::Resourcing& on,
                                  const JobsOptions& options = kNoSpread) {
  return dag::ForecastApplication(ApplicationOfJobs(jobs, parents, on, options)).value();
}

TEST(ApplicationOfJobs, AWaitingJobRunsInWaves) {
  const dag::ApplicationForecast estimate = Estimate({Waiting(4, 3, 2, 10)}, {{}}, Slots(2));
  EXPECT_NEAR(estimate.end.median, 2 * 3 + 10, 1e-6);
  EXPECT_NEAR(estimate.stages[MapStageOf(0)].end, 6, 1e-6);
  EXPECT_NEAR(estimate.stages[ReduceStageOf(0)].start, 6, 1e-6);
  EXPECT_EQ(estimate.known_share, 1);
}

// Without bunches, a few kilobytes of an untrusted plan would occupy a processor for hours.
TEST(ApplicationOfJobs, UnknownJobsRunInBunchesLikeOthers) {
  const std::vector<LiveJob> jobs(1000);
  const ApplicationForecast estimate = Estimate(jobs, placement::Parents(1000), Slots(1'000'000));
  // Each job has a wave of map tasks and a wave of reduce tasks, which take a minute each. The
  // logarithm of the times has a deviation of one.
  EXPECT_NEAR(estimate.end.median, 1000 * 120 * std::exp(0.5), 40'000);
  EXPECT_EQ(estimate.known_share, 0);
}

TEST(ApplicationOfJobs, ARunningJobKeepsItsForecast) {
  EXPECT_NEAR(Estimate({RunningFor(40, {.running = 2})}, {{}}, Slots(2)).end.median, 40, 1e-6);
  EXPECT_NEAR(Estimate({RunningFor(40, {.pending = 6, .running = 2})}, {{}}, Slots(2)).end.median,
              40, 1e-6);
  EXPECT_NEAR(Estimate({RunningFor(40, {})}, {{}}, Slots(2)).end.median, 40, 1e-6);
}

// A map task of 20 s waits for one of two slots, which are taken by reduce tasks. The reduce tasks
// wait for the map task. They are assumed to run for 10 and 20 s, and the map task follows the
// first of them.
TEST(ApplicationOfJobs, AJobWithReduceTasksOnAllSlotsDoesNotEndNow) {
  LiveJob job = RunningFor(40, {.running = 2});
  job.map = {.pending = 1};
  job.forecast->map_share = 0.5;
  EXPECT_NEAR(Estimate({job}, {{}}, Slots(2)).end.median, 30, 1e-6);
}

TEST(ApplicationOfJobs, ARunningJobWaitsForNoOtherJob) {
  const std::vector<LiveJob> jobs = {Waiting(2, 5, 0, 0), RunningFor(40, {.running = 2})};
  for (const double slots : {2.0, 4.0}) {
    EXPECT_NEAR(Estimate(jobs, {{}, {0}}, Slots(slots)).owner_ends[1].median, 40, 1e-6) << slots;
  }
}

// Both jobs have the same remaining time in every draw.
TEST(ApplicationOfJobs, KnownShareIsAHalfIfOneOfTwoEqualJobsIsKnown) {
  for (std::size_t place = 1; place < 6; ++place) {
    std::vector<LiveJob> jobs(place + 1, Over());
    jobs[0] = Waiting(2, 60, 2, 60);
    LiveJob& unknown = jobs[place] = Waiting(2, 60, 2, 60);
    unknown.expected.is_known = false;
    const ApplicationForecast estimate = Estimate(jobs, placement::Parents(jobs.size()), Slots(2));
    EXPECT_NEAR(estimate.known_share, 0.5, 0.02) << place;
  }
}

TEST(ApplicationOfJobs, AChildStartsAfterItsParents) {
  const dag::ApplicationForecast estimate = Estimate(
      {RunningFor(40, {.running = 2}), Over(), Waiting(2, 5, 0, 0)}, {{}, {}, {0, 1}}, Slots(2));
  EXPECT_NEAR(estimate.stages[MapStageOf(2)].start, 40, 1e-6);
  EXPECT_NEAR(estimate.end.median, 45, 1e-6);
  EXPECT_THAT(estimate.critical_path, ElementsAre(ReduceStageOf(0), MapStageOf(2)));
  EXPECT_TRUE(estimate.stages[MapStageOf(2)].is_critical);
  EXPECT_FALSE(estimate.stages[MapStageOf(1)].is_critical);
}

// The four tasks of the running job end after 10, 20, 30 and 40 s. The tasks of the other job take
// the slots as they become free.
TEST(ApplicationOfJobs, ConcurrentJobsShareTheSlots) {
  const dag::ApplicationForecast estimate =
      Estimate({RunningFor(40, {.running = 4}), Waiting(4, 5, 0, 0)}, {{}, {}}, Slots(4));
  EXPECT_NEAR(estimate.stages[MapStageOf(1)].start, 10, 1e-6);
  EXPECT_NEAR(estimate.owner_ends[1].median, 25, 1e-6);
  EXPECT_NEAR(estimate.end.median, 40, 1e-6);
}

// Returns a job with one slow task that ends after 40 s. Its three other tasks end after 4 s, which
// frees three slots for the four tasks of 5 s of the other job.
LiveJob WithAStraggler() {
  LiveJob job = RunningFor(40, {.running = 4});
  durations::RemainingStages left = {.stages = {{.work = {}, .times = {}, .number = kReduceStage}},
                                     .ends = {40}};
  left.stages[0].work.running = {0, 0, 0, 0};
  left.stages[0].times.of_task = {{4}, {4}, {40}, {4}};
  job.left = std::make_shared<const durations::RemainingStages>(std::move(left));
  return job;
}

TEST(ApplicationOfJobs, TasksOfARunningJobFreeTheirSlotsAtTheirEnds) {
  const auto estimate = Estimate({WithAStraggler(), Waiting(4, 5, 0, 0)}, {{}, {}}, Slots(4));
  EXPECT_NEAR(estimate.owner_ends[0].median, 40, 1e-6);
  EXPECT_NEAR(estimate.stages[MapStageOf(1)].start, 4, 1e-6);
  EXPECT_NEAR(estimate.owner_ends[1].median, 14, 1e-6);
}

TEST(ApplicationOfJobs, SubtractsTheAgeOfTheTasksFromEach) {
  LiveJob job = WithAStraggler();
  job.left_age = 3;
  job.forecast = RunningForecast{.remaining = 37, .lower = 37, .upper = 37};
  const ApplicationForecast estimate = Estimate({job, Waiting(4, 5, 0, 0)}, {{}, {}}, Slots(4));
  EXPECT_NEAR(estimate.owner_ends[0].median, 37, 1e-6);
  EXPECT_NEAR(estimate.stages[MapStageOf(1)].start, 1, 1e-6);
}

TEST(ApplicationOfJobs, TasksOfARunningJobEndWithItsForecast) {
  const RunningForecast forecasts[] = {{.remaining = 80, .lower = 60, .upper = 160},
                                       {.remaining = 40, .lower = 30, .upper = 80}};
  for (const RunningForecast& forecast : forecasts) {
    for (LiveJob job : {WithAStraggler(), RunningFor(40, {.running = 4})}) {
      job.forecast = forecast;
      const dag::ApplicationForecast estimate = Estimate({job}, {{}}, Slots(4));
      EXPECT_NEAR(estimate.end.median, forecast.remaining, forecast.remaining / 20);
      EXPECT_NEAR(estimate.end.lower, forecast.lower, forecast.lower / 15);
      EXPECT_NEAR(estimate.end.upper, forecast.upper, forecast.upper / 10);
    }
  }
}

// The job is like a Spark driver between two of its jobs. Only the forecast includes future jobs.
TEST(ApplicationOfJobs, AnApplicationWithoutOpenStagesKeepsItsForecast) {
  LiveJob job = RunningFor(40, {});
  job.is_of_stages = true;
  job.left = std::make_shared<const durations::RemainingStages>(
      durations::RemainingStages{.stages = {{.work = {}, .times = {}, .number = 3}}, .ends = {0}});
  const ApplicationForecast estimate = Estimate({job, Waiting(4, 5, 0, 0)}, {{}, {0}}, Slots(4));
  EXPECT_NEAR(estimate.owner_ends[0].median, 40, 1e-6);
  EXPECT_NEAR(estimate.owner_ends[1].median, 45, 1e-6);
}

// If all tasks counted individually, the tasks of a few hundred untrusted jobs would have an
// unlimited cost.
TEST(ApplicationOfJobs, CountsOnlyTheNumberOfTooManyTasks) {
  LiveJob job = RunningFor(40, {.running = 2'000});
  durations::RemainingStages left = {.stages = {{.work = {}, .times = {}, .number = kReduceStage}},
                                     .ends = {40}};
  left.stages[0].work.running.resize(2'000);
  left.stages[0].times.of_task.assign(2'000, {40});
  job.left = std::make_shared<const durations::RemainingStages>(std::move(left));
  const dag::Application application =
      ApplicationOfJobs(std::vector<LiveJob>{job}, {{}}, Slots(2'000), kNoSpread);
  EXPECT_LE(application.stages[ReduceStageOf(0)].times.of_task.size(), 1'000u);
}

TEST(ApplicationOfJobs, UnknownJobsAreWideAndMarkedAsUnknown) {
  LiveJob job;
  job.expected.map.tasks = 4;
  const dag::ApplicationForecast estimate = Estimate({job}, {{}}, Slots(2));
  EXPECT_EQ(estimate.known_share, 0);
  EXPECT_GT(estimate.end.lower, 0);
  EXPECT_GT(estimate.end.upper, 10 * estimate.end.lower);
}

// The estimate of one job may be wrong by a factor of e^(1.645 x 1.8) = 19 in each direction.
// Sixteen sequential jobs have no smaller factor.
TEST(ApplicationOfJobs, ACommonGuessDoesNotAverageOut) {
  for (const std::size_t count : {std::size_t{1}, std::size_t{16}}) {
    placement::Parents chain(count);
    for (std::size_t i = 1; i < count; ++i) chain[i] = {i - 1};
    const ApplicationForecast estimate = Estimate(std::vector<LiveJob>(count), chain, Slots(2));
    EXPECT_GT(estimate.end.upper, 10 * estimate.end.median) << count;
    EXPECT_LT(estimate.end.lower, estimate.end.median / 10) << count;
    EXPECT_GT(estimate.owner_ends[0].upper, 10 * estimate.owner_ends[0].median) << count;
    EXPECT_LT(estimate.owner_ends[0].lower, estimate.owner_ends[0].median / 10) << count;
  }
}

// The forecast of the other job is 40 s, or at most 610 s, which corresponds to tasks of 20 s.
// If their errors were independent, the last of many jobs would end at a nearly certain time.
TEST(ApplicationOfJobs, ManyRunningJobsWithoutEvidenceAreAsUncertainAsOne) {
  LiveJob job = RunningFor(9, {.running = 2});
  job.forecast = RunningForecast{.remaining = 9, .lower = 1, .upper = 129, .is_guess = true};
  const std::vector<LiveJob> jobs(300, job);
  const dag::ApplicationForecast many = Estimate(jobs, placement::Parents(300), Slots(600));
  EXPECT_NEAR(many.end.median, 9, 1);
  EXPECT_NEAR(many.end.lower, 1, 0.5);
  EXPECT_NEAR(many.end.upper, 129, 13);
}

TEST(ApplicationOfJobs, AGuessFromAForecastIsAsWideAsTheForecast) {
  const auto latest_end = [](double upper) {
    LiveJob running = RunningFor(30, {.running = 2});  // after 10 s
    running.forecast->upper = upper;
    return Estimate({running, LiveJob()}, {{}, {}}, Slots(40)).owner_ends[1].upper;
  };
  EXPECT_GT(latest_end(600), 2 * latest_end(30));
}

// Its start is no evidence, so the two waves of 60 s remain.
TEST(ApplicationOfJobs, AJustStartedUnknownJobIsLikeAWaitingOne) {
  LiveJob job;
  job.is_running = true;
  job.elapsed = 0.1;
  job.map = {.running = 1};
  EXPECT_NEAR(Estimate({job}, {{}}, Slots(2)).end.median, 120, 20);
  EXPECT_NEAR(Estimate({LiveJob()}, {{}}, Slots(2)).end.median, 120, 20);
}

TEST(ApplicationOfJobs, AnUnknownJobIsLikeTheOthers) {
  LiveJob unknown;
  unknown.expected.map.tasks = 2;
  EXPECT_NEAR(Estimate({unknown, Waiting(2, 7, 0, 0)}, {{}, {0}}, Slots(2)).owner_ends[0].median, 7,
              2);
  LiveJob over = Over();
  over.took = 20;
  EXPECT_NEAR(Estimate({over, unknown}, {{}, {0}}, Slots(2)).end.median, 10, 2);
  LiveJob running = RunningFor(30, {.running = 2});  // after 10 s
  EXPECT_NEAR(Estimate({running, unknown}, {{}, {0}}, Slots(2)).end.median, 30 + 20, 5);
}

TEST(ApplicationOfJobs, AnOverdueJobMayBeSilentForAsLongAgain) {
  LiveJob job = Waiting(1, 5, 0, 0);
  job.awaited = 100;
  const dag::ApplicationForecast estimate = Estimate({job}, {{}}, Slots(1));
  EXPECT_NEAR(estimate.end.median, 105, 15);
  EXPECT_GT(estimate.end.upper, 1000);
  EXPECT_TRUE(std::isfinite(estimate.end.upper));
}

TEST(ApplicationOfJobs, ARunningJobWithoutAForecastUsesItsEstimateOrTakesAsLongAgain) {
  LiveJob known = Waiting(2, 20, 0, 0);
  known.is_running = true;
  known.elapsed = 5;
  known.map = {.running = 2};
  EXPECT_NEAR(Estimate({known}, {{}}, Slots(2)).end.median, 15, 1e-6);
  LiveJob unknown = known;
  unknown.expected = {};
  unknown.elapsed = 500;
  EXPECT_NEAR(Estimate({unknown}, {{}}, Slots(2)).end.median, 500, 80);
}

TEST(ApplicationOfJobs, FinishedJobsStretchTheWaitingOnes) {
  const JobsOptions twice = {.common_deviation = 0, .shift = 2};
  const std::vector<LiveJob> jobs = {RunningFor(40, {.running = 2}), Waiting(2, 5, 0, 0)};
  EXPECT_NEAR(Estimate(jobs, {{}, {0}}, Slots(2), twice).end.median, 50, 1e-6);
}

TEST(ApplicationOfJobs, MillionsOfTasksAreSimulatedInBunches) {
  EXPECT_NEAR(Estimate({Waiting(4'000'000, 3, 0, 0)}, {{}}, Slots(1000)).end.median, 12'000, 120);
  EXPECT_NEAR(Estimate({Waiting(400'000, 3, 0, 0)}, {{}}, Slots(2)).end.median, 600'000, 6000);
}

TEST(ApplicationOfJobs, LimitsTheRunningTasksWithTimesOfTheirOwn) {
  const std::vector<LiveJob> jobs(1000, RunningFor(40, {.running = 1000}));
  const dag::Application application =
      ApplicationOfJobs(jobs, placement::Parents(1000), Slots(1'000'000), kNoSpread);
  std::size_t running = 0;
  for (const durations::RemainingStage& stage : application.stages)
    running += stage.work.running.size();
  EXPECT_LE(running, 20'000u);
  EXPECT_NEAR(Estimate(jobs, placement::Parents(1000), Slots(1'000'000)).end.median, 40, 1e-6);
}

TEST(ApplicationOfJobs, EveryMixtureOfJobsGivesOrderedFiniteTimes) {
  std::mt19937 random(7);
  const auto pick = [&](std::uint32_t below) {
    return static_cast<std::uint32_t>(random() % below);
  };
  for (int round = 0; round < 300; ++round) {
    std::vector<LiveJob> jobs;
    placement::Parents parents;
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
    const auto policy = pick(2) == 0 ? placement::Policy::kFair : placement::Policy::kFifo;
    const ApplicationForecast estimate = Estimate(jobs, parents, Slots(1 + pick(6), policy), {});
    EXPECT_TRUE(std::isfinite(estimate.end.upper)) << round;
    EXPECT_LE(0, estimate.end.lower) << round;
    EXPECT_LE(estimate.end.lower, estimate.end.median + 1e-9) << round;
    EXPECT_LE(estimate.end.median, estimate.end.upper + 1e-9) << round;
    for (const dag::StageEnds& stage : estimate.stages) {
      EXPECT_LE(0, stage.start) << round;
      EXPECT_LE(stage.end, estimate.end.upper + 1e-6) << round;
    }
  }
}

}  // namespace
}  // namespace tidemark::dag::jobs_application_test
