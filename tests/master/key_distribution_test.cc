#include "master/model/key_distribution.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "tests/master/events.h"

namespace tidemark::model {
namespace {

using test::Emitted;
using test::Key;
using test::M;
using test::Partition;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(KeyDistribution, KnowsNothingOfAPartitionThatNoMapTaskMentioned) {
  const KeyDistribution keys(10);
  EXPECT_EQ(keys.partition(3).total_bytes, 0u);
  EXPECT_THAT(keys.partition(3).explicit_keys, IsEmpty());
  EXPECT_EQ(keys.smallest_explicit_bytes(), 0u);
}

TEST(KeyDistribution, AddsUpAKeyOverMapTasks) {
  KeyDistribution keys(10);
  keys.Add(Emitted(M(0), {Partition(0, 1000, {Key(1, 300)})}));
  keys.Add(Emitted(M(1), {Partition(0, 500, {Key(1, 200)})}));
  EXPECT_THAT(keys.partition(0).explicit_keys, ElementsAre(Key(1, 500)));
  EXPECT_EQ(keys.partition(0).total_bytes, 1500u);
  EXPECT_EQ(keys.partition(0).explicit_bytes, 500u);
  EXPECT_EQ(keys.profile_count(), 2u);
}

TEST(KeyDistribution, KeepsPartitionsApart) {
  KeyDistribution keys(10);
  keys.Add(Emitted(M(0), {Partition(0, 1000, {Key(1, 300)}), Partition(2, 70, {Key(2, 60)})}));
  EXPECT_THAT(keys.partition(0).explicit_keys, ElementsAre(Key(1, 300)));
  EXPECT_THAT(keys.partition(1).explicit_keys, IsEmpty());
  EXPECT_THAT(keys.partition(2).explicit_keys, ElementsAre(Key(2, 60)));
  EXPECT_EQ(keys.total_bytes(), 1070u);
}

TEST(KeyDistribution, ListsTheHeaviestKeyFirstAndTiesByHash) {
  KeyDistribution keys(10);
  keys.Add(Emitted(M(0), {Partition(0, 1000, {Key(7, 10), Key(9, 90), Key(8, 90)})}));
  EXPECT_THAT(keys.partition(0).explicit_keys, ElementsAre(Key(8, 90), Key(9, 90), Key(7, 10)));
}

TEST(KeyDistribution, KnowsWhichPartitionOwnsAKey) {
  KeyDistribution keys(10);
  keys.Add(Emitted(M(0), {Partition(1, 1000, {Key(5, 300)})}));
  EXPECT_TRUE(keys.IsExplicit(1, KeyHash{5}));
  EXPECT_FALSE(keys.IsExplicit(0, KeyHash{5}));
  EXPECT_FALSE(keys.IsExplicit(1, KeyHash{6}));
}

TEST(KeyDistribution, TheSmallestExplicitKeyIsOverAllPartitions) {
  KeyDistribution keys(10);
  keys.Add(Emitted(M(0), {Partition(0, 1000, {Key(1, 300)}), Partition(1, 1000, {Key(2, 40)})}));
  EXPECT_EQ(keys.smallest_explicit_bytes(), 40u);
}

TEST(KeyDistribution, AKeyOfNoBytesIsNotExplicit) {
  KeyDistribution keys(10);
  keys.Add(Emitted(M(0), {Partition(0, 1000, {Key(1, 0)})}));
  EXPECT_THAT(keys.partition(0).explicit_keys, IsEmpty());
}

// 35 counters for lambda 1: the 36th key pushes the lightest one out and inherits its weight as
// possible error, which must not count.
KeyDistribution WithOneKeyPushedOut() {
  KeyDistribution keys(1);
  std::vector<ExplicitKey> heavy;
  for (std::uint64_t hash = 1; hash <= 35; ++hash) heavy.push_back(Key(hash, 100 + hash));
  keys.Add(Emitted(M(0), {Partition(0, 10'000, heavy)}));
  keys.Add(Emitted(M(1), {Partition(1, 1000, {Key(99, 50)})}));
  return keys;
}

TEST(KeyDistribution, TakesOnlyTheGuaranteedSizeOfAKey) {
  const KeyDistribution keys = WithOneKeyPushedOut();
  EXPECT_THAT(keys.partition(1).explicit_keys, ElementsAre(Key(99, 50)));
}

TEST(KeyDistribution, GivesTheBytesOfAKeyThatWasPushedOutBackToItsPartition) {
  const KeyDistribution keys = WithOneKeyPushedOut();
  EXPECT_FALSE(keys.IsExplicit(0, KeyHash{1}));
  const PartitionKeys& partition = keys.partition(0);
  EXPECT_EQ(partition.total_bytes, 10'000u);
  EXPECT_EQ(partition.explicit_keys.size(), 34u);
  EXPECT_EQ(partition.explicit_bytes, 35u * 100 + 35 * 36 / 2 - 101);
}

TEST(KeyDistribution, ScalesKeysUpWhereOnlyAPartWasScanned) {
  KeyDistribution keys(10);
  PartitionProfile partition = Partition(0, 1000, {Key(1, 100)});
  partition.scanned_bytes = 250;
  keys.Add(Emitted(M(0), {partition}));
  EXPECT_THAT(keys.partition(0).explicit_keys, ElementsAre(Key(1, 400)));
}

TEST(KeyDistribution, ScalesByThePartScannedOverAllMapTasks) {
  KeyDistribution keys(10);
  PartitionProfile partly = Partition(0, 1000, {Key(1, 100)});
  partly.scanned_bytes = 500;
  keys.Add(Emitted(M(0), {partly}));
  keys.Add(Emitted(M(1), {Partition(0, 1000, {Key(1, 50)})}));
  EXPECT_THAT(keys.partition(0).explicit_keys, ElementsAre(Key(1, 200)));  // 150 * 2000 / 1500
}

TEST(KeyDistribution, AScaledKeyIsNeverLargerThanItsPartition) {
  KeyDistribution keys(10);
  PartitionProfile partition = Partition(0, 1000, {Key(1, 900)});
  partition.scanned_bytes = 1;
  keys.Add(Emitted(M(0), {partition}));
  EXPECT_THAT(keys.partition(0).explicit_keys, ElementsAre(Key(1, 1000)));
}

TEST(KeyDistribution, HugeSizesStopAtTheLargestNumber) {
  constexpr std::uint64_t kMax = std::numeric_limits<std::uint64_t>::max();
  KeyDistribution keys(10);
  PartitionProfile partition = Partition(0, kMax, {Key(1, kMax / 2)});
  partition.scanned_bytes = 1;
  keys.Add(Emitted(M(0), {partition}));
  keys.Add(Emitted(M(1), {partition}));
  EXPECT_EQ(keys.partition(0).total_bytes, kMax);
  EXPECT_EQ(keys.total_bytes(), kMax);
  EXPECT_THAT(keys.partition(0).explicit_keys, ElementsAre(Key(1, kMax)));
}

TEST(KeyDistribution, FollowsProfilesThatComeAfterALook) {
  KeyDistribution keys(10);
  keys.Add(Emitted(M(0), {Partition(0, 100, {Key(1, 30)})}));
  EXPECT_EQ(keys.partition(0).total_bytes, 100u);
  keys.Add(Emitted(M(1), {Partition(0, 50, {Key(1, 5)})}));
  EXPECT_THAT(keys.partition(0).explicit_keys, ElementsAre(Key(1, 35)));
}

}  // namespace
}  // namespace tidemark::model
