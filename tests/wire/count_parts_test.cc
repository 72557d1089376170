#include <gtest/gtest.h>

#include "tidemark/job.h"

namespace tidemark {
namespace {

// A job that was cancelled is not waited for: "1 of 2 jobs done", not "1 of 3".
TEST(CountParts, LeavesOutCancelledJobs) {
  Snapshot snapshot;
  snapshot.children = {{.number = 1, .state = ChildState::kSucceeded},
                       {.number = 2, .state = ChildState::kCancelled},
                       {.number = 3, .state = ChildState::kRunning}};
  const Counts counts = CountParts(snapshot);
  EXPECT_EQ(counts.children, 2u);
  EXPECT_EQ(counts.finished_children, 1u);
}

TEST(PartPassed, IsOfAllThatIsAndNoneOfNothing) {
  EXPECT_EQ(PartPassed(absl::Seconds(10), absl::Seconds(30)), 0.25);
  EXPECT_EQ(PartPassed(absl::Seconds(10), absl::ZeroDuration()), 1);
  EXPECT_EQ(PartPassed(absl::ZeroDuration(), absl::ZeroDuration()), 0);
  EXPECT_EQ(PartPassed(absl::Seconds(10), absl::InfiniteDuration()), 0);
}

}  // namespace
}  // namespace tidemark
