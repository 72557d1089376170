#include "master/service/job_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <random>
#include <string>

namespace tidemark::service {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

Snapshot Job(const std::string& id, std::uint64_t sequence, JobState state = JobState::kRunning) {
  Snapshot snapshot = {.job_id = id, .sequence = sequence, .state = state};
  snapshot.stages = {{.id = {0, 0}}};
  return snapshot;
}

void Publish(JobList& list, const Snapshot& snapshot) {
  list.Publish(std::make_shared<Snapshot>(snapshot));
}

JobListCursor Open(const JobList& list, const std::string& token = "", JobFilter filter = {}) {
  return JobListCursor::Open(list, std::move(filter), View::kBasic, token).value();
}

std::vector<std::string> Ids(const JobListCursor::Update& update) {
  std::vector<std::string> ids;
  for (const auto& job : update.snapshots) ids.push_back(job->job_id);
  return ids;
}

TEST(JobList, AWatcherGetsAllJobsThenWhatChanges) {
  JobList list("m1");
  Publish(list, Job("a", 1));
  Publish(list, Job("b", 1));
  JobListCursor cursor = Open(list);
  const auto all = cursor.Take(list, 10);
  EXPECT_THAT(Ids(all), ElementsAre("a", "b"));
  EXPECT_TRUE(all.synced);
  EXPECT_FALSE(all.restarted);
  EXPECT_FALSE(cursor.has_next(list));
  Publish(list, Job("a", 2));
  EXPECT_THAT(Ids(cursor.Take(list, 10)), ElementsAre("a"));
}

TEST(JobList, WithoutJobsAWatcherIsSyncedAtOnce) {
  JobList list("m1");
  JobListCursor cursor = Open(list);
  ASSERT_TRUE(cursor.has_next(list));
  EXPECT_TRUE(cursor.Take(list, 10).synced);
  EXPECT_FALSE(cursor.has_next(list));
}

TEST(JobList, ASlowWatcherGetsEachJobOnceAsItIsNow) {
  JobList list("m1");
  JobListCursor cursor = Open(list);
  for (std::uint64_t sequence = 1; sequence <= 5; ++sequence) Publish(list, Job("a", sequence));
  const auto update = cursor.Take(list, 10);
  ASSERT_THAT(update.snapshots, SizeIs(1));
  EXPECT_EQ(update.snapshots[0]->sequence, 5u);
}

TEST(JobList, IsTakenInPiecesAndSyncedAfterTheLast) {
  JobList list("m1");
  for (const char* id : {"a", "b", "c"}) Publish(list, Job(id, 1));
  JobListCursor cursor = Open(list);
  const auto first = cursor.Take(list, 2);
  EXPECT_THAT(Ids(first), ElementsAre("a", "b"));
  EXPECT_FALSE(first.synced);
  const auto last = cursor.Take(list, 2);
  EXPECT_THAT(Ids(last), ElementsAre("c"));
  EXPECT_TRUE(last.synced);
}

TEST(JobList, SeveralUpdatesOfOneResponseNameAJobOnce) {
  JobList list("m1");
  for (const char* id : {"a", "b", "c"}) Publish(list, Job(id, 1));
  JobListCursor cursor = Open(list);
  const auto first = cursor.Take(list, 1);
  EXPECT_THAT(Ids(first), ElementsAre("a"));
  Publish(list, Job("a", 2));  // meanwhile
  EXPECT_THAT(Ids(cursor.Take(list, 9, first.newest)), ElementsAre("b", "c"));
  EXPECT_FALSE(cursor.has_next(list, first.newest));
  EXPECT_THAT(Ids(cursor.Take(list, 9)), ElementsAre("a"));
}

TEST(JobList, ResumesBehindTheTokenAndTellsWhatIsGone) {
  JobList list("m1");
  for (const char* id : {"a", "b", "c"}) Publish(list, Job(id, 1));
  const std::string token = Open(list).Take(list, 10).resume_token;
  list.Remove("a");
  Publish(list, Job("b", 2));
  JobListCursor resumed = Open(list, token);
  const auto update = resumed.Take(list, 10);
  EXPECT_FALSE(update.restarted);
  EXPECT_THAT(update.removed_job_ids, ElementsAre("a"));
  EXPECT_THAT(Ids(update), ElementsAre("b"));
}

TEST(JobList, AJobThatLeavesTheFilterIsRemoved) {
  JobList list("m1");
  Publish(list, Job("a", 1));
  Publish(list, Job("x", 1, JobState::kFailed));
  JobListCursor cursor = Open(list, "", {.states = {JobState::kRunning}});
  EXPECT_THAT(Ids(cursor.Take(list, 10)), ElementsAre("a"));
  Publish(list, Job("a", 2, JobState::kSucceeded));
  Publish(list, Job("x", 2, JobState::kFailed));
  const auto update = cursor.Take(list, 10);
  EXPECT_THAT(update.removed_job_ids, ElementsAre("a"));
  EXPECT_THAT(update.snapshots, IsEmpty());
}

TEST(JobList, AChangeThatIsNotForTheWatcherIsABookmark) {
  JobList list("m1");
  JobListCursor cursor = Open(list, "", {.user = "ann"});
  const std::string before = cursor.Take(list, 10).resume_token;
  Publish(list, Job("x", 1));
  ASSERT_TRUE(cursor.has_next(list));
  const auto bookmark = cursor.Take(list, 10);
  EXPECT_THAT(bookmark.snapshots, IsEmpty());
  EXPECT_THAT(bookmark.removed_job_ids, IsEmpty());
  EXPECT_NE(bookmark.resume_token, before);
}

TEST(JobList, AnotherMasterOrARemovalThatIsForgottenStartsAgain) {
  JobList list("m1", /*removed_max=*/1);
  for (const char* id : {"a", "b", "c"}) Publish(list, Job(id, 1));
  const std::string token = Open(list).Take(list, 10).resume_token;
  JobList other("m2");
  Publish(other, Job("d", 1));
  JobListCursor elsewhere = Open(other, token);
  const auto update = elsewhere.Take(other, 10);
  EXPECT_TRUE(update.restarted);
  EXPECT_THAT(Ids(update), ElementsAre("d"));
  list.Remove("a");
  EXPECT_FALSE(Open(list, token).Take(list, 10).restarted);
  list.Remove("b");
  const auto again = Open(list, token).Take(list, 10);
  EXPECT_TRUE(again.restarted);
  EXPECT_THAT(Ids(again), ElementsAre("c"));
}

TEST(JobList, SaysNothingOfAJobThatMayNotBeRead) {
  JobList list("m1");
  for (const char* id : {"ours-1", "theirs-1"}) Publish(list, Job(id, 1));
  const auto may_read = [](const std::string& id) { return id.starts_with("ours"); };
  JobListCursor cursor = JobListCursor::Open(list, {}, View::kBasic, "", may_read).value();
  EXPECT_THAT(Ids(cursor.Take(list, 10)), ElementsAre("ours-1"));
  list.Remove("theirs-1");
  EXPECT_THAT(cursor.Take(list, 10).removed_job_ids, IsEmpty());
  // A token says how far, not what its watcher could read.
  JobListCursor resumed = JobListCursor::Open(list, {}, View::kBasic, "m1-0", may_read).value();
  EXPECT_THAT(resumed.Take(list, 10).removed_job_ids, IsEmpty());
}

TEST(JobList, RefusesTokensThatAreNone) {
  const JobList list("m1");
  for (const char* token : {"x", "m1", "m1-", "m1-zz", "m1-1 ", "-", "m1-10000000000000000"}) {
    EXPECT_TRUE(
        absl::IsInvalidArgument(JobListCursor::Open(list, {}, View::kBasic, token).status()))
        << token;
  }
}

// What a watcher does by the contract.
struct Watcher {
  std::map<std::string, Snapshot> jobs;
  std::string token;

  void Deal(const JobListCursor::Update& update) {
    if (update.restarted) jobs.clear();
    for (const auto& job : update.snapshots) jobs[job->job_id] = wire::WithView(*job, View::kBasic);
    for (const std::string& id : update.removed_job_ids) jobs.erase(id);
    token = update.resume_token;
  }
};

// Random histories: jobs come, change and go, the master is replaced, the watcher is slow, and
// connections break with updates on their way. Whenever there is nothing more to take, the watcher
// has what there is.
TEST(JobList, AWatcherEndsWithWhatWasPublished) {
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    std::mt19937_64 random(seed);
    const auto upto = [&](std::uint64_t most) { return random() % (most + 1); };
    const JobFilter filter =
        upto(1) == 0 ? JobFilter{} : JobFilter{.states = {JobState::kRunning, JobState::kQueued}};
    const std::size_t removed_max = upto(3);
    int instance = 1;
    auto list = std::make_unique<JobList>("m1", removed_max);
    std::map<std::string, Snapshot> published;
    Watcher watcher;
    JobListCursor cursor = Open(*list, watcher.token, filter);
    std::uint64_t sequence = 0;
    for (int step = 0; step < 60; ++step) {
      const std::string id(1, static_cast<char>('a' + upto(5)));
      switch (upto(9)) {
        case 0:
          list->Remove(id);
          published.erase(id);
          break;
        case 1:  // the connection breaks, perhaps with an update on its way
          if (upto(1) == 0 && cursor.has_next(*list)) cursor.Take(*list, 1 + upto(4));
          cursor = Open(*list, watcher.token, filter);
          break;
        case 2:  // another master, which knows some of the jobs
          if (upto(3) != 0) break;
          list = std::make_unique<JobList>("m" + std::to_string(++instance), removed_max);
          if (upto(1) == 0) published.erase(id);
          for (const auto& [known, job] : published) Publish(*list, job);
          cursor = Open(*list, watcher.token, filter);
          break;
        case 3:
        case 4:
          if (cursor.has_next(*list)) watcher.Deal(cursor.Take(*list, 1 + upto(4)));
          break;
        default:
          published[id] = Job(id, ++sequence, static_cast<JobState>(1 + upto(4)));
          Publish(*list, published[id]);
      }
    }
    for (int left = 100; cursor.has_next(*list); --left) {
      ASSERT_GT(left, 0) << "seed " << seed;
      const auto update = cursor.Take(*list, 3);
      watcher.Deal(update);
      ASSERT_TRUE(update.synced || cursor.has_next(*list)) << "seed " << seed;
    }
    std::map<std::string, Snapshot> wanted;
    for (const auto& [id, job] : published) {
      if (wire::Matches(filter, job)) wanted[id] = wire::WithView(job, View::kBasic);
    }
    ASSERT_EQ(watcher.jobs, wanted) << "seed " << seed;
  }
}

}  // namespace
}  // namespace tidemark::service
