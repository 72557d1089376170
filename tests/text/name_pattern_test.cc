#include "text/name_pattern.h"

#include "tests/test.h"

namespace tidemark::text::name_pattern_test {
namespace {

TEST(NamePattern, AStarMatchesAnyText) {
  EXPECT_TRUE(Fits("*", ""));
  EXPECT_TRUE(Fits("*", "nightly"));
  EXPECT_TRUE(Fits("nightly-*", "nightly-"));
  EXPECT_TRUE(Fits("nightly-*", "nightly-eu/7"));
  EXPECT_TRUE(Fits("*-eu", "a-eu-b-eu"));
  EXPECT_TRUE(Fits("a*b**c", "a b b c"));
  EXPECT_FALSE(Fits("nightly-*", "nightly"));
  EXPECT_FALSE(Fits("*-eu", "nightly-eu-2"));
  EXPECT_FALSE(Fits("a*b*c", "acb"));
}

TEST(NamePattern, MatchesTheWholeName) {
  EXPECT_TRUE(Fits("", ""));
  EXPECT_TRUE(Fits("report", "report"));
  EXPECT_FALSE(Fits("", "report"));
  EXPECT_FALSE(Fits("report", ""));
  EXPECT_FALSE(Fits("report", "report 2"));
  EXPECT_FALSE(Fits("report", "a report"));
}

TEST(NamePattern, TreatsOtherCharactersLiterally) {
  EXPECT_TRUE(Fits("load [eu]", "load [eu]"));
  EXPECT_TRUE(Fits("done? \\o/", "done? \\o/"));
  EXPECT_FALSE(Fits("load [eu]", "load e"));
  EXPECT_FALSE(Fits("done?", "done!"));
}

// Backtracking over every star would take years.
TEST(NamePattern, HandlesManyStars) {
  std::string pattern;
  for (int i = 0; i < 100; ++i) pattern += "*a";
  EXPECT_FALSE(Fits(pattern + "b", std::string(1000, 'a')));
  EXPECT_TRUE(Fits(pattern, std::string(1000, 'a')));
}

}  // namespace
}  // namespace tidemark::text::name_pattern_test
