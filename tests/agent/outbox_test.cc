#include "agent/outbox.h"

#include "tests/test.h"

namespace tidemark::agent::outbox_test {
namespace {

constexpr std::size_t kRoomy = std::size_t{1} << 20;

ClockReading At(std::int64_t nanos) {
  return {absl::FromUnixSeconds(1'700'000'000) + absl::Nanoseconds(nanos), nanos};
}

AttemptChanged Change(std::uint32_t index) {
  return {.attempt = {kMapStage, index, 0}, .state = AttemptState::kStarted};
}

ReduceProfile ProfileOf(std::uint64_t groups) {
  ReduceProfile profile;
  profile.attempt = {kReduceStage, 0, 0};
  profile.groups_done = groups;
  profile.bins = {{.bin = 19, .count = groups, .size_bytes = 10 * groups}};
  return profile;
}

// Returns the sequence numbers of the next batch.
std::vector<std::uint64_t> NextSequences(Outbox& outbox) {
  std::vector<std::uint64_t> sequences;
  if (const auto batch = outbox.Next(At(0))) {
    for (int i = 0; i < batch->events_size(); ++i) {
      sequences.push_back(batch->first_sequence() + static_cast<std::uint64_t>(i));
    }
  }
  return sequences;
}

TEST(Outbox, NumbersTheEventsOfABatch) {
  Outbox outbox("source-1", "job-1", "run-1", kRoomy);
  EXPECT_TRUE(outbox.empty());
  for (std::uint32_t i = 0; i < 3; ++i) outbox.Add(Change(i), 0);
  const auto batch = outbox.Next(At(5));
  ASSERT_NE(batch, nullptr);
  EXPECT_EQ(batch->first_sequence(), 1u);
  EXPECT_EQ(batch->sent_at(), 1'700'000'000'000'000'005);
  ASSERT_EQ(batch->events_size(), 3);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(batch->events(i).attempt_changed().attempt().index(), i);
  }
  EXPECT_EQ(outbox.Next(At(5)), nullptr);
  EXPECT_FALSE(outbox.empty());
}

TEST(Outbox, OpensItsSourceOncePerStream) {
  Outbox outbox("source-1", "job-1", "run-1", kRoomy);
  outbox.Add(Change(0), 0);
  const auto first = outbox.Next(At(0));
  ASSERT_EQ(first->sources_size(), 1);
  EXPECT_EQ(first->sources(0).source_id(), "source-1");
  EXPECT_EQ(first->sources(0).job_id(), "job-1");
  EXPECT_EQ(first->sources(0).run_uid(), "run-1");
  outbox.Add(Change(1), 0);
  EXPECT_EQ(outbox.Next(At(0))->sources_size(), 0);
  outbox.Rewind();
  EXPECT_EQ(outbox.Next(At(0))->sources_size(), 1);
}

TEST(Outbox, LimitsABatchToTheSizeOfAMessage) {
  Outbox outbox("s", "j", "r", std::size_t{64} << 20);
  ReduceProfile large = ProfileOf(1);
  large.finished_keys.resize(20'000);
  for (int i = 0; i < 5; ++i) outbox.Add(large, 0);
  std::uint64_t last = 0;
  int batches = 0;
  while (const auto batch = outbox.Next(At(0))) {
    EXPECT_LT(batch->ByteSizeLong(), std::size_t{4} << 20);
    EXPECT_EQ(batch->first_sequence(), last + 1);
    last += static_cast<std::uint64_t>(batch->events_size());
    ++batches;
  }
  EXPECT_EQ(last, 5u);
  EXPECT_GT(batches, 1);
}

TEST(Outbox, RepeatsUnacknowledgedEventsOnANewStream) {
  Outbox outbox("s", "j", "r", kRoomy);
  for (std::uint32_t i = 0; i < 3; ++i) outbox.Add(Change(i), 0);
  EXPECT_THAT(NextSequences(outbox), ElementsAre(1, 2, 3));
  EXPECT_TRUE(outbox.Acknowledge(1));
  outbox.Add(Change(3), 0);
  outbox.Rewind();
  EXPECT_THAT(NextSequences(outbox), ElementsAre(2, 3, 4));
  EXPECT_THAT(NextSequences(outbox), IsEmpty());
  EXPECT_TRUE(outbox.Acknowledge(4));
  EXPECT_TRUE(outbox.empty());
  EXPECT_EQ(outbox.bytes(), 0u);
  EXPECT_EQ(outbox.counts().sent, 4u);
  EXPECT_EQ(outbox.counts().acknowledged, 4u);
}

TEST(Outbox, ReturnsTheTimeOfTheOldestWaitingEvent) {
  Outbox outbox("s", "j", "r", kRoomy);
  EXPECT_EQ(outbox.oldest_made_at_nanos(), std::nullopt);
  outbox.Add(Change(0), 10);
  outbox.Add(ProfileOf(1), 20);
  EXPECT_EQ(outbox.oldest_made_at_nanos(), 10);
  NextSequences(outbox);  // These events are sent but not acknowledged.
  EXPECT_EQ(outbox.oldest_made_at_nanos(), 10);
  EXPECT_TRUE(outbox.Acknowledge(1));
  EXPECT_EQ(outbox.oldest_made_at_nanos(), 20);
  EXPECT_TRUE(outbox.Acknowledge(2));
  EXPECT_EQ(outbox.oldest_made_at_nanos(), std::nullopt);
}

TEST(Outbox, IgnoresAnswersToUnsentEvents) {
  Outbox outbox("s", "j", "r", kRoomy);
  outbox.Add(Change(0), 0);
  EXPECT_FALSE(outbox.Acknowledge(1));
  EXPECT_FALSE(outbox.Reject(1));
  NextSequences(outbox);
  EXPECT_FALSE(outbox.Acknowledge(2));
  EXPECT_TRUE(outbox.Acknowledge(0));
  EXPECT_EQ(outbox.counts().acknowledged, 0u);
  EXPECT_TRUE(outbox.Acknowledge(1));
  EXPECT_TRUE(outbox.Acknowledge(1));
  EXPECT_EQ(outbox.counts().acknowledged, 1u);
}

TEST(Outbox, RemovesRejectedEvents) {
  Outbox outbox("s", "j", "r", kRoomy);
  for (std::uint32_t i = 0; i < 3; ++i) outbox.Add(Change(i), 0);
  NextSequences(outbox);
  EXPECT_TRUE(outbox.Reject(2));
  EXPECT_FALSE(outbox.Reject(2));
  outbox.Rewind();
  EXPECT_THAT(NextSequences(outbox), ElementsAre(1)) << "no batch spans a gap";
  EXPECT_THAT(NextSequences(outbox), ElementsAre(3));
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
  // The oldest profiles, with 1 + 2 + 3 + ... groups, were dropped.
  EXPECT_EQ(lost->load(), dropped * (dropped + 1) / 2);
  EXPECT_EQ(outbox.counts().points_dropped, lost->load());

  const auto batch = outbox.Next(At(0));
  EXPECT_EQ(batch->dropped_events(), dropped);
  ASSERT_GE(batch->events_size(), 2);
  EXPECT_TRUE(batch->events(0).has_job_opened());
  EXPECT_TRUE(batch->events(1).has_attempt_changed());
  outbox.Acknowledge(static_cast<std::uint64_t>(batch->events_size()));
  const auto next = batch->events_size() > 2 ? batch : outbox.Next(At(0));
  const v1::Event& profile = next->events(batch->events_size() > 2 ? 2 : 0);
  EXPECT_EQ(profile.reduce_profile().groups_done(), dropped + 1);
}

TEST(Outbox, KeepsTheJobWhenAttemptsOverflow) {
  Outbox outbox("s", "j", "r", 4'000);
  outbox.Add(JobOpened{.name = "kept"}, 0);
  for (std::uint32_t i = 0; i < 100; ++i) outbox.Add(Change(i), 0);
  outbox.Add(JobClosed{}, 0);
  outbox.Add(ProfileOf(1), 0);  // This event does not fit in addition to more important events.
  std::vector<v1::Event> events;
  while (const auto batch = outbox.Next(At(0))) {
    events.insert(events.end(), batch->events().begin(), batch->events().end());
    outbox.Acknowledge(events.size());
  }
  EXPECT_EQ(events.front().job_opened().name(), "kept");
  const bool closed = events.back().has_job_closed();
  for (const v1::Event& event : events) EXPECT_FALSE(event.has_reduce_profile());
  EXPECT_TRUE(closed);
  EXPECT_TRUE(outbox.empty());
}

TEST(Outbox, LimitsUnacknowledgedEvents) {
  Outbox outbox("s", "j", "r", 8'000);
  std::uint32_t index = 0;
  for (; outbox.counts().dropped == 0; ++index) outbox.Add(Change(index), 0);
  std::uint64_t last = 0;
  for (auto batch = NextSequences(outbox); !batch.empty(); batch = NextSequences(outbox)) {
    last = batch.back();
  }
  EXPECT_GT(last, 1u);
  EXPECT_LT(last, index - 1);
  // New events fit, and numbered events remain.
  outbox.Add(Change(index), 0);
  outbox.Rewind();
  EXPECT_EQ(NextSequences(outbox).front(), 1u);
  EXPECT_TRUE(outbox.Acknowledge(last));
  EXPECT_EQ(NextSequences(outbox).front(), last + 1);
}

TEST(Outbox, DropsAnEventLargerThanItself) {
  Outbox outbox("s", "j", "r", 1'000);
  outbox.Add(JobClosed{.message = std::string(5'000, 'x')}, 0);
  EXPECT_TRUE(outbox.empty());
  EXPECT_EQ(outbox.counts().dropped, 1u);
}

TEST(Outbox, DropsNoOtherEventForOneThatCannotFit) {
  Outbox outbox("s", "j", "r", 10'000);
  outbox.Add(Change(0), 0);
  outbox.Add(JobClosed{.message = std::string(20'000, 'x')}, 0);
  EXPECT_EQ(outbox.counts().dropped, 1u);
  EXPECT_THAT(NextSequences(outbox), ElementsAre(1));
}

TEST(Outbox, DropsAnEventLargerThanAMessage) {
  Outbox outbox("s", "j", "r", std::size_t{64} << 20);
  outbox.Add(JobClosed{.message = std::string(std::size_t{5} << 20, 'x')}, 0);
  EXPECT_EQ(outbox.counts().dropped, 1u);
  EXPECT_TRUE(outbox.empty());
}

TEST(Outbox, LimitsTheEventsOfABatch) {
  Outbox outbox("s", "j", "r", std::size_t{64} << 20);
  for (std::uint32_t i = 0; i < 25'000; ++i) outbox.Add(UnknownEvent{}, 0);
  std::size_t sent = 0;
  for (std::size_t batch = 1; batch > 0; sent += batch) {
    batch = NextSequences(outbox).size();
    EXPECT_LE(batch, 10'000u);
  }
  EXPECT_EQ(sent, 25'000u);
}

TEST(Outbox, PutsEveryNumberedEventIntoABatch) {
  Outbox outbox("s", "j", "r", std::size_t{64} << 20);
  ReduceProfile large = ProfileOf(1);
  large.finished_keys.resize(20'000);
  for (int i = 0; i < 3; ++i) outbox.Add(large, 0);
  const auto batch = outbox.Next(At(0));
  ASSERT_LT(batch->events_size(), 3);
  EXPECT_EQ(outbox.counts().sent, static_cast<std::uint64_t>(batch->events_size()));
  outbox.CountUnsentAsDropped();
  EXPECT_EQ(outbox.counts().sent + outbox.counts().dropped, 3u);
}

TEST(Outbox, CountsAPartOfAProfileByItsPoints) {
  Outbox outbox("s", "j", "r", 1'000);
  const auto lost = std::make_shared<std::atomic<std::uint64_t>>(0);
  ReduceProfile part = ProfileOf(7);
  part.bins.clear();
  part.points.assign(1'000, {.size_bytes = 10, .count = 7});
  outbox.Add(part, 0, lost);
  EXPECT_EQ(outbox.counts().points_dropped, 7'000u);
  EXPECT_EQ(lost->load(), 7'000u);
}

TEST(Outbox, KeepsTheStartOfARunningGroup) {
  Outbox outbox("s", "j", "r", kRoomy);
  ReduceProfile profile;
  profile.attempt = {kReduceStage, 0, 0};
  profile.running_group = RunningGroup{{}, absl::Seconds(3), 1, 1, 0};
  outbox.Add(profile, 1'000'000'000);
  const auto elapsed = [](const auto& batch) {
    return batch->events(0).reduce_profile().running_group().elapsed_nanos();
  };
  EXPECT_EQ(elapsed(outbox.Next(At(1'000'000'000))), 3'000'000'000u);
  outbox.Rewind();
  const auto resent = outbox.Next(At(6'000'000'000));
  EXPECT_EQ(elapsed(resent), 8'000'000'000u);
  EXPECT_EQ(resent->sent_at(), 1'700'000'006'000'000'000);
}

TEST(Outbox, BlocksUntilEventsAreAnswered) {
  Outbox outbox("s", "j", "r", kRoomy);
  outbox.Add(Change(0), 0);
  outbox.Add(Change(1), 0);
  const Outbox::Ordinal newest = outbox.newest();
  EXPECT_FALSE(outbox.WaitUntilSettled(newest, std::chrono::steady_clock::now()));
  std::thread master([&] {
    NextSequences(outbox);
    outbox.Acknowledge(2);
  });
  EXPECT_TRUE(
      outbox.WaitUntilSettled(newest, std::chrono::steady_clock::now() + std::chrono::seconds(60)));
  master.join();
  outbox.Add(Change(2), 0);
  EXPECT_TRUE(outbox.WaitUntilSettled(newest, std::chrono::steady_clock::now()));
}

}  // namespace
}  // namespace tidemark::agent::outbox_test
