#include "master/facts/key_distribution.h"

#include "tests/facts/events.h"
#include "tests/test.h"

namespace tidemark::facts::key_distribution_test {
namespace {

class KeyDistributionTest : public ::testing::Test {
 protected:
  KeyDistribution keys_{10};
};

TEST_F(KeyDistributionTest, AnUnreportedPartitionIsEmpty) {
  EXPECT_EQ(keys_.partition(3).total_bytes, 0u);
  EXPECT_THAT(keys_.partition(3).explicit_keys, IsEmpty());
  EXPECT_EQ(keys_.smallest_explicit_bytes(), 0u);
}

TEST_F(KeyDistributionTest, SumsAKeyOverMapTasks) {
  keys_.Add(Emitted(M(0), {Partition(0, 1000, {Key(1, 300)})}));
  EXPECT_EQ(keys_.partition(0).total_bytes, 1000u);
  keys_.Add(Emitted(M(1), {Partition(0, 500, {Key(1, 200)})}));
  EXPECT_THAT(keys_.partition(0).explicit_keys, ElementsAre(Key(1, 500)));
  EXPECT_EQ(keys_.partition(0).total_bytes, 1500u);
  EXPECT_EQ(keys_.partition(0).explicit_bytes, 500u);
  EXPECT_EQ(keys_.profile_count(), 2u);
}

TEST_F(KeyDistributionTest, KeepsPartitionsApart) {
  keys_.Add(Emitted(M(0), {Partition(0, 1000, {Key(1, 300)}), Partition(2, 70, {Key(2, 60)})}));
  EXPECT_THAT(keys_.partition(0).explicit_keys, ElementsAre(Key(1, 300)));
  EXPECT_THAT(keys_.partition(1).explicit_keys, IsEmpty());
  EXPECT_THAT(keys_.partition(2).explicit_keys, ElementsAre(Key(2, 60)));
  EXPECT_EQ(keys_.total_bytes(), 1070u);
  EXPECT_TRUE(keys_.IsExplicit(2, KeyHash{2}));
  EXPECT_FALSE(keys_.IsExplicit(0, KeyHash{2}));
  EXPECT_FALSE(keys_.IsExplicit(2, KeyHash{6}));
  EXPECT_EQ(keys_.smallest_explicit_bytes(), 60u) << "over all partitions";
}

TEST_F(KeyDistributionTest, ListsTheHeaviestKeyFirstAndTiesByHash) {
  keys_.Add(Emitted(M(0), {Partition(0, 1000, {Key(7, 10), Key(9, 90), Key(8, 90)})}));
  EXPECT_THAT(keys_.partition(0).explicit_keys, ElementsAre(Key(8, 90), Key(9, 90), Key(7, 10)));
}

TEST_F(KeyDistributionTest, TheRecentSmallestKeyLagsByLessThanASixteenthOfTheProfiles) {
  EXPECT_EQ(keys_.recent_smallest_explicit_bytes(), 0u);
  for (std::uint32_t i = 0; i < 32; ++i) keys_.Add(Emitted(M(i), {Partition(0, 9, {Key(i, 9)})}));
  EXPECT_EQ(keys_.recent_smallest_explicit_bytes(), 9u);
  keys_.Add(Emitted(M(32), {Partition(0, 1, {Key(50, 1)})}));
  keys_.Add(Emitted(M(33), {Partition(0, 1, {Key(51, 1)})}));
  EXPECT_EQ(keys_.recent_smallest_explicit_bytes(), 9u);
  keys_.Add(Emitted(M(34), {Partition(0, 1, {Key(52, 1)})}));
  EXPECT_EQ(keys_.recent_smallest_explicit_bytes(), 1u);
}

TEST_F(KeyDistributionTest, AKeyOfNoBytesIsNotExplicit) {
  keys_.Add(Emitted(M(0), {Partition(0, 1000, {Key(1, 0)})}));
  EXPECT_THAT(keys_.partition(0).explicit_keys, IsEmpty());
}

// Returns keys for lambda 1, with a capacity of 35. The 71st key drops all keys except the 35
// heaviest. It inherits the weight of the heaviest dropped key as a possible error, which must not
// count.
KeyDistribution WithKeysDropped() {
  KeyDistribution keys(1);
  std::vector<ExplicitKey> heavy;
  for (std::uint64_t hash = 1; hash <= 70; ++hash) heavy.push_back(Key(hash, 100 + hash));
  keys.Add(Emitted(M(0), {Partition(0, 20'000, heavy)}));
  keys.Add(Emitted(M(1), {Partition(1, 1000, {Key(99, 50)})}));
  return keys;
}

TEST_F(KeyDistributionTest, BytesOfDroppedKeysBecomeImplicit) {
  const KeyDistribution keys = WithKeysDropped();
  EXPECT_THAT(keys.partition(1).explicit_keys, ElementsAre(Key(99, 50)));
  EXPECT_FALSE(keys.IsExplicit(0, KeyHash{35}));
  EXPECT_TRUE(keys.IsExplicit(0, KeyHash{36}));
  const PartitionKeys& partition = keys.partition(0);
  EXPECT_EQ(partition.total_bytes, 20'000u);
  EXPECT_EQ(partition.explicit_keys.size(), 35u);
  EXPECT_EQ(partition.explicit_bytes, 35u * 100 + (36 + 70) * 35 / 2);
}

TEST_F(KeyDistributionTest, ADroppedKeyReturnsWithoutItsEarlierBytes) {
  KeyDistribution keys = WithKeysDropped();
  keys.Add(Emitted(M(2), {Partition(0, 1000, {Key(1, 60)})}), "another input");
  EXPECT_EQ(keys.partition(0).explicit_keys.back(), Key(1, 60));
  EXPECT_DOUBLE_EQ(keys.FirstInputShare(KeyHash{1}), 0);
  EXPECT_DOUBLE_EQ(keys.FirstInputShare(KeyHash{70}), 1);
}

TEST_F(KeyDistributionTest, ScalesKeysUpIfOnlyAPartWasScanned) {
  const auto scaled = [](std::uint64_t bytes, std::uint64_t scanned_bytes) {
    KeyDistribution keys(10);
    PartitionProfile partition = Partition(0, 1000, {Key(1, bytes)});
    partition.scanned_bytes = scanned_bytes;
    keys.Add(Emitted(M(0), {partition}));
    return keys.partition(0).explicit_keys;
  };
  EXPECT_THAT(scaled(100, 250), ElementsAre(Key(1, 400)));
  EXPECT_THAT(scaled(900, 1), ElementsAre(Key(1, 1000))) << "not beyond its partition";
}

TEST_F(KeyDistributionTest, ScalesByThePartScannedOverAllMapTasks) {
  PartitionProfile partly = Partition(0, 1000, {Key(1, 100)});
  partly.scanned_bytes = 500;
  keys_.Add(Emitted(M(0), {partly}));
  keys_.Add(Emitted(M(1), {Partition(0, 1000, {Key(1, 50)})}));
  EXPECT_THAT(keys_.partition(0).explicit_keys, ElementsAre(Key(1, 200)));  // 150 * 2000 / 1500
}

TEST_F(KeyDistributionTest, ReturnsTheScannedShareOfTheMapOutput) {
  EXPECT_EQ(keys_.scanned_share(), 1);
  keys_.Add(Emitted(M(0), {Partition(0, 1000, {})}));
  EXPECT_EQ(keys_.scanned_share(), 1);
  PartitionProfile unread = Partition(1, 3000, {});
  unread.scanned_bytes = 0;
  keys_.Add(Emitted(M(1), {unread}));
  EXPECT_EQ(keys_.scanned_share(), 0.25);
}

TEST_F(KeyDistributionTest, HugeSizesSaturate) {
  constexpr std::uint64_t kMax = std::numeric_limits<std::uint64_t>::max();
  PartitionProfile partition = Partition(0, kMax, {Key(1, kMax / 2)});
  partition.scanned_bytes = 1;
  keys_.Add(Emitted(M(0), {partition}));
  keys_.Add(Emitted(M(1), {partition}));
  EXPECT_EQ(keys_.partition(0).total_bytes, kMax);
  EXPECT_EQ(keys_.total_bytes(), kMax);
  EXPECT_THAT(keys_.partition(0).explicit_keys, ElementsAre(Key(1, kMax)));
}

TEST_F(KeyDistributionTest, ReturnsTheMapTaskThatNamedMostOfAKey) {
  keys_.Add(Emitted(M(5), {Partition(0, 100, {Key(1, 30), Key(2, 40)})}));
  keys_.Add(Emitted(M(3), {Partition(0, 100, {Key(1, 31), Key(2, 40)})}));
  keys_.Add(Emitted(M(4), {Partition(0, 100, {Key(1, 20), Key(3, 1)})}));
  EXPECT_EQ(keys_.MainMapTask(KeyHash{1}), 1u);
  EXPECT_EQ(keys_.MainMapTask(KeyHash{2}), 0u);  // the first of equally large tasks
  EXPECT_EQ(keys_.MainMapTask(KeyHash{3}), 2u);
  EXPECT_EQ(keys_.MainMapTask(KeyHash{4}), 0u);  // a key without a name
}

}  // namespace
}  // namespace tidemark::facts::key_distribution_test
