#include "master/service/job_hub.h"

#include "tests/test.h"

namespace tidemark::service::job_hub_test {
namespace {

class Notes final : public JobWatcher {
 public:
  void Offer(const PublishedJob& job) override { sequences.push_back(job.newest->sequence); }
  void OnRoundEnd() override { ++rounds; }
  void Close() override { ++closed; }
  std::vector<std::uint64_t> sequences;
  int rounds = 0;
  int closed = 0;
};

PublishedJob Of(const std::string& job_id, std::uint64_t sequence, std::uint64_t run = 1,
                JobKind kind = JobKind::kMapReduce) {
  return {std::make_shared<Snapshot>(
              Snapshot{.job_id = job_id, .sequence = sequence, .info = JobInfo{.kind = kind}}),
          run};
}

std::vector<std::string> IdsOf(const std::vector<PublishedJob>& jobs) {
  std::vector<std::string> ids;
  for (const PublishedJob& job : jobs) ids.push_back(job.newest->job_id);
  return ids;
}

bool Any(const Snapshot&) { return true; }

std::shared_ptr<Notes> Watching(JobHub& hub, const std::string& job_id, bool of_rounds = false) {
  auto notes = std::make_shared<Notes>();
  EXPECT_TRUE(hub.Subscribe(job_id, notes, of_rounds).ok());
  return notes;
}

TEST(JobHub, OffersEveryWatcherTheSnapshotsOfItsJobInOrder) {
  JobHub hub("master", 10);
  const auto one = Watching(hub, "a");
  const auto two = Watching(hub, "a");
  hub.Publish(Of("a", 1));
  hub.Publish(Of("b", 7));
  hub.Publish(Of("a", 2));
  EXPECT_THAT(one->sequences, ElementsAre(1, 2));
  EXPECT_THAT(two->sequences, ElementsAre(1, 2));
}

TEST(JobHub, OffersNoSnapshotAfterUnsubscribe) {
  JobHub hub("master", 10);
  const auto notes = Watching(hub, "a");
  hub.Unsubscribe("a", notes.get());
  hub.Publish(Of("a", 1));
  EXPECT_THAT(notes->sequences, IsEmpty());
}

TEST(JobHub, UnsubscribingFromAnUnwatchedJobIsHarmless) {
  JobHub hub("master", 1);
  const auto notes = std::make_shared<Notes>();
  hub.Unsubscribe("a", notes.get());
  EXPECT_TRUE(hub.Subscribe("a", notes, false).ok());
  hub.Unsubscribe("b", notes.get());
  hub.Publish(Of("a", 1));
  EXPECT_THAT(notes->sequences, ElementsAre(1));
}

TEST(JobHub, LimitsTheWatchersOfAllJobs) {
  JobHub hub("master", 2);
  const auto notes = Watching(hub, "a");
  Watching(hub, "b");
  EXPECT_TRUE(absl::IsResourceExhausted(hub.Subscribe("c", std::make_shared<Notes>(), false)));
  hub.Unsubscribe("a", notes.get());
  Watching(hub, "c");
}

TEST(JobHub, ClosesEveryWatcherAndRejectsNewOnes) {
  JobHub hub("master", 10);
  const auto one = Watching(hub, "a");
  const auto two = Watching(hub, "b");
  hub.CloseAll();
  EXPECT_EQ(one->closed, 1);
  EXPECT_EQ(two->closed, 1);
  EXPECT_TRUE(absl::IsUnavailable(hub.Subscribe("a", one, false)));
}

TEST(JobHub, AWatcherMayUnsubscribeWithinAnOffer) {
  class Leaver final : public JobWatcher {
   public:
    explicit Leaver(JobHub& hub) : hub_(hub) {}
    void Offer(const PublishedJob& job) override {
      ++offers;
      hub_.Unsubscribe(job.newest->job_id, this);
    }
    void Close() override {}
    int offers = 0;

   private:
    JobHub& hub_;
  };
  JobHub hub("master", 10);
  const auto leaver = std::make_shared<Leaver>(hub);
  EXPECT_TRUE(hub.Subscribe("a", leaver, false).ok());
  hub.Publish(Of("a", 1));
  hub.Publish(Of("a", 2));
  EXPECT_EQ(leaver->offers, 1);
}

TEST(JobHub, ListsTheNewestRunFirstAndContinuesAfterAPlace) {
  JobHub hub("master", 10);
  for (const PublishedJob& job : {Of("a", 0, 1), Of("b", 0, 3), Of("c", 0, 2)}) {
    ASSERT_TRUE(hub.Enter(job).ok());
  }
  EXPECT_THAT(IdsOf(hub.List({}, Any, 2)), ElementsAre("b", "c"));
  hub.Remove("c");
  EXPECT_THAT(IdsOf(hub.List({2, "c"}, Any, 2)), ElementsAre("a"));
  ASSERT_TRUE(hub.Enter(Of("a", 0, 4)).ok());  // This is another run of the job.
  EXPECT_THAT(IdsOf(hub.List({}, Any, 9)), ElementsAre("a", "b"));
  EXPECT_THAT(IdsOf(hub.List(
                  {}, [](const Snapshot& job) { return job.job_id == "b"; }, 9)),
              ElementsAre("b"));
}

TEST(JobHub, AnIdBelongsToOneKindOfEntry) {
  JobHub hub("master", 10);
  ASSERT_TRUE(hub.Enter(Of("a", 0)).ok());
  EXPECT_TRUE(absl::IsAlreadyExists(hub.Enter(Of("a", 0, 2, JobKind::kWorkflow))));
  EXPECT_EQ(hub.Find("a")->run, 1u);
  hub.Remove("a");
  EXPECT_TRUE(absl::IsNotFound(hub.Find("a").status()));
  EXPECT_TRUE(hub.Enter(Of("a", 0, 2, JobKind::kWorkflow)).ok());
}

TEST(JobHub, OffersSnapshotsOfRemovedRunsToWatchersWithoutStoringThem) {
  JobHub hub("master", 10);
  const auto notes = Watching(hub, "a");
  ASSERT_TRUE(hub.Enter(Of("a", 0, 2)).ok());
  hub.Publish(Of("a", 9, 1));
  EXPECT_EQ(hub.Find("a")->newest->sequence, 0u);
  hub.Remove("a");
  hub.Publish(Of("a", 1, 2));
  EXPECT_FALSE(hub.Find("a").ok());
  EXPECT_THAT(notes->sequences, ElementsAre(9, 1));
}

TEST(JobHub, KnowsTheNewestRunOfAnIdOnly) {
  JobHub hub("master", 10);
  ASSERT_TRUE(hub.Enter(Of("a", 0, 2)).ok());
  EXPECT_TRUE(hub.IsCurrent(Of("a", 9, 2)));
  EXPECT_FALSE(hub.IsCurrent(Of("a", 9, 1)));
  hub.Remove("a");
  EXPECT_FALSE(hub.IsCurrent(Of("a", 9, 2)));
}

TEST(JobHub, ReportsTheEndOfARoundToRequestingWatchers) {
  JobHub hub("master", 1);
  const auto of_all = Watching(hub, "", /*of_rounds=*/true);
  const auto paced = Watching(hub, "a", /*of_rounds=*/true);  // This watch is counted separately.
  EXPECT_TRUE(absl::IsResourceExhausted(hub.Subscribe("", std::make_shared<Notes>(), true)));
  hub.Publish(Of("a", 1));
  hub.EndRound();
  hub.Unsubscribe("a", paced.get());
  hub.EndRound();
  EXPECT_EQ(of_all->rounds, 2);
  EXPECT_EQ(paced->rounds, 1);
  EXPECT_THAT(of_all->sequences, IsEmpty());
  EXPECT_EQ(hub.watchers(), 1u);
}

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

TEST(JobList, AWatcherGetsAllJobsThenTheChanges) {
  JobList list("m1");
  Publish(list, Job("a", 1));
  Publish(list, Job("b", 1));
  JobListCursor cursor = Open(list);
  const auto all = cursor.Next(list, 10);
  EXPECT_THAT(Ids(all), ElementsAre("a", "b"));
  EXPECT_TRUE(all.synced);
  EXPECT_FALSE(all.restarted);
  EXPECT_FALSE(cursor.has_next(list));
  Publish(list, Job("a", 2));
  EXPECT_THAT(Ids(cursor.Next(list, 10)), ElementsAre("a"));
}

TEST(JobList, WithoutJobsAWatcherIsSyncedAtOnce) {
  JobList list("m1");
  JobListCursor cursor = Open(list);
  ASSERT_TRUE(cursor.has_next(list));
  EXPECT_TRUE(cursor.Next(list, 10).synced);
  EXPECT_FALSE(cursor.has_next(list));
}

TEST(JobList, ASlowWatcherGetsEachJobOnceInItsNewestState) {
  JobList list("m1");
  JobListCursor cursor = Open(list);
  for (std::uint64_t sequence = 1; sequence <= 5; ++sequence) Publish(list, Job("a", sequence));
  const auto update = cursor.Next(list, 10);
  ASSERT_THAT(update.snapshots, SizeIs(1));
  EXPECT_EQ(update.snapshots[0]->sequence, 5u);
}

TEST(JobList, ReturnsPiecesAndIsSyncedAfterTheLast) {
  JobList list("m1");
  for (const char* id : {"a", "b", "c"}) Publish(list, Job(id, 1));
  JobListCursor cursor = Open(list);
  const auto first = cursor.Next(list, 2);
  EXPECT_THAT(Ids(first), ElementsAre("a", "b"));
  EXPECT_FALSE(first.synced);
  const auto last = cursor.Next(list, 2);
  EXPECT_THAT(Ids(last), ElementsAre("c"));
  EXPECT_TRUE(last.synced);
}

TEST(JobList, SeveralUpdatesOfOneResponseNameAJobOnce) {
  JobList list("m1");
  for (const char* id : {"a", "b", "c"}) Publish(list, Job(id, 1));
  JobListCursor cursor = Open(list);
  const auto first = cursor.Next(list, 1);
  EXPECT_THAT(Ids(first), ElementsAre("a"));
  Publish(list, Job("a", 2));  // Meanwhile, the job changes.
  EXPECT_THAT(Ids(cursor.Next(list, 9, first.newest)), ElementsAre("b", "c"));
  EXPECT_FALSE(cursor.has_next(list, first.newest));
  EXPECT_THAT(Ids(cursor.Next(list, 9)), ElementsAre("a"));
}

TEST(JobList, ResumesAfterTheTokenAndReportsRemovedJobs) {
  JobList list("m1");
  for (const char* id : {"a", "b", "c"}) Publish(list, Job(id, 1));
  const std::string token = Open(list).Next(list, 10).resume_token;
  list.Remove("a");
  Publish(list, Job("b", 2));
  JobListCursor resumed = Open(list, token);
  const auto update = resumed.Next(list, 10);
  EXPECT_FALSE(update.restarted);
  EXPECT_THAT(update.removed_job_ids, ElementsAre("a"));
  EXPECT_THAT(Ids(update), ElementsAre("b"));
}

TEST(JobList, AJobThatLeavesTheFilterIsRemoved) {
  JobList list("m1");
  Publish(list, Job("a", 1));
  Publish(list, Job("x", 1, JobState::kFailed));
  JobListCursor cursor = Open(list, "", {.states = {JobState::kRunning}});
  EXPECT_THAT(Ids(cursor.Next(list, 10)), ElementsAre("a"));
  Publish(list, Job("a", 2, JobState::kSucceeded));
  Publish(list, Job("x", 2, JobState::kFailed));
  const auto update = cursor.Next(list, 10);
  EXPECT_THAT(update.removed_job_ids, ElementsAre("a"));
  EXPECT_THAT(update.snapshots, IsEmpty());
}

TEST(JobList, AnInvisibleChangeOnlyMovesTheToken) {
  JobList list("m1");
  JobListCursor cursor = Open(list, "", {.user = "ann"});
  const std::string before = cursor.Next(list, 10).resume_token;
  Publish(list, Job("x", 1));
  ASSERT_TRUE(cursor.has_next(list));
  const auto bookmark = cursor.Next(list, 10);
  EXPECT_THAT(bookmark.snapshots, IsEmpty());
  EXPECT_THAT(bookmark.removed_job_ids, IsEmpty());
  EXPECT_NE(bookmark.resume_token, before);
}

TEST(JobList, RestartsAfterAnotherMasterOrAnUnknownRemoval) {
  JobList list("m1", /*removed_max=*/1);
  for (const char* id : {"a", "b", "c"}) Publish(list, Job(id, 1));
  const std::string token = Open(list).Next(list, 10).resume_token;
  JobList other("m2");
  Publish(other, Job("d", 1));
  JobListCursor elsewhere = Open(other, token);
  const auto update = elsewhere.Next(other, 10);
  EXPECT_TRUE(update.restarted);
  EXPECT_THAT(Ids(update), ElementsAre("d"));
  list.Remove("a");
  EXPECT_FALSE(Open(list, token).Next(list, 10).restarted);
  list.Remove("b");
  const auto again = Open(list, token).Next(list, 10);
  EXPECT_TRUE(again.restarted);
  EXPECT_THAT(Ids(again), ElementsAre("c"));
}

TEST(JobList, NeverMentionsAnUnreadableJob) {
  JobList list("m1");
  for (const char* id : {"ours-1", "theirs-1"}) Publish(list, Job(id, 1));
  const auto may_read = [](const std::string& id) { return id.starts_with("ours"); };
  JobListCursor cursor = JobListCursor::Open(list, {}, View::kBasic, "", may_read).value();
  EXPECT_THAT(Ids(cursor.Next(list, 10)), ElementsAre("ours-1"));
  list.Remove("theirs-1");
  EXPECT_THAT(cursor.Next(list, 10).removed_job_ids, IsEmpty());
  // A token contains a position, not the rights of the watcher.
  JobListCursor resumed = JobListCursor::Open(list, {}, View::kBasic, "m1-0", may_read).value();
  EXPECT_THAT(resumed.Next(list, 10).removed_job_ids, IsEmpty());
}

TEST(JobList, RejectsInvalidTokens) {
  const JobList list("m1");
  for (const char* token : {"x", "m1", "m1-", "m1-zz", "m1-1 ", "-", "m1-10000000000000000"}) {
    EXPECT_TRUE(
        absl::IsInvalidArgument(JobListCursor::Open(list, {}, View::kBasic, token).status()))
        << token;
  }
}

// A watcher that follows the contract.
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

// In random histories, jobs appear, change and end, the master is replaced, the watcher is slow,
// and connections break while updates are being sent. Whenever no update is pending, the watcher
// must have the listed jobs.
TEST(JobList, AWatcherEndsWithThePublishedJobs) {
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
        case 1:  // The connection breaks, perhaps while an update is being sent.
          if (upto(1) == 0 && cursor.has_next(*list)) cursor.Next(*list, 1 + upto(4));
          cursor = Open(*list, watcher.token, filter);
          break;
        case 2:  // Another master, which has some of the jobs.
          if (upto(3) != 0) break;
          list = std::make_unique<JobList>("m" + std::to_string(++instance), removed_max);
          if (upto(1) == 0) published.erase(id);
          for (const auto& [known, job] : published) Publish(*list, job);
          cursor = Open(*list, watcher.token, filter);
          break;
        case 3:
        case 4:
          if (cursor.has_next(*list)) watcher.Deal(cursor.Next(*list, 1 + upto(4)));
          break;
        default:
          published[id] = Job(id, ++sequence, static_cast<JobState>(1 + upto(4)));
          Publish(*list, published[id]);
      }
    }
    for (int left = 100; cursor.has_next(*list); --left) {
      ASSERT_GT(left, 0) << "seed " << seed;
      const auto update = cursor.Next(*list, 3);
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
}  // namespace tidemark::service::job_hub_test
