#include "master/forecast/durations/host_sharing.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/master/events.h"

namespace tidemark::cost {
namespace {

using test::At;
using test::Job;
using test::Opened;
using test::R;
using test::Reduced;

class HostSharingTest : public ::testing::Test {
 protected:
  HostSharingTest() { EXPECT_TRUE(job_.Say(0, Opened(0, 8)).ok()); }

  // Reduce task `index` has begun to reduce and waits for a processor for `waited` of its time.
  void Runs(std::uint32_t index, const std::string& host, double waited,
            std::uint32_t processors = 2) {
    AttemptChanged changed;
    changed.attempt = R(index);
    changed.state = AttemptState::kStarted;
    // Each task in an executor of its own.
    changed.executor = index;
    EXPECT_TRUE(job_.Say(1, ExecutorOpened{.executor = index, .host = host}).ok());
    EXPECT_TRUE(job_.Say(1, changed).ok());
    changed.state = AttemptState::kShuffled;
    EXPECT_TRUE(job_.Say(1, changed).ok());
    ReduceProfile profile = Reduced(R(index), At(2), {});
    profile.processor_use = ProcessorUse{absl::Seconds(1), absl::Seconds(waited), processors};
    EXPECT_TRUE(job_.Say(2, profile).ok());
  }
  schedule::SharedHost HostOf(std::size_t task) const {
    const HostSharing sharing = ObserveHosts(job_.state);
    return sharing.hosts[sharing.host_of_task[task]];
  }
  bool IsFelt() const { return ObserveHosts(job_.state).is_felt; }

  Job job_;
};

TEST_F(HostSharingTest, NobodyRuns) {
  EXPECT_TRUE(ObserveHosts(job_.state).hosts.empty());
  EXPECT_FALSE(IsFelt());
}

TEST_F(HostSharingTest, TasksThatHardlyWaitRunAsIfAlone) {
  Runs(0, "a", 0.02);
  Runs(1, "a", 0.03);
  EXPECT_FALSE(IsFelt());
  EXPECT_EQ(HostOf(0).Speed(2), 1);
}

// By hand: four at half speed on two processors: nobody else competes.
TEST_F(HostSharingTest, TheTasksThemselvesCrowdAHost) {
  for (std::uint32_t task = 0; task < 4; ++task) Runs(task, "a", 0.5);
  EXPECT_TRUE(IsFelt());
  EXPECT_NEAR(HostOf(0).others, 0, 1e-9);
  EXPECT_NEAR(HostOf(0).Speed(4), 0.5, 1e-9);
  EXPECT_NEAR(HostOf(0).Speed(2), 1, 1e-9);
}

// By hand: one at half speed on two processors: four compete, three of them strangers.
TEST_F(HostSharingTest, StrangersStay) {
  Runs(0, "a", 0.5);
  EXPECT_NEAR(HostOf(0).others, 3, 1e-9);
  EXPECT_NEAR(HostOf(0).Speed(1), 0.5, 1e-9);
}

// By hand: four tasks at 0.8 on two processors: each wants less than one, so it stays 0.8.
TEST_F(HostSharingTest, TasksThatWantLessThanAProcessorKeepTheirSpeed) {
  for (std::uint32_t task = 0; task < 4; ++task) Runs(task, "a", 0.2);
  EXPECT_NEAR(HostOf(0).Speed(4), 0.8, 1e-9);
}

TEST_F(HostSharingTest, HostsAreOnTheirOwn) {
  Runs(0, "a", 0.5);
  Runs(1, "b", 0);
  EXPECT_NEAR(HostOf(0).Speed(1), 0.5, 1e-9);
  EXPECT_EQ(HostOf(1).Speed(1), 1);
}

TEST_F(HostSharingTest, WithoutANameOrProcessorsTheSpeedStaysAsItIs) {
  Runs(0, "", 0.5);
  Runs(1, "b", 0.75, /*processors=*/0);
  EXPECT_TRUE(IsFelt());
  EXPECT_NEAR(HostOf(0).Speed(1), 0.5, 1e-3);
  EXPECT_NEAR(HostOf(0).Speed(3), 0.5, 1e-3);
  EXPECT_NEAR(HostOf(1).Speed(1), 0.25, 1e-3);
}

}  // namespace
}  // namespace tidemark::cost
