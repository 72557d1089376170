#include "master/facts/phases.h"

#include "master/forecast/durations/early_forecast.h"
#include "tests/facts/events.h"
#include "tests/monitor/estimates.h"
#include "tests/test.h"

namespace tidemark::facts::phases_test {
namespace {

using test::Failed;
using test::Queued;
using test::Read;

Job OpenJob(std::uint32_t maps, std::uint32_t reduces, test::TimedEvents events = {}) {
  Job job;
  job.Add(0, Opened(maps, reduces)).Fold(std::move(events));
  return job;
}

TEST(CountTasks, KeepsCountsOnlyUntilTheStageChanges) {
  Job job = OpenJob(2, 1, {{1, Started(M(0))}, {2, Failed(M(0))}, {3, Started(M(1))}});
  CountTasks(job.state);
  const Stage& maps = *job.state.map_stage();
  EXPECT_EQ(TallyOf(maps).failed_attempts, 1u);
  EXPECT_EQ(TallyOf(maps).running_attempts, 1u);
  job.Fold({{4, Finished(M(1))}});
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(TallyOf(maps).running_attempts, 0u);
    EXPECT_EQ(MapProgress(job.state).finished_tasks, 1u);
    CountTasks(job.state);
  }
}

// --- map

TEST(MapPhase, IsPendingBeforeATaskStarts) {
  Job job = OpenJob(2, 1, {{1, Queued(M(0))}});
  const StageProgress map = MapProgress(job.state);
  EXPECT_EQ(Words(map), "pending 0/2, 0 %");
  EXPECT_FALSE(map.started_at.has_value());
}

TEST(MapPhase, CountsItsTasks) {
  Job job = OpenJob(3, 1, {{2, Started(M(0))}, {1, Started(M(1))}, {5, Finished(M(1))}});
  const StageProgress map = MapProgress(job.state);
  EXPECT_EQ(Words(map), "running 1/3, 1 running, 33 %");
  EXPECT_EQ(map.started_at, At(1));
  EXPECT_FALSE(map.ended_at.has_value());
}

TEST(MapPhase, IsDoneWhenTheLastTaskHasFinished) {
  Job job = OpenJob(2, 1);
  for (const std::uint32_t i : {0u, 1u}) job.Fold({{1, Started(M(i))}, {7 - i, Finished(M(i))}});
  const StageProgress map = MapProgress(job.state);
  EXPECT_EQ(Words(map), "done 2/2, 100 %");
  EXPECT_EQ(map.ended_at, At(7));
  EXPECT_EQ(durations::MapPhaseEnd(job.state, At(100)), At(7));
}

AttemptChanged LastFailure(const AttemptId& id) {
  AttemptChanged failed = Failed(id);
  failed.task_failed = true;
  return failed;
}

TEST(MapPhase, EndsDespiteATaskThatFailedForGood) {
  Job job = OpenJob(
      2, 1, {{1, Started(M(0))}, {1, Started(M(1))}, {5, Failed(M(1))}, {6, Finished(M(0))}});
  EXPECT_EQ(MapProgress(job.state).state, StageState::kRunning);
  job.Add(7, LastFailure(M(1)));
  const StageProgress map = MapProgress(job.state);
  EXPECT_EQ(Words(map), "done 1/2, 100 %");
  EXPECT_EQ(map.ended_at, At(6));
  EXPECT_EQ(durations::MapPhaseEnd(job.state, At(100)), At(6));
  EXPECT_EQ(job.state.anomalies, 0u);
}

TEST(MapPhase, ATaskThatFailedForGoodHasNoRemainingTime) {
  Job job = OpenJob(3, 1);
  for (const std::uint32_t i : {0u, 1u}) EXPECT_TRUE(job.Say(0, Started(M(i), 100)).ok());
  AttemptChanged waits = Queued(M(2));
  waits.input_bytes = 100;
  job.Fold({{0, waits}, {10, Read(M(0), 50)}, {10, LastFailure(M(1))}, {10, LastFailure(M(2))}});
  EXPECT_EQ(durations::MapPhaseEnd(job.state, At(10)), At(20));
}

TEST(MapPhase, CountsATaskThatRunsAgainAfterItFailedForGood) {
  Job job = OpenJob(1, 1, {{1, Started(M(0))}, {5, LastFailure(M(0))}});
  EXPECT_EQ(MapProgress(job.state).state, StageState::kDone);
  job.Add(6, Started(M(0, 1)));
  EXPECT_EQ(Words(MapProgress(job.state)), "running 0/1, 1 running, 0 %");
}

TEST(MapPhase, ProgressIsByBytesIfEverySizeIsKnown) {
  const auto progress = [](std::uint32_t maps, test::TimedEvents events) {
    return MapProgress(OpenJob(maps, 1, std::move(events)).state).fraction_done;
  };
  EXPECT_DOUBLE_EQ(progress(2, {{0, Started(M(0), 300)},
                                {0, Started(M(1), 100)},
                                {5, Read(M(0), 150)},
                                {5, Finished(M(1))}}),
                   250.0 / 400);
  EXPECT_DOUBLE_EQ(progress(2, {{0, Started(M(0), 300)}, {5, Read(M(0), 150)}}), 0.25)
      << "by tasks if a size is unknown";
  EXPECT_EQ(progress(1, {{0, Started(M(0), 100)}, {5, Read(M(0), 250)}}), 1) << "at most done";
  EXPECT_EQ(progress(1, {{0, Started(M(0), 100)}, {5, Read(M(0), 80)}, {6, Failed(M(0))}}), 0)
      << "the progress of a failed attempt is lost";
}

TEST(MapPhase, HasNoEndBeforeTheFirstByte) {
  Job job = OpenJob(2, 1, {{0, Started(M(0), 100)}});
  EXPECT_FALSE(durations::MapPhaseEnd(job.state, At(5)).has_value());
}

// The task has read 100 bytes in 10 s, and 300 bytes remain.
TEST(MapPhase, ARunningTaskKeepsItsPace) {
  Job job = OpenJob(1, 1, {{0, Started(M(0), 400)}, {10, Read(M(0), 100)}});
  EXPECT_EQ(durations::MapPhaseEnd(job.state, At(10)), At(40));
}

// Tasks of 100 bytes take 10 s. At 15 s, one task has finished, and one is half done. Three tasks
// wait for the two slots. They run from 15 to 25, from 20 to 30 and from 25 to 35.
TEST(MapPhase, WaitingTasksRunInWaves) {
  Job job = OpenJob(5, 1);
  for (std::uint32_t i = 0; i < 5; ++i) {
    AttemptChanged queued = Queued(M(i));
    queued.input_bytes = 100;
    job.Add(0, queued);
  }
  job.Add(0, Started(M(0))).Add(10, Started(M(1)), Finished(M(0))).Add(15, Read(M(1), 50));
  job.Add(15, test::SlotsOf(kMapStage, 2));
  EXPECT_EQ(durations::MapPhaseEnd(job.state, At(15)), At(35));
}

TEST(MapPhase, AHugeNumberOfSlotsCostsNothing) {
  Job job = OpenJob(2, 1, {{0, Started(M(0))}, {10, Finished(M(0))}});
  job.Add(10, test::SlotsOf(kMapStage, std::numeric_limits<std::uint32_t>::max()));
  EXPECT_EQ(durations::MapPhaseEnd(job.state, At(10)), At(20));
}

// --- shuffle

// Returns a job with two reduce tasks of 1000 and 3000 bytes. The map phase ends at 10 s.
Job ShufflingJob(test::TimedEvents events = {}) {
  Job job = OpenJob(1, 2, {{0, Started(M(0))}});
  job.Add(10, Emitted(M(0), {Partition(0, 1000), Partition(1, 3000)}), Finished(M(0)));
  job.Fold(std::move(events));
  return job;
}

TEST(ShufflePhase, ProgressIsByFetchedBytes) {
  Job job = ShufflingJob(
      {{11, Started(R(0))}, {11, Started(R(1))}, {12, Read(R(1), 600)}, {13, Shuffled(R(0))}});
  const ShuffleProgress shuffle = FetchProgress(job.state);
  EXPECT_DOUBLE_EQ(shuffle.fraction_done, 1600.0 / 4000);
  EXPECT_EQ(shuffle.finished_tasks, 1u);
  EXPECT_EQ(shuffle.running_tasks, 1u);
}

TEST(ShufflePhase, IsDoneWhenEveryTaskHasBegunToReduce) {
  Job job = ShufflingJob();
  for (const std::uint32_t i : {0u, 1u}) job.Fold({{11, Started(R(i))}, {13 + i, Shuffled(R(i))}});
  const ShuffleProgress shuffle = FetchProgress(job.state);
  EXPECT_EQ(shuffle.finished_tasks, 2u);
  EXPECT_EQ(shuffle.fraction_done, 1);
}

TEST(ShufflePhase, ATaskWithTwoAttemptsIsOneTask) {
  Job job = ShufflingJob({{11, Started(R(0, 0))}, {12, Started(R(0, 1))}});
  EXPECT_EQ(FetchProgress(job.state).running_tasks, 1u);
}

TEST(ShufflePhase, ATaskThatReducesDoesNotShuffle) {
  Job job = ShufflingJob({{11, Started(R(0))}, {14, Reduced(R(0), At(13), {Point(10, 1)})}});
  const ShuffleProgress shuffle = FetchProgress(job.state);
  EXPECT_EQ(shuffle.finished_tasks, 1u);
  EXPECT_EQ(shuffle.running_tasks, 0u);
}

TEST(ShufflePhase, ItsSpeedIsThatOfShuffledTasks) {
  Job job = ShufflingJob();
  EXPECT_FALSE(ShuffleSecondsPerByte(job.state).has_value());
  job.Fold({{11, Started(R(0))}, {13, Shuffled(R(0))}});
  EXPECT_DOUBLE_EQ(ShuffleSecondsPerByte(job.state).value(), 0.002);
}

TEST(ShufflePhase, WaitingForMapTasksIsNotShuffling) {
  Job job = OpenJob(1, 2, {{0, Started(M(0))}});
  EXPECT_TRUE(job.Say(2, Started(R(0))).ok());  // slow start, during the map phase
  job.Fold({{10, Emitted(M(0), {Partition(0, 1000)})}, {10, Finished(M(0))}, {13, Shuffled(R(0))}});
  EXPECT_DOUBLE_EQ(ShuffleSecondsPerByte(job.state).value(), 0.003);
}

TEST(ShufflePhase, TakesNoTimeIfItWasNotReported) {
  Job job = ShufflingJob({{14, Reduced(R(0), At(13), {Point(10, 1)})}});
  EXPECT_EQ(ShuffleSecondsPerByte(job.state), 0);
}

// --- reduce

TEST(ReducePhase, StartsWithTheFirstReduceFunction) {
  Job job = ShufflingJob({{11, Started(R(0))}, {11, Started(R(1))}});
  EXPECT_EQ(ReduceProgress(job.state).state, StageState::kPending);
  EXPECT_FALSE(ReducePhaseStart(job.state).has_value());
  job.Fold({{15, Shuffled(R(1))}, {14, Shuffled(R(0))}});
  EXPECT_EQ(ReducePhaseStart(job.state), At(14));
  EXPECT_EQ(ReduceProgress(job.state).state, StageState::kRunning);
  EXPECT_EQ(ReduceProgress(job.state).started_at, At(14));
}

TEST(ReducePhase, EndsWithTheLastReduceTask) {
  Job job = ShufflingJob({{20, Finished(R(0))}});
  EXPECT_FALSE(ReducePhaseEnd(job.state).has_value());
  job.Add(23, Finished(R(1)));
  EXPECT_EQ(ReducePhaseEnd(job.state), At(23));
  EXPECT_EQ(ReduceProgress(job.state).state, StageState::kDone);
  EXPECT_EQ(ReduceProgress(job.state).fraction_done, 1);
}

TEST(ReducePhase, ItsSizesAreKnownFromAMapProfileOrAReduceTask) {
  Job by_profile = OpenJob(1, 1);
  EXPECT_FALSE(ReduceSizesKnown(by_profile.state));
  by_profile.Fold({{1, Finished(M(0))}, {1, Emitted(M(0), {Partition(0, 5)})}});
  EXPECT_TRUE(ReduceSizesKnown(by_profile.state));

  EXPECT_TRUE(ReduceSizesKnown(OpenJob(1, 1, {{1, Started(R(0), 5)}}).state));
}

}  // namespace
}  // namespace tidemark::facts::phases_test
