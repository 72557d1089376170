// [NF]: from key groups to the progress of the reduce phase, worked by hand. One test for each
// equation, named by its number.
#include <gtest/gtest.h>

#include <vector>

#include "master/facts/accuracy.h"
#include "master/facts/key_distribution.h"
#include "master/forecast/papers/nearest_fit_indicator.h"
#include "master/forecast/papers/reduce_schedule.h"
#include "tests/master/events.h"

namespace tidemark::papers {
namespace {

using model::EndPrediction;
using model::KeyDistribution;
using model::ProgressError;
using model::ReducePhaseForecast;
using test::At;
using test::Emitted;
using test::Ended;
using test::Finished;
using test::Job;
using test::Key;
using test::M;
using test::Opened;
using test::Partition;
using test::Point;
using test::R;
using test::Reduced;
using test::ReducedNamed;
using test::Shuffled;
using test::Started;

// Two reduce tasks in a single wave; t_start is 100 s. Task 0 owns two key groups of 1000 bytes,
// task 1 three; each took 10 s so far: p_0 = 110, p_1 = 120 after one and two of them.
Job SingleWave() {
  Job job;
  EXPECT_TRUE(job.Say(0, Opened(1, 2)).ok());
  EXPECT_TRUE(
      job.Say(90, Emitted(M(0), {Partition(0, 2000, {Key(1, 1000), Key(2, 1000)}),
                                 Partition(1, 3000, {Key(3, 1000), Key(4, 1000), Key(5, 1000)})}))
          .ok());
  EXPECT_TRUE(job.Say(90, Finished(M(0))).ok());
  for (const std::uint32_t i : {0u, 1u}) {
    EXPECT_TRUE(job.Say(90, Started(R(i))).ok());
    EXPECT_TRUE(job.Say(100, Shuffled(R(i))).ok());
  }
  EXPECT_TRUE(job.Say(120, ReducedNamed(R(0), At(110), {Key(1, 1000)}, 10)).ok());
  EXPECT_TRUE(job.Say(120, ReducedNamed(R(1), At(120), {Key(3, 1000), Key(4, 1000)}, 10)).ok());
  return job;
}

// Section 3.2: progress(t) = (t - t_start) / (e~(t) - t_start) x 100.
TEST(NearestFitModel, Equation1ProgressIsElapsedOverPredictedTime) {
  EXPECT_DOUBLE_EQ(100 * model::Progress(At(100), At(120), At(140)), 50);
}

// Section 3.2: e~(t) = max of e~_i(t). Task 0: 110 + 10, task 1: 120 + 10.
TEST(NearestFitModel, Equation2TheTaskThatEndsLastEndsThePhase) {
  const auto forecast = NearestFitIndicator().Estimate(SingleWave().state, At(120));
  ASSERT_EQ(forecast.tasks.size(), 2u);
  EXPECT_EQ(forecast.tasks[0].ends_at, At(120));
  EXPECT_EQ(forecast.tasks[1].ends_at, At(130));
  EXPECT_EQ(forecast.ends_at, At(130));
}

// Section 3.3: e~_i(t) = p_i(t) + r~_i(t), whatever t is.
TEST(NearestFitModel, Equation3ATaskEndsAfterItsLastProfileAndWhatRemains) {
  const Job job = SingleWave();
  const std::vector<ReduceTimeLeft> left = {{absl::Seconds(7)}, {absl::Seconds(9)}};
  for (const double t : {120.0, 125.0, 190.0}) {
    const auto ends = ReduceTaskEnds(job.state, At(t), left);
    EXPECT_EQ(ends[0], At(117)) << t;
    EXPECT_EQ(ends[1], At(129)) << t;
  }
}

// Section 3.6: before the first profile of a task, p_i(t) is when it started to reduce.
TEST(NearestFitModel, Section36BeforeItsFirstProfileATaskCountsFromItsStart) {
  Job job;
  EXPECT_TRUE(job.Say(0, Opened(1, 1)).ok());
  EXPECT_TRUE(job.Say(90, Finished(M(0))).ok());
  EXPECT_TRUE(job.Say(90, Started(R(0))).ok());
  EXPECT_TRUE(job.Say(105, Shuffled(R(0))).ok());
  EXPECT_EQ(ReduceTaskEnds(job.state, At(120), {{absl::Seconds(30)}})[0], At(135));
}

// Section 5.1: of its implicit keys a map task tells their number and total size; sizes add up over
// map tasks to s(t) at the start. Task 0: 1000 + 500 bytes, 400 + 200 of them explicit.
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

// Section 5.1: |V~_k| = sum over the map tasks for which k is explicit; the third emits 50 bytes of
// the same key as implicit ones, which are not in the sum.
TEST(NearestFitModel, Equation11AnExplicitKeyIsTheSumOverMapTasksThatNameIt) {
  KeyDistribution keys(10);
  keys.Add(Emitted(M(0), {Partition(0, 400, {Key(1, 400)})}));
  keys.Add(Emitted(M(1), {Partition(0, 200, {Key(1, 150), Key(2, 50)})}));
  keys.Add(Emitted(M(2), {Partition(0, 50)}));
  const model::PartitionKeys& partition = keys.partition(0);
  ASSERT_EQ(partition.explicit_keys.size(), 2u);
  EXPECT_EQ(partition.explicit_keys[0], Key(1, 550));
  EXPECT_EQ(partition.explicit_keys[1], Key(2, 50));
}

// Section 5.3: r~_i(t) = sum of f~(|V~_k|) over the explicit keys in S_i(t). f~ is 10 s for all.
TEST(NearestFitModel, Equation12RemainingTimeIsThatOfTheUnfinishedExplicitKeys) {
  Job job = SingleWave();
  const auto before = NearestFitIndicator().Estimate(job.state, At(120));
  EXPECT_EQ(before.tasks[0].reduce_time_left, absl::Seconds(10));
  EXPECT_EQ(before.tasks[0].explicit_groups_left, 1u);
  ReduceProfile second = ReducedNamed(R(0), At(121), {Key(2, 1000)}, 10);
  second.groups_done = 2;  // totals of the attempt, of which the first profile told one
  second.bytes_done = 2000;
  second.reduce_time = absl::Seconds(20);
  EXPECT_TRUE(job.Say(121, second).ok());
  const auto after = NearestFitIndicator().Estimate(job.state, At(121));
  EXPECT_EQ(after.tasks[0].reduce_time_left, absl::ZeroDuration());
  EXPECT_EQ(after.tasks[0].explicit_groups_left, 0u);
}

// Section 5.2: a finished key group close to an explicit size is taken from S_i(t), any other from
// s(t). Of 5000 bytes, 1000 were explicit and close to the first group.
TEST(NearestFitModel, Section52AFinishedGroupIsExplicitIfItsSizeIsCloseElseImplicit) {
  Job job;
  EXPECT_TRUE(job.Say(0, Opened(1, 1)).ok());
  EXPECT_TRUE(job.Say(90, Emitted(M(0), {Partition(0, 5000, {Key(1, 1000)})})).ok());
  EXPECT_TRUE(job.Say(90, Finished(M(0))).ok());
  EXPECT_TRUE(job.Say(100, Started(R(0))).ok());
  EXPECT_TRUE(job.Say(120, Reduced(R(0), At(120), {Point(1010, 8), Point(200, 2)})).ok());
  const model::Task& task = job.state.reduce_tasks()[0];
  EXPECT_TRUE(task.attempts.at({0, 0}).reduce->finished_explicit.contains(KeyHash{1}));
  EXPECT_EQ(job.state.implicit_sizes.size_bytes(), 200u);
}

// Section 5.3: what is left of s(t), 5000 - 1000 - 1000 = 3000 bytes, is split like the implicit
// key groups seen: of 200 bytes with 2 s and 800 bytes with 5 s there are three pairs to come.
TEST(NearestFitModel, Section53ImplicitBytesAreSplitLikeTheSizesSeen) {
  Job job;
  EXPECT_TRUE(job.Say(0, Opened(1, 1)).ok());
  EXPECT_TRUE(job.Say(90, Emitted(M(0), {Partition(0, 5000, {Key(1, 1000)})})).ok());
  EXPECT_TRUE(job.Say(90, Finished(M(0))).ok());
  EXPECT_TRUE(job.Say(100, Started(R(0))).ok());
  ReduceProfile profile = Reduced(R(0), At(120), {Point(1000, 9), Point(200, 2), Point(800, 5)});
  profile.keys_named = true;
  profile.finished_keys = {Ended(Key(1, 1000))};
  EXPECT_TRUE(job.Say(120, profile).ok());
  const auto forecast = NearestFitIndicator().Estimate(job.state, At(120));
  EXPECT_EQ(forecast.tasks[0].reduce_time_left, absl::Seconds(3 * (2 + 5)));
}

// Section 7.4, t_start = 100, e = 200. At 120: |20/50 - 20/100| = 20 points; at 150:
// |50/125 - 50/100| = 10; at 180 the end is right: 0.
TEST(NearestFitModel, Section74ErrorsAreMeanAndLargestDifferenceInPoints) {
  const std::vector<EndPrediction> updates = {
      {At(120), At(150)}, {At(150), At(225)}, {At(180), At(200)}};
  const ProgressError error = ErrorOf(updates, At(100), At(200));
  EXPECT_DOUBLE_EQ(error.average_points, 10);
  EXPECT_DOUBLE_EQ(error.largest_points, 20);
  EXPECT_EQ(error.updates, 3u);
}

}  // namespace
}  // namespace tidemark::papers
