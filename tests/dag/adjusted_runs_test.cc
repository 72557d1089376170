#include "master/forecast/dag/adjusted_runs.h"

#include "master/forecast/dag/workflow_state.h"
#include "tests/test.h"

namespace tidemark::dag::adjusted_runs_test {
namespace {

PositiveLine Through(const std::vector<double>& values, std::vector<double> labels) {
  std::vector<std::vector<double>> rows;
  for (const double value : values) rows.push_back({value});
  return PositiveLine({"k"}, rows, std::move(labels));
}

// The labels are 1 plus a tenth of k.
TEST(PositiveLine, ExtrapolatesTheLabels) {
  const PositiveLine line = Through({20, 40, 60}, {3, 5, 7});
  ASSERT_TRUE(line.is_known());
  EXPECT_TRUE(line.moves());
  EXPECT_NEAR(line.At({80}).value, 9, 1e-9);
  EXPECT_THAT(line.At({80}).beyond, ElementsAre("k"));
  EXPECT_NEAR(line.Factor({60}, {80}), 9.0 / 7, 1e-9);
}

// The line has the value 1.1 at k = 1, and 100 million and one at k = one billion.
TEST(PositiveLine, ClampsFromHalfOfTheSmallestToAHundredTimesTheLargestLabel) {
  PositiveLine line = Through({20, 40, 60}, {3, 5, 7});
  EXPECT_DOUBLE_EQ(line.At({1}).value, 1.5);
  EXPECT_DOUBLE_EQ(line.At({-1e9}).value, 1.5);
  EXPECT_DOUBLE_EQ(line.At({1e9}).value, 700);
  line.FallTo(1);
  EXPECT_NEAR(line.At({1}).value, 1.1, 1e-9);
  EXPECT_DOUBLE_EQ(line.At({-1e9}).value, 1);
}

// 3.2 is less than 1.1 times 3.
TEST(PositiveLine, IgnoresNoise) {
  const PositiveLine line = Through({20, 40, 60}, {3, 3.1, 3.2});
  ASSERT_TRUE(line.is_known());
  EXPECT_FALSE(line.moves());
  EXPECT_NEAR(line.At({80}).value, 3.1, 1e-9);
  EXPECT_EQ(line.Factor({20}, {80}), 1);
}

TEST(PositiveLine, CountsIfItFitsAllWholeNumbers) {
  EXPECT_TRUE(Through({8, 16, 32}, {8, 16, 32}).counts());
  EXPECT_FALSE(Through({1, 2, 3}, {1, 5, 1}).counts());
}

TEST(PositiveLine, IsUnknownForInvalidLabels) {
  EXPECT_FALSE(PositiveLine().is_known());
  EXPECT_EQ(PositiveLine().Factor({20}, {80}), 1);
  EXPECT_FALSE(Through({}, {}).is_known());
  for (const double label : {0.0, -1.0, static_cast<double>(INFINITY), std::nan("")}) {
    const PositiveLine line = Through({20, 40, 60}, {3, label, 7});
    EXPECT_FALSE(line.is_known()) << label;
    EXPECT_EQ(line.Factor({20}, {80}), 1) << label;
  }
}

constexpr std::uint64_t kRead = 1;
constexpr std::uint64_t kTurn = 2;

PastStage Stage(std::uint64_t work, std::uint64_t tasks, double seconds,
                std::vector<std::size_t> parents = {}, double read_bytes = 0) {
  PastStage stage = {.name = "w" + std::to_string(work),
                     .work = work,
                     .parents = std::move(parents),
                     .tasks = tasks,
                     .read_bytes = read_bytes};
  stage.seconds[2] = {seconds, seconds};
  return stage;
}

// Runs with one parameter each, whose value is one of `values`.
class Runs {
 public:
  Runs(const std::vector<int>& values, PastRun (*make)(int)) {
    for (const int value : values) profiles_.push_back(make(value));
    for (std::size_t i = 0; i < values.size(); ++i) {
      seen_.push_back(SummaryOf(profiles_[i], {static_cast<double>(values[i])}));
    }
  }
  const AdjustableRun& last() const { return seen_.back(); }
  WorkModel ModelOf(std::uint64_t work) const { return {WorkKey(work, ""), {"k"}, seen_}; }

 private:
  std::vector<PastRun> profiles_;
  std::vector<AdjustableRun> seen_;
};

// Returns a run of K-Means. Each task of an iteration takes 1 s, plus 0.1 s for each centre.
PastRun KMeans(int k) {
  return {.slots = 4,
          .parameters = {{"k", std::to_string(k)}},
          .stages = {Stage(kRead, 4, 2), Stage(kTurn, 4, 1 + 0.1 * k, {0})}};
}

const std::vector<PastRun> kThreeRuns = {KMeans(20), KMeans(40), KMeans(60)};

// Returns a run that sorts 3,200 bytes in `partitions` partitions. A task takes half a second, plus
// one second per 100 bytes. For 8, 16 and 32 partitions, a task takes 4.5, 2.5 and 1.5 s.
PastRun Sorted(int partitions) {
  return {
      .slots = 4,
      .parameters = {{"partitions", std::to_string(partitions)}},
      .stages = {Stage(kRead, 4, 2, {}, 3200), Stage(kTurn, static_cast<std::uint64_t>(partitions),
                                                     0.5 + 32.0 / partitions, {0}, 3200)}};
}

// 4 tasks of 2 s and 2 tasks of 5 s average to 3 tasks of 3 s per stage. 400 and 100 bytes average
// to 250.
TEST(SummaryOf, AveragesTheStagesOfAWork) {
  PastStage driven = Stage(kRead, 1, 1, {0}, 30);
  driven.fetches = false;
  const PastRun run = {
      .stages = {Stage(kTurn, 4, 2, {}, 400), Stage(kTurn, 2, 5, {0}, 100), driven}};
  const AdjustableRun seen = SummaryOf(run, {7});
  EXPECT_THAT(seen.values, ElementsAre(7));
  EXPECT_EQ(seen.input_bytes, 430) << "of stages that do not fetch";
  ASSERT_THAT(seen.works, SizeIs(2));
  const WorkSummary& turn = seen.works.at(WorkKey(kTurn, ""));
  EXPECT_EQ(turn.stages, 2);
  EXPECT_EQ(turn.tasks, 3);
  EXPECT_EQ(turn.read_bytes, 250);
  EXPECT_DOUBLE_EQ(turn.task_seconds, 3);
  EXPECT_DOUBLE_EQ(turn.bytes_of_task(), 250.0 / 3);
}

// Tasks take 9 s for 80 centres, and 7 s for 60.
TEST(WorkModel, ScalesTheTaskTime) {
  const Runs runs({20, 40, 60}, KMeans);
  const WorkModel model = runs.ModelOf(kTurn);
  const WorkFactors by = model.Now(runs.last(), {80}, /*input=*/2);
  EXPECT_EQ(by.tasks, 1);
  EXPECT_EQ(by.read_bytes, 2) << "as the input does";
  EXPECT_NEAR(by.task_seconds, 9.0 / 7, 1e-9);
  const auto times = model.Times(runs.last(), {80}, 1);
  ASSERT_TRUE(times.has_value());
  EXPECT_NEAR(times->value, 9, 1e-9);
  EXPECT_GT(times->deviation, 0);
  EXPECT_THAT(times->beyond, ElementsAre("k")) << "not bytes and slots, which are not parameters";
  EXPECT_FALSE(model.Tasks({80}).has_value()) << "no parameter changes it";
}

TEST(WorkModel, HasNoDeviationForConstantValues) {
  const Runs runs({20, 40, 60}, KMeans);
  const auto times = runs.ModelOf(kRead).Times(runs.last(), {80}, 1);
  ASSERT_TRUE(times.has_value());
  EXPECT_NEAR(times->value, 2, 1e-9);
  EXPECT_EQ(times->deviation, 0);
}

// 64 partitions have twice as many tasks as 32, with half the bytes each. A task therefore takes 1
// s instead of 1.5 s.
TEST(WorkModel, ScalesTaskTimesWithTheirBytes) {
  const Runs runs({8, 16, 32}, Sorted);
  const WorkModel model = runs.ModelOf(kTurn);
  const WorkFactors by = model.Now(runs.last(), {64}, 1);
  EXPECT_NEAR(by.tasks, 2, 1e-9);
  EXPECT_NEAR(by.read_bytes, 1, 1e-9);
  EXPECT_NEAR(by.task_seconds, 1 / 1.5, 1e-6);
  const auto tasks = model.Tasks({64});
  ASSERT_TRUE(tasks.has_value());
  EXPECT_NEAR(tasks->value, 64, 1e-6);
  EXPECT_EQ(tasks->deviation, 0) << "determined by the parameters";
  EXPECT_EQ(model.Tasks({0})->value, 1) << "at least one task";
}

TEST(WorkModel, IsUnknownForAWorkOfNoRun) {
  const Runs runs({20, 40, 60}, KMeans);
  const WorkModel model = runs.ModelOf(77);
  const WorkFactors by = model.Now(runs.last(), {80}, 2);
  EXPECT_EQ(by.tasks, 1);
  EXPECT_EQ(by.task_seconds, 1);
  EXPECT_FALSE(model.Times(runs.last(), {80}, 2).has_value());
  EXPECT_FALSE(model.Tasks({80}).has_value());
}

// Returns a run of PageRank. Its stages have the same work, but individual names.
PastRun PageRank(int iterations, int ran) {
  PastRun run = {.slots = 4,
                 .parameters = {{"iterations", std::to_string(iterations)}},
                 .stages = {Stage(kRead, 4, 2)}};
  for (int turn = 1; turn <= ran; ++turn) {
    run.stages.push_back(Stage(kTurn, 4, 3, {run.stages.size() - 1}));
    run.stages.back().name = "turn-" + std::to_string(turn);
  }
  return run;
}

AdjustedRuns Adjusted(const std::vector<PastRun>& runs, const durations::Parameters& asked) {
  std::vector<const PastRun*> history;
  for (const PastRun& run : runs) history.push_back(&run);
  return AdjustRuns(history, asked);
}

TEST(AdjustRuns, ScalesEachRunByItsParameters) {
  const AdjustedRuns adjusted = Adjusted(kThreeRuns, {{"k", "80"}});
  ASSERT_THAT(adjusted.runs, SizeIs(3));
  for (const PastRun& run : adjusted.runs) {
    ASSERT_THAT(run.stages, SizeIs(2));
    EXPECT_THAT(run.stages[0].seconds[2], ElementsAre(2, 2)) << "independent of k";
    EXPECT_NEAR(run.stages[1].seconds[2][0], 9, 1e-9);
    EXPECT_EQ(run.stages[1].tasks, 4u);
    EXPECT_EQ(run.parameters.at("k"), "80");
  }
}

// A line through 3, 5 and 7 s has no residuals, so the deviation is 3 % of the mean, which is 0.15
// s. Student's factor for one degree of freedom is 3.84. k = 80 differs from the mean by 40, and
// the sum of squares is 800, so the next factor is sqrt(1 + 1/3 + 1600/800) = 1.826. k is 20
// outside a range of 40, which gives a factor of 1.5. The deviation is 0.15 x 3.84 x 1.826 x 1.5 =
// 1.577 s of 9 s.
TEST(AdjustRuns, ReportsDeviationsAndParametersOutsideTheRange) {
  const AdjustedRuns adjusted = Adjusted(kThreeRuns, {{"k", "80"}});
  ASSERT_THAT(adjusted.deviations, SizeIs(1));
  EXPECT_NEAR(adjusted.deviations.at(WorkKey(kTurn, "")), 1.5774 / 9, 1e-4);
  EXPECT_EQ(adjusted.remark, "parameters outside the range of past runs: k");
  EXPECT_EQ(adjusted.repeats_deviation, 0);
  const AdjustedRuns within = Adjusted(kThreeRuns, {{"k", "50"}});
  EXPECT_LT(within.deviations.at(WorkKey(kTurn, "")), adjusted.deviations.at(WorkKey(kTurn, "")));
  EXPECT_THAT(within.remark, IsEmpty());
  const AdjustedRuns again = Adjusted(kThreeRuns, {{"k", "40"}});
  EXPECT_THAT(again.runs, SizeIs(3));
  EXPECT_THAT(again.deviations, IsEmpty()) << "one run had the same parameters";
}

TEST(AdjustRuns, OrdersTheNearestRunFirstThenTheNewest) {
  std::vector<PastRun> runs = {KMeans(20), KMeans(60), KMeans(40)};
  for (std::size_t i = 0; i < runs.size(); ++i) runs[i].slots = 10 + static_cast<double>(i);
  const AdjustedRuns adjusted = Adjusted(runs, {{"k", "41"}});
  std::vector<double> slots;
  for (const PastRun& run : adjusted.runs) slots.push_back(run.slots);
  EXPECT_THAT(slots, ElementsAre(12, 10, 11));
}

// This run has 5 more iterations than the nearest run. Added stages have no names.
TEST(AdjustRuns, RepeatsStagesAsPredicted) {
  const AdjustedRuns adjusted =
      Adjusted({PageRank(5, 5), PageRank(10, 10), PageRank(15, 15)}, {{"iterations", "20"}});
  ASSERT_THAT(adjusted.runs, SizeIs(3));
  const std::vector<PastStage>& stages = adjusted.runs[0].stages;
  ASSERT_THAT(stages, SizeIs(21));
  EXPECT_EQ(stages[15].name, "turn-15");
  EXPECT_EQ(stages[20].name, "");
  EXPECT_EQ(stages[20].title, "turn-15");
  EXPECT_EQ(stages[20].work, kTurn);
  EXPECT_THAT(stages[20].parents, ElementsAre(19));
  EXPECT_THAT(adjusted.runs[1].stages, SizeIs(6)) << "only the first run repeats stages";
  EXPECT_EQ(adjusted.repeats_deviation, 0) << "determined by the parameters";
  EXPECT_THAT(adjusted.deviations, IsEmpty()) << "the time of a turn is unchanged";
  const AdjustedRuns fewer =
      Adjusted({PageRank(5, 5), PageRank(10, 10), PageRank(15, 15)}, {{"iterations", "3"}});
  EXPECT_THAT(fewer.runs[0].stages, SizeIs(4));
}

// The size of the run does not grow with the repetitions.
TEST(AdjustRuns, LimitsTheTaskTimesOfRepeatedStages) {
  std::vector<PastRun> runs = {PageRank(5, 5), PageRank(10, 10), PageRank(15, 15)};
  for (PastRun& run : runs) {
    for (PastStage& stage : run.stages) stage.seconds[2].assign(600, 3);
  }
  const AdjustedRuns adjusted = Adjusted(runs, {{"iterations", "2000"}});
  ASSERT_THAT(adjusted.runs, SizeIs(3));
  ASSERT_THAT(adjusted.runs[0].stages, SizeIs(2001));
  EXPECT_THAT(adjusted.runs[0].stages[15].seconds[2], SizeIs(600)) << "unchanged";
  EXPECT_THAT(adjusted.runs[0].stages[2000].seconds[2], ElementsAre(3, 3, 3, 3));
}

// The runs have 4,000 works with 64 parameters.
TEST(AdjustRuns, KeepsRunsWithTooManyWorksAndFeatures) {
  std::vector<PastRun> runs = kThreeRuns;
  durations::Parameters asked = {{"k", "80"}};
  for (int i = 1; i < 64; ++i) {
    asked["p" + std::to_string(i)] = "1";
    for (PastRun& run : runs) run.parameters["p" + std::to_string(i)] = "1";
  }
  EXPECT_THAT(Adjusted(runs, asked).runs, SizeIs(3));
  for (PastRun& run : runs) {
    for (std::uint64_t work = 10; work < 4010; ++work) run.stages.push_back(Stage(work, 1, 1));
  }
  EXPECT_THAT(Adjusted(runs, asked).runs, IsEmpty());
}

TEST(AdjustRuns, NamesAFewOfManyParameters) {
  durations::Parameters asked = {{"k", "50"}};
  for (int i = 10; i < 30; ++i) asked["p" + std::to_string(i)] = "1";
  EXPECT_EQ(
      Adjusted(kThreeRuns, asked).remark,
      "no past run shows the effect of these parameters: p10, p11, p12, p13, p14, p15, p16, p17 "
      "and 12 more");
}

TEST(AdjustRuns, WidensForIterationsThatStopOnConvergence) {
  const AdjustedRuns adjusted =
      Adjusted({PageRank(5, 6), PageRank(10, 9), PageRank(15, 17), PageRank(20, 19)},
               {{"iterations", "25"}});
  ASSERT_THAT(adjusted.runs, SizeIs(4));
  EXPECT_NEAR(static_cast<double>(adjusted.runs[0].stages.size()), 25, 2);
  EXPECT_GT(adjusted.repeats_deviation, 0.1);
}

TEST(AdjustRuns, ScalesTaskTimesWithTheirBytes) {
  std::vector<PastRun> runs = {Sorted(8), Sorted(16), Sorted(32)};
  for (PastRun& run : runs) run.stages[1].long_tasks = {{0, 1}};
  const AdjustedRuns adjusted = Adjusted(runs, {{"partitions", "64"}});
  ASSERT_THAT(adjusted.runs, SizeIs(3));
  const PastStage& stage = adjusted.runs[0].stages[1];
  EXPECT_EQ(stage.tasks, 64u);
  EXPECT_NEAR(stage.seconds[2][0], 1.0, 1e-6);
  EXPECT_DOUBLE_EQ(stage.read_bytes, 3200);
  EXPECT_THAT(stage.long_tasks, IsEmpty()) << "other tasks may be long now";
  EXPECT_EQ(Adjusted(runs, {{"partitions", "2"}}).runs[0].stages[1].tasks, 2u);
}

// Ten times the scale means ten times the tasks, with unchanged times. The two gathering tasks read
// ten times the bytes. They take 1 s, plus one second for each 1,000 bytes.
TEST(AdjustRuns, ScalesTheDataWithTheParameters) {
  const auto scaled = [](int scale) {
    PastRun run = {.slots = 4, .parameters = {{"scale", std::to_string(scale)}}};
    run.stages = {Stage(kRead, static_cast<std::uint64_t>(scale), 2, {}, 4000.0 * scale),
                  Stage(kTurn, 2, 1 + scale, {0}, 2000.0 * scale)};
    return run;
  };
  const AdjustedRuns adjusted = Adjusted({scaled(1), scaled(2), scaled(4)}, {{"scale", "10"}});
  ASSERT_THAT(adjusted.runs, SizeIs(3));
  for (const PastRun& run : adjusted.runs) {
    EXPECT_EQ(run.stages[0].tasks, 10u);
    EXPECT_NEAR(run.stages[0].seconds[2][0], 2, 1e-9);
    EXPECT_NEAR(run.stages[1].read_bytes, 20'000, 1e-6);
    EXPECT_NEAR(run.stages[1].seconds[2][0], 11, 1e-6);
  }
  EXPECT_EQ(adjusted.remark, "parameters outside the range of past runs: scale");
}

TEST(AdjustRuns, NeedsParametersAndThreeRunsWithParameters) {
  const std::vector<PastRun> runs = kThreeRuns;
  EXPECT_THAT(Adjusted(runs, {}).runs, IsEmpty());
  EXPECT_THAT(Adjusted({runs[0], runs[1]}, {{"k", "80"}}).runs, IsEmpty());
  EXPECT_THAT(Adjusted({KMeans(80), KMeans(80), KMeans(80)}, {{"k", "80"}}).runs, IsEmpty());
  EXPECT_THAT(Adjusted({}, {{"k", "80"}}).runs, IsEmpty());
  std::vector<PastRun> silent = runs;
  silent[1].parameters.clear();
  EXPECT_THAT(Adjusted(silent, {{"k", "80"}}).runs, IsEmpty());
  silent.push_back(KMeans(30));
  EXPECT_THAT(Adjusted(silent, {{"k", "80"}}).runs, SizeIs(3)) << "only runs with parameters count";
}

TEST(AdjustRuns, NamesUnknownInfluencesAndWidensForThem) {
  const std::vector<PastRun> runs = kThreeRuns;
  const AdjustedRuns adjusted = Adjusted(runs, {{"k", "50"}, {"depth", "7"}});
  EXPECT_THAT(adjusted.remark, HasSubstr("depth"));
  EXPECT_GE(adjusted.deviations.at(WorkKey(kRead, "")), 0.5);
  EXPECT_GE(adjusted.deviations.at(WorkKey(kTurn, "")), 0.5);
  // The value is the same in all past runs, and different in this run.
  const AdjustedRuns constant = Adjusted({KMeans(20), KMeans(20), KMeans(20)}, {{"k", "80"}});
  ASSERT_THAT(constant.runs, SizeIs(3));
  EXPECT_THAT(constant.runs[0].stages[1].seconds[2], ElementsAre(3, 3));
  EXPECT_EQ(constant.remark, "no past run shows the effect of these parameters: k");
  EXPECT_GE(constant.deviations.at(WorkKey(kTurn, "")), 0.5);
}

// Times that differ by a few percent are noise, regardless of correlations.
TEST(AdjustRuns, IgnoresTheNoiseOfRuns) {
  std::vector<PastRun> runs;
  for (const double seconds : {3.0, 3.1, 3.2}) {
    runs.push_back({.slots = 4,
                    .parameters = {{"day", std::to_string(20261100 + runs.size())}},
                    .stages = {Stage(kRead, 4, seconds)}});
  }
  const AdjustedRuns adjusted = Adjusted(runs, {{"day", "20261201"}});
  ASSERT_THAT(adjusted.runs, SizeIs(3));
  EXPECT_THAT(adjusted.deviations, IsEmpty());
  EXPECT_THAT(adjusted.remark, IsEmpty());
  EXPECT_THAT(adjusted.runs[2].stages[0].seconds[2][0], testing::AnyOf(3.0, 3.1, 3.2));
}

// The line gives 1.1 s, but the lower bound is half of the smallest label.
TEST(AdjustRuns, StaysPositiveAndFinite) {
  std::vector<PastRun> runs = kThreeRuns;
  EXPECT_NEAR(Adjusted(runs, {{"k", "1"}}).runs[0].stages[1].seconds[2][0], 1.5, 1e-9);
  for (const char* k : {"-1e300", "1e300", "nan", "inf", "-0", "many", ""}) {
    const AdjustedRuns adjusted = Adjusted(runs, {{"k", k}});
    for (const PastRun& run : adjusted.runs) {
      for (const PastStage& stage : run.stages) {
        EXPECT_TRUE(std::isfinite(stage.seconds[2][0])) << k;
        EXPECT_GT(stage.seconds[2][0], 0) << k;
        EXPECT_GE(stage.tasks, 1u) << k;
      }
    }
    for (const auto& [work, deviation] : adjusted.deviations) {
      EXPECT_GE(deviation, 0) << k;
      EXPECT_LE(deviation, 1) << k;
    }
  }
  for (PastRun& run : runs) {
    run.stages[0].seconds[2].clear();  // The times are unknown.
    run.stages[1].seconds[2] = {0, 0};
    run.slots = std::numeric_limits<double>::max();
  }
  const AdjustedRuns nothing = Adjusted(runs, {{"k", "80"}});
  ASSERT_THAT(nothing.runs, SizeIs(3));
  EXPECT_THAT(nothing.runs[0].stages[1].seconds[2], ElementsAre(0, 0));
}

TEST(SetDeviations, AreSetByWork) {
  const AdjustedRuns adjusted = Adjusted(kThreeRuns, {{"k", "80"}});
  std::vector<StageNow> stages = {{.name = "new", .work = kTurn}, {.name = "w2"}, {.work = kRead}};
  SetDeviations(adjusted, stages);
  EXPECT_NEAR(stages[0].adjusted_deviation, 1.5774 / 9, 1e-4);
  EXPECT_EQ(stages[1].adjusted_deviation, 0);
  EXPECT_EQ(stages[2].adjusted_deviation, 0);
}

TEST(MatchStages, MatchesAStageWithoutANameByItsWork) {
  const PastRun run = {.stages = {{.name = "a", .work = 7, .tasks = 1},
                                  {.work = 7, .tasks = 1},
                                  {.work = 8, .tasks = 1}}};
  const std::vector<StageNow> now = {{.name = "new", .work = 7, .tasks = 1},
                                     {.name = "a", .work = 7, .tasks = 1},
                                     {.name = "other", .work = 9, .tasks = 1},
                                     {.work = 8, .tasks = 1}};
  EXPECT_THAT(MatchStages(now, run), ElementsAre(1, 0, std::nullopt, 2));
}

}  // namespace
}  // namespace tidemark::dag::adjusted_runs_test
