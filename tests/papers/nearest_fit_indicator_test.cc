#include "master/forecast/papers/nearest_fit_indicator.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/master/events.h"

namespace tidemark::papers {
namespace {

using model::ReducePhaseForecast;
using test::At;
using test::Emitted;
using test::Ended;
using test::Finished;
using test::Job;
using test::Key;
using test::M;
using test::Opened;
using test::Partition;
using test::Point;
using test::R;
using test::Reduced;
using test::ReducedNamed;
using test::Shuffled;
using test::Started;

// Reduce tasks with these partitions; all begin to reduce at 10 s.
Job Reducing(std::vector<PartitionProfile> partitions) {
  Job job;
  const auto reduces = static_cast<std::uint32_t>(partitions.size());
  EXPECT_TRUE(job.Say(0, Opened(1, reduces)).ok());
  EXPECT_TRUE(job.Say(8, Emitted(M(0), std::move(partitions))).ok());
  EXPECT_TRUE(job.Say(8, Finished(M(0))).ok());
  for (std::uint32_t i = 0; i < reduces; ++i) {
    EXPECT_TRUE(job.Say(8, Started(R(i))).ok());
    EXPECT_TRUE(job.Say(10, Shuffled(R(i))).ok());
  }
  return job;
}

ReducePhaseForecast Estimate(const Job& job, double now) {
  return NearestFitIndicator().Estimate(job.state, At(now));
}

double EndOf(const ReducePhaseForecast& forecast) {
  return absl::ToDoubleSeconds(forecast.ends_at.value() - At(0));
}

// Three explicit keys of about 1000 bytes; the first took 2 s until 12 s.
Job OneOfThreeDone() {
  Job job = Reducing({Partition(0, 3010, {Key(1, 1000), Key(2, 1010), Key(3, 1000)})});
  EXPECT_TRUE(job.Say(12, ReducedNamed(R(0), At(12), {Key(1, 1000)}, 2)).ok());
  return job;
}

TEST(NearestFitIndicator, SaysNothingBeforeTheFirstGroupEnds) {
  EXPECT_FALSE(Estimate(Reducing({Partition(0, 1000)}), 11).ends_at.has_value());
}

TEST(NearestFitIndicator, SaysNothingWhileSizesAreUnknown) {
  Job job;
  EXPECT_TRUE(job.Say(0, Opened(1, 1)).ok());
  EXPECT_TRUE(job.Say(12, Reduced(R(0), At(12), {Point(1000, 2)})).ok());
  EXPECT_FALSE(Estimate(job, 12).ends_at.has_value());
}

TEST(NearestFitIndicator, SaysNothingOfAJobWithoutReduceTasksSoFar) {
  Job job;
  EXPECT_TRUE(job.Say(0, Opened()).ok());
  EXPECT_TRUE(job.Say(1, Finished(M(0))).ok());
  EXPECT_TRUE(job.Say(1, Emitted(M(0), {Partition(0, 10)})).ok());
  EXPECT_FALSE(Estimate(job, 2).ends_at.has_value());
}

TEST(NearestFitIndicator, AddsUpWhatItsNeighboursSayOfEachExplicitKeyLeft) {
  EXPECT_NEAR(EndOf(Estimate(OneOfThreeDone(), 12)), 12 + 2 + 2, 1e-6);
}

TEST(NearestFitIndicator, DescribesWhatATaskHasLeft) {
  const ReducePhaseForecast forecast = Estimate(OneOfThreeDone(), 12);
  ASSERT_EQ(forecast.tasks.size(), 1u);
  EXPECT_EQ(forecast.tasks[0].index, 0u);
  EXPECT_EQ(forecast.tasks[0].explicit_groups_left, 2u);
  EXPECT_EQ(forecast.tasks[0].heaviest, Key(2, 1010));
  EXPECT_NEAR(absl::ToDoubleSeconds(forecast.tasks[0].heaviest_time), 2, 1e-6);
  EXPECT_NEAR(absl::ToDoubleSeconds(forecast.tasks[0].reduce_time_left), 4, 1e-6);
}

TEST(NearestFitIndicator, TheTaskThatEndsLastDecides) {
  Job job = Reducing({Partition(0, 2000, {Key(1, 1000), Key(2, 1000)}),
                      Partition(1, 3000, {Key(3, 1000), Key(4, 1000), Key(5, 1000)})});
  EXPECT_TRUE(job.Say(15, ReducedNamed(R(0), At(15), {Key(1, 1000)}, 5)).ok());
  EXPECT_TRUE(job.Say(15, ReducedNamed(R(1), At(12), {Key(3, 1000)}, 2)).ok());
  EXPECT_NEAR(EndOf(Estimate(job, 15)), 15 + 5, 1e-6);
}

// 100-byte key groups take 1 s; 500 implicit bytes are left.
TEST(NearestFitIndicator, SplitsImplicitBytesLikeTheImplicitGroupsThatFinished) {
  Job job = Reducing({Partition(0, 800)});
  EXPECT_TRUE(job.Say(13, Reduced(R(0), At(13), {Point(100, 1, 3)})).ok());
  EXPECT_NEAR(EndOf(Estimate(job, 13)), 13 + 5, 1e-6);
}

// Explicit groups are slow, implicit ones quick; what is left is implicit.
TEST(NearestFitIndicator, ExplicitGroupsSayNothingOfImplicitBytes) {
  Job job = Reducing({Partition(0, 5800, {Key(1, 5000)})});
  ReduceProfile profile = Reduced(R(0), At(63), {Point(5000, 50), Point(100, 1, 3)});
  profile.keys_named = true;
  profile.finished_keys = {Ended(Key(1, 5000))};
  EXPECT_TRUE(job.Say(63, profile).ok());
  EXPECT_NEAR(EndOf(Estimate(job, 63)), 63 + 5, 1e-6);
}

// Without a finished implicit group the lightest explicit key stands in: 2000 / 1000 groups of 2 s.
TEST(NearestFitIndicator, BeforeAnImplicitGroupEndsTheLightestExplicitOneStandsIn) {
  Job job = Reducing({Partition(0, 4000, {Key(1, 1000), Key(2, 1000)})});
  EXPECT_TRUE(job.Say(12, ReducedNamed(R(0), At(12), {Key(1, 1000)}, 2)).ok());
  EXPECT_NEAR(EndOf(Estimate(job, 12)), 12 + 2 + 4, 1e-6);
}

TEST(NearestFitIndicator, KnowsThatItRestsOnNeighboursOfTheSameTask) {
  EXPECT_EQ(Estimate(OneOfThreeDone(), 12).evidence, Evidence{.own_neighbours = 1});
}

TEST(NearestFitIndicator, KnowsThatItRestsOnNeighboursOfAnotherTask) {
  Job job = Reducing({Partition(0, 1000, {Key(1, 1000)}), Partition(1, 1000, {Key(2, 1000)})});
  EXPECT_TRUE(job.Say(12, ReducedNamed(R(0), At(12), {Key(1, 1000)}, 2)).ok());
  EXPECT_EQ(Estimate(job, 12).evidence, Evidence{.other_neighbours = 1});
}

// One size makes no curve: 2 s for 1000 bytes is all that is known of 3000.
TEST(NearestFitIndicator, KnowsThatItRestsOnAPlainRatio) {
  Job job = Reducing({Partition(0, 4000, {Key(1, 1000), Key(2, 3000)})});
  EXPECT_TRUE(job.Say(12, ReducedNamed(R(0), At(12), {Key(1, 1000)}, 2)).ok());
  const ReducePhaseForecast forecast = Estimate(job, 12);
  EXPECT_NEAR(EndOf(forecast), 12 + 6, 1e-6);
  EXPECT_EQ(forecast.evidence, Evidence{.ratio = 1});
}

TEST(NearestFitIndicator, SharesOfTheEvidenceAreByPredictedTime) {
  Job job = Reducing({Partition(0, 5000, {Key(1, 1000), Key(2, 1000), Key(3, 3000)})});
  EXPECT_TRUE(job.Say(12, ReducedNamed(R(0), At(12), {Key(1, 1000)}, 2)).ok());
  const Evidence evidence = Estimate(job, 12).evidence.value();
  EXPECT_DOUBLE_EQ(evidence.own_neighbours, 0.25);  // 2 s of 8 s
  EXPECT_DOUBLE_EQ(evidence.ratio, 0.75);
}

// The running group was to take 2 s but runs on; another of 2 s comes after it.
TEST(NearestFitIndicator, WhatComesAfterTheRunningGroupIsStillToCome) {
  Job job = OneOfThreeDone();
  ReduceProfile profile = ReducedNamed(R(0), At(12), {}, 0);
  profile.running_group = RunningGroup{.key = KeyHash{2}};
  EXPECT_TRUE(job.Say(100, profile).ok());
  EXPECT_NEAR(EndOf(Estimate(job, 101)), 100 + 2, 1e-6);
}

TEST(NearestFitIndicator, ARunningGroupWithoutANameBoundsNothing) {
  Job job = OneOfThreeDone();
  ReduceProfile profile = ReducedNamed(R(0), At(12), {}, 0);
  profile.running_group = RunningGroup{};
  EXPECT_TRUE(job.Say(100, profile).ok());
  EXPECT_NEAR(EndOf(Estimate(job, 101)), 16, 1e-6);
}

TEST(NearestFitIndicator, TheIntervalHoldsTheEnd) {
  Job job = Reducing({Partition(0, 101'000'000)});
  EXPECT_TRUE(job.Say(10, Reduced(R(0), At(10), {Point(1000, 0.001, 1000)})).ok());
  const ReducePhaseForecast forecast = Estimate(job, 10);  // 100,000 groups of 1 ms are left
  EXPECT_NEAR(EndOf(forecast), 110, 1e-6);
  EXPECT_LE(*forecast.ends_at_lower, *forecast.ends_at);
  EXPECT_GE(*forecast.ends_at_upper, *forecast.ends_at);
}

TEST(NearestFitIndicator, AfterTheLastTaskTheEndIsKnown) {
  Job job = OneOfThreeDone();
  EXPECT_TRUE(job.Say(20, Finished(R(0))).ok());
  const ReducePhaseForecast forecast = Estimate(job, 30);
  EXPECT_EQ(forecast.ends_at, At(20));
  EXPECT_TRUE(forecast.tasks.empty());
}

TEST(NearestFitIndicator, FollowsAJobWhoseTasksAreLearntOneByOne) {
  Job job;
  NearestFitIndicator indicator;
  EXPECT_TRUE(job.Say(0, Opened(1)).ok());
  EXPECT_TRUE(job.Say(8, Emitted(M(0), {Partition(0, 2000), Partition(3, 2000)})).ok());
  EXPECT_TRUE(job.Say(8, Finished(M(0))).ok());
  EXPECT_TRUE(job.Say(9, Started(R(0))).ok());
  EXPECT_TRUE(job.Say(12, Reduced(R(0), At(12), {Point(1000, 2)})).ok());
  EXPECT_NEAR(EndOf(indicator.Estimate(job.state, At(12))), 14, 1e-6);
  EXPECT_TRUE(job.Say(13, Started(R(3))).ok());
  EXPECT_NEAR(EndOf(indicator.Estimate(job.state, At(13))), 13 + 4, 1e-6);
}

}  // namespace
}  // namespace tidemark::papers
