#include "transport/listen_address.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>

#include "tests/scratch_directory.h"
#include "tests/test.h"

namespace tidemark::transport::listen_address_test {
namespace {

using ::testing::EndsWith;
using ::testing::StartsWith;

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

TEST(ListenAddressAdvice, SuggestsACorrection) {
  EXPECT_THAT(std::string(CheckListenAddress("127.0.0.1:http", false).message()),
              ::testing::HasSubstr("must be host:port, such as 127.0.0.1:7411, or unix:PATH"));
  EXPECT_EQ(CheckListenAddress("127.0.0.1", false).message(),
            "listen address 127.0.0.1: port missing; did you mean 127.0.0.1:7411?");
  EXPECT_THAT(std::string(CheckListenAddress("0.0.0.0:80", false).message()),
              ::testing::HasSubstr("use 127.0.0.1 or pass --allow-insecure-remote"));
  EXPECT_EQ(CheckListenAddress("unix:/" + std::string(300, 'x'), true).message(),
            "listen address unix:/" + std::string(54, 'x') +
                "...: the path is 301 bytes long, but a socket path may be at most 107; use a "
                "shorter path, "
                "such as /run/tidemark.sock, or host:port");
}

// Listens until it is destroyed.
class Listener {
 public:
  Listener(const sockaddr* name, socklen_t size)
      : descriptor_(socket(name->sa_family, SOCK_STREAM, 0)) {
    EXPECT_EQ(bind(descriptor_, name, size), 0);
    EXPECT_EQ(listen(descriptor_, 8), 0);
  }
  ~Listener() { close(descriptor_); }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;
  int port() const {
    sockaddr_in name = {};
    socklen_t size = sizeof name;
    getsockname(descriptor_, reinterpret_cast<sockaddr*>(&name), &size);
    return ntohs(name.sin_port);
  }

 private:
  const int descriptor_;
};

TEST(CanListen, SucceedsAtAFreeAddress) {
  EXPECT_TRUE(CanListen("127.0.0.1:0").ok());
  EXPECT_TRUE(CanListen("0.0.0.0:0").ok());
}

TEST(CanListen, FailsAtAnAddressInUse) {
  sockaddr_in name = {.sin_family = AF_INET};
  name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  std::string address;
  {
    const Listener other(reinterpret_cast<const sockaddr*>(&name), sizeof name);
    address = "127.0.0.1:" + std::to_string(other.port());
    EXPECT_EQ(CanListen(address).message(),
              "cannot listen on " + address +
                  ": Address already in use; use another address, or end the process that listens "
                  "there");
    EXPECT_TRUE(IsAddressInUse(CanListen(address)));
    EXPECT_FALSE(CanListen("0.0.0.0:" + std::to_string(other.port())).ok());
  }
  EXPECT_TRUE(CanListen(address).ok());
}

// 192.0.2.0/24 is reserved for documentation (RFC 5737).
TEST(CanListen, FailsAtAnAddressOfAnotherHost) {
  EXPECT_EQ(CanListen("192.0.2.1:7411").message(),
            "cannot listen on 192.0.2.1:7411: not an address of this host; use an address of "
            "this host, or 0.0.0.0 for all");
  EXPECT_FALSE(IsAddressInUse(CanListen("192.0.2.1:7411")));
}

// The name is reserved (RFC 6761).
TEST(CanListen, FailsAtANameThatCannotBeResolved) {
  EXPECT_THAT(std::string(CanListen("nosuch.invalid:7411").message()),
              StartsWith("cannot listen on nosuch.invalid:7411: the host name nosuch.invalid "
                         "cannot be resolved ("));
}

TEST(CannotListen, NamesTheCauseAndWhatToDo) {
  EXPECT_EQ(CannotListen("127.0.0.1:80", EACCES).message(),
            "cannot listen on 127.0.0.1:80: Permission denied: this user may not listen on ports "
            "below 1024; use a higher port, or grant the capability CAP_NET_BIND_SERVICE");
  EXPECT_EQ(CannotListen("127.0.0.1:7411", EACCES).message(),
            "cannot listen on 127.0.0.1:7411: Permission denied");
  EXPECT_EQ(CannotListen("[::1]:7411", EAFNOSUPPORT).message(),
            "cannot listen on [::1]:7411: Address family not supported by protocol; use an address "
            "of another family, such as 127.0.0.1 (IPv4)");
  for (const int error : {EACCES, EADDRINUSE, EADDRNOTAVAIL}) {
    EXPECT_TRUE(absl::IsUnavailable(CannotListen("127.0.0.1:80", error)));
    EXPECT_EQ(IsAddressInUse(CannotListen("127.0.0.1:80", error)), error == EADDRINUSE);
  }
}

TEST(ListenAtOne, ListensWhereCanListenSucceeds) {
  const auto descriptor = ListenAtOne("127.0.0.1:0");
  ASSERT_TRUE(descriptor.ok()) << descriptor.status();
  sockaddr_in name = {};
  socklen_t size = sizeof name;
  getsockname(*descriptor, reinterpret_cast<sockaddr*>(&name), &size);
  const std::string address = "127.0.0.1:" + std::to_string(ntohs(name.sin_port));
  EXPECT_FALSE(CanListen(address).ok());
  EXPECT_EQ(ListenAtOne(address).status(), CanListen(address));
  close(*descriptor);
  EXPECT_TRUE(CanListen(address).ok());
}

TEST(HandOver, ClosesTheSocketUnlessTheLibraryHas) {
  const int socket = *ListenAtOne("127.0.0.1:0");
  EXPECT_TRUE(HandOver(socket, [] { return true; }));
  const bool is_started = HandOver(socket, [] {
    errno = EMFILE;
    return false;
  });
  EXPECT_EQ(errno, EMFILE);
  EXPECT_FALSE(is_started);
  EXPECT_EQ(fcntl(socket, F_GETFD), -1);
  const int file = open("/dev/null", O_RDONLY);
  const int other = *ListenAtOne("127.0.0.1:0");
  EXPECT_FALSE(HandOver(other, [&] {
    close(other);
    return dup2(file, other) != other;  // Another thread opens a file with the same number.
  }));
  EXPECT_NE(fcntl(other, F_GETFD), -1);
  close(other);
  close(file);
}

TEST(CanListen, ASocketStaysAsItIs) {
  const test::ScratchDirectory folder;
  const std::string path = folder / "socket";
  const std::string address = "unix:" + path;
  EXPECT_TRUE(CanListen(address).ok());
  EXPECT_FALSE(std::filesystem::exists(path));
  sockaddr_un name = {.sun_family = AF_UNIX};
  path.copy(name.sun_path, sizeof name.sun_path - 1);
  {
    const Listener other(reinterpret_cast<const sockaddr*>(&name), sizeof name);
    EXPECT_THAT(std::string(CanListen(address).message()), HasSubstr(": Address already in use; "));
  }
  EXPECT_TRUE(std::filesystem::exists(path));
  EXPECT_TRUE(CanListen(address).ok()) << "one that was left behind";
  EXPECT_TRUE(std::filesystem::exists(path));
}

TEST(CanListen, FailsAtAnImpossibleSocketPath) {
  const test::ScratchDirectory folder;
  const std::string begin = "unix:" + folder.path();
  folder.Write("file", "text");
  EXPECT_THAT(std::string(CanListen(begin + "/file").message()),
              EndsWith(": the file there is not a socket; use another path"));
  EXPECT_THAT(std::string(CanListen(begin + "/none/socket").message()),
              EndsWith("/none: No such file or directory; create it, or use another path"));
  EXPECT_THAT(
      std::string(CanListen(begin + "/" + std::string(200, 'x')).message()),
      EndsWith(" a socket path may be at most 107; use a shorter path, such as /run/tidemark.sock, "
               "or host:port"));
}

}  // namespace
}  // namespace tidemark::transport::listen_address_test
