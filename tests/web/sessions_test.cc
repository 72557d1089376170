#include "tests/test.h"
#include "web/api.h"

namespace tidemark::web::sessions_test {
namespace {

const absl::Time kNoon = absl::FromUnixSeconds(1'700'000'000);

TEST(Sessions, ReturnTheirTokenUntilTheyExpire) {
  Sessions sessions;
  const std::string name = *sessions.Open("token", kNoon);
  EXPECT_EQ(name.size(), 64);
  EXPECT_EQ(name.find("token"), std::string::npos);
  EXPECT_EQ(sessions.TokenOf(name, kNoon), "token");
  EXPECT_EQ(sessions.TokenOf(name, kNoon + kSessionLife), "");
  EXPECT_EQ(sessions.TokenOf("", kNoon), "");
  sessions.Close(name);
  EXPECT_EQ(sessions.TokenOf(name, kNoon), "");
}

TEST(Sessions, EndTheOldestBeyondTheLimit) {
  Sessions sessions(/*sessions_max=*/2);
  const std::string first = *sessions.Open("1", kNoon);
  const std::string second = *sessions.Open("2", kNoon + absl::Seconds(1));
  const std::string third = *sessions.Open("3", kNoon + absl::Seconds(2));
  EXPECT_EQ(sessions.TokenOf(first, kNoon), "");
  EXPECT_EQ(sessions.TokenOf(second, kNoon), "2");
  EXPECT_EQ(sessions.TokenOf(third, kNoon), "3");
}

}  // namespace
}  // namespace tidemark::web::sessions_test
