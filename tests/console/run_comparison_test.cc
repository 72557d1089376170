#include "console/run_comparison.h"

#include "tests/console/some_jobs.h"
#include "tests/test.h"

namespace tidemark::console::run_comparison_test {
namespace {

using testing::StartsWith;

// Returns a run whose map stage took 20 s, followed by a reduce stage.
ComparedRun RunOf(const std::string& name, double reduce_seconds, std::uint64_t reduce_bytes) {
  ComparedRun run = {.name = name, .job = Succeeded()};
  const absl::Time start = *run.job.started_at;
  const absl::Time maps_end = start + absl::Seconds(20);
  run.job.ended_at = maps_end + absl::Seconds(reduce_seconds);
  run.job.stages[0].started_at = start;
  run.job.stages[0].ended_at = maps_end;
  run.job.stages[1].started_at = maps_end;
  run.job.stages[1].ended_at = run.job.ended_at;
  run.job.stages[1].throughput = Throughput{.bytes_done = reduce_bytes};
  run.job.throughput = run.job.stages[1].throughput;
  run.job.errors = {{.indicator = "tidemark",
                     .first_forecast = absl::Seconds(40),
                     .first_forecast_after = absl::Seconds(5)}};
  return run;
}

// The jobs took 40 and 60 s.
TEST(RunComparison, ComparesTimesStagesDataAndWaits) {
  const ComparedRun before = RunOf("a", 20, 1'000'000);
  ComparedRun after = RunOf("b", 40, 2'000'000);
  QueryWaits query;
  query.waits[WaitReason::kProcessor].seconds = 3;
  after.waits = Explanation{.queries = {query, query}};
  const auto values = CompareRuns(before, after);
  EXPECT_THAT(RenderComparison(before, after, values, {.width = 100}),
              ElementsAre("                    a       b       DIFFERENCE",
                          "time                40 s    1 min   +20 s (+50 %)",
                          "first forecast      40 s    40 s    same",
                          "tasks               12      12      same",
                          "failed attempts     0       0       same",
                          "input of all tasks  1.0 MB  2.0 MB  +1.0 MB (+100 %)",
                          "map                 20 s    20 s    same",
                          "reduce              20 s    40 s    +20 s (+100 %)",
                          "reduce, input       1.0 MB  2.0 MB  +1.0 MB (+100 %)",
                          "waits for CPU       -       6.0 s   -",
                          "b took 20 s longer (50 %); reduce took 20 s longer, with 100 % more "
                          "input"));
}

TEST(RunComparison, ShowsALargeChangeAsAFactorAndNoneOfAValueShownAsZero) {
  const auto change = [](double before, double after) {
    const ComparedValue value = {.what = "waits for CPU", .before = before, .after = after};
    return DescribeComparison({value}, {}).rows.at(0).at(3);
  };
  EXPECT_EQ(change(0, 122), "+2 min 02 s");
  EXPECT_EQ(change(0.04, 122), "+2 min 02 s") << "the first value is shown as 0.0 s";
  EXPECT_EQ(change(0.5, 122), "+2 min 02 s (244 times)");
  EXPECT_EQ(change(20, 122), "+1 min 42 s (+510 %)");
  EXPECT_EQ(change(122, 0), "-2 min 02 s (-100 %)");
  const ComparedRun before = RunOf("a", 20, 1'000'000);
  const ComparedRun after = RunOf("b", 980, 40'000'000);
  EXPECT_EQ(ComparisonSentence(before, after, CompareRuns(before, after)),
            "b took 16 min longer (25 times as long); reduce took 16 min longer, with 40 times the "
            "input");
}

TEST(RunComparison, DoesNotCompareTheTimeOfARunThatWasKilled) {
  const ComparedRun before = RunOf("a", 20, 0);
  ComparedRun after = RunOf("b", 40, 0);
  after.job.state = JobState::kKilled;
  EXPECT_EQ(ComparisonSentence(before, after, CompareRuns(before, after)),
            "b was killed after 1 min");
  after.job.state = JobState::kFailed;
  EXPECT_EQ(ComparisonSentence(before, after, CompareRuns(before, after)), "b failed after 1 min");
}

TEST(RunComparison, ListsAStageThatOnlyOneRunHas) {
  const ComparedRun before = RunOf("a", 20, 0);
  ComparedRun after = RunOf("b", 40, 0);
  after.job.stage_infos[1].name = "join";
  const auto values = CompareRuns(before, after);
  EXPECT_THAT(values, Contains(ComparedValue{.what = "reduce", .before = 20, .is_stage = true}));
  EXPECT_THAT(values, Contains(ComparedValue{.what = "join", .after = 40, .is_stage = true}));
  EXPECT_EQ(ComparisonSentence(before, after, values),
            "b took 20 s longer (50 %); only b had join, which took 40 s");
}

TEST(RunComparison, ComparesTheTimeWithoutATaskOfApplications) {
  ComparedRun before = RunOf("a", 20, 0);
  ComparedRun after = RunOf("b", 20, 0);
  for (ComparedRun* run : {&before, &after}) run->job.info->kind = JobKind::kApplication;
  after.job.ended_at = *after.job.ended_at + absl::Seconds(30);
  const auto values = CompareRuns(before, after);
  EXPECT_THAT(values,
              Contains(ComparedValue{
                  .what = "time without a task", .before = 0, .after = 30, .is_stage = true}));
  EXPECT_EQ(ComparisonSentence(before, after, values),
            "b took 30 s longer (75 %); time without a task was 30 s longer");
  for (ComparedRun* run : {&before, &after}) run->job.info->kind = JobKind::kMapReduce;
  EXPECT_EQ(CompareRuns(before, after), values);
}

TEST(RunComparison, MatchesStagesOfOneNameByTheirOrder) {
  ComparedRun before = RunOf("a", 20, 0);
  ComparedRun after = RunOf("b", 10, 0);
  for (ComparedRun* run : {&before, &after}) {
    for (StageInfo& info : run->job.stage_infos) info.name = "scan";
  }
  const auto values = CompareRuns(before, after);
  EXPECT_THAT(values,
              Contains(ComparedValue{.what = "scan", .before = 20, .after = 20, .is_stage = true}));
  EXPECT_THAT(values, Contains(ComparedValue{
                          .what = "scan (2)", .before = 20, .after = 10, .is_stage = true}));
  EXPECT_EQ(ComparisonSentence(before, after, values),
            "b took 10 s less (25 %); scan (2) took 10 s less");
}

TEST(RunComparison, ShowsTheStagesThatDifferMost) {
  ComparedRun before = {.name = "a", .job = Query()};
  before.job.ended_at = before.job.at;
  before.job.is_final = true;
  ComparedRun after = before;
  after.name = "b";
  for (std::size_t i = 0; i < 14; ++i) {
    before.job.stage_infos[i].name = after.job.stage_infos[i].name = "s" + std::to_string(i);
    for (ComparedRun* run : {&before, &after}) {
      StageProgress& stage = run->job.stages[i];
      stage.started_at = *run->job.started_at;
      stage.ended_at =
          *stage.started_at + absl::Seconds(run == &after ? static_cast<int>(i) + 1 : 1);
    }
  }
  const auto lines = RenderComparison(before, after, CompareRuns(before, after), {.width = 100});
  EXPECT_THAT(lines, Not(Contains(StartsWith("s0 "))));
  EXPECT_THAT(lines, Not(Contains(StartsWith("s1 "))));
  EXPECT_THAT(lines, Not(Contains(StartsWith("s2 "))));
  EXPECT_THAT(lines, Contains(StartsWith("s3 ")));
  EXPECT_THAT(lines, Contains(StartsWith("time without a task ")));
  EXPECT_THAT(lines, Contains("3 more stages differ less; -o json lists all"));
  for (ComparedRun* run : {&before, &after}) {
    run->job.stages.resize(12);
    run->job.stage_infos.resize(12);
  }
  EXPECT_THAT(RenderComparison(before, after, CompareRuns(before, after), {.width = 100}),
              Contains("1 more stage differs less; -o json lists all"));
}

std::string SentenceOf(const ComparedRun& before, const ComparedRun& after) {
  return ComparisonSentence(before, after, CompareRuns(before, after));
}

TEST(RunComparison, HasNoSentenceWithoutTimes) {
  ComparedRun before = {.name = "a"};
  before.job.is_final = true;
  EXPECT_THAT(SentenceOf(before, before), IsEmpty());
  EXPECT_EQ(SentenceOf(RunOf("a", 20, 0), RunOf("b", 20, 0)), "b took about as long");
}

TEST(RunComparison, StatesThatARunHasNoEnd) {
  const ComparedRun before = RunOf("a", 20, 0);
  ComparedRun cut = RunOf("cut.jhist", 10, 0);
  cut.job.is_final = false;
  cut.job.ended_at.reset();
  cut.job.stages[1].ended_at.reset();
  const char* const sentence = "cut.jhist has no reported end; its times end with its last report";
  EXPECT_EQ(SentenceOf(before, cut), sentence);
  EXPECT_EQ(SentenceOf(cut, before), sentence);
}

// The reduce stage of the failed run ended with the run, after 5 s.
TEST(RunComparison, AStageWithoutAnEndEndedWithItsRun) {
  const ComparedRun before = RunOf("a", 20, 0);
  ComparedRun failed = RunOf("b", 5, 0);
  failed.job.stages[1].ended_at.reset();
  EXPECT_EQ(SentenceOf(before, failed), "b took 15 s less (38 %); reduce took 15 s less");
}

TEST(RunComparison, RunsOfNoTimeTookAboutAsLong) {
  ComparedRun before = RunOf("a", 0, 0);
  before.job.ended_at = before.job.started_at;
  EXPECT_EQ(SentenceOf(before, before), "a took about as long");
}

}  // namespace
}  // namespace tidemark::console::run_comparison_test
