// Tests a real master with real clients and plain sockets on this host. The tests wait for
// conditions, and a deadline expires only if a test fails.
#include "master/service/acceptor.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <grpcpp/grpcpp.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include "tests/scratch_directory.h"
#include "tests/service/eventually.h"
#include "tests/test.h"
#include "tests/transport/certificates.h"
#include "tidemark/master.h"
#include "tidemark/v1/job_service.grpc.pb.h"

namespace tidemark::acceptor_test {
namespace {

using test::Eventually;
using test::kPatience;

constexpr char kToken[] = "reader-token-of-everything";

TEST(PlainPeer, IsWithoutEscapesAndZones) {
  EXPECT_EQ(service::PlainPeer("ipv4:10.0.0.7:4711"), "ipv4:10.0.0.7:4711");
  EXPECT_EQ(service::PlainPeer("ipv6:%5B::1%5D:4711"), "ipv6:[::1]:4711");
  EXPECT_EQ(service::PlainPeer("ipv6:[::1]:4711"), "ipv6:[::1]:4711");
  EXPECT_EQ(service::PlainPeer("ipv6:%5Bfe80::1%252%5D:4711"), "ipv6:[fe80::1]:4711");
  EXPECT_EQ(service::PlainPeer("ipv6:%5Bbroken"), "ipv6:[broken");
  EXPECT_EQ(service::PlainPeer("unix:"), "unix:");
}

class AcceptorTest : public ::testing::Test {
 protected:
  void Start(const std::string& address, bool with_tokens) {
    master_.reset();  // At its end, a master removes the socket of its address.
    MasterOptions options = {.listen_address = address, .allow_insecure_remote = true};
    if (with_tokens) {
      options.tokens_file = directory_.Write("tokens", std::string("reader * ") + kToken + "\n");
    }
    auto master = Master::Start(options);
    ASSERT_TRUE(master.ok()) << master.status();
    master_ = *std::move(master);
  }
  std::string port() const { return master_->address().substr(master_->address().rfind(':') + 1); }
  // Returns a channel with its own connection, which the caller may keep.
  std::shared_ptr<grpc::Channel> Connect(const std::string& address) {
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 100);
    return grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), arguments);
  }
  static grpc::StatusCode Ask(const std::shared_ptr<grpc::Channel>& channel,
                              const std::string& token) {
    grpc::ClientContext context;
    context.set_wait_for_ready(true);
    context.set_deadline(std::chrono::system_clock::now() + absl::ToChronoSeconds(kPatience));
    if (!token.empty()) context.AddMetadata("authorization", "Bearer " + token);
    v1::GetJobRequest request;
    request.set_job_id("job");
    v1::GetJobResponse response;
    return v1::JobService::NewStub(channel)->GetJob(&context, request, &response).error_code();
  }

  test::ScratchDirectory directory_;
  std::unique_ptr<Master> master_;
};

// Checks that all clients are served. They exceed the limit of unauthenticated connections, so each
// of them must authenticate.
void ExpectThatManyBecomeKnown(const std::vector<std::shared_ptr<grpc::Channel>>& channels,
                               const Master& master, auto ask) {
  for (const auto& channel : channels) EXPECT_EQ(ask(channel), grpc::StatusCode::NOT_FOUND);
  // The last connection is counted at the end of the round that admitted it.
  EXPECT_TRUE(Eventually([&] { return master.stats().connections == channels.size(); }));
  EXPECT_EQ(master.stats().connections_cut, 0U);
}

TEST_F(AcceptorTest, AuthenticatesClientsWithATokenAtAnyAddress) {
  Start("0.0.0.0:0", true);  // This address also accepts IPv6.
  for (const char* host : {"127.0.0.1:", "[::1]:"}) {
    std::vector<std::shared_ptr<grpc::Channel>> channels;
    for (int i = 0; i < 20; ++i) channels.push_back(Connect(host + port()));
    ExpectThatManyBecomeKnown(channels, *master_,
                              [](const auto& channel) { return Ask(channel, kToken); });
    channels.clear();
    EXPECT_TRUE(Eventually([&] { return master_->stats().connections == 0; }));
  }
}

TEST_F(AcceptorTest, ALocalNameAndAUnixSocketAreServed) {
  Start("localhost:0", false);
  // Connects by address, since the name resolver of gRPC's clients leaks memory.
  EXPECT_EQ(Ask(Connect("127.0.0.1:" + port()), ""), grpc::StatusCode::NOT_FOUND);
  const std::string address = "unix:" + (directory_ / "socket");
  for (int restart = 0; restart < 2; ++restart) {
    Start(address, true);
    std::vector<std::shared_ptr<grpc::Channel>> channels;
    for (int i = 0; i < 20; ++i) channels.push_back(Connect(address));
    ExpectThatManyBecomeKnown(channels, *master_,
                              [](const auto& channel) { return Ask(channel, kToken); });
  }
}

TEST_F(AcceptorTest, CutsAClientThatGuessesTokensButNoOtherOfItsHost) {
  Start("127.0.0.1:0", true);
  const auto good = Connect(master_->address());
  EXPECT_EQ(Ask(good, kToken), grpc::StatusCode::NOT_FOUND);
  const auto evil = Connect(master_->address());
  EXPECT_TRUE(Eventually([&] {
    Ask(evil, "guess-of-a-stranger");
    return master_->stats().connections_cut > 0;
  }));
  EXPECT_EQ(Ask(good, kToken), grpc::StatusCode::NOT_FOUND);
  EXPECT_EQ(master_->stats().connections_cut, 1U);
  EXPECT_EQ(Ask(Connect(master_->address()), kToken), grpc::StatusCode::NOT_FOUND);
}

// Keeps open connections that send nothing.
class IdleConnections {
 public:
  IdleConnections(const std::string& port, int count) {
    sockaddr_in address = {.sin_family = AF_INET,
                           .sin_port = htons(static_cast<std::uint16_t>(std::stoi(port)))};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    for (int i = 0; i < count; ++i) {
      idle_.emplace_back(socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0));
    }
    for (const service::Descriptor& idle : idle_) {
      EXPECT_TRUE(idle.is_open());
      connect(idle.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address);
    }
  }

 private:
  std::vector<service::Descriptor> idle_;
};

// Sets how many more descriptors this process may open.
class DescriptorsLeft {
 public:
  explicit DescriptorsLeft(int left) {
    getrlimit(RLIMIT_NOFILE, &before_);
    const service::Descriptor next(open("/dev/null", O_RDONLY));
    rlimit limit = before_;
    limit.rlim_cur = static_cast<rlim_t>(next.get() + left);
    setrlimit(RLIMIT_NOFILE, &limit);
  }
  ~DescriptorsLeft() { setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  rlimit before_{};
};

#if defined(__has_feature)
#if __has_feature(undefined_behavior_sanitizer)
#define TIDEMARK_CHECKS_TYPES_BY_PIPE
#endif
#endif

TEST_F(AcceptorTest, ContinuesToServeAfterDescriptorsRunOut) {
#ifdef TIDEMARK_CHECKS_TYPES_BY_PIPE
  GTEST_SKIP() << "-fsanitize=vptr opens a pipe at each type that it has not seen, and takes a "
                  "descriptor it does not get for a bad object";
#endif
  for (const bool with_tokens : {false, true}) {
    Start("127.0.0.1:0", with_tokens);
    const auto client = Connect(master_->address());
    EXPECT_EQ(Ask(client, kToken), grpc::StatusCode::NOT_FOUND);
    {
      const DescriptorsLeft few(60);
      // The master does not have a descriptor for each connection.
      const IdleConnections idle(port(), 40);
      EXPECT_TRUE(Eventually([&] { return master_->stats().connections_refused > 0; }));
      EXPECT_EQ(Ask(client, kToken), grpc::StatusCode::NOT_FOUND);
    }
    EXPECT_EQ(Ask(Connect(master_->address()), kToken), grpc::StatusCode::NOT_FOUND);
  }
}

}  // namespace
}  // namespace tidemark::acceptor_test
