#include "master/model/tidemark/past_runs.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "master/model/fold.h"
#include "tests/master/events.h"
#include "tests/master/virtual_job.h"
#include "tidemark/job_monitor.h"

namespace tidemark::model {
namespace {

using test::At;

PastRun Took(double map, double shuffle, double reduce, std::uint64_t bytes = 0) {
  return {absl::Seconds(map), absl::Seconds(shuffle), absl::Seconds(reduce), bytes};
}

// A job of two map tasks of 500 bytes each that started at second 0.
JobState Opened() {
  JobState state(10);
  test::Source source("app-master");
  EXPECT_TRUE(Apply(source.At(0, test::Opened(2, 1)), {}, state).ok());
  for (std::uint32_t i = 0; i < 2; ++i) {
    AttemptChanged started = test::Started(test::M(i));
    started.input_bytes = 500;
    EXPECT_TRUE(Apply(source.At(0, started), {}, state).ok());
  }
  return state;
}

TEST(PastRuns, WithoutRunsThereIsNoOutlook) {
  EXPECT_FALSE(OutlookOfPastRuns(Opened(), At(1), {}).has_value());
}

// 10 - 4 s of map, 2 s of shuffle, 30 s of reduce; sqrt((1 + 1) (2 x 0.09) / 2).
TEST(PastRuns, OneRunIsExpectedToComeAgain) {
  const std::vector<PastRun> runs = {Took(10, 2, 30)};
  const auto outlook = OutlookOfPastRuns(Opened(), At(4), runs);
  ASSERT_TRUE(outlook.has_value());
  EXPECT_NEAR(std::exp(outlook->log_seconds), 38, 1e-9);
  EXPECT_NEAR(outlook->deviation, std::sqrt(0.18), 1e-12);
}

// Twice the input: 2 (10 + 2 + 30).
TEST(PastRuns, TimesGrowWithTheInput) {
  const std::vector<PastRun> runs = {Took(10, 2, 30, 500)};
  EXPECT_NEAR(std::exp(OutlookOfPastRuns(Opened(), At(0), runs)->log_seconds), 84, 1e-9);
}

// 40 and 90: sqrt(3600); ln(1.5) off the mean each: (1 + 1/2) (0.18 + 2 ln(1.5)^2) / 3.
TEST(PastRuns, SeveralRunsAreAveragedAndTheirSpreadIsKnown) {
  const std::vector<PastRun> runs = {Took(10, 0, 30), Took(10, 0, 80)};
  const auto outlook = OutlookOfPastRuns(Opened(), At(0), runs);
  EXPECT_NEAR(std::exp(outlook->log_seconds), 60, 1e-9);
  const double log = std::log(1.5);
  EXPECT_NEAR(outlook->deviation, std::sqrt(1.5 * (0.18 + 2 * log * log) / 3), 1e-12);
}

TEST(PastRuns, AJobThatTakesLongerIsNotOver) {
  const std::vector<PastRun> runs = {Took(10, 0, 0)};
  EXPECT_NEAR(std::exp(OutlookOfPastRuns(Opened(), At(50), runs)->log_seconds), 5, 1e-9);
}

TEST(PastRuns, AbsurdRunsAreLeftOut) {
  const std::vector<PastRun> runs = {Took(0, 0, 0), Took(-5, 0, 30)};
  EXPECT_FALSE(OutlookOfPastRuns(Opened(), At(1), runs).has_value());
}

// Weights 1/0.09 and 1/0.16: 0.36 of the way.
TEST(PastRuns, OpinionsAreWeightedByTheirPrecision) {
  const Outlook both = Combine({0, 0.3}, {0.5, 0.4});
  EXPECT_NEAR(both.log_seconds, 0.18, 1e-12);
  EXPECT_NEAR(both.deviation, 0.24, 1e-12);
}

TEST(PastRuns, APastThatContradictsTheJobIsIgnored) {
  const Outlook both = Combine({0, 0.1}, {2, 0.4});
  EXPECT_EQ(both.log_seconds, 0);
  EXPECT_EQ(both.deviation, 0.1);
}

TEST(PastRuns, AreMadeOfTheFinalSnapshot) {
  Snapshot final{.state = tidemark::JobState::kSucceeded, .started_at = At(0)};
  final.phases = {{.phase = Phase::kMap, .finished_at = At(10)},
                  {.phase = Phase::kReduce, .started_at = At(12), .finished_at = At(42)}};
  EXPECT_EQ(PastRunOf(final, {.map_input_bytes = 7}), Took(10, 2, 30, 7));
  final.state = tidemark::JobState::kFailed;
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
    const Forecast& forecast = snapshots[second].forecasts.front();
    ASSERT_EQ(forecast.state, ForecastState::kValid) << second;
    EXPECT_NEAR(absl::ToDoubleSeconds(*forecast.remaining),
                story.ends - static_cast<double>(second), 0.2 * story.ends)
        << second;
    EXPECT_LE(*forecast.remaining_lower, *forecast.remaining);
    EXPECT_GE(*forecast.remaining_upper, *forecast.remaining);
  }
}

}  // namespace
}  // namespace tidemark::model
