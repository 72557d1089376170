#include "master/blame/query_waits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "spark/log_parser.h"

namespace tidemark::blame {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

std::string At(double seconds) {
  return std::to_string(1'600'000'000'000 + static_cast<long>(seconds * 1000));
}

// An application of one executor on one host.
std::string Application(int slots) {
  return R"({"Event":"SparkListenerApplicationStart","App Name":"a","Timestamp":)" + At(0) +
         "}\n"
         R"({"Event":"SparkListenerExecutorAdded","Timestamp":)" +
         At(0) + R"(,"Executor ID":"1","Executor Info":{"Host":"node-1","Total Cores":)" +
         std::to_string(slots) + "}}\n";
}

// A job of one stage of that number, opened at `at`.
std::string Job(int number, int tasks, double at) {
  const std::string stage = R"({"Stage ID":)" + std::to_string(number) +
                            R"(,"Stage Attempt ID":0,"Stage Name":"s","Number of Tasks":)" +
                            std::to_string(tasks);
  return R"({"Event":"SparkListenerJobStart","Job ID":)" + std::to_string(number) +
         R"(,"Submission Time":)" + At(at) + R"(,"Stage Infos":[)" + stage +
         "}]}\n"
         R"({"Event":"SparkListenerStageSubmitted","Stage Info":)" +
         stage + R"(,"Submission Time":)" + At(at) + "}}\n";
}

std::string Info(int stage, int index, double from) {
  return R"("Stage ID":)" + std::to_string(stage) +
         R"(,"Stage Attempt ID":0,"Task Info":{"Task ID":)" + std::to_string(stage * 100 + index) +
         R"(,"Index":)" + std::to_string(index) +
         R"(,"Attempt":0,"Executor ID":"1","Host":"node-1","Launch Time":)" + At(from);
}

std::string Start(int stage, int index, double from) {
  return R"({"Event":"SparkListenerTaskStart",)" + Info(stage, index, from) + "}}\n";
}

std::string End(int stage, int index, double from, double to, const std::string& metrics = "") {
  return R"({"Event":"SparkListenerTaskEnd","Task End Reason":{"Reason":"Success"},)" +
         Info(stage, index, from) + R"(,"Finish Time":)" + At(to) + "}" +
         (metrics.empty() ? "" : R"(,"Task Metrics":)" + metrics) + "}\n";
}

std::string JobEnd(int number, double at) {
  return R"({"Event":"SparkListenerStageCompleted","Stage Info":{"Stage ID":)" +
         std::to_string(number) + R"(,"Stage Attempt ID":0,"Completion Time":)" + At(at) +
         "}}\n"
         R"({"Event":"SparkListenerJobEnd","Job ID":)" +
         std::to_string(number) + R"(,"Completion Time":)" + At(at) +
         R"(,"Job Result":{"Result":"JobSucceeded"}})"
         "\n";
}

std::vector<QueryWaits> Waits(const std::string& log, const WaitsQuestion& question = {}) {
  spark::LogParser parser({});
  RunWaits waits;
  parser.Feed(log, [&](const Event& event) { waits.Apply(event); });
  waits.Finish();
  return waits.Ask(question);
}

// Two slots. job/0 holds both from 0 to 10 s. job/1 has two tasks from 2 s on, which run from 10 to
// 14 s and collect garbage for 1 s each, of 8 s.
std::string TwoJobs() {
  const std::string garbage = R"({"JVM GC Time":1000,"Executor CPU Time":2000000000})";
  return Application(2) + Job(0, 2, 0) + Start(0, 0, 0) + Start(0, 1, 0) + Job(1, 2, 2) +
         End(0, 0, 0, 10) + Start(1, 0, 10) + End(0, 1, 0, 10) + Start(1, 1, 10) + JobEnd(0, 10) +
         End(1, 0, 10, 14, garbage) + End(1, 1, 10, 14, garbage) + JobEnd(1, 14);
}

TEST(QueryWaits, BlamesTheQueryThatHeldTheSlots) {
  const auto queries = Waits(TwoJobs(), {.query = "job/1"});
  ASSERT_THAT(queries, SizeIs(1));
  EXPECT_DOUBLE_EQ(*queries[0].seconds, 12);
  // It lacked 2 slots for 8 s and ran for 8 task seconds, in 12 s: 12 s x 16 / (16 + 8).
  EXPECT_NEAR(*queries[0].waits[Resource::kScheduler].seconds, 8, 1e-6);
  ASSERT_THAT(queries[0].culprits, SizeIs(1));
  EXPECT_EQ(queries[0].culprits[0].query, "job/0");
  EXPECT_EQ(queries[0].culprits[0].resource, Resource::kScheduler);
  EXPECT_NEAR(queries[0].culprits[0].seconds, 8, 1e-6);
}

TEST(QueryWaits, AWaitWhoseCauseIsNotToldBlamesNobody) {
  const auto queries = Waits(TwoJobs(), {.query = "job/1", .resource = Resource::kMemory});
  ASSERT_THAT(queries, SizeIs(1));
  // 2 task seconds, 2 tasks at a time.
  EXPECT_NEAR(*queries[0].waits[Resource::kMemory].seconds, 1, 1e-6);
  EXPECT_FALSE(queries[0].waits[Resource::kScheduler].seconds) << "it was not asked";
  EXPECT_THAT(queries[0].culprits, IsEmpty());
}

TEST(QueryWaits, WhatTheLogDoesNotTellIsNotZero) {
  const auto queries = Waits(TwoJobs());
  ASSERT_THAT(queries, SizeIs(2));
  EXPECT_FALSE(queries[0].waits[Resource::kMemory].seconds) << "tasks without metrics";
  EXPECT_FALSE(queries[1].waits[Resource::kProcessor].seconds);
  EXPECT_FALSE(queries[1].waits[Resource::kNetwork].seconds);
  EXPECT_DOUBLE_EQ(*queries[0].waits[Resource::kScheduler].seconds, 0) << "it never waited";
}

// Its second task waits for the slot that its first one holds.
TEST(QueryWaits, ASingleQueryBlamesNobody) {
  const auto queries = Waits(Application(1) + Job(0, 2, 0) + Start(0, 0, 0) + End(0, 0, 0, 5) +
                             Start(0, 1, 5) + End(0, 1, 5, 10) + JobEnd(0, 10));
  ASSERT_THAT(queries, SizeIs(1));
  EXPECT_DOUBLE_EQ(*queries[0].waits[Resource::kScheduler].seconds, 0);
  EXPECT_THAT(queries[0].culprits, IsEmpty());
}

TEST(QueryWaits, AWaitBesideFreeSlotsBlamesNobody) {
  const auto queries = Waits(Application(4) + Job(0, 2, 0) + Start(0, 0, 0) + Start(0, 1, 0) +
                             Job(1, 1, 2) + Start(1, 0, 5) + End(1, 0, 5, 6) + JobEnd(1, 6) +
                             End(0, 0, 0, 10) + End(0, 1, 0, 10) + JobEnd(0, 10));
  ASSERT_THAT(queries, SizeIs(2));
  EXPECT_DOUBLE_EQ(*queries[1].waits[Resource::kScheduler].seconds, 0);
  EXPECT_THAT(queries[1].culprits, IsEmpty());
}

// job/0 runs when the log ends: it holds its slot until then.
TEST(QueryWaits, ATaskThatIsNotSeenToEndHeldItsSlotUntilTheLogEnds) {
  const auto queries =
      Waits(Application(2) + Job(0, 1, 0) + Start(0, 0, 0) + Job(1, 2, 0) + Start(1, 0, 0) +
            End(1, 0, 0, 6) + Start(1, 1, 6) + End(1, 1, 6, 12) + JobEnd(1, 12));
  ASSERT_THAT(queries, SizeIs(2));
  // Its second task lacked the slot of job/0 for 6 s; it ran for 12 s: 12 s x 6 / (6 + 12).
  EXPECT_NEAR(*queries[1].waits[Resource::kScheduler].seconds, 4, 1e-6);
  EXPECT_DOUBLE_EQ(*queries[0].seconds, 12);
}

TEST(QueryWaits, KnowsNoQueryThatDidNotRun) {
  EXPECT_THAT(Waits(TwoJobs(), {.query = "sql/9"}), IsEmpty());
  EXPECT_THAT(Waits(""), IsEmpty());
}

TEST(QueryWaits, OnAHostSlotsAreNotCounted) {
  const auto queries = Waits(TwoJobs(), {.query = "job/1", .host = "node-1"});
  ASSERT_THAT(queries, SizeIs(1));
  EXPECT_FALSE(queries[0].waits[Resource::kScheduler].seconds);
  EXPECT_NEAR(*queries[0].waits[Resource::kMemory].seconds, 1, 1e-6);
}

}  // namespace
}  // namespace tidemark::blame
