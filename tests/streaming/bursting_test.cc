#include "streaming/bursting.h"

#include <nlohmann/json.hpp>

#include "tests/test.h"

namespace tidemark::streaming::bursting_test {
namespace {

TEST(SplitBurst, DividesTheTimeInProportionToSize) {
  EXPECT_EQ(
      SplitBurst({10, 30}, absl::Microseconds(8)),
      (std::vector<GroupPoint>{{10, 1, absl::Microseconds(2)}, {30, 1, absl::Microseconds(6)}}));
}

TEST(SplitBurst, KeyGroupsWithoutBytesCountAsOneByte) {
  EXPECT_EQ(SplitBurst({0, 0}, absl::Nanoseconds(10)),
            (std::vector<GroupPoint>{{0, 1, absl::Nanoseconds(5)}, {0, 1, absl::Nanoseconds(5)}}));
}

TEST(SplitBurst, NegativeTimeCountsAsZero) {
  EXPECT_EQ(SplitBurst({5}, -absl::Seconds(1))[0].total_time, absl::ZeroDuration());
}

TEST(SplitBurst, ReturnsNoPointsWithoutKeyGroups) {
  EXPECT_TRUE(SplitBurst({}, absl::Seconds(1)).empty());
}

// All implementations, in any language, must return these values.
TEST(SplitBurst, AgreesWithTheSharedVectors) {
  std::ifstream file(TIDEMARK_VECTORS "/bursting.json");
  const auto vectors = nlohmann::json::parse(file);
  ASSERT_FALSE(vectors.empty());
  for (const auto& vector : vectors) {
    const auto points = SplitBurst(vector["sizes_bytes"].get<std::vector<std::uint64_t>>(),
                                   absl::Nanoseconds(vector["elapsed_nanos"].get<std::int64_t>()));
    ASSERT_EQ(points.size(), vector["nanos"].size());
    for (std::size_t i = 0; i < points.size(); ++i) {
      EXPECT_NEAR(absl::ToDoubleNanoseconds(points[i].total_time), vector["nanos"][i].get<double>(),
                  1.0);
    }
  }
}

}  // namespace
}  // namespace tidemark::streaming::bursting_test
