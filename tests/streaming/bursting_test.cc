#include "streaming/bursting.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

namespace tidemark::streaming {
namespace {

TEST(Burst, SplitsItsTimeInProportionToSize) {
  Burst burst;
  burst.AddSmall(10);
  burst.AddSmall(30);
  const auto points = burst.Close(absl::Microseconds(8));
  ASSERT_EQ(points.size(), 2u);
  EXPECT_EQ(points[0], (GroupPoint{10, 1, absl::Microseconds(2)}));
  EXPECT_EQ(points[1], (GroupPoint{30, 1, absl::Microseconds(6)}));
  EXPECT_TRUE(burst.empty());
}

TEST(Burst, IsFullAfterAHundredKeyGroups) {
  Burst burst;
  for (int i = 1; i < 100; ++i) ASSERT_FALSE(burst.AddSmall(1));
  EXPECT_TRUE(burst.AddSmall(1));
}

TEST(Burst, SmallMeansBelowFiftyBytes) {
  EXPECT_TRUE(Burst().IsSmall(49));
  EXPECT_FALSE(Burst().IsSmall(50));
}

TEST(Burst, KeyGroupsWithoutBytesCountAsOneByte) {
  Burst burst;
  burst.AddSmall(0);
  burst.AddSmall(0);
  const auto points = burst.Close(absl::Nanoseconds(10));
  EXPECT_EQ(points[0].total_time, absl::Nanoseconds(5));
  EXPECT_EQ(points[1].total_time, absl::Nanoseconds(5));
}

TEST(Burst, NegativeTimeCountsAsZero) {
  Burst burst;
  burst.AddSmall(5);
  EXPECT_EQ(burst.Close(-absl::Seconds(1))[0].total_time, absl::ZeroDuration());
}

TEST(Burst, WithoutKeyGroupsReturnsNoPoints) {
  EXPECT_TRUE(Burst().Close(absl::Seconds(1)).empty());
}

// All implementations, in every language, must return these values.
TEST(Burst, AgreesWithTheSharedVectors) {
  std::ifstream file(TIDEMARK_VECTORS "/bursting.json");
  const auto vectors = nlohmann::json::parse(file);
  ASSERT_FALSE(vectors.empty());
  for (const auto& vector : vectors) {
    Burst burst;
    for (const std::uint64_t size : vector["sizes_bytes"]) burst.AddSmall(size);
    const auto points = burst.Close(absl::Nanoseconds(vector["elapsed_nanos"].get<std::int64_t>()));
    ASSERT_EQ(points.size(), vector["nanos"].size());
    for (std::size_t i = 0; i < points.size(); ++i) {
      EXPECT_NEAR(absl::ToDoubleNanoseconds(points[i].total_time), vector["nanos"][i].get<double>(),
                  1.0);
    }
  }
}

}  // namespace
}  // namespace tidemark::streaming
