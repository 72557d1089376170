#include "streaming/key_sample.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "tests/vectors/vectors.h"

namespace tidemark::streaming::key_sample_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::uint64_t ParseHex(const std::string& hex) {
  std::uint64_t number = 0;
  std::from_chars(hex.data(), hex.data() + hex.size(), number, 16);
  return number;
}

// Returns the n keys with the lowest ranks among 0..9999, sorted by rank.
std::vector<KeyHash> LeastRanks(std::size_t n) {
  std::vector<KeyHash> keys;
  for (std::uint64_t k = 0; k < 10'000; ++k) keys.push_back(KeyHash{k});
  std::sort(keys.begin(), keys.end(),
            [](KeyHash a, KeyHash b) { return SampleRank(a) < SampleRank(b); });
  keys.resize(n);
  return keys;
}

std::vector<PartitionProfile> OnePartition(std::vector<ExplicitKey> explicit_keys = {}) {
  PartitionProfile partition;
  partition.explicit_keys = std::move(explicit_keys);
  return {partition};
}

TEST(SampleRank, AgreesWithTheSharedVectors) {
  std::ifstream file(TIDEMARK_VECTORS "/sample_rank.json");
  const auto vectors = nlohmann::json::parse(file);
  ASSERT_GE(vectors.size(), 10u);
  for (const auto& vector : vectors) {
    EXPECT_EQ(SampleRank(KeyHash{ParseHex(vector["hash"])}), ParseHex(vector["rank"]))
        << vector["hash"];
  }
}

TEST(KeySampler, KeepsTheKeysOfLowestRankAndReportsTheBound) {
  KeySampler sampler(2);
  for (std::uint64_t k = 0; k < 10'000; ++k) sampler.Offer(0, KeyHash{k}, k);
  std::vector<PartitionProfile> partitions = OnePartition();
  const std::uint64_t below = sampler.AddTo(partitions);
  const std::vector<KeyHash> least = LeastRanks(3);
  EXPECT_EQ(below, SampleRank(least[2]));
  EXPECT_THAT(partitions[0].sampled_keys,
              ElementsAre(ExplicitKey{least[0], static_cast<std::uint64_t>(least[0])},
                          ExplicitKey{least[1], static_cast<std::uint64_t>(least[1])}));
}

TEST(KeySampler, KeepsAllKeysOfAMapTaskWithFewKeys) {
  KeySampler sampler(4);
  sampler.Offer(0, KeyHash{1}, 10);
  std::vector<PartitionProfile> partitions = OnePartition();
  EXPECT_EQ(sampler.AddTo(partitions), kEveryRank);
  EXPECT_THAT(partitions[0].sampled_keys, ElementsAre(ExplicitKey{KeyHash{1}, 10}));
}

TEST(KeySampler, OmitsExplicitKeys) {
  KeySampler sampler(4);
  sampler.Offer(0, KeyHash{1}, 10);
  std::vector<PartitionProfile> partitions = OnePartition({{KeyHash{1}, 10}});
  EXPECT_EQ(sampler.AddTo(partitions), kEveryRank);
  EXPECT_THAT(partitions[0].sampled_keys, IsEmpty());
}

TEST(KeySampler, WithoutCapacityHasNoSample) {
  KeySampler sampler(0);
  sampler.Offer(0, KeyHash{1}, 10);
  std::vector<PartitionProfile> partitions = OnePartition();
  EXPECT_EQ(sampler.AddTo(partitions), 0u);
  EXPECT_THAT(partitions[0].sampled_keys, IsEmpty());
}

TEST(KeySample, WithoutMapTasksIsEmpty) {
  const KeySample sample;
  EXPECT_EQ(sample.below(), 0u);
  EXPECT_THAT(sample.keys(), IsEmpty());
}

TEST(KeySample, OneMapTaskWithoutASampleEndsIt) {
  KeySample sample;
  MapProfile sampled{.partitions = OnePartition({{KeyHash{1}, 10}}), .sampled_below = kEveryRank};
  sample.Add(sampled, true);
  EXPECT_TRUE(sample.Contains(KeyHash{1}));
  sample.Add(MapProfile{.partitions = OnePartition({{KeyHash{2}, 10}})}, true);
  EXPECT_EQ(sample.below(), 0u);
  sample.Add(sampled, true);
  EXPECT_EQ(sample.below(), 0u);
  EXPECT_THAT(sample.keys(), IsEmpty());
}

TEST(KeySample, CountsTheFirstInputSeparately) {
  KeySample sample;
  const MapProfile profile{.partitions = OnePartition({{KeyHash{1}, 10}}),
                           .sampled_below = kEveryRank};
  sample.Add(profile, true);
  sample.Add(profile, false);
  EXPECT_EQ(sample.keys().at(KeyHash{1}).size_bytes, 20u);
  EXPECT_EQ(sample.keys().at(KeyHash{1}).first_input_bytes, 10u);
}

TEST(KeySample, KeepsAtMostKeysMax) {
  KeySample sample;
  for (std::uint64_t task = 0; task < 10; ++task) {
    KeySampler sampler(1000);
    for (std::uint64_t k = 0; k < 1000; ++k) sampler.Offer(0, KeyHash{1000 * task + k}, 1);
    std::vector<PartitionProfile> partitions = OnePartition();
    const std::uint64_t below = sampler.AddTo(partitions);
    sample.Add({.partitions = partitions, .sampled_below = below}, true);
  }
  EXPECT_EQ(sample.keys().size(), KeySample::kKeysMax);
  const std::vector<KeyHash> least = LeastRanks(KeySample::kKeysMax);
  for (const KeyHash key : least) EXPECT_TRUE(sample.Contains(key));
}

// The size of a sampled key must be its sum over all map tasks, and no key below the bound may be
// missing.
TEST(KeySample, IsExactForRandomJobs) {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    std::mt19937_64 random(seed);
    std::map<std::uint64_t, std::uint64_t> truth;
    KeySample sample;
    const std::uint64_t tasks = 1 + random() % 8;
    for (std::uint64_t task = 0; task < tasks; ++task) {
      KeySampler sampler(20);
      std::vector<PartitionProfile> partitions(3);
      for (std::uint32_t p = 0; p < 3; ++p) partitions[p].partition = p;
      const std::uint64_t count = random() % 200;
      std::map<std::uint64_t, std::uint64_t> emitted;
      for (std::uint64_t i = 0; i < count; ++i) emitted[random() % 300] += 1 + random() % 100;
      for (const auto& [key, bytes] : emitted) {
        const auto partition = static_cast<std::uint32_t>(key % 3);
        truth[key] += bytes;
        if (random() % 4 == 0) {
          partitions[partition].explicit_keys.push_back({KeyHash{key}, bytes});
        }
        sampler.Offer(partition, KeyHash{key}, bytes);
      }
      const std::uint64_t below = sampler.AddTo(partitions);
      sample.Add({.partitions = partitions, .sampled_below = below}, true);
    }
    for (const auto& [key, bytes] : truth) {
      const auto found = sample.keys().find(KeyHash{key});
      if (SampleRank(KeyHash{key}) < sample.below()) {
        ASSERT_NE(found, sample.keys().end()) << "seed " << seed;
        EXPECT_EQ(found->second.size_bytes, bytes) << "seed " << seed;
        EXPECT_EQ(found->second.partition, key % 3) << "seed " << seed;
      } else {
        EXPECT_EQ(found, sample.keys().end()) << "seed " << seed;
      }
    }
  }
}

TEST(HashKey, EmptyKeyHasThePublishedHash) { EXPECT_EQ(HashKey(""), KeyHash{0xef46db3751d8e999}); }

// All implementations, in any language, must return these values.
TEST(HashKey, AgreesWithTheSharedVectors) {
  const auto golden = vectors::Read("key_hash.json");
  ASSERT_GE(golden.size(), 40u);
  for (const auto& vector : golden) {
    const std::string key = vectors::FromHex(vector["key_hex"]);
    EXPECT_EQ(HashKey(key), KeyHash{vectors::ParseHash(vector["hash"])}) << vector["key_hex"];
  }
}

}  // namespace
}  // namespace tidemark::streaming::key_sample_test
