#include "master/forecast/placement/allocation.h"

#include "tests/test.h"

namespace tidemark::placement::allocation_test {
namespace {

constexpr double kGiB = 1024.0 * 1024 * 1024;

std::vector<std::uint64_t> Degrees(const Cluster& cluster, const std::vector<Claim>& claims) {
  absl::StatusOr<std::vector<std::uint64_t>> degrees = DegreesOfParallelism(cluster, claims);
  EXPECT_TRUE(degrees.ok()) << degrees.status();
  return degrees.value_or(std::vector<std::uint64_t>{});
}

Cluster Slots(double slots, Policy policy) {
  return {.capacity = {.cores = slots}, .policy = policy};
}
Claim Tasks(std::uint64_t wanted) { return {.container = {.cores = 1}, .wanted = wanted}; }

TEST(Allocation, FifoServesTheFirstClaimInFull) {
  EXPECT_THAT(Degrees(Slots(10, Policy::kFifo), {Tasks(7), Tasks(7), Tasks(7)}),
              ElementsAre(7, 3, 0));
}

// There are 10 slots. The small claim gets its 2 slots, and the other claims share 8.
TEST(Allocation, FairServesSmallClaimsInFullAndSharesTheRest) {
  EXPECT_THAT(Degrees(Slots(10, Policy::kFair), {Tasks(9), Tasks(2), Tasks(9)}),
              ElementsAre(4, 2, 4));
}

TEST(Allocation, FairGivesTheOddContainerToTheEarliestClaim) {
  EXPECT_THAT(Degrees(Slots(5, Policy::kFair), {Tasks(9), Tasks(9)}), ElementsAre(3, 2));
}

// This is the example of the DRF paper, with 9 cores, 18 GiB, and claims of <1 core, 4 GiB> and <3
// cores, 1 GiB>. Shares are equal at 3 x 4/18 = 2 x 3/9 = 2/3.
TEST(Allocation, DrfEvensOutDominantShares) {
  const Cluster cluster = {.capacity = {.cores = 9, .memory_bytes = 18 * kGiB},
                           .policy = Policy::kDrf};
  EXPECT_THAT(Degrees(cluster, {{.container = {1, 4 * kGiB}, .wanted = 100},
                                {.container = {3, 1 * kGiB}, .wanted = 100}}),
              ElementsAre(3, 2));
}

// In [BOE] Figure 7, a cluster has 12 GB, and map containers take 2 GB. Three jobs have two
// containers each. If one of them instead has reduce containers of 4 GB, it has one container, and
// the other jobs still have two.
TEST(Allocation, DrfGivesFewerContainersToTheClaimWithLargerOnes) {
  const Cluster cluster = {.capacity = {.memory_bytes = 12 * kGiB}, .policy = Policy::kDrf};
  const Claim map = {.container = {.memory_bytes = 2 * kGiB}, .wanted = 50};
  const Claim reduce = {.container = {.memory_bytes = 4 * kGiB}, .wanted = 50};
  EXPECT_THAT(Degrees(cluster, {map, map, map}), ElementsAre(2, 2, 2));
  EXPECT_THAT(Degrees(cluster, {map, reduce, map}), ElementsAre(2, 1, 2));
}

// The queues have shares of 3 : 1 of 8 slots. Within a queue, the earlier claim is served first.
TEST(Allocation, CapacityQueuesKeepTheirSharesAndServeTheirClaimsInOrder) {
  Cluster cluster = Slots(8, Policy::kCapacity);
  cluster.queue_shares = {3, 1};
  std::vector<Claim> claims = {Tasks(4), Tasks(9), Tasks(9)};
  claims[2].queue = 1;
  EXPECT_THAT(Degrees(cluster, claims), ElementsAre(4, 2, 2));
}

TEST(Allocation, AnIdleQueueLendsItsShare) {
  Cluster cluster = Slots(8, Policy::kCapacity);
  cluster.queue_shares = {3, 1};
  std::vector<Claim> claims = {Tasks(2), Tasks(9)};
  claims[1].queue = 1;
  EXPECT_THAT(Degrees(cluster, claims), ElementsAre(2, 6));
}

// Two stages of owner 0 count as one claim against owner 1. The earlier stage is served first.
TEST(Allocation, ClaimsOfOneOwnerTakeTurnsAsOne) {
  std::vector<Claim> claims = {Tasks(3), Tasks(9), Tasks(9)};
  claims[0].owner = claims[1].owner = 0;
  claims[2].owner = 1;
  EXPECT_THAT(Degrees(Slots(8, Policy::kFair), claims), ElementsAre(3, 1, 4));
  EXPECT_THAT(Degrees(Slots(8, Policy::kDrf), claims), ElementsAre(3, 1, 4));
}

TEST(Allocation, NeverTakesBackRunningContainers) {
  std::vector<Claim> claims = {Tasks(9), Tasks(9)};
  claims[0].running = 6;
  EXPECT_THAT(Degrees(Slots(8, Policy::kFair), claims), ElementsAre(6, 2));
}

TEST(Allocation, ToleratesTheRoundingOfManyAdditions) {
  const Cluster cluster = {.capacity = {.cores = 1}, .policy = Policy::kFair};
  EXPECT_THAT(Degrees(cluster, {{.container = {.cores = 0.1}, .wanted = 100}}), ElementsAre(10));
}

TEST(Allocation, RejectsInvalidInput) {
  const auto error = [](const Cluster& cluster, const Claim& claim) {
    return std::string(DegreesOfParallelism(cluster, std::vector{claim}).status().message());
  };
  EXPECT_THAT(error(Slots(2, Policy::kFair), {.container = {.cores = 3}, .wanted = 1}),
              HasSubstr("larger than the cluster"));
  EXPECT_THAT(error(Slots(2, Policy::kFair), {.wanted = 1}), HasSubstr("needs cores or memory"));
  EXPECT_THAT(error(Slots(2, Policy::kFair), {.container = {.cores = -1}, .wanted = 1}),
              HasSubstr("not negative"));
  EXPECT_THAT(error(Slots(2, Policy::kCapacity), Tasks(1)), HasSubstr("has no share"));
  EXPECT_THAT(error(Slots(NAN, Policy::kFair), Tasks(1)), HasSubstr("capacity"));
}

TEST(Allocation, IsEmptyWithoutClaimsAndZeroWithoutDemand) {
  EXPECT_TRUE(Degrees(Slots(2, Policy::kDrf), {}).empty());
  EXPECT_THAT(Degrees(Slots(2, Policy::kDrf), {Tasks(0)}), ElementsAre(0));
}

struct Drawn {
  Cluster cluster;
  std::vector<Claim> claims;
};

Drawn Draw(std::mt19937_64& random, Policy policy) {
  Drawn drawn = {.cluster = {.capacity = {8.0 + static_cast<double>(random() % 40),
                                          (16.0 + static_cast<double>(random() % 80)) * kGiB},
                             .policy = policy,
                             .queue_shares = {1, 2, 3}}};
  drawn.claims.resize(1 + random() % 6);
  for (Claim& claim : drawn.claims) {
    claim = {.container = {1.0 + static_cast<double>(random() % 4),
                           (1.0 + static_cast<double>(random() % 8)) * kGiB},
             .wanted = random() % 30,
             .queue = random() % 3};
  }
  return drawn;
}

Resources Used(const Drawn& drawn, const std::vector<std::uint64_t>& degrees) {
  Resources used;
  for (std::size_t i = 0; i < degrees.size(); ++i) {
    used = used + drawn.claims[i].container * static_cast<double>(degrees[i]);
  }
  return used;
}

class EveryPolicy : public ::testing::TestWithParam<Policy> {};

TEST_P(EveryPolicy, NeverExceedsOrWastesTheCapacity) {
  std::mt19937_64 random(6);
  for (int round = 0; round < 500; ++round) {
    const Drawn drawn = Draw(random, GetParam());
    const std::vector<std::uint64_t> degrees = Degrees(drawn.cluster, drawn.claims);
    const Resources used = Used(drawn, degrees);
    EXPECT_LE(used.cores, drawn.cluster.capacity.cores) << round;
    EXPECT_LE(used.memory_bytes, drawn.cluster.capacity.memory_bytes) << round;
    for (std::size_t i = 0; i < degrees.size(); ++i) {
      EXPECT_LE(degrees[i], drawn.claims[i].wanted) << round;
      EXPECT_TRUE(degrees[i] == drawn.claims[i].wanted ||
                  !Fits(drawn.claims[i].container, drawn.cluster.capacity - used))
          << round << ": claim " << i << " could have had more";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Allocation, EveryPolicy,
                         ::testing::Values(Policy::kFifo, Policy::kFair, Policy::kDrf,
                                           Policy::kCapacity));

// No claim that is not fully served envies another. If all containers are equal, it has at most one
// container fewer than any other claim.
TEST(Allocation, FairAndDrfAreEnvyFree) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 500; ++round) {
    Drawn drawn = Draw(random, round % 2 == 0 ? Policy::kFair : Policy::kDrf);
    for (Claim& claim : drawn.claims) claim.container = {.cores = 1, .memory_bytes = kGiB};
    const std::vector<std::uint64_t> degrees = Degrees(drawn.cluster, drawn.claims);
    for (std::size_t i = 0; i < degrees.size(); ++i) {
      if (degrees[i] == drawn.claims[i].wanted) continue;
      for (const std::uint64_t other : degrees) EXPECT_LE(other, degrees[i] + 1) << round;
    }
  }
}

// Equation 6 is satisfied up to one container. Consider a claim that could still grow when another
// claim got its last container. Its share was at least as large as the share that the other claim
// had before.
TEST(Allocation, DrfNeverServesTheLargerShareIfTheSmallerFits) {
  std::mt19937_64 random(8);
  for (int round = 0; round < 500; ++round) {
    const Drawn drawn = Draw(random, Policy::kDrf);
    const Resources& capacity = drawn.cluster.capacity;
    const std::vector<std::uint64_t> degrees = Degrees(drawn.cluster, drawn.claims);
    for (std::size_t i = 0; i < degrees.size(); ++i) {
      if (degrees[i] == drawn.claims[i].wanted) continue;
      const double mine =
          DominantShare(drawn.claims[i].container * static_cast<double>(degrees[i]), capacity);
      for (std::size_t j = 0; j < degrees.size(); ++j) {
        if (i == j || degrees[j] == 0) continue;
        // If j had one container fewer, i would fit. In that case, it was correct that j was served
        // first.
        const Resources free = capacity - Used(drawn, degrees) + drawn.claims[j].container;
        if (!Fits(drawn.claims[i].container, free)) continue;
        const double theirs = DominantShare(
            drawn.claims[j].container * static_cast<double>(degrees[j] - 1), capacity);
        EXPECT_LE(theirs, mine + 1e-12) << round;
      }
    }
  }
}

}  // namespace
}  // namespace tidemark::placement::allocation_test
