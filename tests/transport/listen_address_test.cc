#include "transport/listen_address.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace tidemark::transport {
namespace {

enum class Verdict { kAlways, kIfAllowed, kNever };

struct Address {
  const char* name;
  const char* address;
  Verdict verdict;
};

class ListenAddress : public ::testing::TestWithParam<Address> {};

TEST_P(ListenAddress, IsServedWithoutTls) {
  EXPECT_EQ(CheckListenAddress(GetParam().address, false).ok(),
            GetParam().verdict == Verdict::kAlways);
}

TEST_P(ListenAddress, IsServedIfInsecureRemoteAccessIsAllowed) {
  EXPECT_EQ(CheckListenAddress(GetParam().address, true).ok(),
            GetParam().verdict != Verdict::kNever);
}

INSTANTIATE_TEST_SUITE_P(
    All, ListenAddress,
    ::testing::Values(
        Address{"Loopback", "127.0.0.1:7411", Verdict::kAlways},
        Address{"AnyFreePort", "127.0.0.1:0", Verdict::kAlways},
        Address{"OtherLoopback", "127.8.9.10:65535", Verdict::kAlways},
        Address{"Localhost", "localhost:80", Verdict::kAlways},
        Address{"LoopbackV6", "[::1]:80", Verdict::kAlways},
        Address{"Unix", "unix:run/tidemark.sock", Verdict::kAlways},
        Address{"Everywhere", "0.0.0.0:7411", Verdict::kIfAllowed},
        Address{"EverywhereV6", "[::]:7411", Verdict::kIfAllowed},
        Address{"AnotherHost", "10.0.0.7:7411", Verdict::kIfAllowed},
        Address{"NameThatLooksLikeLoopback", "127.evil.example:80", Verdict::kIfAllowed},
        Address{"NameThatStartsLikeLocalhost", "localhost.evil.example:80", Verdict::kIfAllowed},
        Address{"Empty", "", Verdict::kNever}, Address{"NoPort", "127.0.0.1", Verdict::kNever},
        Address{"EmptyPort", "127.0.0.1:", Verdict::kNever},
        Address{"NoHost", ":7411", Verdict::kNever},
        Address{"PortTooLarge", "127.0.0.1:65536", Verdict::kNever},
        Address{"PortHuge", "127.0.0.1:99999999999999999999", Verdict::kNever},
        Address{"PortNegative", "127.0.0.1:-1", Verdict::kNever},
        Address{"PortByName", "127.0.0.1:http", Verdict::kNever},
        Address{"NameThatStartsLikeASocket", "unixbox:80", Verdict::kIfAllowed},
        Address{"BareIpV6", "::1:7411", Verdict::kNever},
        Address{"UnixWithoutPath", "unix:", Verdict::kNever}),
    [](const auto& row) { return std::string(row.param.name); });

TEST(ListenAddressAdvice, SaysWhatToWriteInstead) {
  EXPECT_THAT(std::string(CheckListenAddress("127.0.0.1:http", false).message()),
              ::testing::HasSubstr("must be host:port, such as 127.0.0.1:7411, or unix:PATH"));
  EXPECT_EQ(CheckListenAddress("127.0.0.1", false).message(),
            "listen address 127.0.0.1: port missing; did you mean 127.0.0.1:7411?");
  EXPECT_THAT(std::string(CheckListenAddress("0.0.0.0:80", false).message()),
              ::testing::HasSubstr("use 127.0.0.1 or pass --allow-insecure-remote"));
  EXPECT_EQ(CheckListenAddress("unix:/" + std::string(300, 'x'), true).message(),
            "listen address unix:/" + std::string(54, 'x') +
                "...: its path has 301 bytes, that of a socket may have 107; use a shorter one, "
                "such as /run/tidemark.sock, or host:port");
}

}  // namespace
}  // namespace tidemark::transport
