#include "cli/follow.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <string>
#include <vector>

#include "absl/time/clock.h"
#include "tidemark/snapshot.h"

namespace tidemark::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::StartsWith;

// Generous: only a broken follower waits so long.
constexpr std::chrono::seconds kPatience{20};

Snapshot Of(std::uint64_t sequence, JobState state = JobState::kRunning) {
  return {.job_id = "job-1", .sequence = sequence, .state = state};
}

TEST(Follower, SaysThatTheMasterIsMuteAndThatItIsBack) {
  std::promise<void> complained;
  std::vector<std::string> troubles;
  const BasicFollowCalls<Snapshot> calls = {.on_snapshot = [](const Snapshot&) { return true; },
                                            .on_trouble =
                                                [&](const std::string& trouble) {
                                                  troubles.push_back(trouble);
                                                  if (troubles.size() == 1) complained.set_value();
                                                }};
  // A stream that stands and brings nothing until that was noticed.
  const auto watch = [&](std::uint64_t, const std::function<bool(const Snapshot&)>& on_snapshot,
                         const std::stop_token&) {
    on_snapshot(Of(1));
    complained.get_future().wait_for(kPatience);
    on_snapshot(Of(2, JobState::kSucceeded));
    return absl::OkStatus();
  };
  Follower<Snapshot> follower(watch, "host:1", "job", {.mute_after = absl::Milliseconds(50)},
                              calls);
  const auto final = follower.Follow({});
  ASSERT_TRUE(final.ok()) << final.status();
  EXPECT_EQ(final->sequence, 2u);
  EXPECT_THAT(troubles, ElementsAre(StartsWith("nothing heard from the master at host:1 for "),
                                    "the master is back"));
}

TEST(Follower, SaysThatTheMasterDoesNotAnswerAtAll) {
  std::promise<void> complained;
  std::vector<std::string> troubles;
  const BasicFollowCalls<Snapshot> calls = {.on_snapshot = [](const Snapshot&) { return true; },
                                            .on_trouble =
                                                [&](const std::string& trouble) {
                                                  troubles.push_back(trouble);
                                                  complained.set_value();
                                                }};
  const auto watch = [&](std::uint64_t, const std::function<bool(const Snapshot&)>&,
                         const std::stop_token&) {
    complained.get_future().wait_for(kPatience);
    return absl::InvalidArgumentError("enough");
  };
  Follower<Snapshot> follower(watch, "host:1", "job", {.mute_after = absl::Milliseconds(50)},
                              calls);
  EXPECT_FALSE(follower.Follow({}).ok());
  EXPECT_THAT(troubles, ElementsAre(StartsWith("nothing heard from the master at host:1")));
}

TEST(Follower, DoesNotTakeItsOwnSlowReaderForAMuteMaster) {
  std::vector<std::string> troubles;
  const BasicFollowCalls<Snapshot> calls = {
      .on_snapshot =
          [](const Snapshot& snapshot) {
            if (!snapshot.is_final()) absl::SleepFor(absl::Milliseconds(1500));
            return true;
          },
      .on_trouble = [&](const std::string& trouble) { troubles.push_back(trouble); }};
  const auto watch = [](std::uint64_t, const std::function<bool(const Snapshot&)>& on_snapshot,
                        const std::stop_token&) {
    on_snapshot(Of(1));
    absl::SleepFor(absl::Milliseconds(150));  // longer than between two looks at the silence
    on_snapshot(Of(2, JobState::kSucceeded));
    return absl::OkStatus();
  };
  Follower<Snapshot> follower(watch, "host:1", "job", {.mute_after = absl::Seconds(1)}, calls);
  ASSERT_TRUE(follower.Follow({}).ok());
  EXPECT_THAT(troubles, IsEmpty());
}

}  // namespace
}  // namespace tidemark::cli
