#include "console/time_spent.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "console/waits_table.h"
#include "tests/console/some_jobs.h"

namespace tidemark::console {
namespace {

using ::testing::HasSubstr;

constexpr TextOptions kAscii = {};
const absl::StatusOr<Explanation> kNone = absl::UnknownError("no master told it");

// Of 100 s: map ran from 0 to 20 s, reduce from 10 s on.
Snapshot Long() {
  Snapshot job = Ended(JobState::kSucceeded);
  const absl::Time start = *job.started_at;
  job.at = start + absl::Seconds(100);
  job.ended_at = job.at;
  job.stages[0].started_at = start;
  job.stages[0].ended_at = start + absl::Seconds(20);
  job.stages[1].started_at = start + absl::Seconds(10);
  job.stages[1].ended_at = job.at;
  return job;
}

// The same at an instant, with one reduce task that runs while the others have ended.
Snapshot Alone(double seconds, std::uint64_t group_bytes = 0) {
  Snapshot job = SomeSnapshot();
  job.at = *job.started_at + absl::Seconds(seconds);
  job.counts.running_tasks = 1;
  job.counts.finished_tasks = 11;
  job.stages[1].running_tasks = 1;
  job.stages[1].finished_tasks = 3;
  job.named_tasks[0].in_heaviest_group = group_bytes > 0;
  job.named_tasks[0].heaviest_group_bytes = group_bytes;
  return job;
}

std::optional<LoneTask> After(const std::vector<Snapshot>& snapshots) {
  LoneTaskWatch watch;
  for (const Snapshot& snapshot : snapshots) watch.See(snapshot);
  return watch.task();
}

Explanation Waits(double late_seconds, double skew_seconds = 0) {
  QueryWaits query = {.query = "sql/3", .seconds = 100, .skew_seconds = skew_seconds};
  query.culprits = {{.job_id = "app-7",
                     .query = "sql/1",
                     .resource = WaitedResource::kProcessor,
                     .host = "node-3",
                     .seconds = late_seconds}};
  return {.job_id = "app-6", .queries = {query}};
}

TEST(LoneTask, IsTheOneThatRunsAfterAllOthers) {
  EXPECT_EQ(After({SomeSnapshot()}), std::nullopt) << "two run";
  const auto lone = After({SomeSnapshot(), Alone(60), Alone(80)});
  ASSERT_TRUE(lone);
  EXPECT_EQ(lone->attempt.index, 2U);
  EXPECT_EQ(lone->since, Alone(60).at);
  EXPECT_EQ(After({Alone(60), SomeSnapshot()}), std::nullopt) << "another began";
}

TEST(LoneTask, IsNoneWhileOthersWaitForItsSlot) {
  Snapshot one_slot = Alone(60);
  one_slot.counts.finished_tasks = 7;
  EXPECT_EQ(After({one_slot}), std::nullopt);
}

// From 30 to 50 s one of four reduce tasks runs and others wait for its slot.
TEST(LoneTask, IsNoneThatMayItselfHaveWaitedForASlot) {
  Snapshot one_slot = SomeSnapshot();
  one_slot.stages[1].running_tasks = 1;
  one_slot.counts.running_tasks = 1;
  Snapshot later = one_slot;
  one_slot.at = *one_slot.started_at + absl::Seconds(30);
  later.at = *later.started_at + absl::Seconds(50);
  EXPECT_EQ(After({one_slot, later, Alone(60), Alone(99)}), std::nullopt) << "20 s of 39 s";
  EXPECT_TRUE(After({one_slot, later, Alone(60), Alone(101)})) << "that was not for want of slots";
}

TEST(LoneTask, IsSeenInOneKeyGroupAtATime) {
  const auto lone = After({Alone(50, 7), Alone(60, 1'200'000), Alone(75, 1'200'000), Alone(80)});
  ASSERT_TRUE(lone);
  EXPECT_EQ(lone->group_bytes, 1'200'000U);
  EXPECT_EQ(lone->group_until - lone->group_since, absl::Seconds(15));
}

TEST(LoneTask, OfTheFinalSnapshotIsAsBefore) {
  EXPECT_EQ(After({Alone(60), Long()}), After({Alone(60)}));
}

TEST(TimeSpent, NamesTheStageThatTookMost) {
  EXPECT_EQ(
      TimeSpentText(Long(), {}, kNone, kAscii),
      "Of 1 min 40 s, reduce took 1 min 30 s. What it waited for is not known: no master told "
      "it.");
}

TEST(TimeSpent, TellsShortTimesToTheTenthAsTheLinesAboveIt) {
  Snapshot job = Long();
  job.ended_at = *job.started_at + absl::Seconds(10.4);
  job.at = *job.ended_at;
  job.stages[0].ended_at = *job.started_at + absl::Seconds(4.1);
  job.stages[1].started_at = *job.started_at + absl::Seconds(4.6);
  job.stages[1].ended_at = job.ended_at;
  EXPECT_THAT(TimeSpentText(job, {}, kNone, kAscii), HasSubstr("Of 10 s, reduce took 5.8 s."));
}

TEST(TimeSpent, NamesTheTaskThatRanAlone) {
  EXPECT_THAT(TimeSpentText(Long(), After({Alone(60), Alone(99)}), kNone, kAscii),
              HasSubstr("Reduce task 2 ran alone for the last 40 s or more: more slots would not "
                        "have helped then; tasks of more equal length would, or a speculative "
                        "attempt if its host was slow."));
}

TEST(TimeSpent, NamesTheKeyGroupThatItWasIn) {
  EXPECT_THAT(
      TimeSpentText(Long(), After({Alone(60, 1'200'000), Alone(99, 1'200'000)}), kNone, kAscii),
      HasSubstr("at least 39 s of that in one key group of 1.2 MB: more slots or reducers would "
                "not have made it shorter; a combiner or splitting that key (salting) might."));
}

// It ran alone for 40 s of 100, and was 70 s in one key group.
TEST(TimeSpent, TakesTheKeyGroupAndTheHostFromWhatTheMasterFound) {
  Explanation waits = Waits(0);
  waits.queries[0].longest_task = LongestTask{.attempt = {.stage = 1, .index = 2},
                                              .kind = StageKind::kReduce,
                                              .host = "node-3",
                                              .seconds = 80,
                                              .mean_seconds = 30,
                                              .group_bytes = 1'200'000,
                                              .group_seconds = 70};
  EXPECT_THAT(
      TimeSpentText(Long(), After({Alone(60), Alone(99)}), waits, kAscii),
      HasSubstr(
          "Reduce task 2 on node-3 ran alone for the last 40 s or more; it took 1 min 20 s (a "
          "mean task of its stage 30 s), 1 min 10 s of that in one key group of 1.2 MB: more "
          "slots or reducers would not have made it shorter; a combiner or splitting that key "
          "(salting) might."));
  EXPECT_THAT(
      TimeSpentText(Long(), {}, waits, kAscii),
      HasSubstr("Reduce task 2 on node-3 took 1 min 20 s (a mean task of its stage 30 s), 1 "
                "min 10 s of that in one key group of 1.2 MB: more slots or reducers"))
      << "nobody watched";
  waits.queries[0].longest_task->group_bytes = 0;
  EXPECT_THAT(
      TimeSpentText(Long(), {}, waits, kAscii),
      HasSubstr("(a mean task of its stage 30 s): if it had more data, more even partitions "
                "would help; if its host was slow, a speculative attempt."));
}

TEST(TimeSpent, LeavesOutWhatTookLittle) {
  EXPECT_EQ(
      TimeSpentText(Long(), After({Alone(90), Alone(99)}), kNone, kAscii),
      "Of 1 min 40 s, reduce took 1 min 30 s. What it waited for is not known: no master told "
      "it.");
  EXPECT_EQ(TimeSpentText(Long(), {}, Waits(9, 9), kAscii),
            "Of 1 min 40 s, reduce took 1 min 30 s. No wait that took a tenth of its time or more "
            "is known.");
}

// 12 s of 100, which the table shows, too.
TEST(TimeSpent, TellsWhatWhyTells) {
  Explanation waits = Waits(0);
  waits.queries[0].culprits.clear();
  waits.queries[0].waits[WaitedResource::kMemory] = {12, true};
  EXPECT_THAT(
      TimeSpentText(Long(), {}, waits, kAscii),
      HasSubstr("sql/3 waited at least 12 s of 1 min 40 s for garbage collection; the cause "
                "is unknown. More memory might help."));
  waits.queries[0].data_growth = DataGrowth{
      .task_seconds = 40, .read_bytes = 20e9, .earlier_read_bytes = 10e9, .all_task_seconds = 80};
  EXPECT_THAT(TimeSpentText(Long(), {}, waits, kAscii),
              HasSubstr("Of sql/3, stages of it read 20.0 GB, in earlier runs 10.0 GB: that took "
                        "their tasks about 40 s more, summed over tasks."));
}

TEST(TimeSpent, NamesWhoWasWaitedFor) {
  const Explanation waits = Waits(40);
  EXPECT_THAT(
      TimeSpentText(Long(), {}, waits, kAscii),
      HasSubstr("sql/3 waited 40 s of 1 min 40 s for a processor behind app-7/sql/1 on node-3. "
                "More processors, or running the jobs at different times, might help."));
}

TEST(TimeSpent, AsksNobodyToRunAtAnotherTimeWhereNobodyIsKnown) {
  Explanation waits = Waits(40);
  waits.queries[0].culprits[0].job_id.clear();
  waits.queries[0].culprits[0].query.clear();
  waits.queries[0].culprits[0].jobs = 0;
  EXPECT_THAT(
      TimeSpentText(Long(), {}, waits, kAscii),
      HasSubstr("sql/3 waited 40 s of 1 min 40 s for a processor behind processes outside Tidemark "
                "on node-3. More processors might help."));
}

// Processes outside Tidemark took the larger part of the wait, and a job the smaller one.
TEST(TimeSpent, NamesEveryJobThatWhyNames) {
  Explanation waits = Waits(12);
  QueryWaits& query = waits.queries[0];
  query.waits[WaitedResource::kProcessor] = {30, true};
  Culprit unreported = query.culprits[0];
  unreported.job_id.clear();
  unreported.query.clear();
  unreported.jobs = 0;
  unreported.seconds = 13;
  query.culprits.insert(query.culprits.begin(), unreported);
  const std::string spent = TimeSpentText(Long(), {}, waits, kAscii);
  EXPECT_THAT(spent, HasSubstr("sql/3 waited at least 30 s of 1 min 40 s for a processor: at least "
                               "13 s behind processes outside Tidemark on node-3, at least 12 s "
                               "behind app-7/sql/1 on node-3. More processors, or running the jobs "
                               "at different times, might help."));
  for (const std::string& sentence : DescribeWaits(waits, {}, kAscii).sentences) {
    EXPECT_THAT(spent, HasSubstr(sentence)) << "one wording for both";
  }
}

TEST(TimeSpent, SaysBetweenWhatLimitsSomebodyCostIt) {
  Explanation waits = Waits(40);
  Culprit& culprit = waits.queries[0].culprits[0];
  culprit.seconds_lower = 30.9;
  culprit.seconds_upper = 52.1;
  EXPECT_THAT(TimeSpentText(Long(), {}, waits, kAscii),
              HasSubstr("sql/3 waited 40 s (30-53 s) of 1 min 40 s for a processor behind app-7"));
  culprit.jobs = 0;
  culprit.job_id.clear();
  culprit.seconds_lower = 0;
  EXPECT_THAT(TimeSpentText(Long(), {}, waits, kAscii),
              HasSubstr("sql/3 waited 40 s (0-53 s) of 1 min 40 s for a processor behind proc"));
  culprit.seconds_lower = 39.5;
  culprit.seconds_upper = 40.2;
  EXPECT_THAT(TimeSpentText(Long(), {}, waits, kAscii), HasSubstr("waited 40 s of"));
}

TEST(TimeSpent, OfAnAnswerThatIsBehindTheEndTellsTheLeastOnly) {
  Explanation waits = Waits(40);
  waits.queries[0].culprits[0].seconds_lower = 30;
  waits.queries[0].culprits[0].seconds_upper = 52;
  waits.more_to_come = true;
  waits.at = *Long().ended_at - absl::Seconds(3);
  EXPECT_THAT(TimeSpentText(Long(), {}, waits, kAscii),
              HasSubstr("sql/3 waited at least 40 s of 1 min 40 s for a processor behind app-7"));
}

TEST(TimeSpent, NamesWhatItsOwnTasksDid) {
  const Explanation waits = Waits(0, 30);
  EXPECT_THAT(TimeSpentText(Long(), {}, waits, kAscii),
              HasSubstr("The longest tasks of sql/3 took 30 s longer than a mean task of the same "
                        "stage, apart from what they waited. If they had more data, more even "
                        "partitions would help."));
}

TEST(TimeSpent, SaysWhatIsNotKnownAndWhy) {
  Snapshot bare = Long();
  bare.stages.clear();
  bare.stage_infos.clear();
  EXPECT_EQ(TimeSpentText(bare, {}, absl::UnimplementedError("this master does not tell"), kAscii),
            "What it waited for is not known: this master does not tell.");
  Explanation waits = {.job_id = "app-6"};
  EXPECT_EQ(TimeSpentText(bare, {}, waits, kAscii),
            "What it waited for is not known: the master saw none of its tasks run.");
  waits.more_to_come = true;
  EXPECT_EQ(TimeSpentText(bare, {}, waits, kAscii),
            "What it waited for is not known: reports of other tasks that ran meanwhile were still "
            "to come.");
  waits.queries = {{.query = "sql/3", .seconds = 100}};
  EXPECT_EQ(TimeSpentText(bare, {}, waits, kAscii),
            "What it waited for is not known: its tasks did not tell.");
  waits.queries[0].waits[WaitedResource::kProcessor] = {0.0, false};
  waits.is_partial = true;
  waits.at = *bare.ended_at - absl::Seconds(12);
  EXPECT_EQ(
      TimeSpentText(bare, {}, waits, kAscii),
      "No wait that took a tenth of its time or more is known. Not all of it was seen: a part "
      "was before the master started, or there was no room for it. What it waited for in its last "
      "12 s is not in this: reports of other tasks were still to come.");
  waits.is_partial = false;
  waits.at = *bare.ended_at - absl::Seconds(9);
  EXPECT_EQ(TimeSpentText(bare, {}, waits, kAscii),
            "No wait that took a tenth of its time or more is known.");
}

TEST(TimeSpent, WhatIsNoNumberIsNotShown) {
  Snapshot bare = Long();
  bare.stages.clear();
  bare.stage_infos.clear();
  Explanation odd =
      Waits(std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::quiet_NaN());
  EXPECT_EQ(TimeSpentText(bare, {}, odd, kAscii),
            "No wait that took a tenth of its time or more is known.");
  odd.queries[0].seconds.reset();
  EXPECT_EQ(TimeSpentText(bare, {}, odd, kAscii),
            "No wait that took a tenth of its time or more is known.");
}

TEST(TimeSpent, SaysNothingOfAJobThatFailedRunsOrWasShort) {
  Snapshot job = Long();
  job.state = JobState::kFailed;
  EXPECT_EQ(TimeSpentText(job, After({Alone(60)}), kNone, kAscii), "");
  EXPECT_EQ(TimeSpentText(Alone(60), After({Alone(60)}), kNone, kAscii), "");
  job = Long();
  job.ended_at = *job.started_at + absl::Seconds(9);
  EXPECT_EQ(TimeSpentText(job, {}, kNone, kAscii), "");
}

TEST(TimeSpent, OfAWorkflowNamesItsLongestJob) {
  Snapshot workflow = Visits();
  workflow.is_final = true;
  workflow.state = JobState::kSucceeded;
  workflow.at = *workflow.started_at + absl::Seconds(100);
  workflow.ended_at = workflow.at;
  workflow.children[1].ended_at = *workflow.started_at + absl::Seconds(95);
  EXPECT_EQ(TimeSpentText(workflow, {}, kNone, kAscii),
            "Of 1 min 40 s, count took 55 s. `tidemark why JOB` tells what each of its jobs waited "
            "for.");
}

}  // namespace
}  // namespace tidemark::console
