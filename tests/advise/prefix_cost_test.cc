#include "whatif/advise/prefix_cost.h"

#include "tests/advise/plans.h"
#include "tests/test.h"

namespace tidemark::advise::prefix_cost_test {
namespace {

// Indexes of operators in Condensing().
constexpr std::size_t kAggregate = 2;
constexpr std::size_t kProject = 6;
constexpr std::size_t kFilter = 7;

// All 100 s of stage 1 are below. Stage 2 takes 10 s with 20 s of tasks. A filter of 1000 records
// above takes at most 1 ms, so a share of at least 1 - 0.001 / 20 is saved.
TEST(PrefixCost, AddsStagesBelowAndAShareOfTheOwnStage) {
  const PastPlan plan = Condensing("app-1", 1000);
  const auto cost = PrefixCosts(plan).Of(kAggregate);
  ASSERT_TRUE(cost.ok()) << cost.status();
  EXPECT_DOUBLE_EQ(cost->seconds.upper, 110);
  EXPECT_DOUBLE_EQ(cost->seconds.expected, 100 + 10 * (1 - 0.0005 / 20));
  EXPECT_TRUE(cost->is_separable);
  EXPECT_DOUBLE_EQ(cost->path_seconds, cost->seconds.expected);  // a chain, according to equation 9
}

// Above the projection, stage 1 writes the shuffle, which takes 4 of 200 s of tasks. The partial
// aggregation of 1e5 records and the exchange of 2000 take at most 1 us per record. The share is
// therefore at most 0.98, and at least 0.98 - 0.102 / 200.
TEST(PrefixCost, SubtractsOperatorsAboveInTheSameStage) {
  const PastPlan plan = Condensing("app-1", 1000);
  const PrefixCosts costs(plan);
  const auto cost = costs.Of(kProject);
  ASSERT_TRUE(cost.ok());
  EXPECT_DOUBLE_EQ(cost->seconds.upper, 98);
  EXPECT_DOUBLE_EQ(cost->seconds.expected, 98 - 50 * 0.102 / 200);
  EXPECT_NEAR(cost->seconds.lower, 98 - 100 * 0.102 / 200, 0.03);
  EXPECT_EQ(costs.RecordsOf(kProject), 1e5);  // the number that the filter passes
}

TEST(PrefixCost, ReportsFunctionsOfTheProgramAbove) {
  PastPlan plan = Condensing("app-1", 1000);
  plan.operators[5].text = "HashAggregate(keys=[site#1], functions=[partial_myUDF(tone#2)])";
  const auto cost = PrefixCosts(plan).Of(kFilter);
  ASSERT_TRUE(cost.ok());
  EXPECT_FALSE(cost->is_separable);
  EXPECT_DOUBLE_EQ(cost->seconds.lower, 0);
  EXPECT_DOUBLE_EQ(cost->seconds.upper, 98);
}

// Returns a plan that joins two tables in stage 3 (5 s) and counts in stage 4.
PastPlan Joining(double second_begins) {
  return {.operators =
              {{.name = "Filter", .text = "Filter (count#9 > 1)", .inputs = {1}, .stages = {4}},
               {.name = "HashAggregate", .inputs = {2}, .stages = {4}, .records = 10},
               {.name = "Exchange", .inputs = {3}, .stages = {3}, .records = 0},
               {.name = "SortMergeJoin", .inputs = {4, 6}, .stages = {3}, .records = 0},
               {.name = "Exchange", .inputs = {5}, .stages = {1}, .records = 0},
               {.name = "Scan csv ", .table = "a", .stages = {1}, .records = 10},
               {.name = "Exchange", .inputs = {7}, .stages = {2}, .records = 0},
               {.name = "Scan csv ", .table = "b", .stages = {2}, .records = 10}},
          .stages = {{1, {.begin = 0, .end = 30, .task_seconds = 30}},
                     {2, {.begin = second_begins, .end = second_begins + 20, .task_seconds = 20}},
                     {3, {.begin = 50, .end = 55, .task_seconds = 5}},
                     {4, {.begin = 55, .end = 56, .task_seconds = 1}}}};
}

// For parallel branches, the longer branch counts: 30 + 5 s (equation 10). For sequential branches,
// both count: 50 + 5 s.
TEST(PrefixCost, CountsBranchesByTheTimesOfTheirRuns) {
  const PastPlan side_by_side = Joining(0);
  const auto longest = PrefixCosts(side_by_side).Of(3);
  ASSERT_TRUE(longest.ok());
  EXPECT_DOUBLE_EQ(longest->seconds.expected, 35);
  EXPECT_DOUBLE_EQ(longest->path_seconds, 35);
  const PastPlan in_turn = Joining(30);
  const auto both = PrefixCosts(in_turn).Of(3);
  ASSERT_TRUE(both.ok());
  EXPECT_DOUBLE_EQ(both->seconds.expected, 55);
  EXPECT_DOUBLE_EQ(both->path_seconds, 35);
  // With more slots, the branches would run in parallel.
  EXPECT_DOUBLE_EQ(both->seconds.lower, 35);
}

// A result that another branch also computes saves no time.
TEST(PrefixCost, ExcludesStagesThatOtherBranchesNeed) {
  PastPlan plan = Joining(0);
  plan.operators[7].stages = {1};
  plan.operators[6].stages = {1};
  plan.operators[5].inputs = {8};  // a filter in stage 1, above a source in stage 1
  plan.operators.push_back({.name = "Scan csv ", .table = "c", .stages = {1}, .records = 10});
  const auto cost = PrefixCosts(plan).Of(5);
  ASSERT_TRUE(cost.ok());
  EXPECT_DOUBLE_EQ(cost->seconds.lower, 0);
  EXPECT_FALSE(cost->is_separable);
}

// Cached data are not computed again, so the time of the stage that reads them does not count.
TEST(PrefixCost, ExcludesDataThatWereCachedBefore) {
  PastPlan plan = Condensing("app-1", 1000);
  plan.operators[3] = {
      .name = "InMemoryTableScan", .text = "InMemoryTableScan [site#1]", .inputs = {6}};
  for (const std::size_t cached : {6, 7, 8}) plan.operators[cached].stages.clear();
  plan.operators[4] = plan.operators[5] = {.name = "LocalTableScan"};
  const PrefixCosts costs(plan);
  EXPECT_FALSE(costs.Of(kProject).ok());
  EXPECT_TRUE(costs.Of(kAggregate).ok());
}

// The first stage of any run loads the code, so that time is not saved.
TEST(PrefixCost, SubtractsTheStartOfExecutors) {
  PastPlan plan = Condensing("app-1", 1000);
  const double before = PrefixCosts(plan).Of(kAggregate)->seconds.expected;
  plan.stages[1].start_up = {1, 3, 5};
  const auto cost = PrefixCosts(plan).Of(kAggregate);
  EXPECT_DOUBLE_EQ(cost->seconds.expected, before - 3);
  EXPECT_LE(cost->seconds.lower, before - 5);
  EXPECT_DOUBLE_EQ(cost->seconds.upper, 110 - 1);
}

TEST(PrefixCost, IsUnknownWithoutTimes) {
  PastPlan plan = Condensing("app-1", 1000);
  plan.stages.clear();
  EXPECT_EQ(PrefixCosts(plan).Of(kAggregate).status().code(),
            absl::StatusCode::kFailedPrecondition);
  plan = Condensing("app-1", 1000);
  plan.stages[1].end = std::numeric_limits<double>::quiet_NaN();
  plan.stages[2].end = -1;
  EXPECT_FALSE(PrefixCosts(plan).Of(kAggregate).ok());
}

// Without task metrics, a stage cannot be divided. The saved part lies between zero and the whole
// stage.
TEST(PrefixCost, IsWideWithoutTaskMetrics) {
  PastPlan plan = Condensing("app-1", 1000);
  plan.stages[1].task_seconds = 0;
  const auto cost = PrefixCosts(plan).Of(kFilter);
  ASSERT_TRUE(cost.ok());
  EXPECT_DOUBLE_EQ(cost->seconds.lower, 0);
  EXPECT_DOUBLE_EQ(cost->seconds.upper, 100);
  EXPECT_FALSE(cost->is_separable);
}

TEST(PrefixCost, AcceptsAbsurdCounters) {
  PastPlan plan = Condensing("app-1", 1000);
  for (PastOperator& op : plan.operators) op.records = 1e300;
  plan.stages[1].shuffle_write_seconds = 1e300;
  const auto cost = PrefixCosts(plan).Of(kFilter);
  ASSERT_TRUE(cost.ok());
  EXPECT_DOUBLE_EQ(cost->seconds.lower, 0);
  EXPECT_DOUBLE_EQ(cost->seconds.upper, 0);
  for (PastOperator& op : plan.operators) op.records = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(PrefixCosts(plan).RecordsOf(kFilter).has_value());
}

TEST(PrefixCost, AcceptsAChainOf5000Operators) {
  PastPlan plan;
  for (std::size_t i = 0; i < kOperatorsMax; ++i) {
    plan.operators.push_back({.name = "Filter", .stages = {1}, .records = 1});
    if (i > 0) plan.operators[i - 1].inputs = {i};
  }
  plan.stages[1] = {.begin = 0, .end = 10, .task_seconds = 10};
  EXPECT_TRUE(PrefixCosts(plan).Of(1).ok());
}

}  // namespace
}  // namespace tidemark::advise::prefix_cost_test
