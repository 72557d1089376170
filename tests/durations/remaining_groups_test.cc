#include "master/forecast/durations/remaining_groups.h"

#include "master/facts/fold.h"
#include "master/forecast/durations/sampled_groups.h"
#include "streaming/key_sample.h"
#include "tests/facts/events.h"
#include "tests/test.h"

namespace tidemark::durations::remaining_groups_test {
namespace {

// A job with one reduce task and four map tasks, of which two send a profile.
class RemainingGroupsTest : public testing::Test {
 protected:
  RemainingGroupsTest() {
    Fold(test::Opened(4, 1));
    for (std::uint32_t i = 0; i < 4; ++i) Fold(test::Started(M(i)));
  }
  void Fold(EventBody body) {
    EXPECT_TRUE(facts::Apply(source_.At(1, std::move(body)), {}, state_).ok());
  }
  void End(std::uint32_t map_task, const std::vector<ExplicitKey>& keys) {
    std::uint64_t bytes = 0;
    for (const ExplicitKey& key : keys) bytes += key.size_bytes;
    Fold(test::Emitted(M(map_task), {test::Partition(0, bytes, keys)}));
    Fold(test::Finished(M(map_task)));
  }
  const TaskLoad& Load() {
    SampledGroups sampled;
    sampled.Update(state_);
    groups_.Update(state_, CostFeature::kBytes, sampled);
    return groups_.task(0);
  }

  facts::JobRecord state_{10};
  test::Source source_{"app-master"};
  RemainingGroups groups_;
};

TEST_F(RemainingGroupsTest, CountsEachKeyOnceWithAllProfiles) {
  for (std::uint32_t i = 0; i < 4; ++i) End(i, {Key(1, 100), Key(10 + i, 100)});
  EXPECT_DOUBLE_EQ(Load().explicit_count, 5);
  EXPECT_DOUBLE_EQ(Load().explicit_bytes, 800);
}

// With twice the profiles, there are twice the bytes. The key that both map tasks reported is twice
// as large. There are twice as many keys that only one map task reported.
TEST_F(RemainingGroupsTest, KeepsTheSizeOfAKeyOfOneMapTaskDespiteLostProfiles) {
  End(0, {Key(1, 100), Key(2, 50)});
  End(1, {Key(1, 100)});
  Fold(test::Finished(M(2)));
  Fold(test::Finished(M(3)));
  EXPECT_DOUBLE_EQ(Load().explicit_count, 1 + 2);
  EXPECT_DOUBLE_EQ(Load().explicit_bytes, 400 + 2 * 50);
}

TEST_F(RemainingGroupsTest, NoticesProfilesLostAfterTheLastOne) {
  End(0, {Key(1, 100), Key(2, 50)});
  End(1, {Key(1, 100)});
  EXPECT_DOUBLE_EQ(Load().explicit_bytes, 250);
  Fold(test::Finished(M(2)));
  Fold(test::Finished(M(3)));
  EXPECT_DOUBLE_EQ(Load().explicit_count, 1 + 2);
  EXPECT_DOUBLE_EQ(Load().explicit_bytes, 400 + 2 * 50);
}

// If the number of reduce tasks is unknown, a task that starts after the last profile has its keys
// like any other task.
TEST(RemainingGroups, HasTheKeysOfATaskThatReportsLast) {
  facts::JobRecord state{10};
  test::Source source{"app-master"};
  const auto fold = [&](EventBody body) {
    ASSERT_TRUE(facts::Apply(source.At(1, std::move(body)), {}, state).ok());
  };
  fold(test::Opened(1));
  fold(test::Started(M(0)));
  fold(test::Emitted(
      M(0), {test::Partition(0, 100, {Key(1, 100)}), test::Partition(1, 700, {Key(2, 700)})}));
  fold(test::Finished(M(0)));
  fold(test::Started(test::R(0)));
  RemainingGroups groups;
  const auto update = [&] {
    SampledGroups sampled;
    sampled.Update(state);
    groups.Update(state, CostFeature::kBytes, sampled);
  };
  update();
  ASSERT_EQ(groups.task_count(), 1u);
  fold(test::Started(test::R(1)));
  update();
  ASSERT_EQ(groups.task_count(), 2u);
  EXPECT_DOUBLE_EQ(groups.task(1).explicit_bytes, 700);
  EXPECT_DOUBLE_EQ(groups.task(1).implicit_bytes, 0);
}

// Each of two map tasks reports one key, and has further keys with fewer bytes. The other task may
// have 400 more bytes of the key of 100 bytes, and 100 more bytes of the key of 400 bytes. The
// first key is sampled, and the other task had 30 bytes of it.
class PartlyNamedKeysTest : public RemainingGroupsTest {
 protected:
  PartlyNamedKeysTest() {
    std::uint64_t sampled = 1;
    std::uint64_t other = 2;
    if (streaming::SampleRank(KeyHash{sampled}) > streaming::SampleRank(KeyHash{other})) {
      std::swap(sampled, other);
    }
    PartitionProfile first = test::Partition(0, 1000, {Key(sampled, 100)});
    PartitionProfile second = test::Partition(0, 1000, {Key(other, 400)});
    first.implicit_key_count = second.implicit_key_count = 9;
    second.sampled_keys = {Key(sampled, 30)};
    for (MapProfile profile : {test::Emitted(M(0), {first}), test::Emitted(M(1), {second})}) {
      profile.sampled_below = streaming::SampleRank(KeyHash{other});
      Fold(profile);
      Fold(test::Finished(profile.attempt));
    }
  }
  // The mean slack is 50, since the sampled key is fully known.
  static constexpr double kPartOfAll = (30 + 150 * 0.5) / (400 + 150);
  static constexpr double kPartOfFirst = (30 + 150 * kPartOfAll) / (400 + 150);
  static constexpr double kExpected =
      100 + 400 * kPartOfFirst;  // The part of the sampled key if it were not sampled.
};

TEST_F(PartlyNamedKeysTest, EstimatesTheSlackBySampledKeys) {
  const TaskLoad& load = Load();
  EXPECT_DOUBLE_EQ(load.explicit_count, 2);
  EXPECT_DOUBLE_EQ(load.explicit_bytes, 130 + (400 + 100 * kPartOfAll));
}

// One ratio is combined with a prior of three ratios of 1.
TEST_F(PartlyNamedKeysTest, CorrectsAndSpreadsByTheErrorsOfSampledKeys) {
  Load();
  const double ratio = 130 / kExpected;
  const BinLoad bin = {.bin = FeatureBin(kExpected), .count = 2, .bytes = 2 * kExpected};
  EXPECT_DOUBLE_EQ(groups_.BinCorrection(bin), (3 + ratio) / 4);
  const BinLoad spread = groups_.Spread(bin);
  const double variance = std::log(4 * (3 + ratio * ratio) / ((3 + ratio) * (3 + ratio)));
  EXPECT_NEAR(spread.log_sum, -2 * variance / 2, 1e-12);
  EXPECT_NEAR(spread.log_square_sum, 2 * variance, 1e-12);
  EXPECT_EQ(spread.bytes, bin.bytes);
  EXPECT_EQ(spread.count, bin.count);
}

TEST_F(RemainingGroupsTest, DoesNotSpreadKnownSizes) {
  End(0, {Key(1, 100)});
  Load();
  const BinLoad bin = {.bin = FeatureBin(100), .count = 1, .bytes = 100};
  EXPECT_EQ(groups_.Spread(bin).log_square_sum, 0);
  EXPECT_EQ(groups_.Spread(bin).log_sum, 0);
}

}  // namespace
}  // namespace tidemark::durations::remaining_groups_test
