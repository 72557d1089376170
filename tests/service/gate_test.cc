#include "master/service/gate.h"

#include "tests/barrier.h"
#include "tests/test.h"
#include "tidemark/limit.h"

namespace tidemark::service::gate_test {
namespace {

absl::Time At(double seconds) { return absl::UnixEpoch() + absl::Seconds(seconds); }

// Returns how many simultaneous calls are accepted before one is rejected.
int Burst(CallPace& pace, const std::string& caller, absl::Time at) {
  int calls = 0;
  while (calls < 100'000 && pace.Enter(caller, at).ok()) ++calls;
  return calls;
}

TEST(CallPace, AllowsABurstOfFiveSecondsAndThenTheRate) {
  CallPace pace(200);
  EXPECT_EQ(Burst(pace, "a", At(0)), 1000);
  EXPECT_EQ(Burst(pace, "a", At(1)), 200);
  EXPECT_EQ(Burst(pace, "a", At(100)), 1000);
}

TEST(CallPace, ReturnsASufficientWait) {
  CallPace pace(10);
  Burst(pace, "a", At(0));
  const absl::Status refused = pace.Enter("a", At(0));
  EXPECT_TRUE(absl::IsResourceExhausted(refused));
  EXPECT_EQ(ExceededLimit(refused), "calls_per_second");
  EXPECT_EQ(RetryDelayOf(refused), absl::Milliseconds(100)) << refused;
  EXPECT_TRUE(pace.Enter("a", At(0) + RetryDelayOf(refused)).ok());
  EXPECT_EQ(RetryDelayOf(absl::ResourceExhaustedError("")), absl::ZeroDuration());
}

TEST(CallPace, ABusyCallerDelaysNoOther) {
  CallPace pace(10);
  Burst(pace, "a", At(0));
  EXPECT_TRUE(pace.Enter("b", At(0)).ok());
}

TEST(CallPace, CountsALongAnswerAsManyCalls) {
  CallPace pace(200);
  ASSERT_TRUE(pace.Enter("a", At(0)).ok());
  pace.Charge("a", absl::Milliseconds(1500), At(0));
  const absl::Status refused = pace.Enter("a", At(0));
  EXPECT_EQ(RetryDelayOf(refused), absl::Milliseconds(2510)) << "1502 calls, of which 1000 at once";
}

TEST(CallPace, LimitsTheWaitToSecondsAfterLongAnswers) {
  for (const double rate : {1., 200.}) {
    CallPace pace(rate);
    for (int i = 0; i < 10; ++i) pace.Charge("a", absl::Minutes(1), At(0));
    EXPECT_LE(RetryDelayOf(pace.Enter("a", At(0))), absl::Seconds(6)) << rate;
    EXPECT_TRUE(pace.Enter("a", At(6)).ok()) << rate;
  }
}

TEST(CallPace, NeverWaitsWithoutARate) {
  CallPace pace(0);
  pace.Charge("a", absl::Hours(1), At(0));
  EXPECT_EQ(Burst(pace, "a", At(0)), 100'000);
}

TEST(CallPace, ToleratesAClockThatStopsOrGoesBack) {
  CallPace pace(10);
  Burst(pace, "a", At(10));
  EXPECT_FALSE(pace.Enter("a", At(0)).ok());
  EXPECT_TRUE(pace.Enter("a", At(11)).ok());
}

TEST(CallPace, DropsIdleCallers) {
  CallPace pace(10);
  for (int i = 0; i < 100'000; ++i) {
    pace.Enter(std::to_string(i), At(i)).IgnoreError();
  }
  EXPECT_LT(pace.callers(), 5000u);
}

TEST(PeerLimit, PortsOfOneHostAreOnePeer) {
  EXPECT_EQ(HostOfPeer("ipv4:10.0.0.7:4711"), "ipv4:10.0.0.7");
  EXPECT_EQ(HostOfPeer("ipv6:[::1]:4711"), "ipv6:[::1]");
  EXPECT_EQ(HostOfPeer("unix:"), HostOfPeer("unix:/run/tidemark"));
}

TEST(PeerLimit, LimitsOneHostWithoutAffectingOthers) {
  PeerLimit limit(2);
  const auto first = limit.Enter("ipv4:10.0.0.7:1");
  const auto second = limit.Enter("ipv4:10.0.0.7:2");
  ASSERT_TRUE(first.ok() && second.ok());
  const auto third = limit.Enter("ipv4:10.0.0.7:3");
  EXPECT_TRUE(absl::IsResourceExhausted(third.status()));
  EXPECT_EQ(ExceededLimit(third.status()), "streams_per_peer");
  EXPECT_TRUE(limit.Enter("ipv4:10.0.0.8:1").ok());
}

TEST(PeerLimit, APlaceIsReleasedOnce) {
  PeerLimit limit(1);
  {
    auto place = limit.Enter("ipv4:10.0.0.7:1");
    ASSERT_TRUE(place.ok());
    const PeerLimit::Place moved = *std::move(place);
    EXPECT_EQ(limit.calls(), 1U);
  }
  EXPECT_EQ(limit.calls(), 0U);
  EXPECT_TRUE(limit.Enter("ipv4:10.0.0.7:1").ok());
}

TEST(AddEstimate, LimitsTheEstimatesOfOneCaller) {
  test::Barrier barrier;
  std::promise<void> done;
  transport::TurnQueue queue(1, 0, kEstimateLimits);
  ASSERT_TRUE(AddEstimate(queue, "a", [&] { barrier.Pass(); }).ok());
  barrier.AwaitReached();
  for (std::size_t i = 1; i < kEstimateLimits.of_key_max; ++i) {
    EXPECT_TRUE(AddEstimate(queue, "a", [] {}).ok());
  }
  EXPECT_EQ(ExceededLimit(AddEstimate(queue, "a", [] { FAIL(); })), "estimates");
  EXPECT_TRUE(AddEstimate(queue, "b", [&] { done.set_value(); }).ok());
  barrier.Open();
  done.get_future().get();
  while (!AddEstimate(queue, "a", [] {}).ok()) std::this_thread::yield();
}

TEST(AddEstimate, IsUnavailableAfterTheQueueHasStopped) {
  transport::TurnQueue queue(1, 0, kEstimateLimits);
  queue.Stop();
  EXPECT_TRUE(absl::IsUnavailable(AddEstimate(queue, "a", [] { FAIL(); })));
}

}  // namespace
}  // namespace tidemark::service::gate_test
