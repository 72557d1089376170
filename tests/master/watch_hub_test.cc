#include "master/service/watch_hub.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

namespace tidemark::service {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class Notes final : public Watcher {
 public:
  void Offer(const Snapshot& snapshot) override { sequences.push_back(snapshot.sequence); }
  void Close() override { ++closed; }
  std::vector<std::uint64_t> sequences;
  int closed = 0;
};

Snapshot Of(const std::string& job_id, std::uint64_t sequence) {
  return {.job_id = job_id, .sequence = sequence};
}

TEST(WatchHub, OffersAWatcherTheSnapshotsOfItsJobInOrder) {
  WatchHub hub(10);
  const auto notes = std::make_shared<Notes>();
  EXPECT_TRUE(hub.Subscribe("a", notes).ok());
  hub.Publish(Of("a", 1));
  hub.Publish(Of("b", 7));
  hub.Publish(Of("a", 2));
  EXPECT_THAT(notes->sequences, ElementsAre(1, 2));
}

TEST(WatchHub, OffersEveryWatcherOfAJob) {
  WatchHub hub(10);
  const auto one = std::make_shared<Notes>();
  const auto two = std::make_shared<Notes>();
  EXPECT_TRUE(hub.Subscribe("a", one).ok());
  EXPECT_TRUE(hub.Subscribe("a", two).ok());
  hub.Publish(Of("a", 1));
  EXPECT_THAT(one->sequences, ElementsAre(1));
  EXPECT_THAT(two->sequences, ElementsAre(1));
}

TEST(WatchHub, AWatcherThatLeftIsNotOffered) {
  WatchHub hub(10);
  const auto notes = std::make_shared<Notes>();
  EXPECT_TRUE(hub.Subscribe("a", notes).ok());
  hub.Unsubscribe("a", notes.get());
  hub.Publish(Of("a", 1));
  EXPECT_THAT(notes->sequences, IsEmpty());
}

TEST(WatchHub, LeavingAJobOneDoesNotWatchIsHarmless) {
  WatchHub hub(1);
  const auto notes = std::make_shared<Notes>();
  hub.Unsubscribe("a", notes.get());
  EXPECT_TRUE(hub.Subscribe("a", notes).ok());
  hub.Unsubscribe("b", notes.get());
  hub.Publish(Of("a", 1));
  EXPECT_THAT(notes->sequences, ElementsAre(1));
}

TEST(WatchHub, TakesNoMoreWatchersThanItsLimitOverAllJobs) {
  WatchHub hub(2);
  const auto notes = std::make_shared<Notes>();
  EXPECT_TRUE(hub.Subscribe("a", notes).ok());
  EXPECT_TRUE(hub.Subscribe("b", std::make_shared<Notes>()).ok());
  EXPECT_TRUE(absl::IsResourceExhausted(hub.Subscribe("c", std::make_shared<Notes>())));
  hub.Unsubscribe("a", notes.get());
  EXPECT_TRUE(hub.Subscribe("c", std::make_shared<Notes>()).ok());
}

TEST(WatchHub, ClosesEveryWatcherAndTakesNoMore) {
  WatchHub hub(10);
  const auto one = std::make_shared<Notes>();
  const auto two = std::make_shared<Notes>();
  EXPECT_TRUE(hub.Subscribe("a", one).ok());
  EXPECT_TRUE(hub.Subscribe("b", two).ok());
  hub.CloseAll();
  EXPECT_EQ(one->closed, 1);
  EXPECT_EQ(two->closed, 1);
  EXPECT_TRUE(absl::IsUnavailable(hub.Subscribe("a", one)));
}

TEST(WatchHub, AWatcherMayLeaveFromWithinAnOffer) {
  class Leaver final : public Watcher {
   public:
    explicit Leaver(WatchHub& hub) : hub_(hub) {}
    void Offer(const Snapshot& snapshot) override {
      ++offers;
      hub_.Unsubscribe(snapshot.job_id, this);
    }
    void Close() override {}
    int offers = 0;

   private:
    WatchHub& hub_;
  };
  WatchHub hub(10);
  const auto leaver = std::make_shared<Leaver>(hub);
  EXPECT_TRUE(hub.Subscribe("a", leaver).ok());
  hub.Publish(Of("a", 1));
  hub.Publish(Of("a", 2));
  EXPECT_EQ(leaver->offers, 1);
}

}  // namespace
}  // namespace tidemark::service
