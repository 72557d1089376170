#include "master/forecast/papers/nearest_fit.h"

#include "tests/facts/events.h"
#include "tests/regression/points.h"
#include "tests/test.h"

namespace tidemark::papers::nearest_fit_test {
namespace {

using forecast::ReducePhaseForecast;
using regression::OnCurve;
using regression::PointOf;
using regression::Sizes;
using test::Ended;
using test::ReducedNamed;

const auto kQuadratic = OnCurve(Sizes(100, 100, 20), 0, 1e-6, 2);

// Returns points whose times no curve explains. R^2 is below 0.9.
std::vector<GroupPoint> Scattered() {
  std::vector<GroupPoint> points;
  for (int i = 0; i < 20; ++i) {
    points.push_back(PointOf(1000 + 100 * static_cast<std::uint64_t>(i), i % 2 == 0 ? 1 : 9));
  }
  return points;
}

GroupPrediction Predict(const std::vector<std::vector<GroupPoint>>& tasks, std::size_t task,
                        std::uint64_t size_bytes, const NearestFitOptions& options = {}) {
  std::vector<std::shared_ptr<const TaskEvidence>> models;
  for (const auto& points : tasks) {
    models.push_back(points.empty() ? nullptr : MakeTaskEvidence(points, options));
  }
  return *NearestFitModel(models, options).Predict(task, size_bytes);
}

TEST(NearestFit, Step1UsesTheTasksNeighbours) {
  const auto prediction = Predict({kQuadratic, {PointOf(500, 99)}}, 0, 510);
  EXPECT_EQ(prediction.source, PredictionSource::kOwnNeighbours);
  EXPECT_NEAR(prediction.seconds, 0.25, 1e-9);
}

TEST(NearestFit, Step2UsesTheTasksCurve) {
  const auto prediction = Predict({kQuadratic, {PointOf(5000, 99)}}, 0, 5000);
  EXPECT_EQ(prediction.source, PredictionSource::kOwnFit);
  EXPECT_NEAR(prediction.seconds, 25, 0.1);
}

TEST(NearestFit, Step3UsesNeighboursOfAnyTask) {
  const auto prediction = Predict({Scattered(), {PointOf(5000, 7)}}, 0, 5010);
  EXPECT_EQ(prediction.source, PredictionSource::kOtherNeighbours);
  EXPECT_DOUBLE_EQ(prediction.seconds, 7);
}

// The curve gives 1e-6 x 510^2 = 0.2601 s, and the neighbour takes 0.25 s.
TEST(NearestFit, FitUsesTheCurveAlsoNearFinishedGroups) {
  const auto prediction =
      Predict({kQuadratic, {PointOf(500, 99)}}, 0, 510, NearestFitOptions{.is_fit_only = true});
  EXPECT_EQ(prediction.source, PredictionSource::kOwnFit);
  EXPECT_NEAR(prediction.seconds, 0.2601, 0.001);
}

TEST(NearestFit, Step4UsesTheCurveThatFitsTheTasksPointsBest) {
  // Task 0 has too few points for a curve, but the points lie on the curve of task 2.
  const auto cubic = OnCurve(Sizes(100, 100, 20), 0, 1e-9, 3);
  const auto own = OnCurve({150, 1150}, 0, 1e-9, 3);
  const auto prediction = Predict({own, kQuadratic, cubic}, 0, 5000);
  EXPECT_EQ(prediction.source, PredictionSource::kOtherFit);
  EXPECT_NEAR(prediction.seconds, 125, 2);
}

TEST(NearestFit, ATaskWithoutPointsUsesTheCurveWithTheBestRSquared) {
  const auto prediction = Predict({{}, kQuadratic, Scattered()}, 0, 5000);
  EXPECT_EQ(prediction.source, PredictionSource::kOtherFit);
  EXPECT_NEAR(prediction.seconds, 25, 0.1);
}

TEST(NearestFit, UsesSecondsPerByteWithoutCurves) {
  const auto prediction = Predict({{PointOf(100, 1)}, {PointOf(300, 7)}}, 0, 4000);
  EXPECT_EQ(prediction.source, PredictionSource::kRatio);
  EXPECT_DOUBLE_EQ(prediction.seconds, 4000 * 8.0 / 400);
}

TEST(NearestFit, GivesNoEstimateBeforeTheFirstKeyGroup) {
  EXPECT_FALSE(NearestFitModel({}).Predict(0, 10));
  EXPECT_FALSE(NearestFitModel({nullptr, nullptr}).Predict(1, 10));
}

TEST(NearestFit, SpreadGrowsWithExtrapolation) {
  const double near = Predict({kQuadratic}, 0, 3000).relative_spread;
  const double far = Predict({kQuadratic}, 0, 30000).relative_spread;
  EXPECT_GT(far, near + 0.2);  // 8 % per octave, over three octaves
}

TEST(NearestFit, IsIndependentOfTheOrderOfTheOtherTasks) {
  const auto cubic = OnCurve(Sizes(100, 100, 20), 0, 1e-9, 3);
  const auto own = OnCurve({150, 1150}, 0, 1e-9, 3);
  EXPECT_DOUBLE_EQ(Predict({own, kQuadratic, cubic}, 0, 5000).seconds,
                   Predict({own, cubic, kQuadratic}, 0, 5000).seconds);
}

// Returns a job whose reduce tasks have these partitions, and start their reduce functions at 10 s.
Job Reducing(std::vector<PartitionProfile> partitions) {
  Job job;
  const auto reduces = static_cast<std::uint32_t>(partitions.size());
  job.Add(0, Opened(1, reduces)).Add(8, Emitted(M(0), std::move(partitions)), Finished(M(0)));
  for (std::uint32_t i = 0; i < reduces; ++i) job.Add(8, Started(R(i))).Add(10, Shuffled(R(i)));
  return job;
}

ReducePhaseForecast Estimate(const Job& job, double now) {
  return NearestFitIndicator().Estimate(job.state, At(now));
}

double EndOf(const ReducePhaseForecast& forecast) {
  return absl::ToDoubleSeconds(forecast.ends_at.value() - At(0));
}

// Returns a job with three explicit keys of about 1000 bytes. The first key took 2 s, until 12 s.
Job OneOfThreeDone() {
  Job job = Reducing({Partition(0, 3010, {Key(1, 1000), Key(2, 1010), Key(3, 1000)})});
  job.Add(12, ReducedNamed(R(0), At(12), {Key(1, 1000)}, 2));
  return job;
}

TEST(NearestFitIndicator, GivesNoForecastBeforeTheFirstGroupEnds) {
  EXPECT_FALSE(Estimate(Reducing({Partition(0, 1000)}), 11).ends_at.has_value());
}

TEST(NearestFitIndicator, GivesNoForecastWhileSizesAreUnknown) {
  Job job;
  job.Add(0, Opened(1, 1)).Add(12, Reduced(R(0), At(12), {Point(1000, 2)}));
  EXPECT_FALSE(Estimate(job, 12).ends_at.has_value());
}

TEST(NearestFitIndicator, GivesNoForecastWithoutReduceTasks) {
  Job job;
  job.Add(0, Opened()).Add(1, Finished(M(0)), Emitted(M(0), {Partition(0, 10)}));
  EXPECT_FALSE(Estimate(job, 2).ends_at.has_value());
}

TEST(NearestFitIndicator, SumsTheNeighboursOfEachRemainingExplicitKey) {
  EXPECT_NEAR(EndOf(Estimate(OneOfThreeDone(), 12)), 12 + 2 + 2, 1e-6);
}

TEST(NearestFitIndicator, DescribesTheRemainingWorkOfATask) {
  const ReducePhaseForecast forecast = Estimate(OneOfThreeDone(), 12);
  ASSERT_EQ(forecast.tasks.size(), 1u);
  EXPECT_EQ(forecast.tasks[0].index, 0u);
  EXPECT_EQ(forecast.tasks[0].explicit_groups_left, 2u);
  EXPECT_EQ(forecast.tasks[0].heaviest, Key(2, 1010));
  EXPECT_NEAR(absl::ToDoubleSeconds(forecast.tasks[0].heaviest_time), 2, 1e-6);
  EXPECT_NEAR(absl::ToDoubleSeconds(forecast.tasks[0].reduce_time_left), 4, 1e-6);
}

TEST(NearestFitIndicator, EndsWithTheLastTask) {
  Job job = Reducing({Partition(0, 2000, {Key(1, 1000), Key(2, 1000)}),
                      Partition(1, 3000, {Key(3, 1000), Key(4, 1000), Key(5, 1000)})});
  job.Add(15, ReducedNamed(R(0), At(15), {Key(1, 1000)}, 5));
  job.Add(15, ReducedNamed(R(1), At(12), {Key(3, 1000)}, 2));
  EXPECT_NEAR(EndOf(Estimate(job, 15)), 15 + 5, 1e-6);
}

// 100-byte key groups take 1 s, and 500 implicit bytes remain.
TEST(NearestFitIndicator, SplitsImplicitBytesLikeFinishedImplicitGroups) {
  Job job = Reducing({Partition(0, 800)});
  job.Add(13, Reduced(R(0), At(13), {Point(100, 1, 3)}));
  EXPECT_NEAR(EndOf(Estimate(job, 13)), 13 + 5, 1e-6);
}

// Explicit groups are slow, and implicit groups are fast. The remaining groups are implicit.
TEST(NearestFitIndicator, ExplicitGroupsDoNotCountForImplicitBytes) {
  Job job = Reducing({Partition(0, 5800, {Key(1, 5000)})});
  ReduceProfile profile = Reduced(R(0), At(63), {Point(5000, 50), Point(100, 1, 3)});
  profile.keys_named = true;
  profile.finished_keys = {Ended(Key(1, 5000))};
  job.Add(63, profile);
  EXPECT_NEAR(EndOf(Estimate(job, 63)), 63 + 5, 1e-6);
}

// Before an implicit group ends, the smallest explicit key serves instead, so 2000 / 1000 groups of
// 2 s remain.
TEST(NearestFitIndicator, UsesTheLightestExplicitGroupBeforeAnImplicitGroupEnds) {
  Job job = Reducing({Partition(0, 4000, {Key(1, 1000), Key(2, 1000)})});
  job.Add(12, ReducedNamed(R(0), At(12), {Key(1, 1000)}, 2));
  EXPECT_NEAR(EndOf(Estimate(job, 12)), 12 + 2 + 4, 1e-6);
}

TEST(NearestFitIndicator, ReportsNeighboursOfTheSameTaskAsEvidence) {
  EXPECT_EQ(Estimate(OneOfThreeDone(), 12).evidence, Evidence{.own_neighbours = 1});
}

TEST(NearestFitIndicator, ReportsNeighboursOfAnotherTaskAsEvidence) {
  Job job = Reducing({Partition(0, 1000, {Key(1, 1000)}), Partition(1, 1000, {Key(2, 1000)})});
  job.Add(12, ReducedNamed(R(0), At(12), {Key(1, 1000)}, 2));
  EXPECT_EQ(Estimate(job, 12).evidence, Evidence{.other_neighbours = 1});
}

// One size does not define a curve. The only evidence for 3000 bytes is that 1000 bytes took 2 s.
TEST(NearestFitIndicator, ReportsAPlainRatioAsEvidence) {
  Job job = Reducing({Partition(0, 4000, {Key(1, 1000), Key(2, 3000)})});
  job.Add(12, ReducedNamed(R(0), At(12), {Key(1, 1000)}, 2));
  const ReducePhaseForecast forecast = Estimate(job, 12);
  EXPECT_NEAR(EndOf(forecast), 12 + 6, 1e-6);
  EXPECT_EQ(forecast.evidence, Evidence{.ratio = 1});
}

TEST(NearestFitIndicator, SharesTheEvidenceByPredictedTime) {
  Job job = Reducing({Partition(0, 5000, {Key(1, 1000), Key(2, 1000), Key(3, 3000)})});
  job.Add(12, ReducedNamed(R(0), At(12), {Key(1, 1000)}, 2));
  const Evidence evidence = Estimate(job, 12).evidence.value();
  EXPECT_DOUBLE_EQ(evidence.own_neighbours, 0.25);  // 2 s of 8 s
  EXPECT_DOUBLE_EQ(evidence.ratio, 0.75);
}

// The running group should take 2 s, but takes longer. Another group of 2 s follows.
TEST(NearestFitIndicator, GroupsAfterALateRunningGroupStillFollow) {
  Job job = OneOfThreeDone();
  ReduceProfile profile = ReducedNamed(R(0), At(12), {}, 0);
  profile.running_group = RunningGroup{.key = KeyHash{2}};
  job.Add(100, profile);
  EXPECT_NEAR(EndOf(Estimate(job, 101)), 100 + 2, 1e-6);
}

TEST(NearestFitIndicator, ARunningGroupWithoutAKeyGivesNoBound) {
  Job job = OneOfThreeDone();
  ReduceProfile profile = ReducedNamed(R(0), At(12), {}, 0);
  profile.running_group = RunningGroup{};
  job.Add(100, profile);
  EXPECT_NEAR(EndOf(Estimate(job, 101)), 16, 1e-6);
}

TEST(NearestFitIndicator, TheIntervalContainsTheEnd) {
  Job job = Reducing({Partition(0, 101'000'000)});
  job.Add(10, Reduced(R(0), At(10), {Point(1000, 0.001, 1000)}));
  const ReducePhaseForecast forecast = Estimate(job, 10);  // 100,000 groups of 1 ms remain.
  EXPECT_NEAR(EndOf(forecast), 110, 1e-6);
  EXPECT_LE(*forecast.ends_at_lower, *forecast.ends_at);
  EXPECT_GE(*forecast.ends_at_upper, *forecast.ends_at);
}

TEST(NearestFitIndicator, KnowsTheEndAfterTheLastTask) {
  Job job = OneOfThreeDone();
  job.Add(20, Finished(R(0)));
  const ReducePhaseForecast forecast = Estimate(job, 30);
  EXPECT_EQ(forecast.ends_at, At(20));
  EXPECT_TRUE(forecast.tasks.empty());
}

TEST(NearestFitIndicator, FollowsAJobWithTasksThatAppearOneByOne) {
  Job job;
  NearestFitIndicator indicator;
  job.Add(0, Opened(1)).Add(8, Emitted(M(0), {Partition(0, 2000), Partition(3, 2000)}));
  job.Add(8, Finished(M(0))).Add(9, Started(R(0))).Add(12, Reduced(R(0), At(12), {Point(1000, 2)}));
  EXPECT_NEAR(EndOf(indicator.Estimate(job.state, At(12))), 14, 1e-6);
  job.Add(13, Started(R(3)));
  EXPECT_NEAR(EndOf(indicator.Estimate(job.state, At(13))), 13 + 4, 1e-6);
}

// Returns a random size, which may be extreme. For any points, every estimate must be finite and at
// least zero.

std::uint64_t HostileSize(std::mt19937_64& random) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
  switch (random() % 6) {
    case 0:
      return 0;
    case 1:
      return kMost - random() % 3;
    case 2:
      return std::uint64_t{1} << (random() % 64);
    default:
      return random() % 10'000;
  }
}

absl::Duration HostileTime(std::mt19937_64& random) {
  switch (random() % 8) {
    case 0:
      return absl::ZeroDuration();
    case 1:
      return absl::InfiniteDuration();
    case 2:
      return -absl::Seconds(1);
    case 3:
      return absl::Hours(1'000'000'000);
    default:
      return absl::Nanoseconds(static_cast<std::int64_t>(random() % 10'000'000'000));
  }
}

std::vector<GroupPoint> HostilePoints(std::mt19937_64& random) {
  std::vector<GroupPoint> points(random() % 40);
  for (GroupPoint& point : points) {
    point = {HostileSize(random), random() % 3 == 0 ? HostileSize(random) : random() % 5,
             HostileTime(random)};
  }
  std::sort(points.begin(), points.end(),
            [](const auto& a, const auto& b) { return a.size_bytes < b.size_bytes; });
  return points;
}

TEST(NearestFitProperty, ExtremePointsGiveFiniteTimes) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    std::vector<std::shared_ptr<const TaskEvidence>> tasks(1 + random() % 4);
    for (auto& task : tasks) task = MakeTaskEvidence(HostilePoints(random));
    const NearestFitModel model(tasks);
    for (int i = 0; i < 50; ++i) {
      const auto prediction = model.Predict(random() % (tasks.size() + 1), HostileSize(random));
      if (!prediction) continue;
      ASSERT_TRUE(std::isfinite(prediction->seconds))
          << prediction->seconds << " from source " << static_cast<int>(prediction->source);
      ASSERT_GE(prediction->seconds, 0);
      ASSERT_TRUE(std::isfinite(prediction->relative_spread));
      ASSERT_GE(prediction->relative_spread, 0);
    }
  }
}

TEST(FitPowerLawProperty, IsIndependentOfTheOrderOfItsPoints) {
  std::mt19937_64 random(3);
  std::vector<GroupPoint> points = OnCurve(Sizes(10, 37, 60), 1e-3, 1e-8, 1.7);
  const regression::PowerLawFit sorted = regression::FitPowerLaw(points);
  std::shuffle(points.begin(), points.end(), random);
  EXPECT_DOUBLE_EQ(regression::FitPowerLaw(points).Predict(1e5), sorted.Predict(1e5));
}

}  // namespace
}  // namespace tidemark::papers::nearest_fit_test
