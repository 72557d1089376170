#include "master/service/journal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "tests/service/eventually.h"
#include "tests/store/faulty_disk.h"

namespace tidemark::service {
namespace {

using test::Eventually;
using test::FaultyDisk;

JournalOptions Quick() {
  return {.commit_interval = absl::ZeroDuration(), .retry_interval = absl::Milliseconds(1)};
}

class DurableWaiter final : public Journal::Waiter {
 public:
  void OnDurable(Journal::Position durable) override { durable_.set_value(durable); }
  Journal::Position Wait() { return future_.get(); }

 private:
  std::promise<Journal::Position> durable_;
  std::future<Journal::Position> future_ = durable_.get_future();
};

class JournalTest : public ::testing::Test {
 protected:
  void Start(const JournalOptions& options = Quick()) {
    journal_ = std::make_unique<Journal>(disk_, options);
  }
  bool BecomesDurable(Journal::Position position) {
    return Eventually([&] { return journal_->durable() >= position; });
  }

  std::shared_ptr<FaultyDisk> disk_ = std::make_shared<FaultyDisk>();
  std::unique_ptr<Journal> journal_;
};

TEST_F(JournalTest, DurableRecordsSurviveALossOfPower) {
  Start();
  const auto log = Journal::MakeLog("a", "start ");
  journal_->Append(log, "one ");
  ASSERT_TRUE(journal_->WaitUntilDurable(journal_->Append(log, "two")));
  EXPECT_EQ(disk_->Synced("a"), "start one two");
}

TEST_F(JournalTest, ContinuesAfterTheEarlierContentsOfALog) {
  Start();
  ASSERT_TRUE(journal_->WaitUntilDurable(journal_->Append(Journal::MakeLog("a", "start"), "")));
  ASSERT_TRUE(journal_->WaitUntilDurable(journal_->Append(Journal::MakeLog("a", 3), "ff")));
  EXPECT_EQ(disk_->Synced("a"), "staff");
}

TEST_F(JournalTest, ANewLogReplacesTheFileOfItsName) {
  Start();
  ASSERT_TRUE(
      journal_->WaitUntilDurable(journal_->Append(Journal::MakeLog("a", "a long one"), "")));
  ASSERT_TRUE(journal_->WaitUntilDurable(journal_->Append(Journal::MakeLog("a", "new"), "")));
  EXPECT_EQ(disk_->Synced("a"), "new");
}

TEST_F(JournalTest, ARemovedFileMayBeCreatedAgainAtOnce) {
  Start();
  ASSERT_TRUE(journal_->WaitUntilDurable(journal_->Append(Journal::MakeLog("a", "old"), "")));
  disk_->Break(absl::ResourceExhaustedError("no space left"));
  journal_->Remove("a");
  const auto log = Journal::MakeLog("a", "new");
  const Journal::Position position = journal_->Append(log, "");
  disk_->Break(absl::OkStatus());
  ASSERT_TRUE(BecomesDurable(position));
  EXPECT_EQ(disk_->Synced("a"), "new");
}

TEST_F(JournalTest, ReportsAFileThatCannotBeRemovedAndDelaysNoLog) {
  JournalOptions options = Quick();
  std::promise<std::string> told;
  options.on_notice = [&](const std::string& line) { told.set_value(line); };
  Start(options);
  disk_->Break(absl::PermissionDeniedError("a: cannot remove"));
  journal_->Remove("a");
  EXPECT_THAT(told.get_future().get(), ::testing::HasSubstr("a: cannot remove"));
  disk_->Break(absl::OkStatus());
  EXPECT_TRUE(BecomesDurable(journal_->Append(Journal::MakeLog("a", "new"), "")));
}

// Records the reports of a failing disk.
class Stalled final : public Journal::Waiter {
 public:
  void OnDurable(Journal::Position) override {}
  void OnStalled(const absl::Status& why) override { why_.set_value(why); }
  absl::Status Wait() { return why_.get_future().get(); }

 private:
  std::promise<absl::Status> why_;
};

TEST_F(JournalTest, ReportsAFailingDiskToWaiters) {
  Start();
  const auto log = Journal::MakeLog("a", "");
  const auto before = std::make_shared<Stalled>();
  const auto after = std::make_shared<Stalled>();
  disk_->Break(absl::ResourceExhaustedError("no space left"));
  const Journal::Position position = journal_->Append(log, "x");
  journal_->NotifyWhenDurable(position, before);
  EXPECT_TRUE(absl::IsResourceExhausted(before->Wait()));
  journal_->NotifyWhenDurable(position, after);
  EXPECT_TRUE(absl::IsResourceExhausted(after->Wait()));
}

TEST_F(JournalTest, OneSyncServesAllWaiters) {
  Start({.commit_interval = absl::Seconds(1)});
  std::vector<std::shared_ptr<Journal::Log>> logs;
  Journal::Position last = 0;
  for (int i = 0; i < 100; ++i) {
    logs.push_back(Journal::MakeLog(std::to_string(i), ""));
    last = journal_->Append(logs.back(), "x");
  }
  ASSERT_TRUE(journal_->WaitUntilDurable(last));
  EXPECT_LE(disk_->syncs(), 2) << "the first append may be a batch of its own";
}

TEST_F(JournalTest, NotifiesWaitersWhenTheirRecordIsDurable) {
  Start();
  const auto log = Journal::MakeLog("a", "");
  const auto told = std::make_shared<DurableWaiter>();
  const Journal::Position position = journal_->Append(log, "x");
  journal_->NotifyWhenDurable(position, told);
  EXPECT_GE(told->Wait(), position);
  const auto late = std::make_shared<DurableWaiter>();
  journal_->NotifyWhenDurable(position, late);
  EXPECT_GE(late->Wait(), position);
}

TEST_F(JournalTest, RecordsWithoutALogNeedNoSync) {
  Start();
  ASSERT_TRUE(BecomesDurable(journal_->Append(nullptr, "")));
  EXPECT_EQ(disk_->syncs(), 0);
}

TEST_F(JournalTest, AFullDiskDelaysAllRecordsUntilThereIsSpace) {
  Start();
  const auto log = Journal::MakeLog("a", "start ");
  ASSERT_TRUE(journal_->WaitUntilDurable(journal_->Append(log, "kept ")));
  disk_->Break(absl::ResourceExhaustedError("no space left"));
  const Journal::Position position = journal_->Append(log, "held ");
  EXPECT_FALSE(journal_->WaitUntilDurable(position));
  EXPECT_TRUE(absl::IsResourceExhausted(journal_->status()));
  journal_->Append(log, "later");
  EXPECT_LT(journal_->durable(), position);
  EXPECT_EQ(disk_->Synced("a"), "start kept ");
  disk_->Break(absl::OkStatus());
  ASSERT_TRUE(BecomesDurable(position + 1));
  EXPECT_EQ(disk_->Synced("a"), "start kept held later");
  EXPECT_TRUE(Eventually([&] { return journal_->status().ok(); }));
}

TEST_F(JournalTest, ReportsTheBlockingCauseToWaiters) {
  class Waiting final : public Journal::Waiter {
   public:
    void OnDurable(Journal::Position) override { durable.set_value(); }
    void OnStalled(const absl::Status& status) override {
      if (!std::exchange(told_, true)) stalled.set_value(status);
    }
    std::promise<void> durable;
    std::promise<absl::Status> stalled;

   private:
    bool told_ = false;
  };
  Start();
  const auto log = Journal::MakeLog("a", "start ");
  disk_->Break(absl::ResourceExhaustedError("no space left"));
  const Journal::Position position = journal_->Append(log, "held");
  const auto early = std::make_shared<Waiting>();
  journal_->NotifyWhenDurable(position, early);
  EXPECT_EQ(early->stalled.get_future().get().message(), "no space left");
  const auto late = std::make_shared<Waiting>();
  journal_->NotifyWhenDurable(position, late);
  EXPECT_EQ(late->stalled.get_future().get().message(), "no space left");
  disk_->Break(absl::OkStatus());
  early->durable.get_future().get();
  late->durable.get_future().get();
}

TEST_F(JournalTest, RetriesAFileThatCannotBeCreated) {
  Start();
  disk_->Break(absl::PermissionDeniedError("no"));
  const Journal::Position position = journal_->Append(Journal::MakeLog("a", "start"), "");
  EXPECT_FALSE(journal_->WaitUntilDurable(position));
  disk_->Break(absl::OkStatus());
  EXPECT_TRUE(BecomesDurable(position));
  EXPECT_EQ(disk_->Synced("a"), "start");
}

TEST_F(JournalTest, AFailingLogDelaysNoOther) {
  JournalOptions options = Quick();
  std::promise<std::string> told;
  options.on_notice = [&](const std::string& line) { told.set_value(line); };
  options.waiting_bytes_max = 100;
  Start(options);
  const auto good = Journal::MakeLog("good", "");
  ASSERT_TRUE(journal_->WaitUntilDurable({journal_->Append(good, "x"), good}));
  disk_->BreakFile("bad", absl::ResourceExhaustedError("bad: too many open files"));
  const auto bad = Journal::MakeLog("bad", "start ");
  const Journal::Mark held(journal_->Append(bad, std::string(200, 'y')), bad);
  for (int i = 0; i < 100; ++i) {
    const Journal::Mark mark(journal_->Append(good, "x"), good);
    // While the bad log is the only one of its batch, the journal cannot rule out a disk failure.
    ASSERT_TRUE(Eventually([&] { return journal_->IsDurable(mark); }));
  }
  EXPECT_TRUE(Eventually([&] { return journal_->status().ok() && journal_->HasRoomFor(nullptr); }));
  EXPECT_TRUE(journal_->IsStuck(bad));
  EXPECT_FALSE(journal_->IsStuck(good));
  EXPECT_FALSE(journal_->IsDurable(held));
  EXPECT_FALSE(journal_->WaitUntilDurable(held));
  EXPECT_THAT(told.get_future().get(), ::testing::HasSubstr("bad: too many open files"));
  const auto stalled = std::make_shared<Stalled>();
  journal_->NotifyWhenDurable(held, stalled);
  EXPECT_EQ(stalled->Wait().message(), "bad: too many open files");

  const auto durable = std::make_shared<DurableWaiter>();
  journal_->NotifyWhenDurable(held, durable);
  disk_->BreakFile("bad", absl::OkStatus());
  durable->Wait();
  EXPECT_TRUE(journal_->IsDurable(held));
  EXPECT_FALSE(journal_->IsStuck(bad));
  EXPECT_EQ(disk_->Synced("bad"), "start " + std::string(200, 'y'));
}

TEST_F(JournalTest, AFileThatCannotBeSyncedDelaysNoOther) {
  Start({.commit_interval = absl::Milliseconds(20), .retry_interval = absl::Milliseconds(1)});
  const auto good = Journal::MakeLog("good", "");
  const auto bad = Journal::MakeLog("bad", "");
  ASSERT_TRUE(journal_->WaitUntilDurable({journal_->Append(bad, "x"), bad}));
  disk_->BreakFile("bad", absl::UnknownError("bad: cannot sync: Input/output error"));
  const Journal::Mark held(journal_->Append(bad, "y"), bad);
  const Journal::Mark kept(journal_->Append(good, "x"), good);
  EXPECT_TRUE(Eventually([&] { return journal_->IsDurable(kept); }));
  EXPECT_FALSE(journal_->IsDurable(held));
  EXPECT_EQ(disk_->Synced("good"), "x");
}

TEST_F(JournalTest, WritesDataAgainThatASyncHasLost) {
  Start({.commit_interval = absl::Milliseconds(20), .retry_interval = absl::Milliseconds(1)});
  const auto a = Journal::MakeLog("a", "");
  const auto b = Journal::MakeLog("b", "");
  disk_->LoseAtSync("b", absl::UnknownError("b: cannot sync: Input/output error"));
  // The marks that share a batch.
  std::vector<Journal::Mark> marks;
  for (const auto& log : {a, b, a, b}) marks.emplace_back(journal_->Append(log, "x"), log);
  for (const Journal::Mark& mark : marks) {
    EXPECT_TRUE(Eventually([&] { return journal_->IsDurable(mark); }));
  }
  EXPECT_EQ(disk_->Synced("a"), "xx");
  EXPECT_EQ(disk_->Synced("b"), "xx");
}

TEST_F(JournalTest, ReportsWhenItsMemoryIsFull) {
  JournalOptions options = Quick();
  options.waiting_bytes_max = 100;
  Start(options);
  disk_->Break(absl::ResourceExhaustedError("no space left"));
  const auto log = Journal::MakeLog("a", "");
  journal_->Append(log, std::string(99, 'x'));
  EXPECT_TRUE(journal_->HasRoomFor(nullptr));
  const Journal::Position last = journal_->Append(log, "xx");
  EXPECT_FALSE(journal_->HasRoomFor(nullptr));
  disk_->Break(absl::OkStatus());
  EXPECT_TRUE(BecomesDurable(last));
  EXPECT_TRUE(journal_->HasRoomFor(nullptr));
  EXPECT_EQ(journal_->waiting_bytes(), 0u);
}

TEST_F(JournalTest, ABusyLogLeavesMemoryForOthers) {
  JournalOptions options = Quick();
  options.waiting_bytes_max = 8000;
  Start(options);
  disk_->Break(absl::ResourceExhaustedError("no space left"));
  const auto flood = Journal::MakeLog("flood", "");
  const auto calm = Journal::MakeLog("calm", "");
  journal_->Append(flood, std::string(500, 'x'));
  EXPECT_TRUE(journal_->HasRoomFor(flood)) << "500 of 7500 are less than an eighth";
  journal_->Append(flood, std::string(500, 'x'));
  EXPECT_FALSE(journal_->HasRoomFor(flood)) << "1000 of 7000 are more";
  EXPECT_TRUE(journal_->HasRoomFor(calm));
  EXPECT_TRUE(journal_->HasRoomFor(nullptr));
}

TEST_F(JournalTest, ALogWithoutWaitingRecordsIsAcceptedEvenIfOthersUseAllMemory) {
  JournalOptions options = Quick();
  options.waiting_bytes_max = 8000;
  Start(options);
  disk_->Break(absl::ResourceExhaustedError("no space left"));
  const auto flood = Journal::MakeLog("flood", "");
  const auto calm = Journal::MakeLog("calm", "");
  journal_->Append(flood, std::string(9000, 'x'));
  EXPECT_TRUE(journal_->HasRoomFor(calm));
  journal_->Append(calm, "x");
  EXPECT_FALSE(journal_->HasRoomFor(calm));
  journal_->Append(flood, std::string(9000, 'x'));
  EXPECT_FALSE(journal_->HasRoomFor(Journal::MakeLog("late", ""))) << "twice as much is the most";
}

TEST_F(JournalTest, EndsWithoutWaitingForABrokenDisk) {
  Start({.commit_interval = absl::ZeroDuration(), .retry_interval = absl::Hours(1)});
  disk_->Break(absl::ResourceExhaustedError("no space left"));
  EXPECT_FALSE(journal_->WaitUntilDurable(journal_->Append(Journal::MakeLog("a", "x"), "")));
  journal_.reset();
}

TEST_F(JournalTest, WritesTheRemainingRecordsBeforeItEnds) {
  Start({.commit_interval = absl::Seconds(10)});
  journal_->Append(Journal::MakeLog("a", "all"), "");
  journal_.reset();
  EXPECT_EQ(disk_->Synced("a"), "all");
}

}  // namespace
}  // namespace tidemark::service
