#include "master/waits/longest_group.h"

#include <gtest/gtest.h>

namespace tidemark::blame {
namespace {

TEST(LongestGroup, IsTheOneThatTookLongestAndNotTheLargest) {
  ReduceProfile profile;
  profile.points = {{.size_bytes = 300, .count = 1, .total_time = absl::Seconds(2)},
                    {.size_bytes = 900, .count = 1, .total_time = absl::Seconds(1)}};
  profile.finished_keys = {{.size_bytes = 700, .time = absl::Seconds(5)},
                           {.size_bytes = 800, .time = absl::Seconds(4)}};
  EXPECT_EQ(LongestGroupOf(profile), (LongestGroup{700, absl::Seconds(5)}));
}

TEST(LongestGroup, GroupsThatWereTimedTogetherAreNone) {
  ReduceProfile profile;
  profile.points = {{.size_bytes = 300, .count = 9, .total_time = absl::Seconds(90)}};
  profile.finished_keys = {{.size_bytes = 700, .time = absl::ZeroDuration()}};
  EXPECT_EQ(LongestGroupOf(profile), LongestGroup{});
}

TEST(LongestGroup, TimesThatCannotBeAreLeftOut) {
  ReduceProfile profile;
  profile.finished_keys = {{.size_bytes = 1, .time = absl::InfiniteDuration()},
                           {.size_bytes = 2, .time = -absl::Seconds(3)},
                           {.size_bytes = 3, .time = absl::Seconds(1)}};
  EXPECT_EQ(LongestGroupOf(profile), (LongestGroup{3, absl::Seconds(1)}));
}

}  // namespace
}  // namespace tidemark::blame
