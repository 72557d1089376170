// Tests the equations of [BOE] for tasks, states and skew, with numbers computed by hand. The tests
// are:
//
//   eq. 1, 2      sharing of a node's resources: tests/dag/task_model_test.cc
//   eq. 3, 4, 5   map tasks, shuffle, sort and reduce: here
//   eq. 6         degrees of parallelism under DRF: tests/placement/allocation_test.cc
//   eq. 7, 8      stages and states: here; whole DAGs: state_estimate_test.cc
//   eq. 9 to 14   skew: here; whole stages: skew_test.cc
//   eq. 15, 16    here, as a part of eq. 14: in closed form, as the paper leaves constants unknown
//   theorem 1     here

#include "bench/workflow/skew.h"
#include "bench/workflow/state_estimate.h"
#include "master/forecast/dag/task_model.h"
#include "tests/test.h"

namespace tidemark::papers::boe_equations_test {
namespace {

using dag::EstimateTask;
using dag::MapReduceProfile;
using dag::MapTask;
using dag::ReduceTask;
using dag::Resource;
using dag::TaskModel;
using dag::TaskTime;
using placement::Resourcing;
using placement::StageWork;

constexpr double kMb = 1e6;

// Returns a profile with 1 s of load, splits of 128 MB, map tasks that process 16 MB/s on a core,
// and half as much output as input.
MapReduceProfile Job() {
  return {.load = absl::Seconds(1),
          .map_throughput = 16 * kMb,
          .reduce_throughput = 32 * kMb,
          .sort_throughput = 64 * kMb,
          .map_selectivity = 0.5,
          .reduce_selectivity = 0.25,
          .second_sort_fraction = 0.5,
          .split_bytes = 128 * kMb,
          .map_tasks = 100,
          .reduce_tasks = 20};
}

ResourceProfile Node() {
  return {.disk_write = 128 * kMb,
          .dfs_read = 64 * kMb,
          .dfs_write = 80 * kMb,
          .network = 64 * kMb,
          .cores = 6};
}

TaskTime Time(const TaskModel& task, double tasks_per_node) {
  const absl::StatusOr<TaskTime> time = EstimateTask(task, Node(), tasks_per_node);
  EXPECT_TRUE(time.ok()) << time.status();
  return time.value_or(TaskTime{});
}

double Seconds(absl::Duration duration) { return absl::ToDoubleSeconds(duration); }

// Equation 3 with two tasks: Reading takes 128 x 2 / 64 = 4 s and computing 128 / 16 = 8 s, so the
// processor is the bottleneck. Writing 64 MB takes 64 x 2 / 128 = 1 s. With the load, the task
// takes 10 s.
TEST(BoePaper, Equation3GivesAProcessorBoundMapTask) {
  const TaskTime time = Time(MapTask(Job()), 2);
  EXPECT_DOUBLE_EQ(Seconds(time.total), 10);
  EXPECT_EQ(time.bottleneck, Resource::kCpu);
}

// Equation 3 with eight tasks: Reading takes 16 s and computing 8 x 8/6 = 10.67 s, so the file
// system is the bottleneck. Writing takes 4 s.
TEST(BoePaper, Equation3TurnsToTheDiskAsTheDegreeOfParallelismGrows) {
  const TaskTime time = Time(MapTask(Job()), 8);
  EXPECT_DOUBLE_EQ(Seconds(time.total), 1 + 16 + 4);
  EXPECT_EQ(time.bottleneck, Resource::kDfsRead);
  EXPECT_NEAR(time.sub_stages[0].use[static_cast<std::size_t>(Resource::kCpu)], 2.0 / 3, 1e-12);
}

// According to section 3.1, if there are more tasks than cores, the time of a processor-bound task
// is proportional to the number of tasks.
TEST(BoePaper, ProcessorIsSharedOnlyBeyondItsCores) {
  const TaskModel computes = {.sub_stages = {{"map", {{Resource::kCpu, 16 * kMb, 16 * kMb}}}}};
  EXPECT_DOUBLE_EQ(Seconds(Time(computes, 6).total), 1);
  EXPECT_DOUBLE_EQ(Seconds(Time(computes, 9).total), 1.5);
}

// Equation 4: A reduce task copies 0.5 x 128 x 100 / 20 = 320 MB. With four tasks on a node, the
// disk takes 320 x 4 / 128 = 10 s and the network 320 x 4 / 64 = 20 s.
TEST(BoePaper, Equation4GivesANetworkBoundShuffle) {
  const TaskTime time = Time(ReduceTask(Job()), 4);
  EXPECT_DOUBLE_EQ(Seconds(time.sub_stages[0].time), 20);
  EXPECT_EQ(time.sub_stages[0].bottleneck, Resource::kNetwork);
}

// Equation 5: The sort reads 160 MB. The disk takes 160 x 4 / 128 = 5 s and the processor 160 / 64
// = 2.5 s. The reduce function writes 0.25 x 640 = 160 MB. The disk takes 160 x 4 / 80 = 8 s and
// the processor 320 / 32 = 10 s. Together they take 5 + 10 s.
TEST(BoePaper, Equation5GivesSortAndReduce) {
  const TaskTime time = Time(ReduceTask(Job()), 4);
  EXPECT_DOUBLE_EQ(Seconds(time.sub_stages[1].time), 5);
  EXPECT_DOUBLE_EQ(Seconds(time.sub_stages[2].time), 10);
  EXPECT_EQ(time.sub_stages[1].bottleneck, Resource::kDiskWrite);
  EXPECT_EQ(time.sub_stages[2].bottleneck, Resource::kCpu);
  EXPECT_DOUBLE_EQ(Seconds(time.total), 1 + 20 + 5 + 10);
  EXPECT_EQ(time.bottleneck, Resource::kNetwork);
}

// This case is not in the paper. One of 5 executors itself has a fifth of the data, so fetching
// takes 20 x 4/5 = 16 s.
TEST(BoePaper, Equation4ExcludesTheLocalPart) {
  EXPECT_DOUBLE_EQ(Seconds(Time(ReduceTask(Job(), 5), 4).sub_stages[0].time), 16);
}

// Equation 7: Tasks take 10 s, the slowest track is at 0.4, and 7 tasks are pending on 3 slots,
// which takes 10 (1 - 0.4 + 3) = 36 s.
TEST(BoePaper, Equation7GivesARunningStage) {
  const std::vector<StageWork> stage = {{.pending = 7, .running = {4, 8, 9}}};
  const Resourcing on = {.cluster = {.capacity = {.cores = 3}}};
  const auto estimate =
      EstimateByStates(stage, std::vector<double>{10}, on, StageTimeForm::kPrinted);
  ASSERT_TRUE(estimate.ok());
  EXPECT_DOUBLE_EQ(estimate->seconds, 36);
}

// Equation 8: Two jobs on 4 slots have 2 tasks of 6 s and 8 tasks of 3 s. After the 6 s of the
// first job, the second has 8 - 2 x 6/3 = 4 pending tasks and 4 slots, so it takes 3 s more.
TEST(BoePaper, Equation8CarriesPendingTasksToTheNextState) {
  const std::vector<StageWork> jobs = {{.owner = 0, .pending = 2}, {.owner = 1, .pending = 8}};
  const Resourcing on = {.cluster = {.capacity = {.cores = 4}, .policy = placement::Policy::kDrf}};
  const auto estimate =
      EstimateByStates(jobs, std::vector<double>{6, 3}, on, StageTimeForm::kPrinted);
  ASSERT_TRUE(estimate.ok());
  ASSERT_EQ(estimate->states.size(), 2u);
  EXPECT_DOUBLE_EQ(estimate->states[0].seconds, 6);
  EXPECT_DOUBLE_EQ(estimate->states[1].seconds, 3);
  EXPECT_EQ(estimate->states[1].degrees, std::vector<std::uint64_t>{4});
}

// Equations 9 to 13: The time is 2 + 3 x selectivity. The selectivity has mean 0.5 and variance
// 0.04, so the time has mean 3.5 and variance 0.36.
TEST(BoePaper, Equations9To13AreLinearInTheSelectivity) {
  const Moments time = LinearInSelectivity(2, 3, {0.5, 0.04});
  EXPECT_DOUBLE_EQ(time.mean, 3.5);
  EXPECT_DOUBLE_EQ(time.variance, 0.36);
}

// The larger of two standard normal variables has mean 1 / sqrt(pi) and variance 1 - 1 / pi.
TEST(BoePaper, MatchesClarkForTheLargerOfTwoNormals) {
  const Moments larger = MaxOfNormals({0, 1}, {0, 1});
  EXPECT_NEAR(larger.mean, 0.5641896, 1e-7);
  EXPECT_NEAR(larger.variance, 1 - 0.3183099, 1e-7);
  EXPECT_DOUBLE_EQ(MaxOfNormals({3, 0}, {2, 0}).mean, 3);
}

// Equation 14 is checked by sampling, including the unknown constants of equations 15 and 16.
TEST(BoePaper, Equation14MatchesSampling) {
  std::mt19937_64 random(14);
  std::normal_distribution<double> map(0.6, 0.1);
  std::normal_distribution<double> reduce(0.5, 0.2);
  double sum = 0;
  double squares = 0;
  constexpr int kSamples = 400'000;
  for (int i = 0; i < kSamples; ++i) {
    const double m = map(random);
    const double t = 2 * m + std::max(3 * m, 4 * reduce(random));
    sum += t;
    squares += t * t;
  }
  const double mean = sum / kSamples;
  const Moments exact = ReduceTaskMoments(2, 3, 4, {0.6, 0.01}, {0.5, 0.04});
  EXPECT_NEAR(exact.mean, mean, 0.01);
  EXPECT_NEAR(exact.variance, squares / kSamples - mean * mean, 0.01);
}

// Theorem 1: 8 tasks on 2 tracks have a deviation of 3 s. The bounds are sqrt(4) x 3 x sqrt(log 2)
// = 4.9953 s, times 0.23 and times sqrt(2).
TEST(BoePaper, Theorem1BoundsTheGain) {
  using dag::SkewGainBounds;
  const dag::GainBounds bounds = SkewGainBounds(8, 2, 3);
  EXPECT_NEAR(bounds.lower_seconds, 0.23 * 4.99534, 1e-4);
  EXPECT_NEAR(bounds.upper_seconds, 1.4142136 * 4.99534, 1e-4);
  EXPECT_EQ(SkewGainBounds(8, 1, 3).upper_seconds, 0);
  EXPECT_EQ(SkewGainBounds(8, 2, -3).upper_seconds, 0);
}

}  // namespace
}  // namespace tidemark::papers::boe_equations_test
