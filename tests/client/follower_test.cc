#include "client/follower.h"

#include "absl/strings/cord.h"
#include "absl/time/clock.h"
#include "proto/wire/error_details.h"
#include "tests/test.h"

namespace tidemark::client::follower_test {
namespace {

using ::testing::StartsWith;

// Sufficient for any working follower.
constexpr std::chrono::seconds kPatience{60};

class FollowerTest : public ::testing::Test {
 protected:
  // Calls `read` for each stream until the follower ends.
  absl::Status Follow(const WatchOptions& options, const std::function<absl::Status()>& read) {
    follower_ = std::make_unique<Follower>("host:1", options, [this](const std::string& trouble) {
      troubles_.push_back(trouble);
      if (troubles_.size() == 1) complained_.set_value();
    });
    return follower_->Follow(
        [&] {
          ++streams_;
          return read();
        },
        {});
  }
  void Respond() {
    follower_->OnResponse([] { return true; });
  }
  void AwaitComplaint() { complained_.get_future().wait_for(kPatience); }

  std::promise<void> complained_;
  std::vector<std::string> troubles_;
  std::unique_ptr<Follower> follower_;
  int streams_ = 0;
};

TEST_F(FollowerTest, ReportsASilenceAndItsEnd) {
  // The stream has no responses until the silence is reported.
  const absl::Status status = Follow({.mute_after = absl::Milliseconds(50)}, [&] {
    Respond();
    AwaitComplaint();
    Respond();
    return absl::OkStatus();
  });
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_THAT(troubles_, ElementsAre(StartsWith("no response from the master at host:1 for "),
                                     "reconnected to the master"));
}

TEST_F(FollowerTest, ReportsAMasterThatNeverResponds) {
  const absl::Status status = Follow({.mute_after = absl::Milliseconds(50)}, [&] {
    AwaitComplaint();
    return absl::InvalidArgumentError("enough");
  });
  EXPECT_TRUE(absl::IsInvalidArgument(status));
  EXPECT_THAT(troubles_, ElementsAre(StartsWith("no response from the master at host:1")));
}

TEST_F(FollowerTest, DoesNotReportSilenceOfAnAbsentJob) {
  const absl::Status status =
      Follow({.mute_after = absl::Milliseconds(10), .is_to_come = true}, [] {
        absl::SleepFor(absl::Milliseconds(50));
        return absl::OkStatus();
      });
  EXPECT_TRUE(status.ok());
  EXPECT_THAT(troubles_, IsEmpty());
}

TEST_F(FollowerTest, DoesNotReportTheTimeOfASlowReader) {
  const absl::Status status = Follow({.mute_after = absl::Seconds(1)}, [&] {
    follower_->OnResponse([] {
      absl::SleepFor(absl::Milliseconds(1500));
      return true;
    });
    // Longer than the interval between two checks for silence.
    absl::SleepFor(absl::Milliseconds(150));
    Respond();
    return absl::OkStatus();
  });
  EXPECT_TRUE(status.ok());
  EXPECT_THAT(troubles_, IsEmpty());
}

TEST_F(FollowerTest, ResumesAfterABreakAndReportsItOnce) {
  const absl::Status status = Follow({}, [&]() -> absl::Status {
    if (streams_ == 2) return absl::UnavailableError("gone");
    Respond();
    return streams_ == 1 ? absl::UnavailableError("gone") : absl::OkStatus();
  });
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_EQ(streams_, 3);
  EXPECT_THAT(troubles_, ElementsAre("disconnected from the master at host:1: gone; retrying",
                                     "reconnected to the master"));
}

TEST_F(FollowerTest, FailsAfterItsPatienceWithTheLastError) {
  for (const absl::Status& last :
       {absl::UnavailableError("gone"), absl::NotFoundError("no job a")}) {
    complained_ = std::promise<void>();
    troubles_.clear();
    const absl::Status status = Follow({.patience = absl::ZeroDuration()}, [&] {
      Respond();
      return last;
    });
    EXPECT_EQ(status.code(), last.code());
    EXPECT_EQ(status.message(), std::string(last.message()) + "; stopped retrying after 0 s");
  }
}

// A proxy may redirect calls to another master, where the job opens later.
TEST_F(FollowerTest, ResumesWhereTheJobReappears) {
  const absl::Status status = Follow({}, [&]() -> absl::Status {
    Respond();
    return streams_ == 1 ? absl::NotFoundError("no job a") : absl::OkStatus();
  });
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_THAT(troubles_, ElementsAre("the master at host:1 no longer has the job; retrying",
                                     "reconnected to the master"));
}

TEST_F(FollowerTest, ResumesAStreamThatThePeerCancelled) {
  const auto cancelled_once = [&] {
    Respond();
    return streams_ == 1 ? absl::CancelledError() : absl::OkStatus();
  };
  EXPECT_TRUE(Follow({}, cancelled_once).ok());
}

TEST_F(FollowerTest, IsUnavailableIfThePeerCancelsTheFirstStream) {
  const absl::Status status = Follow({}, [] { return absl::CancelledError(); });
  EXPECT_TRUE(absl::IsUnavailable(status)) << status;
}

TEST_F(FollowerTest, EndsWhenTheCallerStops) {
  const absl::Status status = Follow({}, [&] {
    follower_->OnResponse([] { return false; });
    return absl::UnavailableError("gone");
  });
  EXPECT_TRUE(absl::IsCancelled(status));
}

// The master breaks each stream after its first response, even after an absent job has appeared.
TEST_F(FollowerTest, FailsIfTheMasterBreaksEveryStream) {
  for (const bool is_to_come : {false, true}) {
    streams_ = 0;
    complained_ = std::promise<void>();
    troubles_.clear();
    const absl::Status status =
        Follow({.patience = absl::Milliseconds(100), .is_to_come = is_to_come}, [&] {
          Respond();
          return streams_ == 5 ? absl::InvalidArgumentError("it has not given up")
                               : absl::UnavailableError("gone");
        });
    EXPECT_TRUE(absl::IsUnavailable(status)) << status;
  }
}

TEST_F(FollowerTest, WaitsForTheDelayOfTheMaster) {
  absl::Status refused = absl::ResourceExhaustedError("too many watchers");
  refused.SetPayload(
      wire::kErrorDetailsPayload,
      absl::Cord(wire::EncodeErrorDetails(refused, "watchers", absl::Milliseconds(500))));
  const absl::Time begin = absl::Now();
  EXPECT_TRUE(Follow({.is_to_come = true}, [&] {
                return streams_ == 1 ? refused : absl::OkStatus();
              }).ok());
  EXPECT_GE(absl::Now() - begin, absl::Milliseconds(500));
}

TEST_F(FollowerTest, AdaptsToAReportedPause) {
  const absl::Status status = Follow({.mute_after = absl::Milliseconds(200)}, [&] {
    Respond();
    AwaitComplaint();
    Respond();
    absl::SleepFor(absl::Milliseconds(300));  // less than three times the first pause
    return absl::OkStatus();
  });
  EXPECT_TRUE(status.ok());
  EXPECT_EQ(troubles_.size(), 2u);
}

TEST_F(FollowerTest, DoesNotRetryAMasterThatNeverResponded) {
  const absl::Status status =
      Follow({}, [] { return absl::UnavailableError("Connection refused"); });
  EXPECT_TRUE(absl::IsUnavailable(status));
  EXPECT_EQ(streams_, 1);
}

}  // namespace
}  // namespace tidemark::client::follower_test
