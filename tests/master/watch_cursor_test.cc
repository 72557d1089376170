#include "master/service/watch_cursor.h"

#include <gtest/gtest.h>

#include <string>

namespace tidemark::service {
namespace {

constexpr std::uint64_t kRun = 77;

Snapshot Number(std::uint64_t sequence, JobState state = JobState::kRunning) {
  return {.job_id = "job-1", .sequence = sequence, .state = state};
}

ResumePoint After(const WatchCursor::Update& update) {
  const auto point = ParseResumeToken(update.resume_token);
  EXPECT_TRUE(point.ok()) << point.status();
  return point.value_or(ResumePoint{});
}

TEST(WatchCursor, BeginsWithTheNewestSnapshotAndNoGap) {
  WatchCursor cursor({});
  cursor.Begin(Number(5), kRun);
  const auto update = cursor.Take();
  EXPECT_EQ(update.snapshot.sequence, 5u);
  EXPECT_EQ(update.skipped, 0u);
  EXPECT_FALSE(update.restarted);
  EXPECT_FALSE(cursor.has_next());
}

TEST(WatchCursor, WaitsForTheFirstSnapshotOfAJobThatHasNone) {
  WatchCursor cursor({});
  cursor.Begin(Number(0), kRun);
  EXPECT_FALSE(cursor.has_next());
  cursor.Offer(Number(1));
  EXPECT_EQ(cursor.Take().snapshot.sequence, 1u);
}

TEST(WatchCursor, ASlowReaderGetsTheNewestAndIsToldHowManyItMissed) {
  WatchCursor cursor({});
  cursor.Begin(Number(1), kRun);
  cursor.Take();
  for (const std::uint64_t sequence : {2, 3, 4}) cursor.Offer(Number(sequence));
  const auto update = cursor.Take();
  EXPECT_EQ(update.snapshot.sequence, 4u);
  EXPECT_EQ(update.skipped, 2u);
}

TEST(WatchCursor, IgnoresWhatItHasAndWhatIsOlder) {
  WatchCursor cursor({});
  cursor.Begin(Number(3), kRun);
  cursor.Take();
  cursor.Offer(Number(3));
  cursor.Offer(Number(2));
  EXPECT_FALSE(cursor.has_next());
}

TEST(WatchCursor, IsToldOfOneRunOfAnIdOnly) {
  const auto of_run = [](Snapshot snapshot, const char* run_uid) {
    snapshot.run_uid = run_uid;
    return snapshot;
  };
  WatchCursor slow({});
  slow.Begin(of_run(Number(2, JobState::kSucceeded), "a"), kRun);
  slow.Offer(of_run(Number(3), "b"));
  EXPECT_EQ(slow.Take().snapshot.sequence, 2u);
  EXPECT_TRUE(slow.is_over());
  slow.Offer(of_run(Number(4), "b"));
  EXPECT_FALSE(slow.has_next());

  WatchCursor early({});
  early.Begin(of_run(Number(0), "b"), kRun);
  early.Offer(of_run(Number(2, JobState::kSucceeded), "a"));
  EXPECT_FALSE(early.has_next());
  early.Offer(of_run(Number(1), "b"));
  EXPECT_EQ(early.Take().snapshot.run_uid, "b");
}

TEST(WatchCursor, IgnoresOffersBeforeItKnowsTheRun) {
  WatchCursor cursor({});
  cursor.Offer(Number(9));
  EXPECT_FALSE(cursor.has_next());
}

TEST(WatchCursor, GoesOnAfterATokenAndTellsTheGap) {
  WatchCursor first({});
  first.Begin(Number(3), kRun);
  WatchCursor second(After(first.Take()));
  second.Begin(Number(6), kRun);
  const auto update = second.Take();
  EXPECT_EQ(update.snapshot.sequence, 6u);
  EXPECT_EQ(update.skipped, 2u);
  EXPECT_FALSE(update.restarted);
}

TEST(WatchCursor, HasNothingNewForOneWhoHasTheNewest) {
  WatchCursor cursor({.sequence = 3, .run = kRun});
  cursor.Begin(Number(3), kRun);
  EXPECT_FALSE(cursor.has_next());
  EXPECT_FALSE(cursor.is_over());
  cursor.Offer(Number(4));
  EXPECT_EQ(cursor.Take().skipped, 0u);
}

TEST(WatchCursor, ATokenOfAnotherRunBeginsAnewAndSaysSo) {
  WatchCursor cursor({.sequence = 3, .run = kRun});
  cursor.Begin(Number(5), kRun + 1);
  auto update = cursor.Take();
  EXPECT_TRUE(update.restarted);
  EXPECT_EQ(update.skipped, 0u);
  cursor.Offer(Number(6));
  update = cursor.Take();
  EXPECT_FALSE(update.restarted) << "only in the first";
  EXPECT_EQ(After(update), (ResumePoint{.sequence = 6, .run = kRun + 1}));
}

TEST(WatchCursor, AMasterThatLostItsEndOfTheLogSaysSo) {
  WatchCursor cursor({.sequence = 9, .run = kRun});
  cursor.Begin(Number(5), kRun);
  EXPECT_TRUE(cursor.Take().restarted);
}

TEST(WatchCursor, ASequenceWithoutARunIsBelievedWhileItCanBe) {
  WatchCursor cursor({.sequence = 3});
  cursor.Begin(Number(5), kRun);
  EXPECT_EQ(cursor.Take().skipped, 1u);
  WatchCursor ahead({.sequence = 8});
  ahead.Begin(Number(5), kRun);
  EXPECT_TRUE(ahead.Take().restarted);
}

TEST(WatchCursor, IsOverAfterTheFinalSnapshot) {
  WatchCursor cursor({});
  cursor.Begin(Number(1), kRun);
  cursor.Take();
  cursor.Offer(Number(2, JobState::kSucceeded));
  EXPECT_FALSE(cursor.is_over());
  const auto update = cursor.Take();
  EXPECT_TRUE(update.snapshot.is_final());
  EXPECT_TRUE(cursor.is_over());
}

TEST(WatchCursor, OneWhoHasTheFinalSnapshotGetsItNoSecondTime) {
  WatchCursor cursor({.sequence = 4, .run = kRun});
  cursor.Begin(Number(4, JobState::kFailed), kRun);
  EXPECT_FALSE(cursor.has_next());
  EXPECT_TRUE(cursor.is_over());
}

class ForeignToken : public ::testing::TestWithParam<const char*> {};
TEST_P(ForeignToken, IsRefused) {
  EXPECT_TRUE(absl::IsInvalidArgument(ParseResumeToken(GetParam()).status()));
}
INSTANTIATE_TEST_SUITE_P(All, ForeignToken,
                         ::testing::Values("", "-", "1", "1-", "-1", "g-1", "1-1x", "1--1",
                                           "11111111111111111-1", " 1-1"));

TEST(ResumeToken, SaysHowFarAndOfWhat) {
  const ResumePoint point{.sequence = 0xffffffffffffffff, .run = 0x1234};
  EXPECT_EQ(*ParseResumeToken(EncodeResumeToken(point)), point);
}

}  // namespace
}  // namespace tidemark::service
