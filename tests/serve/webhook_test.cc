#include <arpa/inet.h>
#include <netinet/in.h>

#include "serve/alerts/alert_sender.h"
#include "tests/serve/hook_server.h"
#include "tests/serve/raw_server.h"
#include "tests/test.h"

namespace tidemark::serve::webhook_test {
namespace {

using test::HookServer;
using Outcome = Delivery::Outcome;

const absl::Time kNow = absl::FromUnixSeconds(1'700'000'000);

Delivery PostTo(const std::string& url, absl::Duration timeout = absl::Seconds(60)) {
  return Webhook({.url = url, .timeout = timeout, .allow_local = true}).Post("{}", "id", kNow);
}

// The expected value is the output of this command: printf '1700000000.{"a":1}' | openssl dgst
// -sha256 -hmac secret
TEST(Webhook, SignsWithHmacSha256) {
  EXPECT_EQ(Signature("secret", 1'700'000'000, "{\"a\":1}"),
            "t=1700000000,v1=49f24e537407743fa4a0242bb63b94b9a47ee99cbbe071ccd8a22550ae411686");
}

TEST(Webhook, PostsTheMessageWithItsSignature) {
  HookServer server;
  Webhook hook({.url = server.url(), .secret = "secret", .allow_local = true});
  EXPECT_EQ(hook.Post("{\"a\":1}", "0123", kNow).outcome, Outcome::kTaken);
  ASSERT_EQ(server.requests().size(), 1U);
  auto request = server.requests()[0];
  EXPECT_EQ(request.body, "{\"a\":1}");
  EXPECT_EQ(request.headers["Content-Type"], "application/json");
  EXPECT_EQ(request.headers["Tidemark-Alert"], "0123");
  EXPECT_EQ(request.headers["Tidemark-Signature"], Signature("secret", 1'700'000'000, "{\"a\":1}"));
}

TEST(Webhook, SendsNoSignatureWithoutASecret) {
  HookServer server;
  PostTo(server.url());
  EXPECT_FALSE(server.requests()[0].headers.contains("Tidemark-Signature"));
}

TEST(Webhook, DistinguishesTemporaryAndPermanentFailures) {
  for (const auto& [status, outcome] :
       {std::pair(200U, Outcome::kTaken), std::pair(202U, Outcome::kTaken),
        std::pair(0U, Outcome::kFailed), std::pair(408U, Outcome::kFailed),
        std::pair(429U, Outcome::kFailed), std::pair(500U, Outcome::kFailed),
        std::pair(503U, Outcome::kFailed), std::pair(400U, Outcome::kRefused),
        std::pair(404U, Outcome::kRefused), std::pair(410U, Outcome::kRefused)}) {
    HookServer server(HookServer::Plans{{.status = status}});
    EXPECT_EQ(PostTo(server.url()).outcome, outcome) << status;
  }
}

TEST(Webhook, LimitsTheRetryPauseOfTheReceiver) {
  HookServer server({{.status = 429, .retry_after = "7"}, {.status = 503, .retry_after = "99999"}});
  EXPECT_EQ(PostTo(server.url()).retry_after, absl::Seconds(7));
  EXPECT_EQ(PostTo(server.url()).retry_after, absl::Minutes(5));
}

TEST(Webhook, TimesOut) {
  HookServer server(HookServer::Plans{{.is_held = true}});
  EXPECT_EQ(PostTo(server.url(), absl::Milliseconds(100)).outcome, Outcome::kFailed);
}

TEST(Webhook, ReadsTheStatusOnly) {
  HookServer server({{.is_endless = true}, {.status = 503, .is_endless = true}});
  EXPECT_EQ(PostTo(server.url()).outcome, Outcome::kTaken);
  EXPECT_EQ(PostTo(server.url()).reason, "HTTP status 503");
}

TEST(Webhook, FollowsNoRedirection) {
  HookServer target;
  HookServer server(HookServer::Plans{{.status = 302, .location = target.url()}});
  EXPECT_EQ(PostTo(server.url()).outcome, Outcome::kRefused);
  EXPECT_TRUE(target.requests().empty());
}

TEST(Webhook, RejectsUrlsThatAreNotHttp) {
  for (const char* url : {"file:///etc/passwd", "gopher://127.0.0.1/", "ftp://127.0.0.1/x",
                          "http://a b/", "http://127.0.0.1:99999/"}) {
    const Delivery delivery = PostTo(url);
    EXPECT_EQ(delivery.outcome, Outcome::kUnusable) << url;
    EXPECT_THAT(delivery.reason, HasSubstr("its address is not valid"));
  }
}

TEST(Webhook, MayRetryAfterAResponseThatIsNotHttp) {
  test::RawServer server;
  std::thread answering([&server] {
    server.WaitForConnection();
    server.SendAndEnd("SSH-2.0-x\r\n\r\n");
  });
  const Delivery delivery = PostTo(server.url());
  answering.join();
  EXPECT_EQ(delivery.outcome, Outcome::kFailed);
  EXPECT_EQ(delivery.reason, "its response is not HTTP");
}

TEST(Webhook, MayRetryIfNoServerListens) {
  std::string url;
  { url = HookServer().url(); }
  EXPECT_EQ(PostTo(url).outcome, Outcome::kFailed);
}

TEST(Webhook, DoesNotReachThisHostUnlessAllowed) {
  HookServer server;
  const std::string port = server.url("").substr(server.url("").rfind(':'));
  for (const std::string host : {"127.0.0.1", "localhost", "0.0.0.0", "[::ffff:127.0.0.1]",
                                 "2130706433", "0x7f.1", "127.1"}) {
    const Delivery delivery =
        Webhook({.url = "http://" + host + port + "/hook"}).Post("{}", "id", kNow);
    EXPECT_EQ(delivery.outcome, Outcome::kUnusable) << host;
    EXPECT_THAT(delivery.reason, HasSubstr("alerts.allow_local"));
  }
  EXPECT_TRUE(server.requests().empty());
}

TEST(Webhook, ReportsNoPartOfItsUrl) {
  std::string url;
  { url = HookServer().url("/T00/B00/secret"); }
  EXPECT_THAT(PostTo(url).reason, Not(HasSubstr("secret")));
}

std::string FaultOf(const char* url, bool allow_local = false) {
  return std::string(CheckWebhookAddress(url, allow_local).message());
}

TEST(WebhookAddress, MayBeAnyHttpUrl) {
  for (const char* url : {"https://ops.example/x?token=1", "http://10.0.0.1:8080/",
                          "https://user:pass@ops.example", "http://[2001:db8::1]/"}) {
    EXPECT_EQ(FaultOf(url), "") << url;
  }
}

TEST(WebhookAddress, MustBeAnHttpUrl) {
  EXPECT_EQ(FaultOf("hooks.slack.com/s3cret"), "its address must begin with https:// or http://");
  for (const char* url :
       {"https://", "http://s3 cret/", "https://ops.example:99999/s3cret", "http://[::1/s3cret"}) {
    EXPECT_THAT(FaultOf(url, /*allow_local=*/true), HasSubstr("its address is not valid (")) << url;
    EXPECT_THAT(FaultOf(url), Not(HasSubstr("s3cret"))) << url;
  }
}

TEST(WebhookAddress, IsNotThisHostUnlessAllowed) {
  for (const char* url :
       {"http://127.0.0.1/", "http://127.1/", "http://2130706433/", "http://0x7f.1/",
        "http://[::1]:80/", "http://localhost:8080/x", "http://api.LOCALHOST./",
        "http://169.254.169.254/latest", "http://[::ffff:169.254.169.254]/"}) {
    EXPECT_THAT(FaultOf(url), HasSubstr("set alerts.allow_local to allow it")) << url;
    EXPECT_EQ(FaultOf(url, /*allow_local=*/true), "") << url;
  }
}

bool IsAllowed(const char* address) {
  sockaddr_storage storage = {};
  auto& ip4 = reinterpret_cast<sockaddr_in&>(storage);
  auto& ip6 = reinterpret_cast<sockaddr_in6&>(storage);
  if (inet_pton(AF_INET, address, &ip4.sin_addr) == 1) {
    storage.ss_family = AF_INET;
  } else if (inet_pton(AF_INET6, address, &ip6.sin6_addr) == 1) {
    storage.ss_family = AF_INET6;
  } else {
    ADD_FAILURE() << address;
  }
  return IsAllowedForWebhooks(reinterpret_cast<const sockaddr&>(storage));
}

TEST(AllowedAddress, ExcludesThisHostItsLinkAndMetadataServices) {
  for (const char* address : {"127.0.0.1",
                              "127.255.255.254",
                              "0.0.0.0",
                              "169.254.169.254",
                              "169.254.0.1",
                              "100.100.100.200",
                              "192.0.0.192",
                              "224.0.0.1",
                              "255.255.255.255",
                              "::",
                              "::1",
                              "fe80::1",
                              "febf::1",
                              "ff02::1",
                              "fd00:ec2::254",
                              "fd00:ec2::23",
                              "fd20:ce::254",
                              "fd00:c1::a9fe:a9fe",
                              "168.63.129.16",
                              "64:ff9b:1::8.8.8.8",
                              "::ffff:0:127.0.0.1",
                              "::ffff:0:8.8.8.8",
                              "2001:0:4136:e378:8000:63bf:3fff:fdd2",
                              "2001:db8::5efe:169.254.169.254",
                              "::ffff:127.0.0.1",
                              "::ffff:169.254.169.254",
                              "::127.0.0.1",
                              "64:ff9b::a9fe:a9fe",
                              "2002:7f00:1::1"}) {
    EXPECT_FALSE(IsAllowed(address)) << address;
  }
}

TEST(AllowedAddress, IncludesAllOthers) {
  for (const char* address :
       {"10.0.0.1", "192.168.1.1", "172.16.0.1", "8.8.8.8", "128.0.0.1", "126.255.255.255",
        "169.253.1.1", "192.0.1.1", "223.255.255.255", "168.63.129.17", "2001:db8::1",
        "fd00:ec3::254", "::ffff:8.8.8.8", "64:ff9b::808:808", "2001:db8::5efe:8.8.8.8"}) {
    EXPECT_TRUE(IsAllowed(address)) << address;
  }
  const sockaddr local = {.sa_family = AF_UNIX, .sa_data = {}};
  EXPECT_FALSE(IsAllowedForWebhooks(local));
}

}  // namespace
}  // namespace tidemark::serve::webhook_test
