#include "master/monitor/job_snapshot.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/master/events.h"
#include "tidemark/job_monitor.h"

namespace tidemark {
namespace {

using test::At;
using test::Closed;
using test::Finished;
using test::M;
using test::Opened;
using test::R;
using test::Source;
using test::Started;
using ::testing::ElementsAre;
using ::testing::SizeIs;

class JobSnapshotTest : public ::testing::Test {
 protected:
  void Say(double seconds, EventBody body) {
    const absl::Status taken = monitor_.Apply(source_.At(seconds, std::move(body)));
    ASSERT_TRUE(taken.ok()) << taken;
  }
  const next::Snapshot& Tick(double seconds) {
    monitor_.Tick(At(seconds));
    return monitor_.job();
  }

  Source source_;
  JobMonitor monitor_{"job-1", {}};
};

AttemptChanged FailedBecause(AttemptId id, std::string why) {
  return {.attempt = id, .state = AttemptState::kFailed, .failure = std::move(why)};
}

StageOpened Generic(std::uint32_t stage, std::uint32_t tasks, std::vector<std::uint32_t> parents) {
  return {.stage = stage,
          .name = "stage " + std::to_string(stage),
          .parents = std::move(parents),
          .group = "query 7",
          .task_count = tasks,
          .pool = "fast"};
}

TEST_F(JobSnapshotTest, AMapReduceJobHasTwoStagesWithTheirFailures) {
  JobOpened opened = Opened(2, 1);
  opened.engine = "hadoop";
  opened.application_id = "application_1";
  opened.user = "ada";
  opened.queue = "nightly";
  Say(0, opened);
  Say(1, Started(M(0)));
  Say(2, FailedBecause(M(0), "disk full"));
  Say(3, Started(M(0, 1)));
  Say(4, FailedBecause(M(0, 1), "disk still full"));
  Say(5, Started(M(1)));
  const next::Snapshot& job = Tick(6);
  EXPECT_EQ(job.info->kind, next::JobKind::kMapReduce);
  EXPECT_EQ(job.info->engine, "hadoop");
  EXPECT_EQ(job.info->application_id, "application_1");
  EXPECT_EQ(job.info->user, "ada");
  EXPECT_EQ(job.info->queue, "nightly");
  ASSERT_THAT(job.stages, SizeIs(2));
  EXPECT_EQ(job.stage_infos[0].name, "map");
  EXPECT_EQ(job.stages[0].failed_attempts, 2u);
  EXPECT_EQ(job.stages[0].failure, "disk still full");
  EXPECT_EQ(job.stages[0].running_tasks, 1u);
  EXPECT_THAT(job.stage_infos[1].parents, ElementsAre(0));
  EXPECT_EQ(job.stages[1].state, next::StageState::kPending);
  EXPECT_TRUE(job.stages[1].shuffle.has_value());
  EXPECT_EQ(job.counts, next::CountParts(job));
}

TEST_F(JobSnapshotTest, StagesOfEveryEngineAppearWithCountsAndStates) {
  Say(0, JobOpened{.name = "query", .engine = "spark"});
  Say(0, Generic(4, 2, {}));
  Say(0, Generic(9, 3, {4}));
  StageOpened skipped = Generic(2, 5, {});
  skipped.skipped = true;
  Say(0, skipped);
  Say(1, Started({.stage = 4, .index = 0}));
  Say(1, Started({.stage = 4, .index = 1}));
  Say(5, Finished({.stage = 4, .index = 0}));
  Say(6, FailedBecause({.stage = 4, .index = 1}, "fetch failed"));
  const next::Snapshot& job = Tick(7);
  EXPECT_EQ(job.info->kind, next::JobKind::kApplication);
  ASSERT_THAT(job.stages, SizeIs(3));
  EXPECT_EQ(job.stages[0].id, (next::StageId{0, 2}));
  EXPECT_EQ(job.stages[0].state, next::StageState::kSkipped);
  const next::StageProgress& first = job.stages[1];
  EXPECT_EQ(first.state, next::StageState::kRunning);
  EXPECT_EQ(first.tasks, 2u);
  EXPECT_EQ(first.finished_tasks, 1u);
  EXPECT_EQ(first.running_tasks, 0u);
  EXPECT_EQ(first.fraction_done, 0.5);
  EXPECT_EQ(first.started_at, At(1));
  EXPECT_EQ(first.failure, "fetch failed");
  EXPECT_EQ(job.stages[2].state, next::StageState::kPending);
  EXPECT_EQ(job.stage_infos[2].name, "stage 9");
  EXPECT_EQ(job.stage_infos[2].group, "query 7");
  EXPECT_EQ(job.stage_infos[2].pool, "fast");
  EXPECT_THAT(job.stage_infos[2].parents, ElementsAre(4));
  EXPECT_EQ(job.counts.stages, 3u);
  EXPECT_EQ(job.counts.finished_stages, 1u);
}

TEST_F(JobSnapshotTest, AStageGoesBackOnlyWhenItIsRunAgain) {
  Say(0, JobOpened{.name = "query"});
  Say(0, Generic(4, 2, {}));
  Say(1, Started({.stage = 4, .index = 0}));
  Say(2, Finished({.stage = 4, .index = 0}));
  EXPECT_EQ(Tick(3).stages[0].fraction_done, 0.5);
  Say(4, AttemptChanged{.attempt = {.stage = 4, .index = 0}, .state = AttemptState::kObsolete});
  EXPECT_EQ(Tick(5).stages[0].finished_tasks, 0u);
  EXPECT_EQ(Tick(6).stages[0].fraction_done, 0.5);
  StageOpened again = Generic(4, 4, {});
  again.attempt = 1;
  Say(7, again);
  EXPECT_EQ(Tick(8).stages[0].fraction_done, 0);
}

TEST_F(JobSnapshotTest, AStageWithoutACountHasTheTasksThatWereHeardOf) {
  Say(0, JobOpened{.name = "query"});
  Say(1, Started({.stage = 4, .index = 5}));
  EXPECT_EQ(Tick(2).stages.at(0).tasks, 1u);
}

TEST_F(JobSnapshotTest, OfFailuresAtOneInstantThatOfTheLastTaskIsTold) {
  Say(0, JobOpened{.name = "query"});
  for (const std::uint32_t index : {2U, 7U, 1U}) {
    Say(1, Started({.stage = 4, .index = index}));
  }
  for (const std::uint32_t index : {2U, 7U, 1U}) {
    Say(3, FailedBecause({.stage = 4, .index = index}, "task " + std::to_string(index)));
  }
  EXPECT_EQ(Tick(4).stages.at(0).failure, "task 7");
}

TEST_F(JobSnapshotTest, TheEndIsSaidOnce) {
  Say(0, Opened(1, 1));
  for (const AttemptId id : {M(0), R(0)}) {
    Say(1, Started(id));
    Say(2, Finished(id));
  }
  EXPECT_FALSE(Tick(3).is_final);
  Say(4, Closed());
  const next::Snapshot end = Tick(5);
  EXPECT_TRUE(end.is_final);
  EXPECT_EQ(end.state, next::JobState::kSucceeded);
  EXPECT_EQ(end.estimate.fraction_done, 1);
  EXPECT_EQ(end.estimate.basis, next::Basis::kDone);
  EXPECT_EQ(end.ended_at, At(4));
  EXPECT_EQ(Tick(9), end);
}

}  // namespace
}  // namespace tidemark
