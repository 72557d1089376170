#include "master/store/job_history.h"

#include "tests/scratch_directory.h"
#include "tests/test.h"

namespace tidemark::store::job_history_test {
namespace {

class JobHistoryTest : public ::testing::Test {
 protected:
  absl::Status Open() { return history_.Open(directory_, {}, now_); }

  FinishedJob Run(const std::string& id, const std::string& name_space, JobState state) const {
    FinishedJob job;
    job.final.job_id = id;
    job.final.at = now_;
    job.final.started_at = now_ - absl::Minutes(1);
    job.final.state = state;
    job.summary.name = "word count";
    job.summary.profile = JobProfile{.map_tasks = 1, .map_task_time = absl::Seconds(1)};
    job.name_space = name_space;
    return job;
  }

  const absl::Time now_ = absl::FromUnixSeconds(1'700'000'000);
  const test::ScratchDirectory scratch_;
  const std::string directory_ = scratch_.path();
  std::vector<std::string> notices_;
  JobHistory history_{[this](const std::string& line) { notices_.push_back(line); }};
};

TEST_F(JobHistoryTest, ReturnsAndStoresNoRunsBeforeItIsOpen) {
  history_.Add(Run("wc-1", "*", JobState::kSucceeded));
  EXPECT_THAT(history_.Profiles("word count", {.id = "wc-2"}), IsEmpty());
  EXPECT_EQ(history_.Node(), std::nullopt);
  EXPECT_THAT(notices_, IsEmpty());
}

TEST_F(JobHistoryTest, ReturnsSuccessfulRunsOfTheSameName) {
  ASSERT_TRUE(Open().ok());
  history_.Add(Run("wc-1", "wc-*", JobState::kSucceeded));
  history_.Add(Run("wc-2", "wc-*", JobState::kKilled));
  history_.Add(Run("evil-1", "evil-*", JobState::kSucceeded));
  EXPECT_THAT(history_.Profiles("word count", {.id = "wc-3", .name_space = "wc-*"}), SizeIs(1));
  EXPECT_THAT(history_.Profiles("word count", {.id = "other-1", .name_space = "other-*"}),
              IsEmpty());
  EXPECT_THAT(history_.Profiles("", {.id = "wc-3"}), IsEmpty());
  EXPECT_THAT(history_.Profiles("daily / word count", {.id = "wc-3", .name_space = "wc-*"}),
              IsEmpty());
}

TEST_F(JobHistoryTest, ReturnsPermittedRunsOfOtherNamesForAJobWithoutRuns) {
  const auto took = [&](FinishedJob job, const std::string& name, absl::Duration reduce) {
    job.summary.name = name;
    job.summary.reduce_tasks = 1;
    for (const std::uint32_t stage : {kMapStage, kReduceStage}) {
      job.final.stage_infos.push_back({
          .id = {0, stage},
      });
      job.final.stages.push_back({.id = {0, stage}, .started_at = now_, .ended_at = now_});
    }
    job.final.stage_infos[0].kind = StageKind::kMap;
    job.final.stage_infos[1].kind = StageKind::kReduce;
    job.final.stages[1].ended_at = now_ + reduce;
    return job;
  };
  ASSERT_TRUE(Open().ok());
  history_.Add(took(Run("wc-1", "wc-*", JobState::kSucceeded), "word count", absl::Seconds(7)));
  history_.Add(took(Run("wc-2", "wc-*", JobState::kKilled), "sort", absl::Seconds(8)));
  history_.Add(took(Run("evil-1", "evil-*", JobState::kSucceeded), "join", absl::Seconds(9)));
  const std::vector<PastRun> others =
      history_.PastRuns("grep", {.id = "wc-3", .name_space = "wc-*"});
  ASSERT_THAT(others, SizeIs(1));
  EXPECT_TRUE(others[0].is_of_other_job);
  EXPECT_EQ(others[0].reduce_time, absl::Seconds(7));
  const std::vector<PastRun> own =
      history_.PastRuns("word count", {.id = "wc-3", .name_space = "wc-*"});
  ASSERT_THAT(own, SizeIs(1));
  EXPECT_FALSE(own[0].is_of_other_job);
}

TEST_F(JobHistoryTest, ReturnsASuccessfulRunBeforeManyFailedOnes) {
  ASSERT_TRUE(Open().ok());
  FinishedJob succeeded = Run("wc-0", "*", JobState::kSucceeded);
  succeeded.final.stage_infos = {{.id = {0, kMapStage}, .kind = StageKind::kMap}};
  succeeded.final.stages = {{.id = {0, kMapStage}, .started_at = now_, .ended_at = now_}};
  history_.Add(succeeded);
  for (int i = 1; i <= 40; ++i) {
    FinishedJob failed = Run("wc-" + std::to_string(i), "*", JobState::kFailed);
    failed.final.at = now_ + absl::Seconds(i);
    history_.Add(failed);
  }
  EXPECT_THAT(history_.Profiles("word count", {.id = "wc-99"}), SizeIs(1));
  const std::vector<PastRun> runs = history_.PastRuns("word count", {.id = "wc-99"});
  ASSERT_THAT(runs, SizeIs(1));
  EXPECT_FALSE(runs[0].is_of_other_job);
}

// The history file contains only the map stage, since the job has no other stage.
TEST_F(JobHistoryTest, StoresTheRunOfAMapOnlyJob) {
  ASSERT_TRUE(Open().ok());
  FinishedJob job = Run("wc-1", "*", JobState::kSucceeded);
  job.summary.map_tasks = 8;
  job.summary.map_input_bytes = 800;
  job.final.stage_infos = {{.id = {0, kMapStage}, .kind = StageKind::kMap}};
  job.final.stages = {{.id = {0, kMapStage},
                       .started_at = now_ - absl::Seconds(59),
                       .ended_at = now_ - absl::Seconds(1)}};
  history_.Add(job);
  const std::vector<PastRun> runs = history_.PastRuns("word count", {.id = "wc-2"});
  ASSERT_THAT(runs, SizeIs(1));
  EXPECT_EQ(runs[0],
            (PastRun{.map_time = absl::Minutes(1), .map_input_bytes = 800, .map_tasks = 8}));
}

TEST_F(JobHistoryTest, RenamesAnUnreadableHistoryAndStartsANewOne) {
  std::ofstream(directory_ + "/history.sqlite") << std::string(4096, 'x');
  ASSERT_TRUE(Open().ok());
  EXPECT_THAT(notices_,
              ElementsAre(HasSubstr("it was renamed to " + directory_ +
                                    "/history.sqlite.damaged and a new history was started")));
  history_.Add(Run("wc-1", "*", JobState::kSucceeded));
  EXPECT_THAT(history_.Profiles("word count", {.id = "wc-2"}), SizeIs(1));
}

}  // namespace
}  // namespace tidemark::store::job_history_test
