#include "client/follower.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <string>
#include <vector>

#include "absl/strings/cord.h"
#include "absl/time/clock.h"
#include "proto/wire/error_details.h"

namespace tidemark::client {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::StartsWith;

// Long enough for any working follower.
constexpr std::chrono::seconds kPatience{60};

const auto kShown = [] { return true; };

TEST(Follower, ReportsASilenceAndItsEnd) {
  std::promise<void> complained;
  std::vector<std::string> troubles;
  Follower follower("host:1", {.mute_after = absl::Milliseconds(50)},
                    [&](const std::string& trouble) {
                      troubles.push_back(trouble);
                      if (troubles.size() == 1) complained.set_value();
                    });
  // A stream without responses until the silence was reported.
  const absl::Status status = follower.Follow(
      [&] {
        follower.OnResponse(kShown);
        complained.get_future().wait_for(kPatience);
        follower.OnResponse(kShown);
        return absl::OkStatus();
      },
      {});
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_THAT(troubles, ElementsAre(StartsWith("no response from the master at host:1 for "),
                                    "the master is back"));
}

TEST(Follower, ReportsAMasterThatNeverResponds) {
  std::promise<void> complained;
  std::vector<std::string> troubles;
  Follower follower("host:1", {.mute_after = absl::Milliseconds(50)},
                    [&](const std::string& trouble) {
                      troubles.push_back(trouble);
                      complained.set_value();
                    });
  const absl::Status status = follower.Follow(
      [&] {
        complained.get_future().wait_for(kPatience);
        return absl::InvalidArgumentError("enough");
      },
      {});
  EXPECT_TRUE(absl::IsInvalidArgument(status));
  EXPECT_THAT(troubles, ElementsAre(StartsWith("no response from the master at host:1")));
}

TEST(Follower, DoesNotReportSilenceOfAnAbsentJob) {
  std::vector<std::string> troubles;
  Follower follower("host:1", {.mute_after = absl::Milliseconds(10), .is_to_come = true},
                    [&](const std::string& trouble) { troubles.push_back(trouble); });
  const absl::Status status = follower.Follow(
      [] {
        absl::SleepFor(absl::Milliseconds(50));
        return absl::OkStatus();
      },
      {});
  EXPECT_TRUE(status.ok());
  EXPECT_THAT(troubles, IsEmpty());
}

TEST(Follower, DoesNotReportTheTimeOfASlowReader) {
  std::vector<std::string> troubles;
  Follower follower("host:1", {.mute_after = absl::Seconds(1)},
                    [&](const std::string& trouble) { troubles.push_back(trouble); });
  const absl::Status status = follower.Follow(
      [&] {
        follower.OnResponse([] {
          absl::SleepFor(absl::Milliseconds(1500));
          return true;
        });
        absl::SleepFor(
            absl::Milliseconds(150));  // longer than the interval between two checks for silence
        follower.OnResponse(kShown);
        return absl::OkStatus();
      },
      {});
  EXPECT_TRUE(status.ok());
  EXPECT_THAT(troubles, IsEmpty());
}

TEST(Follower, ResumesAfterABreakAndReportsItOnce) {
  std::vector<std::string> troubles;
  Follower follower("host:1", {}, [&](const std::string& line) { troubles.push_back(line); });
  int streams = 0;
  const absl::Status status = follower.Follow(
      [&]() -> absl::Status {
        ++streams;
        if (streams == 2) return absl::UnavailableError("gone");
        follower.OnResponse(kShown);
        return streams == 1 ? absl::UnavailableError("gone") : absl::OkStatus();
      },
      {});
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_EQ(streams, 3);
  EXPECT_THAT(troubles, ElementsAre("lost contact with the master at host:1: gone; retrying",
                                    "the master is back"));
}

TEST(Follower, FailsAfterItsPatience) {
  Follower follower("host:1", {.patience = absl::ZeroDuration()}, {});
  const absl::Status status = follower.Follow(
      [&] {
        follower.OnResponse(kShown);
        return absl::UnavailableError("gone");
      },
      {});
  EXPECT_EQ(status.message(), "gone; gave up after 0 s");
}

TEST(Follower, ReturnsTheLastErrorWhenItFails) {
  Follower follower("host:1", {.patience = absl::ZeroDuration()}, {});
  const absl::Status status = follower.Follow(
      [&] {
        follower.OnResponse(kShown);
        return absl::NotFoundError("no job a");
      },
      {});
  EXPECT_TRUE(absl::IsNotFound(status)) << status;
  EXPECT_EQ(status.message(), "no job a; gave up after 0 s");
}

// A proxy may redirect calls to another master, where the job opens later.
TEST(Follower, ResumesWhereTheJobReappears) {
  std::vector<std::string> troubles;
  Follower follower("host:1", {}, [&](const std::string& trouble) { troubles.push_back(trouble); });
  int streams = 0;
  const absl::Status status = follower.Follow(
      [&]() -> absl::Status {
        follower.OnResponse(kShown);
        return ++streams == 1 ? absl::NotFoundError("no job a") : absl::OkStatus();
      },
      {});
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_THAT(troubles, ElementsAre("the master at host:1 no longer has the job; retrying",
                                    "the master is back"));
}

// A proxy or a master may cancel a stream.
TEST(Follower, ResumesAStreamThatThePeerCancelled) {
  Follower follower("host:1", {}, {});
  int streams = 0;
  const auto cancelled_once = [&] {
    follower.OnResponse(kShown);
    return ++streams == 1 ? absl::CancelledError() : absl::OkStatus();
  };
  EXPECT_TRUE(follower.Follow(cancelled_once, {}).ok());
  Follower never_answered("host:1", {}, {});
  const absl::Status status = never_answered.Follow([] { return absl::CancelledError(); }, {});
  EXPECT_TRUE(absl::IsUnavailable(status)) << status;
}

TEST(Follower, EndsWhenTheCallerStops) {
  Follower follower("host:1", {}, {});
  const auto read = [&] {
    follower.OnResponse([] { return false; });
    return absl::UnavailableError("gone");
  };
  EXPECT_TRUE(absl::IsCancelled(follower.Follow(read, {})));
}

// A master that breaks each stream after its first response, also after an absent job appeared.
TEST(Follower, FailsIfTheMasterBreaksEveryStream) {
  for (const bool is_to_come : {false, true}) {
    Follower follower("host:1", {.patience = absl::Milliseconds(100), .is_to_come = is_to_come},
                      {});
    int streams = 0;
    const auto break_off = [&]() -> absl::Status {
      follower.OnResponse(kShown);
      if (++streams == 5) return absl::InvalidArgumentError("it has not given up");
      return absl::UnavailableError("gone");
    };
    const absl::Status status = follower.Follow(break_off, {});
    EXPECT_TRUE(absl::IsUnavailable(status)) << status;
  }
}

TEST(Follower, WaitsForTheDelayOfTheMaster) {
  absl::Status refused = absl::ResourceExhaustedError("too many watchers");
  refused.SetPayload(
      wire::kErrorDetailsPayload,
      absl::Cord(wire::EncodeErrorDetails(refused, "watchers", absl::Milliseconds(500))));
  Follower follower("host:1", {.is_to_come = true}, {});
  int streams = 0;
  const absl::Time begin = absl::Now();
  EXPECT_TRUE(
      follower.Follow([&] { return ++streams == 1 ? refused : absl::OkStatus(); }, {}).ok());
  EXPECT_GE(absl::Now() - begin, absl::Milliseconds(500));
}

TEST(Follower, AdaptsToAReportedPause) {
  std::promise<void> complained;
  std::vector<std::string> troubles;
  Follower follower("host:1", {.mute_after = absl::Milliseconds(200)},
                    [&](const std::string& trouble) {
                      troubles.push_back(trouble);
                      if (troubles.size() == 1) complained.set_value();
                    });
  const absl::Status status = follower.Follow(
      [&] {
        follower.OnResponse(kShown);
        complained.get_future().wait_for(kPatience);
        follower.OnResponse(kShown);
        absl::SleepFor(absl::Milliseconds(300));  // less than three times the first pause
        return absl::OkStatus();
      },
      {});
  EXPECT_TRUE(status.ok());
  EXPECT_EQ(troubles.size(), 2u);
}

TEST(Follower, DoesNotRetryAMasterThatNeverResponded) {
  Follower follower("host:1", {}, {});
  int streams = 0;
  const auto refuse = [&] {
    ++streams;
    return absl::UnavailableError("Connection refused");
  };
  EXPECT_TRUE(absl::IsUnavailable(follower.Follow(refuse, {})));
  EXPECT_EQ(streams, 1);
}

}  // namespace
}  // namespace tidemark::client
