#include "console/text.h"

#include "tests/test.h"

namespace tidemark::console::text_test {
namespace {

TEST(Printable, KeepsOrdinaryText) {
  EXPECT_EQ(Printable("two-path", false), "two-path");
  EXPECT_EQ(Printable("größte 群", true), "größte 群");
}

TEST(Printable, ReplacesControlCharacters) {
  EXPECT_EQ(Printable("a\x1b[2Jb\r\n\tc\x7f", true), "a [2Jb   c ");
  EXPECT_EQ(Printable("\xc2\x9b"
                      "31m",
                      true),
            "?31m")
      << "C1 control";
  EXPECT_EQ(Printable("\u202Eevil", true), "?evil") << "right-to-left override";
  EXPECT_EQ(Printable(std::string("a\0b", 3), true), "a b");
}

TEST(Printable, ReplacesBrokenUtf8ByteByByte) {
  EXPECT_EQ(Printable("\xff\xfe", true), "??");
  EXPECT_EQ(Printable("\xc0\xaf", true), "??") << "overlong";
  EXPECT_EQ(Printable("\xed\xa0\x80", true), "???") << "surrogate";
  EXPECT_EQ(Printable("x\xe2\x82", true), "x??") << "cut short";
  EXPECT_EQ(Printable("\xe0\x80\xaf", true), "???") << "overlong";
}

TEST(Printable, IsAsciiWithoutUnicode) { EXPECT_EQ(Printable("gr\u00f6\u00dfe", false), "gr??e"); }

TEST(Columns, CountsWideAndCombiningCharacters) {
  EXPECT_EQ(Columns(""), 0);
  EXPECT_EQ(Columns("abc"), 3);
  EXPECT_EQ(Columns("█▏░≈–·…"), 7);
  EXPECT_EQ(Columns("群組"), 4);
  EXPECT_EQ(Columns("e\u0301"), 1);
  EXPECT_EQ(Columns("🌊"), 2);
}

TEST(Clip, MarksOmittedText) {
  EXPECT_EQ(Clip("0123456789", 10, false), "0123456789");
  EXPECT_EQ(Clip("0123456789", 8, false), "01234...");
  EXPECT_EQ(Clip("0123456789", 8, true), "0123456…");
  EXPECT_EQ(Clip("0123456789", 3, false), "012");
  EXPECT_EQ(Clip("0123456789", 1, true), "…");
  EXPECT_EQ(Clip("0123456789", 0, true), "");
  EXPECT_EQ(Clip("0123456789", -5, true), "");
}

TEST(Clip, NeverCutsThroughAWideCharacter) { EXPECT_EQ(Clip("群組群組", 4, true), "群…"); }

TEST(ClipMiddle, KeepsBothEnds) {
  EXPECT_EQ(ClipMiddle("application_0042", 16, false), "application_0042");
  EXPECT_EQ(ClipMiddle("application_0042", 11, false), "appl...0042");
  EXPECT_EQ(ClipMiddle("application_0042", 10, true), "appli…0042");
  EXPECT_EQ(ClipMiddle("application_0042", 3, false), "app");
  EXPECT_EQ(ClipMiddle("群群群群群", 7, true), "群…群");
}

TEST(WrapWords, BreaksBetweenWords) {
  EXPECT_THAT(WrapWords("", 10, 3, false), IsEmpty());
  EXPECT_THAT(WrapWords("   ", 10, 3, false), IsEmpty());
  EXPECT_THAT(WrapWords("one two", 10, 3, false), ElementsAre("one two"));
  EXPECT_THAT(WrapWords("one two three", 8, 3, false), ElementsAre("one two", "three"));
  EXPECT_THAT(WrapWords("one two  three", 7, 3, false), ElementsAre("one two", "three"));
}

TEST(WrapWords, ClipsTheLastLine) {
  EXPECT_THAT(WrapWords("one two three four five", 9, 2, true),
              ElementsAre("one two", "three fo…"));
}

TEST(WrapWords, BreaksAWordThatIsLongerThanALine) {
  EXPECT_THAT(WrapWords("0123456789", 4, 3, false), ElementsAre("0123", "4567", "89"));
  EXPECT_THAT(WrapWords("群", 1, 3, false), IsEmpty());
  EXPECT_THAT(WrapWords("text", 0, 3, false), IsEmpty());
}

std::string BarText(double lower, double fraction, double upper, int columns, bool unicode) {
  const Bar bar = MakeBar({.fraction = fraction, .lower = lower, .upper = upper}, columns, unicode);
  return bar.sure + bar.likely + bar.possible + bar.left;
}
std::string BarText(double fraction, int columns, bool unicode) {
  return BarText(fraction, fraction, fraction, columns, unicode);
}

TEST(Bar, IsFilledToTheNumberAndShowsTheInterval) {
  EXPECT_EQ(BarText(0.25, 0.5, 0.75, 4, true), "█▓▒░");
  EXPECT_EQ(BarText(0.25, 0.5, 0.75, 6, false), "[#=-.]");
  EXPECT_EQ(BarText(0, 0.5, 0.999, 4, true), "▓▓▒░");
  EXPECT_EQ(BarText(0.5, 0.5, 1, 4, true), "██▒▒");
}

TEST(Bar, IsPlainWithoutAnInterval) {
  EXPECT_EQ(BarText(0, 4, true), "░░░░");
  EXPECT_EQ(BarText(0.3, 4, true), "█░░░");
  EXPECT_EQ(BarText(1, 4, true), "████");
  EXPECT_EQ(BarText(0, 6, false), "[....]");
  EXPECT_EQ(BarText(0.5, 6, false), "[##..]");
  EXPECT_EQ(BarText(1, 6, false), "[####]");
  EXPECT_EQ(BarText(0.5, 3, false), "#..");
}

TEST(Bar, IsFullOnlyForAll) {
  EXPECT_EQ(BarText(0.99999, 4, true), "███░");
  EXPECT_EQ(BarText(0.99999, 6, false), "[###.]");
}

TEST(Bar, IsExactlyAsWideAsRequested) {
  for (const bool unicode : {false, true}) {
    for (int columns = 0; columns < 60; ++columns) {
      for (int lower = -10; lower <= 120; lower += 13) {
        for (int percent = -10; percent <= 120; percent += 7) {
          const std::string bar = BarText(lower / 100.0, percent / 100.0, 0.9, columns, unicode);
          ASSERT_EQ(Columns(bar), columns);
        }
      }
    }
  }
}

TEST(Bar, ClampsHostileValues) {
  EXPECT_EQ(BarText(std::nan(""), 4, true), "░░░░");
  EXPECT_EQ(BarText(-1, 4, true), "░░░░");
  EXPECT_EQ(BarText(std::numeric_limits<double>::infinity(), 4, true), "████");
  EXPECT_EQ(BarText(0.9, 0.5, 0.1, 10, true), "█████████░") << "contradictory bounds";
  EXPECT_EQ(BarText(0.5, -1, true), "");
}

}  // namespace
}  // namespace tidemark::console::text_test
