#include "bench/accuracy/workload.h"

#include <numeric>

#include "tests/bench/some_costs.h"
#include "tests/test.h"

namespace tidemark::bench::workload_test {
namespace {

constexpr std::uint32_t kGroups = 1000;

double SumOf(std::span<const float> seconds) {
  return std::accumulate(seconds.begin(), seconds.end(), 0.0);
}

TEST(Workload, HasEveryGroupOnceInTheOrderOfTheLog) {
  const auto workload = MakeWorkload(SomeCosts(kGroups), {.slots = 4, .reduce_tasks = 8});
  ASSERT_TRUE(workload.ok());
  ASSERT_EQ(workload->task_count(), 8u);
  std::vector<std::uint32_t> all;
  for (std::size_t task = 0; task < 8; ++task) {
    const auto groups = workload->GroupsOf(task);
    EXPECT_TRUE(std::is_sorted(groups.begin(), groups.end()));
    for (const std::uint32_t group : groups) EXPECT_EQ(workload->partitions[group], task);
    all.insert(all.end(), groups.begin(), groups.end());
  }
  std::sort(all.begin(), all.end());
  ASSERT_EQ(all.size(), kGroups);
  for (std::uint32_t i = 0; i < kGroups; ++i) EXPECT_EQ(all[i], i);
}

TEST(Workload, HasTheRequestedLength) {
  const auto workload =
      MakeWorkload(SomeCosts(kGroups), {.slots = 8, .reduce_tasks = 8, .phase_seconds = 100});
  ASSERT_TRUE(workload.ok());
  double longest = 0;
  for (std::size_t task = 0; task < 8; ++task) {
    longest = std::max(longest, SumOf(workload->ExpectedSecondsOf(task)));
  }
  EXPECT_NEAR(longest, 100, 1e-3);
}

TEST(Workload, UsesOneOfTheTimesOfEachGroup) {
  const CostLog log = SomeCosts(kGroups);
  const auto workload = MakeWorkload(log, {.slots = 1, .reduce_tasks = 1});
  ASSERT_TRUE(workload.ok());
  std::vector<int> taken(4, 0);
  for (std::size_t i = 0; i < kGroups; ++i) {
    // The mean is twice the first time.
    ++taken[std::lround(2 * workload->seconds[i] / workload->expected_seconds[i])];
  }
  EXPECT_EQ(taken[0], 0);
  for (const int time : {1, 2, 3}) EXPECT_GT(taken[time], kGroups / 4);
}

TEST(Workload, DependsOnlyOnItsSeed) {
  const CostLog log = SomeCosts(kGroups);
  const auto first = MakeWorkload(log, {.seed = 1});
  const auto again = MakeWorkload(log, {.seed = 1});
  const auto other = MakeWorkload(log, {.seed = 2});
  EXPECT_EQ(first->partitions, again->partitions);
  EXPECT_EQ(first->seconds, again->seconds);
  EXPECT_NE(first->partitions, other->partitions);
  EXPECT_NE(first->seconds, other->seconds);
}

TEST(Workload, UsesTheJobsPartitioner) {
  CostLog log = SomeCosts(4);
  log.partitions[2] = {1, 1, 0, 1};
  const auto workload = MakeWorkload(log, {.slots = 2, .reduce_tasks = 2});
  ASSERT_TRUE(workload.ok());
  EXPECT_THAT(workload->GroupsOf(0), ElementsAre(2));
  EXPECT_THAT(workload->GroupsOf(1), ElementsAre(0, 1, 3));
  EXPECT_TRUE(absl::IsInvalidArgument(MakeWorkload(log, {.slots = 3, .reduce_tasks = 3}).status()));
}

TEST(Workload, AnEmptyWorkloadIsRejected) {
  EXPECT_TRUE(absl::IsInvalidArgument(MakeWorkload({}, {}).status()));
}

}  // namespace
}  // namespace tidemark::bench::workload_test
