#include "master/waits/cluster_waits.h"

#include "tests/matchers.h"
#include "tests/test.h"
#include "tests/waits/driver.h"

namespace tidemark::waits::cluster_waits_test {
namespace {

using enum WaitReason;
using ::testing::AllOf;
using ::testing::Field;
using ::testing::FieldsAre;

// Matches a cause with the given job and seconds. An empty job means unreported processes.
MATCHER_P2(Blames, job, seconds, "") {
  return arg.job_id == job && std::abs(arg.seconds - seconds) < 1e-6;
}

// Matches a cause whose seconds have these limits.
auto Between(double lower, double upper) {
  return AllOf(Field(&ContendingQuery::seconds_lower, Near(lower)),
               Field(&ContendingQuery::seconds_upper, Near(upper)));
}

auto OnHost(const std::string& host, WaitReason resource) {
  return AllOf(Field(&ContendingQuery::host, host), Field(&ContendingQuery::resource, resource));
}

Explanation AskOf(const ClusterWaits& waits, const std::string& job,
                  const ExplainQuestion& question = {}) {
  return waits.Ask(job, question).value_or(Explanation());
}

class ClusterWaitsTest : public ::testing::Test {
 protected:
  void Advance(double seconds) { waits_.Advance(Instant(seconds)); }
  Explanation Ask(const std::string& job, const ExplainQuestion& question = {}) const {
    return AskOf(waits_, job, question);
  }
  // Returns the causes for the first query of the job.
  std::vector<ContendingQuery> Causes(const std::string& job) const {
    return Ask(job).queries.at(0).culprits;
  }

  ClusterWaits waits_;
};

class OneJobTest : public ClusterWaitsTest {
 protected:
  QueryWaits FirstQuery(const ExplainQuestion& question = {}) const {
    return Ask("app", question).queries.at(0);
  }
  std::optional<DataGrowth> Growth() const { return FirstQuery().data_growth; }
  // Answers a question after the end of the application.
  std::vector<QueryWaits> AtTheEnd(const ExplainQuestion& question = {}) {
    waits_.Finish();
    return Ask("app", question).queries;
  }
  // Runs job/0 on both slots from 0 to 10 s. job/1 has two tasks from 2 s on, which run from 10 to
  // 14 s. Each of them collects garbage for 1 s of 8 s.
  void RunTwoQueries() {
    app_.Executor("node-1", 2).Stage(0, 0, 2, "job/0").StartTasks(0, 0, 0, 2);
    app_.Stage(2, 1, 2, "job/1").EndTasks(10, 0, 0, 2).StartTasks(10, 1, 0, 2);
    for (const std::uint32_t task : {0, 1}) app_.Waited(14, 1, task, kMemory, 1, {}, 2);
    app_.EndTasks(14, 1, 0, 2).Close(14);
  }

  Driver app_{waits_, "app"};
};

TEST_F(OneJobTest, BlamesTheQueryThatHeldTheSlots) {
  RunTwoQueries();
  const auto query = Only(AtTheEnd({.query = "job/1"}));
  EXPECT_DOUBLE_EQ(*query.seconds, 12);
  // job/1 lacked 2 slots for 8 s, and ran for 8 task seconds in 12 s, so the wait is 12 s x 16 /
  // (16 + 8).
  EXPECT_THAT(query.waits[kSlots].seconds, Near(8));
  // Without job/0, the only other query, job/1 would certainly have run from 2 to 6 s.
  ASSERT_THAT(query.culprits, ElementsAre(AllOf(Blames("app", 8), Between(8, 8))));
  EXPECT_EQ(query.culprits[0].query, "job/0");
  EXPECT_EQ(query.culprits[0].resource, kSlots);
}

TEST_F(OneJobTest, AQueryOfTheSameJobIsNamedWithoutIt) {
  RunTwoQueries();
  EXPECT_THAT(AtTheEnd({.query = "job/1", .because_of = "job/0"})[0].culprits, SizeIs(1));
  EXPECT_THAT(AtTheEnd({.query = "job/1", .because_of = "job/2"})[0].culprits, IsEmpty());
}

TEST_F(OneJobTest, WaitWithoutAKnownCauseBlamesNoQuery) {
  RunTwoQueries();
  const auto query = Only(AtTheEnd({.query = "job/1", .resource = kMemory}));
  // 2 task seconds of 2 concurrent tasks are 1 s.
  EXPECT_THAT(query.waits[kMemory].seconds, Near(1));
  EXPECT_FALSE(query.waits[kSlots].seconds) << "the question excludes slots";
  EXPECT_THAT(query.culprits, IsEmpty());
}

TEST_F(OneJobTest, UnreportedWaitsAreNotZero) {
  RunTwoQueries();
  const auto queries = AtTheEnd();
  ASSERT_THAT(queries, SizeIs(2));
  EXPECT_FALSE(queries[0].waits[kMemory].seconds) << "tasks without metrics";
  EXPECT_FALSE(queries[1].waits[kProcessor].seconds);
  EXPECT_FALSE(queries[1].waits[kNetwork].seconds);
  EXPECT_DOUBLE_EQ(*queries[0].waits[kSlots].seconds, 0) << "job/0 never waited";
}

// The second task waits for the slot of the first task.
TEST_F(OneJobTest, SingleQueryBlamesNoOtherQuery) {
  app_.Executor("node-1", 1).Stage(0, 0, 2, "job/0").Start(0, 0, 0).End(5, 0, 0);
  app_.Start(5, 0, 1).End(10, 0, 1).Close(10);
  const auto query = Only(AtTheEnd());
  EXPECT_DOUBLE_EQ(*query.waits[kSlots].seconds, 0);
  EXPECT_THAT(query.culprits, IsEmpty());
}

TEST_F(OneJobTest, WaitBesideFreeSlotsDoesNotCount) {
  app_.Executor("node-1", 4).Stage(0, 0, 2, "job/0").StartTasks(0, 0, 0, 2);
  app_.Stage(2, 1, 1, "job/1").Start(5, 1, 0).End(6, 1, 0).EndTasks(10, 0, 0, 2).Close(10);
  const auto queries = AtTheEnd();
  ASSERT_THAT(queries, SizeIs(2));
  EXPECT_DOUBLE_EQ(*queries[1].waits[kSlots].seconds, 0);
  EXPECT_THAT(queries[1].culprits, IsEmpty());
}

// job/0 is running when the events end, so it has its slot until then.
TEST_F(OneJobTest, TaskWithoutAnEndHoldsItsSlotUntilTheEventsEnd) {
  app_.Executor("node-1", 2).Stage(0, 0, 1, "job/0").Start(0, 0, 0);
  app_.Stage(0, 1, 2, "job/1").Start(0, 1, 0).End(6, 1, 0).Start(6, 1, 1).End(12, 1, 1);
  const auto queries = AtTheEnd();
  ASSERT_THAT(queries, SizeIs(2));
  // The second task of job/1 lacked the slot of job/0 for 6 s, and the tasks ran for 12 s, so the
  // wait is 12 s x 6 / (6 + 12).
  EXPECT_THAT(queries[1].waits[kSlots].seconds, Near(4));
  EXPECT_DOUBLE_EQ(*queries[0].seconds, 12);
}

TEST_F(OneJobTest, AnswersNothingForAQueryThatDidNotRun) {
  RunTwoQueries();
  EXPECT_THAT(AtTheEnd({.query = "sql/9"}), IsEmpty());
  ClusterWaits none;
  none.Finish();
  EXPECT_THAT(none.jobs(), IsEmpty());
}

TEST_F(OneJobTest, QuestionAboutAHostLeavesSlotsOut) {
  RunTwoQueries();
  const auto query = Only(AtTheEnd({.query = "job/1", .host = "node-1"}));
  EXPECT_FALSE(query.waits[kSlots].seconds);
  EXPECT_THAT(query.waits[kMemory].seconds, Near(1));
}

const std::set<QueryName> kOther = {{"other", ""}};

class TwoJobsTest : public ClusterWaitsTest {
 protected:
  // Runs a task of each job for 20 s on node-1, which has one processor. The victim computes for a
  // quarter of the time and otherwise waits. The other task computes for three quarters.
  void ShareProcessor() {
    victim_.RunTask("node-1");
    other_.RunTask("node-1");
    for (int second = 1; second <= 20; ++second) {
      victim_.Heartbeat(second, 0, 0, 0.25 * second, 0.75 * second);
      other_.Heartbeat(second, 0, 0, 0.75 * second, 0.25 * second);
      Advance(second);
    }
    Advance(23);
  }
  // Continues the victim after ShareProcessor() without further waits.
  void RunVictimUntil(int end) {
    for (int second = 24; second <= end; ++second) {
      victim_.Heartbeat(second, 0, 0, 5 + (second - 20), 15);
      Advance(second);
    }
  }
  // Reports a victim whose task began 1 ns after 1970 and waits for 6 of 10 s while the other task
  // computes.
  void RunSince1970(absl::Time ends_at) {
    const absl::Time long_ago = absl::UnixEpoch() + absl::Nanoseconds(1);
    victim_.Executor("node-1", 1);
    other_.RunTask("node-1");
    victim_.Send(0, StageOpened{.stage = 0, .task_count = 1, .opened_at = long_ago});
    victim_.Send(0, AttemptChanged{{.stage = 0}, AttemptState::kStarted, long_ago, 0});
    victim_.Heartbeat(10, 0, 0, 4, 6);
    other_.Heartbeat(10, 0, 0, 6, 4);
    victim_.Send(10, JobClosed{.at = ends_at});
    Advance(14);
  }
  // Runs a victim that waits for a processor for 9 of 10 s, while another task computes for
  // `seconds`.
  void RunBesideATaskThatComputes(double seconds) {
    victim_.RunTask("node-1").Heartbeat(10, 0, 0, 1, 9);
    other_.RunTask("node-1").Heartbeat(10, 0, 0, seconds, 0);
    Advance(13);
  }
  QueryWaits FirstQuery(const ExplainQuestion& question = {}) const {
    return Ask("victim", question).queries.at(0);
  }
  std::vector<LossesTo> Losses(const std::set<QueryName>& to, std::size_t most = 3) const {
    return waits_.Losses("victim", to, most, std::nullopt);
  }
  std::vector<CostOf> Costs(const std::set<QueryName>& to, std::size_t most = 3) const {
    return waits_.Costs("victim", to, most, std::nullopt);
  }

  Driver victim_{waits_, "victim"};
  Driver other_{waits_, "other"};
};

// One task ran on node-1. Another task starts on node-2 and is not in any sum yet.
TEST_F(OneJobTest, QuestionAboutAHostListsTheKnownHosts) {
  app_.Executor("node-1", 1).Executor("node-2", 1).Stage(0, 0, 2).Start(0, 0, 0, 0).End(10, 0, 0);
  app_.Start(19, 0, 1, 1);
  Advance(20);
  const Explanation explanation = Ask("app", {.host = "node-9"});
  ASSERT_THAT(explanation.queries, SizeIs(1));
  EXPECT_THAT(explanation.hosts, ElementsAre("node-1", "node-2"));
  EXPECT_THAT(Ask("app").hosts, IsEmpty());
}

TEST_F(TwoJobsTest, RunningJobBlamesTheUserOfTheProcessor) {
  ShareProcessor();
  const Explanation explanation = Ask("victim");
  ASSERT_THAT(explanation.queries, SizeIs(1));
  EXPECT_THAT(explanation.queries[0].waits[kProcessor].seconds, Near(15));
  EXPECT_THAT(explanation.queries[0].culprits,
              ElementsAre(AllOf(Blames("other", 15), OnHost("node-1", kProcessor))));
  EXPECT_FALSE(explanation.is_partial);
  EXPECT_EQ(explanation.at, Instant(20));
}

// The victim lost 15 of 20 s. There is no other cause.
TEST_F(TwoJobsTest, LossesAreThePartOfTaskTimeLostToARunningJob) {
  ShareProcessor();
  const LossesTo loss = Only(Losses(kOther));
  EXPECT_EQ(loss.query, (QueryName{"other", ""}));
  for (const facts::LostShare& lost : {Only(loss.lost.by_stage), loss.lost.of_all}) {
    EXPECT_THAT(lost, FieldsAre(Near(0.75), Near(0.75), Near(0.75)));
  }
  EXPECT_THAT(waits_.Losses("unknown", kOther, 3, std::nullopt), IsEmpty());
}

TEST_F(TwoJobsTest, JobWithoutRunningTasksCausesNoLosses) {
  ShareProcessor();
  other_.End(23, 0, 0);
  EXPECT_THAT(Losses(kOther), IsEmpty());
}

TEST_F(TwoJobsTest, AQuestionSelectsTheCauses) {
  ShareProcessor();
  EXPECT_THAT(FirstQuery({.because_of = "other"}).culprits, SizeIs(1));
  EXPECT_THAT(FirstQuery({.because_of = "another"}).culprits, IsEmpty());
  EXPECT_THAT(FirstQuery({.because_of = "other/sql/1"}).culprits, IsEmpty());
}

TEST_F(TwoJobsTest, LossesAreLimitedToRequestedQueries) {
  ShareProcessor();
  EXPECT_THAT(Losses({}), IsEmpty());
  EXPECT_THAT(Losses({{"other", "sql/1"}, {"another", ""}}), IsEmpty());
  EXPECT_THAT(Losses(kOther, 0), IsEmpty());
}

// The victim computes for a quarter of the time and otherwise waits, in two consecutive queries.
TEST_F(TwoJobsTest, CostsOfAnEndedJobAddUpItsConsecutiveQueries) {
  victim_.Executor("node-1", 1).Stage(0, 0, 1, "sql/0").Start(0, 0, 0);
  other_.RunTask("node-1");
  for (int second = 1; second <= 20; ++second) {
    const int ran = second <= 10 ? second : second - 10;
    victim_.Heartbeat(second, second <= 10 ? 0 : 1, 0, 0.25 * ran, 0.75 * ran);
    other_.Heartbeat(second, 0, 0, 0.75 * second, 0.25 * second);
    if (second == 10) victim_.End(10, 0, 0).Stage(10, 1, 1, "sql/1").Start(10, 1, 0);
    Advance(second);
  }
  EXPECT_FALSE(Ask("victim").has_ended);
  victim_.End(20, 1, 0).Close(20);
  Advance(24);
  const Explanation explanation = Ask("victim");
  EXPECT_TRUE(explanation.has_ended);
  ASSERT_THAT(explanation.queries, SizeIs(2));
  EXPECT_THAT(explanation.queries[0].culprits.at(0).seconds, Near(7.5));
  EXPECT_THAT(Costs(kOther),
              ElementsAre(FieldsAre(QueryName{"other", ""}, Near(15), Near(15), Near(15))));
  EXPECT_THAT(Costs(kOther, 0), IsEmpty());
  EXPECT_THAT(Costs({{"another", ""}, {"victim", "sql/0"}}), IsEmpty());
  EXPECT_THAT(waits_.Costs("unknown", kOther, 3, std::nullopt), IsEmpty());
}

TEST_F(TwoJobsTest, InstantsBeforeTheStartOfTheJobAreClamped) {
  RunSince1970(Instant(10));
  const QueryWaits query = FirstQuery();
  EXPECT_THAT(query.seconds, Near(10));
  EXPECT_THAT(query.waits[kProcessor].seconds, Near(6));
  EXPECT_THAT(query.culprits.at(0).seconds, Near(6));
  EXPECT_THAT(Costs(kOther).at(0).seconds, Near(6));
}

// The reported end of the job equals its start.
TEST_F(TwoJobsTest, JobWithoutADurationLostNoTime) {
  RunSince1970(absl::UnixEpoch());
  const QueryWaits query = FirstQuery();
  EXPECT_EQ(query.seconds, 0);
  EXPECT_EQ(query.waits[kProcessor].seconds, 0);
  EXPECT_THAT(query.culprits, Each(AllOf(Field(&ContendingQuery::seconds, 0),
                                         Field(&ContendingQuery::seconds_upper, 0))));
  EXPECT_THAT(Costs(kOther), Each(AllOf(Field(&CostOf::seconds, 0), Field(&CostOf::upper, 0))));
}

// A driver that does not know the time sends 0.
TEST_F(OneJobTest, JobCountsFromItsSubmissionBeforeItsFirstEventUnlessThatIsIn1970) {
  struct Case {
    absl::Time submitted_at, stage_at, task_at;
    double seconds;
  };
  const absl::Time epoch = absl::UnixEpoch();
  for (const Case& one :
       {Case{Instant(-10), Instant(-8), Instant(-5), 6 + 10}, Case{epoch, epoch, epoch, 6}}) {
    ClusterWaits waits;
    Driver app(waits, "app");
    app.Send(0, JobOpened{.name = "app", .submitted_at = one.submitted_at});
    app.Send(0, StageOpened{.stage = 0, .task_count = 1, .opened_at = one.stage_at});
    app.Send(0, AttemptChanged{{.stage = 0}, AttemptState::kStarted, one.task_at});
    app.End(5, 0, 0).Close(6);
    waits.Advance(Instant(10));
    EXPECT_THAT(AskOf(waits, "app").queries.at(0).seconds, Near(one.seconds));
  }
}

// On each of two hosts, a task waits for 5 of 10 s because of the other job. Then ten tasks without
// reports run on node-1 for 10 s. All of their 100 s may be waits. Each second of the two tasks was
// half a second of the stage, so the bounds are 52.5 s and 2.5 s. The job took 20 s.
TEST_F(TwoJobsTest, LimitsAreAtMostTheLengthOfTheJob) {
  victim_.Executor("node-1", 20).Executor("node-2", 20).Stage(0, 0, 12);
  other_.Executor("node-1", 1).Executor("node-2", 1).Stage(0, 0, 2);
  for (const std::uint32_t host : {0, 1}) {
    victim_.Start(0, 0, host, host);
    other_.Start(0, 0, host, host);
  }
  for (const std::uint32_t host : {0, 1}) {
    victim_.Heartbeat(10, 0, host, 5, 5);
    other_.Heartbeat(10, 0, host, 5, 5);
    victim_.End(10, 0, host);
  }
  victim_.StartTasks(10, 0, 2, 12).EndTasks(20, 0, 2, 12);
  other_.EndTasks(20, 0, 0, 2);
  victim_.Close(20);
  Advance(24);
  const QueryWaits query = FirstQuery();
  EXPECT_THAT(query.seconds, Near(20));
  EXPECT_THAT(query.culprits.at(0).seconds, Near(2.5));
  for (const ContendingQuery& culprit : query.culprits) EXPECT_LE(*culprit.seconds_upper, 20);
  const CostOf cost = Costs(kOther).at(0);
  EXPECT_THAT(cost.seconds, Near(5));
  EXPECT_THAT(cost.upper, Near(20));
}

// On node-1, half of 10 s are lost because of `heavy`, and a quarter because of `light`.
TEST_F(ClusterWaitsTest, LossesAreSortedByTheirSize) {
  Driver victim(waits_, "victim");
  Driver light(waits_, "a light one");
  Driver heavy(waits_, "heavy");
  for (Driver* driver : {&victim, &light, &heavy}) driver->RunTask("node-1");
  for (int second = 1; second <= 10; ++second) {
    for (Driver* driver : {&victim, &light}) {
      driver->Heartbeat(second, 0, 0, 0.25 * second, 0.75 * second);
    }
    heavy.Heartbeat(second, 0, 0, 0.5 * second, 0.5 * second);
  }
  Advance(13);
  const std::set<QueryName> both = {{"a light one", ""}, {"heavy", ""}};
  const std::vector<LossesTo> losses = waits_.Losses("victim", both, 2, std::nullopt);
  ASSERT_THAT(losses, SizeIs(2));
  EXPECT_EQ(losses[0].query.job_id, "heavy");
  EXPECT_THAT(losses[0].lost.of_all.share, Near(0.5));
  EXPECT_THAT(losses[1].lost.of_all.share, Near(0.25));
  const LossesTo worst = Only(waits_.Losses("victim", both, 1, std::nullopt));
  EXPECT_EQ(worst.query.job_id, "heavy");
}

// A byte took 0.1 s on node-2, without other tasks, and 1 s on node-1, with the other job. That job
// caused 7.2 of the 8 s for 8 bytes on node-1, which are 3.6 s of a stage with two concurrent
// tasks.
TEST_F(TwoJobsTest, NetworkDelayIsTheExcessOverTheTimeOfAByteElsewhere) {
  victim_.Executor("node-1", 1).Executor("node-2", 1).Stage(0, 0, 2);
  other_.RunTask("node-1");
  victim_.Start(0, 0, 0, 0).Start(0, 0, 1, 1).Fetched(10, 0, 0, 8, 8).Fetched(10, 0, 1, 60, 6);
  other_.Fetched(10, 0, 0, 100, 5);
  Advance(13);
  const QueryWaits query = FirstQuery();
  EXPECT_THAT(query.waits[kNetwork].seconds, Near(7));
  EXPECT_THAT(query.culprits, ElementsAre(AllOf(Blames("other", 3.6), OnHost("node-1", kNetwork))));
}

// The other task computes for 2 s, so 7 of 9 s have no reported cause.
TEST_F(TwoJobsTest, JobIsBlamedForAtMostItsProcessorTime) {
  RunBesideATaskThatComputes(2);
  const std::vector<ContendingQuery> causes = Causes("victim");
  ASSERT_THAT(causes, ElementsAre(Blames("", 7), Blames("other", 2)));
  EXPECT_EQ(causes[0].jobs, 0U);
  EXPECT_EQ(causes[0].host, "node-1");
}

// The other task computes for 8 s. The unreported use of 1 s may have been higher, in place of the
// other task.
TEST_F(TwoJobsTest, UnreportedUseMakesTheLowerLimitZero) {
  RunBesideATaskThatComputes(8);
  const std::vector<ContendingQuery> causes = Causes("victim");
  ASSERT_THAT(causes, ElementsAre(Blames("other", 8), Blames("", 1)));
  EXPECT_EQ(causes[1].jobs, 0U);
  EXPECT_THAT(causes, Each(Between(0, 9)));
}

// The victim waits for 0.6 s per second for 10 s. 5.4 s are because of `long`. 0.6 s are because of
// `brief`, which runs for the first 2 s. The wait in these 2 s is not stored, and is at most 2 s.
TEST_F(ClusterWaitsTest, CausesHaveLimits) {
  Driver victim(waits_, "victim");
  Driver longest(waits_, "long");
  Driver brief(waits_, "brief");
  for (Driver* driver : {&victim, &longest, &brief}) driver->RunTask("node-1");
  victim.Heartbeat(2, 0, 0, 0.8, 1.2);
  longest.Heartbeat(2, 0, 0, 0.6, 0);
  brief.Heartbeat(2, 0, 0, 0.6, 0).End(2, 0, 0);
  Advance(2);
  victim.Heartbeat(10, 0, 0, 4, 6);
  longest.Heartbeat(10, 0, 0, 5.4, 0);
  Advance(13);
  // The lower limit leaves out all 2 s beside `brief`, which ran no longer.
  EXPECT_THAT(Causes("victim"), ElementsAre(AllOf(Blames("long", 5.4), Between(5.4 - 2, 6)),
                                            AllOf(Blames("brief", 0.6), Between(0, 2))));
}

// The victim reports 10 of 100 s. All of the remaining 90 s may be waits because of the other job.
TEST_F(TwoJobsTest, UnreportedTimeWidensTheUpperLimit) {
  for (Driver* driver : {&victim_, &other_}) driver->RunTask("node-1").Heartbeat(10, 0, 0, 5, 5);
  Advance(11);
  victim_.End(100, 0, 0);
  other_.Heartbeat(100, 0, 0, 50, 50).End(100, 0, 0);
  Advance(104);
  EXPECT_THAT(Causes("victim"), ElementsAre(AllOf(Blames("other", 5), Between(5, 5 + 90))));
}

// Reduce tasks report processor waits in profiles, and fetches in heartbeats.
TEST_F(OneJobTest, ProfilesReportProcessorWaitsOfReduceTasks) {
  app_.Executor("node-1", 1).Stage(0, kReduceStage, 1).Start(0, kReduceStage, 0);
  ReduceProfile profile{.attempt = {.stage = kReduceStage}};
  profile.processor_use = ProcessorUse{.watched = absl::Seconds(9), .waited = absl::Seconds(4)};
  app_.Send(10, profile).Fetched(10, kReduceStage, 0, 100, 2);
  Advance(13);
  const QueryWaits query = FirstQuery();
  EXPECT_THAT(query.waits[kProcessor].seconds, Near(4));
  EXPECT_THAT(query.waits[kNetwork].seconds, Near(2));
  EXPECT_THAT(query.seconds, Near(13));
}

// A Hadoop job sends heartbeats during its shuffle, and then profiles, whose processor_use restarts
// at 0.
TEST_F(TwoJobsTest, ReduceTaskIsBlamedForBothItsPhases) {
  for (Driver* driver : {&victim_, &other_}) {
    driver->Executor("node-1", 0).Stage(0, kReduceStage, 1).Start(0, kReduceStage, 0);
  }
  victim_.Heartbeat(10, kReduceStage, 0, 5, 5);
  other_.Heartbeat(10, kReduceStage, 0, 40, 2);
  const auto profile = [](double used, double waited) {
    ReduceProfile reduced{.attempt = {.stage = kReduceStage}};
    reduced.processor_use =
        ProcessorUse{.watched = absl::Seconds(10), .waited = absl::Seconds(0.5)};
    reduced.time = {.cpu = absl::Seconds(used), .waits = {{kProcessor, absl::Seconds(waited)}}};
    return reduced;
  };
  victim_.Send(20, profile(8, 12));
  other_.Send(20, profile(80, 4));
  Advance(23);
  const QueryWaits query = FirstQuery();
  EXPECT_THAT(query.waits[kProcessor].seconds, Near(12));
  EXPECT_THAT(query.culprits,
              ElementsAre(AllOf(Blames("other", 12), OnHost("node-1", kProcessor))));
}

// If key groups of a Spark task are timed, its profiles cover only the reduce function.
TEST_F(OneJobTest, HeartbeatTotalsAreNotReplacedByReduceFunctionWaits) {
  app_.RunTask("node-1");
  ReduceProfile profile{.attempt = {.stage = 0}};
  for (int second = 1; second <= 10; ++second) {
    app_.Heartbeat(second, 0, 0, 0.5 * second, 0.5 * second);
    profile.processor_use =
        ProcessorUse{.watched = absl::Seconds(0.5 * second), .waited = absl::Seconds(0.2 * second)};
    app_.Send(second, profile);
  }
  Advance(13);
  EXPECT_THAT(FirstQuery().waits[kProcessor].seconds, Near(5));
}

TEST_F(OneJobTest, LoneJobBlamesUnreportedProcesses) {
  app_.RunTask("node-1").Heartbeat(10, 0, 0, 6, 4);
  Advance(13);
  EXPECT_THAT(Causes("app"), ElementsAre(Blames("", 4)));
}

TEST_F(TwoJobsTest, ClockOffsetsOfMinutesAreCorrected) {
  other_.ClockAhead(600);
  ShareProcessor();
  const ContendingQuery cause = Only(Causes("victim"));
  EXPECT_EQ(cause.job_id, "other");
  EXPECT_NEAR(cause.seconds, 15, 0.1);
}

// Only unreported processes are blamed.
TEST_F(TwoJobsTest, JobsOnDifferentHostsDoNotMeet) {
  victim_.RunTask("node-1").Heartbeat(10, 0, 0, 5, 5);
  other_.RunTask("node-2").Heartbeat(10, 0, 0, 5, 5);
  Advance(13);
  EXPECT_THAT(Causes("victim"), Each(Field(&ContendingQuery::jobs, 0U)));
}

TEST_F(OneJobTest, QueryBesideItselfBlamesNoOtherQuery) {
  app_.Executor("node-1", 2);
  for (const std::uint32_t stage : {0, 1}) {
    app_.Stage(0, stage, 1, "sql/0").Start(0, stage, 0).Heartbeat(10, stage, 0, 5, 5);
  }
  Advance(13);
  ASSERT_THAT(Ask("app").queries, SizeIs(1));
  EXPECT_THAT(FirstQuery().waits[kProcessor].seconds, Near(5));
  EXPECT_THAT(FirstQuery().culprits, IsEmpty());
}

// The other job is silent from 20 s on. It is blamed according to its reports, and answers are 45 s
// old.
TEST_F(TwoJobsTest, SilentAttemptDelaysAnswersAtMostFortyFiveSeconds) {
  ShareProcessor();
  RunVictimUntil(200);
  const Explanation explanation = Ask("victim");
  EXPECT_EQ(explanation.at, Instant(200 - 45));
  ASSERT_THAT(explanation.queries.at(0).culprits, SizeIs(1));
  EXPECT_NEAR(explanation.queries[0].culprits[0].seconds, 15, 0.5);
}

// The executors have no known host.
TEST_F(TwoJobsTest, TasksOnUnnamedHostsMeetNoOtherJob) {
  for (Driver* driver : {&victim_, &other_}) {
    driver->Stage(0, 0, 1).Start(0, 0, 0, /*executor=*/7).Heartbeat(10, 0, 0, 5, 5);
  }
  Advance(13);
  EXPECT_THAT(FirstQuery().waits[kProcessor].seconds, Near(5));
  EXPECT_THAT(FirstQuery().culprits, IsEmpty());
}

// All tasks of a query wait because of another query of the application.
TEST_F(OneJobTest, QueryWithoutASlotBlamesTheHolder) {
  app_.Executor("node-1", 2).Stage(0, 0, 2, "sql/0").StartTasks(0, 0, 0, 2);
  app_.Stage(2, 1, 2, "sql/1");
  // The tasks are silent, so answers are 45 s old.
  for (int second = 1; second <= 60; ++second) Advance(second);
  const Explanation explanation = Ask("app", {.query = "sql/1"});
  EXPECT_EQ(explanation.at, Instant(15));
  ASSERT_THAT(explanation.queries, SizeIs(1));
  ASSERT_THAT(explanation.queries[0].culprits, ElementsAre(Blames("app", 13)));
  EXPECT_EQ(explanation.queries[0].culprits[0].query, "sql/0");
}

TEST_F(TwoJobsTest, LastMinutesLeaveOlderWaitsOut) {
  ShareProcessor();
  other_.End(20, 0, 0);
  RunVictimUntil(300);
  EXPECT_NEAR(FirstQuery().culprits.at(0).seconds, 15, 0.5);
  EXPECT_THAT(FirstQuery({.last = absl::Minutes(2)}).culprits, IsEmpty());
}

// Slices are whole minutes. At 290 s, the last two minutes start at 120 s.
TEST_F(OneJobTest, LastMinutesLimitTheLengthOfAQuery) {
  app_.RunTask("node-1");
  for (int second = 1; second <= 293; ++second) {
    app_.Heartbeat(second, 0, 0, 0.5 * second, 0.5 * second);
    Advance(second);
  }
  const QueryWaits last = FirstQuery({.last = absl::Minutes(2)});
  EXPECT_THAT(last.seconds, Near(293 - 120));
  EXPECT_THAT(last.waits[kProcessor].seconds, Near(0.5 * (290 - 120)));
  EXPECT_THAT(FirstQuery().seconds, Near(293));
}

// The task reports at 10 s and ends at 100 s.
TEST_F(OneJobTest, WaitsAfterTheLastReportAreUnknown) {
  app_.RunTask("node-1").Heartbeat(10, 0, 0, 5, 5);
  Advance(11);
  app_.End(100, 0, 0);
  Advance(104);
  EXPECT_THAT(FirstQuery().waits[kProcessor], FieldsAre(Near(5), /*is_least=*/true));
}

// For half of its 20 s, the query has both slots and always waits for the processor. Before that,
// another query has one slot. The wait for the slot is 20 x 10 / (30 + 10) s, and the wait for the
// processor is at most the remainder.
TEST_F(OneJobTest, WaitsSumToAtMostTheLengthOfTheQuery) {
  app_.Executor("node-1", 2).Stage(0, 0, 1, "sql/0").Start(0, 0, 0);
  app_.Stage(0, 1, 3, "sql/1").Start(0, 1, 0).Heartbeat(10, 1, 0, 0, 10);
  app_.End(10, 1, 0).End(10, 0, 0).StartTasks(10, 1, 1, 3);
  for (const std::uint32_t task : {1, 2}) app_.Heartbeat(20, 1, task, 0, 10).End(20, 1, task);
  Advance(24);
  const QueryWaits query = FirstQuery({.query = "sql/1"});
  EXPECT_THAT(query.waits[kSlots].seconds, Near(5));
  EXPECT_THAT(query.waits[kProcessor].seconds, Near(15));
}

TEST_F(ClusterWaitsTest, JobWithMissedEventsIsPartial) {
  waits_.Apply({.job_id = "job",
                .source_id = "driver",
                .sequence = 50,
                .sent_at = Instant(0),
                .arrived_at = Instant(0),
                .body = ExecutorOpened{.executor = 9, .host = "node-1", .slots = 1}});
  const Explanation explanation = Ask("job");
  EXPECT_TRUE(explanation.is_partial);
  EXPECT_EQ(explanation.since, Instant(0));
}

// After a restart of the master, the first report may come from a new task, or may be a repeated
// JobOpened.
TEST_F(ClusterWaitsTest, ResumedJobIsPartialWhateverTheFirstEvent) {
  waits_.Resume("job", "run", Instant(5));
  EXPECT_TRUE(Ask("job").is_partial);
  EXPECT_EQ(Ask("job").since, Instant(5));
  Event first = {.job_id = "job",
                 .run_uid = "run",
                 .source_id = "task",
                 .sequence = 1,
                 .sent_at = Instant(6),
                 .arrived_at = Instant(6),
                 .body = AttemptChanged{.state = AttemptState::kStarted, .at = Instant(6)}};
  waits_.Apply(first);
  first.source_id = "driver";
  first.body = JobOpened{.name = "job"};
  waits_.Apply(first);
  EXPECT_TRUE(Ask("job").is_partial);
  EXPECT_EQ(Ask("job").since, Instant(5));
  first.run_uid = "another run";
  waits_.Apply(first);
  EXPECT_FALSE(Ask("job").is_partial) << "the new run was seen from its start";
}

TEST_F(TwoJobsTest, ForgottenCauseIsAnUnnamedJob) {
  ShareProcessor();
  waits_.Forget("other");
  EXPECT_FALSE(waits_.Ask("other", {}));
  EXPECT_THAT(Causes("victim"), ElementsAre(Blames("", 15)));
  waits_.Forget("unknown");
}

// Queries of one task run sequentially. The table keeps the sums of ten queries.
TEST(ClusterWaits, OldestQueriesAreForgottenAtTheLimit) {
  ClusterWaits waits({.stages_max = 10});
  Driver driver(waits, "app");
  driver.Executor("node-1", 1);
  for (std::uint32_t q = 0; q < 100; ++q) {
    const std::string group = "sql/" + std::to_string(q);
    driver.Stage(q, q, 1, group).Start(q, q, 0).End(q + 0.9, q, 0);
    driver.Send(q + 0.9, StageClosed{.stage = q}).Send(q + 0.9, GroupClosed{.group = group});
    waits.Advance(Instant(q + 0.95));
  }
  waits.Advance(Instant(110));
  const Explanation explanation = AskOf(waits, "app");
  EXPECT_FALSE(explanation.queries.empty());
  EXPECT_EQ(explanation.queries.back().query, "sql/99");
  EXPECT_GE(explanation.queries_left_out, 89U);
  EXPECT_LE(explanation.queries.size(), 10U);
}

// Hosts start and disappear, like containers. The numbers of removed hosts are reused.
TEST(ClusterWaits, ForgottenHostLeavesRoomForAnother) {
  ClusterWaits waits({.hosts_max = 2});
  for (int round = 0; round < 10; ++round) {
    const std::string number = std::to_string(round);
    Driver victim(waits, "victim " + number);
    Driver other(waits, "other " + number);
    for (Driver* driver : {&victim, &other}) {
      driver->Executor("node-" + number, 1).Stage(100 * round, 0, 1).Start(100 * round, 0, 0);
    }
    victim.Heartbeat(100 * round + 10, 0, 0, 2, 8);
    other.Heartbeat(100 * round + 10, 0, 0, 8, 2);
    waits.Advance(Instant(100 * round + 14));
    const Explanation explanation = AskOf(waits, "victim " + number);
    EXPECT_FALSE(explanation.is_partial);
    EXPECT_THAT(explanation.queries.at(0).culprits,
                ElementsAre(Field(&ContendingQuery::host, "node-" + number)));
    waits.Forget("victim " + number);
    waits.Forget("other " + number);
  }
}

TEST(ClusterWaits, HostBeyondTheLimitHasNoName) {
  ClusterWaits waits({.hosts_max = 1});
  Driver first(waits, "first");
  Driver second(waits, "second");
  first.RunTask("node-1").Heartbeat(10, 0, 0, 5, 5);
  second.RunTask("node-2").Heartbeat(10, 0, 0, 5, 5);
  waits.Advance(Instant(14));
  EXPECT_FALSE(AskOf(waits, "first").is_partial);
  EXPECT_TRUE(AskOf(waits, "second").is_partial);
  EXPECT_THAT(AskOf(waits, "second").queries.at(0).culprits, IsEmpty());
}

// The second task is not tracked, so it may have a slot.
TEST(ClusterWaits, UntrackedTasksDisableBlameForSlots) {
  ClusterWaits waits({.attempts_max = 1});
  Driver driver(waits, "app");
  driver.Executor("node-1", 2).Stage(0, 0, 1, "sql/0").Stage(0, 1, 2, "sql/1");
  driver.Start(0, 0, 0).Start(0, 1, 0).End(9, 0, 0).Start(9, 1, 1);
  for (int second = 1; second <= 60; ++second) waits.Advance(Instant(second));
  const Explanation explanation = AskOf(waits, "app", {.query = "sql/1"});
  EXPECT_TRUE(explanation.is_partial);
  for (const QueryWaits& query : explanation.queries) EXPECT_THAT(query.culprits, IsEmpty());
}

TEST(ClusterWaits, JobIsPartialIfNoQueryCanBeForgotten) {
  ClusterWaits waits({.stages_max = 3});
  Driver driver(waits, "app");
  driver.Executor("node-1", 1);
  for (std::uint32_t s = 0; s < 10; ++s) driver.Stage(0, s, 5, "sql/" + std::to_string(s));
  EXPECT_TRUE(AskOf(waits, "app").is_partial);
}

TEST_F(TwoJobsTest, NewRunOfAJobStartsEmpty) {
  ShareProcessor();
  victim_.Close(24).Send(25, JobOpened{.name = "victim"});
  EXPECT_THAT(Ask("victim").queries, IsEmpty());
}

// Three tasks take 1 s, and one takes 9 s without waits, so no other query is a cause.
TEST_F(OneJobTest, SkewedQueryReportsItsLongestTask) {
  app_.Executor("node-1", 4).Stage(0, 0, 4, "sql/0").StartTasks(0, 0, 0, 4);
  app_.EndTasks(1, 0, 0, 3).End(9, 0, 3);
  Advance(13);
  ASSERT_THAT(Ask("app").queries, SizeIs(1));
  EXPECT_THAT(FirstQuery().culprits, IsEmpty());
  EXPECT_THAT(FirstQuery().skew_seconds, Near(9 - 3));
  const LongestTask longest = FirstQuery().longest_task.value();
  EXPECT_EQ(longest.attempt, (AttemptId{.stage = 0, .index = 3}));
  EXPECT_EQ(longest.host, "node-1");
  EXPECT_THAT(longest.seconds, Near(9));
  EXPECT_THAT(longest.mean_seconds, Near(3));
  EXPECT_EQ(longest.group_bytes, 0U) << "no key group was timed";
}

TEST_F(OneJobTest, TasksWithoutADurationDoNotLowerTheMean) {
  app_.Executor("node-1", 4).Stage(0, 0, 4, "sql/0").StartTasks(0, 0, 0, 4);
  app_.EndTasks(0, 0, 0, 2).EndTasks(10, 0, 2, 4);
  Advance(13);
  EXPECT_THAT(FirstQuery().longest_task.value().mean_seconds, Near(10));
}

// Returns a profile of reduce task 0 with one finished key group.
ReduceProfile OneGroup(std::uint64_t bytes, double seconds) {
  ReduceProfile profile{.attempt = {.stage = kReduceStage}};
  profile.finished_keys = {{.size_bytes = bytes, .time = absl::Seconds(seconds)}};
  return profile;
}

// A reduce task of 10 s reports key groups of 2 s and 6 s in separate profiles.
TEST_F(OneJobTest, LongestTaskNamesItsSlowestKeyGroup) {
  app_.Executor("node-1", 1).Send(0, JobOpened{.stages = MapReduceStages(1, 1)});
  app_.Start(0, kReduceStage, 0).Send(3, OneGroup(900, 2)).Send(9, OneGroup(700, 6));
  app_.Send(10, OneGroup(1, 1)).End(10, kReduceStage, 0);
  Advance(20);
  const LongestTask longest = FirstQuery().longest_task.value();
  EXPECT_EQ(longest.kind, StageKind::kReduce);
  EXPECT_THAT(longest.seconds, Near(10));
  EXPECT_THAT(longest.mean_seconds, Near(10)) << "there is one task";
  EXPECT_EQ(longest.group_bytes, 700U);
  EXPECT_THAT(longest.group_seconds, Near(6));
}

// One task waits for 8 of 10 s, and the other for 3 of 4 s. The first task has twice the work.
TEST_F(OneJobTest, LongestTaskIncludesItsWaits) {
  app_.Executor("node-1", 2).Send(0, JobOpened{.stages = MapReduceStages(1, 2)});
  app_.StartTasks(0, kReduceStage, 0, 2);
  app_.Heartbeat(4, kReduceStage, 1, 1, 3).End(4, kReduceStage, 1).Send(9, OneGroup(700, 6));
  app_.Heartbeat(10, kReduceStage, 0, 2, 8).End(10, kReduceStage, 0);
  Advance(20);
  const LongestTask longest = FirstQuery().longest_task.value();
  EXPECT_THAT(longest.seconds, Near(10));
  EXPECT_THAT(longest.mean_seconds, Near(7));
  EXPECT_THAT(longest.group_seconds, Near(6));
  EXPECT_THAT(FirstQuery().skew_seconds, Near(2 - 1.5)) << "without waits";
}

// One task waits for 9 of 10 s. The other takes 4 s without waits.
TEST_F(OneJobTest, TaskThatIsLongBecauseOfWaitsIsNotReported) {
  app_.Executor("node-1", 2).Stage(0, 0, 2, "sql/0").StartTasks(0, 0, 0, 2);
  app_.Heartbeat(4, 0, 1, 4, 0).End(4, 0, 1).Heartbeat(10, 0, 0, 1, 9).End(10, 0, 0);
  Advance(20);
  EXPECT_FALSE(FirstQuery().longest_task);
}

// The job is submitted 3 s before its first stage.
TEST_F(OneJobTest, JobWithoutQueriesLastsFromItsOwnStart) {
  app_.Executor("node-1", 1).Stage(3, 0, 1).Start(3, 0, 0).End(10, 0, 0).Close(10);
  Advance(20);
  EXPECT_THAT(FirstQuery().seconds, Near(10));
}

StageOpened ScanOf(std::uint32_t tasks) {
  return {.stage = 0, .signature = "scan", .group = "sql/0", .task_count = tasks};
}

// Runs a scan with two tasks of 10 s. Each waits for a processor for 4 s and reads 150 bytes.
void Scan(Driver& driver, ClusterWaits& waits) {
  StageOpened scan = ScanOf(2);
  scan.opened_at = Instant(0);
  driver.Executor("node-1", 2).Send(0, scan).StartTasks(0, 0, 0, 2);
  for (std::uint32_t task = 0; task < 2; ++task) {
    driver.Heartbeat(9, 0, task, 5, 4).End(10, 0, task, /*input_bytes=*/150);
  }
  waits.Advance(Instant(20));
}

PastInput Scanned(std::vector<double> bytes) {
  return {.stages = {{"scan", *PastBytesOf(std::move(bytes))}}};
}

// 300 bytes took 12 s of work, so 100 bytes would have taken 4 s.
TEST_F(OneJobTest, ReadingMoreThanInPastRunsIsDataGrowth) {
  Scan(app_, waits_);
  EXPECT_FALSE(Growth()) << "no past run is known";
  waits_.SetPastInput("app", Scanned({100}));
  const DataGrowth growth = Growth().value();
  EXPECT_THAT(growth.task_seconds, Near(8));
  EXPECT_THAT(growth.read_bytes, Near(300));
  EXPECT_THAT(growth.earlier_read_bytes, Near(100));
  EXPECT_THAT(growth.all_task_seconds, Near(12));
  EXPECT_FALSE(FirstQuery({.last = absl::Minutes(2)}).data_growth);
  waits_.SetPastInput("app", Scanned({310}));
  EXPECT_FALSE(Growth());
  waits_.SetPastInput("unknown", Scanned({100}));
}

// The scan takes 12 s, of which 8 s are growth. Another stage of 10 s has no past run.
TEST_F(OneJobTest, GrowthStatesTheTimeOfAllTasksOfTheQuery) {
  Scan(app_, waits_);
  waits_.SetPastInput("app", Scanned({100}));
  app_.Stage(21, 1, 1, "sql/0").Start(21, 1, 0).End(31, 1, 0);
  EXPECT_THAT(Growth().value().task_seconds, Near(8));
  EXPECT_THAT(Growth().value().all_task_seconds, Near(22));
}

TEST_F(OneJobTest, PastRunsOfOtherStagesShowNoGrowth) {
  Scan(app_, waits_);
  waits_.SetPastInput("app",
                      {.map_stage = PastBytesOf({100}), .stages = {{"join", *PastBytesOf({100})}}});
  EXPECT_FALSE(Growth());
}

// A task whose output was lost reads its input again.
TEST_F(OneJobTest, RepeatedReadsAreNotGrowth) {
  Scan(app_, waits_);
  waits_.SetPastInput("app", Scanned({100}));
  app_.Send(21, AttemptChanged{{0, 1, /*attempt=*/1}, AttemptState::kStarted, Instant(21), 0});
  app_.End(25, 0, 1, /*input_bytes=*/150, /*attempt=*/1);
  Advance(40);
  EXPECT_FALSE(Growth());
}

// Two of three tasks have ended. The output of one was lost, so it will read its input again.
TEST_F(OneJobTest, RepeatedReadsOfARunningStageAreNotGrowth) {
  Scan(app_, waits_);
  app_.Send(20, ScanOf(3));
  waits_.SetPastInput("app", Scanned({100}));
  ASSERT_TRUE(Growth());
  app_.Send(21, AttemptChanged{{0, 1}, AttemptState::kObsolete, Instant(10)});
  EXPECT_FALSE(Growth());
}

TEST_F(OneJobTest, GrowthOfAMapStageUsesTheSizesOfItsSplits) {
  app_.Executor("node-1", 1).Send(0, JobOpened{.stages = MapReduceStages(1, 1)});
  app_.Send(0, AttemptChanged{.attempt = {.stage = kMapStage},
                              .state = AttemptState::kStarted,
                              .at = Instant(0),
                              .executor = 0,
                              .input_bytes = 400});
  app_.Send(5, TaskHeartbeat{.attempt = {.stage = kMapStage}, .bytes_done = 4000});
  app_.End(8, kMapStage, 0);
  waits_.SetPastInput("app", {.map_stage = PastBytesOf({100})});
  Advance(20);
  EXPECT_THAT(Growth().value().task_seconds, Near(6));
  EXPECT_THAT(Growth().value().read_bytes, Near(400));
}

TEST(ClusterWaits, PastStagesBeyondTheLimitAreNotStored) {
  ClusterWaits waits({.stages_max = 4});
  Driver driver(waits, "app");
  Scan(driver, waits);
  PastInput many = Scanned({100});
  for (const char* name : {"a", "b", "c", "d"}) many.stages[name] = *PastBytesOf({1});
  waits.SetPastInput("app", many);
  EXPECT_FALSE(AskOf(waits, "app").queries.at(0).data_growth);
  waits.SetPastInput("app", Scanned({100}));
  EXPECT_TRUE(AskOf(waits, "app").queries.at(0).data_growth);
}

// The events include ends without starts, repeated executors, decreasing totals, and an end before
// its start.
TEST_F(OneJobTest, ContradictoryEventsGiveFiniteWaits) {
  app_.Executor("node-1", 1);
  app_.Send(0, ExecutorOpened{.executor = 0, .host = "node-2", .slots = 5});
  app_.Send(0, ExecutorClosed{.executor = 12}).End(1, 4, 0).Send(1, StageClosed{.stage = 77});
  app_.Stage(1, 0, 0).Start(5, 0, 0).Start(5, 0, 0);
  app_.Heartbeat(6, 0, 0, 3, 1e9).Heartbeat(7, 0, 0, 1, 0).End(2, 0, 0);
  Advance(60);
  Advance(20);
  for (const QueryWaits& query : Ask("app").queries) {
    for (const WaitReason resource : kWaitReasons) {
      EXPECT_GE(query.waits[resource].seconds.value_or(0), 0);
      EXPECT_LT(query.waits[resource].seconds.value_or(0), 60);
    }
  }
}

}  // namespace
}  // namespace tidemark::waits::cluster_waits_test
