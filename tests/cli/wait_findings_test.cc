#include "cli/console/wait_findings.h"

#include <gtest/gtest.h>

#include <limits>

namespace tidemark::console {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

TEST(WaitFindings, ATenthIsWorthTelling) {
  EXPECT_TRUE(IsWorthTelling(10, 100));
  EXPECT_FALSE(IsWorthTelling(9.9, 100));
  EXPECT_FALSE(IsWorthTelling(0.04, 0)) << "less than is shown";
  EXPECT_FALSE(IsWorthTelling(kNaN, 100));
  EXPECT_FALSE(IsWorthTelling(10, kNaN));
}

TEST(WaitFindings, LimitsAreRoundedOutwardsToTheDigitThatIsShown) {
  EXPECT_EQ(LimitsText(8, 6.04, 9.51, false), " (6.0-9.6 s)");
  EXPECT_EQ(LimitsText(8, 6.04, 12.5, false), " (6-13 s)");
  EXPECT_EQ(LimitsText(100, 90.9, 129.1, false), " (1 min 30 s - 2 min 10 s)");
  EXPECT_EQ(LimitsText(40, 30.9, 52.1, true), " (30–53 s)");
  EXPECT_EQ(LimitsText(40, 39.5, 40.2, false), "") << "closer than a second";
  EXPECT_EQ(LimitsText(40, {}, 52, false), "");
  EXPECT_EQ(LimitsText(40, kNaN, 52, false), "");
}

// Two causes that are told, and garbage collection, of which nobody is blamed.
TEST(WaitFindings, WhatOthersAreBlamedForComesFirst) {
  QueryWaits query = {.query = "sql/3", .seconds = 100};
  query.waits[WaitedResource::kScheduler].seconds = 9;
  query.waits[WaitedResource::kMemory].seconds = 30;
  query.waits[WaitedResource::kIo].seconds = 0.01;
  query.culprits = {{.job_id = "app-7", .resource = WaitedResource::kProcessor, .seconds = 20},
                    {.job_id = "app-8", .resource = WaitedResource::kProcessor, .seconds = 0.01}};
  const std::vector<FoundWait> found = FoundWaits(query, 3);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].culprit, &query.culprits[0]);
  EXPECT_EQ(found[1].resource, WaitedResource::kMemory);
  EXPECT_EQ(found[1].culprit, nullptr);
  EXPECT_FALSE(found[1].is_cause_left_out);
  EXPECT_TRUE(FoundWaits(query, 2)[1].is_cause_left_out);
}

TEST(WaitFindings, OneKeyGroupMakesATaskLongThoughItIsTheOnlyOne) {
  QueryWaits query = {.query = "", .seconds = 100};
  EXPECT_EQ(FoundLongestTask(query), nullptr);
  query.longest_task =
      LongestTask{.seconds = 90, .mean_seconds = 90, .group_bytes = 700, .group_seconds = 60};
  EXPECT_EQ(FoundLongestTask(query), &*query.longest_task);
  query.longest_task->group_seconds = 40;
  EXPECT_EQ(FoundLongestTask(query), nullptr);
}

}  // namespace
}  // namespace tidemark::console
