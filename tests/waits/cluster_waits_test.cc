#include "master/waits/cluster_waits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "spark/log_parser.h"

namespace tidemark::blame {
namespace {

using ::testing::ElementsAre;
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

std::vector<QueryWaits> Waits(const std::string& log, const ExplainQuestion& question = {}) {
  spark::LogParser parser({});
  ClusterWaits waits;
  parser.Feed(log, [&](const Event& event) { waits.Apply(event); });
  waits.Finish();
  if (waits.jobs().empty()) return {};
  return waits.Ask(waits.jobs().front(), question)->queries;
}

// Two slots. job/0 holds both from 0 to 10 s. job/1 has two tasks from 2 s on, which run from 10 to
// 14 s and collect garbage for 1 s each, of 8 s.
std::string TwoJobs() {
  const std::string garbage = R"({"JVM GC Time":1000,"Executor CPU Time":2000000000})";
  return Application(2) + Job(0, 2, 0) + Start(0, 0, 0) + Start(0, 1, 0) + Job(1, 2, 2) +
         End(0, 0, 0, 10) + Start(1, 0, 10) + End(0, 1, 0, 10) + Start(1, 1, 10) + JobEnd(0, 10) +
         End(1, 0, 10, 14, garbage) + End(1, 1, 10, 14, garbage) + JobEnd(1, 14);
}

TEST(ClusterWaits, BlamesTheQueryThatHeldTheSlots) {
  const auto queries = Waits(TwoJobs(), {.query = "job/1"});
  ASSERT_THAT(queries, SizeIs(1));
  EXPECT_DOUBLE_EQ(*queries[0].seconds, 12);
  // It lacked 2 slots for 8 s and ran for 8 task seconds, in 12 s: 12 s x 16 / (16 + 8).
  EXPECT_NEAR(*queries[0].waits[Resource::kScheduler].seconds, 8, 1e-6);
  ASSERT_THAT(queries[0].culprits, SizeIs(1));
  EXPECT_EQ(queries[0].culprits[0].query, "job/0");
  EXPECT_EQ(queries[0].culprits[0].resource, Resource::kScheduler);
  EXPECT_NEAR(queries[0].culprits[0].seconds, 8, 1e-6);
  // Without job/0 it would have run from 2 to 6 s, for certain: nobody else was there.
  EXPECT_NEAR(*queries[0].culprits[0].seconds_lower, 8, 1e-6);
  EXPECT_NEAR(*queries[0].culprits[0].seconds_upper, 8, 1e-6);
}

TEST(ClusterWaits, AWaitWhoseCauseIsNotToldBlamesNobody) {
  const auto queries = Waits(TwoJobs(), {.query = "job/1", .resource = Resource::kMemory});
  ASSERT_THAT(queries, SizeIs(1));
  // 2 task seconds, 2 tasks at a time.
  EXPECT_NEAR(*queries[0].waits[Resource::kMemory].seconds, 1, 1e-6);
  EXPECT_FALSE(queries[0].waits[Resource::kScheduler].seconds) << "it was not asked";
  EXPECT_THAT(queries[0].culprits, IsEmpty());
}

TEST(ClusterWaits, WhatTheLogDoesNotTellIsNotZero) {
  const auto queries = Waits(TwoJobs());
  ASSERT_THAT(queries, SizeIs(2));
  EXPECT_FALSE(queries[0].waits[Resource::kMemory].seconds) << "tasks without metrics";
  EXPECT_FALSE(queries[1].waits[Resource::kProcessor].seconds);
  EXPECT_FALSE(queries[1].waits[Resource::kNetwork].seconds);
  EXPECT_DOUBLE_EQ(*queries[0].waits[Resource::kScheduler].seconds, 0) << "it never waited";
}

// Its second task waits for the slot that its first one holds.
TEST(ClusterWaits, ASingleQueryBlamesNobody) {
  const auto queries = Waits(Application(1) + Job(0, 2, 0) + Start(0, 0, 0) + End(0, 0, 0, 5) +
                             Start(0, 1, 5) + End(0, 1, 5, 10) + JobEnd(0, 10));
  ASSERT_THAT(queries, SizeIs(1));
  EXPECT_DOUBLE_EQ(*queries[0].waits[Resource::kScheduler].seconds, 0);
  EXPECT_THAT(queries[0].culprits, IsEmpty());
}

TEST(ClusterWaits, AWaitBesideFreeSlotsBlamesNobody) {
  const auto queries = Waits(Application(4) + Job(0, 2, 0) + Start(0, 0, 0) + Start(0, 1, 0) +
                             Job(1, 1, 2) + Start(1, 0, 5) + End(1, 0, 5, 6) + JobEnd(1, 6) +
                             End(0, 0, 0, 10) + End(0, 1, 0, 10) + JobEnd(0, 10));
  ASSERT_THAT(queries, SizeIs(2));
  EXPECT_DOUBLE_EQ(*queries[1].waits[Resource::kScheduler].seconds, 0);
  EXPECT_THAT(queries[1].culprits, IsEmpty());
}

// job/0 runs when the log ends: it holds its slot until then.
TEST(ClusterWaits, ATaskThatIsNotSeenToEndHeldItsSlotUntilTheLogEnds) {
  const auto queries =
      Waits(Application(2) + Job(0, 1, 0) + Start(0, 0, 0) + Job(1, 2, 0) + Start(1, 0, 0) +
            End(1, 0, 0, 6) + Start(1, 1, 6) + End(1, 1, 6, 12) + JobEnd(1, 12));
  ASSERT_THAT(queries, SizeIs(2));
  // Its second task lacked the slot of job/0 for 6 s; it ran for 12 s: 12 s x 6 / (6 + 12).
  EXPECT_NEAR(*queries[1].waits[Resource::kScheduler].seconds, 4, 1e-6);
  EXPECT_DOUBLE_EQ(*queries[0].seconds, 12);
}

TEST(ClusterWaits, KnowsNoQueryThatDidNotRun) {
  EXPECT_THAT(Waits(TwoJobs(), {.query = "sql/9"}), IsEmpty());
  EXPECT_THAT(Waits(""), IsEmpty());
}

TEST(ClusterWaits, OnAHostSlotsAreNotCounted) {
  const auto queries = Waits(TwoJobs(), {.query = "job/1", .host = "node-1"});
  ASSERT_THAT(queries, SizeIs(1));
  EXPECT_FALSE(queries[0].waits[Resource::kScheduler].seconds);
  EXPECT_NEAR(*queries[0].waits[Resource::kMemory].seconds, 1, 1e-6);
}

// The same while it happens, of jobs of several applications.

constexpr double kBegan = 1'600'000'000;
absl::Time Instant(double seconds) {
  return absl::UnixEpoch() + absl::Seconds(kBegan) + absl::Seconds(seconds);
}

// A driver that reports what happens to its job as it happens.
class Driver {
 public:
  explicit Driver(ClusterWaits& waits, std::string job_id) : waits_(waits), job_id_(job_id) {
    Tell(0, JobOpened{.name = job_id});
  }
  // Its clock is ahead of that of the master by so much.
  Driver& ClockAhead(double seconds) {
    ahead_ = seconds;
    return *this;
  }
  void Tell(double at, EventBody body) {
    waits_.Apply({.job_id = job_id_,
                  .source_id = "driver of " + job_id_,
                  .sequence = ++sequence_,
                  .sent_at = Instant(at + ahead_),
                  .arrived_at = Instant(at),
                  .body = std::move(body)});
  }
  void Executor(const std::string& host, std::uint32_t slots) {
    Tell(0, ExecutorOpened{.executor = executors_++, .host = host, .slots = slots});
  }
  void Stage(double at, std::uint32_t stage, std::uint32_t tasks, const std::string& group = "") {
    Tell(at, StageOpened{.stage = stage,
                         .group = group,
                         .task_count = tasks,
                         .opened_at = Instant(at + ahead_)});
  }
  void Start(double at, std::uint32_t stage, std::uint32_t index, std::uint32_t executor = 0) {
    Tell(at, AttemptChanged{.attempt = {.stage = stage, .index = index},
                            .state = AttemptState::kStarted,
                            .at = Instant(at + ahead_),
                            .executor = executor});
  }
  void Heartbeat(double at, std::uint32_t stage, std::uint32_t index, double computed,
                 double waited_for_processor) {
    TaskHeartbeat heartbeat{.attempt = {.stage = stage, .index = index}};
    heartbeat.time.cpu = absl::Seconds(computed);
    heartbeat.time.processor_wait = absl::Seconds(waited_for_processor);
    Tell(at, heartbeat);
  }
  void Fetched(double at, std::uint32_t stage, std::uint32_t index, std::uint64_t bytes,
               double waited) {
    TaskHeartbeat heartbeat{.attempt = {.stage = stage, .index = index}};
    heartbeat.time.network_wait = absl::Seconds(waited);
    heartbeat.time.network_bytes = bytes;
    Tell(at, heartbeat);
  }
  void End(double at, std::uint32_t stage, std::uint32_t index) {
    Tell(at, AttemptChanged{.attempt = {.stage = stage, .index = index},
                            .state = AttemptState::kFinished,
                            .at = Instant(at + ahead_)});
  }

 private:
  ClusterWaits& waits_;
  const std::string job_id_;
  double ahead_ = 0;
  std::uint64_t sequence_ = 0;
  std::uint32_t executors_ = 0;
};

// Two applications on node-1, which has one processor: the victim's task computes a quarter of the
// time and waits for the rest, because of the other's, which computes three quarters. 20 s of it.
void Share(Driver& victim, Driver& other, ClusterWaits& waits) {
  victim.Executor("node-1", 1);
  other.Executor("node-1", 1);
  victim.Stage(0, 0, 1);
  other.Stage(0, 0, 1);
  victim.Start(0, 0, 0);
  other.Start(0, 0, 0);
  for (int second = 1; second <= 20; ++second) {
    victim.Heartbeat(second, 0, 0, 0.25 * second, 0.75 * second);
    other.Heartbeat(second, 0, 0, 0.75 * second, 0.25 * second);
    waits.Advance(Instant(second));
  }
  waits.Advance(Instant(23));
}

Explanation AskOf(const ClusterWaits& waits, const std::string& job,
                  const ExplainQuestion& question = {}) {
  return waits.Ask(job, question).value_or(Explanation());
}

// One task ran on node-1; another began a moment ago on node-2, which no sum knows yet.
TEST(ClusterWaits, OfAQuestionAboutAHostNamesThoseThatThereAre) {
  ClusterWaits waits;
  Driver driver(waits, "app");
  driver.Executor("node-1", 1);
  driver.Executor("node-2", 1);
  driver.Stage(0, 0, 2);
  driver.Start(0, 0, 0, 0);
  driver.End(10, 0, 0);
  driver.Start(19, 0, 1, 1);
  waits.Advance(Instant(20));
  const Explanation explanation = AskOf(waits, "app", {.host = "node-9"});
  ASSERT_THAT(explanation.queries, SizeIs(1));
  EXPECT_THAT(explanation.hosts, ElementsAre("node-1", "node-2"));
  EXPECT_THAT(AskOf(waits, "app").hosts, IsEmpty());
}

TEST(ClusterWaits, WhileTasksRunBlamesTheJobThatTookTheProcessor) {
  ClusterWaits waits;
  Driver victim(waits, "victim");
  Driver other(waits, "other");
  Share(victim, other, waits);
  const Explanation explanation = AskOf(waits, "victim");
  ASSERT_THAT(explanation.queries, SizeIs(1));
  const QueryWaits& query = explanation.queries[0];
  EXPECT_NEAR(*query.waits[Resource::kProcessor].seconds, 15, 1e-6);
  ASSERT_THAT(query.culprits, SizeIs(1));
  EXPECT_EQ(query.culprits[0].job_id, "other");
  EXPECT_EQ(query.culprits[0].host, "node-1");
  EXPECT_EQ(query.culprits[0].resource, Resource::kProcessor);
  EXPECT_NEAR(query.culprits[0].seconds, 15, 1e-6);
  EXPECT_FALSE(explanation.is_partial);
  EXPECT_EQ(explanation.at, Instant(20));
}

const std::set<QueryName> kOther = {{"other", ""}};

// 15 s of 20, and nobody else was there.
TEST(ClusterWaits, SaysWhatPartOfTheirTimeTasksLostToAJobThatRuns) {
  ClusterWaits waits;
  Driver victim(waits, "victim");
  Driver other(waits, "other");
  Share(victim, other, waits);
  const std::vector<LossesTo> losses = waits.Losses("victim", kOther, 3, std::nullopt);
  ASSERT_THAT(losses, SizeIs(1));
  EXPECT_EQ(losses[0].query, (QueryName{"other", ""}));
  ASSERT_THAT(losses[0].lost.by_stage, SizeIs(1));
  for (const model::LostShare& lost : {losses[0].lost.by_stage.at(0), losses[0].lost.of_all}) {
    EXPECT_NEAR(lost.share, 0.75, 1e-6);
    EXPECT_NEAR(lost.lower, 0.75, 1e-6);
    EXPECT_NEAR(lost.upper, 0.75, 1e-6);
  }
  EXPECT_THAT(waits.Losses("nobody", kOther, 3, std::nullopt), IsEmpty());
}

TEST(ClusterWaits, NothingIsLostAnyMoreToAJobThatRunsNoTask) {
  ClusterWaits waits;
  Driver victim(waits, "victim");
  Driver other(waits, "other");
  Share(victim, other, waits);
  other.End(23, 0, 0);
  EXPECT_THAT(waits.Losses("victim", kOther, 3, std::nullopt), IsEmpty());
}

TEST(ClusterWaits, OfLossesOnlyThoseToQueriesThatAreAskedAboutAreTold) {
  ClusterWaits waits;
  Driver victim(waits, "victim");
  Driver other(waits, "other");
  Share(victim, other, waits);
  EXPECT_THAT(waits.Losses("victim", {}, 3, std::nullopt), IsEmpty());
  EXPECT_THAT(waits.Losses("victim", {{"other", "sql/1"}, {"another", ""}}, 3, std::nullopt),
              IsEmpty());
  EXPECT_THAT(waits.Losses("victim", kOther, 0, std::nullopt), IsEmpty());
}

// It computes for a quarter of the time and waits for the rest, first in one query, then in
// another.
TEST(ClusterWaits, OfAJobThatHasEndedAddsUpTheQueriesThatFollowedOneAnother) {
  ClusterWaits waits;
  Driver victim(waits, "victim");
  Driver other(waits, "other");
  victim.Executor("node-1", 1);
  other.Executor("node-1", 1);
  victim.Stage(0, 0, 1, "sql/0");
  other.Stage(0, 0, 1);
  victim.Start(0, 0, 0);
  other.Start(0, 0, 0);
  for (int second = 1; second <= 20; ++second) {
    const std::uint32_t stage = second <= 10 ? 0 : 1;
    const int ran = second <= 10 ? second : second - 10;
    victim.Heartbeat(second, stage, 0, 0.25 * ran, 0.75 * ran);
    other.Heartbeat(second, 0, 0, 0.75 * second, 0.25 * second);
    if (second == 10) {
      victim.End(10, 0, 0);
      victim.Stage(10, 1, 1, "sql/1");
      victim.Start(10, 1, 0);
    }
    waits.Advance(Instant(second));
  }
  EXPECT_FALSE(AskOf(waits, "victim").has_ended);
  victim.End(20, 1, 0);
  victim.Tell(20, JobClosed{});
  waits.Advance(Instant(24));
  const Explanation explanation = AskOf(waits, "victim");
  EXPECT_TRUE(explanation.has_ended);
  ASSERT_THAT(explanation.queries, SizeIs(2));
  EXPECT_NEAR(explanation.queries[0].culprits.at(0).seconds, 7.5, 1e-6);
  const std::vector<CostOf> costs = waits.Costs("victim", kOther, 3, std::nullopt);
  ASSERT_THAT(costs, SizeIs(1));
  EXPECT_EQ(costs[0].query, (QueryName{"other", ""}));
  EXPECT_NEAR(costs[0].seconds, 15, 1e-6);
  EXPECT_NEAR(costs[0].lower, 15, 1e-6);
  EXPECT_NEAR(costs[0].upper, 15, 1e-6);
  EXPECT_THAT(waits.Costs("victim", kOther, 0, std::nullopt), IsEmpty());
  EXPECT_THAT(waits.Costs("victim", {{"another", ""}, {"victim", "sql/0"}}, 3, std::nullopt),
              IsEmpty());
  EXPECT_THAT(waits.Costs("nobody", kOther, 3, std::nullopt), IsEmpty());
}

// It says that its task began 1 ns after 1970. The task waits for 6 of 10 s, while the other's
// computes.
void RunSince1970(ClusterWaits& waits, absl::Time ends_at) {
  const absl::Time long_ago = absl::UnixEpoch() + absl::Nanoseconds(1);
  Driver victim(waits, "victim");
  Driver other(waits, "other");
  victim.Executor("node-1", 1);
  other.Executor("node-1", 1);
  other.Stage(0, 0, 1);
  other.Start(0, 0, 0);
  victim.Tell(0, StageOpened{.stage = 0, .task_count = 1, .opened_at = long_ago});
  victim.Tell(
      0,
      AttemptChanged{
          .attempt = {.stage = 0}, .state = AttemptState::kStarted, .at = long_ago, .executor = 0});
  victim.Heartbeat(10, 0, 0, 4, 6);
  other.Heartbeat(10, 0, 0, 6, 4);
  victim.Tell(10, JobClosed{.at = ends_at});
  waits.Advance(Instant(14));
}

TEST(ClusterWaits, NothingIsBeforeTheJobBegan) {
  ClusterWaits waits;
  RunSince1970(waits, Instant(10));
  const QueryWaits query = AskOf(waits, "victim").queries.at(0);
  EXPECT_NEAR(*query.seconds, 10, 1e-6);
  EXPECT_NEAR(*query.waits[Resource::kProcessor].seconds, 6, 1e-6);
  EXPECT_NEAR(query.culprits.at(0).seconds, 6, 1e-6);
  EXPECT_NEAR(waits.Costs("victim", kOther, 3, std::nullopt).at(0).seconds, 6, 1e-6);
}

// By what it says it ended as it began.
TEST(ClusterWaits, AJobThatIsSaidToHaveTakenNoTimeLostNone) {
  ClusterWaits waits;
  RunSince1970(waits, absl::UnixEpoch());
  const QueryWaits query = AskOf(waits, "victim").queries.at(0);
  EXPECT_EQ(query.seconds, 0);
  EXPECT_EQ(query.waits[Resource::kProcessor].seconds, 0);
  for (const Culprit& culprit : query.culprits) {
    EXPECT_EQ(culprit.seconds, 0);
    EXPECT_EQ(culprit.seconds_upper, 0);
  }
  for (const CostOf& cost : waits.Costs("victim", kOther, 3, std::nullopt)) {
    EXPECT_EQ(cost.seconds, 0);
    EXPECT_EQ(cost.upper, 0);
  }
}

// A job is heard of 10 s after it was submitted, while its task runs.
TEST(ClusterWaits, WhatWasBeforeAJobWasHeardOfCountsSinceItWasSubmitted) {
  ClusterWaits waits;
  Driver driver(waits, "app");
  driver.Tell(0, JobOpened{.name = "app", .submitted_at = Instant(-10)});
  driver.Tell(0, StageOpened{.stage = 0, .task_count = 1, .opened_at = Instant(-8)});
  driver.Tell(0, AttemptChanged{
                     .attempt = {.stage = 0}, .state = AttemptState::kStarted, .at = Instant(-5)});
  driver.End(5, 0, 0);
  driver.Tell(6, JobClosed{});
  waits.Advance(Instant(10));
  EXPECT_NEAR(*AskOf(waits, "app").queries.at(0).seconds, 6 + 10, 1e-6);
}

// 0 is what a driver says that does not know.
TEST(ClusterWaits, ASubmissionIn1970IsNotKnown) {
  ClusterWaits waits;
  Driver driver(waits, "app");
  driver.Tell(0, JobOpened{.name = "app", .submitted_at = absl::UnixEpoch()});
  driver.Tell(0, StageOpened{.stage = 0, .task_count = 1, .opened_at = absl::UnixEpoch()});
  driver.Tell(
      0, AttemptChanged{
             .attempt = {.stage = 0}, .state = AttemptState::kStarted, .at = absl::UnixEpoch()});
  driver.End(5, 0, 0);
  driver.Tell(6, JobClosed{});
  waits.Advance(Instant(10));
  EXPECT_NEAR(*AskOf(waits, "app").queries.at(0).seconds, 6, 1e-6);
}

// On each of two hosts a task waits for 5 of 10 s because of the other job; ten more then run side
// by side on node-1 for 10 s and tell nothing. Each of their 100 s may have been waited for, and
// each second of the two tasks was half a second of the stage: 52.5 s and 2.5 s. It all took 20 s.
TEST(ClusterWaits, NoLimitIsBeyondWhatAJobLasted) {
  ClusterWaits waits;
  Driver victim(waits, "victim");
  Driver other(waits, "other");
  for (const char* host : {"node-1", "node-2"}) {
    victim.Executor(host, 20);
    other.Executor(host, 1);
  }
  victim.Stage(0, 0, 12);
  other.Stage(0, 0, 2);
  for (const std::uint32_t host : {0, 1}) {
    victim.Start(0, 0, host, host);
    other.Start(0, 0, host, host);
  }
  for (const std::uint32_t host : {0, 1}) {
    victim.Heartbeat(10, 0, host, 5, 5);
    other.Heartbeat(10, 0, host, 5, 5);
    victim.End(10, 0, host);
  }
  for (std::uint32_t task = 2; task < 12; ++task) victim.Start(10, 0, task);
  for (std::uint32_t task = 2; task < 12; ++task) victim.End(20, 0, task);
  for (const std::uint32_t host : {0, 1}) other.End(20, 0, host);
  victim.Tell(20, JobClosed{});
  waits.Advance(Instant(24));
  const QueryWaits query = AskOf(waits, "victim").queries.at(0);
  EXPECT_NEAR(*query.seconds, 20, 1e-6);
  EXPECT_NEAR(query.culprits.at(0).seconds, 2.5, 1e-6);
  for (const Culprit& culprit : query.culprits) EXPECT_LE(*culprit.seconds_upper, 20);
  const CostOf cost = waits.Costs("victim", kOther, 3, std::nullopt).at(0);
  EXPECT_NEAR(cost.seconds, 5, 1e-6);
  EXPECT_NEAR(cost.upper, 20, 1e-6);
}

// On node-1 half of 10 s are lost to `heavy`, a quarter to `light`.
TEST(ClusterWaits, TheQueryThatTookMostComesFirst) {
  ClusterWaits waits;
  Driver victim(waits, "victim");
  Driver light(waits, "a light one");
  Driver heavy(waits, "heavy");
  for (Driver* driver : {&victim, &light, &heavy}) {
    driver->Executor("node-1", 1);
    driver->Stage(0, 0, 1);
    driver->Start(0, 0, 0);
  }
  for (int second = 1; second <= 10; ++second) {
    victim.Heartbeat(second, 0, 0, 0.25 * second, 0.75 * second);
    light.Heartbeat(second, 0, 0, 0.25 * second, 0.75 * second);
    heavy.Heartbeat(second, 0, 0, 0.5 * second, 0.5 * second);
  }
  waits.Advance(Instant(13));
  const std::set<QueryName> both = {{"a light one", ""}, {"heavy", ""}};
  const std::vector<LossesTo> losses = waits.Losses("victim", both, 2, std::nullopt);
  ASSERT_THAT(losses, SizeIs(2));
  EXPECT_EQ(losses[0].query.job_id, "heavy");
  EXPECT_NEAR(losses[0].lost.of_all.share, 0.5, 1e-6);
  EXPECT_NEAR(losses[1].lost.of_all.share, 0.25, 1e-6);
  const std::vector<LossesTo> worst = waits.Losses("victim", both, 1, std::nullopt);
  ASSERT_THAT(worst, SizeIs(1));
  EXPECT_EQ(worst[0].query.job_id, "heavy");
}

// A byte took 0.1 s on node-2, where nobody else fetched, and 1 s on node-1, where another did: of
// the 8 s for 8 bytes there 7.2 s are its doing, in a stage of two tasks at a time 3.6 s.
TEST(ClusterWaits, OfTheNetworkBlamesWhoFetchedForWhatAByteTookMoreThanElsewhere) {
  ClusterWaits waits;
  Driver victim(waits, "victim");
  Driver other(waits, "other");
  victim.Executor("node-1", 1);
  victim.Executor("node-2", 1);
  other.Executor("node-1", 1);
  victim.Stage(0, 0, 2);
  other.Stage(0, 0, 1);
  victim.Start(0, 0, 0, 0);
  victim.Start(0, 0, 1, 1);
  other.Start(0, 0, 0, 0);
  victim.Fetched(10, 0, 0, 8, 8);
  victim.Fetched(10, 0, 1, 60, 6);
  other.Fetched(10, 0, 0, 100, 5);
  waits.Advance(Instant(13));
  const Explanation explanation = AskOf(waits, "victim");
  EXPECT_NEAR(*explanation.queries.at(0).waits[Resource::kNetwork].seconds, 7, 1e-6);
  ASSERT_THAT(explanation.queries[0].culprits, SizeIs(1));
  EXPECT_EQ(explanation.queries[0].culprits[0].job_id, "other");
  EXPECT_EQ(explanation.queries[0].culprits[0].resource, Resource::kNetwork);
  EXPECT_NEAR(explanation.queries[0].culprits[0].seconds, 3.6, 1e-6);
}

// What a task waited for that waited 9 s of 10 for a processor, next to one that computed.
Explanation NextToATaskThatComputed(double seconds) {
  ClusterWaits waits;
  Driver victim(waits, "victim");
  Driver other(waits, "other");
  for (Driver* driver : {&victim, &other}) {
    driver->Executor("node-1", 1);
    driver->Stage(0, 0, 1);
    driver->Start(0, 0, 0);
  }
  victim.Heartbeat(10, 0, 0, 1, 9);
  other.Heartbeat(10, 0, 0, seconds, 0);
  waits.Advance(Instant(13));
  return AskOf(waits, "victim");
}

// It waits for 9 s of 10 next to a task that computed for 2 s: 7 s are nobody's who reported.
TEST(ClusterWaits, OfAProcessorAJobIsBlamedForNoMoreThanItUsed) {
  const Explanation explanation = NextToATaskThatComputed(2);
  ASSERT_THAT(explanation.queries.at(0).culprits, SizeIs(2));
  const Culprit& unreported = explanation.queries[0].culprits[0];
  EXPECT_EQ(unreported.job_id, "");
  EXPECT_EQ(unreported.jobs, 0U);
  EXPECT_EQ(unreported.host, "node-1");
  EXPECT_NEAR(unreported.seconds, 7, 1e-6);
  EXPECT_EQ(explanation.queries[0].culprits[1].job_id, "other");
  EXPECT_NEAR(explanation.queries[0].culprits[1].seconds, 2, 1e-6);
}

// It waits for 9 s of 10 next to a task that computed for 8 s. The 1 s that no task reported may
// have been more, in place of the other.
TEST(ClusterWaits, WhereAnythingIsUnreportedNobodyIsBlamedForCertain) {
  const Explanation explanation = NextToATaskThatComputed(8);
  ASSERT_THAT(explanation.queries.at(0).culprits, SizeIs(2));
  EXPECT_EQ(explanation.queries[0].culprits[0].job_id, "other");
  EXPECT_NEAR(explanation.queries[0].culprits[0].seconds, 8, 1e-6);
  EXPECT_EQ(explanation.queries[0].culprits[1].jobs, 0U);
  EXPECT_NEAR(explanation.queries[0].culprits[1].seconds, 1, 1e-6);
  for (const Culprit& culprit : explanation.queries[0].culprits) {
    EXPECT_NEAR(*culprit.seconds_lower, 0, 1e-6);
    EXPECT_NEAR(*culprit.seconds_upper, 9, 1e-6);
  }
}

// It waits 0.6 s a second for 10 s: 5.4 s because of `long`, 0.6 s because of `brief`, which is
// there for the first 2 s. How much was waited in these is not kept: at most 2 s.
TEST(ClusterWaits, TellsBetweenWhatLimitsAJobCostAnother) {
  ClusterWaits waits;
  Driver victim(waits, "victim");
  Driver longest(waits, "long");
  Driver brief(waits, "brief");
  for (Driver* driver : {&victim, &longest, &brief}) {
    driver->Executor("node-1", 1);
    driver->Stage(0, 0, 1);
    driver->Start(0, 0, 0);
  }
  victim.Heartbeat(2, 0, 0, 0.8, 1.2);
  longest.Heartbeat(2, 0, 0, 0.6, 0);
  brief.Heartbeat(2, 0, 0, 0.6, 0);
  brief.End(2, 0, 0);
  waits.Advance(Instant(2));
  victim.Heartbeat(10, 0, 0, 4, 6);
  longest.Heartbeat(10, 0, 0, 5.4, 0);
  waits.Advance(Instant(13));
  const auto culprits = AskOf(waits, "victim").queries.at(0).culprits;
  ASSERT_THAT(culprits, SizeIs(2));
  EXPECT_EQ(culprits[0].job_id, "long");
  EXPECT_NEAR(culprits[0].seconds, 5.4, 1e-6);
  EXPECT_NEAR(*culprits[0].seconds_lower, 5.4 - 2, 1e-6) << "less all 2 s beside `brief`";
  EXPECT_NEAR(*culprits[0].seconds_upper, 6, 1e-6);
  EXPECT_EQ(culprits[1].job_id, "brief");
  EXPECT_NEAR(culprits[1].seconds, 0.6, 1e-6);
  EXPECT_NEAR(*culprits[1].seconds_lower, 0, 1e-6);
  EXPECT_NEAR(*culprits[1].seconds_upper, 2, 1e-6) << "no more than it was there";
}

// It told of 10 s of 100 s: of the rest it may have waited for all, beside the other.
TEST(ClusterWaits, WhatWasNotToldIsWithinTheLimits) {
  ClusterWaits waits;
  Driver victim(waits, "victim");
  Driver other(waits, "other");
  for (Driver* driver : {&victim, &other}) {
    driver->Executor("node-1", 1);
    driver->Stage(0, 0, 1);
    driver->Start(0, 0, 0);
    driver->Heartbeat(10, 0, 0, 5, 5);
  }
  waits.Advance(Instant(11));
  victim.End(100, 0, 0);
  other.Heartbeat(100, 0, 0, 50, 50);
  other.End(100, 0, 0);
  waits.Advance(Instant(104));
  const auto culprits = AskOf(waits, "victim").queries.at(0).culprits;
  ASSERT_THAT(culprits, SizeIs(1));
  EXPECT_NEAR(culprits[0].seconds, 5, 1e-6);
  EXPECT_NEAR(*culprits[0].seconds_lower, 5, 1e-6);
  EXPECT_NEAR(*culprits[0].seconds_upper, 5 + 90, 1e-6);
}

// Reduce tasks tell of the processor with their profiles, and of what they fetched beside that.
TEST(ClusterWaits, WhatReduceTasksWaitedForAProcessorIsInTheirProfiles) {
  ClusterWaits waits;
  Driver victim(waits, "victim");
  victim.Executor("node-1", 1);
  victim.Stage(0, kReduceStage, 1);
  victim.Start(0, kReduceStage, 0);
  ReduceProfile profile{.attempt = {.stage = kReduceStage}};
  profile.processor_use = ProcessorUse{.watched = absl::Seconds(9), .waited = absl::Seconds(4)};
  victim.Tell(10, profile);
  victim.Fetched(10, kReduceStage, 0, 100, 2);
  waits.Advance(Instant(13));
  const QueryWaits query = AskOf(waits, "victim").queries.at(0);
  EXPECT_NEAR(query.waits[Resource::kProcessor].seconds.value_or(-1), 4, 1e-6);
  EXPECT_NEAR(query.waits[Resource::kNetwork].seconds.value_or(-1), 2, 1e-6);
  EXPECT_NEAR(*query.seconds, 13, 1e-6);
}

// As of a Hadoop job: heartbeats while they shuffle, then profiles, whose processor_use begins
// anew.
TEST(ClusterWaits, AReduceTaskIsBlamedForWhatItTookInBothItsPhases) {
  ClusterWaits waits;
  Driver victim(waits, "victim");
  Driver noisy(waits, "noisy");
  for (Driver* driver : {&victim, &noisy}) {
    driver->Executor("node-1", 0);
    driver->Stage(0, kReduceStage, 1);
    driver->Start(0, kReduceStage, 0);
  }
  victim.Heartbeat(10, kReduceStage, 0, 5, 5);
  noisy.Heartbeat(10, kReduceStage, 0, 40, 2);
  const auto profile = [](double used, double waited) {
    ReduceProfile told{.attempt = {.stage = kReduceStage}};
    told.processor_use = ProcessorUse{.watched = absl::Seconds(10), .waited = absl::Seconds(0.5)};
    told.time = {.cpu = absl::Seconds(used), .processor_wait = absl::Seconds(waited)};
    return told;
  };
  victim.Tell(20, profile(8, 12));
  noisy.Tell(20, profile(80, 4));
  waits.Advance(Instant(23));
  const QueryWaits query = AskOf(waits, "victim").queries.at(0);
  EXPECT_NEAR(query.waits[Resource::kProcessor].seconds.value_or(-1), 12, 1e-6);
  ASSERT_THAT(query.culprits, SizeIs(1));
  EXPECT_EQ(query.culprits[0].job_id, "noisy");
  EXPECT_EQ(query.culprits[0].host, "node-1");
  EXPECT_EQ(query.culprits[0].resource, Resource::kProcessor);
  EXPECT_NEAR(query.culprits[0].seconds, 12, 1e-6);
}

// As of a Spark task whose key groups are timed: its profiles know the reduce function's part
// alone.
TEST(ClusterWaits, WhatHeartbeatsToldOfAnAttemptIsNotReplacedByWhatItsReduceFunctionWaited) {
  ClusterWaits waits;
  Driver victim(waits, "victim");
  victim.Executor("node-1", 1);
  victim.Stage(0, 0, 1);
  victim.Start(0, 0, 0);
  ReduceProfile profile{.attempt = {.stage = 0}};
  for (int second = 1; second <= 10; ++second) {
    victim.Heartbeat(second, 0, 0, 0.5 * second, 0.5 * second);
    profile.processor_use =
        ProcessorUse{.watched = absl::Seconds(0.5 * second), .waited = absl::Seconds(0.2 * second)};
    victim.Tell(second, profile);
  }
  waits.Advance(Instant(13));
  const QueryWaits query = AskOf(waits, "victim").queries.at(0);
  EXPECT_NEAR(query.waits[Resource::kProcessor].seconds.value_or(-1), 5, 1e-6);
}

TEST(ClusterWaits, AJobThatIsAloneOnItsHostWaitsBecauseOfWhatNoTaskReports) {
  ClusterWaits waits;
  Driver victim(waits, "victim");
  victim.Executor("node-1", 1);
  victim.Stage(0, 0, 1);
  victim.Start(0, 0, 0);
  victim.Heartbeat(10, 0, 0, 6, 4);
  waits.Advance(Instant(13));
  const Explanation explanation = AskOf(waits, "victim");
  ASSERT_THAT(explanation.queries.at(0).culprits, SizeIs(1));
  EXPECT_EQ(explanation.queries[0].culprits[0].jobs, 0U);
  EXPECT_NEAR(explanation.queries[0].culprits[0].seconds, 4, 1e-6);
}

TEST(ClusterWaits, ClocksOfHostsMinutesApartDoNotMatter) {
  ClusterWaits waits;
  Driver victim(waits, "victim");
  Driver other(waits, "other");
  other.ClockAhead(600);
  Share(victim, other, waits);
  const Explanation explanation = AskOf(waits, "victim");
  ASSERT_THAT(explanation.queries, SizeIs(1));
  ASSERT_THAT(explanation.queries[0].culprits, SizeIs(1));
  EXPECT_NEAR(explanation.queries[0].culprits[0].seconds, 15, 0.1);
}

TEST(ClusterWaits, JobsOnDifferentHostsDoNotMeet) {
  ClusterWaits waits;
  Driver victim(waits, "victim");
  Driver other(waits, "other");
  victim.Executor("node-1", 1);
  other.Executor("node-2", 1);
  for (Driver* driver : {&victim, &other}) {
    driver->Stage(0, 0, 1);
    driver->Start(0, 0, 0);
    driver->Heartbeat(10, 0, 0, 5, 5);
  }
  waits.Advance(Instant(13));
  const Explanation answer = AskOf(waits, "victim");
  for (const Culprit& culprit : answer.queries.at(0).culprits) {
    EXPECT_EQ(culprit.jobs, 0U) << "what no task reported";
  }
}

TEST(ClusterWaits, AQueryWithItselfAsItsOnlyNeighbourBlamesNobody) {
  ClusterWaits waits;
  Driver driver(waits, "app");
  driver.Executor("node-1", 2);
  for (const std::uint32_t stage : {0, 1}) {
    driver.Stage(0, stage, 1, "sql/0");
    driver.Start(0, stage, 0);
    driver.Heartbeat(10, stage, 0, 5, 5);
  }
  waits.Advance(Instant(13));
  const Explanation explanation = AskOf(waits, "app");
  ASSERT_THAT(explanation.queries, SizeIs(1));
  EXPECT_NEAR(*explanation.queries[0].waits[Resource::kProcessor].seconds, 5, 1e-6);
  EXPECT_THAT(explanation.queries[0].culprits, IsEmpty());
}

// The other is silent from 20 s on. It is blamed for what it told, and answers are 45 s old.
TEST(ClusterWaits, AnAttemptThatNeverEndsHoldsNoAnswerUp) {
  ClusterWaits waits;
  Driver victim(waits, "victim");
  Driver other(waits, "other");
  Share(victim, other, waits);
  for (int second = 24; second <= 200; ++second) {
    victim.Heartbeat(second, 0, 0, 5 + (second - 20), 15);
    waits.Advance(Instant(second));
  }
  const Explanation explanation = AskOf(waits, "victim");
  EXPECT_EQ(explanation.at, Instant(200 - 45));
  ASSERT_THAT(explanation.queries.at(0).culprits, SizeIs(1));
  EXPECT_NEAR(explanation.queries[0].culprits[0].seconds, 15, 0.5);
}

// Where tasks run is not told: they might be anywhere.
TEST(ClusterWaits, TasksOfHostsThatAreNotToldMeetNoOtherJob) {
  ClusterWaits waits;
  Driver victim(waits, "victim");
  Driver other(waits, "other");
  for (Driver* driver : {&victim, &other}) {
    driver->Stage(0, 0, 1);
    driver->Start(0, 0, 0, /*executor=*/7);
    driver->Heartbeat(10, 0, 0, 5, 5);
  }
  waits.Advance(Instant(13));
  const Explanation explanation = AskOf(waits, "victim");
  EXPECT_NEAR(*explanation.queries.at(0).waits[Resource::kProcessor].seconds, 5, 1e-6);
  EXPECT_THAT(explanation.queries.at(0).culprits, IsEmpty());
}

// A query all of whose tasks wait, behind another of its application.
TEST(ClusterWaits, AQueryThatHasNoSlotYetBlamesTheOneThatHoldsThem) {
  ClusterWaits waits;
  Driver driver(waits, "app");
  driver.Executor("node-1", 2);
  driver.Stage(0, 0, 2, "sql/0");
  driver.Start(0, 0, 0);
  driver.Start(0, 0, 1);
  driver.Stage(2, 1, 2, "sql/1");
  // Its tasks are silent: what is known of them is 45 s old.
  for (int second = 1; second <= 60; ++second) waits.Advance(Instant(second));
  const Explanation explanation = AskOf(waits, "app", {.query = "sql/1"});
  ASSERT_THAT(explanation.queries, SizeIs(1));
  ASSERT_THAT(explanation.queries[0].culprits, SizeIs(1));
  EXPECT_EQ(explanation.queries[0].culprits[0].query, "sql/0");
  EXPECT_EQ(explanation.at, Instant(15));
  EXPECT_NEAR(explanation.queries[0].culprits[0].seconds, 13, 1e-6);
}

TEST(ClusterWaits, OfTheLastMinutesOlderWaitsAreLeftOut) {
  ClusterWaits waits;
  Driver victim(waits, "victim");
  Driver other(waits, "other");
  Share(victim, other, waits);
  other.End(20, 0, 0);
  for (int second = 24; second <= 300; ++second) {
    victim.Heartbeat(second, 0, 0, 5 + (second - 20), 15);
    waits.Advance(Instant(second));
  }
  EXPECT_NEAR(AskOf(waits, "victim").queries.at(0).culprits.at(0).seconds, 15, 0.5);
  const Explanation last = AskOf(waits, "victim", {.last = absl::Minutes(2)});
  EXPECT_THAT(last.queries.at(0).culprits, IsEmpty());
}

// Slices are whole minutes: of 290 s the last two minutes begin at 120 s.
TEST(ClusterWaits, OfTheLastMinutesAQueryLastedNoLongerThanIsLookedAt) {
  ClusterWaits waits;
  Driver victim(waits, "victim");
  victim.Executor("node-1", 1);
  victim.Stage(0, 0, 1);
  victim.Start(0, 0, 0);
  for (int second = 1; second <= 293; ++second) {
    victim.Heartbeat(second, 0, 0, 0.5 * second, 0.5 * second);
    waits.Advance(Instant(second));
  }
  const QueryWaits last = AskOf(waits, "victim", {.last = absl::Minutes(2)}).queries.at(0);
  EXPECT_NEAR(*last.seconds, 293 - 120, 1e-6);
  EXPECT_NEAR(*last.waits[Resource::kProcessor].seconds, 0.5 * (290 - 120), 1e-6);
  EXPECT_NEAR(*AskOf(waits, "victim").queries.at(0).seconds, 293, 1e-6);
}

// It told of itself at 10 s, and ended at 100 s: what it waited since then is not known.
TEST(ClusterWaits, WhatATaskDidAfterItToldOfItLastIsNotKnown) {
  ClusterWaits waits;
  Driver victim(waits, "victim");
  victim.Executor("node-1", 1);
  victim.Stage(0, 0, 1);
  victim.Start(0, 0, 0);
  victim.Heartbeat(10, 0, 0, 5, 5);
  waits.Advance(Instant(11));
  victim.End(100, 0, 0);
  waits.Advance(Instant(104));
  const QueryWait processor = AskOf(waits, "victim").queries.at(0).waits[Resource::kProcessor];
  EXPECT_NEAR(*processor.seconds, 5, 1e-6);
  EXPECT_TRUE(processor.is_least);
}

// Half of the time it has both slots and waits for the processor throughout; before, another query
// holds one of them: 20 s, of which 20 x 10 / (30 + 10) for the slot and no more than the rest for
// the processor.
TEST(ClusterWaits, AllThatAQueryWaitedIsNoMoreThanItLasted) {
  ClusterWaits waits;
  Driver driver(waits, "app");
  driver.Executor("node-1", 2);
  driver.Stage(0, 0, 1, "sql/0");
  driver.Start(0, 0, 0);
  driver.Stage(0, 1, 3, "sql/1");
  driver.Start(0, 1, 0);
  driver.Heartbeat(10, 1, 0, 0, 10);
  driver.End(10, 1, 0);
  driver.End(10, 0, 0);
  driver.Start(10, 1, 1);
  driver.Start(10, 1, 2);
  for (const std::uint32_t task : {1, 2}) {
    driver.Heartbeat(20, 1, task, 0, 10);
    driver.End(20, 1, task);
  }
  waits.Advance(Instant(24));
  const QueryWaits query = AskOf(waits, "app", {.query = "sql/1"}).queries.at(0);
  EXPECT_NEAR(*query.waits[Resource::kScheduler].seconds, 5, 1e-6);
  EXPECT_NEAR(*query.waits[Resource::kProcessor].seconds, 15, 1e-6);
}

TEST(ClusterWaits, AJobThatRanBeforeItWasSeenIsPartial) {
  ClusterWaits waits;
  waits.Apply({.job_id = "job",
               .source_id = "driver",
               .sequence = 50,
               .sent_at = Instant(0),
               .arrived_at = Instant(0),
               .body = ExecutorOpened{.executor = 9, .host = "node-1", .slots = 1}});
  const Explanation explanation = AskOf(waits, "job");
  EXPECT_TRUE(explanation.is_partial);
  EXPECT_EQ(explanation.since, Instant(0));
}

// After a restart of the master a task that began since, or the job opened once more, may be the
// first to report.
TEST(ClusterWaits, AJobThatWasTakenUpWasNotSeenWholeWhoeverReportsFirst) {
  ClusterWaits waits;
  waits.Resume("job", "run", Instant(5));
  EXPECT_TRUE(AskOf(waits, "job").is_partial);
  EXPECT_EQ(AskOf(waits, "job").since, Instant(5));
  Event first = {.job_id = "job",
                 .run_uid = "run",
                 .source_id = "task",
                 .sequence = 1,
                 .sent_at = Instant(6),
                 .arrived_at = Instant(6),
                 .body = AttemptChanged{.state = AttemptState::kStarted, .at = Instant(6)}};
  waits.Apply(first);
  first.source_id = "driver";
  first.body = JobOpened{.name = "job"};
  waits.Apply(first);
  EXPECT_TRUE(AskOf(waits, "job").is_partial);
  EXPECT_EQ(AskOf(waits, "job").since, Instant(5));
  first.run_uid = "another run";
  waits.Apply(first);
  EXPECT_FALSE(AskOf(waits, "job").is_partial) << "of that one nothing was before";
}

TEST(ClusterWaits, AForgottenCulpritIsAnotherJob) {
  ClusterWaits waits;
  Driver victim(waits, "victim");
  Driver other(waits, "other");
  Share(victim, other, waits);
  waits.Forget("other");
  EXPECT_FALSE(waits.Ask("other", {}));
  const Explanation explanation = AskOf(waits, "victim");
  ASSERT_THAT(explanation.queries.at(0).culprits, SizeIs(1));
  EXPECT_EQ(explanation.queries[0].culprits[0].job_id, "");
  EXPECT_NEAR(explanation.queries[0].culprits[0].seconds, 15, 1e-6);
  waits.Forget("nobody");
}

// One query after the other, each of one task; the sums of ten are kept.
TEST(ClusterWaits, ForgetsTheOldestQueriesWhereThereIsNoRoomForMore) {
  ClusterWaits waits({.stages_max = 10});
  Driver driver(waits, "app");
  driver.Executor("node-1", 1);
  for (std::uint32_t q = 0; q < 100; ++q) {
    const std::string group = "sql/" + std::to_string(q);
    driver.Stage(q, q, 1, group);
    driver.Start(q, q, 0);
    driver.End(q + 0.9, q, 0);
    driver.Tell(q + 0.9, StageClosed{.stage = q});
    driver.Tell(q + 0.9, GroupClosed{.group = group});
    waits.Advance(Instant(q + 0.95));
  }
  waits.Advance(Instant(110));
  const Explanation explanation = AskOf(waits, "app");
  EXPECT_FALSE(explanation.queries.empty());
  EXPECT_EQ(explanation.queries.back().query, "sql/99");
  EXPECT_GE(explanation.queries_left_out, 89U);
  EXPECT_LE(explanation.queries.size(), 10U);
}

// Hosts come and go, as containers do; of those that are gone nothing is left.
TEST(ClusterWaits, AHostThatIsForgottenLeavesRoomForAnother) {
  ClusterWaits waits({.hosts_max = 2});
  for (int round = 0; round < 10; ++round) {
    const std::string number = std::to_string(round);
    Driver victim(waits, "victim " + number);
    Driver other(waits, "other " + number);
    for (Driver* driver : {&victim, &other}) {
      driver->Executor("node-" + number, 1);
      driver->Stage(100 * round, 0, 1);
      driver->Start(100 * round, 0, 0);
    }
    victim.Heartbeat(100 * round + 10, 0, 0, 2, 8);
    other.Heartbeat(100 * round + 10, 0, 0, 8, 2);
    waits.Advance(Instant(100 * round + 14));
    const Explanation explanation = AskOf(waits, "victim " + number);
    EXPECT_FALSE(explanation.is_partial);
    ASSERT_THAT(explanation.queries.at(0).culprits, SizeIs(1));
    EXPECT_EQ(explanation.queries[0].culprits[0].host, "node-" + number);
    waits.Forget("victim " + number);
    waits.Forget("other " + number);
  }
}

TEST(ClusterWaits, AHostForWhichThereIsNoRoomIsNotTold) {
  ClusterWaits waits({.hosts_max = 1});
  Driver first(waits, "first");
  Driver second(waits, "second");
  first.Executor("node-1", 1);
  second.Executor("node-2", 1);
  for (Driver* driver : {&first, &second}) {
    driver->Stage(0, 0, 1);
    driver->Start(0, 0, 0);
    driver->Heartbeat(10, 0, 0, 5, 5);
  }
  waits.Advance(Instant(14));
  EXPECT_FALSE(AskOf(waits, "first").is_partial);
  EXPECT_TRUE(AskOf(waits, "second").is_partial);
  EXPECT_THAT(AskOf(waits, "second").queries.at(0).culprits, IsEmpty());
}

// The second task is not followed: whether it holds a slot is not known.
TEST(ClusterWaits, WhereNotAllTasksAreFollowedNobodyIsBlamedForSlots) {
  ClusterWaits waits({.attempts_max = 1});
  Driver driver(waits, "app");
  driver.Executor("node-1", 2);
  driver.Stage(0, 0, 1, "sql/0");
  driver.Stage(0, 1, 2, "sql/1");
  driver.Start(0, 0, 0);
  driver.Start(0, 1, 0);
  driver.End(9, 0, 0);
  driver.Start(9, 1, 1);
  for (int second = 1; second <= 60; ++second) waits.Advance(Instant(second));
  const Explanation explanation = AskOf(waits, "app", {.query = "sql/1"});
  EXPECT_TRUE(explanation.is_partial);
  for (const QueryWaits& query : explanation.queries) EXPECT_THAT(query.culprits, IsEmpty());
}

TEST(ClusterWaits, WhereAllQueriesRunNoMoreAreFollowedAndItSaysSo) {
  ClusterWaits waits({.stages_max = 3});
  Driver driver(waits, "app");
  driver.Executor("node-1", 1);
  for (std::uint32_t s = 0; s < 10; ++s) driver.Stage(0, s, 5, "sql/" + std::to_string(s));
  EXPECT_TRUE(AskOf(waits, "app").is_partial);
}

TEST(ClusterWaits, AnotherRunOfAJobBeginsAnew) {
  ClusterWaits waits;
  Driver victim(waits, "victim");
  Driver other(waits, "other");
  Share(victim, other, waits);
  victim.Tell(24, JobClosed{});
  victim.Tell(25, JobOpened{.name = "victim"});
  EXPECT_THAT(AskOf(waits, "victim").queries, IsEmpty());
}

// Three tasks of 1 s and one of 9 s that waits for nothing: its own doing, and nobody else's.
TEST(ClusterWaits, AQueryThatIsSlowByItselfBlamesNobodyAndTellsItsLongestTask) {
  ClusterWaits waits;
  Driver driver(waits, "app");
  driver.Executor("node-1", 4);
  driver.Stage(0, 0, 4, "sql/0");
  for (std::uint32_t task = 0; task < 4; ++task) driver.Start(0, 0, task);
  for (std::uint32_t task = 0; task < 3; ++task) driver.End(1, 0, task);
  driver.End(9, 0, 3);
  waits.Advance(Instant(13));
  const Explanation explanation = AskOf(waits, "app");
  ASSERT_THAT(explanation.queries, SizeIs(1));
  EXPECT_THAT(explanation.queries[0].culprits, IsEmpty());
  EXPECT_NEAR(*explanation.queries[0].skew_seconds, 9 - 3, 1e-6);
  const std::optional<LongestTask>& longest = explanation.queries[0].longest_task;
  ASSERT_TRUE(longest);
  EXPECT_EQ(longest->attempt, (AttemptId{.stage = 0, .index = 3}));
  EXPECT_EQ(longest->host, "node-1");
  EXPECT_NEAR(longest->seconds, 9, 1e-6);
  EXPECT_NEAR(longest->mean_seconds, 3, 1e-6);
  EXPECT_EQ(longest->group_bytes, 0U) << "no key group was told";
}

// One reduce task of 10 s, of which the first key group took 2 s and the second one 6 s; the
// profile that names the latter tells nothing else.
TEST(ClusterWaits, TasksWithoutADurationDoNotLowerTheMeanOfTheirStage) {
  ClusterWaits waits;
  Driver driver(waits, "app");
  driver.Executor("node-1", 4);
  driver.Stage(0, 0, 4, "sql/0");
  for (std::uint32_t task = 0; task < 4; ++task) driver.Start(0, 0, task);
  for (std::uint32_t task = 0; task < 2; ++task) driver.End(0, 0, task);
  for (std::uint32_t task = 2; task < 4; ++task) driver.End(10, 0, task);
  waits.Advance(Instant(13));
  const std::optional<LongestTask> longest = AskOf(waits, "app").queries.at(0).longest_task;
  ASSERT_TRUE(longest);
  EXPECT_NEAR(longest->mean_seconds, 10, 1e-6);
}

TEST(ClusterWaits, OfTheLongestTaskNamesTheKeyGroupThatTookLongest) {
  ClusterWaits waits;
  Driver driver(waits, "app");
  driver.Executor("node-1", 1);
  driver.Tell(0, JobOpened{.stages = MapReduceStages(1, 1)});
  driver.Start(0, kReduceStage, 0);
  ReduceProfile profile{.attempt = {.stage = kReduceStage}};
  profile.finished_keys = {{.size_bytes = 900, .time = absl::Seconds(2)}};
  driver.Tell(3, profile);
  profile.finished_keys = {{.size_bytes = 700, .time = absl::Seconds(6)}};
  driver.Tell(9, profile);
  profile.finished_keys = {{.size_bytes = 1, .time = absl::Seconds(1)}};
  driver.Tell(10, profile);
  driver.End(10, kReduceStage, 0);
  waits.Advance(Instant(20));
  const std::optional<LongestTask> longest = AskOf(waits, "app").queries.at(0).longest_task;
  ASSERT_TRUE(longest);
  EXPECT_EQ(longest->kind, StageKind::kReduce);
  EXPECT_NEAR(longest->seconds, 10, 1e-6);
  EXPECT_NEAR(longest->mean_seconds, 10, 1e-6) << "it is the only one";
  EXPECT_EQ(longest->group_bytes, 700U);
  EXPECT_NEAR(longest->group_seconds, 6, 1e-6);
}

// Of its 10 s it waited 8, the other one of its 4 s 3: it had twice as much to do.
TEST(ClusterWaits, TheLongestTaskTookAsLongAsItRanWhateverItWaited) {
  ClusterWaits waits;
  Driver driver(waits, "app");
  driver.Executor("node-1", 2);
  driver.Tell(0, JobOpened{.stages = MapReduceStages(1, 2)});
  for (std::uint32_t task = 0; task < 2; ++task) driver.Start(0, kReduceStage, task);
  driver.Heartbeat(4, kReduceStage, 1, 1, 3);
  driver.End(4, kReduceStage, 1);
  ReduceProfile profile{.attempt = {.stage = kReduceStage}};
  profile.finished_keys = {{.size_bytes = 700, .time = absl::Seconds(6)}};
  driver.Tell(9, profile);
  driver.Heartbeat(10, kReduceStage, 0, 2, 8);
  driver.End(10, kReduceStage, 0);
  waits.Advance(Instant(20));
  const QueryWaits query = AskOf(waits, "app").queries.at(0);
  ASSERT_TRUE(query.longest_task);
  EXPECT_NEAR(query.longest_task->seconds, 10, 1e-6);
  EXPECT_NEAR(query.longest_task->mean_seconds, 7, 1e-6);
  EXPECT_NEAR(query.longest_task->group_seconds, 6, 1e-6);
  EXPECT_NEAR(*query.skew_seconds, 2 - 1.5, 1e-6) << "what they waited taken off";
}

// Of 10 s it waited 9; the other one took 4 s and waited for nothing.
TEST(ClusterWaits, ATaskThatIsLongestForWhatItWaitedIsNotTold) {
  ClusterWaits waits;
  Driver driver(waits, "app");
  driver.Executor("node-1", 2);
  driver.Stage(0, 0, 2, "sql/0");
  for (std::uint32_t task = 0; task < 2; ++task) driver.Start(0, 0, task);
  driver.Heartbeat(4, 0, 1, 4, 0);
  driver.End(4, 0, 1);
  driver.Heartbeat(10, 0, 0, 1, 9);
  driver.End(10, 0, 0);
  waits.Advance(Instant(20));
  EXPECT_FALSE(AskOf(waits, "app").queries.at(0).longest_task);
}

// Submitted 3 s before its first stage began.
TEST(ClusterWaits, AJobThatNamesNoQueriesLastsFromItsOwnStart) {
  ClusterWaits waits;
  Driver driver(waits, "app");
  driver.Executor("node-1", 1);
  driver.Stage(3, 0, 1);
  driver.Start(3, 0, 0);
  driver.End(10, 0, 0);
  driver.Tell(10, JobClosed{});
  waits.Advance(Instant(20));
  EXPECT_NEAR(*AskOf(waits, "app").queries.at(0).seconds, 10, 1e-6);
}

// A scan of two tasks, 10 s each, of which each waits for a processor for 4 s; both read 150 bytes.
void Scan(Driver& driver, ClusterWaits& waits) {
  driver.Executor("node-1", 2);
  driver.Tell(0, StageOpened{.stage = 0,
                             .signature = "scan",
                             .group = "sql/0",
                             .task_count = 2,
                             .opened_at = Instant(0)});
  for (std::uint32_t task = 0; task < 2; ++task) driver.Start(0, 0, task);
  for (std::uint32_t task = 0; task < 2; ++task) {
    driver.Heartbeat(9, 0, task, 5, 4);
    driver.Tell(10, AttemptChanged{.attempt = {.stage = 0, .index = task},
                                   .state = AttemptState::kFinished,
                                   .at = Instant(10),
                                   .input_bytes = 150});
  }
  waits.Advance(Instant(20));
}

EarlierData Scanned(std::vector<double> bytes) {
  return {.stages = {{"scan", *EarlierBytesOf(std::move(bytes))}}};
}

// 12 s of work for 300 bytes: of that, 100 bytes would have been 4 s.
TEST(ClusterWaits, WhatAQueryReadMoreThanInEarlierRunsIsItsOwnDoing) {
  ClusterWaits waits;
  Driver driver(waits, "app");
  Scan(driver, waits);
  EXPECT_FALSE(AskOf(waits, "app").queries.at(0).data_growth) << "nothing is known of before";
  waits.SetEarlierData("app", Scanned({100}));
  const std::optional<DataGrowth> growth = AskOf(waits, "app").queries.at(0).data_growth;
  ASSERT_TRUE(growth);
  EXPECT_NEAR(growth->task_seconds, 8, 1e-6);
  EXPECT_NEAR(growth->read_bytes, 300, 1e-6);
  EXPECT_NEAR(growth->earlier_read_bytes, 100, 1e-6);
  EXPECT_NEAR(growth->all_task_seconds, 12, 1e-6);
  EXPECT_FALSE(AskOf(waits, "app", {.last = absl::Minutes(2)}).queries.at(0).data_growth);
  waits.SetEarlierData("app", Scanned({310}));
  EXPECT_FALSE(AskOf(waits, "app").queries.at(0).data_growth);
  waits.SetEarlierData("nobody", Scanned({100}));
}

// 12 s of the scan, of which 8 s are growth, and 10 s of a stage of which nothing is known.
TEST(ClusterWaits, GrowthIsAPartOfWhatAllTasksOfTheQueryTook) {
  ClusterWaits waits;
  Driver driver(waits, "app");
  Scan(driver, waits);
  waits.SetEarlierData("app", Scanned({100}));
  driver.Stage(21, 1, 1, "sql/0");
  driver.Start(21, 1, 0);
  driver.End(31, 1, 0);
  const std::optional<DataGrowth> growth = AskOf(waits, "app").queries.at(0).data_growth;
  ASSERT_TRUE(growth);
  EXPECT_NEAR(growth->task_seconds, 8, 1e-6);
  EXPECT_NEAR(growth->all_task_seconds, 22, 1e-6);
}

TEST(ClusterWaits, EarlierRunsOfOtherStagesSayNothingOfAQuery) {
  ClusterWaits waits;
  Driver driver(waits, "app");
  Scan(driver, waits);
  waits.SetEarlierData(
      "app", {.map_stage = EarlierBytesOf({100}), .stages = {{"join", *EarlierBytesOf({100})}}});
  EXPECT_FALSE(AskOf(waits, "app").queries.at(0).data_growth);
}

// A task whose output was lost reads its part again.
TEST(ClusterWaits, WhatIsReadAgainIsNoGrowth) {
  ClusterWaits waits;
  Driver driver(waits, "app");
  Scan(driver, waits);
  waits.SetEarlierData("app", Scanned({100}));
  const AttemptId again = {.stage = 0, .index = 1, .attempt = 1};
  driver.Tell(
      21, AttemptChanged{
              .attempt = again, .state = AttemptState::kStarted, .at = Instant(21), .executor = 0});
  driver.Tell(25, AttemptChanged{.attempt = again,
                                 .state = AttemptState::kFinished,
                                 .at = Instant(25),
                                 .input_bytes = 150});
  waits.Advance(Instant(40));
  EXPECT_FALSE(AskOf(waits, "app").queries.at(0).data_growth);
}

// Of three tasks two have ended; what one of them wrote is lost, so that it will read its part
// again.
TEST(ClusterWaits, WhatIsReadAgainIsNoGrowthWhileTheStageRuns) {
  ClusterWaits waits;
  Driver driver(waits, "app");
  Scan(driver, waits);
  driver.Tell(20, StageOpened{.stage = 0, .signature = "scan", .group = "sql/0", .task_count = 3});
  waits.SetEarlierData("app", Scanned({100}));
  ASSERT_TRUE(AskOf(waits, "app").queries.at(0).data_growth);
  driver.Tell(21, AttemptChanged{.attempt = {.stage = 0, .index = 1},
                                 .state = AttemptState::kObsolete,
                                 .at = Instant(10)});
  EXPECT_FALSE(AskOf(waits, "app").queries.at(0).data_growth);
}

TEST(ClusterWaits, OfAMapStageWhatItsTasksWereToldToReadCounts) {
  ClusterWaits waits;
  Driver driver(waits, "mapreduce");
  driver.Executor("node-1", 1);
  driver.Tell(0, JobOpened{.stages = MapReduceStages(1, 1)});
  driver.Tell(0, AttemptChanged{.attempt = {.stage = kMapStage},
                                .state = AttemptState::kStarted,
                                .at = Instant(0),
                                .executor = 0,
                                .input_bytes = 400});
  driver.Tell(5, TaskHeartbeat{.attempt = {.stage = kMapStage}, .bytes_done = 4000});
  driver.End(8, kMapStage, 0);
  waits.SetEarlierData("mapreduce", {.map_stage = EarlierBytesOf({100})});
  waits.Advance(Instant(20));
  const std::optional<DataGrowth> growth = AskOf(waits, "mapreduce").queries.at(0).data_growth;
  ASSERT_TRUE(growth);
  EXPECT_NEAR(growth->task_seconds, 6, 1e-6);
  EXPECT_NEAR(growth->read_bytes, 400, 1e-6);
}

TEST(ClusterWaits, OfMoreEarlierStagesThanThereIsRoomForNothingIsKept) {
  ClusterWaits waits({.stages_max = 4});
  Driver driver(waits, "app");
  Scan(driver, waits);
  EarlierData many = Scanned({100});
  for (const char* name : {"a", "b", "c", "d"}) many.stages[name] = *EarlierBytesOf({1});
  waits.SetEarlierData("app", many);
  EXPECT_FALSE(AskOf(waits, "app").queries.at(0).data_growth);
  waits.SetEarlierData("app", Scanned({100}));
  EXPECT_TRUE(AskOf(waits, "app").queries.at(0).data_growth);
}

// Ends without starts, executors twice, totals that fall, an end before the start.
TEST(ClusterWaits, TakesWhatContradictsItself) {
  ClusterWaits waits;
  Driver driver(waits, "app");
  driver.Executor("node-1", 1);
  driver.Tell(0, ExecutorOpened{.executor = 0, .host = "node-2", .slots = 5});
  driver.Tell(0, ExecutorClosed{.executor = 12});
  driver.End(1, 4, 0);
  driver.Tell(1, StageClosed{.stage = 77});
  driver.Stage(1, 0, 0);
  driver.Start(5, 0, 0);
  driver.Start(5, 0, 0);
  driver.Heartbeat(6, 0, 0, 3, 1e9);
  driver.Heartbeat(7, 0, 0, 1, 0);
  driver.End(2, 0, 0);
  waits.Advance(Instant(60));
  waits.Advance(Instant(20));
  const Explanation explanation = AskOf(waits, "app");
  for (const QueryWaits& query : explanation.queries) {
    for (const Resource resource : kResources) {
      EXPECT_GE(query.waits[resource].seconds.value_or(0), 0);
      EXPECT_LT(query.waits[resource].seconds.value_or(0), 60);
    }
  }
}

}  // namespace
}  // namespace tidemark::blame
