#include "master/forecast/dag/foretold_runs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "master/forecast/dag/match_stages.h"

namespace tidemark::workflow {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr std::uint64_t kRead = 1;
constexpr std::uint64_t kTurn = 2;

StageProfile Stage(std::uint64_t work, std::uint64_t tasks, double seconds,
                   std::vector<std::size_t> parents = {}) {
  StageProfile stage = {.name = "w" + std::to_string(work),
                        .work = work,
                        .parents = std::move(parents),
                        .tasks = tasks};
  stage.seconds[2] = {seconds, seconds};
  return stage;
}

// K-Means: every task of a turn takes 1 s and 0.1 s more for each centre.
RunProfile KMeans(int k) {
  return {.slots = 4,
          .parameters = {{"k", std::to_string(k)}},
          .stages = {Stage(kRead, 4, 2), Stage(kTurn, 4, 1 + 0.1 * k, {0})}};
}

// Of PageRank, each stage of the same work but with a name of its own.
RunProfile PageRank(int iterations, int ran) {
  RunProfile run = {.slots = 4,
                    .parameters = {{"iterations", std::to_string(iterations)}},
                    .stages = {Stage(kRead, 4, 2)}};
  for (int turn = 1; turn <= ran; ++turn) {
    run.stages.push_back(Stage(kTurn, 4, 3, {run.stages.size() - 1}));
    run.stages.back().name = "turn-" + std::to_string(turn);
  }
  return run;
}

ForetoldRuns Foretold(const std::vector<RunProfile>& runs, const gray_box::Parameters& asked) {
  std::vector<const RunProfile*> history;
  for (const RunProfile& run : runs) history.push_back(&run);
  return Foretell(history, asked);
}

TEST(Foretell, MultipliesEachRunByWhatItsParametersMakeOfIt) {
  const ForetoldRuns foretold = Foretold({KMeans(20), KMeans(40), KMeans(60)}, {{"k", "80"}});
  ASSERT_THAT(foretold.runs, SizeIs(3));
  for (const RunProfile& run : foretold.runs) {
    ASSERT_THAT(run.stages, SizeIs(2));
    EXPECT_THAT(run.stages[0].seconds[2], ElementsAre(2, 2)) << "no k in it";
    EXPECT_NEAR(run.stages[1].seconds[2][0], 9, 1e-9);
    EXPECT_EQ(run.stages[1].tasks, 4u);
    EXPECT_EQ(run.parameters.at("k"), "80");
  }
}

// By hand. A line through 3, 5 and 7 s leaves nothing, so that 3 % of the mean, 0.15 s, count as
// its spread, times Student's 3.84 for one degree of freedom. k = 80 is 40 from the mean, whose
// squares add up to 800: sqrt(1 + 1/3 + 1600/800) = 1.826. It is 20 beyond 40 that were seen: 1.5
// times. 0.15 x 3.84 x 1.826 x 1.5 = 1.577 s of 9 s.
TEST(Foretell, SaysHowUnsureItIsAndWhatIsBeyond) {
  const ForetoldRuns foretold = Foretold({KMeans(20), KMeans(40), KMeans(60)}, {{"k", "80"}});
  ASSERT_THAT(foretold.deviations, SizeIs(1));
  EXPECT_NEAR(foretold.deviations.at(WorkKey(kTurn, "")), 1.5774 / 9, 1e-4);
  EXPECT_EQ(foretold.remark, "parameters beyond those of earlier runs: k");
  EXPECT_EQ(foretold.repeats_deviation, 0);
  const ForetoldRuns within = Foretold({KMeans(20), KMeans(40), KMeans(60)}, {{"k", "50"}});
  EXPECT_LT(within.deviations.at(WorkKey(kTurn, "")), foretold.deviations.at(WorkKey(kTurn, "")));
  EXPECT_THAT(within.remark, IsEmpty());
  const ForetoldRuns again = Foretold({KMeans(20), KMeans(40), KMeans(60)}, {{"k", "40"}});
  EXPECT_THAT(again.runs, SizeIs(3));
  EXPECT_THAT(again.deviations, IsEmpty()) << "one was told the same";
}

TEST(Foretell, BeginsWithTheRunThatIsNearestAndThenTheNewest) {
  std::vector<RunProfile> runs = {KMeans(20), KMeans(60), KMeans(40)};
  for (std::size_t i = 0; i < runs.size(); ++i) runs[i].slots = 10 + static_cast<double>(i);
  const ForetoldRuns foretold = Foretold(runs, {{"k", "41"}});
  std::vector<double> slots;
  for (const RunProfile& run : foretold.runs) slots.push_back(run.slots);
  EXPECT_THAT(slots, ElementsAre(12, 10, 11));
}

// 5 iterations more than the nearest run had; what is added has no name of its own.
TEST(Foretell, RepeatsStagesAsOftenAsTheyWillBe) {
  const ForetoldRuns foretold =
      Foretold({PageRank(5, 5), PageRank(10, 10), PageRank(15, 15)}, {{"iterations", "20"}});
  ASSERT_THAT(foretold.runs, SizeIs(3));
  const std::vector<StageProfile>& stages = foretold.runs[0].stages;
  ASSERT_THAT(stages, SizeIs(21));
  EXPECT_EQ(stages[15].name, "turn-15");
  EXPECT_EQ(stages[20].name, "");
  EXPECT_EQ(stages[20].title, "turn-15");
  EXPECT_EQ(stages[20].work, kTurn);
  EXPECT_THAT(stages[20].parents, ElementsAre(19));
  EXPECT_THAT(foretold.runs[1].stages, SizeIs(6)) << "only the first lends its stages";
  EXPECT_EQ(foretold.repeats_deviation, 0) << "told, not found out";
  EXPECT_THAT(foretold.deviations, IsEmpty()) << "a turn takes what it took";
  const ForetoldRuns fewer =
      Foretold({PageRank(5, 5), PageRank(10, 10), PageRank(15, 15)}, {{"iterations", "3"}});
  EXPECT_THAT(fewer.runs[0].stages, SizeIs(4));
}

// What it takes to keep them does not grow with how often they repeat.
TEST(Foretell, RepeatsStagesOfManyTasksWithFewerTimesOfEach) {
  std::vector<RunProfile> runs = {PageRank(5, 5), PageRank(10, 10), PageRank(15, 15)};
  for (RunProfile& run : runs) {
    for (StageProfile& stage : run.stages) stage.seconds[2].assign(600, 3);
  }
  const ForetoldRuns foretold = Foretold(runs, {{"iterations", "2000"}});
  ASSERT_THAT(foretold.runs, SizeIs(3));
  ASSERT_THAT(foretold.runs[0].stages, SizeIs(2001));
  EXPECT_THAT(foretold.runs[0].stages[15].seconds[2], SizeIs(600)) << "as it was";
  EXPECT_THAT(foretold.runs[0].stages[2000].seconds[2], ElementsAre(3, 3, 3, 3));
}

// By hand: 4,000 works of 64 parameters.
TEST(Foretell, LeavesRunsAsTheyAreWhereThereIsTooMuchToLearn) {
  std::vector<RunProfile> runs = {KMeans(20), KMeans(40), KMeans(60)};
  gray_box::Parameters asked = {{"k", "80"}};
  for (int i = 1; i < 64; ++i) {
    asked["p" + std::to_string(i)] = "1";
    for (RunProfile& run : runs) run.parameters["p" + std::to_string(i)] = "1";
  }
  EXPECT_THAT(Foretold(runs, asked).runs, SizeIs(3));
  for (RunProfile& run : runs) {
    for (std::uint64_t work = 10; work < 4010; ++work) run.stages.push_back(Stage(work, 1, 1));
  }
  EXPECT_THAT(Foretold(runs, asked).runs, IsEmpty());
}

TEST(Foretell, NamesAFewParametersOfMany) {
  gray_box::Parameters asked = {{"k", "50"}};
  for (int i = 10; i < 30; ++i) asked["p" + std::to_string(i)] = "1";
  EXPECT_EQ(Foretold({KMeans(20), KMeans(40), KMeans(60)}, asked).remark,
            "no earlier run shows what these parameters do: p10, p11, p12, p13, p14, p15, p16, p17 "
            "and 12 more");
}

TEST(Foretell, WhatStopsByItselfIsLessSure) {
  const ForetoldRuns foretold =
      Foretold({PageRank(5, 6), PageRank(10, 9), PageRank(15, 17), PageRank(20, 19)},
               {{"iterations", "25"}});
  ASSERT_THAT(foretold.runs, SizeIs(4));
  EXPECT_NEAR(static_cast<double>(foretold.runs[0].stages.size()), 25, 2);
  EXPECT_GT(foretold.repeats_deviation, 0.1);
}

// 3,200 bytes in so many partitions, half a second a task and 100 bytes a second: 4.5, 2.5, 1.5 s.
TEST(Foretell, KnowsTasksByWhatTheyRead) {
  const auto sorted = [](int partitions) {
    RunProfile run = {.slots = 4, .parameters = {{"partitions", std::to_string(partitions)}}};
    run.stages = {Stage(kRead, 4, 2), Stage(kTurn, static_cast<std::uint64_t>(partitions),
                                            0.5 + 32.0 / partitions, {0})};
    for (StageProfile& stage : run.stages) stage.read_bytes = 3200;
    run.stages[1].long_tasks = {{0, 1}};
    return run;
  };
  const ForetoldRuns foretold =
      Foretold({sorted(8), sorted(16), sorted(32)}, {{"partitions", "64"}});
  ASSERT_THAT(foretold.runs, SizeIs(3));
  const StageProfile& stage = foretold.runs[0].stages[1];
  EXPECT_EQ(stage.tasks, 64u);
  EXPECT_NEAR(stage.seconds[2][0], 1.0, 1e-6);
  EXPECT_DOUBLE_EQ(stage.read_bytes, 3200);
  EXPECT_THAT(stage.long_tasks, IsEmpty()) << "which task is long is another now";
  const ForetoldRuns few = Foretold({sorted(8), sorted(16), sorted(32)}, {{"partitions", "2"}});
  EXPECT_EQ(few.runs[0].stages[1].tasks, 2u);
}

// Ten times the scale is ten times the tasks, each as before, and ten times what is gathered, by
// two tasks: 1 s and another for each 1,000 bytes that these read.
TEST(Foretell, KnowsWhatParametersMakeOfTheData) {
  const auto scaled = [](int scale) {
    RunProfile run = {.slots = 4, .parameters = {{"scale", std::to_string(scale)}}};
    run.stages = {Stage(kRead, static_cast<std::uint64_t>(scale), 2),
                  Stage(kTurn, 2, 1 + scale, {0})};
    run.stages[0].read_bytes = 4000.0 * scale;
    run.stages[1].read_bytes = 2000.0 * scale;
    return run;
  };
  const ForetoldRuns foretold = Foretold({scaled(1), scaled(2), scaled(4)}, {{"scale", "10"}});
  ASSERT_THAT(foretold.runs, SizeIs(3));
  for (const RunProfile& run : foretold.runs) {
    EXPECT_EQ(run.stages[0].tasks, 10u);
    EXPECT_NEAR(run.stages[0].seconds[2][0], 2, 1e-9);
    EXPECT_NEAR(run.stages[1].read_bytes, 20'000, 1e-6);
    EXPECT_NEAR(run.stages[1].seconds[2][0], 11, 1e-6);
  }
  EXPECT_EQ(foretold.remark, "parameters beyond those of earlier runs: scale");
}

TEST(Foretell, SaysNothingWithoutParametersOrThreeRunsThatHadThem) {
  const std::vector<RunProfile> runs = {KMeans(20), KMeans(40), KMeans(60)};
  EXPECT_THAT(Foretold(runs, {}).runs, IsEmpty());
  EXPECT_THAT(Foretold({runs[0], runs[1]}, {{"k", "80"}}).runs, IsEmpty());
  EXPECT_THAT(Foretold({KMeans(80), KMeans(80), KMeans(80)}, {{"k", "80"}}).runs, IsEmpty());
  EXPECT_THAT(Foretold({}, {{"k", "80"}}).runs, IsEmpty());
  std::vector<RunProfile> silent = runs;
  silent[1].parameters.clear();
  EXPECT_THAT(Foretold(silent, {{"k", "80"}}).runs, IsEmpty());
  silent.push_back(KMeans(30));
  EXPECT_THAT(Foretold(silent, {{"k", "80"}}).runs, SizeIs(3)) << "those that are known count";
}

TEST(Foretell, WhatNoRunShowsIsNamedAndWidensEverything) {
  const std::vector<RunProfile> runs = {KMeans(20), KMeans(40), KMeans(60)};
  const ForetoldRuns foretold = Foretold(runs, {{"k", "50"}, {"depth", "7"}});
  EXPECT_THAT(foretold.remark, HasSubstr("depth"));
  EXPECT_GE(foretold.deviations.at(WorkKey(kRead, "")), 0.5);
  EXPECT_GE(foretold.deviations.at(WorkKey(kTurn, "")), 0.5);
  // The same in all runs, and another one now.
  const ForetoldRuns constant = Foretold({KMeans(20), KMeans(20), KMeans(20)}, {{"k", "80"}});
  ASSERT_THAT(constant.runs, SizeIs(3));
  EXPECT_THAT(constant.runs[0].stages[1].seconds[2], ElementsAre(3, 3));
  EXPECT_EQ(constant.remark, "no earlier run shows what these parameters do: k");
  EXPECT_GE(constant.deviations.at(WorkKey(kTurn, "")), 0.5);
}

// Times that differ by a few percent are noise, whatever they go along with.
TEST(Foretell, DrawsNoLineThroughTheNoiseOfRuns) {
  std::vector<RunProfile> runs;
  for (const double seconds : {3.0, 3.1, 3.2}) {
    runs.push_back({.slots = 4,
                    .parameters = {{"day", std::to_string(20261100 + runs.size())}},
                    .stages = {Stage(kRead, 4, seconds)}});
  }
  const ForetoldRuns foretold = Foretold(runs, {{"day", "20261201"}});
  ASSERT_THAT(foretold.runs, SizeIs(3));
  EXPECT_THAT(foretold.deviations, IsEmpty());
  EXPECT_THAT(foretold.remark, IsEmpty());
  EXPECT_THAT(foretold.runs[2].stages[0].seconds[2][0], testing::AnyOf(3.0, 3.1, 3.2));
}

// 1.1 s by the line, but less than half of the least that was seen is not believed.
TEST(Foretell, StaysAmongPositiveFiniteNumbers) {
  std::vector<RunProfile> runs = {KMeans(20), KMeans(40), KMeans(60)};
  EXPECT_NEAR(Foretold(runs, {{"k", "1"}}).runs[0].stages[1].seconds[2][0], 1.5, 1e-9);
  for (const char* k : {"-1e300", "1e300", "nan", "inf", "-0", "many", ""}) {
    const ForetoldRuns foretold = Foretold(runs, {{"k", k}});
    for (const RunProfile& run : foretold.runs) {
      for (const StageProfile& stage : run.stages) {
        EXPECT_TRUE(std::isfinite(stage.seconds[2][0])) << k;
        EXPECT_GT(stage.seconds[2][0], 0) << k;
        EXPECT_GE(stage.tasks, 1u) << k;
      }
    }
    for (const auto& [work, deviation] : foretold.deviations) {
      EXPECT_GE(deviation, 0) << k;
      EXPECT_LE(deviation, 1) << k;
    }
  }
  for (RunProfile& run : runs) {
    run.stages[0].seconds[2].clear();  // nothing is known of it
    run.stages[1].seconds[2] = {0, 0};
    run.slots = std::numeric_limits<double>::max();
  }
  const ForetoldRuns nothing = Foretold(runs, {{"k", "80"}});
  ASSERT_THAT(nothing.runs, SizeIs(3));
  EXPECT_THAT(nothing.runs[0].stages[1].seconds[2], ElementsAre(0, 0));
}

TEST(NoteDeviations, AreThoseOfTheWork) {
  const ForetoldRuns foretold = Foretold({KMeans(20), KMeans(40), KMeans(60)}, {{"k", "80"}});
  std::vector<StageNow> stages = {{.name = "new", .work = kTurn}, {.name = "w2"}, {.work = kRead}};
  NoteDeviations(foretold, stages);
  EXPECT_NEAR(stages[0].foretold_deviation, 1.5774 / 9, 1e-4);
  EXPECT_EQ(stages[1].foretold_deviation, 0);
  EXPECT_EQ(stages[2].foretold_deviation, 0);
}

TEST(MatchStages, AStageWithoutANameIsTheOneOfItsWorkThatIsLeft) {
  const RunProfile run = {.stages = {{.name = "a", .work = 7, .tasks = 1},
                                     {.work = 7, .tasks = 1},
                                     {.work = 8, .tasks = 1}}};
  const std::vector<StageNow> now = {{.name = "new", .work = 7, .tasks = 1},
                                     {.name = "a", .work = 7, .tasks = 1},
                                     {.name = "other", .work = 9, .tasks = 1},
                                     {.work = 8, .tasks = 1}};
  EXPECT_THAT(MatchStages(now, run), ElementsAre(1, 0, std::nullopt, 2));
}

}  // namespace
}  // namespace tidemark::workflow
