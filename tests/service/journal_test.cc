#include "master/service/journal.h"

#include "tests/service/eventually.h"
#include "tests/store/faulty_disk.h"
#include "tests/test.h"

namespace tidemark::service::journal_test {
namespace {

using test::Eventually;
using test::FaultyDisk;

JournalOptions Quick() {
  return {.commit_interval = absl::ZeroDuration(), .retry_interval = absl::Milliseconds(1)};
}

// Stores the first report of each kind.
class Waiter final : public Journal::Waiter {
 public:
  void OnDurable(Journal::Position durable) override { durable_.set_value(durable); }
  void OnStalled(const absl::Status& why) override {
    if (!std::exchange(has_stalled_, true)) stalled_.set_value(why);
  }
  Journal::Position AwaitDurable() { return durable_.get_future().get(); }
  absl::Status AwaitStall() { return stalled_.get_future().get(); }

 private:
  std::promise<Journal::Position> durable_;
  std::promise<absl::Status> stalled_;
  bool has_stalled_ = false;
};

class JournalTest : public ::testing::Test {
 protected:
  void SetUp() override { Start(Quick()); }
  void Start(const JournalOptions& options) {
    journal_ = std::make_unique<Journal>(disk_, options);
  }
  // Appends to the log and waits until the record is durable.
  void AppendDurably(const std::shared_ptr<Journal::Log>& log, const std::string& record) {
    ASSERT_TRUE(journal_->WaitUntilDurable({journal_->Append(log, record), log}));
  }
  std::shared_ptr<Waiter> Notified(const Journal::Mark& mark) {
    auto waiter = std::make_shared<Waiter>();
    journal_->NotifyWhenDurable(mark, waiter);
    return waiter;
  }
  bool BecomesDurable(Journal::Position position) {
    return Eventually([&] { return journal_->durable() >= position; });
  }

  std::shared_ptr<FaultyDisk> disk_ = std::make_shared<FaultyDisk>();
  std::unique_ptr<Journal> journal_;
};

TEST_F(JournalTest, DurableRecordsSurviveALossOfPower) {
  const auto log = Journal::MakeLog("a", "start ");
  journal_->Append(log, "one ");
  AppendDurably(log, "two");
  EXPECT_EQ(disk_->Synced("a"), "start one two");
}

TEST_F(JournalTest, ContinuesAfterTheEarlierContentsOfALog) {
  AppendDurably(Journal::MakeLog("a", "start"), "");
  AppendDurably(Journal::MakeLog("a", 3), "ff");
  EXPECT_EQ(disk_->Synced("a"), "staff");
}

TEST_F(JournalTest, ANewLogReplacesTheFileOfItsName) {
  AppendDurably(Journal::MakeLog("a", "a long one"), "");
  AppendDurably(Journal::MakeLog("a", "new"), "");
  EXPECT_EQ(disk_->Synced("a"), "new");
}

TEST_F(JournalTest, ARemovedFileMayBeCreatedAgainAtOnce) {
  AppendDurably(Journal::MakeLog("a", "old"), "");
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
  const Journal::Position position = journal_->Append(Journal::MakeLog("a", ""), "x");
  EXPECT_GE(Notified(position)->AwaitDurable(), position);
  EXPECT_GE(Notified(position)->AwaitDurable(), position) << "also if it is durable already";
}

TEST_F(JournalTest, RecordsWithoutALogNeedNoSync) {
  ASSERT_TRUE(BecomesDurable(journal_->Append(nullptr, "")));
  EXPECT_EQ(disk_->syncs(), 0);
}

TEST_F(JournalTest, AFullDiskDelaysAllRecordsUntilThereIsSpace) {
  const auto log = Journal::MakeLog("a", "start ");
  AppendDurably(log, "kept ");
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
  const auto log = Journal::MakeLog("a", "start ");
  disk_->Break(absl::ResourceExhaustedError("no space left"));
  const Journal::Position position = journal_->Append(log, "held");
  const auto early = Notified(position);
  EXPECT_EQ(early->AwaitStall(), absl::ResourceExhaustedError("no space left"));
  const auto late = Notified(position);
  EXPECT_EQ(late->AwaitStall(), absl::ResourceExhaustedError("no space left"));
  disk_->Break(absl::OkStatus());
  early->AwaitDurable();
  late->AwaitDurable();
}

TEST_F(JournalTest, RetriesAFileThatCannotBeCreated) {
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
    // If a batch contains only the damaged log, the journal cannot exclude a failure of the disk.
    ASSERT_TRUE(Eventually([&] { return journal_->IsDurable(mark); }));
  }
  EXPECT_TRUE(Eventually([&] { return journal_->status().ok() && journal_->HasRoomFor(nullptr); }));
  EXPECT_TRUE(journal_->IsStuck(bad));
  EXPECT_FALSE(journal_->IsStuck(good));
  EXPECT_FALSE(journal_->IsDurable(held));
  EXPECT_FALSE(journal_->WaitUntilDurable(held));
  EXPECT_THAT(told.get_future().get(), ::testing::HasSubstr("bad: too many open files"));
  const auto waiter = Notified(held);
  EXPECT_EQ(waiter->AwaitStall().message(), "bad: too many open files");
  disk_->BreakFile("bad", absl::OkStatus());
  waiter->AwaitDurable();
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

// A journal of 8,000 bytes on a full disk.
class FullJournalTest : public JournalTest {
 protected:
  void SetUp() override {
    JournalOptions options = Quick();
    options.waiting_bytes_max = 8000;
    Start(options);
    disk_->Break(absl::ResourceExhaustedError("no space left"));
  }

  const std::shared_ptr<Journal::Log> flood_ = Journal::MakeLog("flood", "");
  const std::shared_ptr<Journal::Log> calm_ = Journal::MakeLog("calm", "");
};

TEST_F(FullJournalTest, ABusyLogLeavesMemoryForOthers) {
  journal_->Append(flood_, std::string(500, 'x'));
  EXPECT_TRUE(journal_->HasRoomFor(flood_)) << "500 of 7500 are less than an eighth";
  journal_->Append(flood_, std::string(500, 'x'));
  EXPECT_FALSE(journal_->HasRoomFor(flood_)) << "1000 of 7000 are more";
  EXPECT_TRUE(journal_->HasRoomFor(calm_));
  EXPECT_TRUE(journal_->HasRoomFor(nullptr));
}

TEST_F(FullJournalTest, ALogWithoutWaitingRecordsIsAcceptedEvenIfOthersUseAllMemory) {
  journal_->Append(flood_, std::string(9000, 'x'));
  EXPECT_TRUE(journal_->HasRoomFor(calm_));
  journal_->Append(calm_, "x");
  EXPECT_FALSE(journal_->HasRoomFor(calm_));
  journal_->Append(flood_, std::string(9000, 'x'));
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
}  // namespace tidemark::service::journal_test
