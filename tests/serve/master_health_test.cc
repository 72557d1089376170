#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "serve/doctor.h"
#include "tests/scratch_directory.h"
#include "tests/test.h"
#include "tests/transport/certificates.h"

namespace tidemark::serve::master_health_test {
namespace {

using test::Authority;
using test::KeyPair;
using test::ScratchDirectory;

// The environment that systemd provides for a service with a watchdog, and the messages of the
// service.
class Systemd {
 public:
  explicit Systemd(const char* watchdog_micros) {
    sockaddr_un address = {.sun_family = AF_UNIX};
    const std::string path = directory_ / "notify";
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    bind(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address);
    const timeval patience = {.tv_sec = 60};
    setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    setenv("NOTIFY_SOCKET", path.c_str(), 1);
    setenv("WATCHDOG_USEC", watchdog_micros, 1);
  }
  ~Systemd() {
    unsetenv("NOTIFY_SOCKET");
    unsetenv("WATCHDOG_USEC");
    close(socket_);
  }
  std::string Next() const {
    char text[256];
    const ssize_t size = recv(socket_, text, sizeof text, 0);
    return size < 0 ? "nothing" : std::string(text, static_cast<std::size_t>(size));
  }

 private:
  ScratchDirectory directory_;
  const int socket_ = socket(AF_UNIX, SOCK_DGRAM, 0);
};

TEST(Watchdog, IsFedOnlyWhileTheMasterAnswers) {
  const Systemd systemd("20000");
  std::atomic<int> calls = 0;
  {
    const Watchdog watchdog([&] { return ++calls <= 2; });
    EXPECT_EQ(systemd.Next(), "READY=1");
    EXPECT_EQ(systemd.Next(), "WATCHDOG=1");
    EXPECT_EQ(systemd.Next(), "WATCHDOG=1");
    while (calls < 5) usleep(1000);
  }
  EXPECT_EQ(systemd.Next(), "STOPPING=1") << "no further message before";
}

TEST(Watchdog, DoesNothingWithoutSystemd) {
  const Watchdog watchdog([] {
    ADD_FAILURE() << "called";
    return true;
  });
}

TEST(MasterAnswers, ForEveryKindOfAuthentication) {
  const ScratchDirectory directory;
  const Authority authority(directory, "authority");
  const KeyPair server = authority.Issue("server", "DNS:master.example");
  const std::string tokens = directory.Write("tokens", "reader * token-of-somebody-else\n");
  MasterOptions plain;
  MasterOptions with_tokens = {
      .tls = {.certificate_file = server.certificate_file, .key_file = server.key_file},
      .tokens_file = tokens};
  MasterOptions mutual = with_tokens;
  mutual.tls.client_ca_file = authority.certificate_file();
  MasterOptions everywhere = {.listen_address = "0.0.0.0:0", .allow_insecure_remote = true};
  MasterOptions local = mutual;
  local.listen_address = "unix:" + (directory / "socket");
  for (const MasterOptions& options : {plain, with_tokens, mutual, everywhere, local}) {
    const auto master = Master::Start(options);
    ASSERT_TRUE(master.ok()) << master.status();
    EXPECT_TRUE(MasterAnswers(options, (*master)->address()));
    (*master)->Shutdown(absl::ZeroDuration());
    EXPECT_FALSE(MasterAnswers(options, (*master)->address()));
  }
}

// Certificates are reloaded. The old certificates remain valid, but the master could not restart.
TEST(MasterAnswers, WithUnreadableCertificates) {
  const ScratchDirectory directory;
  const Authority authority(directory, "authority");
  const KeyPair server = authority.Issue("server", "DNS:master.example");
  const MasterOptions options = {
      .tls = {.certificate_file = server.certificate_file, .key_file = server.key_file}};
  const auto master = Master::Start(options);
  ASSERT_TRUE(master.ok()) << master.status();
  std::ofstream(server.certificate_file) << "half a certificate";
  EXPECT_TRUE(MasterAnswers(options, (*master)->address()));
}

// The kernel completes connections to the listener, but no thread accepts them.
TEST(MasterAnswers, NotIfNoThreadAccepts) {
  const int listener = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
  socklen_t size = sizeof address;
  ASSERT_EQ(bind(listener, reinterpret_cast<const sockaddr*>(&address), size), 0);
  ASSERT_EQ(listen(listener, 10), 0);
  getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size);
  MasterOptions with_tls;
  with_tls.tls.certificate_file = "some.crt";
  EXPECT_FALSE(MasterAnswers(with_tls, "127.0.0.1:" + std::to_string(ntohs(address.sin_port))));
  close(listener);
}

// With a full backlog, the kernel completes no further connections.
TEST(MasterAnswers, NotIfItsBacklogIsFull) {
  const int listener = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
  socklen_t size = sizeof address;
  ASSERT_EQ(bind(listener, reinterpret_cast<const sockaddr*>(&address), size), 0);
  ASSERT_EQ(listen(listener, 0), 0);
  getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size);
  int before[4];
  for (int& connection : before) {
    connection = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    connect(connection, reinterpret_cast<const sockaddr*>(&address), size);
  }
  MasterOptions with_tls;
  with_tls.tls.certificate_file = "some.crt";
  EXPECT_FALSE(MasterAnswers(with_tls, "127.0.0.1:" + std::to_string(ntohs(address.sin_port))));
  for (const int connection : before) close(connection);
  close(listener);
}

}  // namespace
}  // namespace tidemark::serve::master_health_test
