// Tests the rules that agents in all languages share, with shared golden values.

#include "streaming/key_sample.h"
#include "streaming/size_histogram.h"
#include "streaming/smoothed_points.h"
#include "streaming/space_saving.h"
#include "tests/test.h"
#include "tests/vectors/vectors.h"

namespace tidemark::streaming::shared_vectors_test {
namespace {

KeyHash ParseHash(const nlohmann::json& hex) { return KeyHash{vectors::ParseHash(hex)}; }

TEST(SizeBin, AgreesWithTheSharedVectors) {
  for (const auto& vector : vectors::Read("size_bins.json")) {
    EXPECT_EQ(SizeBin(vector["size_bytes"]), vector["bin"]) << vector["size_bytes"];
  }
}

TEST(SmoothedPoints, AgreesWithTheSharedVectors) {
  for (const auto& vector : vectors::Read("smoothed_points.json")) {
    SmoothedPoints smoothed({.points_max = vector["points_max"]});
    for (const auto& added : vector["added"]) {
      smoothed.Add({added[0], added[1], absl::Nanoseconds(added[2].get<std::int64_t>())});
    }
    ASSERT_EQ(smoothed.points().size(), vector["points"].size());
    for (std::size_t i = 0; i < smoothed.points().size(); ++i) {
      const auto& expected = vector["points"][i];
      EXPECT_EQ(smoothed.points()[i],
                (GroupPoint{expected[0], expected[1],
                            absl::Nanoseconds(expected[2].get<std::int64_t>())}));
    }
  }
}

TEST(HeaviestKeys, AgreesWithTheSharedVectors) {
  for (const auto& vector : vectors::Read("heaviest_keys.json")) {
    HeaviestKeys heaviest(vector["partition_count"], vector["lambda"]);
    for (const auto& offered : vector["offered"]) {
      heaviest.Offer(offered[0], ParseHash(offered[1]), offered[2]);
    }
    std::vector<PartitionProfile> expected;
    for (const auto& partition : vector["partitions"]) {
      PartitionProfile& profile = expected.emplace_back();
      profile.partition = partition["partition"];
      profile.total_bytes = partition["total_bytes"];
      for (const auto& key : partition["explicit"]) {
        profile.explicit_keys.push_back({ParseHash(key[0]), key[1]});
      }
      profile.implicit_key_count = partition["implicit_key_count"];
      profile.implicit_bytes = partition["implicit_bytes"];
    }
    EXPECT_EQ(heaviest.Profiles(), expected);
  }
}

std::vector<ExplicitKey> ParseKeys(const nlohmann::json& keys) {
  std::vector<ExplicitKey> parsed;
  for (const auto& key : keys) parsed.push_back({ParseHash(key[0]), key[1], key[2]});
  return parsed;
}

TEST(KeySampler, AgreesWithTheSharedVectors) {
  for (const auto& vector : vectors::Read("key_sample.json")) {
    HeaviestKeys heaviest(0, vector["lambda"]);
    KeySampler sampler(vector["capacity"]);
    for (const auto& offered : vector["offered"]) {
      const ExplicitKey group{ParseHash(offered[1]), offered[2], offered[3]};
      heaviest.Offer(offered[0], group);
      sampler.Offer(offered[0], group);
    }
    std::vector<PartitionProfile> partitions = heaviest.Profiles();
    EXPECT_EQ(sampler.AddTo(partitions), vectors::ParseHash(vector["below"]));
    ASSERT_EQ(partitions.size(), vector["partitions"].size());
    for (std::size_t i = 0; i < partitions.size(); ++i) {
      const auto& expected = vector["partitions"][i];
      EXPECT_EQ(partitions[i].partition, expected["partition"]);
      EXPECT_EQ(partitions[i].explicit_keys, ParseKeys(expected["explicit"]));
      // Entries for one key have no defined order.
      EXPECT_THAT(partitions[i].sampled_keys,
                  ::testing::UnorderedElementsAreArray(ParseKeys(expected["sampled"])));
    }
  }
}

}  // namespace
}  // namespace tidemark::streaming::shared_vectors_test
