#include "regression/cost_model.h"

#include "tests/test.h"

namespace tidemark::regression::cost_model_test {
namespace {

// Returns one bin with `count` key groups for each octave, starting with the size `smallest`.
std::vector<CostBin> Bins(const std::function<double(double)>& cost, int octaves,
                          double smallest = 16, double count = 20, double variance = 1e-4) {
  std::vector<CostBin> bins;
  for (int i = 0; i < octaves; ++i) {
    const double size = smallest * std::exp2(i);
    bins.push_back({size, count, cost(size), variance});
  }
  return bins;
}

double SumOfProbabilities(const CostModel& model) {
  double sum = 0;
  for (const CostCurve& curve : model.curves()) sum += curve.probability;
  return sum;
}

TEST(CostModel, IsEmptyWithoutEvidence) {
  EXPECT_TRUE(CostModel::Fit({}).empty());
  EXPECT_TRUE(CostModel().empty());
  EXPECT_EQ(CostModel().OctavesBeyond(100), 0);
}

TEST(CostModel, DropsInvalidBins) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  EXPECT_TRUE(CostModel::Fit({{kNan, 1, 1, 0},
                              {0, 1, 1, 0},
                              {10, 0, 1, 0},
                              {10, 1, kInfinite, 0},
                              {10, 1, -1, 0},
                              {10, 1, 1, kNan}})
                  .empty());
}

TEST(CostModel, ContinuesAQuadraticFarBeyondTheData) {
  const auto cost = [](double x) { return 0.5 + 3e-4 * x * x; };
  const CostModel model = CostModel::Fit(Bins(cost, 10));
  EXPECT_NEAR(model.Predict(16 * std::exp2(13)) / cost(16 * std::exp2(13)), 1, 0.1);
  EXPECT_NEAR(model.curves().front().c, 2, 1e-9);
  EXPECT_NEAR(SumOfProbabilities(model), 1, 1e-9);
}

TEST(CostModel, ContinuesALinearCost) {
  const auto cost = [](double x) { return 2e-3 + 1e-4 * x; };
  const CostModel model = CostModel::Fit(Bins(cost, 12));
  EXPECT_NEAR(model.Predict(16 * std::exp2(14)) / cost(16 * std::exp2(14)), 1, 0.1);
}

// Three octaves beyond the data, a lower power would be wrong by an order of magnitude.
TEST(CostModel, ContinuesAFourthPowerThatAFewKeyGroupsShow) {
  const auto cost = [](double x) { return 1.3e-7 + 1.9e-15 * std::pow(x, 4); };
  std::vector<CostBin> bins;
  for (const auto& [size, count] : std::vector<std::pair<double, double>>{
           {24, 5}, {48, 2}, {96, 3}, {192, 1}, {264, 1}, {504, 1}}) {
    bins.push_back({size, count, cost(size), 0});
  }
  const CostModel model = CostModel::Fit(bins);
  EXPECT_NEAR(model.PredictMedian(3840, 3840) / cost(3840), 1, 0.4);
}

// The cost is quadratic up to 4 kB, and linear above. Predictions beyond the data agree with the
// largest sizes rather than with the many small sizes.
TEST(CostModel, FollowsTheLargestSizesWhereTheCurveBends) {
  const auto cost = [](double x) { return x < 4096 ? x * x : 4096 * x; };
  std::vector<CostBin> bins;
  for (double size = 16; size < 262'144; size *= std::exp2(1.0 / 6)) {
    bins.push_back({size, 5, cost(size), 1e-4});
  }
  const CostModel model = CostModel::Fit(bins);
  const double size = 1'048'576;
  // A quadratic curve through all sizes would predict 4 times as much.
  EXPECT_NEAR(model.Predict(size) / cost(size), 1, 0.9);
}

TEST(CostModel, PredictsTheObservedMeanAmongSimilarSizes) {
  std::vector<CostBin> bins = Bins([](double x) { return x; }, 10);
  bins[5].amount *= 1.5;  // No curve fits this value.
  const CostModel model = CostModel::Fit(bins);
  EXPECT_NEAR(model.Predict(bins[5].size) / bins[5].amount, 1, 0.05);
  EXPECT_NEAR(model.Predict(bins[2].size) / bins[2].amount, 1, 0.05);
}

// Many key groups, each with a ten-thousandth of the largest time, may take most of the time of a
// job. Each curve must also fit these key groups.
TEST(CostModel, EveryCurveFitsSmallCosts) {
  const auto cost = [](double x) { return 0.04 + 1e-4 * x * (x < 100'000 ? 1 : 1.6); };
  std::vector<CostBin> bins;
  for (double octaves = 0; octaves < 16; octaves += 0.25) {
    const double size = 32 * std::exp2(octaves);
    bins.push_back({size, std::max(1.0, 1e6 * std::exp2(-1.2 * octaves)), cost(size), 0.01});
  }
  const CostModel model = CostModel::Fit(bins);
  for (std::size_t k = 0; k < model.curves().size(); ++k) {
    EXPECT_NEAR(model.Predict(k, 64) / cost(64), 1, 0.05);
  }
}

// Returns bins that no curve of the family fits. A kernel mean smooths them.
std::vector<CostBin> WavyBins() {
  std::vector<CostBin> bins;
  for (int i = 0; i < 32; ++i) {
    const double size = 16 * std::exp2(i / 4.0);
    bins.push_back({size, 1e5, size * (1 + 0.3 * std::sin(i)), 0.01});
  }
  return bins;
}

TEST(CostModel, EveryCurvePredictsTheTotalTime) {
  const std::vector<CostBin> bins = WavyBins();
  const CostModel model = CostModel::Fit(bins);
  double took = 0;
  for (const CostBin& bin : bins) took += bin.count * bin.amount;
  for (std::size_t k = 0; k < model.curves().size(); ++k) {
    double predicted = 0;
    for (const CostBin& bin : bins) predicted += bin.count * model.Predict(k, bin.size);
    EXPECT_NEAR(predicted / took, 1, 0.002) << k;
  }
}

TEST(CostModel, FollowsTheDataMoreCloselyThanAKernelMean) {
  const std::vector<CostBin> bins = WavyBins();
  const CostModel model = CostModel::Fit(bins);
  double off = 0;
  for (const CostBin& bin : bins) off += std::abs(model.Predict(bin.size) / bin.amount - 1);
  EXPECT_LT(off / static_cast<double>(bins.size()), 0.05);  // Without twicing, this would be 0.08.
}

TEST(CostModel, OneSizeIsEnoughToPredictItsCost) {
  const CostModel model = CostModel::Fit({{100, 50, 2, 0.01}});
  EXPECT_NEAR(model.Predict(100), 2, 0.05);
  // How the cost grows remains uncertain.
  EXPECT_GT(model.curves().size(), 5u);
  double least = HUGE_VAL;
  double most = 0;
  for (std::size_t k = 0; k < model.curves().size(); ++k) {
    least = std::min(least, model.Predict(k, 1600));
    most = std::max(most, model.Predict(k, 1600));
  }
  EXPECT_GT(most / least, 4);
}

TEST(CostModel, LearnsTheNoise) {
  const CostModel quiet = CostModel::Fit(Bins([](double x) { return x; }, 10, 16, 50, 1e-4));
  const CostModel noisy = CostModel::Fit(Bins([](double x) { return x; }, 10, 16, 50, 0.25));
  EXPECT_LT(quiet.RelativeVariance(1000), 0.01);
  EXPECT_NEAR(noisy.RelativeVariance(1000), 0.25, 0.05);
}

// A join of two inputs reads y bytes and writes x pairs.
TEST(CostModel, SeparatesBytesFromAnotherFeature) {
  std::vector<CostBin> bins;
  for (int i = 0; i < 16; ++i) {
    const double pairs = std::exp2(i);
    const double bytes = 1000 * (1 + i % 3);
    bins.push_back({pairs, 10, 1e-3 * bytes + 0.5 * pairs, 1e-4, bytes});
  }
  const CostModel model = CostModel::Fit(bins);
  EXPECT_NEAR(model.Predict(std::exp2(18), 1000) / (1 + 0.5 * std::exp2(18)), 1, 0.15);
}

TEST(CostModel, CountsOctavesBeyondTheLargest) {
  const CostModel model = CostModel::Fit(Bins([](double x) { return x; }, 4));
  EXPECT_EQ(model.size_max(), 128);
  EXPECT_EQ(model.OctavesBeyond(64), 0);
  EXPECT_NEAR(model.OctavesBeyond(1024), 3, 1e-12);
}

TEST(CostModel, MedianIsNotDominatedByTheLargestCurves) {
  const CostModel model = CostModel::Fit({{100, 50, 2, 0.01}});
  EXPECT_LT(model.PredictMedian(1e6, 1e6), model.Predict(1e6));
}

// A prediction is finite and not negative for any evidence.
TEST(CostModel, PredictionsAreFiniteForAnyEvidence) {
  std::uint64_t state = 1;
  const auto random = [&state] {
    state = state * 6364136223846793005 + 1442695040888963407;
    return static_cast<double>(state >> 11) * 0x1.0p-53;
  };
  for (int round = 0; round < 200; ++round) {
    std::vector<CostBin> bins;
    double size = 1;
    for (int i = 0; i < 1 + round % 20; ++i) {
      size *= 1 + 20 * random();
      bins.push_back({size, std::floor(1 + 1000 * random()),
                      random() < 0.2 ? 0 : std::exp(40 * random() - 20), 3 * random()});
    }
    const CostModel model = CostModel::Fit(bins);
    for (const double at : {1.0, size / 2, size, 1e3 * size}) {
      EXPECT_TRUE(std::isfinite(model.Predict(at))) << round;
      EXPECT_GE(model.Predict(at), 0) << round;
      EXPECT_GE(model.RelativeVariance(at), 0) << round;
    }
    EXPECT_NEAR(SumOfProbabilities(model), 1, 1e-9);
  }
}

// Extreme sizes and times give a model or none, but no crash.
TEST(CostModel, SurvivesAnyNumbers) {
  const std::vector<double> extremes = {0,   5e-324, 1e-300, 1e-30, 1e-3,   1,
                                        1e3, 1e30,   1e150,  1e300, 1.7e308};
  std::mt19937_64 random(1);
  const auto any = [&] { return extremes[random() % extremes.size()]; };
  for (int round = 0; round < 300; ++round) {
    std::vector<CostBin> bins;
    const std::size_t count = 1 + random() % 12;
    for (std::size_t i = 0; i < count; ++i) bins.push_back({any(), any(), any(), any(), any()});
    std::sort(bins.begin(), bins.end(),
              [](const CostBin& a, const CostBin& b) { return a.size < b.size; });
    const CostModel model = CostModel::Fit(bins);
    if (model.empty()) continue;
    EXPECT_NEAR(SumOfProbabilities(model), 1, 1e-6);
    for (const double size : extremes) {
      if (size > 0) {
        EXPECT_FALSE(model.Predict(size) < 0) << size;
      }
    }
  }
}

TEST(CostModel, IsEmptyIfNoCurveFits) {
  EXPECT_TRUE(CostModel::Fit({{1, 1, 1.7e308, 0}, {2, 1, 1.7e308, 0}}).empty());
}

}  // namespace
}  // namespace tidemark::regression::cost_model_test
