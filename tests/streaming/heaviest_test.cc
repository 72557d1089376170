

#include "streaming/space_saving.h"
#include "tests/test.h"

namespace tidemark::streaming::heaviest_test {
namespace {

TEST(HeaviestKeys, KeepsTheLambdaHeaviestAndSumsTheRest) {
  HeaviestKeys keys(2, 2);
  keys.Offer(0, KeyHash{1}, 10);
  keys.Offer(1, KeyHash{2}, 30);
  keys.Offer(0, KeyHash{3}, 20);
  keys.Offer(1, KeyHash{4}, 5);
  const auto profiles = keys.Profiles();
  ASSERT_EQ(profiles.size(), 2u);
  EXPECT_EQ(profiles[0], (PartitionProfile{.partition = 0,
                                           .total_bytes = 30,
                                           .explicit_keys = {{KeyHash{3}, 20}},
                                           .implicit_key_count = 1,
                                           .implicit_bytes = 10}));
  EXPECT_EQ(profiles[1], (PartitionProfile{.partition = 1,
                                           .total_bytes = 35,
                                           .explicit_keys = {{KeyHash{2}, 30}},
                                           .implicit_key_count = 1,
                                           .implicit_bytes = 5}));
}

TEST(HeaviestKeys, ReturnsTheKeyThatBecomesImplicit) {
  HeaviestKeys keys(2, 1);
  EXPECT_FALSE(keys.Offer(0, KeyHash{1}, 10));
  const auto displaced = keys.Offer(1, KeyHash{2}, 30);
  ASSERT_TRUE(displaced);
  EXPECT_EQ(displaced->partition, 0u);
  EXPECT_EQ(displaced->group, (ExplicitKey{KeyHash{1}, 10}));
  EXPECT_EQ(keys.Offer(1, KeyHash{3}, 5)->group, (ExplicitKey{KeyHash{3}, 5}));
}

TEST(HeaviestKeys, LambdaOfZeroMakesEveryKeyImplicit) {
  HeaviestKeys keys(1, 0);
  keys.Offer(0, KeyHash{1}, 10);
  const auto profiles = keys.Profiles();
  ASSERT_EQ(profiles.size(), 1u);
  EXPECT_TRUE(profiles[0].explicit_keys.empty());
  EXPECT_EQ(profiles[0].implicit_bytes, 10u);
}

TEST(HeaviestKeys, PartitionsWithoutDataHaveNoProfile) {
  HeaviestKeys keys(100, 5);
  keys.Offer(7, KeyHash{1}, 1);
  const auto profiles = keys.Profiles();
  ASSERT_EQ(profiles.size(), 1u);
  EXPECT_EQ(profiles[0].partition, 7u);
}

TEST(HeaviestKeys, AgreesWithAFullSortInAnyOrderOfOffers) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    std::vector<ExplicitKey> offers;
    for (std::uint64_t k = 1; k <= 1000; ++k) offers.push_back({KeyHash{k}, random() % 200});
    HeaviestKeys keys(1, 37);
    std::shuffle(offers.begin(), offers.end(), random);
    for (const ExplicitKey& key : offers) keys.Offer(0, key.key, key.size_bytes);
    std::sort(offers.begin(), offers.end(), [](const ExplicitKey& a, const ExplicitKey& b) {
      return a.size_bytes != b.size_bytes ? a.size_bytes > b.size_bytes : a.key < b.key;
    });
    offers.resize(37);
    EXPECT_EQ(keys.Profiles().at(0).explicit_keys, offers);
  }
}

}  // namespace
}  // namespace tidemark::streaming::heaviest_test
