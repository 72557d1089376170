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
  first.waits[WaitReason::kSlots].seconds = 0;
  QueryWaits second = {.query = "sql/1", .seconds = 12};
  second.waits[WaitReason::kSlots].seconds = 8;
  second.waits[WaitReason::kMemory] = {1.0, true};
  second.culprits = {{.job_id = "app", .query = "sql/0", .seconds = 8}};
  return {.job_id = "app", .queries = {first, second}};
}

TEST(WaitsTable, ListsTheWaitsOfEachQueryAndTheirCauses) {
  EXPECT_THAT(
      RenderWaits(TwoQueries(), {}, kWide),
      ElementsAre("QUERY  LASTED  SLOTS  PROCESSOR     MEMORY        NETWORK       IO",
                  "sql/0  10 s    0.0 s  not reported  not reported  not reported  not reported",
                  "sql/1  12 s    8 s    not reported  >= 1 s        not reported  not reported",
                  "", "sql/1 waited 8 of 12 s for a slot behind sql/0",
                  "sql/1 waited at least 1 of 12 s for garbage collection; the cause is unknown"));
}

TEST(WaitsTable, NamesTheWaitsOfEachRow) {
  EXPECT_THAT(WaitHeadings(), ElementsAre("Slots", "Processor", "Memory", "Network", "IO"));
  EXPECT_EQ(DescribeWaits(TwoQueries(), {}, {}).rows.at(0).size(), 2 + WaitHeadings().size());
}

TEST(WaitsTable, OmitsUnrequestedColumns) {
  EXPECT_THAT(RenderWaits(TwoQueries(), {.resource = WaitReason::kMemory}, kWide),
              Contains("QUERY  LASTED  MEMORY"));
  EXPECT_THAT(RenderWaits(TwoQueries(), {.resource = WaitReason::kMemory}, kWide),
              Contains("sql/1  12 s    >= 1 s"));
  EXPECT_THAT(RenderWaits(TwoQueries(), {.host = "node-1"}, kWide),
              Contains("QUERY  LASTED  PROCESSOR     MEMORY        NETWORK       IO"))
      << "slots belong to no host";
  EXPECT_THAT(DescribeWaits(TwoQueries(), {.resource = WaitReason::kMemory}, {}).rows.at(0),
              ElementsAre("sql/0", "10 s", "not requested", "not requested", "not reported",
                          "not requested", "not requested"));
}

TEST(WaitsTable, ShowsLongTimesInMinutes) {
  Explanation explanation = TwoQueries();
  explanation.queries[1].seconds = 812;
  explanation.queries[1].culprits[0].seconds = 150.4;
  explanation.queries[1].waits[WaitReason::kSlots].seconds = 150.4;
  explanation.queries[1].culprits[0].seconds_lower = 95.5;
  explanation.queries[1].culprits[0].seconds_upper = 200.1;
  const auto lines = RenderWaits(explanation, {}, kWide);
  EXPECT_THAT(lines, Contains(HasSubstr("sql/1  13 min 32 s  2 min 30 s")));
  EXPECT_THAT(lines,
              Contains("sql/1 waited 2 min 30 s (1 min 35 s - 3 min 21 s) of 13 min 32 s for "
                       "a slot behind sql/0"));
}

// Some of its tasks did not report their waits.
TEST(WaitsTable, MarksLowerBounds) {
  Explanation explanation = TwoQueries();
  explanation.queries[1].waits[WaitReason::kProcessor] = {7, true};
  ContendingQuery& culprit = explanation.queries[1].culprits[0];
  culprit = {.jobs = 0, .resource = WaitReason::kProcessor, .host = "node-3", .seconds = 6};
  EXPECT_THAT(RenderWaits(explanation, {}, kWide),
              Contains("sql/1 waited at least 7 of 12 s for CPU on node-3: at least 6 s behind "
                       "processes outside Tidemark"));
  EXPECT_THAT(WaitsGraph(explanation), HasSubstr("processor, node-3: at least 6 s"));
  culprit.seconds_lower = 5;
  culprit.seconds_upper = 9;
  EXPECT_THAT(
      RenderWaits(explanation, {}, kWide),
      Contains("sql/1 waited at least 7 of 12 s for CPU on node-3: about 6 s (5-9 s) behind "
               "processes outside Tidemark"))
      << "the limits are more precise";
}

// If the answer has as many causes as requested, the master may have omitted more.
TEST(WaitsTable, CallsACauseUnknownOnlyIfTheLimitOmittedNone) {
  const auto lines = RenderWaits(TwoQueries(), {.culprits_max = 1}, kWide);
  EXPECT_THAT(lines, Contains(HasSubstr("at least 1 of 12 s for garbage collection")));
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
              Contains("sql/0: its longest task, reduce task 2 on node-3, took 9 s (mean of its "
                       "stage: 3 s), 8 s of that in one key group of 1.2 MB"));
  explanation.queries[0].longest_task = LongestTask{
      .attempt = {.stage = 7, .index = 2, .attempt = 1}, .seconds = 9, .mean_seconds = 3};
  EXPECT_THAT(RenderWaits(explanation, {}, kWide),
              Contains("sql/0: its longest task, task 2 of stage 7, attempt 1, took 9 s (mean of "
                       "its stage: 3 s)"));
  explanation.queries[0].longest_task->mean_seconds = 8.9;
  EXPECT_THAT(RenderWaits(explanation, {}, kWide), Not(Contains(HasSubstr("longest task"))));
}

TEST(WaitsTable, MarksAnIncompleteAnswer) {
  Explanation explanation = TwoQueries();
  explanation.more_to_come = true;
  const auto to_come = HasSubstr("are unknown until the reports of other tasks have arrived");
  EXPECT_THAT(RenderWaits(explanation, {}, kWide), Contains(to_come));
  EXPECT_THAT(WaitsGraph(explanation), to_come);
  explanation.queries.clear();
  EXPECT_THAT(RenderWaits(explanation, {}, kWide), ElementsAre(to_come));
  EXPECT_THAT(DescribeWaits(explanation, {}, {}).sentences, ElementsAre(to_come));
}

TEST(WaitsTable, NamesOtherJobsExceptHiddenOnes) {
  Explanation explanation = TwoQueries();
  explanation.queries[1].culprits = {
      {.job_id = "app-7",
       .query = "sql/3",
       .resource = WaitReason::kProcessor,
       .host = "node-3",
       .seconds = 5},
      {.jobs = 2, .resource = WaitReason::kProcessor, .host = "node-3", .seconds = 2},
      {.job_id = "mapreduce", .seconds = 1},
      {.jobs = 1, .seconds = 0.5},
      {.jobs = 0, .resource = WaitReason::kProcessor, .host = "node-3", .seconds = 0.4}};
  const std::vector<std::string> lines = RenderWaits(explanation, {}, kWide);
  EXPECT_THAT(lines,
              Contains("sql/1 waited 8 of 12 s for a slot: about 1 s behind job mapreduce, about "
                       "0.5 s behind another job"));
  EXPECT_THAT(lines, Contains("sql/1 waited 7 of 12 s for CPU on node-3: about 5 s behind "
                              "app-7/sql/3, about 2 s behind 2 other jobs, about 0.4 s behind "
                              "processes outside Tidemark"));
}

TEST(WaitsTable, ShowsLimits) {
  Explanation explanation = TwoQueries();
  explanation.queries[1].culprits[0].seconds_lower = 6;
  explanation.queries[1].culprits[0].seconds_upper = 9.5;
  EXPECT_THAT(RenderWaits(explanation, {}, kWide),
              Contains("sql/1 waited 8 s (6-10 s) of 12 s for a slot behind sql/0"));
  explanation.queries[1].culprits[0].seconds_lower = 7.99;
  explanation.queries[1].culprits[0].seconds_upper = 8.01;
  EXPECT_THAT(RenderWaits(explanation, {}, kWide),
              Contains("sql/1 waited 8 of 12 s for a slot behind sql/0"));
}

TEST(WaitsTable, ShowsTheGainWithoutEachCauseOnce) {
  Explanation explanation = TwoQueries();
  ContendingQuery culprit = {.job_id = "app-7",
                             .query = "sql/3",
                             .resource = WaitReason::kProcessor,
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

TEST(WaitsTable, ReportsSkew) {
  Explanation explanation = TwoQueries();
  explanation.queries[0].skew_seconds = 6;
  EXPECT_THAT(
      RenderWaits(explanation, {}, kWide),
      Contains(
          "sql/0: the longest tasks of its stages took 6 s more than mean tasks, without waits"));
  explanation.queries[0].skew_seconds = 0.5;
  EXPECT_THAT(RenderWaits(explanation, {}, kWide), Not(Contains(HasSubstr("longest"))));
}

TEST(WaitsTable, ReportsDataGrowth) {
  Explanation explanation = TwoQueries();
  explanation.queries[0].data_growth = DataGrowth{.task_seconds = 40,
                                                  .task_seconds_lower = 30,
                                                  .task_seconds_upper = 48,
                                                  .read_bytes = 20e9,
                                                  .earlier_read_bytes = 10e9,
                                                  .all_task_seconds = 80};
  EXPECT_THAT(
      RenderWaits(explanation, {}, kWide),
      Contains("sql/0: its stages read 20.0 GB (past runs: 10.0 GB), which cost their tasks "
               "about 40 s (30-48 s) in total"));
  explanation.queries[0].data_growth->task_seconds_lower.reset();
  EXPECT_THAT(RenderWaits(explanation, {}, kWide), Contains(HasSubstr("about 40 s in total")));
}

// The query of 10 s had 50 concurrent tasks, or one task that waited for most of the time.
TEST(WaitsTable, ComparesGrowthWithTheTimeOfAllTasks) {
  Explanation explanation = TwoQueries();
  DataGrowth growth = {.task_seconds = 40, .all_task_seconds = 500};
  explanation.queries[0].data_growth = growth;
  EXPECT_THAT(RenderWaits(explanation, {}, kWide), Not(Contains(HasSubstr("past runs"))));
  growth = {.task_seconds = 0.5, .all_task_seconds = 2};
  explanation.queries[0].data_growth = growth;
  EXPECT_THAT(RenderWaits(explanation, {}, kWide), Contains(HasSubstr("about 0.5 s in total")));
}

TEST(WaitsTable, ReportsTheLimitsOfTheAnswer) {
  Explanation explanation = {.job_id = "app", .queries = {{.query = ""}}, .queries_left_out = 3};
  explanation.is_partial = true;
  const auto lines = RenderWaits(explanation, {}, kWide);
  EXPECT_THAT(lines, Contains(HasSubstr("reported no waits")));
  EXPECT_THAT(lines, Contains("3 older queries are omitted."));
  EXPECT_THAT(lines, Contains(HasSubstr("The waits are incomplete")));
  EXPECT_THAT(lines, Not(Contains(HasSubstr("No wait of one query"))));
  EXPECT_THAT(RenderWaits({.job_id = "app"}, {}, kWide),
              ElementsAre("app has reported nothing yet; retry in 5 s"));
  EXPECT_THAT(RenderWaits({.job_id = "app"}, {.last = absl::Minutes(5)}, kWide),
              ElementsAre("app reported nothing in that time"));
}

TEST(WaitsTable, SuggestsNoRetryAfterTheEnd) {
  EXPECT_THAT(RenderWaits({.job_id = "app", .has_ended = true}, {}, kWide),
              ElementsAre("the waits of app are unknown"));
  EXPECT_THAT(RenderWaits({.job_id = "app", .has_ended = true}, {.last = absl::Minutes(5)}, kWide),
              ElementsAre("app reported nothing in that time"));
}

TEST(WaitsTable, ReportsWhenTheWaitsOfAnEndedJobAreKnown) {
  EXPECT_EQ(
      WaitsToCome("app", absl::Seconds(45), {}),
      "app has ended; its waits are known when the reports of other tasks have arrived, at most "
      "about 45 s after its end");
}

TEST(WaitsTable, SuggestsHostsWithTasks) {
  Explanation explanation = {.job_id = "app", .queries = {{.query = "sql/0"}}};
  explanation.hosts = {"alpha", "node-1"};
  const auto lines = [&](const ExplainQuestion& question) {
    return RenderWaits(explanation, question, kWide);
  };
  EXPECT_THAT(lines({.host = "beta"}),
              Contains("No task of it ran on beta; its hosts: alpha, node-1"));
  EXPECT_THAT(lines({.host = "node-2", .last = absl::Minutes(5)}),
              Contains("No task of it ran on node-2 in that time; did you mean node-1?"));
  EXPECT_THAT(lines({.host = "beta"}), Not(Contains(HasSubstr("reported no waits"))));
  EXPECT_THAT(lines({.host = "alpha"}), Contains(HasSubstr("reported no waits")));
  explanation.hosts.clear();
  EXPECT_THAT(lines({.host = "alpha"}), Contains("No task of it reported its host."));
  EXPECT_THAT(lines({.host = "alpha", .last = absl::Minutes(5)}),
              Contains("No task of it reported its host in that time."));
}

TEST(WaitsTable, NeedsNoMetricsForSlots) {
  Explanation explanation = TwoQueries();
  explanation.queries[1].waits = {};
  explanation.queries[1].culprits.clear();
  const ExplainQuestion slots = {.resource = WaitReason::kSlots};
  EXPECT_THAT(RenderWaits(explanation, slots, kWide), Not(Contains(HasSubstr("number of slots"))));
  explanation.queries[0].waits = {};
  EXPECT_THAT(RenderWaits(explanation, slots, kWide),
              Contains("Its number of slots is not reported, so its waits for slots are unknown."));
  EXPECT_THAT(RenderWaits(explanation, slots, kWide),
              Not(Contains(HasSubstr("reported no waits"))));
}

TEST(WaitsTable, NamesTheJobsOfAWorkflowThatHaveQueries) {
  Snapshot workflow;
  workflow.job_id = "nightly";
  workflow.children = {{.name = "load", .job_id = "load-7"}, {.name = "count"}};
  EXPECT_EQ(NoQueriesOfWorkflow(workflow),
            "nightly is a workflow and has no queries; pass one of its jobs once it has started");
  workflow.children[0].started_at = absl::UnixEpoch();
  EXPECT_EQ(NoQueriesOfWorkflow(workflow),
            "nightly is a workflow and has no queries; pass one of its jobs: load-7");
}

TEST(WaitsTable, ShowsTheWorstWaitOfMoreThanAFifth) {
  EXPECT_EQ(WorstWait(TwoQueries(), {}), "waits for a slot, mostly behind sql/0");
  Explanation explanation = TwoQueries();
  explanation.queries[1].culprits[0].seconds = 3;
  EXPECT_EQ(WorstWait(explanation, {}), "waits for a slot, partly behind sql/0");
  explanation.queries[1].culprits[0].seconds = 2;
  EXPECT_EQ(WorstWait(explanation, {}), "");
  explanation.queries[1].seconds.reset();
  EXPECT_EQ(WorstWait(explanation, {}), "") << "its duration is unknown";
}

TEST(WaitsTable, QuotesNamesInTheGraph) {
  Explanation explanation = TwoQueries();
  explanation.queries[1].culprits[0].query = "a\"b\\c\nd";
  const std::string graph = WaitsGraph(explanation);
  EXPECT_THAT(graph, HasSubstr(R"(-> "sql/1" [label="slots: 8 s"];)"));
  EXPECT_THAT(graph, HasSubstr(R"("a\"b\\c)"));
  EXPECT_THAT(graph, Not(HasSubstr("c\nd")));
}

}  // namespace
}  // namespace tidemark::console
