#include "console/contention_table.h"

#include "tests/test.h"

namespace tidemark::console::contention_table_test {
namespace {

ClusterContention SomeContention() {
  const ContentionParty sql = {.job_id = "app-7", .query = "sql/1"};
  const ContentionRow cause = {.cause = sql,
                               .seconds = LimitedAmount{54, 40.5, 60},
                               .share = LimitedAmount{0.75, 0.6, 0.9},
                               .responsibility = 1.25,
                               .queries = 2};
  const ContentionRow outside = {.cause = ContentionParty{.jobs = 0},
                                 .seconds = LimitedAmount{18, 18, 18},
                                 .share = LimitedAmount{0.25, 0.25, 0.25},
                                 .queries = 1};
  const ContentionRow delayed = {.delayed = ContentionParty{.jobs = 2},
                                 .seconds = LimitedAmount{48, 40, 48},
                                 .share = LimitedAmount{1, 1, 1},
                                 .responsibility = 1};
  const ContentionRow path = {
      .delayed = ContentionParty{.job_id = "nightly", .stage = 3},
      .cause = ContentionParty{.job_id = "app-7", .query = "sql/1", .stage = 0},
      .resource = WaitReason::kIo,
      .host = "node-1",
      .responsibility = 0.5};
  return {.at = absl::FromUnixSeconds(1'700'000'060),
          .since = absl::FromUnixSeconds(1'700'000'000),
          .jobs = 3,
          .lists = {{.kind = ContentionKind::kDelayedQueries, .rows = {delayed}},
                    {.kind = ContentionKind::kPaths, .rows = {path}},
                    {.kind = ContentionKind::kCausingQueries, .rows = {cause, outside}}}};
}

TEST(ContentionTable, NamesTheWorstCauseAndTheMostDelayedQueryFirst) {
  EXPECT_THAT(
      RenderContention(SomeContention(), {.width = 200}),
      ElementsAre(
          "app-7/sql/1 delayed 2 queries by 54 s (40-60 s) in total, 75 % (60-90 %) of all delay.",
          "2 other jobs had the longest delay, 48 s (40-48 s).", "", "Queries that delayed others",
          "QUERY                       DELAY           SHARE           RESPONSIBILITY  QUERIES",
          "app-7/sql/1                 54 s (40-60 s)  75 % (60-90 %)  1.25            2",
          "processes outside Tidemark  18 s            25 %            -               1", "",
          "Delayed queries", "QUERY         DELAY           SHARE  RESPONSIBILITY",
          "2 other jobs  48 s (40-48 s)  100 %  1.00"));
}

TEST(ContentionTable, ContainsTheJobInTheFirstCell) {
  const auto tables = DescribeContention(SomeContention(), {});
  ASSERT_FALSE(tables.empty());
  EXPECT_THAT(tables[0].job_ids, ElementsAre("app-7", ""));
}

ContentionRow CauseOf(const std::string& job_id, double seconds, const LimitedAmount& share) {
  return {.cause = ContentionParty{.job_id = job_id, .jobs = job_id.empty() ? 0U : 1U},
          .seconds = LimitedAmount{seconds, seconds, seconds},
          .share = share,
          .queries = 2};
}

std::string FirstSentence(const std::vector<ContentionRow>& causes) {
  const ClusterContention contention = {
      .jobs = 3, .lists = {{.kind = ContentionKind::kCausingQueries, .rows = causes}}};
  return ContentionSentences(contention, {}).at(0);
}

TEST(ContentionTable, NamesProcessesOutsideFirstIfTheyCausedMost) {
  EXPECT_EQ(FirstSentence({CauseOf("", 43, {0.43, 0, 1}), CauseOf("report", 23, {0.23, 0.05, 0.81}),
                           CauseOf("adhoc", 20, {0.2, 0, 0.7})}),
            "Processes outside Tidemark caused 43 % (0-100 %) of all delay; of the queries, report "
            "caused the most, 23 % (5-81 %).");
  EXPECT_EQ(FirstSentence({CauseOf("", 43, {0.43, 0, 1})}),
            "Processes outside Tidemark caused 43 % (0-100 %) of all delay.");
}

TEST(ContentionTable, NamesNoSingleQueryIfSeveralMayBeTheCause) {
  const ContentionRow report = CauseOf("report", 23, {0.23, 0, 0.81});
  const ContentionRow nightly = CauseOf("nightly", 22, {0.22, 0, 0.79});
  const ContentionRow adhoc = CauseOf("adhoc", 12, {0.12, 0, 0.79});
  EXPECT_EQ(FirstSentence({report, nightly, adhoc}),
            "No single query is clearly the cause: report, nightly and adhoc have similar shares.");
  EXPECT_EQ(FirstSentence({CauseOf("", 43, {0.43, 0, 1}), report, nightly}),
            "Processes outside Tidemark caused 43 % (0-100 %) of all delay. No single query is "
            "clearly the cause: report and nightly have similar shares.");
  EXPECT_EQ(FirstSentence({report, CauseOf("small", 2, {0.02, 0, 0.79})}),
            "report delayed 2 queries by 23 s in total, 23 % (0-81 %) of all delay.");
}

TEST(ContentionTable, RoundsALimitThatEqualsItsDelayLikeTheDelay) {
  const ContentionRow host = {
      .host = "vm", .seconds = LimitedAmount{8.6, 8.6, 15.2}, .share = LimitedAmount{1, 1, 1}};
  const ContentionRow wide = {
      .host = "x", .seconds = LimitedAmount{8.6, 0, 86.2}, .share = LimitedAmount{1, 1, 1}};
  const auto tables = DescribeContention(
      {.jobs = 1, .lists = {{.kind = ContentionKind::kHosts, .rows = {host, wide}}}}, {});
  ASSERT_EQ(tables.size(), 1U);
  EXPECT_EQ(tables[0].rows[0][1], "9 s (9-16 s)");
  EXPECT_EQ(tables[0].job_ids, std::vector<std::string>(2)) << "hosts are not jobs";
  EXPECT_EQ(tables[0].rows[1][1], "9 s (0 - 1 min 27 s)");
}

TEST(ContentionTable, OmitsRowsWithoutDelayAndCountsTheRowsOverTheLimit) {
  ContentionList hosts = {.kind = ContentionKind::kHosts, .rows = {}, .left_out = 2};
  hosts.rows.push_back(
      {.host = "x", .seconds = LimitedAmount{7, 7, 7}, .share = LimitedAmount{1, 1, 1}});
  EXPECT_THAT(RenderContention({.jobs = 1, .lists = {hosts}}, {.width = 200}),
              Contains("2 more; --top 3"));
  hosts.rows.push_back({.host = "idle",
                        .seconds = LimitedAmount{0, 0, 0},
                        .share = LimitedAmount{0, 0, 0},
                        .impact = 2.77});
  const auto lines = RenderContention({.jobs = 1, .lists = {hosts}}, {.width = 200});
  EXPECT_THAT(lines, Not(Contains(HasSubstr("idle"))));
  EXPECT_THAT(lines, Not(Contains(HasSubstr("more"))));
}

TEST(ContentionTable, ShowsStagesIfWide) {
  EXPECT_THAT(RenderContention(SomeContention(), {.width = 200, .is_wide = true}),
              Contains("nightly stage 3  io        node-1  app-7/sql/1 stage 0  0.50"));
  EXPECT_THAT(RenderContention(SomeContention(), {.width = 200}),
              Not(Contains(HasSubstr("stage 3"))));
}

TEST(ContentionTable, StatesThatAllDelaysAreShort) {
  const ContentionRow outside = {.cause = ContentionParty{},
                                 .seconds = LimitedAmount{0.1, 0, 29},
                                 .share = LimitedAmount{1, 0, 1}};
  EXPECT_EQ(FirstSentence({outside}), "All reported delays are shorter than 0.5 s.");
}

TEST(ContentionTable, StatesThatNoDelayIsKnown) {
  EXPECT_THAT(RenderContention({.jobs = 2}, {}),
              ElementsAre("No delays of one query by another were reported."));
  const ContentionRow stage = {.delayed = ContentionParty{.job_id = "nightly", .stage = 3}};
  EXPECT_THAT(
      RenderContention(
          {.jobs = 1, .lists = {{.kind = ContentionKind::kDelayedStages, .rows = {stage}}}}, {}),
      ElementsAre("No delays of one query by another were reported."));
  EXPECT_THAT(RenderContention({}, {}), ElementsAre("No job that you may read has reported."));
  const ClusterContention restarted = {.since = absl::FromUnixSeconds(1'700'000'000),
                                       .is_partial = true};
  TableOptions options;
  const absl::TimeZone utc = absl::UTCTimeZone();
  options.text.zone = &utc;
  EXPECT_THAT(RenderContention(restarted, options),
              ElementsAre("No job that you may read has reported since the master started at "
                          "22:13:20."));
}

TEST(ContentionTable, StatesThatTheAnswerIsIncomplete) {
  ClusterContention contention = SomeContention();
  contention.is_partial = true;
  EXPECT_THAT(ContentionSentences(contention, {}), Contains(HasSubstr("before ")));
}

// A message of another version may not contain all parts of a row.
TEST(ContentionTable, SkipsIncompleteRows) {
  ClusterContention contention = {.jobs = 1};
  for (std::size_t kind = 0; kind < kContentionKindCount; ++kind) {
    contention.lists.push_back({.kind = static_cast<ContentionKind>(kind), .rows = {{}}});
  }
  EXPECT_THAT(DescribeContention(contention, {}), IsEmpty());
}

}  // namespace
}  // namespace tidemark::console::contention_table_test
