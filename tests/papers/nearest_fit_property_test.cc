// Whatever the points, every prediction is finite and at least zero.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "master/forecast/papers/nearest_fit.h"
#include "tests/regression/points.h"

namespace tidemark::papers {
namespace {

using regression::OnCurve;
using regression::Sizes;

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

TEST(NearestFitProperty, HostilePointsStillPredictFiniteTimes) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    std::vector<std::shared_ptr<const TaskModel>> tasks(1 + random() % 4);
    for (auto& task : tasks) task = MakeTaskModel(HostilePoints(random));
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

TEST(FitPowerLawProperty, DoesNotDependOnTheOrderOfItsPoints) {
  std::mt19937_64 random(3);
  std::vector<GroupPoint> points = OnCurve(Sizes(10, 37, 60), 1e-3, 1e-8, 1.7);
  const PowerLawFit sorted = FitPowerLaw(points);
  std::shuffle(points.begin(), points.end(), random);
  EXPECT_DOUBLE_EQ(FitPowerLaw(points).Predict(1e5), sorted.Predict(1e5));
}

}  // namespace
}  // namespace tidemark::papers
