#include "whatif/mapreduce_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/hadoop_history/some_history.h"
#include "tests/scratch_directory.h"
#include "whatif/spark_run.h"
#include "whatif/what_if.h"

namespace tidemark::whatif::mapreduce_run_test {
namespace {

using test::SomeHistory;

TaskProgress Finished(std::uint32_t stage, std::uint32_t index, double from, double to) {
  return {.attempt = {.stage = stage, .index = index},
          .state = AttemptState::kFinished,
          .started_at = absl::UnixEpoch() + absl::Seconds(from),
          .ended_at = absl::UnixEpoch() + absl::Seconds(to)};
}

// Reduce task 0 starts 3 s before the last map task ends at 9 s, so its 6 s count as 3 s. Task 1
// starts with that end.
TEST(MapReduceRun, TimesOfReduceTasksCountFromTheEndOfTheMapStage) {
  const test::ScratchDirectory directory;
  const auto run = ReadSparkRun(directory.Write("log", SomeHistory::WordCount().text())).value();
  EXPECT_EQ(run.plan.name, "word count");
  EXPECT_EQ(run.plan.cluster.slots, 2u);
  EXPECT_EQ(run.took, absl::Seconds(13));
  const std::vector<PlannedStage>& stages = run.plan.jobs[0].stages;
  ASSERT_EQ(stages.size(), 2u);
  EXPECT_EQ(stages[0].name, "map");
  EXPECT_EQ(stages[0].task_count, 3u);
  EXPECT_EQ(stages[1].name, "reduce");
  EXPECT_THAT(stages[1].after, ElementsAre("map"));
  EXPECT_EQ(stages[1].task_count, 2u);
  EXPECT_EQ(stages[1].first_task_times.size(), 1u);
  EXPECT_EQ(stages[1].task_times.size(), 1u);
  // The times are adjusted by one factor, so that the plan takes 13 s like the run.
  EXPECT_NEAR(absl::FDivDuration(stages[1].first_task_times[0], stages[1].task_times[0]), 0.75,
              1e-9);
  const auto end = EndOf(run.plan);
  ASSERT_TRUE(end.has_value());
  EXPECT_NEAR(absl::ToDoubleSeconds(*end), 13, 0.5);
}

// Two map tasks at once, and one that starts when another ends.
TEST(MapReduceRun, SlotsAreTheAttemptsThatRanAtOnce) {
  JobTasks tasks;
  tasks.tasks = {Finished(kMapStage, 0, 1, 5), Finished(kMapStage, 1, 2, 4),
                 Finished(kMapStage, 2, 4, 6)};
  const auto run = MapReduceRunOf(tasks, absl::UnixEpoch(), {});
  ASSERT_TRUE(run.has_value());
  EXPECT_EQ(run->plan.cluster.slots, 2u);
  EXPECT_EQ(run->plan.jobs[0].stages.size(), 1u);
  EXPECT_EQ(run->plan.jobs[0].stages[0].lag, absl::Seconds(1));
  EXPECT_FALSE(MapReduceRunOf({}, absl::UnixEpoch(), {}).has_value());
}

// t = 5 s + 0.1 s per byte: 15, 25 and 35 s for 100, 200 and 300 bytes. The fixed part is a fifth
// of the mean. Six tasks instead of three read half of the bytes: 10, 15 and 20 s.
TEST(MapReduceRun, TheFixedPartOfReduceTasksDoesNotShrinkWithTheirInput) {
  JobTasks tasks;
  tasks.tasks = {Finished(kReduceStage, 0, 0, 15), Finished(kReduceStage, 1, 0, 25),
                 Finished(kReduceStage, 2, 0, 35)};
  const auto run = MapReduceRunOf(tasks, absl::UnixEpoch(), {{0, 100}, {1, 200}, {2, 300}});
  ASSERT_TRUE(run.has_value());
  EXPECT_NEAR(run->reduce_fixed_share, 0.2, 1e-12);
  const auto six = WithReduceTasks(run->plan, run->reduce_fixed_share, 6).value();
  const PlannedStage& stage = six.jobs[0].stages[0];
  EXPECT_EQ(stage.task_count, 6u);
  ASSERT_EQ(stage.task_times.size(), 3u);
  for (const auto& [i, seconds] : {std::pair(0, 10.0), std::pair(1, 15.0), std::pair(2, 20.0)}) {
    EXPECT_NEAR(absl::ToDoubleSeconds(stage.task_times[i]), seconds, 1e-6);
  }
}

TEST(MapReduceRun, WithoutARelationToTheBytesTheWholeTimeIsProportional) {
  JobTasks tasks;
  tasks.tasks = {Finished(kReduceStage, 0, 0, 30), Finished(kReduceStage, 1, 0, 20),
                 Finished(kReduceStage, 2, 0, 10)};
  for (const std::map<std::uint32_t, std::uint64_t>& bytes :
       std::vector<std::map<std::uint32_t, std::uint64_t>>{
           {}, {{0, 5}, {1, 5}, {2, 5}}, {{0, 1}, {1, 2}, {2, 3}}}) {
    EXPECT_EQ(MapReduceRunOf(tasks, absl::UnixEpoch(), bytes)->reduce_fixed_share, 0);
  }
}

TEST(MapReduceRun, WithoutReduceTasksTheirNumberCannotChange) {
  JobTasks tasks;
  tasks.tasks = {Finished(kMapStage, 0, 1, 5)};
  const auto run = MapReduceRunOf(tasks, absl::UnixEpoch(), {});
  EXPECT_EQ(WithReduceTasks(run->plan, 0, 4).status().code(),
            absl::StatusCode::kFailedPrecondition);
}

// Eight map tasks of 10 s on two slots, then two reduce tasks of 20 s.
std::string EightMaps() {
  SomeHistory history;
  history.Submit().Init(0, 8, 2);
  for (int i = 0; i < 8; ++i) {
    history.Start('m', i, 0, i / 2 * 10'000, "a").FinishMap(i, (i / 2 + 1) * 10'000);
  }
  for (int i = 0; i < 2; ++i) {
    history.Start('r', i, 0, 40'000, "a").FinishReduce(i, 41'000, 42'000, 60'000);
  }
  return history.FinishJob(60'000).text();
}

double SecondsOf(const Row& row) {
  return absl::ToDoubleSeconds(row.outcome.snapshot.estimate.remaining.value().median);
}

// On four slots, the map tasks take two waves of 10 s instead of four. The reduce tasks take as
// long. Four reduce tasks take half as long each.
TEST(MapReduceRun, OtherSlotsChangeTheWavesAndOtherReduceTasksTheirTimes) {
  const test::ScratchDirectory directory;
  const std::string log = directory.Write("log", EightMaps());
  const auto slots = AnswerFromLog(log, {.slots = {2, 4}}, absl::UnixEpoch()).value();
  ASSERT_EQ(slots.rows.size(), 3u);
  EXPECT_EQ(slots.rows[0].name, "as it is: 2 slots");
  EXPECT_NEAR(SecondsOf(slots.rows[0]), 60, 1e-6);
  EXPECT_NEAR(SecondsOf(slots.rows[1]), 60, 1e-6);
  EXPECT_NEAR(SecondsOf(slots.rows[2]), 40, 4);
  const auto is_assumed = HasSubstr("each slot is assumed to have a processor");
  EXPECT_THAT(slots.rows[1].remarks, ElementsAre());
  EXPECT_THAT(slots.rows[2].remarks, ElementsAre(is_assumed));
  const auto reducers =
      AnswerFromLog(log, {.slots = {4}, .reducers = {2, 4}}, absl::UnixEpoch()).value();
  ASSERT_EQ(reducers.rows.size(), 3u);
  EXPECT_EQ(reducers.rows[1].name, "4 slots, 2 reduce tasks");
  EXPECT_NEAR(SecondsOf(reducers.rows[1]), 40, 4);
  EXPECT_EQ(reducers.rows[2].name, "4 slots, 4 reduce tasks");
  EXPECT_NEAR(SecondsOf(reducers.rows[2]), 30, 4);
  EXPECT_THAT(reducers.rows[2].remarks,
              ElementsAre(HasSubstr("keys divide evenly"),
                          HasSubstr("does not show a fixed time per reduce task"), is_assumed));
}

TEST(MapReduceRun, HasAtMostAThousandRows) {
  const test::ScratchDirectory directory;
  Question question = {.slots = {2, 4}};
  for (std::uint32_t count = 1; count <= 501; ++count) question.reducers.push_back(count);
  const auto answer =
      AnswerFromLog(directory.Write("log", EightMaps()), question, absl::UnixEpoch());
  EXPECT_TRUE(absl::IsInvalidArgument(answer.status()));
  EXPECT_THAT(answer.status().message(), HasSubstr("1002 combinations"));
}

TEST(MapReduceRun, LongNamesAreCutAndTooManyTasksAreRejected) {
  const test::ScratchDirectory directory;
  const std::string long_name = SomeHistory()
                                    .Submit(std::string(255, 'n') + "\u00e9")
                                    .Init(0, 1, 0)
                                    .Start('m', 0, 0, 0, "a")
                                    .FinishMap(0, 10'000)
                                    .FinishJob(10'000)
                                    .text();
  const auto run = ReadSparkRun(directory.Write("long", long_name)).value();
  EXPECT_EQ(run.plan.name, std::string(255, 'n'));
  const std::string many =
      directory.Write("many", SomeHistory().Submit().Init(0, 1, 20'001).FinishJob(10'000).text());
  EXPECT_THAT(std::string(ReadSparkRun(many).status().message()),
              ::testing::AllOf(HasSubstr(many), HasSubstr("20001 reduce tasks")));
}

TEST(MapReduceRun, ThatEndsAfterItsLastTaskIsAJob) {
  const test::ScratchDirectory directory;
  const std::string text = SomeHistory()
                               .Submit()
                               .Init(0, 1, 0)
                               .Start('m', 0, 0, 0, "a")
                               .FinishMap(0, 10'000)
                               .FinishJob(46'000)
                               .text();
  const auto answer = AnswerFromLog(directory.Write("log", text), {}, absl::UnixEpoch()).value();
  EXPECT_THAT(answer.rows[0].remarks,
              ElementsAre("measured until the last stage ended; the job ended 36 s later"));
}

TEST(MapReduceRun, OptionsForSparkAreRejected) {
  const test::ScratchDirectory directory;
  const std::string log = directory.Write("log", EightMaps());
  const auto answer = AnswerFromLog(log, {.executors = {4}}, absl::UnixEpoch());
  EXPECT_TRUE(absl::IsInvalidArgument(answer.status()));
  EXPECT_THAT(answer.status().message(), HasSubstr("use --slots, --reducers"));
}

}  // namespace
}  // namespace tidemark::whatif::mapreduce_run_test
