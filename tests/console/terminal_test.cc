#include "console/terminal.h"

#include "console/text.h"
#include "tests/test.h"

namespace tidemark::console::terminal_test {
namespace {

TEST(Redraw, OverwritesThePreviousFrame) {
  EXPECT_EQ(Redraw(2, {"one", "two"}),
            "\x1b[?2026h\r\x1b[2A\x1b[2Kone\r\n\x1b[2Ktwo\r\n\x1b[J\x1b[?2026l");
}

TEST(Redraw, DoesNotMoveForTheFirstFrame) {
  EXPECT_EQ(Redraw(0, {"one"}), "\x1b[?2026h\r\x1b[2Kone\r\n\x1b[J\x1b[?2026l");
}

TEST(PrintOver, ErasesTheFrameBeforeALongLine) {
  EXPECT_EQ(PrintOver(2, {"a long line"}), "\x1b[?2026h\r\x1b[2A\x1b[Ja long line\r\n\x1b[?2026l");
}

TEST(RowsTaken, IsOneForEachLineThatFits) {
  EXPECT_EQ(RowsTaken({}, 80), 0);
  EXPECT_EQ(RowsTaken({0, 12, 80}, 80), 3);
}

TEST(RowsTaken, CountsLinesFoldedByATerminalThatBecameNarrower) {
  EXPECT_EQ(RowsTaken({80, 41, 40}, 40), 5);
  EXPECT_EQ(RowsTaken({80}, 0), 1);
}

TEST(ColumnsWithoutColours, IgnoresColourCodes) {
  EXPECT_EQ(ColumnsWithoutColours(Styled(Style::kBad, "four") + "群"), 6);
  EXPECT_EQ(ColumnsWithoutColours("cut\x1b[3"), 3);
}

TEST(StyledLine, ClipsAcrossItsPieces) {
  StyledLine line;
  line.Add(Style::kStrong, "bold").Add(Style::kPlain, " and ").Add(Style::kDim, "dim");
  EXPECT_EQ(line.Render(12, {}), "bold and dim");
  EXPECT_EQ(line.Render(6, {.unicode = true}), "bold …");
  EXPECT_EQ(line.Render(4, {.unicode = true}), "bol…");
  EXPECT_EQ(line.Render(4, {.color = true, .unicode = true}), "\x1b[1mbol…\x1b[0m");
  EXPECT_EQ(line.Render(0, {}), "");
}

}  // namespace
}  // namespace tidemark::console::terminal_test
