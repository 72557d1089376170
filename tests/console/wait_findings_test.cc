#include "console/wait_findings.h"

#include "tests/test.h"

namespace tidemark::console::wait_findings_test {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

TEST(WaitFindings, ATenthIsNotable) {
  EXPECT_TRUE(IsNotable(10, 100));
  EXPECT_FALSE(IsNotable(9.9, 100));
  EXPECT_FALSE(IsNotable(0.04, 0)) << "below the shown minimum";
  EXPECT_FALSE(IsNotable(kNaN, 100));
  EXPECT_FALSE(IsNotable(10, kNaN));
}

TEST(WaitFindings, RoundsLimitsOutwards) {
  EXPECT_EQ(LimitsText(0.5, 0.44, 0.81, false), " (0.4-0.9 s)");
  EXPECT_EQ(LimitsText(0.7, 0.7, 4, true), " (0–4 s)");
  EXPECT_EQ(LimitsText(8, 6.04, 9.51, false), " (6-10 s)");
  EXPECT_EQ(LimitsText(8, 6.04, 12.5, false), " (6-13 s)");
  EXPECT_EQ(LimitsText(100, 90.9, 129.1, false), " (1 min 30 s - 2 min 10 s)");
  EXPECT_EQ(LimitsText(40, 30.9, 52.1, true), " (30–53 s)");
  EXPECT_EQ(LimitsText(40, 39.5, 40.2, false), "") << "closer than a second";
  EXPECT_EQ(LimitsText(40, {}, 52, false), "");
  EXPECT_EQ(LimitsText(40, kNaN, 52, false), "");
}

// The answer has two reported causes, and garbage collection without a cause.
TEST(WaitFindings, ListsWaitsWithACauseFirst) {
  QueryWaits query = {.query = "sql/3", .seconds = 100};
  query.waits[WaitReason::kSlots].seconds = 9;
  query.waits[WaitReason::kMemory].seconds = 30;
  query.waits[WaitReason::kIo].seconds = 0.01;
  query.culprits = {{.job_id = "app-7", .resource = WaitReason::kProcessor, .seconds = 20},
                    {.job_id = "app-8", .resource = WaitReason::kProcessor, .seconds = 0.01}};
  const std::vector<FoundWait> found = FoundWaits(query, 3);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].cause, &query.culprits[0]);
  EXPECT_EQ(found[1].resource, WaitReason::kMemory);
  EXPECT_EQ(found[1].cause, nullptr);
  EXPECT_FALSE(found[1].is_cause_left_out);
  EXPECT_TRUE(FoundWaits(query, 2)[1].is_cause_left_out);
}

TEST(WaitFindings, SumsTheCausesOfOneReason) {
  QueryWaits query = {.query = "", .seconds = 33};
  query.waits[WaitReason::kProcessor] = {25, true};
  query.waits[WaitReason::kMemory].seconds = 2;
  const ContendingQuery job = {.job_id = "synthetic",
                               .resource = WaitReason::kProcessor,
                               .host = "vm",
                               .seconds = 8,
                               .seconds_lower = 8,
                               .seconds_upper = 8};
  ContendingQuery outside = {.jobs = 0,
                             .resource = WaitReason::kProcessor,
                             .host = "vm",
                             .seconds = 12,
                             .seconds_lower = 0,
                             .seconds_upper = 26};
  query.culprits = {outside, job};
  const Explanation explanation = {.job_id = "my job", .queries = {query}};
  const std::vector<WaitFinding> findings = WaitFindings(explanation, query, 3, false);
  ASSERT_EQ(findings.size(), 2U);
  EXPECT_EQ(findings[0].sentence,
            "my job waited at least 25 of 33 s for CPU on vm: about 12 s (0-26 s) behind processes "
            "outside Tidemark, about 8 s behind job synthetic");
  EXPECT_EQ(findings[0].seconds, 25);
  EXPECT_TRUE(findings[0].blames_jobs);
  EXPECT_EQ(findings[1].sentence,
            "my job waited 2 of 33 s for garbage collection; the cause is unknown");
  query.culprits = {outside};
  EXPECT_FALSE(WaitFindings(explanation, query, 3, false)[0].blames_jobs);
}

// Later reports may exceed each bound.
TEST(WaitFindings, AreLowerBoundsInAnIncompleteAnswer) {
  QueryWaits query = {.query = "sql/3", .seconds = 33};
  query.waits[WaitReason::kProcessor].seconds = 20;
  query.culprits = {{.job_id = "a",
                     .resource = WaitReason::kProcessor,
                     .seconds = 12,
                     .seconds_lower = 10,
                     .seconds_upper = 14}};
  Explanation explanation = {.job_id = "job", .queries = {query}, .more_to_come = true};
  EXPECT_EQ(WaitFindings(explanation, query, 3, false)[0].sentence,
            "sql/3 waited at least 20 of 33 s for CPU: at least 12 s behind job a");
}

TEST(WaitFindings, ReportALongKeyGroupOfASingleTask) {
  QueryWaits query = {.query = "", .seconds = 100};
  EXPECT_EQ(FoundLongestTask(query), nullptr);
  query.longest_task =
      LongestTask{.seconds = 90, .mean_seconds = 90, .group_bytes = 700, .group_seconds = 60};
  EXPECT_EQ(FoundLongestTask(query), &*query.longest_task);
  query.longest_task->group_seconds = 40;
  EXPECT_EQ(FoundLongestTask(query), nullptr);
}

}  // namespace
}  // namespace tidemark::console::wait_findings_test
