#include "master/forecast/durations/sampled_groups.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "streaming/key_sample.h"
#include "tests/facts/events.h"

namespace tidemark::durations::sampled_groups_test {
namespace {

using ::testing::DoubleEq;

TEST(RecentSizes, TheLastGroupsCountMost) {
  RecentSizes sizes;
  std::vector<GroupBin> finished = {{.bin = 40, .count = 100, .size_bytes = 10'000}};
  sizes.Update(finished, 90'000);
  finished.push_back({.bin = 20, .count = 1000, .size_bytes = 10'000});
  sizes.Update(finished, 80'000);
  ASSERT_EQ(sizes.bins().size(), 2u);
  EXPECT_EQ(sizes.bins()[0].bin, 20u);
  EXPECT_NEAR(sizes.bins()[0].bytes, 10'000, 1e-9);
  // Since then, a tenth of all bytes has passed, so the weight is one half.
  EXPECT_NEAR(sizes.bins()[1].bytes, 5'000, 1e-9);
}

TEST(RecentSizes, RemovedGroupsLeaveNoNegativeCounts) {
  RecentSizes sizes;
  sizes.Update(std::vector<GroupBin>{{.bin = 3, .count = 5, .size_bytes = 50}}, 100);
  sizes.Update(std::vector<GroupBin>{{.bin = 3, .count = 2, .size_bytes = 20}}, 100);
  for (const RecentSizes::Bin& bin : sizes.bins()) EXPECT_GE(bin.count, 0);
}

// One map task reports key 1 (600 bytes), and samples keys 2 and 3 (100 and 40 bytes). Another task
// samples 50 bytes of key 1 and 60 bytes of key 2.
facts::JobRecord TwoMapTasks(std::uint64_t sampled_below = streaming::kEveryRank) {
  facts::JobRecord state(10);
  test::Source app;
  const auto say = [&](double seconds, EventBody body) {
    EXPECT_TRUE(facts::Apply(app.At(seconds, std::move(body)), JobLimits(), state).ok());
  };
  say(0, Opened(2, 1));
  PartitionProfile first = Partition(0, 740, {Key(1, 600)});
  first.sampled_keys = {Key(2, 100), Key(3, 40)};
  PartitionProfile second = Partition(0, 110, {});
  second.sampled_keys = {Key(1, 50), Key(2, 60)};
  MapProfile one = Emitted(M(0), {first});
  MapProfile two = Emitted(M(1), {second});
  one.sampled_below = two.sampled_below = sampled_below;
  say(1, one);
  say(1, two);
  say(2, test::Finished(M(0)));
  say(2, test::Finished(M(1)));
  say(3, test::Shuffled(R(0)));
  return state;
}

double ImplicitBytes(const SampledGroups& groups) {
  double bytes = 0;
  for (const SampledGroups::Bin& bin : groups.ImplicitBins(0)) bytes += bin.sizes.bytes;
  return bytes;
}

TEST(SampledGroups, HasTheFullSizeOfPartlyReportedKeys) {
  SampledGroups groups;
  groups.Update(TwoMapTasks());
  ASSERT_TRUE(groups.has_sample());
  ASSERT_EQ(groups.explicit_groups().size(), 1u);
  EXPECT_EQ(groups.explicit_groups()[0].size_bytes, 650);
  EXPECT_EQ(groups.explicit_groups()[0].explicit_bytes, 600);
  EXPECT_EQ(groups.explicit_groups()[0].map_task, 0u);
  EXPECT_EQ(groups.implicit_count(), 2u);
  EXPECT_EQ(ImplicitBytes(groups), 200);
}

TEST(SampledGroups, ExcludesFinishedKeys) {
  facts::JobRecord state = TwoMapTasks();
  test::Source reducer("reducer");
  ReduceProfile profile{.attempt = R(0),
                        .groups_done = 2,
                        .bytes_done = 690,
                        .reduce_time = absl::Seconds(1),
                        .keys_named = true};
  profile.finished_keys = {{KeyHash{1}, 650, absl::Seconds(1)}, {KeyHash{3}, 40}};
  ASSERT_TRUE(facts::Apply(reducer.At(4, profile), JobLimits(), state).ok());
  SampledGroups groups;
  groups.Update(state);
  EXPECT_TRUE(groups.explicit_groups().empty());
  EXPECT_EQ(groups.implicit_count(), 1u);
  EXPECT_EQ(ImplicitBytes(groups), 160);
}

TEST(SampledGroups, NeedsSamplesOfEveryMapTask) {
  SampledGroups groups;
  groups.Update(TwoMapTasks(0));
  EXPECT_FALSE(groups.has_sample());
  EXPECT_EQ(groups.implicit_count(), 0u);
}

// Map task 0 reports 100 bytes of one key, which it samples by size. Map task 1 does not, so it may
// have emitted up to 50 bytes. The key represents 1 / p keys, each of 100 to 150 bytes.
TEST(SampledGroups, UsesThePartOfTheSlackThatExplainsAllBytes) {
  constexpr KeyHash kKey{3};
  const std::uint64_t rank = streaming::SampleRank(kKey);
  facts::JobRecord state(10);
  test::Source app;
  const auto say = [&](double seconds, EventBody body) {
    EXPECT_TRUE(facts::Apply(app.At(seconds, std::move(body)), JobLimits(), state).ok());
  };
  say(0, Opened(2, 1));
  PartitionProfile first = Partition(0, 740, {Key(1, 600)});
  first.sampled_keys = {Key(3, 100)};
  MapProfile one = Emitted(M(0), {first});
  MapProfile two = Emitted(M(1), {Partition(0, 110, {})});
  for (MapProfile* profile : {&one, &two}) {
    profile->sampled_below = rank / 2;
    profile->sampled_below_per_byte = rank / 50;
  }
  say(1, one);
  say(1, two);
  say(2, test::Finished(M(0)));
  say(2, test::Finished(M(1)));
  SampledGroups groups;
  groups.Update(state);
  ASSERT_EQ(groups.implicit_count(), 1u);
  const streaming::KeySample& sample = state.keys.sample();
  const double p = sample.ProbabilityOf(kKey, sample.keys().at(kKey));
  const auto bytes = [&](double implicit_bytes) {
    const std::vector<SampledGroups::Bin> bins = groups.ImplicitBins(implicit_bytes);
    EXPECT_EQ(bins.size(), 1u);
    EXPECT_NEAR(bins[0].sizes.count, 1, 1e-9);
    EXPECT_NEAR(bins[0].square_sum, 1 - p, 1e-9);
    return bins[0].sizes.bytes;
  };
  EXPECT_NEAR(bytes(90 / p), 100, 1e-6);
  EXPECT_NEAR(bytes(125 / p), 125, 1e-6);
  EXPECT_NEAR(bytes(900 / p), 150, 1e-6);
  EXPECT_NEAR(bytes(0), 100, 1e-6);
}

// The groups take 6 s for 40 bytes. Their times differ from 0.15 s per byte by -0.5 and 0.5 s.
TEST(SampledGroups, TheErrorCountsDistancesFromTheMeanTimePerByte) {
  const std::vector<SampledGroups::Bin> bins = {
      {.sizes = {.bin = 19, .count = 1, .bytes = 10}, .square_sum = 0.5},
      {.sizes = {.bin = 29, .count = 1, .bytes = 30}, .square_sum = 0.5}};
  const std::vector<double> seconds = {1, 5};
  EXPECT_DOUBLE_EQ(SampledGroups::ErrorPerByte(bins, seconds, 0.15), 0.5 / 40);
  const std::vector<double> proportional = {1, 3};
  EXPECT_NEAR(SampledGroups::ErrorPerByte(bins, proportional, 0.1), 0, 1e-12);
  EXPECT_EQ(SampledGroups::ErrorPerByte({}, {}, 0.1), 0);
}

constexpr double kMeanSlack = 100;  // so the prior corresponds to 3 x 100 bytes
constexpr std::size_t kMapTasks = 2;

// Returns a key with `explicit_bytes` known bytes, and an unknown part of 100 bytes of slack.
SampledGroup Sampled(std::size_t map_task, double explicit_bytes, double size_bytes) {
  return {.size_bytes = size_bytes,
          .explicit_bytes = explicit_bytes,
          .slack_bytes = 100,
          .map_task = map_task};
}

TEST(SlackParts, StartsAtHalfOfTheSlack) {
  EXPECT_THAT(SlackParts().Estimate({}, kMapTasks, kMeanSlack, 1), ElementsAre(0.5, 0.5));
  EXPECT_THAT(SlackParts().Estimate({}, 0, 0, 1), IsEmpty());
}

TEST(SlackParts, AFinishedKeyCountsMostForItsMapTask) {
  SlackParts parts;
  parts.Learn(0, 90, 100, 1);
  const double of_all = (90 + 300 * 0.5) / (100 + 300);  // 0.6
  EXPECT_THAT(parts.Estimate({}, kMapTasks, kMeanSlack, 1),
              ElementsAre(DoubleEq((90 + 300 * of_all) / 400), DoubleEq(of_all)));
}

TEST(SlackParts, RemainingSampledKeysCountInAdditionToFinishedOnes) {
  SlackParts parts;
  parts.Learn(0, 90, 100, 1);
  const std::vector<SampledGroup> left = {Sampled(0, 500, 510), Sampled(1, 200, 230)};
  const double of_all = (10 + 30 + 300 * 0.6) / (200 + 300);  // 0.44
  const double finished_of_0 = (90 + 300 * of_all) / 400;     // 0.555
  EXPECT_THAT(
      parts.Estimate(left, kMapTasks, kMeanSlack, 1),
      ElementsAre(DoubleEq((10 + 300 * finished_of_0) / 400), DoubleEq((30 + 300 * of_all) / 400)));
}

// Both keys have 100 bytes, and the later key has twice the weight: 10 / 2 + 90 of 100 / 2 + 100
// bytes.
TEST(SlackParts, EarlierKeysCountByTheirWeight) {
  SlackParts parts;
  parts.Learn(0, 10, 100, 1);
  parts.Learn(0, 90, 100, 2);
  const double of_all = (95 + 300 * 0.5) / (150 + 300);
  const std::vector<double> expected = parts.Estimate({}, 1, kMeanSlack, 2);
  EXPECT_THAT(expected, ElementsAre(DoubleEq((95 + 300 * of_all) / 450)));
  parts.ScaleDown(2);
  EXPECT_EQ(parts.Estimate({}, 1, kMeanSlack, 1), expected);
}

TEST(SlackParts, ManyKeysOfAMapTaskOutweighTheOthers) {
  SlackParts parts;
  for (int i = 0; i < 1000; ++i) {
    parts.Learn(0, 0, 100, 1);
    parts.Learn(1, 100, 100, 1);
  }
  const std::vector<double> expected = parts.Estimate({}, kMapTasks, kMeanSlack, 1);
  EXPECT_NEAR(expected[0], 0, 0.002);
  EXPECT_NEAR(expected[1], 1, 0.002);
}

// A key may exceed its slack if map tasks reported only a part of it. It may also have less than
// its known bytes.
TEST(SlackParts, StaysBetweenZeroAndOne) {
  const std::vector<SampledGroup> left = {Sampled(0, 100, 1e18), Sampled(1, 100, 1)};
  const double of_all = (100 + 300 * 0.5) / (200 + 300);
  EXPECT_THAT(SlackParts().Estimate(left, kMapTasks, kMeanSlack, 1),
              ElementsAre(DoubleEq((100 + 300 * of_all) / 400), DoubleEq((300 * of_all) / 400)));
}

TEST(SlackParts, IsThePriorWithoutSlack) {
  SlackParts parts;
  parts.Learn(0, 0, 0, 1);
  EXPECT_THAT(parts.Estimate({}, 1, 0, 1), ElementsAre(0.5));
}

}  // namespace
}  // namespace tidemark::durations::sampled_groups_test
