#include "streaming/key_sample.h"

#include <charconv>
#include <nlohmann/json.hpp>

#include "tests/test.h"
#include "tests/vectors/vectors.h"

namespace tidemark::streaming::key_sample_test {
namespace {

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

TEST(SizeSampler, KeepsTheKeysOfLowestRankPerByteAndReportsTheBound) {
  constexpr std::uint64_t kBelow = kEveryRank / 16;
  std::vector<ExplicitKey> keys;
  SizeSampler sampler(1'000);
  for (std::uint64_t k = 1; k < 10'000; ++k) {
    sampler.Offer(0, {KeyHash{k}, k});
    const std::uint64_t rank = SampleRank(KeyHash{k});
    if (rank >= kBelow && rank < 8 * kBelow) keys.push_back({KeyHash{k}, k});
  }
  std::sort(keys.begin(), keys.end(), [](const ExplicitKey& a, const ExplicitKey& b) {
    return RankPerByte(a.key, a.size_bytes) < RankPerByte(b.key, b.size_bytes);
  });
  std::vector<PartitionProfile> partitions = OnePartition();
  EXPECT_EQ(sampler.AddTo(kBelow, 2, partitions), RankPerByte(keys[2].key, keys[2].size_bytes));
  EXPECT_THAT(partitions[0].sampled_keys, ElementsAre(keys[0], keys[1]));
}

TEST(SizeSampler, OmitsKeysOfLowRankAndHasAtMostTheMaximum) {
  const std::vector<KeyHash> least = LeastRanks(4);
  SizeSampler sampler(10);
  for (const KeyHash key : least) sampler.Offer(0, {key, 100});
  std::vector<PartitionProfile> partitions = OnePartition();
  EXPECT_EQ(sampler.AddTo(SampleRank(least[1]), 2, partitions), RankPerByte(least[3], 100));
  EXPECT_THAT(partitions[0].sampled_keys,
              ElementsAre(ExplicitKey{least[1], 100}, ExplicitKey{least[2], 100}));
}

TEST(SizeSampler, WithoutCapacityOrBytesHasNoSample) {
  SizeSampler none(0);
  none.Offer(0, {KeyHash{1}, 10});
  SizeSampler some(1);
  some.Offer(0, {KeyHash{1}, 0});
  std::vector<PartitionProfile> partitions = OnePartition();
  EXPECT_EQ(none.AddTo(0, 1, partitions), 0u);
  EXPECT_EQ(some.AddTo(0, 1, partitions), kEveryRank);
  EXPECT_THAT(partitions[0].sampled_keys, IsEmpty());
}

// Map tasks 0 and 1 report 100 and 80 bytes of the key, and map task 2 does not report it. It may
// have emitted up to 50 bytes, with which the rank per byte is at the bound.
TEST(KeySample, ASampleBySizeHasBoundedSlack) {
  const KeyHash key = LeastRanks(2)[1];
  MapProfile profile{.partitions = OnePartition(),
                     .sampled_below = SampleRank(key) / 2,
                     .sampled_below_per_byte = SampleRank(key) / 50};
  KeySample sample;
  for (const std::uint64_t bytes : {100, 80, 0}) {
    profile.partitions[0].sampled_keys.clear();
    if (bytes > 0) profile.partitions[0].sampled_keys = {{key, bytes}};
    sample.Add(profile, true);
  }
  ASSERT_TRUE(sample.Contains(key));
  const SampledKey& sampled = sample.keys().at(key);
  EXPECT_EQ(sampled.size_bytes, 180u);
  EXPECT_EQ(sampled.largest_bytes, 100u);
  EXPECT_EQ(sampled.map_tasks, 2u);
  EXPECT_NEAR(sample.SlackBytes(key, sampled), 50, 1e-6);
  const auto rank = static_cast<double>(SampleRank(key));
  EXPECT_NEAR(sample.ProbabilityOf(key, sampled), 100 * (rank / 50) / 0x1p64, 1e-9);
}

TEST(KeySample, AMapTaskWithoutASampleBySizeEndsOnlyThatSample) {
  const std::vector<KeyHash> least = LeastRanks(2);
  MapProfile profile{.partitions = OnePartition(),
                     .sampled_below = SampleRank(least[1]),
                     .sampled_below_per_byte = kEveryRank};
  profile.partitions[0].sampled_keys = {{least[0], 10}, {least[1], 10}};
  KeySample sample;
  sample.Add(profile, true);
  EXPECT_TRUE(sample.Contains(least[1]));
  profile.sampled_below_per_byte = 0;
  sample.Add(profile, true);
  EXPECT_TRUE(sample.Contains(least[0]));
  EXPECT_FALSE(sample.Contains(least[1]));
  EXPECT_EQ(sample.below_per_byte(), 0u);
}

// Each sampled key represents 1 / probability keys. On average, they represent all bytes.
TEST(KeySample, RepresentsAllBytesOfRandomJobs) {
  double represented = 0;
  double all = 0;
  std::size_t by_size = 0;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    std::mt19937_64 random(seed);
    KeySample sample;
    std::map<KeyHash, std::uint64_t> truth;
    for (int task = 0; task < 3; ++task) {
      KeySampler by_rank(20);
      SizeSampler sampler(60);
      for (std::uint64_t k = 1; k <= 1000; ++k) {
        const KeyHash key{seed * 10'000 + k};
        const std::uint64_t bytes = 1 + 10'000 / k + random() % 5;
        truth[key] += bytes;
        by_rank.Offer(0, key, bytes);
        sampler.Offer(0, {key, bytes});
      }
      MapProfile profile{.partitions = OnePartition()};
      profile.sampled_below = by_rank.AddTo(profile.partitions);
      profile.sampled_below_per_byte = sampler.AddTo(profile.sampled_below, 40, profile.partitions);
      sample.Add(profile, true);
    }
    for (const auto& [key, bytes] : truth) all += static_cast<double>(bytes);
    for (const auto& [key, sampled] : sample.keys()) {
      by_size += SampleRank(key) >= sample.below() ? 1 : 0;
      represented += static_cast<double>(truth.at(key)) / sample.ProbabilityOf(key, sampled);
      EXPECT_LE(static_cast<double>(truth.at(key)),
                static_cast<double>(sampled.size_bytes) + sample.SlackBytes(key, sampled) + 1e-6);
    }
  }
  EXPECT_GT(by_size, 50u * 20);
  EXPECT_NEAR(represented / all, 1, 0.05);
}

TEST(KeySample, KeepsBothSamplesWithinKeysMax) {
  KeySample sample;
  for (std::uint64_t task = 0; task < 10; ++task) {
    MapProfile profile{.partitions = OnePartition(),
                       .sampled_below = kEveryRank / 4,
                       .sampled_below_per_byte = kEveryRank};
    for (std::uint64_t k = 0; k < 2000; ++k) {
      profile.partitions[0].sampled_keys.push_back({KeyHash{10'000 * task + k}, 10});
    }
    sample.Add(profile, true);
  }
  std::size_t by_rank = 0;
  for (const auto& [key, sampled] : sample.keys()) {
    by_rank += SampleRank(key) < sample.below() ? 1 : 0;
  }
  EXPECT_LE(sample.keys().size(), KeySample::kKeysMax);
  EXPECT_GT(sample.keys().size(), KeySample::kKeysMax * 3 / 4);
  EXPECT_EQ(by_rank, KeySample::kKeysMax / 2);
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
