

#include "master/service/explain_service.h"
#include "tests/test.h"

namespace tidemark::service::contending_queries_test {
namespace {

ContendingQuery Of(const std::string& job_id, double seconds, const std::string& host = "node-1") {
  return {.job_id = job_id,
          .query = "sql/1",
          .resource = WaitReason::kProcessor,
          .host = host,
          .seconds = seconds};
}

Explanation Explained() {
  Explanation explanation = {.job_id = "mine", .queries = {{.query = "sql/0"}}};
  explanation.queries[0].culprits = {Of("theirs-1", 5), Of("mine", 4), Of("theirs-2", 3),
                                     Of("theirs-2", 1, "node-2")};
  return explanation;
}

TEST(HideContendingQueries, CountsHiddenJobsWithoutNamingThem) {
  Explanation explanation = Explained();
  HideContendingQueries([](const std::string& id) { return id == "mine"; }, 10, explanation);
  ContendingQuery two = {
      .jobs = 2, .resource = WaitReason::kProcessor, .host = "node-1", .seconds = 8};
  ContendingQuery one = {
      .jobs = 1, .resource = WaitReason::kProcessor, .host = "node-2", .seconds = 1};
  EXPECT_THAT(explanation.queries[0].culprits, ElementsAre(two, Of("mine", 4), one));
}

TEST(HideContendingQueries, NamesVisibleQueriesWorstFirst) {
  Explanation explanation = Explained();
  HideContendingQueries([](const std::string&) { return true; }, 2, explanation);
  EXPECT_THAT(explanation.queries[0].culprits, ElementsAre(Of("theirs-1", 5), Of("mine", 4)));
}

// Hidden queries are merged before the worst queries are selected. None of them alone would be
// among the worst.
TEST(HideContendingQueries, ManySmallHiddenQueriesMayBeTheWorst) {
  Explanation explanation = {.job_id = "mine", .queries = {{.query = ""}}};
  explanation.queries[0].culprits = {Of("mine", 4), Of("a", 3), Of("b", 3)};
  HideContendingQueries([](const std::string&) { return false; }, 1, explanation);
  EXPECT_EQ(explanation.queries[0].culprits.at(0).jobs, 2U);
  EXPECT_EQ(explanation.queries[0].culprits.at(0).seconds, 6);
}

TEST(HideContendingQueries, AddsTheBoundsOfHiddenQueriesIfAllAreKnown) {
  Explanation explanation = {.job_id = "mine", .queries = {{.query = ""}}};
  explanation.queries[0].culprits = {Of("a", 3), Of("b", 2), Of("c", 1, "node-2")};
  for (ContendingQuery& culprit : explanation.queries[0].culprits) culprit.seconds_lower = 1;
  explanation.queries[0].culprits[0].seconds_upper = 4;
  HideContendingQueries([](const std::string&) { return false; }, 3, explanation);
  EXPECT_EQ(explanation.queries[0].culprits.at(0).seconds_lower, 2);
  EXPECT_FALSE(explanation.queries[0].culprits[0].seconds_upper);
  EXPECT_EQ(explanation.queries[0].culprits[1].seconds_lower, 1);
}

// The master does not know whether the caller may read a job that was removed.
TEST(HideContendingQueries, CountsRemovedJobsAmongTheHiddenOnes) {
  Explanation explanation = {.job_id = "mine", .queries = {{.query = ""}}};
  explanation.queries[0].culprits = {Of("", 3)};
  explanation.queries[0].culprits[0].query = "";
  HideContendingQueries([](const std::string&) { return true; }, 3, explanation);
  EXPECT_EQ(explanation.queries[0].culprits.at(0).job_id, "");
  EXPECT_EQ(explanation.queries[0].culprits.at(0).jobs, 1U);
}

// Use outside jobs is not secret.
TEST(HideContendingQueries, KeepsUseThatNoTaskReportedSeparate) {
  Explanation explanation = {.job_id = "mine", .queries = {{.query = ""}}};
  explanation.queries[0].culprits = {{.jobs = 0, .seconds = 3}, Of("theirs", 1)};
  HideContendingQueries([](const std::string&) { return false; }, 3, explanation);
  ASSERT_EQ(explanation.queries[0].culprits.size(), 2U);
  EXPECT_EQ(explanation.queries[0].culprits[0].jobs, 0U);
  EXPECT_EQ(explanation.queries[0].culprits[1].jobs, 1U);
}

constexpr dag::SecondsRange kSooner = {.median = 40, .lower = 25, .upper = 60};

ContendingQuery OnHost(const std::string& job_id, const std::string& host) {
  return {.job_id = job_id, .query = "sql/1", .host = host, .seconds = 5};
}

Explanation OnTwoHosts() {
  Explanation explanation = {.job_id = "mine", .queries = {{.query = "sql/0"}, {.query = "sql/2"}}};
  explanation.queries[0].culprits = {OnHost("theirs", "node-1"), OnHost("mine", "node-1")};
  explanation.queries[1].culprits = {OnHost("theirs", "node-2"), {.job_id = "", .jobs = 0}};
  return explanation;
}

Snapshot JobThatTakes(std::optional<absl::Duration> upper) {
  Snapshot job = {.job_id = "theirs"};
  job.estimate.remaining = Range{.median = absl::Seconds(20), .upper = upper};
  return job;
}

TEST(NamedContendingQueries, ReturnsEachQueryOfOtherJobsOnce) {
  EXPECT_THAT(NamedContendingQueries(OnTwoHosts()),
              ElementsAre(waits::QueryName{"theirs", "sql/1"}));
}

TEST(NamedContendingQueries, ReturnsNoHiddenQueries) {
  Explanation explanation = OnTwoHosts();
  HideContendingQueries([](const std::string& id) { return id == "mine"; }, 10, explanation);
  EXPECT_THAT(NamedContendingQueries(explanation), IsEmpty());
}

TEST(SetSooner, SetsTheSameValueInAllEntriesOfAQuery) {
  Explanation explanation = OnTwoHosts();
  SetSooner({"theirs", "sql/1"}, kSooner, explanation);
  for (const QueryWaits& query : explanation.queries) {
    EXPECT_EQ(query.culprits[0].sooner_seconds, 40);
    EXPECT_EQ(query.culprits[0].sooner_seconds_lower, 25);
    EXPECT_EQ(query.culprits[0].sooner_seconds_upper, 60);
    EXPECT_FALSE(query.culprits[1].sooner_seconds) << "another";
  }
}

TEST(WithinTimeLeft, LimitsTheTimeSavedToTheRemainingTimeOfTheJob) {
  const dag::SecondsRange cut = WithinTimeLeft(kSooner, JobThatTakes(absl::Seconds(30)));
  EXPECT_EQ(cut.median, 30);
  EXPECT_EQ(cut.lower, 25);
  EXPECT_EQ(cut.upper, 30);
  EXPECT_EQ(WithinTimeLeft(kSooner, JobThatTakes(absl::Seconds(-1))).upper, 0);
  EXPECT_EQ(WithinTimeLeft(kSooner, JobThatTakes(std::nullopt)).upper, 60) << "not known";
}

}  // namespace
}  // namespace tidemark::service::contending_queries_test
