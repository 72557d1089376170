// Tests the equations of [NF], first for one key group or one task and then for the whole phase,
// with numbers computed by hand. Each test contains the number of its equation or section.

#include "master/facts/accuracy.h"
#include "master/facts/key_distribution.h"
#include "master/forecast/papers/linear_indicators.h"
#include "master/forecast/papers/nearest_fit.h"
#include "master/forecast/papers/reduce_schedule.h"
#include "regression/delta_neighbourhood.h"
#include "regression/power_law_fit.h"
#include "tests/facts/events.h"
#include "tests/test.h"

namespace tidemark::papers::nearest_fit_equations_test {
namespace {

using facts::EndPrediction;
using facts::KeyDistribution;
using facts::ProgressError;
using test::Ended;
using test::ReducedNamed;

// Equation 6 in section 3.5: Sizes 95, 100 and 104 lie within 5 of 100. Their times of 2, 4 and 6 s
// have a mean of 4 s.
TEST(NearestFitPaper, Equation6AveragesTheDeltaNeighbourhood) {
  const std::vector<GroupPoint> points = {{94, 1, absl::Seconds(50)},
                                          {95, 1, absl::Seconds(2)},
                                          {100, 1, absl::Seconds(4)},
                                          {104, 1, absl::Seconds(6)},
                                          {106, 1, absl::Seconds(50)}};
  EXPECT_DOUBLE_EQ(regression::DeltaNeighbourhood(points, 5).Find(100)->seconds, 4);
}

// Equation 8 in section 3.5: At x = 1, 2, 3, 4 and 5, 3 + 2 x^2 is 5, 11, 21, 35 and 53. At x = 10,
// it is 203.
TEST(NearestFitPaper, Equation8IsAPlusBTimesXToTheC) {
  std::vector<GroupPoint> points;
  for (const auto& [x, t] :
       std::vector<std::pair<std::uint64_t, int>>{{1, 5}, {2, 11}, {3, 21}, {4, 35}, {5, 53}}) {
    points.push_back({x, 1, absl::Seconds(t)});
  }
  const regression::PowerLawFit fit = regression::FitPowerLaw(points);
  EXPECT_NEAR(fit.a_seconds, 3, 1e-3);
  EXPECT_NEAR(fit.b, 2, 1e-3);
  EXPECT_NEAR(fit.c, 2, 1e-3);
  EXPECT_NEAR(fit.Predict(10), 203, 0.1);
}

// Section 7.1: Tasks have read 50 %, 100 % and 0 % of their data, which is 50 % on average.
TEST(NearestFitPaper, HadoopIsTheMeanOfTheReadParts) {
  EXPECT_DOUBLE_EQ(HadoopProgress(std::vector<TaskWork>{{200, 100, 9}, {50, 50, 1}, {900, 0, 0}}),
                   0.5);
}

// Equation 13 in section 7.1: (6 s + 2 s) / (30 B + 10 B) = 0.2 s per byte.
TEST(NearestFitPaper, Equation13IsTimeOverSizeOfTheWholeJob) {
  EXPECT_DOUBLE_EQ(*JobSecondsPerByte(std::vector<TaskWork>{{100, 30, 6}, {100, 10, 2}}), 0.2);
}

// Equation 14 in section 7.1: 0.2 s per byte x 70 B = 14 s.
TEST(NearestFitPaper, Equation14MultipliesByTheRemainingBytes) {
  EXPECT_DOUBLE_EQ(RatioRemainingSeconds({100, 30, 6}, 0.2), 14);
}

// Equations 15 and 16 in section 7.1: This task takes 6 s / 30 B = 0.2 s per byte, regardless of
// the rate of the job, so 14 s remain.
TEST(NearestFitPaper, Equations15And16DoTheSameForOneTask) {
  const TaskWork task{100, 30, 6};
  const double rate = TaskSecondsPerByte(task, 77);
  EXPECT_DOUBLE_EQ(rate, 0.2);
  EXPECT_DOUBLE_EQ(RatioRemainingSeconds(task, rate), 14);
}

// Returns a job with two reduce tasks in a single wave. t_start is 100 s. Task 0 has two key groups
// of 1000 bytes, and task 1 has three. Each finished group took 10 s, so p_0 = 110 after one group
// and p_1 = 120 after two.
Job SingleWave() {
  Job job;
  job.Add(0, Opened(1, 2));
  EXPECT_TRUE(
      job.Say(90, Emitted(M(0), {Partition(0, 2000, {Key(1, 1000), Key(2, 1000)}),
                                 Partition(1, 3000, {Key(3, 1000), Key(4, 1000), Key(5, 1000)})}))
          .ok());
  job.Add(90, Finished(M(0)));
  for (const std::uint32_t i : {0u, 1u}) job.Add(90, Started(R(i))).Add(100, Shuffled(R(i)));
  job.Add(120, ReducedNamed(R(0), At(110), {Key(1, 1000)}, 10));
  job.Add(120, ReducedNamed(R(1), At(120), {Key(3, 1000), Key(4, 1000)}, 10));
  return job;
}

// Section 3.2: progress(t) = (t - t_start) / (e~(t) - t_start) x 100.
TEST(NearestFitModel, Equation1ProgressIsElapsedOverPredictedTime) {
  EXPECT_DOUBLE_EQ(100 * facts::Progress(At(100), At(120), At(140)), 50);
}

// Section 3.2: e~(t) = max of e~_i(t), which is 110 + 10 for task 0 and 120 + 10 for task 1.
TEST(NearestFitModel, Equation2TheTaskThatEndsLastEndsThePhase) {
  const auto forecast = NearestFitIndicator().Estimate(SingleWave().state, At(120));
  ASSERT_EQ(forecast.tasks.size(), 2u);
  EXPECT_EQ(forecast.tasks[0].ends_at, At(120));
  EXPECT_EQ(forecast.tasks[1].ends_at, At(130));
  EXPECT_EQ(forecast.ends_at, At(130));
}

// Section 3.3: e~_i(t) = p_i(t) + r~_i(t), for any t.
TEST(NearestFitModel, Equation3ATaskEndsItsRemainingTimeAfterItsLastProfile) {
  const Job job = SingleWave();
  const std::vector<ReduceTimeLeft> left = {{absl::Seconds(7)}, {absl::Seconds(9)}};
  for (const double t : {120.0, 125.0, 190.0}) {
    const auto ends = ReduceTaskEnds(job.state, At(t), left);
    EXPECT_EQ(ends[0], At(117)) << t;
    EXPECT_EQ(ends[1], At(129)) << t;
  }
}

// Section 3.6: Before the first profile of a task, p_i(t) is the start of its reduce function.
TEST(NearestFitModel, Section36BeforeItsFirstProfileATaskCountsFromItsStart) {
  Job job;
  job.Add(0, Opened(1, 1)).Add(90, Finished(M(0)), Started(R(0))).Add(105, Shuffled(R(0)));
  EXPECT_EQ(ReduceTaskEnds(job.state, At(120), {{absl::Seconds(30)}})[0], At(135));
}

// Section 5.1: A map task reports the number and the total size of its implicit keys. Sizes add up
// over map tasks to s(t) at the start. Task 0 has 1000 + 500 bytes, of which 400 + 200 are
// explicit.
TEST(NearestFitModel, Equation10ImplicitSizesAddUpOverMapTasks) {
  KeyDistribution keys(10);
  MapProfile first = Emitted(M(0), {Partition(0, 1000, {Key(1, 400)})});
  first.partitions[0].implicit_key_count = 6;
  first.partitions[0].implicit_bytes = 600;
  MapProfile second = Emitted(M(1), {Partition(0, 500, {Key(2, 200)})});
  second.partitions[0].implicit_key_count = 3;
  second.partitions[0].implicit_bytes = 300;
  keys.Add(first);
  keys.Add(second);
  EXPECT_EQ(keys.partition(0).total_bytes - keys.partition(0).explicit_bytes, 900u);
}

// Section 5.1: |V~_k| is the sum over the map tasks for which k is explicit. The third task emits
// 50 bytes of the same key implicitly, so they are not in the sum.
TEST(NearestFitModel, Equation11AnExplicitKeyIsTheSumOverReportingMapTasks) {
  KeyDistribution keys(10);
  keys.Add(Emitted(M(0), {Partition(0, 400, {Key(1, 400)})}));
  keys.Add(Emitted(M(1), {Partition(0, 200, {Key(1, 150), Key(2, 50)})}));
  keys.Add(Emitted(M(2), {Partition(0, 50)}));
  const facts::PartitionKeys& partition = keys.partition(0);
  ASSERT_EQ(partition.explicit_keys.size(), 2u);
  EXPECT_EQ(partition.explicit_keys[0], Key(1, 550));
  EXPECT_EQ(partition.explicit_keys[1], Key(2, 50));
}

// Section 5.3: r~_i(t) is the sum of f~(|V~_k|) over the explicit keys in S_i(t). f~ is 10 s for
// every key.
TEST(NearestFitModel, Equation12RemainingTimeSumsTheUnfinishedExplicitKeys) {
  Job job = SingleWave();
  const auto before = NearestFitIndicator().Estimate(job.state, At(120));
  EXPECT_EQ(before.tasks[0].reduce_time_left, absl::Seconds(10));
  EXPECT_EQ(before.tasks[0].explicit_groups_left, 1u);
  ReduceProfile second = ReducedNamed(R(0), At(121), {Key(2, 1000)}, 10);
  // These are totals of the attempt, and the first profile reported one group.
  second.groups_done = 2;
  second.bytes_done = 2000;
  second.reduce_time = absl::Seconds(20);
  job.Add(121, second);
  const auto after = NearestFitIndicator().Estimate(job.state, At(121));
  EXPECT_EQ(after.tasks[0].reduce_time_left, absl::ZeroDuration());
  EXPECT_EQ(after.tasks[0].explicit_groups_left, 0u);
}

// Section 5.2: A finished key group is removed from S_i(t) if its size is close to an explicit
// size, and otherwise from s(t). The explicit groups had 1000 of 5000 bytes and were close to the
// first group.
TEST(NearestFitModel, Section52AFinishedGroupOfACloseSizeIsExplicit) {
  Job job;
  job.Add(0, Opened(1, 1)).Add(90, Emitted(M(0), {Partition(0, 5000, {Key(1, 1000)})}));
  job.Add(90, Finished(M(0))).Add(100, Started(R(0)));
  job.Add(120, Reduced(R(0), At(120), {Point(1010, 8), Point(200, 2)}));
  const facts::Task& task = job.state.reduce_tasks()[0];
  EXPECT_TRUE(task.attempts.at({0, 0}).reduce->finished_explicit.contains(KeyHash{1}));
  EXPECT_EQ(job.state.implicit_sizes.size_bytes(), 200u);
}

// Section 5.3: The remainder of s(t), 5000 - 1000 - 1000 = 3000 bytes, is split like the finished
// implicit key groups. These were 200 bytes with 2 s and 800 bytes with 5 s, so three more pairs
// remain.
TEST(NearestFitModel, Section53ImplicitBytesAreSplitLikeFinishedSizes) {
  Job job;
  job.Add(0, Opened(1, 1)).Add(90, Emitted(M(0), {Partition(0, 5000, {Key(1, 1000)})}));
  job.Add(90, Finished(M(0))).Add(100, Started(R(0)));
  ReduceProfile profile = Reduced(R(0), At(120), {Point(1000, 9), Point(200, 2), Point(800, 5)});
  profile.keys_named = true;
  profile.finished_keys = {Ended(Key(1, 1000))};
  job.Add(120, profile);
  const auto forecast = NearestFitIndicator().Estimate(job.state, At(120));
  EXPECT_EQ(forecast.tasks[0].reduce_time_left, absl::Seconds(3 * (2 + 5)));
}

// Section 7.4 with t_start = 100 and e = 200: At 120, the error is |20/50 - 20/100| = 20 points. At
// 150, it is |50/125 - 50/100| = 10 points. At 180, the predicted end is correct, so the error is
// 0.
TEST(NearestFitModel, Section74ErrorsAreMeanAndLargestDifferenceInPoints) {
  const std::vector<EndPrediction> updates = {
      {At(120), At(150)}, {At(150), At(225)}, {At(180), At(200)}};
  const ProgressError error = ErrorOf(updates, At(100), At(200));
  EXPECT_DOUBLE_EQ(error.average_points, 10);
  EXPECT_DOUBLE_EQ(error.largest_points, 20);
  EXPECT_EQ(error.updates, 3u);
}

}  // namespace
}  // namespace tidemark::papers::nearest_fit_equations_test
