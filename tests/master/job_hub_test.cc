#include "master/service/job_hub.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

namespace tidemark::service {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

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

TEST(JobHub, OffersAWatcherTheSnapshotsOfItsJobInOrder) {
  JobHub hub("master", 10);
  const auto notes = std::make_shared<Notes>();
  EXPECT_TRUE(hub.Subscribe("a", notes, false).ok());
  hub.Publish(Of("a", 1));
  hub.Publish(Of("b", 7));
  hub.Publish(Of("a", 2));
  EXPECT_THAT(notes->sequences, ElementsAre(1, 2));
}

TEST(JobHub, OffersEveryWatcherOfAJob) {
  JobHub hub("master", 10);
  const auto one = std::make_shared<Notes>();
  const auto two = std::make_shared<Notes>();
  EXPECT_TRUE(hub.Subscribe("a", one, false).ok());
  EXPECT_TRUE(hub.Subscribe("a", two, false).ok());
  hub.Publish(Of("a", 1));
  EXPECT_THAT(one->sequences, ElementsAre(1));
  EXPECT_THAT(two->sequences, ElementsAre(1));
}

TEST(JobHub, AWatcherThatLeftIsNotOffered) {
  JobHub hub("master", 10);
  const auto notes = std::make_shared<Notes>();
  EXPECT_TRUE(hub.Subscribe("a", notes, false).ok());
  hub.Unsubscribe("a", notes.get());
  hub.Publish(Of("a", 1));
  EXPECT_THAT(notes->sequences, IsEmpty());
}

TEST(JobHub, LeavingAJobOneDoesNotWatchIsHarmless) {
  JobHub hub("master", 1);
  const auto notes = std::make_shared<Notes>();
  hub.Unsubscribe("a", notes.get());
  EXPECT_TRUE(hub.Subscribe("a", notes, false).ok());
  hub.Unsubscribe("b", notes.get());
  hub.Publish(Of("a", 1));
  EXPECT_THAT(notes->sequences, ElementsAre(1));
}

TEST(JobHub, TakesNoMoreWatchersThanItsLimitOverAllJobs) {
  JobHub hub("master", 2);
  const auto notes = std::make_shared<Notes>();
  EXPECT_TRUE(hub.Subscribe("a", notes, false).ok());
  EXPECT_TRUE(hub.Subscribe("b", std::make_shared<Notes>(), false).ok());
  EXPECT_TRUE(absl::IsResourceExhausted(hub.Subscribe("c", std::make_shared<Notes>(), false)));
  hub.Unsubscribe("a", notes.get());
  EXPECT_TRUE(hub.Subscribe("c", std::make_shared<Notes>(), false).ok());
}

TEST(JobHub, ClosesEveryWatcherAndTakesNoMore) {
  JobHub hub("master", 10);
  const auto one = std::make_shared<Notes>();
  const auto two = std::make_shared<Notes>();
  EXPECT_TRUE(hub.Subscribe("a", one, false).ok());
  EXPECT_TRUE(hub.Subscribe("b", two, false).ok());
  hub.CloseAll();
  EXPECT_EQ(one->closed, 1);
  EXPECT_EQ(two->closed, 1);
  EXPECT_TRUE(absl::IsUnavailable(hub.Subscribe("a", one, false)));
}

TEST(JobHub, AWatcherMayLeaveFromWithinAnOffer) {
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

TEST(JobHub, ListsTheNewestRunFirstAndGoesOnBehindAPlace) {
  JobHub hub("master", 10);
  for (const PublishedJob& job : {Of("a", 0, 1), Of("b", 0, 3), Of("c", 0, 2)}) {
    ASSERT_TRUE(hub.Enter(job).ok());
  }
  EXPECT_THAT(IdsOf(hub.List({}, Any, 2)), ElementsAre("b", "c"));
  hub.Remove("c");
  EXPECT_THAT(IdsOf(hub.List({2, "c"}, Any, 2)), ElementsAre("a"));
  ASSERT_TRUE(hub.Enter(Of("a", 0, 4)).ok());  // another run of it
  EXPECT_THAT(IdsOf(hub.List({}, Any, 9)), ElementsAre("a", "b"));
  EXPECT_THAT(IdsOf(hub.List(
                  {}, [](const Snapshot& job) { return job.job_id == "b"; }, 9)),
              ElementsAre("b"));
}

TEST(JobHub, AnIdIsOfOneKindOfThing) {
  JobHub hub("master", 10);
  ASSERT_TRUE(hub.Enter(Of("a", 0)).ok());
  EXPECT_TRUE(absl::IsAlreadyExists(hub.Enter(Of("a", 0, 2, JobKind::kWorkflow))));
  EXPECT_EQ(hub.Find("a")->run, 1u);
  hub.Remove("a");
  EXPECT_TRUE(absl::IsNotFound(hub.Find("a").status()));
  EXPECT_TRUE(hub.Enter(Of("a", 0, 2, JobKind::kWorkflow)).ok());
}

TEST(JobHub, WhatIsForgottenOrOfAnotherRunIsToldToWatchersAndNotKept) {
  JobHub hub("master", 10);
  const auto notes = std::make_shared<Notes>();
  EXPECT_TRUE(hub.Subscribe("a", notes, false).ok());
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
  EXPECT_TRUE(hub.Knows(Of("a", 9, 2)));
  EXPECT_FALSE(hub.Knows(Of("a", 9, 1)));
  hub.Remove("a");
  EXPECT_FALSE(hub.Knows(Of("a", 9, 2)));
}

TEST(JobHub, TellsTheEndOfARoundToThoseWhoWantIt) {
  JobHub hub("master", 1);
  const auto of_all = std::make_shared<Notes>();
  const auto paced = std::make_shared<Notes>();
  EXPECT_TRUE(hub.Subscribe("", of_all, true).ok());
  EXPECT_TRUE(hub.Subscribe("a", paced, true).ok()) << "places of their own";
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

}  // namespace
}  // namespace tidemark::service
