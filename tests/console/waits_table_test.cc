#include "console/waits_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace tidemark::console {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr TableOptions kWide{.width = 200};

Explanation TwoQueries() {
  QueryWaits first = {.query = "sql/0", .seconds = 10};
  first.waits[WaitedResource::kScheduler].seconds = 0;
  QueryWaits second = {.query = "sql/1", .seconds = 12};
  second.waits[WaitedResource::kScheduler].seconds = 8;
  second.waits[WaitedResource::kMemory] = {1.0, true};
  second.culprits = {{.job_id = "app", .query = "sql/0", .seconds = 8}};
  return {.job_id = "app", .queries = {first, second}};
}

TEST(WaitsTable, SaysWhatEachQueryWaitedForAndBecauseOfWhom) {
  EXPECT_THAT(
      RenderWaits(TwoQueries(), {}, kWide),
      ElementsAre("QUERY  LASTED  SLOTS  PROCESSOR  MEMORY    NETWORK   IO",
                  "sql/0  10 s    0.0 s  not told   not told  not told  not told",
                  "sql/1  12 s    8.0 s  not told   >= 1.0 s  not told  not told", "",
                  "sql/1 waited 8.0 s of 12 s for a slot behind sql/0",
                  "sql/1 waited at least 1.0 s of 12 s for garbage collection; the cause is "
                  "unknown"));
}

TEST(WaitsTable, ShowsNoColumnOfWhatWasNotAsked) {
  EXPECT_THAT(RenderWaits(TwoQueries(), {.resource = WaitedResource::kMemory}, kWide),
              Contains("QUERY  LASTED  MEMORY"));
  EXPECT_THAT(RenderWaits(TwoQueries(), {.resource = WaitedResource::kMemory}, kWide),
              Contains("sql/1  12 s    >= 1.0 s"));
  EXPECT_THAT(RenderWaits(TwoQueries(), {.host = "node-1"}, kWide),
              Contains("QUERY  LASTED  PROCESSOR  MEMORY    NETWORK   IO"))
      << "slots are of no host";
  EXPECT_THAT(
      DescribeWaits(TwoQueries(), {.resource = WaitedResource::kMemory}, {}).rows.at(0),
      ElementsAre("sql/0", "10 s", "not asked", "not asked", "not told", "not asked", "not asked"));
}

TEST(WaitsTable, SaysLongTimesInMinutes) {
  Explanation explanation = TwoQueries();
  explanation.queries[1].seconds = 812;
  explanation.queries[1].culprits[0].seconds = 150.4;
  explanation.queries[1].waits[WaitedResource::kScheduler].seconds = 150.4;
  explanation.queries[1].culprits[0].seconds_lower = 95.5;
  explanation.queries[1].culprits[0].seconds_upper = 200.1;
  const auto lines = RenderWaits(explanation, {}, kWide);
  EXPECT_THAT(lines, Contains(HasSubstr("sql/1  13 min 32 s  2 min 30 s")));
  EXPECT_THAT(lines,
              Contains("sql/1 waited 2 min 30 s (1 min 35 s - 3 min 21 s) of 13 min 32 s for "
                       "a slot behind sql/0"));
}

// Some of its tasks did not tell how long they waited.
TEST(WaitsTable, WhatIsALowerBoundIsCalledOne) {
  Explanation explanation = TwoQueries();
  explanation.queries[1].waits[WaitedResource::kProcessor] = {7, true};
  Culprit& culprit = explanation.queries[1].culprits[0];
  culprit = {.jobs = 0, .resource = WaitedResource::kProcessor, .host = "node-3", .seconds = 6};
  EXPECT_THAT(RenderWaits(explanation, {}, kWide),
              Contains("sql/1 waited at least 7.0 s of 12 s for a processor: at least 6.0 s behind "
                       "processes outside Tidemark on node-3"));
  EXPECT_THAT(WaitsGraph(explanation), HasSubstr("processor, node-3: at least 6.0 s"));
  culprit.seconds_lower = 5;
  culprit.seconds_upper = 9;
  EXPECT_THAT(
      RenderWaits(explanation, {}, kWide),
      Contains("sql/1 waited at least 7.0 s of 12 s for a processor: about 6.0 s (5.0-9.0 s) "
               "behind processes outside Tidemark on node-3"))
      << "the limits say more";
}

// If the answer has as many culprits as requested, more may have been left out.
TEST(WaitsTable, SaysThatACauseIsNotToldOnlyWhereNoneWasLeftOut) {
  const auto lines = RenderWaits(TwoQueries(), {.culprits_max = 1}, kWide);
  EXPECT_THAT(lines, Contains(HasSubstr("at least 1.0 s of 12 s for garbage collection")));
  EXPECT_THAT(lines, Not(Contains(HasSubstr("cause is unknown"))));
}

TEST(WaitsTable, NamesTheLongestTaskItsHostAndItsKey) {
  Explanation explanation = TwoQueries();
  explanation.queries[0].longest_task = LongestTask{.attempt = {.stage = kReduceStage, .index = 2},
                                                    .kind = StageKind::kReduce,
                                                    .host = "node-3",
                                                    .seconds = 9,
                                                    .mean_seconds = 3,
                                                    .group_bytes = 1'200'000,
                                                    .group_seconds = 8};
  EXPECT_THAT(RenderWaits(explanation, {}, kWide),
              Contains("sql/0: its longest task was reduce task 2 on node-3: 9.0 s (a mean task of "
                       "its stage 3.0 s), 8.0 s of that in one key group of 1.2 MB"));
  explanation.queries[0].longest_task = LongestTask{
      .attempt = {.stage = 7, .index = 2, .attempt = 1}, .seconds = 9, .mean_seconds = 3};
  EXPECT_THAT(
      RenderWaits(explanation, {}, kWide),
      Contains("sql/0: its longest task was task 2 of stage 7, attempt 1: 9.0 s (a mean task "
               "of its stage 3.0 s)"));
  explanation.queries[0].longest_task->mean_seconds = 8.9;
  EXPECT_THAT(RenderWaits(explanation, {}, kWide), Not(Contains(HasSubstr("longest task"))));
}

TEST(WaitsTable, OfAnAnswerThatIsBehindTheEndSaysThatMoreIsToCome) {
  Explanation explanation = TwoQueries();
  explanation.more_to_come = true;
  const auto to_come = HasSubstr("is still to come: it is worked out once the reports of other");
  EXPECT_THAT(RenderWaits(explanation, {}, kWide), Contains(to_come));
  EXPECT_THAT(WaitsGraph(explanation), to_come);
  explanation.queries.clear();
  EXPECT_THAT(RenderWaits(explanation, {}, kWide), ElementsAre(to_come));
  EXPECT_THAT(DescribeWaits(explanation, {}, {}).sentences, ElementsAre(to_come));
}

TEST(WaitsTable, NamesTheJobOfAnotherAndNotTheNameOfOneThatIsHidden) {
  Explanation explanation = TwoQueries();
  explanation.queries[1].culprits = {
      {.job_id = "app-7",
       .query = "sql/3",
       .resource = WaitedResource::kProcessor,
       .host = "node-3",
       .seconds = 5},
      {.jobs = 2, .resource = WaitedResource::kProcessor, .host = "node-3", .seconds = 2},
      {.job_id = "mapreduce", .seconds = 1},
      {.jobs = 1, .seconds = 0.5},
      {.jobs = 0, .resource = WaitedResource::kProcessor, .host = "node-3", .seconds = 0.4}};
  const std::vector<std::string> lines = RenderWaits(explanation, {}, kWide);
  EXPECT_THAT(lines,
              Contains("sql/1 waited 8.0 s of 12 s for a slot: about 1.0 s behind mapreduce, "
                       "about 0.5 s behind another job"));
  EXPECT_THAT(lines, Contains("sql/1 waited 7.4 s of 12 s for a processor: about 5.0 s behind "
                              "app-7/sql/3 on node-3, about 2.0 s behind 2 other jobs on node-3, "
                              "about 0.4 s behind processes outside Tidemark on node-3"));
}

TEST(WaitsTable, SaysBetweenWhatLimitsSecondsAre) {
  Explanation explanation = TwoQueries();
  explanation.queries[1].culprits[0].seconds_lower = 6;
  explanation.queries[1].culprits[0].seconds_upper = 9.5;
  EXPECT_THAT(RenderWaits(explanation, {}, kWide),
              Contains("sql/1 waited 8.0 s (6.0-9.5 s) of 12 s for a slot behind sql/0"));
  explanation.queries[1].culprits[0].seconds_lower = 7.99;
  explanation.queries[1].culprits[0].seconds_upper = 8.01;
  EXPECT_THAT(RenderWaits(explanation, {}, kWide),
              Contains("sql/1 waited 8.0 s of 12 s for a slot behind sql/0"));
}

TEST(WaitsTable, SaysOnceOfEachCulpritHowMuchSoonerTheJobWouldEndWithoutIt) {
  Explanation explanation = TwoQueries();
  Culprit culprit = {.job_id = "app-7",
                     .query = "sql/3",
                     .resource = WaitedResource::kProcessor,
                     .host = "node-3",
                     .seconds = 5,
                     .sooner_seconds = 40.2,
                     .sooner_seconds_lower = 25.9,
                     .sooner_seconds_upper = 59.1};
  explanation.queries[0].culprits = {culprit};
  explanation.queries[1].culprits = {culprit};
  constexpr const char* kSentence =
      "Without app-7/sql/3 from now on, app would end about 40 s sooner (25-60 s).";
  EXPECT_THAT(RenderWaits(explanation, {}, kWide), Contains(kSentence).Times(1));
  explanation.has_ended = true;
  EXPECT_THAT(RenderWaits(explanation, {}, kWide),
              Contains("Without app-7/sql/3, app would have ended about 40 s sooner (25-60 s)."));
  for (QueryWaits& query : explanation.queries) query.culprits[0].sooner_seconds = 0.9;
  EXPECT_THAT(RenderWaits(explanation, {}, kWide), Not(Contains(HasSubstr("sooner"))));
}

TEST(WaitsTable, TheLongestTaskOfAQueryIsItsOwnDoing) {
  Explanation explanation = TwoQueries();
  explanation.queries[0].skew_seconds = 6;
  EXPECT_THAT(
      RenderWaits(explanation, {}, kWide),
      Contains("sql/0: the longest tasks of its stages took 6.0 s more than the mean ones, apart "
               "from what they waited"));
  explanation.queries[0].skew_seconds = 0.5;
  EXPECT_THAT(RenderWaits(explanation, {}, kWide), Not(Contains(HasSubstr("longest"))));
}

TEST(WaitsTable, WhatItReadMoreThanInEarlierRunsIsItsOwnDoing) {
  Explanation explanation = TwoQueries();
  explanation.queries[0].data_growth = DataGrowth{.task_seconds = 40,
                                                  .task_seconds_lower = 30,
                                                  .task_seconds_upper = 48,
                                                  .read_bytes = 20e9,
                                                  .earlier_read_bytes = 10e9,
                                                  .all_task_seconds = 80};
  EXPECT_THAT(RenderWaits(explanation, {}, kWide),
              Contains("sql/0: stages of it read 20.0 GB, in earlier runs 10.0 GB: that took their "
                       "tasks about 40 s (30-48 s) more, summed over tasks"));
  explanation.queries[0].data_growth->task_seconds_lower.reset();
  EXPECT_THAT(RenderWaits(explanation, {}, kWide), Contains(HasSubstr("about 40 s more, summed")));
}

// The query of 10 s had 50 tasks at a time, or one that waited for most of it.
TEST(WaitsTable, GrowthIsMeasuredByWhatAllTasksTook) {
  Explanation explanation = TwoQueries();
  DataGrowth growth = {.task_seconds = 40, .all_task_seconds = 500};
  explanation.queries[0].data_growth = growth;
  EXPECT_THAT(RenderWaits(explanation, {}, kWide), Not(Contains(HasSubstr("in earlier runs"))));
  growth = {.task_seconds = 0.5, .all_task_seconds = 2};
  explanation.queries[0].data_growth = growth;
  EXPECT_THAT(RenderWaits(explanation, {}, kWide), Contains(HasSubstr("about 0.5 s more")));
}

TEST(WaitsTable, SaysWhatIsNotKnown) {
  Explanation explanation = {.job_id = "app", .queries = {{.query = ""}}, .queries_left_out = 3};
  explanation.is_partial = true;
  const auto lines = RenderWaits(explanation, {}, kWide);
  EXPECT_THAT(lines, Contains(HasSubstr("there are no metrics")));
  EXPECT_THAT(lines, Contains("3 older queries are left out."));
  EXPECT_THAT(lines, Contains(HasSubstr("Not all of the job was seen")));
  EXPECT_THAT(lines, Not(Contains(HasSubstr("No query is seen to have waited"))));
  EXPECT_THAT(RenderWaits({.job_id = "app"}, {}, kWide),
              ElementsAre("nothing was seen of app yet; ask again in 5 seconds"));
  EXPECT_THAT(RenderWaits({.job_id = "app"}, {.last = absl::Minutes(5)}, kWide),
              ElementsAre("nothing was seen of app in that time"));
}

// Of one that has ended nothing more comes.
TEST(WaitsTable, OfAJobThatHasEndedNobodyIsToldToAskAgain) {
  EXPECT_THAT(RenderWaits({.job_id = "app", .has_ended = true}, {}, kWide),
              ElementsAre("nothing is known of what app waited for"));
  EXPECT_THAT(RenderWaits({.job_id = "app", .has_ended = true}, {.last = absl::Minutes(5)}, kWide),
              ElementsAre("nothing was seen of app in that time"));
}

TEST(WaitsTable, SaysWhenItIsKnownWhatAJobThatHasEndedWaitedFor) {
  EXPECT_EQ(WaitsToCome("app", absl::Seconds(45), {}),
            "app has ended; what it waited for is worked out once the reports of other tasks that "
            "ran meanwhile are in, about 45 s after its end at the latest");
}

TEST(WaitsTable, OfAHostWithoutTasksNamesThoseThatHaveThem) {
  Explanation explanation = {.job_id = "app", .queries = {{.query = "sql/0"}}};
  explanation.hosts = {"alpha", "node-1"};
  const auto lines = [&](const ExplainQuestion& question) {
    return RenderWaits(explanation, question, kWide);
  };
  EXPECT_THAT(lines({.host = "beta"}),
              Contains("No task of it was seen on beta; its hosts: alpha, node-1"));
  EXPECT_THAT(lines({.host = "node-2", .last = absl::Minutes(5)}),
              Contains("No task of it was seen on node-2 in that time; did you mean node-1?"));
  EXPECT_THAT(lines({.host = "beta"}), Not(Contains(HasSubstr("metrics"))));
  EXPECT_THAT(lines({.host = "alpha"}), Contains(HasSubstr("there are no metrics")));
  explanation.hosts.clear();
  EXPECT_THAT(lines({.host = "alpha"}),
              Contains("No task of it was seen on a host whose name is told."));
  EXPECT_THAT(lines({.host = "alpha", .last = absl::Minutes(5)}),
              Contains("No task of it was seen in that time on a host whose name is told."));
}

TEST(WaitsTable, WhoAsksForSlotsMissesNoMetrics) {
  Explanation explanation = TwoQueries();
  explanation.queries[1].waits = {};
  explanation.queries[1].culprits.clear();
  const ExplainQuestion slots = {.resource = WaitedResource::kScheduler};
  EXPECT_THAT(RenderWaits(explanation, slots, kWide), Not(Contains(HasSubstr("told how"))));
  explanation.queries[0].waits = {};
  EXPECT_THAT(RenderWaits(explanation, slots, kWide),
              Contains("How many slots it has is not told, so neither is how long it waited."));
  EXPECT_THAT(RenderWaits(explanation, slots, kWide), Not(Contains(HasSubstr("metrics"))));
}

TEST(WaitsTable, OfAWorkflowNamesTheJobsThatHaveQueries) {
  Snapshot workflow;
  workflow.job_id = "nightly";
  workflow.children = {{.name = "load", .job_id = "load-7"}, {.name = "count"}};
  EXPECT_EQ(
      NoQueriesOfWorkflow(workflow),
      "nightly is a workflow, which has no queries of its own; ask about one of its jobs once "
      "it has begun");
  workflow.children[0].started_at = absl::UnixEpoch();
  EXPECT_EQ(NoQueriesOfWorkflow(workflow),
            "nightly is a workflow, which has no queries of its own; ask about one of its jobs: "
            "load-7");
}

TEST(WaitsTable, TheWorstWaitIsToldOfAQueryThatLostMoreThanAFifth) {
  EXPECT_EQ(WorstWait(TwoQueries(), {}), "waits for a slot, mostly behind sql/0");
  Explanation explanation = TwoQueries();
  explanation.queries[1].culprits[0].seconds = 3;
  EXPECT_EQ(WorstWait(explanation, {}), "waits for a slot, partly behind sql/0");
  explanation.queries[1].culprits[0].seconds = 2;
  EXPECT_EQ(WorstWait(explanation, {}), "");
  explanation.queries[1].seconds.reset();
  EXPECT_EQ(WorstWait(explanation, {}), "") << "of how much is not known";
}

TEST(WaitsTable, TheGraphQuotesWhatOthersCallThemselves) {
  Explanation explanation = TwoQueries();
  explanation.queries[1].culprits[0].query = "a\"b\\c\nd";
  const std::string graph = WaitsGraph(explanation);
  EXPECT_THAT(graph, HasSubstr(R"(-> "sql/1" [label="slots: 8.0 s"];)"));
  EXPECT_THAT(graph, HasSubstr(R"("a\"b\\c)"));
  EXPECT_THAT(graph, Not(HasSubstr("c\nd")));
}

}  // namespace
}  // namespace tidemark::console
