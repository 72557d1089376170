#include "master/forecast/papers/reduce_schedule.h"

#include "tests/facts/events.h"
#include "tests/test.h"

namespace tidemark::papers::reduce_schedule_test {
namespace {

// Returns a job whose map phase ended at 10 s, with 1000 bytes for every reduce task.
Job JobAfterMap(std::uint32_t reduces) {
  Job job;
  job.Add(0, Opened(1, reduces));
  std::vector<PartitionProfile> partitions;
  for (std::uint32_t i = 0; i < reduces; ++i) partitions.push_back(Partition(i, 1000));
  job.Add(10, Emitted(M(0), partitions), Finished(M(0)));
  return job;
}

std::vector<ReduceTimeLeft> Left(const std::vector<double>& seconds) {
  std::vector<ReduceTimeLeft> left;
  for (const double each : seconds) left.push_back({absl::Seconds(each)});
  return left;
}

// Makes the task `index` shuffle from 10 s to 12 s.
void StartToReduce(Job& job, std::uint32_t index) {
  job.Add(10, Started(R(index))).Add(12, Shuffled(R(index)));
}

TEST(ReduceSchedule, ARunningTaskEndsItsRemainingTimeAfterItsLastGroup) {
  Job job = JobAfterMap(1);
  StartToReduce(job, 0);
  job.Add(17, Reduced(R(0), At(16), {Point(50, 1)}));
  EXPECT_THAT(ReduceTaskEnds(job.state, At(20), Left({30})), ElementsAre(Optional(At(46))));
}

TEST(ReduceSchedule, CountsFromTheStartOfReducingBeforeTheFirstGroup) {
  Job job = JobAfterMap(1);
  StartToReduce(job, 0);
  EXPECT_THAT(ReduceTaskEnds(job.state, At(20), Left({30})), ElementsAre(Optional(At(42))));
}

TEST(ReduceSchedule, AShufflingTaskReducesAfterwards) {
  Job job = JobAfterMap(2);
  StartToReduce(job, 0);  // 2 s for 1000 bytes
  job.Add(11, Started(R(1)));
  EXPECT_THAT(ReduceTaskEnds(job.state, At(12), Left({5, 30}))[1], Optional(At(43)));
}

TEST(ReduceSchedule, ALateShuffleMayEndNow) {
  Job job = JobAfterMap(2);
  StartToReduce(job, 0);
  job.Add(11, Started(R(1)));
  EXPECT_THAT(ReduceTaskEnds(job.state, At(100), Left({5, 30}))[1], Optional(At(130)));
}

TEST(ReduceSchedule, AShuffleDuringTheMapPhaseWaitsForIt) {
  Job job;
  job.Add(0, Opened(2, 2), Started(M(0)), Started(M(1))).Add(20, Finished(M(0)));
  job.Add(15, Started(R(0)));
  // The other map task has not read anything yet, so its full 20 s remain.
  EXPECT_THAT(ReduceTaskEnds(job.state, At(20), Left({30, 0}))[0], Optional(At(70)));
}

TEST(ReduceSchedule, AFinishedTaskHasNoEnd) {
  Job job = JobAfterMap(2);
  StartToReduce(job, 0);
  StartToReduce(job, 1);
  job.Add(15, Finished(R(0)));
  EXPECT_THAT(ReduceTaskEnds(job.state, At(20), Left({0, 30})),
              ElementsAre(std::nullopt, Optional(At(42))));
}

TEST(ReduceSchedule, NoTaskEndsEarlierThanItsBound) {
  Job job = JobAfterMap(1);
  StartToReduce(job, 0);
  EXPECT_THAT(ReduceTaskEnds(job.state, At(20), {{absl::Seconds(30), At(50)}}),
              ElementsAre(Optional(At(50))));
  EXPECT_THAT(ReduceTaskEnds(job.state, At(20), {{absl::Seconds(30), At(40)}}),
              ElementsAre(Optional(At(42))));
}

// There are two slots. Tasks 0 and 1 run from 12 s, and have 10 s and 20 s left, so they end at 22
// and 32. Tasks 2, 3 and 4 need 2 s to shuffle, and 8, 3 and 5 s to reduce. Task 2 runs from 22 to
// 32. Both slots are then free at 32, so task 3 runs from 32 to 37, and task 4 from 32 to 39.
TEST(ReduceSchedule, UnscheduledTasksShuffleAndReduceInWaves) {
  Job job = JobAfterMap(5);
  StartToReduce(job, 0);
  StartToReduce(job, 1);
  EXPECT_THAT(ReduceTaskEnds(job.state, At(13), Left({10, 20, 8, 3, 5})),
              ElementsAre(Optional(At(22)), Optional(At(32)), Optional(At(32)), Optional(At(37)),
                          Optional(At(39))));
}

TEST(ReduceSchedule, AnUnscheduledTaskStartsNowOnAFreeSlot) {
  Job job = JobAfterMap(2);
  job.Add(10, test::SlotsOf(kReduceStage, 2));
  StartToReduce(job, 0);
  EXPECT_THAT(ReduceTaskEnds(job.state, At(20), Left({5, 8})),
              ElementsAre(Optional(At(17)), Optional(At(30))));
}

TEST(ReduceSchedule, TheSlotOfALateTaskIsFreeNow) {
  Job job = JobAfterMap(2);
  StartToReduce(job, 0);
  EXPECT_THAT(ReduceTaskEnds(job.state, At(100), Left({5, 8})),
              ElementsAre(Optional(At(17)), Optional(At(110))));
}

TEST(ReduceSchedule, AnAbsurdNumberOfSlotsAllocatesNothing) {
  Job job = JobAfterMap(2);
  EXPECT_TRUE(
      job.Say(10, test::SlotsOf(kReduceStage, std::numeric_limits<std::uint32_t>::max())).ok());
  EXPECT_THAT(ReduceTaskEnds(job.state, At(20), Left({5, 8})),
              ElementsAre(Optional(At(25)), Optional(At(28))));
}

TEST(LatestEnd, IsTheLargestKnownEnd) {
  EXPECT_EQ(LatestEnd({At(3), std::nullopt, At(9), At(4)}), At(9));
  EXPECT_EQ(LatestEnd({std::nullopt}), std::nullopt);
  EXPECT_EQ(LatestEnd({}), std::nullopt);
}

}  // namespace
}  // namespace tidemark::papers::reduce_schedule_test
