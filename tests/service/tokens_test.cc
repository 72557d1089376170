

#include "master/service/gate.h"
#include "tests/test.h"

namespace tidemark::service::tokens_test {
namespace {

constexpr char kToken[] = "0123456789abcdef";

bool Allows(const std::string& text, const std::string& token, Right right,
            const std::string& job_id) {
  const auto table = TokenTable::Parse(text, "tokens");
  EXPECT_TRUE(table.ok()) << table.status();
  return table.ok() && table->Allows(DigestOf(token), right, job_id);
}

// Returns true if a token with this role and pattern has the right.
bool Allows(const std::string& role_and_pattern, Right right, const std::string& job_id) {
  return Allows(role_and_pattern + " " + kToken, kToken, right, job_id);
}

TEST(TokenTable, AgentsReportReadersReadAndAdminsDoBoth) {
  EXPECT_TRUE(Allows("agent job-1", Right::kReport, "job-1"));
  EXPECT_FALSE(Allows("agent job-1", Right::kRead, "job-1"));
  EXPECT_FALSE(Allows("reader job-1", Right::kReport, "job-1"));
  EXPECT_TRUE(Allows("reader job-1", Right::kRead, "job-1"));
  EXPECT_TRUE(Allows("admin *", Right::kReport, "any"));
  EXPECT_TRUE(Allows("admin *", Right::kRead, "any"));
}

TEST(TokenTable, APatternIsAnIdOrTheBeginningOfOne) {
  EXPECT_FALSE(Allows("admin job-1", Right::kRead, "job-12"));
  EXPECT_TRUE(Allows("admin job-1*", Right::kRead, "job-12"));
  EXPECT_FALSE(Allows("admin job-1*", Right::kRead, "job-2"));
}

TEST(TokenTable, LinesOfOneTokenAddUp) {
  const std::string both =
      std::string("agent a ") + kToken + "\n# more\n\nreader b " + kToken + "\n";
  EXPECT_TRUE(Allows(both, kToken, Right::kReport, "a"));
  EXPECT_TRUE(Allows(both, kToken, Right::kRead, "b"));
  EXPECT_FALSE(Allows(both, kToken, Right::kReport, "b"));
}

TEST(TokenTable, TheNameSpaceOfATokenIsAllThatItMayDo) {
  const std::string text = std::string("agent b-* ") + kToken + "\nadmin a " + kToken +
                           "\nreader c " + kToken + "\nagent d another-token-of-16\n";
  const auto table = TokenTable::Parse(text, "tokens");
  ASSERT_TRUE(table.ok());
  EXPECT_EQ(table->NameSpaceOf(DigestOf(kToken), Right::kReport), "a b-*");
  EXPECT_EQ(table->NameSpaceOf(DigestOf(kToken), Right::kRead), "a c");
  EXPECT_EQ(table->NameSpaceOf(DigestOf("unknown"), Right::kReport), "");
}

// The digest is the sha256sum of the sixteen characters above.
TEST(TokenTable, TakesADigestForTheToken) {
  const std::string text =
      "admin * sha256:9f9f5111f7b27a781f1f1ddde5ebc2dd2b796bfc7365c9c28b548e564176929f";
  EXPECT_TRUE(Allows(text, kToken, Right::kRead, "job"));
  EXPECT_FALSE(Allows(text, "another-token-of-16", Right::kRead, "job"));
}

struct Fault {
  const char* name;
  const char* line;
  const char* message;
};

class TokenFault : public ::testing::TestWithParam<Fault> {};

TEST_P(TokenFault, NamesTheLineAndQuotesNoneOfIt) {
  const auto table = TokenTable::Parse(std::string("# first\n") + GetParam().line, "tokens");
  ASSERT_FALSE(table.ok());
  const std::string message(table.status().message());
  EXPECT_THAT(message, HasSubstr("tokens:2: "));
  EXPECT_THAT(message, HasSubstr(GetParam().message));
  EXPECT_THAT(message, Not(HasSubstr("0123456789")));
}

INSTANTIATE_TEST_SUITE_P(
    Faults, TokenFault,
    ::testing::Values(Fault{"Role", "owner * 0123456789abcdef", "ROLE is agent"},
                      Fault{"Order", "0123456789abcdef agent *", "ROLE is agent"},
                      Fault{"NoToken", "agent *", "a token, and nothing else"},
                      Fault{"More", "agent * 0123456789abcdef x", "and nothing else"},
                      Fault{"Star", "agent a*b 0123456789abcdef", "* only at its end"},
                      Fault{"Short", "agent * 0123456789abcde", "16 to 1024 printable"},
                      Fault{"Digest", "agent * sha256:0123456789", "64 hex digits"},
                      Fault{"Umlaut", "agent * 0123456789abcd\xc3\xbc", "16 to 1024 printable"}),
    [](const auto& test) { return test.param.name; });

TEST(Caller, WithoutATokenFileEverybodyMayDoEverything) {
  const auto tokens = Tokens::Load("");
  ASSERT_TRUE(tokens.ok());
  Caller caller(**tokens, "");
  EXPECT_TRUE(caller.CheckToken().ok());
  EXPECT_TRUE(caller.Check(Right::kReport, "job").ok());
  EXPECT_TRUE(caller.MayRead("job"));
  EXPECT_EQ(caller.NameSpaceOf(Right::kReport), "*");
}

TEST(Tokens, AFileThatCannotBeReadIsAnErrorAtTheStart) {
  EXPECT_FALSE(Tokens::Load("/nonexistent/tokens").ok());
}

}  // namespace
}  // namespace tidemark::service::tokens_test
