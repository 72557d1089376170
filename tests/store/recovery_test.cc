// Tests masters that are killed. Each table is restored from the files of the previous table.
#include "master/store/recovery.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>

#include "absl/time/clock.h"
#include "master/service/job_table.h"
#include "master/store/disk.h"
#include "master/store/event_log.h"
#include "master/store/log_record.h"
#include "proto/wire/encode_event.h"
#include "tests/monitor/virtual_job.h"
#include "tests/scratch_directory.h"
#include "tests/service/eventually.h"
#include "tests/service/published.h"
#include "tests/store/faulty_disk.h"
#include "tests/test.h"
#include "tidemark/master.h"

namespace tidemark::service::recovery_test {
namespace {

namespace fs = std::filesystem;

using test::SilentFor;
using test::Values;

IngestResult Ingest(JobTable& jobs, const Event& event) {
  return jobs.Ingest(wire::EncodeEvent(event), event.arrived_at);
}

class RecoveryTest : public ::testing::Test {
 protected:
  std::string NewDirectory() {
    const std::string directory = root_ + "/" + std::to_string(++directories_);
    fs::create_directory(directory);
    return directory;
  }
  JobTableOptions Options() const {
    JobTableOptions options;
    options.data_dir = directory_;
    options.disk = store::MakeFileDisk(/*sync=*/false);
    return options;
  }
  JobTableOptions OptionsOf(const std::shared_ptr<test::FaultyDisk>& disk) const {
    JobTableOptions options = Options();
    options.disk = disk;
    options.journal = {.commit_interval = absl::ZeroDuration(),
                       .retry_interval = absl::Milliseconds(1)};
    options.pace.interval = absl::Seconds(1);
    return options;
  }
  // Returns the error of a table that cannot start.
  absl::Status StartError() const { return JobTable(Options()).Recover(At(1), 1).status(); }
  // Returns a table that was recovered from the directory, and stores the result in recovery_.
  std::unique_ptr<JobTable> Restart(const std::string& directory, double seconds = 0) {
    JobTableOptions options = Options();
    options.data_dir = directory;
    options.journal.commit_interval = absl::ZeroDuration();
    options.pace.interval = absl::Seconds(1);
    options.checkpoints = checkpoints_;
    options.job.limits = limits_;
    options.past_runs = past_runs_;
    options.hub = hubs_.emplace_back(std::make_unique<JobHub>("i", 1)).get();
    auto jobs = std::make_unique<JobTable>(options);
    const auto recovery = jobs->Recover(At(seconds), 2);
    EXPECT_TRUE(recovery.ok()) << recovery.status();
    if (recovery.ok()) recovery_ = *recovery;
    return jobs;
  }
  // Returns the jobs of the last table, the newest first.
  std::vector<std::string> Ids() const { return test::IdsOf(*hubs_.back()); }
  // Copies the files that would remain if the master were killed now. Returns the directory of the
  // copy.
  std::string CopyOf(const std::string& directory) {
    const std::string copy = NewDirectory();
    fs::copy(directory, copy);
    return copy;
  }
  std::string LogPath(const std::string& job_id = "job-1") const {
    return store::EventLogPath(directory_, job_id);
  }
  static std::string Bytes(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  // Returns when the event is on the disk.
  static void IngestDurably(JobTable& jobs, const Event& event) {
    const IngestResult taken = Ingest(jobs, event);
    EXPECT_TRUE(taken.status.ok()) << taken.status;
    EXPECT_TRUE(jobs.journal().WaitUntilDurable(taken.mark.position));
  }

  static void OpenAndEnd(JobTable& jobs, test::Source source, double seconds = 0) {
    IngestDurably(jobs, source.At(seconds, Opened(1, 1)));
    IngestDurably(jobs, source.At(seconds + 1, Closed()));
    jobs.TickDue(At(seconds + 1));
  }
  // Writes the log of an open job, and then ends its master.
  void WriteLog() { IngestDurably(*Restart(directory_), Source().At(0, Opened(1, 1))); }

  const test::ScratchDirectory scratch_;
  const std::string root_ = scratch_.path();
  std::vector<std::unique_ptr<JobHub>> hubs_;  // each hub outlives its table
  int directories_ = 0;
  std::string directory_ = NewDirectory();
  Recovery recovery_;
  CheckpointOptions checkpoints_;
  JobLimits limits_;
  std::function<std::vector<PastRun>(const std::string&, const store::Reported&)> past_runs_;
};

TEST_F(RecoveryTest, AnEmptyDirectoryContainsNoJobs) {
  const auto jobs = Restart(directory_);
  EXPECT_EQ(recovery_.restored, 0u);
  EXPECT_THAT(Ids(), IsEmpty());
}

TEST_F(RecoveryTest, RestoresTheRunOfRunningAndEndedJobs) {
  auto jobs = Restart(directory_);
  IngestDurably(*jobs, Source("app-master", "running", "r").At(0, Opened(1, 1)));
  OpenAndEnd(*jobs, Source("app-master", "ended", "e"));
  jobs.reset();

  jobs = Restart(directory_, 2);
  EXPECT_EQ(jobs->Newest("running")->run_uid, "r");
  EXPECT_EQ(jobs->Newest("ended")->run_uid, "e");
  IngestDurably(*jobs, Source("attempt 2", "running", "r").At(3, Opened(1, 1)));
  EXPECT_TRUE(absl::IsAlreadyExists(
      Ingest(*jobs, Source("x", "running", "other").At(3, Opened(1, 1))).status));
  EXPECT_TRUE(absl::IsAlreadyExists(
      Ingest(*jobs, Source("attempt 2", "ended", "e").At(3, Opened(1, 1))).status));
  IngestDurably(*jobs, Source("x", "ended", "other").At(3, Opened(1, 1)));
  EXPECT_EQ(jobs->Newest("ended")->state, JobState::kRunning);
}

TEST_F(RecoveryTest, AJobIsRestoredUnderTheLimitsUnderWhichItRan) {
  limits_.reduce_tasks_max = 100'000;
  auto jobs = Restart(directory_);
  Source source;
  IngestDurably(*jobs, source.At(0, Opened(1, 50'000)));
  IngestDurably(*jobs, source.At(1, Started(test::R(49'999))));
  jobs.reset();

  limits_ = {};
  jobs = Restart(directory_, 2);
  EXPECT_EQ(recovery_.restored, 1u);
  EXPECT_THAT(recovery_.damages, IsEmpty());
  // The job has as many attempts as allowed.
  IngestDurably(*jobs, source.At(3, Started(test::R(49'998))));
  jobs.reset();

  jobs = Restart(directory_, 4);
  EXPECT_EQ(recovery_.restored, 1u);
}

TEST_F(RecoveryTest, RejectsTheSameEventsAfterARestart) {
  limits_.attempts_per_task_max = 1;
  auto jobs = Restart(directory_);
  Source source;
  IngestDurably(*jobs, source.At(0, Opened(1, 1)));
  IngestDurably(*jobs, source.At(1, Started(M(0))));
  EXPECT_TRUE(absl::IsResourceExhausted(Ingest(*jobs, source.At(2, Started(M(0, 1)))).status));
  jobs.reset();

  limits_.attempts_per_task_max = 2;
  jobs = Restart(directory_, 3);
  jobs->TickDue(At(4));
  EXPECT_EQ(jobs->Newest("job-1")->coverage->rejected_events, 1u);
  IngestDurably(*jobs, source.At(5, Started(M(0, 1))));
  EXPECT_TRUE(absl::IsResourceExhausted(Ingest(*jobs, source.At(6, Started(M(0, 2)))).status));
}

TEST_F(RecoveryTest, ARestartRestoresTheNewestRunOfAJob) {
  auto jobs = Restart(directory_);
  Source first("app-master", "job-1", "a");
  IngestDurably(*jobs, first.At(0, Opened(1, 1)));
  for (int i = 1; i < 50; ++i) IngestDurably(*jobs, first.At(i, test::Read(M(0), 1)));
  IngestDurably(*jobs, first.At(50, Closed()));
  jobs->TickDue(At(50));
  ASSERT_EQ(jobs->Newest("job-1")->state, JobState::kSucceeded);
  IngestDurably(*jobs, Source("app-master", "job-1", "b").At(60, Opened(2, 2)));
  jobs.reset();

  jobs = Restart(directory_, 61);
  EXPECT_THAT(recovery_.damages, IsEmpty());
  EXPECT_EQ(jobs->Newest("job-1")->run_uid, "b");
  EXPECT_EQ(jobs->Newest("job-1")->state, JobState::kRunning);
  EXPECT_EQ(jobs->TickDue(At(61)).at(0).newest->stages.at(0).tasks, 2u);
}

TEST_F(RecoveryTest, AnOldLogRestoresNoJobUnderAReusedId) {
  // This is a longer log of an ended job, which could not be removed when the job was evicted.
  auto jobs = Restart(directory_);
  Source old;
  IngestDurably(*jobs, old.At(0, Opened(1, 1)));
  for (int i = 1; i < 50; ++i) IngestDurably(*jobs, old.At(i, test::Read(M(0), 1)));
  IngestDurably(*jobs, old.At(50, Closed()));
  jobs->TickDue(At(50));
  jobs.reset();
  const std::string left = root_ + "/left";
  fs::rename(LogPath(), left);
  jobs = Restart(directory_);
  fs::rename(left, LogPath());

  IngestDurably(*jobs, Source().At(60, Opened(2, 2)));
  jobs.reset();
  jobs = Restart(directory_, 61);
  EXPECT_THAT(recovery_.damages, IsEmpty());
  EXPECT_EQ(jobs->Newest("job-1")->state, JobState::kRunning);
  EXPECT_EQ(jobs->Newest("job-1")->started_at, At(60));
}

TEST_F(RecoveryTest, ARemovedJobLeavesNoFileAndItsIdMayBeReusedAtOnce) {
  JobTableOptions options = Options();
  options.jobs_max = 1;
  JobTable jobs(options);
  OpenAndEnd(jobs, Source("app-master", "a"), 0);
  OpenAndEnd(jobs, Source("app-master", "b"), 10);
  EXPECT_FALSE(fs::exists(LogPath("a")));
  OpenAndEnd(jobs, Source("app-master", "a"), 20);
  EXPECT_TRUE(fs::exists(LogPath("a")));
  EXPECT_FALSE(fs::exists(LogPath("b")));
}

TEST_F(RecoveryTest, RestoresJobsInTheOrderOfTheirStarts) {
  auto jobs = Restart(directory_);
  for (const char* id : {"b", "c", "a"}) {
    IngestDurably(*jobs, Source("app-master", id).At(*id, Opened(1, 1)));
  }
  jobs = Restart(CopyOf(directory_));
  EXPECT_EQ(recovery_.restored, 3u);
  EXPECT_THAT(Ids(), ElementsAre("c", "b", "a"));
}

TEST_F(RecoveryTest, ReturnsTheLatestInstantOfRunningJobs) {
  auto jobs = Restart(directory_);
  IngestDurably(*jobs, Source("app-master", "runs").At(5, Opened(1, 1)));
  IngestDurably(*jobs, Source("agent", "runs").At(7, Started(M(0))));
  jobs->TickDue(At(9));
  Source ended("app-master", "ended");
  IngestDurably(*jobs, ended.At(10, Opened(1, 1)));
  IngestDurably(*jobs, ended.At(10, Closed()));
  jobs->TickDue(At(9.5));  // The running job is not due yet.
  jobs = Restart(CopyOf(directory_));
  EXPECT_EQ(recovery_.latest, At(9));
  jobs = Restart(NewDirectory());
  EXPECT_EQ(recovery_.latest, absl::InfinitePast());
}

TEST_F(RecoveryTest, AJobContinuesAtOnceAfterTheClockWasSetBack) {
  const double later = absl::ToDoubleSeconds(absl::Now() + absl::Hours(1) - test::kBegin);
  auto jobs = Restart(directory_);
  IngestDurably(*jobs, Source().At(later, Opened(1, 1)));
  jobs->TickDue(At(later));
  jobs.reset();
  MasterOptions options;
  options.data_dir = directory_;
  options.tick_interval = options.tick_interval_min = absl::Milliseconds(10);
  const auto master = Master::Start(options);
  ASSERT_TRUE(master.ok()) << master.status();
  EXPECT_TRUE(test::Eventually([&] { return (*master)->GetJob("job-1")->at > At(later); }));
}

constexpr CheckpointOptions kAtEveryTick = {.after = absl::ZeroDuration(), .ticks_over = 0};
constexpr CheckpointOptions kNever = {.after = absl::InfiniteDuration()};

class RecoveryWithCheckpoints : public RecoveryTest,
                                public ::testing::WithParamInterface<CheckpointOptions> {};

// One table is never killed, and another one is repeatedly killed at random times. Sources repeat
// unacknowledged events. Both tables must publish the same snapshots.
TEST_P(RecoveryWithCheckpoints, PublishesTheSnapshotsOfAnUninterruptedMaster) {
  checkpoints_ = GetParam();
  const test::Story story = test::Tell(test::QuadraticJob());
  std::mt19937 random(7);
  const auto steady = Restart(directory_);
  std::string directory = NewDirectory();
  auto killed = Restart(directory);
  std::vector<Snapshot> expected;
  std::vector<Snapshot> seen;
  auto event = story.events.begin();
  int kills = 0;
  for (double now = 0; expected.empty() || !expected.back().is_final; now += 2) {
    const auto first = event;
    for (; event != story.events.end() && event->arrived_at <= At(now); ++event) {
      Ingest(*steady, *event);
      Ingest(*killed, *event);
    }
    if (random() % 8 == 0) {
      ++kills;
      directory = CopyOf(directory);  // Contains the bytes that the journal has written so far.
      killed = Restart(directory, now - 2);  // The events are sent again in time.
      for (auto again = first; again != event; ++again) Ingest(*killed, *again);
    }
    for (const Snapshot& snapshot : Values(steady->TickDue(At(now)))) expected.push_back(snapshot);
    for (const Snapshot& snapshot : Values(killed->TickDue(At(now)))) seen.push_back(snapshot);
    ASSERT_LT(now, story.ends + 1000);
  }
  EXPECT_GT(kills, 10);
  EXPECT_EQ(seen, expected);
}

TEST_P(RecoveryWithCheckpoints, ADeadJobStaysTheSameAcrossRestarts) {
  checkpoints_ = GetParam();
  const test::Story story = test::Tell(test::QuadraticJob());
  auto jobs = Restart(directory_);
  const double died = std::floor(0.6 * story.ends);
  auto event = story.events.begin();
  double now = 0;
  for (; now <= died + 60; now += 2) {
    for (; event->arrived_at <= At(std::min(now, died)); ++event) Ingest(*jobs, *event);
    jobs->TickDue(At(now));
  }
  const Snapshot before = *jobs->Newest("job-1");
  ASSERT_GT(SilentFor(before), absl::ZeroDuration());
  ASSERT_GT(before.estimate.fraction_done, 0);
  for (int restarts = 0; restarts < 3; ++restarts, now += 100) {
    jobs = Restart(directory_ = CopyOf(directory_), now);
    for (const double after : {1.0, 3.0, 30.0}) {
      const auto replayed = Restart(CopyOf(directory_), now + after);
      const Snapshot snapshot = *jobs->TickDue(At(now + after)).at(0).newest;
      Snapshot again = *replayed->TickDue(At(now + after)).at(0).newest;
      EXPECT_EQ(again.silent_since, At(now + after));
      again.silent_since = snapshot.silent_since;
      EXPECT_EQ(again, snapshot);
      EXPECT_EQ(snapshot.silent_since, At(now)) << "of the restart";
      EXPECT_EQ(snapshot.estimate.fraction_done, before.estimate.fraction_done);
      EXPECT_EQ(Left(snapshot.estimate), Left(before.estimate));
    }
  }
}
INSTANTIATE_TEST_SUITE_P(AtEveryTickAndNever, RecoveryWithCheckpoints,
                         ::testing::Values(kAtEveryTick, kNever));

// --- checkpoints

// A job with five ticks, and its last snapshot.
class CheckpointTest : public RecoveryTest {
 protected:
  void SetUp() override {
    RecoveryTest::SetUp();
    checkpoints_ = kAtEveryTick;
    auto jobs = Restart(directory_);
    IngestDurably(*jobs, source_.At(0, Opened(2, 1)));
    for (int i = 0; i < 5; ++i) jobs->TickDue(At(i));
    IngestDurably(*jobs, source_.At(5, Started(M(0))));
    newest_ = *jobs->Newest("job-1");
  }
  std::string CheckpointFile() const { return store::CheckpointPath(LogPath()); }
  // Restarts with a copy. Returns the number of jobs that resumed from a checkpoint.
  std::size_t Resumed() {
    const auto jobs = Restart(CopyOf(directory_), 6);
    EXPECT_THAT(Ids(), ElementsAre("job-1"));
    EXPECT_EQ(*jobs->Newest("job-1"), newest_);
    EXPECT_EQ(jobs->TickDue(At(7)).at(0).newest->sequence, newest_.sequence + 1);
    EXPECT_THAT(recovery_.damages, IsEmpty());
    return recovery_.resumed;
  }

  Source source_;
  Snapshot newest_;
};

TEST_F(CheckpointTest, SparesARestartTheEstimatesBefore) { EXPECT_EQ(Resumed(), 1u); }

TEST_F(CheckpointTest, MayBeMissing) {
  fs::remove(CheckpointFile());
  EXPECT_EQ(Resumed(), 0u);
}

TEST_F(CheckpointTest, IsIgnoredIfCorruptOrTorn) {
  const std::string whole = Bytes(CheckpointFile());
  for (std::size_t at = 0; at < whole.size(); at += 1 + whole.size() / 20) {
    std::string corrupt = whole;
    corrupt[at] = static_cast<char>(corrupt[at] + 1);
    std::ofstream(CheckpointFile(), std::ios::binary | std::ios::trunc) << corrupt;
    EXPECT_EQ(Resumed(), 0u) << at;
    std::ofstream(CheckpointFile(), std::ios::binary | std::ios::trunc) << whole.substr(0, at);
    EXPECT_EQ(Resumed(), 0u) << at;
  }
}

// A loss of power has removed the end of the log.
TEST_F(CheckpointTest, IsIgnoredAndRemovedIfAheadOfItsLog) {
  const std::string before = CopyOf(directory_);
  { Restart(directory_, 6)->TickDue(At(7)); }
  fs::copy_file(CheckpointFile(), store::CheckpointPath(store::EventLogPath(before, "job-1")),
                fs::copy_options::overwrite_existing);
  directory_ = before;
  EXPECT_EQ(Resumed(), 0u);
  checkpoints_ = kNever;
  Restart(directory_, 6);
  EXPECT_FALSE(fs::exists(CheckpointFile())) << "it would speak of ticks to come";
}

TEST_F(CheckpointTest, IsIgnoredIfOfAnEarlierRun) {
  const std::string checkpoint = Bytes(CheckpointFile());
  directory_ = NewDirectory();
  {
    auto jobs = Restart(directory_);
    Source source;
    IngestDurably(*jobs, source.At(100, Opened(1, 1)));
    for (int i = 0; i < 6; ++i) newest_ = *jobs->TickDue(At(101 + i)).at(0).newest;
  }
  std::ofstream(CheckpointFile(), std::ios::binary | std::ios::trunc) << checkpoint;
  const auto jobs = Restart(CopyOf(directory_), 200);
  EXPECT_EQ(recovery_.resumed, 0u);
  EXPECT_EQ(*jobs->Newest("job-1"), newest_);
}

TEST_F(CheckpointTest, IsRemovedAtTheEndOfItsJob) {
  ASSERT_TRUE(fs::exists(CheckpointFile()));
  auto jobs = Restart(directory_, 6);
  IngestDurably(*jobs, source_.At(7, Closed()));
  ASSERT_EQ(jobs->TickDue(At(8)).size(), 1u);
  EXPECT_FALSE(fs::exists(CheckpointFile()));
}

TEST_F(CheckpointTest, IsNotWrittenAfterCheapTicks) {
  directory_ = NewDirectory();
  checkpoints_ = {.after = absl::Hours(1), .ticks_over = 0};
  const auto jobs = Restart(directory_);
  IngestDurably(*jobs, Source().At(0, Opened(1, 1)));
  for (int i = 0; i < 9; ++i) jobs->TickDue(At(i));
  EXPECT_FALSE(fs::exists(CheckpointFile()));
}

// --- jobs

// The name arrives between the last tick and the restart.
TEST_F(RecoveryTest, AJobThatWasNamedAfterItsLastTickGetsItsPastRunsAfterARestart) {
  std::vector<std::string> names;
  past_runs_ = [&](const std::string& name, const store::Reported&) {
    names.push_back(name);
    return std::vector<PastRun>();
  };
  {
    const auto jobs = Restart(directory_);
    Source task("task");
    IngestDurably(*jobs, task.At(0, JobOpened{.stages = MapReduceStages(1, 1)}));
    jobs->TickDue(At(1));
    Source app;
    IngestDurably(*jobs, app.At(2, Opened(1, 1)));
  }
  const std::string name = Opened(1, 1).name;
  Restart(directory_, 3)->TickDue(At(4));
  EXPECT_THAT(names, ::testing::ElementsAre("", name));
  // The log now contains a tick with the name.
  Restart(directory_, 5)->TickDue(At(6));
  EXPECT_THAT(names, ::testing::ElementsAre("", name));
}

TEST_F(RecoveryTest, RepeatedEventsCountOnce) {
  auto jobs = Restart(directory_);
  Source source;
  const std::vector<Event> events = {source.At(0, Opened(2, 1)), source.At(1, Started(M(0))),
                                     source.At(2, Started(M(1)))};
  for (const Event& event : events) IngestDurably(*jobs, event);
  const std::string copy = CopyOf(directory_);
  jobs = Restart(copy, 3);
  for (const Event& event : events) EXPECT_TRUE(Ingest(*jobs, event).status.ok());
  const std::vector<Snapshot> ticked = Values(jobs->TickDue(At(4)));
  ASSERT_EQ(ticked.size(), 1u);
  EXPECT_EQ(ticked[0].coverage->lost_events, 0u);
  EXPECT_EQ(ticked[0].coverage->anomalies, 0u);
}

TEST_F(RecoveryTest, SequencesContinueAfterARestart) {
  auto jobs = Restart(directory_);
  IngestDurably(*jobs, Source().At(0, Opened(1, 1)));
  for (int i = 0; i < 5; ++i) jobs->TickDue(At(i));
  EXPECT_EQ(jobs->Newest("job-1")->sequence, 5u);
  jobs = Restart(CopyOf(directory_), 5);
  EXPECT_EQ(jobs->Newest("job-1")->sequence, 5u);
  EXPECT_EQ(jobs->TickDue(At(6)).at(0).newest->sequence, 6u);
}

TEST_F(RecoveryTest, AJobThatHadEndedKeepsItsFinalSnapshotAndTicksNoMore) {
  auto jobs = Restart(directory_);
  Source source;
  IngestDurably(*jobs, source.At(0, Opened(1, 1)));
  IngestDurably(*jobs, source.At(1, Closed()));
  const std::vector<Snapshot> ticked = Values(jobs->TickDue(At(2)));
  ASSERT_EQ(ticked.size(), 1u);
  jobs = Restart(CopyOf(directory_), 1000);
  EXPECT_EQ(*jobs->Newest("job-1"), ticked[0]);
  EXPECT_THAT(jobs->TickDue(At(5000)), IsEmpty());
}

TEST_F(RecoveryTest, SilenceDuringARestartEndsNoJob) {
  auto jobs = Restart(directory_);
  IngestDurably(*jobs, Source().At(0, Opened(1, 1)));
  jobs = Restart(CopyOf(directory_), 10'000);
  EXPECT_EQ(jobs->TickDue(At(10'001)).at(0).newest->state, JobState::kRunning);
  EXPECT_EQ(jobs->TickDue(At(20'000)).at(0).newest->state, JobState::kAbandoned);
}

TEST_F(RecoveryTest, ARemovedJobStaysRemoved) {
  JobTableOptions options = Options();
  options.jobs_max = 1;
  {
    JobTable jobs(options);
    OpenAndEnd(jobs, Source());
    IngestDurably(jobs, Source("app-master", "job-2").At(3, Opened(1, 1)));
  }
  const auto jobs = Restart(directory_);
  EXPECT_THAT(Ids(), ElementsAre("job-2"));
}

// If the log were removed before its last record was written, the journal would wait forever.
TEST_F(RecoveryTest, EvictsAJobOnlyAfterItsEndIsDurable) {
  OpenAndEnd(*Restart(directory_), Source());
  const std::string log = Bytes(LogPath());
  fs::resize_file(LogPath(), log.size() - store::EndFrameBytes(log.data() + log.size() - 4));
  JobTableOptions options = Options();
  options.journal.commit_interval = absl::Milliseconds(50);
  options.jobs_max = 1;
  JobTable jobs(options);
  ASSERT_TRUE(jobs.Recover(At(3), 1).ok());
  IngestDurably(jobs, Source("app-master", "job-2").At(4, Opened(1, 1)));
  EXPECT_FALSE(fs::exists(LogPath()));
}

TEST_F(RecoveryTest, RenamesACopyOfALog) {
  WriteLog();
  fs::copy_file(LogPath(), directory_ + "/a-copy.tidemark-log");
  const auto jobs = Restart(directory_, 5);
  EXPECT_EQ(recovery_.restored, 1u);
  EXPECT_THAT(recovery_.damages,
              ElementsAre(AllOf(HasSubstr("a-copy"), HasSubstr("under a different name"))));
  EXPECT_TRUE(fs::exists(LogPath()));
}

// --- damage

TEST_F(RecoveryTest, CutsATornTailAndNothingBefore) {
  auto jobs = Restart(directory_);
  Source source;
  IngestDurably(*jobs, source.At(0, Opened(2, 1)));
  const std::size_t whole = Bytes(LogPath()).size();
  IngestDurably(*jobs, source.At(1, Started(M(0))));
  jobs.reset();
  const std::string all = Bytes(LogPath());
  for (std::size_t length = whole; length < all.size(); ++length) {
    std::ofstream(LogPath(), std::ios::binary | std::ios::trunc) << all.substr(0, length);
    jobs = Restart(directory_, 2);
    ASSERT_THAT(Ids(), ElementsAre("job-1")) << length;
    EXPECT_EQ(recovery_.records, 1u);
    EXPECT_EQ(recovery_.damages.size(), length == whole ? 0u : 1u);
    // The log continues after its complete records.
    IngestDurably(*jobs, source.At(3, Started(M(1))));
    jobs.reset();
    const auto restored = store::RestoreJob(LogPath());
    ASSERT_TRUE(restored.ok()) << restored.status();
    EXPECT_TRUE(restored->torn.ok()) << restored->torn;
    EXPECT_THAT(restored->damages, IsEmpty());
    EXPECT_EQ(restored->records, 3u) << "opened, restarted, started";
  }
}

TEST_F(RecoveryTest, StoresAndReportsACutTail) {
  Restart(directory_);
  WriteLog();
  std::ofstream(LogPath(), std::ios::binary | std::ios::app) << "garbage";
  Restart(directory_);
  EXPECT_EQ(Bytes(LogPath() + ".cut"), "garbage");
  EXPECT_THAT(recovery_.damages,
              ElementsAre(AllOf(HasSubstr("job-1"), HasSubstr("torn record"), HasSubstr(".cut"))));
}

TEST_F(RecoveryTest, TreatsZerosAtTheEndAsATornTail) {
  auto jobs = Restart(directory_);
  Source source;
  IngestDurably(*jobs, source.At(0, Opened(2, 1)));
  jobs->TickDue(At(1));
  jobs.reset();
  const std::uint64_t whole = fs::file_size(LogPath());
  fs::resize_file(LogPath(), whole + (std::uint64_t{8} << 20));
  jobs = Restart(directory_, 2);
  EXPECT_THAT(recovery_.damages,
              ElementsAre(HasSubstr("torn record at byte " + std::to_string(whole))));
  jobs->TickDue(At(3));
  const Snapshot shown = *jobs->Newest("job-1");
  EXPECT_THAT(shown.notes, IsEmpty());
  EXPECT_EQ(shown.sequence, 2u) << "no tick was lost";
}

TEST_F(RecoveryTest, StoresASecondCutTailSeparately) {
  WriteLog();
  for (const char* const tail : {"first", "second"}) {
    std::ofstream(LogPath(), std::ios::binary | std::ios::app) << tail;
    Restart(directory_);
  }
  EXPECT_EQ(Bytes(LogPath() + ".cut"), "first");
  EXPECT_EQ(Bytes(LogPath() + ".cut.2"), "second");
  EXPECT_THAT(recovery_.damages, ElementsAre(HasSubstr(".cut.2")));
}

// A job whose journal contains many events of two sources, and a tick after every tenth event.
class DamagedJournal : public RecoveryTest {
 protected:
  static constexpr int kEvents = 400;

  void SetUp() override {
    RecoveryTest::SetUp();
    auto jobs = Restart(directory_);
    IngestDurably(*jobs, source_.At(0, Opened(2, 1)));
    IngestDurably(*jobs, source_.At(1, Started(M(0), 1000)));
    for (int i = 2; i < kEvents; ++i) {
      if (i == kEvents / 2) middle_ = Bytes(LogPath()).size();
      IngestDurably(*jobs, source_.At(i, test::Read(M(0), static_cast<std::uint64_t>(i))));
      if (i % 10 == 0) jobs->TickDue(At(i));
    }
    jobs->TickDue(At(kEvents));
    newest_ = *jobs->Newest("job-1");
  }
  void Flip(std::size_t position) const {
    std::string bytes = Bytes(LogPath());
    bytes[position] = static_cast<char>(bytes[position] ^ 0x10);
    std::ofstream(LogPath(), std::ios::binary | std::ios::trunc) << bytes;
  }

  Source source_;
  std::size_t middle_ = 0;
  Snapshot newest_;  // the last published snapshot
};

TEST_F(DamagedJournal, AFlippedBitCostsOneEvent) {
  const std::size_t size = Bytes(LogPath()).size();
  Restart(directory_, 500);
  const std::uint64_t records = recovery_.records;
  fs::resize_file(LogPath(), size);
  Flip(middle_ + 30);
  const auto jobs = Restart(directory_, 500);
  EXPECT_EQ(recovery_.restored, 1u);
  EXPECT_EQ(recovery_.records, records - 1);
  EXPECT_THAT(recovery_.damages, ElementsAre(AllOf(HasSubstr("job-1"), HasSubstr("damaged at byte"),
                                                   HasSubstr("1 record was probably lost"))));
}

TEST_F(DamagedJournal, NotifiesWatchersOfDamageAtOnceAndAfterEveryRestart) {
  Flip(middle_ + 30);
  std::string note;
  for (int restarts = 0; restarts < 3; ++restarts) {
    const auto jobs = Restart(directory_, 500 + restarts);
    const Snapshot told = *jobs->Newest("job-1");
    EXPECT_EQ(told.coverage->lost_events, 1u);
    ASSERT_EQ(told.notes.size(), 1u);
    EXPECT_THAT(told.notes[0], AllOf(HasSubstr("log of this job was damaged at byte"),
                                     HasSubstr("about 1 record was lost")));
    EXPECT_TRUE(note.empty() || note == told.notes[0]);
    note = told.notes[0];
    EXPECT_EQ(jobs->TickDue(At(600 + restarts)).at(0).newest->notes, told.notes);
  }
}

TEST_F(DamagedJournal, NeverReusesAPublishedSequence) {
  const std::string whole = Bytes(LogPath());
  for (std::size_t position = whole.size() - 200; position < whole.size(); position += 9) {
    std::ofstream(LogPath(), std::ios::binary | std::ios::trunc) << whole;
    Flip(position);
    const Snapshot after = *Restart(directory_, 500)->Newest("job-1");
    ASSERT_GT(after.sequence, newest_.sequence) << position;
    ASSERT_EQ(after.notes.size(), 1u) << position;
  }
}

TEST_F(DamagedJournal, AFlippedBitNeverCostsTheOpeningEvent) {
  const std::string whole = Bytes(LogPath());
  for (std::size_t position = 0; position < 400; position += 7) {
    std::ofstream(LogPath(), std::ios::binary | std::ios::trunc) << whole;
    Flip(position);
    const auto jobs = Restart(directory_, 500);
    ASSERT_EQ(recovery_.restored, 1u) << position;
    ASSERT_EQ(recovery_.damages.size(), 1u) << position;
    ASSERT_EQ(jobs->Newest("job-1")->started_at, newest_.started_at) << position;
  }
}

TEST_F(DamagedJournal, ContinuesAfterDamageThatStaysInPlace) {
  Flip(middle_ + 30);
  const std::string damaged = Bytes(LogPath());
  {
    const auto jobs = Restart(directory_, 500);
    IngestDurably(*jobs, source_.At(501, test::Read(M(0), 500)));
  }
  EXPECT_EQ(Bytes(LogPath()).substr(0, damaged.size()), damaged);
  EXPECT_FALSE(fs::exists(LogPath() + ".cut"));
  const auto restored = store::RestoreJob(LogPath());
  ASSERT_TRUE(restored.ok()) << restored.status();
  EXPECT_EQ(restored->monitor.accepted_sequence("app-master"), kEvents + 1u);
}

TEST_F(DamagedJournal, IgnoresACheckpointAfterDamageAndUsesAnEarlierOne) {
  checkpoints_ = {.after = absl::ZeroDuration(), .ticks_over = 0};
  std::string before;
  {
    const auto jobs = Restart(directory_, 500);
    jobs->TickDue(At(501));
    before = CopyOf(directory_);
    IngestDurably(*jobs, source_.At(502, test::Read(M(0), 500)));
    IngestDurably(*jobs, source_.At(503, test::Read(M(0), 501)));
  }
  const std::size_t after_checkpoint = Bytes(store::EventLogPath(before, "job-1")).size();
  Flip(after_checkpoint + 30);
  Restart(CopyOf(directory_), 600);
  EXPECT_EQ(recovery_.resumed, 1u);
  Flip(middle_ + 30);
  const auto jobs = Restart(CopyOf(directory_), 600);
  EXPECT_EQ(recovery_.resumed, 0u);
  EXPECT_EQ(jobs->Newest("job-1")->coverage->lost_events, 2u);
}

TEST_F(RecoveryTest, ADirectoryOfAnEarlierVersionPreventsTheStart) {
  std::ofstream(LogPath(), std::ios::binary) << "TIDELOG2" << std::string(100, 'x');
  EXPECT_THAT(std::string(StartError().message()), HasSubstr("was written by an earlier version"));
  EXPECT_TRUE(fs::exists(LogPath())) << "it is left as it is";
}

// A sender may end its event with any bytes, including the last record of an ended job.
TEST_F(RecoveryTest, AnEventWithTheBytesOfAnEndEndsNoJob) {
  {
    const auto jobs = Restart(directory_);
    Source source;
    IngestDurably(*jobs, source.At(0, Opened(1, 1)));
    const Event event = source.At(1, Started(M(0)));
    wire::ReceivedEvent received = wire::EncodeEvent(event);
    Snapshot final = *jobs->Newest("job-1");
    final.state = JobState::kSucceeded;
    final.is_final = true;
    std::string end;
    store::EncodeEnd({.final = final, .sources = {}, .opened_at = At(0)}, store::LogKey{1}, end);
    // The body contains a field that no version defines.
    received.body += std::string("\xfa\x7f", 2) + static_cast<char>(end.size() | 0x80) +
                     static_cast<char>(end.size() >> 7) + end;
    const IngestResult taken = jobs->Ingest(received, At(1));
    ASSERT_TRUE(taken.status.ok()) << taken.status;
    ASSERT_TRUE(jobs->journal().WaitUntilDurable(taken.mark.position));
  }
  EXPECT_EQ(Restart(directory_, 2)->Newest("job-1")->state, JobState::kRunning);
}

// Code expects each stage at its position among the stages.
TEST_F(RecoveryTest, RejectsASnapshotWithUnknownStages) {
  Snapshot final = {.job_id = "job-1", .sequence = 1, .at = At(1), .is_final = true};
  const std::string path = root_ + "/checkpoint";
  const auto is_read = [&] {
    std::string end;
    store::EncodeEnd({.final = final, .sources = {}, .opened_at = At(0)}, store::LogKey{7}, end);
    EXPECT_TRUE(store::WriteCheckpoint(path, {final, "monitor"}).ok());
    const bool has_end = store::DecodeEnd(end, store::LogKey{7}).has_value();
    EXPECT_EQ(has_end, store::ReadCheckpoint(path).has_value());
    return has_end;
  };
  EXPECT_TRUE(is_read());
  final.stages = {{.id = {0, 1}}};
  EXPECT_FALSE(is_read());
  final.stage_infos = {{.id = {0, 0}}};
  EXPECT_FALSE(is_read());
  final.stage_infos = {{.id = {0, 1}}};
  EXPECT_TRUE(is_read());
}

// --- a human-readable trace

TEST_F(RecoveryTest, TheTraceContinuesAfterARestart) {
  JobTableOptions options = Options();
  options.event_log_dir = NewDirectory();
  const std::string trace = store::EventLogPath(options.event_log_dir, "job-1");
  Source source;
  {
    JobTable jobs(options);
    IngestDurably(jobs, source.At(0, Opened(1, 1)));
    jobs.TickDue(At(1));
    IngestDurably(jobs, source.At(2, Started(M(0))));
  }
  // Removes bytes that a killed process would not have written.
  fs::resize_file(trace, fs::file_size(trace) - 5);
  std::vector<Snapshot> live;
  {
    JobTable jobs(options);
    ASSERT_TRUE(jobs.Recover(At(3), 1).ok());
    live = Values(jobs.TickDue(At(4)));
    ASSERT_EQ(live.size(), 1u);
    EXPECT_THAT(live[0].notes, IsEmpty());
  }
  EXPECT_EQ(Bytes(trace), Bytes(LogPath()));
  const auto replayed = store::RestoreJob(trace);
  ASSERT_TRUE(replayed.ok()) << replayed.status();
  EXPECT_EQ(replayed->newest, live[0]);
}

TEST_F(RecoveryTest, ATraceInTheFolderOfTheJournalIsTheJournal) {
  WriteLog();
  const std::string log = Bytes(LogPath());
  JobTableOptions options = Options();
  options.event_log_dir = directory_ + "/.";
  EXPECT_EQ(JobTable(options).Recover(At(1), 1)->restored, 1u);
  EXPECT_EQ(Bytes(LogPath()).substr(0, log.size()), log);
  Restart(directory_, 2);
  EXPECT_EQ(recovery_.restored, 1u);
}

TEST_F(RecoveryTest, NotesATraceThatCannotContinue) {
  WriteLog();
  JobTableOptions options = Options();
  options.event_log_dir = directory_ + "/gone";
  JobTable jobs(options);
  ASSERT_TRUE(jobs.Recover(At(3), 1).ok());
  EXPECT_THAT(jobs.TickDue(At(4)).at(0).newest->notes,
              ElementsAre(AllOf(HasSubstr("the event log ends here"), HasSubstr("gone"))));
}

// --- other files

TEST_F(RecoveryTest, RenamesADirectoryWithTheNameOfALog) {
  fs::create_directory(LogPath("other"));
  fs::create_directory(store::CheckpointPath(LogPath()));
  auto jobs = Restart(directory_);
  EXPECT_THAT(recovery_.damages, ElementsAre(HasSubstr("other.tidemark-log.damaged")));
  IngestDurably(*jobs, Source().At(0, Opened(1, 1)));
  jobs.reset();
  jobs = Restart(directory_);
  EXPECT_EQ(recovery_.restored, 1u);
}

TEST_F(RecoveryTest, IgnoresAPipeWithTheNameOfALog) {
  ASSERT_EQ(::mkfifo(LogPath("other").c_str(), 0600), 0);
  Restart(directory_);
  EXPECT_EQ(recovery_.restored, 0u);
  EXPECT_THAT(recovery_.damages, IsEmpty());
}

TEST_F(RecoveryTest, RenamesASecondFileSeparately) {
  for (const char* const text : {"first", "second"}) {
    std::ofstream(LogPath(), std::ios::binary) << text;
    Restart(directory_);
  }
  EXPECT_EQ(Bytes(LogPath() + ".damaged"), "first");
  EXPECT_EQ(Bytes(LogPath() + ".damaged.2"), "second");
}

TEST_F(RecoveryTest, RenamesAnUnusableLogAndRestoresTheOthers) {
  WriteLog();
  std::ofstream(LogPath("other"), std::ios::binary) << "TIDE";
  const auto jobs = Restart(directory_);
  EXPECT_THAT(Ids(), ElementsAre("job-1"));
  EXPECT_THAT(recovery_.damages, ElementsAre(HasSubstr("other.tidemark-log.damaged")));
  EXPECT_TRUE(fs::exists(LogPath("other") + ".damaged"));
}

// Runs without root's permissions.
class AsNobody {
 public:
  AsNobody() {
    if (geteuid() == 0) switched_ = seteuid(65534) == 0;
  }
  ~AsNobody() {
    if (switched_ && seteuid(0) != 0) abort();
  }

 private:
  bool switched_ = false;
};

TEST_F(RecoveryTest, LeavesALogWithoutPermissionUnchanged) {
  WriteLog();
  fs::permissions(root_, fs::perms::all);
  fs::permissions(directory_, fs::perms::all);
  fs::permissions(LogPath(), fs::perms::none);
  {
    const AsNobody nobody;
    const absl::Status error = StartError();
    EXPECT_TRUE(absl::IsPermissionDenied(error)) << error;
  }
  EXPECT_TRUE(fs::exists(LogPath()));
  fs::permissions(LogPath(), fs::perms::owner_all);
  const auto jobs = Restart(directory_, 2);
  EXPECT_NE(jobs->Newest("job-1"), nullptr);
}

// Another process, which writes a file through a disk until this object is destroyed.
class OtherWriter {
 public:
  explicit OtherWriter(const std::string& path) {
    std::array<int, 2> told;
    if (pipe(told.data()) != 0) return;
    pid_ = fork();
    if (pid_ == 0) {
      const auto disk = store::MakeFileDisk(/*sync=*/false);
      const auto file = disk->Open(path);
      if (file.ok() && write(told[1], "!", 1) == 1) pause();
      _exit(1);
    }
    close(told[1]);
    char sign = 0;
    is_open_ = read(told[0], &sign, 1) == 1;
    close(told[0]);
  }
  OtherWriter(const OtherWriter&) = delete;
  OtherWriter& operator=(const OtherWriter&) = delete;
  ~OtherWriter() {
    if (pid_ <= 0) return;
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  bool is_open() const { return is_open_; }
  pid_t pid() const { return pid_; }

 private:
  pid_t pid_ = -1;
  bool is_open_ = false;
};

TEST_F(RecoveryTest, AJobContinuesAtAnotherMasterAfterItsFilesWereMoved) {
  Source source;
  auto jobs = Restart(directory_);
  IngestDurably(*jobs, source.At(0, Opened(1, 1)));
  jobs.reset();
  const std::string other = NewDirectory();
  IngestDurably(*Restart(other), Source("app-master", "job-2").At(0, Opened(1, 1)));
  fs::rename(LogPath(), other + "/" + fs::path(LogPath()).filename().string());
  jobs = Restart(other, 2);
  EXPECT_EQ(recovery_.restored, 2u);
  EXPECT_THAT(recovery_.damages, IsEmpty());
  EXPECT_NE(jobs->Newest("job-1"), nullptr);
  EXPECT_NE(jobs->Newest("job-2"), nullptr);
  IngestDurably(*jobs, source.At(3, Started(M(0))));
  jobs = Restart(directory_, 4);
  EXPECT_EQ(jobs->Newest("job-1"), nullptr);
}

TEST_F(RecoveryTest, ALogOfAnotherProcessPreventsTheStart) {
  WriteLog();
  {
    const OtherWriter writer(LogPath());
    ASSERT_TRUE(writer.is_open());
    EXPECT_EQ(store::WriterOf(LogPath()), writer.pid());
    const absl::Status error = StartError();
    EXPECT_TRUE(absl::IsUnavailable(error)) << error;
    EXPECT_THAT(std::string(error.message()),
                AllOf(HasSubstr(LogPath()), HasSubstr(std::to_string(writer.pid()))));
  }
  EXPECT_FALSE(store::WriterOf(LogPath()).has_value());
  const auto jobs = Restart(directory_, 2);
  EXPECT_NE(jobs->Newest("job-1"), nullptr);
}

TEST_F(RecoveryTest, AWorkflowLogOfAnotherProcessPreventsAllRepairs) {
  WriteLog();
  const auto size = fs::file_size(LogPath());
  const std::string plan = directory_ + "/plan.tidemark-workflow";
  std::ofstream(plan).put('x');
  const OtherWriter writer(plan);
  ASSERT_TRUE(writer.is_open());
  const absl::Status error = StartError();
  EXPECT_TRUE(absl::IsUnavailable(error)) << error;
  EXPECT_THAT(std::string(error.message()), HasSubstr(plan));
  EXPECT_EQ(fs::file_size(LogPath()), size);
}

// Returns true if a process has a lock on the file. Checks the lock from outside, since opening and
// closing the file would release the POSIX locks of this process.
bool IsLocked(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  struct flock lock = {};
  lock.l_type = F_RDLCK;
  lock.l_whence = SEEK_SET;
  const bool is_known = fcntl(fd, F_OFD_GETLK, &lock) == 0;
  close(fd);
  return is_known && lock.l_type != F_UNLCK;
}

TEST_F(RecoveryTest, ARestartedMasterKeepsTheLocksOnItsLogs) {
  WriteLog();
  const auto jobs = Restart(directory_, 1);
  IngestDurably(*jobs, Source("agent").At(2, Started(M(0))));
  ASSERT_TRUE(store::RecoverWorkflows(directory_, {}).ok());
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(IsLocked(LogPath()));
  EXPECT_EQ(store::WriterOf(LogPath()), getpid());
}

TEST_F(RecoveryTest, AnEndedRunReleasesItsLogAndItsSuccessorKeepsTheLock) {
  const auto jobs = Restart(directory_);
  Source first("app-master", "job-1", "a");
  // A stream keeps its mark in the same way.
  const IngestResult held = Ingest(*jobs, first.At(0, Opened(1, 1)));
  IngestDurably(*jobs, first.At(1, Closed()));
  EXPECT_TRUE(IsLocked(LogPath()));
  jobs->TickDue(At(1));
  EXPECT_FALSE(IsLocked(LogPath()));
  ASSERT_NE(held.mark.log, nullptr);
  IngestDurably(*jobs, Source("app-master", "job-1", "b").At(2, Opened(2, 2)));
  EXPECT_TRUE(IsLocked(LogPath()));
  EXPECT_TRUE(IsLocked(LogPath()));
}

TEST_F(RecoveryTest, NeitherReplacesNorRemovesAFileOfAnotherProcess) {
  const std::string path = directory_ + "/moved.tidemark-log";
  std::ofstream(path) << "its records";
  const OtherWriter writer(path);
  ASSERT_TRUE(writer.is_open());
  const auto disk = store::MakeFileDisk(/*sync=*/false);
  for (const absl::Status& refused :
       {disk->Create(path).status(), disk->Open(path).status(), disk->Remove(path),
        store::EventLogWriter::Begin(path, "start", store::NewLogKey()).status(),
        store::EventLogWriter::Continue(path, path, 1, store::NewLogKey()).status()}) {
    EXPECT_TRUE(absl::IsUnavailable(refused)) << refused;
    EXPECT_THAT(std::string(refused.message()),
                AllOf(HasSubstr(path), HasSubstr(std::to_string(writer.pid()))));
  }
  EXPECT_EQ(Bytes(path), "its records");
}

TEST_F(RecoveryTest, AnEndedJobKeepsItsTasksAndForecastsAfterARestart) {
  const test::Story story = test::Tell(test::QuadraticJob());
  auto jobs = Restart(directory_);
  auto event = story.events.begin();
  for (double now = 0; event != story.events.end(); now += 2) {
    for (; event != story.events.end() && event->arrived_at <= At(now); ++event) {
      Ingest(*jobs, *event);
    }
    jobs->TickDue(At(now));
  }
  ASSERT_TRUE(jobs->Newest("job-1")->is_final);
  const TaskQuery all = {.tasks_max = 2000};
  EXPECT_FALSE(jobs->MustLoadTasks("job-1"));
  const auto tasks = jobs->ListTasks("job-1", all, At(0));
  const auto forecasts = jobs->ListForecasts("job-1");
  ASSERT_TRUE(tasks.ok()) << tasks.status();
  ASSERT_TRUE(forecasts.ok()) << forecasts.status();
  ASSERT_THAT(tasks->tasks.tasks, Not(IsEmpty()));
  ASSERT_THAT(forecasts->forecasts, Not(IsEmpty()));
  jobs.reset();

  jobs = Restart(directory_, 10'000);
  const auto kept = jobs->ListForecasts("job-1");
  ASSERT_TRUE(kept.ok()) << kept.status();
  ASSERT_EQ(kept->forecasts.size(), forecasts->forecasts.size());
  for (std::size_t i = 0; i < kept->forecasts.size(); ++i) {
    const PastForecast& after = kept->forecasts[i];
    const PastForecast& before = forecasts->forecasts[i];
    EXPECT_EQ(after.at, before.at);
    EXPECT_EQ(after.fraction_done_lower, before.fraction_done_lower);
    EXPECT_EQ(after.fraction_done_upper, before.fraction_done_upper);
    ASSERT_EQ(after.ends_at.has_value(), before.ends_at.has_value());
    if (!after.ends_at) continue;
    // Logs contain whole nanoseconds.
    EXPECT_LT(absl::AbsDuration(*after.ends_at - *before.ends_at), absl::Nanoseconds(2));
  }
  ASSERT_TRUE(jobs->MustLoadTasks("job-1"));
  jobs->LoadTasks("job-1");
  EXPECT_FALSE(jobs->MustLoadTasks("job-1"));
  const auto again = jobs->ListTasks("job-1", all, At(10'000));
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(again->tasks.at, tasks->tasks.at);
  EXPECT_EQ(again->tasks.began_at, tasks->tasks.began_at);
  EXPECT_EQ(again->tasks.tasks, tasks->tasks.tasks);
  EXPECT_EQ(again->tasks.hosts, tasks->tasks.hosts);
}

TEST_F(RecoveryTest, TasksOfAnEndedJobWhoseLogIsGoneAreNotKept) {
  OpenAndEnd(*Restart(directory_), Source());
  const auto jobs = Restart(directory_, 2);
  fs::remove(LogPath());
  jobs->LoadTasks("job-1");
  EXPECT_TRUE(absl::IsFailedPrecondition(jobs->ListTasks("job-1", {}, At(3)).status()));
}

TEST_F(RecoveryTest, AMissingDirectoryIsAnError) {
  directory_ += "/gone";
  EXPECT_TRUE(absl::IsNotFound(StartError()));
}

TEST_F(RecoveryTest, ADirectoryServesOneMasterAtATime) {
  auto first = store::DirectoryLock::Acquire(directory_);
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_TRUE(absl::IsUnavailable(store::DirectoryLock::Acquire(directory_).status()));
  { const store::DirectoryLock ends = *std::move(first); }
  EXPECT_TRUE(store::DirectoryLock::Acquire(directory_).ok());
}

// --- full disks and unwritable logs

TEST_F(RecoveryTest, AJobWithAnUnwritableLogDelaysNoOther) {
  const auto disk = std::make_shared<test::FaultyDisk>();
  JobTable jobs(OptionsOf(disk));
  Source good("app-master", "good");
  IngestDurably(jobs, good.At(0, Opened(2, 1)));
  disk->BreakFile(LogPath("bad"), absl::ResourceExhaustedError("too many open files"));
  const IngestResult held = Ingest(jobs, Source("app-master", "bad").At(0, Opened(1, 1)));
  for (int i = 1; i < 10; ++i) {
    const IngestResult taken = Ingest(jobs, good.At(i, Started(M(0))));
    while (!jobs.journal().IsDurable(taken.mark)) absl::SleepFor(absl::Milliseconds(1));
    const std::vector<Snapshot> ticked = Values(jobs.TickDue(At(i)));
    ASSERT_EQ(ticked.size(), 1u) << i;
    EXPECT_EQ(ticked[0].job_id, "good");
  }
  EXPECT_FALSE(jobs.journal().IsDurable(held.mark));
  disk->BreakFile(LogPath("bad"), absl::OkStatus());
  while (!jobs.journal().IsDurable(held.mark)) absl::SleepFor(absl::Milliseconds(1));
  EXPECT_EQ(jobs.TickDue(At(20)).size(), 2u);
}

TEST_F(RecoveryTest, AFullDiskDelaysAnswersAndSnapshotsUntilThereIsSpace) {
  const auto disk = std::make_shared<test::FaultyDisk>();
  JobTable jobs(OptionsOf(disk));
  Source source;
  IngestDurably(jobs, source.At(0, Opened(2, 1)));
  ASSERT_EQ(jobs.TickDue(At(1)).size(), 1u);
  disk->Break(absl::ResourceExhaustedError("no space left on device"));
  const IngestResult held = Ingest(jobs, source.At(2, Started(M(0))));
  EXPECT_TRUE(held.status.ok()) << "it is kept in memory, but ...";
  EXPECT_FALSE(jobs.journal().WaitUntilDurable(held.mark.position)) << "... not acknowledged";
  EXPECT_THAT(jobs.TickDue(At(3)), IsEmpty());
  EXPECT_EQ(jobs.Newest("job-1")->sequence, 1u);
  disk->Break(absl::OkStatus());
  while (jobs.journal().durable() < held.mark.position || !jobs.journal().status().ok()) {
    absl::SleepFor(absl::Milliseconds(1));
  }
  const std::vector<Snapshot> ticked = Values(jobs.TickDue(At(5)));
  ASSERT_EQ(ticked.size(), 1u);
  EXPECT_EQ(ticked[0].sequence, 2u);
}

// The journal checks its space between batches. If the disk is blocked, at most the journal's limit
// and one batch wait.
TEST_F(RecoveryTest, TheLargestBatchOfSmallEventsTakesLittleOfTheJournal) {
  const auto disk = std::make_shared<test::FaultyDisk>();
  JobTable jobs(OptionsOf(disk));
  const std::string longest(128, 'x');
  Source source(longest, "job-1", longest);
  IngestDurably(jobs, source.At(0, Opened(2, 1)));
  disk->Break(absl::ResourceExhaustedError("no space left on device"));
  for (int i = 0; i < 10'000; ++i) {
    EXPECT_TRUE(Ingest(jobs, source.At(2, UnknownEvent{})).status.ok());
  }
  EXPECT_GE(jobs.journal().waiting_bytes(), 10'000u);
  EXPECT_LT(jobs.journal().waiting_bytes(), std::size_t{6} << 20);
  disk->Break(absl::OkStatus());
}

}  // namespace
}  // namespace tidemark::service::recovery_test
