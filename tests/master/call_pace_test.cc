#include "master/service/call_pace.h"

#include <gtest/gtest.h>

#include "tidemark/limit.h"

namespace tidemark::service {
namespace {

absl::Time At(double seconds) { return absl::UnixEpoch() + absl::Seconds(seconds); }

// Calls at one instant until one is refused.
int Burst(CallPace& pace, const std::string& caller, absl::Time at) {
  int calls = 0;
  while (calls < 100'000 && pace.Enter(caller, at).ok()) ++calls;
  return calls;
}

TEST(CallPace, FiveSecondsWorthMayComeAtOnceAndThenTheRate) {
  CallPace pace(200);
  EXPECT_EQ(Burst(pace, "a", At(0)), 1000);
  EXPECT_EQ(Burst(pace, "a", At(1)), 200);
  EXPECT_EQ(Burst(pace, "a", At(100)), 1000);
}

TEST(CallPace, SaysHowLongToWaitAndThatIsEnough) {
  CallPace pace(10);
  Burst(pace, "a", At(0));
  const absl::Status refused = pace.Enter("a", At(0));
  EXPECT_TRUE(absl::IsResourceExhausted(refused));
  EXPECT_EQ(ExceededLimit(refused), "calls_per_second");
  EXPECT_EQ(RetryDelayOf(refused), absl::Milliseconds(100)) << refused;
  EXPECT_TRUE(pace.Enter("a", At(0) + RetryDelayOf(refused)).ok());
  EXPECT_EQ(RetryDelayOf(absl::ResourceExhaustedError("")), absl::ZeroDuration());
}

TEST(CallPace, OneWhoAsksTooMuchKeepsNobodyWaiting) {
  CallPace pace(10);
  Burst(pace, "a", At(0));
  EXPECT_TRUE(pace.Enter("b", At(0)).ok());
}

TEST(CallPace, AnAnswerThatTakesLongCountsAsManyCalls) {
  CallPace pace(200);
  ASSERT_TRUE(pace.Enter("a", At(0)).ok());
  pace.Charge("a", absl::Milliseconds(1500), At(0));
  const absl::Status refused = pace.Enter("a", At(0));
  EXPECT_EQ(RetryDelayOf(refused), absl::Milliseconds(2510)) << "1502 calls, of which 1000 at once";
}

TEST(CallPace, HoweverLongAnswersTakeTheWaitIsSeconds) {
  for (const double rate : {1., 200.}) {
    CallPace pace(rate);
    for (int i = 0; i < 10; ++i) pace.Charge("a", absl::Minutes(1), At(0));
    EXPECT_LE(RetryDelayOf(pace.Enter("a", At(0))), absl::Seconds(6)) << rate;
    EXPECT_TRUE(pace.Enter("a", At(6)).ok()) << rate;
  }
}

TEST(CallPace, WithoutARateNobodyWaits) {
  CallPace pace(0);
  pace.Charge("a", absl::Hours(1), At(0));
  EXPECT_EQ(Burst(pace, "a", At(0)), 100'000);
}

TEST(CallPace, AClockThatStandsStillOrGoesBackIsHarmless) {
  CallPace pace(10);
  Burst(pace, "a", At(10));
  EXPECT_FALSE(pace.Enter("a", At(0)).ok());
  EXPECT_TRUE(pace.Enter("a", At(11)).ok());
}

TEST(CallPace, ForgetsCallersThatWereQuiet) {
  CallPace pace(10);
  for (int i = 0; i < 100'000; ++i) {
    pace.Enter(std::to_string(i), At(i)).IgnoreError();
  }
  EXPECT_LT(pace.callers(), 5000u);
}

}  // namespace
}  // namespace tidemark::service
