#include "console/waits_table.h"

#include "tests/test.h"

namespace tidemark::console::waits_table_test {
namespace {

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

std::vector<std::string> Lines(const Explanation& explanation,
                               const ExplainQuestion& question = {}) {
  return RenderWaits(explanation, question, kWide);
}

class WaitsTableTest : public ::testing::Test {
 protected:
  std::vector<std::string> Lines(const ExplainQuestion& question = {}) const {
    return RenderWaits(waits_, question, kWide);
  }

  Explanation waits_ = TwoQueries();
  QueryWaits& first_ = waits_.queries[0];
  QueryWaits& second_ = waits_.queries[1];
};

TEST(WaitsTable, ListsTheWaitsOfEachQueryAndTheirCauses) {
  EXPECT_THAT(
      Lines(TwoQueries()),
      ElementsAre(
          "QUERY  LASTED  SLOTS  PROCESSOR     MEMORY        NETWORK       IO            SCAN",
          "sql/0  10 s    0.0 s  not reported  not reported  not reported  not reported  not "
          "reported",
          "sql/1  12 s    8 s    not reported  >= 1 s        not reported  not reported  not "
          "reported",
          "", "sql/1 waited 8 of 12 s for a slot behind sql/0",
          "sql/1 waited at least 1 of 12 s for garbage collection; the cause is unknown"));
}

TEST(WaitsTable, NamesTheWaitsOfEachRow) {
  EXPECT_THAT(WaitHeadings(), ElementsAre("Slots", "Processor", "Memory", "Network", "IO", "Scan"));
  EXPECT_EQ(DescribeWaits(TwoQueries(), {}, {}).rows.at(0).size(), 2 + WaitHeadings().size());
}

TEST(WaitsTable, OmitsUnrequestedColumns) {
  EXPECT_THAT(Lines(TwoQueries(), {.resource = WaitReason::kMemory}),
              Contains("QUERY  LASTED  MEMORY"));
  EXPECT_THAT(Lines(TwoQueries(), {.resource = WaitReason::kMemory}),
              Contains("sql/1  12 s    >= 1 s"));
  EXPECT_THAT(
      Lines(TwoQueries(), {.host = "node-1"}),
      Contains("QUERY  LASTED  PROCESSOR     MEMORY        NETWORK       IO            SCAN"))
      << "slots belong to no host";
  EXPECT_THAT(DescribeWaits(TwoQueries(), {.resource = WaitReason::kMemory}, {}).rows.at(0),
              ElementsAre("sql/0", "10 s", "not requested", "not requested", "not reported",
                          "not requested", "not requested", "not requested"));
}

TEST_F(WaitsTableTest, ShowsLongTimesInMinutes) {
  second_.seconds = 812;
  second_.culprits[0].seconds = 150.4;
  second_.waits[WaitReason::kSlots].seconds = 150.4;
  second_.culprits[0].seconds_lower = 95.5;
  second_.culprits[0].seconds_upper = 200.1;
  const auto lines = Lines();
  EXPECT_THAT(lines, Contains(HasSubstr("sql/1  13 min 32 s  2 min 30 s")));
  EXPECT_THAT(lines, Contains("sql/1 waited 2 min 30 s (1 min 35 s - 3 min 21 s) of 13 min 32 s "
                              "for a slot behind sql/0"));
}

TEST_F(WaitsTableTest, MarksLowerBounds) {
  second_.waits[WaitReason::kProcessor] = {7, true};
  ContendingQuery& culprit = second_.culprits[0];
  culprit = {.jobs = 0, .resource = WaitReason::kProcessor, .host = "node-3", .seconds = 6};
  EXPECT_THAT(Lines(), Contains("sql/1 waited at least 7 of 12 s for CPU on node-3: at "
                                "least 6 s behind processes outside Tidemark"));
  EXPECT_THAT(WaitsGraph(waits_), HasSubstr("processor, node-3: at least 6 s"));
  culprit.seconds_lower = 5;
  culprit.seconds_upper = 9;
  EXPECT_THAT(Lines(), Contains("sql/1 waited at least 7 of 12 s for CPU on node-3: "
                                "about 6 s (5-9 s) behind processes outside Tidemark"))
      << "the limits are more precise";
}

// If the answer has as many causes as requested, the master may have omitted further causes.
TEST(WaitsTable, CallsACauseUnknownOnlyIfTheLimitOmittedNone) {
  const auto lines = Lines(TwoQueries(), {.culprits_max = 1});
  EXPECT_THAT(lines, Contains(HasSubstr("at least 1 of 12 s for garbage collection")));
  EXPECT_THAT(lines, Not(Contains(HasSubstr("cause is unknown"))));
}

TEST_F(WaitsTableTest, NamesTheLongestTaskItsHostAndItsKey) {
  first_.longest_task = LongestTask{.attempt = {.stage = kReduceStage, .index = 2},
                                    .kind = StageKind::kReduce,
                                    .host = "node-3",
                                    .seconds = 9,
                                    .mean_seconds = 3,
                                    .group_bytes = 1'200'000,
                                    .group_seconds = 8};
  EXPECT_THAT(Lines(),
              Contains("sql/0: its longest task, reduce task 2 on node-3, took 9 s (mean of its "
                       "stage: 3 s), 8 s of that in one key group of 1.2 MB"));
  first_.longest_task = LongestTask{
      .attempt = {.stage = 7, .index = 2, .attempt = 1}, .seconds = 9, .mean_seconds = 3};
  EXPECT_THAT(Lines(), Contains("sql/0: its longest task, task 2 of stage 7, attempt 1, "
                                "took 9 s (mean of its stage: 3 s)"));
  first_.longest_task->mean_seconds = 8.9;
  EXPECT_THAT(Lines(), Not(Contains(HasSubstr("longest task"))));
}

TEST_F(WaitsTableTest, MarksAnIncompleteAnswer) {
  waits_.more_to_come = true;
  const auto to_come = HasSubstr("are unknown until the reports of other tasks have arrived");
  EXPECT_THAT(Lines(), Contains(to_come));
  EXPECT_THAT(WaitsGraph(waits_), to_come);
  waits_.queries.clear();
  EXPECT_THAT(Lines(), ElementsAre(to_come));
  EXPECT_THAT(DescribeWaits(waits_, {}, {}).sentences, ElementsAre(to_come));
}

TEST_F(WaitsTableTest, NamesOtherJobsExceptHiddenOnes) {
  second_.culprits = {
      {.job_id = "app-7",
       .query = "sql/3",
       .resource = WaitReason::kProcessor,
       .host = "node-3",
       .seconds = 5},
      {.jobs = 2, .resource = WaitReason::kProcessor, .host = "node-3", .seconds = 2},
      {.job_id = "mapreduce", .seconds = 1},
      {.jobs = 1, .seconds = 0.5},
      {.jobs = 0, .resource = WaitReason::kProcessor, .host = "node-3", .seconds = 0.4}};
  const std::vector<std::string> lines = Lines();
  EXPECT_THAT(lines, Contains("sql/1 waited 8 of 12 s for a slot: about 1 s behind job mapreduce, "
                              "about 0.5 s behind another job"));
  EXPECT_THAT(
      lines,
      Contains("sql/1 waited 7 of 12 s for CPU on node-3: about 5 s behind app-7/sql/3, about 2 s "
               "behind 2 other jobs, about 0.4 s behind processes outside Tidemark"));
}

TEST_F(WaitsTableTest, ShowsLimits) {
  second_.culprits[0].seconds_lower = 6;
  second_.culprits[0].seconds_upper = 9.5;
  EXPECT_THAT(Lines(), Contains("sql/1 waited 8 s (6-10 s) of 12 s for a slot behind sql/0"));
  second_.culprits[0].seconds_lower = 7.99;
  second_.culprits[0].seconds_upper = 8.01;
  EXPECT_THAT(Lines(), Contains("sql/1 waited 8 of 12 s for a slot behind sql/0"));
}

TEST_F(WaitsTableTest, ShowsTheGainWithoutEachCauseOnce) {
  ContendingQuery culprit = {.job_id = "app-7",
                             .query = "sql/3",
                             .resource = WaitReason::kProcessor,
                             .host = "node-3",
                             .seconds = 5,
                             .sooner_seconds = 40.2,
                             .sooner_seconds_lower = 25.9,
                             .sooner_seconds_upper = 59.1};
  first_.culprits = {culprit};
  second_.culprits = {culprit};
  constexpr const char* kSentence =
      "Without app-7/sql/3 from now on, app would end about 40 s sooner (25-60 s).";
  EXPECT_THAT(Lines(), Contains(kSentence).Times(1));
  waits_.has_ended = true;
  EXPECT_THAT(Lines(),
              Contains("Without app-7/sql/3, app would have ended about 40 s sooner (25-60 s)."));
  for (QueryWaits& query : waits_.queries) query.culprits[0].sooner_seconds = 0.9;
  EXPECT_THAT(Lines(), Not(Contains(HasSubstr("sooner"))));
}

TEST_F(WaitsTableTest, ReportsSkew) {
  first_.skew_seconds = 6;
  EXPECT_THAT(Lines(), Contains("sql/0: excluding waits, the longest tasks of its stages took 6 s "
                                "longer than the average task"));
  first_.skew_seconds = 0.5;
  EXPECT_THAT(Lines(), Not(Contains(HasSubstr("longest"))));
}

TEST_F(WaitsTableTest, ReportsDataGrowth) {
  first_.data_growth = DataGrowth{.task_seconds = 40,
                                  .task_seconds_lower = 30,
                                  .task_seconds_upper = 48,
                                  .read_bytes = 20e9,
                                  .earlier_read_bytes = 10e9,
                                  .all_task_seconds = 80};
  EXPECT_THAT(Lines(),
              Contains("sql/0: its stages read 20.0 GB (past runs: 10.0 GB); "
                       "the additional data cost their tasks about 40 s (30-48 s) in total"));
  first_.data_growth->task_seconds_lower.reset();
  EXPECT_THAT(Lines(), Contains(HasSubstr("about 40 s in total")));
}

// The query of 10 s had either 50 concurrent tasks, or one task that waited most of the time.
TEST_F(WaitsTableTest, ComparesGrowthWithTheTimeOfAllTasks) {
  DataGrowth growth = {.task_seconds = 40, .all_task_seconds = 500};
  first_.data_growth = growth;
  EXPECT_THAT(Lines(), Not(Contains(HasSubstr("past runs"))));
  growth = {.task_seconds = 0.5, .all_task_seconds = 2};
  first_.data_growth = growth;
  EXPECT_THAT(Lines(), Contains(HasSubstr("about 0.5 s in total")));
}

TEST(WaitsTable, ReportsTheLimitsOfTheAnswer) {
  Explanation explanation = {.job_id = "app", .queries = {{.query = ""}}, .queries_left_out = 3};
  explanation.is_partial = true;
  const auto lines = Lines(explanation);
  EXPECT_THAT(lines, Contains("The tasks of app reported no waits."));
  EXPECT_THAT(Lines(explanation, {.resource = WaitReason::kProcessor}),
              Contains("The tasks of app reported no waits for CPU."));
  EXPECT_THAT(lines, Contains("3 older queries are omitted."));
  EXPECT_THAT(lines, Contains(HasSubstr("The waits are incomplete")));
  EXPECT_THAT(lines, Not(Contains(HasSubstr("No waits of one query"))));
  EXPECT_THAT(Lines({.job_id = "app"}), ElementsAre("app has sent no reports yet; retry in 5 s"));
  EXPECT_THAT(Lines({.job_id = "app"}, {.last = absl::Minutes(5)}),
              ElementsAre("app sent no reports in that time"));
}

TEST(WaitsTable, SuggestsNoRetryAfterTheEnd) {
  EXPECT_THAT(Lines({.job_id = "app", .has_ended = true}),
              ElementsAre("the waits of app are unknown"));
  EXPECT_THAT(Lines({.job_id = "app", .has_ended = true}, {.last = absl::Minutes(5)}),
              ElementsAre("app sent no reports in that time"));
}

TEST(WaitsTable, ReportsWhenTheWaitsOfAnEndedJobAreKnown) {
  EXPECT_EQ(WaitsToCome("app", absl::Seconds(45), {}),
            "app has ended; its waits will be known when the reports of other tasks have arrived, "
            "at most about 45 s after its end");
}

TEST(WaitsTable, SuggestsHostsWithTasks) {
  Explanation explanation = {.job_id = "app", .queries = {{.query = "sql/0"}}};
  explanation.hosts = {"alpha", "node-1"};
  EXPECT_THAT(Lines(explanation, {.host = "beta"}),
              Contains("No task of app ran on beta; its hosts: alpha, node-1"));
  EXPECT_THAT(Lines(explanation, {.host = "node-2", .last = absl::Minutes(5)}),
              Contains("No task of app ran on node-2 in that time; did you mean node-1?"));
  EXPECT_THAT(Lines(explanation, {.host = "beta"}), Not(Contains(HasSubstr("reported no waits"))));
  EXPECT_THAT(Lines(explanation, {.host = "alpha"}), Contains(HasSubstr("reported no waits")));
  explanation.hosts.clear();
  EXPECT_THAT(Lines(explanation, {.host = "alpha"}), Contains("No task of app reported a host."));
  EXPECT_THAT(Lines(explanation, {.host = "alpha", .last = absl::Minutes(5)}),
              Contains("No task of app reported a host in that time."));
}

TEST_F(WaitsTableTest, NeedsNoMetricsForSlots) {
  second_.waits = {};
  second_.culprits.clear();
  const ExplainQuestion slots = {.resource = WaitReason::kSlots};
  EXPECT_THAT(Lines(slots), Not(Contains(HasSubstr("number of slots"))));
  first_.waits = {};
  EXPECT_THAT(
      Lines(slots),
      Contains("The waits of app for slots are unknown: its number of slots is not reported."));
  EXPECT_THAT(Lines(slots), Not(Contains(HasSubstr("reported no waits"))));
}

TEST(WaitsTable, NamesTheJobsOfAWorkflowThatHaveQueries) {
  Snapshot workflow;
  workflow.job_id = "nightly";
  workflow.children = {{.name = "load", .job_id = "load-7"}, {.name = "count"}};
  EXPECT_EQ(WorkflowHasNo("queries", workflow),
            "nightly is a workflow and has no queries; pass one of its jobs once it has started");
  workflow.children[0].started_at = absl::UnixEpoch();
  EXPECT_EQ(WorkflowHasNo("queries", workflow),
            "nightly is a workflow and has no queries; pass one of its jobs: load-7");
}

TEST(WaitsTable, TheEndOfAWorkflowDependsOnTheJobsThatEndedLast) {
  const auto at = [](int seconds) { return absl::UnixEpoch() + absl::Seconds(seconds); };
  Snapshot workflow;
  workflow.at = at(100);
  workflow.children = {
      {.number = 1, .name = "load", .job_id = "j1", .started_at = at(0), .ended_at = at(10)},
      {.number = 2, .name = "count", .job_id = "j2", .started_at = at(11), .ended_at = at(51)},
      {.number = 3, .name = "clean", .job_id = "j3", .started_at = at(11), .ended_at = at(20)},
      {.number = 4, .name = "store", .job_id = "j4", .started_at = at(60)},
      {.number = 5, .name = "mail"}};
  workflow.children[1].after = workflow.children[2].after = {1};
  workflow.children[3].after = {2, 3};
  workflow.children[4].after = {4};
  workflow.stage_infos = {{.id = {2, 0}, .name = "map"}, {.id = {2, 1}, .name = "reduce"}};
  workflow.stages = {{.id = {2, 0}, .started_at = at(11), .ended_at = at(21)},
                     {.id = {2, 1}, .started_at = at(20), .ended_at = at(51)}};
  const std::vector<DecisiveJob> jobs = DecisiveJobs(workflow);
  EXPECT_THAT(RenderDecisiveJobs(workflow, jobs, {{}, {"j2 waited"}, {}}, {}),
              ElementsAre("JOB    ID  PAUSE BEFORE  LASTED  LONGEST STAGE",
                          "load   j1  0 s           10 s    unknown",
                          "count  j2  1 s           40 s    reduce, 31 s",
                          "store  j4  9 s           40 s    unknown", "",
                          "These jobs determined the duration of the workflow so far. 10 s of "
                          "1 min 40 s passed between them.",
                          "j2 waited"));
  workflow.is_final = true;
  EXPECT_THAT(RenderDecisiveJobs(workflow, jobs, {}, {}),
              Contains(HasSubstr("the duration of the workflow. 10 s")));
  workflow.children.clear();
  EXPECT_THAT(DecisiveJobs(workflow), IsEmpty());
}

TEST_F(WaitsTableTest, ShowsTheWorstWaitOfMoreThanAFifth) {
  EXPECT_EQ(WorstWait(waits_, {}), "waits for a slot, mostly behind sql/0");
  second_.culprits[0].seconds = 3;
  EXPECT_EQ(WorstWait(waits_, {}), "waits for a slot, partly behind sql/0");
  second_.culprits[0].seconds = 2;
  EXPECT_EQ(WorstWait(waits_, {}), "");
  second_.seconds.reset();
  EXPECT_EQ(WorstWait(waits_, {}), "") << "its duration is unknown";
}

TEST(WaitsTable, AWaitTooShortToShowIsNotUnknown) {
  QueryWaits query;
  query.culprits = {
      {.job_id = "b", .resource = WaitReason::kProcessor, .host = "node-1", .seconds = 0.0078}};
  const Explanation explanation = {.job_id = "a", .queries = {query}};
  EXPECT_THAT(QuerySentences(explanation, query, {.because_of = "b"}, {}),
              ElementsAre("a: waited less than 0.05 s behind b"));
}

TEST_F(WaitsTableTest, QuotesNamesInTheGraph) {
  second_.culprits[0].query = "a\"b\\c\nd";
  const std::string graph = WaitsGraph(waits_);
  EXPECT_THAT(graph, HasSubstr(R"(-> "sql/1" [label="slots: 8 s"];)"));
  EXPECT_THAT(graph, HasSubstr(R"("a\"b\\c)"));
  EXPECT_THAT(graph, Not(HasSubstr("c\nd")));
}

}  // namespace
}  // namespace tidemark::console::waits_table_test
