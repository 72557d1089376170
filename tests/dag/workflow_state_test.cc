#include "master/forecast/dag/workflow_state.h"

#include "tests/test.h"

namespace tidemark::dag::workflow_state_test {
namespace {

constexpr double kMegabyte = 1e6;

// Returns a program with two scans, a join of both, and stages that each read the previous stage.
// Each stage has 8 tasks that read 10 MB.
PastRun Program(std::size_t stages = 7, const std::string& name = "s") {
  PastRun run;
  for (std::size_t i = 0; i < stages; ++i) {
    PastStage stage = {.name = name + std::to_string(i),
                       .fetches = i >= 2,
                       .tasks = 8,
                       .read_bytes = 80 * kMegabyte,
                       .seconds = {{{}, {}, {1}, {}}}};
    if (i == 2) stage.parents = {0, 1};
    if (i > 2) stage.parents = {i - 1};
    run.stages.push_back(std::move(stage));
  }
  return run;
}

// Returns the first stages of the program as another run has opened them. All of them except the
// last have ended.
std::vector<StageNow> Opened(const PastRun& run, std::size_t count) {
  std::vector<StageNow> now;
  for (std::size_t i = 0; i < count; ++i) {
    const PastStage& stage = run.stages[i];
    now.push_back({.name = stage.name,
                   .parents = stage.parents,
                   .work = stage.work,
                   .fetches = stage.fetches,
                   .tasks = stage.tasks});
    if (i + 1 == count) break;
    now.back().finished.resize(stage.tasks);
    now.back().read_bytes = stage.read_bytes;
  }
  return now;
}

bool HasShape(const PastRun& run, const std::vector<StageNow>& now, bool has_sizes = true) {
  return ContradictionsOf(run, now, has_sizes).has_value();
}

TEST(RunShape, MatchesTheSameProgram) {
  for (std::size_t count = 0; count <= 7; ++count) {
    EXPECT_TRUE(HasShape(Program(), Opened(Program(), count))) << count;
  }
}

TEST(RunShape, IsRefutedByTheFirstStageOfAnotherName) {
  EXPECT_FALSE(HasShape(Program(), Opened(Program(4, "other"), 1)));
}

TEST(RunShape, IsRefutedIfOnlyTheFirstStageAgrees) {
  PastRun other = Program(4, "other");
  other.stages[0] = Program().stages[0];
  EXPECT_TRUE(HasShape(Program(), Opened(other, 1)));
  EXPECT_FALSE(HasShape(Program(), Opened(other, 2)));
}

TEST(RunShape, IsRefutedByTwoContradictionsInARowAfterManyAgreements) {
  PastRun other = Program();
  other.stages[5].name = "other 5";
  EXPECT_TRUE(HasShape(Program(), Opened(other, 6))) << "an optimiser may have changed the plan";
  EXPECT_TRUE(HasShape(Program(), Opened(other, 7)));
  other.stages[6].name = "other 6";
  EXPECT_FALSE(HasShape(Program(), Opened(other, 7)));
}

TEST(RunShape, IsRefutedByOtherNumbersOfTasksUnderTheSameNames) {
  for (const std::uint64_t tasks : {1, 3, 20, 800}) {
    PastRun other = Program();
    for (PastStage& stage : other.stages) stage.tasks = tasks;
    EXPECT_FALSE(HasShape(Program(), Opened(other, 1))) << tasks;
  }
  for (const std::uint64_t tasks : {6, 7, 9, 12}) {
    PastRun other = Program();
    for (PastStage& stage : other.stages) stage.tasks = tasks;
    EXPECT_TRUE(HasShape(Program(), Opened(other, 7))) << tasks;
  }
}

TEST(RunShape, IsRefutedByOtherEdgesUnderTheSameNames) {
  PastRun other = Program();
  other.stages[1].fetches = true;
  other.stages[1].parents = {0};
  EXPECT_FALSE(HasShape(Program(), Opened(other, 2))) << "it reads no input";
  other = Program(7);
  other.stages[3].parents = {0};
  other.stages[4].parents = {1};
  EXPECT_FALSE(HasShape(Program(), Opened(other, 5))) << "they read other stages";
  other = Program(7);
  other.stages[2].fetches = false;
  other.stages[2].parents.clear();
  other.stages[3].parents = {0, 1, 2};
  EXPECT_FALSE(HasShape(Program(), Opened(other, 4))) << "more stages are joined";
}

TEST(RunShape, IsNotRefutedByUnopenedParents) {
  std::vector<StageNow> now = Opened(Program(), 3);
  now[2].parents = {0};
  now[2].are_parents_open = false;
  EXPECT_TRUE(HasShape(Program(), now));
}

TEST(RunShape, IsRefutedByOtherReadBytesUnderTheSameNames) {
  for (const double factor : {0.01, 0.1, 10.0, 100.0}) {
    PastRun other = Program();
    for (PastStage& stage : other.stages) stage.read_bytes *= factor;
    EXPECT_TRUE(HasShape(Program(), Opened(other, 1))) << "no task has read anything";
    EXPECT_FALSE(HasShape(Program(), Opened(other, 2))) << factor;
  }
  PastRun small = Program();
  for (PastStage& stage : small.stages) stage.read_bytes = 1'000;
  PastRun smaller = small;
  for (PastStage& stage : smaller.stages) stage.read_bytes = 10;
  EXPECT_TRUE(HasShape(small, Opened(smaller, 7))) << "neither takes time";
}

TEST(RunShape, IgnoresSizesIfParametersDiffer) {
  PastRun other = Program();
  for (PastStage& stage : other.stages) {
    stage.tasks = 200;
    stage.read_bytes *= 100;
  }
  EXPECT_TRUE(HasShape(Program(), Opened(other, 7), /*has_sizes=*/false));
  EXPECT_FALSE(HasShape(Program(), Opened(Program(4, "other"), 1), /*has_sizes=*/false));
}

// A loop may have more iterations than in the past run.
TEST(RunShape, IsNotRefutedByRepeatedWork) {
  PastRun loop = Program(4);
  for (PastStage& stage : loop.stages) stage.work = 7;
  PastRun longer = Program(40);
  for (PastStage& stage : longer.stages) stage.work = 7;
  EXPECT_TRUE(HasShape(loop, Opened(longer, 40)));
}

TEST(RunShape, IgnoresSkippedAndFailedStages) {
  std::vector<StageNow> now = Opened(Program(), 3);
  now.push_back({.name = "skipped", .tasks = 0});
  now.push_back({.name = "failed", .tasks = 8, .has_failed = true});
  now.push_back({.name = "skipped", .tasks = 0});
  EXPECT_TRUE(HasShape(Program(), now));
}

// Three scans of one name run at once and start in any order. The first one reads 10 MB, the
// others 10 kB.
TEST(RunShape, MatchesJobsThatStartInAnotherOrderByTheirBytes) {
  PastRun run = Program(3);
  for (PastStage& stage : run.stages) stage = Program().stages[0];
  run.stages[1].read_bytes = run.stages[2].read_bytes = 80'000;
  std::vector<StageNow> now = Opened(run, 3);
  for (StageNow& stage : now) stage.finished.resize(stage.tasks);
  now[0].read_bytes = now[1].read_bytes = 80'000;
  now[2].read_bytes = 80 * kMegabyte;
  EXPECT_TRUE(HasShape(run, now));
  EXPECT_THAT(MatchStages(now, run), ElementsAre(1, 2, 0));
  now[2].finished.pop_back();
  EXPECT_THAT(MatchStages(now, run), ElementsAre(1, 2, 0)) << "the others choose first";
}

TEST(RunShape, MatchesNumberedStagesOfOneWorkByTheirBytes) {
  PastRun run = Program(3);
  for (std::size_t i = 0; i < 3; ++i) {
    run.stages[i] = Program().stages[0];
    run.stages[i].name = "scan-" + std::to_string(i);
    run.stages[i].work = 7;
  }
  run.stages[0].read_bytes = 80'000;
  std::vector<StageNow> now = Opened(run, 3);
  now[0].read_bytes = 80 * kMegabyte;
  now[1].read_bytes = 80'000;
  EXPECT_TRUE(HasShape(run, now));
  EXPECT_THAT(MatchStages(now, run), ElementsAre(1, 0, 2));
}

TEST(RunShape, IsRefutedByStagesThatDidNotCome) {
  // The past run has five independent scans before its last two.
  PastRun run = Program(7);
  for (PastStage& stage : run.stages) {
    stage.fetches = false;
    stage.parents.clear();
  }
  std::vector<StageNow> now = Opened(run, 7);
  for (StageNow& stage : now) {
    stage.finished.resize(stage.tasks);
    stage.read_bytes = 80 * kMegabyte;
  }
  now.erase(now.begin() + 2, now.begin() + 5);
  EXPECT_FALSE(HasShape(run, now)) << "three stages are missing and four came";
  now[3].finished.clear();
  EXPECT_TRUE(HasShape(run, now)) << "only one later stage is over";
  now[3].name = "other";
  now[3].finished.resize(8);
  EXPECT_TRUE(HasShape(run, now)) << "an optimiser may have replaced one stage";
}

TEST(RunShape, IsRefutedByAnApplicationThatIsIdleWhereThePastRunWentOn) {
  const PastRun run = Program(7);
  std::vector<StageNow> now = Opened(run, 3);
  now[2].finished.resize(8);
  for (StageNow& stage : now) stage.done_since = 9;
  EXPECT_TRUE(HasShape(run, now));
  PastRun wide = Program(7);
  for (std::size_t i = 3; i < 7; ++i) wide.stages[i].parents = {2};
  for (StageNow& stage : now) stage.done_since = 11;
  EXPECT_FALSE(HasShape(wide, now)) << "four stages should have come";
  for (std::size_t i = 3; i < 7; ++i) wide.stages[i].lag = 60;
  EXPECT_TRUE(HasShape(wide, now)) << "the driver was as slow in the past run";
}

TEST(RunShape, CountsContradictions) {
  PastRun other = Program();
  other.stages[5].name = "other 5";
  EXPECT_EQ(ContradictionsOf(Program(), Opened(Program(), 7), true), std::size_t{0});
  EXPECT_EQ(ContradictionsOf(Program(), Opened(other, 7), true), std::size_t{1});
}

// The stages that have ended have read twice the bytes, ln 2 = 0.69.
TEST(RunShape, MeasuresTheDistanceOfSizes) {
  PastRun run = Program(3);
  std::vector<StageNow> now = Opened(run, 3);
  for (StageNow& stage : now) stage.read_bytes *= 2;
  EXPECT_NEAR(SizeDistance(run, now, MatchStages(now, run)), 0.69, 0.01);
  EXPECT_EQ(SizeDistance(run, Opened(run, 3), MatchStages(now, run)), 0);
}

}  // namespace
}  // namespace tidemark::dag::workflow_state_test
