#include "master/service/shares.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "tidemark/limit.h"

namespace tidemark::service {
namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;

// So many running jobs as `reporter` is given.
std::vector<Shares::Holding> AllJobsOf(Shares& shares, const std::string& reporter) {
  std::vector<Shares::Holding> held;
  while (true) {
    Shares::Holding next = shares.Of(reporter);
    if (!next.Take(Resource::kJobs, 1).ok()) return held;
    held.push_back(std::move(next));
  }
}

TEST(Shares, WhoTakesAllItCanLeavesSomethingForEveryNext) {
  Shares shares({.percent = 80, .jobs_max = 1000});
  const auto first = AllJobsOf(shares, "a");
  EXPECT_EQ(first.size(), 800u);
  const auto second = AllJobsOf(shares, "b");
  EXPECT_EQ(second.size(), 160u);
  const auto third = AllJobsOf(shares, "c");
  EXPECT_EQ(third.size(), 32u);
}

TEST(Shares, AFewPlacesAreGivenToTheLastToWhoeverAsks) {
  for (const std::size_t places : {1, 2, 3, 4}) {
    Shares shares({.percent = 80, .jobs_max = places});
    EXPECT_EQ(AllJobsOf(shares, "a").size(), places);
  }
}

TEST(Shares, OfFewPlacesASmallShareIsOneAtLeast) {
  Shares shares({.percent = 1, .jobs_max = 2});
  const auto first = AllJobsOf(shares, "a");
  EXPECT_EQ(first.size(), 1u);
  const auto second = AllJobsOf(shares, "b");
  EXPECT_EQ(second.size(), 1u);
  EXPECT_EQ(AllJobsOf(shares, "c").size(), 0u) << "there are no more";
}

TEST(Shares, AHundredPercentLimitNobody) {
  Shares shares({.percent = 100, .state_bytes_max = 10});
  Shares::Holding held = shares.Of("a");
  EXPECT_TRUE(held.Take(Resource::kStateBytes, 1000 * kMiB).ok());
}

TEST(Shares, WhatIsGivenBackMayBeTakenAgain) {
  Shares shares({.percent = 80, .jobs_max = 1000});
  auto all = AllJobsOf(shares, "a");
  all.pop_back();
  Shares::Holding one = shares.Of("a");
  EXPECT_TRUE(one.Take(Resource::kJobs, 1).ok());
  EXPECT_FALSE(shares.Of("a").Take(Resource::kJobs, 1).ok());
  one.Hold(Resource::kJobs, 0);
  EXPECT_TRUE(shares.Of("a").Take(Resource::kJobs, 1).ok());
}

TEST(Shares, ARefusalNamesTheLimitAndTakesNothing) {
  Shares shares({.percent = 50, .state_bytes_max = 300 * kMiB, .bytes_min = 0});
  Shares::Holding held = shares.Of("a");
  const absl::Status refused = held.Take(Resource::kStateBytes, 301 * kMiB);
  EXPECT_TRUE(absl::IsResourceExhausted(refused));
  EXPECT_EQ(ExceededLimit(refused), "share_percent");
  EXPECT_EQ(held.held(Resource::kStateBytes), 0u);
  EXPECT_TRUE(held.Take(Resource::kStateBytes, 300 * kMiB).ok());
}

TEST(Shares, OfTheDiskEverybodyMayTakeALittleAndTheRestByWhatIsLeft) {
  Shares shares({.percent = 80});
  Shares::Holding hog = shares.Of("hog");
  EXPECT_TRUE(hog.Take(Resource::kDiskBytes, 700 * kMiB).ok()) << "nobody has looked yet";
  shares.SetFree(Resource::kDiskBytes, 175 * kMiB);
  EXPECT_TRUE(hog.Take(Resource::kDiskBytes, 0).ok());
  EXPECT_FALSE(hog.Take(Resource::kDiskBytes, kMiB).ok()) << "four times as much as is left";
  EXPECT_TRUE(hog.Take(Resource::kDiskBytes, kMiB, /*slack=*/1).ok());
  Shares::Holding other = shares.Of("other");
  EXPECT_TRUE(other.Take(Resource::kDiskBytes, 100 * kMiB).ok());
  shares.SetFree(Resource::kDiskBytes, 0);
  EXPECT_FALSE(other.Take(Resource::kDiskBytes, 1).ok());
  EXPECT_TRUE(shares.Of("third").Take(Resource::kDiskBytes, 64 * kMiB).ok())
      << "a disk that is full makes wait, it refuses nothing to those who have little";
}

TEST(Shares, WhatWasTakenSinceSomebodyLookedIsNotLeftAnyMore) {
  Shares shares({.percent = 50, .bytes_min = 0});
  shares.SetFree(Resource::kDiskBytes, 100);
  Shares::Holding held = shares.Of("a");
  EXPECT_TRUE(held.Take(Resource::kDiskBytes, 50).ok());
  EXPECT_TRUE(held.Take(Resource::kDiskBytes, 0).ok());
  EXPECT_FALSE(held.Take(Resource::kDiskBytes, 1).ok());
}

TEST(Shares, AnEndIsTakenWhateverIsLeft) {
  Shares shares({.percent = 80, .bytes_min = 0});
  shares.SetFree(Resource::kDiskBytes, 0);
  Shares::Holding held = shares.Of("a");
  EXPECT_FALSE(held.Take(Resource::kDiskBytes, 100).ok());
  held.Hold(Resource::kDiskBytes, 1000 * kMiB);
  EXPECT_FALSE(held.Take(Resource::kDiskBytes, 100, /*slack=*/1).ok());
  EXPECT_TRUE(held.Take(Resource::kDiskBytes, 100, /*slack=*/16).ok());
}

}  // namespace
}  // namespace tidemark::service
