#include "master/service/hide_culprits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace tidemark::service {
namespace {

using ::testing::ElementsAre;

Culprit Of(const std::string& job_id, double seconds, const std::string& host = "node-1") {
  return {.job_id = job_id,
          .query = "sql/1",
          .resource = WaitedResource::kProcessor,
          .host = host,
          .seconds = seconds};
}

Explanation Explained() {
  Explanation explanation = {.job_id = "mine", .queries = {{.query = "sql/0"}}};
  explanation.queries[0].culprits = {Of("theirs-1", 5), Of("mine", 4), Of("theirs-2", 3),
                                     Of("theirs-2", 1, "node-2")};
  return explanation;
}

TEST(HideCulprits, OthersAreCountedAndNotNamed) {
  Explanation explanation = Explained();
  HideCulprits([](const std::string& id) { return id == "mine"; }, 10, explanation);
  Culprit two = {.jobs = 2, .resource = WaitedResource::kProcessor, .host = "node-1", .seconds = 8};
  Culprit one = {.jobs = 1, .resource = WaitedResource::kProcessor, .host = "node-2", .seconds = 1};
  EXPECT_THAT(explanation.queries[0].culprits, ElementsAre(two, Of("mine", 4), one));
}

TEST(HideCulprits, WhatMayBeReadIsNamedTheWorstFirst) {
  Explanation explanation = Explained();
  HideCulprits([](const std::string&) { return true; }, 2, explanation);
  EXPECT_THAT(explanation.queries[0].culprits, ElementsAre(Of("theirs-1", 5), Of("mine", 4)));
}

// Hidden ones are put together before the worst are chosen: each alone would not be among them.
TEST(HideCulprits, ManySmallOnesThatAreHiddenMayBeTheWorst) {
  Explanation explanation = {.job_id = "mine", .queries = {{.query = ""}}};
  explanation.queries[0].culprits = {Of("mine", 4), Of("a", 3), Of("b", 3)};
  HideCulprits([](const std::string&) { return false; }, 1, explanation);
  EXPECT_EQ(explanation.queries[0].culprits.at(0).jobs, 2U);
  EXPECT_EQ(explanation.queries[0].culprits.at(0).seconds, 6);
}

TEST(HideCulprits, LimitsOfHiddenOnesAreAddedIfAllAreTold) {
  Explanation explanation = {.job_id = "mine", .queries = {{.query = ""}}};
  explanation.queries[0].culprits = {Of("a", 3), Of("b", 2), Of("c", 1, "node-2")};
  for (Culprit& culprit : explanation.queries[0].culprits) culprit.seconds_lower = 1;
  explanation.queries[0].culprits[0].seconds_upper = 4;
  HideCulprits([](const std::string&) { return false; }, 3, explanation);
  EXPECT_EQ(explanation.queries[0].culprits.at(0).seconds_lower, 2);
  EXPECT_FALSE(explanation.queries[0].culprits[0].seconds_upper);
  EXPECT_EQ(explanation.queries[0].culprits[1].seconds_lower, 1);
}

// Of a job that is forgotten nobody knows whether it might be read.
TEST(HideCulprits, ForgottenJobsAreAmongTheOthers) {
  Explanation explanation = {.job_id = "mine", .queries = {{.query = ""}}};
  explanation.queries[0].culprits = {Of("", 3)};
  explanation.queries[0].culprits[0].query = "";
  HideCulprits([](const std::string&) { return true; }, 3, explanation);
  EXPECT_EQ(explanation.queries[0].culprits.at(0).job_id, "");
  EXPECT_EQ(explanation.queries[0].culprits.at(0).jobs, 1U);
}

// It is nobody's secret.
TEST(HideCulprits, WhatNoTaskReportsStaysApart) {
  Explanation explanation = {.job_id = "mine", .queries = {{.query = ""}}};
  explanation.queries[0].culprits = {{.jobs = 0, .seconds = 3}, Of("theirs", 1)};
  HideCulprits([](const std::string&) { return false; }, 3, explanation);
  ASSERT_EQ(explanation.queries[0].culprits.size(), 2U);
  EXPECT_EQ(explanation.queries[0].culprits[0].jobs, 0U);
  EXPECT_EQ(explanation.queries[0].culprits[1].jobs, 1U);
}

}  // namespace
}  // namespace tidemark::service
