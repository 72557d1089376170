#include "web/origin.h"

#include <gtest/gtest.h>

namespace tidemark::web {
namespace {

HttpRequest Asked(const std::string& host, const std::string& origin = "") {
  return {.method = "GET", .host = host, .origin = origin};
}
bool MayPass(const HttpRequest& request, bool has_tokens = false, bool is_local = true) {
  return CheckOrigin(request, has_tokens, is_local).ok();
}

TEST(Origin, LetsOurOwnPageAsk) {
  EXPECT_TRUE(MayPass(Asked("127.0.0.1:7412", "http://127.0.0.1:7412")));
  EXPECT_TRUE(MayPass(Asked("localhost:7412")));
  EXPECT_TRUE(MayPass(Asked("[::1]:7412")));
  EXPECT_TRUE(MayPass(Asked("localhost")));
}

TEST(Origin, RefusesPagesOfOthers) {
  EXPECT_FALSE(MayPass(Asked("127.0.0.1:7412", "http://evil.example")));
  EXPECT_FALSE(MayPass(Asked("127.0.0.1:7412", "http://127.0.0.1:7413")));
  EXPECT_FALSE(MayPass(Asked("127.0.0.1:7412", "null")));
  HttpRequest request = Asked("127.0.0.1:7412");
  for (const char* site : {"cross-site", "same-site"}) {
    request.fetch_site = site;
    EXPECT_FALSE(MayPass(request)) << site;
  }
}

TEST(Origin, RefusesANameThatOthersPointAtThisHost) {
  EXPECT_FALSE(MayPass(Asked("evil.example:7412", "http://evil.example:7412")));
  EXPECT_FALSE(MayPass(Asked("127.0.0.1.evil.example:7412")));
  EXPECT_FALSE(MayPass(Asked("")));
  // Where tokens are, the cookie belongs to another name.
  EXPECT_TRUE(MayPass(Asked("progress.example"), /*has_tokens=*/true));
  EXPECT_TRUE(MayPass(Asked("progress.example"), /*has_tokens=*/false, /*is_local=*/false));
}

TEST(Origin, DoesNotActOnACookieWithoutAnOrigin) {
  HttpRequest request = Asked("localhost:7412");
  request.method = "POST";
  EXPECT_TRUE(MayPass(request));
  request.session = "0123";
  EXPECT_FALSE(MayPass(request));
  request.origin = "http://localhost:7412";
  EXPECT_TRUE(MayPass(request));
}

}  // namespace
}  // namespace tidemark::web
