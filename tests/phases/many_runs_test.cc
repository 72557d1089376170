#include "whatif/phases/many_runs.h"

#include "tests/test.h"

namespace tidemark::phases::many_runs_test {
namespace {

Settings With(std::uint32_t executors, std::uint32_t partitions) {
  return {.version = {3, 5},
          .executors = executors,
          .executor_cores = 1,
          .executor_memory_bytes = kReservedBytes + 2e9,
          .memory_fraction = 0.5,
          .sql_partitions = partitions};
}

// Returns a run of a program whose 10 x `data` tasks read 10 MB each. It shuffles the data into the
// given number of partitions, and computes for 1 us per record. Two executors slow each other down
// by half.
PastApplication RunWith(const Settings& settings, double data = 1) {
  const double slow = settings.executors > 1 ? 1.5 : 1;
  PastApplication run = {
      .settings = settings, .stages = std::vector<PastStage>(2), .names = {"scan", "sum"}};
  const auto maps = static_cast<std::size_t>(10 * data);
  for (std::size_t i = 0; i < maps; ++i) {
    const double seconds = slow * (0.01 + 1e5 * 1e-5);
    run.stages[0].tasks.push_back(
        {.seconds = seconds, .running = seconds, .input = {1e5, 1e7}, .written = {1e5, 2e6}});
  }
  run.stages[0].next_tasks = settings.sql_partitions;
  const double part = static_cast<double>(maps) / settings.sql_partitions;
  for (std::size_t i = 0; i < settings.sql_partitions; ++i) {
    const double seconds = slow * (0.01 + part * 1e5 * 5e-6);
    run.stages[1].tasks.push_back({.seconds = seconds,
                                   .running = seconds,
                                   .local_bytes = part * 2e6,
                                   .shuffle_records = part * 1e5,
                                   .result_bytes = 100});
  }
  return run;
}

ManyRuns Learnt(std::vector<PastApplication> runs) {
  return ManyRuns::Learn(std::move(runs), UsualCosts()).value();
}

ManyRuns Usual() {
  return Learnt({RunWith(With(1, 8)), RunWith(With(1, 32)), RunWith(With(2, 8)),
                 RunWith(With(2, 32)), RunWith(With(1, 16), 2), RunWith(With(2, 16), 2)});
}

TEST(ManyRuns, MostSimilarRunIsTheRunItself) {
  const ManyRuns learnt = Usual();
  EXPECT_EQ(learnt.MostLike({.settings = With(1, 8)}), 0);
  EXPECT_EQ(learnt.MostLike({.settings = With(2, 32)}), 3);
  EXPECT_EQ(learnt.MostLike({.settings = With(2, 16), .data_factor = 2}), 5);
}

// 32 gathering tasks have the counters of eight.
TEST(ManyRuns, TasksWithoutKeptCountersStillCount) {
  PastApplication run = RunWith(With(1, 8));
  run.settings.sql_partitions = 32;
  run.stages[0].tasks_for_each = run.stages[1].tasks_for_each = 4;
  const ManyRuns learnt = Learnt({run});
  const RunEstimate same = learnt.On(0, {.settings = run.settings});
  EXPECT_EQ(same.stages[0].tasks, 40);
  EXPECT_EQ(same.stages[1].tasks, 32);
  const RunScenario asked = {.settings = With(1, 64), .data_factor = 2};
  const RunEstimate other = learnt.On(0, asked);
  EXPECT_EQ(other.stages[0].tasks, 80);
  EXPECT_EQ(other.stages[1].tasks, 64);
  // Twice the data are divided among twice the tasks, so each task takes the same time.
  EXPECT_NEAR(other.stages[1].task_seconds, same.stages[1].task_seconds,
              0.3 * same.stages[1].task_seconds);
}

TEST(ManyRuns, PartitionsAreFollowedIfAGatheringStageHadAsManyTasks) {
  EXPECT_TRUE(Usual().FollowsPartitions());
  PastApplication run = RunWith(With(1, 8));
  run.settings.sql_partitions = 200;  // Adaptive execution has merged the partitions.
  EXPECT_FALSE(Learnt({run}).FollowsPartitions());
  EXPECT_TRUE(Learnt({run, RunWith(With(1, 8))}).FollowsPartitions());
  run.settings.sql_partitions = 10;  // as many as there are tasks with an input
  EXPECT_FALSE(Learnt({run}).FollowsPartitions());
  run.settings.default_partitions = 8;
  EXPECT_TRUE(Learnt({run}).FollowsPartitions());
}

TEST(ManyRuns, OtherPartitionsDivideTheDataAmongOtherTasks) {
  const ManyRuns learnt = Usual();
  const RunScenario asked = {.settings = With(1, 16)};
  const RunEstimate expected = learnt.On(learnt.MostLike(asked), asked);
  EXPECT_EQ(expected.stages[0].tasks, 10);
  EXPECT_EQ(expected.stages[1].tasks, 16);
  // The time is 0.01 + 10 / 16 x 0.5 s.
  EXPECT_NEAR(expected.stages[1].task_seconds, 0.3225, 0.03);
  EXPECT_THAT(expected.beyond, IsEmpty());
}

TEST(ManyRuns, MoreDataGiveMoreReadingTasksAndLongerGatheringTasks) {
  const ManyRuns learnt = Usual();
  const RunScenario asked = {.settings = With(1, 8), .data_factor = 2};
  const RunEstimate expected = learnt.On(0, asked);
  EXPECT_EQ(expected.stages[0].tasks, 20);
  EXPECT_EQ(expected.stages[1].tasks, 8);
  EXPECT_NEAR(expected.stages[1].task_seconds, 1.26, 0.15);
}

// No phase model includes contention of executors, but the runs show it.
TEST(ManyRuns, LearnsEffectsThatNoModelCovers) {
  const ManyRuns learnt = Usual();
  const RunEstimate alone = learnt.On(0, {.settings = With(1, 16)});
  const RunEstimate two = learnt.On(0, {.settings = With(2, 16)});
  EXPECT_NEAR(two.stages[1].task_seconds / alone.stages[1].task_seconds, 1.5, 0.15);
}

// A parameter doubles the cost of records with each power of two.
TEST(ManyRuns, LearnsTheEffectOfAParameter) {
  std::vector<PastApplication> runs;
  for (const double k : {1, 2, 3, 5}) {
    PastApplication run = RunWith(With(1, 8));
    run.others = {k};
    for (PastStage& stage : run.stages) {
      for (TaskCounters& task : stage.tasks) {
        task.seconds *= std::exp2(k);
        task.running = *task.running * std::exp2(k);
      }
    }
    runs.push_back(std::move(run));
  }
  const double base = runs[0].stages[1].tasks[0].seconds / 2;
  const ManyRuns learnt = Learnt(std::move(runs));
  const RunScenario asked = {.settings = With(1, 8), .others = {4}};
  EXPECT_EQ(learnt.MostLike({.settings = With(1, 8), .others = {2.2}}), 1);
  EXPECT_NEAR(std::log2(learnt.On(2, asked).stages[1].task_seconds / base), 4, 0.4);
}

// The first task on a slot compiles the code for two seconds.
TEST(ManyRuns, SeparatesFirstTasksOnTheirSlotsFromOthers) {
  std::vector<PastApplication> runs;
  for (const std::uint32_t partitions : {4, 8, 64}) {
    PastApplication run = RunWith(With(1, partitions));
    for (PastStage& stage : run.stages) {
      TaskCounters& first = stage.tasks.front();
      first.is_fresh = true;
      first.seconds += 2;
      first.running = *first.running + 2;
    }
    runs.push_back(std::move(run));
  }
  const ManyRuns learnt = Learnt(std::move(runs));
  const RunScenario asked = {.settings = With(1, 32)};
  const StageEstimate sum = learnt.On(learnt.MostLike(asked), asked).stages[1];
  // The time is 0.01 + 10 / 32 x 0.5 s.
  EXPECT_NEAR(sum.task_seconds, 0.166, 0.03);
  EXPECT_NEAR(sum.fresh_task_seconds, 2.166, 0.3);
}

// Executors that start at the same time slow each other down, so the lag of a stage depends on
// their number.
TEST(ManyRuns, LearnsTheLagOfAStageAtOtherSettings) {
  std::vector<PastApplication> runs;
  for (const std::uint32_t executors : {1, 2}) {
    for (const std::uint32_t partitions : {8, 32}) {
      PastApplication run = RunWith(With(executors, partitions));
      run.stages[0].lag_seconds = executors == 1 ? 8 : 12;
      run.stages[1].lag_seconds = 0.01;  // the resolution of the driver's clock
      runs.push_back(std::move(run));
    }
  }
  const ManyRuns learnt = Learnt(std::move(runs));
  const RunEstimate alone = learnt.On(3, {.settings = With(1, 16)});
  const RunEstimate two = learnt.On(0, {.settings = With(2, 16)});
  EXPECT_NEAR(alone.stages[0].lag_seconds, 8, 0.5);
  EXPECT_NEAR(two.stages[0].lag_seconds, 12, 0.7);
  EXPECT_EQ(two.stages[1].lag_seconds, 0) << "unchanged";
}

// Only one run was delayed by 5 s.
TEST(ManyRuns, LagsOfOnlySomeRunsAreUnchanged) {
  PastApplication held_up = RunWith(With(1, 8));
  for (PastStage& stage : held_up.stages) stage.lag_seconds = 5;
  PastApplication other = RunWith(With(1, 32));
  other.stages[0].lag_seconds = 5;
  other.stages[1].lag_seconds = 0.1;
  const RunEstimate expected = Learnt({held_up, other}).On(1, {.settings = With(1, 32)});
  EXPECT_NEAR(expected.stages[0].lag_seconds, 5, 0.1);
  EXPECT_EQ(expected.stages[1].lag_seconds, 0) << "unchanged";
}

TEST(ManyRuns, UnobservedFirstTasksUseTheErrorOfOtherTasks) {
  PastApplication run = RunWith(With(1, 8));
  for (TaskCounters& task : run.stages[1].tasks) task.is_fresh = true;
  const ManyRuns learnt = Learnt({run});
  const RunEstimate expected = learnt.On(0, {.settings = With(1, 8)});
  for (const StageEstimate& stage : expected.stages) {
    EXPECT_EQ(stage.task_seconds, stage.fresh_task_seconds);
  }
}

// A whole run takes twice as long with each doubling of executors, regardless of its stages.
TEST(ManyRuns, SettingsAloneEstimateAWholeRun) {
  std::vector<PastApplication> runs;
  for (const std::uint32_t executors : {1, 2, 4, 8}) {
    for (const std::uint32_t partitions : {8, 32}) {
      PastApplication& run = runs.emplace_back(RunWith(With(executors, partitions)));
      run.seconds = 10.0 * executors;
    }
  }
  const ManyRuns learnt = Learnt(std::move(runs));
  const auto seconds = [&](std::uint32_t executors) {
    return learnt.On(0, {.settings = With(executors, 8)}).whole->seconds;
  };
  EXPECT_NEAR(seconds(1), 10, 2);
  EXPECT_NEAR(seconds(4), 40, 8);
  EXPECT_LT(learnt.On(0, {.settings = With(4, 8)}).whole->deviation, 0.3);
  EXPECT_FALSE(learnt.On(0, {.settings = With(9, 8)}).whole) << "a line has no limit";
}

// No run shows more contention than executors that slow each other down by 50 %.
TEST(ManyRuns, HoldsTheCorrectionBeyondTheExecutorsOfAllRuns) {
  const ManyRuns learnt = Usual();
  const RunEstimate two = learnt.On(0, {.settings = With(2, 16)});
  const RunEstimate many = learnt.On(0, {.settings = With(64, 16)});
  EXPECT_NEAR(many.stages[1].task_seconds / two.stages[1].task_seconds, 1, 0.2);
  EXPECT_GT(many.deviation, two.deviation);
}

PastApplication Lasting(double seconds, const Settings& settings, double data = 1) {
  PastApplication run = RunWith(settings, data);
  run.seconds = seconds;
  return run;
}

TEST(ManyRuns, RunsThatDifferInExecutorsAloneScaleTheWholeRun) {
  const ManyRuns learnt = Learnt({Lasting(12, With(2, 8)), Lasting(7, With(4, 8))});
  const auto scaled = [&learnt](const RunScenario& scenario) {
    return learnt.On(0, scenario).scaled;
  };
  ASSERT_TRUE(scaled({.settings = With(8, 8)}));
  EXPECT_LT(scaled({.settings = With(8, 8)})->seconds, 7);
  EXPECT_GT(scaled({.settings = With(1, 8)})->seconds, 12);
  EXPECT_FALSE(scaled({.settings = With(8, 16)})) << "other partitions";
  EXPECT_FALSE(scaled({.settings = With(8, 8), .data_factor = 2}));
}

TEST(ManyRuns, OtherExecutorsWithOtherSettingsAreLeftToTheCorrection) {
  const std::vector<PastApplication> same_executors = {Lasting(100, With(2, 8)),
                                                       Lasting(90, With(2, 16))};
  const RunScenario asked = {.settings = With(4, 8)};
  EXPECT_TRUE(Learnt(same_executors).On(0, asked).scaled);
  std::vector<PastApplication> others = same_executors;
  others.push_back(Lasting(80, With(4, 16)));
  EXPECT_FALSE(Learnt(others).On(0, asked).scaled);
  others.back().seconds = 0;
  EXPECT_TRUE(Learnt(others).On(0, asked).scaled) << "it did not succeed";
}

// Runs whose settings hardly vary are not evidence about distant settings.
TEST(ManyRuns, SettingsThatHardlyVariedGiveNoEstimateOfDistantRuns) {
  std::vector<PastApplication> runs;
  for (const std::uint32_t partitions : {8, 8, 9, 9}) {
    runs.emplace_back(RunWith(With(2, partitions))).seconds = 10;
  }
  const ManyRuns learnt = Learnt(std::move(runs));
  EXPECT_TRUE(learnt.On(0, {.settings = With(2, 8)}).whole);
  EXPECT_TRUE(learnt.On(0, {.settings = With(2, 10)}).whole);
  EXPECT_FALSE(learnt.On(0, {.settings = With(2, 16)}).whole);
  EXPECT_FALSE(learnt.On(0, {.settings = With(4, 8)}).whole);
}

TEST(ManyRuns, OtherProgramsGiveNoEstimateOfWholeRuns) {
  std::vector<PastApplication> runs = {RunWith(With(1, 8)), RunWith(With(2, 8)),
                                       RunWith(With(4, 8)), RunWith(With(8, 8))};
  for (PastApplication& run : runs) run.seconds = 10;
  runs[3].names = {"others", "of another"};
  EXPECT_FALSE(Learnt(runs).On(0, {.settings = With(1, 8)}).whole);
}

TEST(ManyRuns, FewRunsGiveNoEstimateOfWholeRuns) {
  std::vector<PastApplication> runs = {RunWith(With(1, 8)), RunWith(With(2, 8)),
                                       RunWith(With(4, 8)), RunWith(With(8, 8))};
  for (PastApplication& run : runs) run.seconds = 10;
  EXPECT_TRUE(Learnt(runs).On(0, {.settings = With(1, 8)}).whole);
  runs[3].seconds = 0;
  EXPECT_FALSE(Learnt(runs).On(0, {.settings = With(1, 8)}).whole) << "one duration is unknown";
}

TEST(ManyRuns, FetchedDataAreScaledByTheGivenFactor) {
  const ManyRuns learnt = Usual();
  const RunScenario asked = {.settings = With(1, 8), .fetched = {{"sum", 2}}};
  const RunEstimate expected = learnt.On(0, asked);
  EXPECT_EQ(expected.stages[0].tasks, 10);
  EXPECT_GT(expected.stages[1].task_seconds,
            1.5 * learnt.On(0, {.settings = With(1, 8)}).stages[1].task_seconds);
}

TEST(ManyRuns, NamesSettingsFarFromAllRuns) {
  const ManyRuns learnt = Usual();
  const RunEstimate near = learnt.On(0, {.settings = With(2, 8)});
  const RunEstimate far = learnt.On(0, {.settings = With(16, 8), .data_factor = 10});
  EXPECT_THAT(near.beyond, IsEmpty());
  EXPECT_THAT(far.beyond, Contains("executors"));
  EXPECT_THAT(far.beyond, Contains("data"));
  EXPECT_THAT(far.beyond, Not(Contains("partitions")));
  EXPECT_GT(far.deviation, near.deviation);
}

// Some sources do not count the bytes that are read from them.
TEST(ManyRuns, NamesMoreDataIfNoRunReportsItsInput) {
  PastApplication run = RunWith(With(1, 8));
  for (TaskCounters& task : run.stages[0].tasks) task.input = {};
  const ManyRuns learnt = Learnt({run});
  const RunEstimate same = learnt.On(0, {.settings = With(1, 8)});
  const RunEstimate twice = learnt.On(0, {.settings = With(1, 8), .data_factor = 2});
  EXPECT_THAT(same.beyond, IsEmpty());
  EXPECT_THAT(twice.beyond, Contains("data"));
  EXPECT_EQ(twice.stages[0].tasks, 20);
  EXPECT_GT(twice.deviation, same.deviation);
}

TEST(ManyRuns, UnknownDataOfTheFirstRunCountAsEqual) {
  PastApplication first = RunWith(With(1, 8));
  for (TaskCounters& task : first.stages[0].tasks) task.input = {};
  const ManyRuns learnt = Learnt({first, RunWith(With(2, 8))});
  const RunScenario asked = {.settings = With(2, 8)};
  EXPECT_EQ(learnt.MostLike(asked), 1);
  EXPECT_EQ(learnt.On(1, asked).stages[0].tasks, 10);
  EXPECT_THAT(learnt.On(1, asked).beyond, IsEmpty());
}

TEST(ManyRuns, StageWithoutTasksIsUnknown) {
  PastApplication run = RunWith(With(1, 8));
  run.stages[1].tasks.clear();
  const ManyRuns learnt = Learnt({run});
  const RunEstimate expected = learnt.On(0, {.settings = With(2, 8)});
  EXPECT_TRUE(expected.stages[0].is_known);
  EXPECT_FALSE(expected.stages[1].is_known);
}

// A task has 2 MB with compression and 5 MB without, so the ratio is two fifths.
TEST(ManyRuns, RunsWithAndWithoutCompressionShowItsRatio) {
  PastApplication plain = RunWith(With(1, 8));
  plain.settings.compresses_shuffle = false;
  for (TaskCounters& task : plain.stages[0].tasks) task.written.bytes = 5e6;
  for (TaskCounters& task : plain.stages[1].tasks) task.local_bytes *= 2.5;
  const ManyRuns learnt = Learnt({RunWith(With(1, 8)), plain});
  Settings off = With(1, 8);
  off.compresses_shuffle = false;
  EXPECT_EQ(learnt.MostLike({.settings = off}), 1);
  EXPECT_NEAR(learnt.On(0, {.settings = off}).stages[1].task_seconds, 0.635, 0.1);
}

TEST(ManyRuns, RejectsRunsWithoutTasks) {
  EXPECT_FALSE(ManyRuns::Learn({}, UsualCosts()).ok());
  PastApplication empty = {.settings = With(1, 8), .stages = {PastStage()}, .names = {"scan"}};
  EXPECT_FALSE(ManyRuns::Learn({empty}, UsualCosts()).ok());
}

// Each task takes thirty years.
TEST(ManyRuns, RunWithOnlyImpossibleTimesHasAWideDeviation) {
  PastApplication run = RunWith(With(1, 8));
  for (PastStage& stage : run.stages) {
    for (TaskCounters& task : stage.tasks) task.seconds = 1e9;
    for (TaskCounters& task : stage.tasks) task.running = 1e9;
  }
  const RunEstimate expected = Learnt({run}).On(0, {.settings = With(1, 8)});
  EXPECT_FALSE(expected.stages[0].is_known);
  EXPECT_FALSE(expected.stages[1].is_known);
  EXPECT_GE(expected.deviation, 0.5);
}

TEST(ManyRuns, AbsurdCountersGiveNoAbsurdEstimate) {
  PastApplication absurd = RunWith(With(1, 8));
  absurd.stages[0].tasks[0].written.records = 0;
  absurd.stages[0].tasks[1].input = {1e19, 1e19};
  absurd.stages[1].tasks[0].spilled_disk_bytes = 1e12;
  const auto learnt = ManyRuns::Learn({absurd, RunWith(With(2, 32))}, UsualCosts());
  if (!learnt.ok()) return;
  const RunScenario asked = {.settings = With(2, 8), .data_factor = 3};
  for (const std::size_t like : {0, 1}) {
    const RunEstimate expected = learnt->On(like, asked);
    EXPECT_TRUE(std::isfinite(expected.deviation));
    for (const StageEstimate& stage : expected.stages) {
      EXPECT_TRUE(std::isfinite(stage.task_seconds));
      EXPECT_GE(stage.task_seconds, 0);
    }
  }
}

// The sums of a partition take a time that is proportional to its bytes. Partitions of 2 x 10 / n
// MB with n of 8, 16 and 32 are known, and n of 20 is predicted: 0.01 + 0.5 x 10 / 20 s.
TEST(ManyRuns, TheBlackBoxPredictsTasksFromTheirPartitions) {
  const ManyRuns learnt = Learnt({RunWith(With(1, 8)), RunWith(With(1, 16)), RunWith(With(1, 32)),
                                  RunWith(With(1, 8), 2), RunWith(With(1, 32), 2)});
  const RunEstimate expected = learnt.On(0, {.settings = With(1, 20)});
  ASSERT_TRUE(expected.black_box.has_value());
  EXPECT_NEAR(expected.black_box->task_seconds[0], 1.01, 1e-6);
  EXPECT_NEAR(expected.black_box->task_seconds[1], 0.26, 0.01);
}

TEST(ManyRuns, FewRunsHaveNoBlackBox) {
  const ManyRuns learnt = Learnt({RunWith(With(1, 8)), RunWith(With(1, 32))});
  EXPECT_FALSE(learnt.On(0, {.settings = With(1, 16)}).black_box.has_value());
}

// The stage "sum" is only in two of five runs.
TEST(ManyRuns, AStageOfFewRunsHasNoBlackBox) {
  std::vector<PastApplication> runs;
  for (const std::uint32_t partitions : {8u, 12u, 16u, 24u, 32u}) {
    runs.push_back(RunWith(With(1, partitions)));
  }
  for (std::size_t i = 2; i < runs.size(); ++i) {
    runs[i].stages.resize(1);
    runs[i].names.resize(1);
  }
  const ManyRuns learnt = Learnt(runs);
  EXPECT_FALSE(learnt.On(0, {.settings = With(1, 20)}).black_box.has_value());
  EXPECT_TRUE(learnt.On(2, {.settings = With(1, 20)}).black_box.has_value());
}

// The sums of a partition take 0.5 s for 2 MB, minus 0.1 s. With 200 partitions of 0.1 MB, the line
// is below zero.
TEST(ManyRuns, ABlackBoxBelowZeroIsNotUsed) {
  std::vector<PastApplication> runs = {RunWith(With(1, 8)), RunWith(With(1, 16)),
                                       RunWith(With(1, 32)), RunWith(With(1, 8), 2),
                                       RunWith(With(1, 32), 2)};
  for (PastApplication& run : runs) {
    for (TaskCounters& task : run.stages[1].tasks) {
      task.seconds = 0.5 * task.local_bytes / 2e6 - 0.1;
      task.running = task.seconds;
    }
  }
  const ManyRuns learnt = Learnt(runs);
  EXPECT_TRUE(learnt.On(0, {.settings = With(1, 20)}).black_box.has_value());
  EXPECT_FALSE(learnt.On(0, {.settings = With(1, 200)}).black_box.has_value());
}

TEST(ManyRuns, AProbedStageIsSlowedByItsFactor) {
  const ManyRuns learnt = Learnt({RunWith(With(1, 8))});
  const RunEstimate same = learnt.On(0, {.settings = With(1, 8)});
  const RunEstimate slowed = learnt.On(0, {.settings = With(1, 8), .slowed = {{"scan", 1.6}}});
  EXPECT_NEAR(slowed.stages[0].task_seconds, 1.6 * same.stages[0].task_seconds, 1e-9);
  EXPECT_DOUBLE_EQ(slowed.stages[1].task_seconds, same.stages[1].task_seconds);
}

TEST(ManyRuns, AStageThatWritesMoreTakesLonger) {
  const ManyRuns learnt = Learnt({RunWith(With(1, 8))});
  const RunEstimate same = learnt.On(0, {.settings = With(1, 8)});
  const RunEstimate more = learnt.On(0, {.settings = With(1, 8), .written = {{"scan", 3.0}}});
  EXPECT_GT(more.stages[0].task_seconds, same.stages[0].task_seconds);
}

}  // namespace
}  // namespace tidemark::phases::many_runs_test
