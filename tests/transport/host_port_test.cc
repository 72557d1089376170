
#include "tests/test.h"
#include "tests/vectors/vectors.h"
#include "transport/listen_address.h"

namespace tidemark::transport::host_port_test {
namespace {

TEST(HostPort, IsAHostAndAPort) {
  EXPECT_EQ(ParseHostPort("127.0.0.1:7411"), (HostPort{"127.0.0.1", 7411}));
  EXPECT_EQ(ParseHostPort("localhost:0"), (HostPort{"localhost", 0}));
  EXPECT_EQ(ParseHostPort("[::1]:65535"), (HostPort{"[::1]", 65535}));
}

TEST(HostPort, MayHaveANameThatBeginsLikeASocket) {
  EXPECT_EQ(ParseHostPort("unixbox:9100"), (HostPort{"unixbox", 9100}));
  EXPECT_EQ(UnixPathOf("unixbox:9100"), std::nullopt);
}

TEST(HostPort, RejectsOtherText) {
  for (const char* none : {"",
                           ":",
                           ":7411",
                           "7411",
                           "localhost",
                           "localhost:",
                           "localhost:65536",
                           "localhost:-1",
                           "localhost:+1",
                           "localhost: 1",
                           "localhost:1 ",
                           "localhost:99999999999999999999",
                           "localhost:http",
                           "::1:7411",
                           "[]:1",
                           "[::1:1",
                           "::1]:1",
                           "[[::1]]:1",
                           "a b:1",
                           "a\x1b[31m:1",
                           "http://localhost:80",
                           "/run/x:1",
                           "unix:/run/x",
                           "unix:1",
                           "unix:"}) {
    EXPECT_EQ(ParseHostPort(none), std::nullopt) << none;
  }
  EXPECT_EQ(ParseHostPort(std::string_view("localhost\0:1", 12)), std::nullopt);
}

// The Python package has the same check (tests/python/test_access.py).
TEST(MasterAddress, IsRejectedWithASuggestion) {
  const auto golden = vectors::Read("master_addresses.json");
  ASSERT_GE(golden.size(), 30u);
  for (const auto& vector : golden) {
    const std::string address = vector["address"];
    EXPECT_EQ(MasterAddressFault(address), vector["fault"]) << address;
  }
  EXPECT_EQ(MasterAddressFault(""), "must be host:port or unix:PATH, not empty");
  EXPECT_EQ(MasterAddressFault("https://m"),
            "must be host:port or unix:PATH, not the URL https://m; did you mean m:7411? --tls-ca "
            "turns on TLS");
}

TEST(MasterAddress, FollowsTheNameOfItsOption) {
  EXPECT_EQ(NamedFault("--master", "must be host:port"), "--master must be host:port");
  EXPECT_EQ(NamedFault("--master", "port missing"), "--master: port missing");
}

TEST(UnixPath, FollowsItsScheme) {
  EXPECT_EQ(UnixPathOf("unix:/run/tidemark.sock"), "/run/tidemark.sock");
  EXPECT_EQ(UnixPathOf("unix:run/tidemark.sock"), "run/tidemark.sock");
  for (const char* none : {"", "unix", "unix:", "UNIX:/run/x", "127.0.0.1:1", "/run/x"}) {
    EXPECT_EQ(UnixPathOf(none), std::nullopt) << none;
  }
}

TEST(UnixPath, IsAtMostAsLongAsASocketsNameMayBe) {
  EXPECT_EQ(UnixPathFault("/run/tidemark.sock"), "");
  EXPECT_EQ(UnixPathFault("tidemark.sock"), "");
  EXPECT_EQ(UnixPathFault(std::string(107, 'x')), "");
  EXPECT_EQ(UnixPathFault(std::string(108, 'x')),
            "the path is 108 bytes long, but a socket path may be at most 107; use a shorter "
            "path, such as "
            "/run/tidemark.sock, or host:port");
  EXPECT_NE(UnixPathFault("/run/"), "");
  EXPECT_NE(UnixPathFault(std::string_view("/run\0/x", 7)), "");
}

}  // namespace
}  // namespace tidemark::transport::host_port_test
