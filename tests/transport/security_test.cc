// Tests a real master with real agents and clients, and with certificates created for the test.
#include <grpcpp/grpcpp.h>

#include "absl/time/clock.h"
#include "tests/scratch_directory.h"
#include "tests/service/eventually.h"
#include "tests/test.h"
#include "tests/transport/certificates.h"
#include "tidemark/agent.h"
#include "tidemark/master.h"
#include "tidemark/v1/job_service.grpc.pb.h"
#include "transport/channel.h"

namespace tidemark::security_test {
namespace {

using test::Authority;
using test::Eventually;
using test::KeyPair;
using test::kPatience;
using test::ScratchDirectory;

constexpr char kAgentToken[] = "agent-token-of-the-nightly-jobs";
constexpr char kReaderToken[] = "reader-token-of-everything";
constexpr char kAdminToken[] = "admin-token-of-everything";
constexpr char kStrangeToken[] = "token-that-nobody-has-given";

class SecurityTest : public ::testing::Test {
 protected:
  MasterOptions TlsOptions() {
    return {.tls = {.certificate_file = server_.certificate_file, .key_file = server_.key_file}};
  }
  MasterOptions TokenOptions() {
    MasterOptions options = TlsOptions();
    options.tokens_file = WriteTokens();
    return options;
  }
  std::string WriteTokens() {
    return directory_.Write("tokens", std::string("# role jobs token\n") + "agent nightly-* " +
                                          kAgentToken + "\nreader * " + kReaderToken +
                                          "\nadmin * " + kAdminToken + "\n");
  }
  void Start(MasterOptions options) {
    options.log = [this](const LogEntry& entry) {
      const std::lock_guard lock(mutex_);
      logged_ += entry.message + "\n";
      for (const auto& [name, value] : entry.fields) logged_ += name + "=" + value + "\n";
    };
    auto master = Master::Start(options);
    ASSERT_TRUE(master.ok()) << master.status();
    master_ = *std::move(master);
  }
  std::string logged() {
    const std::lock_guard lock(mutex_);
    return logged_;
  }

  ClientSecurity Trusting(const char* token = nullptr) {
    ClientSecurity security{.ca_file = authority_.certificate_file()};
    if (token != nullptr) security.token_file = directory_.Write(token, std::string(token) + "\n");
    return security;
  }

  // Returns "OK" if the master accepts an event of an agent, and otherwise the reason of the
  // rejection.
  std::string Report(const ClientSecurity& security, const std::string& job_id = "nightly-1") {
    const auto agent = Agent::Create({.master_address = master_->address(),
                                      .job_id = job_id,
                                      .security = security,
                                      .shutdown_budget = absl::ZeroDuration()});
    agent->OpenJob({.name = "job"});
    const absl::Time deadline = absl::Now() + kPatience;
    AgentStats stats;
    while (absl::Now() < deadline) {
      agent->Flush(absl::Milliseconds(20));
      stats = agent->stats();
      if (stats.events_acknowledged > 0) return "taken";
      if (!stats.last_error.empty()) break;
    }
    return stats.last_error;
  }
  grpc::Status Ask(const ClientSecurity& security, const std::string& job_id = "nightly-1") {
    auto channel = transport::MakeChannel(master_->address(), security, {});
    if (!channel.ok()) return {grpc::StatusCode::ABORTED, std::string(channel.status().message())};
    const auto stub = v1::JobService::NewStub(*channel);
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + absl::ToChronoSeconds(kPatience));
    if (absl::Status token = transport::AddToken(master_->address(), security, context);
        !token.ok()) {
      return {grpc::StatusCode::ABORTED, std::string(token.message())};
    }
    v1::GetJobRequest request;
    request.set_job_id(job_id);
    v1::GetJobResponse response;
    return stub->GetJob(&context, request, &response);
  }

  ScratchDirectory directory_;
  Authority authority_{directory_, "authority"};
  Authority stranger_{directory_, "stranger"};
  KeyPair server_ = authority_.Issue("server", "IP:127.0.0.1,DNS:localhost");
  std::mutex mutex_;
  std::string logged_;  // guarded by mutex_
  std::unique_ptr<Master> master_;
};

// --- TLS

TEST_F(SecurityTest, AgentsAndReadersThatTrustTheAuthorityAreServed) {
  Start(TlsOptions());
  EXPECT_EQ(Report(Trusting()), "taken");
  EXPECT_TRUE(Ask(Trusting()).ok());
}

TEST_F(SecurityTest, AnotherAuthoritysServerIsNotTrusted) {
  Start(TlsOptions());
  EXPECT_NE(Report({.ca_file = stranger_.certificate_file()}), "taken");
  EXPECT_EQ(Ask({.ca_file = stranger_.certificate_file()}).error_code(),
            grpc::StatusCode::UNAVAILABLE);
}

TEST_F(SecurityTest, AServerOfAnotherNameIsNotTrustedUnlessThatIsAsked) {
  server_ = authority_.Issue("server", "DNS:tidemark.example");
  Start(TlsOptions());
  EXPECT_FALSE(Ask(Trusting()).ok());
  ClientSecurity named = Trusting();
  named.server_name = "tidemark.example";
  EXPECT_EQ(Report(named), "taken");
}

TEST_F(SecurityTest, PlaintextClientsOfATlsMasterAreRefused) {
  Start(TlsOptions());
  EXPECT_NE(Report({}), "taken");
  EXPECT_FALSE(Ask({}).ok());
}

TEST_F(SecurityTest, MutualTlsRequiresACertificateOfItsAuthority) {
  MasterOptions options = TlsOptions();
  options.tls.client_ca_file = authority_.certificate_file();
  Start(options);
  const KeyPair known = authority_.Issue("client", "DNS:worker");
  const KeyPair unknown = stranger_.Issue("other", "DNS:worker");
  ClientSecurity security = Trusting();
  EXPECT_NE(Report(security), "taken");
  security.certificate_file = unknown.certificate_file;
  security.key_file = unknown.key_file;
  EXPECT_NE(Report(security), "taken");
  security.certificate_file = known.certificate_file;
  security.key_file = known.key_file;
  EXPECT_EQ(Report(security), "taken");
  EXPECT_TRUE(Ask(security).ok());
}

TEST_F(SecurityTest, ACertificateThatIsReplacedIsShownWithoutARestart) {
  Start(TlsOptions());
  const ClientSecurity security{.ca_file = stranger_.certificate_file()};
  EXPECT_FALSE(Ask(security).ok());
  const KeyPair fresh = stranger_.Issue("fresh", "IP:127.0.0.1");
  std::filesystem::rename(fresh.key_file, server_.key_file);
  std::filesystem::rename(fresh.certificate_file, server_.certificate_file);
  EXPECT_TRUE(
      Eventually([&] { return Ask(security).error_code() == grpc::StatusCode::NOT_FOUND; }));
}

struct BadTls {
  const char* name;
  const char* message;
  void (*spoil)(ServerTls& tls, const ScratchDirectory& directory, const Authority& authority);
};

class TlsFault : public SecurityTest, public ::testing::WithParamInterface<BadTls> {};

TEST_P(TlsFault, IsReportedAtTheStart) {
  MasterOptions options = TlsOptions();
  GetParam().spoil(options.tls, directory_, authority_);
  const auto master = Master::Start(options);
  ASSERT_FALSE(master.ok());
  EXPECT_THAT(std::string(master.status().message()), HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    Faults, TlsFault,
    ::testing::Values(
        BadTls{"NoKey", "go together",
               [](ServerTls& tls, const ScratchDirectory&, const Authority&) {
                 tls.key_file.clear();
               }},
        BadTls{"Missing", "absent.crt: ",
               [](ServerTls& tls, const ScratchDirectory& directory, const Authority&) {
                 tls.certificate_file = directory / "absent.crt";
               }},
        BadTls{"NotPem", "noise.crt: contains no PEM certificate",
               [](ServerTls& tls, const ScratchDirectory& directory, const Authority&) {
                 tls.certificate_file = directory.Write("noise.crt", "noise");
               }},
        BadTls{"OtherKey", "other.key: does not match the certificate",
               [](ServerTls& tls, const ScratchDirectory&, const Authority& authority) {
                 tls.key_file = authority.Issue("other", "IP:127.0.0.1").key_file;
               }},
        BadTls{"Expired", "old.crt: the certificate has expired",
               [](ServerTls& tls, const ScratchDirectory&, const Authority& authority) {
                 const KeyPair old = authority.Issue("old", "IP:127.0.0.1", -1);
                 tls = {.certificate_file = old.certificate_file, .key_file = old.key_file};
               }},
        BadTls{"ClientAuthority", "noise.crt: contains no PEM certificate",
               [](ServerTls& tls, const ScratchDirectory& directory, const Authority&) {
                 tls.client_ca_file = directory.Write("noise.crt", "noise");
               }}),
    [](const auto& test) { return test.param.name; });

// --- listening addresses

TEST_F(SecurityTest, OtherHostsAreServedWithTlsAndTokensOnly) {
  MasterOptions options = TlsOptions();
  options.listen_address = "0.0.0.0:0";
  const auto refused = Master::Start(options);
  EXPECT_THAT(std::string(refused.status().message()),
              HasSubstr("must not connect without tokens or client certificates;"));
  options.tokens_file = WriteTokens();
  EXPECT_TRUE(Master::Start(options).ok());
  options.tls = {};
  EXPECT_THAT(std::string(Master::Start(options).status().message()),
              HasSubstr("must not connect without TLS;"));
}

// --- tokens

TEST_F(SecurityTest, EachTokenHasTheRightsOfItsLine) {
  Start(TokenOptions());
  EXPECT_EQ(Report(Trusting(kAgentToken)), "taken");
  EXPECT_EQ(Ask(Trusting(kAgentToken)).error_code(), grpc::StatusCode::PERMISSION_DENIED);
  EXPECT_TRUE(Ask(Trusting(kReaderToken)).ok());
  EXPECT_THAT(Report(Trusting(kReaderToken)), HasSubstr("may not report job nightly-1 (code 7)"));
  EXPECT_THAT(Report(Trusting(kAgentToken), "hourly-1"), HasSubstr("may not report job hourly-1"));
  EXPECT_EQ(Report(Trusting(kAdminToken), "hourly-1"), "taken");
  EXPECT_TRUE(Ask(Trusting(kAdminToken), "hourly-1").ok());
}

TEST_F(SecurityTest, NoTokenAndUnknownTokensAreUnauthenticated) {
  Start(TokenOptions());
  EXPECT_EQ(Ask(Trusting()).error_code(), grpc::StatusCode::UNAUTHENTICATED);
  EXPECT_EQ(Ask(Trusting(kStrangeToken)).error_code(), grpc::StatusCode::UNAUTHENTICATED);
  EXPECT_THAT(Report(Trusting()), HasSubstr("requires a token"));
  EXPECT_THAT(Report(Trusting(kStrangeToken)), HasSubstr("rejects the token"));
  EXPECT_GE(master_->stats().calls_unauthenticated, 4U);
}

TEST_F(SecurityTest, TokensThatChangeCountWithoutARestart) {
  Start(TokenOptions());
  EXPECT_EQ(Report(Trusting(kAgentToken)), "taken");
  directory_.Write("tokens", std::string("agent * ") + kStrangeToken + "\n");
  EXPECT_TRUE(Eventually([&] { return Report(Trusting(kStrangeToken)) == "taken"; }));
  EXPECT_THAT(Report(Trusting(kAgentToken)), HasSubstr("rejects the token"));
}

TEST_F(SecurityTest, ARevokedTokenEndsItsStreams) {
  Start(TokenOptions());
  const auto agent = Agent::Create({.master_address = master_->address(),
                                    .job_id = "nightly-1",
                                    .security = Trusting(kAgentToken),
                                    .shutdown_budget = absl::ZeroDuration()});
  agent->OpenJob({.name = "job"});
  ASSERT_TRUE(agent->Flush(kPatience));
  directory_.Write("tokens", std::string("admin * ") + kAdminToken + "\n");
  EXPECT_TRUE(Eventually([&] {
    agent->Changed({.attempt = {kMapStage, 0, 0}, .state = AttemptState::kStarted});
    agent->Flush(absl::Milliseconds(20));
    return agent->stats().last_error.find("rejects the token") != std::string::npos;
  }));
}

TEST_F(SecurityTest, AnInvalidTokenFileKeepsTheOldRightsAndIsLogged) {
  Start(TokenOptions());
  directory_.Write("tokens", "agent nightly-*\n");
  EXPECT_TRUE(
      Eventually([&] { return logged().find("cannot reload the tokens") != std::string::npos; }));
  EXPECT_EQ(Report(Trusting(kAgentToken)), "taken");
}

TEST_F(SecurityTest, NoTokenIsEverLoggedOrQuotedInAnError) {
  Start(TokenOptions());
  std::string said;
  for (const char* token : {kAgentToken, kReaderToken, kStrangeToken}) {
    said += Report(Trusting(token), "hourly-1") + Ask(Trusting(token), "hourly-1").error_message();
  }
  // The words are in the wrong order, so the first word could be a token.
  directory_.Write("tokens", std::string(kAgentToken) + " agent *\n");
  EXPECT_TRUE(
      Eventually([&] { return logged().find("cannot reload the tokens") != std::string::npos; }));
  for (const char* token : {kAgentToken, kReaderToken, kStrangeToken}) {
    EXPECT_THAT(said + logged(), Not(HasSubstr(token)));
  }
}

// Proxies route by this header. Http2Test.java and tests/python/test_access.py contain the same
// test.
TEST(Metadata, NamesTheJobInVisibleCharacters) {
  EXPECT_EQ(transport::JobMetadata("nightly-7"), "nightly-7");
  EXPECT_EQ(transport::JobMetadata("t\xc3\xa4glich 7%"), "t%C3%A4glich%207%25");
  EXPECT_EQ(transport::JobMetadata(std::string("\0\n\x7f", 3)), "%00%0A%7F");
}

TEST_F(SecurityTest, ATokenIsNotSentToAnotherHostInTheClear) {
  const ClientSecurity security{.token_file = directory_.Write("t", kAgentToken)};
  grpc::ClientContext context;
  const absl::Status status = transport::AddToken("10.0.0.7:7411", security, context);
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_TRUE(transport::AddToken("127.0.0.1:7411", security, context).ok());
}

TEST_F(SecurityTest, AMissingTokenFileAffectsTheAgentOnly) {
  Start(TokenOptions());
  ClientSecurity security = Trusting();
  security.token_file = directory_ / "absent";
  EXPECT_THAT(Report(security), HasSubstr("absent"));
}

}  // namespace
}  // namespace tidemark::security_test
