#include "master/facts/key_distribution.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "tests/facts/events.h"

namespace tidemark::facts::key_distribution_test {
namespace {

using test::Emitted;
using test::Key;
using test::M;
using test::Partition;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

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
}

TEST_F(KeyDistributionTest, ListsTheHeaviestKeyFirstAndTiesByHash) {
  keys_.Add(Emitted(M(0), {Partition(0, 1000, {Key(7, 10), Key(9, 90), Key(8, 90)})}));
  EXPECT_THAT(keys_.partition(0).explicit_keys, ElementsAre(Key(8, 90), Key(9, 90), Key(7, 10)));
}

TEST_F(KeyDistributionTest, ReturnsThePartitionOfAKey) {
  keys_.Add(Emitted(M(0), {Partition(1, 1000, {Key(5, 300)})}));
  EXPECT_TRUE(keys_.IsExplicit(1, KeyHash{5}));
  EXPECT_FALSE(keys_.IsExplicit(0, KeyHash{5}));
  EXPECT_FALSE(keys_.IsExplicit(1, KeyHash{6}));
}

TEST_F(KeyDistributionTest, TheSmallestExplicitKeyIsOverAllPartitions) {
  keys_.Add(Emitted(M(0), {Partition(0, 1000, {Key(1, 300)}), Partition(1, 1000, {Key(2, 40)})}));
  EXPECT_EQ(keys_.smallest_explicit_bytes(), 40u);
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

TEST_F(KeyDistributionTest, CountsOnlyTheGuaranteedSizeOfAKey) {
  const KeyDistribution keys = WithKeysDropped();
  EXPECT_THAT(keys.partition(1).explicit_keys, ElementsAre(Key(99, 50)));
}

TEST_F(KeyDistributionTest, BytesOfDroppedKeysBecomeImplicit) {
  const KeyDistribution keys = WithKeysDropped();
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
  PartitionProfile partition = Partition(0, 1000, {Key(1, 100)});
  partition.scanned_bytes = 250;
  keys_.Add(Emitted(M(0), {partition}));
  EXPECT_THAT(keys_.partition(0).explicit_keys, ElementsAre(Key(1, 400)));
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

TEST_F(KeyDistributionTest, AScaledKeyIsNeverLargerThanItsPartition) {
  PartitionProfile partition = Partition(0, 1000, {Key(1, 900)});
  partition.scanned_bytes = 1;
  keys_.Add(Emitted(M(0), {partition}));
  EXPECT_THAT(keys_.partition(0).explicit_keys, ElementsAre(Key(1, 1000)));
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

TEST_F(KeyDistributionTest, IncludesLaterProfiles) {
  keys_.Add(Emitted(M(0), {Partition(0, 100, {Key(1, 30)})}));
  EXPECT_EQ(keys_.partition(0).total_bytes, 100u);
  keys_.Add(Emitted(M(1), {Partition(0, 50, {Key(1, 5)})}));
  EXPECT_THAT(keys_.partition(0).explicit_keys, ElementsAre(Key(1, 35)));
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
