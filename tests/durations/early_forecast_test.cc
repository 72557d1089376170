#include "master/forecast/durations/early_forecast.h"

#include "master/facts/fold.h"
#include "master/forecast/durations/draws.h"
#include "tests/facts/events.h"
#include "tests/matchers.h"
#include "tests/monitor/virtual_job.h"
#include "tests/test.h"
#include "tidemark/job_monitor.h"

namespace tidemark::durations::early_forecast_test {
namespace {

using test::Left;
using test::Lower;
using test::Upper;

PastRun Took(double map, double shuffle, double reduce, std::uint64_t bytes = 0) {
  return {absl::Seconds(map), absl::Seconds(shuffle), absl::Seconds(reduce), bytes};
}

// Returns a job with two map tasks of 500 bytes each, which started at second 0.
facts::JobRecord Opened() {
  facts::JobRecord state(10);
  test::Source source("app-master");
  EXPECT_TRUE(facts::Apply(source.At(0, test::Opened(2, 1)), {}, state).ok());
  for (std::uint32_t i = 0; i < 2; ++i) {
    AttemptChanged started = test::Started(test::M(i));
    started.input_bytes = 500;
    EXPECT_TRUE(facts::Apply(source.At(0, started), {}, state).ok());
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

// Returns the deviation of the logarithm.
double DeviationLeft(absl::Time now, const std::vector<PastRun>& runs) {
  std::optional<Draws> seconds = SecondsLeft(now, runs);
  if (!seconds) return -1;
  return std::log(QuantileOf(*seconds, 0.95) / QuantileOf(*seconds, 0.05)) /
         (2 * kDeviationsOf90Percent);
}

TEST(PastRuns, GiveNoEstimateWithoutRuns) { EXPECT_FALSE(SecondsLeft(At(1), {}).has_value()); }

// The remaining times are 10 - 4 s of map, 2 s of shuffle and 30 s of reduce. The deviation is
// sqrt((1 + 1) (3 x 0.09) / 3).
TEST(PastRuns, OneRunGivesItsRemainingTimes) {
  const std::vector<PastRun> runs = {Took(10, 2, 30)};
  EXPECT_NEAR(MedianLeft(At(4), runs), 38, 1e-9);
  EXPECT_NEAR(DeviationLeft(At(4), runs), std::sqrt(0.18), 0.01);
}

// The job has waited for slots for an hour, 3590 s longer than usual, so it waits for as long
// again. Then the map phase takes its time.
TEST(PastRuns, OfAQueuedJobExpectAsLongAWaitAgain) {
  facts::JobRecord state(10);
  test::Source source("app-master");
  EXPECT_TRUE(facts::Apply(source.At(0, test::Opened(2, 1)), {}, state).ok());
  const std::vector<PastRun> runs = {Took(30, 2, 30)};
  const auto median_at = [&](double now) {
    std::optional<Draws> seconds = SecondsByPastRuns(state, At(now), runs, FixedDraws::For(2));
    return seconds ? QuantileOf(*seconds, 0.5) : -1;
  };
  EXPECT_NEAR(median_at(3600), 3590 + 20 + 32, 1e-6);
  EXPECT_TRUE(facts::Apply(source.At(3600, test::Started(M(0), 500)), {}, state).ok());
  EXPECT_NEAR(median_at(3605), 15 + 32, 1e-6);
}

// With twice the input, the job takes 2 (10 + 2 + 30) s.
TEST(PastRuns, ScaleWithTheInput) {
  const std::vector<PastRun> runs = {Took(10, 2, 30, 500)};
  EXPECT_NEAR(MedianLeft(At(0), runs), 84, 1e-9);
}

// One run with the same input gives 40 s with weight 1. A run with a third of the input gives 90 s
// with weight 1 / (1 + (0.5 ln 3 / 0.3)^2) = 0.2298. The result is exp((ln 40 + 0.2298 ln 270) /
// 1.2298).
TEST(PastRuns, CountLessWithAnotherInput) {
  const std::vector<PastRun> runs = {Took(10, 2, 28, 1000), Took(20, 0, 70, 1000 / 3)};
  EXPECT_NEAR(MedianLeft(At(0), runs), 57.2, 0.3);
}

TEST(PastRuns, ScaleToAThousandTimesTheInput) {
  const std::vector<PastRun> runs = {Took(10, 2, 30, 1)};
  EXPECT_NEAR(MedianLeft(At(0), runs), 42'000, 1e-6);
}

// The runs give 40 and 90 s, so the mean is sqrt(3600). The distance of each from the mean is
// ln(1.5), so the variance is (1 + 1/2) (0.27 + 2 ln(1.5)^2) / 4.
TEST(PastRuns, SeveralRunsGiveTheirMeanAndSpread) {
  const std::vector<PastRun> runs = {Took(10, 0, 30), Took(10, 0, 80)};
  EXPECT_NEAR(MedianLeft(At(0), runs), 60, 1e-9);
  const double log = std::log(1.5);
  EXPECT_NEAR(DeviationLeft(At(0), runs), std::sqrt(1.5 * (0.27 + 2 * log * log) / 4), 0.01);
}

// Half of the jobs that have exceeded all estimates end within 2^(1/4) times their elapsed time.
TEST(PastRuns, ALateJobHasRemainingTime) {
  const std::vector<PastRun> runs = {Took(10, 0, 0)};
  EXPECT_NEAR(MedianLeft(At(50), runs), 50 * (std::pow(2, 0.25) - 1), 1e-9);
}

TEST(PastRuns, IgnoreInvalidRuns) {
  const std::vector<PastRun> runs = {Took(0, 0, 0), Took(-5, 0, 30)};
  EXPECT_FALSE(SecondsLeft(At(1), runs).has_value());
}

// Ten key groups of 100 bytes took 1 s each, and two of 1,000 bytes took 50 s each.
PastRun WithGroups() {
  PastRun run = Took(10, 1, 110);
  run.groups = {
      {.bin = 30, .count = 10, .size_bytes = 1'000, .seconds = 10, .seconds_squared = 10},
      {.bin = 50, .count = 2, .size_bytes = 2'000, .seconds = 100, .seconds_squared = 5'000}};
  return run;
}

std::vector<regression::CostBin> GroupsAfter(const PastRun& run,
                                             std::vector<regression::CostBin> own) {
  facts::JobRecord state = Opened();
  state.past_runs = {run};
  return WithPastGroups(std::move(own), state);
}

TEST(PastGroups, AreTheEvidenceBeforeTheFirstGroup) {
  const auto bins = GroupsAfter(WithGroups(), {});
  ASSERT_EQ(bins.size(), 2u);
  EXPECT_DOUBLE_EQ(bins[0].size, 100);
  EXPECT_DOUBLE_EQ(bins[0].count, 10);
  EXPECT_DOUBLE_EQ(bins[0].amount, 1);
  EXPECT_DOUBLE_EQ(bins[1].size, 1'000);
  EXPECT_DOUBLE_EQ(bins[1].amount, 50);
  EXPECT_TRUE(GroupsAfter(Took(10, 1, 110), {}).empty());
}

// In this run, 100 groups of 100 bytes took 2 s each. The squared relative error of their sum is
// 0.04 / 100, so ln q = ln 2 x 0.09 / 0.0904, and the larger groups take 50 q = 99.7 s.
TEST(PastGroups, GiveTheTimesOfLargerGroupsAtThePaceOfThisRun) {
  const auto bins = GroupsAfter(WithGroups(), {{.size = 100, .count = 100, .amount = 2}});
  ASSERT_EQ(bins.size(), 2u);
  EXPECT_DOUBLE_EQ(bins[0].amount, 2);
  EXPECT_NEAR(bins[1].amount, 99.7, 0.1);
  EXPECT_DOUBLE_EQ(bins[1].count, 2);
}

// The line through (100, 1 s) and (1,000, 50 s) in logarithms gives 7.07 s at 316.2 bytes.
TEST(PastGroups, AreInterpolatedBetweenTheirSizes) {
  const auto bins =
      GroupsAfter(WithGroups(), {{.size = 316.23, .count = 1e6, .amount = 7.071 * 3}});
  ASSERT_EQ(bins.size(), 2u);
  EXPECT_NEAR(bins[1].amount, 150, 0.1);
}

TEST(PastGroups, OfAFeatureAreNamedGroupsThatTookMostOfTheTime) {
  facts::JobRecord state = Opened();
  PastRun run = WithGroups();
  run.timed_groups[1] = {{.groups = 2, .value = 2e6, .bytes = 2'000, .seconds = 100}};
  state.past_runs = {run};
  EXPECT_TRUE(WithPastGroups({}, state, CostFeature::kProduct).empty());
  state.past_runs[0].timed_groups[0] = {
      {.groups = 2, .value = 2'000, .bytes = 2'000, .seconds = 100}};
  const auto bin = Only(WithPastGroups({}, state, CostFeature::kProduct));
  EXPECT_DOUBLE_EQ(bin.size, 1e6);
  EXPECT_DOUBLE_EQ(bin.bytes, 1'000);
  EXPECT_DOUBLE_EQ(bin.amount, 50);
}

TEST(PastGroups, OfOtherShapesOrWithInvalidTimesAreIgnored) {
  PastRun run = WithGroups();
  run.map_tasks = 200;
  run.reduce_tasks = 1;
  EXPECT_TRUE(GroupsAfter(run, {}).empty()) << "this run has 2 map tasks";
  run = WithGroups();
  run.is_of_other_job = true;
  EXPECT_TRUE(GroupsAfter(run, {}).empty());
  run = WithGroups();
  run.groups[0].seconds = std::numeric_limits<double>::quiet_NaN();
  run.groups[1].seconds = std::numeric_limits<double>::infinity();
  run.groups.push_back({.bin = 60});
  EXPECT_TRUE(GroupsAfter(run, {}).empty());
}

TEST(PastRuns, AreBuiltFromTheFinalSnapshot) {
  Snapshot final{.state = JobState::kSucceeded, .started_at = At(0)};
  final.stage_infos = {{.id = {0, kMapStage}, .kind = StageKind::kMap},
                       {.id = {0, kReduceStage}, .kind = StageKind::kReduce}};
  final.stages = {{.id = {0, kMapStage}, .ended_at = At(10)},
                  {.id = {0, kReduceStage}, .started_at = At(12), .ended_at = At(42)}};
  EXPECT_EQ(PastRunOf(final, {.map_input_bytes = 7}), Took(10, 2, 30, 7));
  final.state = JobState::kFailed;
  EXPECT_FALSE(PastRunOf(final, {}).has_value());
}

// Other engines may also have stages named map and reduce.
TEST(PastRuns, OtherStageNumbersAreNotMapReduce) {
  Snapshot final{.state = JobState::kSucceeded, .started_at = At(0)};
  final.stage_infos = {{.id = {0, 6}, .kind = StageKind::kMap},
                       {.id = {0, 7}, .kind = StageKind::kReduce}};
  final.stages = {{.id = {0, 6}, .ended_at = At(10)},
                  {.id = {0, 7}, .started_at = At(12), .ended_at = At(42)}};
  EXPECT_FALSE(PastRunOf(final, {}).has_value());
}

TEST(PastRuns, GiveAForecastInTheFirstSecond) {
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

TEST(PastRuns, IgnoreRunsOfOtherJobs) {
  EXPECT_FALSE(SecondsLeft(At(1), {OfOther(Took(10, 2, 30))}).has_value());
  EXPECT_FALSE(ByOthers(At(1), {Took(10, 2, 30)}).has_value());
  EXPECT_FALSE(ByOthers(At(1), {}).has_value());
}

// The jobs took 8 + 2 + 30 s and 18 + 2 + 70 s, which gives sqrt(40 x 90). Map phases of less than
// 2 s are ruled out, which adds 1 s.
TEST(PastRuns, OtherJobsGiveTheirMean) {
  std::optional<Draws> seconds =
      ByOthers(At(2), {OfOther(Took(10, 2, 30)), OfOther(Took(20, 2, 70))});
  ASSERT_TRUE(seconds.has_value());
  EXPECT_NEAR(QuantileOf(*seconds, 0.5), 61, 0.01);
}

// A job with a hundred times the input of 10 bytes takes ten times 42 s, since the slope is one
// half.
TEST(PastRuns, OtherJobsScaleWithTheirInput) {
  Draws seconds = ByOthers(At(0), {OfOther(Took(10, 2, 30, 10))}).value();
  EXPECT_NEAR(QuantileOf(seconds, 0.5), 420, 1e-6);
}

// After 30 s, the map phase is expected to take 100 s instead of 10 s, and 10 x 32 s follow. With
// the deviation 1.8235 of the line, half of the map phases of more than 30 s take more than 180.8
// s.
TEST(PastRuns, OtherJobsCountTheElapsedTimeOfThisJob) {
  Draws seconds = ByOthers(At(30), {OfOther(Took(10, 2, 30, 10))}).value();
  EXPECT_NEAR(QuantileOf(seconds, 0.5), 150.8 + 320, 0.5);
}

// A job with a millionth of the input of the other job has no expected time. It still starts up.
TEST(PastRuns, AJobWithATinyInputIsNotAtItsEnd) {
  Draws seconds = ByOthers(At(3), {OfOther(Took(10, 2, 30, 1'000'000'000))}).value();
  EXPECT_GT(QuantileOf(seconds, 0.5), 2);
}

TEST(PastRuns, IgnoreInvalidTimesOfOtherJobs) {
  EXPECT_FALSE(ByOthers(At(1), {OfOther(Took(1e-9, 0, 0)), OfOther(Took(0, 0, 1e9))}).has_value());
}

// A job with one map task of 1000 bytes, which started at second 0.
class MapSide : public testing::Test {
 protected:
  MapSide() {
    Fold(source_.At(0, test::Opened(1, 1)));
    Fold(source_.At(0, test::Started(M(0), 1000)));
  }
  void Fold(const Event& event) { EXPECT_TRUE(facts::Apply(event, {}, state_).ok()); }
  std::optional<Draws> SecondsAt(absl::Time now) const {
    return SecondsByMapSide(state_, now, FixedDraws::For(1));
  }

  facts::JobRecord state_{10};
  test::Source source_{"app-master"};
};

// A map task takes exp(1.2) = 3.3201 s with a deviation of 1. Half of the tasks that take longer
// than 4 s take longer than exp(1.2 + 0.79594) = 7.3591 s.
TEST_F(MapSide, AssumesAUsualTaskBeforeItHasAPace) {
  auto seconds = SecondsAt(At(4));
  ASSERT_TRUE(seconds.has_value());
  EXPECT_NEAR(QuantileOf(*seconds, 0.5), 3.359 + std::exp(1.55 + std::log(7.359) / 3), 4);
  EXPECT_GT(QuantileOf(*seconds, 0.95), 40);
  EXPECT_LT(QuantileOf(*seconds, 0.05), 6);
}

TEST_F(MapSide, GivesNoEstimateBeforeItHasStarted) {
  facts::JobRecord state{10};
  test::Source source{"app-master"};
  EXPECT_TRUE(facts::Apply(source.At(0, test::Opened(1, 1)), {}, state).ok());
  EXPECT_FALSE(SecondsByMapSide(state, At(4), FixedDraws::For(1)).has_value());
}

// The task starts to read after 6 s and has read a tenth after 7 s. It takes about 6 + 10 s, and
// not 70 s.
TEST_F(MapSide, TheStartOfATaskIsNoPartOfItsPace) {
  Fold(source_.At(6, test::Read(M(0), 0)));
  Fold(source_.At(7, test::Read(M(0), 100)));
  auto seconds = SecondsAt(At(7));
  ASSERT_TRUE(seconds.has_value());
  EXPECT_LT(QuantileOf(*seconds, 0.5), 9 + 16);
}

TEST_F(MapSide, GivesNoEstimateWithoutMapTasks) {
  EXPECT_FALSE(SecondsByMapSide(facts::JobRecord(10), At(4), FixedDraws::For(1)).has_value());
}

// Half of the input is read after 4 s. By its pace the task takes 8 s, with the precision 0.5 /
// 0.09. The prior of 7.36 s has the precision 1, so M is 7.95 s. The remaining time is 3.95 s of
// the map phase plus X. The median of X is exp(1.55 + ln(7.95) / 3) = 9.4027 s, and its 90 %
// interval extends by a factor of exp(1.3 x 1.64485) = 8.485 to both sides.
TEST_F(MapSide, EstimatesTheRestFromTheTimeOfTheMapPhase) {
  Fold(source_.At(4, test::Read(M(0), 500)));
  auto seconds = SecondsAt(At(4));
  ASSERT_TRUE(seconds.has_value());
  EXPECT_NEAR(QuantileOf(*seconds, 0.5), 3.95 + 9.4027, 1);
  EXPECT_NEAR(QuantileOf(*seconds, 0.05), 3.95 + 9.4027 / 8.485, 1);
  EXPECT_NEAR(QuantileOf(*seconds, 0.95), 3.95 + 9.4027 * 8.485, 5);
}

// The first map task starts after three hours, of which all but ten seconds are a wait for slots.
// M is 10 + 8 s.
TEST(MapSideOfAQueuedJob, DoesNotCountTheWaitForSlots) {
  facts::JobRecord state{10};
  test::Source source{"app-master"};
  for (const Event& event :
       {source.At(0, test::Opened(1, 1)), source.At(10'800, test::Queued(M(0))),
        source.At(10'800, test::Started(M(0), 1000)), source.At(10'804, test::Read(M(0), 500))}) {
    EXPECT_TRUE(facts::Apply(event, {}, state).ok());
  }
  auto seconds = SecondsByMapSide(state, At(10'804), FixedDraws::For(1));
  ASSERT_TRUE(seconds.has_value());
  EXPECT_NEAR(QuantileOf(*seconds, 0.5), 3.95 + std::exp(1.55 + std::log(17.95) / 3), 1);
}

// With four waves of reduce tasks, the median of X is 4^0.8 = 3.0314 times as long.
TEST_F(MapSide, TheRestGrowsWithTheWavesOfReduceTasks) {
  facts::JobRecord state{10};
  test::Source source{"app-master"};
  for (const Event& event :
       {source.At(0, test::Opened(1, 4)), source.At(0, test::Started(M(0), 1000)),
        source.At(4, test::Read(M(0), 500))}) {
    EXPECT_TRUE(facts::Apply(event, {}, state).ok());
  }
  auto seconds = SecondsByMapSide(state, At(4), FixedDraws::For(4));
  ASSERT_TRUE(seconds.has_value());
  EXPECT_NEAR(QuantileOf(*seconds, 0.5), 3.95 + 3.0314 * 9.4027, 2);
}

// M = 8, and 8 s have passed since then. A share of 0.4499 of all jobs would have ended:
// Phi(-0.12593). Half of the others take longer than exp(2.24315 + 1.3 x 0.5976) s.
TEST_F(MapSide, LateJobsHaveALongerRest) {
  Fold(source_.At(8, test::Finished(M(0))));
  auto seconds = SecondsAt(At(16));
  ASSERT_TRUE(seconds.has_value());
  EXPECT_NEAR(QuantileOf(*seconds, 0.5), 20.49 - 8, 0.02);
}

TEST_F(MapSide, StaysFiniteForLongTimes) {
  Fold(source_.At(8, test::Finished(M(0))));
  double before = 0;
  for (const double passed : {1e3, 1e6, 1e9}) {
    auto seconds = SecondsAt(At(passed));
    ASSERT_TRUE(seconds.has_value());
    const double median = QuantileOf(*seconds, 0.5);
    EXPECT_GT(median, before);
    EXPECT_TRUE(std::isfinite(median));
    EXPECT_GT(QuantileOf(*seconds, 0.95), 2 * median);
    before = median;
  }
  state_.stages.at(kMapStage).tasks[0].input_bytes = std::numeric_limits<std::uint64_t>::max();
  auto seconds = SecondsAt(absl::InfiniteFuture());
  EXPECT_FALSE(seconds && !std::isfinite(QuantileOf(*seconds, 0.5)));
}

// Two reduce tasks of 400 and 600 bytes, of which the first starts at second 10.
class ReadPace : public testing::Test {
 protected:
  ReadPace() {
    Fold(source_.At(0, test::Opened(1, 2)));
    Fold(source_.At(1, test::Emitted(M(0), {test::Partition(0, 400), test::Partition(1, 600)})));
    Fold(source_.At(10, test::Started(R(0))));
    Fold(source_.At(10, test::Shuffled(R(0))));
  }
  void Fold(const Event& event) { EXPECT_TRUE(facts::Apply(event, {}, state_).ok()); }
  void Read(double seconds, std::uint64_t bytes) {
    ReduceProfile profile{.attempt = R(0)};
    profile.running_group =
        RunningGroup{.elapsed = absl::Seconds(seconds - 10), .bytes_read = bytes};
    Fold(source_.At(seconds, profile));
  }

  std::optional<Draws> SecondsAt(absl::Time now) const {
    return SecondsByBytesRead(state_, now, FixedDraws::For(2));
  }

  facts::JobRecord state_{10};
  test::Source source_{"app-master"};
};

TEST_F(ReadPace, GivesNoEstimateBeforeTheFirstByte) {
  EXPECT_FALSE(SecondsByBytesRead(facts::JobRecord(10), At(12), FixedDraws::For(2)).has_value());
  EXPECT_FALSE(SecondsAt(At(12)).has_value());
}

// 100 of 1000 bytes took 5 s, so the remaining 900 bytes take 45 s.
TEST_F(ReadPace, CountsTheBytesOfTheRunningGroup) {
  Read(15, 100);
  auto seconds = SecondsAt(At(15));
  ASSERT_TRUE(seconds.has_value());
  EXPECT_NEAR(QuantileOf(*seconds, 0.5), 45, 1e-9);
  EXPECT_NEAR(QuantileOf(*seconds, 0.95), 45 * std::exp(1.645), 5);
}

// Both tasks have read 700 of 1000 bytes in 5 s, but the first has read 100 of its 400 bytes, so it
// needs 15 s more.
TEST_F(ReadPace, EndsNoEarlierThanItsSlowestTask) {
  Fold(source_.At(10, test::Started(R(1))));
  Fold(source_.At(10, test::Shuffled(R(1))));
  Fold(source_.At(15, ReduceProfile{.attempt = R(1), .bytes_done = 600}));
  Read(15, 100);
  auto seconds = SecondsAt(At(15));
  ASSERT_TRUE(seconds.has_value());
  EXPECT_NEAR(QuantileOf(*seconds, 0.5), 15, 1e-9);
}

// The start of a process is not representative of its pace.
TEST_F(ReadPace, GivesNoEstimateWhileAllTasksAreCold) {
  ReduceProfile profile{.attempt = R(0), .bytes_done = 1};
  profile.reduce_time = absl::Milliseconds(400);
  profile.processor_use = ProcessorUse{absl::Milliseconds(400), absl::Milliseconds(300), 2};
  Fold(source_.At(11, profile));
  EXPECT_FALSE(SecondsAt(At(11)).has_value());
  profile.bytes_done = 100;
  profile.reduce_time = absl::Milliseconds(1400);
  profile.processor_use = ProcessorUse{absl::Milliseconds(1400), absl::Milliseconds(300), 2};
  Fold(source_.At(12, profile));
  EXPECT_TRUE(SecondsAt(At(12)).has_value());
}

// The number of read bytes is limited to the size of the input, so the task read 400 of 1000 bytes
// in 4 s.
TEST_F(ReadPace, LimitsReadBytesToTheInput) {
  Read(14, 5000);
  auto seconds = SecondsAt(At(14));
  ASSERT_TRUE(seconds.has_value());
  EXPECT_NEAR(QuantileOf(*seconds, 0.5), 6, 1e-9);
}

}  // namespace
}  // namespace tidemark::durations::early_forecast_test
