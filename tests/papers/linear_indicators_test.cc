#include "master/forecast/papers/linear_indicators.h"

#include "master/forecast/papers/papers.h"
#include "tests/facts/events.h"
#include "tests/test.h"

namespace tidemark::papers::linear_indicators_test {
namespace {

TEST(HadoopProgress, CountsTasksWithoutDataAsDoneAndLimitsEachToOne) {
  const std::vector<TaskWork> tasks = {{0, 0, 0}, {10, 50, 1}, {10, 0, 0}};
  EXPECT_DOUBLE_EQ(HadoopProgress(tasks), 2.0 / 3);
  EXPECT_DOUBLE_EQ(HadoopProgress({}), 1);
}

TEST(JobSecondsPerByte, IsUnknownBeforeTheFirstByte) {
  EXPECT_FALSE(JobSecondsPerByte({}));
  EXPECT_FALSE(JobSecondsPerByte(std::vector<TaskWork>{{100, 0, 0}}));
}

TEST(TaskSecondsPerByte, IsTheRateOfTheJobUntilTheTaskHasProgressed) {
  EXPECT_DOUBLE_EQ(TaskSecondsPerByte({1000, 49, 49}, 0.5), 0.5);
  EXPECT_DOUBLE_EQ(TaskSecondsPerByte({1000, 50, 50}, 0.5), 1);
  EXPECT_DOUBLE_EQ(TaskSecondsPerByte({0, 0, 0}, 0.5), 0.5);
}

TEST(RatioRemainingSeconds, IsNeverBelowZero) {
  EXPECT_DOUBLE_EQ(RatioRemainingSeconds({100, 150, 1}, 2), 0);
  EXPECT_DOUBLE_EQ(RatioRemainingSeconds({100, 40, 1}, 2), 120);
}

TEST(Ewma, StartsAtTheFirstValueAndMovesSlowly) {
  Ewma average(0.9);
  EXPECT_FALSE(average.value());
  EXPECT_DOUBLE_EQ(average.Update(10), 10);
  EXPECT_DOUBLE_EQ(average.Update(20), 11);
  Ewma plain(0);
  plain.Update(10);
  EXPECT_DOUBLE_EQ(plain.Update(20), 20);
  EXPECT_DOUBLE_EQ(Ewma(std::numeric_limits<double>::quiet_NaN()).Update(3), 3);
}

using Scope = RatioIndicator::Scope;

// Returns a job with two reduce tasks of 1000 bytes, which start their reduce functions at 10 s.
// The first has reduced 500 bytes until 20 s, with 5 s in reduce functions. The second has reduced
// 250 bytes until 22 s, with 10 s in reduce functions.
Job HalfDone() {
  Job job;
  job.Add(0, Opened(1, 2)).Add(8, Emitted(M(0), {Partition(0, 1000), Partition(1, 1000)}));
  job.Add(8, Finished(M(0)));
  for (const std::uint32_t i : {0u, 1u}) job.Add(9, Started(R(i))).Add(10, Shuffled(R(i)));
  job.Add(22, Reduced(R(0), At(20), {Point(500, 5)}), Reduced(R(1), At(22), {Point(250, 10)}));
  return job;
}

// On average, the tasks have read (0.5 + 0.25) / 2. After 30 s, the end is predicted at 10 + 30 /
// 0.375.
TEST(HadoopIndicator, ScalesTheElapsedTimeByTheMeanPartRead) {
  EXPECT_EQ(HadoopIndicator().Estimate(HalfDone().state, At(40)).ends_at, At(90));
}

TEST(HadoopIndicator, CountsTheBytesOfTheRunningReduceFunction) {
  Job job = HalfDone();
  ReduceProfile profile = Reduced(R(1), At(22), {});
  profile.running_group = RunningGroup{.bytes_read = 250};
  job.Add(30, profile);
  EXPECT_EQ(HadoopIndicator().Estimate(job.state, At(40)).ends_at, At(70));
}

TEST(HadoopIndicator, CountsAFinishedTaskAsRead) {
  Job job = HalfDone();
  job.Add(30, Finished(R(0)));
  EXPECT_EQ(HadoopIndicator().Estimate(job.state, At(40)).ends_at, At(58));  // 10 + 30 / 0.625
}

// alpha is 15 s / 750 bytes. The first task ends at 20 + 500 alpha = 30, and the second at 22 + 750
// alpha = 37.
TEST(JobRatioIndicator, UsesTheTimePerByteOfTheWholeJob) {
  RatioIndicator indicator("jobratio", Scope::kJob, 0);
  EXPECT_EQ(indicator.Estimate(HalfDone().state, At(23)).ends_at, At(37));
}

// The second task ends at 22 + 750 x 10 s / 250 bytes.
TEST(TaskRatioIndicator, UsesTheTimePerByteOfEachTask) {
  RatioIndicator indicator("taskratio", Scope::kTask, 0);
  EXPECT_EQ(indicator.Estimate(HalfDone().state, At(23)).ends_at, At(52));
}

TEST(TaskRatioIndicator, UsesTheRateOfTheJobForATaskWithLittleProgress) {
  Job job;
  job.Add(0, Opened(1, 2)).Add(8, Emitted(M(0), {Partition(0, 1000), Partition(1, 1000)}));
  job.Add(8, Finished(M(0)));
  for (const std::uint32_t i : {0u, 1u}) job.Add(9, Started(R(i))).Add(10, Shuffled(R(i)));
  job.Add(20, Reduced(R(0), At(20), {Point(500, 10)}));
  RatioIndicator indicator("taskratio", Scope::kTask, 0);
  EXPECT_EQ(indicator.Estimate(job.state, At(23)).ends_at, At(30)) << "both 0.02 s a byte";
}

// alpha increases from 0.02 to 25 s / 1000 bytes = 0.025. With 0.8 of the past value, alpha is
// 0.021. The second task ends at 22 + 750 x 0.021.
TEST(JobRatioIndicator, KeepsAPartOfThePastIfSmoothed) {
  RatioIndicator indicator("jobratio-ewma", Scope::kJob, 0.8);
  Job job = HalfDone();
  indicator.Estimate(job.state, At(23));
  job.Add(32, Reduced(R(0), At(32), {Point(750, 15)}));
  const auto end = indicator.Estimate(job.state, At(33)).ends_at;
  ASSERT_TRUE(end.has_value());
  EXPECT_NEAR(absl::ToDoubleSeconds(*end - At(0)), 22 + 750 * 0.021, 1e-6);
}

TEST(RatioIndicator, HasARatioAsItsEvidence) {
  RatioIndicator indicator("jobratio", Scope::kJob, 0);
  const forecast::ReducePhaseForecast forecast = indicator.Estimate(HalfDone().state, At(23));
  EXPECT_EQ(forecast.evidence, Evidence{.ratio = 1});
  EXPECT_TRUE(forecast.tasks.empty());
}

class EveryLinearIndicator : public ::testing::TestWithParam<const char*> {};

TEST_P(EveryLinearIndicator, GivesNoForecastBeforeTheFirstGroupEnds) {
  Job job;
  job.Add(0, Opened(1, 1)).Add(8, Emitted(M(0), {Partition(0, 1000)}), Finished(M(0)));
  job.Add(9, Started(R(0))).Add(10, Shuffled(R(0)));
  EXPECT_FALSE(MakeJobMethod(GetParam())->Estimate(job.state, At(20)).ends_at.has_value());
}

TEST_P(EveryLinearIndicator, GivesNoForecastWhileSizesAreUnknown) {
  Job job;
  job.Add(0, Opened(1, 1)).Add(20, Reduced(R(0), At(20), {Point(500, 10)}));
  EXPECT_FALSE(MakeJobMethod(GetParam())->Estimate(job.state, At(20)).ends_at.has_value());
}

TEST_P(EveryLinearIndicator, GivesNoInterval) {
  const auto forecast = MakeJobMethod(GetParam())->Estimate(HalfDone().state, At(23));
  EXPECT_TRUE(forecast.ends_at.has_value());
  EXPECT_FALSE(forecast.ends_at_lower.has_value());
  EXPECT_FALSE(forecast.ends_at_upper.has_value());
}

INSTANTIATE_TEST_SUITE_P(All, EveryLinearIndicator,
                         ::testing::Values("hadoop", "jobratio", "taskratio", "jobratio-ewma",
                                           "taskratio-ewma"));

}  // namespace
}  // namespace tidemark::papers::linear_indicators_test
