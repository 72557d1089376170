#include "master/waits/stage_shares.h"

#include <gtest/gtest.h>

#include "tests/waits/some_pieces.h"

namespace tidemark::blame {
namespace {

// One task from 0 to 10 s, another from 4 to 6 s: 8 s alone, 2 s as one of two.
TEST(StageShares, ATaskIsOneOfThoseThatRun) {
  StageShares shares;
  shares.Add(S(0), 0, 10);
  shares.Add(S(0), 4, 6);
  shares.Add(S(1), 0, 10);
  shares.Sum();
  EXPECT_DOUBLE_EQ(shares.Of(Task(S(0), H(0), 0, 10)), 0.9);
  EXPECT_DOUBLE_EQ(shares.Of(Task(S(0), H(1), 4, 6)), 0.5);
  EXPECT_DOUBLE_EQ(shares.Of(Task(S(1), H(0), 0, 10)), 1);
}

// From 0 to 1 s and from 100 to 101 s: nothing of it lies between.
TEST(StageShares, TimeInWhichNoTaskRunsIsNone) {
  StageShares shares;
  shares.Add(S(0), 0, 1);
  shares.Add(S(0), 100, 101);
  shares.Add(S(0), 100, 101);
  shares.Sum();
  EXPECT_DOUBLE_EQ(shares.Of(Task(S(0), H(0), 0, 1)), 1);
  EXPECT_DOUBLE_EQ(shares.Of(Task(S(0), H(0), 100, 101)), 0.5);
}

TEST(StageShares, APieceWithoutLengthHasNoPart) {
  StageShares shares;
  shares.Add(S(0), 5, 5);
  shares.Sum();
  EXPECT_EQ(shares.Of(Task(S(0), H(0), 5, 5)), 0);
}

}  // namespace
}  // namespace tidemark::blame
