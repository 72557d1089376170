

#include "master/service/job_stream.h"
#include "proto/wire/job_codec.h"
#include "proto/wire/snapshot_delta.h"
#include "tests/test.h"
#include "tests/wire/random_snapshots.h"

namespace tidemark::service::job_cursor_test {
namespace {

constexpr std::uint64_t kRun = 77;

using SharedSnapshot = std::shared_ptr<const Snapshot>;

SharedSnapshot Number(std::uint64_t sequence, JobState state = JobState::kRunning) {
  return std::make_shared<Snapshot>(Snapshot{.job_id = "job-1",
                                             .sequence = sequence,
                                             .state = state,
                                             .is_final = state != JobState::kRunning});
}

ResumePoint After(const JobCursor::Update& update) {
  const auto point = ParseResumeToken(update.resume_token);
  EXPECT_TRUE(point.ok()) << point.status();
  return point.value_or(ResumePoint{});
}

bool HasNext(const JobCursor& cursor, absl::Time now = absl::UnixEpoch()) {
  return cursor.next_at() <= now;
}

// Returns the response for a client with the view `view`.
Snapshot DeltaOf(const JobCursor::Update& update, View view) {
  return update.base == nullptr ? wire::WithView(*update.published, view)
                                : wire::DeltaInView(*update.base, *update.published, view);
}

TEST(JobCursor, BeginsWithTheNewestSnapshotAndNoGap) {
  JobCursor cursor({}, {});
  cursor.Begin(Number(5), kRun);
  const auto update = cursor.Next(absl::UnixEpoch());
  EXPECT_EQ(update.published->sequence, 5u);
  EXPECT_EQ(update.skipped, 0u);
  EXPECT_FALSE(update.restarted);
  EXPECT_FALSE(HasNext(cursor));
}

TEST(JobCursor, WaitsForTheFirstSnapshotOfAJobThatHasNone) {
  JobCursor cursor({}, {});
  cursor.Begin(Number(0), kRun);
  EXPECT_FALSE(HasNext(cursor));
  cursor.Offer(Number(1), kRun);
  EXPECT_EQ(cursor.Next(absl::UnixEpoch()).published->sequence, 1u);
}

TEST(JobCursor, ASlowReaderGetsTheNewestSnapshotAndTheNumberOfMissedOnes) {
  JobCursor cursor({}, {});
  cursor.Begin(Number(1), kRun);
  cursor.Next(absl::UnixEpoch());
  for (const std::uint64_t sequence : {2, 3, 4}) cursor.Offer(Number(sequence), kRun);
  const auto update = cursor.Next(absl::UnixEpoch());
  EXPECT_EQ(update.published->sequence, 4u);
  EXPECT_EQ(update.skipped, 2u);
}

TEST(JobCursor, IgnoresItsOwnAndOlderSnapshots) {
  JobCursor cursor({}, {});
  cursor.Begin(Number(3), kRun);
  cursor.Next(absl::UnixEpoch());
  cursor.Offer(Number(3), kRun);
  cursor.Offer(Number(2), kRun);
  EXPECT_FALSE(HasNext(cursor));
}

TEST(JobCursor, FollowsOneRunOfAnIdEvenWithoutRunUids) {
  JobCursor slow({}, {});
  slow.Begin(Number(2, JobState::kSucceeded), kRun);
  slow.Offer(Number(3), kRun + 1);
  EXPECT_EQ(slow.Next(absl::UnixEpoch()).published->sequence, 2u);
  EXPECT_TRUE(slow.is_over());
  slow.Offer(Number(4), kRun + 1);
  EXPECT_FALSE(HasNext(slow));

  JobCursor early({}, {});
  early.Begin(Number(0), kRun + 1);
  early.Offer(Number(2, JobState::kSucceeded), kRun);
  EXPECT_FALSE(HasNext(early));
  early.Offer(Number(1), kRun + 1);
  EXPECT_EQ(early.Next(absl::UnixEpoch()).published->sequence, 1u);
}

TEST(JobCursor, IgnoresOffersBeforeItKnowsTheRun) {
  JobCursor cursor({}, {});
  cursor.Offer(Number(9), kRun);
  EXPECT_FALSE(HasNext(cursor));
}

TEST(JobCursor, ResumesAfterATokenAndReportsTheGap) {
  JobCursor first({}, {});
  first.Begin(Number(3), kRun);
  JobCursor second(After(first.Next(absl::UnixEpoch())), {});
  second.Begin(Number(6), kRun);
  const auto update = second.Next(absl::UnixEpoch());
  EXPECT_EQ(update.published->sequence, 6u);
  EXPECT_EQ(update.skipped, 2u);
  EXPECT_FALSE(update.restarted);
}

TEST(JobCursor, HasNoUpdateForAReaderOfTheNewestSnapshot) {
  JobCursor cursor({.sequence = 3, .run = kRun}, {});
  cursor.Begin(Number(3), kRun);
  EXPECT_FALSE(HasNext(cursor));
  EXPECT_FALSE(cursor.is_over());
  cursor.Offer(Number(4), kRun);
  EXPECT_EQ(cursor.Next(absl::UnixEpoch()).skipped, 0u);
}

TEST(JobCursor, ATokenOfAnotherRunRestarts) {
  JobCursor cursor({.sequence = 3, .run = kRun}, {});
  cursor.Begin(Number(5), kRun + 1);
  auto update = cursor.Next(absl::UnixEpoch());
  EXPECT_TRUE(update.restarted);
  EXPECT_EQ(update.skipped, 0u);
  cursor.Offer(Number(6), kRun + 1);
  update = cursor.Next(absl::UnixEpoch());
  EXPECT_FALSE(update.restarted) << "only in the first";
  EXPECT_EQ(After(update), (ResumePoint{.sequence = 6, .run = kRun + 1}));
}

TEST(JobCursor, RestartsAfterTheMasterLostTheEndOfItsLog) {
  JobCursor cursor({.sequence = 9, .run = kRun}, {});
  cursor.Begin(Number(5), kRun);
  EXPECT_TRUE(cursor.Next(absl::UnixEpoch()).restarted);
}

TEST(JobCursor, IsOverAfterTheFinalSnapshot) {
  JobCursor cursor({}, {});
  cursor.Begin(Number(1), kRun);
  cursor.Next(absl::UnixEpoch());
  cursor.Offer(Number(2, JobState::kSucceeded), kRun);
  EXPECT_FALSE(cursor.is_over());
  const auto update = cursor.Next(absl::UnixEpoch());
  EXPECT_TRUE(update.published->is_final);
  EXPECT_TRUE(cursor.is_over());
}

TEST(JobCursor, SendsTheFinalSnapshotOnce) {
  JobCursor cursor({.sequence = 4, .run = kRun}, {});
  cursor.Begin(Number(4, JobState::kFailed), kRun);
  EXPECT_FALSE(HasNext(cursor));
  EXPECT_TRUE(cursor.is_over());
}

TEST(JobCursor, WaitsBetweenUpdatesButNotForTheFinalOne) {
  const absl::Time now = absl::FromUnixSeconds(1'700'000'000);
  JobCursor cursor({}, {.interval_min = absl::Seconds(10)});
  cursor.Begin(Number(1), kRun);
  ASSERT_TRUE(HasNext(cursor, now)) << "the first";
  cursor.Next(now);
  EXPECT_EQ(cursor.next_at(), absl::InfiniteFuture());
  cursor.Offer(Number(2), kRun);
  EXPECT_EQ(cursor.next_at(), now + absl::Seconds(10));
  cursor.Offer(Number(3, JobState::kFailed), kRun);
  EXPECT_TRUE(HasNext(cursor, now));
}

TEST(JobCursor, HasTheViewThatWasAskedFor) {
  Snapshot snapshot = *Number(1);
  snapshot.stages = {{.id = {0, 0}}};
  snapshot.coverage = Coverage{};
  JobCursor cursor({}, {.view = View::kStages, .deltas = true});
  cursor.Begin(std::make_shared<Snapshot>(snapshot), kRun);
  EXPECT_EQ(cursor.options().view, View::kStages);
  const auto first = cursor.Next(absl::UnixEpoch());
  EXPECT_EQ(first.base, nullptr);
  snapshot.sequence = 2;
  snapshot.coverage->silent_tasks = 3;  // This field is not in the client's view.
  cursor.Offer(std::make_shared<Snapshot>(snapshot), kRun);
  const auto update = cursor.Next(absl::UnixEpoch());
  EXPECT_EQ(update.base, first.published);
  EXPECT_FALSE(DeltaOf(update, View::kStages).coverage.has_value());
}

TEST(JobCursor, CopiesNoOfferedSnapshot) {
  for (const bool deltas : {false, true}) {
    JobCursor cursor({}, {.deltas = deltas});
    const SharedSnapshot offered = Number(1);
    cursor.Begin(offered, kRun);
    EXPECT_EQ(cursor.Next(absl::UnixEpoch()).published, offered);
    EXPECT_EQ(offered.use_count(), 1);
  }
}

TEST(JobCursor, SendsAWholeSnapshotIfTheBaseNoLongerExists) {
  JobCursor cursor({}, {.deltas = true});
  cursor.Begin(Number(1), kRun);
  cursor.Next(absl::UnixEpoch());
  cursor.Offer(Number(9), kRun);
  const auto update = cursor.Next(absl::UnixEpoch());
  EXPECT_EQ(update.base, nullptr);
  EXPECT_EQ(update.skipped, 7u);
}

// A client that applies every delta has the published snapshots, however slow the client is and
// wherever its stream breaks.
TEST(JobCursor, AReaderOfDeltasHasThePublishedSnapshots) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    test::RandomSnapshots random(seed);
    const JobCursor::Options options = {.view = static_cast<View>(1 + random.Upto(2)),
                                        .deltas = true};
    Snapshot published = random.First();
    published.is_final = false;
    JobCursor cursor({}, options);
    cursor.Begin(std::make_shared<Snapshot>(published), kRun);
    Snapshot reader;
    std::shared_ptr<const Snapshot> kept;  // keeps the sent snapshot alive
    bool is_first = true;
    std::uint64_t deltas = 0;
    for (int step = 0; step < 30; ++step) {
      if (random.Chance(8)) {  // A new stream continues after the client's snapshot.
        cursor = JobCursor({.sequence = reader.sequence, .run = kRun}, options);
        cursor.Begin(std::make_shared<Snapshot>(published), kRun);
        is_first = true;
      }
      if (HasNext(cursor) && random.Chance(2)) {
        const auto update = cursor.Next(absl::UnixEpoch());
        ASSERT_TRUE(!is_first || update.base == nullptr) << "whole at first";
        is_first = false;
        deltas += update.base == nullptr ? 0 : 1;
        kept = random.Chance(8) ? nullptr : update.published;
        const auto applied = wire::Apply(reader, DeltaOf(update, options.view)).value();
        reader = applied;
        ASSERT_EQ(reader, wire::WithView(published, options.view)) << "seed " << seed;
      }
      published = random.Next(published);
      published.is_final = false;
      cursor.Offer(std::make_shared<Snapshot>(published), kRun);
    }
    ASSERT_GT(deltas, 0u);
  }
}

class ForeignToken : public ::testing::TestWithParam<const char*> {};
TEST_P(ForeignToken, IsRefused) {
  EXPECT_TRUE(absl::IsInvalidArgument(ParseResumeToken(GetParam()).status()));
}
INSTANTIATE_TEST_SUITE_P(All, ForeignToken,
                         ::testing::Values("", "-", "1", "1-", "-1", "g-1", "1-1x", "1--1",
                                           "11111111111111111-1", " 1-1"));

TEST(ResumeToken, ContainsRunAndSequence) {
  const ResumePoint point{.sequence = 0xffffffffffffffff, .run = 0x1234};
  EXPECT_EQ(*ParseResumeToken(EncodeResumeToken(point)), point);
}

}  // namespace
}  // namespace tidemark::service::job_cursor_test
