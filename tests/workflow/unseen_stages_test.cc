#include "master/workflow/unseen_stages.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tidemark::workflow {
namespace {

// exp(-1) of the time of a stage that reads the input.
TEST(UnseenStages, AStageThatFetchesIsExpectedByOneThatReadsAndTheOtherWayRound) {
  UnseenStages read;
  read.Add(/*fetches=*/false, 10);
  EXPECT_NEAR(read.LogSecondsOf(false), std::log(10), 1e-12);
  EXPECT_NEAR(read.LogSecondsOf(true), std::log(10) - 1, 1e-12);
  UnseenStages fetched;
  fetched.Add(/*fetches=*/true, 10);
  EXPECT_NEAR(fetched.LogSecondsOf(false), std::log(10) + 1, 1e-12);
}

// Logs 3 and 0: a prior of weight 1 / 0.49 on -1, and of what was seen 1/2 on -3, so that the two
// differ by (-1 / 0.49 - 3/2) / (1 / 0.49 + 1/2) = -1.3936.
TEST(UnseenStages, OneOfEachKindMovesTheDifference) {
  UnseenStages stages;
  stages.Add(false, std::exp(3));
  stages.Add(true, 1);
  EXPECT_NEAR(stages.LogSecondsOf(true), 1.5 - 1.3936 / 2, 1e-3);
  EXPECT_NEAR(stages.LogSecondsOf(false), 1.5 + 1.3936 / 2, 1e-3);
}

TEST(UnseenStages, ManyOfEachKindStandForThemselves) {
  UnseenStages stages;
  for (int i = 0; i < 1000; ++i) {
    stages.Add(false, 1);
    stages.Add(true, 20);
  }
  EXPECT_NEAR(stages.LogSecondsOf(true), std::log(20), 0.05);
  EXPECT_NEAR(stages.LogSecondsOf(false), 0, 0.05);
}

}  // namespace
}  // namespace tidemark::workflow
