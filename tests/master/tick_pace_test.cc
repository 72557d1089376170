#include "master/service/tick_pace.h"

#include <gtest/gtest.h>

namespace tidemark::service {
namespace {

constexpr TickPace kPace = {.interval = absl::Seconds(1), .interval_min = absl::Milliseconds(200)};

TEST(TickPace, NewsAreDueSoonAndSilenceLater) {
  EXPECT_FALSE(kPace.IsDue(absl::Milliseconds(100), /*has_news=*/true));
  EXPECT_TRUE(kPace.IsDue(absl::Milliseconds(200), /*has_news=*/true));
  EXPECT_FALSE(kPace.IsDue(absl::Milliseconds(200), /*has_news=*/false));
  EXPECT_TRUE(kPace.IsDue(absl::Seconds(1), /*has_news=*/false));
}

TEST(TickPace, APauseThatEndedALittleEarlyCostsNoRound) {
  EXPECT_TRUE(kPace.IsDue(absl::Milliseconds(199), /*has_news=*/true));
  EXPECT_TRUE(kPace.IsDue(absl::Milliseconds(999), /*has_news=*/false));
  EXPECT_FALSE(kPace.IsDue(absl::Milliseconds(970), /*has_news=*/false));
}

TEST(TickPace, RoundsBeginAnIntervalApart) {
  EXPECT_EQ(kPace.PauseAfter(absl::ZeroDuration(), absl::ZeroDuration()), absl::Milliseconds(200));
  EXPECT_EQ(kPace.PauseAfter(absl::Milliseconds(60), absl::Milliseconds(50)),
            absl::Milliseconds(140));
}

TEST(TickPace, RoundsThatComputeForLongLeaveHalfOfTheProcessor) {
  EXPECT_EQ(kPace.PauseAfter(absl::Milliseconds(150), absl::Milliseconds(150)),
            absl::Milliseconds(150));
  EXPECT_EQ(kPace.PauseAfter(absl::Seconds(2), absl::Seconds(2)), absl::Seconds(2));
}

TEST(TickPace, RoundsThatWaitedForTheProcessorAreNotFollowedByMoreWaiting) {
  EXPECT_EQ(kPace.PauseAfter(absl::Milliseconds(190), absl::Milliseconds(60)),
            absl::Milliseconds(60));
  EXPECT_EQ(kPace.PauseAfter(absl::Seconds(1), absl::ZeroDuration()), absl::ZeroDuration());
}

}  // namespace
}  // namespace tidemark::service
