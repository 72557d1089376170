#include "whatif/gray_box/formula.h"

#include "tests/test.h"

namespace tidemark::gray_box::formula_test {
namespace {

absl::StatusOr<double> ValueOf(const std::string& text) {
  const auto formula = Formula::Parse(text);
  if (!formula.ok()) return formula.status();
  const std::map<std::string, double> values = {
      {"k", 30}, {"letters.a", 1}, {"letters.f", 0}, {"big", 1e300}};
  return formula->Value([&values](const std::string& name) -> absl::StatusOr<double> {
    const auto value = values.find(name);
    if (value == values.end()) return absl::NotFoundError("no " + name);
    return value->second;
  });
}

TEST(Formula, FollowsThePrecedenceOfArithmetic) {
  const std::map<std::string, double> cases = {
      {"2 + 3 * 4", 14},     {"(2 + 3) * 4", 20}, {"10 - 3 - 2", 5},  {"12 / 3 / 2", 2},
      {"2 ^ 3 ^ 2", 512},    {"-2 ^ 2", -4},      {"2 ^ -1", 0.5},    {"--3", 3},
      {"1.5e-3 * 1E3", 1.5}, {".5", 0.5},         {" k / 10 ", 3},    {"min(3, k, 2)", 2},
      {"max(3, k)", 30},     {"log2(8)", 3},      {"sqrt(k + 6)", 6}, {"2*-3", -6}};
  for (const auto& [text, value] : cases) {
    const auto computed = ValueOf(text);
    ASSERT_TRUE(computed.ok()) << text << ": " << computed.status();
    EXPECT_DOUBLE_EQ(*computed, value) << text;
  }
}

// According to [GB] 5.3.1, 11.68 % of words begin with a, and 4.03 % with f.
TEST(Formula, GivesTheShareOfWordsThatAFilterKeeps) {
  EXPECT_DOUBLE_EQ(*ValueOf("1 - 0.1168 * letters.a - 0.0403 * letters.f"), 0.8832);
}

TEST(Formula, InterpolatesATableAndIsConstantBeyondIt) {
  EXPECT_DOUBLE_EQ(*ValueOf("table(k, 10, 0.2, 50, 0.8)"), 0.5);
  EXPECT_DOUBLE_EQ(*ValueOf("table(20, 10, 1, 20, 4, 40, 8)"), 4);
  EXPECT_DOUBLE_EQ(*ValueOf("table(30, 10, 1, 20, 4, 40, 8)"), 6);
  EXPECT_DOUBLE_EQ(*ValueOf("table(5, 10, 1, 20, 4)"), 1);
  EXPECT_DOUBLE_EQ(*ValueOf("table(500, 10, 1, 20, 4)"), 4);
  EXPECT_DOUBLE_EQ(*ValueOf("table(500, 10, 7)"), 7);
}

TEST(Formula, NamesThePlaceOfAnError) {
  const std::map<std::string, std::string> cases = {
      {"", "character 1: expected a number, a name or '('"},
      {"2 +", "character 4: expected a number, a name or '('"},
      {"(2", "character 3: expected ')'"},
      {"2 3", "character 3: expected an operator"},
      {"2x", "character 1: expected a number"},
      {"1e999", "character 1: expected a number"},
      {"sin(2)", "functions: log2, max, min, sqrt, table"},
      {"log2(1, 2)", "log2() of one number"},
      {"table(k, 1)", "table(x, x1, y1, x2, y2, ...)"},
      {"min(1", "expected ',' or ')'"},
      {std::string(100, '(') + "1", "fewer nested terms"},
      {std::string(100, '-') + "1", "fewer nested terms"},
      {std::string(5000, '1'), "at most 4096 characters"}};
  for (const auto& [text, message] : cases) {
    EXPECT_THAT(std::string(Formula::Parse(text).status().message()), HasSubstr(message)) << text;
  }
}

TEST(Formula, RejectsValuesThatAreNotNumbers) {
  for (const char* text : {"1 / 0", "0 / 0", "log2(0)", "sqrt(-1)", "big * big", "min(1, sqrt(-1))",
                           "min(sqrt(-1), 1)", "max(1, 0 / 0)", "max(0 / 0, 1)", "1 / (1 / 0)",
                           "table(0 / 0, 10, 1, 20, 4)"}) {
    EXPECT_THAT(std::string(ValueOf(text).status().message()), HasSubstr("not a finite number"))
        << text;
  }
  EXPECT_THAT(std::string(ValueOf("1 + unknown").status().message()), HasSubstr("no unknown"));
}

TEST(Formula, RejectsATableWhoseXDoNotGrow) {
  for (const char* text : {"table(k, 50, 1, 10, 2)", "table(k, 10, 1, 10, 2)",
                           "table(5, 10, 1, 50, 2, 20, 3)", "table(500, 10, 1, 50, 2, 20, 3)"}) {
    EXPECT_THAT(std::string(ValueOf(text).status().message()), HasSubstr("must increase")) << text;
  }
}

}  // namespace
}  // namespace tidemark::gray_box::formula_test
