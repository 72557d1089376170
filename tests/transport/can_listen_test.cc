#include "transport/can_listen.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "transport/bind_addresses.h"

namespace tidemark::transport {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

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

TEST(CanListen, WhereNobodyDoes) {
  EXPECT_TRUE(CanListen("127.0.0.1:0").ok());
  EXPECT_TRUE(CanListen("0.0.0.0:0").ok());
}

TEST(CanListen, NotWhereSomebodyDoes) {
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

// 192.0.2.0/24 is for documents (RFC 5737).
TEST(CanListen, NotAtAnAddressOfAnotherHost) {
  EXPECT_EQ(
      CanListen("192.0.2.1:7411").message(),
      "cannot listen on 192.0.2.1:7411: it is not an address of this host; use one, or 0.0.0.0 "
      "for all of them");
  EXPECT_FALSE(IsAddressInUse(CanListen("192.0.2.1:7411")));
}

// The name is reserved (RFC 6761).
TEST(CanListen, NotAtANameThatCannotBeResolved) {
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
            "of another protocol, such as 127.0.0.1");
  for (const int error : {EACCES, EADDRINUSE, EADDRNOTAVAIL}) {
    EXPECT_TRUE(absl::IsUnavailable(CannotListen("127.0.0.1:80", error)));
    EXPECT_EQ(IsAddressInUse(CannotListen("127.0.0.1:80", error)), error == EADDRINUSE);
  }
}

TEST(ListenAtOne, ListensWhereCanListenDid) {
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

TEST(CanListen, ASocketStaysAsItIs) {
  char folder[] = "/tmp/tidemark-listen-XXXXXX";
  ASSERT_NE(mkdtemp(folder), nullptr);
  const std::string path = std::string(folder) + "/socket";
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
  std::filesystem::remove_all(folder);
}

TEST(CanListen, NotWhereNoSocketCanBe) {
  char folder[] = "/tmp/tidemark-listen-XXXXXX";
  ASSERT_NE(mkdtemp(folder), nullptr);
  const std::string begin = "unix:" + std::string(folder);
  std::ofstream(std::string(folder) + "/file") << "text";
  EXPECT_THAT(std::string(CanListen(begin + "/file").message()),
              EndsWith(": there is something else than a socket; use another path"));
  EXPECT_THAT(std::string(CanListen(begin + "/none/socket").message()),
              EndsWith("/none: No such file or directory; make it, or use another path"));
  EXPECT_THAT(std::string(CanListen(begin + "/" + std::string(200, 'x')).message()),
              EndsWith(" of a socket may have 107; use a shorter one, such as /run/tidemark.sock, "
                       "or host:port"));
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace tidemark::transport
