#include "whatif/phases/learn_costs.h"

#include "tests/test.h"

namespace tidemark::phases::learn_costs_test {
namespace {

// Returns costs for a tenth of the usual disk rate, a third of the usual network rate, and twice
// the usual cost of serialization. Stage s computes for (s + 1) us.
CostStatistics Truth() {
  CostStatistics truth = UsualCosts();
  truth[Cost::kLocalWrite] *= 10;
  truth[Cost::kNetwork] *= 3;
  truth[Cost::kSerialize] *= 2;
  return truth;
}

CostStatistics TruthOf(std::size_t stage) {
  CostStatistics truth = Truth();
  truth[Cost::kCompute] = 1e-6 * static_cast<double>(stage + 1);
  return truth;
}

Work SomeWork(std::mt19937& random) {
  std::uniform_real_distribution<double> share(0.2, 2);
  Work work;
  work[Cost::kCompute] = 1e6 * share(random);
  work[Cost::kNetwork] = 5e7 * share(random);
  work[Cost::kLocalWrite] = 2e7 * share(random);
  work[Cost::kSerialize] = 1e8 * share(random);
  work[Cost::kSetup] = work[Cost::kCleanup] = 1;
  return work;
}

MeasuredTask Measured(std::size_t stage, const Work& work) {
  const CostStatistics truth = TruthOf(stage);
  MeasuredTask task = {.stage = stage, .work = work, .seconds = Seconds(work, truth)};
  task.deserialize = truth[Cost::kSetup];
  task.running = task.seconds - truth[Cost::kSetup] - truth[Cost::kCleanup];
  task.fetch_wait = work[Cost::kNetwork] * truth[Cost::kNetwork];
  task.shuffle_write = work[Cost::kLocalWrite] * truth[Cost::kLocalWrite];
  task.processor = *task.running - *task.fetch_wait - *task.shuffle_write;
  return task;
}

std::vector<MeasuredTask> Tasks(std::size_t stages, double noise = 0) {
  std::mt19937 random(1);
  std::normal_distribution<double> normal(0, noise);
  std::vector<MeasuredTask> tasks;
  for (std::size_t stage = 0; stage < stages; ++stage) {
    for (int i = 0; i < 20; ++i) {
      MeasuredTask task = Measured(stage, SomeWork(random));
      if (noise > 0) {
        const double factor = std::exp(normal(random));
        task.seconds *= factor;
        for (auto* time : {&task.running, &task.processor, &task.fetch_wait, &task.shuffle_write,
                           &task.deserialize}) {
          **time *= factor;
        }
      }
      tasks.push_back(task);
    }
  }
  return tasks;
}

LearntCosts Learn(const std::vector<MeasuredTask>& tasks) {
  return LearntCosts::Learn(tasks, UsualCosts()).value();
}

TEST(LearntCosts, ReproduceTheCostsOfGeneratedTasks) {
  const LearntCosts learnt = Learn(Tasks(10));
  for (const std::size_t stage : {0, 9}) {
    const CostStatistics truth = TruthOf(stage);
    for (const Cost cost : {Cost::kCompute, Cost::kNetwork, Cost::kLocalWrite, Cost::kSerialize,
                            Cost::kSetup, Cost::kCleanup}) {
      EXPECT_NEAR(learnt.Of(stage)[cost], truth[cost], 0.05 * truth[cost]) << NameOf(cost);
      EXPECT_TRUE(learnt.IsDetermined(cost)) << NameOf(cost);
    }
  }
}

TEST(LearntCosts, EstimateTasksOfAnotherMixture) {
  const LearntCosts learnt = Learn(Tasks(10, 0.1));
  Work work;
  work[Cost::kCompute] = 4e6;
  work[Cost::kSerialize] = 1e7;
  work[Cost::kNetwork] = 1e6;
  const double truth = Seconds(work, TruthOf(3));
  const TaskEstimate prediction = learnt.Predict(3, work);
  EXPECT_NEAR(prediction.seconds, truth, 0.1 * truth);
  EXPECT_GT(prediction.deviation, 0);
  EXPECT_LT(std::abs(prediction.seconds - truth), 2 * prediction.deviation);
}

TEST(LearntCosts, UnusedCostKeepsItsPriorAndIsUndetermined) {
  const LearntCosts learnt = Learn(Tasks(10));
  EXPECT_FALSE(learnt.IsDetermined(Cost::kUncompress));
  EXPECT_DOUBLE_EQ(learnt.Of(0)[Cost::kUncompress], UsualCosts()[Cost::kUncompress]);
  EXPECT_TRUE(learnt.IsDetermined(Cost::kNetwork));
}

TEST(LearntCosts, UnusedCostWidensAnEstimateThatNeedsIt) {
  const LearntCosts learnt = Learn(Tasks(10));
  Work known;
  known[Cost::kCompute] = 1e6;
  Work unknown = known;
  unknown[Cost::kUncompress] = 1e9;  // The prior gives one second.
  EXPECT_GT(learnt.Predict(0, unknown).deviation, learnt.Predict(0, known).deviation + 1);
}

// Sorting and combining are proportional. Their sum is determined, but their individual costs are
// not.
TEST(LearntCosts, ProportionalCostsAreUndeterminedButTheirSumIsNot) {
  std::vector<MeasuredTask> tasks;
  std::mt19937 random(2);
  for (std::size_t stage = 0; stage < 10; ++stage) {
    for (int i = 0; i < 20; ++i) {
      Work work = SomeWork(random);
      work[Cost::kSort] = 3e8 * static_cast<double>(i + 1) / 10;
      work[Cost::kCombine] = work[Cost::kSort] / 4;
      tasks.push_back(Measured(stage, work));
    }
  }
  const LearntCosts learnt = Learn(tasks);
  EXPECT_FALSE(learnt.IsDetermined(Cost::kSort) && learnt.IsDetermined(Cost::kCombine));
  Work both;
  both[Cost::kSort] = 4e8;
  both[Cost::kCombine] = 1e8;
  Work one;
  one[Cost::kSort] = 4e8;
  const TaskEstimate sum = learnt.Predict(0, both);
  const double truth = Seconds(both, Truth());
  EXPECT_NEAR(sum.seconds, truth, 0.05 * truth);
  // The relative deviation of the sum is smaller than that of one of its parts.
  EXPECT_GT(learnt.Predict(0, one).deviation / learnt.Predict(0, one).seconds,
            1.5 * sum.deviation / sum.seconds);
}

TEST(LearntCosts, CostsAreNeverNegative) {
  std::vector<MeasuredTask> tasks = Tasks(3);
  for (MeasuredTask& task : tasks)
    task.running = 1 / (1 + *task.running);  // With this change, less work takes longer.
  const LearntCosts learnt = Learn(tasks);
  for (std::size_t stage = 0; stage < 3; ++stage) {
    for (const double cost : learnt.Of(stage).seconds) EXPECT_GE(cost, 0);
  }
}

TEST(LearntCosts, StragglerHardlyChangesTheCosts) {
  std::vector<MeasuredTask> tasks = Tasks(10);
  tasks[7].seconds *= 50;
  *tasks[7].running *= 50;
  const LearntCosts learnt = Learn(tasks);
  EXPECT_NEAR(learnt.Of(0)[Cost::kNetwork], Truth()[Cost::kNetwork], 0.1 * Truth()[Cost::kNetwork]);
}

TEST(LearntCosts, UnknownStageHasTheMedianCostAndAWideDeviation) {
  const LearntCosts learnt = Learn(Tasks(9));
  Work work;
  work[Cost::kCompute] = 1e6;
  EXPECT_NEAR(learnt.Predict(77, work).seconds, 5, 0.5);
  EXPECT_GT(learnt.Predict(77, work).deviation, 2 * learnt.Predict(4, work).deviation);
}

// A process outside the executor does the work, so the task's processor time is not evidence.
TEST(LearntCosts, ProcessorTimeOfTasksThatWaitForAnotherProcessIsIgnored) {
  std::vector<MeasuredTask> tasks = Tasks(10);
  for (MeasuredTask& task : tasks) *task.processor *= 0.05;
  EXPECT_NEAR(Learn(tasks).Of(9)[Cost::kCompute], TruthOf(9)[Cost::kCompute], 1e-6);
}

TEST(LearntCosts, CostsAreLearntFromWholeTimesOnlyIfNeeded) {
  std::vector<MeasuredTask> tasks = Tasks(10);
  for (MeasuredTask& task : tasks) {
    task.running = task.processor = task.fetch_wait = task.shuffle_write = task.deserialize = {};
  }
  const LearntCosts learnt = Learn(tasks);
  const TaskEstimate prediction = learnt.Predict(5, tasks[100].work);
  EXPECT_NEAR(prediction.seconds, tasks[100].seconds, 0.1 * tasks[100].seconds);
}

TEST(LearntCosts, EqualTasksGiveEqualResults) {
  const LearntCosts once = Learn(Tasks(5, 0.2));
  const LearntCosts again = Learn(Tasks(5, 0.2));
  EXPECT_EQ(once.Of(2), again.Of(2));
  EXPECT_EQ(once.model_deviation(), again.model_deviation());
}

TEST(LearntCosts, MissingOrInvalidTasksAreAnError) {
  EXPECT_FALSE(LearntCosts::Learn({}, UsualCosts()).ok());
  std::vector<MeasuredTask> tasks = Tasks(1);
  EXPECT_FALSE(LearntCosts::Learn(tasks, CostStatistics{}).ok());
  tasks[3].work[Cost::kSort] = -1;
  EXPECT_FALSE(LearntCosts::Learn(tasks, UsualCosts()).ok());
  tasks[3].work[Cost::kSort] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(LearntCosts::Learn(tasks, UsualCosts()).ok());
}

TEST(LearntCosts, ImpossibleTimesAreIgnored) {
  std::vector<MeasuredTask> tasks = Tasks(10);
  tasks[0].seconds = -1;
  tasks[1].running = std::numeric_limits<double>::quiet_NaN();
  tasks[2].fetch_wait = std::numeric_limits<double>::infinity();
  tasks[3].processor = -5;
  const LearntCosts learnt = Learn(tasks);
  EXPECT_NEAR(learnt.Of(0)[Cost::kNetwork], Truth()[Cost::kNetwork], 0.1 * Truth()[Cost::kNetwork]);
}

// The result is mostly the prior, with a wide interval.
TEST(LearntCosts, OneTaskGivesAWideInterval) {
  std::vector<MeasuredTask> tasks = Tasks(1);
  tasks.resize(1);
  const LearntCosts few = Learn(tasks);
  const LearntCosts many = Learn(Tasks(10));
  Work work;
  work[Cost::kSerialize] = 1e9;
  EXPECT_GT(few.Predict(0, work).deviation, 2 * many.Predict(0, work).deviation);
}

}  // namespace
}  // namespace tidemark::phases::learn_costs_test
