#include "streaming/smoothed_points.h"

#include "tests/test.h"

namespace tidemark::streaming::smoothed_points_test {
namespace {

GroupPoint Point(std::uint64_t size, absl::Duration time) { return {size, 1, time}; }

TEST(SmoothedPoints, MergesOneSizeWithinHalfASecond) {
  SmoothedPoints points;
  points.Add(Point(100, absl::Milliseconds(100)));
  points.Add(Point(100, absl::Milliseconds(600)));
  ASSERT_EQ(points.points().size(), 1u);
  EXPECT_EQ(points.points()[0], (GroupPoint{100, 2, absl::Milliseconds(700)}));
}

TEST(SmoothedPoints, KeepsDistantTimesAndOtherSizesApart) {
  SmoothedPoints points;
  points.Add(Point(100, absl::Milliseconds(100)));
  points.Add(Point(100, absl::Milliseconds(601)));
  points.Add(Point(101, absl::Milliseconds(100)));
  EXPECT_EQ(points.points().size(), 3u);
}

TEST(SmoothedPoints, AreSortedBySizeThenTime) {
  SmoothedPoints points;
  points.Add(Point(9, absl::Seconds(9)));
  points.Add(Point(3, absl::Seconds(5)));
  points.Add(Point(3, absl::Seconds(1)));
  const auto sorted = points.points();
  EXPECT_EQ(sorted[0], Point(3, absl::Seconds(1)));
  EXPECT_EQ(sorted[1], Point(3, absl::Seconds(5)));
  EXPECT_EQ(sorted[2], Point(9, absl::Seconds(9)));
}

TEST(SmoothedPoints, DoNotDependOnTheOrderWithinReports) {
  std::vector<GroupPoint> report;
  for (std::uint64_t size : {3, 5, 8, 8, 13, 21}) report.push_back({size, 1, absl::Seconds(1)});
  SmoothedPoints in_order;
  for (int i = 0; i < 3; ++i) {
    for (const GroupPoint& point : report) in_order.Add(point);
  }
  SmoothedPoints backwards;
  for (int i = 0; i < 3; ++i) {
    for (auto point = report.rbegin(); point != report.rend(); ++point) backwards.Add(*point);
  }
  EXPECT_TRUE(std::ranges::equal(in_order.points(), backwards.points()));
  EXPECT_EQ(in_order.points().size(), 5u);
  EXPECT_EQ(in_order.points()[2], (GroupPoint{8, 6, absl::Seconds(6)}));
}

TEST(SmoothedPoints, IgnoresEmptyPointsAndTreatsNegativeTimesAsZero) {
  SmoothedPoints points;
  points.Add({5, 0, absl::Seconds(1)});
  EXPECT_TRUE(points.empty());
  points.Add(Point(5, -absl::Seconds(1)));
  EXPECT_EQ(points.points()[0], Point(5, absl::ZeroDuration()));
}

TEST(SmoothedPoints, StayWithinTheirBoundAndLoseNeitherGroupsNorTime) {
  SmoothedPoints points({.points_max = 100});
  std::mt19937_64 random(42);
  absl::Duration time;
  for (int i = 0; i < 20'000; ++i) {
    const absl::Duration took = absl::Nanoseconds(random() % 1'000'000);
    points.Add(Point(1 + random() % 1'000'000, took));
    time += took;
    ASSERT_LE(points.points().size(), 100u);
  }
  absl::Duration kept;
  std::uint64_t groups = 0;
  for (const GroupPoint& point : points.points()) {
    kept += point.total_time;
    groups += point.count;
  }
  EXPECT_EQ(groups, 20'000u);
  EXPECT_EQ(kept, time);
}

TEST(SmoothedPoints, TakeEmptiesAndReturnsAll) {
  SmoothedPoints points;
  points.Add(Point(1, absl::Seconds(1)));
  EXPECT_EQ(points.Take().size(), 1u);
  EXPECT_TRUE(points.empty());
}

}  // namespace
}  // namespace tidemark::streaming::smoothed_points_test
