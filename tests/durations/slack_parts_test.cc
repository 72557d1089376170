#include "master/forecast/durations/slack_parts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace tidemark::cost {
namespace {

using ::testing::DoubleEq;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr double kMeanSlack = 100;  // so what is held to counts as 3 x 100 bytes
constexpr std::size_t kMapTasks = 2;

// `explicit_bytes` of it are known, of 100 bytes of slack it has some.
SampledGroup Sampled(std::size_t map_task, double explicit_bytes, double size_bytes) {
  return {.size_bytes = size_bytes,
          .explicit_bytes = explicit_bytes,
          .slack_bytes = 100,
          .map_task = map_task};
}

TEST(SlackParts, IsHalfOfTheSlackBeforeAnyKeyShowsIt) {
  EXPECT_THAT(SlackParts().Expect({}, kMapTasks, kMeanSlack, 1), ElementsAre(0.5, 0.5));
  EXPECT_THAT(SlackParts().Expect({}, 0, 0, 1), IsEmpty());
}

TEST(SlackParts, AFinishedKeyTellsMostOfThoseOfItsMapTask) {
  SlackParts parts;
  parts.Learn(0, 90, 100, 1);
  const double of_all = (90 + 300 * 0.5) / (100 + 300);  // 0.6
  EXPECT_THAT(parts.Expect({}, kMapTasks, kMeanSlack, 1),
              ElementsAre(DoubleEq((90 + 300 * of_all) / 400), DoubleEq(of_all)));
}

TEST(SlackParts, SampledKeysThatAreLeftCountOnTopOfFinishedOnes) {
  SlackParts parts;
  parts.Learn(0, 90, 100, 1);
  const std::vector<SampledGroup> left = {Sampled(0, 500, 510), Sampled(1, 200, 230)};
  const double of_all = (10 + 30 + 300 * 0.6) / (200 + 300);  // 0.44
  const double finished_of_0 = (90 + 300 * of_all) / 400;     // 0.555
  EXPECT_THAT(
      parts.Expect(left, kMapTasks, kMeanSlack, 1),
      ElementsAre(DoubleEq((10 + 300 * finished_of_0) / 400), DoubleEq((30 + 300 * of_all) / 400)));
}

// Two keys of 100 bytes, the later of twice the weight: 10 / 2 + 90 of 100 / 2 + 100 bytes.
TEST(SlackParts, WhatFinishedEarlierCountsByItsWeight) {
  SlackParts parts;
  parts.Learn(0, 10, 100, 1);
  parts.Learn(0, 90, 100, 2);
  const double of_all = (95 + 300 * 0.5) / (150 + 300);
  const std::vector<double> expected = parts.Expect({}, 1, kMeanSlack, 2);
  EXPECT_THAT(expected, ElementsAre(DoubleEq((95 + 300 * of_all) / 450)));
  parts.ScaleDown(2);
  EXPECT_EQ(parts.Expect({}, 1, kMeanSlack, 1), expected);
}

TEST(SlackParts, ManyKeysOfAMapTaskOutweighAllOthers) {
  SlackParts parts;
  for (int i = 0; i < 1000; ++i) {
    parts.Learn(0, 0, 100, 1);
    parts.Learn(1, 100, 100, 1);
  }
  const std::vector<double> expected = parts.Expect({}, kMapTasks, kMeanSlack, 1);
  EXPECT_NEAR(expected[0], 0, 0.002);
  EXPECT_NEAR(expected[1], 1, 0.002);
}

// More than all of its slack, as of a key that map tasks named in part only, or less than what is
// known of it.
TEST(SlackParts, StaysBetweenNoneAndAll) {
  const std::vector<SampledGroup> left = {Sampled(0, 100, 1e18), Sampled(1, 100, 1)};
  const double of_all = (100 + 300 * 0.5) / (200 + 300);
  EXPECT_THAT(SlackParts().Expect(left, kMapTasks, kMeanSlack, 1),
              ElementsAre(DoubleEq((100 + 300 * of_all) / 400), DoubleEq((300 * of_all) / 400)));
}

TEST(SlackParts, WithoutAnySlackIsAsExpected) {
  SlackParts parts;
  parts.Learn(0, 0, 0, 1);
  EXPECT_THAT(parts.Expect({}, 1, 0, 1), ElementsAre(0.5));
}

}  // namespace
}  // namespace tidemark::cost
