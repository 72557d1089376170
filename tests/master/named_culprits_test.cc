#include "master/service/named_culprits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "master/service/hide_culprits.h"

namespace tidemark::service {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr estimate::Range kSooner = {.median = 40, .lower = 25, .upper = 60};

Culprit Of(const std::string& job_id, const std::string& host) {
  return {.job_id = job_id, .query = "sql/1", .host = host, .seconds = 5};
}

Explanation Explained() {
  Explanation explanation = {.job_id = "mine", .queries = {{.query = "sql/0"}, {.query = "sql/2"}}};
  explanation.queries[0].culprits = {Of("theirs", "node-1"), Of("mine", "node-1")};
  explanation.queries[1].culprits = {Of("theirs", "node-2"), {.job_id = "", .jobs = 0}};
  return explanation;
}

Snapshot JobThatTakes(std::optional<absl::Duration> upper) {
  Snapshot job = {.job_id = "theirs"};
  job.estimate.remaining = Range{.median = absl::Seconds(20), .upper = upper};
  return job;
}

TEST(NamedCulprits, AreQueriesOfOtherJobsOnceEach) {
  EXPECT_THAT(NamedCulprits(Explained()), ElementsAre(blame::QueryName{"theirs", "sql/1"}));
}

TEST(NamedCulprits, AreNotThoseThatAreHidden) {
  Explanation explanation = Explained();
  HideCulprits([](const std::string& id) { return id == "mine"; }, 10, explanation);
  EXPECT_THAT(NamedCulprits(explanation), IsEmpty());
}

TEST(SetSooner, IsTheSameWhereverTheQueryIsNamed) {
  Explanation explanation = Explained();
  SetSooner({"theirs", "sql/1"}, kSooner, explanation);
  for (const QueryWaits& query : explanation.queries) {
    EXPECT_EQ(query.culprits[0].sooner_seconds, 40);
    EXPECT_EQ(query.culprits[0].sooner_seconds_lower, 25);
    EXPECT_EQ(query.culprits[0].sooner_seconds_upper, 60);
    EXPECT_FALSE(query.culprits[1].sooner_seconds) << "another";
  }
}

TEST(WithinTimeLeft, IsNoMoreThanTheJobOfTheQueryTakesYet) {
  const estimate::Range cut = WithinTimeLeft(kSooner, JobThatTakes(absl::Seconds(30)));
  EXPECT_EQ(cut.median, 30);
  EXPECT_EQ(cut.lower, 25);
  EXPECT_EQ(cut.upper, 30);
  EXPECT_EQ(WithinTimeLeft(kSooner, JobThatTakes(absl::Seconds(-1))).upper, 0);
  EXPECT_EQ(WithinTimeLeft(kSooner, JobThatTakes(std::nullopt)).upper, 60) << "not known";
}

}  // namespace
}  // namespace tidemark::service
