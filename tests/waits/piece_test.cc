

#include "master/waits/ledger.h"
#include "tests/test.h"
#include "tests/waits/some_pieces.h"

namespace tidemark::waits::piece_test {
namespace {

TEST(Clip, AmountsAreProportionalToTime) {
  const Piece piece = Task(S(1), H(2), 10, 20).Computed(4).Waited(WaitReason::kIo, 5, 100);
  const Piece part = Clip(piece, 0, 13);
  EXPECT_EQ(part.from, 10);
  EXPECT_EQ(part.to, 13);
  EXPECT_NEAR(*part.use.processor_seconds, 4 * 0.3, 1e-12);
  EXPECT_NEAR(*part.use.of[WaitReason::kIo].wait_seconds, 5 * 0.3, 1e-12);
  EXPECT_NEAR(*part.use.of[WaitReason::kIo].units, 100 * 0.3, 1e-12);
  EXPECT_EQ(part.use.of[WaitReason::kNetwork].wait_seconds, std::nullopt);
}

TEST(Clip, PieceWithinTheIntervalIsUnchanged) {
  const Piece piece = Task(S(1), H(2), 10, 10).Waited(WaitReason::kIo, 5, 100);
  EXPECT_EQ(Clip(piece, 10, 20), piece);
}

TEST(CheckPiece, NamesTheFault) {
  const auto error = [](const Piece& piece) { return std::string(CheckPiece(piece).message()); };
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(error(Task(S(1), H(0), 1, 1)), "");
  EXPECT_THAT(error(Task(S(1), H(0), 2, 1)), HasSubstr("stage 1 from 2 s to 1 s: it ends before"));
  EXPECT_THAT(error(Task(S(1), H(0), kNan, 1)), HasSubstr("not finite"));
  EXPECT_THAT(error(Task(S(1), H(0), 0, HUGE_VAL)), HasSubstr("not finite"));
  EXPECT_THAT(error(Task(S(1), H(0), 0, 1).Computed(-1)), HasSubstr("negative"));
  EXPECT_THAT(error(Task(S(1), H(0), 0, 1).Waited(WaitReason::kIo, kNan)), HasSubstr("amount"));
  EXPECT_THAT(error(Task(S(1), H(0), 0, 1).Took(WaitReason::kIo, HUGE_VAL)), HasSubstr("amount"));
}

}  // namespace
}  // namespace tidemark::waits::piece_test
