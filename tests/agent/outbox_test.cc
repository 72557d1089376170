#include "agent/outbox.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <thread>

namespace tidemark::agent {
namespace {

constexpr std::size_t kRoomy = std::size_t{1} << 20;

ClockReading At(std::int64_t nanos) {
  return {absl::FromUnixSeconds(1'700'000'000) + absl::Nanoseconds(nanos), nanos};
}

AttemptChanged Change(std::uint32_t index) {
  return {.attempt = {TaskKind::kMap, index, 0}, .state = AttemptState::kStarted};
}

ReduceProfile ProfileOf(std::uint64_t groups) {
  ReduceProfile profile;
  profile.attempt = {TaskKind::kReduce, 0, 0};
  profile.groups_done = groups;
  profile.points = {{10, groups, absl::Nanoseconds(1)}};
  return profile;
}

std::uint64_t NextSequence(Outbox& outbox) {
  const auto request = outbox.Next(At(0));
  return request == nullptr ? 0 : request->envelope().sequence();
}

TEST(Outbox, NumbersEnvelopesAsTheyLeave) {
  Outbox outbox("source-1", "job-1", "run-1", kRoomy);
  EXPECT_TRUE(outbox.empty());
  for (std::uint32_t i = 0; i < 3; ++i) outbox.Add(Change(i), 0);
  for (std::uint64_t sequence = 1; sequence <= 3; ++sequence) {
    const auto request = outbox.Next(At(5));
    ASSERT_NE(request, nullptr);
    EXPECT_EQ(request->envelope().sequence(), sequence);
    EXPECT_EQ(request->envelope().source_id(), "source-1");
    EXPECT_EQ(request->envelope().job_id(), "job-1");
    EXPECT_EQ(request->envelope().sent_at().nanos(), 5);
    EXPECT_EQ(request->envelope().attempt_changed().attempt().index(), sequence - 1);
  }
  EXPECT_EQ(outbox.Next(At(5)), nullptr);
  EXPECT_FALSE(outbox.empty());
}

TEST(Outbox, RepeatsWhatWasNotAcknowledgedToANewStream) {
  Outbox outbox("s", "j", "r", kRoomy);
  for (std::uint32_t i = 0; i < 4; ++i) outbox.Add(Change(i), 0);
  for (int i = 0; i < 3; ++i) NextSequence(outbox);
  EXPECT_TRUE(outbox.Acknowledge(1));
  outbox.Rewind();
  EXPECT_EQ(NextSequence(outbox), 2u);
  EXPECT_EQ(NextSequence(outbox), 3u);
  EXPECT_EQ(NextSequence(outbox), 4u);
  EXPECT_EQ(NextSequence(outbox), 0u);
  EXPECT_TRUE(outbox.Acknowledge(4));
  EXPECT_TRUE(outbox.empty());
  EXPECT_EQ(outbox.bytes(), 0u);
  EXPECT_EQ(outbox.counts().sent, 4u);
  EXPECT_EQ(outbox.counts().acknowledged, 4u);
}

TEST(Outbox, TellsSinceWhenTheOldestEnvelopeWaits) {
  Outbox outbox("s", "j", "r", kRoomy);
  EXPECT_EQ(outbox.oldest_made_at_nanos(), std::nullopt);
  outbox.Add(Change(0), 10);
  outbox.Add(ProfileOf(1), 20);
  EXPECT_EQ(outbox.oldest_made_at_nanos(), 10);
  NextSequence(outbox);  // sent, but not answered for
  EXPECT_EQ(outbox.oldest_made_at_nanos(), 10);
  EXPECT_TRUE(outbox.Acknowledge(1));
  EXPECT_EQ(outbox.oldest_made_at_nanos(), 20);
  NextSequence(outbox);
  EXPECT_TRUE(outbox.Acknowledge(2));
  EXPECT_EQ(outbox.oldest_made_at_nanos(), std::nullopt);
}

TEST(Outbox, IgnoresAnswersToWhatWasNeverSent) {
  Outbox outbox("s", "j", "r", kRoomy);
  outbox.Add(Change(0), 0);
  EXPECT_FALSE(outbox.Acknowledge(1));
  EXPECT_FALSE(outbox.Reject(1));
  NextSequence(outbox);
  EXPECT_FALSE(outbox.Acknowledge(2));
  EXPECT_TRUE(outbox.Acknowledge(0));
  EXPECT_EQ(outbox.counts().acknowledged, 0u);
  EXPECT_TRUE(outbox.Acknowledge(1));
  EXPECT_TRUE(outbox.Acknowledge(1));
  EXPECT_EQ(outbox.counts().acknowledged, 1u);
}

TEST(Outbox, ForgetsWhatWasRejected) {
  Outbox outbox("s", "j", "r", kRoomy);
  for (std::uint32_t i = 0; i < 3; ++i) outbox.Add(Change(i), 0);
  for (int i = 0; i < 3; ++i) NextSequence(outbox);
  EXPECT_TRUE(outbox.Reject(2));
  EXPECT_FALSE(outbox.Reject(2));
  outbox.Rewind();
  EXPECT_EQ(NextSequence(outbox), 1u);
  EXPECT_EQ(NextSequence(outbox), 3u);
  EXPECT_EQ(outbox.counts().rejected, 1u);
}

TEST(Outbox, DropsTheOldestProfileFirstAndLeavesNoGap) {
  Outbox outbox("s", "j", "r", 3'500);
  const auto lost = std::make_shared<std::atomic<std::uint64_t>>(0);
  outbox.Add(JobOpened{}, 0);
  outbox.Add(Change(0), 0);
  for (std::uint64_t i = 1; i <= 20; ++i) outbox.Add(ProfileOf(i), 0, lost);
  EXPECT_LE(outbox.bytes(), 3'500u);
  const std::uint64_t dropped = outbox.counts().dropped;
  ASSERT_GT(dropped, 0u);
  EXPECT_EQ(lost->load(), dropped * (dropped + 1) / 2);  // the oldest ones: 1 + 2 + 3 + ...
  EXPECT_EQ(outbox.counts().points_dropped, lost->load());

  const auto first = outbox.Next(At(0));
  EXPECT_TRUE(first->envelope().has_job_opened());
  EXPECT_EQ(first->envelope().dropped_events(), dropped);
  EXPECT_TRUE(outbox.Next(At(0))->envelope().has_attempt_changed());
  const auto third = outbox.Next(At(0));
  EXPECT_EQ(third->envelope().sequence(), 3u);
  EXPECT_EQ(third->envelope().reduce_profile().groups_done(), dropped + 1);
}

TEST(Outbox, KeepsTheJobWhenAttemptsOverflow) {
  Outbox outbox("s", "j", "r", 4'000);
  outbox.Add(JobOpened{.name = "kept"}, 0);
  for (std::uint32_t i = 0; i < 100; ++i) outbox.Add(Change(i), 0);
  outbox.Add(JobClosed{}, 0);
  outbox.Add(ProfileOf(1), 0);  // finds no room among more important ones
  EXPECT_EQ(outbox.Next(At(0))->envelope().job_opened().name(), "kept");
  bool closed = false;
  std::uint64_t acknowledged = 1;
  outbox.Acknowledge(acknowledged);
  while (const auto request = outbox.Next(At(0))) {
    closed = request->envelope().has_job_closed();
    EXPECT_FALSE(request->envelope().has_reduce_profile());
    outbox.Acknowledge(++acknowledged);
  }
  EXPECT_TRUE(closed);
  EXPECT_TRUE(outbox.empty());
}

TEST(Outbox, HoldsBackWhatWouldFillItWithUnacknowledgedOnes) {
  Outbox outbox("s", "j", "r", 8'000);
  std::uint32_t index = 0;
  for (; outbox.counts().dropped == 0; ++index) outbox.Add(Change(index), 0);
  std::uint64_t last = 0;
  while (const std::uint64_t sequence = NextSequence(outbox)) last = sequence;
  EXPECT_GT(last, 1u);
  EXPECT_LT(last, index - 1);
  // There is room for news, and what has a number stays.
  outbox.Add(Change(index), 0);
  outbox.Rewind();
  EXPECT_EQ(NextSequence(outbox), 1u);
  EXPECT_TRUE(outbox.Acknowledge(last));
  EXPECT_EQ(NextSequence(outbox), last + 1);
}

TEST(Outbox, DropsAnEventLargerThanItself) {
  Outbox outbox("s", "j", "r", 1'000);
  outbox.Add(JobClosed{.message = std::string(5'000, 'x')}, 0);
  EXPECT_TRUE(outbox.empty());
  EXPECT_EQ(outbox.counts().dropped, 1u);
}

TEST(Outbox, KeepsTheStartOfARunningGroupWhereItIs) {
  Outbox outbox("s", "j", "r", kRoomy);
  ReduceProfile profile;
  profile.attempt = {TaskKind::kReduce, 0, 0};
  profile.running_group = RunningGroup{{}, absl::Seconds(3), 1, 1, 0};
  outbox.Add(profile, 1'000'000'000);
  EXPECT_EQ(outbox.Next(At(1'000'000'000))
                ->envelope()
                .reduce_profile()
                .running_group()
                .elapsed()
                .seconds(),
            3);
  outbox.Rewind();
  const auto resent = outbox.Next(At(6'000'000'000));
  EXPECT_EQ(resent->envelope().reduce_profile().running_group().elapsed().seconds(), 8);
  EXPECT_EQ(resent->envelope().sent_at().seconds(), 1'700'000'006);
}

TEST(Outbox, WaitsForAnswers) {
  Outbox outbox("s", "j", "r", kRoomy);
  outbox.Add(Change(0), 0);
  outbox.Add(Change(1), 0);
  const Outbox::Ordinal newest = outbox.newest();
  EXPECT_FALSE(outbox.WaitUntilSettled(newest, std::chrono::steady_clock::now()));
  std::thread master([&] {
    NextSequence(outbox);
    NextSequence(outbox);
    outbox.Acknowledge(2);
  });
  EXPECT_TRUE(
      outbox.WaitUntilSettled(newest, std::chrono::steady_clock::now() + std::chrono::seconds(20)));
  master.join();
  outbox.Add(Change(2), 0);
  EXPECT_TRUE(outbox.WaitUntilSettled(newest, std::chrono::steady_clock::now()));
}

}  // namespace
}  // namespace tidemark::agent
