#include "master/forecast/durations/past_runs.h"

#include <gtest/gtest.h>

#include <cmath>
#include <optional>
#include <vector>

#include "master/facts/fold.h"
#include "master/forecast/durations/normal.h"
#include "tests/master/events.h"
#include "tests/master/virtual_job.h"
#include "tidemark/job_monitor.h"

namespace tidemark::cost {
namespace {

using test::At;
using test::Left;
using test::Lower;
using test::Upper;

PastRun Took(double map, double shuffle, double reduce, std::uint64_t bytes = 0) {
  return {absl::Seconds(map), absl::Seconds(shuffle), absl::Seconds(reduce), bytes};
}

// A job of two map tasks of 500 bytes each that started at second 0.
model::JobRecord Opened() {
  model::JobRecord state(10);
  test::Source source("app-master");
  EXPECT_TRUE(model::Apply(source.At(0, test::Opened(2, 1)), {}, state).ok());
  for (std::uint32_t i = 0; i < 2; ++i) {
    AttemptChanged started = test::Started(test::M(i));
    started.input_bytes = 500;
    EXPECT_TRUE(model::Apply(source.At(0, started), {}, state).ok());
  }
  return state;
}

std::optional<Draws> SecondsLeft(absl::Time now, const std::vector<PastRun>& runs) {
  return SecondsByPastRuns(Opened(), now, runs, FixedDraws::For(2));
}

double MedianLeft(absl::Time now, const std::vector<PastRun>& runs) {
  std::optional<Draws> seconds = SecondsLeft(now, runs);
  return seconds ? QuantileOf(*seconds, 0.5) : -1;
}

// Of the logarithm.
double DeviationLeft(absl::Time now, const std::vector<PastRun>& runs) {
  std::optional<Draws> seconds = SecondsLeft(now, runs);
  if (!seconds) return -1;
  return std::log(QuantileOf(*seconds, 0.95) / QuantileOf(*seconds, 0.05)) /
         (2 * kDeviationsOf90Percent);
}

TEST(PastRuns, WithoutRunsThereIsNothingToExpect) {
  EXPECT_FALSE(SecondsLeft(At(1), {}).has_value());
}

// 10 - 4 s of map, 2 s of shuffle, 30 s of reduce; sqrt((1 + 1) (3 x 0.09) / 3).
TEST(PastRuns, OneRunIsExpectedToComeAgain) {
  const std::vector<PastRun> runs = {Took(10, 2, 30)};
  EXPECT_NEAR(MedianLeft(At(4), runs), 38, 1e-9);
  EXPECT_NEAR(DeviationLeft(At(4), runs), std::sqrt(0.18), 0.01);
}

// Twice the input: 2 (10 + 2 + 30).
TEST(PastRuns, TimesGrowWithTheInput) {
  const std::vector<PastRun> runs = {Took(10, 2, 30, 500)};
  EXPECT_NEAR(MedianLeft(At(0), runs), 84, 1e-9);
}

// 40 s by the same input with weight 1, 90 s by a third of it with 1 / (1 + (0.5 ln 3 / 0.3)^2) =
// 0.2298: exp((ln 40 + 0.2298 ln 270) / 1.2298).
TEST(PastRuns, ARunOfAnotherInputCountsLess) {
  const std::vector<PastRun> runs = {Took(10, 2, 28, 1000), Took(20, 0, 70, 1000 / 3)};
  EXPECT_NEAR(MedianLeft(At(0), runs), 57.2, 0.3);
}

TEST(PastRuns, TimesGrowWithAnInputThatIsAThousandTimesLarger) {
  const std::vector<PastRun> runs = {Took(10, 2, 30, 1)};
  EXPECT_NEAR(MedianLeft(At(0), runs), 42'000, 1e-6);
}

// 40 and 90: sqrt(3600); ln(1.5) off the mean each: (1 + 1/2) (0.27 + 2 ln(1.5)^2) / 4.
TEST(PastRuns, SeveralRunsAreAveragedAndTheirSpreadIsKnown) {
  const std::vector<PastRun> runs = {Took(10, 0, 30), Took(10, 0, 80)};
  EXPECT_NEAR(MedianLeft(At(0), runs), 60, 1e-9);
  const double log = std::log(1.5);
  EXPECT_NEAR(DeviationLeft(At(0), runs), std::sqrt(1.5 * (0.27 + 2 * log * log) / 4), 0.01);
}

// Half of what has outlasted all expectation ends within 2^(1/4) of what it has taken.
TEST(PastRuns, AJobThatTakesLongerIsNotOver) {
  const std::vector<PastRun> runs = {Took(10, 0, 0)};
  EXPECT_NEAR(MedianLeft(At(50), runs), 50 * (std::pow(2, 0.25) - 1), 1e-9);
}

TEST(PastRuns, AbsurdRunsAreLeftOut) {
  const std::vector<PastRun> runs = {Took(0, 0, 0), Took(-5, 0, 30)};
  EXPECT_FALSE(SecondsLeft(At(1), runs).has_value());
}

TEST(PastRuns, AreMadeOfTheFinalSnapshot) {
  Snapshot final{.state = JobState::kSucceeded, .started_at = At(0)};
  final.stage_infos = {{.id = {0, kMapStage}, .kind = StageKind::kMap},
                       {.id = {0, kReduceStage}, .kind = StageKind::kReduce}};
  final.stages = {{.id = {0, kMapStage}, .ended_at = At(10)},
                  {.id = {0, kReduceStage}, .started_at = At(12), .ended_at = At(42)}};
  EXPECT_EQ(PastRunOf(final, {.map_input_bytes = 7}), Took(10, 2, 30, 7));
  final.state = JobState::kFailed;
  EXPECT_FALSE(PastRunOf(final, {}).has_value());
}

// Engines of other kinds call stages of theirs map and reduce, too.
TEST(PastRuns, StagesOfAnotherNumberAreNoMapReduce) {
  Snapshot final{.state = JobState::kSucceeded, .started_at = At(0)};
  final.stage_infos = {{.id = {0, 6}, .kind = StageKind::kMap},
                       {.id = {0, 7}, .kind = StageKind::kReduce}};
  final.stages = {{.id = {0, 6}, .ended_at = At(10)},
                  {.id = {0, 7}, .started_at = At(12), .ended_at = At(42)}};
  EXPECT_FALSE(PastRunOf(final, {}).has_value());
}

TEST(PastRuns, LetAJobBeForecastFromItsFirstSecond) {
  test::VirtualJob job;
  job.seconds = [](std::uint64_t bytes) { return 0.01 * static_cast<double>(bytes); };
  job.groups.resize(2);
  for (std::uint64_t i = 0; i < 40; ++i) job.groups[i % 2].push_back(test::Key(i + 1, 100));
  const test::Story story = test::Tell(job);
  JobMonitor monitor("job-1", {});
  monitor.SetPastRuns({Took(job.map_seconds, job.shuffle_seconds, 20)});
  const std::vector<Snapshot> snapshots = test::Watch(story, 1, monitor);
  for (std::size_t second = 1; second + 3 < snapshots.size(); ++second) {
    const Estimate& forecast = snapshots[second].estimate;
    ASSERT_EQ(forecast.state, EstimateState::kValid) << second;
    EXPECT_NEAR(absl::ToDoubleSeconds(*Left(forecast)), story.ends - static_cast<double>(second),
                0.2 * story.ends)
        << second;
    EXPECT_LE(*Lower(forecast), *Left(forecast));
    EXPECT_GE(*Upper(forecast), *Left(forecast));
  }
}

PastRun OfOther(PastRun run) {
  run.is_of_other_job = true;
  return run;
}

std::optional<Draws> ByOthers(absl::Time now, const std::vector<PastRun>& runs) {
  return SecondsByOtherJobs(Opened(), now, runs, FixedDraws::For(2));
}

TEST(PastRuns, OfOtherJobsAreNoEarlierRuns) {
  EXPECT_FALSE(SecondsLeft(At(1), {OfOther(Took(10, 2, 30))}).has_value());
  EXPECT_FALSE(ByOthers(At(1), {Took(10, 2, 30)}).has_value());
  EXPECT_FALSE(ByOthers(At(1), {}).has_value());
}

// 8 + 2 + 30 s and 18 + 2 + 70 s: sqrt(40 x 90).
TEST(PastRuns, OfOtherJobsTheMeanIsExpected) {
  std::optional<Draws> seconds =
      ByOthers(At(2), {OfOther(Took(10, 2, 30)), OfOther(Took(20, 2, 70))});
  ASSERT_TRUE(seconds.has_value());
  EXPECT_NEAR(QuantileOf(*seconds, 0.5), 60, 1e-9);
}

// A hundred times the input of 10 bytes: ten times 42 s, by a slope of one half.
TEST(PastRuns, OfOtherJobsASmallerInputTookLess) {
  std::optional<Draws> seconds = ByOthers(At(0), {OfOther(Took(10, 2, 30, 10))});
  ASSERT_TRUE(seconds.has_value());
  EXPECT_NEAR(QuantileOf(*seconds, 0.5), 420, 1e-6);
}

// After 30 s: 100 s of map instead of 10, of which 30 have passed, then 10 x 32 s.
TEST(PastRuns, OfOtherJobsTheTimeThatHasPassedIsThisJobsOwn) {
  const std::optional<Draws> seconds = ByOthers(At(30), {OfOther(Took(10, 2, 30, 10))});
  ASSERT_TRUE(seconds.has_value());
  Draws draws = *seconds;
  EXPECT_NEAR(QuantileOf(draws, 0.5), 390, 1e-6);
}

TEST(PastRuns, OfOtherJobsAbsurdTimesAreLeftOut) {
  EXPECT_FALSE(ByOthers(At(1), {OfOther(Took(1e-9, 0, 0)), OfOther(Took(0, 0, 1e9))}).has_value());
}

}  // namespace
}  // namespace tidemark::cost
