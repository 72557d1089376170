#include "master/waits/cluster_contention.h"

#include "tests/matchers.h"
#include "tests/test.h"
#include "tests/waits/driver.h"

namespace tidemark::waits::cluster_contention_test {
namespace {

constexpr double kRounding = 1e-9;

class ClusterContentionTest : public ::testing::Test {
 protected:
  void Advance(double seconds) { waits_.Advance(Instant(seconds)); }

  // Returns the answer for a caller who may read the jobs in `readable`, or all jobs if it is
  // empty.
  ClusterContention Contend(const ContentionQuestion& question = {},
                            const std::set<std::string>& readable = {}) const {
    ContentionSums sums(question, [&](const std::string& job_id) {
      return readable.empty() || readable.contains(job_id);
    });
    for (const std::string& job_id : waits_.jobs()) {
      if (question.job_id.empty() || question.job_id == job_id) waits_.AddContention(job_id, sums);
    }
    return std::move(sums).Finish();
  }

  static std::vector<ContentionRow> RowsOf(const ClusterContention& contention,
                                           ContentionKind kind) {
    const auto list = std::ranges::find(contention.lists, kind, &ContentionList::kind);
    return list == contention.lists.end() ? std::vector<ContentionRow>() : list->rows;
  }

  // Adds three jobs that write on x, of which the third waits least per byte, and a fourth that
  // writes alone on y. The rates are 1, 1/2, 1/4 and 1 s per byte.
  void ThreeAndOne() {
    Driver a(waits_, "a");
    Driver b(waits_, "b");
    Driver c(waits_, "c");
    Driver d(waits_, "d");
    for (Driver* job : {&a, &b, &c}) job->RunTask("x");
    d.RunTask("y").Wrote(10, 0, 0, 4, 4).End(10, 0, 0);
    a.Wrote(10, 0, 0, 4, 4).End(10, 0, 0);
    b.Wrote(10, 0, 0, 8, 4).End(10, 0, 0);
    c.Wrote(10, 0, 0, 16, 4).End(10, 0, 0);
    Advance(14);
  }

  // Adds three tasks that share a processor for 12 s. Each task computes for 4 s and waits for 8 s,
  // of which 4 s are because of each other task.
  void ShareAmongThree() {
    Driver a(waits_, "a");
    Driver b(waits_, "b");
    Driver c(waits_, "c");
    for (Driver* job : {&a, &b, &c}) job->RunTask("node-1");
    for (Driver* job : {&a, &b, &c}) job->Heartbeat(12, 0, 0, 4, 8);
    for (Driver* job : {&a, &b, &c}) job->End(12, 0, 0);
    Advance(16);
  }

  // Adds two jobs that share the processor of node-1 for 20 s. The first job computes for 5 s and
  // waits for 15 s. The second job computes for 15 s and waits for 5 s.
  void ShareProcessor() {
    Driver first(waits_, "first");
    Driver second(waits_, "second");
    first.RunTask("node-1");
    second.RunTask("node-1");
    first.Heartbeat(20, 0, 0, 5, 15).End(20, 0, 0);
    second.Heartbeat(20, 0, 0, 15, 5).End(20, 0, 0);
    Advance(24);
  }

  ClusterWaits waits_;
};

// Matches the seconds or the share of a row, with its limits.
MATCHER_P3(IsRange, value, lower, upper, "") {
  return arg.has_value() && std::abs(arg->value - value) < 1e-6 &&
         std::abs(arg->lower - lower) < 1e-6 && std::abs(arg->upper - upper) < 1e-6;
}

std::vector<std::string> CausesIn(const std::vector<ContentionRow>& rows) {
  std::vector<std::string> names;
  for (const ContentionRow& row : rows) names.push_back(row.cause->job_id);
  return names;
}

// [PX] Algorithms 1 to 3, if all tasks are present all the time. The blames are 2 and 4 on a, 1/2
// and 2 on b, 1/4 and 1/2 on c:
//     c: 4/6 + 2/2.5,  b: 2/6 + 0.5/0.75,  a: 0.5/2.5 + 0.25/0.75
TEST_F(ClusterContentionTest, TheAggressiveQueryIsMostResponsibleTowardsAllOthers) {
  ThreeAndOne();
  const auto causes = RowsOf(Contend(), ContentionKind::kCausingQueries);
  ASSERT_THAT(CausesIn(causes), ElementsAre("c", "b", "a"));
  EXPECT_NEAR(causes[0].responsibility, 4.0 / 6 + 2 / 2.5, kRounding);
  EXPECT_NEAR(causes[1].responsibility, 2.0 / 6 + 0.5 / 0.75, kRounding);
  EXPECT_NEAR(causes[2].responsibility, 0.5 / 2.5 + 0.25 / 0.75, kRounding);
  EXPECT_EQ(causes[0].queries, 2U);
  const auto stages = RowsOf(Contend(), ContentionKind::kCausingStages);
  ASSERT_THAT(CausesIn(stages), ElementsAre("c", "b", "a"));
  EXPECT_NEAR(stages[0].responsibility, causes[0].responsibility, kRounding);
  EXPECT_EQ(stages[0].cause->stage, 0U);
}

// [PX] 4.2.3: At level 3, the outgoing impacts are 3 on x and 1 on y. At level 2, the outgoing
// impact is 4.
TEST_F(ClusterContentionTest, SlowHostsAndScarceResourcesHaveTheMostImpact) {
  ThreeAndOne();
  const auto hosts = RowsOf(Contend(), ContentionKind::kHosts);
  ASSERT_THAT(hosts, SizeIs(2));
  EXPECT_EQ(hosts[0].host, "x");
  EXPECT_NEAR(hosts[0].impact, 3, kRounding);
  EXPECT_EQ(hosts[1].host, "y");
  EXPECT_NEAR(hosts[1].impact, 1, kRounding);
  const auto resource = Only(RowsOf(Contend(), ContentionKind::kResources));
  EXPECT_EQ(resource.resource, WaitReason::kIo);
  EXPECT_NEAR(resource.impact, 4, kRounding);
}

// [PX] Algorithm 4: Each leaf is one path. The heaviest paths are that of c on a with 4/6, that of
// b on c with 0.5/0.75, and that of c on b with 2/2.5.
TEST_F(ClusterContentionTest, PathsAreSortedByTheirWeight) {
  ThreeAndOne();
  const auto contention = Contend({.rows_max = 2});
  const auto paths = RowsOf(contention, ContentionKind::kPaths);
  ASSERT_THAT(paths, SizeIs(2));
  EXPECT_EQ(paths[0].delayed->job_id, "b");
  EXPECT_EQ(paths[0].cause->job_id, "c");
  EXPECT_NEAR(paths[0].responsibility, 2 / 2.5, kRounding);
  EXPECT_EQ(paths[0].resource, WaitReason::kIo);
  EXPECT_EQ(paths[0].host, "x");
  EXPECT_NEAR(paths[1].responsibility, 2.0 / 3, kRounding);
  const auto list =
      std::ranges::find(contention.lists, ContentionKind::kPaths, &ContentionList::kind);
  EXPECT_EQ(list->left_out, 4U);
}

// The first stage has depth 2, the second has depth 1, and both compute for 4 s. They have 2/3 and
// 1/3 of the waits of their query ([PX] Table 4). Each stage waits on one host for one resource.
TEST_F(ClusterContentionTest, EarlyStagesOfAQueryAreMoreResponsible) {
  Driver job(waits_, "job");
  job.Executor("node-1", 1).Stage(0, 0, 1, "sql/0").Stage(0, 1, 1, "sql/0", {0});
  for (const std::uint32_t stage : {0, 1}) {
    const double from = 10 * stage;
    job.Start(from, stage, 0).Heartbeat(from + 10, stage, 0, 4, 6).End(from + 10, stage, 0);
  }
  Advance(24);
  const auto stages = RowsOf(Contend(), ContentionKind::kDelayedStages);
  ASSERT_THAT(stages, SizeIs(2));
  EXPECT_EQ(stages[0].delayed->stage, 0U);
  EXPECT_NEAR(stages[0].responsibility, 2.0 / 3, kRounding);
  EXPECT_NEAR(stages[1].responsibility, 1.0 / 3, kRounding);
}

TEST_F(ClusterContentionTest, StagesThatWaitForEachOtherHaveNoDepth) {
  Driver job(waits_, "job");
  job.Executor("node-1", 2).Stage(0, 0, 1, "sql/0", {1}).Stage(0, 1, 1, "sql/0", {0});
  for (const std::uint32_t stage : {0, 1}) {
    job.Start(0, stage, 0).Heartbeat(10, stage, 0, 4, 6).End(10, stage, 0);
  }
  Advance(14);
  const auto stages = RowsOf(Contend(), ContentionKind::kDelayedStages);
  ASSERT_THAT(stages, SizeIs(2));
  EXPECT_NEAR(stages[0].responsibility, 0.5, kRounding);
}

// The first job loses 15 s because of the second, and the second loses 5 s because of the first, as
// `why` reports.
TEST_F(ClusterContentionTest, SecondsAndSharesAgreeWithTheAnswersAboutEachJob) {
  ShareProcessor();
  const ClusterContention contention = Contend();
  EXPECT_EQ(contention.jobs, 2U);
  const auto causes = RowsOf(contention, ContentionKind::kCausingQueries);
  ASSERT_THAT(CausesIn(causes), ElementsAre("second", "first"));
  const ContendingQuery cause = waits_.Ask("first", {})->queries.at(0).culprits.at(0);
  EXPECT_NEAR(cause.seconds, 15, 1e-6);
  EXPECT_EQ(causes[0].seconds->value, cause.seconds);
  EXPECT_NEAR(causes[0].seconds->lower, *cause.seconds_lower, kRounding);
  EXPECT_NEAR(causes[0].seconds->upper, *cause.seconds_upper, kRounding);
  EXPECT_NEAR(causes[1].seconds->value, 5, 1e-6);
  // No third job could have used the time.
  EXPECT_THAT(causes[0].share, IsRange(0.75, 0.75, 0.75));
  EXPECT_NEAR(causes[0].responsibility, 1, kRounding);
  const auto delayed = RowsOf(contention, ContentionKind::kDelayedQueries);
  ASSERT_THAT(delayed, SizeIs(2));
  EXPECT_EQ(delayed[0].delayed->job_id, "first");
  EXPECT_NEAR(delayed[0].seconds->value, 15, 1e-6);
  const auto place = Only(RowsOf(contention, ContentionKind::kPlaces));
  EXPECT_EQ(place.resource, WaitReason::kProcessor);
  EXPECT_EQ(place.host, "node-1");
  EXPECT_NEAR(place.seconds->value, 20, 1e-6);
  EXPECT_EQ(place.queries, 2U);
}

// Each of the other two jobs may have used the time that the other would have freed.
TEST_F(ClusterContentionTest, LimitsContainTheSharesAndTheSeconds) {
  ShareAmongThree();
  const auto causes = RowsOf(Contend(), ContentionKind::kCausingQueries);
  ASSERT_THAT(causes, SizeIs(3));
  for (const ContentionRow& row : causes) {
    EXPECT_THAT(row.seconds, IsRange(8, 0, 16));
    EXPECT_THAT(row.share, IsRange(1.0 / 3, 0, 16.0 / 24)) << "of all delay";
    EXPECT_EQ(row.queries, 2U);
  }
  // Only the other two jobs could have used the time, and no query waited for more than 8 s.
  for (const ContentionRow& row : RowsOf(Contend(), ContentionKind::kDelayedQueries)) {
    EXPECT_THAT(row.seconds, IsRange(8, 8, 8));
    EXPECT_NEAR(row.share->lower, 1.0 / 3, kRounding);
    EXPECT_NEAR(row.share->upper, 1.0 / 3, kRounding);
  }
  const ContentionRow host = RowsOf(Contend(), ContentionKind::kHosts).at(0);
  EXPECT_NEAR(host.seconds->value, 24, 1e-6);
  EXPECT_NEAR(host.seconds->lower, 24, 1e-6);
  EXPECT_NEAR(host.share->lower, 1, kRounding);
}

// A caller who may read only "first" sees that another job delays it and is delayed by it, and on
// which host.
TEST_F(ClusterContentionTest, JobsOfOthersAreMerged) {
  ShareProcessor();
  const ClusterContention contention = Contend({}, {"first"});
  EXPECT_EQ(contention.jobs, 1U);
  const auto causes = RowsOf(contention, ContentionKind::kCausingQueries);
  ASSERT_THAT(causes, SizeIs(2));
  EXPECT_EQ(*causes[0].cause, (ContentionParty{.jobs = 1}));
  EXPECT_EQ(causes[1].cause->job_id, "first");
  for (const ContentionRow& row : RowsOf(contention, ContentionKind::kPaths)) {
    EXPECT_EQ(row.delayed->job_id, "first") << "paths to hidden stages are hidden";
    EXPECT_EQ(*row.cause, (ContentionParty{.jobs = 1})) << "its stage is hidden";
  }
}

// A caller who may read only a sees 4 s for each pair with a, and no delays between b and c.
TEST_F(ClusterContentionTest, PairsOfHiddenJobsAreLeftOut) {
  ShareAmongThree();
  EXPECT_THAT(Contend({}, {"nobody"}).lists, IsEmpty());
  const ClusterContention contention = Contend({}, {"a"});
  const auto causes = RowsOf(contention, ContentionKind::kCausingQueries);
  ASSERT_THAT(causes, SizeIs(2));
  for (const ContentionRow& row : causes) EXPECT_NEAR(row.seconds->value, 8, 1e-6);
  const auto hidden = std::ranges::find_if(
      causes, [](const ContentionRow& row) { return row.cause->job_id.empty(); });
  ASSERT_NE(hidden, causes.end());
  EXPECT_EQ(hidden->cause->jobs, 2U);
  EXPECT_NEAR(RowsOf(contention, ContentionKind::kHosts).at(0).seconds->value, 16, 1e-6);
}

TEST_F(ClusterContentionTest, AQuestionSelectsAJobAResourceOrAHost) {
  ShareProcessor();
  const auto of_first = Only(RowsOf(Contend({.job_id = "first"}), ContentionKind::kDelayedQueries));
  EXPECT_EQ(of_first.delayed->job_id, "first");
  EXPECT_THAT(Contend({.resource = WaitReason::kIo}).lists,
              ElementsAre(::testing::Field(&ContentionList::kind, ContentionKind::kDelayedStages)));
  EXPECT_THAT(RowsOf(Contend({.host = "node-2"}), ContentionKind::kHosts), IsEmpty());
  EXPECT_THAT(RowsOf(Contend({.host = "node-1"}), ContentionKind::kHosts), SizeIs(1));
}

TEST_F(ClusterContentionTest, ATimeWithoutContentionHasNoDelays) {
  ShareProcessor();
  Advance(700);
  const ClusterContention last = Contend({.last = absl::Minutes(1)});
  EXPECT_THAT(RowsOf(last, ContentionKind::kCausingQueries), IsEmpty());
  EXPECT_THAT(RowsOf(last, ContentionKind::kPaths), IsEmpty());
  EXPECT_THAT(RowsOf(Contend(), ContentionKind::kCausingQueries), SizeIs(2));
}

TEST_F(ClusterContentionTest, AQuestionAboutAnUnknownQueryOrHostFindsNothing) {
  ShareProcessor();
  const auto check = [&](const ContentionQuestion& question) {
    ContentionSums sums(question, [](const std::string&) { return true; });
    waits_.AddContention("first", sums);
    return sums.Check();
  };
  EXPECT_TRUE(check({}).ok());
  EXPECT_TRUE(check({.host = "node-1"}).ok());
  EXPECT_EQ(check({.job_id = "first", .query = "sql/9"}),
            absl::NotFoundError("first: query sql/9 ran no tasks"));
  EXPECT_EQ(check({.host = "node-3"}),
            absl::NotFoundError("no task ran on host node-3; hosts: node-1"));
  EXPECT_TRUE(check({.host = "node-3", .last = absl::Minutes(1)}).ok());
}

TEST_F(ClusterContentionTest, WithoutJobsThereAreNoLists) {
  const ClusterContention contention = Contend();
  EXPECT_EQ(contention.jobs, 0U);
  EXPECT_THAT(contention.lists, IsEmpty());
}

}  // namespace
}  // namespace tidemark::waits::cluster_contention_test
